//! Encodes requests and decodes replies: the frame, and the values inside.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 14 | magic: `DOTNET_IPC_V1` and a NUL |
//! | 14 | 2 | size of header and payload, bytes (20 to 65,535) |
//! | 16 | 1 | command set |
//! | 17 | 1 | command id |
//! | 18 | 2 | reserved, 0 |
//! | 20 | size − 20 | payload |
//!
//! All numbers are little-endian and unpadded. A string is a `u32` count of UTF-16 units with the
//! closing NUL, then the units; count 0 is the null string. An array is a `u32` count and its
//! items. Replies are not trusted: each length is compared with the bytes that are there, and no
//! allocation has the size of a count.

use crate::bytes;
use crate::command_id::CommandId;
use crate::error::{ReplyFault, RequestError};
use nettrace_guid::Guid;
use std::fmt;

/// Magic of the protocol: the first 14 bytes of every message.
pub(crate) const MAGIC: [u8; 14] = *b"DOTNET_IPC_V1\0";
/// Size of the header, in bytes.
pub(crate) const HEADER_BYTES: usize = 20;

/// A whole request, checked and encoded. [`crate::Command::message`] builds it, and one
/// write sends it.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    id: CommandId,
    bytes: Vec<u8>,
}

impl Message {
    /// Returns the command of the request.
    pub fn id(&self) -> CommandId {
        self.id
    }

    /// Returns header and payload in the form in which they are sent.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the payload after the 20-byte header.
    pub fn payload(&self) -> &[u8] {
        self.bytes.get(HEADER_BYTES..).unwrap_or_default()
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head: Vec<String> =
            self.payload().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        write!(
            f,
            "Message {{ {}, {} bytes, payload {} }}",
            self.id,
            self.bytes.len(),
            head.concat()
        )
    }
}

/// Encodes one message.
#[derive(Debug)]
pub(crate) struct Writer {
    id: CommandId,
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn new(id: CommandId) -> Self {
        let mut bytes = Vec::with_capacity(64);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&[0, 0, id.set, id.id, 0, 0]);
        Writer { id, bytes }
    }

    pub(crate) fn u8(&mut self, value: u8) -> &mut Self {
        self.bytes.push(value);
        self
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn guid(&mut self, value: Guid) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_bytes());
        self
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Writes the number of items in a list. If it does not fit 32 bits, the message is far too
    /// long, and [`Writer::finish`] refuses it.
    pub(crate) fn count(&mut self, items: usize) -> &mut Self {
        self.u32(u32::try_from(items).unwrap_or(u32::MAX))
    }

    /// Writes the length of a string, the string and a closing NUL.
    pub(crate) fn string(&mut self, text: &str) -> &mut Self {
        let units: Vec<u16> = text.encode_utf16().chain([0]).collect();
        self.count(units.len());
        for unit in units {
            self.bytes.extend_from_slice(&unit.to_le_bytes());
        }
        self
    }

    /// Writes a string, or the null string for `None`, which has the length 0.
    pub(crate) fn nullable(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.string(text),
            None => self.u32(0),
        }
    }

    /// Writes the size into the header and returns the message. Fails if the size does not fit its
    /// 16 bits.
    pub(crate) fn finish(mut self) -> Result<Message, RequestError> {
        let size = u16::try_from(self.bytes.len())
            .map_err(|_| RequestError::TooLong { bytes: self.bytes.len() })?;
        if let Some(field) = self.bytes.get_mut(14..16) {
            field.copy_from_slice(&size.to_le_bytes());
        }
        Ok(Message { id: self.id, bytes: self.bytes })
    }
}

/// The header of a reply, which has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReplyHeader {
    /// Whether the reply is a success.
    pub(crate) ok: bool,
    /// Number of bytes in the payload after the header.
    pub(crate) payload_bytes: usize,
}

impl ReplyHeader {
    /// Parses the 20 bytes of a header. Refuses a wrong magic, a size below 20 and anything that is
    /// not a reply.
    pub(crate) fn read(bytes: [u8; HEADER_BYTES]) -> Result<Self, ReplyFault> {
        let mut reader = Reader::new(&bytes);
        let magic: [u8; 14] = reader.array("magic")?;
        if magic != MAGIC {
            return Err(ReplyFault::Magic(magic));
        }
        let size = reader.u16("size")?;
        let (set, id) = (reader.u8("command set")?, reader.u8("command id")?);
        let ok = match (set, id) {
            (CommandId::SERVER_SET, 0x00) => true,
            (CommandId::SERVER_SET, 0xFF) => false,
            _ => return Err(ReplyFault::NotAReply { set, id }),
        };
        let payload_bytes =
            usize::from(size).checked_sub(HEADER_BYTES).ok_or(ReplyFault::Size(size))?;
        Ok(ReplyHeader { ok, payload_bytes })
    }
}

/// Reads values from the payload of a reply. Each error has the offset and the name of the field.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'d> {
    rest: &'d [u8],
    offset: usize,
}

impl<'d> Reader<'d> {
    pub(crate) fn new(bytes: &'d [u8]) -> Self {
        Reader { rest: bytes, offset: 0 }
    }

