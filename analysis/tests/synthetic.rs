//! The model of synthetic streams.

use crate::common;

use common::*;
use nettrace_analysis::convert::{ConvertOptions, Format};
use nettrace_analysis::model::MissingNames;
use nettrace_analysis::report::TopNOptions;
use nettrace_analysis::report::{
    Exceptions, GroupBy, Modules, Report, ReportPass, Threads, TreeOptions,
};
use nettrace_analysis::{Analysis, AnalysisOptions, EventSelector, Kind, ThreadState};
use nettrace_parser::Reader;
use nettrace_testdata::synth::{EventType, Session, SessionThread, Step, Value, Version};

fn folded(session: &Session) -> String {
    let mut convert = ConvertOptions::default();
    convert.counts_samples = true;
    folded_with(session, full_names(), &convert)
}

#[test]
fn names_that_come_last_name_what_came_first() {
    let session = session(vec![
        sample(0, 10, &[0x1010, 0x2020]),
        sample(0, 10, &[0x1010, 0x2020]),
        Step::sequence_point(),
        // An equal stack with another id.
        sample(1, 10, &[0x1010, 0x2020]),
        method(AT_END, 1, 0x1000, 0x20, "N.T.Leaf"),
        method(AT_END, 2, 0x2000, 0x20, "N.T.Root"),
        module(),
    ]);
    // The root's address is the first after its code, because its last instruction is a call.
    assert_eq!(folded(&session), "app!N.T.Root;app!N.T.Leaf 3\n");
    let finished = read(&session, full_names());
    assert_eq!(finished.model.stacks().len(), 1);
    assert!(finished.resolved().coverage().advice(true).is_none());
}

#[test]
fn a_frame_is_named_by_the_code_of_its_time() {
    let session = session(vec![
        method(LOAD, 1, 0x1000, 0x100, "N.T.Old"),
        sample(0, 10, &[0x1010]),
        method(UNLOAD, 1, 0x1000, 0x100, "N.T.Old"),
        method(LOAD, 2, 0x0f80, 0x100, "N.T.New"),
        sample(0, 10, &[0x1010]),
        sample(0, 10, &[0x1010]),
        // A new version of a method has other addresses, and the old version keeps its own.
        method(LOAD, 2, 0x3000, 0x100, "N.T.New"),
        sample(0, 10, &[0x3010]),
        sample(0, 10, &[0x1010]),
        method(AT_END, 2, 0x0f80, 0x100, "N.T.New"),
        method(AT_END, 2, 0x3000, 0x100, "N.T.New"),
        module(),
    ]);
    assert_eq!(folded(&session), "app!N.T.New 4\napp!N.T.Old 1\n");
    assert_eq!(read(&session, full_names()).model.stacks().len(), 3);
}

#[test]
fn memory_that_is_used_again_without_a_word_of_its_end_has_a_new_name() {
    let session = session(vec![
        method(LOAD, 1, 0x1000, 0x100, "N.T.Old"),
        sample(0, 10, &[0x1010]),
        method(LOAD, 2, 0x1000, 0x80, "N.T.New"),
        sample(0, 10, &[0x1010]),
        // The old code's end lies after the new code, but the old method is gone.
        sample(0, 10, &[0x1090]),
    ]);
    assert_eq!(folded(&session), "N.T.New 1\nN.T.Old 2\n");
}

