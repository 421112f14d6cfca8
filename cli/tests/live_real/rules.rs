//! Rules on real runtimes.

use super::common::Json;
use super::{Subject, traces, wait_until};
use nettrace_testdata::peers;
use std::process::{Child, Stdio};

/// Starts a run with these rules that writes its messages to the file `messages`.
fn watching(subject: &Subject, rules: &str, words: &[&str]) -> Child {
    std::fs::write(subject.folder.file("rules.toml"), rules).unwrap();
    let messages = std::fs::File::create(subject.folder.file("messages")).unwrap();
    let pid = subject.pid();
    let words =
        [&["collect", "-p", &pid, "--patience", "120s", "--rules", "rules.toml"], words].concat();
    let mut command = crate::common::command(&words);
    command
        .current_dir(subject.folder.path())
        .stdin(Stdio::null())
        .stderr(messages)
        .spawn()
        .unwrap()
}

fn objects(subject: &Subject, event: &str) -> Vec<serde_json::Value> {
    let messages = std::fs::read_to_string(subject.folder.file("messages")).unwrap();
    let lines = messages.lines().filter(|line| line.starts_with('{'));
    let objects = lines.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    objects.filter(|object| object["event"] == event).collect()
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn rules_of_exceptions_and_of_the_heap_record_what_happens_then() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "exceptions");
        let rules = "\
            [[rule]]\nname = \"exceptions\"\nwhen = \"System.Runtime/exception-count > 5 for 2s\"\n\
            clrevents = \"exception\"\nduration = \"1s\"\ncooldown = \"1h\"\n\
            [[rule]]\nname = \"heap\"\nwhen = \"System.Runtime/gc-heap-size > 10KB and System.Runtime/working-set > 1MB\"\n\
            action = \"keep\"\nkeep-after = \"500ms\"\ncooldown = \"1h\"\n\
            [[rule]]\nname = \"never\"\nwhen = \"System.Runtime/threadpool-queue-length > 1000000 or System.Runtime/cpu-usage > 1000000%\"\n";
        let mut child = watching(
            &subject,
            rules,
            &["--rotate", "3x50MB", "--clrevents", "gc", "-o", "ring.nettrace"],
        );
        wait_until("both recordings", || {
            objects(&subject, "rule-recorded").len() == 2 || child.try_wait().unwrap().is_some()
        });
        peers::signal(child.id(), "INT");
        let messages = || std::fs::read_to_string(subject.folder.file("messages")).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), ".NET {}: {}", peer.major, messages());
        let fired = objects(&subject, "rule-fired");
        assert_eq!(fired.len(), 2, "{}", messages());
        for name in ["exceptions", "heap"] {
            let recorded = objects(&subject, "rule-recorded");
            let recorded = recorded.iter().find(|object| object["rule"] == name).unwrap();
            let file = recorded["files"][0].text();
            let info = subject.info(file);
            assert_eq!(
                (&info["complete"], &info["lost"]),
                (&true.into(), &0.into()),
                "{file}: {info}"
            );
        }
        let exceptions = fired.iter().find(|object| object["rule"] == "exceptions").unwrap();
        assert!(exceptions["values"]["System.Runtime/exception-count"].as_f64().unwrap() > 5.0);
        // Two files belong to rules, and one to the rotation, which has gone on.
        assert_eq!(
            traces(&subject.folder).iter().filter(|name| name.starts_with("ring_")).count(),
            3,
            "{}",
            messages()
        );
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
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
        let messages = std::fs::read_to_string(subject.folder.file("messages")).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), ".NET {}: {messages}", peer.major);
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn collect_stops_when_a_counter_has_been_so_for_a_time() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "exceptions");
        let until = "System.Runtime/exception-count > 5 for 2s";
        let run = subject.collect(&[
            "--until",
            until,
            "--clrevents",
            "exception",
            "-o",
            "until.nettrace",
        ]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.assert_message("for 2s: stopping");
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_rule_may_be_about_processor_memory_queue_requests_and_exceptions() {
    /// Name and condition of each rule, and the first major version with the counter.
    const RULES: [(&str, &str, u32); 6] = [
        ("processor", "System.Runtime/cpu-usage > 0.1 for 2s", 3),
        ("working-set", "System.Runtime/working-set > 10MB for 2s", 3),
        ("heap", "System.Runtime/gc-heap-size > 100KB for 2s", 3),
        // The queue of a pool that keeps up is empty.
        ("queue", "System.Runtime/threadpool-queue-length >= 0 for 2s", 3),
        ("exceptions", "System.Runtime/exception-count > 1 for 2s", 3),
        // A histogram, as is ASP.NET Core's instrument of requests.
        ("requests", "Nettrace.Workload/order.duration p99 > 1us for 2s", 8),
    ];
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "all");
        let its: Vec<_> = RULES.iter().filter(|(.., since)| peer.major >= *since).collect();
        let more = "providers = \"Nettrace-Workload\"\nduration = \"300ms\"\ncooldown = \"1h\"\n";
        let rules: String = its
            .iter()
            .map(|(name, when, _)| {
                format!("[[rule]]\nname = \"{name}\"\nwhen = \"{when}\"\n{more}")
            })
            .collect();
        let mut child = watching(&subject, &rules, &["--rundown", "false"]);
        wait_until("a recording of each", || {
            objects(&subject, "rule-recorded").len() == its.len()
                || child.try_wait().unwrap().is_some()
        });
        peers::signal(child.id(), "INT");
        let messages = || std::fs::read_to_string(subject.folder.file("messages")).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), ".NET {}: {}", peer.major, messages());
        for (name, when, _) in its {
            let fired = objects(&subject, "rule-fired");
            let fired: Vec<_> = fired.iter().filter(|object| object["rule"] == *name).collect();
            assert_eq!(fired.len(), 1, ".NET {} {name}: {}", peer.major, messages());
            assert_eq!(fired[0]["condition"], *when);
            let file = fired[0]["files"][0].text();
            assert!(file.ends_with(&format!("_{name}.nettrace")), "{file}");
            assert_eq!(subject.info(file)["complete"], true, "{file}");
        }
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_rule_rests_and_keeps_so_many_files_and_bytes() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "custom");
        let rules = "interval = \"500ms\"\n\
            [[rule]]\nname = \"files\"\nwhen = \"System.Runtime/working-set > 1MB\"\n\
            providers = \"Nettrace-Workload\"\nduration = \"200ms\"\ncooldown = \"300ms\"\nmax-files = 2\n\
            [[rule]]\nname = \"bytes\"\nwhen = \"System.Runtime/working-set > 1MB\"\n\
            providers = \"Nettrace-Workload\"\nduration = \"200ms\"\ncooldown = \"300ms\"\nmax-disk = \"50KB\"\n\
            [[rule]]\nname = \"once\"\nwhen = \"System.Runtime/working-set > 1MB\"\n\
            providers = \"Nettrace-Workload\"\nduration = \"200ms\"\ncooldown = \"1h\"\n";
        let mut child = watching(&subject, rules, &["--rundown", "false"]);
        let of = |name: &str| {
            let recorded = objects(&subject, "rule-recorded");
            recorded.iter().filter(|object| object["rule"] == name).count()
        };
        wait_until("many recordings", || {
            of("files") >= 5 && of("bytes") >= 5 || child.try_wait().unwrap().is_some()
        });
        peers::signal(child.id(), "INT");
        let messages = || std::fs::read_to_string(subject.folder.file("messages")).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), ".NET {}: {}", peer.major, messages());
        let left = |name: &str| {
            let all = traces(&subject.folder);
            let is_its =
                |file: &&String| file.trim_end_matches(".nettrace").contains(&format!("_{name}"));
            all.iter().filter(is_its).cloned().collect::<Vec<String>>()
        };
        assert_eq!((left("files").len(), left("once").len()), (2, 1), "{}", messages());
        let sizes = left("bytes")
            .into_iter()
            .map(|file| subject.folder.path().join(file).metadata().unwrap().len());
        let sizes: Vec<u64> = sizes.collect();
        eprintln!(".NET {}: {sizes:?} bytes are left", peer.major);
        // The size of the last file was limited while it grew; bytes at its end are added.
        assert!(sizes.len() < 5 && sizes.iter().sum::<u64>() <= 100 << 10, "{sizes:?}");
        subject.assert_unharmed();
    });
}
