//! How a command ended.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All work was done.
    Fine,
    /// Nothing could be done.
    Failed,
    /// The command line makes no sense.
    Usage,
    /// The trace is damaged or incomplete; its readable part was delivered.
    Damaged,
    /// `check --strict` found nothing worse than notes.
    Noted,
    /// A condition of `diff --fail-if` holds.
    Changed,
    /// A program was run, and ended with this code.
    Program(u8),
}

impl Exit {
    /// Returns the exit code of the process.
    pub fn code(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Damaged => 3,
            Exit::Noted => 4,
            Exit::Changed => 5,
            Exit::Program(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
