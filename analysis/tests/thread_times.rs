//! Samples that count the time that their threads ran, by readings beside the events.

use crate::common::{LOAD, event, full_names, method, module, sample, session};
use nettrace_analysis::convert::{ConvertOptions, Format};
use nettrace_analysis::findings::Summary;
use nettrace_analysis::report::{CallTree, ProcessorTime, ReportPass, Threads, TreeOptions};
use nettrace_analysis::report::{TopN, TopNOptions};
use nettrace_analysis::{Analysis, AnalysisOptions, ThreadTimes};
use nettrace_parser::Reader;
use nettrace_testdata::Readings;
use nettrace_testdata::synth::{Session, Step, Value, Version};
use std::sync::Arc;

const MS: u64 = 1_000_000;

const COMPUTE: u64 = 0x1000;
const CALL: u64 = 0x2000;
const SLEEP: u64 = 0x3000;
/// Method of the program that calls the others.
const MAIN: u64 = 0x4000;

/// Changes the module of a step to the core library. `place`: place of the module's id among the
/// values.
fn of_core(mut step: Step, place: usize) -> Step {
    if let Step::Event(event) = &mut step {
        event.values[place] = Value::U64(8);
        for value in &mut event.values {
            if *value == Value::Text("/x/app.dll".into()) {
                *value = Value::Text("/x/System.Private.CoreLib.dll".into());
            }
        }
    }
    step
}

/// Returns a session in which thread 11 takes a sample each millisecond for a second: `stack_at` says
/// where and whether it runs managed code.
fn sampled(stack_at: impl Fn(u64) -> (u64, bool)) -> Session {
    let mut steps = vec![
        module(),
        of_core(module(), 0),
        method(LOAD, 1, COMPUTE, 100, "Shop.Prices.Compute"),
        method(LOAD, 2, CALL, 100, "Shop.Prices.Call"),
        of_core(method(LOAD, 3, SLEEP, 100, "System.Threading.Thread.Sleep"), 1),
        method(LOAD, 4, MAIN, 100, "Shop.Prices.Wait"),
    ];
    for at in 0..1000 {
        let (address, is_managed) = stack_at(at);
        let later = if at == 0 { 10 * 1_000_000 - 6 } else { 1_000_000 };
        let stack: &[u64] = if address == SLEEP { &[SLEEP + 4, MAIN + 5] } else { &[address + 4] };
        let step = match is_managed {
            true => sample(0, later, stack),
            false => event(3, 0, later, stack, vec![Value::U32(1)]),
        };
        steps.push(step);
    }
    session(steps)
}

fn times(readings: &Readings) -> ThreadTimes {
    ThreadTimes::read(&mut Reader::from_slice(&readings.bytes())).unwrap()
}

fn options(clock: &Readings) -> AnalysisOptions {
    let mut options = full_names();
    options.thread_times = Some(Arc::new(times(clock)));
    options
}

