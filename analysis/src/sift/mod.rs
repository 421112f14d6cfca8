//! Which events an analysis looks at, and when.
//!
//! Most events of a trace are of no use to it, and most of the others are CPU samples, of which a few
//! numbers tell everything. Neither need wait for their turn, which costs more than reading them. So
//! events are shown here in file order: what is of no use is counted for its thread, samples are kept
//! as numbers and put into time order among themselves, and the rest comes in time order from the
//! reader.
//!
//! The result is that of `Analysis::event` for each event in time order. Therefore the event by which
//! a thread is met first always waits: threads are numbered in the order in which they were met.

mod by_number;
mod regions;
mod sifter;
mod taken;

pub(crate) use regions::read_regions;
pub(crate) use sifter::Wanted;

use crate::driver::{Analysis, AnalysisError};
use nettrace_parser::internal::{Complete, SiftedEvents};
use nettrace_parser::{Source, TimeOrdered, Version};
use sifter::{Sifter, Sifting};
use taken::{Numbered, Taken};

/// Whether streams of a version can be sifted. Versions 3 and 6 report threads in other ways.
pub(crate) fn is_possible(version: Option<Version>) -> bool {
    version == Some(Version::V4)
}

/// Reads all events that are left, as `Analysis::event` would take them in time order.
pub(crate) fn read<S: Source>(
    analysis: &mut Analysis<'_>,
    events: &mut TimeOrdered<S>,
    wanted: Wanted,
) -> Result<(), AnalysisError> {
    let mut sifter = Sifter::new(wanted);
    let mut numbered = Numbered::default();
    let trace = events.trace()?;
    analysis.begin(trace);
    let process_id = trace.process_id.map(u64::from);
    loop {
        let model = Some(analysis.model_mut());
        let Some(complete) = events.advance(&mut Sifting { sifter: &mut sifter, model })? else { break };
        let end = sifter.sort(complete);
        let (threads, ready) = sifter.ready(end);
        let mut taken = Taken { threads, numbered: &mut numbered, process_id, at: 0 };
        while let Some(next) = events.peek() {
            taken.until(Some(next), ready, analysis, |number| events.stack(number))?;
            if let Some(event) = events.ready() {
                analysis.event(&event)?;
            }
        }
        taken.until(None, ready, analysis, |number| events.stack(number))?;
        sifter.samples.drain(..end);
        sifter.go_on(events.waiting() > 0);
        if complete == Complete::All {
            sifter.roles.clear();
            numbered.clear();
        }
    }
    for row in sifter.threads {
        if row.events > 0 {
            analysis.model_mut().count_events(process_id, row.id, row.events);
        }
    }
    Ok(())
}
