//! Samples, stacks and names of a time range are those of a whole read, with an index or without.

use crate::common::{AT_END, LOAD, UNLOAD, filtered, method, module, sample, session};
use nettrace_analysis::report::ReportPass;
use nettrace_analysis::report::{TopN, TopNOptions};
use nettrace_analysis::{AnalysisOptions, Filter, read_index};
use nettrace_parser::{Index, Outcome, Reader, Whole};
use nettrace_testdata::synth::Step;
use nettrace_testdata::{cases, corpus};
use proptest::prelude::*;

const MILLIS: i64 = 1_000_000;

fn options(from: i64, to: i64) -> AnalysisOptions {
    let mut filter = Filter::default();
    (filter.from_nanos, filter.to_nanos) = (Some(from), Some(to));
    filtered(filter)
}

/// Returns the top methods of a time range.
fn top(bytes: &[u8], index: Option<&Index>, from: i64, to: i64) -> (TopN, Outcome) {
    let options = options(from, to);
    let mut reader = Reader::from_slice(bytes);
    if let Some(index) = index {
        reader = options.filter.narrow(reader, index).unwrap();
    }
    let mut pass = ReportPass::with_options(TopNOptions::default(), options);
    let outcome = pass.read(&mut reader.time_ordered()).unwrap();
    (pass.finish().output, outcome)
}

#[test]
fn methods_of_ranges_of_real_traces_are_those_of_a_whole_read() {
    let (mut samples, mut saved) = (0, 0);
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        let index = read_index(Whole::new(&bytes)).unwrap();
        let mut last = 0;
        let clock = index.clock();
        let mut reader = Reader::from_slice(&bytes);
        reader
            .for_each(|event| {
                last = last.max(clock.nanos_since_start(event.timestamp_ticks()).unwrap_or(0));
            })
            .unwrap();
        for from in [0, last / 3, last / 2, last - 300 * MILLIS] {
            let (whole, all) = top(&bytes, None, from, from + 200 * MILLIS);
            let (part, some) = top(&bytes, Some(&index), from, from + 200 * MILLIS);
            assert_eq!(part, whole, "{} from {from}", trace.name());
            samples += part.counted.samples;
            saved += all.statistics.events - some.statistics.events;
        }
    }
    assert!(samples > 10_000 && saved > 100_000, "{samples} samples, {saved} events not read");
}

/// Generates steps that load, unload and list a few methods at a few addresses, and samples there.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..9usize, 0..3u64, 0..3u64, 1..60u32).prop_map(|(kind, id, place, later)| {
        let start = 0x1000 + place * 0x80;
        let name = ["A.One", "A.Two", "B.Three"][id as usize];
        let report = |event_type| method(event_type, id + 1, start, 0x100, name);
        match kind {
            0 => report(LOAD),
            1 => report(UNLOAD),
            2..=4 => report(AT_END),
            5 => Step::sequence_point(),
            6 => module(),
            _ => sample(0, later * 1_000_000, &[start + 8, 0x1100]),
        }
    });
    prop::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases(128))
    })]

    #[test]
    fn methods_of_a_range_of_a_random_session_are_those_of_a_whole_read(
        steps in steps(),
        from in 0..3_000i64,
        length in 1..500i64,
    ) {
        let bytes = session(steps).record().stream.bytes;
        let index = read_index(Whole::new(&bytes)).unwrap();
        let (from, to) = (from * MILLIS, (from + length) * MILLIS);
        prop_assert_eq!(
            top(&bytes, Some(&index), from, to).0,
            top(&bytes, None, from, to).0
        );
    }
}

#[test]
fn a_list_of_methods_that_are_known_is_read_only_once() {
    let list = || (0..200).map(|id| method(AT_END, id + 1, 0x1000 * (id + 1), 0x100, "A.One"));
    let mut steps: Vec<Step> = list().collect();
    for _ in 0..10 {
        steps.push(Step::sequence_point());
        steps.extend(list());
    }
    let bytes = session(steps).record().stream.bytes;
    let index = read_index(Whole::new(&bytes)).unwrap();
    let (_, outcome) = top(&bytes, Some(&index), 100_000 * MILLIS, 100_001 * MILLIS);
    assert_eq!(outcome.statistics.events, 200);
}
