//! The page that reads dropped traces in a browser (`cargo xtask site`), in a real Chromium, against
//! what the command writes of the same files.

use crate::common::{Json, command, file, nettrace, top};
use crate::page::in_browser;
use crate::thread_times::recorded;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const ALL: &str = "testdata/traces/net10-linux-x64/all.nettrace.gz";

/// Copies a trace of the repository to a name of its own, unpacked.
fn trace(name: &str, of: &str) -> String {
    let found = nettrace_testdata::corpus::trace(of);
    file(name, &found.bytes())
}

/// Runs the steps of `site.cjs`, and returns what was seen at each.
fn steps(name: &str, steps: &Value) -> Vec<Value> {
    let site = std::env::var("NETTRACE_SITE").expect("NETTRACE_SITE is the folder of the page");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&out);
    let pictures = std::env::var("NETTRACE_PICTURES").map(PathBuf::from);
    let pictures = pictures.map_or_else(|_| out.join("pictures"), |folder| folder.join(name));
    fs::create_dir_all(&pictures).unwrap();
    let (out, steps) = (out.to_str().unwrap(), steps.to_string());
    let seen = in_browser("site.cjs", &[&site, out, &steps, pictures.to_str().unwrap()]);
    for list in ["errors", "requests", "wide", "axe"] {
        assert_eq!(seen[list], json!([]), "{list}");
    }
    for asked in seen["asked"].list() {
        let sent = ["GET /", "GET /nettrace.wasm.gz"];
        assert!(sent.contains(&asked.text()), "{asked}: nothing else may be asked for");
    }
    println!("{}", serde_json::to_string_pretty(&seen["steps"]).unwrap());
    seen["steps"].list().to_vec()
}

fn read(path: &Value) -> Vec<u8> {
    fs::read(path.text()).unwrap()
}

fn page_of_command(name: &str, trace: &str) -> Vec<u8> {
    let path = file(name, b"");
    let ran = nettrace(&["report", "html", trace, "-o", &path, "--force", "-q"]);
    assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
    fs::read(path).unwrap()
}

mod with_site {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SITE, and Chromium of analysis/consumers/install"]
    fn a_dropped_trace_gives_the_page_of_the_command_from_a_server_and_from_a_disk() {
        let packed = file("site-packed.nettrace.gz", &fs::read(top().join(ALL)).unwrap());
        let (first, readings) = recorded();
        let with_times = readings.behind(&first);
        let traces = [
            packed,
            trace("site-plain.nettrace", "net10-linux-x64/all.nettrace"),
            trace("site-heap.nettrace", "net3.1-linux-x64/heap.nettrace"),
            trace("site-lossy.nettrace", "net3.1-linux-x64/lossy.nettrace"),
            file("site-times.nettrace", &with_times),
        ];
        let plan: Vec<Value> = traces
            .iter()
            .flat_map(|trace| ["server", "file"].map(|from| (from, trace)))
            .map(|(from, trace)| json!({"from": from, "files": [trace]}))
            .collect();
        for (plan, seen) in plan.iter().zip(steps("site-pages", &json!(plan))) {
            let trace = plan["files"][0].text();
            let made = read(&seen["page"]);
            assert!(made == page_of_command("site-page.html", trace), "{plan}: {seen}");
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SITE, and Chromium of analysis/consumers/install"]
    fn damage_is_said_on_the_page_and_a_file_that_is_no_trace_is_refused_with_a_reason() {
        let packed = fs::read(top().join(ALL)).unwrap();
        let cut = file("site-cut.nettrace.gz", &packed[..packed.len() / 2]);
        let other = file("site-other.nettrace", b"PK\x03\x04 is no trace at all");
        let plan = json!([
            {"from": "server", "files": [cut]},
            {"from": "file", "files": [other]},
            {"from": "server", "files": [trace("site-cancel.nettrace", "net10-linux-x64/all.nettrace")], "cancel": true},
        ]);
        let seen = steps("site-damage", &plan);
        assert_eq!(seen[0]["code"], 3);
        let faults = seen[0]["faults"].text();
        assert!(faults.contains("the gzip data ends too early"), "{faults}");
        assert!(read(&seen[0]["page"]) == page_of_command("site-cut.html", &cut));
        let failure = seen[1]["failure"].text();
        let said = nettrace(&["report", "html", &other, "-o", "-"]);
        let reason = failure.strip_prefix("site-other.nettrace: ").unwrap();
        assert!(said.stderr.contains(reason), "{failure}; {}", said.stderr);
        assert_eq!(seen[2]["cancelled"], true);
    }

    #[test]
    #[ignore = "needs NETTRACE_SITE, and Chromium of analysis/consumers/install"]
    fn two_traces_are_compared_and_a_trace_is_saved_in_other_formats() {
        let old = trace("site-a.nettrace", "net10-linux-x64/all.nettrace");
        let new = trace("site-b.nettrace", "net8-linux-x64/all.nettrace");
        let formats = ["speedscope", "perfetto", "ndjson"];
        let plan = json!([
            {"from": "server", "files": [&old, &new]},
            {"from": "file", "files": [&old], "as": formats},
        ]);
        let seen = steps("site-others", &plan);
        assert_eq!(
            seen[0]["sides"],
            json!([["site-a.nettrace", "old"], ["site-b.nettrace", "new"]])
        );
        // From their folder, the command names the files as the browser does.
        let folder = Path::new(&old).parent().unwrap();
        fs::copy(&new, folder.join("site-b.nettrace")).unwrap();
        let compare = ["diff", "site-a.nettrace", "site-b.nettrace", "-o", "diff.html", "-q"];
        let ran = command(&compare).current_dir(folder).status().unwrap();
        assert!(matches!(ran.code(), Some(0 | 3)), "{ran}");
        assert!(read(&seen[0]["page"]) == fs::read(folder.join("diff.html")).unwrap());
        for format in formats {
            let path = file(&format!("site-converted.{format}"), b"");
            let ran =
                nettrace(&["convert", &old, "--format", format, "-o", &path, "--force", "-q"]);
            assert_eq!(ran.code, Some(0), "{ran:?}");
            let made = read(&seen[1]["saved"][format]);
            assert!(made == fs::read(path).unwrap(), "{format}");
        }
    }
}
