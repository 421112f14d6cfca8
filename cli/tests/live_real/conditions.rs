//! Conditions of `--until` that cannot be met are reported at the start, or at the first event that
//! shows it.

use super::Subject;
use nettrace_testdata::peers;

/// Time at which the message comes.
#[derive(Clone, Copy, PartialEq)]
enum When {
    /// Before the session begins.
    AtTheStart,
    /// At the first event with the condition's name.
    AtAnEvent,
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn unreachable_conditions_are_reported_at_the_start_or_at_the_first_event() {
    use When::{AtAnEvent, AtTheStart};
    const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";
    let cases = [
        ("Nobody/Thing".to_owned(), AtTheStart, "the session does not record Nobody"),
        (format!("{RUNTIME}/GC/Strat"), AtTheStart, "did you mean GC/Start?"),
        (format!("{RUNTIME}/Contention/Start"), AtTheStart, "with keyword 0x4000; add it with"),
        (
            format!("{RUNTIME}/GC/Start where Dept >= 0"),
            AtAnEvent,
            "has no field Dept; did you mean Depth?",
        ),
        (
            format!("{RUNTIME}/GC/Start where Depth > much"),
            AtAnEvent,
            "Depth of Microsoft-Windows-DotNETRuntime/GC/Start is a number, but much is none",
        ),
    ];
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "gc");
        let options = [
            "--profile",
            "gc-collect",
            "--rundown",
            "false",
            "--duration",
            "1s",
            "-o",
            "x.nettrace",
        ];
        for (until, when, reason) in &cases {
            let run = subject.collect(&[&["--until", until.as_str()][..], &options].concat());
            assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
            let (before, after) = run.stderr.split_once("recording workload").unwrap();
            let place = if *when == AtTheStart { before } else { after };
            assert!(place.contains(reason), ".NET {} {until}: {}", peer.major, run.stderr);
        }
        // Options of dotnet-trace for such a condition.
        let event = ["--stopping-event-provider-name", RUNTIME, "--stopping-event-event-name"];
        let filter = ["GC/Start", "--stopping-event-payload-filter", "Dept:0"];
        let run = subject.collect(&[&event[..], &filter, &options].concat());
        run.assert_message("has no field Dept; did you mean Depth?");
        // A condition that can be met ends the recording, which has no duration here.
        let until = format!("{RUNTIME}/GC/Start where Depth >= 0 and Reason ~ '^(Induced|Alloc)'");
        let options = ["--profile", "gc-collect", "--rundown", "false", "-o", "x.nettrace"];
        let run = subject.collect(&[&["--until", until.as_str()][..], &options].concat());
        assert!(run.code == Some(0) && run.stderr.contains(": stopping"), "{}", run.stderr);
        subject.assert_unharmed();
    });
}
