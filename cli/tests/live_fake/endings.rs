//! Conditions, sizes, durations and faults that end `nettrace collect` and other live commands.

use super::common::Json;
use super::{
    Folder, address, ignoring_stops, metrics, on, patiently, ran, slow, streaming, trace,
    up_to_the_end_mark,
};
use nettrace_ipc::CommandId;
use nettrace_ipc::fake::{FakeRuntime, Fault, FaultKind};

#[test]
fn what_has_come_of_a_recording_is_saved_although_its_process_falls_silent() {
    let (folder, bytes) = (Folder::new(), metrics());
    let fake = ignoring_stops();
    let port = address(&fake);
    // Without --patience, the command waits only 2 s.
    let run = ran(&["collect", "--port", &port, "--duration", "1s", "-o", "x.nettrace"], &folder);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    run.assert_message("did not end the session in time");
    assert!(std::fs::read(folder.0.join("x.nettrace")).unwrap() == bytes[..bytes.len() - 500]);
}

#[test]
fn a_session_that_does_not_begin_is_waited_for_for_its_duration_and_not_much_longer() {
    for words in [
        &["collect", "-o", "x.nettrace"][..],
        &["watch", "--show", "gc"],
        &["counters"],
        &["discover"],
        &["top"],
    ] {
        let folder = Folder::new();
        let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
        fake.set_fault(Some(Fault::always(FaultKind::Silence)));
        let port = address(&fake);
        let run = ran(&[words, &["--port", &port, "--duration", "100ms"]].concat(), &folder);
        assert_eq!(run.code, Some(1), "{words:?}: {}", run.stderr);
        assert!(run.stderr.contains("did not answer in time"), "{words:?}: {}", run.stderr);
        assert!(folder.names().is_empty(), "{:?}", folder.names());
    }
}

#[test]
fn a_target_that_dies_leaves_a_readable_file_and_collect_says_so() {
    let (folder, bytes) = (Folder::new(), metrics());
    let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
    let half = bytes.len() / 2;
    fake.set_fault(Some(Fault::on(CommandId::COLLECT_TRACING_2, FaultKind::DieInStream(half))));
    let run = on(&fake, &folder, &["collect", "-o", "x.nettrace"]);
    assert_eq!(run.code, Some(3));
    run.assert_message("exited without completing the trace");
    assert!(std::fs::read(folder.0.join("x.nettrace")).unwrap() == bytes[..half]);
    assert!(ran(&["info", "x.nettrace", "--json"], &folder).json()["events"].int() > 0);
}

#[test]
fn a_stop_that_is_ignored_ends_at_the_deadline() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
    fake.set_fault(Some(Fault::on(CommandId::STOP_TRACING, FaultKind::StopIgnored)));
    let args = ["collect", "--duration", "200ms", "-o", "x.nettrace"];
    // The start of the session must succeed within this time, too.
    let run = patiently(&fake, &folder, &args, "5s");
    assert_eq!(run.code, Some(3));
    run.assert_message("did not end the session in time");
}

#[test]
fn collect_stops_at_a_size() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(slow()).unwrap();
    let run = on(&fake, &folder, &["collect", "--max-size", "200KB", "-o", "x.nettrace"]);
    assert_eq!((run.code, fake.stops().len()), (Some(0), 1), "{}", run.stderr);
    assert!(std::fs::metadata(folder.0.join("x.nettrace")).unwrap().len() >= 200 << 10);
}

#[test]
fn collect_stops_at_an_event() {
    let (folder, bytes) = (Folder::new(), trace("net10-linux-x64/all.nettrace.gz"));
    for args in [
        &["--until", "Nettrace-Workload/RequestStart where number >= 1"][..],
        &["--until", "*/GC/Start", "--keep-after", "300ms"],
        &[
            "--stopping-event-provider-name",
            "Nettrace-Workload",
            "--stopping-event-event-name",
            "Request/Start",
        ],
    ] {
        let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
        let run = on(&fake, &folder, &[&["collect", "--force", "-o", "x.nettrace"], args].concat());
        assert_eq!((run.code, fake.stops().len()), (Some(0), 1), "{}", run.stderr);
        run.assert_message(": stopping\n");
    }
}

