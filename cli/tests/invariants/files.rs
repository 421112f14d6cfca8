//! Fuzz target `files`: output is equal for a trace in a file, mapped or not, read by one thread or
//! several, and for standard input.

use super::{MAX_BYTES, output_bytes, sum};
use nettrace_cli::Exit;
use nettrace_parser::following::Following;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Command, and whether it takes `--threads`.
type Form = (&'static [&'static str], bool);

const FORMS: [Form; 9] = [
    (&["events", "--format", "ndjson", "--stacks"], true),
    (&["events", "--format", "ndjson", "--order", "file", "--raw"], true),
    (&["events", "--format", "csv"], true),
    (&["events", "--format", "text"], true),
    (&["info", "--json"], true),
    (&["stats", "--json"], true),
    (&["check", "--json"], false),
    (&["schema", "--json"], false),
    (&["report", "topN", "--json"], false),
];

/// Temporary file with the input, under a unique name.
struct File(PathBuf);

impl File {
    fn create(bytes: &[u8]) -> File {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("nettrace-files-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, bytes).expect("the temporary folder takes a file");
        File(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Runs all forms.
#[allow(dead_code, reason = "the fuzz target asks one of each input")]
pub(crate) fn files(bytes: &[u8]) {
    for form in FORMS {
        same_whatever_way(form, bytes);
    }
}

/// Runs the form that the input chooses.
#[allow(dead_code, reason = "a replay asks all of each input")]
pub(crate) fn files_once(bytes: &[u8]) {
    same_whatever_way(FORMS[sum(bytes) % FORMS.len()], bytes);
}

fn same_whatever_way((form, takes_threads): Form, bytes: &[u8]) {
    if bytes.len() > MAX_BYTES {
        return;
    }
    let file = File::create(bytes);
    let path = file.0.to_str().expect("the temporary folder's name is UTF-8");
    let output = |args: &[&str], stdin: &[u8]| {
        let (exit, stdout, _) = output_bytes(&[form, args].concat(), stdin, bytes);
        (exit, stdout)
    };
    let one =
        if takes_threads { output(&["--threads", "1", path], &[]) } else { output(&[path], &[]) };
    let same = |way: &str, other: (Exit, Vec<u8>)| {
        assert_eq!(other.0, one.0, "{form:?}, {way}: the exit code");
        assert!(
            other.1 == one.1,
            "{form:?}, {way}:\n{}\nby one thread, mapped:\n{}",
            String::from_utf8_lossy(&other.1),
            String::from_utf8_lossy(&one.1)
        );
    };
    if takes_threads {
        same("three threads", output(&["--threads", "3", path], &[]));
    }
    same("not mapped", output(&["--no-mmap", path], &[]));
    // Standard input has no end at which a second stream could be looked for.
    if Following::from_slice(bytes).is_none() {
        same("standard input", output(&["-"], bytes));
    }
}
