//! Any bytes for the functions of `raw`: as each of the things they read, as rows of an
//! event block beside a reader, and as a stream beside a reader.

use super::blob::begun;
use super::choices::Choices;
use crate::invariants::Questions;
use crate::invariants::rows::assert_raw_rows_are_the_readers;
use nettrace_parser::raw::{self, BlobEncoding, BlobHeader, FaultAt, Origin, nom};
use nettrace_parser::{Fault, Version as Read};
use nettrace_testdata::synth::{BlobLayout, Content, EventBlock, PartKind, Version};
use nom::error::{Error, ErrorKind};
use nom::{Err, IResult};
use std::fmt::Debug;

pub(crate) fn raw(bytes: &[u8], mut questions: Questions) {
    let mut choices = Choices::new(bytes);
    let what = choices.u8();
    let input = choices.rest();
    if input.len() > super::MOST_BYTES {
        return;
    }
    match what % 4 {
        0 => assert_raw_rows_are_the_readers_of_blocks(input),
        1 => {
            assert_raw_rows_are_the_readers(input);
        }
        _ => assert_each_is_calm(input),
    }
    if questions.ask(4) {
        assert_each_is_calm(bytes);
    }
}

fn assert_raw_rows_are_the_readers_of_blocks(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let version = Version::ALL[choices.below(4)];
    let layout =
        if choices.u8() & 1 == 1 { BlobLayout::Compressed } else { BlobLayout::Uncompressed };
    let mut content = EventBlock::default().with_layout(layout).content(version).bytes;
    content.extend_from_slice(choices.rest());
    let mut stream = begun(version);
    stream.part(PartKind::Event, Content::raw(content));
    // Nothing follows; then so much that a reader takes all rows the fast way.
    assert_raw_rows_are_the_readers(&stream.bytes);
    stream.event_block(&EventBlock::new([]));
    stream.bytes.extend_from_slice(&[0; 200]);
    assert_raw_rows_are_the_readers(&stream.bytes);
}

/// A function, with the error type that says most and with nom's own.
macro_rules! each {
    ($input:expr; $($name:ident),* $(,)?) => {
        $(both(stringify!($name), $input, raw::$name::<FaultAt<'_>>, raw::$name::<Error<&[u8]>>);)*
    };
}

/// Hands the input to every function.
pub(crate) fn assert_each_is_calm(input: &[u8]) {
    each!(input;
        le_u8, le_u16, le_i16, le_u32, le_i32, le_u64, le_i64, varuint32, varuint64, varint64, utf16z, string_v6, guid, sized_row, stream_header, object_type, trace_object,
        trace_block_v6, event_block_header, metadata_block_header_v6, id_range, sequence_point_v4, sequence_point_v6,
        blob_v3, blob_v4, blob_v6, metadata_payload, metadata_tag, metadata_row_v6, optional_metadata, field_list_v1,
        field_list_v2, field_list_v6, stack_row, thread_row, thread_entry, sequence_entry_v4, sequence_entry_v6, label,
        label_list,
    );
    for position in [0, 1, 2, 3, u64::MAX - 2] {
        let origin = Origin::at(position, input);
        both(
            "object",
            input,
            raw::object::<FaultAt<'_>>(origin),
            raw::object::<Error<&[u8]>>(origin),
        );
        both(
            "block_v6",
            input,
            raw::block_v6::<FaultAt<'_>>(origin),
            raw::block_v6::<Error<&[u8]>>(origin),
        );
    }
    for version in [Read::V3, Read::V4] {
        let (one, other) = (
            raw::end_of_stream::<FaultAt<'_>>(version),
            raw::end_of_stream::<Error<&[u8]>>(version),
        );
        both("end_of_stream", input, one, other);
    }
    let encodings = [
        BlobEncoding::FixedV3,
        BlobEncoding::FixedV4,
        BlobEncoding::CompressedV4,
        BlobEncoding::FixedV6,
        BlobEncoding::CompressedV6,
    ];
    for encoding in encodings {
        let (mut one, mut other) = (BlobHeader::default(), BlobHeader::default());
        both(
            "blob",
            input,
            raw::blob::<FaultAt<'_>>(encoding, &mut one),
            raw::blob::<Error<&[u8]>>(encoding, &mut other),
        );
        assert_eq!(one, other);
    }
    if let Ok((_, list)) = raw::label_list::<()>(input) {
        assert!(list.iter().count() > 0 && list.iter().count() <= list.bytes().len());
    }
}

/// Whatever the error type is, the same is given, and what is left is the end of the
/// input; so is the place of an error.
fn both<'a, T: Debug>(
    name: &str,
    input: &'a [u8],
    mut one: impl FnMut(&'a [u8]) -> IResult<&'a [u8], T, FaultAt<'a>>,
    mut other: impl FnMut(&'a [u8]) -> IResult<&'a [u8], T, Error<&'a [u8]>>,
) {
    match (one(input), other(input)) {
        (Ok((rest, value)), Ok((other_rest, other_value))) => {
            assert_end(name, input, rest);
            assert_eq!(rest, other_rest, "{name}");
            assert_eq!(format!("{value:?}"), format!("{other_value:?}"), "{name}");
        }
        (Err(Err::Error(at)), Err(Err::Error(error))) => {
            assert_part(name, input, at);
            assert_eq!(at.rest, error.input, "{name}");
            let (is_truncated, is_eof) =
                (at.fault == Fault::Truncated, error.code == ErrorKind::Eof);
            assert_eq!(
                is_truncated || at.fault == Fault::HeaderTruncated,
                is_eof,
                "{name}: {at:?}"
            );
        }
        (Err(Err::Incomplete(needed)), Err(Err::Incomplete(other_needed))) => {
            assert_eq!(needed, other_needed, "{name}");
        }
        (one, other) => panic!("{name}: {one:?}, {other:?}"),
    }
}

fn assert_end(name: &str, input: &[u8], rest: &[u8]) {
    assert!(rest.len() <= input.len(), "{name}");
    assert!(
        std::ptr::eq(&input[input.len() - rest.len()..], rest),
        "{name}: what is left is the input's end"
    );
}

/// What is wrong may lie in a row that carries its size, so it need not reach to the end.
fn assert_part(name: &str, input: &[u8], at: FaultAt<'_>) {
    let offset = at.offset_in(input);
    let part = input.get(offset..).and_then(|rest| rest.get(..at.rest.len()));
    assert!(
        part.is_some_and(|part| std::ptr::eq(part, at.rest)),
        "{name}: {at:?} is a part of the input"
    );
}
