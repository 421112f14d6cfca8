//! Makes the rows of the table of log messages.

use super::{RowPrefix, json};
use crate::sheet::Sheet;
use nettrace_analysis::report::{LogLevel, LogRow};

pub(crate) fn add_message(sheet: &mut Sheet, message: &LogRow, prefix: RowPrefix) {
    let mut scopes = Vec::new();
    json::write_list(&mut scopes, message.scopes.iter().map(|scope| &**scope));
    let mut row = sheet.row();
    prefix.begin_row(&mut row, message.ts_ns);
    row.count(message.thread_id);
    row.text(match message.level {
        LogLevel::Trace => "trace",
        LogLevel::Debug => "debug",
        LogLevel::Information => "information",
        LogLevel::Warning => "warning",
        LogLevel::Error => "error",
        _ => "critical",
    });
    row.text(&*message.logger);
    row.text(&*message.event);
    row.text(&*message.message);
    row.text(message.exception.as_deref());
    row.text(message.arguments.as_deref());
    row.bytes(Some(&scopes));
    let bytes = row.end();
    sheet.end_row(bytes);
}
