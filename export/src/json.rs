//! Writes JSON directly to a buffer. The output is always valid UTF-8 without line
//! breaks.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "digits and places within tables of constant size"
)]

use crate::escape::escape_of_unit;
use crate::hidden::is_hidden;
use crate::utf16::escape_utf16;
use itoa::Integer;
use nettrace_parser::Guid;

pub use crate::escape::{escape_of, must_escape};

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Appends JSON to bytes. No method writes commas: the caller does, with `raw` or as part of the
/// next key.
pub trait Json {
    /// Appends text that is already JSON.
    fn raw(&mut self, json: &str);
    /// Appends a number.
    fn number(&mut self, number: impl Integer);
    /// Appends a string, escaped and quoted.
    fn string(&mut self, text: &str);
    /// Appends bytes that should be UTF-8 as a string. Invalid bytes become U+FFFD.
    fn lossy_string(&mut self, bytes: &[u8]);
    /// Appends UTF-16 as a string. A lone surrogate becomes U+FFFD.
    fn utf16_string(&mut self, bytes: &[u8]);
    /// Appends the shortest number that reads back as the same value. JSON has no infinities and
    /// NaN, so these values are written as strings: `"NaN"`, `"Infinity"`, `"-Infinity"`.
    fn float(&mut self, number: impl Float);
    /// Appends a number as `0x…` without leading zeros and without quotes.
    fn hex(&mut self, number: u64);
    /// Appends a number as a string, `"0x…"`, without leading zeros.
    fn hex_string(&mut self, number: u64);
    /// Appends a GUID in lower case, without quotes.
    fn guid(&mut self, guid: Guid);
    /// Appends bytes as two hexadecimal digits each, without quotes.
    fn hex_bytes(&mut self, bytes: &[u8]);
}

impl Json for Vec<u8> {
    #[inline]
    fn raw(&mut self, json: &str) {
        self.extend_from_slice(json.as_bytes());
    }

    #[inline]
    fn number(&mut self, number: impl Integer) {
        self.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }

    fn string(&mut self, text: &str) {
        self.push(b'"');
        let mut rest = text.as_bytes();
        if !text.is_ascii() && text.contains(is_hidden_beyond_ascii) {
            of_any_script(self, text);
            rest = &[];
        }
        // Copies whole ranges. All characters that must be escaped are ASCII, so no
        // character is split.
        while let Some(at) = rest.iter().position(|byte| must_escape(*byte)) {
            let (plain, tail) = rest.split_at(at);
            self.extend_from_slice(plain);
            if let Some((byte, tail)) = tail.split_first() {
                escape(self, *byte);
                rest = tail;
            }
        }
        self.extend_from_slice(rest);
        self.push(b'"');
    }

    fn lossy_string(&mut self, bytes: &[u8]) {
        self.string(&String::from_utf8_lossy(bytes));
    }

    fn utf16_string(&mut self, bytes: &[u8]) {
        self.push(b'"');
        escape_utf16(self, bytes);
        self.push(b'"');
    }

    #[inline]
    fn float(&mut self, number: impl Float) {
        match number.special() {
            None => self.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes()),
            Some(name) => {
                self.push(b'"');
                self.raw(name);
                self.push(b'"');
            }
        }
    }

    #[inline]
    fn hex(&mut self, number: u64) {
        let mut digits = [b'0'; 18];
        let (mut at, mut rest) = (digits.len(), number);
        loop {
            at -= 1;
            digits[at] = HEX[(rest & 15) as usize];
            rest >>= 4;
            if rest == 0 {
                break;
            }
        }
        digits[at - 1] = b'x';
        self.extend_from_slice(&digits[at - 2..]);
    }

    #[inline]
    fn hex_string(&mut self, number: u64) {
        self.push(b'"');
        self.hex(number);
        self.push(b'"');
    }

    fn guid(&mut self, guid: Guid) {
        let [a0, a1, a2, a3, b0, b1, c0, c1, d0, d1, rest @ ..] = guid.to_bytes();
        for part in [&[a3, a2, a1, a0][..], &[b1, b0], &[c1, c0], &[d0, d1]] {
            self.hex_bytes(part);
            self.push(b'-');
        }
        self.hex_bytes(&rest);
    }

    fn hex_bytes(&mut self, bytes: &[u8]) {
        let digits = |byte: u8| [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
        self.reserve(bytes.len() * 2);
        let (words, tail) = bytes.as_chunks::<8>();
        for word in words {
            self.extend_from_slice(word.map(digits).as_flattened());
        }
        for byte in tail {
            self.extend_from_slice(&digits(*byte));
        }
    }
}

