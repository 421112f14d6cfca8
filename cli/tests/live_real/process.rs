//! `nettrace ps` and `nettrace process` on real runtimes.

use super::common::Json;
use super::{Ran, Subject, ran, wait_until};
use nettrace_testdata::peers::{self, Folder};

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn ps_lists_each_runtime_with_its_version_and_what_it_can_do() {
    let peers = peers::all();
    let folder = Folder::new();
    let targets: Vec<_> = peers.iter().map(|peer| peer.start(&folder, "sleep", 0)).collect();
    if targets.is_empty() {
        return;
    }
    // On a busy machine, a process may not answer within two seconds, and is listed without
    // version.
    let versions = |report: &serde_json::Value| {
        let processes = report["processes"].list();
        let ours = |pid: &serde_json::Value| targets.iter().any(|target| *pid == target.pid());
        processes
            .iter()
            .filter(|process| ours(&process["pid"]) && process["version"].is_string())
            .count()
    };
    let mut report = serde_json::Value::Null;
    wait_until("all to answer", || {
        report = ran(&["ps", "--json"], &folder).json();
        versions(&report) == targets.len()
    });
    let text = ran(&["ps", "--all"], &folder);
    for target in &targets {
        let processes = report["processes"].list();
        let own = processes.iter().find(|process| process["pid"] == target.pid()).unwrap();
        assert_eq!((&own["reachable"], &own["name"]), (&true.into(), &"workload".into()), "{own}");
        let version = own["version"].text();
        assert!(version.starts_with(&format!("{}.", target.major)), "{version}");
        let knows = |command: &str| own["commands"].list().contains(&command.into());
        assert!(
            knows("CollectTracing2") && knows("CollectTracing5") == (target.major == 10),
            "{own}"
        );
        let line = text
            .text()
            .lines()
            .find(|line| line.trim_start().starts_with(&target.pid().to_string()));
        assert!(line.unwrap().contains("sleep 0"), "{line:?}");
    }
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn each_request_of_process_is_answered() {
    peers::each(peers::modern(), |peer| {
        let mut subject = Subject::start(peer, "sleep");
        let fine = |words: &[&str]| {
            let run = subject.run(words);
            assert_eq!(run.code, Some(0), ".NET {} {words:?}: {}", peer.major, run.stderr);
            run
        };
        let info = fine(&["process", "info", "--json"]).json();
        assert_eq!(info["pid"], subject.target.pid());
        assert!(info["command_line"].text().ends_with("sleep 0"), "{info}");
        fine(&["process", "setenv", "NETTRACE_TEST=a=b"]);
        assert!(fine(&["process", "env"]).text().contains("HOME="));
        fine(&["process", "setenv", "--unset", "NETTRACE_TEST"]);
        fine(&["process", "resume", "--json"]);
        fine(&["process", "perfmap", "perfmap"]);
        fine(&["process", "perfmap", "off"]);
        for name in [
            format!("/tmp/perf-{}.map", subject.pid()),
            format!("/tmp/perfinfo-{}.map", subject.pid()),
        ] {
            let _ = std::fs::remove_file(name);
        }
        let dump = subject.folder.file("d.dmp");
        let run = dumped(&subject, &dump);
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        assert!(std::fs::metadata(&dump).unwrap().len() > 1_000_000);
        std::fs::remove_file(&dump).unwrap();
        fine(&["process", "startup-profiler", "cf0d821e-299b-5307-a3d8-b283c03916dd", "/none.so"]);
        let raw = fine(&["process", "send", "--unsafe-raw", "04", "00", "--json"]).json();
        assert_eq!(raw["schema"], 1);
        let refused = |words: &[&str], why: &str| {
            let run = subject.run(words);
            assert_eq!(run.code, Some(1), "{words:?}");
            assert!(run.stderr.contains(why), ".NET {} {words:?}: {}", peer.major, run.stderr);
        };
        let profiler =
            ["process", "attach-profiler", "cf0d821e-299b-5307-a3d8-b283c03916dd", "/none.so"];
        refused(&profiler, "0x8007007E");
        refused(&["process", "setenv", "--unset", "NETTRACE_NOPE"], "0x800700CB");
        // A request that would kill the process is not sent.
        let hook = subject.run(&["process", "startup-hook", "/none.dll"]);
        assert_eq!(hook.code, Some(2), "{}", hook.stderr);
        // The runtime keeps files of a perf map open after it was switched off.
        subject.descriptors_before += 2;
        subject.assert_unharmed();
    });
}

/// Writes a dump, with up to 20 retries, because createdump fails if a thread ends meanwhile.
fn dumped(subject: &Subject, path: &str) -> Ran {
    let mut run = subject.run(&["process", "dump", "-o", path]);
    for _ in 0..20 {
        if run.code == Some(0) || !run.stderr.contains("0x8") {
            break;
        }
        let _ = std::fs::remove_file(path);
        run = subject.run(&["process", "dump", "-o", path]);
    }
    run
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn net_core_3_says_what_it_cannot_do_and_writes_dumps() {
    peers::each(peers::all().into_iter().filter(|peer| peer.major == 3).collect(), |peer| {
        let mut subject = Subject::start(peer, "sleep");
        for words in [&["process", "info"][..], &["process", "env"], &["process", "perfmap"]] {
            let run = subject.run(words);
            assert_eq!(run.code, Some(1), "{words:?}");
            assert!(run.stderr.contains("0x80131385"), "{words:?}: {}", run.stderr);
        }
        let dump = subject.folder.file("d.dmp");
        let run = dumped(&subject, &dump);
        // The request is not sent if createdump cannot be executed, because it would harm the
        // process.
        assert_eq!(run.code == Some(0), std::fs::metadata(&dump).is_ok(), "{}", run.stderr);
        subject.assert_unharmed();
    });
}
