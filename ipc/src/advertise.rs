//! The frame with which a runtime that connects to a port identifies itself.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | magic: `ADVR_V1` and a NUL |
//! | 8 | 16 | cookie, a GUID |
//! | 24 | 8 | process id, as the process sees it |
//! | 32 | 2 | reserved |

use crate::error::ReplyFault;
use crate::message::Reader;
use nettrace_guid::Guid;

pub(crate) const ADVERTISE_BYTES: usize = 34;
pub(crate) const ADVERTISE_MAGIC: [u8; 8] = *b"ADVR_V1\0";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Advertise {
    pub(crate) cookie: Guid,
    pub(crate) pid: u64,
}

impl Advertise {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, ReplyFault> {
        let mut reader = Reader::new(bytes);
        if reader.array::<8>("magic")? != ADVERTISE_MAGIC {
            return Err(ReplyFault::Advertise);
        }
        let advertise =
            Advertise { cookie: reader.guid("cookie")?, pid: reader.u64("process id")? };
        reader.u16("reserved")?;
        Ok(advertise)
    }

    /// Encodes the frame in the form that a runtime sends.
    pub(crate) fn to_bytes(self) -> [u8; ADVERTISE_BYTES] {
        let mut bytes = [0; ADVERTISE_BYTES];
        let fields = ADVERTISE_MAGIC
            .into_iter()
            .chain(self.cookie.to_bytes())
            .chain(self.pid.to_le_bytes())
            .chain([0, 0]);
        for (target, byte) in bytes.iter_mut().zip(fields) {
            *target = byte;
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::golden::unhex;

    #[test]
    fn the_advertise_frame_of_the_transcripts() {
        let bytes =
            unhex("414456525f563100 9443b60e4c19484f901b9b0b5afb8def 4b28000000000000 0000");
        let advertise = Advertise::read(&bytes).unwrap();
        assert_eq!(advertise.pid, 0x284b);
        assert_eq!(advertise.cookie.to_string(), "0eb64394-194c-4f48-901b-9b0b5afb8def");
        assert_eq!(advertise.to_bytes().as_slice(), bytes);
    }

    #[test]
    fn another_magic_or_a_cut_frame_is_refused() {
        let mut bytes = Advertise { cookie: Guid::default(), pid: 1 }.to_bytes();
        assert!(Advertise::read(&bytes[..33]).is_err());
        bytes[6] = b'2';
        assert_eq!(Advertise::read(&bytes), Err(ReplyFault::Advertise));
    }
}
