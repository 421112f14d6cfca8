//! `nettrace heap` on real runtimes.

use super::common::Json;
use super::{Subject, finished, launching, ran, wait_until};
use nettrace_testdata::peers::{self, Folder};
use serde_json::Value;

fn row<'r>(report: &'r Value, name: &str) -> &'r Value {
    let types = report["types"].list();
    types.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

fn nameless(report: &Value) -> u64 {
    report["missing"]["undescribed_objects"].int()
}

/// Returns the sums of objects and bytes of all types.
fn sizes(report: &Value) -> [u64; 2] {
    let types = report["types"].list();
    ["count", "bytes"].map(|name| types.iter().map(|row| row[name].as_u64().unwrap()).sum())
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_process_is_dumped_again_and_again_and_each_time_types_have_names() {
    peers::each(peers::all(), |peer| {
        // A static variable holds an array of 4,096 objects: arrays of bytes, and texts.
        let mut subject = Subject::start(peer, "gc");
        for file in ["first.nettrace", "second.nettrace"] {
            let run = subject.run(&["heap", "--json", "--save", file]);
            assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
            let report = run.json();
            assert_eq!(
                (&report["dumps"][0]["complete"], nameless(&report)),
                (&true.into(), 0),
                "{}",
                peer.major
            );
            assert!(report["pause_ns"].as_i64().unwrap() > 0);
            assert!(
                row(&report, "System.Object[]")["largest_bytes"] == 24 + 8 * 4096,
                "{}",
                peer.major
            );
            assert_eq!(row(&report, "System.String")["module"], "System.Private.CoreLib");
            let kept = ran(&["heap", file, "--json"], &subject.folder).json();
            // Only sums, because without the process's modules, nested types of one name are one
            // type.
            assert_eq!(sizes(&report), sizes(&kept));
        }
        let paths = ["heap", "paths", "second.nettrace", "--type", "^System.Byte\\[\\]$", "--json"];
        let report = ran(&paths, &subject.folder).json();
        let most = &report["paths"][0];
        assert_eq!(
            (&most["root_kind"], &most["root_name"]),
            (&"static".into(), &"survivors".into())
        );
        let steps: Vec<&str> =
            most["steps"].list().iter().map(|step| step["type_name"].text()).collect();
        assert_eq!(steps, ["System.Object[]", "System.Byte[]"], ".NET {}", peer.major);
        assert!(most["count"].as_u64() > Some(1_000), "{most}");
        let diff =
            ran(&["heap", "diff", "first.nettrace", "second.nettrace", "--json"], &subject.folder);
        assert_eq!(diff.code, Some(0), "{}", diff.stderr);
        subject.assert_unharmed();
    });
}

/// Asserts counts, bytes and retained bytes of the types of `KnownGraph`, and the paths to their
/// objects.
fn assert_known_graph(subject: &Subject, file: &str, major: u32) {
    let report = ran(&["heap", file, "--type", "^Known\\.", "--json"], &subject.folder).json();
    let sums = |name: &str| {
        let row = row(&report, name);
        assert_eq!(row["module"], "KnownGraph", ".NET {major}: {name}");
        ["count", "bytes", "retained_bytes", "largest_bytes"].map(|key| row[key].int())
    };
    // An object has 16 bytes and its fields, an array 24 bytes and its elements.
    let (session, cart, data) = (16 + 2 * 8, 16 + 8, 24 + 100);
    let all = session + cart + data;
    assert_eq!(sums("Known.Session"), [1000, 1000 * session, 1000 * all, session], ".NET {major}");
    assert_eq!(sums("Known.Cart"), [1000, 1000 * cart, 1000 * cart, cart], ".NET {major}");
    assert_eq!(sums("Known.Link"), [500, 500 * 24, 500 * 24, 24], ".NET {major}");
    assert_eq!(sums("Known.Subscriber"), [300, 300 * 24, 300 * 24, 24], ".NET {major}");
    assert!(report["types"].list().iter().all(|row| row["name"] != "Known.Garbage"));
    let path = |name: &str| {
        let wanted = format!("^Known\\.{name}$");
        let report =
            ran(&["heap", "paths", file, "--type", &wanted, "--json"], &subject.folder).json();
        let paths = report["paths"].list();
        assert_eq!(paths.len(), 1, ".NET {major}: {report}");
        assert_eq!(paths[0]["root_kind"], "static", ".NET {major}");
        let mut way = vec![paths[0]["root_name"].text().to_owned()];
        let steps = paths[0]["steps"].list();
        way.extend(steps.iter().map(|step| step["type_name"].text().to_owned()));
        (paths[0]["count"].int(), way.join(" > "))
    };
    let list =
        "s_sessions > System.Collections.Generic.List<Session> > Known.Session[] > Known.Session";
    assert_eq!(path("Session"), (1000, list.to_owned()), ".NET {major}");
    assert_eq!(path("Link"), (500, "s_ring > Known.Link".to_owned()), ".NET {major}");
    let handlers = "s_publisher > Known.Publisher > System.EventHandler > System.Object[] > System.EventHandler \
                    > Known.Subscriber";
    assert_eq!(path("Subscriber"), (300, handlers.to_owned()), ".NET {major}");
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_known_graph_is_found_object_by_object_with_who_holds_it() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::with_known_graph(peer, "sleep");
        let run = subject.run(&["heap", "--save", "alone.nettrace"]);
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        assert!(run.text().contains("paused for "), "{}", run.text());
        assert_known_graph(&subject, "alone.nettrace", peer.major);
        // Beside another session, for which the runtime describes no types.
        let beside = subject.spawn(&["collect", "--duration", "8s", "-o", "beside.nettrace"]);
        let file = subject.folder.path().join("beside.nettrace.part");
        wait_until("the other session", || {
            std::fs::metadata(&file).is_ok_and(|data| data.len() > 0)
        });
        let run = subject.run(&["heap", "--save", "second.nettrace"]);
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        assert_known_graph(&subject, "second.nettrace", peer.major);
        let beside = finished(beside.wait_with_output().unwrap());
        assert_eq!(beside.code, Some(0), "{}", beside.stderr);
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn beside_another_session_a_dump_is_whole_and_says_which_names_it_lacks() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "sleep");
        let heap = "Microsoft-Windows-DotNETRuntime:0x1980001:5";
        let other = subject.spawn(&[
            "collect",
            "--providers",
            heap,
            "--duration",
            "8s",
            "-o",
            "other.nettrace",
        ]);
        let file = subject.folder.path().join("other.nettrace.part");
        wait_until("the other session's dump", || {
            std::fs::metadata(&file).is_ok_and(|data| data.len() > 20_000)
        });
        let run = subject.run(&["heap", "--json"]);
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        let report = run.json();
        assert!(
            report["dumps"][0]["complete"] == true && report["objects"].as_u64() > Some(100),
            "{}",
            peer.major
        );
        assert_eq!(nameless(&report) > 0, run.stderr.contains("have no names"), "{}", run.stderr);
        let other = finished(other.wait_with_output().unwrap());
        assert_eq!(other.code, Some(0), "{}", other.stderr);
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_program_that_is_started_is_dumped_and_goes_on_to_its_end() {
    peers::each(peers::modern(), |peer| {
        let folder = Folder::new();
        let options = ["heap", "--patience", "120s", "--top", "3"];
        let run = finished(launching(peer, &options, ("sleep", 3), &folder).output().unwrap());
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        assert!(
            run.text().contains("reachable") && run.text().ends_with("done\n"),
            "{}",
            run.text()
        );
    });
}