    /// Returns the bytes that are not read yet.
    pub(crate) fn rest(&self) -> &'d [u8] {
        self.rest
    }

    pub(crate) fn bytes(
        &mut self,
        count: usize,
        field: &'static str,
    ) -> Result<&'d [u8], ReplyFault> {
        let truncated = ReplyFault::Truncated {
            offset: self.offset,
            field,
            needed: count,
            left: self.rest.len(),
        };
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(truncated)?;
        self.rest = rest;
        self.offset = self.offset.saturating_add(count);
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(
        &mut self,
        field: &'static str,
    ) -> Result<[u8; N], ReplyFault> {
        let (offset, left) = (self.offset, self.rest.len());
        let taken = self.bytes(N, field)?;
        taken.try_into().map_err(|_| ReplyFault::Truncated { offset, field, needed: N, left })
    }

    pub(crate) fn u8(&mut self, field: &'static str) -> Result<u8, ReplyFault> {
        self.array::<1>(field).map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self, field: &'static str) -> Result<u16, ReplyFault> {
        self.array(field).map(bytes::u16)
    }

    pub(crate) fn u32(&mut self, field: &'static str) -> Result<u32, ReplyFault> {
        self.array(field).map(bytes::u32)
    }

    pub(crate) fn u64(&mut self, field: &'static str) -> Result<u64, ReplyFault> {
        self.array(field).map(bytes::u64)
    }

    pub(crate) fn guid(&mut self, field: &'static str) -> Result<Guid, ReplyFault> {
        self.array(field).map(Guid::from_bytes)
    }

    /// Reads a string, or `None` for the null string, which has the length 0. Invalid UTF-16
    /// becomes U+FFFD.
    pub(crate) fn nullable(&mut self, field: &'static str) -> Result<Option<String>, ReplyFault> {
        let offset = self.offset;
        let units = self.u32(field)?;
        if units == 0 {
            return Ok(None);
        }
        let needed = usize::try_from(units).unwrap_or(usize::MAX).saturating_mul(2);
        let units = bytes::utf16(self.bytes(needed, field)?);
        match units.split_last() {
            Some((0, text)) => Ok(Some(String::from_utf16_lossy(text))),
            _ => Err(ReplyFault::Unterminated { offset, field }),
        }
    }

    /// Reads a string. The null string is read as an empty one.
    pub(crate) fn string(&mut self, field: &'static str) -> Result<String, ReplyFault> {
        self.nullable(field).map(Option::unwrap_or_default)
    }
}

/// Checks a string that must not be empty: it must also contain no NUL.
pub(crate) fn required(text: &str, what: &'static str) -> Result<String, RequestError> {
    if text.is_empty() {
        return Err(RequestError::Empty(what));
    }
    without_nul(text, what)
}

/// Checks that a string contains no NUL.
pub(crate) fn without_nul(text: &str, what: &'static str) -> Result<String, RequestError> {
    if text.contains('\0') { Err(RequestError::Nul(what)) } else { Ok(text.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn a_message_above_65535_bytes_is_refused() {
        let id = CommandId { set: 2, id: 3 };
        let mut writer = Writer::new(id);
        writer.raw(&vec![0; 65_515]);
        assert_eq!(writer.finish().map(|message| message.as_bytes().len()), Ok(65_535));
        let mut writer = Writer::new(id);
        writer.raw(&vec![0; 65_516]);
        assert_eq!(writer.finish(), Err(RequestError::TooLong { bytes: 65_536 }));
    }

    #[test]
    fn the_null_string_is_not_the_empty_string() {
        let bytes = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0];
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.nullable("a"), Ok(None));
        assert_eq!(reader.nullable("b"), Ok(Some(String::new())));
        assert!(reader.rest().is_empty());
    }

    #[test]
    fn a_string_longer_than_the_rest_is_truncated_whatever_it_claims() {
        for count in [2_u32, 0x8000_0001, u32::MAX] {
            let bytes = [&count.to_le_bytes()[..], &[0, 0]].concat();
            let fault = Reader::new(&bytes).nullable("name");
            assert!(
                matches!(
                    fault,
                    Err(ReplyFault::Truncated { offset: 4, field: "name", left: 2, .. })
                ),
                "{fault:?}"
            );
        }
    }

    #[test]
    fn a_string_must_end_in_nul() {
        let bytes = [&2_u32.to_le_bytes()[..], &utf16("ab")].concat();
        assert_eq!(
            Reader::new(&bytes).nullable("name"),
            Err(ReplyFault::Unterminated { offset: 0, field: "name" })
        );
    }

    #[test]
    fn broken_surrogates_become_replacement_characters() {
        let bytes = [2, 0, 0, 0, 0x00, 0xD8, 0, 0];
        assert_eq!(Reader::new(&bytes).nullable("name"), Ok(Some("\u{FFFD}".to_owned())));
    }

    #[test]
    fn a_reply_header_needs_magic_set_and_size() {
        let good = *b"DOTNET_IPC_V1\0\x18\0\xFF\0\0\0";
        assert_eq!(ReplyHeader::read(good), Ok(ReplyHeader { ok: true, payload_bytes: 4 }));
        let mut bad = good;
        bad[12] = b'2';
        assert!(matches!(ReplyHeader::read(bad), Err(ReplyFault::Magic(_))));
        let mut bad = good;
        bad[16] = 4;
        assert_eq!(ReplyHeader::read(bad), Err(ReplyFault::NotAReply { set: 4, id: 0 }));
        let mut bad = good;
        bad[17] = 7;
        assert_eq!(ReplyHeader::read(bad), Err(ReplyFault::NotAReply { set: 255, id: 7 }));
        let mut bad = good;
        bad[14] = 19;
        assert_eq!(ReplyHeader::read(bad), Err(ReplyFault::Size(19)));
        let mut error = good;
        error[17] = 0xFF;
        assert_eq!(ReplyHeader::read(error), Ok(ReplyHeader { ok: false, payload_bytes: 4 }));
    }
}
