//! A file with heap dumps: a trace, or a `.gcdump`.

use crate::args::InputArgs;
use crate::context::{Context, Trace};
use crate::failure::Failure;
use crate::input::{Ended, ended};
use nettrace_analysis::heap::HeapDump;
use nettrace_parser::{Error, Reader, Source};
use std::io;

/// Number of bytes by which a `.gcdump` is recognised.
const MIN_RECOGNISED_BYTES: u64 = 64;
/// Maximum number of bytes of a `.gcdump` that is packed or comes through a pipe, which is held in
/// memory. It has some three million objects; a packed file of a few megabytes may unpack to more.
const MAX_HELD_BYTES: u64 = 128 << 20;

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
        let most = if input.is_mapped() { u64::MAX } else { MAX_HELD_BYTES };
        let is_whole = read_whole(&mut input, most).map_err(|error| {
            let position = input.bytes().len() as u64;
            Failure::read(&file, &Error::Io(error), position)
        })?;
        if !is_whole {
            let text = "a .gcdump of more than 128 MiB: write it unpacked to a file, and read that";
            return Err(Failure::input(&file, text));
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

/// Reads a source to its end; returns `false` if it has more than `most` bytes.
fn read_whole(source: &mut impl Source, most: u64) -> io::Result<bool> {
    source.fill(most.saturating_add(1)).map(|has_more| !has_more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nettrace_parser::Buffered;

    #[test]
    fn what_is_held_in_memory_has_a_limit() {
        for (length, is_whole) in [(0, true), (99, true), (100, true), (101, false), (9999, false)]
        {
            let bytes = vec![0; length];
            assert_eq!(read_whole(&mut Buffered::new(&bytes[..]), 100).unwrap(), is_whole);
        }
        assert!(read_whole(&mut Buffered::new(&[0; 9][..]), u64::MAX).unwrap());
    }
}
