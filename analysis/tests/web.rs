//! A web application with planted problems, whose numbers are known from its clients.

use nettrace_analysis::findings::Summary;
use nettrace_analysis::heap::{HeapDiff, HeapPaths, HeapReader, HeapReport, Retained};
use nettrace_analysis::report::{
    Activities, ActivitiesReport, ActivityRow, Alloc, Contention, Counters, Exceptions, Gc, GcKind,
    Http, HttpDirection, LogLevel, LogRow, Logs, ObjectKind, Report, ReportPass, RequestStep, Sql,
    SqlReport, StepKind, TopNOptions, TreeOptions,
};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn reported<R: Report>(name: &str, report: R) -> R::Output {
    let trace = corpus::web(name);
    let mut pass = ReportPass::new(report);
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

/// Returns the numbers of the place that ran most commands with a statement that contains a text.
fn place(report: &SqlReport, text: &str) -> (u64, u64, u64) {
    let row = report.statements.iter().find(|row| row.text.contains(text)).unwrap();
    let place = &row.places[0];
    (place.count, place.units, place.most_in_one)
}

#[test]
fn each_command_is_counted_once_with_what_ran_it() {
    assert_commands_are_counted_once("dt-diag");
}

fn assert_commands_are_counted_once(name: &str) {
    let report = reported(name, Sql::default());
    assert_eq!((report.count, report.different, report.errors), (127, 4, 0), "{name}");
    assert_eq!(report.durations.count, 127);
    let counts: Vec<u64> = report.requests.iter().map(|row| row.commands).collect();
    assert_eq!(counts, [110, 12, 5], "{name}");
    let most = &report.requests[0];
    assert_eq!((most.units, most.most_in_one, most.statements), (10, 11, 2), "{name}");
    assert_eq!(place(&report, "\"CustomerId\" = @"), (100, 10, 10), "{name}");
    assert_eq!(place(&report, "FROM \"Customers\""), (10, 10, 1), "{name}");
    assert_eq!(place(&report, "WHERE \"o\".\"Id\" = @id"), (12, 12, 1), "{name}");
    assert_eq!(place(&report, "FROM \"Products\""), (5, 5, 1), "{name}");
    let is_one_line =
        |row: &nettrace_analysis::report::SqlStatement| !row.text.contains(char::is_control);
    assert!(report.statements.iter().all(is_one_line));
}

/// Counts of the client for a path: requests, requests by status, and the longest in ms. Numbers in
/// paths are `#`.
struct Counted {
    count: u64,
    statuses: BTreeMap<i64, u64>,
    max_ms: f64,
    mean_ms: f64,
}

/// Returns the counts of a recording's clients and runtime.
pub(crate) fn truth(name: &str) -> serde_json::Value {
    serde_json::from_slice(&corpus::web_truth(name)).unwrap()
}

fn counted(name: &str) -> BTreeMap<String, Counted> {
    let truth = truth(name);
    let mut paths: BTreeMap<String, Counted> = BTreeMap::new();
    for (path, row) in truth["truth"].as_object().unwrap() {
        let path = path.replace("{i}", "#").replace("999", "#");
        let all = paths.entry(path).or_insert_with(|| Counted {
            count: 0,
            statuses: BTreeMap::new(),
            max_ms: 0.0,
            mean_ms: row["mean_ms"].as_f64().unwrap(),
        });
        all.count += row["count"].as_u64().unwrap();
        all.max_ms = all.max_ms.max(row["max_ms"].as_f64().unwrap());
        for (status, count) in row["status"].as_object().unwrap() {
            *all.statuses.entry(status.parse().unwrap()).or_default() += count.as_u64().unwrap();
        }
    }
    paths
}

fn incoming(report: &ActivitiesReport) -> Vec<&ActivityRow> {
    report.activities.iter().filter(|row| row.name.direction == Some(HttpDirection::In)).collect()
}

#[test]
fn each_request_is_counted_once_with_the_clients_count_and_time() {
    assert_requests_are_counted_once("dt-diag", 118, true);
}

fn assert_requests_are_counted_once(name: &str, all: u64, has_statuses: bool) {
    let report = reported(name, Http::default());
    let rows = incoming(&report);
    let started: u64 = rows.iter().map(|row| row.started).sum();
    let stopped: u64 = rows.iter().map(|row| row.stopped).sum();
    assert_eq!((started, stopped), (all, all), "{name}");
    assert_eq!(report.stops_without_start, 0, "{name}");
    for (path, truth) in counted(name) {
        let Some(row) = rows.iter().find(|row| row.name.to_string() == format!("in GET {path}"))
        else {
            panic!("{name}: no {path}");
        };
        // The recorder sends one more request to /stat.
        let more = u64::from(path == "/stat" && row.started > truth.count);
        assert_eq!((row.started, row.nested), (truth.count + more, 0), "{name} {path}");
        let max_ms = row.durations.max_ns as f64 / 1e6;
        // The server's stop may come after the client has the answer.
        let longest = truth.max_ms + 1.0;
        assert!(more > 0 || max_ms <= longest, "{name} {path}: {max_ms} {longest}");
        if path == "/checkout" || path == "/grpc" {
            let mean_ms = row.durations.mean_ns as f64 / 1e6;
            let off = (mean_ms - truth.mean_ms).abs();
            assert!(off <= 3.0_f64.max(truth.mean_ms * 0.05), "{name} {path}: {mean_ms}");
        }
        if has_statuses {
            let statuses: BTreeMap<i64, u64> =
                row.statuses.iter().map(|status| (status.status, status.count)).collect();
            assert_eq!(statuses, truth.statuses, "{name} {path}");
        }
    }
}

#[test]
fn a_span_that_a_listener_reports_too_is_one_activity() {
    let report = reported("dt-diag", Activities::default());
    let row = |end: &str| {
        let row = report.activities.iter().find(|row| row.name.target.ends_with(end)).unwrap();
        (row.started, row.stopped)
    };
    assert_eq!(row("HttpRequestIn"), (118, 118));
    assert_eq!(row("HttpRequestOut"), (15, 15));
    assert_eq!(row("Command"), (127, 127));
    assert_eq!(report.stops_without_start, 0);
}

#[test]
fn commands_are_those_of_their_requests_where_these_are_recorded() {
    let report = reported("dt-diag", Sql::default());
    let names: Vec<_> =
        report.requests.iter().map(|row| (row.name.as_str(), row.is_request)).collect();
    let expected = [("GET /nplus1", true), ("GET /orders/#", true), ("GET /api/products", true)];
    assert_eq!(names, expected);
}

/// Returns the values of `key=` in a message's scopes.
fn of_scope<'m>(message: &'m LogRow, key: &str) -> Vec<&'m str> {
    let words = message.scopes.iter().flat_map(|scope| scope.split(' '));
    words.filter_map(|word| word.strip_prefix(key)?.strip_prefix('=')).collect()
}

