//! `watch` of a running process shows the rows of the reports on its trace.

use crate::activity_synth::{messages, session};

use nettrace_analysis::live::{HttpRequest, Live, LiveWatch, WatchKind, WatchRow, WatchedEvent};
use nettrace_analysis::report::{
    Collection, Contention, Exceptions, Gc, Http, Jit, Logs, Report, ReportPass, ThreadPool,
};
use nettrace_parser::{Reader, Whole};
use nettrace_testdata::corpus;
use std::collections::BTreeSet;

const TRACES: [&str; 6] = [
    "net10-linux-x64/all.nettrace",
    "net10-linux-x64/startup.nettrace",
    "net10-linux-x64/waits.nettrace",
    "net3.1-linux-x64/all.nettrace",
    "net8-linux-x64/all.nettrace",
    "net9-linux-x64/all.nettrace",
];

fn kind_of(event: &WatchedEvent) -> WatchKind {
    match event {
        WatchedEvent::Gc(_) => WatchKind::Gc,
        WatchedEvent::Exception(_) => WatchKind::Exceptions,
        WatchedEvent::Contention(_) => WatchKind::Contention,
        WatchedEvent::Log(_) => WatchKind::Logs,
        WatchedEvent::Http(_) => WatchKind::Http,
        WatchedEvent::Jit(_) => WatchKind::Jit,
        WatchedEvent::Threadpool(_) => WatchKind::Threadpool,
        event => panic!("{event:?}"),
    }
}

fn rows(bytes: &[u8], kind: WatchKind) -> Vec<WatchRow> {
    let mut live = Live::new(LiveWatch::new([kind]));
    let mut events = Reader::new(Whole::new(bytes)).time_ordered();
    let mut rows = Vec::new();
    while let Some(event) = events.next_event().unwrap() {
        live.event(&event);
        rows.extend(live.report.take());
    }
    rows.extend(live.report.take_all());
    let kinds: BTreeSet<_> = rows.iter().map(|row| kind_of(&row.what)).collect();
    assert!(kinds.iter().eq(rows.first().map(|_| &kind)), "{kinds:?}");
    assert_eq!(live.snapshot(), 0);
    // Rows come in time order, except for messages, which wait for their exceptions.
    assert!(rows.is_sorted_by_key(|row| row.ts_ns));
    rows
}

fn report<R: Report>(bytes: &[u8], report: R) -> R::Output {
    let mut pass = ReportPass::new(report);
    let _ = pass.read(&mut Reader::new(Whole::new(bytes)).time_ordered()).unwrap();
    pass.finish().output
}

fn each_trace(look: impl Fn(&str, &[u8])) {
    for name in TRACES {
        look(name, &corpus::trace(name).bytes());
    }
}

#[test]
fn collections_come_when_they_are_over_with_what_the_report_says_of_them() {
    each_trace(|name, bytes| {
        let mut watched: Vec<Collection> = rows(bytes, WatchKind::Gc)
            .into_iter()
            .map(|row| match row.what {
                WatchedEvent::Gc(collection) => *collection,
                other => panic!("{other:?}"),
            })
            .collect();
        watched.sort_by_key(|collection| collection.start_ns);
        let report = report(bytes, Gc::default());
        let mut known: Vec<Collection> =
            report.partial.into_iter().chain(report.collections).collect();
        known.sort_by_key(|collection| collection.start_ns);
        // A collection may be running when the session ends.
        known.retain(|collection| collection.duration_ns.is_some());
        assert_eq!(watched.len(), known.len(), "{name}");
        for (watched, known) in watched.iter().zip(&mut known) {
            (known.process_id, known.survival_percent) = (None, None);
            (known.allocated_bytes, known.allocated_bytes_per_second) = (None, None);
            assert_eq!(watched, known, "{name}");
        }
    });
}

#[test]
fn as_many_exceptions_waits_methods_and_changes_of_the_pool_come_as_are_reported() {
    each_trace(|name, bytes| {
        let count = |kind| rows(bytes, kind).len() as u64;
        let exceptions = report(bytes, Exceptions::default());
        assert_eq!(count(WatchKind::Exceptions), exceptions.count, "{name}");
        let jit = report(bytes, Jit::default());
        let ready = jit.methods.iter().filter(|method| method.native_bytes > 0).count() as u64;
        assert_eq!(count(WatchKind::Jit), ready, "{name}");
        let pool = report(bytes, ThreadPool::default());
        let changes = pool.adjustments.len() as u64 + pool.started + pool.stopped;
        let limits = u64::from(pool.limits.is_some());
        assert_eq!(count(WatchKind::Threadpool), changes + limits, "{name}");

        let locks = report(bytes, Contention::default());
        let known: u64 = locks.locks.iter().map(|lock| lock.waits.total_ns).sum();
        let total = |row: WatchRow| match row.what {
            WatchedEvent::Contention(wait) => wait.duration_ns.unwrap_or(0),
            other => panic!("{other:?}"),
        };
        let watched: u64 = rows(bytes, WatchKind::Contention).into_iter().map(total).sum();
        assert_eq!(watched, known, "{name}");
    });
}

fn requests(bytes: &[u8]) -> Vec<HttpRequest> {
    let request = |row: WatchRow| match row.what {
        WatchedEvent::Http(request) => request,
        other => panic!("{other:?}"),
    };
    rows(bytes, WatchKind::Http).into_iter().map(request).collect()
}

#[test]
fn a_request_comes_once_when_it_has_ended_however_many_layers_report_it() {
    each_trace(|name, bytes| {
        assert_each_request_comes_once(name, bytes);
    });
}

/// Asserts that each request comes once. Returns the number of requests, and of further reports of
/// them by other layers.
fn assert_each_request_comes_once(name: &str, bytes: &[u8]) -> (usize, u64) {
    let (watched, known) = (requests(bytes), report(bytes, Http::default()));
    assert_eq!(watched.len() as u64, known.stopped, "{name}");
    let errors = watched.iter().filter(|request| request.is_error).count() as u64;
    let reported: u64 = known.activities.iter().map(|row| row.errors).sum();
    assert!(errors <= reported, "{name}: {errors} of {reported}");
    let total: u64 = watched.iter().filter_map(|request| request.duration_ns).sum();
    assert_eq!(total, known.activities.iter().map(|row| row.durations.total_ns).sum::<u64>());
    (watched.len(), known.layers)
}

#[test]
fn messages_come_as_the_report_has_them_and_wait_for_their_exceptions() {
    let bytes = session(messages()).record().stream.bytes;
    let watched: Vec<_> = rows(&bytes, WatchKind::Logs)
        .into_iter()
        .map(|row| match row.what {
            WatchedEvent::Log(message) => message,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(watched, report(&bytes, Logs::default()).messages);
    assert!(watched.iter().any(|message| message.exception.is_some()));
    assert!(watched.iter().any(|message| !message.scopes.is_empty()));
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn of_layers_that_report_a_request_one_comes() {
        let trace = corpus::trace("aspnet-net10-linux-x64/web.nettrace");
        let (watched, layers) = assert_each_request_comes_once(trace.name(), &trace.bytes());
        assert!(layers > 0 && watched > 100, "{layers} {watched}");
    }
}
