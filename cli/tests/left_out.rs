//! Messages and counts of rows and samples that filters and lists leave out.

use crate::common::{Json, file, nettrace, top};
use serde_json::Value;

const ALL: &str = "testdata/traces/net10-linux-x64/all.nettrace.gz";

fn json(arguments: &[&str]) -> Value {
    nettrace(&[arguments, &["--json"]].concat()).json()
}

#[test]
fn a_filter_that_leaves_no_sample_is_said_instead_of_what_to_record() {
    for filter in [["--time", "20s.."], ["--thread", "999"]] {
        for report in ["topN", "tree", "threads"] {
            let ran = nettrace(&[&["report", report, ALL], &filter[..]].concat());
            ran.assert_message("the filter leaves none of 19,716 CPU samples");
            assert!(!ran.stderr.contains("record with"), "{}", ran.stderr);
        }
    }
}

#[test]
fn lists_that_follow_the_number_of_rows_count_the_others() {
    let owners = |rows: &str| {
        let report = json(&["report", "contention", ALL, "-n", rows]);
        let lock = &report["locks"][0];
        let left_out = lock["owners_left_out"].as_u64().unwrap_or(0);
        (lock["owners"].list().len() as u64, left_out)
    };
    let (all, none) = owners("100000");
    assert!(all > 20 && none == 0, "{all} {none}");
    assert_eq!(owners("7"), (7, all - 7));
    let text = nettrace(&["report", "contention", ALL, "-n", "7"]);
    assert!(text.text().contains(&format!("and {} more", all - 3)), "{}", text.text());
    let stacks = |rows: &str| {
        let report = json(&["report", "exceptions", ALL, "-n", rows]);
        let types = report["types"].list().iter();
        types.map(|row| (row["stacks"].list().len(), row["stacks_left_out"].as_u64())).collect()
    };
    let (few, whole): (Vec<_>, Vec<_>) = (stacks("1"), stacks("1000"));
    for ((shown, left_out), (all, none)) in few.iter().zip(&whole) {
        assert_eq!((*shown as u64 + left_out.unwrap_or(0), *none), (*all as u64, None));
    }
}

#[test]
fn events_of_an_activity_follow_the_number_of_rows() {
    let id = json(&["report", "activities", ALL])["slowest"][0]["id"].text().to_owned();
    let all = json(&["report", "activities", ALL, "--id", &id])["events"].list().len();
    assert!(all > 1, "{all}");
    let ran = nettrace(&["report", "activities", ALL, "--id", &id, "-n", "1"]);
    assert!(ran.text().contains(&format!("{all} events in")), "{}", ran.text());
    assert!(ran.text().contains("the first 1 shown (-n)"), "{}", ran.text());
}

#[test]
fn samples_of_an_activity_are_those_of_its_threads_while_they_worked_for_it() {
    let slowest = json(&["report", "activities", ALL, "-n", "200"])["slowest"].clone();
    let period = json(&["report", "topN", ALL])["period_ns"].int();
    let mut sampled = 0;
    let busy = |row: &Value| row["parts"]["running_ns"].int() + row["parts"]["native_ns"].int();
    let mut rows: Vec<&Value> = slowest.list().iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(busy(row)));
    for row in rows.into_iter().take(3) {
        let id = row["id"].text();
        let top = json(&["report", "topN", ALL, "--id", id, "--state", "all"]);
        let total = top["total_ns"].int();
        assert!(
            total <= busy(row) + row["parts"]["waiting_ns"].int() + 2 * period,
            "{row} {total}"
        );
        sampled += top["samples"].int();
    }
    assert!(sampled > 0);
    let ran = nettrace(&["report", "topN", ALL, "--id", "/#1/2/3"]);
    ran.assert_message("no activity that starts and stops has the id /#1/2/3");
}

#[test]
fn endpoints_without_requests_are_named_with_those_that_have_some() {
    let ran = nettrace(&["report", "topN", ALL, "--endpoint", "GET /cart"]);
    ran.assert_message("no request to 'GET /cart' came in and ended: no thread is known");
    let ran = nettrace(&["report", "http", ALL, "--endpoint", "GET /cart"]);
    ran.assert_message("no request to 'GET /cart' came in and ended");
    let ran = nettrace(&["report", "tree", ALL, "--by-endpoint", "--json"]);
    assert!(
        ran.stderr.contains("no thread is known to have worked for a request"),
        "{}",
        ran.stderr
    );
    let top = json(&["report", "topN", ALL, "--by-endpoint"]);
    let rows: Vec<_> = top["endpoints"].list().iter().map(|row| row["samples"].int()).collect();
    assert_eq!(rows, [top["samples"].int()]);
}

#[test]
fn pauses_of_the_sampler_are_in_a_timeline_only_if_asked_for() {
    let names = |more: &[&str]| {
        let path = file("pauses.chromium.json", b"");
        let arguments = [&["convert", ALL, "--format", "chromium", "-o", &path, "--force"], more];
        assert_eq!(nettrace(&arguments.concat()).code, Some(0));
        std::fs::read_to_string(path).unwrap()
    };
    let usual = names(&[]);
    assert!(usual.contains("GC pauses") && !usual.contains("Sampler pauses"));
    assert!(names(&["--sampler-pauses"]).contains("Sampler pauses"));
}

#[test]
fn what_is_wrong_with_a_packed_file_counts_for_check_and_info_alike() {
    let packed = std::fs::read(top().join(ALL)).unwrap();
    let path = file("half.nettrace.gz", &packed[..packed.len() / 2]);
    let info = json(&["info", &path]);
    let check = json(&["check", &path]);
    let counts: u64 = check["counts"].as_object().unwrap().values().map(Json::int).sum();
    assert_eq!(Some(counts), info["damage_count"].as_u64(), "{check} {info}");
    let text = nettrace(&["check", &path]);
    assert!(text.text().contains(&format!("{counts} findings of 2 kinds")), "{}", text.text());
}

#[test]
fn a_command_line_is_cut_on_the_first_page_and_whole_in_json() {
    let page = nettrace(&[ALL]);
    assert!(page.text().contains("nettrace open "), "{}", page.text());
    let process = json(&["report", "summary", ALL])["process"].text().to_owned();
    assert!(page.text().contains(&process), "a short one is whole");
}

#[test]
fn events_of_threads_are_those_of_the_time_asked_for() {
    let sum = |more: &[&str]| -> u64 {
        let report = json(&[&["report", "threads", ALL, "-n", "100000"], more].concat());
        report["threads"].list().iter().map(|row| row["events"].int()).sum()
    };
    let (first, second) = (sum(&["--time", "..1s"]), sum(&["--time", "1s.."]));
    assert_eq!(first + second, sum(&[]));
    assert!(first > 1000 && second > 1000, "{first} {second}");
}
