//! Compares `counters`, `stack` and `heap` with dotnet-counters, dotnet-stack and dotnet-gcdump.

use super::Subject;
use super::common::Json;
use nettrace_testdata::peers;
use std::collections::{BTreeMap, BTreeSet};

/// Runs one of the tools on a process and returns its output.
fn printed(subject: &Subject, name: &str, words: &[&str]) -> String {
    let mut tool = peers::tool(&format!("../moretools/{name}/{name}.dll"));
    tool.args(words).args(["-p", &subject.pid()]);
    // The tool looks for the process's socket in TMPDIR.
    tool.current_dir(subject.folder.path()).env("TMPDIR", subject.folder.path());
    let output = tool.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{name} {words:?}: {text}");
    text
}

/// Returns the last value of each gauge in a CSV file. Other counters change in an idle process.
fn levels(csv: &str) -> BTreeMap<String, f64> {
    let rows = csv.lines().skip(1).map(|line| line.rsplitn(3, ',').collect::<Vec<_>>());
    let levels = rows.filter(|row| row.get(1) == Some(&"Metric"));
    // Without the time, whose format differs.
    let name = |row: &str| row.split_once(',').unwrap().1.to_owned();
    levels.map(|row| (name(row[2]), row[0].parse().unwrap())).collect()
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn counters_are_those_of_dotnet_counters() {
    peers::each(peers::modern(), |peer| {
        let mut subject = Subject::start(peer, "sleep");
        let words = [
            "collect",
            "--format",
            "csv",
            "-o",
            "theirs.csv",
            "--duration",
            "00:00:04",
            "--counters",
            "System.Runtime",
        ];
        printed(&subject, "dotnet-counters", &words);
        let own = ["counters", "--counters", "System.Runtime", "--duration", "4s", "-o", "own.csv"];
        let run = subject.run(&own);
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        let read = |name: &str| std::fs::read_to_string(subject.folder.file(name)).unwrap();
        let (own, theirs) = (levels(&read("own.csv")), levels(&read("theirs.csv")));
        let names =
            |levels: &BTreeMap<String, f64>| levels.keys().cloned().collect::<BTreeSet<_>>();
        assert_eq!(names(&own), names(&theirs), ".NET {}", peer.major);
        for (name, their) in &theirs {
            let own = own[name];
            // Sessions make the process load and allocate.
            let is_same = (own - their).abs() <= 0.5 * their.abs().max(own.abs());
            let changes = [
                "allocat",
                "committed",
                "gen0",
                "gen-0",
                "Gen 0",
                "CPU",
                "jit",
                "JIT",
                "time",
                "pool",
            ];
            let may_change = changes.iter().any(|part| name.contains(part));
            assert!(is_same || may_change, ".NET {} {name}: {own} and {their}", peer.major);
        }
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn the_stack_of_the_main_thread_is_that_of_dotnet_stack() {
    peers::each(peers::modern(), |peer| {
        let mut subject = Subject::start(peer, "sleep");
        let text = printed(&subject, "dotnet-stack", &["report"]);
        // Formats of parameters and nested types differ.
        let plain = |frame: &str| {
            let name = frame.trim().split('(').next().unwrap();
            name.replace('+', ".")
        };
        let mut threads = text.split("Thread (");
        let main = threads.find(|thread| thread.contains("Workload.Program.Main"));
        let main = main.unwrap_or_else(|| panic!("{text}"));
        let theirs: Vec<String> =
            main.lines().filter(|line| line.contains('!')).map(plain).collect();
        let document = subject.run(&["stack", "--json", "--timeout", "120s"]).json();
        let is_main = |thread: &&serde_json::Value| thread["thread_id"] == subject.target.pid();
        let own = document["threads"].list().iter().find(is_main).unwrap();
        let own: Vec<String> =
            own["frames"].list().iter().map(|frame| plain(frame.text())).collect();
        assert_eq!(own, theirs, ".NET {}", peer.major);
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn objects_of_a_known_graph_are_those_of_dotnet_gcdump() {
    peers::each(peers::modern(), |peer| {
        let mut subject = Subject::with_known_graph(peer, "sleep");
        let text = printed(&subject, "dotnet-gcdump", &["report"]);
        let mut theirs: BTreeMap<String, u64> = BTreeMap::new();
        for line in text.lines().filter(|line| line.contains("[KnownGraph.dll]")) {
            // Lines such as `32 1,000 Known.Session [KnownGraph.dll]`; large arrays have further
            // lines.
            let words: Vec<&str> = line.split_whitespace().collect();
            let count: u64 = words[1].replace(',', "").parse().unwrap();
            *theirs.entry(words[2].to_owned()).or_default() += count;
        }
        assert!(theirs.len() > 4, ".NET {}: {text}", peer.major);
        let report = subject.run(&["heap", "--json"]).json();
        let types = report["types"].list();
        for (name, count) in theirs {
            let row = types.iter().find(|row| row["name"] == *name);
            let own = row.map(|row| row["count"].int());
            assert_eq!(own, Some(count), ".NET {} {name}", peer.major);
        }
        subject.assert_unharmed();
    });
}
