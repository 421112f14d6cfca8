//! A plain file that several threads read, region by region, with the same results as one thread.

use super::Input;
use crate::progress::Progress;
use nettrace_analysis::info::Survey;
use nettrace_parser::parallel::{self, MakeParts, Options, Order};
use nettrace_parser::{Error, Event, Limits, Outcome, PositionedFile, Progress as _};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

/// A file that several threads read.
pub(crate) struct Regions {
    file: PositionedFile,
    threads: usize,
    progress: Rc<Progress>,
    whole: Option<u64>,
    limits: Limits,
}

/// Values that no thread uses now. Threads take them instead of new ones, because their memory was
/// touched before.
struct Spare<T>(Mutex<Vec<T>>);

impl<T> Spare<T> {
    fn new() -> Spare<T> {
        Spare(Mutex::new(Vec::new()))
    }

    fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give(&self, spare: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(spare);
    }
}

/// Maximum bytes, for each thread, of finished parts that wait for their turn. A region of an
/// ordinary trace becomes at most 40 MiB of NDJSON.
const HELD_BYTES_PER_THREAD: usize = 64 << 20;
/// Address space in bytes that each thread takes, most of it for its share of the allocator.
const ADDRESS_SPACE_PER_THREAD: usize = 128 << 20;
/// Divisor of the memory limit of the process, for the limit of finished parts.
const HELD_SHARE: usize = 8;
/// Maximum size in bytes of a file that one thread reads by default: a second thread takes about 10
/// ms to touch its memory for the first time, and to learn the event types.
const SMALL_FILE_BYTES: u64 = 8 << 20;

impl Regions {
    /// Returns the regions of an input; `None` if one thread is to read it, because there is no
    /// other thread, or the file is small or cannot be mapped.
    pub(crate) fn of_input(input: &Input, threads: Option<usize>) -> Option<Regions> {
        let is_small = input.whole.is_some_and(|bytes| bytes <= SMALL_FILE_BYTES);
        let processors = || std::thread::available_parallelism().map_or(1, |count| count.get());
        let threads = threads.unwrap_or_else(|| if is_small { 1 } else { processors() });
        let threads =
            memory_limit().map_or(threads, |limit| threads.min(limit / ADDRESS_SPACE_PER_THREAD));
        let file = input.mapped().filter(|_| threads > 1)?.positioned();
        let (progress, limits) = (Rc::clone(&input.progress), Limits::default());
        Some(Regions { file, threads, progress, whole: input.whole, limits })
    }

    /// Replaces the limits of reading.
    pub(crate) fn within(self, limits: Limits) -> Regions {
        Regions { limits, ..self }
    }

    fn options(&self, order: Order) -> Options {
        let most = HELD_BYTES_PER_THREAD.saturating_mul(self.threads);
        let most = memory_limit().map_or(most, |limit| most.min(limit / HELD_SHARE));
        let mut options = Options::default();
        (options.threads, options.order) = (self.threads, order);
        (options.limits, options.held_bytes) = (self.limits, most);
        options
    }

    /// Counts all events of the file. `None` if there are too many types to count each by itself:
    /// only reading in file order tells which types are over the limit.
    pub(crate) fn survey(&self, new: fn() -> Survey) -> Result<Option<(Survey, Outcome)>, Error> {
        let (file, surveys) = (&self.file, Spare::new());
        let (mut whole, mut has_all) = (new(), true);
        let outcome = parallel::read(
            || file.reopened(),
            self.options(Order::File),
            |region| {
                let mut survey = surveys.take().unwrap_or_else(new);
                let mut reached = 0;
                region.for_each(|event| {
                    survey.event(&event);
                    reached = event.offset();
                })?;
                let part = survey.part();
                surveys.give(survey);
                Ok((part, reached))
            },
            |(part, reached)| {
                self.progress.reached(reached, self.whole);
                has_all = whole.join(part);
                if has_all { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        )?;
        Ok(has_all.then_some((whole, outcome)))
    }

    /// Reads the whole file in parts, and passes the result of a maker for each part to `collect`,
    /// which may stop the reading.
    pub(crate) fn read_in_parts<M: MakeParts + Send>(
        &self,
        order: Order,
        maker: impl Fn() -> M + Sync,
        mut collect: impl FnMut(M::Part) -> ControlFlow<()>,
    ) -> Result<Outcome, Error> {
        let file = &self.file;
        parallel::read_in_parts(
            || file.reopened(),
            self.options(order),
            || Reaching { maker: maker(), reached: 0 },
            |(part, reached)| {
                self.progress.reached(reached, self.whole);
                collect(part)
            },
        )
    }
}

/// Makes parts, and notes where in the file the last event of each part lies.
struct Reaching<M> {
    maker: M,
    reached: u64,
}

impl<M: MakeParts> MakeParts for Reaching<M> {
    type Part = (M::Part, u64);

    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.reached = event.offset();
        self.maker.event(event);
    }

    #[inline(always)]
    fn part_bytes(&self) -> usize {
        self.maker.part_bytes()
    }

    fn take_part(&mut self) -> Self::Part {
        (self.maker.take_part(), self.reached)
    }
}

/// Returns the bytes of address space that the process may have, if that is limited (`ulimit -v`).
#[cfg(unix)]
fn memory_limit() -> Option<usize> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    Some(usize::try_from(limit).unwrap_or(usize::MAX))
}

#[cfg(not(unix))]
fn memory_limit() -> Option<usize> {
    None
}
