//! Compilation, the thread pool, and loaded assemblies.

use crate::script::{BIND_STARTS, BIND_STOPS, Script, report, report_with, text};
use nettrace_analysis::Filter;
use nettrace_analysis::report::{
    Jit, JitReport, Loader, LoaderReport, ThreadPool, ThreadPoolReport,
};
use nettrace_testdata::synth::Value;

pub(crate) fn jitting(method: u64, il: u32, name: &str) -> Vec<Value> {
    vec![
        Value::U64(method),
        Value::U64(5),
        Value::U32(1),
        Value::U32(il),
        text("N.T"),
        text(name),
        text("void  (int32)"),
        Value::U16(0),
    ]
}

pub(crate) fn loaded(method: u64, size: u32, flags: u32, name: &str) -> Vec<Value> {
    let mut values = vec![Value::U64(method), Value::U64(5), Value::U64(0x1000 * method)];
    values.extend([size, 1, flags].map(Value::U32));
    values.extend([text("N.T"), text(name), text("void  (int32)"), Value::U16(0)]);
    values
}

pub(crate) const JITTED: u32 = 8;
pub(crate) const TIER1: u32 = 4 << 7;
const R2R_REJECTED: u32 = 0x40;

#[test]
fn compiling_is_paired_by_thread_and_method() {
    let script = Script::new()
        .event(10, 0, 145, jitting(1, 100, "Outer"))
        // Compiling one method may need another compiled first.
        .event(20, 0, 145, jitting(2, 50, "Inner"))
        .event(25, 1, 283, vec![Value::U16(0), Value::U32(1)])
        .event(30, 1, 145, jitting(1, 100, "Outer"))
        .event(40, 0, 143, loaded(2, 500, JITTED | 3 << 7, "Inner"))
        .event(60, 0, 143, loaded(1, 900, JITTED | R2R_REJECTED | 3 << 7, "Outer"))
        .event(90, 1, 143, loaded(1, 700, JITTED | TIER1, "Outer"))
        .event(91, 1, 284, vec![Value::U16(0), Value::U32(0), Value::U32(1)])
        // The start of this compilation was lost.
        .event(95, 1, 143, loaded(3, 70, JITTED | TIER1, "Late"))
        // Precompiled methods are not compiled here.
        .event(96, 1, 143, loaded(4, 70, 0, "Ready"))
        // The end of this compilation was lost.
        .event(97, 0, 145, jitting(9, 30, "Open"));
    let report: JitReport = report(Jit::default(), script.steps);
    let rows: Vec<_> = report
        .methods
        .iter()
        .map(|row| {
            (&*row.name, row.il_bytes, row.native_bytes, row.duration_ns, row.tier, row.background)
        })
        .collect();
    let expected = [
        ("N.T.Outer(int)", 100, 900, 50, "QuickJitted", false),
        ("N.T.Inner(int)", 50, 500, 20, "QuickJitted", false),
        ("N.T.Outer(int)", 100, 700, 60, "OptimizedTier1", true),
        ("N.T.Late(int)", 0, 70, 0, "OptimizedTier1", false),
        ("N.T.Open(int)", 30, 0, 0, "Unknown", false),
    ];
    assert_eq!(rows, expected);
    let totals = report.totals;
    assert_eq!(
        (totals.methods, totals.incomplete, totals.r2r_rejected, totals.background),
        (5, 2, 1, 1)
    );
    assert_eq!((totals.duration_ns, totals.background_duration_ns), (130, 60));
    assert_eq!(
        report.methods.iter().map(|row| row.thread).collect::<Vec<_>>(),
        [11, 11, 12, 12, 11].map(Some)
    );
}

#[test]
fn a_compilation_is_counted_once_in_the_range_where_it_began() {
    let of = |from_nanos, to_nanos| {
        let script = Script::new().event(10, 0, 145, jitting(1, 100, "A")).event(
            40,
            0,
            143,
            loaded(1, 900, JITTED | 3 << 7, "A"),
        );
        let mut filter = Filter::default();
        (filter.from_nanos, filter.to_nanos) = (from_nanos, to_nanos);
        let totals = report_with(Jit::default(), script.steps, filter).0.totals;
        (totals.methods, totals.native_bytes, totals.incomplete)
    };
    assert_eq!(of(None, None), (1, 900, 0));
    assert_eq!(of(None, Some(25)), (1, 900, 0));
    assert_eq!(of(Some(25), None), (0, 0, 0));
}

