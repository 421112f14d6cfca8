//! Fuzz target: any bytes as input of each function of `raw`. They are also read as rows of an
//! event block and as a stream, and the results are compared with a reader's.

use super::blob::begun;
use super::choices::Choices;
use crate::invariants::Questions;
use crate::invariants::rows::{all, assert_raw_rows_are_the_readers};
use nettrace_parser::raw::nom::Err;
use nettrace_parser::raw::{self, BlobEncoding, BlobHeader, Parsed};
use nettrace_testdata::synth::{BlobLayout, Content, EventBlock, PartKind, Version};

pub(crate) fn raw(bytes: &[u8], mut questions: Questions) {
    let mut choices = Choices::new(bytes);
    let what = choices.u8();
    let input = choices.rest();
    if input.len() > super::MAX_BYTES {
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
    let mut content = EventBlock::default().layout(layout).content(version).bytes;
    content.extend_from_slice(choices.rest());
    let mut stream = begun(version);
    stream.part(PartKind::Event, Content::raw(content));
    // First without bytes after the rows, then with so many that a reader decodes all rows fast.
    assert_raw_rows_are_the_readers(&stream.bytes);
    stream.event_block(&EventBlock::new([]));
    stream.bytes.extend_from_slice(&[0; 200]);
    assert_raw_rows_are_the_readers(&stream.bytes);
}

/// Calls each function with the input.
macro_rules! each {
    ($input:expr; $($name:ident),* $(,)?) => {
        $(assert_calm(stringify!($name), $input, raw::$name($input));)*
    };
}

/// Calls every function of `raw` with the input.
pub(crate) fn assert_each_is_calm(input: &[u8]) {
    each!(input;
        varuint32, varuint64, utf16z, string_v6, sized_row, stream_header, trace_object,
        trace_block_v6, block_header_v6, event_block_header, metadata_block_header_v6, id_range, sequence_point_v4, sequence_point_v6,
        metadata_payload, metadata_tag, metadata_row_v6, optional_metadata, field_list_v1,
        field_list_v2, field_list_v6, stack_row, thread_entry, sequence_entry_v4, sequence_entry_v6, label,
        label_list,
    );
    for position in [0, 1, 2, 3, u64::MAX - 2] {
        assert_calm("object_header", input, raw::object_header(position)(input));
    }
    let encodings = [
        BlobEncoding::FixedV3,
        BlobEncoding::FixedV4,
        BlobEncoding::CompressedV4,
        BlobEncoding::FixedV6,
        BlobEncoding::CompressedV6,
    ];
    for encoding in encodings {
        let mut running = BlobHeader::default();
        let read = raw::blob(encoding, &mut running)(input);
        if let Ok((_, blob)) = read {
            assert!(blob.payload().len() + blob.stack().len() <= blob.bytes.len());
        }
        assert_calm("blob", input, read);
    }
    if let Ok((_, labels)) = raw::label_list(input) {
        assert!(all(raw::label, labels).len() <= labels.len());
    }
}

/// Asserts that the rest is the end of the input, and that an error lies within the input.
fn assert_calm<T>(name: &str, input: &[u8], read: Parsed<'_, T>) {
    match read {
        Ok((rest, _)) => {
            assert!(rest.len() <= input.len(), "{name}");
            let end = &input[input.len() - rest.len()..];
            assert!(std::ptr::eq(end, rest), "{name}: what is left is the input's end");
        }
        // The rest of an error inside a sized row may end with the row, before the end of the
        // input.
        Err(Err::Error(at)) => {
            let offset = at.offset_in(input);
            let part = input.get(offset..).and_then(|rest| rest.get(..at.rest.len()));
            let is_part = part.is_some_and(|part| std::ptr::eq(part, at.rest));
            assert!(is_part, "{name}: {at:?} is a part of the input");
        }
        Err(other) => panic!("{name}: {other:?}"),
    }
}
