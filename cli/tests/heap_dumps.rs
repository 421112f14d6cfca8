//! The choice of a dump, in traces with several.
//!
//! A program may collect younger generations while a dump is being requested, and the runtime makes
//! a dump of such a collection, too.

use crate::common;
use crate::common::Json;

use common::{file, nettrace};
use nettrace_testdata::synth::{
    EventType, Session, SessionEvent, SessionThread, Step, Value, Version,
};

/// Id and version of the event types: start and end of a collection, and nodes of the heap.
const TYPES: [(u32, u8); 3] = [(1, 2), (2, 1), (18, 0)];

/// Creates a trace with a dump for each collection, which has a generation and a number of objects.
fn trace(collections: &[(u32, u32)]) -> Vec<u8> {
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = TYPES
        .map(|(event_id, version)| EventType {
            provider: "Microsoft-Windows-DotNETRuntime".to_owned(),
            event_id,
            version,
            ..EventType::default()
        })
        .to_vec();
    session.threads = vec![SessionThread::new(11)];
    let event = |event_type, values| {
        Step::Event(SessionEvent {
            event_type,
            ticks_later: 1_000,
            values,
            ..SessionEvent::default()
        })
    };
    for (number, (generation, objects)) in (1..).zip(collections) {
        let numbers = [number, *generation, 1, 0].map(Value::U32);
        let start = numbers.into_iter().chain([Value::U16(0), Value::U64(0)]).collect();
        let mut nodes = vec![Value::U32(0), Value::U32(*objects), Value::U16(0)];
        for at in 0..u64::from(*objects) {
            nodes.extend([0x1000 + 24 * at, 24, 7, 0].map(Value::U64));
        }
        let end = vec![Value::U32(number), Value::U32(*generation), Value::U16(0)];
        session.steps.extend([event(0, start), event(2, nodes), event(1, end)]);
    }
    session.record().stream.bytes
}

#[test]
fn the_dump_that_is_shown_is_of_all_generations_and_another_says_what_it_is() {
    let path = file("younger-first.nettrace", &trace(&[(1, 9), (2, 5), (0, 7), (2, 6)]));
    let ran = nettrace(&["heap", &path]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.assert_message("it has 4 heap dumps; this is number 2, ");
    assert!(ran.text().starts_with("dump 2 of 4: 5 objects, "), "{}", ran.text());
    assert!(!ran.text().contains("garbage"), "{}", ran.text());
    let ran = nettrace(&["heap", &path, "--dump", "1"]);
    // A message reports that the trace describes no types.
    assert!(ran.code == Some(0) && !ran.stderr.contains("incomplete"), "{}", ran.stderr);
    let text = "of a collection up to generation 1: objects of older ones may be garbage\n";
    assert!(ran.text().contains("dump 1 of 4: 9 objects, ") && ran.text().contains(text));
    let document = nettrace(&["heap", &path, "--json"]).json();
    let dumps = document["dumps"].list();
    let rows: Vec<_> = dumps.iter().map(|row| row["collected_generation"].as_u64()).collect();
    assert_eq!((&document["dump"], rows), (&2.into(), [1, 2, 0, 2].map(Some).to_vec()));
    assert!(dumps.iter().all(|row| row["complete"] == true), "{document:#}");
    // Without a dump of all generations, a younger one is shown.
    let path = file("younger-only.nettrace", &trace(&[(1, 9)]));
    let ran = nettrace(&["heap", &path]);
    assert!(ran.code == Some(0) && !ran.stderr.contains("incomplete"), "{}", ran.stderr);
    assert!(ran.text().contains(text), "{}", ran.text());
}

#[test]
fn paths_count_objects_that_nothing_keeps_alive_apart() {
    let path = file("no-roots.nettrace", &trace(&[(2, 5)]));
    let ran = nettrace(&["heap", "paths", &path, "--type", "."]);
    assert_eq!(ran.text(), "not reachable from a root: 5 objects, 120 B\n");
    let ran = nettrace(&["heap", "paths", &path, "--type", "Nope"]);
    ran.assert_message("no object is of such a type; nettrace heap lists the types");
    assert_eq!((ran.code, ran.text()), (Some(0), ""));
}

#[test]
fn a_trace_given_twice_is_compared_by_dumps_of_one_kind() {
    let path = file("both-kinds.nettrace", &trace(&[(1, 9), (2, 5), (2, 6), (0, 7)]));
    let compared = |of: &str| {
        let ran = nettrace(&["heap", "diff", &format!("{path}{of}"), &format!("{path}{of}")]);
        (ran.code, ran.text().lines().next().unwrap_or_default().to_owned(), ran.stderr)
    };
    for (of, expected) in [("", "5 → 6 objects, "), ("#1", "9 → 7 objects, ")] {
        let (code, line, stderr) = compared(of);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(line.starts_with(expected), "{of}: {line}");
    }
    let (code, line, stderr) = compared("#3");
    assert_eq!((code, &*line), (Some(1), ""));
    assert!(stderr.contains("no later heap dump of the same kind; give "), "{stderr}");
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_type_is_the_same_where_only_one_dump_names_modules_and_outer_types() {
        let folder = nettrace_testdata::corpus::shared();
        let [old, new] = ["heap", "heap-2"].map(|name| {
            folder.join(format!("traces/net10-linux-x64/{name}.nettrace.gz")).display().to_string()
        });
        let report = nettrace(&["heap", "diff", &old, &new, "--json"]).json();
        let rows = report["types"].list();
        assert!(rows.iter().all(|row| row["change"] == "both"), "{rows:?}");
        assert!(report["unchanged_types"].as_u64() > Some(60), "{}", report["unchanged_types"]);
        for side in ["old", "new"] {
            assert_eq!(report["outcomes"][side]["complete"], true, "{side}");
        }
    }
}
