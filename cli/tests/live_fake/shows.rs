//! `nettrace watch --show`: rows for events that belong together, in recorded sessions.

use super::common::logging::{self, message, scope};
use super::common::{Json, Ran, command, file, nettrace};
use super::{Folder, PAUSES_ARE_NONE, address, ended, on, start, streaming, trace};
use nettrace_ipc::CommandId;
use nettrace_ipc::fake::{FakeConfig, FakeRuntime, Fault, FaultKind};
use nettrace_testdata::corpus;

/// Returns recordings of one program on two runtimes, and on four with `NETTRACE_SHARED`.
fn traces() -> impl Iterator<Item = &'static str> {
    let traces = [
        "net10-linux-x64/all.nettrace.gz",
        "net3.1-linux-x64/all.nettrace.gz",
        "net9-linux-x64/all.nettrace.gz",
        "net8-linux-x64/all.nettrace.gz",
    ];
    traces.into_iter().take(if corpus::shared_folder().is_some() { 4 } else { 2 })
}

/// Creates a process that dies at the end of its stream, which ends the command that reads it.
fn ending(bytes: &[u8]) -> FakeRuntime {
    let config = FakeConfig { stream: bytes.to_vec(), ..FakeConfig::default() };
    let fake = FakeRuntime::start(config).unwrap();
    fake.set_fault(Some(Fault::always(FaultKind::DieInStream(bytes.len()))));
    fake
}

/// Runs a command that sorts the events of a whole stream by time, however slowly it comes.
fn to_the_end(fake: &FakeRuntime, folder: &Folder, words: &[&str]) -> Ran {
    let port = ["--port", &address(fake), "--patience", "120s"];
    let (name, value) = PAUSES_ARE_NONE;
    let mut command = command(&[words, &port].concat());
    ended(start(command.env(name, value).current_dir(&folder.0)))
}

/// Runs `watch` on a process with this stream and returns the lines after the heading.
fn shown(bytes: &[u8], words: &[&str]) -> Vec<String> {
    let (run, lines) = watched(bytes, words);
    assert_eq!(run.stderr, "", "{words:?}");
    lines
}

fn watched(bytes: &[u8], words: &[&str]) -> (Ran, Vec<String>) {
    let folder = Folder::new();
    // With a limit, the command ends before the process.
    let fake = match words.contains(&"--limit") {
        true => FakeRuntime::start(streaming(bytes)).unwrap(),
        false => ending(bytes),
    };
    let run = to_the_end(&fake, &folder, &[&["watch"], words].concat());
    assert_eq!(run.code, Some(0), "{words:?}: {}", run.stderr);
    let mut lines = run.text().lines().map(str::to_owned);
    assert!(lines.next().unwrap().ends_with("THREAD  KIND        WHAT"), "{}", run.text());
    let lines = lines.collect();
    (run, lines)
}

/// Returns the report on the same events.
fn report(bytes: &[u8], name: &str) -> serde_json::Value {
    let path = file("watched.nettrace", bytes);
    nettrace(&["report", name, &path, "--json"]).json()
}

/// Returns the number of lines of a kind that contain all these parts.
fn count(lines: &[String], kind: &str, parts: &[&str]) -> usize {
    let is_of_kind = |line: &&String| line.split_whitespace().nth(2) == Some(kind);
    let has_all = |line: &&String| parts.iter().all(|part| line.contains(part));
    lines.iter().filter(is_of_kind).filter(has_all).count()
}

#[test]
fn a_collection_is_one_line_with_its_pause_and_what_it_left() {
    for name in traces() {
        let bytes = trace(name);
        let lines = shown(&bytes, &["--show", "gc"]);
        let report = report(&bytes, "gc");
        let ended = |list: &str| -> Vec<serde_json::Value> {
            let rows = report[list].list();
            rows.iter().filter(|row| row["duration_ns"].is_u64()).cloned().collect()
        };
        let known = [ended("collections"), ended("partial")].concat();
        assert_eq!(lines.len(), known.len(), "{name}: {lines:#?}");
        // The recording of .NET Core 3.1 has no collections.
        assert_eq!(known.is_empty(), name.starts_with("net3.1"), "{name}");
        for row in &known {
            let number = format!("  #{}  ", row["number"]);
            let generation = format!("gen {}  ", row["generation"]);
            let parts = [&*number, &generation, row["type"].text(), "heap "];
            assert_eq!(count(&lines, "gc", &parts), 1, "{name} {row}: {lines:#?}");
        }
        let has_pause = count(&lines, "gc", &["paused "]) > 0;
        assert!(has_pause || known.is_empty(), "{name}: {lines:#?}");
    }
}

