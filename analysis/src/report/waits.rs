//! Waits for handles: runtime 301 WaitHandleWait/Start and 302 WaitHandleWait/Stop, from
//! .NET 9 on.
//!
//! The events do not contain what is waited for, except whether it is a monitor; the
//! stack shows it.

use super::contract::{Moment, Recording, Report, ReportInput, SCHEMA};
use super::distribution::{Distribution, Spread};
use super::stuck::{StuckThread, StuckThreads};
use super::waiting::{BegunWait, MAX_OPEN, OpenWait, WaitTotals, Waited, Waiting};
use crate::model::{Frame, Mode, Model, Resolved, StackHandle, ThreadHandle, WaitFor};
use crate::report::stack_rows::ShownFrames;
use crate::sorted::SortFew;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Waits of threads for handles.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WaitsReport {
    /// Version of this document.
    pub schema: u32,
    /// Totals of all waits. In JSON these are members of the report itself.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub totals: WaitTotals,
    /// Threads that still wait at the end of the trace, longest first, but for idle ones: at
    /// most 100.
    pub open: Vec<OpenWait>,
    /// Number of threads that still wait and are idle: workers of the thread pool, timers.
    pub idle: u64,
    /// Further threads that wait for something but work, time and input, of which only their
    /// samples say so: the wait is older than the session, or the events were not recorded.
    /// At most 100.
    pub stuck: Vec<StuckThread>,
    /// By kind and stack, longest total first; those of idle threads come last.
    pub places: Vec<WaitPlace>,
    /// By thread, longest total first.
    pub threads: Vec<WaitThread>,
    /// Number of all threads that waited, including those not listed.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) waiting_threads: u64,
    /// Time of the completed waits of idle threads.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) idle_ns: u64,
}

/// Waits at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WaitPlace {
    /// `MonitorWait`, or `Unknown` for all other handles, as in the event.
    pub source: String,
    /// Whether threads wait there that have nothing to do: workers of the thread pool, its
    /// own threads, timers.
    pub is_idle: bool,
    /// Completed waits.
    pub waits: Spread,
    /// Names of the frames, innermost first. Empty if the trace has no stack.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::document::as_texts"))]
    pub frames: Vec<Arc<Frame>>,
    /// Indices of the frames with guessed names, counting from 0.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub guessed: Vec<usize>,
}

/// Waits of one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WaitThread {
    /// OS id; `None` if the stream does not contain it.
    pub thread_id: Option<u64>,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Number of completed waits.
    pub count: u64,
    /// Their total duration, in nanoseconds.
    pub total_ns: u64,
}

/// The kind of a wait, and where it happened.
type HandlePlace = (u64, StackHandle);

/// Computes a [`WaitsReport`]. Memory is bounded by the number of stacks and threads.
#[derive(Debug)]
pub struct Waits {
    /// With the number of waits of each thread, and their total duration.
    waits: Waiting<HandlePlace, BTreeMap<ThreadHandle, (u64, u64)>>,
}

impl Default for Waits {
    /// Lists the top 20 places and threads.
    fn default() -> Waits {
        Waits { waits: Waiting::new(20) }
    }
}

impl Report for Waits {
    type Output = WaitsReport;

    const NAME: &'static str = "waits";
    const ABOUT: &'static str = "Handles that threads waited for";
    const RECORD: &'static [Recording] = &[Recording::runtime(0x400_0000_0000, 5)];
    const INPUT: ReportInput = ReportInput::EventsAndSamples;

    fn top(mut self, rows: usize) -> Waits {
        self.waits.top = rows;
        self
    }

    fn wants(&self, event: &Event<'_>) -> bool {
        event.known_provider() == KnownProvider::Runtime && matches!(event.id(), 301 | 302)
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let at = moment.edge(event);
        match event.id() {
            301 => {
                let source =
                    event.field("WaitSource").and_then(|value| value.as_u64()).unwrap_or(0);
                let place = (source, model.stack_of(event, moment.thread));
                self.waits.start(at, moment.is_selected.then_some(place));
            }
            302 => {
                // It contains neither the duration nor the kind.
                if let Some((nanos, threads)) =
                    self.waits.stop(at, None, moment.is_selected, || None)
                {
                    let (count, total) = threads.entry(moment.thread).or_default();
                    *count = count.saturating_add(1);
                    *total = total.saturating_add(nanos);
                }
            }
            _ => return false,
        }
        true
    }

