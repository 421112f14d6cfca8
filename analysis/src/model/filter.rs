//! Which samples count.

use super::sample::State;
use super::{Model, Sample};
use regex::Regex;

/// Which samples count. What is empty or `None` lets everything pass.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Filter {
    /// OS ids of threads.
    pub threads: Vec<u64>,
    /// OS ids of processes.
    pub processes: Vec<u64>,
    /// From this moment on, in nanoseconds since the session's start.
    pub from_nanos: Option<i64>,
    /// Before this moment.
    pub to_nanos: Option<i64>,
    /// A frame's text must match.
    pub frame: Option<Regex>,
    /// No frame's text may match.
    pub exclude: Option<Regex>,
    /// What the thread did.
    pub states: Vec<State>,
}

impl Filter {
    /// Lets everything pass.
    pub fn new() -> Filter {
        Filter::default()
    }

    /// What can be told when the sample is met: thread, process, time. Frames and states are told
    /// at the end, by [`Resolved::selected`](super::Resolved::selected).
    #[inline]
    pub(crate) fn admits(&self, sample: &Sample, model: &Model) -> bool {
        self.from_nanos.is_none_or(|from| from <= sample.nanos)
            && self.to_nanos.is_none_or(|to| sample.nanos < to)
            && (self.threads.is_empty() && self.processes.is_empty() || self.admits_thread(sample, model))
    }

    fn admits_thread(&self, sample: &Sample, model: &Model) -> bool {
        let Some(thread) = model.threads().get(sample.thread) else { return false };
        let process = model.process(thread.process).and_then(|process| process.id);
        let holds =
            |list: &[u64], id: Option<u64>| list.is_empty() || id.is_some_and(|id| list.contains(&id));
        holds(&self.threads, thread.os_thread_id) && holds(&self.processes, process)
    }
}
