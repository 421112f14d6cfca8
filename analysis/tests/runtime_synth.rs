//! What the reports of the runtime's doings make of streams that were made for them.

mod common;

use common::{LOAD, RUNTIME, TICK, native};
use nettrace_analysis::Filter;
use nettrace_analysis::report::{
    Alloc, AllocReport, Gc, GcReport, Jit, JitReport, Loader, LoaderReport, Report, ReportPass, Summary,
    ThreadPool, ThreadPoolReport, Types,
};
use nettrace_parser::Reader;
use nettrace_testdata::synth::{Session, SessionEvent, SessionThread, Step, Value, Version};

/// Events of the runtime, by id: the place in this list is the type.
const TYPES: [(u32, u8); 29] = [
    (1, 2),
    (2, 1),
    (3, 1),
    (4, 2),
    (5, 1),
    (7, 1),
    (8, 1),
    (9, 1),
    (10, 4),
    (50, 0),
    (55, 0),
    (57, 0),
    (61, 0),
    (62, 0),
    (143, 1),
    (145, 1),
    (154, 1),
    (155, 1),
    (204, 3),
    (205, 4),
    (283, 0),
    (284, 0),
    (15, 0),
    (20, 0),
    (160, 0),
    (185, 0),
    (188, 0),
    (191, 0),
    (192, 0),
];
const SAMPLED: usize = TYPES.len();
const BIND_STARTS: usize = TYPES.len() + 1;
const BIND_STOPS: usize = TYPES.len() + 2;

fn bytes_of(steps: Vec<Step>) -> Vec<u8> {
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = TYPES.iter().map(|(id, version)| native(RUNTIME, *id, *version)).collect();
    session.types.extend([native(RUNTIME, 303, 0), native(RUNTIME, 290, 0), native(RUNTIME, 291, 0)]);
    session.threads = vec![SessionThread::new(11), SessionThread::new(12), SessionThread::new(13)];
    session.steps = steps;
    session.record().stream.bytes
}

fn report_with<R: Report>(report: R, steps: Vec<Step>, filter: Filter) -> (R::Output, u64) {
    let bytes = bytes_of(steps);
    let mut pass = ReportPass::new(report).filter(filter);
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete());
    let reported = pass.finish();
    (reported.output, reported.events)
}

fn report<R: Report>(report: R, steps: Vec<Step>) -> R::Output {
    report_with(report, steps, Filter::new()).0
}

/// Places events at times, which must grow.
struct Script {
    now: u32,
    steps: Vec<Step>,
}

impl Script {
    fn new() -> Script {
        Script { now: 0, steps: Vec::new() }
    }

    fn of_type(mut self, at: u32, thread: usize, event_type: usize, values: Vec<Value>) -> Script {
        self.steps.push(Step::Event(SessionEvent {
            event_type,
            thread,
            capture_thread: thread,
            ticks_later: at - self.now,
            values,
            ..SessionEvent::default()
        }));
        self.now = at;
        self
    }

    fn event(self, at: u32, thread: usize, id: u32, values: Vec<Value>) -> Script {
        let event_type = TYPES.iter().position(|(known, _)| *known == id).unwrap();
        self.of_type(at, thread, event_type, values)
    }

    fn suspend(self, begin: u32, end: u32, thread: usize, reason: u32) -> Script {
        self.event(begin, thread, 9, vec![Value::U32(reason), Value::U32(0), Value::U16(0)]).event(
            end,
            thread,
            8,
            vec![Value::U16(0)],
        )
    }

    fn restart(self, begin: u32, end: u32, thread: usize) -> Script {
        self.event(begin, thread, 7, vec![Value::U16(0)]).event(end, thread, 3, vec![Value::U16(0)])
    }

    fn start(self, at: u32, thread: usize, [number, generation, reason, kind]: [u32; 4]) -> Script {
        let mut values = [number, generation, reason, kind].map(Value::U32).to_vec();
        values.extend([Value::U16(0), Value::U64(0)]);
        self.event(at, thread, 1, values)
    }

    fn end(self, at: u32, thread: usize, number: u32) -> Script {
        self.event(at, thread, 2, vec![Value::U32(number), Value::U32(0), Value::U16(0)])
    }

