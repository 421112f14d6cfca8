//! Tests that a reader of a time range has what a reader of the whole stream has there.

use crate::snapshot::Seen;
use nettrace_parser::{
    Buffered, Definition, Definitions, Error, Event, Index, Outcome, PositionedFile, Reader, Whole,
};
use nettrace_testdata::synth::{
    Blob, Damage, EventBlock, SequencePoint, Session, Stack, StackBlock, Stream, Trace, Version,
    strategy,
};
use nettrace_testdata::{cases, corpus, one_type};
use proptest::prelude::*;
use std::ops::RangeInclusive;

const ALL: RangeInclusive<u64> = 0..=u64::MAX;

/// Defines nothing.
fn nothing(_: &Event<'_>) -> bool {
    false
}

fn index(bytes: &[u8]) -> Index {
    Index::read(Whole::new(bytes), &mut nothing).unwrap()
}

/// Reads the events of a range in time order, and what is reported about the stream.
fn read<T>(
    reader: Reader<Whole<&[u8]>>,
    ticks: &RangeInclusive<u64>,
    copy: impl Fn(&Event<'_>) -> T,
) -> (Vec<T>, Outcome) {
    let (mut events, mut seen) = (reader.time_ordered(), Vec::new());
    while let Some(event) = events.next_event().unwrap() {
        if ticks.contains(&event.timestamp_ticks()) {
            seen.push(copy(&event));
        }
    }
    (seen, events.outcome())
}

/// Asserts that the range is read as it is in a whole read. Returns the number of events that had
/// to be read.
fn assert_equal<T: PartialEq + std::fmt::Debug>(
    bytes: &[u8],
    index: &Index,
    ticks: RangeInclusive<u64>,
    copy: impl Fn(&Event<'_>) -> T,
) -> u64 {
    let (whole, all) = read(Reader::from_slice(bytes), &ticks, &copy);
    let reader = Reader::from_slice(bytes).in_range(index, ticks.clone()).unwrap();
    let (part, some) = read(reader, &ticks, &copy);
    assert_eq!(part.len(), whole.len(), "{ticks:?}");
    for (part, whole) in part.iter().zip(&whole) {
        assert_eq!(part, whole, "{ticks:?}");
    }
    assert_eq!((some.is_complete, some.missing_bytes), (all.is_complete, all.missing_bytes));
    assert_eq!((some.end_offset, &some.trace), (all.end_offset, &all.trace));
    if index.is_damaged() {
        assert_eq!(some.damage.findings(), all.damage.findings());
        assert_eq!(some.losses, all.losses);
    } else {
        assert_eq!(some.damage.loss_count(), all.damage.loss_count(), "{:?}", some.damage);
        assert!(some.losses.total() <= all.losses.total());
        if ticks == ALL {
            assert_eq!(some.losses, all.losses);
        }
    }
    some.statistics.events
}

/// Returns ranges around some of the stream's times, and its first and last time.
fn ranges(times: &[u64], picks: &[(usize, usize)]) -> Vec<RangeInclusive<u64>> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = |pick: usize| sorted.get(pick % sorted.len().max(1)).copied().unwrap_or(0);
    let mut ranges: Vec<_> =
        picks.iter().map(|(from, to)| at(*from).min(at(*to))..=at(*from).max(at(*to))).collect();
    ranges.extend([ALL, 0..=0, u64::MAX..=u64::MAX]);
    ranges
}

fn times(bytes: &[u8]) -> Vec<u64> {
    let mut times = Vec::new();
    Reader::from_slice(bytes).for_each(|event| times.push(event.timestamp_ticks())).unwrap();
    times
}

fn assert_ranges(bytes: &[u8], picks: &[(usize, usize)]) {
    let index = index(bytes);
    for ticks in ranges(&times(bytes), picks) {
        assert_equal(bytes, &index, ticks, Seen::from_event);
    }
}

fn picks() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..200usize, 0..200usize), 1..6)
}

