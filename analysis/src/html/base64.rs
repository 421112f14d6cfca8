//! Encoding of bytes as base64.

use std::io::{self, Write};

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Number of bytes that are encoded at once.
const PIECE: usize = 3 * 8192;

/// Writes bytes as base64.
pub(super) fn write(bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let mut text = Vec::with_capacity(PIECE / 3 * 4);
    for piece in bytes.chunks(PIECE) {
        text.clear();
        for three in piece.chunks(3) {
            let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            let letter =
                |shift: u32| LETTERS.get((bits >> shift & 63) as usize).copied().unwrap_or(b'=');
            let third = if three.len() > 1 { letter(6) } else { b'=' };
            let fourth = if three.len() > 2 { letter(0) } else { b'=' };
            text.extend_from_slice(&[letter(18), letter(12), third, fourth]);
        }
        out.write_all(&text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_is_that_of_the_rfc() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            let mut out = Vec::new();
            super::write(bytes.as_bytes(), &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
        let mut out = Vec::new();
        super::write(&[0xfb; 30_000], &mut out).unwrap();
        assert_eq!(out.len(), 40_000);
    }
}
