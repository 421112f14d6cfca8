//! How a command ended.

use std::process::ExitCode;

/// How a command ended; `as u8` is the process's exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All was done.
    Fine = 0,
    /// Nothing could be done.
    Failed = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// The trace is damaged or incomplete; what was readable was delivered.
    Damaged = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
