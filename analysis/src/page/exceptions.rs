//! Exceptions of a page, one row each: to be grouped by type, message and stack in any stretch of time.

use crate::model::{Model, StackHandle, Texts};
use crate::report::Moment;
use nettrace_parser::Event;
use nettrace_parser::view;

/// Exceptions that a page takes, at most. The totals of the report count all.
const MOST_ROWS: usize = 100_000;
/// Different texts; what is met then is one more.
const MOST_TEXTS: usize = 20_000;

#[derive(Debug, Clone, Copy)]
pub(super) struct ExceptionRow {
    pub(super) nanos: i64,
    pub(super) thread: u32,
    pub(super) type_name: u32,
    pub(super) message: u32,
    pub(super) stack: StackHandle,
}

#[derive(Debug, Default)]
pub(super) struct PageExceptions {
    pub(super) rows: Vec<ExceptionRow>,
    pub(super) texts: Texts,
    pub(super) left_out: u64,
}

impl PageExceptions {
    pub(super) fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let Some(thrown) = view::Exception::of(event).filter(|_| moment.is_selected) else { return };
        if self.rows.len() >= MOST_ROWS {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        let stack = model.stack_of(event, moment.thread);
        let mut text = |text: &str| {
            let text = if self.texts.len() < MOST_TEXTS { text } else { "(one of many more)" };
            self.texts.intern(text).0
        };
        let type_name = text(&thrown.type_name.to_string());
        let message = thrown.message.to_string();
        // .NET 6 and later write NULL for none.
        let message = text(if message == "NULL" { "" } else { &message });
        self.rows.push(ExceptionRow {
            nanos: moment.nanos,
            thread: moment.thread.0,
            type_name,
            message,
            stack,
        });
    }
}