    fn has_more(output: &WaitsReport) -> bool {
        !output.stuck.is_empty()
    }

    fn finish(self, resolved: &Resolved<'_>) -> WaitsReport {
        let top = self.waits.top;
        let passes = |place: &HandlePlace| resolved.selected(place.1, Mode::Unknown).is_some();
        let Waited { totals, sites, open } = self.waits.finish(passes);
        let is_idle = |stack| resolved.waits_for(stack, Mode::External) == Some(WaitFor::Work);
        let (idle, open): (Vec<_>, Vec<_>) = open.iter().partition(|begun| is_idle(begun.place.1));
        let open = open.into_iter().take(MAX_OPEN);
        let mut shown = ShownFrames::new(resolved);
        let open = open.map(|begun: &BegunWait<HandlePlace>| {
            let stack = begun.place.1;
            let waits_for = resolved.waits_for(stack, Mode::External).unwrap_or(WaitFor::Other);
            OpenWait::at(begun, waits_for, resolved.frames(stack), &mut shown)
        });
        let open: Vec<OpenWait> = open.collect();
        let is_known = |thread| open.iter().any(|wait| wait.thread_id == Some(thread));
        let stuck = StuckThreads::new(resolved).waiting(is_for_another, is_known, MAX_OPEN);
        let mut places: BTreeMap<_, Distribution> = BTreeMap::new();
        let mut threads: BTreeMap<ThreadHandle, (u64, u64)> = BTreeMap::new();
        for ((source, stack), site) in &sites {
            // Stacks with equal names are merged.
            let key = (is_idle(*stack), *source, resolved.frames(*stack));
            places.entry(key).or_default().merge(&site.waits);
            for (thread, (count, total)) in &site.more {
                let sums = threads.entry(*thread).or_default();
                *sums = (sums.0.saturating_add(*count), sums.1.saturating_add(*total));
            }
        }
        let mut places: Vec<_> =
            places.into_iter().filter(|(_, waits)| waits.count() > 0).collect();
        places.sort_few_by_key(|((is_idle, ..), waits)| (*is_idle, Reverse(waits.sum())));
        let idle_ns = places.iter().filter(|((is_idle, ..), _)| *is_idle);
        let idle_ns = idle_ns.fold(0, |sum: u64, (_, waits)| sum.saturating_add(waits.sum()));
        let places = places.into_iter().take(top).map(|((is_idle, source, frames), waits)| {
            let source = match source {
                1 => "MonitorWait".to_owned(),
                0 => "Unknown".to_owned(),
                other => other.to_string(),
            };
            let (frames, guessed) = shown.names(frames);
            WaitPlace { source, is_idle, waits: waits.spread(), frames, guessed }
        });
        let waiting_threads = threads.len() as u64;
        let mut threads: Vec<_> = threads.into_iter().collect();
        threads.sort_few_by_key(|(thread, (_, total))| (Reverse(*total), *thread));
        let threads = threads.into_iter().take(top).map(|(thread, (count, total_ns))| {
            let row = resolved.model().thread(thread);
            let (thread_id, name) =
                row.map_or((None, None), |row| (row.os_thread_id, row.name.clone()));
            WaitThread { thread_id, name, count, total_ns }
        });
        let (places, threads) = (places.collect(), threads.collect());
        let idle = idle.len() as u64;
        WaitsReport {
            schema: SCHEMA,
            totals,
            open,
            idle,
            stuck,
            places,
            threads,
            waiting_threads,
            idle_ns,
        }
    }
}

/// Returns whether it is another thread, or a task, that ends such a wait, rather than time, input
/// or new work.
fn is_for_another(what: WaitFor) -> bool {
    matches!(
        what,
        WaitFor::Pulse
            | WaitFor::Handle
            | WaitFor::Event
            | WaitFor::Semaphore
            | WaitFor::Task
            | WaitFor::Thread
    )
}
