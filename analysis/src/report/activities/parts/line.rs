//! Time line of the requested activity.

use super::tracker::PartTracker;
use super::{Doing, Stretch};
use crate::model::intervals::nanos_between;
use crate::model::{Resolved, ThreadHandle};

impl PartTracker {
    /// Returns the time line of the requested activity, if it has stopped, as stretches without
    /// gaps.
    pub(crate) fn line(&self, resolved: &Resolved<'_>) -> Vec<Stretch> {
        let mut stretches: Vec<Stretch> = Vec::new();
        let mut add = |start_ns: i64, end: i64, doing: Doing, thread: Option<ThreadHandle>| {
            let thread = thread.and_then(|thread| resolved.model().thread(thread));
            let thread_id = thread.and_then(|row| row.os_thread_id);
            let duration_ns = nanos_between(start_ns, end);
            match stretches.last_mut() {
                Some(last) if last.doing == doing && last.thread_id == thread_id => {
                    last.duration_ns = last.duration_ns.saturating_add(duration_ns);
                }
                _ if duration_ns > 0 => {
                    stretches.push(Stretch { start_ns, duration_ns, doing, thread_id })
                }
                _ => {}
            }
        };
        for part in &self.line {
            let doing = part.doing(resolved, self.is_sampled);
            let mut from = part.from.nanos;
            let first = self.wanted_pauses.partition_point(|(_, ended)| *ended <= from);
            for (begun, ended) in self.wanted_pauses.get(first..).unwrap_or_default() {
                let (begun, ended) = ((*begun).max(from), (*ended).min(part.to.nanos));
                if begun >= part.to.nanos {
                    break;
                }
                add(from, begun, doing, part.thread);
                add(begun, ended, Doing::Gc, None);
                from = ended;
            }
            add(from, part.to.nanos, doing, part.thread);
        }
        stretches
    }
}
