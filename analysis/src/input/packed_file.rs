//! Reads a packed file, and knows where in it the unpacking is.

use super::packing::{Packing, UnpackFault, UnpackFaultKind};
use std::io::{self, BufRead, BufReader, Read};

/// Number of bytes that are read at a time.
const READ_BYTES: usize = 64 * 1024;

/// A packed file that is read from its beginning to its end.
pub(super) struct PackedFile {
    packing: Packing,
    file: BufReader<Box<dyn Read + Send>>,
    /// Offset of the first byte that is not unpacked yet.
    offset: u64,
    is_ended: bool,
    /// Error of reading, for [`PackedFile::stop`]: decoders wrap errors in their own ones.
    error: Option<io::Error>,
}

/// Reason why unpacking cannot go on.
#[derive(Debug)]
pub(super) enum Stop {
    /// The packed data has a fault.
    Fault(UnpackFault),
    /// The file cannot be read.
    Failed(io::Error),
}

/// Decoder of packed files.
pub(super) trait Unpack: Send {
    /// Unpacks the next bytes into a buffer. Returns how many; 0 at the end of the file.
    fn unpack(&mut self, buffer: &mut [u8]) -> Result<usize, Stop>;

    /// Returns the file that is unpacked.
    fn file(&self) -> &PackedFile;
}

impl PackedFile {
    pub(super) fn new(packing: Packing, file: Box<dyn Read + Send>) -> PackedFile {
        let file = BufReader::with_capacity(READ_BYTES, file);
        PackedFile { packing, file, offset: 0, is_ended: false, error: None }
    }

    /// Takes the file, and leaves one without bytes.
    pub(super) fn take_out(&mut self) -> PackedFile {
        let nothing = PackedFile {
            packing: self.packing,
            file: BufReader::with_capacity(0, Box::new(io::empty())),
            offset: self.offset,
            is_ended: true,
            error: None,
        };
        std::mem::replace(self, nothing)
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Skips zeros, which fill a file up to the size of a block on a tape or disk. Returns whether
    /// anything follows.
    pub(super) fn skip_zeros(&mut self) -> Result<bool, Stop> {
        loop {
            let waiting = match self.fill_buf() {
                Ok(waiting) => waiting,
                Err(_) => return Err(self.stop(UnpackFaultKind::Truncated)),
            };
            let zeros = waiting.iter().take_while(|byte| **byte == 0).count();
            if zeros < waiting.len() || waiting.is_empty() {
                let is_more = !waiting.is_empty();
                self.consume(zeros);
                return Ok(is_more);
            }
            self.consume(zeros);
        }
    }

    /// Returns why a decoder of this file failed: the file could not be read, it ended, or it has
    /// a fault of this kind.
    pub(super) fn stop(&mut self, kind: UnpackFaultKind) -> Stop {
        match self.error.take() {
            Some(error) => Stop::Failed(error),
            None if self.is_ended => self.fault(UnpackFaultKind::Truncated),
            None => self.fault(kind),
        }
    }

    /// Returns a fault at the current offset.
    pub(super) fn fault(&self, kind: UnpackFaultKind) -> Stop {
        Stop::Fault(UnpackFault { offset: self.offset, packing: self.packing, kind })
    }
}

impl BufRead for PackedFile {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.file.buffer().is_empty() && !self.is_ended {
            match self.file.fill_buf() {
                Ok(waiting) => self.is_ended = waiting.is_empty(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let kind = error.kind();
                    self.error = Some(error);
                    return Err(kind.into());
                }
            }
        }
        Ok(self.file.buffer())
    }

    fn consume(&mut self, count: usize) {
        self.file.consume(count);
        self.offset = self.offset.saturating_add(count as u64);
    }
}

impl Read for PackedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}
