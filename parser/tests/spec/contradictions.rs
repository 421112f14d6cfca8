//! What no sound writer writes (`FORMAT.md` 13.6).

use crate::streams::*;
use nettrace_parser::{Class, Fault, Limits, Losses, Reader, Whole};
use nettrace_testdata::synth::*;

/// Thread, number and mark of each event that is given.
type Given = Vec<(u64, u32, bool)>;

/// What is given, findings but notes, and losses.
fn read(bytes: &[u8], limits: Limits) -> (Given, Vec<(Class, u64, Fault)>, Losses) {
    let mut given = Vec::new();
    let mut reader = Reader::with_limits(Whole::new(bytes), limits);
    reader
        .for_each(|event| given.push((event.capture_thread(), event.sequence_number(), event.is_doubted())))
        .unwrap();
    let findings = reader.damage().losses().map(|finding| (finding.class, finding.offset, finding.fault));
    let findings = findings.collect();
    let mut in_order = Vec::new();
    let mut ordered = Reader::with_limits(Whole::new(bytes), limits).time_ordered();
    ordered.for_each(|event| in_order.push((event.sequence_number(), event.is_doubted()))).unwrap();
    in_order.sort_unstable();
    let mut expected: Vec<_> = given.iter().map(|(_, number, is_doubted)| (*number, *is_doubted)).collect();
    expected.sort_unstable();
    assert_eq!(in_order, expected, "time order gives the same marks");
    (given, findings, reader.losses().clone())
}

#[test]
fn rows_behind_one_outside_the_times_of_its_block_are_doubted_and_can_be_left_out() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        let block = EventBlock::new([on(11, 1, 1), on(11, 2, 9), on(11, 3, 9), on(11, 4, 9)]);
        let times = (Some(START + 1), Some(START + 5));
        stream.event_block(&EventBlock { min_ticks: times.0, max_ticks: times.1, ..block });
        events(&mut stream, [on(11, 5, 10), on(11, 6, 11)]);
        stream.end();
        let (given, findings, losses) = read(&stream.bytes, Limits::new());
        let marks: Vec<_> = given.iter().map(|(_, _, is_doubted)| *is_doubted).collect();
        assert_eq!(marks, [false, true, true, true, false, false]);
        assert!(matches!(findings[..], [(Class::Contradiction, _, Fault::TimeOutside(_))]), "{findings:?}");
        // Whether numbers 3 and 4 are there is doubted, and so is what lies between 2 and 5.
        assert_eq!((losses.total(), losses.doubted()), (0, 2));
        let (given, findings, _) = read(&stream.bytes, Limits::new().only_sound(true));
        assert_eq!(given.iter().map(|(_, number, _)| *number).collect::<Vec<_>>(), [1, 5, 6]);
        assert_eq!(findings.len(), 1);
    }
}

#[test]
fn a_largest_time_that_no_row_has_is_a_contradiction() {
    let mut stream = begun(Version::V4);
    let block = EventBlock::new([on(11, 1, 1), on(12, 1, 3), on(11, 2, 2)]);
    stream.event_block(&EventBlock { max_ticks: Some(START + 4), ..block });
    stream.end();
    let (given, findings, _) = read(&stream.bytes, Limits::new());
    assert!(given.iter().all(|(_, _, is_doubted)| !is_doubted), "all were given before that showed");
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
    let (_, findings, losses) = read(&stream.bytes, Limits::new());
    assert!(matches!(findings[..], [(Class::Contradiction, _, Fault::NumbersJump(1003))]), "{findings:?}");
    assert_eq!((losses.total(), losses.doubted(), losses.restarts()), (0, 1000, 0));
}

#[test]
fn a_thread_that_no_sequence_point_lists_is_one_whose_id_is_wrong() {
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, 1, 1), on(11, 2, 2), on(77, 3, 3), on(77, 4, 4), on(11, 5, 5)]);
    point(&mut stream, 6, &[(11, 5)]);
    events(&mut stream, [on(11, 6, 7)]);
    stream.end();
    let (_, findings, losses) = read(&stream.bytes, Limits::new());
    assert!(matches!(findings[..], [(Class::Contradiction, _, Fault::StrayThread(77))]), "{findings:?}");
    // Two seem to be lost before 77's first number, and two of 11's, which are those of 77.
    assert_eq!((losses.total(), losses.doubted(), losses.thread_count()), (0, 4, 0));
}

#[test]
fn losses_that_a_sequence_point_confirms_are_sure() {
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, 1, 1), on(11, 5, 2), on(12, 8, 3)]);
    point(&mut stream, 6, &[(11, 5), (12, 9)]);
    stream.end();
    let (_, findings, losses) = read(&stream.bytes, Limits::new());
    assert_eq!((findings.len(), losses.total(), losses.doubted()), (0, 3 + 7 + 1, 0));
}

#[test]
fn a_minimum_version_beyond_the_types_own_costs_no_event() {
    let mut stream = begun(Version::V4);
    events(&mut stream, [on(11, 1, 1), on(11, 2, 2)]);
    stream.end();
    let at = stream.nth(PartKind::Event, 0).start + 7;
    for minimum in [3, 0x0100_0002, i32::MAX as u32] {
        let bytes = Damage::u32(at, minimum).applied(&stream.bytes);
        let (given, findings, _) = read(&bytes, Limits::new());
        assert_eq!(given.len(), 2);
        assert!(
            matches!(findings[..], [(Class::Contradiction, _, Fault::MinimumVersion(_))]),
            "{findings:?}"
        );
    }
}
