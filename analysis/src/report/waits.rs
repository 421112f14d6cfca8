//! Waits for handles: events 301 WaitHandleWait/Start and 302 WaitHandleWait/Stop of the runtime,
//! from .NET 9 on.
//!
//! The events say only whether the handle is a monitor; the stack shows what the thread waits for.

use super::contract::{DEFAULT_ROWS, Moment, Recording, Report, ReportInput, SCHEMA};
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

/// Waits of threads for handles, by place and by thread.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WaitsReport {
    /// Version of this document: [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// Totals of all waits. In JSON they are members of the report itself.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub totals: WaitTotals,
    /// Threads that still wait at the end of the trace and are not idle, longest wait first; at
    /// most 100.
    pub open: Vec<OpenWait>,
    /// Number of threads that still wait at the end of the trace because they have nothing to do,
    /// such as workers of the thread pool and timers.
    pub idle: u64,
    /// Threads whose samples alone show that they wait for another thread or a task, at most 100:
    /// the wait began before the session, or its events were not recorded.
    pub stuck: Vec<StuckThread>,
    /// Waits by kind and stack, longest total first; places of idle threads come last.
    pub places: Vec<WaitPlace>,
    /// Waits by thread, longest total first.
    pub threads: Vec<WaitThread>,
    /// Number of threads that waited, listed or not.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) waiting_threads: u64,
    /// Time of the completed waits of idle threads, in nanoseconds.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) idle_ns: u64,
}

/// Waits of one kind at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WaitPlace {
    /// Kind of handle in the event's words: `MonitorWait`, or `Unknown` for all that are not
    /// monitors.
    pub source: String,
    /// Whether the waiting threads have nothing to do, such as workers of the thread pool and
    /// timers.
    pub is_idle: bool,
    /// Durations of completed waits.
    pub waits: Spread,
    /// Frames of the stack, innermost first; empty if the trace has no stack.
    #[cfg_attr(feature = "serde", serde(flatten, serialize_with = "crate::model::with_lines"))]
    pub frames: Vec<Arc<Frame>>,
    /// Indices in `frames`, from 0, of frames with guessed names.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub guessed: Vec<usize>,
}

/// Completed waits of one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WaitThread {
    /// OS id; `None` if the stream does not contain it.
    pub thread_id: Option<u64>,
    /// Name; `None` if the thread has none.
    pub name: Option<String>,
    /// Number of completed waits.
    pub count: u64,
    /// Total duration of the completed waits, in nanoseconds.
    pub total_ns: u64,
}

/// The event's number for the kind of handle, and the stack of the wait.
type HandlePlace = (u64, StackHandle);

/// Computes a [`WaitsReport`]. Memory is bounded by the number of stacks and threads.
#[derive(Debug)]
pub struct Waits {
    /// Waits by place; for each place, the number and total nanoseconds of each thread's waits.
    waits: Waiting<HandlePlace, BTreeMap<ThreadHandle, (u64, u64)>>,
}

impl Default for Waits {
    /// Lists the top 20 places and threads.
    fn default() -> Waits {
        Waits { waits: Waiting::new(DEFAULT_ROWS) }
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
                // The stop has neither the duration nor the kind of handle.
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
            // Distinct stacks may have equal frames once addresses have names.
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

/// Returns whether a wait is ended by another thread or a task, not by time, input or new work.
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
