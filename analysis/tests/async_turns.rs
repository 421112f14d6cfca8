//! What the threads of .NET 11 did for activities whose methods the runtime itself suspends: by events
//! of tasks, and by the async profiler. `testdata/programs/Orders.cs` measures the same.

use nettrace_analysis::AnalysisOptions;
use nettrace_analysis::model::AsyncRuns;
use nettrace_analysis::report::{
    Activities, ActivitiesReport, Http, Report, ReportPass, SlowActivity, StepKind, Tasks,
};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use std::sync::Arc;

fn report<R: Report>(report: R, bytes: &[u8], runs: Option<AsyncRuns>) -> R::Output {
    let mut options = AnalysisOptions::default();
    options.async_callers = runs.is_some();
    options.async_runs = runs.map(Arc::new);
    let mut pass = ReportPass::with_options(report, options);
    let _outcome = pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap();
    pass.finish().output
}

/// Reads what the async profiler says in the first bytes of a trace.
fn runs(bytes: &[u8]) -> AsyncRuns {
    let mut reader = Reader::from_slice(bytes);
    AsyncRuns::read(&mut reader).unwrap().unwrap()
}

/// Returns for how long the program says that each order ran, in nanoseconds, by its id.
fn measured(bytes: &[u8]) -> Vec<(u64, u64)> {
    let mut all = Vec::new();
    Reader::from_slice(bytes)
        .for_each(|event| {
            let number = |name| event.field(name)?.as_u64();
            all.extend(number("id").zip(number("ranMicros")).map(|(id, ran)| (id, ran * 1000)));
        })
        .unwrap();
    assert_eq!(all.len(), 30);
    all
}

/// Returns the slowest activities with the time that the program measured.
fn beside_measured(bytes: &[u8], report: &ActivitiesReport) -> Vec<(SlowActivity, u64)> {
    let measured = measured(bytes);
    let ran = |slow: &SlowActivity| {
        let id = slow.fields.strip_prefix("id=")?.parse::<u64>().ok()?;
        measured.iter().find(|(known, _)| *known == id).map(|(_, ran)| *ran)
    };
    report.slowest.iter().map(|slow| (slow.clone(), ran(slow).unwrap())).collect()
}

fn all_orders() -> Activities {
    Activities::default().top(100)
}

#[test]
fn code_that_goes_on_from_a_task_of_an_activity_works_for_it_though_no_other_event_says_so() {
    let bytes = corpus::known("orders-tasks").bytes();
    let report = report(all_orders(), &bytes, None);
    let orders = beside_measured(&bytes, &report);
    assert_eq!(orders.len(), 30);
    for (order, ran) in orders {
        // Without samples, it is not known whether the thread ran or was blocked.
        let parts = order.parts;
        assert_eq!(parts.await_ns + parts.unknown_ns, order.duration_ns);
        assert!(parts.unknown_ns.abs_diff(ran) < 3_000_000, "{order:?}: {ran}");
    }
}

#[test]
fn the_async_profiler_alone_tells_which_threads_worked_for_each_activity() {
    let bytes = corpus::known("orders-profiler").bytes();
    let report = report(all_orders(), &bytes, Some(runs(&bytes)));
    let orders = beside_measured(&bytes, &report);
    assert_eq!(orders.len(), 30);
    for (order, ran) in orders {
        let parts = order.parts;
        // The profiler was set up during the first orders.
        let most =
            if matches!(&*order.fields, "id=1" | "id=1001") { 10_000_000 } else { 3_000_000 };
        assert!(parts.unknown_ns.abs_diff(ran) < most, "{order:?}: {ran}");
    }
}

#[test]
fn without_the_async_profiler_activities_without_ids_have_no_parts() {
    let bytes = corpus::known("orders-profiler").bytes();
    let report = report(all_orders(), &bytes, None);
    assert_eq!(report.async_profiler, Some(false));
    assert!(report.slowest.iter().all(|order| order.parts.await_ns == 0));
}

