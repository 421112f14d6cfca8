//! Sub-events of .NET 11's async profiler, as JSON and as text.
//!
//! ```json
//! {"context":1,"tid":99,"events":[{"id":7,"event":"ResumeRuntimeAsyncCallstack","ts_ns":1000,
//!  "dispatcher":5,"continuation":0,"frames":["0x4000"]}]}
//! ```
//!
//! Text has the members of the object as `name=value`, and ticks instead of `ts_ns`.

use crate::json::Json;
use nettrace_parser::Clock;
use nettrace_parser::view::{AsyncBuffer, AsyncDetail, AsyncEvent, AsyncStack};

/// Writes a buffer in one of the forms.
pub(crate) struct AsyncWriter<'o> {
    pub(crate) out: &'o mut Vec<u8>,
    /// Whether the form is JSON, not text.
    pub(crate) is_json: bool,
    /// Clock by which ticks become nanoseconds.
    pub(crate) clock: Option<Clock>,
    /// Size of `out` behind which no sub-event begins.
    pub(crate) end: usize,
}

impl AsyncWriter<'_> {
    /// Writes the sub-events of a buffer. Returns what is wrong with it; `None` also if it was not
    /// written to its end.
    pub(crate) fn write(mut self, buffer: &AsyncBuffer<'_>) -> Option<String> {
        self.out.push(b'{');
        self.key("context", true);
        self.out.number(buffer.context_id);
        self.key("tid", false);
        self.out.number(buffer.os_thread_id);
        self.key("events", false);
        self.out.push(b'[');
        let mut events = buffer.events();
        let mut count = 0u32;
        while self.out.len() <= self.end
            && let Some(event) = events.next()
        {
            if count > 0 {
                self.out.raw(if self.is_json { "," } else { ", " });
            }
            count = count.saturating_add(1);
            self.event(&event);
        }
        self.out.raw("]}");
        let (unread, stated) = (events.unread().len(), buffer.event_count);
        if self.out.len() > self.end || unread == 0 && count == stated {
            return None;
        }
        Some(format!("{count} of {stated} sub-events are read, and {unread} bytes are left"))
    }

    fn event(&mut self, event: &AsyncEvent<'_>) {
        self.out.push(b'{');
        self.number("id", true, u64::from(event.id));
        self.key("event", false);
        if self.is_json {
            self.out.string(event.name())
        } else {
            self.out.raw(event.name())
        }
        match self.clock.and_then(|clock| clock.nanos_since_start(event.ticks)) {
            Some(nanos) => {
                self.key("ts_ns", false);
                self.out.number(nanos);
            }
            None => self.number("ticks", false, event.ticks),
        }
        match event.detail {
            AsyncDetail::Created { parent, dispatcher } => {
                self.number("parent", false, parent);
                self.number("dispatcher", false, dispatcher);
            }
            AsyncDetail::Resumed { dispatcher } => self.number("dispatcher", false, dispatcher),
            AsyncDetail::Unwound { frames } => self.number("unwound", false, frames),
            AsyncDetail::Stack(stack) => self.stack(&stack),
            AsyncDetail::Clock { ticks, file_time } => {
                self.number("clock_ticks", false, ticks);
                self.number("file_time", false, file_time);
            }
            AsyncDetail::Other(bytes) => {
                self.key("payload", false);
                self.quoted(|out| out.hex_bytes(bytes));
            }
            _ => {}
        }
        self.out.push(b'}');
    }

    fn stack(&mut self, stack: &AsyncStack<'_>) {
        if let Some(parent) = stack.parent {
            self.number("parent", false, parent);
        }
        self.number("dispatcher", false, stack.dispatcher);
        self.number("continuation", false, u64::from(stack.continuation));
        self.key("frames", false);
        self.list(stack.frames().map(|frame| frame.address), |this, address| {
            this.quoted(|out| out.hex(address));
        });
        let states = stack.frames().filter_map(|frame| frame.state);
        if states.clone().next().is_some() {
            self.key("states", false);
            self.list(states, |this, state| this.out.number(state));
        }
    }

    fn list<T>(&mut self, items: impl Iterator<Item = T>, write: impl Fn(&mut Self, T)) {
        self.out.push(b'[');
        for (at, item) in items.enumerate() {
            if at > 0 {
                self.out.raw(if self.is_json { "," } else { ", " });
            }
            write(self, item);
        }
        self.out.push(b']');
    }

    /// Writes what JSON has in quotes and text has not.
    fn quoted(&mut self, write: impl Fn(&mut Vec<u8>)) {
        let quote: &str = if self.is_json { "\"" } else { "" };
        self.out.raw(quote);
        write(self.out);
        self.out.raw(quote);
    }

    fn number(&mut self, name: &str, is_first: bool, number: u64) {
        self.key(name, is_first);
        self.out.number(number);
    }

    fn key(&mut self, name: &str, is_first: bool) {
        match (is_first, self.is_json) {
            (false, true) => self.out.push(b','),
            (false, false) => self.out.push(b' '),
            _ => {}
        }
        if self.is_json {
            self.out.string(name);
            self.out.push(b':');
        } else {
            self.out.raw(name);
            self.out.push(b'=');
        }
    }
}
