//! Passes events to visitors.

use super::run::{BlobForm, Take};
use crate::blob::BlobHeader;
use crate::context::Context;
use crate::event::Event;

/// Receiver of the events of [`Reader::visit`](crate::Reader::visit).
///
/// ```
/// use nettrace_parser::{Event, Reader, Visit};
///
/// /// Sizes of the payloads of the next events.
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
    /// Receives an event. Mark short implementations `#[inline(always)]`, so that they become
    /// part of the loop over a block, and no [`Event`] is built in memory.
    fn event(&mut self, event: Event<'_>);

    /// Returns whether the visitor wants more events. Called after each event. If not, another
    /// call of [`Reader::visit`](crate::Reader::visit) continues after the event.
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

/// Visitor that passes events to a function until it returns an error.
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
        // Usually there is nothing to keep.
        if let Err(error) = (self.take)(event) {
            self.result = Err(error);
        }
    }

    #[inline(always)]
    fn wants_more(&self) -> bool {
        self.result.is_ok()
    }
}

/// Receiver that passes headers and payloads to a visitor as events.
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
        self.0.event(Event {
            header,
            resolved: None,
            row: None,
            context,
            rest: payload,
            payload_at,
        });
        self.0.wants_more()
    }
}
