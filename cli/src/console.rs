//! The streams and the environment of a command, so that tests can connect it to something else.

use std::io::{Read, Write};

/// The streams and the environment of a command.
#[expect(missing_debug_implementations, reason = "streams have nothing to show")]
pub struct Console<'a> {
    /// Standard input, read when the trace is given as `-`.
    pub stdin: Box<dyn Read + Send>,
    /// Standard output, which receives the results.
    pub stdout: &'a mut (dyn Write + Send),
    /// Opens a second handle of standard output, for a thread that writes the results of a session.
    /// The thread may outlive the command, since nothing ends a write that has no reader. `None`:
    /// the results of sessions are written to [`Console::stdout`], too.
    pub detached_stdout: fn() -> Option<Box<dyn Write + Send>>,
    /// Standard error, which receives everything else.
    pub stderr: &'a mut dyn Write,
    /// Whether standard input is a terminal, where a person would have to type the trace.
    pub stdin_is_terminal: bool,
    /// Whether standard output is a terminal, where a person reads the results.
    pub stdout_is_terminal: bool,
    /// Whether standard error is a terminal, where a person sees progress.
    pub stderr_is_terminal: bool,
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}
