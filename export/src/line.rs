//! Writes a line of JSON into existing memory. Texts are copied in sizes known at compile time, and
//! the next piece overwrites the excess. That takes a few instructions, while appending to a vector
//! is a function call.
//!
//! Before writing, request enough room for everything that may be written
//! ([`Page::writer`](crate::page::Page::writer)).
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "places within room that was asked for, and digits"
)]

pub(crate) mod digits;

use self::digits::{EIGHT_DIGITS, SHORT_DIGITS};
use crate::json::Float;
use crate::utf16::{shown_until_zero, text_until_zero};
use nettrace_parser::{Guid, unstable};
use std::mem;

/// Writes a line of JSON into memory that was requested for it.
///
/// # Panics
/// If the line is longer than the requested room.
#[derive(Debug)]
pub(crate) struct Writer<'b> {
    /// The memory that is not written yet. The output is before it.
    rest: &'b mut [u8],
}

impl<'b> Writer<'b> {
    #[inline(always)]
    pub(crate) fn new(rest: &'b mut [u8]) -> Writer<'b> {
        Writer { rest }
    }

    /// Returns the number of bytes after the output.
    #[inline(always)]
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    /// Moves the writer out of the reference, so that it can be passed by value and its fields stay
    /// in registers.
    #[inline(always)]
    pub(crate) fn taken(&mut self) -> Writer<'b> {
        Writer { rest: mem::take(&mut self.rest) }
    }

    /// Writes the first `count` bytes of `bytes`.
    #[inline(always)]
    pub(crate) fn put<const N: usize>(&mut self, bytes: &[u8; N], count: usize) {
        self.rest[..N].copy_from_slice(bytes);
        self.pass(count);
    }

    /// Writes the first `count` bytes of `bytes`, in which eight hexadecimal digits of each number
    /// replace the bytes at its offset.
    #[inline(always)]
    pub(crate) fn put_with_hex<const N: usize, const K: usize>(
        &mut self,
        bytes: &[u8; N],
        count: usize,
        numbers: [(usize, u32); K],
    ) {
        let text = &mut self.rest[..N];
        text.copy_from_slice(bytes);
        for (at, number) in numbers {
            if let Some(place) = text.get_mut(at..).and_then(|place| place.first_chunk_mut()) {
                digits::put_eight_hex(place, number);
            }
        }
        self.pass(count);
    }

    #[inline(always)]
    fn pass(&mut self, count: usize) {
        self.rest = &mut mem::take(&mut self.rest)[count..];
    }