#[test]
fn an_exception_is_one_line_with_its_message() {
    for name in traces() {
        let bytes = trace(name);
        let lines = shown(&bytes, &["--show", "exceptions"]);
        let report = report(&bytes, "exceptions");
        assert_eq!(lines.len() as u64, report["count"].int(), "{name}");
        for row in report["types"].list() {
            let type_name = format!("  {}: ", row["type"].text());
            let found = count(&lines, "exception", &[&type_name]);
            assert_eq!(found as u64, row["count"].int(), "{name} {type_name}");
        }
        let widgets = count(&lines, "exception", &["WidgetException: widget λ 4"]);
        assert!(widgets > 0 || lines.is_empty(), "{name}");
    }
}

#[test]
fn a_wait_for_a_lock_is_one_line_with_its_duration() {
    for name in traces() {
        let bytes = trace(name);
        let lines = shown(&bytes, &["--show", "contention"]);
        let known: u64 = report(&bytes, "contention")["locks"]
            .list()
            .iter()
            .map(|lock| lock["waits"]["count"].int())
            .sum();
        let waited = count(&lines, "contention", &["waited ", "s for a lock"]) as u64;
        assert_eq!(waited, known, "{name}");
        assert_eq!(known > 10, !name.starts_with("net3.1"), "{name}: {known}");
        let has_owner = count(&lines, "contention", &["that thread "]) > 0;
        // Owners are reported from .NET 6 on.
        assert_eq!(has_owner, !name.starts_with("net3.1"), "{name}");
    }
}

#[test]
fn a_compiled_method_is_one_line_with_its_tier() {
    let bytes = trace("net10-linux-x64/startup.nettrace.gz");
    let lines = shown(&bytes, &["--show", "jit"]);
    let report = report(&bytes, "jit");
    let methods = report["methods"].list();
    let ready = methods.iter().filter(|row| row["native_bytes"].as_u64() > Some(0));
    assert_eq!(lines.len(), ready.clone().count());
    for row in ready.take(50) {
        let parts = [row["name"].text(), row["tier"].text()];
        assert!(count(&lines, "jit", &parts) > 0, "{row}");
    }
}

#[test]
fn changes_of_the_thread_pool_are_lines_with_the_reason() {
    for name in traces() {
        let bytes = trace(name);
        let lines = shown(&bytes, &["--show", "threadpool"]);
        let report = report(&bytes, "threadpool");
        for row in report["reasons"].list() {
            let found = count(&lines, "threadpool", &["wants ", row["reason"].text()]);
            assert_eq!(found as u64, row["count"].int(), "{name} {row}");
        }
        for (key, text) in [("started", "a worker started"), ("stopped", "a worker stopped")] {
            let found = count(&lines, "threadpool", &[text]) as u64;
            assert_eq!(found, report[key].int(), "{name} {key}");
        }
    }
}

#[test]
fn a_request_is_one_line_with_its_duration() {
    // The requests are of the program's own event source, which has no direction.
    for name in traces() {
        let bytes = trace(name);
        let lines = shown(&bytes, &["--show", "http"]);
        let stopped = report(&bytes, "http")["stopped"].int();
        assert!(
            stopped > 10 && count(&lines, "http", &["/items/", "s"]) as u64 == stopped,
            "{name}"
        );
    }
}

/// Creates log messages in scopes; the exception of one message is in a second event.
fn messages() -> Vec<u8> {
    let steps = vec![
        scope(2, 1_000_000, 1, &["{\"order\":7}"]),
        scope(2, 1_000_000, 2, &["{\"step\":1}"]),
        message(0, 1_000_000, 3, &["few things left\nreally"]),
        message(1, 1_000_000, 3, &["{}", "{\"left\":\"2\"}"]),
        scope(3, 1_000_000, 2, &[]),
        message(0, 1_000_000, 4, &["no money"]),
        message(1, 1_000_000, 4, &["{\"TypeName\":\"App.Poor\"}", "{}"]),
        scope(3, 1_000_000, 1, &[]),
        message(0, 1_000_000, 2, &["sold 1 thing"]),
        message(1, 1_000_000, 2, &["{}", "{}"]),
    ];
    logging::session(steps).record().stream.bytes
}