#[test]
fn structured_messages_have_template_arguments_event_id_and_exception() {
    let report = reported("nt-logs-kw2", Logs::default());
    assert_eq!(report.count, 13);
    let of = |logger: &'static str| report.messages.iter().filter(move |row| row.logger == logger);
    let [billing, order, ticker] =
        ["Shop.Billing", "Shop.Order", "Shop.Ticker"].map(|logger| of(logger).count());
    assert_eq!((billing, order, ticker), (9, 2, 2));
    let charged = of("Shop.Billing").next().unwrap();
    assert_eq!(charged.event, "100");
    assert_eq!(charged.template.as_deref(), Some("Charging {Amount} {Currency} for {InvoiceId}"));
    assert_eq!(charged.message, "Charging 12.5 EUR for 1");
    let arguments = r#"{"Amount":"12.5","Currency":"EUR","InvoiceId":"1"}"#;
    assert_eq!(charged.arguments.as_deref(), Some(arguments));
    let scopes: Vec<&str> = charged.scopes.iter().map(|scope| &**scope).collect();
    assert_eq!(scopes, ["InvoiceId=1"], "the dictionary's scope is empty");
    let failed = of("Shop.Billing").find(|row| row.level == LogLevel::Error).unwrap();
    assert_eq!(failed.event, "500 ChargeFailed");
    let exception = failed.exception.as_deref().unwrap();
    assert!(exception.starts_with("Shop.ShopException: card declined\n   at "), "{exception}");
    let templates: Vec<_> =
        report.templates.iter().map(|row| (row.template.as_str(), row.count)).collect();
    assert!(templates.contains(&("Card of {Customer} expires soon", 3)), "{templates:?}");
}

