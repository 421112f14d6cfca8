//! Writes array elements of constant size that consist of addresses and integers. Such arrays are
//! long, and the upper halves of adjacent addresses are usually equal. So the upper half is cached
//! as text, together with the text around it, and only the lower halves are written into this text.

use super::{NumberStyle, unsigned};
use crate::line::Writer;
use crate::line::digits;
use nettrace_parser::unstable::take_first;

/// Maximum length of the cached text for a part of an element, in bytes.
pub(crate) const MAX_TEXT_BYTES: usize = 96;

/// Maximum number of parts of an element.
const MAX_PARTS: usize = 8;

/// Minimum number of elements for which it is worth making the cached texts.
const MIN_ROWS: usize = 4;

/// Number of hexadecimal digits of half an address.
const HALF_DIGITS: usize = 8;

/// Writes the elements of an array that follow the first one.
#[derive(Debug)]
pub(crate) struct Rows {
    parts: Vec<Segment>,
}

/// A part of an element: up to two addresses followed by a number. Constant text precedes each of
/// them.
#[derive(Debug, Default)]
struct Segment {
    /// Text before each address.
    addresses: Vec<Vec<u8>>,
    before_number: Vec<u8>,
    number: Option<NumberKind>,
}

/// Kind of a value in an element: an address of 8 bytes, or a number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CellKind {
    /// An address of eight bytes, written in hexadecimal.
    Address,
    Number(NumberKind),
}

/// Type of a number, which decides how it is read and written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NumberKind {
    U64,
    U32,
    U16,
    U8,
    /// A number of four bytes, written in hexadecimal.
    HexU32,
}

/// Cached text of a part, which contains the upper halves of its addresses.
#[derive(Debug, Clone, Copy)]
struct PartText {
    bytes: [u8; MAX_TEXT_BYTES],
    len: usize,
    /// Offsets in `bytes` at which the lower halves of the addresses are written.
    lower: [usize; 2],
    upper: [u32; 2],
    /// Whether the upper half of an address is zero. Then the number of digits varies, so the text
    /// cannot be used.
    is_short: bool,
}

impl Segment {
    fn max_text_bytes(&self) -> usize {
        let of_addresses =
            self.addresses.iter().map(|before| before.len() + 2 * HALF_DIGITS).sum::<usize>();
        of_addresses + self.before_number.len()
    }

    /// Returns the text of this part for addresses with these upper halves. It has zeros in the
    /// places of the lower halves.
    #[cold]
    fn text(&self, upper: [u32; 2]) -> PartText {
        let mut text =
            PartText { bytes: [0; MAX_TEXT_BYTES], len: 0, lower: [0; 2], upper, is_short: false };
        for (before, (upper, lower)) in self.addresses.iter().zip(upper.into_iter().zip(0..)) {
            let (digits, count) = digits::hex_up_to_eight(upper);
            text.is_short |= upper == 0;
            text.append(before);
            text.append(digits.get(..count).unwrap_or_default());
            text.lower[lower] = text.len;
            text.append(&[b'0'; HALF_DIGITS]);
        }
        text.append(&self.before_number);
        text
    }

    #[inline(always)]
    fn write(
        &self,
        line: &mut Writer<'_>,
        rest: &mut &[u8],
        text: &mut PartText,
        style: NumberStyle,
    ) -> Option<()> {
        match self.addresses.as_slice() {
            [] => line.put(&text.bytes, text.len),
            [_] => {
                let number = take_first::<u64>(rest)?;
                let upper = [(number >> 32) as u32, 0];
                if text.upper != upper {
                    *text = self.text(upper);
                }
                if text.is_short {
                    self.write_short(line, [number, 0]);
                } else {
                    line.put_with_hex(&text.bytes, text.len, [(text.lower[0], number as u32)]);
                }
            }
            [_, _, ..] => {
                let one = take_first::<u64>(rest)?;
                let other = take_first::<u64>(rest)?;
                let upper = [(one >> 32) as u32, (other >> 32) as u32];
                if text.upper != upper {
                    *text = self.text(upper);
                }
                if text.is_short {
                    self.write_short(line, [one, other]);
                } else {
                    let lower = [(text.lower[0], one as u32), (text.lower[1], other as u32)];
                    line.put_with_hex(&text.bytes, text.len, lower);
                }
            }
        }
        match self.number {
            Some(NumberKind::U64) => unsigned(line, take_first(rest)?, style),
            Some(NumberKind::U32) => line.unsigned(u64::from(take_first::<u32>(rest)?)),
            Some(NumberKind::U16) => line.unsigned(u64::from(take_first::<u16>(rest)?)),
            Some(NumberKind::U8) => line.unsigned(u64::from(take_first::<u8>(rest)?)),
            Some(NumberKind::HexU32) => line.hex(u64::from(take_first::<u32>(rest)?)),
            None => {}
        }
        Some(())
    }

