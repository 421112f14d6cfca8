//! UTF-16 as it stands in payloads → the inside of a JSON string: converted and escaped in one go.
//!
//! Most texts are ASCII, so four code units are looked at as one `u64` and written as one `u32` when none of
//! them has to be escaped. A lone surrogate becomes U+FFFD.

use super::json::escape;

const ONES: u64 = 0x0001_0001_0001_0001;
const HIGH: u64 = 0x8000_8000_8000_8000;
/// Bits that no ASCII unit has.
const NOT_ASCII: u64 = ONES * 0xff80;

/// Units that are taken one by one after one that is not plain: texts of other scripts stay so.
const SCALAR_RUN: usize = 8;

/// The four units as four bytes, if all are ASCII and stand for themselves in JSON.
#[inline(always)]
fn plain(units: u64) -> Option<[u8; 4]> {
    // Below, the high bit of a lane is lost where the lane is below a space, a quote, a backslash; no lane
    // borrows from its neighbour, as each has its high bit set first.
    let not_control = (units | HIGH).wrapping_sub(ONES * 0x20);
    let not_quote = ((units ^ (ONES * 0x22)) | HIGH).wrapping_sub(ONES);
    let not_backslash = ((units ^ (ONES * 0x5c)) | HIGH).wrapping_sub(ONES);
    let is_delete = units.wrapping_add(ONES) & (ONES * 0x80);
    if units & NOT_ASCII != 0 || not_control & not_quote & not_backslash & HIGH != HIGH || is_delete != 0 {
        return None;
    }
    let pairs = (units | units >> 8) & 0x0000_ffff_0000_ffff;
    Some(((pairs | pairs >> 16) as u32).to_le_bytes())
}

/// Appends text, without quotes. An odd last byte is left out.
pub(super) fn escape_utf16(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut rest = bytes;
    loop {
        while let Some((words, tail)) = rest.split_first_chunk::<8>() {
            match plain(u64::from_le_bytes(*words)) {
                Some(plain) => out.extend_from_slice(&plain),
                None => break,
            }
            rest = tail;
        }
        if rest.len() < 2 {
            return;
        }
        rest = escape_some(out, rest);
    }
}

/// Appends the next units, a few of them; what is left.
fn escape_some<'b>(out: &mut Vec<u8>, bytes: &'b [u8]) -> &'b [u8] {
    let mut rest = bytes;
    for _ in 0..SCALAR_RUN {
        let Some((unit, tail)) = rest.split_first_chunk::<2>() else { return &[] };
        rest = tail;
        let unit = u16::from_le_bytes(*unit);
        match unit {
            0..0x80 => ascii(out, unit as u8),
            0x80..0x800 => out.extend_from_slice(&[0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8]),
            0xd800..0xe000 => match pair(unit, rest) {
                Some((c, tail)) => {
                    rest = tail;
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                None => out.extend_from_slice("\u{fffd}".as_bytes()),
            },
            _ => out.extend_from_slice(&[
                0xe0 | (unit >> 12) as u8,
                0x80 | (unit >> 6 & 0x3f) as u8,
                0x80 | (unit & 0x3f) as u8,
            ]),
        }
    }
    rest
}

#[inline]
fn ascii(out: &mut Vec<u8>, byte: u8) {
    match byte {
        0..0x20 | b'"' | b'\\' | 0x7f => escape(out, byte),
        _ => out.push(byte),
    }
}

/// The character of a high surrogate and the low one that follows; what is behind both.
fn pair(high: u16, rest: &[u8]) -> Option<(char, &[u8])> {
    let (low, rest) = rest.split_first_chunk::<2>()?;
    let mut units = char::decode_utf16([high, u16::from_le_bytes(*low)]);
    Some((units.next()?.ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(units: &[u16]) -> String {
        let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let mut out = vec![b'"'];
        escape_utf16(&mut out, &bytes);
        out.push(b'"');
        String::from_utf8(out).unwrap()
    }

    fn assert_same(units: &[u16]) {
        let json = json(units);
        let read: String = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}"));
        assert_eq!(read, String::from_utf16_lossy(units), "{units:x?}");
        assert!(!json.bytes().any(|byte| byte < 0x20 || byte == 0x7f), "{json}");
    }

    #[test]
    fn every_code_unit_at_every_place_of_a_word_comes_out_as_a_json_reader_expects() {
        for unit in 0..=u16::MAX {
            for at in 0..4 {
                let mut units = [u16::from(b'a'); 9];
                units[at] = unit;
                assert_same(&units);
            }
        }
    }

    #[test]
    fn texts_of_all_lengths_and_scripts_come_out() {
        let texts = [
            "",
            "plain text of ASCII only, \"quoted\"",
            "日本語のテキスト",
            "a🎉b🎉",
            "\u{7f}\u{80}\u{7ff}\u{800}",
        ];
        for text in texts {
            let units: Vec<u16> = text.encode_utf16().collect();
            for end in 0..=units.len() {
                for start in 0..=end {
                    assert_same(&units[start..end]);
                }
            }
        }
    }

    #[test]
    fn an_odd_last_byte_is_left_out() {
        let mut out = Vec::new();
        escape_utf16(&mut out, &[0x61, 0, 0x62]);
        assert_eq!(out, b"a");
    }
}
