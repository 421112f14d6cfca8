//! Tests of threads of version 6, from the rows that define them to their removal (FORMAT.md 7.6,
//! 9.3).

use crate::snapshot::{ordered, read};
use crate::streams::{START, event, events, on, opened, point, row};
use crate::v6::*;
use nettrace_parser::{Class, Fault};
use nettrace_testdata::synth::*;

#[test]
fn t145_thread_rows_give_name_process_id_thread_id_and_pairs_in_any_order() {
    let pair = |key: &str, value: &str| ThreadEntry::KeyValue(key.into(), value.into());
    let rows = [
        vec![
            ThreadEntry::Name("größe".into()),
            ThreadEntry::ProcessId(u64::MAX),
            ThreadEntry::OsThreadId(1 << 40),
            pair("b", "1"),
            pair("a", ""),
        ],
        vec![
            pair("b", "1"),
            ThreadEntry::OsThreadId(7),
            pair("a", "2"),
            ThreadEntry::Name("n".into()),
            ThreadEntry::ProcessId(8),
        ],
        vec![],
        vec![ThreadEntry::OsThreadId(0)],
    ];
    let mut stream = Stream::new(Version::V6);
    let key_values = vec![("ProcessId".into(), "77".into())];
    stream.trace(&Trace { key_values, ..Trace::default() });
    stream.metadata_rows(&MetadataBlock::new(vec![row(1)]));
    let rows = rows.into_iter().zip([0, 1, 300, u64::MAX]);
    let rows: Vec<ThreadRow> =
        rows.map(|(entries, index)| ThreadRow { size: None, index, entries }).collect();
    stream.thread_block(&ThreadBlock::new(rows));
    events(&mut stream, [0, 1, 300, u64::MAX].map(|index| on(index, 1, 1)));
    stream.end();
    let outcome = read(&stream.bytes);
    let seen: Vec<_> = outcome
        .events
        .iter()
        .map(|event| {
            let thread = event.thread_row.as_ref().unwrap();
            let pairs: Vec<_> =
                thread.pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
            (
                thread.index,
                thread.name.as_deref().unwrap_or("-"),
                event.process,
                event.thread,
                pairs.join(" "),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (0, "größe", Some(u64::MAX), Some(1 << 40), "b=1 a=".into()),
            (1, "n", Some(8), Some(7), "b=1 a=2".into()),
            // Unknown, and the process of the trace.
            (300, "-", Some(77), None, String::new()),
            (u64::MAX, "-", Some(77), Some(0), String::new()),
        ]
    );
    assert!(outcome.is_flawless());
}

#[test]
fn t146_an_unknown_thread_entry_kind_keeps_the_row_s_earlier_entries_and_the_next_row() {
    for kind in [0, 5, 255] {
        let mut stream = opened(Version::V6);
        stream.metadata_rows(&MetadataBlock::new(vec![row(1)]));
        let odd = ThreadRow {
            size: None,
            index: 11,
            entries: vec![
                ThreadEntry::OsThreadId(111),
                ThreadEntry::Raw(vec![kind, 1, 2]),
                ThreadEntry::Name("lost".into()),
            ],
        };
        stream.thread_block(&ThreadBlock::new(vec![odd, ThreadRow::new(12, 1234, 112)]));
        let end = last_part(&stream).rows[0].end as u64;
        events(&mut stream, [on(11, 1, 1), on(12, 1, 2)]);
        stream.end();
        let outcome = read(&stream.bytes);
        // Three bytes of it and six of the name after it.
        assert_eq!(outcome.damage(), [(Class::Note, end - 9, Fault::UnknownEntry(kind))]);
        let threads: Vec<_> = outcome.events.iter().map(|event| event.thread).collect();
        assert_eq!(threads, [Some(111), Some(112)]);
        assert_eq!(outcome.events[0].thread_row.as_ref().unwrap().name, None);
    }
    // A row that leaves its block loses the rest.
    let mut stream = opened(Version::V6);
    stream.metadata_rows(&MetadataBlock::new(vec![row(1)]));
    let wrong = ThreadRow { size: Some(5000), ..ThreadRow::new(12, 1234, 112) };
    stream.thread_block(&ThreadBlock::new(vec![
        ThreadRow::new(11, 1234, 111),
        wrong,
        ThreadRow::new(13, 1, 1),
    ]));
    let part = last_part(&stream);
    events(&mut stream, [on(11, 1, 1)]);
    stream.end();
    let outcome = read(&stream.bytes);
    let row_at = part.rows[1].start as u64;
    assert_eq!(outcome.damage(), [(Class::RestOfBlockLost, row_at, Fault::RowSize(5000))]);
    assert_eq!(outcome.events[0].thread, Some(111));
}

#[test]
fn t147_an_event_of_an_undefined_thread_is_delivered_with_thread_unknown() {
    let mut stream = v6();
    let of = |thread_id, capture_thread_id, number| Blob {
        thread_id,
        capture_thread_id,
        ..event(number, u64::from(number))
    };
    // The first of a block is a contradiction, and what follows it is only noted.
    events(&mut stream, [of(99, 11, 1), of(11, 99, 2)]);
    events(&mut stream, [of(98, 98, 3), of(11, 11, 2)]);
    stream.end();
    let outcome = read(&stream.bytes);
    let note = |nth: usize, class, index| {
        (class, outcome.events[nth].offset, Fault::UndefinedThread(index))
    };
    assert_eq!(
        outcome.damage(),
        [
            note(0, Class::Contradiction, 99),
            note(1, Class::Note, 99),
            note(2, Class::Contradiction, 98)
        ]
    );
    let threads: Vec<_> =
        outcome.events.iter().map(|event| (event.thread, event.capture_thread)).collect();
    assert_eq!(threads, [(None, 11), (Some(11), 99), (None, 98), (Some(11), 11)]);
    assert!(outcome.events[0].thread_row.is_none() && outcome.events[0].process.is_none());
    // Losses of an undefined index are unknown.
    assert_eq!(outcome.lost, 0);
    assert_eq!(outcome.events.len(), 4);
}

#[test]
fn t148_an_event_of_a_removed_thread_is_delivered_with_thread_unknown() {
    let mut stream = v6();
    events(&mut stream, [on(11, 1, 1), on(12, 1, 2)]);
    stream.remove_thread_block(&RemoveThreadBlock::new(vec![(12, 1)]));
    events(&mut stream, [on(12, 2, 3), on(11, 2, 4)]);
    stream.end();
    let outcome = read(&stream.bytes);
    let threads: Vec<_> = outcome.events.iter().map(|event| event.thread).collect();
    assert_eq!(threads, [Some(11), Some(12), None, Some(11)]);
    assert_eq!(
        outcome.damage(),
        [(Class::Contradiction, outcome.events[2].offset, Fault::UndefinedThread(12))]
    );
    assert_eq!(outcome.lost, 0);
}

#[test]
fn t149_removing_an_unknown_or_already_removed_thread_is_noted() {
    let mut stream = v6();
    events(&mut stream, [on(11, 1, 1)]);
    stream.remove_thread_block(&RemoveThreadBlock::new(vec![(99, 500), (12, 0), (12, 7)]));
    let rows: Vec<u64> = last_part(&stream).rows.iter().map(|row| row.start as u64).collect();
    events(&mut stream, [on(11, 2, 2)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(
        outcome.damage(),
        [
            (Class::Contradiction, rows[0], Fault::UndefinedThread(99)),
            (Class::Contradiction, rows[2], Fault::UndefinedThread(12)),
        ]
    );
    assert_eq!((outcome.lost, outcome.numbers()), (0, vec![1, 2]));
    // An unknown entry in a sequence point is skipped in the same way.
    let mut stream = v6();
    point(&mut stream, 1, &[(11, 3), (99, 500)]);
    let row = last_part(&stream).rows[1].start as u64;
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.damage(), [(Class::Contradiction, row, Fault::UndefinedThread(99))]);
    assert_eq!(outcome.lost, 3);
    // Half a pair at the end.
    let mut stream = v6();
    stream.remove_thread_block(&RemoveThreadBlock { trailing: vec![12], threads: vec![(11, 2)] });
    let part = last_part(&stream);
    stream.end();
    let outcome = read(&stream.bytes);
    let end = part.content.end as u64;
    assert_eq!(outcome.damage(), [(Class::RestOfBlockLost, end - 1, Fault::Truncated)]);
    assert_eq!(outcome.lost, 2);
}

#[test]
fn t150_removethread_with_a_higher_number_counts_losses() {
    for (number, lost) in [(3, 1), (2, 0), (1, 0), (1000, 998)] {
        let mut stream = v6();
        events(&mut stream, [on(11, 1, 1), on(11, 2, 2)]);
        stream.remove_thread_block(&RemoveThreadBlock::new(vec![(11, number)]));
        stream.end();
        let outcome = read(&stream.bytes);
        assert_eq!((outcome.lost, outcome.restarts), (lost, 0));
        assert!(outcome.is_flawless());
    }
    // A thread that wrote no event has lost all of its numbers.
    let mut stream = v6();
    stream.remove_thread_block(&RemoveThreadBlock::new(vec![(12, 5), (11, 0)]));
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.lost_by_thread, std::collections::BTreeMap::from([(12, 5)]));
}

#[test]
fn t151_an_index_may_be_defined_again_after_its_removal_and_is_a_new_thread() {
    let mut stream = v6();
    events(&mut stream, [on(11, 1, 1), on(11, 2, 2)]);
    stream.remove_thread_block(&RemoveThreadBlock::new(vec![(11, 4)]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 5, 555)]));
    events(&mut stream, [on(11, 1, 3), on(11, 3, 4)]);
    stream.end();
    for outcome in [read(&stream.bytes), ordered(&stream.bytes)] {
        let threads: Vec<_> =
            outcome.events.iter().map(|event| (event.thread, event.process)).collect();
        let (old, new) = ((Some(11), Some(1234)), (Some(555), Some(5)));
        assert_eq!(threads, [old, old, new, new]);
        // Two at the removal, and one between the numbers 1 and 3 of the new thread.
        assert_eq!((outcome.lost, outcome.restarts), (3, 0));
        assert!(outcome.is_flawless());
    }
}

