//! Kept events stay what they were when they were met, however far the reader goes on.

use crate::snapshot;

use nettrace_parser::parallel::{self, Options, Order};
use nettrace_parser::{Event, KeptEvents, Reader};
use nettrace_testdata::synth::{Session, Step, Version, strategy};
use nettrace_testdata::{cases, corpus};
use proptest::prelude::*;
use snapshot::Seen;
use std::ops::ControlFlow;

/// All that an event has by itself and by reference, but for the fields, which are made
/// of these.
fn seen(event: &Event<'_>) -> String {
    let stack: Vec<u64> = event.stack().addresses().collect();
    let labels: Vec<String> = event.labels().iter().map(|label| format!("{label:?}")).collect();
    let place =
        (event.payload_offset(), event.sequence_number(), event.activity_id(), event.unix_nanos());
    let kind = (event.provider(), event.version(), event.process_id(), event.metadata_id());
    format!(
        "{event:?} {place:?} {kind:?} {:?} {stack:?} {:?} {labels:?}",
        event.thread(),
        event.payload()
    )
}

/// Events that are compared at a time.
const BATCH: usize = 100_000;

/// Keeps the events of a stream, the next ones when these were compared with a second
/// reader's.
fn assert_kept_as_met(bytes: &[u8], in_time: bool, name: &str) -> u64 {
    let (mut reader, mut second) = (Reader::from_slice(bytes), Reader::from_slice(bytes));
    let (mut ordered, mut second_ordered) =
        (Reader::from_slice(bytes).time_ordered(), Reader::from_slice(bytes).time_ordered());
    let (mut kept, mut count) = (KeptEvents::new(), 0);
    loop {
        while kept.len() < BATCH {
            let event = if in_time { ordered.next_event() } else { reader.next_event() };
            let Ok(Some(event)) = event else { break };
            kept.push(&event);
        }
        if kept.is_empty() {
            return count;
        }
        for event in &kept {
            let met = if in_time { second_ordered.next_event() } else { second.next_event() };
            let met = met.unwrap().expect("it was kept");
            assert_eq!(seen(&event), seen(&met), "{name}, event {count}");
            count += 1;
        }
        kept.clear();
    }
}

#[test]
fn every_event_of_every_real_trace_is_kept_as_it_was_met() {
    let mut traces = 0;
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        let in_file = assert_kept_as_met(&bytes, false, trace.name());
        if bytes.len() < 1_000_000 {
            assert_eq!(assert_kept_as_met(&bytes, true, trace.name()), in_file, "{}", trace.name());
        }
        traces += u32::from(in_file > 0);
    }
    assert!(traces > 1, "{traces} traces with events");
}

#[test]
fn events_of_regions_are_what_they_were_when_their_regions_are_gone() {
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        let mut expected = Vec::new();
        let mut reader = Reader::from_slice(&bytes);
        while expected.len() < 5_000
            && let Ok(Some(event)) = reader.next_event()
        {
            expected.push(seen(&event));
        }
        let mut kept = Vec::new();
        let options = Options::new().threads(2).order(Order::File);
        let keep = |region: &mut parallel::Region<'_, _>| {
            let mut kept = KeptEvents::new();
            region.for_each(|event| kept.push(&event))?;
            Ok(kept)
        };
        let _ = parallel::read_slice(&bytes, options, keep, |of_region| {
            kept.push(of_region);
            ControlFlow::Continue(())
        });
        let given = kept.iter().flatten().take(expected.len());
        assert_eq!(given.clone().count(), expected.len(), "{}", trace.name());
        for (event, expected) in given.zip(&expected) {
            assert_eq!(&seen(&event), expected, "{}", trace.name());
        }
    }
}

#[test]
fn events_of_several_streams_keep_their_own_sessions() {
    let streams =
        ["tiny-v4.nettrace", "tiny-v6.nettrace"].map(|name| corpus::trace(name).unwrap().bytes());
    let [mut first, mut second] = streams.each_ref().map(|bytes| Reader::from_slice(bytes));
    let (mut kept, mut expected) = (KeptEvents::new(), Vec::new());
    // One of this, one of that: neither may be taken for the other.
    loop {
        let before = kept.len();
        for reader in [&mut first, &mut second] {
            if let Some(event) = reader.next_event().unwrap() {
                expected.push(Seen::of(&event));
                kept.push(&event);
            }
        }
        if kept.len() == before {
            break;
        }
    }
    assert_eq!(kept.len(), 6);
    assert!(kept.iter().map(|event| Seen::of(&event)).eq(expected.iter().cloned()));
    // Copies of copies, from the end.
    let mut again = KeptEvents::new();
    kept.iter().rev().for_each(|event| again.push(&event));
    assert!(again.iter().map(|event| Seen::of(&event)).eq(expected.iter().rev().cloned()));
    assert_eq!(kept.get(5).map(|event| Seen::of(&event)), expected.last().cloned());
    assert!(kept.get(6).is_none());
}

#[test]
fn what_events_have_in_common_is_kept_once() {
    let Some(trace) = corpus::trace("net10-linux-x64/all.nettrace") else { return };
    let bytes = trace.bytes();
    let (mut kept, mut stacks) = (KeptEvents::new(), 0);
    let mut reader = Reader::from_slice(&bytes);
    while let Some(event) = reader.next_event().unwrap() {
        stacks += usize::from(!event.stack().is_empty());
        kept.push(&event);
    }
    let most = kept.iter().map(|event| event.stack_id() as usize).max().unwrap();
    assert!(most > 0 && most * 2 < stacks, "{most} copies of the stacks of {stacks} events");
}

#[test]
fn kept_events_go_to_other_threads() {
    fn is_sent<T: Send + Sync>() {}
    is_sent::<KeptEvents>();
}

/// A sequence point behind each few steps, which forgets as its flags say.
fn with_points(session: Session, flags: &[[bool; 3]], stride: usize) -> Session {
    let mut steps = Vec::new();
    let mut flags = flags.iter().cycle();
    for (nth, step) in session.steps.iter().enumerate() {
        steps.push(step.clone());
        if session.version != Version::V3
            && nth % stride == 0
            && let Some(&[lists_threads, forgets_threads, forgets_metadata]) = flags.next()
        {
            steps.push(Step::SequencePoint { lists_threads, forgets_threads, forgets_metadata });
        }
    }
    Session { steps, ..session }
}

fn sessions() -> impl Strategy<Value = Session> {
    let versions = prop::sample::select(vec![Version::V3, Version::V4, Version::V5, Version::V6]);
    let sessions = versions.prop_flat_map(|version| strategy::sessions(version, 80));
    let flags = prop::collection::vec(any::<[bool; 3]>(), 1..8);
    (sessions, flags, 1..9_usize)
        .prop_map(|(session, flags, stride)| with_points(session, &flags, stride))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(24)) })]

    #[test]
    fn events_on_both_sides_of_many_sequence_points_keep_their_own_types_threads_and_stacks(
        session in sessions(),
        in_time in any::<bool>(),
    ) {
        let bytes = session.record().stream.bytes;
        let (mut kept, mut met) = (KeptEvents::new(), Vec::new());
        let mut take = |event: Event<'_>| {
            met.push(Seen::of(&event));
            kept.push(&event);
        };
        match in_time {
            true => Reader::from_slice(&bytes).time_ordered().for_each(&mut take).unwrap(),
            false => Reader::from_slice(&bytes).for_each(&mut take).unwrap(),
        }
        prop_assert_eq!(kept.len(), met.len());
        for (event, met) in kept.iter().zip(&met) {
            prop_assert_eq!(&Seen::of(&event), met);
        }
    }
}
