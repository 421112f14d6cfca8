//! Tests that a report has events of the providers that it recommends.

use super::{Subject, ran};
use nettrace_testdata::peers::{self, Folder};
use nettrace_testdata::synth::{Session, Version};

/// Reports, each with the scenario that has events for it.
const REPORTS: [(&str, &str); 14] = [
    ("topN", "all"),
    ("modules", "all"),
    ("gc", "all"),
    ("alloc", "all"),
    ("types", "all"),
    ("jit", "all"),
    ("loader", "all"),
    ("threadpool", "all"),
    ("exceptions", "all"),
    ("contention", "all"),
    ("waits", "all"),
    ("tasks", "all"),
    ("activities", "metrics"),
    ("counters", "metrics"),
];

/// Providers without events, because the program sends and answers no requests.
const OUT_OF_REACH: [&str; 2] = ["System.Net.Http:", "Microsoft.AspNetCore.Hosting:"];

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_report_has_events_of_each_provider_that_it_recommends() {
    peers::each(peers::all().into_iter().filter(|peer| peer.major == 10).collect(), |peer| {
        let mut all = Subject::start(peer, "all");
        let mut metrics = Subject::start(peer, "metrics");
        for (report, scenario) in REPORTS {
            let subject = if scenario == "all" { &all } else { &metrics };
            let recommended = recommended(report, &subject.folder);
            assert!(!recommended.is_empty(), "{report}");
            for providers in recommended {
                if OUT_OF_REACH.iter().any(|start| providers.starts_with(start)) {
                    continue;
                }
                let run = subject.collect(&[
                    "--providers",
                    &providers,
                    "--duration",
                    "2500ms",
                    "-o",
                    "x.nettrace",
                ]);
                assert_eq!(run.code, Some(0), "{providers}: {}", run.stderr);
                let run = ran(&["report", report, "x.nettrace"], &subject.folder);
                assert_eq!(run.code, Some(0), "{report}, {providers}: {}", run.stderr);
                assert!(!run.stdout.is_empty(), "{report}, {providers}: {}", run.stderr);
                assert!(
                    !run.stderr.contains("record with --providers"),
                    "{report}, {providers}: {}",
                    run.stderr
                );
            }
        }
        all.assert_unharmed();
        metrics.assert_unharmed();
    });
}

/// Returns the providers that a report recommends for an empty trace, without quotes for a shell.
fn recommended(report: &str, folder: &Folder) -> Vec<String> {
    let nothing = Session::new(Version::V4).record().stream.bytes;
    std::fs::write(folder.file("nothing.nettrace"), nothing).unwrap();
    let run = ran(&["report", report, "nothing.nettrace"], folder);
    let (_, advice) = run
        .stderr
        .split_once("record with --providers ")
        .unwrap_or_else(|| panic!("{}", run.stderr));
    let advice = advice.lines().next().unwrap_or_default();
    let words = advice.split(" or ").map(|word| word.split(" (.NET").next().unwrap_or(word));
    words.map(|word| word.trim_matches('\'').to_owned()).collect()
}