fn top_and_tree(session: &Session, options: AnalysisOptions) -> (TopN, CallTree) {
    let mut pass =
        ReportPass::with_options((TopNOptions::default(), TreeOptions::default()), options);
    let bytes = session.record().stream.bytes;
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

fn top(session: &Session, options: AnalysisOptions) -> TopN {
    top_and_tree(session, options).0
}

/// Returns the name and the milliseconds of each row.
fn rows(top: &TopN) -> Vec<(&str, u64)> {
    top.methods.iter().map(|row| (&*row.name, (row.self_ns + MS / 2) / MS)).collect()
}

#[test]
fn a_native_call_that_ran_half_of_its_time_counts_half_of_it() {
    let session = sampled(|_| (CALL, false));
    let mut clock = Readings::new(&session);
    clock.born(11, "shop", 0);
    for round in 1..=22 {
        clock.time(11, round * 50, round * 25, 0).total(round * 50, round * 25);
    }
    let top = top(&session, options(&clock));
    // Samples lie between 10 and 1010 ms.
    assert_eq!(rows(&top)[0], ("app!Shop.Prices.Call", 510), "{top:?}");
    let time: ProcessorTime = top.counted.processor_time.unwrap();
    assert_eq!(time.process_ns, Some(550 * MS));
    assert_eq!(time.measured_ns + time.estimated_ns, 550 * MS);
    assert_eq!(top.counted.total_ns, 550 * MS);
    assert_eq!(top.counted.running.native_calls, 0);
}

#[test]
fn a_thread_that_ran_all_the_time_ran_wherever_it_was() {
    let session = sampled(|at| if at < 500 { (CALL, false) } else { (COMPUTE, true) });
    let mut clock = Readings::new(&session);
    clock.born(11, "shop", 0).time(11, 10, 10, 0).time(11, 1010, 1006, 0).total(1010, 1006);
    let top = top(&session, options(&clock));
    let expected = [("app!Shop.Prices.Call → native call", 498), ("app!Shop.Prices.Compute", 498)];
    assert_eq!(rows(&top)[..2], expected, "{top:?}");
    assert_eq!(top.counted.processor_time.unwrap().estimated_ns, 0);
    assert_eq!(top.counted.total_ns, 1006 * MS);
}

/// Returns a session whose thread runs 10 of 50 ms, is ready for 15, and waits for the rest.
fn often_ready() -> (Session, Readings) {
    let session = sampled(|at| if at % 2 == 0 { (COMPUTE, true) } else { (SLEEP, false) });
    let mut clock = Readings::new(&session);
    clock.born(11, "shop", 0).time(11, 10, 0, 0);
    for round in 1..=20 {
        clock.time(11, 10 + round * 50, round * 10, round * 15).total(10 + round * 50, round * 10);
    }
    (session, clock)
}

#[test]
fn managed_code_that_did_not_run_was_ready() {
    let (session, clock) = often_ready();
    let top = top(&session, options(&clock));
    assert_eq!(rows(&top), [("app!Shop.Prices.Compute", 200)], "{top:?}");
    let time = top.counted.processor_time.unwrap();
    assert_eq!((time.ready_ns, time.estimated_ns), (300 * MS, 200 * MS));
    assert_eq!((top.counted.waiting_ns + MS / 2) / MS, 500);
}

#[test]
fn a_flame_graph_shows_what_ran_first_and_ready_threads_with_those_that_wait() {
    let (session, clock) = often_ready();
    let bytes = converted("svg", &session, options(&clock));
    let text = String::from_utf8(bytes).unwrap();
    let compute = text.lines().find(|line| line.contains("Compute")).unwrap();
    assert!(compute.contains("Shop.Prices.Compute (200.000 ms, 100.00 %"), "{compute}");
    assert!(compute.contains("(500.000 ms, 50.00 %"), "with those that wait: {compute}");
}

#[test]
fn going_to_sleep_and_waking_runs() {
    let session = sampled(|_| (SLEEP, false));
    let mut clock = Readings::new(&session);
    clock.born(11, "shop", 0).time(11, 10, 0, 0);
    for round in 1..=20 {
        clock.time(11, 10 + round * 50, round * 20, 0).total(10 + round * 50, round * 20);
    }
    let top = top(&session, options(&clock));
    assert!(rows(&top)[0].0.ends_with("Thread.Sleep → going to sleep and waking"), "{top:?}");
    assert_eq!(top.counted.total_ns, 400 * MS);
}

#[test]
fn processor_time_without_samples_has_rows_and_that_of_the_recording_is_outside_of_the_whole() {
    for version in [Version::V4, Version::V6] {
        let mut session = sampled(|_| (SLEEP, false));
        session.version = version;
        let mut clock = Readings::new(&session);
        clock.born(11, "shop", 0).born(30, ".NET Tiered", 0).born(31, ".NET EventPipe", 0);
        clock.born(99, "shop", 0).time(11, 9, 8, 0).time(30, 9, 2, 0).time(31, 9, 1, 0);
        clock.time(99, 9, 1, 0).total(9, 12);
        clock.time(30, 900, 200, 0).time(31, 900, 30, 0).time(99, 900, 40, 0).total(900, 400);
        let (top, tree) = top_and_tree(&session, options(&clock));
        let time = top.counted.processor_time.unwrap();
        assert_eq!((time.process_ns, time.recording_ns), (Some(400 * MS), 70 * MS), "{top:?}");
        let expected = [
            ("(threads without samples)", 200),
            ("(threads that ended between two readings)", 122),
            ("(recording)", 70),
            ("(before a thread's first sample)", 8),
        ];
        assert_eq!(rows(&top), expected);
        assert_eq!(top.counted.total_ns + time.recording_ns, 400 * MS);
        assert_eq!(top.methods[2].self_percent, 70.0 / 330.0 * 100.0);
        assert_eq!(tree.counted.total_ns, top.counted.total_ns);
        let roots: Vec<(&str, u64)> =
            tree.nodes.iter().map(|node| (&*node.name, node.self_ns / MS)).collect();
        assert_eq!(roots, expected);
    }
}

#[test]
fn work_of_the_recording_on_threads_of_the_program_is_outside_of_the_whole_too() {
    let session = {
        let mut steps = vec![
            module(),
            of_core(module(), 0),
            method(LOAD, 1, COMPUTE, 100, "Shop.Prices.Compute"),
            of_core(
                method(LOAD, 2, CALL, 100, "System.Diagnostics.Tracing.EventSource.SendCommand"),
                1,
            ),
        ];
        let stacks = [&[COMPUTE + 4][..], &[CALL + 4, COMPUTE + 5]];
        steps.extend((0..1000).map(|at| {
            let later = if at == 0 { 10 * 1_000_000 - 4 } else { 1_000_000 };
            sample(0, later, stacks[usize::from(at >= 900)])
        }));
        session(steps)
    };
    let mut clock = Readings::new(&session);
    clock.born(11, "shop", 0).born(31, ".NET EventPipe", 0);
    clock.time(11, 10, 0, 0).time(31, 10, 0, 0).total(10, 0);
    clock.time(11, 1010, 1000, 0).time(31, 1010, 50, 0).total(1010, 1050);
    let run = |has_readings: bool| {
        let mut options = if has_readings { options(&clock) } else { full_names() };
        options.folding.is_recording = Some(true);
        let mut options_of_top = TopNOptions::default();
        options_of_top.is_by_thread = true;
        let reports = (options_of_top, TreeOptions::default());
        let mut pass = ReportPass::with_options(reports, options);
        let bytes = session.record().stream.bytes;
        assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
        pass.finish().output
    };
    let (top, tree) = run(true);
    let time = top.counted.processor_time.unwrap();
    assert_eq!(rows(&top), [("app!Shop.Prices.Compute", 900), ("(recording)", 150)], "{top:?}");
    assert_eq!((top.counted.total_ns + MS / 2) / MS, 900);
    assert_eq!(top.counted.total_ns + time.recording_ns, 1050 * MS);
    assert_eq!(time.measured_ns + time.estimated_ns, top.counted.total_ns);
    assert_eq!(top.methods[0].total_percent, 100.0);
    assert_eq!(top.threads.iter().map(|thread| thread.total_ns).sum::<u64>(), top.counted.total_ns);
    let roots: Vec<(&str, u32)> = tree.nodes.iter().map(|node| (&*node.name, node.depth)).collect();
    assert_eq!(roots, [("app!Shop.Prices.Compute", 0), ("(recording)", 0)]);
    // Without readings, the work is a part of the samples of its callers.
    let (top, tree) = run(false);
    assert_eq!(top.methods[1].total_percent, 10.0, "{top:?}");
    assert_eq!(tree.nodes[1].depth, 1);
}

#[test]
fn threads_have_the_times_of_their_readings() {
    let session = sampled(|_| (SLEEP, false));
    let mut clock = Readings::new(&session);
    clock.limit(0, 0, 0).born(11, "shop", 0).born(30, ".NET EventPipe", 0).time(11, 9, 8, 3);
    clock.limit(10, 1, 1).time(30, 900, 200, 0).total(900, 300);
    let mut pass = ReportPass::with_options(Threads, options(&clock));
    let bytes = session.record().stream.bytes;
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let report = pass.finish().output;
    let of = |id| report.threads.iter().find(|row| row.thread_id == Some(id)).unwrap();
    assert_eq!((of(11).ran_ns, of(11).ready_ns), (Some(8 * MS), Some(MS)));
    assert_eq!((of(11).throttled_ns, of(11).is_recording), (Some(MS), false));
    assert_eq!((of(30).ran_ns, of(30).name.as_deref()), (Some(200 * MS), Some(".NET EventPipe")));
    assert_eq!((of(30).throttled_ns, of(30).is_recording), (Some(0), true));
    assert_eq!(of(99).ran_ns, None);
    // Threads that ended between readings are a row, so that rows add up to the process's time.
    let ran = report.threads.iter().filter_map(|row| row.ran_ns);
    assert_eq!(ran.sum::<u64>(), 300 * MS);
}

/// Returns the kinds and sentences of the findings.
fn findings(session: &Session, readings: &Readings) -> Vec<(&'static str, String)> {
    let mut pass = ReportPass::with_options(Summary::default(), options(readings));
    let bytes = session.record().stream.bytes;
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let findings = pass.finish().output.findings;
    findings.iter().map(|finding| (finding.fact.kind().name(), finding.text())).collect()
}

#[test]
fn a_limit_that_took_the_processors_is_the_first_finding() {
    let session = sampled(|_| (COMPUTE, true));
    let mut clock = Readings::new(&session);
    clock.limit(1, 7, 0).born(11, "shop", 2).time(11, 10, 8, 0);
    clock.time(11, 1010, 508, 500).limit(1011, 17, 10).total(1012, 508);
    let found = findings(&session, &clock);
    let text = "throttled in 10 of 10 periods of 100 ms by its limit of 0.5 processors: \
                its threads were ready for 500 ms without a processor";
    assert_eq!(found[0], ("no_processor", text.to_owned()), "{found:?}");
}

#[test]
fn a_group_without_a_limit_has_no_period() {
    let mut clock = Readings::new(&sampled(|_| (COMPUTE, true)));
    let bytes = clock.killed(1, 3).limit(2, 7, 0).bytes();
    let times = ThreadTimes::read(&mut Reader::from_slice(&bytes)).unwrap();
    let limits: Vec<_> = times.groups.iter().map(|it| (it.quota_ns, it.period_ns)).collect();
    assert_eq!(limits, [(None, None), (Some(50_000_000), Some(100_000_000))]);
}

#[test]
fn processes_that_were_killed_for_their_memory_are_a_finding() {
    let session = sampled(|_| (COMPUTE, true));
    let found_with = |killed| {
        let mut clock = Readings::new(&session);
        clock.killed(1, 3).born(11, "shop", 2).time(11, 10, 8, 0);
        findings(&session, clock.killed(1000, killed).time(11, 1010, 1008, 0).total(1012, 1008))
    };
    let text = "the kernel killed 2 processes of its control group because there was no memory: \
                the limit is 512 MiB";
    assert_eq!(found_with(5)[0], ("out_of_memory", text.to_owned()));
    assert!(found_with(3).iter().all(|(kind, _)| *kind != "out_of_memory"));
}

#[test]
fn threads_that_had_no_processor_are_a_finding_and_short_times_are_none() {
    let session = sampled(|_| (COMPUTE, true));
    let with_ready = |ready| {
        let mut clock = Readings::new(&session);
        clock.born(11, "shop", 2).time(11, 10, 8, 0).time(11, 1010, 1008 - ready, ready);
        findings(&session, clock.total(1012, 1008 - ready))
    };
    let found = with_ready(300);
    let text = "its threads were ready for 300 ms without a processor: more of them can run than \
                there are processors";
    assert!(found.contains(&("no_processor", text.to_owned())), "{found:?}");
    assert!(with_ready(90).iter().all(|(kind, _)| *kind != "no_processor"));
}

#[test]
fn a_filter_of_times_takes_its_part_of_the_readings() {
    let session = sampled(|_| (CALL, false));
    let mut clock = Readings::new(&session);
    clock.born(11, "shop", 0);
    for round in 1..=22 {
        clock.time(11, round * 50, round * 25, 0).total(round * 50, round * 25);
    }
    let mut options = options(&clock);
    options.filter.from_nanos = Some(100_000_000);
    options.filter.to_nanos = Some(300_000_000);
    let top = top(&session, options);
    assert_eq!(rows(&top), [("app!Shop.Prices.Call", 100)], "{top:?}");
}

#[test]
fn a_thread_that_gets_the_id_of_an_earlier_one_starts_anew() {
    let session = sampled(|_| (CALL, false));
    let mut clock = Readings::new(&session);
    clock.born(11, "one", 0).time(11, 400, 400, 0).total(400, 400);
    clock.born(11, "two", 500).time(11, 700, 150, 0).total(700, 550).total(1010, 550);
    let times = times(&clock);
    assert_eq!(times.threads.len(), 2);
    assert_eq!(times.threads[1].readings.len(), 2, "the last round has the same numbers");
    let top = top(&session, options(&clock));
    assert_eq!(top.counted.total_ns, 550 * MS, "{top:?}");
}

#[test]
fn what_a_process_ran_before_it_was_attached_to_is_not_of_the_session() {
    let mut session = sampled(|_| (CALL, false));
    session.trace.sync_ticks += 2_000_000_000;
    let mut clock = Readings::new(&session);
    clock.born_before(11, "shop", 500).time(11, 10, 100, 0).total(10, 100);
    clock.time(11, 1010, 500, 0).total(1010, 500);
    let total_ns = |clock: &Readings| top(&session, options(clock)).counted.total_ns;
    assert_eq!(total_ns(&clock), 500 * MS);
    assert_eq!(total_ns(clock.attached(1011)), 400 * MS);
    // So it is if the process, but not the thread, is older than a second.
    let mut clock = Readings::new(&session);
    clock.born_before(30, "first", 1500).born_before(11, "shop", 500);
    clock.time(30, 10, 50, 0).time(11, 10, 100, 0).total(10, 150);
    clock.time(11, 1010, 500, 0).total(1010, 550);
    assert_eq!(total_ns(&clock), 400 * MS);
}

#[test]
fn numbers_of_any_size_do_no_harm() {
    let session = sampled(|at| if at % 2 == 0 { (COMPUTE, true) } else { (CALL, false) });
    let mut clock = Readings::new(&session);
    let huge = u64::MAX / MS;
    clock.born(11, "shop", 0).time(11, 9, huge, huge).time(11, 200, 3, huge).total(200, huge);
    clock.time(12, 300, huge, 0).time(12, 400, huge, huge).total(400, 1);
    let top = top(&session, options(&clock));
    assert!(top.counted.samples > 0);
}

#[test]
fn a_finding_about_a_wait_says_how_much_of_it_was_on_a_processor() {
    let session = sampled(|_| (SLEEP, false));
    let mut clock = Readings::new(&session);
    clock.born(11, "shop", 0).time(11, 10, 0, 0);
    for round in 1..=20 {
        clock.time(11, 10 + round * 50, round * 20, 0).total(10 + round * 50, round * 20);
    }
    let found = findings(&session, &clock);
    let waiting = found.iter().find(|(kind, _)| *kind == "waiting");
    let text = &waiting.unwrap_or_else(|| panic!("{found:?}")).1;
    assert!(text.contains("Thread.Sleep (400 ms of it on a processor)"), "{text}");
}

/// Returns a session in a format.
fn converted(format: &str, session: &Session, options: AnalysisOptions) -> Vec<u8> {
    let mut out = Vec::new();
    let mut analysis = Analysis::new(options);
    let format = Format::by_name(format).unwrap();
    analysis.add_format(format, &mut out, &ConvertOptions::default());
    let bytes = session.record().stream.bytes;
    assert!(analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    analysis.finish().unwrap();
    out
}

fn json(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).unwrap()
}

/// Returns a session of a thread that waits, is in a native call and computes in turns, the readings
/// of its thread, and the microseconds that its samples ran by the report of methods.
fn mixed() -> (Session, Readings, u64) {
    let session = sampled(|at| match at % 4 {
        0 => (SLEEP, false),
        1 => (COMPUTE, true),
        _ => (CALL, false),
    });
    let mut clock = Readings::new(&session);
    clock.born(11, "shop", 0).time(11, 10, 0, 0).total(10, 0);
    for (round, (ran, ready)) in
        (1..).zip([(0, 0), (50, 0), (80, 10), (110, 30), (111, 30), (159, 30), (180, 60)])
    {
        clock.time(11, 10 + round * 150, ran, ready).total(10 + round * 150, ran);
    }
    let top = top(&session, options(&clock));
    let time = top.counted.processor_time.unwrap();
    assert!(time.ready_ns > 0 && time.estimated_ns > 0 && time.unsampled_ns == 0, "{time:?}");
    (session, clock, top.counted.total_ns / 1000)
}

fn numbers(list: &serde_json::Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

/// Asserts that two times in microseconds differ by rounding only, which each part of a sample may
/// add.
fn assert_near(one: u64, other: u64, what: &str) {
    assert!(one.abs_diff(other) <= other / 1000, "{what}: {one} {other}");
}

#[test]
fn the_samples_of_a_timeline_ran_what_the_report_of_methods_says() {
    let (session, clock, ran) = mixed();
    let states = json(&converted("chromium", &session, options(&clock)));
    let is_state = |event: &&serde_json::Value| event["cat"] == "Thread state";
    let states: Vec<_> =
        states["traceEvents"].as_array().unwrap().iter().filter(is_state).collect();
    let sum = |name: &str| states.iter().map(|it| it["args"][name].as_u64().unwrap()).sum::<u64>();
    assert_near(sum("ran_ns") / 1000, ran, "chromium");
    let all = sum("ran_ns") + sum("ready_ns") + sum("waited_ns");
    assert_eq!(all, 1000 * MS, "the parts are all of the time");
    let is_estimated = |it: &&&serde_json::Value| it["args"]["note"] == "the times are estimated";
    let estimated = states.iter().filter(is_estimated).count();
    assert!(estimated > 0 && estimated < states.len(), "{states:?}");

    let speedscope = json(&converted("speedscope", &session, options(&clock)));
    let profiles = speedscope["profiles"].as_array().unwrap();
    let thread = profiles.iter().find(|it| it["name"].as_str().unwrap().starts_with("thread 11"));
    let thread = thread.unwrap();
    let frames = speedscope["shared"]["frames"].as_array().unwrap();
    let roots = ["(waiting)", "(ready)"];
    let stacks = thread["samples"].as_array().unwrap().iter().map(numbers);
    let weights = numbers(&thread["weights"]);
    let runs = |stack: &[u64]| {
        let root = stack.first().map(|root| frames[*root as usize]["name"].as_str().unwrap());
        root.is_some_and(|root| !roots.contains(&root))
    };
    let ran_here = stacks.zip(&weights).filter(|(stack, _)| runs(stack)).map(|(_, weight)| weight);
    assert_near(ran_here.sum::<u64>() / 1000, ran, "speedscope");

    let profile = json(&converted("cpuprofile", &session, options(&clock)));
    let nodes = profile["nodes"].as_array().unwrap();
    let node = |id: u64| nodes.iter().find(|node| node["id"] == id).unwrap();
    let (mut below, mut ran_here) = (vec![1], 0);
    while let Some(id) = below.pop() {
        let name = node(id)["callFrame"]["functionName"].as_str().unwrap();
        if !roots.contains(&name) && name != "(idle)" {
            ran_here += node(id)["hitCount"].as_u64().unwrap();
            below.extend(numbers(&node(id)["children"]));
        }
    }
    assert_near(ran_here, ran, "cpuprofile");

    let firefox = json(&converted("firefox", &session, options(&clock)));
    assert_eq!(firefox["meta"]["sampleUnits"]["threadCPUDelta"], "µs");
    let threads = firefox["threads"].as_array().unwrap();
    let deltas = threads.iter().flat_map(|it| numbers(&it["samples"]["threadCPUDelta"]));
    assert_near(deltas.sum(), ran, "firefox");
}

#[test]
fn a_timeline_of_running_threads_has_what_they_ran() {
    let (session, clock, ran) = mixed();
    let mut options = options(&clock);
    options.filter.states = nettrace_analysis::ThreadState::RUNNING.to_vec();
    let speedscope = json(&converted("speedscope", &session, options));
    let thread = &speedscope["profiles"][1];
    let samples = thread["samples"].as_array().unwrap().iter();
    let weights = numbers(&thread["weights"]).into_iter();
    let ran_here = samples.zip(weights).filter(|(stack, _)| **stack != serde_json::json!([]));
    assert_near(ran_here.map(|(_, weight)| weight).sum::<u64>() / 1000, ran, "speedscope");
}

#[test]
fn a_viewer_of_perfetto_has_the_states_of_threads() {
    let (session, clock, _) = mixed();
    let bytes = converted("perfetto", &session, options(&clock));
    let has = |text: &str| bytes.windows(text.len()).any(|at| at == text.as_bytes());
    assert!(["thread 11 (shop) state", "Thread state", "waited_ns"].iter().all(|it| has(it)));
    let bytes = converted("perfetto", &session, full_names());
    assert!(!bytes.windows(12).any(|at| at == b"Thread state"), "without readings");
}

#[test]
fn timelines_have_counters_of_the_process_and_its_threads() {
    let session = sampled(|_| (CALL, false));
    let mut clock = Readings::new(&session);
    clock.born(11, "shop", 0).time(11, 10, 5, 0).total(10, 5);
    clock.time(11, 110, 55, 25).total(110, 60);
    let document = json(&converted("chromium", &session, options(&clock)));
    let events = document["traceEvents"].as_array().unwrap();
    let counters: Vec<String> = events
        .iter()
        .filter(|event| event["ph"] == "C")
        .map(|event| format!("{} {} {}", event["name"], event["ts"], event["args"]))
        .collect();
    let count = |name: &str| counters.iter().filter(|it| it.contains(name)).count();
    assert_eq!(
        (count("processor time/thread 11 (shop)"), count("ready/thread 11")),
        (3, 3),
        "{counters:?}"
    );
    assert_eq!(count("processor time"), 5);
}
