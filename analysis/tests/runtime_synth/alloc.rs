//! Allocations and their rate, in the report and in the summary.

use crate::common::{self, LOAD, TICK};
use crate::script::{SAMPLED, Script, report, report_with, text};
use nettrace_analysis::Filter;
use nettrace_analysis::findings::Summary;
use nettrace_analysis::report::{
    Alloc, AllocEvent, AllocReport, ObjectKind, Report, ReportPass, Types,
};
use nettrace_parser::Reader;
use nettrace_testdata::synth::{Step, Value};

#[test]
fn ticks_and_random_samples_measure_the_same_and_are_not_added() {
    let tick = |kind: u32, bytes: u64, name: &str| {
        vec![
            Value::U32(0),
            Value::U32(kind),
            Value::U16(0),
            Value::U64(bytes),
            Value::U64(1),
            text(name),
            Value::U32(0),
            Value::U64(0x9000),
            Value::U64(24),
        ]
    };
    let sampled = |kind: u32, size: u64, name: &str| {
        vec![
            Value::U32(kind),
            Value::U16(0),
            Value::U64(1),
            text(name),
            Value::U64(0x9000),
            Value::U64(size),
            Value::U64(0),
        ]
    };
    let script = Script::new()
        .event(10, 0, 10, tick(0, 100_000, "Small"))
        .event(20, 1, 10, tick(1, 900_000, "Large"))
        .of_type(30, 0, SAMPLED, sampled(0, 24, "Small"))
        .of_type(40, 0, SAMPLED, sampled(0, 24, "Small"))
        .of_type(50, 1, SAMPLED, sampled(1, 10_240_000, "Large"));
    let steps = script.steps;
    let report: AllocReport = report(Alloc::default(), steps.clone());
    let [random, ticks] = &report.sources[..] else { panic!("two sources") };
    assert_eq!((random.source, random.events), (AllocEvent::AllocationSampled, 3));
    assert_eq!(
        (ticks.source, ticks.events, ticks.bytes),
        (AllocEvent::AllocationTick, 2, 1_000_000)
    );
    assert_eq!((ticks.objects, ticks.bytes_error), (None, None));
    // A sampled object of 24 bytes stands for 102,411.5 bytes. An object of 100 times the mean
    // distance between samples stands for itself.
    let types: Vec<_> =
        random.types.iter().map(|row| (&*row.type_name, row.bytes, row.objects)).collect();
    assert_eq!(types, [("Large", 10_240_000, Some(1)), ("Small", 204_823, Some(8_534))]);
    assert_eq!(random.types[0].large_bytes, 10_240_000);
    // The standard error of a small object is about as large as the bytes it stands for.
    let error = random.types[1].bytes_error.unwrap();
    assert!((144_000..146_000).contains(&error), "{error}");
    assert_eq!(random.types[0].bytes_error, Some(0));
    let threads: Vec<_> = ticks.threads.iter().map(|row| (row.thread, row.bytes)).collect();
    assert_eq!(threads, [(Some(12), 900_000), (Some(11), 100_000)]);
    let kinds: Vec<_> = ticks.kinds.iter().map(|row| (row.kind, row.bytes, row.percent)).collect();
    assert_eq!(kinds, [(ObjectKind::Small, 100_000, 10.0), (ObjectKind::Large, 900_000, 90.0)]);

    let mut filter = Filter::default();
    filter.threads = vec![12];
    let (types, _) = report_with(Types::default(), steps, filter);
    assert_eq!(
        (types.source, types.bytes, types.types.len()),
        (Some(AllocEvent::AllocationSampled), 10_240_000, 1)
    );
}

/// Makes a tick of 1,000 bytes at a stack, `later` after the event before.
fn tick_at(later: u32, stack: &[u64]) -> Step {
    let values = vec![
        Value::U32(0),
        Value::U32(0),
        Value::U16(0),
        Value::U64(1_000),
        Value::U64(3),
        text("N.Small"),
        Value::U32(0),
    ];
    common::event(TICK, 0, later, stack, values)
}

