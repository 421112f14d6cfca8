//! A plain file that several threads read, region by region, with the same results as one thread.

use super::Input;
use crate::progress::Progress;
use nettrace_parser::parallel::{self, Options, Order, Outcome};
use nettrace_parser::{Error, Event, PositionedFile};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A file to be read by several threads.
pub(crate) struct Regions {
    file: PositionedFile,
    threads: usize,
    progress: Rc<Progress>,
    whole: Option<u64>,
}

/// What becomes of the events of a region: one for each region at work, used again for others.
pub(crate) trait Work: Send {
    /// What is made of a region.
    type Made: Send;
    /// Takes the next event of the region.
    fn take(&mut self, event: &Event<'_>);
    /// Bytes of what was made since the last [`Work::made`], if they may be many.
    #[inline]
    fn bytes(&self) -> usize {
        0
    }
    /// What was made since the last call.
    fn made(&mut self) -> Self::Made;
}

/// Regions at work or waiting for their turn hold what was made of them; the rest is kept for the next ones.
pub(crate) struct Spare<T>(Mutex<Vec<T>>);

impl<T> Spare<T> {
    pub(crate) fn new() -> Spare<T> {
        Spare(Mutex::new(Vec::new()))
    }

    pub(crate) fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    pub(crate) fn give(&self, spare: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(spare);
    }
}

/// Bytes that may have been made and wait for their turn, of all regions together, for each thread. A region of an
/// ordinary trace comes to 40 MiB of NDJSON at most.
const HELD_PER_THREAD: usize = 64 << 20;
/// Address space that a thread takes by itself, most of it for its share of the allocator.
const THREAD_SPACE: usize = 128 << 20;
/// Of the memory that the process may have, the part that what waits may take.
const HELD_PART: usize = 8;
/// In portions, what is made goes on as soon as it is this much.
const PORTION: usize = 4 << 20;
/// How exactly it is known what is held.
const GRAIN: usize = 1 << 20;

impl Regions {
    /// `None`: one thread reads it, because there are no more or because it is no plain file that can be mapped.
    pub(super) fn of(input: &Input, threads: Option<usize>) -> Option<Regions> {
        let processors = || std::thread::available_parallelism().map_or(1, |count| count.get());
        let threads = threads.unwrap_or_else(processors);
        let threads = memory_limit().map_or(threads, |limit| threads.min(limit / THREAD_SPACE));
        let file = input.mapped().filter(|_| threads > 1)?.positioned();
        Some(Regions { file, threads, progress: Rc::clone(&input.progress), whole: input.whole })
    }

    /// Bytes that may wait for their turn.
    pub(crate) fn most_held(&self) -> usize {
        let most = HELD_PER_THREAD.saturating_mul(self.threads);
        memory_limit().map_or(most, |limit| most.min(limit / HELD_PART))
    }

    /// Hands on what several threads need to read the whole file: sources, their number, and who is called with how far
    /// they are.
    pub(crate) fn with<T>(
        &self,
        read: impl FnOnce(&(dyn Fn() -> PositionedFile + Sync), usize, &mut dyn FnMut(u64)) -> T,
    ) -> T {
        let file = &self.file;
        read(&|| file.reopened(), self.threads, &mut |reached| self.progress.at(reached, self.whole))
    }

    /// Reads the whole file. `worker` makes a worker, as many as are needed; `collect` gets what they made in
    /// the stream's order, and may stop the reading.
    ///
    /// A few bytes of a stream may become very many. What waits for its turn is bounded: a region that would hold too
    /// much is given up, and read again in portions when its turn has come.
    pub(crate) fn read<W: Work>(
        &self,
        order: Order,
        worker: impl Fn() -> W + Sync,
        mut collect: impl FnMut(W::Made) -> ControlFlow<()>,
    ) -> Result<Outcome, Error> {
        let options = Options::new().threads(self.threads).order(order);
        let (file, workers) = (&self.file, Spare::new());
        let (held, most) = (AtomicUsize::new(0), self.most_held());
        parallel::read(
            || file.reopened(),
            options,
            |region| {
                let mut worker = workers.take().unwrap_or_else(&worker);
                let mut reached = 0;
                let mut counted = 0;
                if region.is_portion() {
                    while let Some(event) = region.next_event()? {
                        worker.take(&event);
                        reached = event.offset();
                        if worker.bytes() >= PORTION {
                            region.stop_here();
                            break;
                        }
                    }
                } else {
                    let mut is_too_much = false;
                    region.for_each(|event| {
                        if is_too_much {
                            return;
                        }
                        worker.take(&event);
                        reached = event.offset();
                        let more = worker.bytes().saturating_sub(counted);
                        if more >= GRAIN {
                            counted += more;
                            is_too_much = held.fetch_add(more, Ordering::Relaxed) + more > most;
                        }
                    })?;
                    if is_too_much {
                        region.stop_here();
                        held.fetch_sub(std::mem::take(&mut counted), Ordering::Relaxed);
                    }
                }
                let made = worker.made();
                workers.give(worker);
                Ok((made, reached, counted))
            },
            |(made, reached, counted)| {
                self.progress.at(reached, self.whole);
                let flow = collect(made);
                held.fetch_sub(counted, Ordering::Relaxed);
                flow
            },
        )
    }
}

/// Bytes of address space that the process may have, if that is limited (`ulimit -v`).
#[cfg(unix)]
fn memory_limit() -> Option<usize> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    Some(usize::try_from(limit).unwrap_or(usize::MAX))
}

#[cfg(not(unix))]
fn memory_limit() -> Option<usize> {
    None
}