fn config(usual: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(usual)) }
}

fn sessions() -> impl Strategy<Value = Session> {
    let version = prop::sample::select(vec![Version::V3, Version::V4, Version::V5, Version::V6]);
    let session = version.prop_flat_map(|version| strategy::sessions(version, 60));
    (session, any::<bool>()).prop_map(|(session, has_end)| Session { has_end, ..session })
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn a_range_of_a_random_session_has_the_events_of_a_whole_read(
        session in sessions(),
        picks in picks(),
    ) {
        assert_ranges(&session.record().stream.bytes, &picks);
    }

    #[test]
    fn a_range_of_a_damaged_session_has_the_events_and_the_damage_of_a_whole_read(
        session in sessions(),
        at in 100..3000usize,
        mask in 1..255u8,
        is_cut in any::<bool>(),
        picks in picks(),
    ) {
        let mut bytes = session.record().stream.bytes;
        let damage = if is_cut { Damage::Cut { at } } else { Damage::Flip { at, mask } };
        damage.apply(&mut bytes);
        if Reader::from_slice(&bytes).trace().is_ok() {
            assert_ranges(&bytes, &picks);
        }
    }
}

/// Returns what tells an event from others, without its fields.
fn brief(event: &Event<'_>) -> impl PartialEq + std::fmt::Debug + use<> {
    let stack = crc(event.stack().addresses().flat_map(u64::to_le_bytes));
    let labels = format!("{:?}", event.labels());
    let payload = crc(event.payload().iter().copied());
    let places = (event.offset(), event.timestamp_ticks(), event.thread_id(), event.process_id());
    (places, event.metadata().map(|metadata| metadata.event_id), stack, labels, payload)
}

fn crc(bytes: impl Iterator<Item = u8>) -> u32 {
    nettrace_testdata::crc32(&bytes.collect::<Vec<_>>())
}

#[test]
fn ranges_of_real_traces_have_the_events_of_a_whole_read_and_read_less() {
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        let (index, times) = (index(&bytes), times(&bytes));
        let (Some(first), Some(last)) = (times.iter().min(), times.iter().max()) else { continue };
        let tenth = (last - first) / 10;
        let mut read = Vec::new();
        for from in [*first, first + tenth * 3, first + tenth * 5, first + tenth * 9, last + 1] {
            read.push(assert_equal(&bytes, &index, from..=from + tenth / 2, brief));
        }
        assert!(!index.is_damaged(), "{}", trace.name());
        // The smallest traces have one block of events.
        let skips = read.iter().any(|read| *read < times.len() as u64);
        assert!(skips || index.len() < 12, "{}: {read:?} of {}", trace.name(), times.len());
    }
}

/// Writes blocks of one event at the times 10, 20, 30, …, each with a stack of its own, before a
/// sequence point. Each block states these times; a thread loses `lost` events before the third.
fn stream(version: Version, stated: Option<(u64, u64)>, lost: u32) -> Stream {
    let mut stream = one_type(version);
    for number in 1..=20u32 {
        let stacks = vec![Stack::new(8, &[u64::from(number) * 0x100])];
        stream.stack_block(&StackBlock { first_id: 1, stacks, ..StackBlock::default() });
        let ticks = u64::from(number) * 10;
        let sequence_number = number + if number < 3 { 0 } else { lost };
        let ids = (1, 1, 1, 1);
        let (metadata_id, stack_id, thread_id, capture_thread_id) = ids;
        let blob = Blob {
            metadata_id,
            stack_id,
            thread_id,
            capture_thread_id,
            sequence_number,
            ticks,
            payload: vec![0; 200],
            ..Blob::default()
        };
        let (min_ticks, max_ticks) = (stated.map(|times| times.0), stated.map(|times| times.1));
        stream.event_block(&EventBlock { min_ticks, max_ticks, ..EventBlock::new([blob]) });
        let threads = vec![(1, sequence_number)];
        stream.sequence_point(&SequencePoint { ticks, threads, ..SequencePoint::default() });
    }
    stream.end();
    stream
}