fn of_session<R: Report>(report: R, steps: Vec<Step>, filter: Filter) -> R::Output {
    let bytes = common::session(steps).record().stream.bytes;
    let mut pass = ReportPass::with_options(report, common::filtered(filter));
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

#[test]
fn allocations_of_one_type_at_stacks_with_equal_names_are_one_row() {
    let report = of_session(
        Alloc::default(),
        vec![
            common::method(LOAD, 1, 0x1000, 0x100, "N.T.A"),
            common::method(LOAD, 2, 0x2000, 0x100, "N.T.B"),
            // Equal calls at other addresses of the code.
            tick_at(1, &[0x1010, 0x2020]),
            tick_at(1, &[0x1018, 0x2020]),
            tick_at(1, &[0x1018, 0x2040]),
            tick_at(1, &[0x1018]),
        ],
        Filter::default(),
    );
    let rows: Vec<_> =
        report.sources[0].stacks.iter().map(|row| (row.events, row.frames.len())).collect();
    assert_eq!(rows, [(3, 2), (1, 1)]);
}

#[test]
fn the_rate_of_allocation_is_over_all_the_time_that_is_looked_at() {
    // Two ticks 1 us apart, in a session of 1 ms.
    let steps = vec![
        common::method(LOAD, 1, 0x1000, 0x100, "N.T.A"),
        tick_at(500_000, &[0x1010]),
        tick_at(1_000, &[0x1010]),
        common::event(LOAD, 0, 499_000, &[], vec![]),
    ];
    let rate = |filter: Filter| {
        of_session(Alloc::default(), steps.clone(), filter).sources[0].bytes_per_second
    };
    // The length of a trace includes its last nanosecond, as in `info`.
    let assert_rate = |filter: Filter, expected: f64| {
        let rate = rate(filter).expect("there is time between the events");
        assert!((rate / expected - 1.0).abs() < 1e-5, "{rate} {expected}");
    };
    assert_rate(Filter::default(), 2_000.0 / 0.001);
    let mut only = Filter::default();
    only.from_nanos = Some(400_000);
    assert_rate(only, 2_000.0 / 0.0005);
}

#[test]
fn the_summary_counts_the_allocations_that_the_report_is_made_of() {
    let tick = |kind: u32| {
        vec![
            Value::U32(0),
            Value::U32(kind),
            Value::U16(0),
            Value::U64(100_000),
            Value::U64(3),
            text("A"),
            Value::U32(0),
        ]
    };
    let sampled = vec![
        Value::U32(0),
        Value::U16(0),
        Value::U64(3),
        text("A"),
        Value::U64(4),
        Value::U64(24),
        Value::U64(9),
    ];
    let script = Script::new().event(10, 0, 10, tick(0)).of_type(20, 0, SAMPLED, sampled).event(
        30,
        0,
        10,
        tick(0),
    );
    let summary = report(Summary::default(), script.steps);
    let answers: Vec<_> =
        summary.answers.iter().map(|answer| (&*answer.report, answer.events)).collect();
    assert_eq!(answers, [("alloc", 1)]);
}

#[test]
fn counted_objects_have_names_of_types_if_the_stream_has_them() {
    let counted = |id: u64, objects: u32, bytes: u64| {
        vec![
            Value::U64(0x9000),
            Value::U64(id),
            Value::U32(objects),
            Value::U64(bytes),
            Value::U16(0),
        ]
    };
    let named = vec![
        Value::U32(1),
        Value::U16(0),
        Value::U64(0x70),
        Value::U64(1),
        Value::U32(0),
        Value::U32(0),
        Value::U8(0),
        text("N.Widget"),
        Value::U32(0),
    ];
    let script = Script::new()
        .event(10, 0, 20, counted(0x70, 3, 72))
        .event(20, 0, 20, counted(0x80, 1, 40))
        // The name of the type comes after its first use.
        .event(30, 0, 15, named)
        .event(40, 1, 20, counted(0x70, 2, 48));
    let report: AllocReport = report(Alloc::default(), script.steps);
    let [source] = &report.sources[..] else { panic!("one source") };
    assert_eq!(
        (source.source, source.events, source.bytes),
        (AllocEvent::SampledObjectAllocation, 3, 160)
    );
    let types: Vec<_> =
        source.types.iter().map(|row| (&*row.type_name, row.bytes, row.objects)).collect();
    assert_eq!(types, [("N.Widget", 120, Some(5)), ("type 0x80", 40, Some(1))]);
}
