//! What .NET 11's async profiler says of async code:
//! `System.Runtime.CompilerServices.AsyncProfilerEventSource`.
//!
//! Each thread's buffer tells when it makes, resumes and leaves dispatchers, which are chains of
//! async calls, and their stacks. A buffer comes when it is full or its thread is idle, so later than
//! the events that it explains, and that of the last seconds may not come at all. [`AsyncReading`]
//! follows the threads through their buffers; what is kept of it is up to a [`KeepAsync`]:
//!
//! | | kept | for |
//! |---|---|---|
//! | [`AsyncRuns`] | what each thread runs when | samples and activities, which have passed by then: the buffers are read in a pass of their own |
//! | [`AsyncPauses`] | when dispatchers are suspended | awaits, which are known at the end of the pass |

#[cfg(test)]
mod any_order;
mod pauses;
mod reading;
mod runs;
mod stack_list;
mod step;
mod turns;

pub(crate) use pauses::AsyncPauses;
pub use runs::AsyncRuns;
pub(crate) use turns::{AsyncTurn, TurnStep};
