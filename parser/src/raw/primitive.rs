//! Numbers and texts (FORMAT.md 2).

use super::error::{FromFault, complete};
use crate::payload::Utf16;
use crate::primitive;
use nettrace_guid::Guid;
use nom::IResult;

macro_rules! little_endian {
    ($($name:ident $leaf:ident $bits:literal),* $(,)?) => {$(
        #[doc = concat!("A little-endian `", stringify!($leaf), "` (FORMAT.md 2), ", $bits, ".")]
        ///
        /// Like nom's function of the same name, but several times as fast in sequence,
        /// because it reads an array instead of single bytes.
        ///
        /// # Errors
        /// [`Fault::Truncated`](crate::Fault::Truncated).
        #[inline]
        pub fn $name<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], $leaf, E> {
            complete(primitive::$leaf(input))
        }
    )*};
}

little_endian! {
    le_u8 u8 "1 byte",
    le_u16 u16 "2 bytes",
    le_i16 i16 "2 bytes",
    le_u32 u32 "4 bytes",
    le_i32 i32 "4 bytes",
    le_u64 u64 "8 bytes",
    le_i64 i64 "8 bytes",
}

/// A varuint32 ([FORMAT.md 2](crate::format_guide#2)): 1 to 5 bytes with 7 bits each,
/// lowest first; bit 7 is set on all but the last.
///
/// The fifth byte is at most `0x0f`. Encodings that are longer than necessary are
/// accepted.
///
/// ```
/// use nettrace_parser::raw;
/// let (rest, number) = raw::varuint32::<()>(&[0xac, 0x02, 9]).unwrap();
/// assert_eq!((number, rest), (300, &[9][..]));
/// assert_eq!(raw::varuint32::<()>(&[0x80, 0x00]).unwrap().1, 0);
/// ```
///
/// # Errors
/// [`Fault::VarintTooLong`](crate::Fault::VarintTooLong),
/// [`Fault::VarintOverflow`](crate::Fault::VarintOverflow),
/// [`Fault::Truncated`](crate::Fault::Truncated).
pub fn varuint32<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], u32, E> {
    complete(primitive::varuint32(input))
}

/// A varuint64 ([FORMAT.md 2](crate::format_guide#2)): like [`varuint32`], but with 1 to
/// 10 bytes, the tenth at most `0x01`.
///
/// # Errors
/// As [`varuint32`].
pub fn varuint64<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], u64, E> {
    complete(primitive::varuint64(input))
}

/// A varint64 ([FORMAT.md 2](crate::format_guide#2)): a zigzag-encoded [`varuint64`] `z`,
/// decoded as `(z >> 1) xor -(z and 1)`.
///
/// ```
/// use nettrace_parser::raw;
/// assert_eq!(raw::varint64::<()>(&[5]).unwrap().1, -3);
/// ```
///
/// # Errors
/// As [`varuint32`].
pub fn varint64<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], i64, E> {
    complete(primitive::varint64(input))
}

/// UTF-16LE code units up to a zero unit ([FORMAT.md 2](crate::format_guide#2)), not
/// aligned: 2 (n + 1) bytes.
///
/// ```
/// use nettrace_parser::raw;
/// let (rest, text) = raw::utf16z::<()>(b"h\0i\0\0\0!").unwrap();
/// assert_eq!(text, "hi");
/// assert_eq!(rest, b"!");
/// ```
///
/// # Errors
/// [`Fault::Truncated`](crate::Fault::Truncated) if there is no zero unit. Ill-formed
/// text is not an error.
pub fn utf16z<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], Utf16<'a>, E> {
    let (rest, bytes) = complete(primitive::utf16z(input))?;
    Ok((rest, Utf16::new(bytes, true)))
}

/// A string of version 6 ([FORMAT.md 2](crate::format_guide#2)): a [`varuint32`] number
/// of bytes, then UTF-8 without a terminator. Returns the bytes, which may be ill-formed;
/// use [`Utf8`](crate::Utf8) to display them.
///
/// # Errors
/// As [`varuint32`]; [`Fault::Truncated`](crate::Fault::Truncated) also if there are
/// fewer bytes than stated. Ill-formed text is not an error.
pub fn string_v6<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], &'a [u8], E> {
    complete(primitive::string_v6(input))
}

/// A GUID ([FORMAT.md 2](crate::format_guide#2)), 16 bytes: u32, u16, u16 little-endian,
/// then eight single bytes.
///
/// # Errors
/// [`Fault::Truncated`](crate::Fault::Truncated).
pub fn guid<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], Guid, E> {
    complete(primitive::guid(input))
}

/// A row of version 6 with its size ([FORMAT.md 7.3](crate::format_guide#7.3),
/// [7.6](crate::format_guide#7.6)): a u16 number of bytes, not including itself, then
/// that many bytes. Returns these bytes. Thanks to the size, what follows can be found
/// even if a row cannot be decoded.
///
/// ```
/// use nettrace_parser::raw;
/// use nom::{Parser, combinator::all_consuming, multi::many0};
/// let mut rows = all_consuming(many0(raw::sized_row::<()>));
/// let (_, rows) = rows.parse(&[2, 0, b'h', b'i', 1, 0, b'!'][..]).unwrap();
/// assert_eq!(rows, [&b"hi"[..], b"!"]);
/// ```
///
/// # Errors
/// [`Fault::RowSize`](crate::Fault::RowSize) if the row extends past the input,
/// [`Fault::Truncated`](crate::Fault::Truncated) if there is no size.
pub fn sized_row<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], &'a [u8], E> {
    complete(primitive::sized_row(input))
}
