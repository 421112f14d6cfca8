//! The bytes that every encoder writes to, with methods for the primitives of the format and
//! nothing else.

use bytemuck::cast_slice;

/// The 16 bytes of a guid as stored ([FORMAT.md 2]): `00 11 22 33 44 55 66 77 …` reads
/// `33221100-5544-7766-…`.
///
/// The other crates use the type `Guid` of `nettrace-guid`. This crate does not, because
/// it shares no code with what it tests. A `Guid` can be compared with these bytes, and
/// made from them with `Guid::from`.
///
/// [FORMAT.md 2]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#2
pub type GuidBytes = [u8; 16];

/// A buffer of bytes. Methods that append return the sink, so that calls can be chained.
///
/// The primitives of the format ([FORMAT.md 2]):
///
/// | method | bytes | encoding |
/// |---|---|---|
/// | `u8` … `f64` | 1–8 | little-endian |
/// | `u32s`, `u64s` | 4n, 8n | little-endian, one after the other |
/// | `varuint` | 1–10 | 7 bits a byte, least significant group first, high bit: more follow |
/// | `varint` | 1–10 | zigzag, then `varuint` |
/// | `utf16z` | 2(n+1) | UTF-16LE, zero unit at the end |
/// | `fs_string` | 4 + n | i32 byte count, UTF-8 (object framing) |
/// | `string` | 1–5 + n | varuint32 byte count, UTF-8 (version 6) |
/// | `guid` | 16 | as stored |
///
/// ```
/// use nettrace_writer::Sink;
/// let mut sink = Sink::new();
/// sink.u16(0x0201).varuint(300).string("hi");
/// assert_eq!(sink.as_slice(), [1, 2, 0xac, 2, 2, b'h', b'i']);
/// ```
///
/// [FORMAT.md 2]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#2
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sink {
    bytes: Vec<u8>,
}

macro_rules! little_endian {
    ($($name:ident)*) => {$(
        #[doc = concat!("Appends a little-endian `", stringify!($name), "`.")]
        pub fn $name(&mut self, value: $name) -> &mut Self {
            self.raw(&value.to_le_bytes())
        }
    )*};
}

macro_rules! columns {
    ($($(#[$comment:meta])* $name:ident $number:ident)*) => {$(
        $(#[$comment])*
        pub fn $name(&mut self, values: &[$number]) -> &mut Self {
            let stored: Vec<$number> = values.iter().map(|value| value.to_le()).collect();
            self.raw(cast_slice(&stored))
        }
    )*};
}

impl Sink {
    /// Creates an empty sink.
    pub fn new() -> Self {
        Self::default()
    }

    little_endian!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

    columns! {
        /// Appends UTF-16 code units without a terminator.
        utf16 u16
        /// Appends little-endian numbers, one after the other.
        u32s u32
        /// Appends little-endian numbers, one after the other.
        u64s u64
    }

    /// Returns the number of bytes written so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the bytes written so far.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes written so far, and consumes the sink.
    pub fn into_vec(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends bytes unchanged.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Appends one byte `count` times.
    pub fn fill(&mut self, byte: u8, count: usize) -> &mut Self {
        self.bytes.resize(self.bytes.len() + count, byte);
        self
    }

    /// Appends a varuint in its shortest form.
    pub fn varuint(&mut self, value: u64) -> &mut Self {
        self.varuint_overlong(value, 0)
    }

    /// Appends a varuint with `extra` needless bytes. For example, 0 with one extra byte is `80
    /// 00`.
    pub fn varuint_overlong(&mut self, mut value: u64, extra: usize) -> &mut Self {
        while value >= 0x80 {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        if extra == 0 {
            self.bytes.push(value as u8);
        } else {
            self.bytes.push(value as u8 | 0x80);
            self.fill(0x80, extra - 1).u8(0);
        }
        self
    }

    /// Appends a signed varint: the zigzag number (0, -1, 1, -2 become 0, 1, 2, 3) as a varuint.
    pub fn varint(&mut self, value: i64) -> &mut Self {
        self.varuint(zigzag(value))
    }

    /// Appends text as UTF-16 with a zero unit at its end.
    pub fn utf16z(&mut self, text: &str) -> &mut Self {
        let units: Vec<u16> = text.encode_utf16().chain([0]).collect();
        self.utf16(&units)
    }

    /// Appends text in the form of object framing: its length in bytes as an i32, then UTF-8.
    pub fn fs_string(&mut self, text: &str) -> &mut Self {
        self.u32(count32(text.len())).raw(text.as_bytes())
    }

    /// Appends text in the form of version 6: its length in bytes as a varuint32, then UTF-8.
    pub fn string(&mut self, text: &str) -> &mut Self {
        self.varuint(text.len() as u64).raw(text.as_bytes())
    }

    /// Appends the 16 bytes of a guid.
    pub fn guid(&mut self, guid: &GuidBytes) -> &mut Self {
        self.raw(guid)
    }

    /// Overwrites bytes that were written before.
    ///
    /// # Panics
    /// If `at + bytes.len()` is beyond the end of the bytes.
    pub fn patch(&mut self, at: usize, bytes: &[u8]) -> &mut Self {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }
}

/// Maps signed numbers to unsigned ones so that small magnitudes stay small: 0, -1, 1, -2
/// become 0, 1, 2, 3.
pub fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Returns a length as a 32-bit count.
///
/// # Panics
/// If the length does not fit. A stream with such a count can be written by setting the `Option`
/// field that replaces the count.
pub(crate) fn count32(length: usize) -> u32 {
    u32::try_from(length).expect("a length of more than 32 bits cannot be stored")
}

/// Returns a length as a 16-bit count.
///
/// # Panics
/// If the length does not fit. A stream with such a count can be written by setting the `Option`
/// field that replaces the count.
pub(crate) fn count16(length: usize) -> u16 {
    u16::try_from(length).expect("a length of more than 16 bits cannot be stored")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Sink) -> &mut Sink) -> Vec<u8> {
        let mut sink = Sink::new();
        write(&mut sink);
        sink.into_vec()
    }

    #[test]
    fn varuints_take_seven_bits_a_byte() {
        assert_eq!(written(|s| s.varuint(0)), [0]);
        assert_eq!(written(|s| s.varuint(127)), [0x7f]);
        assert_eq!(written(|s| s.varuint(300)), [0xac, 0x02]);
        assert_eq!(written(|s| s.varuint(0xffff_ffff)), [0xff, 0xff, 0xff, 0xff, 0x0f]);
        assert_eq!(
            written(|s| s.varuint((-250_i64) as u64)),
            [0x86, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]
        );
    }

    #[test]
    fn overlong_varuints_end_in_needless_zero_groups() {
        assert_eq!(written(|s| s.varuint_overlong(0, 1)), [0x80, 0]);
        assert_eq!(written(|s| s.varuint_overlong(300, 2)), [0xac, 0x82, 0x80, 0]);
    }

    #[test]
    fn zigzag_keeps_small_magnitudes_small() {
        assert_eq!([0, -1, 1, -2, -3].map(zigzag), [0, 1, 2, 3, 5]);
        assert_eq!([i64::MAX, i64::MIN].map(zigzag), [u64::MAX - 1, u64::MAX]);
    }

    #[test]
    fn texts_are_stored_in_three_ways() {
        assert_eq!(written(|s| s.utf16z("hi")), [b'h', 0, b'i', 0, 0, 0]);
        assert_eq!(written(|s| s.fs_string("hi")), [2, 0, 0, 0, b'h', b'i']);
        assert_eq!(written(|s| s.string("hi")), [2, b'h', b'i']);
    }
}
