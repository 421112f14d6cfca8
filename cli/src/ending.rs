//! Keeps how a recorded process ended, in a file beside its trace, because a trace that breaks off
//! does not say it.

use crate::new_file::private;
use nettrace_analysis::fact::ProcessEnd;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Maximum length in bytes of the file, which this command never exceeds.
const MAX_BYTES: u64 = 200;

/// Returns the path of the file beside a trace.
fn beside(trace: &Path) -> PathBuf {
    let mut name = trace.as_os_str().to_owned();
    name.push(".ending");
    name.into()
}

/// Writes how the process of a new trace ended, and replaces the file of an older recording of that
/// name. A failure to write is ignored, because the terminal shows the end, too.
pub(crate) fn keep(trace: &Path, end: Option<ProcessEnd>) {
    let path = beside(trace);
    // Removes only a file that this command wrote, and a link itself rather than its target.
    if read(trace).is_some() {
        let _ = fs::remove_file(&path);
    }
    if let Some(end) = end {
        let file = private::options().write(true).create_new(true).open(path);
        let _ = file.and_then(|mut file| writeln!(file, "{end}"));
    }
}

/// Returns how the process of a trace ended, if a recording saw it.
pub(crate) fn read(trace: &Path) -> Option<ProcessEnd> {
    let path = beside(trace);
    // Opening a pipe would wait for its writer.
    if !fs::metadata(&path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    let line = text.lines().next()?.trim();
    let code = line.strip_prefix("exit status ")?.split(' ').next()?.parse().ok()?;
    Some(ProcessEnd::from_exit_code(code)).filter(|end| line == end.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_process_ended_is_kept_beside_its_trace() {
        let end = |code| Some(ProcessEnd::from_exit_code(code));
        assert_eq!(end(134).unwrap().to_string(), "exit status 134 (SIGABRT)");
        assert_eq!(end(3).unwrap().to_string(), "exit status 3");
        let folder = std::env::temp_dir().join(format!("nettrace-ending-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let trace = folder.join("a.nettrace");
        assert_eq!(read(&trace), None);
        keep(&trace, end(139));
        assert_eq!(read(&trace), end(139));
        assert_eq!(std::fs::read_to_string(beside(&trace)).unwrap(), "exit status 139 (SIGSEGV)\n");
        // A recording that does not know how its process ended leaves nothing.
        keep(&trace, None);
        assert_eq!(read(&trace), None);
        for other in ["", "exit status 1; rm", "exit status 139", "exit status 999"] {
            std::fs::write(beside(&trace), other).unwrap();
            assert_eq!(read(&trace), None, "{other}");
        }
        // A file that somebody else wrote stays as it is.
        keep(&trace, end(3));
        assert_eq!(std::fs::read_to_string(beside(&trace)).unwrap(), "exit status 999");
        #[cfg(unix)]
        {
            std::fs::remove_file(beside(&trace)).unwrap();
            std::os::unix::fs::symlink(folder.join("linked"), beside(&trace)).unwrap();
            keep(&trace, end(3));
            assert!(!folder.join("linked").exists());
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
