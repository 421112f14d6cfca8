//! Regions as far as a stream has no surprise, and the events behind them for the caller to read.

use super::{Options, Order, Region, workers};
use crate::error::Error;
use crate::order::TimeOrdered;
use crate::outcome::Outcome;
use crate::reader::Reader;
use crate::source::Source;
use std::ops::ControlFlow;

/// How [`read_regular`] ended.
#[derive(Debug)]
pub enum Ended<S> {
    /// At the stream's end, or because the collector stopped the reading.
    Whole(Box<Outcome>),
    /// With what more than one thread cannot tell right. These are the events behind those of the regions that
    /// were collected.
    Rest(Box<TimeOrdered<S>>),
}

/// As [`parallel::read`](super::read), in time order and by regions that lie between two sequence points, for those who read on by
/// themselves where there are none: with one thread, and where the stream has a surprise.
///
/// ```
/// use nettrace_parser::Whole;
/// use nettrace_parser::internal::{Ended, read_regular};
/// use nettrace_parser::parallel::{Options, Region};
/// use std::ops::ControlFlow;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let count = |region: &mut Region<'_, _>| {
///     let mut events = 0u64;
///     region.for_each(|_event| events += 1)?;
///     Ok(events)
/// };
/// let mut total = 0;
/// let source = || Whole::new(bytes.as_slice());
/// let ended = read_regular(source, Options::new().threads(2), count, |events| {
///     total += events;
///     ControlFlow::Continue(())
/// })?;
/// if let Ended::Rest(mut rest) = ended {
///     while rest.next_event()?.is_some() {
///         total += 1;
///     }
/// }
/// assert_eq!(total, 4);
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
///
/// # Errors
/// As [`Reader::next_event`](crate::Reader::next_event).
pub fn read_regular<S: Source, T: Send>(
    source: impl Fn() -> S + Sync,
    options: Options,
    work: impl Fn(&mut Region<'_, S>) -> Result<T, Error> + Sync,
    mut collect: impl FnMut(T) -> ControlFlow<()>,
) -> Result<Ended<S>, Error> {
    let options = options.order(Order::Time);
    let mut done = 0;
    if options.threads > 1 {
        match workers::read(&source, options, &work, &mut collect)? {
            workers::End::Whole(outcome) => return Ok(Ended::Whole(outcome)),
            workers::End::Irregular { events } => done = events,
        }
    }
    let mut rest = Reader::with_limits(source(), options.limits).time_ordered();
    for _ in 0..done {
        rest.next_event()?;
    }
    Ok(Ended::Rest(Box::new(rest)))
}
