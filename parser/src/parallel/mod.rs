//! Reading with several threads.
//!
//! One thread finds blocks and keeps the tables; at every sequence point it hands the event blocks
//! found since the last one, with the tables as they are, to a worker. A worker reads the events of
//! its *region*, in file order or in time order, and makes something of them; what it made comes back
//! to the caller in the stream's order. So the result is that of one thread, whatever their number.
//!
//! Only streams without surprises are read so. Whatever asks for the whole stream's story to be reported
//! right (damage, ids that are not defined or defined twice, threads that end within a region,
//! events out of order) sends the rest of the stream through one thread; so do version 3, which has no
//! sequence points, regions of more than 16 MiB, because what is made of a region is held until its turn comes, and
//! sources that are not in memory.
//!
//! ```
//! use nettrace_parser::parallel::{self, Options, Region};
//! use std::ops::ControlFlow;
//! # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
//! let count = |region: &mut Region<'_, _>| {
//!     let mut events = 0u64;
//!     region.for_each(|_event| events += 1)?;
//!     Ok(events)
//! };
//! let mut total = 0;
//! let outcome = parallel::read_slice(&bytes, Options::default(), count, |events| {
//!     total += events;
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!(total, 4);
//! assert!(outcome.is_complete());
//! # Ok::<(), nettrace_parser::Error>(())
//! ```

mod index;
mod region;
pub(crate) mod regular;
mod workers;

pub use crate::outcome::Outcome;
pub use region::Region;

use crate::error::Error;
use crate::limits::Limits;
use crate::reader::Reader;
use crate::source::{Source, Whole};
use region::Events;
use std::ops::ControlFlow;

/// The order of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Order {
    /// By time, and by place in the file where times are equal.
    #[default]
    Time,
    /// As they stand in the stream.
    File,
}

/// How to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Threads that read events; 1 reads in the caller's thread. Default: as many as the machine
    /// has processors.
    pub threads: usize,
    /// The order of events.
    pub order: Order,
    /// How much the stream may ask for.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
        Options { threads, order: Order::Time, limits: Limits::default() }
    }
}

impl Options {
    /// As many threads as the machine has processors, time order, default limits.
    pub fn new() -> Options {
        Options::default()
    }

    /// Sets [`Options::threads`].
    pub fn threads(mut self, threads: usize) -> Options {
        self.threads = threads.max(1);
        self
    }

    /// Sets [`Options::order`].
    pub fn order(mut self, order: Order) -> Options {
        self.order = order;
        self
    }

    /// Sets [`Options::limits`].
    pub fn limits(mut self, limits: Limits) -> Options {
        self.limits = limits;
        self
    }
}

/// Reads a whole stream in memory. `work` makes something of the events of each region, on any
/// thread; `collect` gets what was made, in the stream's order, on the caller's, and may stop the
/// reading.
///
/// # Errors
/// As [`Reader::next_event`](crate::Reader::next_event).
pub fn read_slice<'d, T: Send>(
    bytes: &'d [u8],
    options: Options,
    work: impl Fn(&mut Region<'_, Whole<&'d [u8]>>) -> Result<T, Error> + Sync,
    collect: impl FnMut(T) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    read(|| Whole::new(bytes), options, work, collect)
}

/// The same for a stream of which any number of threads can have a source of their own, such as
/// [`MappedFile::reopened`](crate::MappedFile::reopened). Each source begins at the stream's first
/// byte.
///
/// # Errors
/// As [`Reader::next_event`](crate::Reader::next_event).
pub fn read<S: Source, T: Send>(
    source: impl Fn() -> S + Sync,
    options: Options,
    work: impl Fn(&mut Region<'_, S>) -> Result<T, Error> + Sync,
    mut collect: impl FnMut(T) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    let mut done = 0;
    if options.threads > 1 {
        match workers::read(&source, options, &work, &mut collect)? {
            workers::End::Whole(outcome) => return Ok(*outcome),
            workers::End::Irregular { events } => done = events,
        }
    }
    let reader = Reader::with_limits(source(), options.limits);
    in_one_thread(reader, options.order, done, &work, &mut collect)
}

/// Reads from any source in the caller's thread, in portions as [`read_slice`] gives them.
///
/// # Errors
/// As [`Reader::next_event`](crate::Reader::next_event).
pub fn read_source<S: Source, T>(
    source: S,
    options: Options,
    work: impl Fn(&mut Region<'_, S>) -> Result<T, Error>,
    mut collect: impl FnMut(T) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    let reader = Reader::with_limits(source, options.limits);
    in_one_thread(reader, options.order, 0, &work, &mut collect)
}

/// Events of one portion, where there are no regions.
const PORTION_EVENTS: u64 = 8192;

/// Gives all events that are left in portions.
fn in_portions<S: Source, T>(
    events: &mut Events<S>,
    work: &impl Fn(&mut Region<'_, S>) -> Result<T, Error>,
    collect: &mut impl FnMut(T) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, Error> {
    loop {
        let mut region = Region::new(events, PORTION_EVENTS);
        let made = work(&mut region)?;
        if !region.is_stopped() {
            // What the work did not ask for is passed over, as workers do, or this would never end.
            region.for_each(|_| {})?;
        }
        let is_done = region.is_done();
        if collect(made).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if is_done {
            return Ok(ControlFlow::Continue(()));
        }
    }
}

fn in_one_thread<S: Source, T>(
    reader: Reader<S>,
    order: Order,
    done: u64,
    work: &impl Fn(&mut Region<'_, S>) -> Result<T, Error>,
    collect: &mut impl FnMut(T) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    let mut events = Events::new(reader, order);
    for _ in 0..done {
        events.next_event()?;
    }
    // Either way this is the end.
    let _ = in_portions(&mut events, work, collect)?;
    let (reader, out_of_order) = events.into_reader();
    Ok(Outcome::of(&reader, out_of_order))
}