    #[inline(always)]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.put(&[byte], 1);
    }

    #[inline(always)]
    pub(crate) fn literal(&mut self, literal: &Literal) {
        if literal.len <= Literal::CHUNK {
            self.put(&literal.first, literal.len);
        } else {
            self.bytes(&literal.bytes);
        }
    }

    /// Writes a literal that has at most [`Literal::CHUNK`] bytes.
    #[inline(always)]
    pub(crate) fn short_literal(&mut self, literal: &Literal) {
        debug_assert!(literal.len <= Literal::CHUNK, "it is one piece");
        self.put(&literal.first, literal.len);
    }

    #[inline(always)]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.rest[..bytes.len()].copy_from_slice(bytes);
        self.pass(bytes.len());
    }

    /// Writes text whose length is known at compile time.
    #[inline(always)]
    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    #[inline(always)]
    pub(crate) fn unsigned(&mut self, number: u64) {
        if number < SHORT_DIGITS as u64 {
            let (digits, count) = digits::short(number as usize);
            self.put(&digits, count);
        } else if number < u64::from(EIGHT_DIGITS) {
            self.up_to_eight(number as u32);
        } else {
            self.rest = long(mem::take(&mut self.rest), number);
        }
    }

    #[inline(always)]
    pub(crate) fn signed(&mut self, number: i64) {
        if number < 0 {
            self.byte(b'-');
        }
        self.unsigned(number.unsigned_abs());
    }

    /// Writes a number below [`EIGHT_DIGITS`].
    #[inline(always)]
    fn up_to_eight(&mut self, number: u32) {
        let (digits, count) = digits::up_to_eight(number);
        self.put(&digits, count);
    }

    /// Writes a number below [`EIGHT_DIGITS`] as eight digits, including leading zeros.
    #[inline(always)]
    pub(crate) fn eight(&mut self, number: u32) {
        self.put(&digits::eight(number), 8);
    }

    /// Writes hexadecimal digits without leading zeros and without `0x`.
    #[inline(always)]
    pub(crate) fn hex(&mut self, number: u64) {
        if let Ok(number) = u32::try_from(number) {
            let zeros = (number | 1).leading_zeros() as usize / 4;
            if let Some(place) = self.rest.first_chunk_mut() {
                digits::put_eight_hex(place, number << (zeros * 4));
            }
            self.pass(8 - zeros);
        } else {
            let (digits, count) = digits::hex(number);
            self.put(&digits, count);
        }
    }

    /// Writes a GUID in lower case, without quotes.
    #[inline(always)]
    pub(crate) fn guid(&mut self, value: Guid) {
        self.rest = guid(mem::take(&mut self.rest), value);
    }

    /// Writes a floating-point number; see [`Json::float`](super::json::Json::float).
    #[inline(always)]
    pub(crate) fn float(&mut self, number: impl Float) {
        self.rest = float(mem::take(&mut self.rest), number);
    }

    /// Writes ASCII text if none of its characters needs escaping in JSON. Returns `None` for any
    /// other text.
    #[inline(always)]
    pub(crate) fn plain_ascii(&mut self, text: &[u8]) -> Option<()> {
        // Checks all bytes without an early exit, so that the compiler vectorises it.
        let is_special =
            |byte: u8| !(0x20..0x7f).contains(&byte) | (byte == b'"') | (byte == b'\\');
        if text.iter().fold(false, |special, byte| special | is_special(*byte)) {
            return None;
        }
        self.bytes(text);
        Some(())
    }

    /// Writes UTF-16 up to its zero unit, escaped. Returns the number of bytes consumed including
    /// the zero unit, or `None` if there is no zero unit.
    #[inline(always)]
    pub(crate) fn utf16(&mut self, bytes: &[u8]) -> Option<usize> {
        let (taken, written) = text_until_zero(bytes, self.rest)?;
        self.pass(written);
        Some(taken)
    }

    /// Writes UTF-16 as [`Writer::utf16`] does. Returns `None` also if there are hidden characters.
    #[inline(always)]
    pub(crate) fn shown_utf16(&mut self, bytes: &[u8]) -> Option<usize> {
        let (taken, written) = shown_until_zero(bytes, self.rest)?;
        self.pass(written);
        Some(taken)
    }
}

// The functions below pass and return the memory by value, so that it stays in registers.

/// Writes a number of more than eight digits. Returns the remaining room.
#[inline(never)]
fn long(rest: &mut [u8], number: u64) -> &mut [u8] {
    let mut line = Writer { rest };
    // The remainders are below 10^8, and the quotient of the quotient is at most 184.
    let unit = u64::from(EIGHT_DIGITS);
    let (high, low) = (number / unit, (number % unit) as u32);
    match high {
        0..100_000_000 => line.up_to_eight(high as u32),
        _ => {
            line.up_to_eight((high / unit) as u32);
            line.eight((high % unit) as u32);
        }
    }
    line.eight(low);
    line.rest
}

#[inline(never)]
fn guid(rest: &mut [u8], guid: Guid) -> &mut [u8] {
    let mut line = Writer { rest };
    let [low, high]: [u64; 2] = unstable::first(&guid.to_bytes()).unwrap_or_default();
    // The low half is three numbers, and the high half is bytes in the order of the text.
    let numbers = low << 32 | low >> 16 & 0xffff_0000 | low >> 48;
    let first = digits::sixteen_hex(numbers);
    let second = digits::sixteen_hex(high.swap_bytes());
    let mut text = [b'-'; 36];
    text[..8].copy_from_slice(&first[..8]);
    text[9..13].copy_from_slice(&first[8..12]);
    text[14..18].copy_from_slice(&first[12..]);
    text[19..23].copy_from_slice(&second[..4]);
    text[24..].copy_from_slice(&second[4..]);
    line.put(&text, 36);
    line.rest
}

