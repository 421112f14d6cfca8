//! Converts bytes to numbers, varints and texts (FORMAT.md 2).
//!
//! No other module makes numbers of bytes, so only this one deals with byte order and
//! alignment. It does not use nom's number parsers, because these shift byte by byte and are
//! four times slower than a load.

use crate::error::{Fault, FaultAt};
use bytemuck::{Pod, pod_read_unaligned, try_cast_slice};
use nettrace_guid::Guid;

/// Result of every parser in this crate: the rest of the input and a value, or a fault and its
/// place in the input.
pub type Parsed<'a, T> = nom::IResult<&'a [u8], T, FaultAt<'a>>;

/// Returns the number of bytes of `whole` before `rest`, where `rest` is the end of `whole`.
#[inline]
pub(crate) fn before(whole: &[u8], rest: &[u8]) -> usize {
    whole.len().saturating_sub(rest.len())
}

/// Type of a number of fixed size, or of an array of such numbers. Streams store them in
/// little-endian order.
pub trait Number: Pod {
    /// Converts a little-endian number to the byte order of the machine.
    fn from_le(stored: Self) -> Self;
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn from_le(stored: $type) -> $type {
                $type::from_le(stored)
            }
        }
    )*};
}

integers! { u8 i8 u16 i16 u32 i32 u64 i64 u128 }

macro_rules! floats {
    ($($type:ident $bits:ident)*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn from_le(stored: $type) -> $type {
                $type::from_bits($bits::from_le(stored.to_bits()))
            }
        }
    )*};
}

floats! { f32 u32 f64 u64 }

impl<T: Number, const N: usize> Number for [T; N] {
    #[inline(always)]
    fn from_le(stored: [T; N]) -> [T; N] {
        stored.map(T::from_le)
    }
}

/// Returns the number at the beginning of the input. `None` if there are fewer bytes.
#[inline(always)]
pub fn first<T: Number>(input: &[u8]) -> Option<T> {
    input.get(..size_of::<T>()).map(|bytes| T::from_le(pod_read_unaligned(bytes)))
}

/// Removes the number at the beginning of the input and returns it. `None`, and an unchanged
/// input, if there are fewer bytes.
#[inline(always)]
pub fn take_first<T: Number>(input: &mut &[u8]) -> Option<T> {
    let (bytes, rest) = input.split_at_checked(size_of::<T>())?;
    *input = rest;
    Some(T::from_le(pod_read_unaligned(bytes)))
}

/// Returns the numbers of an array. An incomplete number at the end is left out.
#[inline(always)]
pub fn numbers<T: Number>(
    bytes: &[u8],
) -> impl DoubleEndedIterator<Item = T> + ExactSizeIterator + Clone + use<'_, T> {
    bytes.chunks_exact(size_of::<T>()).map(|bytes| T::from_le(pod_read_unaligned(bytes)))
}

/// Returns 64-bit numbers as pairs of little-endian words, low word first. `None` if the bytes
/// do not begin at a multiple of four in memory, or the last number is incomplete.
pub(crate) fn words(bytes: &[u8]) -> Option<&[[u32; 2]]> {
    try_cast_slice(bytes).ok()
}

/// Returns the guid that four words of a header contain.
#[inline(always)]
pub(crate) fn guid_of(words: [u32; 4]) -> Guid {
    Guid::from_bytes(bytemuck::cast(words.map(u32::to_le)))
}

macro_rules! little_endian {
    ($($name:ident $type:ty),* $(,)?) => {$(
        #[doc = concat!("Reads a little-endian `", stringify!($type), "`.")]
        ///
        /// # Errors
        /// [`Fault::Truncated`].
        #[inline]
        pub(crate) fn $name(input: &[u8]) -> Parsed<'_, $type> {
            let mut rest = input;
            match take_first(&mut rest) {
                Some(number) => Ok((rest, number)),
                None => FaultAt::error(input, Fault::Truncated),
            }
        }
    )*};
}

little_endian! { u8 u8, u16 u16, i16 i16, u32 u32, i32 i32, u64 u64, i64 i64 }

/// Reads the next `count` bytes.
#[inline]
pub(crate) fn take(count: usize) -> impl Fn(&[u8]) -> Parsed<'_, &[u8]> {
    move |input| match input.split_at_checked(count) {
        Some((bytes, rest)) => Ok((rest, bytes)),
        None => FaultAt::error(input, Fault::Truncated),
    }
}

/// Reads a row of version 6 with its size ([FORMAT.md 7.3](crate::format_guide#7.3),
/// [7.6](crate::format_guide#7.6)): a u16 number of bytes, not including itself, then
/// that many bytes. Thanks to the size, rows after a broken row can be found.
///
/// # Errors
/// [`Fault::RowSize`] if the row extends past the input, [`Fault::Truncated`] if there is
/// no size.
pub fn sized_row(input: &[u8]) -> Parsed<'_, &[u8]> {
    let (rest, size) = u16(input)?;
    match rest.split_at_checked(usize::from(size)) {
        Some((row, rest)) => Ok((rest, row)),
        None => FaultAt::error(input, Fault::RowSize(u64::from(size))),
    }
}