#[test]
fn collect_says_that_a_condition_asks_for_a_field_that_is_not_there() {
    let (folder, bytes) = (Folder::new(), trace("net10-linux-x64/all.nettrace.gz"));
    let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
    let args = [
        "collect",
        "--duration",
        "500ms",
        "-o",
        "x.nettrace",
        "--until",
        "*/GC/Start where Deep>1",
    ];
    let run = on(&fake, &folder, &args);
    // The message comes at the first event, not at the end.
    let reported = run.stderr.find("GC/Start has no field Deep; it has Count, Depth, Reason, ");
    assert!(
        reported.is_some_and(|reported| reported < run.stderr.find(" lost\n").unwrap_or(0)),
        "{}",
        run.stderr
    );
    assert_eq!(run.stderr.matches("has no field Deep").count(), 1, "{}", run.stderr);
}

#[test]
fn collect_says_at_the_start_that_the_event_to_stop_at_is_not_recorded() {
    let (folder, bytes) = (Folder::new(), trace("net10-linux-x64/all.nettrace.gz"));
    let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
    let until = "Microsoft-Windows-DotNETRuntime/GC/Start where Depth ~ '('";
    let run = on(&fake, &folder, &["collect", "-o", "x.nettrace", "--until", until]);
    run.assert_message("column 56: no regular expression");
    let until = ["--duration", "300ms", "--until", "System.Net.Http/RequestStart"];
    let run = on(&fake, &folder, &[&["collect", "-o", "x.nettrace"][..], &until].concat());
    let text =
        "the session does not record System.Net.Http; add it with --providers System.Net.Http";
    run.assert_message(text);
}

#[test]
fn a_stopping_event_may_have_to_have_values() {
    let (folder, bytes) = (Folder::new(), trace("net10-linux-x64/all.nettrace.gz"));
    let of = [
        "--stopping-event-provider-name",
        "Nettrace-Workload",
        "--stopping-event-event-name",
        "Request/Start",
    ];
    for (filter, stops) in [("number:37,url:/items/37", true), ("number:-17", false)] {
        let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
        // A recording whose condition is fulfilled ends by it, not by its duration.
        let duration = if stops { "600s" } else { "1s" };
        let args = ["collect", "--force", "-o", "x.nettrace", "--duration", duration];
        let filter = ["--stopping-event-payload-filter", filter];
        let run = on(&fake, &folder, &[&args[..], &of, &filter].concat());
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert_eq!(run.stderr.contains(": stopping\n"), stops, "{filter:?}: {}", run.stderr);
    }
}

#[test]
fn collect_stops_when_a_counter_is_so_for_a_time_and_asks_for_it() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(up_to_the_end_mark(&metrics())).unwrap();
    let condition = "System.Runtime/gc-heap-size > 10 for 2s";
    let words = ["collect", "--until", condition, "--profile", "gc-collect", "-o", "x.nettrace"];
    let run = on(&fake, &folder, &words);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run.assert_message(&format!("{condition}: stopping"));
    assert!(
        run.stderr.contains("System.Runtime  ") && run.stderr.contains("--until"),
        "{}",
        run.stderr
    );
    let start = fake.requests().into_iter().find(|request| request[16] == 2).unwrap();
    let text: String =
        start.iter().filter(|b| b.is_ascii_graphic()).map(|b| char::from(*b)).collect();
    assert!(text.contains("EventCounterIntervalSec=1"), "{text}");
    // A message suggests similar names for an unknown counter.
    let condition = "System.Runtime/gc-heap-siez > 10";
    let run = on(
        &fake,
        &folder,
        &["collect", "--until", condition, "--duration", "2s", "-o", "y.nettrace"],
    );
    run.assert_message("has no counter gc-heap-siez; did you mean gc-heap-size");
}
