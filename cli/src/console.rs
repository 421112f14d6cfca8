//! The streams and the environment of a command, so that tests can connect it to something else.

use std::io::{Read, Write};

/// The streams and the environment of a command.
#[expect(missing_debug_implementations, reason = "streams have nothing to show")]
pub struct Console<'a> {
    /// Standard input, read when the trace is given as `-`.
    pub stdin: Box<dyn Read>,
    /// Standard output, which receives the results.
    pub stdout: &'a mut (dyn Write + Send),
    /// Opens another handle of standard output, for a thread that writes what a session brings. The
    /// thread may outlive the command, since nothing ends a write that has no reader. `None`: such
    /// results are written like all others.
    pub detached_stdout: fn() -> Option<Box<dyn Write + Send>>,
    /// Standard error, which receives everything else.
    pub stderr: &'a mut dyn Write,
    /// Whether a person would have to type the trace.
    pub stdin_is_terminal: bool,
    /// Whether a person reads the results.
    pub stdout_is_terminal: bool,
    /// Whether a person sees progress on standard error.
    pub stderr_is_terminal: bool,
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}