#[test]
fn recursion_counts_once_in_totals() {
    let session = session(vec![
        method(LOAD, 1, 0x1000, 0x100, "N.T.Main"),
        method(LOAD, 2, 0x2000, 0x100, "N.T.Fib"),
        sample(0, 10, &[0x2010, 0x2020, 0x2030, 0x1010]),
        sample(0, 10, &[0x1010]),
        sample(0, 10, &[]),
        sample(1, 1, &[0x2010]),
    ]);
    let finished = read(&session, full_names());
    let top = TopNOptions::default().finish(&finished.resolved());
    let rows: Vec<_> = top
        .methods
        .iter()
        .map(|row| (&*row.name, row.self_samples, row.total_samples, row.self_ns, row.total_ns))
        .collect();
    assert_eq!(rows, [("N.T.Fib", 2, 2, 20, 20), ("N.T.Main", 1, 2, 10, 20)]);
    assert_eq!(
        (
            top.counted.samples,
            top.samples_without_stack,
            top.counted.period_ns,
            top.counted.total_ns
        ),
        (4, 1, Some(10), 40)
    );
    assert_eq!(top.methods[0].self_percent, 50.0);
    let tree = TreeOptions::default().finish(&finished.resolved());
    let nodes: Vec<_> = tree
        .nodes
        .iter()
        .map(|node| (node.depth, &*node.name, node.total_samples, node.self_samples))
        .collect();
    let expected = [
        (0, "N.T.Main", 2, 1),
        (1, "N.T.Fib", 1, 0),
        (2, "N.T.Fib", 1, 0),
        (3, "N.T.Fib", 1, 1),
        (0, "N.T.Fib", 1, 1),
    ];
    assert_eq!(nodes, expected);
}

#[test]
fn callers_stand_below_whom_they_call() {
    let session = session(vec![
        method(LOAD, 1, 0x1000, 0x100, "N.T.A"),
        method(LOAD, 2, 0x2000, 0x100, "N.T.B"),
        method(LOAD, 3, 0x3000, 0x100, "N.T.C"),
        sample(0, 10, &[0x3010, 0x1010]),
        sample(0, 10, &[0x3010, 0x2010]),
        sample(0, 10, &[0x3010, 0x2010]),
        sample(0, 10, &[0x1010]),
    ]);
    let finished = read(&session, full_names());
    let mut options = TreeOptions::default();
    options.is_callers = true;
    options.from = Some("C$".parse().unwrap());
    options.min_percent = 20.0;
    let tree = options.finish(&finished.resolved());
    let nodes: Vec<_> =
        tree.nodes.iter().map(|node| (node.depth, &*node.name, node.total_samples)).collect();
    assert_eq!(nodes, [(0, "N.T.C", 3), (1, "N.T.B", 2), (1, "N.T.A", 1)]);
}

#[test]
fn the_hot_path_ends_where_no_child_has_four_fifths_of_its_parent() {
    let mut steps: Vec<Step> = (1..=5)
        .zip(["N.T.Other", "N.T.Main", "N.T.Work", "N.T.Left", "N.T.Right"])
        .map(|(id, name)| method(LOAD, id, id << 12, 0x100, name))
        .collect();
    steps.extend([sample(0, 10, &[0x1010]), sample(0, 10, &[0x2010])]);
    steps.extend((0..4).map(|_| sample(0, 10, &[0x4010, 0x3020, 0x2020])));
    steps.extend((0..4).map(|_| sample(0, 10, &[0x5010, 0x3020, 0x2020])));
    let finished = read(&session(steps), full_names());
    let mut options = TreeOptions::default();
    options.is_hot_path = true;
    let tree = options.finish(&finished.resolved());
    let path: Vec<&str> = tree.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(path, ["N.T.Main", "N.T.Work"]);
}

#[test]
fn a_missing_rundown_is_reported_and_addresses_are_shown() {
    let session = session(vec![sample(0, 10, &[0x1010, 0x2000])]);
    assert_eq!(folded(&session), "0x2000;0x1010 1\n");
    let advice = read(&session, full_names()).resolved().coverage().advice(true).unwrap();
    assert_eq!((advice.percent, advice.why), (100, MissingNames::NoRundown));
}

/// Makes the entry point of precompiled code of a method `N.T.name`.
fn entry(start: u64, name: &str) -> Step {
    let text = |text: &str| Value::Text(text.to_owned());
    let values = vec![
        Value::U64(5),
        text("N.T"),
        text(name),
        text("void ()"),
        Value::U64(start),
        Value::U16(0),
    ];
    event(ENTRY, 2, 1, &[], values)
}

