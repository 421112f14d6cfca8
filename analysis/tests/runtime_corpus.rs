//! Exact numbers of the runtime's reports on traces of the repository.

use crate::common;
use nettrace_analysis::Filter;
use nettrace_analysis::report::{
    Alloc, AllocEvent, Contention, Gc, GcReport, Jit, JitReport, Loader, LoaderReport, Report,
    ReportPass, ThreadPool, Threads, Types, Waits,
};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;

fn report<R: Report>(report: R, trace: &str) -> R::Output {
    let bytes = corpus::trace(trace).bytes();
    let mut pass = ReportPass::new(report);
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

#[test]
fn collections_of_the_corpus_are_counted_exactly() {
    // Trace, collections, pauses, collections of generations 0, 1 and 2, induced collections.
    let expected = [
        ("net10-linux-x64/all.nettrace", 62, 106_139_702, [8, 46, 8], 13),
        ("net10-linux-x64/startup.nettrace", 39, 70_832_801, [5, 29, 5], 8),
        ("net9-linux-x64/all.nettrace", 41, 64_405_420, [4, 32, 5], 9),
        ("net8-linux-x64/all.nettrace", 41, 63_013_367, [4, 32, 5], 9),
    ];
    for (trace, count, pause_ns, generations, induced) in expected {
        let GcReport { totals, collections, partial, .. } = report(Gc::default(), trace);
        assert_eq!(
            (totals.count, totals.pause_ns, totals.induced),
            (count, pause_ns, induced),
            "{trace}"
        );
        let found: Vec<(u32, u64)> =
            totals.generations.iter().map(|row| (row.generation, row.count)).collect();
        assert_eq!(
            found,
            [(0, generations[0]), (1, generations[1]), (2, generations[2])],
            "{trace}"
        );
        assert!(partial.is_empty() && collections.iter().all(|row| row.is_complete), "{trace}");
        // Numbers are consecutive, so none is missing.
        assert!(collections.windows(2).all(|pair| pair[1].number == pair[0].number + 1), "{trace}");
    }
}

#[test]
fn compiled_methods_of_the_corpus_are_counted_exactly() {
    let JitReport { totals, methods, .. } = report(Jit::default(), "net3.1-linux-x64/all.nettrace");
    // 426 compilations began and 426 ended; one lacks its start, and one its end.
    assert_eq!((totals.methods, totals.incomplete, totals.background), (427, 2, 391));
    assert_eq!((totals.r2r_found, totals.r2r_lookups, totals.osr), (752, 0, 0));
    let first =
        methods.iter().find(|row| row.name.starts_with("System.SpanHelpers.Contains(")).unwrap();
    assert_eq!((first.il_bytes, first.native_bytes, first.tier), (264, 312, "OptimizedTier1"));
    assert_eq!((first.duration_ns, &*first.module), (620_187, "System.Private.CoreLib"));
}

#[test]
fn startup_has_loads_and_growth_of_the_thread_pool() {
    let loader = report(Loader::default(), "net10-linux-x64/startup.nettrace");
    assert_eq!(loader.assemblies.iter().filter(|row| row.loaded_ns.is_some()).count(), 18);
    assert_eq!(loader.modules.len(), 18);
    assert_eq!(loader.binds.iter().map(|row| row.count).sum::<u64>(), 27);
    assert!(loader.binds.iter().all(|row| row.is_found));
    let pool = report(ThreadPool::default(), "net10-linux-x64/startup.nettrace");
    assert_eq!((pool.adjustments.len(), pool.started, pool.is_starved), (9, 3, false));
    assert_eq!((pool.min_workers, pool.max_workers), (Some(1), Some(3)));
    assert_eq!(
        pool.limits.map(|limits| (limits.min_workers, limits.max_workers)),
        Some((2, 32_767))
    );
}

#[test]
fn a_load_outside_of_the_range_is_not_a_load_before_the_session() {
    let bytes = corpus::trace("net10-linux-x64/startup.nettrace").bytes();
    let of = |from_nanos, to_nanos| {
        let mut filter = Filter::default();
        (filter.from_nanos, filter.to_nanos) = (from_nanos, to_nanos);
        let mut pass = ReportPass::with_options(Loader::default(), common::filtered(filter));
        assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
        let LoaderReport { assemblies, modules, .. } = pass.finish().output;
        assert!(assemblies.iter().all(|row| row.loaded_ns.is_some()));
        assert!(modules.iter().all(|row| row.loaded_ns.is_some()));
        (assemblies.len(), modules.len())
    };
    assert_eq!(of(None, None), (18, 18));
    let halves = [of(None, Some(50_000_000)), of(Some(50_000_000), None)];
    assert_eq!(halves, [(11, 11), (7, 7)]);
}

#[test]
fn ticks_lie_near_what_the_collector_counted() {
    let gc = report(Gc::default(), "net3.1-linux-x64/heap.nettrace");
    let alloc = report(Alloc::default(), "net3.1-linux-x64/heap.nettrace");
    let source = &alloc.sources[0];
    assert_eq!(
        (source.source, source.events, alloc.sources.len()),
        (AllocEvent::AllocationTick, 50_846, 1)
    );
    let types = report(Types::default(), "net3.1-linux-x64/heap.nettrace");
    assert_eq!((types.bytes, &types.types), (source.bytes, &source.types));
    assert_eq!(source.types.iter().map(|row| row.events).sum::<u64>(), source.events);
    // The collector counts only between the first and the last collection, and about 90 MB fit
    // between two collections.
    let between = gc.totals.allocated_bytes;
    assert!(
        between < source.bytes && source.bytes - between < between / 10,
        "{between} {}",
        source.bytes
    );
}

/// Returns a filtered report of a trace that lost events.
fn filtered<R: Report>(report: R, change: impl FnOnce(&mut Filter)) -> R::Output {
    let bytes = corpus::trace("net3.1-linux-x64/lossy.nettrace").bytes();
    let mut filter = Filter::default();
    change(&mut filter);
    let mut pass = ReportPass::with_options(report, common::filtered(filter));
    let _outcome = pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
    pass.finish().output
}

#[test]
fn an_interval_without_start_or_stop_counts_in_one_range() {
    let lost = |change: fn(&mut Filter)| {
        let contention = filtered(Contention::default(), change).totals;
        let waits = filtered(Waits::default(), change).totals;
        [&contention, &waits].map(|totals| totals.stops_without_start)
    };
    let whole = lost(|_| {});
    let halves = [
        lost(|filter| filter.to_nanos = Some(2_000_000_000)),
        lost(|filter| filter.from_nanos = Some(2_000_000_000)),
    ];
    assert!(whole[0] + whole[1] > 0);
    assert_eq!(whole, [halves[0][0] + halves[1][0], halves[0][1] + halves[1][1]]);
    assert_eq!(lost(|filter| filter.threads = vec![1]), [0, 0]);
}

#[test]
fn threads_are_those_that_the_filter_admits() {
    let all = filtered(Threads, |_| {}).threads;
    let id = all[0].thread_id.unwrap();
    assert!(all.len() > 1 && all.iter().any(|row| row.samples == 0));
    let one = filtered(Threads, |filter| filter.threads = vec![id]).threads;
    assert_eq!(one.iter().map(|row| row.thread_id).collect::<Vec<_>>(), [Some(id)]);
    let none = filtered(Threads, |filter| filter.to_nanos = Some(0)).threads;
    assert_eq!(none.len(), 0);
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn random_samples_estimate_what_the_collector_counted() {
        let gc = report(Gc::default(), "net10-linux-x64/alloc-sampled.nettrace");
        let alloc = report(Alloc::default(), "net10-linux-x64/alloc-sampled.nettrace");
        let source = &alloc.sources[0];
        assert_eq!((source.source, source.events), (AllocEvent::AllocationSampled, 122_775));
        // Up to 20 MB fit before the first collection, and again after the last.
        let (error, slack) = (source.bytes_error.unwrap(), 40_000_000);
        assert!(
            source.bytes.abs_diff(gc.totals.allocated_bytes) < 3 * error + slack,
            "{} {error}",
            source.bytes
        );
        assert!(error < source.bytes / 200);
        // Equal types at equal frames are one row, so 15 places in the code become 9.
        assert_eq!(source.stacks.len(), 9);
        assert_eq!(source.stacks.iter().map(|row| row.events).sum::<u64>(), source.events);
    }
}
