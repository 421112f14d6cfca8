//! Options of an analysis.

use crate::model::{
    AsyncRuns, CutStacks, EndpointSpans, EventSelector, Filter, Folding, Kind, NameOptions,
    ThreadTimes,
};
use std::sync::Arc;

/// Samples that an [`Analysis`](crate::Analysis) collects, and their presentation. By default, all
/// CPU samples.
///
/// ```
/// use nettrace_analysis::{AnalysisOptions, Kind};
///
/// let mut options = AnalysisOptions::default();
/// options.kinds = vec![Kind::Cpu, Kind::Exceptions];
/// options.folding.merges_recursion = true;
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct AnalysisOptions {
    /// Kinds of samples to collect. If empty, the selected `events` if there are any, else what the
    /// [added formats](crate::Analysis::add_format) show, else CPU samples.
    pub kinds: Vec<Kind>,
    /// Events that are samples of [`Kind::Event`].
    pub events: Vec<EventSelector>,
    /// Conditions that counted samples meet.
    pub filter: Filter,
    /// Options for the names of frames.
    pub names: NameOptions,
    /// Whether frames have source lines, so that rows are lines instead of methods. The PDBs of the
    /// modules must be added before the end: [`Model::add_pdb`](crate::model::Model::add_pdb).
    pub lines: bool,
    /// Frames that are omitted or merged.
    pub folding: Folding,
    /// Treatment of stacks that have lost their callers, because the runtime keeps 100 frames.
    pub cut_stacks: CutStacks,
    /// Whether async code has the callers that await it, instead of what lies below it on the thread.
    /// Events of `System.Threading.Tasks.TplEventSource` tell them; without, stacks end at the method
    /// that was resumed, below a frame `(async callers not in the trace)`. Async methods are shown as
    /// with [`Folding::is_async`].
    pub async_callers: bool,
    /// Stacks of async code by the async profiler of .NET 11, for [`AnalysisOptions::async_callers`].
    /// They are read in a pass of their own.
    pub async_runs: Option<Arc<AsyncRuns>>,
    /// Whether to keep the times of CPU samples, for reports that show times. Takes 512 bytes for
    /// each stack.
    pub keeps_when: bool,
    /// Times of the requests to each endpoint, which give samples their requests
    /// ([`Sample::request`](crate::Sample::request)), and by which the rows of
    /// [`Finished::profile`](crate::Finished::profile) are told apart. `None` tells none apart.
    pub endpoints: Option<EndpointSpans>,
    /// Times of the recorded process and its threads, which recordings may have beside the events.
    /// With them, CPU samples weigh the time that their threads ran:
    /// [`ThreadTimes`].
    pub thread_times: Option<Arc<ThreadTimes>>,
    /// Whether to leave [`Finished::profile`](crate::Finished::profile) empty, because only the
    /// converters need the samples.
    pub skips_profile: bool,
    /// Whether timelines show the sampler's pauses, too, one for each of its rounds: about a thousand
    /// a second.
    pub has_sampler_pauses: bool,
}