    /// Each generation has `size` bytes and promoted half of that.
    fn stats(self, at: u32, thread: usize, size: u64) -> Script {
        let pair = [Value::U64(size), Value::U64(size / 2)];
        let mut values: Vec<Value> = std::iter::repeat_n(pair.clone(), 4).flatten().collect();
        values.extend([
            Value::U64(7),
            Value::U64(8),
            Value::U32(9),
            Value::U32(10),
            Value::U32(11),
            Value::U16(0),
        ]);
        values.extend(pair);
        self.event(at, thread, 4, values)
    }

    /// One heap; five times the ten numbers of a generation.
    fn heap(self, at: u32, thread: usize, index: u32, row: [u64; 10]) -> Script {
        let mut values = vec![Value::U16(0)];
        values.extend([0; 6].map(Value::U64));
        values.extend([0, 0, 0, 0, 0, index].map(Value::U32));
        values.extend([Value::U64(0), Value::U32(5)]);
        values.extend(std::iter::repeat_n(row.map(Value::U64), 5).flatten());
        self.event(at, thread, 204, values)
    }

    fn global(self, at: u32, thread: usize, heaps: u32, mechanisms: u32, times: &[u32]) -> Script {
        let mut values = vec![Value::U64(0)];
        values.extend([heaps, 0, 0, 0, mechanisms].map(Value::U32));
        values.push(Value::U16(0));
        values.extend([1, 40, 0, 0, times.len() as u32].map(Value::U32));
        values.extend(times.iter().map(|time| Value::U32(*time)));
        self.event(at, thread, 205, values)
    }

    /// A collection that blocks, from `at` to `at + 20`, on thread 0.
    fn whole(self, at: u32, number: u32, generation: u32) -> Script {
        self.suspend(at, at + 2, 0, 1)
            .start(at + 4, 0, [number, generation, 0, 0])
            .end(at + 10, 0, number)
            .stats(at + 11, 0, 100)
            .restart(at + 12, at + 20, 0)
    }
}

fn pauses(report: &GcReport) -> Vec<(u32, Vec<(i64, u64)>)> {
    let row = |row: &nettrace_analysis::report::Collection| {
        (row.number, row.pauses.iter().map(|pause| (pause.start_ns, pause.pause_ns)).collect())
    };
    report.collections.iter().map(row).collect()
}

#[test]
fn a_background_collection_has_several_pauses_and_the_foreground_one_within_has_its_own() {
    let script = Script::new()
        .suspend(10, 12, 0, 1)
        .start(14, 0, [1, 2, 1, 1])
        // The collector's thread lets go.
        .restart(20, 22, 1)
        .suspend(40, 41, 2, 1)
        .start(42, 2, [2, 0, 0, 2])
        .heap(48, 2, 0, [1_000, 0, 0, 50, 10, 5, 0, 20, 15, 0])
        .end(50, 2, 2)
        .stats(51, 2, 50)
        .restart(52, 53, 2)
        .suspend(60, 61, 1, 6)
        .restart(70, 72, 1)
        .end(90, 1, 1)
        .stats(91, 1, 30);
    let report: GcReport = report(Gc::new(), script.steps);
    assert_eq!(pauses(&report), [(1, vec![(10, 12), (60, 12)]), (2, vec![(40, 13)])]);
    let [background, foreground] = &report.collections[..] else { panic!("two") };
    assert_eq!((&*background.kind, &*background.reason), ("BackgroundGC", "Induced"));
    assert_eq!((&*foreground.kind, &*foreground.reason), ("ForegroundGC", "AllocSmall"));
    assert_eq!((background.pause_ns, background.duration_ns, background.suspend_ns), (24, Some(76), 3));
    assert_eq!((foreground.pause_ns, foreground.since_last_ns), (13, Some(28)));
    assert_eq!((background.heap_after_bytes, foreground.heap_after_bytes), (Some(150), Some(250)));
    // The heap was largest before the foreground collection, while the background one ran.
    assert_eq!((foreground.heap_before_bytes, background.heap_peak_bytes), (Some(5_000), Some(5_000)));
    // 35 bytes survived of 1,000 in generation 0.
    assert_eq!((foreground.survival_percent, foreground.fragmentation_bytes), (Some(3.5), Some(75)));
    assert_eq!((report.totals.count, report.totals.pause_ns, report.totals.incomplete), (2, 37, 0));
    assert_eq!((report.totals.background, report.totals.induced), (1, 1));
}

