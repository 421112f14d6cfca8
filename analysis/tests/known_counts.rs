//! Traces of programs whose numbers of exceptions, collections, objects and work items, and times
//! of methods, are known by construction.

use super::known::{findings, millis, top};
use nettrace_analysis::heap::{HeapDump, HeapReader, HeapReport, Retained};
use nettrace_analysis::report::{
    Exceptions, Gc, GcChange, GcReport, Report, ReportPass, Tasks, ThreadPool,
};
use nettrace_parser::Reader;
use nettrace_testdata::corpus::{self, TraceFile};
use std::collections::BTreeMap;

fn report<R: Report + Default>(trace: &TraceFile) -> R::Output {
    let mut pass = ReportPass::new(R::default());
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

#[test]
fn every_exception_is_counted_and_has_its_types_and_catchers() {
    let trace = corpus::known("exceptions/Exc");
    let report = report::<Exceptions>(&trace);
    assert_eq!(report.count, 231);
    let count = |name: &str| {
        let row = report.types.iter().find(|row| row.type_name == name);
        row.map_or((0, 0), |row| (row.count, row.caught))
    };
    for (name, expected) in [
        // The exception of a finally block replaces one.
        ("System.InvalidOperationException", (211, 210)),
        ("Ex.MyError", (7, 7)),
        // One exception is awaited twice.
        ("System.TimeoutException", (3, 3)),
        ("System.NullReferenceException", (2, 2)),
        ("System.AggregateException", (1, 1)),
        // A filter throws one, which the runtime swallows.
        ("System.ArgumentException", (1, 0)),
        ("System.DivideByZeroException", (1, 1)),
        ("System.IndexOutOfRangeException", (1, 1)),
        ("System.InvalidCastException", (1, 1)),
        ("System.FormatException", (1, 1)),
        ("System.IO.DirectoryNotFoundException", (1, 1)),
        ("System.Collections.Generic.KeyNotFoundException", (1, 1)),
    ] {
        assert_eq!(count(name), expected, "{name}");
    }
}

#[test]
fn collections_pauses_and_sizes_are_those_that_the_program_counts() {
    for (name, of_generations, pause_ns, heap, fragmentation) in [
        ("srv0", [42, 2, 8], 60_329_000_u64, 6_128_808, 400),
        ("srv1", [18, 7, 9], 55_906_000, 6_125_928, 576),
    ] {
        let trace = corpus::known(&format!("gc/GcShow-{name}-1"));
        let report = report::<Gc>(&trace);
        let counts: Vec<_> =
            report.totals.generations.iter().map(|row| (row.generation, row.count)).collect();
        let expected: Vec<_> = (0u32..).zip(of_generations).collect();
        assert_eq!(counts, expected, "{name}");
        assert_eq!(report.totals.induced, 13, "{name}");
        // The program leaves out pauses of background collections.
        let pause = report.totals.pause_ns;
        assert!(pause.abs_diff(pause_ns) * 100 <= pause_ns * 11, "{name}: {pause}");
        let last = report.collections.last().unwrap();
        let sizes = (last.heap_after_bytes, last.fragmentation_bytes);
        assert_eq!(sizes, (Some(heap), Some(fragmentation)), "{name}");
    }
}

#[test]
fn decisions_and_their_costs_say_why_server_gc_went_from_one_heap_to_two() {
    let changed = |report: &GcReport| {
        let [change] = &report.adaptation.as_ref().unwrap().changes[..] else { panic!("one") };
        assert_eq!((change.from_heaps, change.to_heaps), (1, 2));
        let percent = (change.cost_percent.unwrap() * 10.0).round() / 10.0;
        (change.collection, change.is_full, percent)
    };
    let known = report::<Gc>(&corpus::known("gc/GcShow-srv1-1"));
    assert_eq!(changed(&known), (11, false, 40.6));
    let adaptation = known.adaptation.unwrap();
    assert_eq!((adaptation.samples, adaptation.decisions.len()), (33, 14));
    let row = adaptation.decisions.iter().find(|row| row.changed.is_some()).unwrap();
    assert_eq!((row.collection, row.heaps, row.heaps_allowed), (10, Some(2), Some([0, 2])));
    assert_eq!((row.stable_bytes, row.since_change), (Some(785_336), 10));
    assert_eq!(row.changed, Some(GcChange::Heaps));
    // Only full collections ran. The details of the first one with two heaps come after the next
    // decision.
    let full = report::<Gc>(&corpus::web("dt-gccollect"));
    assert_eq!(changed(&full), (10, true, 32.3));
    // Workstation GC has one heap and decides nothing.
    assert_eq!(report::<Gc>(&corpus::known("gc/GcShow-srv0-1")).adaptation, None);
}

#[test]
fn objects_of_a_heap_and_what_they_keep_alive_are_those_of_the_source() {
    let trace = corpus::known("heap/HeapZoo");
    let (bytes, mut reader) = (trace.bytes(), HeapReader::default());
    assert!(reader.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let dumps = reader.finish();
    let dump = &dumps[HeapDump::usual(&dumps).unwrap()];
    let report = HeapReport::new(&dumps, dump, &Retained::from_dump(dump));
    let row = |name: &str| {
        let row = report.types.iter().find(|row| *row.name == *name);
        row.map(|row| (row.count, row.bytes, row.retained_bytes)).unwrap_or_default()
    };
    for (name, expected) in [
        ("Zoo.Session", (5_000, 200_000, 5_520_000)),
        ("Zoo.Subscriber", (2_000, 48_000, 496_000)),
        ("Zoo.Derived", (10, 320, 2_560)),
        ("Zoo.TimerState", (300, 9_600, 166_800)),
        ("Zoo.Captured", (700, 16_800, 243_600)),
        ("Zoo.Node", (100_000, 3_200_000, 3_200_000)),
        ("Zoo.KeyObj", (250, 6_000, 120_000)),
        ("Zoo.DepValue", (250, 8_000, 114_000)),
        ("Zoo.Fin", (60, 1_440, 10_560)),
        ("Zoo.TlsObj", (1, 24, 10_048)),
        ("Zoo.StackObj", (1, 24, 30_048)),
        ("Zoo.AsyncLocalObj", (1, 24, 20_048)),
        ("Zoo.StrongHandleObj", (1, 24, 24)),
        ("Zoo.WeakTarget", (1, 24, 24)),
        ("Zoo.Generic<int>", (1, 32, 32)),
        ("Zoo.Generic<int>[]", (1, 64, 64)),
        // Only the module's file has the outer types.
        ("Deep<string>", (1, 24, 24)),
        ("Deep<ValueTuple<int,string>>", (1, 32, 32)),
    ] {
        assert_eq!(row(name), expected, "{name}");
    }
}

#[test]
fn every_work_item_and_task_is_counted_and_the_thread_that_waits_for_handles_does_not_run() {
    let trace = corpus::known("threads/Pool-fw");
    let pool = report::<ThreadPool>(&trace);
    assert_eq!((pool.enqueued, pool.latency.map(|latency| latency.count)), (592, Some(592)));
    let trace = corpus::known("threads/Pool");
    let tasks = report::<Tasks>(&trace);
    let counts: BTreeMap<&str, u64> =
        tasks.tasks.iter().map(|row| (&*row.name, row.scheduled)).collect();
    assert_eq!((tasks.scheduled, tasks.completed), (65, 65), "{counts:?}");
    assert!(counts.values().any(|count| *count == 60), "{counts:?}");
    let top = top(&trace);
    assert!(top.methods.iter().all(|row| !row.name.contains("WaitAny")));
    assert!(top.counted.total_ns < 1_000_000_000, "{}", top.counted.total_ns);
}

#[test]
fn methods_have_the_time_that_they_spend_by_construction() {
    let trace = corpus::known("lines/LineHot");
    let top = top(&trace);
    for (method, expected) in [
        ("Program.Compute", 1_000.0),
        ("Program.Slow", 885.0),
        ("Program.Iter", 400.0),
        ("Program.Inlined", 400.0),
    ] {
        let (_, total) = millis(&top, method);
        // The method that reads the clock may be inlined.
        assert!((total - expected).abs() < expected * 0.15, "{method}: {total}");
    }
    for name in ["async/shop-c2", "async/rt-full"] {
        let trace = corpus::known(name);
        let top = super::known::top(&trace);
        for (leaf, expected) in [
            ("A", 400.0),
            ("B", 300.0),
            ("C", 300.0),
            ("D", 300.0),
            ("E", 600.0),
            ("F", 300.0),
            ("G", 300.0),
            ("H", 300.0),
            ("I", 400.0),
        ] {
            let (_, total) = millis(&top, &format!("Cpu.Burn{leaf}"));
            assert!((total - expected).abs() < expected * 0.05, "{name} {leaf}: {total}");
        }
    }
}

#[test]
fn idle_workers_of_net_11_do_not_run() {
    let server = corpus::known("webload/server11");
    let of_server = top(&server);
    let waits = ["LowLevelThreadBlocker", "WaitForSocketEvents", "LowLevelSpinWaiter"];
    assert!(
        of_server
            .methods
            .iter()
            .all(|row| { row.self_ns == 0 || waits.iter().all(|wait| !row.name.contains(wait)) })
    );
    assert!(
        of_server.counted.waiting_ns > of_server.counted.total_ns,
        "{}",
        of_server.counted.waiting_ns
    );
    for finding in findings(&server) {
        assert!(waits.iter().all(|wait| !finding.text().contains(wait)), "{}", finding.text());
    }
}

#[test]
fn threads_that_wait_in_one_call_each_do_not_run() {
    let trace = corpus::known("blocked-threads");
    let top = top(&trace);
    assert!(top.counted.total_ns < 100_000_000, "{}", top.counted.total_ns);
    assert!(top.counted.waiting_ns > 20 * 1_900_000_000, "{}", top.counted.waiting_ns);
    assert!(findings(&trace).iter().all(|finding| finding.about() != "hottest_method"));
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn threads_that_wait_on_windows_do_not_run() {
        for name in ["waitsprog10", "waitsprog-linux10"] {
            let trace = corpus::trace(&format!("win-x64/{name}.nettrace"));
            let top = top(&trace);
            assert!(top.counted.total_ns < 150_000_000, "{name}: {}", top.counted.total_ns);
            assert!(
                findings(&trace).iter().all(|finding| finding.about() != "hottest_method"),
                "{name}"
            );
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_sample_stands_for_the_interval_that_the_header_has() {
        let trace = corpus::trace("net11-linux-x64/rate10.nettrace");
        // The header says one sample every 10 ms.
        let spin = millis(&top(&trace), "Program.Spin").0;
        assert!((1_700.0..2_000.0).contains(&spin), "{spin}");
    }
}
