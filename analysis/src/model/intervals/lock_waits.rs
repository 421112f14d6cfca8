//! Threads that wait for a lock, for those who look at samples.
//!
//! The runtime's sampler says of a thread that it was in managed code or outside of it; names of methods tell which of
//! the latter wait. Locks were taken inside the runtime until .NET 9, in a helper without a name: the innermost method
//! is the one with the `lock` statement, whose name says nothing. The events of contention do.

use super::{Edge, Matcher, told_nanos};
use crate::model::ThreadHandle;
use crate::model::hash::NumberState;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::hash::{BuildHasher, Hasher};

/// Frames by which two stacks are compared, the innermost ones.
const FRAMES: usize = 64;

/// Which threads wait for a lock now, in a runtime's trace.
///
/// A sample waited if the thread has begun to wait, has not stopped, and is where it began: all samples between a start
/// and its stop were (recorded with .NET 8, 9 and 10: 1,940 of 1,940). That they are at the same place keeps a wait
/// whose stop was lost from taking the thread's later samples for its own.
#[derive(Debug, Default)]
pub(crate) struct LockWaits {
    /// Hashes of stacks.
    open: Matcher<ThreadHandle, u64>,
    hashes: NumberState,
}

impl LockWaits {
    /// Whether an event starts or stops a wait.
    pub(crate) fn is_edge(event: &Event<'_>) -> bool {
        event.known_provider() == KnownProvider::Runtime && LockWaits::is_edge_of_runtime(event.id())
    }

    /// Whether an event of the runtime's provider starts or stops a wait.
    #[inline]
    pub(crate) fn is_edge_of_runtime(id: u32) -> bool {
        matches!(id, 81 | 91)
    }

    /// Takes the next event of the runtime's provider; in time order.
    pub(crate) fn event(&mut self, event: &Event<'_>, thread: ThreadHandle, nanos: i64) {
        match event.id() {
            81 => {
                let stack = self.hash(event.stack().addresses());
                self.open.start_inside(thread, Edge::of(event, thread, nanos), stack, |_| {});
            }
            91 => {
                let at = Edge::of(event, thread, nanos);
                let _ = self.open.stop(thread, at, told_nanos(event), |_| {});
            }
            _ => {}
        }
    }

    /// Whether nobody waits.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether a thread waits that is where these addresses say; innermost first.
    pub(crate) fn is_waiting(
        &mut self,
        thread: ThreadHandle,
        addresses: impl IntoIterator<Item = u64>,
    ) -> bool {
        let Some((_, began)) = self.open.innermost(thread) else { return false };
        let began = *began;
        began == self.hash(addresses)
    }

    fn hash(&self, addresses: impl IntoIterator<Item = u64>) -> u64 {
        let mut hasher = self.hashes.build_hasher();
        addresses.into_iter().take(FRAMES).for_each(|address| hasher.add(address));
        hasher.finish()
    }
}