#[test]
fn two_collections_in_one_stop_divide_it() {
    let script = Script::new()
        .suspend(10, 11, 0, 1)
        .start(12, 0, [1, 2, 0, 1])
        .start(13, 0, [2, 1, 0, 2])
        .end(20, 0, 2)
        .stats(21, 0, 1)
        .restart(24, 25, 1)
        .end(40, 1, 1);
    let report: GcReport = report(Gc::new(), script.steps);
    assert_eq!(pauses(&report), [(1, vec![(10, 3)]), (2, vec![(13, 12)])]);
    assert_eq!(report.totals.pause_ns, 15);
}

#[test]
fn a_stop_without_a_start_is_no_collection_and_what_was_under_way_is_told_apart() {
    let script = Script::new().end(1, 0, 6).stats(2, 0, 9).restart(3, 4, 0).whole(10, 7, 0);
    let found: GcReport = report(Gc::new(), script.steps);
    assert_eq!(pauses(&found), [(7, vec![(10, 20)])]);
    assert!(found.partial.is_empty());

    let script =
        Script::new().start(1, 0, [6, 1, 0, 0]).end(2, 0, 6).stats(3, 0, 9).restart(4, 5, 0).whole(10, 7, 0);
    let found: GcReport = report(Gc::new(), script.steps);
    assert_eq!(pauses(&found), [(7, vec![(10, 20)])]);
    assert_eq!((found.partial.len(), found.partial[0].number), (1, 6));
    assert_eq!((found.partial[0].heap_after_bytes, found.partial[0].is_complete), (Some(45), false));
}

#[test]
fn lost_events_spoil_their_collection_alone() {
    // A whole collection, one with an event missing, a whole one.
    let events = |script: Script| script.whole(10, 1, 0).whole(50, 2, 1).whole(90, 3, 0).steps;
    let all = events(Script::new());
    assert_eq!(all.len(), 21);
    for lost in 7..14 {
        let mut steps = all.clone();
        let Step::Event(removed) = steps.remove(lost) else { panic!("an event") };
        // Those behind it stay where they are.
        if let Some(Step::Event(next)) = steps.get_mut(lost) {
            next.ticks_later += removed.ticks_later;
        }
        let found: GcReport = report(Gc::new(), steps);
        let whole: Vec<_> = found.collections.iter().filter(|row| row.is_complete).collect();
        let numbers: Vec<u32> = whole.iter().map(|row| row.number).collect();
        assert!(numbers.contains(&1) && numbers.contains(&3), "without event {lost}: {numbers:?}");
        for row in whole {
            let begin = i64::from(10 + 40 * (row.number - 1));
            assert_eq!(row.pauses[0].start_ns, begin, "without event {lost}");
            assert_eq!((row.pause_ns, row.duration_ns), (20, Some(6)), "without event {lost}");
        }
        assert_eq!(found.totals.count + found.totals.incomplete, found.collections.len() as u64);
        // Only the sizes are missing when the event with the sizes is.
        let second = found.collections.iter().find(|row| row.number == 2);
        assert_eq!(second.is_some(), lost != 9, "without event {lost}");
        if let Some(second) = second {
            assert_eq!(second.heap_after_bytes.is_none(), matches!(lost, 10 | 11), "without event {lost}");
            assert_eq!(second.is_complete, lost == 11, "without event {lost}");
        }
    }
}

