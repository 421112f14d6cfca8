//! A line of JSON in memory that is there already: pieces are copied in sizes that the compiler knows, and what
//! was too much of a piece is overwritten by the next one. That is a few instructions where appending to a vector
//! is a call.
//!
//! Whoever writes asks for room first ([`Line::begin`]), for all that can come.

use super::json::Float;
use super::utf16::text_until_zero;
use nettrace_parser::Guid;

/// Bytes beyond its end that a piece may touch.
const OVERHANG: usize = 64;

/// Memory that is kept for the next line: enough for payloads of 64 KiB, the most that runtimes write, of numbers.
const MOST_KEPT: usize = 1 << 22;

/// Memory for a line.
#[derive(Debug, Default)]
pub(super) struct Line {
    bytes: Vec<u8>,
}

impl Line {
    /// Begins a line for which so many bytes are enough.
    #[inline(always)]
    pub(super) fn begin(&mut self, room: usize) -> Writer<'_> {
        if self.bytes.len() < room + OVERHANG || self.bytes.len() > MOST_KEPT {
            self.resize(room + OVERHANG);
        }
        Writer { bytes: &mut self.bytes, at: 0 }
    }

    #[cold]
    fn resize(&mut self, room: usize) {
        self.bytes.resize(room.next_power_of_two(), 0);
        self.bytes.shrink_to(MOST_KEPT);
    }
}

/// Writes a line.
///
/// # Panics
/// If it becomes longer than what was asked for.
#[derive(Debug)]
pub(super) struct Writer<'b> {
    /// What was written ends at `at`; behind it is what pieces may use.
    bytes: &'b mut [u8],
    at: usize,
}

impl<'b> Writer<'b> {
    /// What was written.
    #[inline(always)]
    pub(super) fn finish(self) -> &'b [u8] {
        &self.bytes[..self.at]
    }

    /// The memory and the place, for those who pass them on by value.
    #[inline(always)]
    pub(super) fn into_parts(self) -> (&'b mut [u8], usize) {
        (self.bytes, self.at)
    }

    #[inline(always)]
    pub(super) fn from_parts(bytes: &'b mut [u8], at: usize) -> Writer<'b> {
        Writer { bytes, at }
    }

    #[inline(always)]
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        self.bytes
    }

    /// How long the line is.
    #[inline(always)]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Goes on where somebody else stopped.
    #[inline(always)]
    pub(super) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// `bytes`, of which only the first `count` count.
    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: &[u8; N], count: usize) {
        self.bytes[self.at..][..N].copy_from_slice(bytes);
        self.at += count;
    }

    #[inline(always)]
    pub(super) fn byte(&mut self, byte: u8) {
        self.put(&[byte], 1);
    }

    #[inline(always)]
    pub(super) fn literal(&mut self, literal: &Literal) {
        self.put(&literal.first, literal.len);
        if literal.len > Literal::CHUNK {
            // The first chunk was whole, so this begins right behind it.
            self.bytes[self.at - literal.len..][..literal.len].copy_from_slice(&literal.bytes);
        }
    }

    /// Text whose length the compiler should know.
    #[inline(always)]
    pub(super) fn text(&mut self, text: &str) {
        self.bytes[self.at..][..text.len()].copy_from_slice(text.as_bytes());
        self.at += text.len();
    }

    #[inline(always)]
    pub(super) fn unsigned(&mut self, number: u64) {
        if number < u64::from(EIGHT_DIGITS) {
            self.short(number as u32);
        } else {
            // The place goes by value: so it is no place in memory.
            self.at = long(self.bytes, self.at, number);
        }
    }

    #[inline(always)]
    pub(super) fn signed(&mut self, number: i64) {
        if number < 0 {
            self.byte(b'-');
        }
        self.unsigned(number.unsigned_abs());
    }

    /// A number of up to eight digits.
    #[inline(always)]
    fn short(&mut self, number: u32) {
        let digits = digits_of(number);
        // Zero has one digit too.
        let zeros = (digits | 1 << 56).trailing_zeros() / 8;
        self.put(&((digits | ASCII_ZEROS) >> (zeros * 8)).to_le_bytes(), 8 - zeros as usize);
    }

    /// Eight digits, zeros in front included.
    #[inline(always)]
    fn eight(&mut self, number: u32) {
        self.put(&(digits_of(number) | ASCII_ZEROS).to_le_bytes(), 8);
    }

    /// `0x…` without leading zeros.
    #[inline(always)]
    pub(super) fn hex(&mut self, number: u64) {
        self.put(b"0x", 2);
        let digits = 16 - (number | 1).leading_zeros() as usize / 4;
        let shifted = number << ((16 - digits) * 4);
        let end = self.at + digits;
        self.put(&hex_of((shifted >> 32) as u32), 8);
        if digits > 8 {
            self.put(&hex_of(shifted as u32), 8);
        }
        self.at = end;
    }

    /// A guid in lower case, without quotes.
    #[inline(always)]
    pub(super) fn guid(&mut self, value: Guid) {
        self.at = guid(self.bytes, self.at, value);
    }

    /// A floating point number; see [`Json::float`](super::json::Json::float).
    #[inline(always)]
    pub(super) fn float(&mut self, number: impl Float) {
        self.at = float(self.bytes, self.at, number);
    }

    /// UTF-8 that is ASCII and stands for itself in JSON; `None` if it is anything else.
    #[inline(always)]
    pub(super) fn plain_ascii(&mut self, text: &[u8]) -> Option<()> {
        // Without an end before the last byte, so that the compiler makes vectors of it.
        let is_special = |byte: u8| !(0x20..0x7f).contains(&byte) | (byte == b'"') | (byte == b'\\');
        if text.iter().fold(false, |special, byte| special | is_special(*byte)) {
            return None;
        }
        self.bytes[self.at..][..text.len()].copy_from_slice(text);
        self.at += text.len();
        Some(())
    }

    /// UTF-16 up to its zero unit, escaped. The bytes it takes with the zero unit, or `None` if there is no such
    /// unit.
    #[inline(always)]
    pub(super) fn utf16(&mut self, bytes: &[u8]) -> Option<usize> {
        let (taken, written) = text_until_zero(bytes, &mut self.bytes[self.at..])?;
        self.at += written;
        Some(taken)
    }
}

