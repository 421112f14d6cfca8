//! Samples of recordings that have the times of their threads.

use crate::memory_files::{files_with, flag, of_tables, rows_of, spill, sum, whole};
use nettrace_analysis::report::TopNOptions;
use nettrace_analysis::{Analysis, AnalysisOptions, ThreadState, ThreadTimes};
use nettrace_parser::Reader;
use nettrace_tables::schema::SAMPLES;
use nettrace_testdata::Readings;
use nettrace_testdata::synth::{
    EventType, Session, SessionEvent, SessionThread, Step, Value, Version,
};
use std::sync::Arc;

/// Returns a trace of a second in which threads 11 and 12 are in native code in turns, and the
/// readings of the first one, which runs all of the first half, and a fifth of the second.
fn recorded() -> (Vec<u8>, ThreadTimes) {
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    let sampler = "Microsoft-DotNETCore-SampleProfiler".into();
    session.types = vec![EventType { provider: sampler, ..EventType::default() }];
    session.threads = vec![SessionThread::new(11), SessionThread::new(12), SessionThread::new(99)];
    let sample = |at: usize| {
        Step::Event(SessionEvent {
            thread: at % 2,
            capture_thread: 2,
            ticks_later: 500_000,
            stack: vec![0x1000],
            values: vec![Value::U32(1)],
            ..SessionEvent::default()
        })
    };
    session.steps = (0..1998).map(sample).collect();
    let mut readings = Readings::new(&session);
    readings.born(11, "shop", 0).born(12, "shop", 0).born(99, ".NET EventPipe", 0);
    for round in 1..=20 {
        let ran = if round <= 10 { round * 50 } else { 400 + round * 10 };
        readings.time(11, round * 50, ran, 0).time(12, round * 50, 0, 0);
        readings.time(99, round * 50, round, 0).total(round * 50, ran + round);
    }
    let times = ThreadTimes::read(&mut Reader::from_slice(&readings.bytes())).unwrap();
    (session.record().stream.bytes, times)
}

#[test]
fn samples_with_what_they_ran_and_other_rows_add_up_to_the_processor_time() {
    let (bytes, times) = recorded();
    let mut options = AnalysisOptions::default();
    options.filter.states = ThreadState::RUNNING.to_vec();
    options.thread_times = Some(Arc::new(times.clone()));
    let mut analysis = Analysis::new(options);
    let _outcome = analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
    let finished = analysis.finish().unwrap();
    let top = finished.report(TopNOptions::default());
    let time = top.counted.processor_time.unwrap();

    let mut options = of_tables(&[&SAMPLES]);
    options.thread_times = Some(times.into());
    let rows = rows_of(&files_with(&bytes, &options, spill()), "samples");
    let ran = sum(&rows, "ran_ns");
    assert_eq!(ran + time.unsampled_ns, top.counted.total_ns);
    assert_eq!(Some(ran + time.unsampled_ns + time.recording_ns), time.process_ns);
    for row in &rows {
        let ran_ns = whole(row, "ran_ns").unwrap();
        assert!(ran_ns <= whole(row, "weight_ns").unwrap(), "{row:?}");
        let end = whole(row, "time_ns").unwrap() + whole(row, "weight_ns").unwrap();
        let is_late = end > 500_000_000;
        let is_estimated = whole(row, "thread_id") == Some(11) && is_late;
        assert_eq!(flag(row, "is_ran_estimated"), Some(is_estimated), "{row:?}");
    }
}

#[test]
fn without_readings_nothing_says_what_samples_ran() {
    let (bytes, _) = recorded();
    let options = of_tables(&[&SAMPLES]);
    let rows = rows_of(&files_with(&bytes, &options, spill()), "samples");
    assert_eq!(rows.len(), 1998);
    let is_null =
        |row: &_| whole(row, "ran_ns").is_none() && flag(row, "is_ran_estimated").is_none();
    assert!(rows.iter().all(is_null));
}
