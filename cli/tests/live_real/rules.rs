//! Rules on real runtimes: they fire by what the process counts.

use super::{Subject, traces, wait_until};
use nettrace_testdata::peers;
use std::process::{Child, Stdio};

/// A run with these rules, with its messages in a file.
fn watching(subject: &Subject, rules: &str, words: &[&str]) -> Child {
    std::fs::write(subject.folder.file("rules.toml"), rules).unwrap();
    let said = std::fs::File::create(subject.folder.file("said")).unwrap();
    let pid = subject.pid();
    let words = [&["collect", "-p", &pid, "--patience", "120s", "--rules", "rules.toml"], words].concat();
    let mut command = crate::common::command(&words);
    command.current_dir(subject.folder.path()).stdin(Stdio::null()).stderr(said).spawn().unwrap()
}

fn objects(subject: &Subject, event: &str) -> Vec<serde_json::Value> {
    let said = std::fs::read_to_string(subject.folder.file("said")).unwrap();
    let lines = said.lines().filter(|line| line.starts_with('{'));
    let objects = lines.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    objects.filter(|object| object["event"] == event).collect()
}

#[test]
fn rules_of_exceptions_and_of_the_heap_record_what_happens_then() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "exceptions");
        let rules = "\
            [[rule]]\nname = \"exceptions\"\nwhen = \"System.Runtime/exception-count > 5 for 2s\"\n\
            clrevents = \"exception\"\nduration = \"1s\"\ncooldown = \"1h\"\n\
            [[rule]]\nname = \"heap\"\nwhen = \"System.Runtime/gc-heap-size > 10KB and System.Runtime/working-set > 1MB\"\n\
            action = \"keep\"\nkeep-after = \"500ms\"\ncooldown = \"1h\"\n\
            [[rule]]\nname = \"never\"\nwhen = \"System.Runtime/threadpool-queue-length > 1000000 or System.Runtime/cpu-usage > 101%\"\n";
        let mut child =
            watching(&subject, rules, &["--rotate", "3x50MB", "--clrevents", "gc", "-o", "ring.nettrace"]);
        wait_until("both recordings", || {
            objects(&subject, "rule-recorded").len() == 2 || child.try_wait().unwrap().is_some()
        });
        peers::signal(child.id(), "INT");
        let said = || std::fs::read_to_string(subject.folder.file("said")).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), ".NET {}: {}", peer.major, said());
        let fired = objects(&subject, "rule-fired");
        assert_eq!(fired.len(), 2, "{}", said());
        for name in ["exceptions", "heap"] {
            let recorded = objects(&subject, "rule-recorded");
            let recorded = recorded.iter().find(|object| object["rule"] == name).unwrap();
            let file = recorded["files"][0].as_str().unwrap();
            let info = subject.info(file);
            assert_eq!((&info["complete"], &info["lost"]), (&true.into(), &0.into()), "{file}: {info}");
        }
        let exceptions = fired.iter().find(|object| object["rule"] == "exceptions").unwrap();
        assert!(exceptions["values"]["System.Runtime/exception-count"].as_f64().unwrap() > 5.0);
        // Two of rules, and the rotation that went on.
        assert_eq!(
            traces(&subject.folder).iter().filter(|name| name.starts_with("ring_")).count(),
            3,
            "{}",
            said()
        );
        subject.assert_unharmed();
    });
}

#[test]
fn rules_of_instruments_know_tags_and_percentiles() {
    peers::each(peers::modern(), |peer| {
        let mut subject = Subject::start(peer, "metrics");
        let rules = "\
            [[rule]]\nname = \"slow\"\nwhen = \"Nettrace.Workload/order.duration{kind=book} p99 > 1us for 2s\"\n\
            providers = \"Nettrace-Workload\"\nduration = \"500ms\"\ncooldown = \"1h\"\n\
            [[rule]]\nname = \"orders\"\nwhen = \"Nettrace.Workload/orders > 1\"\n\
            providers = \"Nettrace-Workload\"\nduration = \"500ms\"\ncooldown = \"1h\"\n";
        let mut child = watching(&subject, rules, &["--rundown", "false"]);
        wait_until("both recordings", || {
            objects(&subject, "rule-recorded").len() == 2 || child.try_wait().unwrap().is_some()
        });
        peers::signal(child.id(), "INT");
        let said = std::fs::read_to_string(subject.folder.file("said")).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), ".NET {}: {said}", peer.major);
        subject.assert_unharmed();
    });
}

#[test]
fn collect_stops_when_a_counter_has_been_so_for_a_time() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "exceptions");
        let until = "System.Runtime/exception-count > 5 for 2s";
        let run = subject.collect(&["--until", until, "--clrevents", "exception", "-o", "until.nettrace"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.stderr.contains("for 2s: stopping"), "{}", run.stderr);
        subject.assert_unharmed();
    });
}
