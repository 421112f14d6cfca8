//! Encoding of bytes as base64.

use std::io::{self, Write};

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Number of bytes that are encoded at once.
const PIECE: usize = 3 * 8192;

/// Writes bytes as base64, as they come.
pub(super) struct Base64<W> {
    out: W,
    /// Bytes that are not encoded.
    bytes: Vec<u8>,
    text: Vec<u8>,
}

impl<W: Write> Base64<W> {
    pub(super) fn new(out: W) -> Base64<W> {
        Base64 { out, bytes: Vec::with_capacity(PIECE), text: Vec::with_capacity(PIECE / 3 * 4) }
    }

    /// Writes the last bytes, and the padding after them.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.write_bytes()
    }

    fn write_bytes(&mut self) -> io::Result<()> {
        self.text.clear();
        for three in self.bytes.chunks(3) {
            let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            let letter =
                |shift: u32| LETTERS.get((bits >> shift & 63) as usize).copied().unwrap_or(b'=');
            let third = if three.len() > 1 { letter(6) } else { b'=' };
            let fourth = if three.len() > 2 { letter(0) } else { b'=' };
            self.text.extend_from_slice(&[letter(18), letter(12), third, fourth]);
        }
        self.bytes.clear();
        self.out.write_all(&self.text)
    }
}

impl<W: Write> Write for Base64<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = PIECE.saturating_sub(self.bytes.len());
        let piece = bytes.get(..room).unwrap_or(bytes);
        self.bytes.extend_from_slice(piece);
        if self.bytes.len() >= PIECE {
            self.write_bytes()?;
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // What is left may be less than three bytes, which only the end may have.
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        let encoded = |bytes: &[u8]| {
            let mut out = Vec::new();
            let mut base64 = Base64::new(&mut out);
            base64.write_all(bytes).unwrap();
            base64.finish().unwrap();
            String::from_utf8(out).unwrap()
        };
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(encoded(bytes.as_bytes()), text);
        }
        assert_eq!(encoded(&[0xfb; 30_000]).len(), 40_000);
    }
}
