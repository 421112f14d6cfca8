//! Reads what a recording says about itself: how the recorded process ended, and which EventSources
//! sent nothing although the recording asked for them.
//!
//! The last event of the second stream has it. Recordings of earlier versions have a file beside
//! them:
//!
//! ```text
//! exit status 139 (SIGSEGV)
//! asked for Shop-Orders
//! asked for Shop-Ordesr, which sent nothing
//! ```

use crate::input::Input;
use nettrace_analysis::fact::ProcessEnd;
use nettrace_analysis::input::{AskedSource, RecordedEnding};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum length in bytes of the file, which this command never exceeds.
const MAX_BYTES: usize = 8 << 10;
/// Beginning of the lines about EventSources.
const ASKED: &str = "asked for ";
/// End of the lines about EventSources that sent nothing.
const SILENT: &str = ", which sent nothing";

/// Returns the text of a file beside a trace; `None` if the trace says it all.
fn text_of(ending: &RecordedEnding) -> Option<String> {
    if ending.end.is_none() && ending.silent().is_empty() {
        return None;
    }
    let mut text = ending.end.as_ref().map_or_else(String::new, |end| format!("{end}\n"));
    for AskedSource { name, is_silent, .. } in &ending.asked {
        let line = format!("{ASKED}{name}{}\n", if *is_silent { SILENT } else { "" });
        if !name.contains(char::is_control) && text.len() + line.len() <= MAX_BYTES {
            text.push_str(&line);
        }
    }
    Some(text)
}

/// Reads the text of a file; `None` if this command did not write it.
fn from_text(text: &str) -> Option<RecordedEnding> {
    let mut read = RecordedEnding::default();
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix(ASKED), at) {
            (Some(asked), _) => {
                let name = asked.strip_suffix(SILENT);
                let (name, is_silent) = (name.unwrap_or(asked).to_owned(), name.is_some());
                read.asked.push(AskedSource::new(name, is_silent));
            }
            (None, 0) => read.end = Some(process_end(line)?),
            (None, _) => return None,
        }
    }
    (text_of(&read).as_deref() == Some(text)).then_some(read)
}

/// Returns how a process ended, from a line of the file.
fn process_end(line: &str) -> Option<ProcessEnd> {
    let code = line.strip_prefix("exit status ")?.split(' ').next()?.parse().ok()?;
    Some(ProcessEnd::from_exit_code(code)).filter(|end| line == end.to_string())
}

/// Returns the path of the file beside a trace.
fn path_of(trace: &Path) -> PathBuf {
    let mut name = trace.as_os_str().to_owned();
    name.push(".ending");
    name.into()
}

/// Removes the file beside a trace, if this command wrote it for an older recording of that name.
pub(crate) fn remove_old(trace: &Path) {
    if read_old(trace).is_some() {
        // A link is removed, and not its target.
        let _ = fs::remove_file(path_of(trace));
    }
}

/// Returns what a recording says about itself; `None` if it says nothing. `limit` is the number of
/// bytes that a compressed file may unpack to.
pub(crate) fn read(trace: &Path, limit: u64) -> Option<RecordedEnding> {
    let second = Input::open_second_of(trace, limit);
    second.and_then(|mut second| RecordedEnding::read(&mut second)).or_else(|| read_old(trace))
}

/// Returns what an earlier version wrote beside a trace; `None` if it wrote nothing.
fn read_old(trace: &Path) -> Option<RecordedEnding> {
    let path = path_of(trace);
    // Opening a pipe would wait for its writer.
    if !fs::metadata(&path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_BYTES as u64).read_to_string(&mut text).ok()?;
    from_text(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(code: u8) -> RecordedEnding {
        let mut ending = RecordedEnding::default();
        ending.end = Some(ProcessEnd::from_exit_code(code));
        ending
    }

    fn asked(name: &str, is_silent: bool) -> AskedSource {
        AskedSource::new(name.to_owned(), is_silent)
    }

    #[test]
    fn sources_that_sent_nothing_are_kept_with_the_others_that_were_asked_for() {
        let mut beside = RecordedEnding::default();
        beside.asked.push(asked("Shop", false));
        assert_eq!(text_of(&beside), None, "the trace has its events");
        beside.asked.push(asked("Shpo, which sent", true));
        let text = "asked for Shop\nasked for Shpo, which sent, which sent nothing\n";
        assert_eq!(text_of(&beside).as_deref(), Some(text));
        assert_eq!(from_text(text).as_ref(), Some(&beside));
        beside.end = end(134).end;
        let text = format!("exit status 134 (SIGABRT)\n{text}");
        assert_eq!(text_of(&beside).as_ref(), Some(&text));
        assert_eq!(from_text(&text).unwrap().silent(), ["Shpo, which sent"]);
        for other in ["asked for Shop\n", "asked for Shop, which sent nothing", &text[..40]] {
            assert_eq!(from_text(other), None, "{other}");
        }
    }

    #[test]
    fn what_earlier_versions_wrote_beside_a_trace_is_read() {
        let shown = |code| end(code).end.unwrap().to_string();
        assert_eq!(shown(134), "exit status 134 (SIGABRT)");
        assert_eq!(shown(3), "exit status 3");
        let folder = std::env::temp_dir().join(format!("nettrace-ending-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let trace = folder.join("a.nettrace");
        assert_eq!(read(&trace, u64::MAX), None);
        std::fs::write(path_of(&trace), "exit status 139 (SIGSEGV)\n").unwrap();
        assert_eq!(read(&trace, u64::MAX), Some(end(139)));
        remove_old(&trace);
        assert_eq!(read(&trace, u64::MAX), None);
        assert!(!path_of(&trace).exists());
        for other in ["", "exit status 1; rm", "exit status 139\n", "exit status 999\n"] {
            std::fs::write(path_of(&trace), other).unwrap();
            assert_eq!(read(&trace, u64::MAX), None, "{other}");
        }
        // A file that somebody else wrote stays as it is.
        remove_old(&trace);
        assert_eq!(std::fs::read_to_string(path_of(&trace)).unwrap(), "exit status 999\n");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
