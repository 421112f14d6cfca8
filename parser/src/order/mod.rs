//! Delivers events in time order (FORMAT.md 11).
//!
//! ```text
//!   events, in file order   1 3 4 8   2 5 9   *7 10     (* marked sorted)
//!   runs                    a------   b----   c----
//!   heap of first times     1a 2b 7c  →  2b 3a 7c  →  3a 5b 7c  →  5b 7c 8a  →  7c 8a 9b  →  8a 9b 10c
//!   delivered               1            2            3 4          5            7            (up to the watermark, 7)
//! ```
//! Between two sequence points (in the code also *barriers*, because no event moves across
//! one), a writer flushes the events of each thread in turn, so times ascend and then start
//! over with the next thread. Such an ascending sequence is a *run*. An event that is
//! marked *sorted* promises that no later event is older, so all queued events up to its time
//! can be delivered. The newest time up to which events can be delivered is the *watermark*.
//!
//! Events are queued in file order as records of 32 bytes; values that many consecutive
//! events share are stored in *segments*. Nothing is sorted. A run begins at each event
//! that is older than the previous event. From time to time, and at every sequence point,
//! the runs are merged: the run with the oldest first event delivers its events up to the time
//! of the first event of another run. Of equal times, the earlier run goes first. Events newer
//! than the watermark move to the front of the queue when more events have been delivered than
//! remain.
//!
//! An event older than the watermark is *out of order*. It is queued as if it had the
//! watermark's time (its own timestamp does not change), so that the order does not depend on
//! the moment at which runs are merged, unless a limit or [`TimeOrdered::release`] delivers
//! events before the watermark allows it.

mod delivered;
mod filter;
mod heads;
mod queue;
mod queued_event;
mod runs;
mod time_ordered;

/// Counts the work that hostile timestamps cause.
#[cfg(test)]
#[path = "../../tests/steps/time_order.rs"]
mod steps;

pub use delivered::Delivered;
pub use filter::{Candidate, FilteredEvents, PendingFilter, Watermark};
pub use time_ordered::TimeOrdered;
