//! Compares the content of tables with that of reports.

use crate::memory_files::{
    MemoryFiles, files_of, files_with, flag, of_tables, real, rows_of, spill, sum, text, whole,
};
use nettrace_analysis::report::TopNOptions;
use nettrace_analysis::report::{
    Alloc, AllocEvent, Contention, Counters, Exceptions, Gc, Jit, Logs, Report, ReportPass,
};
use nettrace_analysis::{AnalysisOptions, PdbFile, ThreadState};
use nettrace_export::{EventForm, EventPattern, EventWriter, WriteOptions};
use nettrace_parser::Reader;
use nettrace_tables::schema::{EVENTS, FRAMES, SAMPLES};
use nettrace_tables::{Table, TablePass};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{
    EventType, Field as SynthField, FieldType, Session, SessionEvent, SessionThread, Step, Value,
    Version,
};
use std::collections::BTreeMap;

#[test]
fn waits_that_are_not_over_are_rows_until_the_end_of_the_trace() {
    let trace = corpus::known("deadlock/Dead-mix");
    let rows = rows_of(&files_of(&trace.bytes()), "contentions");
    let is_open = |row: &&_| flag(row, "is_open") == Some(true);
    let mut open: Vec<_> = rows
        .iter()
        .filter(is_open)
        .map(|row| {
            let of = |column| whole(row, column).unwrap();
            let seconds = of("duration_ns") / 1_000_000_000;
            (of("thread_id"), of("owner_thread_id"), of("lock_id") != 0, seconds)
        })
        .collect();
    open.sort_unstable();
    let expected = [(24222, 24223, true, 3), (24223, 24222, true, 3), (24224, 24222, true, 2)];
    assert_eq!(open, expected);
}

#[test]
fn counts_and_sums_are_those_of_the_reports() {
    for trace in corpus::traces() {
        let (name, bytes) = (trace.name(), trace.bytes());
        let files = files_of(&bytes);
        let rows = |table| rows_of(&files, table);
        let mut pass = ReportPass::new((
            Gc::default(),
            Jit::default(),
            Counters::default(),
            Exceptions::default(),
            Contention::default(),
            Alloc::default(),
            Logs::default(),
        ));
        let _outcome = pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
        let reported = pass.finish();
        let (gc, jit, counters, exceptions, contention, alloc, logs) = reported.output;

        let gcs = rows("gcs");
        assert_eq!(gcs.len(), gc.collections.len(), "{name}");
        for (row, collection) in gcs.iter().zip(&gc.collections) {
            assert_eq!(whole(row, "time_ns"), Some(collection.start_ns), "{name}");
            let of = |column| whole(row, column).map(|value| value as u64);
            assert_eq!(of("duration_ns"), collection.duration_ns, "{name}");
            assert_eq!(of("pause_ns"), Some(collection.pause_ns), "{name}");
            assert_eq!(of("heap_before_bytes"), collection.heap_before_bytes, "{name}");
            assert_eq!(of("heap_after_bytes"), collection.heap_after_bytes, "{name}");
            assert_eq!(of("promoted_bytes"), collection.promoted_bytes, "{name}");
            assert_eq!(real(row, "survival_percent"), collection.survival_percent, "{name}");
            assert_eq!(of("sweep_ns"), collection.sweep_ns, "{name}");
            assert_eq!(text(row, "reason"), Some(&*collection.reason.to_string()), "{name}");
        }

        let compiled = rows("jit");
        assert_eq!(compiled.len() as u64, jit.totals.methods, "{name}");
        assert_eq!(sum(&compiled, "duration_ns"), jit.totals.duration_ns, "{name}");
        assert_eq!(sum(&compiled, "native_bytes"), jit.totals.native_bytes, "{name}");

        let values = rows("counters");
        let points = counters.series.iter().flat_map(|series| &series.points);
        for (row, point) in values.iter().zip(points.clone()) {
            let finite = Some(point.value).filter(|value| value.is_finite());
            assert_eq!((real(row, "value"), real(row, "total")), (finite, point.total), "{name}");
        }
        assert_eq!(values.len(), points.count(), "{name}");

        let thrown = rows("exceptions");
        assert_eq!(thrown.len() as u64, exceptions.count, "{name}");
        for of_type in &exceptions.types {
            let is_wanted = |row: &&_| text(row, "type") == Some(&*of_type.type_name);
            assert_eq!(thrown.iter().filter(is_wanted).count() as u64, of_type.count, "{name}");
        }

        let (open, waits): (Vec<_>, Vec<_>) =
            rows("contentions").into_iter().partition(|row| flag(row, "is_open") == Some(true));
        assert_eq!(open.len() as u64, contention.totals.still_waiting, "{name}");
        let at_least: u64 = contention.locks.iter().map(|lock| lock.open_ns).sum();
        assert_eq!(sum(&open, "duration_ns"), at_least, "{name}");
        assert_eq!(waits.len() as u64, contention.totals.waits.count, "{name}");
        assert_eq!(sum(&waits, "duration_ns"), contention.totals.waits.total_ns, "{name}");
        let of_known_locks = contention.locks.iter().filter(|lock| lock.lock_id.is_some());
        let known: u64 = of_known_locks.map(|lock| lock.waits.count).sum();
        let with_lock = waits.iter().filter(|row| whole(row, "lock_id").is_some()).count();
        assert_eq!(with_lock as u64, known, "{name}");

        let allocations = rows("allocations");
        let of_kind = |kind: &str| {
            let is_wanted = |row: &&_| text(row, "kind") == Some(kind);
            allocations.iter().filter(is_wanted).cloned().collect::<Vec<_>>()
        };
        let ticks = of_kind("tick");
        if of_kind("sample").is_empty() && !ticks.is_empty() {
            assert_eq!(sum(&ticks, "weight_bytes"), alloc.sources[0].bytes, "{name}");
        }
        let sampled =
            alloc.sources.iter().find(|source| source.source == AllocEvent::AllocationSampled);
        if let Some(source) = sampled {
            // The report rounds the sum. The table rounds each row so that the sum stays right.
            let samples = of_kind("sample");
            let apart = sum(&samples, "weight_bytes").abs_diff(source.bytes);
            assert!(apart <= 1 && samples.len() as u64 == source.events, "{name}: {apart} bytes");
        }
        assert_eq!(rows("logs").len() as u64, logs.count, "{name}");
    }
}

