//! Any bytes: nothing panics, nothing is reserved for a count, and what is too short is
//! said to be.

use crate::allocation::usage;
use crate::invariants::targets::raw::assert_each_is_calm;
use nettrace_parser::raw::{self, FaultAt, Origin};
use nettrace_parser::{Fault, Reader, Version};
use nettrace_testdata::cases;
use nettrace_testdata::synth::{
    self, Content, PartKind, Stream, Trace, malformed, tiny_v4, tiny_v6,
};
use nom::{Err, Needed};

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
        // Content begins at some of these.
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

/// Asking for what is missing leads to the end of the object or block, and never beyond
/// it.
#[test]
fn framing_that_is_cut_asks_for_no_more_than_is_missing() {
    for (stream, version) in [(tiny_v4(), Version::V4), (tiny_v6(), Version::V6 { minor: 0 })] {
        for part in &stream.parts {
            let is_block = !matches!(part.kind, PartKind::StreamHeader | PartKind::End);
            for end in part.start..part.end {
                let window = &stream.bytes[part.start..end];
                let origin = Origin::at(part.start as u64, window);
                let needed = match part.kind {
                    // Its version follows from the first object too.
                    PartKind::StreamHeader => continue,
                    _ if is_block => raw::block::<()>(version, origin)(window).unwrap_err(),
                    _ => raw::end_of_stream::<()>(version)(window).unwrap_err(),
                };
                let Err::Incomplete(Needed::Size(bytes)) = needed else { panic!("{needed:?}") };
                assert!(end + bytes.get() <= part.end, "{part:?} cut at {end}: {bytes}");
            }
        }
        for end in 0..stream.parts[0].end {
            let header = raw::stream_header::<()>(&stream.bytes[..end]);
            assert!(matches!(header, Err(Err::Incomplete(Needed::Size(_)))), "{end}: {header:?}");
        }
    }
}

#[test]
fn a_window_that_begins_anywhere_in_a_stream_pads_as_the_stream_does() {
    let stream = tiny_v4();
    for part in stream.parts.iter().filter(|part| part.end_tag.is_some()) {
        let window = &stream.bytes[part.start..];
        let (rest, object) =
            raw::object::<()>(Origin::at(part.start as u64, window))(window).unwrap();
        assert_eq!(object.block.content(), &stream.bytes[part.content.clone()]);
        assert_eq!(object.block.span().start, part.content.start as u64);
        assert_eq!(rest.len(), stream.bytes.len() - part.end);
    }
}

#[test]
fn a_fault_in_a_part_that_carries_its_size_is_told_where_it_lies() {
    // Type 99 of the first of two fields. What is left of the field does not reach to the
    // end of the list.
    let list = [2, 0, 3, 0, 1, b'a', 99, 3, 0, 1, b'b', 9];
    let Err(Err::Error(at)) = raw::field_list_v6::<FaultAt<'_>>(&list) else {
        panic!("there is no type 99")
    };
    assert_eq!((at.fault, at.offset_in(&list)), (Fault::TypeCode(99), 6));

    // A reader says the same of the row that holds the list.
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
        assert!(raw::field_list_v1::<()>(&huge).is_err());
        assert!(raw::field_list_v2::<()>(&huge).is_err());
        assert!(raw::field_list_v6::<()>(&of_v6).is_err());
        assert!(raw::trace_block_v6::<()>(&trace).is_err());
        assert!(raw::stack_row::<()>(&huge).is_err());
        assert!(raw::blob_v3::<()>(&[0xff; 80]).is_err());
        assert!(raw::string_v6::<()>(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0]).is_err());
    });
    assert!(usage.peak < 4096, "{usage:?}");
}

#[test]
fn types_that_are_nested_without_end_are_refused_and_do_not_end_the_stack() {
    // In version 6 a byte a level is enough: arrays of arrays.
    let list = [&[1, 0, 0xfe, 0xff, 0][..], &vec![19; 0xfffd]].concat();
    let Err(Err::Error(at)) = raw::field_list_v6::<FaultAt<'_>>(&list) else {
        panic!("deeper than a limit")
    };
    assert_eq!(at.fault, Fault::TypeDepth);
    // Objects of objects.
    let list =
        [1, 0, 0, 0].into_iter().chain([1, 0, 0, 0]).cycle().take(80_000).collect::<Vec<u8>>();
    let Err(Err::Error(at)) = raw::field_list_v1::<FaultAt<'_>>(&list) else {
        panic!("deeper than a limit")
    };
    assert_eq!(at.fault, Fault::TypeDepth);
}
