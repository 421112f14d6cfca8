//! Event blobs in all their encodings (FORMAT.md 5, 6.2, 6.3, 7.4).

use super::error::{FromFault, complete};
use super::header::event_block_header;
use crate::blob::{
    BlobEncoding, BlobHeader, Extent, careful_blob_v4, careful_blob_v6, fixed_v3, fixed_v4,
    fixed_v6,
};
use crate::primitive::Parsed;
use crate::version::Version;
use nom::IResult;

/// One event blob. In version 6 it is a row; in metadata blocks of versions 4 and 5 its
/// payload is the definition of an event type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blob<'a> {
    /// Its header; in compressed blocks, including the values inherited from earlier
    /// blobs.
    pub header: BlobHeader,
    /// The payload.
    pub payload: &'a [u8],
    /// Version 3: the addresses of the stack, innermost first. Empty in other versions,
    /// which refer to a stack by its id.
    pub stack: &'a [u8],
    /// All of its bytes, including padding.
    pub bytes: &'a [u8],
}

fn blob_of<'a>(
    input: &'a [u8],
    rest: &'a [u8],
    header: BlobHeader,
    extent: Extent,
) -> (&'a [u8], Blob<'a>) {
    let bytes = input.get(..extent.next_at).unwrap_or(input);
    let behind = bytes.get(extent.payload_at..).unwrap_or_default();
    let (payload, behind) =
        behind.split_at_checked(header.payload_size as usize).unwrap_or_default();
    // A stack follows its size.
    let stack = behind
        .get(4..)
        .and_then(|stack| stack.get(..header.stack_size as usize))
        .unwrap_or_default();
    (rest, Blob { header, payload, stack, bytes })
}

fn fixed<'a, E: FromFault<'a>>(
    input: &'a [u8],
    parse: impl Fn(&mut BlobHeader, &'a [u8]) -> Parsed<'a, Extent>,
) -> IResult<&'a [u8], Blob<'a>, E> {
    let mut header = BlobHeader::default();
    let (rest, extent) = complete(parse(&mut header, input))?;
    Ok(blob_of(input, rest, header, extent))
}

/// A blob of version 3 ([FORMAT.md 5](crate::format_guide#5)).
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 4 | i32 size of what follows this field |
/// | 4 | 4 | u32 metadata id; 0: the payload is a [definition](super::metadata_payload) |
/// | 8 | 4 | i32 thread id |
/// | 12 | 8 | i64 timestamp |
/// | 20 | 16 | activity id |
/// | 36 | 16 | related activity id |
/// | 52 | 4 | i32 payload size *p* |
/// | 56 | p | payload |
/// | 56 + p | 4 | i32 stack size *s* |
/// | 60 + p | s | addresses, innermost first |
/// | | | padding, up to the size |
///
/// # Errors
/// [`Fault::RowSize`](crate::Fault::RowSize),
/// [`Fault::PayloadSize`](crate::Fault::PayloadSize) and
/// [`Fault::StackSize`](crate::Fault::StackSize) if a size extends past its container;
/// [`Fault::Truncated`](crate::Fault::Truncated).
pub fn blob_v3<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], Blob<'a>, E> {
    fixed(input, fixed_v3)
}

/// An uncompressed blob of versions 4 and 5 ([FORMAT.md 6.2](crate::format_guide#6.2)).
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 4 | u32 size of what follows this field; the next blob is 4 + size further on, whatever the payload's size |
/// | 4 | 4 | u32 metadata id; the high bit means *not* sorted |
/// | 8 | 4 | u32 sequence number |
/// | 12, 20 | 8, 8 | u64 thread, u64 capture thread |
/// | 28, 32 | 4, 4 | u32 processor, u32 stack id |
/// | 36 | 8 | u64 timestamp |
/// | 44, 60 | 16, 16 | activity id, related activity id |
/// | 76 | 4 | u32 payload size *p* |
/// | 80 | p | payload |
/// | | | padding, up to the size |
///
/// # Errors
/// [`Fault::RowSize`](crate::Fault::RowSize),
/// [`Fault::PayloadSize`](crate::Fault::PayloadSize),
/// [`Fault::Truncated`](crate::Fault::Truncated).
pub fn blob_v4<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], Blob<'a>, E> {
    fixed(input, fixed_v4)
}

/// An uncompressed row of version 6 ([FORMAT.md 7.4](crate::format_guide#7.4)).
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 to 43 | | as [`blob_v4`], with thread indices |
/// | 44 | 4 | u32 label list |
/// | 48 | 4 | u32 payload size *p* |
/// | 52 | p | payload |
///
/// # Errors
/// As [`blob_v4`].
pub fn blob_v6<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], Blob<'a>, E> {
    fixed(input, fixed_v6)
}

