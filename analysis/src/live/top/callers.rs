//! Callers of a method, of an allocation, of an exception or of a wait.

use super::LiveTop;
use super::named_stack::NamedStack;
use super::slice::CountedEvent;
use super::window::label_text;
use crate::document::percent;
use crate::hash::HashMap;
use crate::model::ThreadState;
use crate::model::{Frame, FrameKind};
use std::cmp::Reverse;
use std::sync::{Arc, PoisonError};

/// Minimum share of a listed caller, in percent.
const MIN_PERCENT: f64 = 2.0;
/// Maximum depth of a caller.
const MAX_DEPTH: usize = 40;
/// Maximum number of lines of a tree.
const MAX_LINES: usize = 200;

/// Line of a tree of callers.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopCaller {
    /// Number of calls between the caller and the callee: 0 for the callee itself.
    pub depth: usize,
    /// Name.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::document::as_text"))]
    pub name: Arc<Frame>,
    /// Weight by kind of the callee: samples, bytes, occurrences or nanoseconds.
    pub weight: u64,
    /// Percentage of the callee's weight.
    pub percent: f64,
}

#[derive(Default)]
struct CallerNode {
    weight: u64,
    callers: HashMap<Arc<Frame>, CallerNode>,
}

impl CallerNode {
    fn add<'f>(&mut self, frames: impl Iterator<Item = &'f Arc<Frame>>, weight: u64) {
        let mut node = self;
        node.weight = node.weight.saturating_add(weight);
        for frame in frames.take(MAX_DEPTH) {
            node = node.callers.entry(Arc::clone(frame)).or_default();
            node.weight = node.weight.saturating_add(weight);
        }
    }

    fn list(&self, depth: usize, all: u64, lines: &mut Vec<TopCaller>) {
        let mut callers: Vec<_> = self.callers.iter().collect();
        callers.sort_by_key(|(name, node)| (Reverse(node.weight), Arc::clone(name)));
        for (name, node) in callers {
            let share = percent(node.weight, all);
            if share < MIN_PERCENT || lines.len() >= MAX_LINES {
                continue;
            }
            let name = Arc::clone(name);
            lines.push(TopCaller { depth, name, weight: node.weight, percent: share });
            node.list(depth.saturating_add(1), all, lines);
        }
    }
}

/// Thing that has callers, by its name in a [`TopSnapshot`](super::TopSnapshot).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopCallee<'n> {
    /// Method, weighed in samples of threads that were not waiting.
    Method(&'n str),
    /// Type that was allocated, weighed in bytes.
    Allocation(&'n str),
    /// Type that was thrown, weighed in occurrences.
    Exception(&'n str),
    /// Place where threads waited for locks, weighed in nanoseconds.
    Contention(&'n str),
    /// Place where threads waited, weighed in samples.
    Wait(&'n str),
}

impl LiveTop {
    /// Returns the callers in the window before `now_ns`
    /// ([`Live::now_ns`](crate::live::Live::now_ns)) as a tree, heaviest first, without callers of
    /// less than 2 %.
    pub fn callers(&self, now_ns: i64, callee: TopCallee<'_>) -> Vec<TopCaller> {
        match callee {
            TopCallee::Method(method) => self.callers_of_method(now_ns, method),
            TopCallee::Allocation(label) => {
                self.callers_of_label(now_ns, CountedEvent::Allocation, label)
            }
            TopCallee::Exception(label) => {
                self.callers_of_label(now_ns, CountedEvent::Exception, label)
            }
            TopCallee::Contention(place) => {
                self.callers_of_label(now_ns, CountedEvent::Contention, place)
            }
            TopCallee::Wait(place) => self.callers_of_wait(now_ns, place),
        }
    }

    fn callers_of_method(&self, now_ns: i64, method: &str) -> Vec<TopCaller> {
        self.callers_with(now_ns, method, |slice, stacks, add| {
            for ((_, stack, mode), count) in &slice.samples {
                let Some(stack) = stacks.get(*stack as usize) else { continue };
                let frames = stack.frames(*mode);
                let at = frames.iter().position(|frame| frame.text == *method);
                if let Some(at) = at.filter(|_| stack.state(*mode) != ThreadState::Waiting) {
                    add(frames, at.saturating_add(1), *count);
                }
            }
        })
    }

    fn callers_of_wait(&self, now_ns: i64, place: &str) -> Vec<TopCaller> {
        self.callers_with(now_ns, place, |slice, stacks, add| {
            for ((_, stack, mode), count) in &slice.samples {
                let Some(stack) = stacks.get(*stack as usize) else { continue };
                let is_waiting_here =
                    stack.state(*mode) == ThreadState::Waiting && stack.waiting_place() == place;
                if is_waiting_here {
                    let frames = stack.frames(*mode);
                    let at = frames.iter().position(|frame| frame.text == *place);
                    add(frames, at.map_or(0, |at| at.saturating_add(1)), *count);
                }
            }
        })
    }

    fn callers_of_label(&self, now_ns: i64, what: CountedEvent, wanted: &str) -> Vec<TopCaller> {
        self.callers_with(now_ns, wanted, |slice, stacks, add| {
            for ((kind, label, stack), sum) in slice.counted.iter().filter(|row| row.0.0 == what) {
                let label = slice.labels.things.get(*label as usize);
                let (Some(label), Some(stack)) = (label, stacks.get(*stack as usize)) else {
                    continue;
                };
                if label_text(*kind, label, stack) == wanted {
                    let frames = stack.frames_of_event();
                    let at = frames.iter().position(|frame| frame.text == *wanted);
                    add(frames, at.map_or(0, |at| at.saturating_add(1)), sum.weight);
                }
            }
        })
    }

    /// Returns the callers in stacks. `find`: passes on each stack, the index of the first caller
    /// in it, and the weight.
    fn callers_with(
        &self,
        now_ns: i64,
        what: &str,
        find: impl Fn(&super::Slice, &[NamedStack], &mut dyn FnMut(&[Arc<Frame>], usize, u64)),
    ) -> Vec<TopCaller> {
        let (first, _) = self.span(now_ns);
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let mut root = CallerNode::default();
        for (slice, stacks) in self.named(&mut names, first).slices {
            find(slice, &stacks, &mut |frames, at, weight| {
                root.add(frames.iter().skip(at), weight);
            });
        }
        let name = Arc::new(Frame::group(what.to_owned(), FrameKind::Unknown));
        let percent = if root.weight > 0 { 100.0 } else { 0.0 };
        let mut lines = vec![TopCaller { depth: 0, name, weight: root.weight, percent }];
        root.list(1, root.weight, &mut lines);
        lines
    }
}