#[test]
fn a_message_is_one_line_with_level_logger_scopes_and_exception() {
    let lines = shown(&messages(), &["--show", "logs"]);
    let expected = [
        "       3.000     4711  warn        App.Shop[12]  few things left\u{fffd}really  \
         => order=7 => step=1",
        "       6.000     4711  fail        App.Shop[12]  no money  => order=7  \
         App.Poor",
        "       9.000     4711  info        App.Shop[12]  sold 1 thing",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn conditions_are_about_all_events_of_a_thing_and_what_its_line_has() {
    let bytes = messages();
    let number = |condition: &str| shown(&bytes, &["--show", "logs", "--where", condition]).len();
    assert_eq!(number("level = warning or level = error"), 2);
    // A condition can name fields of both events.
    assert_eq!(number("Level >= 3 and ExceptionJson ~ Poor"), 1);
    assert_eq!(number("scope ~ step"), 1);
    assert_eq!(number("not message ~ money"), 2);

    let bytes = trace("net10-linux-x64/all.nettrace.gz");
    let all = shown(&bytes, &["--show", "http"]).len();
    // The start event has the path, the stop the duration.
    let some = |text: &str| shown(&bytes, &["--show", "http", "--where", text]).len();
    let (long, short) = (some("url ~ items and duration >= 3ms"), some("duration < 3ms"));
    assert!(long > 0 && short > 0 && long + short == all, "{long} + {short} of {all}");
    let second = shown(&bytes, &["--show", "gc", "--where", "generation = 2 and pause > 1us"]);
    assert!(!second.is_empty() && second.iter().all(|line| line.contains("  gen 2  ")));

    let (run, lines) = watched(&bytes, &["--show", "gc", "--where", "generaton = 2"]);
    assert!(lines.is_empty() && run.stderr.contains("generaton"), "{}", run.stderr);
}

#[test]
fn a_process_that_ends_while_it_is_resumed_has_what_it_sent_shown() {
    let fake = FakeRuntime::start(streaming(&trace("net10-linux-x64/all.nettrace.gz"))).unwrap();
    fake.set_fault(Some(Fault::on(CommandId::RESUME_RUNTIME, FaultKind::EarlyClose)));
    let folder = Folder::new();
    let run = on(&fake, &folder, &["watch", "--show", "exceptions", "--limit", "3"]);
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    assert_eq!(run.text().lines().count(), 4, "{}", run.text());
}

#[test]
fn several_kinds_stand_in_one_list_and_named_events_beside_them() {
    let bytes = trace("net10-linux-x64/all.nettrace.gz");
    let lines = shown(&bytes, &["--show", "gc,exceptions,contention,jit,threadpool,http,logs"]);
    for kind in ["gc", "exception", "contention", "threadpool", "http"] {
        assert!(count(&lines, kind, &[]) > 0, "{kind}");
    }
    let words = ["--show", "gc", "--event", "Nettrace-Workload/NoPayload"];
    let lines = shown(&bytes, &words);
    let events = lines.iter().filter(|line| line.ends_with("  Nettrace-Workload/NoPayload"));
    assert!(events.count() > 0 && count(&lines, "gc", &[]) > 0, "{lines:#?}");
    assert_eq!(shown(&bytes, &["--show", "exceptions", "--limit", "5"]).len(), 5);
}

#[test]
fn a_row_may_have_the_stack_of_its_event() {
    let bytes = trace("net10-linux-x64/startup.nettrace.gz");
    let (_, lines) = watched(&bytes, &["--show", "exceptions", "--stacks", "--limit", "4"]);
    let thrown = lines.iter().filter(|line| line.contains("  exception   ")).count();
    let frames = lines.iter().filter(|line| line.trim_start().starts_with("at ")).count();
    assert!(thrown == 4 && frames >= 8, "{lines:#?}");
}

/// Runs `watch` on a process with this stream and returns its NDJSON.
fn ndjson(bytes: &[u8], words: &[&str]) -> Vec<serde_json::Value> {
    let folder = Folder::new();
    let words = [&["watch", "--format", "ndjson"], words].concat();
    let run = to_the_end(&ending(bytes), &folder, &words);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run.lines()
}

#[test]
fn messages_as_ndjson_have_their_scopes_after_the_keys_of_events() {
    let lines = ndjson(&messages(), &["--show", "logs"]);
    let scopes: Vec<String> = lines.iter().map(|line| line["scopes"].to_string()).collect();
    let (order, step) = (r#""order=7""#, r#""step=1""#);
    assert_eq!(scopes, [format!("[{order},{step}]"), format!("[{order}]"), "[]".to_owned()]);
    assert!(lines.iter().all(|line| line["event"] == "FormattedMessage"), "{lines:?}");
    assert_eq!(lines[2]["payload"]["FormattedMessage"], "sold 1 thing");
}

#[test]
fn requests_as_ndjson_have_their_duration_where_they_end() {
    for name in traces() {
        let bytes = trace(name);
        let words = ["--show", "http", "--event", "*/RequestStop", "--event", "*/RequestStart"];
        let lines = ndjson(&bytes, &words);
        let ended: Vec<_> = lines.iter().filter(|line| line["duration_ns"].is_u64()).collect();
        let stopped = report(&bytes, "http")["stopped"].int();
        assert!(stopped > 10 && ended.len() as u64 == stopped, "{name}: {}", ended.len());
        let is_stop = |line: &&serde_json::Value| line["event"].text().ends_with("Stop");
        assert!(ended.iter().all(is_stop), "{name}");
    }
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn layers_of_a_web_server_are_part_of_their_request() {
        let bytes = corpus::trace("aspnet-net10-linux-x64/web.nettrace").bytes();
        let lines = shown(&bytes, &["--show", "http"]);
        let report = report(&bytes, "http");
        assert_eq!(lines.len() as u64, report["stopped"].int());
        assert!(count(&lines, "http", &["in GET ", "/work", "ms"]) > 10, "{lines:#?}");
    }
}