#[test]
fn the_heaps_of_server_collection_are_joined() {
    let row = [1_000, 100, 20, 300, 30, 3, 0, 40, 160, 5_000];
    let script = Script::new()
        .suspend(10, 11, 0, 1)
        .start(12, 0, [1, 2, 4, 0])
        .global(13, 0, 2, 0b0110, &[1, 2, 3, 4, 5, 60, 70, 80])
        .heap(14, 0, 0, row)
        .heap(15, 1, 1, row)
        .end(16, 0, 1)
        .stats(17, 0, 600)
        .restart(18, 19, 0);
    let report: GcReport = report(Gc::new(), script.steps);
    let row = &report.collections[0];
    assert_eq!((row.heaps, row.is_compacting, row.is_concurrent), (Some(2), Some(true), Some(false)));
    assert_eq!((row.heap_before_bytes, row.heap_after_bytes), (Some(10_000), Some(3_000)));
    assert_eq!((row.mark_ns, row.plan_ns, row.sweep_ns), (Some(15_000), Some(60_000), None));
    assert_eq!((row.relocate_ns, row.compact_ns), (Some(70_000), Some(80_000)));
    assert_eq!((row.fragmentation_bytes, row.fragmentation_percent), (Some(330), Some(11.0)));
    // 200 of 880 bytes of objects in each of ten.
    assert_eq!(row.survival_percent, Some(200.0 * 100.0 / 880.0));
    assert_eq!((row.memory_load_percent, &*row.reason), (Some(40), "AllocLarge"));
    let loh = &row.generations[3];
    assert_eq!((loh.name, loh.before_bytes, loh.free_bytes), ("loh", Some(2_000), Some(66)));
    assert_eq!(
        (loh.survived_bytes, loh.budget_bytes, loh.promoted_bytes),
        (Some(400), Some(10_000), Some(300))
    );
}

#[test]
fn stops_for_other_reasons_are_no_pauses_and_threads_that_stop_others_take_turns() {
    let script = Script::new()
        .suspend(2, 3, 2, 0)
        .restart(4, 5, 2)
        .event(10, 2, 9, vec![Value::U32(0), Value::U32(0), Value::U16(0)])
        .event(11, 0, 9, vec![Value::U32(1), Value::U32(0), Value::U16(0)])
        .event(12, 2, 8, vec![Value::U16(0)])
        .event(13, 2, 7, vec![Value::U16(0)])
        .event(14, 0, 8, vec![Value::U16(0)])
        .event(15, 2, 3, vec![Value::U16(0)])
        .start(16, 0, [1, 0, 0, 0])
        .end(17, 0, 1)
        .restart(18, 21, 0);
    let (report, events) = report_with(Gc::new(), script.steps, Filter::new());
    assert_eq!(pauses(&report), [(1, vec![(11, 10)])]);
    // Stops alone are not about collections: a trace with none but the sampler's lacks the events.
    assert_eq!(events, 2);
}

#[test]
fn a_stop_that_ends_within_another_leaves_that_its_pause() {
    // The sampler on thread 2 stops all between the release by the collection's thread and its return, or
    // begins before it and returns behind it.
    let asked = |script: Script, at| {
        script.event(at, 2, 9, vec![0, 0].into_iter().map(Value::U32).chain([Value::U16(0)]).collect())
    };
    let plain = |script: Script, at, thread, id| script.event(at, thread, id, vec![Value::U16(0)]);
    let script = Script::new().suspend(10, 12, 0, 1).start(14, 0, [1, 0, 0, 0]);
    let script = asked(script, 15).end(16, 0, 1).stats(17, 0, 100);
    let script = plain(plain(plain(plain(script, 18, 0, 7), 19, 2, 8), 20, 2, 7), 21, 2, 3);
    let script = plain(script, 22, 0, 3);
    let script = asked(script, 30).suspend(31, 32, 0, 1).start(33, 0, [2, 0, 0, 0]).end(34, 0, 2);
    let script = plain(plain(plain(plain(script, 35, 0, 7), 36, 2, 8), 37, 0, 3), 38, 2, 7);
    // The next collection begins and ends before the sampler is back.
    let script = script.suspend(39, 40, 1, 1).start(41, 1, [3, 0, 0, 0]).end(42, 1, 3).restart(43, 44, 1);
    let script = plain(script, 45, 2, 3);
    let report: GcReport = report(Gc::new(), script.steps);
    assert_eq!(pauses(&report), [(1, vec![(10, 12)]), (2, vec![(31, 6)]), (3, vec![(39, 5)])]);
    assert_eq!((report.totals.count, report.totals.incomplete, report.totals.pause_ns), (3, 0, 23));
}

