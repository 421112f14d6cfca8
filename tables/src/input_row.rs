//! The row of `inputs`.

use crate::schema::INPUTS;
use crate::sheet::Sheet;
use crate::spill::MakeSpill;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

/// What is known of an input. The members are the columns of
/// [`INPUTS`](crate::schema::INPUTS).
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs, reason = "each is described in the schema")]
pub struct InputRow {
    pub input_id: i64,
    pub path: String,
    pub content_hash: Option<String>,
    pub file_bytes: Option<u64>,
    pub status: &'static str,
    pub reason: Option<String>,
    /// What was read; `None` if nothing could be.
    pub trace: Option<TraceRow>,
}

/// What is known of a trace that was read.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs, reason = "each is described in the schema")]
pub struct TraceRow {
    pub format_version: u32,
    pub format_minor_version: u32,
    pub complete: bool,
    pub end_offset: u64,
    pub compressed: bool,
    pub writer: Option<String>,
    pub process_id: Option<u64>,
    pub processes: u64,
    pub processes_are_at_least: bool,
    pub process_name: Option<String>,
    pub command_line: Option<String>,
    pub os: Option<String>,
    pub architecture: Option<String>,
    pub pointer_size: u8,
    pub processors: Option<u32>,
    pub ticks_per_second: i64,
    pub sampling_period_ns: Option<u32>,
    pub start_unix_ns: Option<i64>,
    pub duration_ns: Option<i64>,
    pub events: u64,
    pub events_with_stack: u64,
    pub payload_bytes: u64,
    pub lost: u64,
    pub losses_known: bool,
    pub lost_is_at_least: bool,
    pub lost_threads: u64,
    pub restarts: u64,
    pub threads: u64,
    pub threads_are_at_least: bool,
    pub types: u64,
    pub types_are_at_least: bool,
    pub stacks: u64,
    pub stacks_are_at_least: bool,
    pub providers: String,
    pub blocks: String,
    pub bytes: String,
    pub damage_count: u64,
    pub damage_bytes: u64,
    pub damage: String,
    pub notes: String,
    pub properties: String,
}

impl InputRow {
    /// Writes the table of this row. `options` is a text that [`WrittenInput::of`] finds again:
    /// with what options the trace was exported.
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
        let trace = self.trace.as_ref();
        let small = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        row.small(trace.map(|trace| small(trace.format_version)));
        row.small(trace.map(|trace| small(trace.format_minor_version)));
        row.flag(trace.map(|trace| trace.complete));
        row.count(trace.map(|trace| trace.end_offset));
        row.flag(trace.map(|trace| trace.compressed));
        row.text(trace.and_then(|trace| trace.writer.as_deref()));
        row.count(trace.and_then(|trace| trace.process_id));
        row.count(trace.map(|trace| trace.processes));
        row.flag(trace.map(|trace| trace.processes_are_at_least));
        row.text(trace.and_then(|trace| trace.process_name.as_deref()));
        row.text(trace.and_then(|trace| trace.command_line.as_deref()));
        row.text(trace.and_then(|trace| trace.os.as_deref()));
        row.text(trace.and_then(|trace| trace.architecture.as_deref()));
        row.small(trace.map(|trace| i32::from(trace.pointer_size)));
        row.small(trace.and_then(|trace| trace.processors).map(small));
        row.whole(trace.map(|trace| trace.ticks_per_second));
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
        row.text(trace.map(|trace| &*trace.providers));
        row.text(trace.map(|trace| &*trace.blocks));
        row.text(trace.map(|trace| &*trace.bytes));
        row.count(trace.map(|trace| trace.damage_count));
        row.count(trace.map(|trace| trace.damage_bytes));
        row.text(trace.map(|trace| &*trace.damage));
        row.text(trace.map(|trace| &*trace.notes));
        row.text(trace.map(|trace| &*trace.properties));
        let bytes = row.end();
        sheet.end_row(bytes);
        sheet.finish(|| Ok(out)).map(drop)
    }
}

/// Tables of a row never need one.
pub(crate) fn no_spill() -> MakeSpill {
    Arc::new(|| Err(io::Error::other("no temporary file is needed")))
}

const OPTIONS: &str = "nettrace.options";
const STATUS: &str = "nettrace.status";

/// What [`InputRow::write`] wrote into a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenInput {
    /// The options with which the trace was exported.
    pub options: String,
    /// [`InputRow::status`].
    pub status: String,
}

impl WrittenInput {
    /// Reads a file of [`InputRow::write`]; `None` if it is no such file.
    pub fn of(file: File) -> Option<WrittenInput> {
        let reader = SerializedFileReader::new(file).ok()?;
        let pairs = reader.metadata().file_metadata().key_value_metadata()?;
        let value = |key: &str| pairs.iter().find(|pair| pair.key == key)?.value.clone();
        Some(WrittenInput { options: value(OPTIONS)?, status: value(STATUS).unwrap_or_default() })
    }
}
