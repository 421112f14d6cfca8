//! Tests of streams that no correct writer writes (`FORMAT.md` 13.6).

use crate::streams::*;
use nettrace_parser::check::Findings;
use nettrace_parser::{Class, Fault, Losses, Reader};
use nettrace_testdata::synth::*;

/// Returns the sequence numbers of all events, all findings that are not notes, and the losses.
fn read(bytes: &[u8]) -> (Vec<u32>, Vec<(Class, u64, Fault)>, Losses) {
    let mut given = Vec::new();
    let mut reader = Reader::from_slice(bytes);
    reader.for_each(|event| given.push(event.sequence_number())).unwrap();
    let findings =
        reader.damage().losses().map(|finding| (finding.class, finding.offset, finding.fault));
    let findings = findings.collect();
    let mut in_order = Vec::new();
    let mut ordered = Reader::from_slice(bytes).time_ordered();
    ordered.for_each(|event| in_order.push(event.sequence_number())).unwrap();
    in_order.sort_unstable();
    let mut expected = given.clone();
    expected.sort_unstable();
    assert_eq!(in_order, expected, "time order gives the same events");
    (given, findings, reader.losses().clone())
}

#[test]
fn rows_behind_one_outside_the_times_of_its_block_are_given_and_their_numbers_prove_no_loss() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        let block = EventBlock::new([on(11, 1, 1), on(11, 2, 9), on(11, 3, 9), on(11, 7, 9)]);
        let times = (Some(START + 1), Some(START + 5));
        stream.event_block(&EventBlock { min_ticks: times.0, max_ticks: times.1, ..block });
        // Events between 7 and 9 are unknown, but events between 9 and 12 are known to be lost.
        events(&mut stream, [on(11, 9, 10), on(11, 12, 11)]);
        stream.end();
        let (given, findings, losses) = read(&stream.bytes);
        assert_eq!(given, [1, 2, 3, 7, 9, 12]);
        assert!(
            matches!(findings[..], [(Class::Contradiction, _, Fault::TimeOutside(_))]),
            "{findings:?}"
        );
        assert_eq!(losses.total(), 2);
    }
}

#[test]
fn a_largest_time_that_no_row_has_is_a_contradiction() {
    let mut stream = begun(Version::V4);
    let block = EventBlock::new([on(11, 1, 1), on(12, 1, 3), on(11, 2, 2)]);
    stream.event_block(&EventBlock { max_ticks: Some(START + 4), ..block });
    stream.end();
    let (given, findings, _) = read(&stream.bytes);
    assert_eq!(given.len(), 3);
    let stated = START + 4;
    assert!(
        matches!(findings[..], [(Class::Contradiction, _, Fault::TimeUnmet { is_largest: true, stated: said })] if said == stated)
    );
}

#[test]
fn numbers_that_jump_and_come_back_are_no_loss_and_no_restart() {
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, 1, 1), on(11, 2, 2), on(11, 1003, 3), on(11, 1004, 4)]);
    events(&mut stream, [on(11, 5, 5), on(11, 6, 6)]);
    stream.end();
    let (_, findings, losses) = read(&stream.bytes);
    assert!(
        matches!(findings[..], [(Class::Contradiction, _, Fault::NumbersJump(1003))]),
        "{findings:?}"
    );
    assert_eq!((losses.total(), losses.restarts()), (0, 0));
}

#[test]
fn a_first_number_from_2_to_the_31_on_is_a_loss_unless_the_next_one_takes_it_back() {
    let first = (1 << 31) + 5;
    let seen = |numbers: &[u32]| {
        let mut stream = begun(Version::V4);
        events(&mut stream, (1..).zip(numbers).map(|(ticks, number)| on(11, *number, ticks)));
        point(&mut stream, 9, &[(11, *numbers.last().unwrap())]);
        stream.end();
        let (_, findings, losses) = read(&stream.bytes);
        let faults: Vec<_> = findings.into_iter().map(|(_, _, fault)| fault).collect();
        (faults, losses.total(), losses.restarts())
    };
    let lost = u64::from(first) - 1;
    assert_eq!(seen(&[first, first + 1]), (vec![], lost, 0));
    assert_eq!(seen(&[first, first + 3]), (vec![], lost + 2, 0));
    // The highest bit of the first number was wrong.
    let jumped = Fault::NumbersJump(first);
    assert_eq!(seen(&[first, 2, 3]), (vec![jumped], 0, 0));
    // After the largest number comes 0: two more are lost.
    let largest = u64::from(u32::MAX);
    assert_eq!(seen(&[u32::MAX, 2]), (vec![], largest - 1 + 2, 0));
}