#[inline(never)]
fn float(rest: &mut [u8], number: impl Float) -> &mut [u8] {
    let mut line = Writer { rest };
    match number.special() {
        None => line.text(zmij::Buffer::new().format_finite(number)),
        Some(name) => {
            line.byte(b'"');
            line.text(name);
            line.byte(b'"');
        }
    }
    line.rest
}

/// A constant piece of JSON text.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Literal {
    /// The whole text if it has at most [`Literal::CHUNK`] bytes, otherwise its beginning.
    first: [u8; Literal::CHUNK],
    len: usize,
    /// The whole text if it has more than [`Literal::CHUNK`] bytes; empty for a shorter text.
    bytes: Box<[u8]>,
}

impl Literal {
    /// Number of bytes that a writer copies at once.
    pub(crate) const CHUNK: usize = 32;

    pub(crate) fn new(bytes: &[u8]) -> Literal {
        let mut first = [0; Literal::CHUNK];
        for (to, byte) in first.iter_mut().zip(bytes) {
            *to = *byte;
        }
        // Short literals are created while writing lines, without an allocation.
        let all = if bytes.len() > Literal::CHUNK { bytes.into() } else { Box::default() };
        Literal { first, len: bytes.len(), bytes: all }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        if self.len > Literal::CHUNK {
            &self.bytes
        } else {
            self.first.get(..self.len).unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use crate::page::Page;

    fn written(write: impl FnOnce(&mut Writer<'_>)) -> String {
        let mut page = Page::default();
        let mut writer = page.writer(256);
        write(&mut writer);
        let left = writer.left();
        page.keep(left);
        String::from_utf8(page.filled().to_vec()).unwrap()
    }

    #[test]
    fn numbers_of_all_lengths_are_written_in_decimal_and_hexadecimal() {
        let mut numbers =
            vec![0, 1, 9, 10, 99, 100, 9_999_999, 10_000_000, 99_999_999, 100_000_000, u64::MAX];
        for shift in 0..64 {
            numbers.extend([1 << shift, (1 << shift) - 1, 0x0123_4567_89ab_cdef >> shift]);
        }
        for power in 1..20 {
            numbers.extend([10u64.pow(power), 10u64.pow(power) - 1, 10u64.pow(power) + 7]);
        }
        for number in numbers {
            assert_eq!(written(|line| line.unsigned(number)), number.to_string());
            assert_eq!(written(|line| line.hex(number)), format!("{number:x}"));
            let signed = number as i64;
            assert_eq!(written(|line| line.signed(signed)), signed.to_string());
        }
    }

    #[test]
    fn all_numbers_of_four_digits_are_right_in_either_half() {
        for number in 0..10_000 {
            assert_eq!(written(|line| line.unsigned(number)), number.to_string());
            let shifted = number * 10_000;
            assert_eq!(written(|line| line.unsigned(shifted)), shifted.to_string());
        }
    }

    #[test]
    fn literals_and_guids_are_written_whole() {
        for len in 0..100 {
            let text = "0123456789".repeat(10)[..len].to_owned();
            let literal = Literal::new(text.as_bytes());
            let expected = format!("<{text}>");
            let line = written(|line| {
                line.byte(b'<');
                line.literal(&literal);
                line.byte(b'>');
            });
            assert_eq!(line, expected);
        }
        let guid = Guid::from_bytes(std::array::from_fn(|at| at as u8 * 0x11));
        assert_eq!(written(|line| line.guid(guid)), guid.to_string());
    }

    #[test]
    fn floats_are_written_as_elsewhere() {
        for number in [0.5, -1e300, f64::NAN, f64::NEG_INFINITY] {
            let mut expected = Vec::new();
            expected.float(number);
            assert_eq!(written(|line| line.float(number)).as_bytes(), expected);
        }
    }
}
