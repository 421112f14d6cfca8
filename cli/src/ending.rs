//! How a recorded process ended, in a file beside its trace: a trace that ends in the middle does
//! not say it.

use std::path::{Path, PathBuf};

/// A longer file is not ours.
const MOST_BYTES: usize = 200;
/// Signals that end processes which do not expect them, on Linux and macOS.
const SIGNALS: [(u8, &str); 8] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (4, "SIGILL"),
    (6, "SIGABRT"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (15, "SIGTERM"),
];

/// The file beside a trace.
fn beside(trace: &Path) -> PathBuf {
    let mut name = trace.as_os_str().to_owned();
    name.push(".ending");
    name.into()
}

/// `exit status 134 (SIGABRT)`.
pub(crate) fn text(code: u8) -> String {
    let signal = code.checked_sub(128).and_then(|number| {
        SIGNALS.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
    });
    signal.map_or_else(
        || format!("exit status {code}"),
        |signal| format!("exit status {code} ({signal})"),
    )
}

/// Keeps how a process ended. That it cannot be written does not matter: it is on the terminal,
/// too.
pub(crate) fn keep(trace: &Path, code: u8) {
    let _ = std::fs::write(beside(trace), format!("{}\n", text(code)));
}

/// How the process of a trace ended, if a recording saw it.
pub(crate) fn read(trace: &Path) -> Option<String> {
    let text = std::fs::read_to_string(beside(trace)).ok()?;
    let line = text.lines().next()?.trim();
    (text.len() <= MOST_BYTES && line.starts_with("exit status ")).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_process_ended_is_kept_beside_its_trace() {
        assert_eq!(text(134), "exit status 134 (SIGABRT)");
        assert_eq!(text(3), "exit status 3");
        let folder = std::env::temp_dir().join(format!("nettrace-ending-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let trace = folder.join("a.nettrace");
        assert_eq!(read(&trace), None);
        keep(&trace, 139);
        assert_eq!(read(&trace).as_deref(), Some("exit status 139 (SIGSEGV)"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
