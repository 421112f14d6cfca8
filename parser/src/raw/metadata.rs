//! Descriptions of event types (FORMAT.md 6.4 to 6.7, 7.3).

use super::error::{FromFault, complete};
use crate::block::metadata::{
    self, MetadataPayload, MetadataRow, MetadataTag, OptionalMetadata, field_list,
};
use crate::schema::Field;
use nom::IResult;

/// A description of versions 3 to 5 up to its field list ([FORMAT.md
/// 6.4](crate::format_guide#6.4)): the payload of a blob in a metadata block; in version
/// 3, of a blob with metadata id 0.
///
/// | size | field |
/// |---|---|
/// | 4 | u32 metadata id |
/// | 2 (n + 1) | provider: utf16z |
/// | 4 | u32 event id |
/// | 2 (n + 1) | event name: utf16z |
/// | 8 | u64 keywords |
/// | 4, 4 | u32 version, u32 level |
///
/// The remaining input is empty, or a [`field_list_v1`] and any number of
/// [`metadata_tag`]s.
///
/// # Errors
/// [`Fault::Truncated`](crate::Fault::Truncated).
pub fn metadata_payload<'a, E: FromFault<'a>>(
    input: &'a [u8],
) -> IResult<&'a [u8], MetadataPayload<'a>, E> {
    complete(metadata::payload(input))
}

/// A tag after the field list of a version 5 description ([FORMAT.md
/// 6.6](crate::format_guide#6.6)): an i32 size of the payload, a u8 kind, the payload.
///
/// # Errors
/// [`Fault::TagSize`](crate::Fault::TagSize) if the payload extends past the input;
/// [`Fault::Truncated`](crate::Fault::Truncated).
pub fn metadata_tag<'a, E: FromFault<'a>>(
    input: &'a [u8],
) -> IResult<&'a [u8], MetadataTag<'a>, E> {
    complete(metadata::tag(input))
}

/// A field list of versions 3 to 5 ([FORMAT.md 6.5](crate::format_guide#6.5)): an i32
/// count, then for each field an i32 type code, for code 1 a nested list, and a utf16z
/// name.
///
/// If a field cannot be decoded, a reader keeps the fields before it. This function
/// rejects the list.
///
/// # Errors
/// [`Fault::TypeCode`](crate::Fault::TypeCode), also for arrays, which do not exist in
/// these versions; [`Fault::TypeDepth`](crate::Fault::TypeDepth) and
/// [`Fault::FieldLimit`](crate::Fault::FieldLimit) beyond the limits of [FORMAT.md
/// 13.4](crate::format_guide#13.4); [`Fault::FieldList`](crate::Fault::FieldList);
/// [`Fault::Truncated`](crate::Fault::Truncated).
pub fn field_list_v1<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], Vec<Field>, E> {
    complete(field_list::v1(input).whole())
}

/// The field list in a [`MetadataTag`] of kind 2 ([FORMAT.md
/// 6.7](crate::format_guide#6.7)): an i32 count, then for each field an i32 size,
/// including itself, a utf16z name, an i32 type code, for code 19 the element type, for
/// code 1 a nested list. Bytes within the size that are not needed are skipped.
///
/// ```
/// use nettrace_parser::{FieldType, raw};
/// let list = [1, 0, 0, 0, 12, 0, 0, 0, b'n', 0, 0, 0, 9, 0, 0, 0];
/// let (_, fields) = raw::field_list_v2::<()>(&list).unwrap();
/// assert_eq!((&*fields[0].name, &fields[0].kind), ("n", &FieldType::I32));
/// ```
///
/// # Errors
/// As [`field_list_v1`].
pub fn field_list_v2<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], Vec<Field>, E> {
    complete(field_list::v2(input).whole())
}

/// A field list of version 6 ([FORMAT.md 7.3](crate::format_guide#7.3)): a u16 count,
/// then for each field a u16 size, *not* including itself, a string name, a type. A type
/// is a u8 code; for 19, 24 and 25 followed by the element type; for 22 by the element
/// type and a u16 count; for 1 by a nested list. Bytes within the size that are not
/// needed are skipped.
///
/// # Errors
/// As [`field_list_v1`].
pub fn field_list_v6<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], Vec<Field>, E> {
    complete(field_list::v6(input).whole())
}

/// A row of a version 6 metadata block, after its [size](super::sized_row) and up to its
/// field list ([FORMAT.md 7.3](crate::format_guide#7.3)): varuint32 metadata id, string
/// provider, varuint32 event id, string name.
///
/// The remaining input is empty, or a [`field_list_v6`] and a [sized](super::sized_row)
/// list of [`optional_metadata`].
///
/// ```
/// use nettrace_parser::raw;
/// use nom::{Parser, combinator::{all_consuming, map_parser}, multi::many0};
///
/// // Size; id, provider, event id, name; no fields; optional metadata.
/// let block = [12, 0, 1, 1, b'P', 7, 1, b'N', 0, 0, 2, 0, 8, 4];
/// let (rest, row) = raw::sized_row::<()>(&block).unwrap();
/// let (row, begin) = raw::metadata_row_v6::<()>(row).unwrap();
/// assert_eq!((begin.provider, begin.event_id, begin.name), (&b"P"[..], 7, &b"N"[..]));
/// let (row, fields) = raw::field_list_v6::<()>(row).unwrap();
/// let mut optional = map_parser(raw::sized_row::<()>, all_consuming(many0(raw::optional_metadata)));
/// let (row, optional) = optional.parse(row).unwrap();
/// assert_eq!(optional, [raw::OptionalMetadata::Level(4)]);
/// assert!(fields.is_empty() && row.is_empty() && rest.is_empty());
/// ```
///
/// # Errors
/// As [`varuint32`](super::varuint32) and [`string_v6`](super::string_v6).
pub fn metadata_row_v6<'a, E: FromFault<'a>>(
    input: &'a [u8],
) -> IResult<&'a [u8], MetadataRow<'a>, E> {
    complete(metadata::row_begin_v6(input))
}

/// An entry of a version 6 row's optional metadata ([FORMAT.md
/// 7.3](crate::format_guide#7.3)): a u8 kind, and its content.
///
/// | kind | content | kind | content |
/// |---|---|---|---|
/// | 1 opcode | u8 | 6 pair | string, string |
/// | 3 keywords | u64 | 7 provider's guid | guid |
/// | 4 message | string | 8 level | u8 |
/// | 5 description | string | 9 version | u8 |
///
/// # Errors
/// [`Fault::UnknownEntry`](crate::Fault::UnknownEntry): the size of an unknown kind is
/// unknown, so the remaining entries cannot be read. Errors of the content.
pub fn optional_metadata<'a, E: FromFault<'a>>(
    input: &'a [u8],
) -> IResult<&'a [u8], OptionalMetadata<'a>, E> {
    complete(metadata::optional_entry(input))
}
