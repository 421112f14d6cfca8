//! Spans that have begun and not ended.

use super::mark::{Argument, Arguments, Category, Ends, Flow, Mark, Place, Span};
use crate::model::ThreadHandle;
use crate::model::hash::NumberMap;
use std::collections::HashMap;

/// What tells one open span from another: what it is, and two numbers, such as process and task.
pub(super) type Key = (What, u64, u64);

/// Sorts of spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum What {
    Pause,
    Collection,
    Method,
    Contention,
    Wait,
    /// A pair of events on one thread; the number is the first one's id.
    OnThread(u32),
    Task,
    TaskWait,
    /// An activity of an event source: provider and name are told apart by a hash in the key.
    EventSource,
    /// An activity of an activity source, by its id's hash.
    ActivitySource,
}

/// A beginning.
#[derive(Debug, Clone)]
pub(super) struct Begin {
    pub category: Category,
    pub place: Place,
    pub name: String,
    pub thread: ThreadHandle,
    /// The thread that wrote it, as the stream counts losses.
    pub writer: u64,
    pub nanos: i64,
    pub flow: Option<Flow>,
    pub arguments: Arguments,
}

/// An end.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub thread: ThreadHandle,
    pub writer: u64,
    pub nanos: i64,
}

/// More open spans than any program has: their ends were lost, or the trace is made up.
const MOST_OPEN: usize = 1 << 16;

/// Spans that have begun and not ended.
#[derive(Debug, Default)]
pub(super) struct OpenSpans {
    /// The same thing may have begun several times: recursion.
    open: HashMap<Key, Vec<Begin>>,
    count: usize,
    /// When events of a writing thread were last found to be missing.
    losses: NumberMap<u64, i64>,
}

impl OpenSpans {
    /// Events of a thread are missing before `nanos`.
    pub(super) fn lost(&mut self, writer: u64, nanos: i64) {
        self.losses.insert(writer, nanos);
    }

    /// Begins a span that may not be open twice: one that is open has lost its end.
    pub(super) fn begin(&mut self, key: Key, begin: Begin, ready: &mut Vec<Mark>) {
        for begin in self.take(key) {
            ready.push(Mark::Span(whole(begin, None, Ends::NoStop)));
        }
        self.push(key, begin, ready);
    }

    fn take(&mut self, key: Key) -> Vec<Begin> {
        let taken = self.open.remove(&key).unwrap_or_default();
        self.count = self.count.saturating_sub(taken.len());
        taken
    }

    /// Begins a span inside of others of the same key.
    pub(super) fn push(&mut self, key: Key, begin: Begin, ready: &mut Vec<Mark>) {
        if self.count >= MOST_OPEN {
            ready.push(Mark::Span(whole(begin, None, Ends::NoStop)));
            return;
        }
        self.count = self.count.saturating_add(1);
        self.open.entry(key).or_default().push(begin);
    }

    /// The innermost open span of a key.
    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut Begin> {
        self.open.get_mut(&key)?.last_mut()
    }

    /// Ends the innermost open span of a key; `None` if there is none.
    pub(super) fn end(&mut self, key: Key, end: End) -> Option<Span> {
        let begins = self.open.get_mut(&key)?;
        let begin = begins.pop()?;
        if begins.is_empty() {
            self.open.remove(&key);
        }
        self.count = self.count.saturating_sub(1);
        let is_lossy = |writer: u64| self.losses.get(&writer).is_some_and(|at| *at > begin.nanos);
        let ends = match is_lossy(begin.writer) || is_lossy(end.writer) {
            true => Ends::LossBetween,
            false => Ends::Known,
        };
        Some(whole(begin, Some(end), ends))
    }

    /// Ends all spans at the trace's end, in the order of their beginnings.
    pub(super) fn finish(&mut self, nanos: i64, ready: &mut Vec<Mark>) {
        let mut left: Vec<(i64, Key, Begin)> = Vec::new();
        for (key, begins) in std::mem::take(&mut self.open) {
            left.extend(begins.into_iter().map(|begin| (begin.nanos, key, begin)));
        }
        self.count = 0;
        // Stable: spans of one key stay in their order.
        left.sort_by_key(|(nanos, key, _)| (*nanos, *key));
        for (_, _, begin) in left {
            let end = End { thread: begin.thread, writer: begin.writer, nanos };
            ready.push(Mark::Span(whole(begin, Some(end), Ends::OpenAtEnd)));
        }
    }
}

/// The span of a beginning and an end; without an end it has no length.
fn whole(begin: Begin, end: Option<End>, ends: Ends) -> Span {
    let Begin { category, place, name, thread, nanos, flow, arguments, .. } = begin;
    let end_nanos = end.map_or(nanos, |end| end.nanos);
    Span {
        category,
        place,
        name,
        thread,
        end_thread: end.map_or(thread, |end| end.thread),
        start_nanos: nanos,
        nanos: u64::try_from(end_nanos.saturating_sub(nanos)).unwrap_or(0),
        ends,
        flow,
        arguments,
    }
}

/// A span of which only the end is there.
pub(super) fn end_alone(category: Category, place: Place, name: String, end: End) -> Span {
    Span {
        category,
        place,
        name,
        thread: end.thread,
        end_thread: end.thread,
        start_nanos: end.nanos,
        nanos: 0,
        ends: Ends::NoStart,
        flow: None,
        arguments: Arguments::new(),
    }
}

/// Adds a number, if it is told.
pub(super) fn number(arguments: &mut Arguments, name: &'static str, value: Option<u64>) {
    arguments.extend(value.map(|value| (name.into(), Argument::Number(value))));
}

/// Adds an address, if it is told.
pub(super) fn address(arguments: &mut Arguments, name: &'static str, value: Option<u64>) {
    arguments.extend(value.map(|value| (name.into(), Argument::Address(value))));
}

/// Adds a text, unless it is empty.
pub(super) fn text(arguments: &mut Arguments, name: &'static str, value: String) {
    if !value.is_empty() {
        arguments.push((name.into(), Argument::Text(value)));
    }
}