#[test]
fn a_thread_that_no_sequence_point_lists_is_one_whose_id_is_wrong() {
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, 1, 1), on(11, 2, 2), on(77, 3, 3), on(77, 4, 4), on(11, 5, 5)]);
    point(&mut stream, 6, &[(11, 5)]);
    events(&mut stream, [on(11, 6, 7)]);
    stream.end();
    let (_, findings, losses) = read(&stream.bytes);
    assert!(
        matches!(findings[..], [(Class::Contradiction, _, Fault::StrayThread(77))]),
        "{findings:?}"
    );
    // Two events seem to be lost before the first number of thread 77, and two of thread 11. They
    // are the same events.
    assert_eq!((losses.total(), losses.by_thread().len()), (0, 0));
}

#[test]
fn losses_that_a_sequence_point_confirms_are_counted() {
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, 1, 1), on(11, 5, 2), on(12, 8, 3)]);
    point(&mut stream, 6, &[(11, 5), (12, 9)]);
    stream.end();
    let (_, findings, losses) = read(&stream.bytes);
    assert_eq!((findings.len(), losses.total()), (0, 3 + 7 + 1));
}

#[test]
fn an_id_that_is_listed_twice_counts_for_the_thread_that_wrote_last() {
    // First losses of the ended thread, then of the thread that has its id now.
    for of_old in [500, 3] {
        for is_old_first in [true, false] {
            let listed = |of_new: u32| {
                let entries = [(44, of_old), (44, of_new)];
                if is_old_first { entries } else { [entries[1], entries[0]] }
            };
            let mut stream = begun(Version::V4);
            events(&mut stream, (1..=of_old).map(|number| on(44, number, u64::from(number))));
            events(&mut stream, (1..=20).map(|number| on(44, number, 600 + u64::from(number))));
            point(&mut stream, 700, &listed(20));
            events(&mut stream, (21..=30).map(|number| on(44, number, 700 + u64::from(number))));
            point(&mut stream, 800, &listed(30));
            // Two events are lost. The list of the sequence point shows it before the next event
            // does.
            point(&mut stream, 900, &listed(32));
            events(&mut stream, [on(44, 33, 901)]);
            point(&mut stream, 902, &listed(33));
            stream.end();
            let (_, findings, losses) = read(&stream.bytes);
            assert_eq!((findings.len(), losses.total()), (0, 2), "{of_old}");
            assert_eq!(losses.restarts(), 1);
        }
    }
}

#[test]
fn threads_that_a_list_lacks_which_was_not_read_to_its_end_have_not_ended() {
    let whole = SequencePoint {
        ticks: START + 300,
        threads: vec![(11, 100), (12, 100)],
        ..SequencePoint::default()
    };
    let bytes = whole.content(Version::V4).bytes;
    // First the second entry is cut, then the header.
    for len in [bytes.len() - 9, 4] {
        let mut stream = begun(Version::V4);
        events(&mut stream, (1..=100).map(|number| on(11, number, u64::from(number))));
        events(&mut stream, (1..=100).map(|number| on(12, number, 100 + u64::from(number))));
        stream.part(PartKind::SequencePoint, Content::raw(bytes[..len].to_vec()));
        events(&mut stream, [on(11, 101, 401), on(12, 103, 402)]);
        point(&mut stream, 500, &[(11, 101), (12, 103)]);
        stream.end();
        let (_, findings, losses) = read(&stream.bytes);
        assert_eq!((losses.total(), losses.restarts()), (2, 0), "{len}");
        assert!(findings.iter().all(|(class, ..)| *class != Class::Contradiction), "{findings:?}");
    }
}

#[test]
fn a_thread_that_wrote_before_a_lost_sequence_point_is_not_searched_for_after_the_next() {
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, 1, 1), on(11, 2, 2), on(77, 3, 3), on(77, 4, 4)]);
    stream.part(PartKind::SequencePoint, Content::raw(vec![1, 2, 3, 4]));
    events(&mut stream, [on(11, 5, 11)]);
    point(&mut stream, 12, &[(11, 5)]);
    events(&mut stream, [on(11, 6, 21)]);
    point(&mut stream, 22, &[(11, 6)]);
    stream.end();
    let (_, findings, losses) = read(&stream.bytes);
    assert!(findings.iter().all(|(class, ..)| *class != Class::Contradiction), "{findings:?}");
    assert_eq!((losses.total(), losses.by_thread().len()), (2 + 2, 2));
}

