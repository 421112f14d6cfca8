//! Texts as payloads store them.

use std::fmt;

/// UTF-16LE code units, unaligned, as they stand in the payload.
///
/// `Display` and [`Utf16::chars`] show a lone surrogate as U+FFFD.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Utf16<'r> {
    bytes: &'r [u8],
    is_terminated: bool,
}

impl<'r> Utf16<'r> {
    /// Text from its bytes, without the zero unit that ends it. `is_terminated`: whether one did.
    pub fn new(bytes: &'r [u8], is_terminated: bool) -> Utf16<'r> {
        Utf16 { bytes, is_terminated }
    }

    /// The bytes of its units.
    pub fn bytes(&self) -> &'r [u8] {
        self.bytes
    }

    /// Whether a zero unit ends it, or a count; if not, the payload's end cut it off.
    pub fn is_terminated(&self) -> bool {
        self.is_terminated
    }

    /// Whether it has no units. A null text and an empty one are the same bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() < 2
    }

    /// Its code units.
    pub fn units(&self) -> impl ExactSizeIterator<Item = u16> + Clone + use<'r> {
        let (units, _) = self.bytes.as_chunks::<2>();
        units.iter().map(|unit| u16::from_le_bytes(*unit))
    }

    /// Its characters; a lone surrogate is U+FFFD.
    pub fn chars(&self) -> impl Iterator<Item = char> + use<'r> {
        char::decode_utf16(self.units()).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// Whether it is this text.
    pub fn equals(&self, text: &str) -> bool {
        self.units().eq(text.encode_utf16())
    }
}

impl fmt::Display for Utf16<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        self.chars().try_for_each(|c| f.write_char(c))
    }
}

impl fmt::Debug for Utf16<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

/// Bytes that should be UTF-8, as they stand in the payload.
///
/// `Display` shows ill-formed bytes as U+FFFD.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Utf8<'r> {
    bytes: &'r [u8],
}

impl<'r> Utf8<'r> {
    /// Text from its bytes.
    pub fn new(bytes: &'r [u8]) -> Utf8<'r> {
        Utf8 { bytes }
    }

    /// The bytes.
    pub fn bytes(&self) -> &'r [u8] {
        self.bytes
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

impl fmt::Display for Utf8<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes.utf8_chunks().try_for_each(|chunk| {
            f.write_str(chunk.valid())?;
            if chunk.invalid().is_empty() { Ok(()) } else { f.write_str("\u{fffd}") }
        })
    }
}

impl fmt::Debug for Utf8<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}