#[test]
fn t152_a_live_index_defined_again_replaces_with_a_note() {
    let mut stream = v6();
    events(&mut stream, [on(11, 1, 1), on(11, 2, 2)]);
    stream.thread_block(&ThreadBlock::new(vec![
        ThreadRow::new(12, 9, 9),
        ThreadRow::new(11, 5, 555),
    ]));
    let rows: Vec<u64> = last_part(&stream).rows.iter().map(|row| row.start as u64 + 2).collect();
    // Neither a fall nor a jump across the definition counts.
    events(&mut stream, [on(11, 1, 3), on(11, 2, 4), on(12, 70, 5), on(12, 72, 6)]);
    stream.end();
    let outcome = read(&stream.bytes);
    let note = |nth: usize, index| (Class::Note, rows[nth], Fault::Redefined(index));
    assert_eq!(outcome.damage(), [note(0, 12), note(1, 11)]);
    let threads: Vec<_> = outcome.events.iter().map(|event| event.thread.unwrap()).collect();
    assert_eq!(threads, [11, 11, 555, 555, 9, 9]);
    assert_eq!((outcome.lost, outcome.restarts), (1, 0));
}

#[test]
fn t153_events_read_before_a_removal_keep_their_thread_when_delivered_after_it() {
    let mut stream = v6();
    events(&mut stream, [on(11, 1, 9), on(12, 1, 5)]);
    stream.remove_thread_block(&RemoveThreadBlock::new(vec![(11, 1), (12, 1)]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 5, 555)]));
    events(&mut stream, [on(11, 1, 7)]);
    stream.end();
    let outcome = ordered(&stream.bytes);
    let threads: Vec<_> =
        outcome.events.iter().map(|event| (event.ticks - START, event.thread)).collect();
    assert_eq!(threads, [(5, Some(12)), (7, Some(555)), (9, Some(11))]);
    assert_eq!((outcome.out_of_order, outcome.lost), (0, 0));
    assert!(outcome.is_flawless());
}
