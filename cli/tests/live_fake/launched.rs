//! Programs that commands start are never left suspended, and receive signals. The program is a
//! shell, and a fake runtime connects to its port.

#[cfg(target_os = "linux")]
use super::pty::Pty;
use super::{Folder, SIGNALS_ARE_ONE, common::command, metrics, signal, streaming, wait_until};
use nettrace_ipc::Endpoint;
use nettrace_ipc::fake::{FakeConfig, FakeRuntime};
use std::process::{Child, Stdio};

/// Program that writes its port's path to a file, and exits with 7 at a signal.
const PROGRAM: &str = "trap 'exit 7' INT TERM; echo \"$DOTNET_DiagnosticPorts\" > written; \
                       mv written port; while :; do sleep 0.05; done";

/// Returns the arguments of a command that starts the program.
fn words<'w>(own: &[&'w str]) -> Vec<&'w str> {
    [own, &["--patience", "120s", "--", "sh", "-c", PROGRAM]].concat()
}

fn started(own: &[&str], folder: &Folder) -> Child {
    started_with(("", ""), own, folder)
}

fn started_with(variable: (&str, &str), own: &[&str], folder: &Folder) -> Child {
    let mut command = command(&words(own));
    if !variable.0.is_empty() {
        command.env(variable.0, variable.1);
    }
    command.current_dir(&folder.0).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null()).spawn().unwrap()
}

/// Creates the runtime of the program once it has started.
fn runtime(config: FakeConfig, folder: &Folder) -> FakeRuntime {
    let file = folder.0.join("port");
    wait_until("the program", || file.exists());
    let port = std::fs::read_to_string(file).unwrap();
    let config = FakeConfig { suspended: true, ..config };
    FakeRuntime::connect_to(config, Endpoint::socket(port.trim())).unwrap()
}

fn code(child: &mut Child) -> Option<i32> {
    wait_until("its end", || child.try_wait().unwrap().is_some());
    child.wait().unwrap().code()
}

#[test]
fn a_program_whose_view_cannot_begin_is_let_go() {
    for own in [&["counters"][..], &["discover"], &["collect", "-o", "x.nettrace"]] {
        let folder = Folder::new();
        let mut child = started(own, &folder);
        // The runtime allows no session.
        let fake = runtime(FakeConfig { max_sessions: 0, ..streaming(&metrics()) }, &folder);
        wait_until(&format!("the resume: {own:?}"), || fake.is_resumed());
        signal(&child, "TERM");
        assert_eq!(code(&mut child), Some(7), "{own:?}");
    }
}

#[test]
fn a_signal_after_the_recording_reaches_the_program() {
    for own in [
        &["counters", "--duration", "300ms", "--format", "ndjson"][..],
        &["discover", "--duration", "300ms"],
        &["collect", "--duration", "300ms", "-o", "x.nettrace"],
    ] {
        let folder = Folder::new();
        // Counts all signals as one, whether or not the command has noticed the recording's end.
        let mut child = started_with(SIGNALS_ARE_ONE, own, &folder);
        let fake = runtime(streaming(&metrics()), &folder);
        wait_until("the end of the recording", || {
            !fake.stops().is_empty() && fake.session_count() == 0
        });
        assert!(child.try_wait().unwrap().is_none(), "{own:?}: the program still runs");
        signal(&child, "INT");
        assert_eq!(code(&mut child), Some(7), "{own:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn to_quit_a_screen_ends_the_program_that_was_started_for_it() {
    for key in [&b"q"[..], b"\x03"] {
        let pty = Pty::new(100, 30);
        let folder = Folder::new();
        let mut command = command(&words(&["counters"]));
        let mut child = pty.spawn(command.current_dir(&folder.0));
        let _fake = runtime(streaming(&metrics()), &folder);
        pty.wait_for_view();
        pty.type_bytes(key);
        assert_eq!(code(&mut child), Some(7), "{:?}", pty.written());
        pty.assert_restored();
    }
}