#[test]
fn code_that_is_compiled_for_the_first_time_is_not_compiled_in_the_background() {
    let script = Script::new()
        .event(10, 0, 283, vec![Value::U16(0), Value::U32(1)])
        .event(20, 0, 145, jitting(1, 100, "Again"))
        .event(30, 0, 143, loaded(1, 700, JITTED | TIER1, "Again"))
        // The end of the method's compilation in the background was lost.
        .event(40, 0, 145, jitting(2, 100, "First"))
        .event(50, 0, 143, loaded(2, 900, JITTED | 3 << 7, "First"));
    let report: JitReport = report(Jit::default(), script.steps);
    let rows: Vec<_> = report.methods.iter().map(|row| (&*row.name, row.background)).collect();
    assert_eq!(rows, [("N.T.Again(int)", true), ("N.T.First(int)", false)]);
    assert_eq!((report.totals.background, report.totals.background_duration_ns), (1, 10));
}

/// Returns the fields of a compiler's decision: nine names, and then `rest`.
fn decided(rest: &[Value]) -> Vec<Value> {
    let mut values: Vec<Value> =
        ["N.T", "M", "()", "N.T", "Caller", "()", "N.T", "Callee", "()"].map(text).to_vec();
    values.extend_from_slice(rest);
    values
}

#[test]
fn what_the_compiler_inlined_and_why_it_did_not_is_counted() {
    let refused = |reason: &str| decided(&[Value::U32(0), text(reason), Value::U16(0)]);
    let script = Script::new()
        .event(10, 0, 185, decided(&[Value::U16(0)]))
        .event(20, 0, 192, refused("too large"))
        .event(21, 1, 192, refused("noinline"))
        .event(22, 1, 192, refused("too large"))
        .event(30, 0, 188, decided(&[Value::U32(1), Value::U32(0), Value::U16(0)]))
        .event(31, 0, 188, decided(&[Value::U32(0), Value::U32(2), Value::U16(0)]))
        .event(40, 0, 191, refused("caller has pinned locals"))
        .event(50, 0, 160, vec![Value::U64(7), Value::U16(0)]);
    let report: JitReport = report(Jit::default(), script.steps);
    let reasons = |decisions: &nettrace_analysis::report::JitDecisions| -> Vec<(String, u64)> {
        decisions.reasons.iter().map(|row| (row.reason.clone(), row.count)).collect()
    };
    assert_eq!((report.inlining.done, report.inlining.refused), (1, 3));
    assert_eq!(
        reasons(&report.inlining),
        [("too large".to_owned(), 2), ("noinline".to_owned(), 1)]
    );
    assert_eq!((report.tail_calls.done, report.tail_calls.refused), (2, 1));
    assert_eq!(reasons(&report.tail_calls), [("caller has pinned locals".to_owned(), 1)]);
    assert_eq!((report.totals.methods, report.totals.r2r_lookups), (0, 1));
}

