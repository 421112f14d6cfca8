//! Ends of recordings of real processes: signals to the command, signals to the process, and a
//! process that stands still.

use super::common::Json;
use super::{Subject, finished, wait_until};
use nettrace_testdata::peers;

/// Starts a recording and waits until bytes have arrived.
fn recording(subject: &Subject, options: &[&str]) -> std::process::Child {
    let words = [
        "collect",
        "--providers",
        "Nettrace-Workload:7:5",
        "--rundown",
        "false",
        "-o",
        "x.nettrace",
    ];
    let child = subject.spawn(&[&words[..], options].concat());
    let file = subject.folder.file("x.nettrace.part");
    wait_until("the first bytes", || {
        std::fs::metadata(&file).is_ok_and(|data| data.len() > 10_000)
    });
    child
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_killed_process_leaves_a_readable_file() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "custom");
        let child = recording(&subject, &[]);
        subject.target.signal("KILL");
        let run = finished(child.wait_with_output().unwrap());
        subject.target.wait();
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        run.assert_message("exited without completing the trace");
        assert!(subject.info("x.nettrace")["events"].int() > 10);
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_terminated_process_ends_its_trace_if_it_can() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "custom");
        let child = recording(&subject, &[]);
        subject.target.signal("TERM");
        let run = finished(child.wait_with_output().unwrap());
        subject.target.wait();
        let is_complete = subject.info("x.nettrace")["complete"] == true;
        assert_eq!(run.code, Some(if is_complete { 0 } else { 3 }), "{}", run.stderr);
        match peer.major {
            8 | 9 => assert!(is_complete, ".NET {}", peer.major),
            10 => assert!(!is_complete),
            _ => eprintln!(".NET {}: complete after SIGTERM: {is_complete}", peer.major),
        }
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_process_that_stands_still_costs_the_deadline_and_keeps_no_session() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "custom");
        // The start of the session must succeed within this time, too.
        let child = recording(&subject, &["--patience", "8s"]);
        subject.target.freeze();
        peers::signal(child.id(), "INT");
        let run = finished(child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        run.assert_message("did not end the session in time");
        assert!(subject.info("x.nettrace")["events"].int() > 10);
        subject.target.signal("CONT");
        subject.assert_unharmed();
        // No session is left in the process, which allows 64.
        let sessions: Vec<_> = (0..64).map(|_| subject.quiet_session()).collect();
        assert!(sessions.iter().all(Result::is_ok), ".NET {}", peer.major);
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn ctrl_c_ends_a_recording_whole() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "custom");
        let child = recording(&subject, &[]);
        peers::signal(child.id(), "INT");
        let run = finished(child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert_eq!(subject.info("x.nettrace")["complete"], true);
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_process_without_a_free_session_says_so() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "sleep");
        let mut sessions: Vec<_> = (0..64).map(|_| subject.quiet_session().unwrap()).collect();
        let run = subject.collect(&["--duration", "100ms", "-o", "x.nettrace"]);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(run.stderr.contains("0x80004005") && run.stderr.contains("64"), "{}", run.stderr);
        assert!(!std::path::Path::new(&subject.folder.file("x.nettrace")).exists());
        drop(sessions.pop());
        assert_eq!(subject.collect(&["--duration", "100ms", "-o", "x.nettrace"]).code, Some(0));
        drop(sessions);
        subject.assert_unharmed();
    });
}
