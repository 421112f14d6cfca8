//! What threads did for the requests to one endpoint: the methods in which they ran, and the places
//! at which they waited.

use super::activities::{ActivityRow, SlowActivity};
use super::contract::{DEFAULT_ROWS, Recording, Report, ReportInput, SCHEMA};
use super::stack_rows::shared_frames;
use super::topn::{MethodRow, TopN, TopNOptions};
use crate::document::percent;
use crate::model::{Folding, FrameHandle, Kind, Profile, Resolved, Totals, public_call};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Computes an [`EndpointTimeReport`] from samples, which
/// [`Filter::spans`](crate::Filter::spans) limits to the requests.
#[derive(Debug)]
pub struct EndpointTime {
    requests: ActivityRow,
    slowest: Vec<SlowActivity>,
    requests_left_out: u64,
    top: usize,
}

impl EndpointTime {
    /// Lists the top 20 methods and places of these requests. `slowest` are the slowest of them
    /// ([`Http::slowest_of`](super::Http::slowest_of)).
    pub fn new(requests: ActivityRow, slowest: Vec<SlowActivity>) -> EndpointTime {
        EndpointTime { requests, slowest, requests_left_out: 0, top: DEFAULT_ROWS }
    }

    /// Says how many of the requests lack the times of their threads
    /// ([`EndpointSpans::left_out_of`](crate::model::EndpointSpans::left_out_of)), so that their
    /// samples are not counted.
    #[must_use]
    pub fn requests_left_out(self, requests_left_out: u64) -> EndpointTime {
        EndpointTime { requests_left_out, ..self }
    }
}

/// Requests to one endpoint, and what threads did for them.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct EndpointTimeReport {
    /// Version of this document: [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// Endpoint, such as `GET /cart`.
    pub endpoint: String,
    /// The requests, as in the report `http`.
    pub requests: ActivityRow,
    /// Number of these requests whose samples are not counted, because the times of their threads
    /// are left out.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub requests_left_out: u64,
    /// Number of samples of threads that are not known to wait.
    pub running_samples: u64,
    /// Time of these samples, in nanoseconds.
    pub running_ns: u64,
    /// Number of samples of waiting threads.
    pub waiting_samples: u64,
    /// Time of the samples of waiting threads, in nanoseconds.
    pub waiting_ns: u64,
    /// Methods that ran, with the most time of their own first. Percentages are relative to
    /// `running_ns`.
    pub running: Vec<MethodRow>,
    /// Calls in which threads waited, longest time first.
    pub waiting: Vec<WaitingCall>,
    /// Slowest requests, slowest first, as in the report `http`.
    pub slowest: Vec<SlowActivity>,
}

/// Call in which threads waited.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WaitingCall {
    /// The call as its caller writes it: `Task.Wait`.
    pub call: String,
    /// Method of the program that made the call. If it was inlined into the handler of an endpoint,
    /// this is the endpoint: `GET /cart`. `None` if no code of the program is on the stack.
    pub by: Option<String>,
    /// Number of samples.
    pub samples: u64,
    /// Time of the samples, in nanoseconds.
    pub total_ns: u64,
    /// Percentage of [`EndpointTimeReport::waiting_ns`] that is `total_ns`.
    pub total_percent: f64,
}

/// Returns the call in which a thread waits, and the method of the program that made it.
pub(crate) fn waiting_call(
    resolved: &Resolved<'_>,
    frames: &[FrameHandle],
) -> (String, Option<String>) {
    let frames = shared_frames(resolved, frames);
    let own = Folding::own_at(&frames);
    let by = own.and_then(|at| frames.get(at)).map(|frame| {
        frame.endpoint.as_deref().unwrap_or_else(|| frame.qualified_name()).to_owned()
    });
    let call = frames.get(own.unwrap_or(0).saturating_sub(1));
    (call.map_or_else(|| "(no stack)".to_owned(), |frame| public_call(frame)), by)
}

impl Report for EndpointTime {
    type Output = EndpointTimeReport;

    const NAME: &'static str = "endpoint-time";
    const ABOUT: &'static str =
        "Methods that ran for the requests to an endpoint, and places at which they waited";
    const RECORD: &'static [Recording] = &[Recording::SAMPLER];
    const INPUT: ReportInput = ReportInput::Samples;
    const FOLDS_RECORDING: bool = true;

    fn top(self, rows: usize) -> EndpointTime {
        EndpointTime { top: rows, ..self }
    }

    fn has_more(_: &EndpointTimeReport) -> bool {
        true
    }

    fn finish(self, resolved: &Resolved<'_>) -> EndpointTimeReport {
        let mut ran = Profile::new(false);
        let mut waited: BTreeMap<(String, Option<String>), Totals> = BTreeMap::new();
        let mut all_waits = Totals::default();
        let rows = resolved.profile().rows();
        for (key, totals) in rows.iter().filter(|(key, _)| key.kind == Kind::Cpu) {
            let Some(frames) = resolved.selected(key.stack, key.mode) else { continue };
            if resolved.is_waiting(key.stack, key.mode) {
                waited.entry(waiting_call(resolved, frames)).or_default().add(totals);
                all_waits.add(totals);
            } else {
                ran.add_totals(*key, totals);
            }
        }
        let options = TopNOptions { count: self.top, ..TopNOptions::default() };
        let running = TopN::new(resolved, &ran, &options);
        let waiting = waited.into_iter().map(|((call, by), totals)| WaitingCall {
            call,
            by,
            samples: totals.samples,
            total_ns: totals.weight,
            total_percent: percent(totals.weight, all_waits.weight),
        });
        let mut waiting: Vec<WaitingCall> = waiting.collect();
        // Calls with equal times stay in the order of their names.
        waiting.sort_by_key(|row| Reverse(row.total_ns));
        waiting.truncate(self.top);
        EndpointTimeReport {
            schema: SCHEMA,
            endpoint: self.requests.name.target.clone(),
            requests: self.requests,
            requests_left_out: self.requests_left_out,
            running_samples: running.counted.samples,
            running_ns: running.counted.total_ns,
            waiting_samples: all_waits.samples,
            waiting_ns: all_waits.weight,
            running: running.methods,
            waiting,
            slowest: self.slowest,
        }
    }
}
