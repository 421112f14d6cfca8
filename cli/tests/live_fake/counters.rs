//! `nettrace counters` against the fake runtime, which streams recorded sessions.

use super::common::Json;
use super::common::command;
use super::{
    Folder, address, ids, metrics, on, ran, signal, start, starts, streaming, up_to_the_end_mark,
    wait_until, without_events,
};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime};
use nettrace_testdata::corpus;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};

/// Creates a process that streams `bytes` to one session; other sessions are empty.
fn whole(bytes: &[u8]) -> FakeRuntime {
    let beside = Some(without_events(bytes));
    FakeRuntime::start(FakeConfig { beside, ..streaming(bytes) }).unwrap()
}

/// Values by provider, name with tags, and counter type.
type SeriesValues = BTreeMap<(String, String, String), Vec<f64>>;

fn rows(csv: &str) -> SeriesValues {
    let mut rows = SeriesValues::new();
    for line in csv.lines().skip(1) {
        let mut fields = line.splitn(3, ',').skip(1);
        let (provider, rest) = (fields.next().unwrap(), fields.next().unwrap());
        let (rest, value) = rest.rsplit_once(',').unwrap();
        let (name, kind) = rest.rsplit_once(',').unwrap();
        let key = (provider.to_owned(), name.trim_matches('"').to_owned(), kind.to_owned());
        rows.entry(key).or_default().push(value.parse().unwrap());
    }
    rows
}

