//! Reads a trace without sorting the events that do not need it.
//!
//! Most events are of no use to an analysis, and most others are CPU samples, of which five numbers
//! are needed, or events of tasks, of which six are. Sorting an event by time costs more than reading it, so events are first examined in
//! file order, and handled in one of three ways:
//!
//! | event | what happens to it |
//! |---|---|
//! | of no use | it is counted for its thread |
//! | a CPU sample, or of a task whose await is followed | kept as a [`Pending`](filter::Pending) of 40 bytes; those are merged by time |
//! | any other | deferred: the reader delivers it again, in time order |
//!
//! The result equals calls of `Analysis::event` for each event in time order. Therefore the first
//! event of a thread is always deferred: threads are numbered in the order of their first events in
//! time.

mod by_number;
mod filter;
mod pending;
mod runs;

pub(super) use filter::WantedEvents;

use super::observer::Observer;
use super::{Analysis, AnalysisError};
use filter::{EventFilter, Filtering};
use nettrace_parser::unstable::{FilteredEvents, Watermark};
use nettrace_parser::{Source, TimeOrdered};
use pending::{PendingFeed, StackHandles};

/// Maximum number of deferred events for each event that is not deferred. With more, the filter is
/// slower than sorting all events.
const MAX_DEFERRED: u64 = 3;
/// Minimum number of deferred events before the filter is given up. A trace may begin with a list of
/// its methods, all of which are new, and then have nothing but samples and the same list again.
const MIN_DEFERRED: u64 = 1 << 14;

/// Reads the remaining events. The result equals calls of `Analysis::event_for` for each event in
/// time order.
pub(super) fn read<S: Source>(
    analysis: &mut Analysis<'_>,
    events: &mut TimeOrdered<S>,
    wanted: WantedEvents,
    observer: &mut dyn Observer,
) -> Result<(), AnalysisError> {
    let clock = analysis.begin(events.trace()?);
    let is_v6 = events.reader().version().is_some_and(|version| version.major() == 6);
    let mut filter = EventFilter::new(wanted, is_v6);
    let mut handles = StackHandles::default();
    let (mut deferred, mut is_worth_it) = (0u64, true);
    while is_worth_it {
        let model = analysis.model_mut();
        let mut filtering = Filtering { filter: &mut filter, model, observer: &*observer };
        let Some(complete) = events.advance(&mut filtering)? else { break };
        let (threads, runs, pending) = filter.ready(complete);
        let mut feed = PendingFeed { threads, runs, pending, handles: &mut handles };
        events.deliver(|next| {
            feed.until(next.place(), analysis, |number| next.stack(number))?;
            deferred = deferred.saturating_add(1);
            analysis.event_for(next.event(), observer)
        })?;
        feed.until((u64::MAX, u64::MAX), analysis, |number| events.stack(number))?;
        filter.go_on(complete, events.waiting() > 0);
        if complete == Watermark::All {
            filter.forget_types();
            handles.clear();
            // If most events are deferred, sorting all events is faster.
            is_worth_it = deferred < MIN_DEFERRED || deferred / MAX_DEFERRED <= filter.passed();
        }
    }
    if !is_worth_it {
        events.try_for_each(|event| {
            analysis.event_for(&event, observer).map_err(AnalysisError::from)
        })?;
    }
    filter.samplers.iter().for_each(|(_, id)| analysis.outputs.add_sampler(|| *id));
    for row in filter.threads.iter().filter(|row| row.events > 0) {
        analysis.model_mut().count_events(row.process_id, row.thread_id, row.events);
        let nanos = |ticks| clock.nanos_since_start(ticks).unwrap_or(0);
        analysis.selected.add_all(row.events, nanos(row.first), nanos(row.last));
    }
    Ok(())
}