#[test]
fn what_is_told_of_a_background_collection_behind_its_end_is_its_own() {
    let row = [1_000, 100, 0, 600, 40, 0, 0, 0, 300, 0];
    // Thread 1 is the collector's. Between its events a blocking collection begins, tells and ends.
    let script = Script::new()
        .suspend(10, 12, 0, 1)
        .start(14, 0, [1, 2, 0, 1])
        .restart(20, 22, 0)
        .end(90, 1, 1)
        .suspend(91, 92, 0, 1)
        .start(93, 0, [2, 0, 0, 0])
        .stats(94, 1, 30)
        .global(95, 1, 1, 0b0001, &[])
        .global(96, 0, 1, 0b0010, &[])
        .heap(97, 0, 0, [2_000, 0, 0, 10, 0, 0, 0, 0, 10, 0])
        .heap(98, 1, 0, row)
        .end(99, 0, 2)
        .stats(100, 0, 50)
        .restart(101, 102, 0);
    let report: GcReport = report(Gc::new(), script.steps);
    let [background, blocking] = &report.collections[..] else { panic!("two") };
    assert_eq!((background.heap_before_bytes, background.heap_after_bytes), (Some(5_000), Some(150)));
    assert_eq!((background.is_concurrent, background.is_compacting), (Some(true), Some(false)));
    assert_eq!(background.survival_percent, Some(300.0 * 100.0 / 900.0));
    assert_eq!(background.generations[2].free_bytes, Some(40));
    assert_eq!((blocking.heap_before_bytes, blocking.heap_after_bytes), (Some(10_000), Some(250)));
    assert_eq!((blocking.is_concurrent, blocking.is_compacting), (Some(false), Some(true)));
    // The background one left 560 bytes of objects in each of three, known only when the next had begun.
    assert_eq!((background.allocated_bytes, blocking.allocated_bytes), (None, Some(3 * (2_000 - 560))));
    assert_eq!(report.totals.count, 2);
}

#[test]
fn what_was_allocated_before_a_background_collection_is_not_counted_for_those_within_it() {
    let heap = |before, after| [before, 0, 0, after, 0, 0, 0, 0, after, 0];
    let script = Script::new()
        .suspend(1, 2, 0, 1)
        .start(3, 0, [1, 0, 0, 0])
        .heap(4, 0, 0, heap(100, 10))
        .end(5, 0, 1)
        .restart(6, 7, 0)
        .suspend(10, 12, 0, 1)
        .start(14, 0, [2, 2, 0, 1])
        .start(15, 0, [3, 0, 0, 2])
        .heap(16, 0, 0, heap(210, 20))
        .end(17, 0, 3)
        .restart(20, 22, 0)
        .heap(80, 1, 0, heap(210, 30))
        .end(90, 1, 2);
    let report: GcReport = report(Gc::new(), script.steps);
    let allocated: Vec<_> = report.collections.iter().map(|row| row.allocated_bytes).collect();
    assert_eq!(allocated, [None, Some(600), Some(0)]);
    assert_eq!(report.totals.allocated_bytes, 600);
}

#[test]
fn a_filter_chooses_collections_by_their_start() {
    let script = Script::new().whole(10, 1, 0).whole(50, 2, 1);
    let mut filter = Filter::new();
    filter.from_nanos = Some(54);
    let (report, _) = report_with(Gc::new(), script.steps, filter);
    assert_eq!(pauses(&report), [(2, vec![(50, 20)])]);
    assert_eq!(report.totals.generations.iter().map(|row| row.generation).collect::<Vec<_>>(), [1]);
}

