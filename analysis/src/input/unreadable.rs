//! Says why a trace cannot be read, and what to do.

use super::causes::with_causes;
use nettrace_export::units;
use nettrace_parser::{Error, Fault, Foreign};
use std::fmt;
use std::io;

/// Returns why the parser cannot read a trace, and what to do. `file` is its name, `position` how far
/// it was read.
#[must_use]
pub fn reason(file: &str, error: &Error, position: u64) -> String {
    match error {
        Error::Format { offset: 0, fault: Fault::HeaderTruncated, .. } => {
            "is empty; record again".to_owned()
        }
        Error::Format { offset, fault: Fault::HeaderTruncated, .. }
            if *offset < MIN_HEADER_BYTES =>
        {
            format!("is no trace: it has only {}; {MADE_BY}", units::counted(*offset, "byte"))
        }
        Error::Format { offset, context, fault } => {
            format!("offset {offset:#x}, {context}: {fault}; {}", remedy(file, fault))
        }
        Error::Io(error) if is::<LimitReached>(error) => format!(
            "offset {position:#x}: {error}; give a larger --input-limit if the file can be trusted"
        ),
        Error::Io(error) if is::<NothingUnpacked>(error) => error.to_string(),
        Error::Io(error) => {
            format!(
                "offset {position:#x}: reading failed: {}; copy the file and try again",
                plain(error)
            )
        }
        error => format!("offset {position:#x}: {}", with_causes(error)),
    }
}

/// Limit in bytes that a compressed trace exceeded when it was unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LimitReached(pub(super) u64);

impl fmt::Display for LimitReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it unpacks to more than {}", units::bytes(self.0))
    }
}

impl std::error::Error for LimitReached {}

/// Reason why nothing of a compressed trace could be unpacked, and what to do.
#[derive(Debug)]
pub(super) struct NothingUnpacked(pub(super) String);

impl fmt::Display for NothingUnpacked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NothingUnpacked {}

/// Number of bytes by which a trace is recognised.
const MIN_HEADER_BYTES: u64 = 8;

const MADE_BY: &str =
    "give a file made by dotnet-trace, dotnet-monitor, DOTNET_EnableEventPipe or record-trace";
const ETL: &str = "open it with PerfView or Windows Performance Analyzer";
const ETLX: &str = "give the .nettrace file that it was made from, or open it with PerfView";
const GCDUMP: &str = "nettrace heap, nettrace heap diff and nettrace report html read it; PerfView and Visual Studio open it, too";
const SPEEDSCOPE: &str =
    "open it at speedscope.app; nettrace reads the .nettrace file that it was made from";

/// Endings of the names of other tools' files, each with what to do with such a file.
const OTHER_FILES: [(&str, &str); 5] = [
    (".etl", ETL),
    (".etlx", ETLX),
    (".gcdump", GCDUMP),
    (".speedscope.json", SPEEDSCOPE),
    (
        ".diagsession",
        "a .diagsession is a recording of Visual Studio: open it there, or export a .nettrace file from it",
    ),
];

/// Returns a remedy for a stream that cannot be read from its beginning.
fn remedy(file: &str, fault: &Fault) -> &'static str {
    let name = PACKED.iter().find_map(|ending| file.strip_suffix(ending)).unwrap_or(file);
    let name = name.to_ascii_lowercase();
    if let Some((_, remedy)) = OTHER_FILES.iter().find(|(ending, _)| name.ends_with(ending)) {
        return remedy;
    }
    match fault {
        Fault::HeaderTruncated => "the recording ended before its first event; record again",
        Fault::Foreign(Foreign::Gzip | Foreign::Zstd) => "it is compressed twice; unpack it once",
        Fault::Foreign(Foreign::Zip) => "unpack it and give the .nettrace file in it",
        Fault::Foreign(Foreign::Etl) => ETL,
        Fault::Foreign(Foreign::Etlx) => ETLX,
        Fault::Foreign(Foreign::GcDump) => GCDUMP,
        Fault::Foreign(Foreign::Speedscope) => SPEEDSCOPE,
        Fault::Foreign(Foreign::PerfData) => "open it with perf report",
        Fault::Foreign(_) => MADE_BY,
        Fault::UnsupportedVersion(1 | 2) => "record with .NET Core 2.1 or later",
        Fault::UnsupportedVersion(_) => "look for a newer nettrace",
        _ => "its beginning is damaged; record again, or look for another copy",
    }
}

/// Returns whether an error of reading has this cause.
fn is<E: std::error::Error + 'static>(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<E>())
}

/// Returns the text of an error in small letters, without Rust's `(os error 2)` and the full stop of
/// Windows.
#[must_use]
pub fn plain(error: &io::Error) -> String {
    // Windows speaks the user's language, and of files and paths that cannot be found.
    match error.kind() {
        _ if cfg!(unix) || error.raw_os_error().is_none() => {}
        io::ErrorKind::NotFound => return "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => return "permission denied".to_owned(),
        io::ErrorKind::StorageFull => return "no space left on device".to_owned(),
        _ => {}
    }
    let text = with_causes(error);
    let mut letters = without_number(&text).chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Returns a message without Rust's `(os error 2)` and what the system put before it: Windows ends
/// its messages with a full stop, some with a line break, too.
#[must_use]
pub fn without_number(message: &str) -> &str {
    match message.split_once(" (os error") {
        Some((text, _)) => text.trim_end_matches(['.', '\r', '\n', ' ']),
        None => message,
    }
}

/// Endings of the names of compressed files.
pub const PACKED: [&str; 2] = [".gz", ".zst"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_system_have_neither_a_number_nor_a_full_stop() {
        let of_linux = "No such file or directory (os error 2)";
        assert_eq!(without_number(of_linux), "No such file or directory");
        let of_windows = "All pipe instances are busy.\r\n (os error 231)";
        assert_eq!(without_number(of_windows), "All pipe instances are busy");
        assert_eq!(without_number("a name that ends with ..."), "a name that ends with ...");
    }
}
