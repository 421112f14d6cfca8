//! Tests of the functions of `raw` with any bytes: no panic, and no memory reserved for a count.

use crate::allocation::usage;
use crate::invariants::targets::raw::assert_each_is_calm;
use nettrace_parser::raw::{self, BlobEncoding, BlobHeader};
use nettrace_parser::{Fault, Reader};
use nettrace_testdata::cases;
use nettrace_testdata::synth::{
    self, Content, PartKind, Stream, Trace, malformed, tiny_v4, tiny_v6,
};
use nom::Err;

#[test]
fn every_function_bears_every_beginning_and_every_end_of_a_stream() {
    for bytes in [tiny_v4().bytes, tiny_v6().bytes] {
        for at in 0..bytes.len() {
            assert_each_is_calm(&bytes[..at]);
            assert_each_is_calm(&bytes[at..]);
        }
    }
}

#[test]
fn every_function_bears_the_blocks_of_all_malformed_streams() {
    for (_, bytes) in malformed() {
        // Some of these positions are starts of content.
        let step = (28 / cases(1)).max(1) as usize;
        for at in (0..bytes.len().min(400)).step_by(step) {
            assert_each_is_calm(&bytes[at..]);
        }
    }
}

#[test]
fn every_function_bears_the_largest_and_the_smallest_numbers() {
    for byte in [0, 1, 0x7f, 0x80, 0xff] {
        for length in 0..200 {
            assert_each_is_calm(&vec![byte; length]);
        }
    }
}

#[test]
fn a_window_that_begins_anywhere_in_a_stream_pads_as_the_stream_does() {
    let stream = tiny_v4();
    for part in stream.parts.iter().filter(|part| part.end_tag.is_some()) {
        let window = &stream.bytes[part.start..];
        let (_, (_, span)) = raw::object_header(part.start as u64)(window).unwrap();
        assert_eq!(span.start as usize..span.end() as usize, part.content);
    }
}

#[test]
fn a_fault_in_a_part_that_carries_its_size_is_told_where_it_lies() {
    // The first of two fields has the unknown type 99. The rest of an error inside the field ends
    // with the field, not with the list.
    let list = [2, 0, 3, 0, 1, b'a', 99, 3, 0, 1, b'b', 9];
    let Err(Err::Error(at)) = raw::field_list_v6(&list) else { panic!("there is no type 99") };
    assert_eq!((at.fault, at.offset_in(&list)), (Fault::TypeCode(99), 6));

    // A reader refuses a row with this list at the same place.
    let row = [&[1, 1, b'P', 7, 1, b'N'][..], &list].concat();
    let content = [&[0, 0, row.len() as u8, 0][..], &row].concat();
    let mut stream = Stream::new(synth::Version::V6);
    stream.trace(&Trace::default()).part(PartKind::Metadata, Content::raw(content)).end();
    let mut reader = Reader::from_slice(&stream.bytes);
    assert!(reader.next_event().unwrap().is_none());
    let note = reader.damage().notes().next().unwrap();
    let list_at = stream.nth(PartKind::Metadata, 0).content.start + 10;
    assert_eq!((note.fault, note.offset), (Fault::TypeCode(99), list_at as u64 + 6));
}

#[test]
fn counts_and_sizes_of_two_thousand_millions_reserve_nothing() {
    let huge = [&i32::MAX.to_le_bytes()[..], &[9, 0, 0, 0, b'n', 0, 0, 0]].concat();
    let of_v6 = [0xff, 0xff, 3, 0, 1, b'n', 9];
    let trace = [&[0; 32][..], &8i32.to_le_bytes(), &i32::MAX.to_le_bytes(), &[0; 8]].concat();
    let (_, usage) = usage(|| {
        assert!(raw::field_list_v1(&huge).is_err());
        assert!(raw::field_list_v2(&huge).is_err());
        assert!(raw::field_list_v6(&of_v6).is_err());
        assert!(raw::trace_block_v6(&trace).is_err());
        assert!(raw::stack_row(&huge).is_err());
        let mut running = BlobHeader::default();
        assert!(raw::blob(BlobEncoding::FixedV3, &mut running)(&[0xff; 80]).is_err());
        assert!(raw::string_v6(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0]).is_err());
    });
    assert!(usage.peak < 4096, "{usage:?}");
}

#[test]
fn types_that_are_nested_without_end_are_refused_and_do_not_end_the_stack() {
    // In version 6 nested arrays take a byte for each level.
    let list = [&[1, 0, 0xfe, 0xff, 0][..], &vec![19; 0xfffd]].concat();
    let Err(Err::Error(at)) = raw::field_list_v6(&list) else { panic!("deeper than a limit") };
    assert_eq!(at.fault, Fault::TypeDepth);
    // Nested objects.
    let list =
        [1, 0, 0, 0].into_iter().chain([1, 0, 0, 0]).cycle().take(80_000).collect::<Vec<u8>>();
    let Err(Err::Error(at)) = raw::field_list_v1(&list) else { panic!("deeper than a limit") };
    assert_eq!(at.fault, Fault::TypeDepth);
}
