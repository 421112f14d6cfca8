//! `nettrace heap` of real runtimes.

use super::{Subject, finished, ran, wait_until};
use crate::common::command;
use nettrace_testdata::peers::{self, Folder};
use serde_json::Value;

fn row<'r>(report: &'r Value, name: &str) -> &'r Value {
    let types = report["types"].as_array().unwrap();
    types.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

fn nameless(report: &Value) -> u64 {
    report["missing"]["undescribed_objects"].as_u64().unwrap()
}

#[test]
fn a_process_is_dumped_again_and_again_and_each_time_types_have_names() {
    peers::each(peers::all(), |peer| {
        // 4,096 places that a static variable holds; arrays of bytes and texts come and go in them.
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
            assert!(row(&report, "System.Object[]")["largest_bytes"] == 24 + 8 * 4096, "{}", peer.major);
            assert_eq!(row(&report, "System.String")["module"], "System.Private.CoreLib");
            let kept = ran(&["heap", file, "--json"], &subject.folder).json();
            assert_eq!(report["types"], kept["types"]);
        }
        let paths = ["heap", "paths", "second.nettrace", "--type", "^System.Byte\\[\\]$", "--json"];
        let report = ran(&paths, &subject.folder).json();
        let most = &report["paths"][0];
        assert_eq!((&most["root_kind"], &most["root_name"]), (&"static".into(), &"survivors".into()));
        let steps: Vec<&str> = most["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step["type_name"].as_str().unwrap())
            .collect();
        assert_eq!(steps, ["System.Object[]", "System.Byte[]"], ".NET {}", peer.major);
        assert!(most["count"].as_u64() > Some(1_000), "{most}");
        let diff = ran(&["heap", "diff", "first.nettrace", "second.nettrace", "--json"], &subject.folder);
        assert_eq!(diff.code, Some(0), "{}", diff.stderr);
        subject.assert_unharmed();
    });
}

#[test]
fn beside_another_session_a_dump_is_whole_and_says_which_names_it_lacks() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "sleep");
        let heap = "Microsoft-Windows-DotNETRuntime:0x1980001:5";
        let other =
            subject.spawn(&["collect", "--providers", heap, "--duration", "8s", "-o", "other.nettrace"]);
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
fn a_program_that_is_started_is_dumped_and_goes_on_to_its_end() {
    peers::each(peers::modern(), |peer| {
        let folder = Folder::new();
        let words = peer.words("sleep", 3);
        let mut args = vec!["heap", "--patience", "120s", "--top", "3", "--"];
        args.extend(words.iter().map(String::as_str));
        let output = command(&args)
            .current_dir(folder.path())
            .env("TMPDIR", folder.path())
            .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")
            .output()
            .unwrap();
        let run = finished(output);
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        assert!(run.text().contains("reachable") && run.text().ends_with("done\n"), "{}", run.text());
    });
}
