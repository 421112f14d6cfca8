//! The `nettrace` command.

use nettrace_cli::{Console, run};
use std::io::{IsTerminal, stderr, stdin, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    let console = Console {
        stdin: Box::new(stdin()),
        stdout: &mut stdout(),
        stderr: &mut stderr(),
        stdin_is_terminal: stdin().is_terminal(),
        stdout_is_terminal: stdout().is_terminal(),
        stderr_is_terminal: stderr().is_terminal(),
        variable: &|name| std::env::var(name).ok(),
    };
    run(std::env::args_os(), console).into()
}