/// A blob with a compressed header, versions 4 and 5 ([FORMAT.md
/// 6.3](crate::format_guide#6.3)): a byte of flags, the fields that it announces, and the
/// payload. Fields that are not announced keep the value they have in the blob before.
///
/// | flag | field | encoding | not announced |
/// |---|---|---|---|
/// | 0x01 | metadata id | varuint32 | as before |
/// | 0x02 | sequence delta *d*, capture thread, processor | varuint32, varuint64, varuint32 | number + 1 if the metadata id is not 0 |
/// | 0x04 | thread | varuint64 | as before |
/// | 0x08 | stack id | varuint32 | as before |
/// | always | timestamp delta | varuint64 | |
/// | 0x10 | activity id | guid | as before |
/// | 0x20 | related activity id | guid | as before |
/// | 0x40 | sorted | | not sorted |
/// | 0x80 | payload size | varuint32 | as before |
///
/// With 0x02 the number is the one before + *d* + 1. Numbers wrap at 2^32, timestamps at
/// 2^64.
///
/// `running` is the header of the previous blob, or the default at the beginning of a
/// block. It is updated to the header of this blob; it does not change if there is an
/// error.
///
/// # Errors
/// [`Fault::PayloadSize`](crate::Fault::PayloadSize) if the payload extends past the
/// input; those of [`varuint64`](super::varuint64). After an error, the rest of the block
/// cannot be read.
pub fn compressed_blob_v4<'a, 's, E: FromFault<'a>>(
    running: &'s mut BlobHeader,
) -> impl FnMut(&'a [u8]) -> IResult<&'a [u8], Blob<'a>, E> {
    move |input| compressed(running, input, careful_blob_v4)
}

/// A row with a compressed header, version 6 ([FORMAT.md 7.4](crate::format_guide#7.4)):
/// as [`compressed_blob_v4`], but
///
/// | flag | field | encoding | not announced |
/// |---|---|---|---|
/// | 0x10 | label list | varuint32 | as before |
/// | 0x20 | nothing: [`BlobHeader::has_reserved_flag`] | | |
///
/// # Errors
/// As [`compressed_blob_v4`].
pub fn compressed_blob_v6<'a, 's, E: FromFault<'a>>(
    running: &'s mut BlobHeader,
) -> impl FnMut(&'a [u8]) -> IResult<&'a [u8], Blob<'a>, E> {
    move |input| compressed(running, input, careful_blob_v6)
}

fn compressed<'a, E: FromFault<'a>>(
    running: &mut BlobHeader,
    input: &'a [u8],
    parse: impl Fn(&BlobHeader, &'a [u8]) -> Parsed<'a, (BlobHeader, Extent)>,
) -> IResult<&'a [u8], Blob<'a>, E> {
    let (rest, (header, extent)) = complete(parse(running, input))?;
    *running = header;
    Ok(blob_of(input, rest, header, extent))
}

/// A blob in any encoding. `running` is as in [`compressed_blob_v4`]; the other encodings
/// update it but do not use it.
///
/// ```
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// # let mut reader = nettrace_parser::Reader::from_slice(&bytes);
/// # let content = loop {
/// #     let block = reader.next_block()?.expect("an event block");
/// #     if block.kind() == nettrace_parser::BlockKind::Event { break block.content() }
/// # };
/// use nettrace_parser::{Version, raw};
/// use nom::{Parser, combinator::all_consuming, multi::many0};
///
/// let (rest, encoding) = raw::blob_encoding::<()>(Version::V4)(content)?;
/// let mut running = raw::BlobHeader::default();
/// let (_, blobs) = all_consuming(many0(raw::blob::<()>(encoding, &mut running))).parse(rest)?;
/// let numbers: Vec<u32> = blobs.iter().map(|blob| blob.header.sequence).collect();
/// assert_eq!(numbers, [1, 2, 3, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of the function for the encoding.
pub fn blob<'a, 's, E: FromFault<'a>>(
    encoding: BlobEncoding,
    running: &'s mut BlobHeader,
) -> impl FnMut(&'a [u8]) -> IResult<&'a [u8], Blob<'a>, E> {
    move |input| {
        let (rest, blob) = match encoding {
            BlobEncoding::FixedV3 => blob_v3(input),
            BlobEncoding::FixedV4 => blob_v4(input),
            BlobEncoding::FixedV6 => blob_v6(input),
            BlobEncoding::CompressedV4 => compressed(running, input, careful_blob_v4),
            BlobEncoding::CompressedV6 => compressed(running, input, careful_blob_v6),
        }?;
        *running = blob.header;
        Ok((rest, blob))
    }
}

/// The encoding of a block's blobs, from its header: event blocks begin with one in all
/// versions except 3, metadata blocks in versions 4 and 5 ([FORMAT.md
/// 5](crate::format_guide#5), [6.1](crate::format_guide#6.1)). The remaining input begins
/// with the first blob.
///
/// # Errors
/// As [`event_block_header`].
pub fn blob_encoding<'a, E: FromFault<'a>>(
    version: Version,
) -> impl Fn(&'a [u8]) -> IResult<&'a [u8], BlobEncoding, E> + Clone {
    move |input| match version {
        Version::V3 => Ok((input, BlobEncoding::FixedV3)),
        version => {
            let (rest, header) = event_block_header(input)?;
            Ok((rest, BlobEncoding::of(version, header.is_compressed)))
        }
    }
}
