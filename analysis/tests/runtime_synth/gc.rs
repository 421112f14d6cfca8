//! Collections, and their pauses.

use crate::script::{Script, report, report_with};
use nettrace_analysis::Filter;
use nettrace_analysis::report::{Gc, GcKind, GcReason, GcReport};
use nettrace_testdata::synth::{Step, Value};

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
        // The collector's thread resumes the others.
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
    let report: GcReport = report(Gc::default(), script.steps);
    assert_eq!(pauses(&report), [(1, vec![(10, 12), (60, 12)]), (2, vec![(40, 13)])]);
    let [background, foreground] = &report.collections[..] else { panic!("two") };
    assert_eq!((background.kind, background.reason), (GcKind::Background, GcReason::Induced));
    assert_eq!((foreground.kind, foreground.reason), (GcKind::Foreground, GcReason::AllocSmall));
    assert_eq!(
        (background.pause_ns, background.duration_ns, background.suspend_ns),
        (24, Some(76), 3)
    );
    assert_eq!((foreground.pause_ns, foreground.since_last_ns), (13, Some(28)));
    assert_eq!((background.heap_after_bytes, foreground.heap_after_bytes), (Some(150), Some(250)));
    // The heap was largest before the foreground collection, during the background one.
    assert_eq!(
        (foreground.heap_before_bytes, background.heap_peak_bytes),
        (Some(5_000), Some(5_000))
    );
    // 35 of 1,000 bytes in generation 0 survived.
    assert_eq!(
        (foreground.survival_percent, foreground.fragmentation_bytes),
        (Some(3.5), Some(75))
    );
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
    let report: GcReport = report(Gc::default(), script.steps);
    assert_eq!(pauses(&report), [(1, vec![(10, 3)]), (2, vec![(13, 12)])]);
    assert_eq!(report.totals.pause_ns, 15);
}

#[test]
fn stops_without_a_start_are_ignored_and_collections_under_way_are_partial() {
    let script = Script::new().end(1, 0, 6).stats(2, 0, 9).restart(3, 4, 0).whole(10, 7, 0);
    let found: GcReport = report(Gc::default(), script.steps);
    assert_eq!(pauses(&found), [(7, vec![(10, 20)])]);
    assert!(found.partial.is_empty());

    let script = Script::new()
        .start(1, 0, [6, 1, 0, 0])
        .end(2, 0, 6)
        .stats(3, 0, 9)
        .restart(4, 5, 0)
        .whole(10, 7, 0);
    let found: GcReport = report(Gc::default(), script.steps);
    assert_eq!(pauses(&found), [(7, vec![(10, 20)])]);
    assert_eq!((found.partial.len(), found.partial[0].number), (1, 6));
    assert_eq!(
        (found.partial[0].heap_after_bytes, found.partial[0].is_complete),
        (Some(45), false)
    );
}

