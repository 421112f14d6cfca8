//! Unpacks gzip while it is read, and packs recordings. A fault of the file ends the reading and is
//! reported afterwards, so that all that could be unpacked counts.

use crate::failure::LimitReached;
use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::rc::Rc;

/// The first bytes of a gzip file.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

pub(super) fn is_gzip(head: &[u8]) -> bool {
    head.starts_with(&MAGIC)
}

/// Level of compression of recordings, which takes the least time beside the recorded program.
const LEVEL: Compression = Compression::fast();

/// Returns an encoder that packs a recording while it is written.
pub(crate) fn packer<W: Write>(file: W) -> GzEncoder<W> {
    GzEncoder::new(file, LEVEL)
}

/// A fault of a compressed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnpackFault {
    /// Offset in the compressed file, in bytes; where the file is corrupt, shortly after the fault.
    pub(crate) offset: u64,
    pub(crate) kind: UnpackFaultKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnpackFaultKind {
    /// The file ends inside the compressed data.
    Truncated,
    /// The compressed data, or its checksum, makes no sense.
    Corrupt,
    /// Something other than gzip follows; nothing is lost.
    Trailing,
}

impl UnpackFault {
    /// Returns whether a part of the trace may be missing because of the fault.
    pub(crate) fn is_loss(&self) -> bool {
        self.kind != UnpackFaultKind::Trailing
    }

    /// Returns the fault as text, without its place.
    pub(crate) fn what(&self) -> &'static str {
        match self.kind {
            UnpackFaultKind::Truncated => "the gzip data ends too early",
            UnpackFaultKind::Corrupt => "the gzip data is corrupt",
            UnpackFaultKind::Trailing => "data that is not gzip follows; it was ignored",
        }
    }
}

impl fmt::Display for UnpackFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (offset {:#x} of the compressed file)", self.what(), self.offset)
    }
}

/// Unpacks one gzip member after the other.
pub(super) struct Unpack<R> {
    /// The member that is being unpacked; `None` at the end.
    member: Option<GzDecoder<BufReader<R>>>,
    /// Bytes that were read from the file, including those that wait in the buffer.
    consumed: Rc<Cell<u64>>,
    fault: Rc<Cell<Option<UnpackFault>>>,
    is_first: bool,
    /// Bytes that this member gave.
    given: u64,
    /// Bytes that all members may still give.
    left: u64,
    limit: u64,
    /// Whether the file unpacks to more than the limit.
    is_over: bool,
}

/// Maximum number of bytes that one call unpacks. A call that meets corrupt data loses what it has
/// unpacked.
const PIECE_BYTES: usize = 32 * 1024;

impl<R: Read> Unpack<R> {
    /// Starts to unpack a file; `limit` is the number of bytes that all members together may give.
    /// Also returns the cell that a fault will be stored in.
    pub(super) fn new(
        file: R,
        limit: u64,
        consumed: Rc<Cell<u64>>,
    ) -> (Unpack<R>, Rc<Cell<Option<UnpackFault>>>) {
        let fault = Rc::new(Cell::new(None));
        let member = Some(GzDecoder::new(BufReader::with_capacity(64 * 1024, file)));
        let unpack = Unpack {
            member,
            consumed,
            fault: Rc::clone(&fault),
            is_first: true,
            given: 0,
            left: limit,
            limit,
            is_over: false,
        };
        (unpack, fault)
    }

    /// Goes from the end of a member to the next one, if there is one.
    fn next_member(&mut self) -> io::Result<()> {
        let Some(member) = self.member.take() else { return Ok(()) };
        let mut file = member.into_inner();
        loop {
            let waiting = file.fill_buf()?;
            match waiting.first() {
                // Zeros fill a file up to the size of a block on a tape or disk.
                Some(0) => {
                    let zeros = waiting.iter().take_while(|byte| **byte == 0).count();
                    file.consume(zeros);
                }
                Some(byte) if *byte == MAGIC[0] => {
                    self.is_first = false;
                    self.given = 0;
                    self.member = Some(GzDecoder::new(file));
                    return Ok(());
                }
                Some(_) => {
                    let offset = self.consumed.get() - waiting.len() as u64;
                    self.fault.set(Some(UnpackFault { offset, kind: UnpackFaultKind::Trailing }));
                    return Ok(());
                }
                None => return Ok(()),
            }
        }
    }