/// Compares a pass that fills one table, and skips work for other tables, with a pass that fills
/// all.
#[test]
fn a_table_alone_has_the_bytes_that_it_has_among_all() {
    for name in ["net10-linux-x64/all.nettrace", "one-collect-v6/cpu-and-switches.nettrace"] {
        let bytes = corpus::trace(name).bytes();
        let all = files_of(&bytes);
        assert!(all.len() > 3, "{name}: {:?}", all.keys());
        // Tables of code have rows for the stacks and methods of the other tables.
        let of_code = ["stacks", "frames", "methods"];
        for (table, file) in all.iter().filter(|(table, _)| !of_code.contains(&table.as_str())) {
            let table = Table::by_name(table).unwrap();
            let alone = files_with(&bytes, &of_tables(&[table]), spill());
            assert!(alone.len() == 1 && &alone[table.name] == file, "{name}: {}", table.name);
        }
    }
}

#[test]
fn samples_and_their_methods_are_those_of_topn() {
    for trace in corpus::traces() {
        let (name, bytes) = (trace.name(), trace.bytes());
        let files = files_of(&bytes);
        let mut analysis = nettrace_analysis::Analysis::new(AnalysisOptions::default());
        let _ = analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
        let finished = analysis.finish().unwrap();
        let samples: Vec<_> = rows_of(&files, "samples")
            .into_iter()
            .filter(|row| text(row, "kind") == Some("cpu"))
            .collect();
        let (mut count, mut weight) = (0, 0);
        let mut states: BTreeMap<&str, u64> = BTreeMap::new();
        let resolved = finished.resolved();
        for (key, totals) in finished.profile.rows() {
            count += totals.samples;
            weight += totals.weight;
            *states.entry(resolved.state(key.stack, key.mode).name()).or_default() +=
                totals.samples;
        }
        assert_eq!((samples.len() as u64, sum(&samples, "weight_ns")), (count, weight), "{name}");
        for state in ThreadState::ALL {
            let is_wanted = |row: &&_| text(row, "state") == Some(state.name());
            let of_table = samples.iter().filter(is_wanted).count() as u64;
            assert_eq!(of_table, states.get(state.name()).copied().unwrap_or(0), "{name}");
        }
        // Samples, innermost frames and texts are joined as in a query over a fleet.
        let frames: BTreeMap<i64, String> = rows_of(&files, "frames")
            .iter()
            .map(|row| (whole(row, "frame_id").unwrap(), text(row, "text").unwrap().to_owned()))
            .collect();
        let leaves: BTreeMap<i64, i64> = rows_of(&files, "stacks")
            .iter()
            .filter(|row| whole(row, "depth") == Some(0))
            .map(|row| (whole(row, "stack_id").unwrap(), whole(row, "frame_id").unwrap()))
            .collect();
        // In the report, a native call and the taking of a lock have rows of their own. In the
        // table, the column `state` shows them. The caller of the innermost frame takes the lock.
        let base = |name: &str| name.split(" → ").next().unwrap_or(name).to_owned();
        let mut exclusive: BTreeMap<String, u64> = BTreeMap::new();
        let takes_lock = Some(ThreadState::TakingLock.name());
        for row in samples.iter().filter(|row| text(row, "state") != takes_lock) {
            if let Some(stack) = whole(row, "stack_id") {
                let text = &*frames[&leaves[&stack]];
                *exclusive.entry(base(text)).or_default() +=
                    whole(row, "weight_ns").unwrap() as u64;
            }
        }
        let mut all = TopNOptions::default();
        all.count = usize::MAX;
        let top = all.finish(&resolved);
        let mut of_methods: BTreeMap<String, u64> = BTreeMap::new();
        for method in top.methods.iter().filter(|row| {
            row.addresses == 0 && !row.is_guessed && !row.name.ends_with("taking a lock")
        }) {
            *of_methods.entry(base(&method.name)).or_default() += method.self_ns;
        }
        for (method, self_ns) in of_methods.iter().filter(|(_, self_ns)| **self_ns > 0) {
            assert_eq!(exclusive.get(method), Some(self_ns), "{name}: {method}");
        }
    }
}

