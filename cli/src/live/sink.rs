//! Destinations of the bytes of a session, which are written as they came.

use super::stdout_queue::StdoutQueue;
use crate::failure::Failure;
use crate::input::second;
use crate::new_file::{NewFile, Pending, Written};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, Seek, Write};
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
    Whole {
        file: Written,
        /// Whether it has the second stream.
        has_second: bool,
    },
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
    /// compressed file may fail. A whole file gets the second stream, if there is one and it can be
    /// written.
    pub(crate) fn finish(self, is_whole: bool, second: Option<&File>) -> (Saved, io::Result<()>) {
        let second = second.filter(|_| is_whole);
        let (pending, written, has_second) = match self {
            // Several sessions may write to the queue, so its owner finishes it.
            Sink::Nowhere | Sink::Stdout(_) => return (Saved::Nothing, Ok(())),
            Sink::File(file, pending) => {
                let has_second = second.is_some_and(|second| append(&file, second, false));
                (pending, Ok(()), has_second)
            }
            Sink::Packed(file, pending) => match file.finish() {
                Ok(file) => {
                    let has_second = second.is_some_and(|second| append(&file, second, true));
                    (pending, Ok(()), has_second)
                }
                Err(error) => (pending, Err(error), false),
            },
        };
        let saved = match is_whole && written.is_ok() {
            true => pending
                .finish()
                .map_or_else(Saved::Unnamed, |file| Saved::Whole { file, has_second }),
            false => Saved::Part(pending.leave()),
        };
        (saved, written)
    }
}

/// Appends a second stream to a file. Returns whether it has it; otherwise the file is as before.
fn append(mut file: &File, second: &File, is_packed: bool) -> bool {
    let Ok(end) = file.stream_position() else { return false };
    let is_appended = file.metadata().is_ok_and(|file| file.is_file())
        && second::append(file, second, is_packed).is_ok();
    if !is_appended {
        // A file that cannot be cut has bytes behind its end mark, which no reader minds.
        let _ = file.set_len(end);
    }
    is_appended
}
