//! Filtering with several threads.
//!
//! Each thread reads whole regions between two sequence points: it decodes, filters and sorts, and keeps the samples and
//! the deferred events. The caller's thread hands them to the analysis region by region, in the order in which one
//! reader would deliver them.

use super::by_number::ByNumber;
use super::filter::{EventFilter, Filtering, MOST_NUMBERS, PendingSample, WantedEvents};
use super::samples::{SampleFeed, StackHandles};
use crate::convert::ConvertError;
use crate::driver::{Analysis, AnalysisError};
use nettrace_parser::internal::{Ended, FilteredEvents, read_regular};
use nettrace_parser::parallel::{Options, Region};
use nettrace_parser::{Error, KeptEvents, Outcome, Reader, Source, Stack};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// What the analysis needs of one region.
#[derive(Debug)]
struct FilteredRegion {
    filter: EventFilter,
    /// In time order.
    samples: Vec<PendingSample>,
    /// Deferred events, in time order.
    kept: KeptEvents,
    /// Ticks and stream position of each of them.
    turns: Vec<(u64, u64)>,
    stacks: StackCopies,
}

/// The stacks of a region's samples, by their numbers.
#[derive(Debug)]
struct StackCopies {
    /// Where in `bytes` each begins and ends; [`UNKNOWN`] where there is none.
    places: ByNumber<(u32, u32)>,
    bytes: Vec<u8>,
    /// Numbers that are too large to be places.
    others: BTreeMap<u32, Vec<u8>>,
    pointer_size: u8,
}

const UNKNOWN: (u32, u32) = (u32::MAX, u32::MAX);

impl StackCopies {
    fn clear(&mut self) {
        self.places.clear();
        self.bytes.clear();
        self.others.clear();
    }

    #[inline]
    fn note<'s>(&mut self, number: u32, stack: impl FnOnce() -> Stack<'s>) {
        if self.places.get(number).is_none_or(|place| *place == UNKNOWN) {
            self.add(number, stack().bytes());
        }
    }

    #[cold]
    fn add(&mut self, number: u32, stack: &[u8]) {
        let from = self.bytes.len();
        let end = u32::try_from(from.saturating_add(stack.len()));
        let (Ok(from), Ok(end), true) = (u32::try_from(from), end, (number as usize) < MOST_NUMBERS) else {
            self.others.insert(number, stack.to_vec());
            return;
        };
        self.bytes.extend_from_slice(stack);
        self.places.put(number, (from, end));
    }

    fn get(&self, number: u32) -> Stack<'_> {
        let bytes = match self.places.get(number) {
            Some(place) if *place != UNKNOWN => self.bytes.get(place.0 as usize..place.1 as usize),
            _ => self.others.get(&number).map(Vec::as_slice),
        };
        Stack::new(bytes.unwrap_or_default(), self.pointer_size)
    }
}

impl FilteredRegion {
    fn new(wanted: WantedEvents) -> FilteredRegion {
        FilteredRegion {
            filter: EventFilter::new(wanted),
            samples: Vec::new(),
            kept: KeptEvents::new(),
            turns: Vec::new(),
            stacks: StackCopies {
                places: ByNumber::new(UNKNOWN),
                bytes: Vec::new(),
                others: BTreeMap::new(),
                pointer_size: 8,
            },
        }
    }

    /// Forgets everything but the memory it has.
    fn clear(&mut self) {
        self.filter.begin_again();
        self.samples.clear();
        self.kept.clear();
        self.turns.clear();
        self.stacks.clear();
    }

    /// Reads a region.
    fn fill<S: Source>(&mut self, region: &mut Region<'_, S>) -> Result<(), Error> {
        self.stacks.pointer_size = region.session().pointer_size;
        while let Some(complete) = region.advance(&mut Filtering { filter: &mut self.filter, model: None })? {
            let end = self.filter.sort(complete);
            let (_, ready) = self.filter.ready(end);
            for sample in ready {
                self.stacks.note(sample.stack, || region.stack(sample.stack));
            }
            self.samples.extend_from_slice(ready);
            self.filter.samples.drain(..end);
            self.filter.go_on(true);
            while let Some(turn) = region.peek() {
                if let Some(event) = region.ready() {
                    self.turns.push(turn);
                    self.kept.push(&event);
                }
            }
        }
        Ok(())
    }

    /// Gives what was read to the analysis, and counts the events of threads that nobody else counted.
    fn give(
        &mut self,
        analysis: &mut Analysis<'_>,
        handles: &mut StackHandles,
        process_id: Option<u64>,
        counts: &mut BTreeMap<u64, u64>,
    ) -> Result<(), ConvertError> {
        let FilteredRegion { filter, samples, kept, turns, stacks } = self;
        handles.clear();
        let mut feed = SampleFeed { threads: &mut filter.threads, handles, process_id, at: 0 };
        for (turn, event) in turns.iter().zip(kept.iter()) {
            feed.until(Some(*turn), samples, analysis, |number| stacks.get(number))?;
            analysis.event(&event)?;
        }
        feed.until(None, samples, analysis, |number| stacks.get(number))?;
        for row in filter.threads.iter().filter(|row| row.events > 0) {
            let count = counts.entry(row.id).or_default();
            *count = count.saturating_add(row.events);
        }
        Ok(())
    }

    /// The stream position that was reached, roughly: that of the last sample or deferred event.
    fn reached(&self) -> u64 {
        let (sample, turn) = (self.samples.last(), self.turns.last());
        sample.map_or(0, |sample| sample.at).max(turn.map_or(0, |(_, at)| *at))
    }
}

/// Reads a whole stream, as `Analysis::event` would take its events in time order, with a number of threads.
/// `progress` is called with positions that were reached.
pub(crate) fn read_regions<S: Source>(
    analysis: &mut Analysis<'_>,
    source: impl Fn() -> S + Sync,
    threads: usize,
    wanted: WantedEvents,
    mut progress: impl FnMut(u64),
) -> Result<Outcome, AnalysisError> {
    let mut reader = Reader::new(source());
    let trace = reader.trace()?;
    analysis.begin(trace);
    let process_id = trace.process_id.map(u64::from);
    // Memory that is touched for the first time costs more than what is put into it.
    let spare = Mutex::new(Vec::<FilteredRegion>::new());
    let take_spare = || spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let work = |region: &mut Region<'_, S>| {
        let mut portion = take_spare().unwrap_or_else(|| FilteredRegion::new(wanted.clone()));
        portion.fill(region)?;
        Ok(portion)
    };
    let (mut handles, mut counts, mut failed) = (StackHandles::default(), BTreeMap::new(), None);
    let collect = |mut portion: FilteredRegion| {
        progress(portion.reached());
        if let Err(error) = portion.give(analysis, &mut handles, process_id, &mut counts) {
            failed = Some(error);
            return ControlFlow::Break(());
        }
        portion.clear();
        spare.lock().unwrap_or_else(PoisonError::into_inner).push(portion);
        ControlFlow::Continue(())
    };
    let ended = read_regular(&source, Options::new().threads(threads), work, collect)?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let outcome = match ended {
        Ended::Whole(outcome) => *outcome,
        Ended::Rest(mut events) => {
            super::read(analysis, &mut events, wanted)?;
            events.outcome()
        }
    };
    for (thread_id, events) in counts {
        analysis.model_mut().count_events(process_id, thread_id, events);
    }
    Ok(outcome)
}
