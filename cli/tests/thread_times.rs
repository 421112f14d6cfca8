//! Reports of recordings that have the times of their threads.

use crate::common::{Json, expect, file, gzip, nettrace_with_input, run};

use nettrace_testdata::Readings;
use nettrace_testdata::synth::{
    EventType, Session, SessionEvent, SessionThread, Step, Value, Version,
};

/// Returns a trace of half a second in which thread 11 is in native code, and its readings.
pub(crate) fn recorded() -> (Vec<u8>, Readings) {
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    let sampler = "Microsoft-DotNETCore-SampleProfiler".into();
    session.types = vec![EventType { provider: sampler, ..EventType::default() }];
    session.threads = vec![SessionThread::new(11), SessionThread::new(99)];
    let sample = |_| {
        Step::Event(SessionEvent {
            thread: 0,
            capture_thread: 1,
            ticks_later: 1_000_000,
            stack: vec![0x1000],
            values: vec![Value::U32(1)],
            ..SessionEvent::default()
        })
    };
    session.steps = (0..499).map(sample).collect();
    let mut readings = Readings::new(&session);
    readings.limit(0, 10, 0).born(11, "shop", 0).born(30, ".NET Tiered", 0).born(99, "shop", 0);
    for round in 1..=10 {
        readings.time(11, round * 50, round * 20, round * 5).time(99, round * 50, round, 0);
        readings.time(30, round * 50, round * 4, 0).total(round * 50, round * 25);
    }
    (session.record().stream.bytes, readings)
}

#[test]
fn reports_of_samples_count_the_time_that_threads_ran() {
    let (trace, readings) = recorded();
    let path = file("read.nettrace", &readings.behind(&trace));
    let mut text = String::new();
    for report in ["topN", "tree", "threads"] {
        let ran = run(&format!("report {report} {path}"));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        text.push_str(&format!("$ nettrace report {report} read.nettrace\n{}\n", ran.text()));
    }
    expect("thread-times.txt", &text);
    let top = run(&format!("report topN {path} --json")).json();
    let time = &top["processor_time"];
    assert_eq!((time["process_ns"].int(), time["recording_ns"].int()), (250_000_000, 10_000_000));
    assert_eq!(top["total_ns"].int() + time["recording_ns"].int(), 250_000_000);
    let sums = ["measured_ns", "estimated_ns"].map(|name| time[name].int());
    assert_eq!(sums.iter().sum::<u64>(), top["total_ns"].int());
}

#[test]
fn throttled_time_is_a_column_if_there_is_any() {
    let threads = |throttled| {
        let (trace, mut readings) = recorded();
        let path = file("limit.nettrace", &readings.limit(501, 15, throttled).behind(&trace));
        run(&format!("report threads {path}")).text().to_owned()
    };
    assert!(!threads(0).contains("THROTTLED"));
    expect("thread-times-throttled.txt", &threads(4));
}

#[test]
fn times_of_threads_that_come_last_are_not_used_and_a_note_says_so() {
    let (trace, readings) = recorded();
    let both = readings.behind(&trace);
    let note = "the times of threads behind the trace are not used";
    for (args, input) in [("report topN -", &both), ("report topN -", &gzip(&both))] {
        let args: Vec<&str> = args.split(' ').collect();
        let ran = nettrace_with_input(&args, input);
        assert_eq!(ran.stderr.matches(note).count(), 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("give the file's name"), "{}", ran.stderr);
    }
    let packed = file("packed.nettrace.gz", &gzip(&both));
    let ran = run(&format!("report topN {packed}"));
    assert!(ran.stderr.contains("unpack it first"), "{}", ran.stderr);
    // Where they are used, wanted by nobody, or not there, there is nothing to say.
    let plain = file("both.nettrace", &both);
    for line in [format!("report topN {plain}"), format!("report gc {packed}")] {
        let ran = run(&line);
        assert!(!ran.stderr.contains(note), "{line}: {}", ran.stderr);
    }
    let ran = nettrace_with_input(&["report", "topN", "-"], &trace);
    assert!(!ran.stderr.contains(note), "{}", ran.stderr);
}

#[test]
fn the_readings_of_threads_are_a_table() {
    let (trace, readings) = recorded();
    let path = file("table.nettrace", &readings.behind(&trace));
    let folder = format!("{path}.tables");
    let ran = run(&format!("export parquet {path} -o {folder}"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let tables = std::fs::read_dir(&folder).unwrap();
    let names: Vec<String> =
        tables.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().any(|name| name.starts_with("thread_times")), "{names:?}");
}

#[test]
fn without_readings_reports_are_as_ever() {
    let (trace, _) = recorded();
    let path = file("bare.nettrace", &trace);
    let top = run(&format!("report topN {path} --json")).json();
    assert!(top.get("processor_time").is_none());
    let methods = top["methods"].list();
    assert!(methods.iter().all(|row| row.get("self_estimated_ns").is_none()), "{methods:?}");
}
