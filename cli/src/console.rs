//! What connects a command to the world, so that tests can connect it to something else.

use std::io::{Read, Write};

/// What a command is connected to.
#[expect(missing_debug_implementations, reason = "streams have nothing to show")]
pub struct Console<'a> {
    /// Read when the trace is given as `-`.
    pub stdin: Box<dyn Read>,
    /// Receives the results.
    pub stdout: &'a mut (dyn Write + Send),
    /// The same as `stdout`, for a thread that writes what a session brings: it may
    /// outlive the command, since nothing ends a write that has no reader. `None`: such
    /// results are written like all others.
    pub detached_stdout: fn() -> Option<Box<dyn Write + Send>>,
    /// Receives everything else.
    pub stderr: &'a mut dyn Write,
    /// Whether a person would have to type the trace.
    pub stdin_is_terminal: bool,
    /// Whether results are read by a person.
    pub stdout_is_terminal: bool,
    /// Whether progress is shown to a person.
    pub stderr_is_terminal: bool,
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}