#[test]
fn that_nothing_tells_when_methods_go_on_is_said() {
    let lacks_turns = |name, is_told: bool| {
        let bytes = corpus::known(name).bytes();
        report(all_orders(), &bytes, is_told.then(|| runs(&bytes))).lacks_turns
    };
    assert!(lacks_turns("orders-profiler", false));
    assert!(!lacks_turns("orders-profiler", true));
    assert!(!lacks_turns("orders-tasks", false));
}

#[test]
fn where_a_buffer_did_not_come_nothing_is_taken_for_an_await() {
    let bytes = corpus::known("orders-profiler").bytes();
    let whole = runs(&bytes);
    // The buffers come in the order of their last sub-event, a second or more after it.
    let mut ends = Vec::new();
    Reader::from_slice(&bytes)
        .for_each(|event| {
            if event.provider().ends_with("AsyncProfilerEventSource") {
                ends.push(event.payload_offset());
            }
        })
        .unwrap();
    assert!(ends.len() >= 3, "{ends:?}");
    let cut = usize::try_from(*ends.last().unwrap()).unwrap();
    let mut reader = Reader::from_slice(&bytes[..cut]);
    let part = AsyncRuns::read(&mut reader).ok().flatten().unwrap();
    assert_ne!(part, whole);
    let report = report(all_orders(), &bytes, Some(part));
    let orders = beside_measured(&bytes, &report);
    let mut unknown = 0;
    for (order, ran) in orders {
        let parts = order.parts;
        unknown += u64::from(parts.await_ns == 0);
        let is_known = parts.unknown_ns.abs_diff(ran) < 3_000_000;
        assert!(
            is_known || parts.await_ns < order.duration_ns - ran + 3_000_000,
            "{order:?}: {ran}"
        );
    }
    assert!(unknown > 2, "{unknown}");
}

#[test]
fn awaits_inside_a_library_are_steps_of_a_request() {
    let bytes = corpus::known("http-profiler").bytes();
    let http = Http::from(Activities::default().events_of("/#3636/1/5"));
    let report = report(http, &bytes, Some(runs(&bytes)));
    let awaits: Vec<_> = report.steps.iter().filter(|step| step.kind == StepKind::Await).collect();
    let [server, content] = &*awaits else { panic!("{awaits:?}") };
    assert!(
        server.text.starts_with("a task in System.Net.Http.HttpConnection.SendAsync ← "),
        "{server:?}"
    );
    assert!(content.text.contains("HttpConnection.FillAsync ← "), "{content:?}");
    // The server waits for 30 ms, and for 20 ms before it sends the content.
    let millis = |nanos: Option<u64>| nanos.unwrap() / 1_000_000;
    assert!((30..34).contains(&millis(server.duration_ns)), "{server:?}");
    assert!((20..50).contains(&millis(content.duration_ns)), "{content:?}");
    assert!(server.start_ns + server.duration_ns.unwrap().cast_signed() <= content.start_ns);
}

#[test]
fn an_activity_that_is_no_request_is_the_first_of_its_steps() {
    let bytes = corpus::known("http-profiler").bytes();
    let http = Http::from(Activities::default().events_of("/#3636/1/5/3"));
    let steps = report(http, &bytes, None).steps;
    let [content] = &*steps else { panic!("{steps:?}") };
    assert_eq!((content.kind, &*content.text), (StepKind::Span, "System.Net.Http/ResponseContent"));
    assert!(content.duration_ns > Some(40_000_000), "{content:?}");
}

#[test]
fn the_async_profiler_tells_what_methods_of_both_kinds_awaited() {
    let bytes = corpus::known("orders-profiler").bytes();
    let tasks = report(Tasks::default(), &bytes, None);
    let median = |method: &str| {
        let row = tasks
            .waits
            .iter()
            .find(|row| row.by.iter().any(|by| by.method.ends_with(method)))
            .unwrap();
        row.waits.p50_ns / 1_000_000
    };
    assert!((20..24).contains(&median("RuntimeAsync.Handle")));
    assert!((15..19).contains(&median("RuntimeAsync.Store")));
    assert!((50..66).contains(&median("Orders.Serve")));
    assert_eq!((tasks.chains_without_begin, tasks.awaits_left_out), (0, 0));
}
