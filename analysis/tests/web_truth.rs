//! Compares reports with counts of the web application's clients and runtime.

use crate::web::{findings, rank, reported, truth};
use nettrace_analysis::heap::{HeapReader, HeapReport, Retained};
use nettrace_analysis::report::{
    Alloc, Contention, Counters, Exceptions, Gc, Http, Logs, PoolReason, ReportPass, Sql,
    ThreadPool, TopN, TopNOptions,
};
use nettrace_analysis::{AnalysisOptions, ThreadState};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use std::collections::BTreeMap;

/// Returns the growth of a count of the runtime during the load.
fn grew(name: &str, what: &str) -> f64 {
    truth(name)["delta"][what].as_f64().unwrap()
}

/// Returns the report on methods with samples in a state.
fn top(name: &str, state: ThreadState, is_my_code: bool) -> TopN {
    let trace = corpus::web(name);
    let mut options = AnalysisOptions::default();
    options.filter.states = vec![state];
    options.folding.is_my_code = is_my_code;
    let mut report = TopNOptions::default();
    (report.is_inclusive, report.count) = (true, 1_000);
    let mut pass = ReportPass::with_options(report, options);
    assert!(pass.read(&mut Reader::from_slice(&trace.bytes()).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

/// Returns the client's requests by method and route.
fn by_route(name: &str) -> BTreeMap<(String, String), u64> {
    let truth = truth(name);
    let mut counts = BTreeMap::new();
    for (path, row) in truth["truth"].as_object().unwrap() {
        let route = match path.as_str() {
            "/orders/{i}" | "/orders/999" => "/orders/{id:int}",
            "/logs/{i}" => "/logs/{id:int}",
            "/span/{i}" => "/span/{id:int}",
            "/throws/{i}" => "/throws/{i:int}",
            "/metric/{i}" => "/metric/{i:int}",
            "/api/products" => "api/products",
            path => path,
        };
        for (status, count) in row["status"].as_object().unwrap() {
            *counts.entry((route.to_owned(), status.clone())).or_default() +=
                count.as_u64().unwrap();
        }
    }
    counts
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn the_pool_grew_and_collections_and_lock_waits_came_as_the_runtime_counted() {
        for name in ["dt-default", "dt-noinline", "dt-good", "dt-locks", "net11-locks"] {
            let pool = reported(name, ThreadPool::default());
            let more = pool.max_workers.unwrap() - pool.min_workers.unwrap();
            assert_eq!(more as f64, grew(name, "threads"), "{name}");
            let blocked =
                pool.reasons.iter().any(|row| row.reason == PoolReason::COOPERATIVE_BLOCKING);
            assert_eq!(
                (blocked, pool.is_starved),
                (name != "dt-good", name != "dt-good"),
                "{name}"
            );
        }
        for name in ["dt-default", "dt-noinline", "dt-good", "dt-gcverbose", "dt-gccollect"] {
            let gc = reported(name, Gc::default());
            assert_eq!(gc.totals.count as f64, grew(name, "gc2"), "{name}");
            // The runtime leaves out the time until all threads are suspended.
            let (pauses, counted) = (gc.totals.pause_ns as f64 / 1e6, grew(name, "pause"));
            assert!((counted..=counted * 1.07).contains(&pauses), "{name}: {pauses} {counted}");
        }
        for name in ["dt-locks", "net11-locks", "dt-noinline"] {
            let locks = reported(name, Contention::default());
            assert_eq!(locks.totals.stopped as f64, grew(name, "cont"), "{name}");
        }
        let alloc = reported("dt-gcverbose", Alloc::default());
        // An event stands for 100 KiB of small objects.
        let off = (alloc.sources[0].bytes as f64 - grew("dt-gcverbose", "alloc")).abs();
        assert!(off < 1e6, "{off}");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn exceptions_are_thrown_once_and_then_again() {
        for (name, thrown) in [
            // 4 for each of 20 /throws, 10 for /logs, one for each of 3 /boom, and two for each of
            // 3 /refused.
            ("dt-default", "138 exceptions (99 thrown, 39 rethrown)"),
            ("dt-noinline", "138 exceptions (99 thrown, 39 rethrown)"),
            ("dt-good", "58 exceptions (19 thrown, 39 rethrown)"),
        ] {
            let found = findings(name);
            let (_, text) = rank(&found, &["exceptions"]);
            assert!(text.starts_with(thrown), "{name}: {text}");
            let report = reported(name, Exceptions::default());
            let caught: u64 = report.types.iter().map(|row| row.caught).sum();
            assert_eq!(caught, report.count, "{name}");
        }
        let found = findings("dt-noinline");
        let (_, text) = rank(&found, &["requests"]);
        assert!(text.starts_with("3 of 289 requests failed: GET /boom 3×"), "{text}");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn samples_are_where_the_planted_time_went() {
        // The regular expression computes in each of ten requests. One build inlines its handler.
        for (name, method) in [
            ("dt-default", "dynamicClass.lambda_method142"),
            ("dt-noinline", "Validation.CheckEmail"),
        ] {
            let top = top(name, ThreadState::Managed, false);
            let row = top.methods.iter().find(|row| row.name.contains(method)).unwrap();
            let regex = &truth(name)["truth"]["/regex"];
            let most = regex["mean_ms"].as_f64().unwrap() * regex["count"].as_f64().unwrap();
            let sampled = row.total_ns as f64 / 1e6;
            assert!((most * 0.75..=most).contains(&sampled), "{name}: {sampled} of {most}");
        }
        // The handler stands in for the code that was inlined into it.
        let inlined = top("dt-default", ThreadState::Managed, true);
        let row = inlined.methods.iter().find(|row| row.name.contains(".lambda_method142("));
        let row = row.unwrap();
        assert!((40.0..=75.0).contains(&row.self_percent), "{row:?}");
        assert_eq!(row.shown(), "an endpoint's handler (dynamicClass.lambda_method142)");
        let nobodys = inlined.methods.iter().find(|row| row.name == "(not my code)").unwrap();
        assert!(nobodys.self_percent < 35.0, "{nobodys:?}");
        let blocked = top("net11-full", ThreadState::Waiting, true);
        let row = blocked.methods.iter().find(|row| row.shown().starts_with("GET /sync")).unwrap();
        assert!((13e9..15.7e9).contains(&(row.self_ns as f64)), "{row:?}");
        let waiting = top("dt-noinline", ThreadState::Waiting, true);
        let own = waiting.methods.iter().filter(|row| row.name.contains("!Shop."));
        let own: Vec<&str> = own.map(|row| row.name.split('(').next().unwrap()).take(3).collect();
        let places = ["SyncOverAsync.GetSlow", "Program.Main", "Inventory.ReserveUnderLock"];
        assert_eq!(own, places.map(|place| format!("shop!Shop.{place}")));
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_request_that_only_log_messages_show_has_its_method() {
        let report = reported("net11-full", Sql::default());
        let names: Vec<&str> = report.requests.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names[0], "GET /nplus1");
        assert!(names.iter().all(|name| !name.starts_with('/')), "{names:?}");
    }

    /// Tests what is left if the program's filters of log messages leave out those that have the
    /// method: it is in the request's own start, or nowhere.
    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_request_whose_log_messages_lack_the_method_has_that_of_its_own_start() {
        // Names the sources that are left out: loggers, of which scopes stay, and providers.
        let sql = |left_out: &[&str], has_scopes: bool| {
            let bytes = corpus::web("net11-full").bytes();
            let mut events = Reader::from_slice(&bytes).time_ordered();
            let mut pass = ReportPass::new(Sql::default());
            while let Some(event) = events.next_event().unwrap() {
                let logger = event.field("LoggerName").and_then(|name| name.to_text());
                let source = logger.as_deref().unwrap_or(event.provider());
                let is_scope = event.name().starts_with("Activity");
                if !left_out.contains(&source) || (is_scope && has_scopes && logger.is_some()) {
                    pass.event(&event);
                }
            }
            let rows = pass.finish().output.requests.into_iter();
            rows.map(|row| (row.name, row.commands)).collect::<BTreeMap<String, u64>>()
        };
        let hosting = "Microsoft.AspNetCore.Hosting.Diagnostics";
        let routing = "Microsoft.AspNetCore.Routing.EndpointMiddleware";
        let starts = ["Microsoft.AspNetCore.Hosting", "Microsoft-Diagnostics-DiagnosticSource"];
        let all = sql(&[], true);
        assert!(all.len() > 2 && all.keys().all(|name| name.starts_with("GET /")), "{all:?}");
        assert_eq!(sql(&[hosting], true), all);
        assert_eq!(sql(&[hosting, routing], true), all);
        assert_eq!(sql(&[hosting, routing], false), all);
        // Names of handlers of controllers are no routes.
        let mut routed = sql(&[hosting, starts[0], starts[1]], true);
        assert_eq!(routed.remove("/api/products"), Some(5));
        assert!(routed.len() == 2 && routed.iter().all(|(name, count)| all[name] == *count));
        let without = sql(&[hosting, routing, starts[0], starts[1]], true);
        let path = |(name, commands): (String, u64)| (name["GET ".len()..].to_owned(), commands);
        assert_eq!(without, all.into_iter().map(path).collect());
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn histograms_of_requests_have_the_clients_counts_by_route_and_status() {
        let report = reported("nt-metrics", Counters::default());
        let mut counts = BTreeMap::new();
        for series in report.series.iter().filter(|it| it.name == "http.server.request.duration") {
            let tag = |key: &str| series.tags.iter().find(|(name, _)| name == key);
            if tag("Percentile").is_some_and(|(_, value)| value == "50") {
                let of = |key| tag(key).unwrap().1.to_string();
                let key = (of("http.route"), of("http.response.status_code"));
                counts.insert(key, series.values);
            }
        }
        for (key, count) in by_route("nt-metrics") {
            // The last request to /stat is the recorder's, after the last values.
            if key.0 != "/stat" {
                assert_eq!(counts.get(&key), Some(&count), "{key:?}");
            }
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn messages_are_of_as_many_requests_as_were_sent() {
        for name in ["dt-logsconc", "dt-logsconc-tpl"] {
            let report = reported(name, Logs::default());
            let mut requests: Vec<_> =
                report.messages.iter().filter_map(|message| message.request.as_deref()).collect();
            requests.sort_unstable();
            requests.dedup();
            let truth = truth(name);
            let sent = |(path, row): (&String, &serde_json::Value)| {
                // Each /checkout sends a request that comes in again.
                row["count"].as_u64().unwrap() * (1 + u64::from(path == "/checkout"))
            };
            let sent: u64 = truth["truth"].as_object().unwrap().iter().map(sent).sum();
            // The recorder asks for /stat once more.
            let more = (requests.len() as u64).abs_diff(sent);
            assert!(more <= 1, "{name}: {} {sent}", requests.len());
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn dumps_have_as_many_objects_as_were_leaked() {
        for (name, leaked) in [("heap1", 1_000), ("heap2", 3_000)] {
            let trace = corpus::web(name);
            let mut heap = HeapReader::default();
            let bytes = trace.bytes();
            assert!(heap.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
            let dumps = heap.finish();
            let report = HeapReport::new(&dumps, &dumps[0], &Retained::from_dump(&dumps[0]));
            let row = report.types.iter().find(|row| row.name.ends_with("LeakedSession")).unwrap();
            assert_eq!(row.count, leaked, "{name}");
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn without_samples_a_request_awaits_while_its_thread_is_back_in_the_pool() {
        let report = reported("dt-net", Http::default());
        for (path, least) in [("/checkout", 97), ("/downstream", 97), ("/span/#", 80)] {
            let mut rows = report.activities.iter();
            let parts =
                rows.find(|row| row.name.to_string() == format!("in GET {path}")).unwrap().parts;
            assert!(parts.await_ns * 100 >= parts.total_ns() * least, "{path}: {parts:?}");
        }
        // A thread that sleeps in its handler returns to no waiting method, so nothing shows its
        // wait.
        let mut rows = report.activities.iter();
        let metric = rows.find(|row| row.name.to_string() == "in GET /metric/#").unwrap().parts;
        assert!(metric.unknown_ns * 100 >= metric.total_ns() * 90, "{metric:?}");
    }
}
