//! `--during` of each command: what happened inside the spans of an activity.

use crate::common::{Json, event_type, file, nettrace, session_of};
use nettrace_testdata::synth::{Step, Version};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::{self, File};
use std::path::Path;

const ALL: &str = "testdata/traces/net10-linux-x64/all.nettrace.gz";
const ONE: &str = "Nettrace-Workload/Request:number=276";

/// Returns the number of rows of a table of an export.
fn rows(folder: &Path, table: &str) -> usize {
    let Ok(files) = fs::read_dir(folder.join(table)) else { return 0 };
    let count = |file: fs::DirEntry| {
        let reader = SerializedFileReader::new(File::open(file.path()).unwrap()).unwrap();
        usize::try_from(reader.metadata().file_metadata().num_rows()).unwrap()
    };
    files.map(|file| count(file.unwrap())).sum()
}

#[test]
fn events_and_tables_have_what_happened_inside_the_spans() {
    let events = ["events", ALL, "--format", "ndjson", "--during", ONE];
    let of_one = nettrace(&events).lines();
    let name = |at: usize| of_one[at]["event"].text();
    assert_eq!((name(0), name(of_one.len() - 1)), ("Request/Start", "Request/Stop"));
    assert_eq!(of_one[0]["payload"]["number"].int(), 276);
    let all = nettrace(&["events", ALL, "--format", "ndjson", "--time", "1968ms..1976ms"]).lines();
    assert!(of_one.len() < all.len(), "{} of {}", of_one.len(), all.len());
    let on_all_threads = nettrace(&[&events[..], &["--all-threads"]].concat()).lines();
    assert!(of_one.len() < on_all_threads.len() && on_all_threads.len() < all.len());
    let in_file = nettrace(&[&events[..], &["--order", "file"]].concat()).lines();
    assert_eq!(in_file.len(), of_one.len());
    let folder = file("tables", b"");
    fs::remove_file(&folder).unwrap();
    let export = ["export", "parquet", ALL, "-o", &folder, "--tables", "events,samples,gcs"];
    let ran = nettrace(&[&export[..], &["--during", ONE]].concat());
    assert_eq!((ran.code, rows(Path::new(&folder), "events")), (Some(0), of_one.len()));
    // A trace without the activity has tables without rows, beside others that have it.
    let ran = nettrace(&[&export[..], &["--during", "Shop/Order"]].concat());
    assert_eq!((ran.code, rows(Path::new(&folder), "events")), (Some(0), 0));
    ran.assert_message("there is no activity Shop/Order: there are Nettrace-Workload/Request");
}

#[test]
fn each_report_and_conversion_takes_the_spans() {
    let all = nettrace(&["report", "activities", ALL, "--json"]).json();
    let one = nettrace(&["report", "activities", ALL, "--json", "--during", ONE]).json();
    assert_eq!(one["started"].int(), 1);
    assert!(all["started"].int() > 1);
    for report in ["summary", "topN", "gc", "exceptions", "counters", "threads", "logs", "waits"] {
        let ran = nettrace(&["report", report, ALL, "--json", "--during", ONE]);
        assert_eq!(ran.code, Some(0), "{report}: {}", ran.stderr);
    }
    let exceptions = |more: &[&str]| {
        let ran = nettrace(&[&["report", "exceptions", ALL, "--json"], more].concat());
        ran.json()["count"].int()
    };
    assert!(exceptions(&["--during", "Nettrace-Workload/Request"]) < exceptions(&[]));
    let page = file("one.html", b"");
    let folded = file("one.folded", b"");
    for arguments in [
        &["report", "html", ALL, "-o", &page, "--force", "--during", ONE][..],
        &["convert", ALL, "-o", &folded, "--force", "--during", ONE, "--all-threads"],
        &["diff", ALL, ALL, "--during", "Nettrace-Workload/Request"],
    ] {
        let ran = nettrace(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
    }
    let whole = file("all.html", b"");
    assert_eq!(nettrace(&["report", "html", ALL, "-o", &whole, "--force"]).code, Some(0));
    assert!(fs::metadata(page).unwrap().len() < fs::metadata(whole).unwrap().len());
}

#[test]
fn a_choice_that_nothing_meets_says_what_there_is() {
    let message = |choice: &str, text: &str| {
        let ran = nettrace(&["report", "topN", ALL, "--during", choice]);
        assert_eq!(ran.code, Some(1));
        ran.assert_message(text);
    };
    message("Shop/Order", "there is no activity Shop/Order: there are Nettrace-Workload/Request");
    message("Nettrace-Workload/Request:number=-1", "number is 36, 37");
    message(
        "Nettrace-Workload/Request:no=1",
        "no start of Nettrace-Workload/Request has a field no",
    );
    let ran = nettrace(&["report", "gc", ALL, "--all-threads"]);
    ran.assert_message("--all-threads is for --during");
    let ran = nettrace(&["report", "gc", "-", "--during", "Shop/Order"]);
    ran.assert_message("--during reads the trace twice: give a file");
}

#[test]
fn spans_without_an_end_are_said() {
    let edge = |event_id, name: &str| event_type("Shop", event_id, name, vec![]);
    let event = |event_type| Step::event(event_type, 0, 10, vec![]);
    let mut session = session_of(Version::V4, edge(1, "OrderStart"), []);
    session.types.push(edge(2, "OrderStop"));
    session.steps = [0, 1, 0].map(event).to_vec();
    let path = file("open.nettrace", &session.record().stream.bytes);
    let ran = nettrace(&["events", &path, "--during", "Shop/Order"]);
    ran.assert_message("1 span of Shop/Order left out: the trace has no end of them");
    assert_eq!(ran.text().lines().count(), 3, "{}", ran.text());
    session.steps = [0].map(event).to_vec();
    let path = file("only.nettrace", &session.record().stream.bytes);
    let ran = nettrace(&["events", &path, "--during", "Shop/Order"]);
    ran.assert_message("the trace has no end of 1 span of Shop/Order, and no other");
}
