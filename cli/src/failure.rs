//! Failures of commands, each in one line: file, offset, fault, and a remedy.

use nettrace_analysis::input::{PACKED, reason};
pub(crate) use nettrace_analysis::input::{plain, with_causes, without_number};
use nettrace_ipc::RequestError;
use nettrace_parser::Error;
use std::fmt;
use std::io;
use std::path::Path;

/// Name of standard input in messages.
pub(crate) const STDIN_NAME: &str = "standard input";

/// The reason why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The trace could not be opened or read.
    Input {
        /// The file as the user named it.
        file: String,
        /// The fault and a remedy.
        message: String,
    },
    /// The results could not be written.
    Output(io::Error),
    /// Wrong usage that clap does not detect.
    Usage(String),
}

impl Failure {
    /// Creates a failure about a file, a process or another input, as messages name it.
    pub(crate) fn input(name: impl Into<String>, message: impl Into<String>) -> Failure {
        Failure::Input { file: name.into(), message: message.into() }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::Usage(message.into())
    }

    /// Creates the failure for a file that cannot be opened.
    pub(crate) fn open(file: &str, path: &Path, error: &io::Error) -> Failure {
        // Windows refuses to open a folder, as one that this user may not read.
        if error.kind() == io::ErrorKind::PermissionDenied && path.is_dir() {
            return Failure::folder(file);
        }
        let hint = match error.kind() {
            io::ErrorKind::NotFound => match packed(path) {
                Some(other) => format!("; there is {other}"),
                None => "; check the path".to_owned(),
            },
            io::ErrorKind::PermissionDenied => "; check its permissions".to_owned(),
            _ => String::new(),
        };
        Failure::input(file, format!("{}{hint}", plain(error)))
    }

    /// Creates the failure for a path that is a folder.
    pub(crate) fn folder(file: &str) -> Failure {
        let message = "is a folder; give a .nettrace file in it".to_owned();
        Failure::input(file, message)
    }

    /// Creates the failure for standard input into which nothing is piped.
    pub(crate) fn terminal() -> Failure {
        let message = "is a terminal; pipe a trace into it, or give a file".to_owned();
        Failure::input(STDIN_NAME, message)
    }

    /// Creates the failure for a trace that the parser cannot read.
    pub(crate) fn read(file: &str, error: &Error, position: u64) -> Failure {
        Failure::input(file, reason(file, error, position))
    }
}

/// Returns the message for what a feature of this crate brings, in a build without it.
pub(crate) fn not_built(what: &str, feature: &str) -> String {
    format!("this build has no {what}: build with `--features {feature}`")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input { file, message } => write!(f, "{file}: {message}"),
            Failure::Output(error) => write!(f, "writing the output failed: {}", plain(error)),
            Failure::Usage(message) => f.write_str(message),
        }
    }
}

/// A request that must not be sent is wrong usage, because the user should not make it.
impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Failure::Usage(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

/// Returns the path of the compressed file that lies where this one was looked for.
fn packed(path: &Path) -> Option<String> {
    PACKED.iter().find_map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        Path::new(&name).is_file().then(|| Path::new(&name).display().to_string())
    })
}
