//! Keeps what a trace does not say itself in a file beside it: how a recorded process ended, if the
//! trace breaks off, and which EventSources sent nothing although the recording asked for them.
//!
//! ```text
//! exit status 139 (SIGSEGV)
//! asked for Shop-Orders
//! asked for Shop-Ordesr, which sent nothing
//! ```

use crate::new_file::private;
use nettrace_analysis::fact::ProcessEnd;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Maximum length in bytes of the file, which this command never exceeds.
const MAX_BYTES: usize = 8 << 10;
/// Beginning of the lines about EventSources.
const ASKED: &str = "asked for ";
/// End of the lines about EventSources that sent nothing.
const SILENT: &str = ", which sent nothing";

/// EventSource that the options of a recording name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskedSource {
    pub(crate) name: String,
    pub(crate) is_silent: bool,
}

/// What the file beside a trace says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EndingFile {
    /// How the process of the trace ended, if the trace breaks off.
    pub(crate) end: Option<ProcessEnd>,
    pub(crate) asked: Vec<AskedSource>,
}

impl EndingFile {
    /// Returns the names of the EventSources that sent nothing.
    pub(crate) fn silent(&self) -> Vec<String> {
        let silent = self.asked.iter().filter(|source| source.is_silent);
        silent.map(|source| source.name.clone()).collect()
    }

    /// Returns the text of the file; `None` if the trace says it all.
    fn text(&self) -> Option<String> {
        if self.end.is_none() && self.silent().is_empty() {
            return None;
        }
        let mut text = self.end.as_ref().map_or_else(String::new, |end| format!("{end}\n"));
        for AskedSource { name, is_silent } in &self.asked {
            let line = format!("{ASKED}{name}{}\n", if *is_silent { SILENT } else { "" });
            if !name.contains(char::is_control) && text.len() + line.len() <= MAX_BYTES {
                text.push_str(&line);
            }
        }
        Some(text)
    }

    /// Reads the text of a file; `None` if this command did not write it.
    fn from_text(text: &str) -> Option<EndingFile> {
        let mut read = EndingFile::default();
        for (at, line) in text.lines().enumerate() {
            match (line.strip_prefix(ASKED), at) {
                (Some(asked), _) => {
                    let name = asked.strip_suffix(SILENT);
                    let (name, is_silent) = (name.unwrap_or(asked).to_owned(), name.is_some());
                    read.asked.push(AskedSource { name, is_silent });
                }
                (None, 0) => read.end = Some(process_end(line)?),
                (None, _) => return None,
            }
        }
        (read.text().as_deref() == Some(text)).then_some(read)
    }
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

/// Writes the file beside a new trace, and replaces the file of an older recording of that name. A
/// failure to write is ignored, because the terminal shows it all, too.
pub(crate) fn keep(trace: &Path, beside: &EndingFile) {
    let path = path_of(trace);
    // Removes only a file that this command wrote, and a link itself rather than its target.
    if read(trace).is_some() {
        let _ = fs::remove_file(&path);
    }
    if let Some(text) = beside.text() {
        let file = private::options().write(true).create_new(true).open(path);
        let _ = file.and_then(|mut file| file.write_all(text.as_bytes()));
    }
}

/// Returns what a recording wrote beside a trace; `None` if it wrote nothing.
pub(crate) fn read(trace: &Path) -> Option<EndingFile> {
    let path = path_of(trace);
    // Opening a pipe would wait for its writer.
    if !fs::metadata(&path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_BYTES as u64).read_to_string(&mut text).ok()?;
    EndingFile::from_text(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(code: u8) -> EndingFile {
        EndingFile { end: Some(ProcessEnd::from_exit_code(code)), asked: Vec::new() }
    }

    fn asked(name: &str, is_silent: bool) -> AskedSource {
        AskedSource { name: name.to_owned(), is_silent }
    }

    #[test]
    fn sources_that_sent_nothing_are_kept_with_the_others_that_were_asked_for() {
        let mut beside = EndingFile { end: None, asked: vec![asked("Shop", false)] };
        assert_eq!(beside.text(), None, "the trace has its events");
        beside.asked.push(asked("Shpo, which sent", true));
        let text = "asked for Shop\nasked for Shpo, which sent, which sent nothing\n";
        assert_eq!(beside.text().as_deref(), Some(text));
        assert_eq!(EndingFile::from_text(text).as_ref(), Some(&beside));
        beside.end = end(134).end;
        let text = format!("exit status 134 (SIGABRT)\n{text}");
        assert_eq!(beside.text().as_ref(), Some(&text));
        assert_eq!(EndingFile::from_text(&text).unwrap().silent(), ["Shpo, which sent"]);
        for other in ["asked for Shop\n", "asked for Shop, which sent nothing", &text[..40]] {
            assert_eq!(EndingFile::from_text(other), None, "{other}");
        }
    }

    #[test]
    fn how_a_process_ended_is_kept_beside_its_trace() {
        let shown = |code| end(code).end.unwrap().to_string();
        assert_eq!(shown(134), "exit status 134 (SIGABRT)");
        assert_eq!(shown(3), "exit status 3");
        let folder = std::env::temp_dir().join(format!("nettrace-ending-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let trace = folder.join("a.nettrace");
        assert_eq!(read(&trace), None);
        keep(&trace, &end(139));
        assert_eq!(read(&trace), Some(end(139)));
        let text = std::fs::read_to_string(path_of(&trace)).unwrap();
        assert_eq!(text, "exit status 139 (SIGSEGV)\n");
        // A recording that has nothing to say leaves nothing.
        keep(&trace, &EndingFile::default());
        assert_eq!(read(&trace), None);
        assert!(!path_of(&trace).exists());
        for other in ["", "exit status 1; rm", "exit status 139\n", "exit status 999\n"] {
            std::fs::write(path_of(&trace), other).unwrap();
            assert_eq!(read(&trace), None, "{other}");
        }
        // A file that somebody else wrote stays as it is.
        keep(&trace, &end(3));
        assert_eq!(std::fs::read_to_string(path_of(&trace)).unwrap(), "exit status 999\n");
        #[cfg(unix)]
        {
            std::fs::remove_file(path_of(&trace)).unwrap();
            std::os::unix::fs::symlink(folder.join("linked"), path_of(&trace)).unwrap();
            keep(&trace, &end(3));
            assert!(!folder.join("linked").exists());
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