/// A floating-point number of either size.
pub trait Float: zmij::Float {
    /// Returns the name of a value that JSON cannot represent as a number, such as `NaN`; `None`
    /// for other values.
    fn special(self) -> Option<&'static str>;
}

macro_rules! float {
    ($($type:ty),*) => {$(
        impl Float for $type {
            #[inline]
            fn special(self) -> Option<&'static str> {
                match self {
                    _ if self.is_finite() => None,
                    _ if self.is_nan() => Some("NaN"),
                    _ if self > 0.0 => Some("Infinity"),
                    _ => Some("-Infinity"),
                }
            }
        }
    )*};
}

float! { f32, f64 }

fn is_hidden_beyond_ascii(c: char) -> bool {
    !c.is_ascii() && is_hidden(c)
}

/// Appends a text that may contain non-ASCII characters that must be escaped.
#[cold]
fn of_any_script(out: &mut Vec<u8>, text: &str) {
    for c in text.chars() {
        match u8::try_from(c) {
            Ok(byte) if c.is_ascii() && must_escape(byte) => escape(out, byte),
            _ if is_hidden(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.extend_from_slice(&escape_of_unit(*unit));
                }
            }
            _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    let (escaped, len) = escape_of(byte);
    out.extend_from_slice(escaped.get(..len).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn strings_come_back_from_a_json_reader() {
        let all_ascii: String = (0..128u8).map(char::from).collect();
        for text in ["", "plain", "quote \" back \\ slash /", &all_ascii, "äöü 日本 🎉", "\u{2028}"]
        {
            let json = written(|out| out.string(text));
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
            assert!(!json.contains('\n'));
        }
        let hidden = "ä\u{ad}\u{180e}\u{200b}\u{200d}\u{2060}\u{2065}\u{feff}b";
        let json = written(|out| out.string(hidden));
        assert_eq!(json, r#""ä\u00ad\u180e\u200b\u200d\u2060\u2065\ufeffb""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hidden);
        let json = written(|out| out.lossy_string(b"a\xff\xc3"));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), "a\u{fffd}\u{fffd}");
    }

    #[test]
    fn floats_are_as_short_as_can_be_and_read_back_the_same() {
        for number in [0.0, -0.0, 0.1, 1.0 / 3.0, 5e-324, f64::MAX, 1e21, 123456.0] {
            let json = written(|out| out.float(number));
            let read: f64 = json.parse().unwrap();
            assert_eq!(
                (read.to_bits(), json.len() <= format!("{number:e}").len() + 3),
                (number.to_bits(), true)
            );
            assert!(serde_json::from_str::<f64>(&json).is_ok(), "{json}");
        }
        assert_eq!(written(|out| out.float(0.1f32)), "0.1");
        assert_eq!(written(|out| out.float(f32::NAN)), r#""NaN""#);
        assert_eq!(written(|out| out.float(f64::INFINITY)), r#""Infinity""#);
        assert_eq!(written(|out| out.float(f64::NEG_INFINITY)), r#""-Infinity""#);
    }

    #[test]
    fn guids_are_as_the_parser_shows_them() {
        let guid = Guid::from_bytes(std::array::from_fn(|at| at as u8 * 0x11));
        assert_eq!(written(|out| out.guid(guid)), guid.to_string());
    }

    #[test]
    fn hexadecimal_numbers_have_no_leading_zeros() {
        for number in [0, 1, 15, 16, 0xf00d, u64::MAX] {
            assert_eq!(written(|out| out.hex_string(number)), format!("\"{number:#x}\""));
        }
        assert_eq!(written(|out| out.hex_bytes(&[0, 0xab, 0xff])), "00abff");
    }
}
