//! Options that say which tables are written, and what they contain.

use crate::column::Table;
use crate::schema::TABLES;
use crate::sheet::{Sheet, SheetColumn};
use crate::spill::MakeSpill;
use nettrace_analysis::{CutStacks, Filter, ThreadTimes};
use nettrace_export::EventPattern;
use std::io;
use std::sync::Arc;

/// Options of a [`TablePass`](crate::TablePass).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TableOptions {
    /// Tables to write. Default: all.
    pub tables: Vec<&'static Table>,
    /// Whether the rows of the table of events have payloads. Default: true.
    pub has_payload: bool,
    /// Event types that have a table each, with a column for each field.
    pub wide: Vec<EventPattern>,
    /// What happens to stacks that lack their outermost frames, because the runtime keeps only 100.
    pub cut_stacks: CutStacks,
    /// Whether async code has the callers that await it: see
    /// [`AnalysisOptions::async_callers`](nettrace_analysis::AnalysisOptions::async_callers). Default:
    /// false.
    pub async_callers: bool,
    /// Whether frames are source lines: see
    /// [`AnalysisOptions::lines`](nettrace_analysis::AnalysisOptions::lines). Default: false.
    pub lines: bool,
    /// Times of the trace's process and its threads, which recordings may have beside the events.
    pub thread_times: Option<Arc<ThreadTimes>>,
    /// Threads, times and spans of activities to which the rows of what happened are limited. Tables
    /// of code, stacks and threads are whole; conditions on frames and states are not looked at.
    pub filter: Filter,
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        TableOptions {
            tables: TABLES.iter().collect(),
            has_payload: true,
            wide: Vec::new(),
            cut_stacks: CutStacks::default(),
            async_callers: false,
            lines: false,
            thread_times: None,
            filter: Filter::default(),
        }
    }
}

/// Makes the sheets of the tables that options name.
pub(crate) struct Sheets<'o> {
    options: &'o TableOptions,
    make_spill: MakeSpill,
}

impl<'o> Sheets<'o> {
    pub(crate) fn new(options: &'o TableOptions, make_spill: MakeSpill) -> Sheets<'o> {
        Sheets { options, make_spill }
    }

    /// Makes the sheet of a table; `None` if it is not to be written.
    pub(crate) fn sheet(&self, table: &Table) -> io::Result<Option<Sheet>> {
        if !self.options.tables.iter().any(|wanted| wanted.name == table.name) {
            return Ok(None);
        }
        let columns = table.columns.iter().map(SheetColumn::from_column);
        let columns = match self.options.thread_times {
            Some(_) => columns.collect(),
            None => columns.map(SheetColumn::without_readings).collect(),
        };
        Sheet::of_columns(table.name, columns, self.make_spill.clone()).map(Some)
    }
}