    /// Returns the fault that an error of the decoder means; `None` if the error is not about gzip.
    fn fault_of(&self, error: &io::Error, waiting: u64) -> Option<UnpackFault> {
        let kind = match error.kind() {
            io::ErrorKind::UnexpectedEof => UnpackFaultKind::Truncated,
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
                if self.is_first || self.given > 0 =>
            {
                UnpackFaultKind::Corrupt
            }
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => UnpackFaultKind::Trailing,
            _ => return None,
        };
        Some(UnpackFault { offset: self.consumed.get() - waiting, kind })
    }
}

impl<R: Read> Read for Unpack<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = buffer.len().min(PIECE_BYTES);
        let Some(buffer) = buffer.get_mut(..room) else { return Ok(0) };
        if self.is_over {
            return Err(io::Error::other(LimitReached(self.limit)));
        }
        while let Some(member) = &mut self.member {
            match member.read(buffer) {
                Ok(0) if !buffer.is_empty() => self.next_member()?,
                Ok(count) => {
                    self.given += count as u64;
                    // Bytes up to the limit count; any more are an error.
                    let allowed = usize::try_from(self.left).map_or(count, |left| count.min(left));
                    if allowed == 0 && count > 0 {
                        self.is_over = true;
                        return Err(io::Error::other(LimitReached(self.limit)));
                    }
                    self.left -= allowed as u64;
                    self.is_over = allowed < count;
                    return Ok(allowed);
                }
                Err(error) => {
                    let waiting = member.get_ref().buffer().len() as u64;
                    let Some(fault) = self.fault_of(&error, waiting) else { return Err(error) };
                    self.fault.set(Some(fault));
                    self.member = None;
                }
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Returns bytes that hardly compress.
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..length).map(|_| next()).collect()
    }

    fn unpacked(file: &[u8]) -> (Vec<u8>, Option<UnpackFault>) {
        let consumed = Rc::new(Cell::new(0));
        let counted = super::super::Counted { inner: file, consumed: Rc::clone(&consumed) };
        let (mut unpack, fault) = Unpack::new(counted, u64::MAX, consumed);
        let mut bytes = Vec::new();
        unpack.read_to_end(&mut bytes).unwrap();
        (bytes, fault.get())
    }

    #[test]
    fn all_up_to_the_limit_is_given_and_one_byte_more_is_an_error_that_stays() {
        let file = [packed(&[7; 60_000]), packed(&[8; 60_000])].concat();
        for limit in [0, 1, 59_999, 60_000, 60_001, 119_999] {
            let (mut unpack, _) = Unpack::new(file.as_slice(), limit, Rc::default());
            let mut bytes = Vec::new();
            for _ in 0..2 {
                let error = unpack.read_to_end(&mut bytes).unwrap_err();
                let reached = error.get_ref().and_then(|inner| inner.downcast_ref());
                assert_eq!((reached, bytes.len() as u64), (Some(&LimitReached(limit)), limit));
            }
        }
        for limit in [120_000, 120_001] {
            let (mut unpack, _) = Unpack::new(file.as_slice(), limit, Rc::default());
            assert_eq!(unpack.read_to_end(&mut Vec::new()).unwrap(), 120_000);
        }
    }

    #[test]
    fn zeros_after_the_last_member_are_padding() {
        let file = [packed(b"one"), vec![0; 1000]].concat();
        assert_eq!(unpacked(&file), (b"one".to_vec(), None));
    }

    #[test]
    fn whatever_else_follows_is_reported_and_costs_nothing() {
        for garbage in [&b"x"[..], b"garbage", b"\x1f\x8cno gzip, only its first byte"] {
            let member = packed(b"one");
            let file = [&member, garbage].concat();
            let (bytes, fault) = unpacked(&file);
            let fault = fault.unwrap();
            assert_eq!(
                (bytes.as_slice(), fault.kind),
                (&b"one"[..], UnpackFaultKind::Trailing),
                "{garbage:?}"
            );
            assert!(!fault.is_loss() && fault.offset >= member.len() as u64);
        }
    }

    #[test]
    fn a_file_that_is_cut_off_gives_all_before_the_cut() {
        let data = noise(500_000);
        let file = packed(&data);
        let (bytes, fault) = unpacked(&file[..file.len() / 2]);
        assert!(bytes.len() > 200_000 && data.starts_with(&bytes));
        assert_eq!(
            fault,
            Some(UnpackFault { offset: file.len() as u64 / 2, kind: UnpackFaultKind::Truncated })
        );
        let (bytes, fault) = unpacked(&file[..file.len() - 1]);
        assert_eq!((bytes, fault.unwrap().kind), (data, UnpackFaultKind::Truncated));
    }
}