/// Appends a number of more than eight digits at `at`; where it ends.
#[inline(never)]
fn long(bytes: &mut [u8], at: usize, number: u64) -> usize {
    let mut line = Writer { bytes, at };
    // The remainders are below 10^8, and so is the quotient of the quotient, 184 at most.
    let unit = u64::from(EIGHT_DIGITS);
    let (high, low) = (number / unit, (number % unit) as u32);
    match high {
        0..100_000_000 => line.short(high as u32),
        _ => {
            line.short((high / unit) as u32);
            line.eight((high % unit) as u32);
        }
    }
    line.eight(low);
    line.at
}

#[inline(never)]
fn guid(bytes: &mut [u8], at: usize, guid: Guid) -> usize {
    let mut line = Writer { bytes, at };
    let [a0, a1, a2, a3, b0, b1, c0, c1, d0, d1, e0, e1, e2, e3, e4, e5] = guid.to_bytes();
    line.put(&hex_of(u32::from_le_bytes([a0, a1, a2, a3])), 8);
    for [high, low] in [[b1, b0], [c1, c0], [d0, d1], [e0, e1]] {
        line.byte(b'-');
        line.put(&hex_of(u32::from_be_bytes([high, low, 0, 0])), 4);
    }
    line.put(&hex_of(u32::from_be_bytes([e2, e3, e4, e5])), 8);
    line.at
}

#[inline(never)]
fn float(bytes: &mut [u8], at: usize, number: impl Float) -> usize {
    let mut line = Writer { bytes, at };
    match number.special() {
        None => line.text(zmij::Buffer::new().format_finite(number)),
        Some(name) => {
            line.byte(b'"');
            line.text(name);
            line.byte(b'"');
        }
    }
    line.at
}

const EIGHT_DIGITS: u32 = 100_000_000;
const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;

/// The eight decimal digits of a number below 10^8, the first one in the lowest byte. All are worked out
/// together: halves of four digits, then pairs, then digits, in lanes of one register.
#[inline(always)]
fn digits_of(number: u32) -> u64 {
    let halves = u64::from(number / 10_000) | u64::from(number % 10_000) << 32;
    // 10486 / 2^20 and 103 / 2^10 are 1/100 and 1/10, nearly enough for four and two digits.
    let hundreds = (halves * 10_486) >> 20 & 0x0000_007f_0000_007f;
    let pairs = hundreds | (halves - hundreds * 100) << 16;
    let tens = (pairs * 103) >> 10 & 0x000f_000f_000f_000f;
    tens | (pairs - tens * 10) << 8
}

/// The eight hexadecimal digits of a number.
#[inline(always)]
fn hex_of(number: u32) -> [u8; 8] {
    let spread = u64::from(number);
    let spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff;
    let spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff;
    let digits = (spread | spread << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    // Digits from ten on are letters, 39 places behind where the tenth digit would be.
    let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    (digits + ASCII_ZEROS + letters * 39).to_be_bytes()
}

/// JSON that is the same in every line.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Literal {
    /// Its beginning: mostly all of it.
    first: [u8; Literal::CHUNK],
    len: usize,
    bytes: Box<[u8]>,
}

impl Literal {
    const CHUNK: usize = 32;

    pub(super) fn new(bytes: &[u8]) -> Literal {
        let first = std::array::from_fn(|at| bytes.get(at).copied().unwrap_or(0));
        Literal { first, len: bytes.len(), bytes: bytes.into() }
    }

    /// Room that it needs.
    pub(super) fn room(&self) -> usize {
        self.len.max(Literal::CHUNK)
    }
}

#[cfg(test)]
mod tests {
    use super::super::json::Json;
    use super::*;

    fn written(write: impl FnOnce(&mut Writer<'_>)) -> String {
        let mut line = Line::default();
        let mut writer = line.begin(256);
        write(&mut writer);
        String::from_utf8(writer.finish().to_vec()).unwrap()
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
            assert_eq!(written(|line| line.hex(number)), format!("{number:#x}"));
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
