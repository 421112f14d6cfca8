//! Converts UTF-16 in payloads to the contents of a JSON string: converts, escapes and
//! finds the end in one pass.
//!
//! Most texts are ASCII without characters to escape. So sixteen code units are tried at once, then
//! four as one `u64`, and only the rest is processed one by one. A lone surrogate becomes U+FFFD.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "places within the text, and in room for `MAX_GROWTH` times its bytes"
)]

use crate::escape::{escape_of, escape_of_unit};
use crate::hidden::{is_hidden, is_hidden_unit};
use nettrace_parser::unstable::first;

/// Maximum number of bytes after the end of the output that may be overwritten.
pub(crate) const MAX_OVERHANG_BYTES: usize = 16;

/// Maximum number of output bytes for each input byte: the two bytes of a unit become `\u001f`.
pub(crate) const MAX_GROWTH: usize = 3;

/// Number of units that are processed one by one after a special unit, because special units
/// usually come in groups, as in texts of other scripts.
const SINGLE_RUN_UNITS: usize = 8;

/// Appends text without quotes. An odd byte at the end is ignored.
pub(crate) fn escape_utf16(out: &mut Vec<u8>, bytes: &[u8]) {
    let at = out.len();
    out.resize(at + bytes.len() * MAX_GROWTH + MAX_OVERHANG_BYTES, 0);
    let written = convert::<false, true>(bytes, &mut out[at..]).map_or(0, |(_, written)| written);
    out.truncate(at + written);
}

/// Writes text up to its zero unit to the beginning of `out`, escaped. Returns the number of bytes
/// consumed including the zero unit, and the bytes written; `None` if there is no zero unit. `out`
/// must have [`MAX_GROWTH`] bytes for each of `bytes`, and [`MAX_OVERHANG_BYTES`] more.
#[inline]
pub(crate) fn text_until_zero(bytes: &[u8], out: &mut [u8]) -> Option<(usize, usize)> {
    convert::<true, true>(bytes, out)
}

/// Writes text as [`text_until_zero`] does. Returns `None` also if the text has a hidden character,
/// unless that is a tab or the end of a line.
#[inline(never)]
pub(crate) fn shown_until_zero(bytes: &[u8], out: &mut [u8]) -> Option<(usize, usize)> {
    convert::<true, false>(bytes, out)
}

#[inline(always)]
fn convert<const ENDS_AT_ZERO: bool, const HAS_HIDDEN: bool>(
    bytes: &[u8],
    out: &mut [u8],
) -> Option<(usize, usize)> {
    let (mut from, mut to) = (0, 0);
    loop {
        let is_stopped = loop {
            let Some(block) = bytes[from..].first_chunk::<32>() else { break false };
            let Some(target) = out[to..].first_chunk_mut::<16>() else { break false };
            let count = plain_block(block, target);
            from += count * 2;
            to += count;
            if count < 16 {
                break true;
            }
        };
        while !is_stopped && let Some(units) = first(&bytes[from..]) {
            let (plain, count) = plain_units(units);
            out[to..][..4].copy_from_slice(&plain);
            from += count * 2;
            to += count;
            if count < 4 {
                break;
            }
        }
        let mut singles = 0;
        while singles < SINGLE_RUN_UNITS {
            let unit: u16 = match first(&bytes[from..]) {
                Some(unit) => unit,
                None if ENDS_AT_ZERO => return None,
                None => return Some((from, to)),
            };
            from += 2;
            match unit {
                0 if ENDS_AT_ZERO => return Some((from, to)),
                0x20..0x7f if unit != 0x22 && unit != 0x5c => {
                    out[to] = unit as u8;
                    to += 1;
                    singles += 1;
                }
                _ if !HAS_HIDDEN && is_hidden_at(unit, &bytes[from..]) => return None,
                _ => {
                    let (taken, written) = escape_one(unit, &bytes[from..], &mut out[to..]);
                    from += taken;
                    to += written;
                    // A single escape is usual among ASCII.
                    singles += if unit < 0x80 { SINGLE_RUN_UNITS } else { 1 };
                }
            }
        }
    }
}

