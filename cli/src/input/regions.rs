//! A plain file that several threads read, region by region, with the same results as one thread.

use super::Input;
use crate::progress::Progress;
use nettrace_parser::parallel::{self, Options, Order, Outcome};
use nettrace_parser::{Error, Event, PositionedFile};
use std::ops::ControlFlow;
use std::rc::Rc;
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

impl Regions {
    /// `None`: one thread reads it, because there are no more or because it is no plain file that can be mapped.
    pub(super) fn of(input: &Input, threads: Option<usize>) -> Option<Regions> {
        let processors = || std::thread::available_parallelism().map_or(1, |count| count.get());
        let threads = threads.unwrap_or_else(processors);
        let file = input.mapped().filter(|_| threads > 1)?.positioned();
        Some(Regions { file, threads, progress: Rc::clone(&input.progress), whole: input.whole })
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
    pub(crate) fn read<W: Work>(
        &self,
        order: Order,
        worker: impl Fn() -> W + Sync,
        mut collect: impl FnMut(W::Made) -> ControlFlow<()>,
    ) -> Result<Outcome, Error> {
        let options = Options::new().threads(self.threads).order(order);
        let (file, workers) = (&self.file, Spare::new());
        parallel::read(
            || file.reopened(),
            options,
            |region| {
                let mut worker = workers.take().unwrap_or_else(&worker);
                let mut reached = 0;
                region.for_each(|event| {
                    worker.take(&event);
                    reached = event.offset();
                })?;
                let made = worker.made();
                workers.give(worker);
                Ok((made, reached))
            },
            |(made, reached)| {
                self.progress.at(reached, self.whole);
                collect(made)
            },
        )
    }
}