#[test]
fn a_thread_that_a_list_did_not_have_yet_does_not_begin_among_rows_that_contradict_before_it() {
    let mut stream = begun(Version::V4);
    let block = EventBlock::new([on(11, 1, 1), on(11, 2, 9)]);
    let times = (Some(START + 1), Some(START + 5));
    stream.event_block(&EventBlock { min_ticks: times.0, max_ticks: times.1, ..block });
    // Only the next list shows whether a thread lost events.
    events(&mut stream, [on(12, 4, 10)]);
    point(&mut stream, 12, &[(11, 2), (12, 4), (13, 5)]);
    events(&mut stream, [on(14, 7, 14)]);
    point(&mut stream, 15, &[(11, 2), (12, 4), (13, 5), (14, 8), (15, 9)]);
    stream.end();
    let (_, findings, losses) = read(&stream.bytes);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(losses.total(), 6 + 1 + 9);
}

#[test]
fn a_first_number_above_2_31_is_wrong_if_the_thread_is_listed_with_a_small_one() {
    for first in [1 << 31, u32::MAX - 7] {
        let mut stream = begun(Version::V4);
        events(&mut stream, [on(11, 1, 1), on(12, first, 2), on(12, first + 1, 3)]);
        point(&mut stream, 4, &[(11, 1), (12, 2)]);
        events(&mut stream, [on(12, 3, 5), on(12, 5, 6)]);
        point(&mut stream, 7, &[(11, 1), (12, 5)]);
        stream.end();
        let (_, findings, losses) = read(&stream.bytes);
        assert!(
            matches!(findings[..], [(Class::Contradiction, _, Fault::NumbersJump(to))] if to == first),
            "{findings:?}"
        );
        assert_eq!(losses.total(), 1);
        assert_eq!(losses.restarts(), 0);
    }
    // If the thread goes on with such numbers, the numbers before are lost.
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, 1 << 31, 1), on(11, (1 << 31) + 1, 2)]);
    point(&mut stream, 4, &[(11, (1 << 31) + 1)]);
    stream.end();
    let (_, findings, losses) = read(&stream.bytes);
    assert_eq!((findings.len(), losses.total()), (0, (1 << 31) - 1));
}

#[test]
fn ids_whose_definitions_are_known_to_be_lost_are_no_contradiction_in_any_later_block() {
    let of_type = |metadata_id, number| Blob { metadata_id, ..event(number, u64::from(number)) };
    for version in EACH {
        let mut stream = begun(version);
        if version == Version::V6 {
            let mut rows = MetadataBlock::new(vec![row(2)]).content();
            // The provider's name ends after the row.
            let name = rows.bytes.windows(4).position(|bytes| bytes == b"Demo").unwrap();
            rows.bytes[name - 1] = 0x7f;
            stream.part(PartKind::Metadata, rows);
        } else {
            let mut payload = definition(2).encode();
            payload.truncate(20);
            let blob = Blob::definition(11, START, payload);
            if version == Version::V3 {
                events(&mut stream, [blob]);
            } else {
                stream.metadata_blobs(&EventBlock::new([blob]));
            }
        }
        let numbers = |version, number| if version == Version::V3 { 0 } else { number };
        for from in [1, 6] {
            events(
                &mut stream,
                (from..from + 5).map(|number| Blob {
                    sequence_number: numbers(version, number),
                    ..of_type(2, number)
                }),
            );
            if version != Version::V3 {
                point(&mut stream, u64::from(from) + 4, &[(11, from + 4)]);
            }
        }
        stream.end();
        let (given, findings, _) = read(&stream.bytes);
        assert_eq!(given.len(), 10, "{version:?} {findings:?}");
        assert!(findings.iter().all(|(class, ..)| *class != Class::Contradiction), "{findings:?}");
        assert_eq!(findings.len(), 1);
    }
    // The whole block is lost.
    let mut stream = begun(Version::V4);
    stream.part(PartKind::Metadata, Content::raw(vec![3, 0, 1, 0]));
    for from in [1, 6] {
        events(&mut stream, (from..from + 5).map(|number| of_type(2, number)));
        point(&mut stream, u64::from(from) + 4, &[(11, from + 4)]);
    }
    stream.end();
    let (given, findings, _) = read(&stream.bytes);
    assert_eq!((given.len(), findings.len()), (10, 1), "{findings:?}");
    assert_eq!(findings[0].0, Class::BlockLost);
}