#[test]
fn hostile_numbers_saturate() {
    let most = u32::MAX;
    let script = Script::new()
        .suspend(10, 11, 0, 1)
        .start(12, 0, [most, most, most, most])
        .heap(13, 0, most, [u64::MAX; 10])
        .heap(13, 0, most, [u64::MAX; 10])
        .global(14, 0, most, most, &[most; 9])
        .end(15, 0, most)
        .stats(16, 0, u64::MAX)
        .restart(17, 18, 0)
        .whole(30, 0, 0);
    let report: GcReport = report(Gc::new(), script.steps);
    let row = &report.collections[0];
    assert_eq!((row.heap_before_bytes, row.heap_after_bytes), (Some(u64::MAX), Some(u64::MAX)));
    assert_eq!((&*row.reason, &*row.kind), ("4294967295", "4294967295"));
    assert_eq!(report.totals.promoted_bytes, u64::MAX);
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn jitting(method: u64, il: u32, name: &str) -> Vec<Value> {
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

fn loaded(method: u64, size: u32, flags: u32, name: &str) -> Vec<Value> {
    let mut values = vec![Value::U64(method), Value::U64(5), Value::U64(0x1000 * method)];
    values.extend([size, 1, flags].map(Value::U32));
    values.extend([text("N.T"), text(name), text("void  (int32)"), Value::U16(0)]);
    values
}

const JITTED: u32 = 8;
const TIER1: u32 = 4 << 7;
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
        // Its beginning was lost.
        .event(95, 1, 143, loaded(3, 70, JITTED | TIER1, "Late"))
        // Precompiled: not compiled here.
        .event(96, 1, 143, loaded(4, 70, 0, "Ready"))
        // Its end was lost.
        .event(97, 0, 145, jitting(9, 30, "Open"));
    let report: JitReport = report(Jit::new(), script.steps);
    let rows: Vec<_> = report
        .methods
        .iter()
        .map(|row| (&*row.name, row.il_bytes, row.native_bytes, row.duration_ns, row.tier, row.background))
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
    assert_eq!((totals.methods, totals.incomplete, totals.r2r_rejected, totals.background), (5, 2, 1, 1));
    assert_eq!((totals.duration_ns, totals.background_duration_ns), (130, 60));
    assert_eq!(
        report.methods.iter().map(|row| row.thread).collect::<Vec<_>>(),
        [11, 11, 12, 12, 11].map(Some)
    );
}

/// The nine names that decisions of the compiler begin with.
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
    let report: JitReport = report(Jit::new(), script.steps);
    let reasons = |decisions: &nettrace_analysis::report::JitDecisions| -> Vec<(String, u64)> {
        decisions.reasons.iter().map(|row| (row.reason.clone(), row.count)).collect()
    };
    assert_eq!((report.inlining.done, report.inlining.refused), (1, 3));
    assert_eq!(reasons(&report.inlining), [("too large".to_owned(), 2), ("noinline".to_owned(), 1)]);
    assert_eq!((report.tail_calls.done, report.tail_calls.refused), (2, 1));
    assert_eq!(reasons(&report.tail_calls), [("caller has pinned locals".to_owned(), 1)]);
    assert_eq!((report.totals.methods, report.totals.r2r_lookups), (0, 1));
}

#[test]
fn starvation_is_detected_and_waiting_work_measured() {
    let adjust =
        |workers, reason| vec![Value::F64(1.5), Value::U32(workers), Value::U32(reason), Value::U16(0)];
    let workers = |workers| vec![Value::U32(workers), Value::U32(0), Value::U16(0)];
    let work = |id| vec![Value::U64(id), Value::U16(0)];
    let script = Script::new()
        .event(10, 0, 57, workers(2))
        .event(20, 0, 61, work(7))
        .event(30, 1, 62, work(7))
        // The same id again.
        .event(40, 0, 61, work(7))
        .event(100, 2, 55, adjust(3, 6))
        .event(600, 2, 55, adjust(4, 6))
        .event(640, 1, 62, work(7))
        .event(700, 2, 55, adjust(3, 2))
        // Handed in before the session; never taken up.
        .event(710, 1, 62, work(99))
        .event(720, 0, 61, work(8))
        .event(730, 0, 57, workers(u32::MAX));
    let report: ThreadPoolReport = report(ThreadPool::new(), script.steps);
    let starvation = report.starvation.unwrap();
    assert_eq!((report.is_starved, starvation.count, starvation.most_workers), (true, 2, 4));
    assert_eq!((starvation.first_ns, starvation.last_ns), (100, 600));
    let reasons: Vec<_> = report.reasons.iter().map(|row| (&*row.reason, row.count)).collect();
    assert_eq!(reasons, [("Starvation", 2), ("RandomMove", 1)]);
    let latency = report.latency.unwrap();
    assert_eq!((latency.count, latency.mean_ns, latency.max_ns), (2, 305, 600));
    assert_eq!((report.enqueued, report.never_dequeued), (3, 1));
    let points: Vec<_> = report.workers.iter().map(|point| (point.ts_ns, point.last)).collect();
    assert_eq!(points, [(10, 2.0), (100, 3.0), (600, 4.0), (700, 3.0), (730, 4_294_967_295.0)]);
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
        // The id is given to another.
        .event(30, 0, 154, assembly(1, "C"))
        // Unloaded, but its load was before the session.
        .event(40, 0, 155, assembly(2, "D"));
    let report: LoaderReport = report(Loader::new(), script.steps);
    let rows: Vec<_> =
        report.assemblies.iter().map(|row| (&*row.name, row.loaded_ns, row.unloaded_ns)).collect();
    assert_eq!(rows, [("D", None, Some(40)), ("A", Some(10), Some(20)), ("C", Some(30), None)]);
    assert!(report.assemblies.iter().all(|row| row.is_collectible && !row.is_dynamic));
    let binds: Vec<_> =
        report.binds.iter().map(|row| (&*row.assembly, &*row.path, row.is_found, row.duration_ns)).collect();
    assert_eq!(binds, [("A", "/a.dll", true, 10), ("B", "", false, 2)]);
}

