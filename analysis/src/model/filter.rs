//! Filters that select the samples of reports and formats.

use super::pattern::Pattern;
use super::sample::ThreadState;
use super::{ActivitySpans, Model, Sample, SpanScope, ThreadHandle, TimelineMark, is_of_process};
use nettrace_parser::Event;

/// Conditions that a sample, or an event of a report, must meet to be counted. A field that is empty or
/// `None` accepts all. Collections and other events count for the thread that wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Filter {
    /// OS ids of accepted threads.
    pub threads: Vec<u64>,
    /// OS ids of accepted processes.
    pub processes: Vec<u64>,
    /// Earliest accepted time, in nanoseconds since the session's start.
    pub from_nanos: Option<i64>,
    /// End of the accepted times, in nanoseconds since the session's start. The end itself is not
    /// accepted.
    pub to_nanos: Option<i64>,
    /// Times of activities that are accepted: all of a name, one by its id, or the requests to an
    /// endpoint. [`During`](crate::report::During) finds them in a pass before. `None` accepts all.
    ///
    /// ```
    /// use nettrace_analysis::AnalysisOptions;
    /// use nettrace_analysis::report::{During, ReportPass, TopNOptions};
    /// use nettrace_parser::Reader;
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// let measured = "BenchmarkDotNet.EngineEventSource/WorkloadActual".parse()?;
    /// let mut first = ReportPass::new(During::new(measured));
    /// let _outcome = first.read(&mut Reader::from_slice(&bytes).time_ordered())?;
    /// let mut options = AnalysisOptions::default();
    /// options.filter.spans = Some(first.finish().output.spans);
    /// let mut second = ReportPass::with_options(TopNOptions::default(), options);
    /// let _outcome = second.read(&mut Reader::from_slice(&bytes).time_ordered())?;
    /// assert_eq!(second.finish().output.counted.samples, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub spans: Option<ActivitySpans>,
    /// Pattern that at least one frame must match.
    pub frame: Option<Pattern>,
    /// Pattern that no frame may match.
    pub exclude: Option<Pattern>,
    /// Accepted states of a sample's thread.
    pub states: Vec<ThreadState>,
}

impl Filter {
    /// Returns whether the thread, process and time of an event are accepted, and the spans. An event
    /// without a thread, process or time is accepted unless the filter asks for it. Spans accept events of
    /// the whole process, such as pauses, by their time alone; the events that an activity itself wrote
    /// have its [`Event::activity_id`]. Conditions on frames and states are not checked: they are about
    /// samples.
    ///
    /// ```
    /// use nettrace_analysis::Filter;
    /// use nettrace_parser::Reader;
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// let mut filter = Filter::default();
    /// filter.threads = vec![1001];
    /// let (mut all, mut accepted) = (0, 0);
    /// Reader::from_slice(&bytes).for_each(|event| {
    ///     all += 1;
    ///     accepted += u32::from(filter.accepts_event(&event));
    /// })?;
    /// assert!(accepted < all);
    /// # Ok::<(), nettrace_parser::Error>(())
    /// ```
    pub fn accepts_event(&self, event: &Event<'_>) -> bool {
        if self.admits_all_moments() {
            return true;
        }
        let (nanos, is_of_process) = (event.nanos().unwrap_or(0), is_of_process(event));
        self.admits_ids(event.process_id(), event.thread_id(), nanos, is_of_process)
    }

    /// Returns whether the filter accepts a process, a thread and a time. `is_of_process`: whether
    /// spans accept it by its time alone.
    pub(crate) fn admits_ids(
        &self,
        process_id: Option<u64>,
        thread_id: Option<u64>,
        nanos: i64,
        is_of_process: bool,
    ) -> bool {
        self.admits_by(|| process_id, || thread_id, nanos, is_of_process)
    }

