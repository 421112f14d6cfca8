//! Bytes as text in base 64.

/// Returns bytes in base 64, with padding.
pub(crate) fn standard(bytes: &[u8]) -> String {
    let mut text = encoded(bytes, b"+/");
    text.extend(std::iter::repeat_n('=', (4 - text.len() % 4) % 4));
    text
}

/// Returns bytes in base 64 as URLs have it, without padding.
pub(crate) fn url(bytes: &[u8]) -> String {
    encoded(bytes, b"-_")
}

fn encoded(bytes: &[u8], last: &[u8; 2]) -> String {
    let digits: Vec<u8> =
        (b'A'..=b'Z').chain(b'a'..=b'z').chain(b'0'..=b'9').chain(*last).collect();
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, &byte| bits << 8 | u32::from(byte))
            << (8 * (3 - group.len()));
        for digit in 0..=group.len() {
            text.push(char::from(digits[(bits >> (18 - 6 * digit)) as usize & 63]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_standard_form_has_padding() {
        for (bytes, text, of_url) in [
            ("", "", ""),
            ("f", "Zg==", "Zg"),
            ("fo", "Zm8=", "Zm8"),
            ("foo", "Zm9v", "Zm9v"),
            ("foo?~~", "Zm9vP35+", "Zm9vP35-"),
        ] {
            assert_eq!(standard(bytes.as_bytes()), text);
            assert_eq!(url(bytes.as_bytes()), of_url);
        }
    }
}
