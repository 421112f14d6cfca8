//! `nettrace watch` on real runtimes.

use super::Subject;
use nettrace_testdata::peers;

#[test]
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
        let run = subject.run(&["watch", "--show", "gc", "--limit", "1"]);
        assert!(run.code == Some(0) && run.text().contains("GC"), "{}", run.text());
        subject.assert_unharmed();
    });
}
