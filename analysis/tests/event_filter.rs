//! Reading a trace at once gives the results of passing each event in time order.
//!
//! [`Analysis::read`] passes over events of no use and takes samples as they lie in the
//! file; [`Analysis::event`] is the plain way.

use crate::common;

use common::*;
use nettrace_analysis::report::{Modules, Report};
use nettrace_analysis::{Analysis, AnalysisOptions, EventSelector, Finished, Kind};
use nettrace_parser::{Limits, Reader, Whole};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{SessionEvent, Step, Value};

fn options(kinds: &[Kind]) -> AnalysisOptions {
    let mut options = AnalysisOptions::default();
    options.kinds = kinds.to_vec();
    if kinds.contains(&Kind::Event) {
        options.events =
            vec![EventSelector { event: format!("{RUNTIME}/30"), ..EventSelector::default() }];
    }
    options
}

/// Returns all results as texts.
fn seen(finished: &Finished) -> Vec<String> {
    let model = &finished.model;
    let mut seen = vec![format!("{:?}", model.session())];
    seen.extend(finished.profile.rows().iter().map(|row| format!("{row:?}")));
    seen.extend(model.threads().map(|row| format!("{row:?}")));
    let resolved = finished.resolved();
    seen.extend(model.stacks().map(|stack| {
        let frames = resolved.frames(stack).iter().map(|frame| resolved.frame(*frame));
        format!("{:?} {:?}", model.addresses(stack), frames.collect::<Vec<_>>())
    }));
    seen.extend(model.processes().map(|(_, process)| format!("{:?} {}", process.id, process.name)));
    seen.push(format!("{:?}", Modules::default().finish(&resolved)));
    seen
}

fn reader(bytes: &[u8], limits: Limits) -> Reader<Whole<&[u8]>> {
    Reader::with_limits(Whole::new(bytes), limits)
}

#[track_caller]
fn compare(name: &str, bytes: &[u8], kinds: &[Kind], limits: Limits) {
    let mut all_at_once = Analysis::new(options(kinds));
    let mut events = reader(bytes, limits).time_ordered();
    // Traces of killed processes end in the middle.
    let _ = all_at_once.read(&mut events).unwrap();
    let late = events.out_of_order();

    let mut one_by_one = Analysis::new(options(kinds));
    let mut events = reader(bytes, limits).time_ordered();
    while let Some(event) = events.next_event().unwrap() {
        one_by_one.event(&event).unwrap();
    }
    assert_eq!(late, events.out_of_order(), "{name} {kinds:?}: out of order");

    let expected = seen(&one_by_one.finish().unwrap());
    let seen = seen(&all_at_once.finish().unwrap());
    let difference = seen.iter().zip(&expected).find(|(seen, expected)| seen != expected);
    assert_eq!(difference, None, "{name} {kinds:?}");
    assert_eq!(seen.len(), expected.len(), "{name} {kinds:?}");
}

#[test]
fn every_trace_gives_the_same_both_ways() {
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        compare(trace.name(), &bytes, &[Kind::Cpu], Limits::default());
        compare(trace.name(), &bytes, &Kind::ALL, Limits::default());
    }
}

/// Pseudo-random numbers, equal in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn step(numbers: &mut Numbers) -> Step {
    let later = u32::try_from(numbers.below(3)).unwrap();
    let thread = usize::try_from(numbers.below(3)).unwrap();
    let capture_thread = usize::try_from(numbers.below(3)).unwrap();
    let stack = (0..numbers.below(3)).map(|_| 0x1000 + 0x80 * numbers.below(4)).collect();
    let event = |event_type, values| SessionEvent {
        event_type,
        thread,
        capture_thread,
        ticks_later: later,
        stack,
        values,
        ..SessionEvent::default()
    };
    Step::Event(match numbers.below(20) {
        0 => return Step::sequence_point(),
        1 => return Step::Flush,
        // Methods reuse a few addresses.
        2 | 3 => {
            let code = 0x1000 + 0x80 * numbers.below(4);
            let Step::Event(load) = method(LOAD, numbers.below(5), code, 0x100, "N.T.M") else {
                unreachable!()
            };
            SessionEvent { capture_thread, thread, ticks_later: later, ..load }
        }
        4 => event(THROWN, Vec::new()),
        // A truncated sample.
        5 => event(SAMPLE, Vec::new()),
        6 | 7 => event(MODULE, Vec::new()),
        mode => event(SAMPLE, vec![Value::U32(u32::try_from(mode % 4).unwrap())]),
    })
}

#[test]
fn threads_that_write_in_turns_give_the_same_both_ways() {
    for seed in 0..100 {
        let mut numbers = Numbers(seed);
        let count = 1 + numbers.below(300);
        let session = session((0..count).map(|_| step(&mut numbers)).collect());
        let bytes = session.record().stream.bytes;
        let name = format!("seed {seed}");
        compare(&name, &bytes, &[Kind::Cpu], Limits::default());
        compare(&name, &bytes, &[Kind::Cpu, Kind::Exceptions], Limits::default());
    }
}

#[test]
fn a_long_stretch_without_sequence_points_gives_the_same_both_ways() {
    let mut numbers = Numbers(7);
    let steps = (0..12_000).map(|_| match step(&mut numbers) {
        Step::SequencePoint { .. } => Step::Flush,
        step => step,
    });
    let bytes = session(steps.collect()).record().stream.bytes;
    compare("long", &bytes, &[Kind::Cpu], Limits::default());
}