/// Returns subject and sentence of each finding, most important first.
pub(crate) fn findings(name: &str) -> Vec<(String, String)> {
    let trace = corpus::web(name);
    let bytes = trace.bytes();
    let mut pass = ReportPass::new(Summary::default());
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let found = pass.finish().output.findings;
    found.into_iter().map(|finding| (finding.about().to_owned(), finding.text())).collect()
}

/// Returns rank (from 1) and sentence of the first finding about a subject.
#[track_caller]
pub(crate) fn rank<'f>(found: &'f [(String, String)], about: &[&str]) -> (usize, &'f str) {
    let place = found.iter().position(|(it, _)| about.contains(&it.as_str()));
    let place = place.unwrap_or_else(|| panic!("no {about:?}: {found:#?}"));
    (place + 1, &found[place].1)
}

#[test]
fn problems_of_requests_that_are_recorded_whole_are_found() {
    assert_the_repeated_query_is_found("dt-diag");
    assert_the_slow_call_and_what_failed_are_found("dt-diag");
}

fn assert_the_repeated_query_is_found(name: &str) {
    let found = findings(name);
    let (place, text) = rank(&found, &["repeated_query"]);
    assert!(place <= 2 && text.starts_with("100 SQL commands are one"), "{name}: {found:#?}");
    assert!(text.contains("10 in each of 10 ") && text.contains("= @"), "{name}: {text}");
}

fn assert_the_slow_call_and_what_failed_are_found(name: &str) {
    let found = findings(name);
    let (_, text) = rank(&found, &["slow_call"]);
    assert!(text.starts_with("5 requests GET /checkout took 20"), "{name}: {text}");
    assert!(text.contains("/downstream of http://127.0.0.1:5210"), "{name}: {text}");
    let (_, text) = rank(&found, &["requests"]);
    assert!(text.starts_with("3 of 118 requests failed: GET /boom 3×"), "{name}: {text}");
}

/// Returns the steps and the duration of the slowest request of a path.
fn slowest(name: &str, path: &str) -> (Vec<RequestStep>, u64) {
    let report = reported(name, Http::from(Activities::default().top(500)));
    let row = report.slowest.into_iter().find(|row| row.name.to_string() == path).unwrap();
    let id = row.id.unwrap();
    let inside = reported(name, Http::from(Activities::default().events_of(&id)));
    (inside.steps, row.duration_ns)
}

fn kinds(steps: &[RequestStep], kind: StepKind) -> usize {
    steps.iter().filter(|it| it.kind == kind).count()
}

