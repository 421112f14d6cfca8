//! Recognises activities that are reported twice: as a span of an ActivitySource, and by a
//! DiagnosticListener with more details.
//!
//! The listener's event has no id, but is written on the same thread, directly after the start of
//! the span. The listener's stop may be on another thread. Its span is found by fields that both
//! events of the listener have, or else if only one span is possible.

use super::OpenActivityKey;
use crate::hash::{HashMap, hash_of};
use crate::model::ThreadHandle;
use crate::model::activity_edge::{ActivityEdge, EdgeKeys};
use std::collections::BTreeMap;

/// Maximum number of open spans. If there are more, their stops were lost.
const MAX_OPEN_SPANS: usize = 65_536;

/// Open spans, and the spans among them that a listener reports, too.
#[derive(Debug, Default)]
pub(crate) struct Twins {
    /// For each thread, the span that started last: the hash of its task, and its key.
    started: HashMap<ThreadHandle, (u64, OpenActivityKey)>,
    /// Spans that a listener reported, by task, each with the thread.
    reported: HashMap<u64, BTreeMap<OpenActivityKey, ThreadHandle>>,
    /// Spans that a listener reported, by task and by a field that start and stop share.
    by_field: HashMap<(u64, (u64, u64)), OpenActivityKey>,
    tasks: HashMap<OpenActivityKey, (u64, EdgeKeys)>,
}

/// The span that a listener's stop ends, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TwinStop {
    /// The listener's stop ends this span.
    Of(OpenActivityKey),
    /// The listener's stop ends one of several spans.
    Unclear,
    /// The listener's stop ends an activity that is not a span.
    Alone,
}

impl Twins {
    /// Adds a span that starts.
    pub(crate) fn span(&mut self, edge: &ActivityEdge, thread: ThreadHandle, key: OpenActivityKey) {
        if self.started.len() >= MAX_OPEN_SPANS {
            self.started.clear();
        }
        self.started.insert(thread, (hash_of(edge.task()), key));
    }

    /// Returns the span whose start a listener reports; `None` if the activity is not a span.
    pub(crate) fn start(
        &mut self,
        edge: &ActivityEdge,
        thread: ThreadHandle,
    ) -> Option<OpenActivityKey> {
        let task = hash_of(edge.task());
        let (_, key) = *self.started.get(&thread).filter(|(of, _)| *of == task)?;
        self.started.remove(&thread);
        if self.tasks.len() >= MAX_OPEN_SPANS {
            *self = Twins::default();
        }
        for field in edge.keys.iter() {
            self.by_field.insert((task, *field), key);
        }
        self.tasks.insert(key, (task, edge.keys));
        self.reported.entry(task).or_default().insert(key, thread);
        Some(key)
    }

    /// Returns the span whose stop a listener reports.
    pub(crate) fn stop(&self, edge: &ActivityEdge, thread: ThreadHandle) -> TwinStop {
        let task = hash_of(edge.task());
        let Some(reported) = self.reported.get(&task) else { return TwinStop::Alone };
        let of_field = edge.keys.iter().find_map(|field| self.by_field.get(&(task, *field)));
        if let Some(key) = of_field {
            return TwinStop::Of(*key);
        }
        match reported.len() {
            0 => TwinStop::Alone,
            1 => reported.keys().next().map_or(TwinStop::Alone, |key| TwinStop::Of(*key)),
            _ if edge.keys.is_empty() => {
                let mut here = reported.iter().filter(|(_, of)| **of == thread);
                match (here.next(), here.next()) {
                    (Some((key, _)), None) => TwinStop::Of(*key),
                    _ => TwinStop::Unclear,
                }
            }
            _ => TwinStop::Unclear,
        }
    }

    /// Removes a span that has stopped.
    pub(crate) fn span_stopped(&mut self, key: OpenActivityKey) {
        let Some((task, fields)) = self.tasks.remove(&key) else { return };
        for field in fields.iter() {
            self.by_field.remove(&(task, *field));
        }
        if let Some(reported) = self.reported.get_mut(&task) {
            reported.remove(&key);
            if reported.is_empty() {
                self.reported.remove(&task);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TextHandle;

    const NAME: TextHandle = TextHandle(0);
    const ONE: ThreadHandle = ThreadHandle(1);
    const OTHER: ThreadHandle = ThreadHandle(2);

    #[test]
    fn a_listener_reports_the_span_that_has_just_started_on_its_thread() {
        let mut twins = Twins::default();
        let edge = |keys: &[(u64, u64)]| ActivityEdge::bare(None, keys, false);
        twins.span(&edge(&[]), ONE, (NAME, 1));
        twins.span(&edge(&[]), OTHER, (NAME, 2));
        assert_eq!(twins.start(&edge(&[(7, 1)]), ONE), Some((NAME, 1)));
        assert_eq!(twins.start(&edge(&[(7, 9)]), ONE), None, "it is reported once");
        assert_eq!(twins.start(&edge(&[(7, 2)]), OTHER), Some((NAME, 2)));
        // Threads change in between.
        assert_eq!(twins.stop(&edge(&[(7, 2)]), ONE), TwinStop::Of((NAME, 2)));
        assert_eq!(twins.stop(&edge(&[(7, 3)]), ONE), TwinStop::Unclear);
        assert_eq!(twins.stop(&edge(&[]), OTHER), TwinStop::Of((NAME, 2)));
        twins.span_stopped((NAME, 2));
        // Only one span is possible.
        assert_eq!(twins.stop(&edge(&[]), ThreadHandle(3)), TwinStop::Of((NAME, 1)));
        twins.span_stopped((NAME, 1));
        assert_eq!(twins.stop(&edge(&[]), ONE), TwinStop::Alone);
    }
}