/// Reads a guid ([FORMAT.md 2](crate::format_guide#2)): u32, u16, u16 little-endian, then
/// eight bytes.
///
/// # Errors
/// [`Fault::Truncated`].
#[inline]
pub(crate) fn guid(input: &[u8]) -> Parsed<'_, Guid> {
    match input.split_first_chunk() {
        Some((bytes, rest)) => Ok((rest, Guid::from_bytes(*bytes))),
        None => FaultAt::error(input, Fault::Truncated),
    }
}

/// Reads a varuint of at most `max_bytes` bytes ([`varuint32`] describes the encoding); the
/// last possible byte is at most `last`.
fn varuint(input: &[u8], max_bytes: usize, last: u8) -> Parsed<'_, u64> {
    let mut value = 0u64;
    let mut shift = 0u32;
    for (index, &byte) in input.iter().enumerate() {
        if index == max_bytes {
            return FaultAt::error(input, Fault::VarintTooLong);
        }
        let is_last_possible = index.saturating_add(1) == max_bytes;
        if is_last_possible && byte & 0x80 == 0 && byte > last {
            return FaultAt::error(input, Fault::VarintOverflow);
        }
        if is_last_possible && byte & 0x80 != 0 {
            return FaultAt::error(input, Fault::VarintTooLong);
        }
        value |= u64::from(byte & 0x7f).wrapping_shl(shift);
        if byte & 0x80 == 0 {
            return Ok((input.get(index.saturating_add(1)..).unwrap_or_default(), value));
        }
        shift = shift.wrapping_add(7);
    }
    FaultAt::error(input, Fault::Truncated)
}

/// Reads a varuint32 ([FORMAT.md 2](crate::format_guide#2)): 1 to 5 bytes with 7 bits
/// each, lowest first; bit 7 is set on all but the last. The fifth byte is at most 0x0F.
/// Encodings that are longer than necessary are accepted.
///
/// ```
/// use nettrace_parser::raw;
/// let (rest, number) = raw::varuint32(&[0xac, 0x02, 9]).unwrap();
/// assert_eq!((number, rest), (300, &[9][..]));
/// assert_eq!(raw::varuint32(&[0x80, 0x00]).unwrap().1, 0);
/// ```
///
/// # Errors
/// [`Fault::VarintTooLong`], [`Fault::VarintOverflow`], [`Fault::Truncated`].
#[inline]
pub fn varuint32(input: &[u8]) -> Parsed<'_, u32> {
    match input {
        [byte, rest @ ..] if *byte < 0x80 => Ok((rest, u32::from(*byte))),
        // Five bytes with at most four bits in the last hold 32 bits, so nothing is cut
        // here.
        _ => varuint(input, 5, 0x0f).map(|(rest, value)| (rest, (value & 0xffff_ffff) as u32)),
    }
}

/// Reads a varuint64: like [`varuint32`], but 1 to 10 bytes, the tenth at most 0x01.
///
/// # Errors
/// The errors of [`varuint32`].
#[inline]
pub fn varuint64(input: &[u8]) -> Parsed<'_, u64> {
    match input {
        [byte, rest @ ..] if *byte < 0x80 => Ok((rest, u64::from(*byte))),
        _ => varuint(input, 10, 0x01),
    }
}

/// Reads a varint64: a [`varuint64`] in which 0, 1, 2, 3 … stand for 0, -1, 1, -2 … (zigzag).
///
/// # Errors
/// The errors of [`varuint32`].
#[inline]
pub(crate) fn varint64(input: &[u8]) -> Parsed<'_, i64> {
    varuint64(input).map(|(rest, value)| (rest, zigzag(value)))
}

/// Undoes the zigzag encoding: `(z >> 1) xor -(z and 1)`.
#[inline]
pub(crate) fn zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ (value & 1).cast_signed().wrapping_neg()
}

/// Reads UTF-16LE units up to a zero unit, and returns the bytes before it, which
/// [`Utf16`](crate::Utf16) shows. They may be unaligned and ill-formed.
///
/// # Errors
/// [`Fault::Truncated`] if there is no zero unit.
#[inline]
pub fn utf16z(input: &[u8]) -> Parsed<'_, &[u8]> {
    match utf16_end(input) {
        Some(end) => match input.split_at_checked(end) {
            Some((text, rest)) => Ok((rest.get(2..).unwrap_or_default(), text)),
            None => FaultAt::error(input, Fault::Truncated),
        },
        None => FaultAt::error(input, Fault::Truncated),
    }
}

/// Returns the byte offset of the first zero unit.
///
/// Eight units at a time are compared in a loop that compilers turn into vector
/// instructions. Most texts are short, so there is no work before the loop.
#[inline]
pub(crate) fn utf16_end(input: &[u8]) -> Option<usize> {
    let (blocks, tail) = input.as_chunks::<16>();
    let mut at = 0usize;
    for block in blocks {
        let (units, _) = block.as_chunks::<2>();
        let has_end =
            units.iter().fold(false, |found, unit| found | (u16::from_le_bytes(*unit) == 0));
        if has_end {
            return end_in_tail(block, at);
        }
        at = at.wrapping_add(16);
    }
    end_in_tail(tail, at)
}

