//! Filters, order and JSON of `nettrace events`.

use crate::common;
use crate::common::Json;

use common::{file, nettrace};
use nettrace_testdata::synth::{
    BatchOrder, EventType, Label, Session, SessionEvent, SessionThread, Step, Version, tiny_v6,
};
use serde_json::{Value, json};

const ALL: &str = "testdata/traces/net10-linux-x64/all.nettrace.gz";

fn types() -> Vec<EventType> {
    let event_type =
        |provider, event_id, name| common::event_type(provider, event_id, name, vec![]);
    vec![
        event_type("Demo.Http", 1, "RequestStart"),
        event_type("Demo.Http", 2, "RequestStop"),
        event_type("Native", 10, ""),
    ]
}

/// Creates a session of two threads with ten ticks (1 µs) between events. The file has all events
/// of one thread, then of the other.
fn session() -> Session {
    Session {
        types: types(),
        threads: vec![SessionThread::new(11), SessionThread::new(12)],
        steps: (0..12).map(|at| Step::event(at % 3, at % 2, 10, vec![])).collect(),
        order: BatchOrder::ThreadRuns,
        ..Session::new(Version::V4)
    }
}

fn trace(session: &Session) -> String {
    file("synth.nettrace", &session.record().stream.into_bytes())
}

fn lines(path: &str, args: &[&str]) -> Vec<Value> {
    let ran = nettrace(&[&["events", path, "--format", "ndjson"], args].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.lines()
}

fn keys(lines: &[Value], key: &str) -> Vec<Value> {
    lines.iter().map(|line| line[key].clone()).collect()
}

#[test]
fn events_come_in_time_order_unless_the_file_s_is_asked_for() {
    let path = trace(&session());
    let by_time: Vec<Value> = (1..=12).map(|at| json!(at * 1000)).collect();
    assert_eq!(keys(&lines(&path, &[]), "ts_ns"), by_time);
    assert_eq!(keys(&lines(&path, &["--order", "time"]), "ts_ns"), by_time);
    let by_file: Vec<Value> =
        (1..=12).step_by(2).chain((2..=12).step_by(2)).map(|at| json!(at * 1000)).collect();
    assert_eq!(keys(&lines(&path, &["--order", "file"]), "ts_ns"), by_file);
}

#[test]
fn filters_let_pass_what_they_say() {
    let path = trace(&session());
    let count = |args: &[&str]| lines(&path, args).len();
    let cases: [(&[&str], usize); 19] = [
        (&[], 12),
        (&["--provider", "Demo.Http"], 8),
        (&["--provider", "demo*"], 8),
        (&["--provider", "*", "--provider", "Native"], 12),
        (&["--provider", "Native", "--provider", "Demo.H?tp"], 12),
        (&["--event", "RequestStart"], 4),
        (&["--event", "request*"], 8),
        (&["--event", "10"], 4),
        (&["--event", "native/10"], 4),
        (&["--event", "Demo.Http/RequestStop", "--event", "1"], 8),
        (&["--provider", "Native", "--event", "10"], 4),
        (&["--thread", "11"], 6),
        (&["--thread", "11", "--thread", "12"], 12),
        (&["--time", "3us..5us"], 2),
        (&["--time", "..3us"], 2),
        (&["--time", "0.000011.."], 2),
        (&["--limit", "5"], 5),
        (&["--thread", "11", "--limit", "2", "--event", "RequestStart"], 2),
        (&["--limit", "0"], 0),
    ];
    for (args, expected) in cases {
        assert_eq!(count(args), expected, "{args:?}");
    }
    let stop = lines(&path, &["--event", "RequestStop", "--thread", "12", "--time", "2us..3us"]);
    assert_eq!(
        (stop.len(), &stop[0]["event"], &stop[0]["ts_ns"]),
        (1, &json!("Request/Stop"), &json!(2000))
    );
}

#[test]
fn a_filter_that_fits_nothing_says_so_with_the_nearest_names() {
    let path = trace(&session());
    let messages = |args: &[&str]| {
        let ran = nettrace(&[&["events", &path], args].concat());
        assert_eq!(ran.code, Some(0));
        ran.stderr
    };
    let message = messages(&["--provider", "Demo.Htp"]);
    assert!(
        message.contains("no event is of a provider like Demo.Htp; did you mean Demo.Http?"),
        "{message}"
    );
    let message = messages(&["--event", "RequstStart"]);
    assert!(message.contains("did you mean RequestStart"), "{message}");
    let message = messages(&["--event", "Native/11"]);
    assert!(message.contains("did you mean Native/10?"), "{message}");
    let message = messages(&["--thread", "13"]);
    assert!(message.contains("no event is of thread 13"), "{message}");
    let message = messages(&["--time", "1s.."]);
    assert!(
        message.contains("no event lies in --time")
            && message.contains("from 1.000 µs to 12.000 µs"),
        "{message}"
    );
    let message = messages(&["--provider", "Native", "--event", "RequestStop"]);
    assert!(message.contains("no event passes all filters together"), "{message}");
    assert_eq!(messages(&["--event", "RequestStop"]), "");
    assert_eq!(messages(&["--event", "nope", "--quiet"]), "");
}

#[test]
fn a_limit_stops_reading() {
    // The end of the trace is missing, but nothing reads that far.
    let mut bytes = session().record().stream.into_bytes();
    bytes.pop();
    let path = file("cut.nettrace", &bytes);
    let ran = nettrace(&["events", &path, "--limit", "3", "--order", "file"]);
    assert_eq!((ran.code, ran.stderr.as_str(), ran.text().lines().count()), (Some(0), "", 4));
    assert_eq!(nettrace(&["events", &path]).code, Some(3));
}

#[test]
fn native_events_are_called_by_provider_and_id() {
    let line = &lines(&trace(&session()), &["--event", "10", "--limit", "1"])[0];
    assert_eq!((&line["event"], &line["provider"]), (&json!("Native/10"), &json!("Native")));
}

#[test]
fn opcodes_are_stored_or_implied_by_the_name() {
    let mut stored = session();
    stored.version = Version::V5;
    stored.types[1].opcode = Some(9);
    stored.types[2].opcode = Some(0);
    let lines = lines(&trace(&stored), &["--raw", "--limit", "3"]);
    assert_eq!(keys(&lines, "opcode"), [1, 9, 0]);
    assert_eq!(keys(&lines, "opcode_implied"), [json!(true), Value::Null, Value::Null]);
}

#[test]
fn keys_come_in_the_promised_order_and_only_when_there_is_something() {
    let path = file("tiny.nettrace", &tiny_v6().into_bytes());
    let ran = nettrace(&["events", &path, "--format", "ndjson", "--raw", "--stacks", "--quiet"]);
    let expected = concat!(
        r#"{"ts_ns":100,"tid":300,"provider":"Demo","id":7,"version":0,"event":"Hi","level":4,"pid":42,"#,
        r#""labels":{"k":-3},"payload":{"n":300,"s":"ok"},"stack":["0x7f0000001000"],"ticks":1000100,"keywords":"0x3","opcode":1,"#,
        r#""processor":0,"sequence":1,"offset":211,"payload_hex":"ac0202006f6b"}"#,
    );
    assert_eq!(ran.text().lines().next(), Some(expected));
    let plain = nettrace(&["events", &path, "--format", "ndjson", "--quiet"]);
    let expected = r#"{"ts_ns":350,"tid":300,"provider":"Demo","id":7,"version":0,"event":"Hi","level":4,"pid":42,"payload":{"n":5,"s":""}}"#;
    assert_eq!(plain.text().lines().nth(1), Some(expected));
}

#[test]
fn labels_and_activities_are_shown_as_text() {
    let guid = std::array::from_fn(|at| at as u8 * 0x11);
    let labels = vec![
        Label::TraceId(std::array::from_fn(|at| at as u8)),
        Label::SpanId(0x1122_3344),
        Label::Text("key".into(), "ä \"quoted\"".into()),
        Label::Number("n".into(), -5),
        Label::Text("key".into(), "again".into()),
        Label::Level(2),
        Label::Keywords(0xf0),
        Label::Version(3),
        Label::OpCode(7),
    ];
    let event =
        SessionEvent { labels, activity_id: guid, ticks_later: 1, ..SessionEvent::default() };
    let session = Session {
        types: types(),
        threads: vec![SessionThread::new(1)],
        steps: vec![Step::Event(event)],
        ..Session::new(Version::V6)
    };
    let line = &lines(&trace(&session), &["--raw"])[0];
    assert_eq!(
        line["labels"],
        json!({
            "key": ["ä \"quoted\"", "again"],
            "n": -5,
            "span_id": "0000000011223344",
            "trace_id": "000102030405060708090a0b0c0d0e0f",
        })
    );
    assert_eq!(line["activity"], "33221100-5544-7766-8899-aabbccddeeff");
    let overridden = json!([line["level"], line["keywords"], line["version"], line["opcode"]]);
    assert_eq!(overridden, json!([2, "0xf0", 3, 7]));
    assert_eq!((&line["related"], &line["opcode_implied"]), (&Value::Null, &Value::Null));
}

#[test]
fn unknown_threads_and_processors_are_minus_one() {
    use nettrace_testdata::synth::{Blob, EventBlock, MetadataBlock, MetadataRow, Stream, Trace};
    let row = MetadataRow { metadata_id: 1, provider: "Demo".into(), ..MetadataRow::default() };
    let blob = Blob {
        metadata_id: 1,
        thread_id: 99,
        capture_thread_id: 99,
        sequence_number: 1,
        ..Blob::default()
    };
    let mut stream = Stream::new(Version::V6);
    stream
        .trace(&Trace::default())
        .metadata_rows(&MetadataBlock::new(vec![row]))
        .event_block(&EventBlock::new([blob]))
        .end();
    let path = file("unknown.nettrace", &stream.into_bytes());
    let line = &nettrace(&["events", &path, "--format", "ndjson", "--raw"]).lines()[0];
    assert_eq!(
        (&line["tid"], &line["processor"], &line["pid"]),
        (&json!(-1), &json!(-1), &Value::Null)
    );
    assert_eq!(
        nettrace(&["events", &path, "--thread", "-1", "--format", "ndjson"]).lines().len(),
        1
    );
}

#[test]
fn losses_of_netperf_are_reported_as_unknown() {
    let session = Session { version: Version::V3, ..session() };
    let path = trace(&session);
    let json = nettrace(&["info", "--json", &path]).json();
    let known = json!([json["version"], json["lost"], json["losses_known"], json["events"]]);
    assert_eq!(known, json!([3, 0, false, 12]));
    assert!(
        nettrace(&["info", &path]).text().contains("unknown: NetPerf does not number its events")
    );
    let v4 = nettrace(&["info", "--json", ALL]).json();
    assert_eq!((&v4["losses_known"], &v4["version"]), (&json!(true), &json!(4)));
}

#[test]
fn info_and_stats_and_events_agree_on_real_traces() {
    for trace in nettrace_testdata::corpus::traces() {
        // Large traces take long in a build without optimisation and show nothing new.
        if std::fs::metadata(trace.path()).unwrap().len() > 250_000 {
            continue;
        }
        let path = trace.path().display().to_string();
        let info = nettrace(&["info", "--json", &path]);
        let stats = nettrace(&["stats", "--json", &path]);
        let events = nettrace(&["events", "--format", "ndjson", &path]);
        assert_eq!((info.code, info.code), (stats.code, events.code), "{path}");
        let complete = info.json()["complete"].as_bool().unwrap();
        assert_eq!(info.code, Some(if complete { 0 } else { 3 }), "{path}");
        let (info, stats) = (info.json(), stats.json());
        assert_eq!((&info["events"], &info["lost"]), (&stats["events"], &stats["lost"]));
        let rows = stats["types"].list();
        assert_eq!(info["types"], rows.len());
        let sum: u64 = rows.iter().map(|row| row["events"].int()).sum();
        assert_eq!(info["events"], sum);
        assert_eq!(events.text().lines().count() as u64, sum);
        let times: Vec<i64> =
            events.lines().iter().map(|line| line["ts_ns"].as_i64().unwrap()).collect();
        assert!(times.is_sorted(), "{path}");
        let first = rows.iter().map(|row| row["first_ns"].as_i64().unwrap()).min();
        assert_eq!(
            (first, info["duration_ns"].as_i64()),
            (times.first().copied(), times.last().copied())
        );
    }
}

#[test]
fn stats_are_sorted_as_asked() {
    for (sort, key, falls) in [
        ("count", "events", true),
        ("bytes", "payload_bytes", true),
        ("stacks", "with_stack", true),
        ("first", "first_ns", false),
        ("last", "last_ns", false),
    ] {
        let json = nettrace(&["stats", "--json", "--sort", sort, ALL]).json();
        let mut values: Vec<i64> =
            json["types"].list().iter().map(|row| row[key].as_i64().unwrap()).collect();
        if falls {
            values.reverse();
        }
        assert!(values.is_sorted() && values.len() > 50, "{sort}");
    }
    let json = nettrace(&["stats", "--json", "--sort", "name", ALL]).json();
    let names: Vec<(&str, u64)> =
        json["types"].list().iter().map(|row| (row["provider"].text(), row["id"].int())).collect();
    assert!(names.is_sorted());
}

#[test]
fn an_event_has_one_name_in_all_outputs() {
    let path = trace(&session());
    let of =
        |args: &[&str]| String::from_utf8(nettrace(&[args, &[&*path]].concat()).stdout).unwrap();
    let name = "Request/Start";
    assert_eq!(lines(&path, &["--limit", "1"])[0]["event"], name);
    assert!(of(&["events", "--format", "csv", "--limit", "1"]).contains(&format!(",{name},")));
    for args in [&["events"][..], &["stats"], &["schema"]] {
        let shown = of(args);
        assert!(shown.contains(&format!("Demo.Http/{name}")), "{shown}");
    }
    for args in [&["stats", "--json"][..], &["schema", "--json"], &["events", "--format", "ndjson"]]
    {
        let shown = of(args);
        assert!(
            shown.contains(&format!("\"{name}\"")) && !shown.contains("RequestStart"),
            "{args:?} {shown}"
        );
    }
}

#[test]
fn amounts_have_decimal_digits_whatever_their_manifest_says() {
    let ran = nettrace(&["events", ALL]);
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let words: Vec<&str> = text.split_whitespace().collect();
    let amounts = words.windows(2).filter(|pair| pair[1] == "B");
    assert!(amounts.clone().count() > 10);
    let mut hexadecimal = amounts.filter(|pair| pair[0].contains("=0x"));
    assert_eq!(hexadecimal.next(), None);
}