#[test]
fn gaps_before_a_sequence_point_take_no_room_from_those_after_it() {
    let mut stream = begun(Version::V6);
    // More gaps than a reader remembers.
    const GAPS: u32 = 5000;
    events(&mut stream, (1..=GAPS).map(|n| on(11, 2 * n, u64::from(n))));
    point(&mut stream, 5001, &[(11, 2 * GAPS)]);
    events(&mut stream, [on(11, 2 * GAPS + 4, 5002), on(11, 7, 5003)]);
    stream.end();
    let (_, findings, losses) = read(&stream.bytes);
    assert!(
        matches!(findings[..], [(Class::Contradiction, _, Fault::NumberFell(7))]),
        "{findings:?}"
    );
    assert_eq!(losses.total(), u64::from(GAPS));
}

#[test]
fn a_minimum_version_beyond_the_types_own_costs_no_event() {
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, 1, 1), on(11, 2, 2)]);
    stream.end();
    let at = stream.nth(PartKind::Event, 0).start + 7;
    for minimum in [3, 0x0100_0002, i32::MAX as u32] {
        let bytes = Damage::u32(at, minimum).applied(&stream.bytes);
        let (given, findings, _) = read(&bytes);
        assert_eq!(given.len(), 2);
        assert!(
            matches!(findings[..], [(Class::Contradiction, _, Fault::MinimumVersion(_))]),
            "{findings:?}"
        );
    }
}

#[test]
fn a_type_name_with_one_wrong_letter_is_read_as_the_one_it_resembles_and_said_so() {
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, 1, 1), on(11, 2, 2)]);
    stream.end();
    // Tags, version, minimum version and length stand before the name.
    let name = stream.nth(PartKind::Event, 0).start + 15;
    for letter in [0, 5, 9] {
        let mut bytes = stream.bytes.clone();
        bytes[name + letter] ^= 0x04;
        let (given, findings, _) = read(&bytes);
        assert_eq!(given.len(), 2);
        assert!(
            matches!(findings[..], [(Class::Contradiction, _, Fault::TypeName)]),
            "{findings:?}"
        );
        assert!(!Fault::TypeName.to_string().contains("skipped"));
        let report = Findings::read(&mut Reader::from_slice(&bytes)).unwrap();
        let kinds: Vec<_> = report.counts().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, ["type_name"]);
    }
}

/// Returns the sequence numbers of the events whose type and thread are known, and all findings
/// that are not notes.
fn known(bytes: &[u8]) -> (Vec<u32>, Vec<Fault>) {
    let (mut reader, mut known) = (Reader::from_slice(bytes), Vec::new());
    while let Some(event) = reader.next_event().unwrap() {
        if event.metadata().is_some() && event.thread_id().is_some() {
            known.push(event.sequence_number());
        }
    }
    (known, reader.damage().losses().map(|finding| finding.fault).collect())
}

/// Returns a stream of six blocks of ten events each.
fn sixty(version: Version) -> Stream {
    let mut stream = begun(version);
    for block in 0..6 {
        events(&mut stream, (1..=10).map(|row| on(11, 10 * block + row, u64::from(row))));
    }
    stream.end();
    stream
}

#[test]
fn a_changed_bit_of_a_kind_of_version_6_costs_no_event() {
    let stream = sixty(Version::V6);
    for (kind, number) in [(PartKind::Metadata, 3u8), (PartKind::Event, 2)] {
        let start = stream.nth(kind, 0).start;
        for bit in 0..8 {
            let mut bytes = stream.bytes.clone();
            assert_eq!(bytes[start + 3], number);
            bytes[start + 3] ^= 1 << bit;
            let (given, findings) = known(&bytes);
            assert_eq!(given, (1..=60).collect::<Vec<u32>>(), "{kind:?}, bit {bit}");
            assert_eq!(findings, [Fault::ChangedKind(bytes[start + 3])], "{kind:?}, bit {bit}");
        }
    }
}

#[test]
fn zeros_in_place_of_a_header_of_version_6_cost_no_event() {
    let stream = sixty(Version::V6);
    let mut bytes = stream.bytes.clone();
    bytes[stream.nth(PartKind::Event, 1).start..][..4].fill(0);
    let (given, findings) = known(&bytes);
    assert_eq!(given, (1..=60).collect::<Vec<u32>>());
    assert_eq!(findings, [Fault::UnknownBlock(0)]);
}

#[test]
fn another_byte_in_place_of_an_objects_begin_tag_costs_no_event() {
    for version in OBJECTS {
        let stream = sixty(version);
        for tag in [0, 1, 7, 13, 0xff] {
            let mut bytes = stream.bytes.clone();
            bytes[stream.nth(PartKind::Event, 1).start] = tag;
            let (given, findings) = known(&bytes);
            // Events of version 3 have no numbers.
            assert_eq!(given.len(), 60, "{version:?}, {tag}");
            assert!(matches!(findings[..], [Fault::Tag { found, .. }] if found == tag || tag == 1));
        }
    }
}