    /// Writes a part up to its number without the cached text, because the upper half of an address
    /// is zero.
    #[cold]
    fn write_short(&self, line: &mut Writer<'_>, numbers: [u64; 2]) {
        for (before, number) in self.addresses.iter().zip(numbers) {
            line.bytes(before);
            line.hex(number);
        }
        line.bytes(&self.before_number);
    }
}

impl PartText {
    fn append(&mut self, bytes: &[u8]) {
        if let Some(place) = self.bytes.get_mut(self.len..self.len + bytes.len()) {
            place.copy_from_slice(bytes);
            self.len += bytes.len();
        }
    }
}

impl Rows {
    /// Creates the writer for elements that consist of these values, each with its preceding text.
    /// Returns `None` if there are no values, if a value is of another kind, or if a text is too
    /// long.
    pub(crate) fn new<'a>(
        values: impl Iterator<Item = (Option<CellKind>, &'a [u8])>,
    ) -> Option<Rows> {
        let (mut parts, mut part) = (Vec::new(), Segment::default());
        for (kind, before) in values {
            let kind = kind?;
            // Room for text that may precede a number.
            let is_full = part.addresses.len() == 2
                || part.max_text_bytes() + before.len() + 2 * HALF_DIGITS > MAX_TEXT_BYTES;
            match kind {
                CellKind::Address => {
                    if is_full && !part.addresses.is_empty() {
                        parts.push(std::mem::take(&mut part));
                    }
                    part.addresses.push(before.to_vec());
                }
                CellKind::Number(number) => {
                    if part.max_text_bytes() + before.len() > MAX_TEXT_BYTES {
                        parts.push(std::mem::take(&mut part));
                    }
                    part.before_number = before.to_vec();
                    part.number = Some(number);
                    parts.push(std::mem::take(&mut part));
                }
            }
        }
        if !part.addresses.is_empty() {
            parts.push(part);
        }
        let fits = parts.iter().all(|part| part.max_text_bytes() <= MAX_TEXT_BYTES);
        (fits && (1..=MAX_PARTS).contains(&parts.len())).then_some(Rows { parts })
    }

    /// Returns whether this writer is faster for `count` elements than a writer of single values.
    #[inline]
    pub(crate) fn are_worth(&self, count: usize, style: NumberStyle) -> bool {
        count >= MIN_ROWS && style.pointer_size == 8
    }

