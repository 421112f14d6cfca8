//! Tests of the fields of Trace, and of times (FORMAT.md 4, 7.2, 10).

use crate::snapshot::{ordered, read};
use crate::streams::{EACH, START, event, events, introduce};
use nettrace_parser::{Class, Clock, DateTimeParts, Fault, Reader, utc_text};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::*;

/// Returns the Trace of a stream as the reader delivers it.
fn trace_of(bytes: &[u8]) -> nettrace_parser::Trace {
    read(bytes).trace.expect("the stream has a Trace")
}

/// Returns a stream with this Trace, and with an event at each of the times `later`, which are
/// ticks after the start of the Trace.
fn stream_with(version: Version, trace: &Trace, later: &[i64]) -> Vec<u8> {
    let mut stream = Stream::new(version);
    stream.trace(trace);
    introduce(&mut stream);
    let ticks = later.iter().map(|later| trace.sync_ticks.wrapping_add_signed(*later));
    events(&mut stream, ticks.zip(1..).map(|(ticks, number)| Blob { ticks, ..event(number, 0) }));
    stream.end();
    stream.bytes
}

fn clock_of(trace: &Trace) -> Clock {
    trace_of(&stream_with(Version::V4, trace, &[])).clock()
}

fn date(start: DateTimeParts) -> [i16; 8] {
    let DateTimeParts { year, month, day_of_week, day, hour, minute, second, millisecond, .. } =
        start;
    [year, month, day_of_week, day, hour, minute, second, millisecond]
}

#[test]
fn t033_all_fields_of_the_v4_trace_object_are_read() {
    let real = corpus::trace("net3.1-linux-x64/all.nettrace");
    let bytes = real.bytes();
    let mut reader = Reader::from_read(&bytes[..]);
    let trace = reader.trace().unwrap();
    assert_eq!((trace.process_id, trace.processors), (Some(17397), Some(2)));
    assert_eq!((trace.tick_frequency, trace.pointer_size), (1_000_000_000, 8));
    assert_eq!(trace.sampling_period_nanos, Some(1_000_000));
    assert_eq!(date(trace.start), [2026, 11, 5, 20, 14, 37, 46, 896]);
    let start = trace.start.unix_nanos().unwrap();
    assert_eq!(utc_text(start, 3), "2026-11-20 14:37:46.896");
    assert_eq!(trace.clock().unix_nanos(trace.sync_ticks), Some(start));

    let sync_time = SysTime {
        year: 2019,
        month: 6,
        day_of_week: 6,
        day: 15,
        hour: 23,
        minute: 56,
        second: 59,
        millisecond: 754,
    };
    let written = Trace {
        sync_time,
        sync_ticks: 0x0123_4567_89ab_cdef,
        tick_frequency: 3_124_099,
        pointer_size: 8,
        process_id: 10064,
        processor_count: 4,
        sampling_nanos: 1_000_001,
        ..Trace::default()
    };
    let trace = trace_of(&stream_with(Version::V4, &written, &[1]));
    assert_eq!((trace.process_id, trace.processors), (Some(10064), Some(4)));
    assert_eq!((trace.tick_frequency, trace.sync_ticks), (3_124_099, 0x0123_4567_89ab_cdef));
    assert_eq!((trace.pointer_size, trace.sampling_period_nanos), (8, Some(1_000_001)));
    assert_eq!(date(trace.start), [2019, 6, 6, 15, 23, 56, 59, 754]);
    assert_eq!(utc_text(trace.start.unix_nanos().unwrap(), 3), "2019-06-15 23:56:59.754");
    assert_eq!((trace.page_bytes, trace.pairs), (None, vec![]));
}

#[test]
fn t034_all_fields_of_the_v3_trace_object_are_read() {
    let written = Trace {
        tick_frequency: 2_533_315,
        pointer_size: 4,
        process_id: 3312,
        processor_count: 12,
        sampling_nanos: 999,
        sync_ticks: u64::MAX - 5,
        ..Trace::default()
    };
    let trace = trace_of(&stream_with(Version::V3, &written, &[1]));
    assert_eq!((trace.process_id, trace.processors), (Some(3312), Some(12)));
    assert_eq!((trace.tick_frequency, trace.sync_ticks), (2_533_315, u64::MAX - 5));
    assert_eq!((trace.pointer_size, trace.sampling_period_nanos), (4, Some(999)));
    assert_eq!(date(trace.start), [2024, 2, 4, 29, 12, 34, 56, 789]);
    assert_eq!((trace.page_bytes, trace.pairs), (None, vec![]));
}

