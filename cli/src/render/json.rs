//! JSON, written straight into a buffer. What is written is always valid UTF-8 and one line.

use itoa::Integer;

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Appends JSON to bytes. Commas are the caller's: `raw` takes them together with the next key.
pub(crate) trait Json {
    /// Appends text that is JSON already.
    fn raw(&mut self, json: &str);
    /// Appends a number.
    fn number(&mut self, number: impl Integer);
    /// Appends a string, escaped and quoted.
    fn string(&mut self, text: &str);
    /// Appends bytes that should be UTF-8 as a string; what is not becomes U+FFFD.
    fn lossy_string(&mut self, bytes: &[u8]);
    /// Appends `"0x…"` without leading zeros.
    fn hex_string(&mut self, number: u64);
    /// Appends two digits a byte, without quotes.
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
        // Whole stretches are copied; what has to be escaped is ASCII, so no character is cut.
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

    fn hex_string(&mut self, number: u64) {
        self.raw("\"0x");
        let digits = (16 - number.leading_zeros() / 4).max(1);
        for digit in (0..digits).rev() {
            self.push(HEX[(number >> (digit * 4) & 15) as usize]);
        }
        self.push(b'"');
    }

    fn hex_bytes(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len() * 2);
        for byte in bytes {
            self.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    }
}

fn must_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\' || byte == 0x7f
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    match byte {
        b'"' => out.raw("\\\""),
        b'\\' => out.raw("\\\\"),
        b'\n' => out.raw("\\n"),
        b'\r' => out.raw("\\r"),
        b'\t' => out.raw("\\t"),
        _ => {
            out.raw("\\u00");
            out.hex_bytes(&[byte]);
        }
    }
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
        for text in ["", "plain", "quote \" back \\ slash /", &all_ascii, "äöü 日本 🎉", "\u{2028}"] {
            let json = written(|out| out.string(text));
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
            assert!(!json.contains('\n'));
        }
        let json = written(|out| out.lossy_string(b"a\xff\xc3"));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), "a\u{fffd}\u{fffd}");
    }

    #[test]
    fn hexadecimal_numbers_have_no_leading_zeros() {
        for number in [0, 1, 15, 16, 0xf00d, u64::MAX] {
            assert_eq!(written(|out| out.hex_string(number)), format!("\"{number:#x}\""));
        }
        assert_eq!(written(|out| out.hex_bytes(&[0, 0xab, 0xff])), "00abff");
    }
}