/// Returns sixteen units as sixteen bytes, and the number of bytes at the beginning that need no
/// escaping in JSON.
///
/// The function has no branches, and applies each step to all units before the next step, so that
/// the compiler vectorises it. It must be a separate function, and use differences instead of
/// comparisons, because otherwise the compiler does not.
#[inline(never)]
fn plain_block(units: &[u8; 32], out: &mut [u8; 16]) -> usize {
    let wide: [i16; 16] = first(units).unwrap_or_default();
    // Units above 255 become 0 or 255, which are not plain either.
    for (byte, unit) in out.iter_mut().zip(wide) {
        *byte = unit.clamp(0, 255) as u8;
    }
    let mut special = *out;
    for byte in &mut special {
        let is_beyond = byte.wrapping_sub(0x20).saturating_sub(0x5e);
        *byte = is_beyond | 1u8.saturating_sub(*byte ^ 0x22) | 1u8.saturating_sub(*byte ^ 0x5c);
    }
    first::<u128>(&special).unwrap_or_default().trailing_zeros() as usize / 8
}

const ONES: u64 = 0x0001_0001_0001_0001;
const HIGH: u64 = 0x8000_8000_8000_8000;

/// Returns four units as four bytes, and the number of bytes at the beginning that need no escaping
/// in JSON.
#[inline(always)]
fn plain_units(units: u64) -> ([u8; 4], usize) {
    // The high bit of a lane is cleared if its ASCII part is below a space, or equals a
    // quote or a backslash. No lane borrows from its neighbour, because the high bit of
    // each is set first.
    let ascii = units & (ONES * 0x7f);
    let not_control = (ascii | HIGH).wrapping_sub(ONES * 0x20);
    let not_quote = ((ascii ^ (ONES * 0x22)) | HIGH).wrapping_sub(ONES);
    let not_backslash = ((ascii ^ (ONES * 0x5c)) | HIGH).wrapping_sub(ONES);
    // The high bit of a lane is set if the unit is 0x7f or not ASCII.
    let delete = (ascii + ONES) << 8;
    let beyond = (units & (ONES * 0xff80)) | (units & (ONES * 0x7f80)).wrapping_add(ONES * 0x7f80);
    let special = (!(not_control & not_quote & not_backslash) | delete | beyond) & HIGH;
    let count = if special == 0 { 4 } else { special.trailing_zeros() as usize / 16 };
    let pairs = (units | units >> 8) & 0x0000_ffff_0000_ffff;
    (((pairs | pairs >> 16) as u32).to_le_bytes(), count)
}

/// Returns whether the character that begins with a unit is hidden, and has no short escape
/// sequence.
#[cold]
fn is_hidden_at(unit: u16, rest: &[u8]) -> bool {
    !matches!(unit, 0x09 | 0x0a | 0x0d)
        && (is_hidden_unit(unit) || pair(unit, rest).is_some_and(is_hidden))
}

/// Writes one character that needs escaping or conversion. Returns the number of bytes consumed
/// after its first unit, and the number of bytes written.
fn escape_one(unit: u16, rest: &[u8], out: &mut [u8]) -> (usize, usize) {
    let mut write = |bytes: &[u8]| {
        out[..bytes.len()].copy_from_slice(bytes);
        bytes.len()
    };
    match unit {
        0..0x80 => {
            let (escaped, len) = escape_of(unit as u8);
            write(&escaped);
            (0, len)
        }
        _ if is_hidden_unit(unit) => (0, write(&escape_of_unit(unit))),
        0x80..0x800 => (0, write(&[0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8])),
        0xd800..0xe000 => match pair(unit, rest) {
            Some(c) if is_hidden(c) => {
                let [high, low] = [0, 1].map(|at| {
                    escape_of_unit(c.encode_utf16(&mut [0; 2]).get(at).copied().unwrap_or(unit))
                });
                (2, write([high, low].as_flattened()))
            }
            Some(c) => (2, write(c.encode_utf8(&mut [0; 4]).as_bytes())),
            None => (0, write("\u{fffd}".as_bytes())),
        },
        _ => {
            let bytes = [
                0xe0 | (unit >> 12) as u8,
                0x80 | (unit >> 6 & 0x3f) as u8,
                0x80 | (unit & 0x3f) as u8,
            ];
            (0, write(&bytes))
        }
    }
}

