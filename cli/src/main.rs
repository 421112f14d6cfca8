//! The `nettrace` command.
#![allow(clippy::restriction, clippy::pedantic)]

use nettrace_cli::{Console, Unblocked, run};
use std::io::{IsTerminal, Write, stderr, stdin, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    let console = Console {
        stdin: Box::new(stdin()),
        stdout: &mut stdout(),
        detached_stdout,
        stderr: &mut Unblocked::default(),
        stdin_is_terminal: stdin().is_terminal(),
        stdout_is_terminal: stdout().is_terminal(),
        stderr_is_terminal: stderr().is_terminal(),
        variable: &|name| std::env::var(name).ok(),
    };
    let exit = run(std::env::args_os(), console);
    // A thread that still waits for a process may hold a port, so the files of ports are removed
    // here.
    nettrace_ipc::remove_port_files();
    exit.into()
}

/// Opens a second handle of standard output, so that a thread that hangs while it writes holds no
/// lock that other threads need. A console of Windows has none: it would take bytes for letters of
/// its code page, and std knows better.
fn detached_stdout() -> Option<Box<dyn Write + Send>> {
    if cfg!(windows) && stdout().is_terminal() {
        return Some(Box::new(stdout()));
    }
    #[cfg(unix)]
    let handle = std::os::fd::AsFd::as_fd(&stdout()).try_clone_to_owned();
    #[cfg(windows)]
    let handle = std::os::windows::io::AsHandle::as_handle(&stdout()).try_clone_to_owned();
    Some(Box::new(std::fs::File::from(handle.ok()?)))
}