#[test]
fn entry_points_name_frames_only_without_a_better_name() {
    let without = session(vec![
        entry(0x1000, "Ready"),
        // The entry point itself is known.
        sample(0, 10, &[0x1000]),
        sample(0, 10, &[0x10ff]),
        sample(0, 10, &[0x1100]),
        sample(0, 10, &[0x5000]),
    ]);
    assert_eq!(folded(&without), "0x1100 1\n0x5000 1\nN.T.Ready 1\n~N.T.Ready+0xff 1\n");
    let with = session(vec![
        entry(0x1000, "Ready"),
        sample(0, 10, &[0x1010]),
        method(AT_END, 1, 0x9000, 1, "N.T.Other"),
    ]);
    assert_eq!(folded(&with), "0x1010 1\n");
    let next_to_known = session(vec![
        entry(0x1000, "Ready"),
        method(LOAD, 1, 0x1010, 0x10, "N.T.Known"),
        sample(0, 10, &[0x100f]),
        sample(0, 10, &[0x1010]),
        // Nothing is known after the last method.
        sample(0, 10, &[0x1020]),
    ]);
    assert_eq!(folded(&next_to_known), "0x1020 1\nN.T.Known 1\n~N.T.Ready+0xf 1\n");
}

#[test]
fn guessed_names_are_marked_and_counted_in_every_report() {
    let session = session(vec![
        entry(0x1000, "Main"),
        entry(0x2000, "Work"),
        // A return address is looked up one byte before.
        sample(0, 10, &[0x2010, 0x1011]),
        sample(0, 10, &[0x2080, 0x1021]),
        sample(0, 10, &[0x2000]),
    ]);
    let finished = read(&session, full_names());
    let resolved = finished.resolved();
    let coverage = resolved.coverage();
    assert_eq!((coverage.frames, coverage.named, coverage.guessed), (5, 5, 4));

    let top = TopNOptions::default().finish(&resolved);
    let rows: Vec<_> =
        top.methods.iter().map(|row| (&*row.name, row.is_guessed, row.self_samples)).collect();
    let expected = [
        ("~N.T.Work+0x10..0x80", true, 2),
        ("N.T.Work", false, 1),
        ("~N.T.Main+0x10..0x20", true, 0),
    ];
    assert_eq!((rows, top.counted.guessed_frames), (expected.to_vec(), 4));

    let tree = TreeOptions::default().finish(&resolved);
    let nodes: Vec<_> = tree.nodes.iter().map(|node| (&*node.name, node.is_guessed)).collect();
    let expected = [
        ("N.T.Work", false),
        ("~N.T.Main+0x10", true),
        ("~N.T.Work+0x10", true),
        ("~N.T.Main+0x20", true),
        ("~N.T.Work+0x80", true),
    ];
    assert_eq!((nodes, tree.counted.guessed_frames), (expected.to_vec(), 4));

    let threads = Threads.finish(&resolved);
    let row = &threads.threads[0];
    assert_eq!((row.top_frame.as_deref(), row.is_guessed), (Some("N.T.Work"), false));
    assert_eq!(threads.guessed_frames, 4);
}

#[test]
fn what_a_guessed_method_called_is_marked_as_guessed_too() {
    let session = session(vec![
        entry(0x1000, "Main"),
        event(SAMPLE, 0, 10, &[0x1011], vec![Value::U32(1)]),
        event(SAMPLE, 0, 10, &[0x1011], vec![Value::U32(1)]),
    ]);
    let finished = read(&session, full_names());
    let top = TopNOptions::default().finish(&finished.resolved());
    let rows: Vec<_> = top.methods.iter().map(|row| (&*row.name, row.is_guessed)).collect();
    assert_eq!(rows[0], ("~N.T.Main+0x11 → native call", true), "{rows:?}");
}