#[test]
fn starvation_is_detected_and_waiting_work_measured() {
    let adjust = |workers, reason| {
        vec![Value::F64(1.5), Value::U32(workers), Value::U32(reason), Value::U16(0)]
    };
    let workers = |workers| vec![Value::U32(workers), Value::U32(0), Value::U16(0)];
    let work = |id| vec![Value::U64(id), Value::U16(0)];
    let script = Script::new()
        .event(10, 0, 57, workers(2))
        .event(20, 0, 61, work(7))
        .event(30, 1, 62, work(7))
        // The id is used again.
        .event(40, 0, 61, work(7))
        .event(100, 2, 55, adjust(3, 6))
        .event(600, 2, 55, adjust(4, 6))
        .event(640, 1, 62, work(7))
        .event(700, 2, 55, adjust(3, 2))
        // Enqueued before the session; and, below, never dequeued.
        .event(710, 1, 62, work(99))
        .event(720, 0, 61, work(8))
        .event(730, 0, 57, workers(u32::MAX));
    let report: ThreadPoolReport = report(ThreadPool::default(), script.steps);
    let starvation = report.starvation.unwrap();
    assert_eq!((report.is_starved, starvation.count, starvation.most_workers), (true, 2, 4));
    assert_eq!((starvation.first_ns, starvation.last_ns), (100, 600));
    let reasons: Vec<_> =
        report.reasons.iter().map(|row| (row.reason.to_string(), row.count)).collect();
    assert_eq!(reasons, [("Starvation".to_owned(), 2), ("RandomMove".to_owned(), 1)]);
    let latency = report.latency.unwrap();
    assert_eq!((latency.count, latency.mean_ns, latency.max_ns), (2, 305, 600));
    assert_eq!((report.enqueued, report.never_dequeued), (3, 1));
    let queue: Vec<_> = report.queue.iter().map(|point| (point.ts_ns, point.last)).collect();
    assert_eq!(queue, [(20, 1.0), (30, 0.0), (40, 1.0), (640, 0.0), (720, 1.0)]);
    let points: Vec<_> = report.workers.iter().map(|point| (point.ts_ns, point.last)).collect();
    // The target of an adjustment is not the number of workers.
    assert_eq!(points, [(10, 2.0), (730, 4_294_967_295.0)]);
}

#[test]
fn work_beyond_the_budget_waits_and_ends_as_well() {
    let work = |id: u32| vec![Value::U64(id.into()), Value::U16(0)];
    let most = 70_000;
    let mut script = Script::new();
    for id in 0..most {
        script = script.event(id + 1, 0, 61, work(id));
    }
    for id in 0..most {
        script = script.event(most + id + 1, 1, 62, work(id));
    }
    let report: ThreadPoolReport = report(ThreadPool::default(), script.steps);
    assert_eq!((report.enqueued, report.never_dequeued), (70_000, 0));
    let longest = report.queue.iter().map(|point| point.max).fold(0.0, f64::max);
    assert_eq!((longest, report.queue.last().map(|point| point.last)), (70_000.0, Some(0.0)));
}

#[test]
fn assemblies_come_and_go_and_searches_nest() {
    let assembly = |id, name: &str| {
        vec![Value::U64(id), Value::U64(0), Value::U64(0), Value::U32(8), text(name), Value::U16(0)]
    };
    let search = |name: &str| {
        let mut values = vec![Value::U16(0), text(name)];
        values.extend(["", "App", "Default", ""].map(text));
        values
    };
    let answer = |name: &str, found, path: &str| {
        let mut values = search(name);
        values.extend([Value::Boolean32(found), text(name), text(path), Value::Boolean32(false)]);
        values
    };
    let script = Script::new()
        .of_type(5, 0, BIND_STARTS, search("A"))
        .of_type(7, 0, BIND_STARTS, search("B"))
        .of_type(9, 0, BIND_STOPS, answer("B", false, ""))
        .event(10, 0, 154, assembly(1, "A"))
        .of_type(15, 0, BIND_STOPS, answer("A", true, "/a.dll"))
        .event(20, 0, 155, assembly(1, "A"))
        // Another assembly gets the id.
        .event(30, 0, 154, assembly(1, "C"))
        // This assembly was loaded before the session.
        .event(40, 0, 155, assembly(2, "D"));
    let report: LoaderReport = report(Loader::default(), script.steps);
    let rows: Vec<_> =
        report.assemblies.iter().map(|row| (&*row.name, row.loaded_ns, row.unloaded_ns)).collect();
    assert_eq!(rows, [("D", None, Some(40)), ("A", Some(10), Some(20)), ("C", Some(30), None)]);
    assert!(report.assemblies.iter().all(|row| row.is_collectible && !row.is_dynamic));
    let binds: Vec<_> = report
        .binds
        .iter()
        .map(|row| (&*row.assembly, &*row.path, row.is_found, row.duration_ns))
        .collect();
    assert_eq!(binds, [("A", "/a.dll", true, 10), ("B", "", false, 2)]);
}
