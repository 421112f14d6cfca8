//! Views on a terminal are drawn, resized and suspended, and restore the terminal however they end.

use super::pty::Pty;
use super::{address, common::command, signal, starts, streaming, trace, wait_until};
use nettrace_ipc::fake::FakeRuntime;
use std::process::Child;

const VIEWS: [&[&str]; 2] = [&["counters"], &["top", "--window", "1s"]];

/// Starts a view on its own terminal.
fn started(words: &[&str]) -> (Pty, FakeRuntime, Child) {
    let pty = Pty::new(100, 30);
    let fake = FakeRuntime::start(streaming(&trace("net10-linux-x64/all.nettrace.gz"))).unwrap();
    let port = address(&fake);
    let mut command = command(&[words, &["--port", &port]].concat());
    let child = pty.spawn(&mut command);
    pty.wait_for_view();
    (pty, fake, child)
}

fn assert_given_back(words: &[&str], end: impl FnOnce(&Pty, &Child)) {
    let (pty, fake, mut child) = started(words);
    end(&pty, &child);
    assert_eq!(child.wait().unwrap().code(), Some(0), "{words:?}: {:?}", pty.written());
    pty.assert_restored();
    // No session is left in the process.
    wait_until("the session to end", || fake.session_count() == 0);
}

#[test]
fn q_and_ctrl_c_give_the_terminal_back() {
    for words in VIEWS {
        assert_given_back(words, |pty, _| pty.type_bytes(b"q"));
        // A view switches signals of the terminal off, so that Ctrl-C is a byte.
        assert_given_back(words, |pty, _| pty.type_bytes(b"\x03"));
    }
}

#[test]
fn signals_give_the_terminal_back() {
    for words in VIEWS {
        for name in ["TERM", "INT", "HUP"] {
            assert_given_back(words, |_, child| signal(child, name));
        }
    }
}

#[test]
fn a_terminal_that_is_closed_ends_the_view_and_its_session() {
    for words in VIEWS {
        let (pty, fake, mut child) = started(words);
        // After the first drawing, because a view cannot start on a closed terminal.
        pty.wait_until("the first drawing", |pty| pty.written().contains("\x1b[30;"));
        let written = pty.hang_up();
        wait_until("the end of the command", || child.try_wait().unwrap().is_some());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{words:?}: {written:?}");
        wait_until("the session to end", || fake.session_count() == 0);
    }
}

#[test]
fn half_a_sequence_of_a_key_does_not_hold_up_the_end_of_the_terminal() {
    for words in VIEWS {
        let (pty, fake, mut child) = started(words);
        pty.type_bytes(b"\x1b[");
        pty.wait_until("the bytes to be read", Pty::is_read);
        pty.hang_up();
        wait_until("the end of the command", || child.try_wait().unwrap().is_some());
        wait_until("the session to end", || fake.session_count() == 0);
    }
}

#[test]
fn a_view_is_redrawn_when_its_terminal_is_resized() {
    for words in VIEWS {
        let (pty, _fake, mut child) = started(words);
        pty.wait_until("the first drawing", |pty| pty.written().contains("\x1b[30;"));
        let before = pty.written().len();
        pty.resize(40, 10);
        // The system sends no signal, because the terminal does not control the program.
        signal(&child, "WINCH");
        let is_last_row = |pty: &Pty| pty.written()[before..].contains("\x1b[10;");
        pty.wait_until("a drawing in the new size", is_last_row);
        pty.type_bytes(b"q");
        assert_eq!(child.wait().unwrap().code(), Some(0));
        pty.assert_restored();
    }
}

#[test]
fn top_keeps_the_last_seconds_of_a_process_that_has_ended() {
    let words = ["top", "--window", "1s", "--refresh-interval", "200ms"];
    let (pty, fake, mut child) = started(&words);
    let has_methods = |text: &str| text.contains("Workload.Program");
    pty.wait_until("methods", |pty| has_methods(&pty.written()));
    fake.kill();
    // After two windows, a process that has ended has no events in the window.
    let killed = std::time::Instant::now();
    wait_until("another window", || killed.elapsed().as_millis() > 2000);
    let before = pty.written().len();
    pty.resize(120, 31);
    signal(&child, "WINCH");
    pty.wait_until("a drawing", |pty| pty.written()[before..].contains("\x1b[31;"));
    let drawn = pty.written()[before..].to_owned();
    assert!(has_methods(&drawn), "{drawn:?}");
    pty.type_bytes(b"q");
    child.wait().unwrap();
    pty.assert_restored();
}

#[test]
fn frames_of_stack_fit_into_the_terminal_unless_they_are_to_be_wide() {
    let longest = |words: &[&str]| {
        let pty = Pty::new(80, 24);
        let fake = FakeRuntime::start(super::sampled()).unwrap();
        let port = address(&fake);
        let mut command = command(&[words, &["--port", &port, "--timeout", "100s"]].concat());
        let mut child = pty.spawn(command.env_remove("COLUMNS"));
        assert_eq!(child.wait().unwrap().code(), Some(0), "{}", pty.written());
        pty.wait_until("the frames", |pty| pty.written().contains("Program.Main("));
        let written = pty.written();
        let frames = written.lines().filter(|line| line.starts_with("    "));
        frames.map(|line| line.trim_end().chars().count()).max().unwrap()
    };
    let cut = longest(&["stack"]);
    assert!(cut <= 80, "{cut}");
    assert!(longest(&["stack", "--wide"]) > 80);
}

#[test]
fn top_asks_for_events_only_while_their_view_is_shown() {
    let (pty, fake, mut child) = started(&["top", "--window", "1s"]);
    // Sessions for samples, for names (already ended), and for the thread pool.
    wait_until("the names", || fake.stops().len() == 1 && fake.session_count() == 2);
    for (key, next) in [(b"c", 1), (b"a", 2), (b"h", 3)] {
        pty.type_bytes(key);
        wait_until("a session for the view", || starts(&fake).len() == 3 + next);
        wait_until("the end of the one before", || fake.session_count() == 3);
    }
    pty.type_bytes(b"m");
    wait_until("the end of the last one", || fake.session_count() == 2);
    pty.type_bytes(b"q");
    assert_eq!(child.wait().unwrap().code(), Some(0), "{}", pty.written());
    pty.assert_restored();
    assert_eq!(fake.session_count(), 0);
    let started = starts(&fake);
    let has_http = |start: &String| start.contains("System.Net.Http");
    assert!(started[..5].iter().all(|start| !has_http(start)) && has_http(&started[5]));
}

#[test]
fn ctrl_z_suspends_a_view_and_it_is_redrawn_when_it_goes_on() {
    for words in VIEWS {
        let (pty, _fake, mut child) = started(words);
        pty.wait_until("the first drawing", |pty| pty.written().contains("\x1b[30;"));
        pty.type_bytes(b"\x1a");
        let stat = format!("/proc/{}/stat", child.id());
        let is_stopped = || {
            let stat = std::fs::read_to_string(&stat).unwrap();
            stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" T"))
        };
        wait_until("the stop", is_stopped);
        pty.assert_restored();
        let before = pty.written().len();
        signal(&child, "CONT");
        let is_redrawn = |pty: &Pty| pty.written()[before..].contains("\x1b[30;");
        pty.wait_until("a drawing", is_redrawn);
        pty.type_bytes(b"q");
        assert_eq!(child.wait().unwrap().code(), Some(0));
        pty.assert_restored();
    }
}
