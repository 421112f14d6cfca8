//! Tracks threads that wait for a lock, to classify samples.
//!
//! The runtime's sampler only says whether a thread was in managed code; for other
//! threads, the names of methods reveal which are waiting. But until .NET 9, locks were
//! acquired inside the runtime, in a helper without a name: the innermost method is the
//! one with the `lock` statement, whose name reveals nothing. The contention events do.

use super::{Edge, Matcher, reported_nanos};
use crate::model::ThreadHandle;
use crate::model::hash::NumberState;
use nettrace_parser::Event;
use std::hash::{BuildHasher, Hasher};

/// How many innermost frames are compared.
const FRAMES: usize = 64;

/// Which threads are currently waiting for a lock, in a runtime's trace.
///
/// A sample was waiting if its thread has started to wait, has not stopped, and is at the
/// place where it started. This held for all samples between a start and its stop
/// (recorded with .NET 8, 9 and 10: 1,940 of 1,940). Comparing the place prevents a wait
/// whose stop was lost from claiming the thread's later samples.
#[derive(Debug, Default)]
pub(crate) struct LockWaits {
    /// Hashes of stacks.
    open: Matcher<ThreadHandle, u64>,
    hashes: NumberState,
}

impl LockWaits {
    /// Returns whether an event of the runtime's provider starts or stops a wait.
    #[inline]
    pub(crate) fn is_edge(id: u32) -> bool {
        matches!(id, 81 | 91)
    }

    /// Processes the next event of the runtime's provider; events must come in time
    /// order.
    pub(crate) fn event(&mut self, event: &Event<'_>, thread: ThreadHandle, nanos: i64) {
        match event.id() {
            81 => {
                // A hash is enough to find the sample with this stack; the model would keep
                // the stack itself.
                let stack = self.hash(event.stack().addresses());
                self.open.start_inside(
                    thread,
                    Edge::from_event(event, thread, nanos),
                    stack,
                    |_| {},
                );
            }
            91 => {
                let at = Edge::from_event(event, thread, nanos);
                let _ = self.open.stop(thread, at, reported_nanos(event), |_| {});
            }
            _ => {}
        }
    }

    /// Returns whether no thread is waiting.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns whether a thread is waiting at the place given by these addresses, innermost
    /// first.
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
