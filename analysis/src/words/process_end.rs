//! The exit of a process, as messages and the file beside its trace state it.

use crate::fact::ProcessEnd;
use std::fmt;

impl fmt::Display for ProcessEnd {
    /// Writes `exit status 134 (SIGABRT)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit status {}", self.exit_code)?;
        self.signal.map_or(Ok(()), |signal| write!(f, " ({signal})"))
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ProcessEnd {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}
