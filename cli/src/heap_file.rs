//! A file with heap dumps: a trace, or a `.gcdump`.

use crate::args::InputArgs;
use crate::context::{Context, Trace};
use crate::failure::Failure;
use crate::input::{Ended, ended};
use nettrace_analysis::heap::HeapDump;
use nettrace_parser::{Error, Reader, Source};

/// Number of bytes by which a `.gcdump` is recognised.
const MIN_RECOGNISED_BYTES: u64 = 64;

/// An open file with heap dumps.
pub(crate) enum HeapFile {
    Trace(Box<Trace>),
    GcDump(Box<GcDump>),
}

/// A `.gcdump` that was read.
pub(crate) struct GcDump {
    /// Name of the file in messages.
    pub(crate) file: String,
    pub(crate) dump: HeapDump,
    pub(crate) ended: Ended,
}

impl HeapFile {
    /// Opens the file that the user named. What it is, its first bytes say. A `.gcdump` is read to its
    /// end.
    pub(crate) fn open(args: &InputArgs, context: &mut Context<'_>) -> Result<HeapFile, Failure> {
        let (file, mut input) = (args.name(), context.input(args)?);
        // A fault of reading is reported for the trace.
        let _ = input.fill(MIN_RECOGNISED_BYTES);
        if !HeapDump::is_gcdump(input.bytes()) {
            let reader = Reader::new(input);
            return Ok(HeapFile::Trace(Box::new(Trace { file, reader })));
        }
        if let Err(error) = input.fill(u64::MAX) {
            let position = input.bytes().len() as u64;
            return Err(Failure::read(&file, &Error::Io(error), position));
        }
        let dump = HeapDump::from_gcdump(input.bytes());
        let dump = dump.map_err(|error| {
            let text = "get another copy, or make another dump";
            Failure::input(&file, format!("{error}; {text}"))
        })?;
        let length = input.bytes().len() as u64;
        let ended = ended(&Reader::new(input)).of_whole_file(length);
        Ok(HeapFile::GcDump(Box::new(GcDump { file, dump, ended })))
    }
}