#[test]
fn ticks_and_random_samples_measure_the_same_and_are_not_added() {
    let tick = |kind: u32, bytes: u64, name: &str| {
        vec![
            Value::U32(0),
            Value::U32(kind),
            Value::U16(0),
            Value::U64(bytes),
            Value::U64(1),
            text(name),
            Value::U32(0),
            Value::U64(0x9000),
            Value::U64(24),
        ]
    };
    let sampled = |kind: u32, size: u64, name: &str| {
        vec![
            Value::U32(kind),
            Value::U16(0),
            Value::U64(1),
            text(name),
            Value::U64(0x9000),
            Value::U64(size),
            Value::U64(0),
        ]
    };
    let script = Script::new()
        .event(10, 0, 10, tick(0, 100_000, "Small"))
        .event(20, 1, 10, tick(1, 900_000, "Large"))
        .of_type(30, 0, SAMPLED, sampled(0, 24, "Small"))
        .of_type(40, 0, SAMPLED, sampled(0, 24, "Small"))
        .of_type(50, 1, SAMPLED, sampled(1, 10_240_000, "Large"));
    let steps = script.steps;
    let report: AllocReport = report(Alloc::new(), steps.clone());
    let [random, ticks] = &report.sources[..] else { panic!("two sources") };
    assert_eq!((random.source, random.events), ("AllocationSampled", 3));
    assert_eq!((ticks.source, ticks.events, ticks.bytes), ("AllocationTick", 2, 1_000_000));
    assert_eq!((ticks.objects, ticks.bytes_error), (None, None));
    // A sampled object of 24 bytes stands for 102,411.5 bytes, one of 100 times the distance for itself.
    let types: Vec<_> = random.types.iter().map(|row| (&*row.type_name, row.bytes, row.objects)).collect();
    assert_eq!(types, [("Large", 10_240_000, Some(1)), ("Small", 204_823, Some(8_534))]);
    assert_eq!(random.types[0].large_bytes, 10_240_000);
    // Each of the small ones has a standard error of about all it stands for.
    let error = random.types[1].bytes_error.unwrap();
    assert!((144_000..146_000).contains(&error), "{error}");
    assert_eq!(random.types[0].bytes_error, Some(0));
    let threads: Vec<_> = ticks.threads.iter().map(|row| (row.thread, row.bytes)).collect();
    assert_eq!(threads, [(Some(12), 900_000), (Some(11), 100_000)]);
    let kinds: Vec<_> = ticks.kinds.iter().map(|row| (row.kind, row.bytes, row.percent)).collect();
    assert_eq!(kinds, [("small", 100_000, 10.0), ("large", 900_000, 90.0)]);

    let mut filter = Filter::new();
    filter.threads = vec![12];
    let (types, _) = report_with(Types::new(), steps, filter);
    assert_eq!((types.source, types.bytes, types.types.len()), (Some("AllocationSampled"), 10_240_000, 1));
}

/// A tick of 1,000 bytes at a stack, so long after the event before.
fn tick_at(later: u32, stack: &[u64]) -> Step {
    let values = vec![
        Value::U32(0),
        Value::U32(0),
        Value::U16(0),
        Value::U64(1_000),
        Value::U64(3),
        text("N.Small"),
        Value::U32(0),
    ];
    common::event(TICK, 0, later, stack, values)
}

fn of_session<R: Report>(report: R, steps: Vec<Step>, filter: Filter) -> R::Output {
    let bytes = common::session(steps).record().stream.bytes;
    let mut pass = ReportPass::new(report).filter(filter);
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete());
    pass.finish().output
}