#[test]
fn times_that_blocks_state_hide_no_event() {
    let stated = [None, Some((0, 0)), Some((0, u64::MAX))];
    let versions = [Version::V4, Version::V6];
    for (stated, version) in stated.into_iter().flat_map(|stated| versions.map(|v| (stated, v))) {
        let bytes = stream(version, stated, 0).bytes;
        let index = index(&bytes);
        let read = assert_equal(&bytes, &index, 35..=70, Seen::from_event);
        assert_eq!((read, index.is_damaged()), (4, false), "{version:?} {stated:?}");
    }
}

#[test]
fn losses_are_those_of_the_whole_read_around_the_range() {
    let bytes = stream(Version::V4, None, 7).bytes;
    let index = index(&bytes);
    let lost = |ticks: RangeInclusive<u64>| {
        let reader = Reader::from_slice(&bytes).in_range(&index, ticks.clone()).unwrap();
        let (_, outcome) = read(reader, &ticks, |_| ());
        (outcome.losses.total(), outcome.damage.loss_count())
    };
    // Between the events at 20 and 30 are seven.
    let all = [lost(ALL), lost(25..=26), lost(30..=30), lost(0..=5), lost(100..=200)];
    assert_eq!(all, [(7, 0), (7, 0), (7, 0), (0, 0), (0, 0)]);
}

#[test]
fn blocks_with_definitions_are_read_whatever_the_range_is() {
    /// Defines something with every event at or before a time, and says it again later.
    struct Until(u64);
    impl Definitions for Until {
        fn may_define(&mut self, _: &Event<'_>) -> bool {
            true
        }
        fn defines(&mut self, event: &Event<'_>) -> Definition {
            match event.timestamp_ticks() <= self.0 {
                true => Definition::Other,
                false => Definition::Known,
            }
        }
    }
    let bytes = stream(Version::V4, None, 0).bytes;
    let source = || Whole::new(&bytes[..]);
    for (until, expected) in [(0, 1), (30, 4), (200, 20)] {
        let index = Index::read(source(), &mut Until(until)).unwrap();
        assert_eq!(assert_equal(&bytes, &index, 150..=150, Seen::from_event), expected);
    }
    let mut each = |event: &Event<'_>| event.timestamp_ticks().is_multiple_of(50);
    let index = Index::read(source(), &mut each).unwrap();
    assert_eq!(assert_equal(&bytes, &index, 10..=10, Seen::from_event), 5);
}

#[test]
fn definitions_that_are_repeated_in_each_part_are_read_once_and_in_the_range() {
    let mut stream = one_type(Version::V4);
    for number in 1..=20u32 {
        // Each part defines the same, except for the tenth.
        let payload = vec![u8::from(number == 10); 100];
        let blob = |number, ticks, payload| Blob {
            metadata_id: 1,
            sequence_number: number,
            ticks,
            payload,
            ..Blob::default()
        };
        let ticks = u64::from(number) * 10;
        stream.event_block(&EventBlock::new([blob(2 * number - 1, ticks, payload)]));
        stream.event_block(&EventBlock::new([blob(2 * number, ticks + 5, Vec::new())]));
        let threads = vec![(0, 2 * number)];
        let ticks = ticks + 5;
        stream.sequence_point(&SequencePoint { ticks, threads, ..SequencePoint::default() });
    }
    stream.end();
    struct WithPayload;
    impl Definitions for WithPayload {
        fn may_define(&mut self, event: &Event<'_>) -> bool {
            !event.payload().is_empty()
        }
        fn defines(&mut self, _: &Event<'_>) -> Definition {
            Definition::New
        }
    }
    let index = Index::read(Whole::new(&stream.bytes[..]), &mut WithPayload).unwrap();
    // The first part, and the tenth and eleventh, in which something else follows.
    for (ticks, expected) in [(0..=0, 3), (155..=155, 5), (15..=15, 4), (150..=165, 7)] {
        let read = assert_equal(&stream.bytes, &index, ticks.clone(), Seen::from_event);
        assert_eq!(read, expected, "{ticks:?}");
    }
}

