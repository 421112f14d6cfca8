//! Tests that all traces of `make-trace` are valid.

use nettrace_benches::floor::{self, idiom};
use nettrace_benches::make::Case;
use nettrace_benches::make::repeat::{self, Base};
use nettrace_benches::make::scale::Scale;
use nettrace_benches::pass::{self, Mode};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use std::collections::HashSet;

/// Asserts that a stream can be read without damage in both orders, and has `events` events.
fn assert_valid(stream: &[u8], events: u64, what: &str) {
    for mode in [Mode::Raw, Mode::Ordered] {
        let seen = pass::memory(stream, mode).unwrap();
        assert!(seen.is_intact, "{what}, {}", mode.name());
        assert_eq!(seen.checksum.events, events, "{what}, {}", mode.name());
    }
}

const SYNTHETIC: [Case; 7] = [
    Case::Uniform,
    Case::Mixed,
    Case::Fat,
    Case::V6,
    Case::V6Compressed,
    Case::Heap,
    Case::HeapFar,
];

#[test]
fn synthetic_traces_are_complete_and_lose_nothing() {
    for synthetic in SYNTHETIC {
        let mut stream = Vec::new();
        let written = synthetic.write(&mut stream, 3_000_000).unwrap();
        assert_eq!(written.bytes, stream.len() as u64);
        assert!(
            (3_000_000..3_300_000).contains(&stream.len()),
            "{}: {}",
            synthetic.name(),
            stream.len()
        );
        assert_valid(&stream, written.events, synthetic.name());
    }
}

#[test]
fn traces_of_very_many_things_have_that_many_and_lose_nothing() {
    for (scale, name) in Scale::ALL {
        let (mut stream, count) = (Vec::new(), 25_000);
        let written = scale.write(&mut stream, count).unwrap();
        assert_eq!(written.bytes, stream.len() as u64);
        assert_valid(&stream, written.events, name);
        let mut found = HashSet::new();
        let each = |event: nettrace_parser::Event<'_>| {
            let field =
                |name: &str| event.fields().find(name).map(|found| format!("{:?}", found.value));
            let is_sample = event.provider() == "Microsoft-DotNETCore-SampleProfiler";
            let thing = match scale {
                Scale::Stacks => is_sample.then(|| format!("{:?}", event.stack().bytes())),
                Scale::Methods => field("MethodName"),
                Scale::Threads | Scale::ThreadsV6 => {
                    is_sample.then(|| format!("{:?}", event.thread_id()))
                }
                Scale::Types => field("TypeName"),
                Scale::Providers => Some(event.provider().to_owned()),
            };
            found.extend(thing);
        };
        Reader::from_slice(&stream).for_each(each).unwrap();
        assert_eq!(found.len() as u64, count, "{}", name);
    }
}

#[test]
fn synthetic_headers_and_payloads_have_the_documented_sizes() {
    // Mean bytes of a header and of a payload, from the table of `make`.
    let documented = [
        (Case::Uniform, 4.0, 14.8),
        (Case::Mixed, 4.4, 12.5),
        (Case::Fat, 5.1, 251.0),
        (Case::V6, 52.0, 12.5),
        (Case::V6Compressed, 11.1, 12.5),
    ];
    for (synthetic, header, payload) in documented {
        let mut stream = Vec::new();
        synthetic.write(&mut stream, 2_000_000).unwrap();
        let (mut events, mut headers, mut payloads) = (0.0, 0.0, 0.0);
        let each = |event: nettrace_parser::Event<'_>| {
            events += 1.0;
            headers += (event.payload_offset() - event.offset()) as f64;
            payloads += event.payload().len() as f64;
        };
        Reader::from_slice(&stream).for_each(each).unwrap();
        let name = synthetic.name();
        assert!(
            (headers / events - header).abs() < 0.04 * header,
            "{name}: header {}",
            headers / events
        );
        assert!(
            (payloads / events - payload).abs() < 0.02 * payload,
            "{name}: payload {}",
            payloads / events
        );
    }
}

#[test]
fn synthetic_payloads_are_what_their_schemas_say() {
    for synthetic in SYNTHETIC {
        let mut stream = Vec::new();
        synthetic.write(&mut stream, 500_000).unwrap();
        let each = |event: nettrace_parser::Event<'_>| {
            let mut fields = event.fields();
            for field in fields.by_ref() {
                assert!(field.value.is_ok(), "{}: {:?}", synthetic.name(), field);
            }
            assert!(fields.rest().is_empty(), "{}: {:?} has bytes left", synthetic.name(), event);
        };
        Reader::from_slice(&stream).for_each(each).unwrap();
    }
}

#[test]
fn every_real_trace_can_be_repeated_and_then_loses_nothing() {
    for trace in corpus::traces() {
        let base = Base::new(&trace.bytes()).unwrap();
        let bytes = 3 * trace.bytes().len() as u64;
        let mut stream = Vec::new();
        let written = repeat::write(&mut stream, &base, bytes).unwrap();
        assert!(written.events > 2 * base.events, "{}", trace.name());
        assert_valid(&stream, written.events, trace.name());
    }
}

#[test]
fn a_copy_has_the_events_of_its_base_but_for_times_and_numbers() {
    for name in [
        "net10-linux-x64/all.nettrace",
        "net3.1-linux-x64/all.netperf",
        "one-collect-v6/cpu.nettrace",
    ] {
        let bytes = corpus::trace(name).bytes();
        let base = Base::new(&bytes).unwrap();
        let mut stream = Vec::new();
        repeat::write(&mut stream, &base, 2 * bytes.len() as u64).unwrap();
        let facts = |event: &nettrace_parser::Event<'_>| {
            let types = (event.provider().to_owned(), event.id(), event.metadata_id());
            let ids =
                (event.thread_id(), event.capture_thread(), event.processor(), event.is_sorted());
            let more =
                (event.activity_id(), event.related_activity_id(), event.stack().bytes().to_vec());
            (types, ids, more, event.payload().to_vec())
        };
        let (mut original, mut copies) = (Vec::new(), Vec::new());
        let mut times = Vec::new();
        Reader::from_slice(&bytes)
            .for_each(|event| original.push((facts(&event), event.timestamp_ticks())))
            .unwrap();
        let each = |event: nettrace_parser::Event<'_>| {
            copies.push(facts(&event));
            times.push(event.timestamp_ticks());
        };
        Reader::from_slice(&stream).for_each(each).unwrap();
        let count = original.len();
        assert!(copies.len() > count + count / 2, "{name}");
        let newest = times[..count].iter().max().unwrap();
        for (at, copy) in copies.iter().enumerate() {
            let (expected, time) = &original[at % count];
            assert!(copy == expected, "{name}: event {at}");
            assert!(
                (at < count && times[at] == *time) || (at >= count && times[at] > *newest),
                "{name}: event {at}"
            );
        }
    }
}

#[test]
fn the_idiom_sees_what_the_parser_sees() {
    for case in Case::READ {
        let stream = case.bytes(1_500_000);
        let seen = pass::memory(&stream, Mode::Raw).unwrap().checksum;
        assert!(seen.events > 500, "{}", case.name());
        assert_eq!(idiom::decode(&stream, &floor::rows(&stream)), seen, "{}", case.name());
    }
}
