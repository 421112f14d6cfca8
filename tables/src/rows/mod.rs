//! Makes the rows of tables. Each module makes those of one table, or of the tables with a common
//! source.

pub(crate) mod allocations;
pub(crate) mod code;
pub(crate) mod counters;
pub(crate) mod events;
pub(crate) mod exceptions;
pub(crate) mod gcs;
pub(crate) mod jit;
pub(crate) mod json;
pub(crate) mod logs;
pub(crate) mod marks;
pub(crate) mod thread_times;

use crate::sheet::{Sheet, SheetRow};
use nettrace_analysis::model::{Model, ThreadHandle};
use nettrace_parser::Trace;

/// The first values of every row of a trace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowPrefix {
    pub(crate) input_id: i64,
    /// Start of the session, in nanoseconds since 1970; `None` if the trace does not tell.
    pub(crate) start: Option<i64>,
    pub(crate) has_start: bool,
}

impl RowPrefix {
    pub(crate) fn begin(&mut self, session: &Trace) {
        self.has_start = true;
        self.start = session.start.unix_nanos().and_then(|start| i64::try_from(start).ok());
    }

    /// Begins a row with the first columns that most tables have: the trace and the time.
    #[inline]
    pub(crate) fn begin_row(&self, row: &mut SheetRow<'_>, nanos: i64) {
        row.whole(self.input_id);
        row.whole(self.start.and_then(|start| start.checked_add(nanos)));
        row.whole(nanos);
    }
}

/// Returns the OS ids of a thread and of its process, in this order.
#[inline]
pub(crate) fn ids(model: &Model, thread: ThreadHandle) -> (Option<u64>, Option<u64>) {
    let row = model.thread(thread);
    let process = row.and_then(|row| model.process(row.process)).and_then(|process| process.id);
    (process, row.and_then(|row| row.os_thread_id))
}

/// Writes the rows of the table of threads.
pub(crate) fn write_threads(sheet: &mut Sheet, model: &Model, prefix: RowPrefix) {
    for (_, thread) in model.threads() {
        let mut row = sheet.row();
        row.whole(prefix.input_id);
        row.count(model.process(thread.process).and_then(|process| process.id));
        row.count(thread.os_thread_id);
        row.text(thread.name.as_deref());
        row.count(thread.events);
        let bytes = row.end();
        sheet.end_row(bytes);
    }
}
