//! Reads a stream with several threads.
//!
//! The caller's thread finds blocks and maintains the tables. The event blocks between
//! two sequence points are a *region*, which any thread can read, in file order or in
//! time order, with a copy of the tables. The results of regions are passed to the caller in
//! stream order, so they do not depend on the number of threads. The caller's thread also reads
//! regions, when it has nothing to find and nothing to pass on.
//!
//! [`read`] passes on one result for each region. [`read_in_parts`] is for results that are
//! larger than the stream, such as text: parts of the region in turn are passed on while it is
//! being read, and parts of other regions wait, up to [`Options::held_bytes`].
//!
//! One thread reads the rest of the stream if several cannot report it correctly: after
//! damage, an undefined or redefined id, a thread that ends within a region, or an event out of
//! order. One thread also reads version 3, which has no sequence points, and regions above
//! 16 MiB, because a region's result is held in memory until its turn comes.
//!
//! ```
//! use nettrace_parser::Whole;
//! use nettrace_parser::parallel::{self, Options, Region};
//! use std::ops::ControlFlow;
//! # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
//! let count = |region: &mut Region<'_, _>| {
//!     let mut events = 0u64;
//!     region.for_each(|_event| events += 1)?;
//!     Ok(events)
//! };
//! let mut total = 0;
//! let outcome = parallel::read(|| Whole::new(&bytes), Options::default(), count, |events| {
//!     total += events;
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!(total, 4);
//! assert!(outcome.is_complete);
//! # Ok::<(), nettrace_parser::Error>(())
//! ```

mod desk;
mod index;
mod parts;
mod region;
mod workers;

use crate::outcome::Outcome;
pub use parts::MakeParts;
pub use region::Region;

use crate::error::Error;
use crate::limits::Limits;
use crate::reader::Reader;
use crate::source::Source;
use parts::{InParts, WholeRegion, Work};
use region::Events;
use std::ops::ControlFlow;

/// Order in which events are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Order {
    /// Order by time, and by position in the file if times are equal.
    #[default]
    Time,
    /// Order by position in the file.
    File,
}

/// Options for reading with several threads, such as `let mut options = Options::default();
/// options.threads = 2;`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Number of threads that read events, the caller's thread included; at least one.
    /// Default: the number of processors.
    pub threads: usize,
    /// Order of events.
    pub order: Order,
    /// Limits for the resources that the stream may use.
    pub limits: Limits,
    /// Maximum number of bytes of parts, of all threads together, that wait for the turn of their
    /// region in [`read_in_parts`]. A thread without room waits for its turn. Default: 64 MiB for
    /// each processor. For example, a region of most traces becomes up to 40 MiB of NDJSON.
    pub held_bytes: usize,
}

/// Default of [`Options::held_bytes`] for each processor.
const HELD_PER_PROCESSOR: usize = 64 << 20;

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
        Options {
            threads,
            order: Order::Time,
            limits: Limits::default(),
            held_bytes: HELD_PER_PROCESSOR.saturating_mul(threads),
        }
    }
}

/// Reads a stream, and passes on one result for each region. `source` creates a source for each
/// thread, at the stream's first byte: a [`Whole`](crate::Whole) of bytes in memory, or a
/// [`PositionedFile::reopened`](crate::PositionedFile::reopened). `work` computes the result of
/// a region from its events, on any thread. `collect` receives the results in stream order on
/// the caller's thread, and may stop reading.
///
/// # Errors
/// The errors of [`Reader::next_event`](crate::Reader::next_event).
pub fn read<S: Source, T: Send>(
    source: impl Fn() -> S + Sync,
    options: Options,
    work: impl Fn(&mut Region<'_, S>) -> Result<T, Error> + Sync,
    mut collect: impl FnMut(T) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    read_with(&source, options, &WholeRegion::new(work), &mut collect)
}

/// Reads like [`read`], but passes on results in parts of a few hundred kilobytes, whatever the
/// size of regions. `maker` creates a maker of parts for each thread.
///
/// ```
/// use nettrace_parser::parallel::{self, MakeParts, Options};
/// use nettrace_parser::{Event, Whole};
/// use std::ops::ControlFlow;
///
/// #[derive(Default)]
/// struct Lines(String);
///
/// impl MakeParts for Lines {
///     type Part = String;
///
///     fn event(&mut self, event: Event<'_>) {
///         self.0.push_str(&format!("{} {}\n", event.timestamp_ticks(), event.name()));
///     }
///
///     fn part_bytes(&self) -> usize {
///         self.0.len()
///     }
///
///     fn take_part(&mut self) -> String {
///         std::mem::take(&mut self.0)
///     }
/// }
///
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut text = String::new();
/// let source = || Whole::new(&bytes);
/// parallel::read_in_parts(source, Options::default(), Lines::default, |lines| {
///     text.push_str(&lines);
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(text.lines().count(), 4);
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Reader::next_event`](crate::Reader::next_event).
pub fn read_in_parts<S: Source, M: MakeParts + Send>(
    source: impl Fn() -> S + Sync,
    options: Options,
    maker: impl Fn() -> M + Sync,
    mut collect: impl FnMut(M::Part) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    read_with(&source, options, &InParts::new(maker), &mut collect)
}

fn read_with<S: Source, W: Work<S, Made: Send> + Sync>(
    source: &(impl Fn() -> S + Sync),
    options: Options,
    work: &W,
    collect: &mut impl FnMut(W::Made) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    let mut done = 0;
    if options.threads > 1 {
        match workers::read(source, options, work, collect)? {
            workers::End::Whole(outcome) => return Ok(*outcome),
            workers::End::Irregular { events } => done = events,
        }
    }
    let reader = Reader::with_limits(source(), options.limits);
    in_one_thread(reader, options.order, done, work, collect)
}

/// Passes all remaining events to `work` in portions.
fn in_portions<S: Source, W: Work<S>>(
    events: &mut Events<S>,
    work: &W,
    collect: &mut impl FnMut(W::Made) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, Error> {
    loop {
        let mut region = Region::new(events, W::PORTION_EVENTS);
        let mut flow = ControlFlow::Continue(());
        work.work(&mut region, &mut |part| {
            flow = collect(part.made);
            flow
        })?;
        if flow.is_break() || region.is_done() {
            return Ok(flow);
        }
    }
}

fn in_one_thread<S: Source, W: Work<S>>(
    reader: Reader<S>,
    order: Order,
    done: u64,
    work: &W,
    collect: &mut impl FnMut(W::Made) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    let mut events = Events::new(reader, order);
    // Several threads have already passed on these events.
    Region::new(&mut events, done).for_each(|_| {})?;
    let _ = in_portions(&mut events, work, collect)?;
    let (reader, out_of_order) = events.into_reader();
    Ok(Outcome::from_reader(&reader, out_of_order))
}