    /// Writes `count` elements, each with its preceding text. Returns the line writer, and the
    /// bytes after the elements.
    #[inline(never)]
    pub(crate) fn write<'b, 'r>(
        &self,
        mut line: Writer<'b>,
        mut rest: &'r [u8],
        count: usize,
        style: NumberStyle,
    ) -> Option<(Writer<'b>, &'r [u8])> {
        let [first, others @ ..] = self.parts.as_slice() else { return None };
        let mut texts = [first.text([0; 2]); MAX_PARTS];
        for (text, part) in texts.iter_mut().skip(1).zip(others) {
            *text = part.text([0; 2]);
        }
        if others.is_empty() {
            // The common case: one part, so that nothing is looked up between elements.
            let [text, ..] = &mut texts;
            for _ in 0..count {
                first.write(&mut line, &mut rest, text, style)?;
            }
            return Some((line, rest));
        }
        for _ in 0..count {
            for (part, text) in self.parts.iter().zip(&mut texts) {
                part.write(&mut line, &mut rest, text, style)?;
            }
        }
        Some((line, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Page;

    const STYLE: NumberStyle = NumberStyle { pointer_size: 8, largest: u64::MAX };

    fn number(kind: NumberKind, number: u64, bytes: &mut Vec<u8>) -> String {
        let mut put = |size: usize| {
            bytes.extend_from_slice(&number.to_le_bytes()[..size]);
            number & u64::MAX >> (64 - 8 * size)
        };
        match kind {
            NumberKind::U64 => put(8).to_string(),
            NumberKind::U32 => put(4).to_string(),
            NumberKind::U16 => put(2).to_string(),
            NumberKind::U8 => put(1).to_string(),
            NumberKind::HexU32 => format!("{:x}", put(4)),
        }
    }

    fn assert_written(kinds: &[CellKind], names: &[&str], numbers: &[u64]) {
        let values = kinds.iter().copied().map(Some).zip(names.iter().map(|name| name.as_bytes()));
        let rows = Rows::new(values).expect("what can be written");
        let (mut bytes, mut expected, mut count) = (Vec::new(), String::new(), 0);
        for start in 0..numbers.len() * 3 {
            for (at, (kind, name)) in kinds.iter().zip(names).enumerate() {
                // Runs of one number, and all adjacent pairs of numbers.
                let value = numbers[(start / 3 + at * (start % 3)) % numbers.len()];
                expected += name;
                expected += &match *kind {
                    CellKind::Address => {
                        bytes.extend(value.to_le_bytes());
                        format!("{value:x}")
                    }
                    CellKind::Number(kind) => number(kind, value, &mut bytes),
                };
            }
            count += 1;
        }
        bytes.push(7);
        let mut page = Page::default();
        let writer = page.writer(expected.len() + MAX_TEXT_BYTES);
        let (writer, rest) =
            rows.write(writer, &bytes, count, STYLE).expect("all of them are there");
        assert_eq!(rest, [7]);
        let left = writer.left();
        page.keep(left);
        assert_eq!(String::from_utf8(page.filled().to_vec()).unwrap(), expected);
        let writer = page.writer(expected.len() + MAX_TEXT_BYTES);
        assert!(rows.write(writer, &bytes, count + 1, STYLE).is_none(), "one more is not there");
    }

    #[test]
    fn rows_of_all_kinds_are_written_with_addresses_of_all_lengths() {
        let numbers = [
            0,
            1,
            0xffff_ffff,
            1 << 32,
            0x7f12_0000_0001,
            0x7f12_3456_789a,
            0x7f12_3456_789b,
            0xf_7f12_3456_789c,
            u64::MAX,
        ];
        let (address, of) = (CellKind::Address, CellKind::Number);
        assert_written(
            &[address, address, of(NumberKind::U64)],
            &["},{\"a\":\"0x", "\",\"b\":\"0x", "\",\"c\":"],
            &numbers,
        );
        let four = [address, of(NumberKind::U64), address, of(NumberKind::U8)];
        assert_written(&four, &["<a 0x", " b ", " c 0x", "> d "], &numbers);
        let others =
            [address, of(NumberKind::U16), of(NumberKind::HexU32), of(NumberKind::U32), address];
        assert_written(&others, &["<", " ", " 0x", " ", "> "], &numbers);
        let long = "0123456789012345678901234567890123456789";
        assert_written(&[address, address, address], &[long, long, ""], &numbers);
        assert_written(&[of(NumberKind::U64)], &[long], &numbers);
    }

    #[test]
    fn what_is_too_long_or_of_another_kind_is_left_to_others() {
        let long = "0123456789".repeat(MAX_TEXT_BYTES / 10 + 1);
        assert!(Rows::new([(Some(CellKind::Address), long.as_bytes())].into_iter()).is_none());
        assert!(Rows::new([(None, &b"a"[..])].into_iter()).is_none());
        assert!(Rows::new([].into_iter()).is_none());
    }
}
