//! Unpacks gzip, member by member.

use super::packed_file::{PackedFile, Stop, Unpack};
use super::packing::UnpackFaultKind;
use flate2::bufread::GzDecoder;
use std::io::{BufRead, Read};

/// First byte of a gzip member.
const FIRST_BYTE: u8 = 0x1f;

/// Maximum number of bytes that one call unpacks. A call that meets corrupt data loses what it has
/// unpacked.
const PIECE_BYTES: usize = 32 * 1024;

/// Unpacks one gzip member after the other.
pub(super) struct Members {
    member: GzDecoder<PackedFile>,
    is_first: bool,
    /// Bytes that this member gave.
    given: u64,
}

impl Members {
    pub(super) fn new(file: PackedFile) -> Members {
        Members { member: GzDecoder::new(file), is_first: true, given: 0 }
    }

    /// Goes from the end of a member to the next one. Returns whether there is one.
    fn find_next(&mut self) -> Result<bool, Stop> {
        let file = self.member.get_mut();
        let is_more = file.skip_zeros()?;
        if is_more {
            if file.fill_buf().is_ok_and(|waiting| waiting.first() != Some(&FIRST_BYTE)) {
                return Err(file.fault(UnpackFaultKind::Trailing));
            }
            self.member = GzDecoder::new(file.take_out());
            (self.is_first, self.given) = (false, 0);
        }
        Ok(is_more)
    }
}

impl Unpack for Members {
    fn unpack(&mut self, buffer: &mut [u8]) -> Result<usize, Stop> {
        let room = buffer.len().min(PIECE_BYTES);
        let piece = buffer.get_mut(..room).unwrap_or_default();
        loop {
            match self.member.read(piece) {
                Ok(0) if self.find_next()? => {}
                Ok(count) => {
                    self.given = self.given.saturating_add(count as u64);
                    return Ok(count);
                }
                Err(_) => {
                    // What does not even begin as a member is none.
                    let is_member = self.is_first || self.given > 0;
                    let kind = match is_member {
                        true => UnpackFaultKind::Corrupt,
                        false => UnpackFaultKind::Trailing,
                    };
                    return Err(self.member.get_mut().stop(kind));
                }
            }
        }
    }

    fn file(&self) -> &PackedFile {
        self.member.get_ref()
    }
}
