//! Files of the ports at which commands listen: their mode and their removal.

use super::{Folder, common::command, signal_taken, wait_until};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};

/// Connects to a port as a runtime does, and never answers.
fn silent_runtime(port: &str) -> UnixStream {
    let mut stream = None;
    // The socket's file exists a moment before the command listens.
    wait_until("the port", || {
        stream = UnixStream::connect(port).ok();
        stream.is_some()
    });
    let mut stream = stream.unwrap();
    let mut hello = b"ADVR_V1\0".to_vec();
    hello.extend([7; 16]);
    hello.extend(u64::from(std::process::id()).to_le_bytes());
    hello.extend([0, 0]);
    stream.write_all(&hello).unwrap();
    stream
}

/// Waits for a request.
fn asked(silent: &mut UnixStream) {
    silent.read_exact(&mut [0; 20]).unwrap();
}

/// Starts a command that waits only briefly for answers to a resume, which no runtime here gives.
fn started(words: &[&str], folder: &Folder) -> Child {
    let mut command = command(words);
    command.env("NETTRACE_DELAYS", "same-signal=0,last-resume=200");
    command.current_dir(&folder.0).env("TMPDIR", &folder.0).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

const COMMANDS: [&[&str]; 4] =
    [&["counters"], &["top"], &["watch"], &["collect", "-o", "x.nettrace"]];

#[test]
fn only_its_owner_may_connect_to_a_port_whatever_the_umask() {
    for umask in ["000", "077", "777"] {
        let folder = Folder::new();
        let port = folder.path("port");
        let mut child = std::process::Command::new("sh")
            .args(["-c", "umask $0; exec \"$@\"", umask, env!("CARGO_BIN_EXE_nettrace")])
            .args(["watch", "--port", &port])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mode = || {
            let metadata = std::fs::symlink_metadata(&port).ok()?;
            Some(std::os::unix::fs::MetadataExt::mode(&metadata) & 0o777)
        };
        // The mode never has more bits than 0o600. If the umask removes these, they are set a
        // moment later.
        wait_until("the port", || {
            mode().is_some_and(|mode| {
                assert_eq!(mode & !0o600, 0, "{umask}");
                mode == 0o600
            })
        });
        signal_taken(&child, "TERM");
        wait_until("its end", || child.try_wait().unwrap().is_some());
    }
}

#[test]
fn a_port_that_is_dropped_leaves_no_file() {
    for own in COMMANDS {
        let folder = Folder::new();
        let port = folder.path("port");
        let words = [own, &["--port", &port, "--patience", "300ms"]].concat();
        let mut child = started(&words, &folder);
        let _silent = silent_runtime(&port);
        wait_until("its end", || child.try_wait().unwrap().is_some());
        assert!(!child.wait().unwrap().success(), "{own:?}");
        assert!(!Path::new(&port).exists(), "{own:?}");
    }
}

#[test]
fn a_port_with_a_request_under_way_leaves_no_file_when_a_signal_comes() {
    let ends = |own: &[&str], signals: u32| {
        let folder = Folder::new();
        let port = folder.path("port");
        let words = [own, &["--port", &port, "--patience", "600s"]].concat();
        let mut child = started(&words, &folder);
        let mut silent = silent_runtime(&port);
        asked(&mut silent);
        for _ in 0..signals {
            signal_taken(&child, "TERM");
        }
        wait_until("its end", || child.try_wait().unwrap().is_some());
        assert!(!Path::new(&port).exists(), "{own:?}, {signals} signals");
    };
    // In parallel, because each run waits for seconds.
    std::thread::scope(|scope| {
        for (own, signals) in COMMANDS.iter().flat_map(|own| [(own, 1), (own, 2)]) {
            scope.spawn(move || ends(own, signals));
        }
    });
}

#[test]
fn the_folder_of_a_started_programs_port_is_gone_when_a_second_signal_exits() {
    let program = "trap '' HUP TERM; echo \"$DOTNET_DiagnosticPorts\" > written; mv written port; \
                   exec sleep 20";
    for own in [&["counters"][..], &["discover"], &["collect", "-o", "x.nettrace"]] {
        let folder = Folder::new();
        let words = [own, &["--patience", "600s", "--", "sh", "-c", program]].concat();
        let mut child = started(&words, &folder);
        let written = folder.0.join("port");
        wait_until("the program", || written.exists());
        let port = std::fs::read_to_string(&written).unwrap().trim().to_owned();
        assert!(Path::new(&port).starts_with(&folder.0), "{port}");
        let mut silent = silent_runtime(&port);
        asked(&mut silent);
        for _ in 0..2 {
            signal_taken(&child, "TERM");
        }
        wait_until("its end", || child.try_wait().unwrap().is_some());
        let parent = Path::new(&port).parent().unwrap();
        assert!(!parent.exists(), "{own:?}: {}", parent.display());
    }
}