    /// Checks the conditions on processes, threads, times and spans. The ids are computed where a condition
    /// needs them.
    #[inline]
    fn admits_by(
        &self,
        process_id: impl Fn() -> Option<u64>,
        thread_id: impl Fn() -> Option<u64>,
        nanos: i64,
        is_of_process: bool,
    ) -> bool {
        self.from_nanos.is_none_or(|from| from <= nanos)
            && self.to_nanos.is_none_or(|to| nanos < to)
            && holds(&self.threads, &thread_id)
            && holds(&self.processes, process_id)
            && self.spans.as_ref().is_none_or(|spans| match is_of_process {
                true => spans.is_open(nanos),
                false => spans.has_work(thread_id(), nanos),
            })
    }

    /// Returns whether the thread, process and time of a sample are accepted. Conditions on frames
    /// and states are checked after the last event, by
    /// [`Resolved::selected`](super::Resolved::selected).
    #[inline]
    pub(crate) fn admits(&self, sample: &Sample, model: &Model) -> bool {
        self.admits_all_moments() || self.admits_moment(sample.thread, sample.nanos, false, model)
    }

    /// Returns whether the filter accepts all threads, processes and times.
    #[inline]
    pub(crate) fn admits_all_moments(&self) -> bool {
        self.admits_all_times() && self.threads.is_empty() && self.processes.is_empty()
    }

    /// Returns whether the filter accepts all times.
    #[inline]
    pub(crate) fn admits_all_times(&self) -> bool {
        self.from_nanos.is_none() && self.to_nanos.is_none() && self.spans.is_none()
    }

    /// Returns whether the filter accepts a thread, its process and a time. `is_of_process`: whether
    /// spans accept it by its time alone.
    #[inline]
    pub(crate) fn admits_moment(
        &self,
        thread: ThreadHandle,
        nanos: i64,
        is_of_process: bool,
        model: &Model,
    ) -> bool {
        let process_id = || model.process(model.thread(thread)?.process)?.id;
        let thread_id = || model.thread(thread)?.os_thread_id;
        self.admits_by(process_id, thread_id, nanos, is_of_process)
    }

    /// Returns whether one of the filter's spans for a thread, or for the process, overlaps the time
    /// from `first` to `last`.
    fn admits_span(
        &self,
        thread: ThreadHandle,
        (first, last): (i64, i64),
        is_of_process: bool,
        model: &Model,
    ) -> bool {
        let Some(spans) = &self.spans else { return true };
        if is_of_process {
            return spans.is_open_in(first, last);
        }
        spans.has_work_in(model.thread(thread).and_then(|row| row.os_thread_id), first, last)
    }

    /// Returns whether the thread and process of a mark are accepted, and any part of the mark lies
    /// in the time range. A mark of the whole process belongs to all threads.
    pub(crate) fn admits_mark(&self, mark: &TimelineMark, model: &Model) -> bool {
        let (first, last) = mark.extent_nanos();
        let is_of_process = match mark {
            TimelineMark::Span(span) => span.place == SpanScope::Process,
            TimelineMark::Instant(_) => false,
            TimelineMark::Counter(_) => true,
        };
        self.from_nanos.is_none_or(|from| from <= last)
            && self.to_nanos.is_none_or(|to| first < to)
            && self.admits_process(mark.thread(), model)
            && (is_of_process || self.admits_thread(mark.thread(), model))
            && self.admits_span(mark.thread(), (first, last), is_of_process, model)
    }

    fn admits_thread(&self, thread: ThreadHandle, model: &Model) -> bool {
        holds(&self.threads, || model.thread(thread)?.os_thread_id)
    }

    fn admits_process(&self, thread: ThreadHandle, model: &Model) -> bool {
        holds(&self.processes, || model.process(model.thread(thread)?.process)?.id)
    }
}

fn holds(list: &[u64], id: impl FnOnce() -> Option<u64>) -> bool {
    list.is_empty() || id().is_some_and(|id| list.contains(&id))
}