#[test]
fn what_happened_inside_a_request_is_on_one_scale_with_it() {
    let (steps, nanos) = slowest("dt-diag", "in GET /nplus1");
    assert_eq!((steps.len(), kinds(&steps, StepKind::Sql)), (12, 11), "{steps:#?}");
    assert_eq!((steps[0].text.as_str(), steps[0].duration_ns), ("GET /nplus1  200", Some(nanos)));
    let end = steps[0].start_ns + i64::try_from(nanos).unwrap();
    for step in &steps[1..] {
        assert!(step.depth == 1 && step.start_ns >= steps[0].start_ns && step.start_ns <= end);
        assert!(step.text.starts_with("SELECT "), "{step:?}");
    }
    let (steps, _) = slowest("dt-diag", "in GET /checkout");
    let shown: Vec<_> = steps.iter().map(|it| (it.kind, it.depth, it.text.as_str())).collect();
    let expected = [
        (StepKind::Request, 0, "GET /checkout  200"),
        (StepKind::Call, 1, "GET http://127.0.0.1:5210/downstream  200"),
        (StepKind::Request, 2, "GET /downstream  200"),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn rows_of_requests_say_what_they_called_and_ran() {
    let report = reported("dt-diag", Http::default());
    let rows = incoming(&report);
    let row = |path: &str| {
        rows.iter().find(|row| row.name.to_string() == format!("in GET {path}")).unwrap()
    };
    let checkout = &row("/checkout").calls;
    assert_eq!((checkout.len(), checkout[0].count), (1, 5));
    assert!(checkout[0].total_ns > row("/checkout").durations.total_ns * 9 / 10);
    let commands = ["/nplus1", "/orders/#", "/api/products", "/hello"];
    assert_eq!(commands.map(|path| row(path).sql_commands), [110, 12, 5, 0]);
    assert!(row("/nplus1").sql_ns > 0);
}

/// Asserts that each call to a server of the process names the request that served it.
fn assert_calls_name_their_servers(name: &str, served_calls: usize) {
    let report = reported(name, Http::default().top(1000));
    let calls = report.slowest.iter().filter(|row| row.name.direction == Some(HttpDirection::Out));
    let (served, others): (Vec<_>, Vec<_>) = calls.partition(|row| !row.served_by.is_empty());
    assert_eq!((served.len(), others.len()), (served_calls, 3), "{name}");
    assert!(others.iter().all(|row| row.name.target.ends_with("http://127.0.0.1:9/nothing")));
    let mut keys = BTreeSet::new();
    for call in served {
        let [server] = call.served_by.as_slice() else { panic!("{call:?}") };
        let path = |name: &str| name.rsplit_once(":52").map(|(_, rest)| rest[2..].to_owned());
        assert_eq!(
            path(&call.name.to_string()).as_deref(),
            server.name.target.split(' ').nth(1),
            "{call:?}"
        );
        let took = server.duration_ns.unwrap();
        // A call of a stream is over when its headers have come.
        let is_shorter = took < call.duration_ns || call.name.target.ends_with("/Stream");
        assert!(call.start_ns < server.start_ns && is_shorter, "{call:?}");
        let rows = report.slowest.iter();
        let mut rows = rows.filter(|row| row.id == server.id && row.key == server.key);
        let row = rows.next().unwrap();
        assert_eq!((&row.name, row.duration_ns), (&server.name, took));
        assert!(rows.next().is_none() && keys.insert((server.id.clone(), server.key.clone())));
    }
}

#[test]
fn a_call_to_a_server_of_the_process_names_the_request_that_served_it() {
    assert_calls_name_their_servers("dt-diag", 12);
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_call_to_a_server_of_the_process_names_its_request_though_ids_repeat() {
        assert_calls_name_their_servers("net11-full", 12);
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn stops_without_an_id_end_their_activities_as_they_end_their_requests() {
        let report = reported("net11-full", Activities::default());
        for row in report.activities.iter().filter(|row| row.name.target.ends_with("/Request")) {
            assert_eq!(row.started, row.stopped, "{row:?}");
        }
        assert_eq!((report.started, report.stopped, report.stops_without_start), (1067, 1067, 0));
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn each_command_is_counted_once_where_only_the_database_is_recorded() {
        assert_commands_are_counted_once("dt-database");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn each_request_is_counted_once_however_it_is_recorded() {
        for (name, all) in [("dt-net", 118), ("dt-counters", 118), ("dt-noinline", 289)] {
            assert_requests_are_counted_once(name, all, false);
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn requests_that_go_out_have_their_own_stops_and_no_answer_is_minus_one() {
        for name in ["dt-net", "dt-counters"] {
            let report = reported(name, Http::default());
            let out: Vec<&ActivityRow> = report
                .activities
                .iter()
                .filter(|row| row.name.direction == Some(HttpDirection::Out))
                .collect();
            let counts = |row: &&ActivityRow| {
                let statuses =
                    row.statuses.iter().map(|it| (it.status, it.count)).collect::<Vec<_>>();
                (row.started, row.stopped, statuses)
            };
            let mut found: Vec<_> = out.iter().map(counts).collect();
            found.sort();
            let expected = [
                (2, 2, vec![(200, 2)]),
                (3, 3, vec![(-1, 3)]),
                (5, 5, vec![(200, 5)]),
                (5, 5, vec![(200, 5)]),
            ];
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn messages_of_parallel_requests_have_the_scopes_of_their_own_request() {
        for name in ["dt-logsconc", "dt-logsconc-tpl"] {
            let report = reported(name, Logs::default());
            assert_eq!(report.count, 794, "{name}");
            for message in &report.messages {
                let requests = of_scope(message, "RequestId");
                let is_ticker = message.logger == "Shop.Ticker";
                assert_eq!(requests.len(), usize::from(!is_ticker), "{name}: {message:?}");
                assert_eq!(message.request.is_some(), !is_ticker, "{name}");
                assert!(message.scopes.iter().all(|scope| !scope.is_empty()));
                let path = of_scope(message, "RequestPath");
                // The message has the URL.
                if let Some((_, url)) = message.message.split_once("http://127.0.0.1:5210") {
                    let own = url.split([' ', '?']).next().unwrap();
                    if message.logger == "Microsoft.AspNetCore.Hosting.Diagnostics" {
                        assert_eq!(path, [own], "{name}: {message:?}");
                    }
                }
                if message.logger == "Shop.Billing" {
                    let invoice = of_scope(message, "InvoiceId");
                    assert_eq!(path, [format!("/logs/{}", invoice[0])], "{name}: {message:?}");
                    let is_its = |word: &str| word == invoice[0];
                    let says = message.message.split(' ').any(is_its);
                    assert!(says || message.level == LogLevel::Warning, "{name}: {message:?}");
                }
            }
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn messages_are_counted_by_level() {
        let report = reported("dt-logs", Logs::default());
        let levels: Vec<_> = report.levels.iter().map(|row| (row.level, row.count)).collect();
        let expected = [
            (LogLevel::Debug, 27),
            (LogLevel::Information, 438),
            (LogLevel::Warning, 10),
            (LogLevel::Error, 16),
        ];
        assert_eq!((report.count, levels), (491, expected.to_vec()));
        let sql = reported("dt-logs", Sql::default());
        let requests: Vec<_> =
            sql.requests.iter().map(|row| (row.name.as_str(), row.units, row.commands)).collect();
        let expected =
            [("GET /nplus1", 10, 110), ("GET /orders/#", 12, 12), ("GET /api/products", 5, 5)];
        assert_eq!((sql.count, sql.different, requests), (127, 4, expected.to_vec()));
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn counters_know_all_values_that_were_measured_and_how_much_they_grew() {
        let report = reported("dt-counters", Counters::default());
        let series = |name: &str| report.series.iter().find(|series| series.name == name).unwrap();
        let basket = series("basket-size");
        assert_eq!((basket.values, basket.min, basket.mean, basket.max), (20, 1.0, 10.5, 20.0));
        assert_eq!(series("orders-placed").total, Some(20.0));
        let report = reported("nt-metrics", Counters::default());
        let of = |name: &str, country: &str| {
            let tags = |series: &&nettrace_analysis::report::CounterSeries| {
                series.name == name && series.tags.iter().any(|(_, value)| value == country)
            };
            report.series.iter().find(tags).unwrap()
        };
        let orders = ["de", "fr"].map(|country| of("shop.orders", country).total);
        assert_eq!(orders, [Some(20.0), Some(20.0)]);
        let [de, fr] = ["de", "fr"].map(|country| of("shop.basket.value", country));
        assert_eq!(
            [(de.values, de.sum), (fr.values, fr.sum)],
            [(10, Some(1100.0)), (10, Some(1000.0))]
        );
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_request_that_only_awaits_is_awaiting_and_an_idle_worker_is_not_the_request() {
        let report = reported("dt-noinline", Http::default());
        for (path, least) in [("GET /checkout", 97), ("GET /downstream", 97), ("GET /span/#", 90)] {
            let rows = incoming(&report);
            let row = rows.iter().find(|row| row.name.to_string() == format!("in {path}")).unwrap();
            let parts = row.parts;
            let share = parts.await_ns * 100 / parts.total_ns();
            assert!(share >= least && parts.waiting_ns == 0, "{path}: {parts:?}");
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn handlers_are_named_after_the_only_endpoint_that_they_serve() {
        let tree = reported("dt-noinline", TreeOptions::default());
        let shown = |name: &str| -> BTreeSet<String> {
            let nodes = tree.nodes.iter().filter(|node| node.name.contains(name));
            nodes.map(|node| node.shown().to_owned()).collect()
        };
        let lambda = shown("shop!Shop.Program.Main.lambda_0_8");
        assert_eq!(Vec::from_iter(lambda), ["GET /nplus1 (shop!Shop.Program.Main.lambda_0_8)"]);
        let compiled = shown("dynamicClass.lambda_method142");
        assert_eq!(Vec::from_iter(compiled), ["GET /regex (dynamicClass.lambda_method142)"]);
        // Methods that all requests call and methods with a name have no endpoint.
        let is_handler = |name: &str| name.contains("lambda_");
        assert!(tree.nodes.iter().all(|it| it.endpoint.is_none() || is_handler(&it.name)));
        let mut options = TopNOptions::default();
        options.is_inclusive = true;
        let top = reported("dt-noinline", options);
        let first = top.methods.iter().find_map(|row| row.endpoint.as_deref());
        assert_eq!(first, Some("GET /regex"));
        // This trace of the same load has no requests.
        let tree = reported("dt-default", TreeOptions::default());
        assert!(tree.nodes.iter().all(|node| node.endpoint.is_none()));
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn planted_problems_are_the_first_that_stand_out() {
        for name in ["dt-locks", "net11-locks"] {
            let found = findings(name);
            let (place, text) = rank(&found, &["contention"]);
            assert!(place <= 2 && text.contains("ReserveUnderLock"), "{name}: {found:#?}");
            assert!(text.contains("held for 50."), "{name}: {text}");
            let (place, text) = rank(&found, &["starvation"]);
            assert!(place <= 2 && text.contains("its threads grew from 3 to "), "{name}: {text}");
        }
        let found = findings("dt-gcverbose");
        let (place, text) = rank(&found, &["gc"]);
        assert!(place <= 2 && text.starts_with("9 collections"), "{found:#?}");
        let large = "7 of them of generation 2, because large objects were allocated: 29.3 MiB in 100 \
                 allocations of up to 300 KiB, most of it System.Byte[]";
        assert!(text.contains(large), "{text}");
        for name in ["dt-database", "dt-logs"] {
            assert_the_repeated_query_is_found(name);
        }
        assert_the_slow_call_and_what_failed_are_found("dt-net");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn of_a_whole_load_all_that_was_planted_stands_out_and_nothing_of_its_repair() {
        for name in ["dt-default", "dt-noinline"] {
            let found = findings(name);
            assert!(found.len() <= 8);
            let (_, sync) = rank(&found, &["starvation"]);
            let grew = match name {
                "dt-default" => "its threads grew from 3 to 17",
                _ => "its threads grew from 5 to 16",
            };
            assert!(sync.contains(grew) && sync.contains("in Task."), "{name}: {sync}");
            let (_, lock) = rank(&found, &["contention", "lock_waits"]);
            assert!(lock.contains("Shop.Inventory.ReserveUnderLock"), "{name}: {lock}");
            let (_, regex) = rank(&found, &["hottest_method"]);
            assert!(regex.contains("Regex."), "{name}: {regex}");
            let (_, thrown) = rank(&found, &["exceptions"]);
            assert!(thrown.starts_with("138 exceptions"), "{name}: {thrown}");
            let (_, large) = rank(&found, &["gc"]);
            assert!(
                large.contains("large objects") && large.contains("gc-verbose"),
                "{name}: {large}"
            );
        }
        let found = findings("dt-good");
        let (_, thrown) = rank(&found, &["exceptions"]);
        assert!(thrown.starts_with("58 exceptions"), "{thrown}");
        // A pool that was not starved is a good sign.
        let bad: Vec<_> = found.iter().filter(|(about, _)| about != "no_starvation").collect();
        assert_eq!(bad.len(), 1, "{found:#?}");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn exceptions_collections_and_locks_are_counted_exactly() {
        for (name, all, types) in [
            ("dt-default", 138, [59, 36, 20, 20, 3]),
            ("dt-noinline", 138, [59, 36, 20, 20, 3]),
            ("dt-good", 58, [36, 19, 3, 0, 0]),
        ] {
            let report = reported(name, Exceptions::default());
            let mut counts: Vec<u64> = report.types.iter().map(|row| row.count).collect();
            counts.resize(5, 0);
            assert_eq!((report.count, counts), (all, types.to_vec()), "{name}");
        }
        for (name, all, induced) in [
            ("dt-default", 2, 0),
            ("dt-good", 0, 0),
            ("dt-gcverbose", 9, 2),
            ("dt-gccollect", 9, 2),
        ] {
            let report = reported(name, Gc::default());
            assert_eq!((report.totals.count, report.totals.induced), (all, induced), "{name}");
        }
        for (name, all) in [("dt-locks", 16), ("net11-locks", 17), ("dt-noinline", 32)] {
            let report = reported(name, Contention::default());
            assert_eq!((report.totals.stopped, report.open.len()), (all, 0), "{name}");
            let lock = &report.locks[0];
            let held_ms = lock.held.p50_ns as f64 / 1e6;
            assert!((50.0..52.0).contains(&held_ms), "{name}: {held_ms}");
        }
        let report = reported("dt-noinline", Contention::default());
        let did = &report.locks[0].owner_stacks[0];
        assert!(did.frames[0].text.contains("Thread.Sleep"), "{did:?}");
        assert!(did.frames[1].text.contains("Shop.Inventory.ReserveUnderLock"), "{did:?}");
        let report = reported("dt-gcverbose", Alloc::default());
        let large =
            report.sources[0].kinds.iter().find(|row| row.kind == ObjectKind::Large).unwrap();
        // Allocations between two ticks count with the later tick.
        let off = large.bytes.abs_diff(100 * (300 * 1024 + 24));
        assert!(large.events == 100 && off < 1_000, "{large:?}");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn each_exception_inside_a_request_is_a_step_of_it() {
        for (path, thrown) in [("in GET /boom", 3), ("in GET /refused", 13)] {
            let (steps, _) = slowest("dt-noinline", path);
            assert_eq!(kinds(&steps, StepKind::Exception), thrown, "{path}: {steps:#?}");
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn what_counters_and_instruments_ended_with_is_what_the_clients_did() {
        let report = reported("dt-counters", Counters::default());
        let last = |provider: &str, name: &str| {
            let series = report.series.iter().find(|it| it.provider == provider && it.name == name);
            series.unwrap().last
        };
        let hosting = "Microsoft.AspNetCore.Hosting";
        assert_eq!(
            (last(hosting, "total-requests"), last(hosting, "failed-requests")),
            (118.0, 3.0)
        );
        let http = "System.Net.Http";
        assert_eq!((last(http, "requests-started"), last(http, "requests-failed")), (15.0, 3.0));
        let report = reported("nt-metrics", Counters::default());
        let open = report.series.iter().find(|series| series.name == "shop.open").unwrap();
        assert_eq!(open.last, 20.0);
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn operations_of_the_programs_own_source_are_activities() {
        let report = reported("dt-net", Activities::default());
        let row =
            report.activities.iter().find(|row| row.name.target == "Shop-Events/Checkout").unwrap();
        assert_eq!((row.started, row.stopped), (20, 20));
        let median_ms = row.durations.p50_ns as f64 / 1e6;
        assert!((5.0..5.5).contains(&median_ms), "{median_ms}");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn collections_are_those_of_the_reference_reader() {
        let shared = corpus::shared();
        for name in ["dt-gcverbose", "dt-gccollect"] {
            let report = reported(name, Gc::default());
            let path = shared.join(format!("web/golden/{name}.gc.ndjson"));
            let text = std::fs::read_to_string(path).unwrap();
            let golden: Vec<serde_json::Value> =
                text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let golden = golden.iter().filter(|row| row["number"].is_u64()).map(|row| {
                let pause_us = row["pause_ms"].as_str().unwrap().parse::<f64>().unwrap() * 1e3;
                let number = |name: &str| row[name].as_u64().unwrap();
                // The reference reader ends the first pause of a background collection, if that is
                // the first collection, with the suspension: it says 0.038 ms instead of 12.066 ms.
                let is_known = row["type"] != "BackgroundGC";
                let pause_us = if is_known { pause_us.round() } else { 0.0 };
                (number("number"), number("generation"), pause_us)
            });
            let ours = report.collections.iter().map(|row| {
                let is_known = row.kind != GcKind::Background;
                let pause_us = if is_known { (row.pause_ns as f64 / 1e3).round() } else { 0.0 };
                (u64::from(row.number), u64::from(row.generation), pause_us)
            });
            assert_eq!(ours.collect::<Vec<_>>(), golden.collect::<Vec<_>>(), "{name}");
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_leak_is_the_first_that_two_dumps_say() {
        let dump = |name: &str| {
            let trace = corpus::web(name);
            let bytes = trace.bytes();
            let mut heap = HeapReader::default();
            assert!(heap.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
            let dumps = heap.finish();
            HeapReport::new(&dumps, &dumps[0], &Retained::from_dump(&dumps[0]))
        };
        let (old, new) = (dump("heap1"), dump("heap2"));
        for (report, count) in [(&old, "1,000"), (&new, "3,000")] {
            let first = &report.sentences()[0];
            let held = format!("static All: a List<LeakedSession> of {count} entries");
            assert!(first.contains(&held), "{first}");
        }
        let sentences = HeapDiff::new(&old, &new).sentences();
        let leak = "static All: a List<LeakedSession> of 3,000 entries, 1,000 before";
        assert!(sentences[0].contains(leak), "{sentences:?}");
        assert!(sentences[1].starts_with("2,000 more LeakedSession"), "{sentences:?}");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn ways_to_objects_of_one_pattern_keep_alive_what_each_holds() {
        let trace = corpus::web("heap1");
        let bytes = trace.bytes();
        let mut heap = HeapReader::default();
        assert!(heap.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
        let dumps = heap.finish();
        let (dump, retained) = (&dumps[0], Retained::from_dump(&dumps[0]));
        let is_leaked = |object| dump.type_name(object).contains("Leaked");
        let groups = HeapPaths::from_dump(dump).groups(dump, &retained, is_leaked).groups;
        let first = &groups[0];
        assert_eq!((first.count, first.root_name.as_deref()), (1_000, Some("All")));
        // Each session keeps its object, its bytes and its name alive.
        assert!(first.retained_bytes > 1_000 * (32 + 1_024), "{first:?}");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_web_application_without_requests_says_what_records_them() {
        for (name, is_lacking) in [("dt-default", true), ("dt-locks", true), ("dt-noinline", false)]
        {
            let report = reported(name, Summary::default());
            let advice = report.advice.map_or("", |advice| advice.text());
            assert_eq!(advice.contains("--profile web"), is_lacking, "{name}: {advice}");
        }
    }
}