#[test]
fn stacks_of_reports_mark_guessed_names() {
    let text = |text: &str| Value::Text(text.to_owned());
    let thrown = |stack: &[u64]| {
        let values = vec![
            text("N.Oops"),
            text("no"),
            Value::U64(0),
            Value::U32(0),
            Value::U16(0),
            Value::U16(0),
        ];
        event(THROWN, 0, 1, stack, values)
    };
    let session = session(vec![
        entry(0x1000, "Main"),
        entry(0x2000, "Work"),
        thrown(&[0x2000, 0x1011, 0x9000, 0x2021]),
        thrown(&[0x2000]),
    ]);
    let bytes = session.record().stream.bytes;
    let mut pass = ReportPass::new(Exceptions::default());
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let report = pass.finish().output;
    let rows: Vec<_> =
        report.types[0].stacks.iter().map(|row| (row.frames.len(), &*row.guessed)).collect();
    assert!(rows.contains(&(4, &[1, 3])) && rows.contains(&(1, &[])), "{rows:?}");
    let json = serde_json::to_value(&report).unwrap();
    let stacks = json["types"][0]["stacks"].as_array().unwrap();
    for (row, has_guess) in report.types[0].stacks.iter().zip(stacks) {
        assert_eq!(has_guess.get("guessed").is_some(), !row.guessed.is_empty(), "{json}");
        for (place, name) in row.frames.iter().enumerate() {
            assert_eq!(name.text.starts_with('~'), row.guessed.contains(&place), "{name}");
        }
    }
}

#[test]
fn addresses_without_a_name_are_one_row_that_stands_where_their_sum_does() {
    let steps = |elsewhere: &[u64]| {
        let mut steps = vec![module(), method(LOAD, 1, 0x1000, 0x100, "N.T.Main")];
        steps.push(method(LOAD, 2, 0x2000, 0x100, "N.T.Work"));
        steps.extend([sample(0, 10, &[0x2000, 0x1010]), sample(0, 10, &[0x2000, 0x1010])]);
        // Each has its own address, and one calls another.
        steps.extend(elsewhere.iter().map(|at| sample(0, 10, &[*at, 0x7000, 0x1010])));
        session(steps)
    };
    let rows = |session: &Session, by: GroupBy| -> Vec<(String, u64, u64, u64)> {
        let finished = read(session, full_names());
        let mut options = TopNOptions::default();
        options.group_by = by;
        let top = options.finish(&finished.resolved());
        let rows = top.methods.into_iter();
        rows.map(|row| (row.name, row.addresses, row.self_samples, row.total_samples)).collect()
    };
    let row = |name: &str, addresses, own, total| (name.to_owned(), addresses, own, total);
    let three = steps(&[0x5000, 0x5010, 0x6000]);
    assert_eq!(
        rows(&three, GroupBy::Method),
        [
            row("(no name: 4 addresses)", 4, 3, 3),
            row("app!N.T.Work", 0, 2, 2),
            row("app!N.T.Main", 0, 0, 5)
        ]
    );
    assert_eq!(rows(&three, GroupBy::Module)[0], row("(unknown)", 0, 3, 3));
    // A single address is shown as it is.
    let one = steps(&[0x7000]);
    assert_eq!(rows(&one, GroupBy::Method)[1], row("0x7000", 1, 1, 1));
}

#[test]
fn a_perf_map_names_what_the_trace_does_not() {
    let session = session(vec![sample(0, 10, &[0x1010, 0x2010, 0x3010])]);
    let bytes = session.record().stream.bytes;
    let mut out = Vec::new();
    let mut analysis = Analysis::new(full_names());
    analysis.add_format(Format::by_name("folded").unwrap(), &mut out, &ConvertOptions::default());
    let mut events = Reader::from_slice(&bytes).time_ordered();
    assert!(analysis.read(&mut events).unwrap().is_complete);
    let map = "1000 20 void [app] N.Program::Run(int32)[Tier0]\n2000 20 stale\n2000 20 memset\n";
    analysis.model_mut().add_perf_map(None, map);
    analysis.finish().unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "0x3010;memset;app!N.Program.Run 1000000\n");
}

