//! Tests what a sequence point of version 6 makes a reader forget (FORMAT.md 7.9, 9.4).

use crate::snapshot::{ordered, read};
use crate::streams::{START, event, events, on, row};
use crate::v6::*;
use nettrace_parser::{Class, Fault};
use nettrace_testdata::synth::*;

#[test]
fn t154_a_sequence_point_without_flags_keeps_threads_and_metadata() {
    for flags in [0, 4, 0xffff_fffc] {
        let mut stream = v6();
        events(&mut stream, [on(11, 1, 1)]);
        flagged(&mut stream, flags);
        events(&mut stream, [on(11, 2, 6), on(12, 1, 7)]);
        stream.end();
        let outcome = read(&stream.bytes);
        let seen: Vec<_> =
            outcome.events.iter().map(|event| (event.name.as_str(), event.thread)).collect();
        assert_eq!(seen, [("Hi", Some(11)), ("Hi", Some(11)), ("Hi", Some(12))]);
        assert!(outcome.is_flawless());
    }
}

#[test]
fn t155_flag_1_forgets_threads_after_the_numbers_have_been_checked() {
    let mut stream = v6();
    events(&mut stream, [on(11, 1, 1)]);
    stream.sequence_point(&SequencePoint {
        ticks: START + 5,
        flags: SequencePoint::FORGET_THREADS,
        threads: vec![(11, 4), (12, 2)],
        ..SequencePoint::default()
    });
    events(&mut stream, [on(12, 1, 6)]);
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 5, 555)]));
    events(&mut stream, [on(11, 1, 7)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.lost_by_thread, std::collections::BTreeMap::from([(11, 3), (12, 2)]));
    let seen: Vec<_> =
        outcome.events.iter().map(|event| (event.name.as_str(), event.thread)).collect();
    assert_eq!(seen, [("Hi", Some(11)), ("Hi", None), ("Hi", Some(555))]);
    assert_eq!(
        outcome.damage(),
        [(Class::Contradiction, outcome.events[1].offset, Fault::UndefinedThread(12))]
    );
}

#[test]
fn t156_flag_2_forgets_metadata_and_an_id_may_be_defined_anew() {
    let mut stream = v6();
    events(&mut stream, [event(1, 1)]);
    flagged(&mut stream, SequencePoint::FORGET_METADATA);
    events(&mut stream, [event(2, 6)]);
    let renamed = MetadataRow { name: "New".into(), event_id: 70, ..row(1) };
    stream.metadata_rows(&MetadataBlock::new(vec![renamed]));
    events(&mut stream, [event(3, 7)]);
    stream.end();
    let outcome = read(&stream.bytes);
    let seen: Vec<_> =
        outcome.events.iter().map(|event| (event.name.as_str(), event.id, event.thread)).collect();
    assert_eq!(seen, [("Hi", 7, Some(11)), ("", 0, Some(11)), ("New", 70, Some(11))]);
    // A new definition after a flush is nothing odd.
    assert_eq!(
        outcome.damage(),
        [(Class::Contradiction, outcome.events[1].offset, Fault::UndefinedMetadata(1))]
    );
    assert_eq!(outcome.lost, 0);
}

#[test]
fn t157_events_read_before_a_metadata_flush_keep_their_type() {
    for flags in [SequencePoint::FORGET_METADATA, 3] {
        let mut stream = v6();
        let names = ["one", "two", "three"];
        for (round, name) in names.into_iter().enumerate() {
            let round = round as u32;
            if round > 0 {
                let block = vec![MetadataRow { name: name.into(), ..row(1) }];
                stream.metadata_rows(&MetadataBlock::new(block));
                if flags & 1 != 0 {
                    let threads = [11, 12]
                        .map(|thread| ThreadRow::new(thread, 1234, thread + u64::from(round)));
                    stream.thread_block(&ThreadBlock::new(threads.to_vec()));
                }
            }
            let number = if flags & 1 == 0 { round * 2 } else { 0 };
            let later = u64::from(round) * 10;
            events(
                &mut stream,
                [
                    on(11, number + 1, later + 3),
                    on(11, number + 2, later + 5),
                    on(12, number + 1, later + 1),
                    on(12, number + 2, later + 4),
                ],
            );
            flagged(&mut stream, flags);
        }
        stream.end();
        let outcome = ordered(&stream.bytes);
        let seen: Vec<_> =
            outcome.events.iter().map(|event| (event.ticks - START, event.name.as_str())).collect();
        let expected = ["Hi", "two", "three"].into_iter().zip(0..);
        let expected: Vec<(u64, &str)> = expected
            .flat_map(|(name, round)| [1, 3, 4, 5].map(|later| (round * 10 + later, name)))
            .collect();
        assert_eq!(seen, expected);
        assert_eq!((outcome.lost, outcome.out_of_order), (0, 0));
        assert!(outcome.is_flawless(), "{:?}", outcome.findings);
    }
}
