//! Gives access to texts as they are stored in payloads.

use crate::bytes::numbers;
use std::fmt::{self, Write};
use std::hash::{Hash, Hasher};

/// Text of UTF-16LE code units, borrowed from the payload.
///
/// `Display`, `to_string` and [`Utf16::chars`] show a lone surrogate as U+FFFD;
/// [`Utf16::units`] and [`Utf16::bytes`] return the stored data. Texts are equal if their units
/// are. A text equals a `str` that encodes to its units.
///
/// ```
/// use nettrace_parser::Utf16;
/// let text = Utf16::new(b"h\0\xe4\0h\0", true);
/// assert_eq!(text, "häh");
/// assert_eq!(text.to_string(), "häh");
/// assert_eq!(text.len(), 3);
///
/// let half_a_pair = Utf16::new(b"\x3d\xd8!\0", true);
/// assert_eq!(half_a_pair.to_string(), "\u{fffd}!");
/// assert_ne!(half_a_pair, "\u{fffd}!");
/// ```
#[derive(Clone, Copy, Default)]
pub struct Utf16<'r> {
    bytes: &'r [u8],
    is_terminated: bool,
}

impl<'r> Utf16<'r> {
    /// Creates a text from its bytes, without the zero unit that ends it. `is_terminated` is
    /// `false` if the payload's end cuts the text off.
    pub fn new(bytes: &'r [u8], is_terminated: bool) -> Utf16<'r> {
        Utf16 { bytes, is_terminated }
    }

    /// Returns the bytes of the text's units.
    pub fn bytes(&self) -> &'r [u8] {
        self.bytes
    }

    /// Returns whether the text is complete: it has its closing zero, or as many units as its count
    /// says. An incomplete text ends where the payload ends.
    pub fn is_terminated(&self) -> bool {
        self.is_terminated
    }

    /// Returns the number of code units.
    pub fn len(&self) -> usize {
        self.bytes.len() / 2
    }

    /// Returns whether the text has no units. Null texts are stored like empty ones.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the code units of the text.
    pub fn units(&self) -> impl ExactSizeIterator<Item = u16> + Clone + use<'r> {
        numbers(self.bytes)
    }

    /// Returns the characters of the text, with U+FFFD for a lone surrogate.
    pub fn chars(&self) -> impl Iterator<Item = char> + Clone + use<'r> {
        char::decode_utf16(self.units()).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// Returns whether the text equals a string.
    fn equals(&self, text: &str) -> bool {
        self.units().eq(text.encode_utf16())
    }

    /// Appends the text to another one, as `Display` formats it.
    pub(super) fn append_to(&self, to: &mut String) {
        to.reserve(self.len());
        // Writing to a String cannot fail.
        let _ = self.write_to(to);
    }

    fn pairs(&self) -> &'r [[u8; 2]] {
        self.bytes.as_chunks().0
    }

    /// Writes the text: up to 64 ASCII characters at a time, other characters one by one.
    fn write_to(&self, to: &mut impl Write) -> fmt::Result {
        let mut rest = self.pairs();
        while !rest.is_empty() {
            let mut ascii = [0u8; 64];
            let mut length = 0usize;
            let (words, _) = rest.as_chunks::<8>();
            for (places, word) in ascii.as_chunks_mut::<8>().0.iter_mut().zip(words) {
                // Without a branch between them, eight units are compared at once.
                if word.iter().fold(0, |bits, unit| bits | unit[0] & 0x80 | unit[1]) != 0 {
                    break;
                }
                *places = word.map(|unit| unit[0]);
                length = length.saturating_add(8);
            }
            for (place, unit) in ascii.iter_mut().zip(rest).skip(length) {
                if !is_ascii(unit) {
                    break;
                }
                *place = unit[0];
                length = length.saturating_add(1);
            }
            if let Some(Ok(text)) = ascii.get(..length).map(str::from_utf8) {
                to.write_str(text)?;
            }
            rest = rest.get(length..).unwrap_or_default();
            // A surrogate pair is never split between runs.
            let other = rest.iter().take_while(|unit| !is_ascii(unit)).count();
            let (others, after) = rest.split_at_checked(other).unwrap_or_default();
            for c in char::decode_utf16(numbers(others.as_flattened())) {
                to.write_char(c.unwrap_or(char::REPLACEMENT_CHARACTER))?;
            }
            rest = after;
        }
        Ok(())
    }
}

fn is_ascii(unit: &[u8; 2]) -> bool {
    unit[0] < 0x80 && unit[1] == 0
}

impl PartialEq for Utf16<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.pairs() == other.pairs()
    }
}

impl Eq for Utf16<'_> {}

impl Hash for Utf16<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.pairs().hash(state);
    }
}