#[test]
fn allocations_of_one_type_at_stacks_with_equal_names_are_one_row() {
    let report = of_session(
        Alloc::new(),
        vec![
            common::method(LOAD, 1, 0x1000, 0x100, "N.T.A"),
            common::method(LOAD, 2, 0x2000, 0x100, "N.T.B"),
            // The same calls at other places of the code.
            tick_at(1, &[0x1010, 0x2020]),
            tick_at(1, &[0x1018, 0x2020]),
            tick_at(1, &[0x1018, 0x2040]),
            tick_at(1, &[0x1018]),
        ],
        Filter::new(),
    );
    let rows: Vec<_> = report.sources[0].stacks.iter().map(|row| (row.events, row.frames.len())).collect();
    assert_eq!(rows, [(3, 2), (1, 1)]);
}

#[test]
fn the_rate_of_allocation_is_over_all_the_time_that_is_looked_at() {
    // Two ticks 1 us apart, in a session of 1 ms.
    let steps = vec![
        common::method(LOAD, 1, 0x1000, 0x100, "N.T.A"),
        tick_at(500_000, &[0x1010]),
        tick_at(1_000, &[0x1010]),
        common::event(LOAD, 0, 499_000, &[], vec![]),
    ];
    let rate = |filter: Filter| of_session(Alloc::new(), steps.clone(), filter).sources[0].bytes_per_second;
    assert_eq!(rate(Filter::new()), Some(2_000.0 / 0.001));
    let mut only = Filter::new();
    only.from_nanos = Some(400_000);
    assert_eq!(rate(only), Some(2_000.0 / 0.0005));
}

#[test]
fn the_summary_counts_the_allocations_that_the_report_is_made_of() {
    let tick = |kind: u32| {
        vec![
            Value::U32(0),
            Value::U32(kind),
            Value::U16(0),
            Value::U64(100_000),
            Value::U64(3),
            text("A"),
            Value::U32(0),
        ]
    };
    let sampled = vec![
        Value::U32(0),
        Value::U16(0),
        Value::U64(3),
        text("A"),
        Value::U64(4),
        Value::U64(24),
        Value::U64(9),
    ];
    let script =
        Script::new().event(10, 0, 10, tick(0)).of_type(20, 0, SAMPLED, sampled).event(30, 0, 10, tick(0));
    let summary = report(Summary::new(), script.steps);
    let answers: Vec<_> = summary.answers.iter().map(|answer| (&*answer.report, answer.events)).collect();
    assert_eq!(answers, [("alloc", 1)]);
}

#[test]
fn counted_objects_get_the_names_of_their_types_and_go_without_when_none_came() {
    let counted = |id: u64, objects: u32, bytes: u64| {
        vec![Value::U64(0x9000), Value::U64(id), Value::U32(objects), Value::U64(bytes), Value::U16(0)]
    };
    let named = vec![
        Value::U32(1),
        Value::U16(0),
        Value::U64(0x70),
        Value::U64(1),
        Value::U32(0),
        Value::U32(0),
        Value::U8(0),
        text("N.Widget"),
        Value::U32(0),
    ];
    let script = Script::new()
        .event(10, 0, 20, counted(0x70, 3, 72))
        .event(20, 0, 20, counted(0x80, 1, 40))
        // The name comes behind its first use.
        .event(30, 0, 15, named)
        .event(40, 1, 20, counted(0x70, 2, 48));
    let report: AllocReport = report(Alloc::new(), script.steps);
    let [source] = &report.sources[..] else { panic!("one source") };
    assert_eq!((source.source, source.events, source.bytes), ("SampledObjectAllocation", 3, 160));
    let types: Vec<_> = source.types.iter().map(|row| (&*row.type_name, row.bytes, row.objects)).collect();
    assert_eq!(types, [("N.Widget", 120, Some(5)), ("type 0x80", 40, Some(1))]);
}

#[test]
fn a_trace_without_their_events_is_told_from_one_in_which_nothing_happened() {
    fn seen<R: Report>(report: R) -> u64 {
        let script = Script::new().suspend(1, 2, 0, 0).restart(3, 4, 0);
        report_with(report, script.steps, Filter::new()).1
    }
    let seen =
        [seen(Gc::new()), seen(Jit::new()), seen(Alloc::new()), seen(Loader::new()), seen(ThreadPool::new())];
    assert_eq!(seen, [0; 5]);
}
