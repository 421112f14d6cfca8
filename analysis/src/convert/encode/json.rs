//! Writes JSON piece by piece.
//!
//! serde_json could do this, too. For what converters write, this module needs about as many
//! instructions or fewer, in millions (callgrind, release build, into a buffer of 64 KiB that
//! discards):
//!
//! | | this module | serde_json 1.0 |
//! |---|---|---|
//! | 100,000 events as Chromium's: six members, one of them an object of two, names of 50 characters | 275 | 300 |
//! | 100,000 names | 64 | 70 |
//! | an array of a million numbers | 114 | 110 |
//!
//! Users of converters also do not have to build serde_json. The lookup table makes the difference:
//! with a `match` on each character, the events cost 337 and the names 90. `nettrace-export`
//! defines the characters that are escaped, and their escapes.

use nettrace_export::json::{escape_of, must_escape};
use std::io::{self, Write};

/// Writes JSON: inserts commas and escapes texts. The caller has to match brackets, and to write
/// the keys of members.
#[derive(Debug)]
pub(crate) struct Json<W> {
    out: W,
    /// Whether a value comes before, so that the next one needs a comma.
    is_after_value: bool,
}

/// Size of the pieces in which long arrays are written.
const PIECE_BYTES: usize = 16 * 1024;

impl<W: Write> Json<W> {
    /// Writes to `out`, which should be buffered.
    pub(crate) fn new(out: W) -> Json<W> {
        Json { out, is_after_value: false }
    }

    /// Returns the underlying output, once the document was written.
    pub(crate) fn into_inner(self) -> W {
        self.out
    }

    fn comma(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.is_after_value, true) {
            self.out.write_all(b",")
        } else {
            Ok(())
        }
    }

    /// Begins an object or an array.
    ///
    /// # Errors
    /// If writing fails. The other methods have the same error.
    pub(crate) fn open(&mut self, bracket: char) -> io::Result<&mut Self> {
        self.comma()?;
        self.is_after_value = false;
        self.out.write_all(if bracket == '[' { b"[" } else { b"{" })?;
        Ok(self)
    }

    /// Ends an object or array.
    pub(crate) fn close(&mut self, bracket: char) -> io::Result<&mut Self> {
        self.is_after_value = true;
        self.out.write_all(if bracket == ']' { b"]" } else { b"}" })?;
        Ok(self)
    }

    /// Writes a member's key; its value must follow.
    pub(crate) fn key(&mut self, key: &str) -> io::Result<&mut Self> {
        let begin: &[u8] =
            if std::mem::replace(&mut self.is_after_value, false) { b",\"" } else { b"\"" };
        self.out.write_all(begin)?;
        self.escaped(key)?;
        self.out.write_all(b"\":")?;
        Ok(self)
    }

    /// Writes a text.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<&mut Self> {
        let begin: &[u8] =
            if std::mem::replace(&mut self.is_after_value, true) { b",\"" } else { b"\"" };
        self.out.write_all(begin)?;
        self.escaped(text)?;
        self.out.write_all(b"\"")?;
        Ok(self)
    }

    /// Writes the content of a text, without the quotes.
    fn escaped(&mut self, text: &str) -> io::Result<()> {
        let mut rest = text.as_bytes();
        // Most texts need no escaping and are written in one piece.
        while let Some(at) = rest.iter().position(|byte| is_special(*byte)) {
            let (plain, special) = rest.split_at_checked(at).unwrap_or((rest, &[]));
            self.out.write_all(plain)?;
            let Some((byte, after)) = special.split_first() else { break };
            let (escaped, length) = escape_of(*byte);
            self.out.write_all(escaped.get(..length).unwrap_or_default())?;
            rest = after;
        }
        self.out.write_all(rest)
    }

    /// Writes an integer.
    pub(crate) fn number(&mut self, number: impl Into<i128>) -> io::Result<&mut Self> {
        self.comma()?;
        let number: i128 = number.into();
        let mut digits = itoa::Buffer::new();
        // 128-bit division is slow and hardly ever needed.
        let text = match i64::try_from(number) {
            Ok(number) => digits.format(number),
            Err(_) => digits.format(number),
        };
        self.out.write_all(text.as_bytes())?;
        Ok(self)
    }

    /// Writes the elements of a long array: `write` appends each one as JSON to a buffer, which is
    /// written in large pieces.
    pub(crate) fn elements<T>(
        &mut self,
        elements: impl Iterator<Item = T>,
        mut write: impl FnMut(T, &mut Vec<u8>),
    ) -> io::Result<&mut Self> {
        let mut text = Vec::with_capacity(PIECE_BYTES.saturating_mul(2));
        let mut is_after_value = self.is_after_value;
        for element in elements {
            if std::mem::replace(&mut is_after_value, true) {
                text.push(b',');
            }
            write(element, &mut text);
            if text.len() >= PIECE_BYTES {
                self.out.write_all(&text)?;
                text.clear();
            }
        }
        self.is_after_value = is_after_value;
        self.out.write_all(&text)?;
        Ok(self)
    }

    /// Writes a value whose JSON is given, such as `true`.
    pub(crate) fn raw(&mut self, json: &str) -> io::Result<&mut Self> {
        self.comma()?;
        self.out.write_all(json.as_bytes())?;
        Ok(self)
    }
}

#[inline]
fn is_special(byte: u8) -> bool {
    SPECIAL.get(usize::from(byte)).copied().unwrap_or(false)
}

/// Result of [`must_escape`] for each byte.
#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "the compiler does it"
)]
static SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < special.len() {
        special[byte] = must_escape(byte as u8);
        byte += 1;
    }
    special
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_stand_between_values_and_members() {
        let mut json = Json::new(Vec::new());
        json.open('{').unwrap().key("n").unwrap().number(1).unwrap().key("list").unwrap();
        json.open('[')
            .unwrap()
            .text("a\"b")
            .unwrap()
            .text("c")
            .unwrap()
            .close(']')
            .unwrap()
            .close('}')
            .unwrap();
        assert_eq!(json.into_inner(), br#"{"n":1,"list":["a\"b","c"]}"#);
    }

    #[test]
    fn every_text_and_number_comes_back() {
        let texts = ["", "plain", "\"\\\n\r\t\u{1}\u{1f}", "é 語 𝄞", "a\"", "\"a"];
        let mut json = Json::new(Vec::new());
        json.open('[').unwrap();
        for text in texts {
            json.text(text).unwrap();
        }
        for number in [0, 7, -1, i64::MAX, i64::MIN] {
            json.number(number).unwrap();
        }
        json.number(u64::MAX).unwrap().raw("null").unwrap();
        let many = json
            .open('[')
            .unwrap()
            .elements(0..PIECE_BYTES, |n, text| text.extend(n.to_string().bytes()));
        many.unwrap().close(']').unwrap().close(']').unwrap();
        let value: serde_json::Value = serde_json::from_slice(&json.into_inner()).unwrap();
        let expected = serde_json::json!([
            "",
            "plain",
            "\"\\\n\r\t\u{1}\u{1f}",
            "é 語 𝄞",
            "a\"",
            "\"a",
            0,
            7,
            -1,
            i64::MAX,
            i64::MIN,
            u64::MAX,
            null,
            (0..PIECE_BYTES).collect::<Vec<_>>()
        ]);
        assert_eq!(value, expected);
    }
}