#[test]
fn events_and_their_payloads_are_those_of_ndjson() {
    for name in ["net10-linux-x64/metrics.nettrace", "one-collect-v6/cpu.nettrace"] {
        let trace = corpus::trace(name);
        let bytes = trace.bytes();
        let options = of_tables(&[&EVENTS]);
        let rows = rows_of(&files_with(&bytes, &options, spill()), "events");
        let (mut writer, mut lines) =
            (EventWriter::new(EventForm::Ndjson, WriteOptions::default()), Vec::new());
        let mut events = Reader::from_slice(&bytes).time_ordered();
        let mut stacks = Vec::new();
        events
            .for_each(|event| {
                writer.write(&mut lines, &event);
                stacks.push(!event.stack().is_empty());
            })
            .unwrap();
        let lines: Vec<&str> = std::str::from_utf8(&lines).unwrap().lines().collect();
        assert_eq!(rows.len(), lines.len(), "{name}");
        for ((row, line), has_stack) in rows.iter().zip(lines).zip(stacks) {
            let json: serde_json::Value = serde_json::from_str(line).unwrap();
            let payload: serde_json::Value =
                serde_json::from_str(text(row, "payload").unwrap_or("null")).unwrap();
            assert_eq!(payload, json["payload"], "{name}");
            assert_eq!(whole(row, "time_ns"), json["ts_ns"].as_i64(), "{name}");
            assert_eq!(text(row, "event"), json["event"].as_str(), "{name}");
            assert_eq!(text(row, "provider"), json["provider"].as_str(), "{name}");
            assert_eq!(whole(row, "thread_id"), json["tid"].as_i64().filter(|id| *id >= 0));
            assert_eq!(text(row, "activity_id"), json["activity"].as_str(), "{name}");
            assert_eq!(text(row, "payload_rest"), json["payload_rest"].as_str(), "{name}");
            assert_eq!(whole(row, "stack_id").is_some(), has_stack, "{name}");
        }
    }
}