#[test]
fn a_sequence_point_that_lists_thread_0_twice_proves_no_loss() {
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, 1, 1), on(12, 1, 2)]);
    point(&mut stream, 3, &[(11, 1), (0, 0), (0, 0)]);
    events(&mut stream, [on(11, 2, 4), on(12, 2, 5)]);
    stream.end();
    let (given, findings, losses) = read(&stream.bytes);
    assert_eq!((given.len(), losses.total()), (4, 0));
    assert!(
        matches!(findings[..], [(Class::Contradiction, _, Fault::UndefinedThread(0))]),
        "{findings:?}"
    );
}

#[test]
fn a_listed_number_from_which_its_thread_does_not_go_on_is_no_loss() {
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, 1, 1), on(11, 2, 2)]);
    point(&mut stream, 3, &[(11, 1002)]);
    events(&mut stream, [on(11, 3, 4)]);
    stream.end();
    let (_, findings, losses) = read(&stream.bytes);
    assert!(
        matches!(findings[..], [(Class::Contradiction, _, Fault::NumbersJump(1002))]),
        "{findings:?}"
    );
    assert_eq!((losses.total(), losses.restarts()), (0, 0));
    // If the thread goes on from there, the events are lost.
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, 1, 1), on(11, 2, 2)]);
    point(&mut stream, 3, &[(11, 1002)]);
    events(&mut stream, [on(11, 1003, 4)]);
    stream.end();
    let (_, findings, losses) = read(&stream.bytes);
    assert_eq!((findings.len(), losses.total()), (0, 1000));
}

#[test]
fn a_new_thread_with_the_id_of_one_that_lost_all_its_events_is_no_damage() {
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, 1, 1)]);
    point(&mut stream, 3, &[(11, 1), (12, 50)]);
    events(&mut stream, [on(11, 2, 4), on(12, 1, 5), on(12, 2, 6)]);
    stream.end();
    let (given, findings, losses) = read(&stream.bytes);
    assert_eq!((given.len(), findings.len(), losses.total()), (4, 0, 50));
}

#[test]
fn a_payload_of_version_6_that_takes_in_the_rows_after_it_is_damage() {
    let mut whole = begun(Version::V6);
    events(&mut whole, (1..=50).map(|number| on(11, number, 5 * u64::from(number))));
    whole.end();
    let (mut reader, mut places) = (Reader::from_slice(&whole.bytes), Vec::new());
    while let Some(event) = reader.next_event().unwrap() {
        places.push((event.offset() as usize, event.payload_offset() as usize + 4));
    }
    let rows = &whole.bytes[places[1].0..places[39].1];
    let mut stream = begun(Version::V6);
    let first = on(11, 1, 5);
    let payload = [&first.payload, rows].concat();
    let times = (Some(START), Some(START + 500));
    let block = EventBlock::new([Blob { payload, ..first }]);
    stream.event_block(&EventBlock { min_ticks: times.0, max_ticks: times.1, ..block });
    stream.end();
    let (given, findings, _) = read(&stream.bytes);
    assert_eq!(given, [1]);
    let size = 4 + rows.len() as u32;
    assert!(
        matches!(findings[..], [(Class::Contradiction, _, Fault::RowsInPayload(found))] if found == size),
        "{findings:?}"
    );
}

#[test]
fn rows_of_zeros_of_version_6_are_a_contradiction() {
    let mut stream = begun(Version::V6);
    events(&mut stream, (1..=100).map(|row| on(11, row, u64::from(row))));
    stream.end();
    let block = stream.nth(PartKind::Event, 0);
    let mut bytes = stream.bytes.clone();
    // Overwrites all rows after the first, up to the last bytes.
    bytes[block.start + 80..block.end - 8].fill(0);
    let (_, findings) = known(&bytes);
    assert!(findings.contains(&Fault::Zeros), "{findings:?}");
}

#[test]
fn kilobytes_of_rows_of_zeros_of_versions_4_and_5_are_a_contradiction() {
    for version in [Version::V4, Version::V5] {
        for (rows, due) in [(1500, &[Fault::Zeros][..]), (60, &[])] {
            let mut stream = begun(version);
            let row = |row| Blob { payload: vec![0; 4], ..on(11, row, 5) };
            events(&mut stream, (1..=rows).map(row));
            stream.end();
            let (given, findings) = known(&stream.bytes);
            assert_eq!((given.len(), &findings[..]), (rows as usize, due), "{version:?}");
        }
    }
}