#[test]
fn allocations_exceptions_and_waits_have_their_weights() {
    let text = |text: &str| Value::Text(text.to_owned());
    let stack = [0x1010];
    let session = session(vec![
        method(LOAD, 1, 0x1000, 0x100, "N.T.M"),
        event(
            SAMPLED,
            0,
            1,
            &stack,
            vec![
                Value::U32(0),
                Value::U16(0),
                Value::U64(3),
                text("N.Small"),
                Value::U64(9),
                Value::U64(24),
                Value::U64(0),
            ],
        ),
        event(
            TICK,
            0,
            1,
            &stack,
            vec![
                Value::U32(7),
                Value::U32(0),
                Value::U16(0),
                Value::U64(104_000),
                Value::U64(3),
                text("N.Small"),
                Value::U32(0),
            ],
        ),
        event(
            THROWN,
            0,
            1,
            &stack,
            vec![
                text("N.Oops"),
                text("no"),
                Value::U64(0),
                Value::U32(0),
                Value::U16(0),
                Value::U16(0),
            ],
        ),
        event(LOCK, 0, 1, &stack, vec![Value::U8(0), Value::U16(0)]),
        event(LOCKED, 0, 700, &stack, vec![Value::U8(0), Value::U16(0), Value::F64(650.0)]),
        // The start of this wait was lost.
        event(LOCKED, 1, 5, &[], vec![Value::U8(0), Value::U16(0), Value::F64(40.0)]),
    ]);
    let mut options = full_names();
    options.kinds = Kind::ALL.to_vec();
    options.events = vec![EventSelector {
        event: "Microsoft-Windows-DotNETRuntime/10".into(),
        weight: "AllocationAmount".into(),
    }];
    let finished = read(&session, options);
    let rows: Vec<_> = finished
        .profile
        .rows()
        .into_iter()
        .map(|(key, totals)| {
            (
                key.kind,
                totals.count,
                totals.weight,
                key.label.map(|label| finished.model.text(label)),
            )
        })
        .collect();
    let expected = [
        (Kind::AllocationTicks, 1, 104_000, Some("N.Small")),
        (Kind::AllocationSamples, 4267, 102_412, Some("N.Small")),
        (Kind::Exceptions, 1, 1, Some("N.Oops")),
        (Kind::Contention, 1, 650, None),
        (Kind::Contention, 1, 40, None),
        (Kind::Event, 1, 7, None),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn filters_choose_by_thread_time_frame_and_state() {
    let steps = || {
        vec![
            method(LOAD, 1, 0x1000, 0x100, "N.T.A"),
            method(LOAD, 2, 0x2000, 0x100, "System.Threading.Monitor.Wait"),
            sample(0, 10, &[0x1010]),
            event(SAMPLE, 1, 10, &[0x2010, 0x1010], vec![Value::U32(1)]),
            event(SAMPLE, 1, 10, &[0x1010], vec![Value::U32(1)]),
        ]
    };
    let session = session(steps());
    let samples = |change: &dyn Fn(&mut AnalysisOptions)| {
        let mut options = full_names();
        change(&mut options);
        let finished = read(&session, options);
        TopNOptions::default().finish(&finished.resolved()).counted.samples
    };
    let regex = |text: &str| Some(text.parse().unwrap());
    assert_eq!(samples(&|_| ()), 3);
    assert_eq!(samples(&|o| o.filter.threads = vec![12]), 2);
    assert_eq!(samples(&|o| o.filter.processes = vec![1]), 0);
    assert_eq!(samples(&|o| o.filter.from_nanos = Some(22)), 2);
    assert_eq!(samples(&|o| o.filter.to_nanos = Some(22)), 1);
    assert_eq!(samples(&|o| o.filter.frame = regex("Wait")), 1);
    assert_eq!(samples(&|o| o.filter.exclude = regex("Wait")), 2);
    for state in [ThreadState::Managed, ThreadState::Native, ThreadState::Waiting] {
        assert_eq!(samples(&|o| o.filter.states = vec![state]), 1, "{state:?}");
    }
    let finished = read(&session, full_names());
    let report = Threads.finish(&finished.resolved());
    let row = &report.threads[0];
    assert_eq!(
        (row.thread_id, row.samples, row.waiting.samples, row.native.samples),
        (Some(12), 2, 1, 1)
    );
    assert_eq!((row.first_ns, row.last_ns), (Some(22), Some(32)));
}

/// Makes a session as one-collect writes it, with two processes and one kernel.
fn universal() -> Session {
    let named = |provider: &str, event_id, name: &str| EventType {
        provider: provider.into(),
        event_id,
        name: name.into(),
        ..EventType::default()
    };
    let text = |text: &str| Value::CountedText(text.to_owned());
    let thread = |os_thread_id, process_id, name: Option<&str>| SessionThread {
        os_thread_id,
        process_id,
        name: name.map(str::to_owned),
    };
    let mut session = Session::new(Version::V6);
    session.trace.tick_frequency = 1_000_000_000;
    session.trace.key_values = vec![("ExpectedCPUSamplingRate".into(), "5".into())];
    session.types = vec![
        named("Universal.System", 0, "ExistingProcess"),
        named("Universal.System", 3, "ProcessMapping"),
        named("Universal.System", 4, "ProcessSymbol"),
        named("Universal.Events", 1, "cpu"),
    ];
    session.threads = vec![thread(100, 1, Some("main")), thread(200, 2, None)];
    let at = |event_type, thread, values| event(event_type, thread, 1, &[], values);
    let number = Value::VarUInt;
    let mapping = |thread, id, start, end, path: &str| {
        at(
            1,
            thread,
            vec![number(id), number(start), number(end), number(0x500), text(path), number(0)],
        )
    };
    let symbol = |thread, mapping, start, last, name: &str| {
        at(2, thread, vec![number(1), number(mapping), number(start), number(last), text(name)])
    };
    let kernel = 0xffff_8000_0000_0000u64;
    let sample = |thread, stack: &[u64]| event(3, thread, 1, stack, vec![number(1)]);
    let mut steps = vec![
        at(0, 0, vec![number(1), text("first"), text("")]),
        mapping(0, 1, 0x1000, 0x2000, "/lib/liba.so"),
        symbol(0, 1, 0x1000, 0x10ff, "work"),
        mapping(0, 2, kernel, u64::MAX, "vmlinux"),
        symbol(0, 2, kernel + 0x100, kernel + 0x1ff, "schedule"),
        at(0, 1, vec![number(2), text("second"), text("")]),
        mapping(1, 3, 0x1000, 0x2000, "/lib/libb.so"),
        sample(0, &[kernel + 0x110, 0x1011]),
        sample(1, &[kernel + 0x120, 0x1011]),
        sample(1, &[0x9000]),
    ];
    for step in &mut steps {
        if let Step::Event(event) = step {
            event.capture_thread = event.thread;
        }
    }
    session.steps = steps;
    session
}

#[test]
fn processes_have_their_own_memory_and_share_the_kernel() {
    let mut convert = ConvertOptions::default();
    convert.is_by_thread = true;
    let lines = folded_with(&universal(), full_names(), &convert);
    let expected = "\
process 1, thread 100 (main);liba.so!work;vmlinux!schedule 5
process 2, thread 200;0x9000 5
process 2, thread 200;libb.so+0x510;vmlinux!schedule 5
";
    assert_eq!(lines, expected);
    let mut options = full_names();
    options.filter.processes = vec![2];
    let finished = read(&universal(), options);
    let top = TopNOptions::default().finish(&finished.resolved());
    assert_eq!((top.counted.samples, top.counted.period_ns), (2, Some(5)));
    let modules = Modules::default().finish(&finished.resolved());
    let names: Vec<_> = modules.modules.iter().map(|row| (row.process_id, &*row.name)).collect();
    assert_eq!(names, [(Some(1), "liba.so"), (Some(1), "vmlinux"), (Some(2), "libb.so")]);
}

#[test]
fn modules_have_assemblies_and_domains() {
    let text = |text: &str| Value::Text(text.to_owned());
    let assembly = vec![
        Value::U64(1),
        Value::U64(5),
        Value::U64(0),
        Value::U32(0),
        text("app, Version=1.0.0.0"),
        Value::U16(0),
    ];
    let domain = vec![Value::U64(5), Value::U32(1), text("clrhost"), Value::U16(0)];
    let session = session(vec![
        module(),
        event(ASSEMBLY, 2, 1, &[], assembly),
        event(DOMAIN, 2, 1, &[], domain),
    ]);
    let finished = read(&session, full_names());
    let report = Modules::default().finish(&finished.resolved());
    let row = &report.modules[0];
    assert_eq!((&*row.name, row.assembly.as_deref()), ("app", Some("app, Version=1.0.0.0")));
    assert_eq!(row.domain.as_deref(), Some("clrhost"));
}