#[test]
fn lost_events_spoil_their_collection_alone() {
    // Three collections, of which the second lacks an event.
    let events = |script: Script| script.whole(10, 1, 0).whole(50, 2, 1).whole(90, 3, 0).steps;
    let all = events(Script::new());
    assert_eq!(all.len(), 21);
    for lost in 7..14 {
        let mut steps = all.clone();
        let Step::Event(removed) = steps.remove(lost) else { panic!("an event") };
        // Later events keep their times.
        if let Some(Step::Event(next)) = steps.get_mut(lost) {
            next.ticks_later += removed.ticks_later;
        }
        let found: GcReport = report(Gc::default(), steps);
        let whole: Vec<_> = found.collections.iter().filter(|row| row.is_complete).collect();
        let numbers: Vec<u32> = whole.iter().map(|row| row.number).collect();
        assert!(numbers.contains(&1) && numbers.contains(&3), "without event {lost}: {numbers:?}");
        for row in whole {
            let begin = i64::from(10 + 40 * (row.number - 1));
            assert_eq!(row.pauses[0].start_ns, begin, "without event {lost}");
            assert_eq!((row.pause_ns, row.duration_ns), (20, Some(6)), "without event {lost}");
        }
        assert_eq!(found.totals.count + found.totals.incomplete, found.collections.len() as u64);
        // Without the event with the sizes, only the sizes are missing.
        let second = found.collections.iter().find(|row| row.number == 2);
        assert_eq!(second.is_some(), lost != 9, "without event {lost}");
        if let Some(second) = second {
            assert_eq!(
                second.heap_after_bytes.is_none(),
                matches!(lost, 10 | 11),
                "without event {lost}"
            );
            // Nor do the events that all threads are suspended, or are being resumed, hide when the
            // pause began and ended.
            assert_eq!(second.is_complete, matches!(lost, 8 | 11 | 12), "without event {lost}");
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
    let report: GcReport = report(Gc::default(), script.steps);
    let row = &report.collections[0];
    assert_eq!(
        (row.heaps, row.is_compacting, row.is_concurrent),
        (Some(2), Some(true), Some(false))
    );
    assert_eq!((row.heap_before_bytes, row.heap_after_bytes), (Some(10_000), Some(3_000)));
    assert_eq!((row.mark_ns, row.plan_ns, row.sweep_ns), (Some(15_000), Some(60_000), None));
    assert_eq!((row.relocate_ns, row.compact_ns), (Some(70_000), Some(80_000)));
    assert_eq!((row.fragmentation_bytes, row.fragmentation_percent), (Some(330), Some(11.0)));
    // 200 of 880 bytes survived in each of the five generations of both heaps.
    assert_eq!(row.survival_percent, Some(200.0 * 100.0 / 880.0));
    assert_eq!((row.memory_load_percent, row.reason), (Some(40), GcReason::AllocLarge));
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
    let (report, events) = report_with(Gc::default(), script.steps, Filter::default());
    assert_eq!(pauses(&report), [(1, vec![(11, 10)])]);
    // Suspensions alone do not show collections, because the sampler suspends threads, too.
    assert_eq!(events, 2);
}

#[test]
fn a_stop_that_ends_within_another_leaves_that_its_pause() {
    // The sampler on thread 2 suspends all threads between the resumption by the collection's
    // thread and its return, or begins before it and returns after it.
    let asked = |script: Script, at| {
        script.event(
            at,
            2,
            9,
            vec![0, 0].into_iter().map(Value::U32).chain([Value::U16(0)]).collect(),
        )
    };
    let plain = |script: Script, at, thread, id| script.event(at, thread, id, vec![Value::U16(0)]);
    let script = Script::new().suspend(10, 12, 0, 1).start(14, 0, [1, 0, 0, 0]);
    let script = asked(script, 15).end(16, 0, 1).stats(17, 0, 100);
    let script = plain(plain(plain(plain(script, 18, 0, 7), 19, 2, 8), 20, 2, 7), 21, 2, 3);
    let script = plain(script, 22, 0, 3);
    let script = asked(script, 30).suspend(31, 32, 0, 1).start(33, 0, [2, 0, 0, 0]).end(34, 0, 2);
    let script = plain(plain(plain(plain(script, 35, 0, 7), 36, 2, 8), 37, 0, 3), 38, 2, 7);
    // The next collection begins and ends before the sampler returns.
    let script =
        script.suspend(39, 40, 1, 1).start(41, 1, [3, 0, 0, 0]).end(42, 1, 3).restart(43, 44, 1);
    let script = plain(script, 45, 2, 3);
    let report: GcReport = report(Gc::default(), script.steps);
    assert_eq!(pauses(&report), [(1, vec![(10, 12)]), (2, vec![(31, 6)]), (3, vec![(39, 5)])]);
    assert_eq!((report.totals.count, report.totals.incomplete, report.totals.pause_ns), (3, 0, 23));
}

#[test]
fn events_after_the_end_of_a_background_collection_belong_to_it() {
    let row = [1_000, 100, 0, 600, 40, 0, 0, 0, 300, 0];
    // Thread 1 is the background collector's. A whole blocking collection comes between its events.
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
    let report: GcReport = report(Gc::default(), script.steps);
    let [background, blocking] = &report.collections[..] else { panic!("two") };
    assert_eq!(
        (background.heap_before_bytes, background.heap_after_bytes),
        (Some(5_000), Some(150))
    );
    assert_eq!((background.is_concurrent, background.is_compacting), (Some(true), Some(false)));
    assert_eq!(background.survival_percent, Some(300.0 * 100.0 / 900.0));
    assert_eq!(background.generations[2].free_bytes, Some(40));
    assert_eq!((blocking.heap_before_bytes, blocking.heap_after_bytes), (Some(10_000), Some(250)));
    assert_eq!((blocking.is_concurrent, blocking.is_compacting), (Some(false), Some(true)));
    // The background collection left 560 bytes in each of three generations, which is reported only
    // when the next has begun.
    assert_eq!(
        (background.allocated_bytes, blocking.allocated_bytes),
        (None, Some(3 * (2_000 - 560)))
    );
    assert_eq!(report.totals.count, 2);
}

#[test]
fn allocations_before_a_background_collection_do_not_count_for_collections_within_it() {
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
    let report: GcReport = report(Gc::default(), script.steps);
    let allocated: Vec<_> = report.collections.iter().map(|row| row.allocated_bytes).collect();
    assert_eq!(allocated, [None, Some(600), Some(0)]);
    assert_eq!(report.totals.allocated_bytes, 600);
}

#[test]
fn a_filter_chooses_collections_by_their_start() {
    let script = Script::new().whole(10, 1, 0).whole(50, 2, 1);
    let mut filter = Filter::default();
    filter.from_nanos = Some(54);
    let (report, _) = report_with(Gc::default(), script.steps, filter);
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
    let report: GcReport = report(Gc::default(), script.steps);
    let row = &report.collections[0];
    assert_eq!((row.heap_before_bytes, row.heap_after_bytes), (Some(u64::MAX), Some(u64::MAX)));
    assert_eq!((row.reason, row.kind), (GcReason::Other(u32::MAX), GcKind::Other(u32::MAX)));
    assert_eq!([row.reason.to_string(), row.kind.to_string()], ["4294967295"; 2]);
    assert_eq!(report.totals.promoted_bytes, u64::MAX);
}
