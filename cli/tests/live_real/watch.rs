//! `nettrace watch` on real runtimes.

use super::Subject;
use super::common::Json;
use nettrace_testdata::peers;

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn each_choice_of_events_shows_them_as_they_happen() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "all");
        for (words, provider) in [
            (&["--show", "gc"][..], "Microsoft-Windows-DotNETRuntime"),
            (&["--show", "exceptions"], "Microsoft-Windows-DotNETRuntime"),
            (&["--show", "contention"], "Microsoft-Windows-DotNETRuntime"),
            (&["--providers", "Nettrace-Workload", "--event", "Item"], "Nettrace-Workload"),
        ] {
            let limit = ["--limit", "3", "--format", "ndjson", "--duration", "600s"];
            let run = subject.run(&[&["watch"], words, &limit[..]].concat());
            assert_eq!(run.code, Some(0), ".NET {} {words:?}: {}", peer.major, run.stderr);
            let events = run.lines();
            assert_eq!(events.len(), 3, ".NET {} {words:?}", peer.major);
            assert!(events.iter().all(|event| event["provider"] == provider), "{events:?}");
        }
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn what_happens_is_one_line_each() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "all");
        let own = ["--providers", "Nettrace-Workload,System.Threading.Tasks.TplEventSource:0x80:4"];
        for (show, more, kind, part) in [
            ("gc", &[][..], "gc", " gen "),
            ("gc", &["--where", "generation = 2 and pause > 1us"], "gc", " gen 2 "),
            ("exceptions", &[], "exception", ": "),
            ("contention", &[], "contention", "waited "),
            ("jit", &[], "jit", " B"),
            // These are the program's own requests.
            ("http", &own, "http", "/items/"),
            ("http", &[&own[..], &["--where", "duration >= 2ms"]].concat(), "http", " ms"),
        ] {
            let words = ["watch", "--show", show, "--limit", "2", "--duration", "600s"];
            let run = subject.run(&[&words, more].concat());
            assert_eq!(run.code, Some(0), ".NET {} {show}: {}", peer.major, run.stderr);
            let lines: Vec<&str> = run.text().lines().skip(1).collect();
            assert_eq!(lines.len(), 2, ".NET {} {show} {more:?}: {}", peer.major, run.text());
            for line in lines {
                let is_wanted = line.split_whitespace().nth(2) == Some(kind) && line.contains(part);
                assert!(is_wanted, ".NET {} {show}: {line}", peer.major);
            }
        }
        // Changes of the pool are rare.
        let words = ["watch", "--show", "threadpool", "--limit", "1", "--duration", "20s"];
        let run = subject.run(&words);
        let lines: Vec<&str> = run.text().lines().skip(1).collect();
        assert!(lines.iter().all(|line| line.contains("worker")), ".NET {}: {lines:?}", peer.major);
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn the_stack_of_an_exception_has_the_names_of_what_ran_before_it_was_watched() {
    peers::each(peers::all(), |peer| {
        // Everything that throws was compiled before.
        let mut subject = Subject::start(peer, "all");
        let words =
            ["watch", "--show", "exceptions", "--stacks", "--limit", "20", "--duration", "600s"];
        let run = subject.run(&words);
        assert_eq!((run.code, &*run.stderr), (Some(0), ""), ".NET {}", peer.major);
        let text = run.text();
        let frames: Vec<&str> =
            text.lines().filter_map(|line| line.trim().strip_prefix("at ")).collect();
        let thrown = frames
            .iter()
            .filter(|frame| **frame == "workload!Workload.Program.Thrower(int,int)")
            .count();
        assert_eq!(thrown, 20, ".NET {}: {text}", peer.major);
        assert!(
            frames.contains(&"workload!Workload.Program.Main(string[])"),
            ".NET {}: {text}",
            peer.major
        );
        let nameless = frames.iter().filter(|frame| frame.starts_with("0x")).count();
        assert_eq!(nameless, 0, ".NET {}: {text}", peer.major);
        // Programs that read the output get addresses, and on request names beside them.
        let run = subject
            .run(&[&words[..4], &["--limit", "1", "--format", "ndjson", "--frames"]].concat());
        let line = &run.lines()[0];
        let [stack, frames] = ["stack", "frames"].map(|key| line[key].list());
        assert_eq!(stack.len(), frames.len());
        assert!(stack.iter().all(|address| address.text().starts_with("0x")), "{line}");
        assert!(
            frames.iter().any(|name| name == "workload!Workload.Program.Thrower(int,int)"),
            "{line}"
        );
        subject.assert_unharmed();
    });
}
