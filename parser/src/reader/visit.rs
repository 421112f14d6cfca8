//! Who takes events as they come.

use super::{BlobForm, Take};
use crate::blob::BlobHeader;
use crate::context::Context;
use crate::event::Event;

/// Takes events, in the form that [`Reader::visit`](crate::Reader::visit) wants.
///
/// ```
/// use nettrace_parser::{Event, Reader, Visit};
///
/// /// The sizes of the next events' payloads.
/// struct Sizes(Vec<u32>, usize);
///
/// impl Visit for Sizes {
///     fn event(&mut self, event: Event<'_>) {
///         self.0.push(event.payload_size());
///     }
///
///     fn wants_more(&self) -> bool {
///         self.0.len() < self.1
///     }
/// }
///
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = Reader::from_slice(&bytes);
/// let (mut first, mut others) = (Sizes(Vec::new(), 1), Sizes(Vec::new(), usize::MAX));
/// reader.visit(&mut first)?;
/// reader.visit(&mut others)?;
/// assert_eq!((first.0.len(), others.0.len()), (1, 3));
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
pub trait Visit {
    /// Takes an event. Mark it `#[inline(always)]` if it is short: it is then part of the loop over a
    /// block, where an event's fields need not be put into memory.
    fn event(&mut self, event: Event<'_>);

    /// Whether more events are wanted; asked behind each. If not, the same reader can go on later.
    #[inline(always)]
    fn wants_more(&self) -> bool {
        true
    }
}

impl<F: FnMut(Event<'_>)> Visit for F {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self(event);
    }
}

/// Gives events to a function until it fails.
pub(crate) struct TryEach<F, E> {
    take: F,
    pub(crate) result: Result<(), E>,
}

impl<F, E> TryEach<F, E> {
    pub(crate) fn new(take: F) -> TryEach<F, E> {
        TryEach { take, result: Ok(()) }
    }
}

impl<F: FnMut(Event<'_>) -> Result<(), E>, E> Visit for TryEach<F, E> {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.result = (self.take)(event);
    }

    #[inline(always)]
    fn wants_more(&self) -> bool {
        self.result.is_ok()
    }
}

/// Makes events of what a run gives.
pub(super) struct Each<'a, V>(pub(super) &'a mut V);

impl<V: Visit> Take for Each<'_, V> {
    #[inline(always)]
    fn take(
        &mut self,
        context: &Context,
        header: &BlobHeader,
        payload: &[u8],
        payload_at: u64,
        _: BlobForm,
    ) -> bool {
        self.0.event(Event { header, resolved: None, row: None, context, rest: payload, payload_at });
        self.0.wants_more()
    }
}
