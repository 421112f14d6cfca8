//! Destinations of the bytes of a session, which are written as they came.

use super::stdout_queue::StdoutQueue;
use crate::failure::Failure;
use crate::new_file::{NewFile, Pending, Written};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// Destination of bytes.
#[derive(Debug)]
pub(crate) enum Sink {
    /// The bytes are not kept: a view only parses them.
    Nowhere,
    File(File, Pending),
    Packed(GzEncoder<File>, Pending),
    Stdout(StdoutQueue),
}

/// Result of saving the bytes.
#[derive(Debug)]
pub(crate) enum Saved {
    /// There is no file.
    Nothing,
    /// The file has all bytes that were received, and its final name.
    Whole(Written),
    /// Some bytes are missing. The rest is in the file under its temporary name; `None` if that is
    /// empty.
    Part(Option<PathBuf>),
    /// The file could not be given its name.
    Unnamed(Failure),
}

impl Sink {
    pub(crate) fn file(file: NewFile, is_packed: bool) -> Sink {
        let (file, pending) = file.split();
        match is_packed {
            true => Sink::Packed(GzEncoder::new(file, Compression::fast()), pending),
            false => Sink::File(file, pending),
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Sink::Nowhere => Ok(()),
            Sink::File(file, _) => file.write_all(bytes),
            Sink::Packed(file, _) => file.write_all(bytes),
            // A copy, since the session's buffer is reused before a slow reader has it.
            Sink::Stdout(queue) => queue.offer(bytes.to_vec(), 0),
        }
    }

    /// Ends the file. `is_whole`: it has all bytes of the session. Writing the last bytes of a
    /// compressed file may fail.
    pub(crate) fn finish(self, is_whole: bool) -> (Saved, io::Result<()>) {
        let (pending, written) = match self {
            // Several sessions may write to the queue, so its owner finishes it.
            Sink::Nowhere | Sink::Stdout(_) => return (Saved::Nothing, Ok(())),
            Sink::File(_, pending) => (pending, Ok(())),
            Sink::Packed(file, pending) => (pending, file.finish().map(drop)),
        };
        let saved = match is_whole && written.is_ok() {
            true => pending.finish().map_or_else(Saved::Unnamed, Saved::Whole),
            false => Saved::Part(pending.leave()),
        };
        (saved, written)
    }
}