#[test]
fn an_index_of_another_file_and_a_pipe_are_refused() {
    let mut bytes = stream(Version::V4, None, 0).bytes;
    let index = index(&bytes);
    let refused = |bytes: &[u8]| Reader::from_slice(bytes).in_range(&index, ALL).unwrap_err();
    bytes.push(0);
    assert!(matches!(refused(&bytes), Error::OtherIndex));
    bytes.pop();
    bytes[100] ^= 1;
    assert!(matches!(refused(&bytes), Error::OtherIndex));
    bytes[100] ^= 1;
    let pipe = || Reader::from_read(&bytes[..]).in_range(&index, ALL).unwrap_err();
    assert!(matches!(pipe(), Error::NoLength));
    let built = Index::read(Buffered::new(&bytes[..]), &mut nothing);
    assert!(matches!(built, Err(Error::NoLength)));
    let mut begun = Reader::from_slice(&bytes);
    begun.next_event().unwrap();
    assert!(begun.in_range(&index, ALL).is_ok(), "the whole stream is still there");
}

#[test]
#[cfg(feature = "serde")]
fn an_index_can_be_stored() {
    let bytes = stream(Version::V6, None, 3).bytes;
    let index = index(&bytes);
    let text = serde_json::to_string(&index).unwrap();
    assert_eq!(serde_json::from_str::<Index>(&text).unwrap(), index);
    // A forged one does no harm.
    let forged = text.replace("\"start\":", "\"start\":1");
    let forged: Index = serde_json::from_str(&forged).unwrap();
    let reader = Reader::from_slice(&bytes).in_range(&forged, 0..=0).unwrap();
    let _ = read(reader, &ALL, |_| ());
}

#[test]
fn files_are_skipped_like_bytes_in_memory() {
    let bytes = stream(Version::V4, None, 0).bytes;
    let path = std::env::temp_dir().join(format!("nettrace-index-{}", std::process::id()));
    std::fs::write(&path, &bytes).unwrap();
    let open = || PositionedFile::open(&path).unwrap();
    let index = Index::read(open(), &mut nothing).unwrap();
    assert_eq!(index, self::index(&bytes));
    let mut reader = Reader::new(open()).in_range(&index, 50..=60).unwrap();
    let mut times = Vec::new();
    reader.for_each(|event| times.push(event.timestamp_ticks())).unwrap();
    std::fs::remove_file(path).unwrap();
    assert_eq!((times, reader.is_complete()), (vec![50, 60], true));
}

#[test]
fn a_clock_finds_the_first_ticks_of_a_time() {
    for frequency in [1_000_000_000, 10_000_000, 24_000_000, 3, 2_999_999_999] {
        let mut stream = Stream::new(Version::V4);
        let sync_ticks = 1_000;
        stream.trace(&Trace { sync_ticks, tick_frequency: frequency, ..Trace::default() });
        stream.end();
        let clock = Reader::from_slice(&stream.bytes).trace().unwrap().clock();
        for nanos in [-300, -1, 0, 1, 99, 100, 1_000_000_007, i64::MIN, i64::MAX] {
            let ticks = clock.first_ticks_at(nanos).unwrap();
            assert!(clock.nanos_since_start(ticks).unwrap() >= nanos || ticks == u64::MAX);
            let before = ticks.checked_sub(1).and_then(|before| clock.nanos_since_start(before));
            assert!(before.is_none_or(|before| before < nanos || nanos == i64::MAX));
        }
    }
}