/// Writes a stream with `count` event types, one event of each. The payloads differ in the name of
/// their field.
fn many_layouts(count: u32) -> Vec<u8> {
    let mut session = Session::new(Version::V5);
    session.threads = vec![SessionThread::new(11)];
    for at in 0..count {
        session.types.push(EventType {
            provider: "Synth".to_owned(),
            event_id: at + 1,
            name: format!("E{at}"),
            fields: vec![SynthField::new(&format!("F{at}"), FieldType::Int32)],
            ..EventType::default()
        });
        session.steps.push(Step::event(at as usize, 0, 10, vec![Value::I32(1)]));
    }
    session.record().stream.into_bytes()
}

#[test]
fn events_whose_layouts_get_no_file_are_counted() {
    for (count, left_out) in [(256, 0), (300, 44)] {
        let bytes = many_layouts(count);
        let mut options = of_tables(&[]);
        options.wide = vec![EventPattern::new("*/*")];
        let mut pass = TablePass::new(1, &options, spill()).unwrap();
        let mut events = Reader::from_slice(&bytes).time_ordered();
        events.for_each(|event| pass.event(&event)).unwrap();
        let mut files = MemoryFiles::default();
        let written = pass.finish(&mut files).unwrap();
        let rows: u64 = written.tables.iter().map(|(_, rows)| rows).sum();
        assert_eq!((rows, written.wide_left_out), (256, left_out));
    }
}

#[test]
fn frames_have_the_lines_of_a_pdb_if_they_are_asked_for() {
    let (trace, pdb) = (corpus::known("LineHot").bytes(), corpus::known_file("LineHot.pdb"));
    let frames = |has_lines| {
        let mut options = of_tables(&[&SAMPLES, &FRAMES]);
        options.lines = has_lines;
        let mut pass = TablePass::new(7, &options, spill()).unwrap();
        let _outcome = pass.read(&mut Reader::from_slice(&trace).time_ordered()).unwrap();
        pass.model_mut().add_pdb(PdbFile::from_bytes(&pdb).unwrap());
        let mut files = MemoryFiles::default();
        let written = pass.finish(&mut files).unwrap();
        assert_eq!(written.lines.is_some(), has_lines);
        rows_of(&files.all(), "frames")
    };
    let line = |row: &_| {
        let at = (text(row, "file")?.to_owned(), whole(row, "line")?);
        assert_eq!((flag(row, "is_first_line"), text(row, "source_url")), (Some(false), None));
        assert!(text(row, "text").unwrap().contains(&format!(".cs:{}", at.1)), "{at:?}");
        Some(at)
    };
    let lines: Vec<_> = frames(true).iter().filter_map(line).collect();
    assert!(lines.contains(&("/src/LineHot/Program.cs".to_owned(), 33)), "{lines:?}");
    assert_eq!(frames(false).iter().find_map(line), None);
}

#[test]
fn samples_whose_stacks_got_their_callers_back_say_so() {
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = vec![EventType {
        provider: "Microsoft-DotNETCore-SampleProfiler".into(),
        ..EventType::default()
    }];
    session.threads = vec![SessionThread::new(11)];
    let sample = |depth: u64| {
        // The runtime keeps the innermost hundred frames.
        let stack = (1..=depth).rev().take(100).map(|frame| frame * 0x100).collect();
        let (ticks_later, values) = (1_000_000, vec![Value::U32(2)]);
        Step::Event(SessionEvent { ticks_later, stack, values, ..SessionEvent::default() })
    };
    session.steps = [90, 120, 95].map(sample).into();
    let files = files_of(&session.record().stream.bytes);
    let repaired = rows_of(&files, "samples");
    let repaired: Vec<_> = repaired.iter().map(|row| flag(row, "is_repaired").unwrap()).collect();
    assert_eq!(repaired, [false, true, false]);
    let depths = rows_of(&files, "stacks");
    let deepest = depths.iter().filter_map(|row| whole(row, "depth")).max();
    assert_eq!(deepest, Some(119));
}
