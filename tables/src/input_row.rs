//! Writes and reads the row of an input in the table `inputs`.

use crate::schema::INPUTS;
use crate::sheet::Sheet;
use crate::spill::MakeSpill;
use nettrace_analysis::info::TraceInfo;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

/// Row of an input. Fields without a comment are columns of [`INPUTS`](crate::schema::INPUTS).
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs, reason = "each is described in the schema")]
pub struct InputRow {
    pub input_id: i64,
    pub path: String,
    pub content_hash: Option<String>,
    pub file_bytes: Option<u64>,
    pub status: &'static str,
    pub reason: Option<String>,
    /// Name of the traced program.
    pub process_name: Option<String>,
    /// Information that was read from the trace; `None` if nothing could be read.
    pub info: Option<TraceInfo>,
}

impl InputRow {
    /// Writes the table `inputs` with this row. `options` is a text about the options of the
    /// export, which [`WrittenInput::read`] returns.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, options: &str, out: Box<dyn Write + Send>) -> io::Result<()> {
        let mut sheet = Sheet::new(INPUTS.name, INPUTS.columns, no_spill())?;
        sheet.note(OPTIONS, options);
        sheet.note(STATUS, self.status);
        let mut row = sheet.row();
        row.whole(self.input_id);
        row.text(&*self.path);
        row.text(self.content_hash.as_deref());
        row.count(self.file_bytes);
        row.text(self.status);
        row.text(self.reason.as_deref());
        let trace = self.info.as_ref();
        let small = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        row.small(trace.map(|trace| small(trace.version)));
        row.small(trace.map(|trace| small(trace.minor)));
        row.flag(trace.map(|trace| trace.complete));
        row.count(trace.map(|trace| trace.end_offset));
        row.flag(trace.map(|trace| trace.compressed));
        row.text(trace.and_then(|trace| trace.writer.as_deref()));
        row.count(trace.and_then(|trace| trace.process_id));
        row.count(trace.map(|trace| trace.processes));
        row.flag(trace.map(|trace| trace.processes_are_at_least));
        row.text(self.process_name.as_deref());
        row.text(trace.and_then(|trace| trace.command_line.as_deref()));
        row.text(trace.and_then(|trace| trace.os.as_deref()));
        row.text(trace.and_then(|trace| trace.architecture.as_deref()));
        row.small(trace.map(|trace| i32::from(trace.pointer_size)));
        row.small(trace.and_then(|trace| trace.processors).map(small));
        row.count(trace.and_then(|trace| trace.ticks_per_second));
        row.count(trace.and_then(|trace| trace.sampling_period_ns).map(u64::from));
        row.whole(trace.and_then(|trace| trace.start_unix_ns));
        row.whole(trace.and_then(|trace| trace.duration_ns));
        row.count(trace.map(|trace| trace.events));
        row.count(trace.map(|trace| trace.events_with_stack));
        row.count(trace.map(|trace| trace.payload_bytes));
        row.count(trace.map(|trace| trace.lost));
        row.flag(trace.map(|trace| trace.losses_known));
        row.flag(trace.map(|trace| trace.lost_is_at_least));
        row.count(trace.map(|trace| trace.lost_threads));
        row.count(trace.map(|trace| trace.restarts));
        row.count(trace.map(|trace| trace.threads));
        row.flag(trace.map(|trace| trace.threads_are_at_least));
        row.count(trace.map(|trace| trace.types));
        row.flag(trace.map(|trace| trace.types_are_at_least));
        row.count(trace.map(|trace| trace.stacks));
        row.flag(trace.map(|trace| trace.stacks_are_at_least));
        row.text(json(trace.map(|trace| &trace.providers))?.as_deref());
        row.text(json(trace.map(|trace| &trace.blocks))?.as_deref());
        row.text(json(trace.map(|trace| &trace.bytes))?.as_deref());
        row.count(trace.map(|trace| trace.damage_count));
        row.count(trace.map(|trace| trace.damage_bytes));
        row.text(json(trace.map(|trace| &trace.damage))?.as_deref());
        row.text(json(trace.map(|trace| &trace.notes))?.as_deref());
        row.text(json(trace.map(|trace| &trace.properties))?.as_deref());
        let bytes = row.end();
        sheet.end_row(bytes);
        sheet.finish(|| Ok(out)).map(drop)
    }
}

/// Returns a list as JSON, in the form that the JSON document of [`TraceInfo`] has.
fn json(list: Option<&impl Serialize>) -> io::Result<Option<String>> {
    Ok(list.map(serde_json::to_string).transpose()?)
}

/// Returns a function for making spills that always fails. It is for tables of one row, which need
/// no spill.
pub(crate) fn no_spill() -> MakeSpill {
    Arc::new(|| Err(io::Error::other("no temporary file is needed")))
}

const OPTIONS: &str = "nettrace.options";
const STATUS: &str = "nettrace.status";

/// What was read from a file that [`InputRow::write`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenInput {
    /// Text about the options of the export.
    pub options: String,
    /// Value of [`InputRow::status`].
    pub status: String,
}

/// Returns whether the file of a table is complete: it has a footer, and the bytes of all columns.
/// The values are not read.
pub fn is_whole(file: File) -> bool {
    let Ok(bytes) = file.metadata().map(|metadata| metadata.len()) else { return false };
    let Ok(reader) = SerializedFileReader::new(file) else { return false };
    let groups = reader.metadata().row_groups().iter();
    groups.flat_map(|group| group.columns()).all(|column| {
        let (start, length) = column.byte_range();
        start.checked_add(length).is_some_and(|end| end <= bytes)
    })
}

impl WrittenInput {
    /// Reads a file that [`InputRow::write`] wrote. Returns `None` for any other file.
    pub fn read(file: File) -> Option<WrittenInput> {
        let reader = SerializedFileReader::new(file).ok()?;
        let pairs = reader.metadata().file_metadata().key_value_metadata()?;
        let value = |key: &str| pairs.iter().find(|pair| pair.key == key)?.value.clone();
        Some(WrittenInput { options: value(OPTIONS)?, status: value(STATUS).unwrap_or_default() })
    }
}