/// Returns the byte offset of the first zero unit in the last bytes of a text, which begin at
/// `at`.
#[inline(always)]
fn end_in_tail(tail: &[u8], at: usize) -> Option<usize> {
    let (words, units) = tail.as_chunks::<8>();
    let mut at = at;
    for word in words {
        if let Some(end) = zero_unit(u64::from_le_bytes(*word)) {
            return Some(at.wrapping_add(end));
        }
        at = at.wrapping_add(8);
    }
    let (units, _) = units.as_chunks::<2>();
    units
        .iter()
        .position(|unit| *unit == [0, 0])
        .map(|index| at.wrapping_add(index.wrapping_mul(2)))
}

/// Returns the byte offset of the first zero unit of four. A unit is zero if its high bit is clear,
/// but set after subtracting one. A borrow can only falsify units after the first zero unit.
#[inline]
fn zero_unit(units: u64) -> Option<usize> {
    const ONES: u64 = 0x0001_0001_0001_0001;
    const HIGH: u64 = 0x8000_8000_8000_8000;
    let zero = units.wrapping_sub(ONES) & !units & HIGH;
    (zero != 0).then(|| (zero.trailing_zeros() / 16).wrapping_mul(2) as usize)
}

/// Converts UTF-16LE bytes to a string. Lone surrogates become U+FFFD; an odd last byte
/// is left out.
pub(crate) fn utf16_to_string(bytes: &[u8]) -> String {
    char::decode_utf16(numbers(bytes))
        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// Reads a string of version 6 ([FORMAT.md 2](crate::format_guide#2)): a [`varuint32`]
/// number of bytes, then UTF-8 without a terminator, possibly ill-formed.
///
/// # Errors
/// The errors of [`varuint32`]; [`Fault::Truncated`] also if there are fewer bytes than
/// stated.
pub fn string_v6(input: &[u8]) -> Parsed<'_, &[u8]> {
    let (rest, length) = varuint32(input)?;
    match usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length)) {
        Some((text, rest)) => Ok((rest, text)),
        None => FaultAt::error(input, Fault::Truncated),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault<T: std::fmt::Debug>(result: Parsed<'_, T>) -> Fault {
        match result.unwrap_err() {
            nom::Err::Error(at) => at.fault,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_varuint32_of_six_bytes_and_a_varuint64_of_eleven_are_refused_and_80_00_is_zero() {
        assert_eq!(fault(varuint32(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x00])), Fault::VarintTooLong);
        assert_eq!(fault(varuint64(&[0x80; 11])), Fault::VarintTooLong);
        assert_eq!(varuint32(&[0x80, 0x00]).unwrap(), (&[][..], 0));
        assert_eq!(varuint64(&[0x80, 0x00, 9]).unwrap(), (&[9][..], 0));
    }

    #[test]
    fn excess_bits_in_the_last_byte_of_a_varuint_are_refused() {
        assert_eq!(fault(varuint32(&[0xff, 0xff, 0xff, 0xff, 0x10])), Fault::VarintOverflow);
        assert_eq!(varuint32(&[0xff, 0xff, 0xff, 0xff, 0x0f]).unwrap().1, u32::MAX);
        let mut ten = [0xff; 10];
        ten[9] = 0x02;
        assert_eq!(fault(varuint64(&ten)), Fault::VarintOverflow);
        ten[9] = 0x01;
        assert_eq!(varuint64(&ten).unwrap().1, u64::MAX);
    }

    #[test]
    fn a_varuint_cut_short_is_truncated() {
        assert_eq!(fault(varuint32(&[])), Fault::Truncated);
        assert_eq!(fault(varuint64(&[0x80, 0x80])), Fault::Truncated);
    }

    #[test]
    fn zigzag_reaches_both_ends() {
        for value in [i64::MIN, -17982, -1, 0, 1, i64::MAX] {
            let coded = ((value << 1) ^ (value >> 63)).cast_unsigned();
            assert_eq!(zigzag(coded), value);
        }
    }

    #[test]
    fn the_end_of_a_text_is_found_at_every_length_and_offset() {
        for units in 0..40usize {
            for offset in 0..8usize {
                let mut bytes = vec![0xee; offset];
                for unit in 0..units {
                    // Units with a zero byte in either half must not end the text.
                    let unit = if unit % 2 == 0 { 0x4100u16 } else { 0x0041 };
                    bytes.extend(unit.to_le_bytes());
                }
                bytes.extend([0, 0, 7]);
                let (rest, text) = utf16z(&bytes[offset..]).unwrap();
                assert_eq!((text.len(), rest), (units * 2, &[7][..]));
                assert_eq!(utf16_end(&bytes[offset..offset + units * 2]), None);
            }
        }
    }
}