#[test]
fn a_shared_session_is_asked_for_with_the_settings_of_the_command_line() {
    let folder = Folder::new();
    let fake = whole(&metrics());
    let list = r"System.Runtime[cpu-usage,gc-heap-size],Other,EventCounters\Third";
    let words = ["counters", "--duration", "300ms", "--counters", list];
    let more = ["--refresh-interval", "5", "--maxTimeSeries", "77", "--max-histograms", "3"];
    let run = on(&fake, &folder, &[&words[..], &more].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let started = starts(&fake);
    let has = |text: &str, parts: &[&str]| {
        parts.iter().for_each(|part| assert!(text.contains(part), "{part}: {text}"));
    };
    // Metrics come first, and EventCounters have a session of their own.
    assert_eq!(started.len(), 2, "{started:?}");
    has(
        &started[0],
        &[
            "SessionId=SHARED",
            "ClientId=nettrace-",
            r"Metrics=System.Runtime\cpu-usage,System.Runtime\gc-heap-size,Other;",
            "RefreshInterval=5;",
            "MaxTimeSeries=77;",
            "MaxHistograms=3",
        ],
    );
    has(&started[1], &["System.Runtime", "EventCounterIntervalSec=5", "Third"]);
    assert!(!started[0].contains("EventCounterIntervalSec"), "{started:?}");
    assert!(!started[1].contains("Diagnostics.Metrics"), "{started:?}");
    assert_eq!((fake.session_count(), fake.stops().len()), (0, 2));
}

#[test]
fn metrics_and_event_counters_are_never_in_one_session_of_dotnet_8_to_10() {
    let folder = Folder::new();
    std::fs::write(
        folder.0.join("rules.toml"),
        "[[rule]]\nname = \"r\"\nwhen = \"Shop/orders > 1e9\"\n",
    )
    .unwrap();
    for (major, version, is_apart) in
        [(7, "7.0.20", false), (8, "8.0.31", true), (9, "9.0.8", true), (10, "10.0.12", true)]
    {
        let commands: [&[&str]; 5] = [
            &["counters", "--refresh-interval", "0.1"],
            &["counters", "--counters", "Shop"],
            &["discover"],
            &["collect", "-o", "out.nettrace", "--force", "--until", "Shop/orders > 1e9"],
            &["collect", "--rules", "rules.toml"],
        ];
        // Before .NET 9, instruments are published only for meters that were listed before.
        for words in &commands[usize::from(major < 9)..] {
            let bytes = metrics();
            let beside = Some(without_events(&bytes));
            let product_version = version.to_owned();
            let config = FakeConfig { major, product_version, beside, ..streaming(&bytes) };
            let fake = FakeRuntime::start(config).unwrap();
            let run = on(&fake, &folder, &[words, &["--duration", "300ms"][..]].concat());
            assert_eq!(run.code, Some(0), "{major} {words:?}: {}", run.stderr);
            let started = starts(&fake);
            let (metrics, counters) = ("System.Diagnostics.Metrics", "EventCounterIntervalSec");
            let has_both = |start: &String| start.contains(metrics) && start.contains(counters);
            assert_eq!(started.iter().any(has_both), !is_apart, "{words:?}: {started:?}");
            let first = |text: &str| started.iter().position(|start| start.contains(text)).unwrap();
            assert!(first(metrics) <= first(counters), "{major} {words:?}: {started:?}");
            assert_eq!(fake.session_count(), 0, "{major} {words:?}");
            // The counters of the runtime are instruments.
            let is_of_runtime = started[first(counters)].contains("System.Runtime");
            assert!(words[0] != "counters" || !is_of_runtime, "{started:?}");
        }
        let parted = folder.0.join("out.metrics.nettrace");
        assert_eq!(parted.exists(), is_apart, "{:?}", folder.names());
        let _ = std::fs::remove_file(parted);
    }
}

#[test]
fn a_recording_that_cannot_be_parted_is_refused_with_the_reason() {
    let folder = Folder::new();
    for words in [&["--rotate", "2x1MB"][..], &["-o", "-"]] {
        let fake = whole(&metrics());
        let words =
            [&["collect", "--until", "Shop/orders > 1", "--duration", "1s"], words].concat();
        let run = on(&fake, &folder, &words);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        run.assert_message("this version of .NET may block for ever if one session asks for");
        assert!(starts(&fake).is_empty() && folder.names().is_empty(), "{:?}", folder.names());
    }
}

#[test]
fn ndjson_has_event_times_and_rates_by_the_time_that_passed() {
    let folder = Folder::new();
    let fake = whole(&metrics());
    let words = ["counters", "--duration", "2s", "--format", "ndjson"];
    let run = on(&fake, &folder, &words);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let lines = run.lines();
    let orders = |line: &&Value| line["name"] == "orders" && line["tags"]["kind"] == "book";
    let orders: Vec<&Value> = lines.iter().filter(orders).collect();
    assert!(orders.len() >= 2, "{lines:?}");
    for pair in orders.windows(2) {
        let seconds =
            (pair[1]["ts_ns"].as_f64().unwrap() - pair[0]["ts_ns"].as_f64().unwrap()) / 1e9;
        let rate = pair[1]["rate_per_second"].as_f64().unwrap();
        let value = pair[1]["value"].as_f64().unwrap();
        assert!((rate * seconds - value).abs() < value * 0.02 + 0.1, "{rate} {seconds} {value}");
        // Times are the recording's.
        assert!((0.8..1.2).contains(&seconds), "{seconds}");
    }
    assert!(orders[0]["time"].text().ends_with('Z'));
    let mut times: Vec<i64> = lines.iter().map(|line| line["ts_ns"].as_i64().unwrap()).collect();
    assert!(times.len() > 50);
    times.dedup();
    assert!(times.is_sorted_by_key(|time| time / 1_000_000_000));
}

#[test]
fn json_is_the_document_of_the_report_and_openmetrics_has_the_last_values() {
    let folder = Folder::new();
    std::fs::write(folder.0.join("whole.nettrace"), metrics()).unwrap();
    let report = ran(&["report", "counters", "whole.nettrace", "--json"], &folder).json();
    let fake = whole(&metrics());
    let run = on(&fake, &folder, &["counters", "--duration", "2s", "--format", "json"]);
    let live = run.json();
    assert_eq!(live["start_unix_ns"], report["start_unix_ns"]);
    assert_eq!(live["process"], "fake");
    for series in live["series"].list() {
        let same = |other: &&Value| {
            ["provider", "name", "kind", "tags"].iter().all(|key| other[*key] == series[*key])
        };
        let other = report["series"].list().iter().find(same).unwrap();
        for key in ["count", "min", "mean", "max", "last", "points"] {
            assert_eq!(series[key], other[key], "{key} of {}", series["name"]);
        }
    }
    let words = ["counters", "--duration", "2s", "--format", "openmetrics", "-o", "out.prom"];
    let run = on(&fake, &folder, &words);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let text = std::fs::read_to_string(folder.0.join("out.prom")).unwrap();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let orders = text.lines().filter(|line| line.starts_with("orders_total{")).count();
    assert_eq!(orders, 2, "{text}");
    // No other file is left.
    assert_eq!(folder.names(), ["out.prom", "whole.nettrace"]);
}

#[cfg(unix)]
#[test]
fn lines_are_shown_as_they_come_and_a_signal_ends_them_and_the_session() {
    let bytes = metrics();
    let beside = Some(without_events(&bytes));
    let fake = FakeRuntime::start(FakeConfig { beside, ..up_to_the_end_mark(&bytes) }).unwrap();
    let port = address(&fake);
    let mut child = start(&mut command(&["counters", "--port", &port]));
    let lines = super::lines_of(&mut child);
    let (_, line) = lines.recv().unwrap();
    assert!(line.starts_with("20") && line.contains("  Nettrace.Workload  "), "{line}");
    wait_until("the sessions to be counted", || fake.session_count() == 2);
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(fake.stops().len(), 2);
}

/// Program that scrapes twice, as Prometheus does, and prints the number of samples of each scrape.
const SCRAPE: &str = "
import sys, urllib.request
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for _ in range(2):
    request = urllib.request.Request(sys.argv[1], headers={'Accept': 'application/openmetrics-text'})
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert answer.headers['Content-Type'].startswith('application/openmetrics-text; version=1.0.0')
        families = list(text_string_to_metric_families(answer.read().decode()))
    orders = [s for f in families if f.name == 'orders' for s in f.samples]
    assert {s.labels['kind'] for s in orders} == {'book', 't\\u00eb\\u00e4'}, orders
    summary = [f for f in families if f.type == 'summary'][0]
    assert {'0.5', '0.95', '0.99'} <= {s.labels.get('quantile') for s in summary.samples}
    print(sum(len(f.samples) for f in families))
";

#[test]
fn threads_and_queue_of_the_pool_are_shown_as_levels() {
    let folder = Folder::new();
    let run = on(&whole(&metrics()), &folder, &["counters", "--duration", "1s"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for line in [
        "dotnet.thread_pool.thread.count  0 {thread}",
        "dotnet.thread_pool.queue.length  0 {work_item}",
    ] {
        assert!(
            run.text().lines().any(|text| text.trim_end().ends_with(line)),
            "{line}: {}",
            run.text()
        );
    }
    let rate = "dotnet.thread_pool.work_item.count  0 {work_item}/s";
    assert!(run.text().contains(rate), "{}", run.text());
}

#[test]
fn while_values_are_served_nothing_is_written_unless_it_is_asked_for() {
    let folder = Folder::new();
    for (more, is_silent) in [(&[][..], true), (&["--format", "csv"], false)] {
        let fake = whole(&metrics());
        let words = ["counters", "--openmetrics-listen", "0", "--duration", "1s"];
        let run = on(&fake, &folder, &[&words[..], more].concat());
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert_eq!(run.stdout.is_empty(), is_silent, "{}", run.text());
    }
}

/// Creates a .NET 8 process that is suspended at startup and connects to this port.
fn waiting(port: &str) -> FakeRuntime {
    let config = FakeConfig {
        major: 8,
        product_version: "8.0.31".to_owned(),
        suspended: true,
        // The command line names no assembly until the resume.
        command_line: "/app/fake".to_owned(),
        ..streaming(&metrics())
    };
    FakeRuntime::connect_to(config, nettrace_ipc::Endpoint::socket(port)).unwrap()
}

#[cfg(unix)]
#[test]
fn no_session_is_stopped_in_a_process_that_still_waits_at_its_start() {
    for more in [&[][..], &["--counters", "Nothing.Like*,Nor.This*"]] {
        let folder = Folder::new();
        let port = folder.path("port");
        let words = ["counters", "--port", &port, "--duration", "500ms", "--patience", "120s"];
        let child = start(&mut command(&[&words[..], more].concat()));
        wait_until("the port", || std::path::Path::new(&port).exists());
        let fake = waiting(&port);
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{message}");
        // A .NET 8 runtime may crash later if a session is stopped before the resume.
        let ids = ids(&fake);
        let resume = ids.iter().position(|id| *id == (4, 1)).expect("it is resumed");
        let stop = ids.iter().position(|id| *id == (2, 1)).expect("the session is stopped");
        assert!(resume < stop, "{ids:?}");
        let note = "no provider or meter matches Nothing.Like*, Nor.This* yet";
        assert_eq!(message.contains(note), !more.is_empty(), "{message}");
    }
}

#[test]
fn unknown_counter_names_are_reported_with_the_nearest_ones() {
    let folder = Folder::new();
    let list = r"Nettrace.Workload[orders,oders],System.Runtme,EventCounters\System.Runtime[cpu-*]";
    let fake = whole(&metrics());
    let run = on(&fake, &folder, &["counters", "--duration", "2s", "--counters", list]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.text().contains("orders"), "{}", run.text());
    for message in [
        ": Nettrace.Workload[oders] had no value; did you mean orders?",
        ": no counter of System.Runtme had a value; did you mean System.Runtime?",
    ] {
        assert_eq!(run.stderr.matches(message).count(), 1, "{}", run.stderr);
    }
    assert!(!run.stderr.contains("[orders]"), "{}", run.stderr);
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn the_csv_of_a_session_has_the_columns_and_values_of_dotnet_counters() {
        for (trace, golden) in corpus::recorded_beside_dotnet_counters() {
            let name = trace.name();
            let folder = Folder::new();
            let fake = whole(&trace.bytes());
            let words = ["counters", "--duration", "2s", "--format", "csv", "-o", "out.csv"];
            let run = on(&fake, &folder, &words);
            assert_eq!((run.code, &*run.stderr), (Some(0), ""));
            let csv = std::fs::read_to_string(folder.0.join("out.csv")).unwrap();
            assert_eq!(csv.lines().next(), golden.lines().next());
            let (ours, golden) = (rows(&csv), rows(&golden));
            assert!(golden.len() > 20, "{name}");
            for (key, values) in golden {
                let ours = ours.get(&key).unwrap_or_else(|| panic!("{name}: no {key:?}"));
                assert!(
                    ours.windows(values.len()).any(|part| part == values),
                    "{name} {key:?}: {ours:?} {values:?}"
                );
            }
        }
    }
}

mod with_prometheus {
    use super::*;

    #[cfg(unix)]
    #[test]
    #[ignore = "needs prometheus_client"]
    fn prometheus_reads_what_is_served() {
        let bytes = metrics();
        let beside = Some(without_events(&bytes));
        let fake = FakeRuntime::start(FakeConfig { beside, ..up_to_the_end_mark(&bytes) }).unwrap();
        let port = address(&fake);
        let words =
            ["counters", "--port", &port, "--openmetrics-listen", "0", "--format", "ndjson"];
        let mut child = start(&mut command(&words));
        let mut message = String::new();
        let mut messages = std::io::BufReader::new(child.stderr.take().unwrap());
        std::io::BufRead::read_line(&mut messages, &mut message).unwrap();
        let address = message.split_whitespace().last().unwrap().to_owned();
        assert!(address.starts_with("http://127.0.0.1:"), "{message}");
        let lines = crate::lines_of(&mut child);
        lines.recv().unwrap();
        wait_until("a document with the values", || {
            let mut stream = std::net::TcpStream::connect(
                &address["http://".len()..address.len() - "/metrics".len()],
            )
            .unwrap();
            stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text.contains("orders_total{")
        });
        let client = crate::top().join("target/prometheus-client");
        let output = std::process::Command::new("python3")
            .args(["-c", SCRAPE, &address])
            .env("PYTHONPATH", client)
            .output()
            .expect("there is a python3");
        signal(&child, "INT");
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let counts: Vec<u32> = text.lines().map(|line| line.parse().unwrap()).collect();
        assert!(counts[0] > 30 && counts[0] == counts[1], "{counts:?}");
    }
}