impl PartialEq<str> for Utf16<'_> {
    fn eq(&self, other: &str) -> bool {
        self.equals(other)
    }
}

impl PartialEq<&str> for Utf16<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.equals(other)
    }
}

impl fmt::Display for Utf16<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.width().is_none() && f.precision().is_none() {
            return self.write_to(f);
        }
        let mut text = String::with_capacity(self.len());
        self.write_to(&mut text)?;
        f.pad(&text)
    }
}

impl fmt::Debug for Utf16<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

impl From<Utf16<'_>> for String {
    fn from(text: Utf16<'_>) -> String {
        let mut string = String::new();
        text.append_to(&mut string);
        string
    }
}

/// Text that should be UTF-8, borrowed from the payload. `Display` and `to_string` show
/// ill-formed bytes as U+FFFD.
///
/// ```
/// use nettrace_parser::Utf8;
/// assert_eq!(Utf8::new(b"h\xc3\xa4h").as_str(), Some("häh"));
/// assert_eq!(Utf8::new(b"h\xffh").as_str(), None);
/// assert_eq!(Utf8::new(b"h\xffh").to_string(), "h\u{fffd}h");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Utf8<'r> {
    bytes: &'r [u8],
}

impl<'r> Utf8<'r> {
    /// Creates a text from its bytes.
    pub fn new(bytes: &'r [u8]) -> Utf8<'r> {
        Utf8 { bytes }
    }

    /// Returns the bytes of the text.
    pub fn bytes(&self) -> &'r [u8] {
        self.bytes
    }

    /// Returns whether the text has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the text as `str`, if it is well-formed.
    pub fn as_str(&self) -> Option<&'r str> {
        str::from_utf8(self.bytes).ok()
    }

    fn write_to(&self, to: &mut impl Write) -> fmt::Result {
        self.bytes.utf8_chunks().try_for_each(|chunk| {
            to.write_str(chunk.valid())?;
            if chunk.invalid().is_empty() {
                Ok(())
            } else {
                to.write_char(char::REPLACEMENT_CHARACTER)
            }
        })
    }
}

impl PartialEq<str> for Utf8<'_> {
    fn eq(&self, other: &str) -> bool {
        self.bytes == other.as_bytes()
    }
}

impl PartialEq<&str> for Utf8<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.bytes == other.as_bytes()
    }
}

impl fmt::Display for Utf8<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_str() {
            Some(text) => f.pad(text),
            None if f.width().is_none() && f.precision().is_none() => self.write_to(f),
            None => f.pad(&String::from_utf8_lossy(self.bytes)),
        }
    }
}

impl fmt::Debug for Utf8<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

impl From<Utf8<'_>> for String {
    fn from(text: Utf8<'_>) -> String {
        text.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn texts_of_any_script_and_length_come_out_as_they_went_in() {
        let long = "long ".repeat(30) + "日本語" + &"x".repeat(64) + "🚀" + &"y".repeat(63);
        for text in ["", "a", "häh", "日本語 🚀 9", "🚀🚀", "\u{7f}\u{80}", &long] {
            let bytes = stored(text);
            let stored = Utf16::new(&bytes, true);
            assert_eq!(stored.to_string(), text);
            assert_eq!(stored.chars().collect::<String>(), text);
            assert_eq!(stored, text);
            assert_eq!(stored.len(), text.encode_utf16().count());
        }
    }

    #[test]
    fn half_surrogates_become_replacement_characters() {
        let units =
            |units: &[u16]| units.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<u8>>();
        for (stored, shown) in [
            (units(&[0xd83d]), "\u{fffd}"),
            (units(&[0xde80, 0xd83d]), "\u{fffd}\u{fffd}"),
            (units(&[0xd83d, 0x61, 0xde80]), "\u{fffd}a\u{fffd}"),
            (units(&[0xd83d, 0xd83d, 0xde80]), "\u{fffd}🚀"),
        ] {
            assert_eq!(Utf16::new(&stored, true).to_string(), shown);
        }
    }

    #[test]
    fn an_odd_last_byte_is_no_unit() {
        let text = Utf16::new(b"a\0b", false);
        assert_eq!((text.to_string().as_str(), text.len()), ("a", 1));
        assert!(Utf16::new(b"b", false).is_empty());
        assert_eq!(text, Utf16::new(b"a\0", true));
    }

    #[test]
    fn width_and_precision_count_characters() {
        let bytes = stored("hä🚀");
        assert_eq!(
            format!("{:>5}|{:.2}", Utf16::new(&bytes, true), Utf16::new(&bytes, true)),
            "  hä🚀|hä"
        );
        assert_eq!(format!("{:>3}", Utf8::new(b"h\xff")), " h\u{fffd}");
    }
}