#[test]
fn t035_the_v6_trace_block_s_fields_are_read_with_no_pairs() {
    let written = Trace {
        tick_frequency: 24_000_000,
        pointer_size: 4,
        sync_ticks: u64::MAX,
        extra: vec![9; 5],
        ..Trace::default()
    };
    let trace = trace_of(&stream_with(Version::V6, &written, &[]));
    assert_eq!((trace.tick_frequency, trace.sync_ticks), (24_000_000, u64::MAX));
    assert_eq!((trace.pointer_size, trace.pairs.len()), (4, 0));
    assert_eq!((trace.process_id, trace.processors), (None, None));
    assert_eq!((trace.sampling_period_nanos, trace.page_bytes), (None, None));
    assert_eq!(date(trace.start), [2024, 2, 4, 29, 12, 34, 56, 789]);
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

#[test]
fn t036_known_keys_set_process_id_processor_count_sampling_rate_and_page_size_unknown_keys_are_kept_in_order()
 {
    let key_values = pairs(&[
        ("zebra", "first"),
        ("SystemPageSize", "16384"),
        ("ProcessId", "1"),
        ("", ""),
        ("HardwareThreadCount", "64"),
        ("apple", "größer"),
        ("ExpectedCPUSamplingRate", "1000000"),
        ("ProcessId", "4294967295"),
        ("processid", "7"),
    ]);
    let written = Trace { key_values: key_values.clone(), ..Trace::default() };
    let bytes = stream_with(Version::V6, &written, &[1]);
    let trace = trace_of(&bytes);
    assert_eq!(trace.pairs, key_values);
    // The last of equal keys counts.
    assert_eq!((trace.process_id, trace.processors), (Some(u32::MAX), Some(64)));
    assert_eq!((trace.sampling_period_nanos, trace.page_bytes), (Some(1_000_000), Some(16384)));
    assert!(read(&bytes).is_flawless());
}

#[test]
fn t037_a_known_key_whose_value_is_no_number_keeps_its_text_and_sets_nothing() {
    for value in ["", "four", "-1", "4294967296", "1.5", "0x10", "7 "] {
        let key_values = pairs(&[
            ("ProcessId", value),
            ("HardwareThreadCount", value),
            ("ExpectedCPUSamplingRate", value),
            ("SystemPageSize", value),
        ]);
        let written = Trace { key_values: key_values.clone(), ..Trace::default() };
        let outcome = read(&stream_with(Version::V6, &written, &[1]));
        assert!(outcome.is_flawless());
        let trace = outcome.trace.unwrap();
        assert_eq!(trace.pairs, key_values);
        assert_eq!((trace.process_id, trace.processors), (None, None), "{value:?}");
        assert_eq!((trace.sampling_period_nanos, trace.page_bytes), (None, None), "{value:?}");
    }
}

#[test]
fn t038_timestamps_become_utc_with_100_ns_steps_and_no_overflow_at_i64_limits() {
    let start = 1_709_210_096_789_000_000_i128;
    let nanosecond_clock = Trace { tick_frequency: 1_000_000_000, ..Trace::default() };
    for version in EACH {
        let later = [0, 1, 99, 100, 12_345_678_999];
        let outcome = read(&stream_with(version, &nanosecond_clock, &later));
        let utc: Vec<_> =
            outcome.events.iter().map(|event| event.unix_nanos.unwrap() - start).collect();
        assert_eq!(utc, [0, 0, 0, 100, 12_345_678_900]);
        let nanos: Vec<_> = outcome.events.iter().map(|event| event.nanos.unwrap()).collect();
        assert_eq!(nanos, later);
    }
    assert_eq!(utc_text(start, 6), "2024-02-29 12:34:56.789000");
    // i64::MAX and u64::MAX mean "no end known"; next to them are dates, if far ones.
    for frequency in [1, 1000, 2_533_315, 10_000_000, 1_000_000_000] {
        for sync_ticks in [0, 1_000_000, i64::MAX as u64, 1 << 63, u64::MAX] {
            let trace = Trace { tick_frequency: frequency, sync_ticks, ..Trace::default() };
            let clock = clock_of(&trace);
            assert_eq!(
                (clock.unix_nanos(u64::MAX), clock.unix_nanos(i64::MAX as u64)),
                (None, None)
            );
            for ticks in [0, 1, i64::MAX as u64 - 1, i64::MAX as u64 + 1, u64::MAX - 1] {
                let exact = (i128::from(ticks) - i128::from(sync_ticks)) * 1_000_000_000;
                let nanos = exact.div_euclid(i128::from(frequency));
                let clamped = nanos.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
                assert_eq!(
                    clock.nanos_since_start(ticks),
                    Some(clamped),
                    "{frequency} {sync_ticks} {ticks}"
                );
                let utc = (start + nanos).div_euclid(100) * 100;
                assert_eq!(clock.unix_nanos(ticks), Some(utc), "{frequency} {sync_ticks} {ticks}");
            }
        }
    }
}

#[test]
fn t039_a_timestamp_before_the_start_of_the_session_is_a_negative_offset() {
    for version in EACH {
        // 10 MHz: a tick is 100 ns.
        let bytes = stream_with(version, &Trace::default(), &[-1, -1_000_000, 0]);
        let outcome = read(&bytes);
        let nanos: Vec<_> = outcome.events.iter().map(|event| event.nanos.unwrap()).collect();
        assert_eq!(nanos, [-100, -100_000_000, 0]);
        let utc = utc_text(outcome.events[1].unix_nanos.unwrap(), 3);
        assert_eq!(utc, "2024-02-29 12:34:56.689");
        // Rounded down, not towards zero.
        let thirds = Trace { tick_frequency: 3, ..Trace::default() };
        let outcome = read(&stream_with(version, &thirds, &[-1, 1]));
        let nanos: Vec<_> = outcome.events.iter().map(|event| event.nanos.unwrap()).collect();
        assert_eq!(nanos, [-333_333_334, 333_333_333]);
    }
    // A time too far in the past to be represented is still before the start.
    let late = Trace { tick_frequency: 1, sync_ticks: u64::MAX, ..Trace::default() };
    assert_eq!(clock_of(&late).nanos_since_start(0), Some(i64::MIN));
}

#[test]
fn t040_a_frequency_of_zero_leaves_ticks_and_gives_no_date() {
    for version in EACH {
        for frequency in [0, -1, i64::MIN] {
            let trace = Trace { tick_frequency: frequency, ..Trace::default() };
            let bytes = stream_with(version, &trace, &[7, 5]);
            let outcome = ordered(&bytes);
            let body =
                Stream::new(version).trace(&trace).nth(PartKind::Trace, 0).content.start as u64;
            assert_eq!(outcome.damage(), [(Class::Note, body + 24, Fault::Frequency(frequency))]);
            let expected = if version == Version::V3 { [7, 5] } else { [5, 7] };
            assert_eq!(outcome.ticks(), expected.map(|later| START + later));
            assert!(
                outcome
                    .events
                    .iter()
                    .all(|event| event.nanos.is_none() && event.unix_nanos.is_none())
            );
            let clock = outcome.trace.unwrap().clock();
            assert_eq!((clock.nanos_since_start(9), clock.unix_nanos(9)), (None, None));
        }
    }
}

#[test]
fn t041_an_impossible_start_date_is_noted_and_gives_no_date() {
    let good = SysTime::default();
    let impossible = [
        SysTime { month: 13, ..good },
        SysTime { month: 0, ..good },
        SysTime { day: 30, ..good },
        SysTime { year: 2023, ..good },
        SysTime { day: 0, ..good },
        SysTime { hour: 24, ..good },
        SysTime { minute: 60, ..good },
        SysTime { second: -1, ..good },
        SysTime { millisecond: 1000, ..good },
        SysTime { year: -1, ..good },
        SysTime { year: i16::MIN, month: i16::MAX, day: i16::MIN, ..good },
    ];
    for version in EACH {
        for sync_time in impossible {
            let trace = Trace { sync_time, ..Trace::default() };
            let outcome = read(&stream_with(version, &trace, &[50]));
            let body =
                Stream::new(version).trace(&trace).nth(PartKind::Trace, 0).content.start as u64;
            assert_eq!(outcome.damage(), [(Class::Note, body, Fault::Date)], "{sync_time:?}");
            assert_eq!((outcome.events[0].nanos, outcome.events[0].unix_nanos), (Some(5000), None));
            assert_eq!(date(outcome.trace.unwrap().start)[..2], [sync_time.year, sync_time.month]);
        }
    }
    // The day of the week is not checked: it says nothing new.
    let trace = Trace { sync_time: SysTime { day_of_week: 99, ..good }, ..Trace::default() };
    assert!(read(&stream_with(Version::V4, &trace, &[50])).is_flawless());
}

/// Reads a Trace with a wrong pointer size, which is reported as damage; the reader uses 8.
#[test]
fn t042_a_pointer_size_other_than_4_or_8_is_refused() {
    for version in EACH {
        for pointer_size in [0, 1, 2, 5, 16, -8, i32::MIN, 8 << 24] {
            let trace = Trace { pointer_size, ..Trace::default() };
            let bytes = stream_with(version, &trace, &[1]);
            let body =
                Stream::new(version).trace(&trace).nth(PartKind::Trace, 0).content.start as u64;
            let outcome = read(&bytes);
            let fault = Fault::PointerSize(pointer_size);
            assert_eq!(outcome.damage(), [(Class::Contradiction, body + 32, fault)]);
            assert_eq!(outcome.events.len(), 1);
            assert_eq!(outcome.trace.unwrap().pointer_size, 8);
        }
        for pointer_size in [4, 8] {
            let trace = Trace { pointer_size, ..Trace::default() };
            assert_eq!(
                trace_of(&stream_with(version, &trace, &[1])).pointer_size,
                pointer_size as u8
            );
        }
    }
}