/// Returns the character encoded by a high surrogate and the following low surrogate.
fn pair(high: u16, rest: &[u8]) -> Option<char> {
    char::decode_utf16([high, first(rest)?]).next()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(units: &[u16]) -> String {
        let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let mut out = vec![b'"'];
        escape_utf16(&mut out, &bytes);
        // With an end mark, and with more text after it.
        let bytes = [&bytes[..], &[0, 0], &[0x41; 40]].concat();
        let mut target = vec![0; bytes.len() * MAX_GROWTH + MAX_OVERHANG_BYTES];
        let (taken, written) = text_until_zero(&bytes, &mut target).unwrap();
        if !units.contains(&0) {
            assert_eq!((taken, &target[..written]), (units.len() * 2 + 2, &out[1..]), "{units:x?}");
        }
        out.push(b'"');
        String::from_utf8(out).unwrap()
    }

    fn assert_same(units: &[u16]) {
        let json = json(units);
        let read: String =
            serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}"));
        assert_eq!(read, String::from_utf16_lossy(units), "{units:x?}");
        assert!(!json.bytes().any(|byte| byte < 0x20 || byte == 0x7f), "{json}");
    }

    #[test]
    fn every_code_unit_at_every_place_of_a_word_comes_out_as_a_json_reader_expects() {
        const PLACES: [usize; 8] = [0, 1, 2, 3, 7, 15, 16, 20];
        for unit in 0..=u16::MAX {
            // Where nothing is special each unit has one of the places.
            let is_special = matches!(unit, 0..0x900 | 0x2000..0x2100 | 0xd700..0xe100 | 0xfe00..);
            let one = usize::from(unit) % PLACES.len();
            for at in if is_special { &PLACES[..] } else { &PLACES[one..=one] } {
                let mut units = [u16::from(b'a'); 21];
                units[*at] = unit;
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
    fn invisible_characters_are_escaped_among_others() {
        let units: Vec<u16> = "aä\u{200b}\u{feff}\u{ad}日\u{2065}".encode_utf16().collect();
        assert_eq!(json(&units), r#""aä\u200b\ufeff\u00ad日\u2065""#);
        assert_same(&units);
    }

    #[test]
    fn a_text_without_end_mark_is_told_from_one_that_ends() {
        let mut out = [0; 200];
        assert_eq!(text_until_zero(&[0x61, 0, 0x62], &mut out), None);
        assert_eq!(text_until_zero(&[0x61; 40], &mut out), None);
        assert_eq!(text_until_zero(&[], &mut out), None);
        assert_eq!(text_until_zero(&[0, 0], &mut out), Some((2, 0)));
    }

    #[test]
    fn hidden_characters_can_be_refused() {
        for (text, is_hidden) in [
            ("a\t\n\r\"\\é日🎉", false),
            ("a\u{1b}", true),
            ("\u{7f}", true),
            ("\u{200b}", true),
            ("b\u{e0041}", true),
        ] {
            let units = text.encode_utf16().chain([0]);
            let bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
            let mut out = [[0; 200]; 2];
            let written = text_until_zero(&bytes, &mut out[0]);
            let shown = shown_until_zero(&bytes, &mut out[1]);
            assert_eq!(shown, written.filter(|_| !is_hidden), "{text:?}");
            assert!(is_hidden || out[0] == out[1], "{text:?}");
        }
    }

    #[test]
    fn an_odd_last_byte_is_left_out() {
        let mut out = Vec::new();
        escape_utf16(&mut out, &[0x61, 0, 0x62]);
        assert_eq!(out, b"a");
    }
}
