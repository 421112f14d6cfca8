//! Options that say which tables are written, and what they contain.

use crate::column::Table;
use crate::sheet::{Sheet, SheetColumn};
use crate::spill::MakeSpill;
use nettrace_analysis::{CutStacks, ThreadTimes};
use nettrace_export::EventPattern;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

/// Options of a [`TablePass`](crate::TablePass).
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct TableOptions {
    tables: BTreeSet<&'static str>,
    has_payload: bool,
    wide: Vec<EventPattern>,
    make_spill: MakeSpill,
    cut_stacks: CutStacks,
    thread_times: Option<Arc<ThreadTimes>>,
}

impl TableOptions {
    /// Makes the options for writing these tables. `make_spill` makes the temporary files that hold
    /// large tables until the trace ends.
    pub fn new(tables: &[&'static Table], make_spill: MakeSpill) -> TableOptions {
        let tables = tables.iter().map(|table| table.name).collect();
        let cut_stacks = CutStacks::default();
        TableOptions {
            tables,
            has_payload: true,
            wide: Vec::new(),
            make_spill,
            cut_stacks,
            thread_times: None,
        }
    }

    /// Sets whether the rows of the table of events have payloads.
    #[must_use]
    pub fn payload(self, has_payload: bool) -> TableOptions {
        TableOptions { has_payload, ..self }
    }

    /// Sets what happens to stacks that lack their outermost frames, because the runtime keeps only
    /// 100.
    #[must_use]
    pub fn cut_stacks(self, cut_stacks: CutStacks) -> TableOptions {
        TableOptions { cut_stacks, ..self }
    }

    /// Adds a table for each event type that one of the patterns matches. It has a column for each
    /// field.
    #[must_use]
    pub fn wide(self, wide: Vec<EventPattern>) -> TableOptions {
        TableOptions { wide, ..self }
    }

    /// Sets the times of the trace's process and its threads, which recordings may have beside the
    /// events.
    #[must_use]
    pub fn thread_times(self, thread_times: Option<ThreadTimes>) -> TableOptions {
        TableOptions { thread_times: thread_times.map(Arc::new), ..self }
    }

    pub(crate) fn times_of_threads(&self) -> Option<&Arc<ThreadTimes>> {
        self.thread_times.as_ref()
    }

    pub(crate) fn wide_events(&self) -> (&[EventPattern], &MakeSpill) {
        (&self.wide, &self.make_spill)
    }

    pub(crate) fn how_cut_stacks(&self) -> CutStacks {
        self.cut_stacks
    }

    pub(crate) fn has_payload(&self) -> bool {
        self.has_payload
    }

    fn has(&self, table: &Table) -> bool {
        self.tables.contains(table.name)
    }

    pub(crate) fn sheet(&self, table: &Table) -> io::Result<Option<Sheet>> {
        if !self.has(table) {
            return Ok(None);
        }
        let columns = table.columns.iter().map(SheetColumn::from_column);
        let columns = match self.thread_times {
            Some(_) => columns.collect(),
            None => columns.map(SheetColumn::without_readings).collect(),
        };
        Sheet::of_columns(table.name, columns, self.make_spill.clone()).map(Some)
    }
}
