//! Runs the binary, and compares its output with files.

// Each test program uses only some of these functions.
#![allow(dead_code)]

pub(crate) mod logging;

use flate2::Compression;
use flate2::write::GzEncoder;
use nettrace_testdata::synth::{self, EventType, Field, Session, SessionThread, Step, Version};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::Value;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Result of a run of the binary.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    /// Asserts that stderr contains this text.
    #[track_caller]
    pub(crate) fn assert_message(&self, text: &str) {
        assert!(self.stderr.contains(text), "no {text:?} in {}", self.stderr);
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("stdout is UTF-8")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is no JSON: {error}\n{}", self.text()))
    }

    /// Returns the value of each line of NDJSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.text()
            .lines()
            .map(|line| serde_json::from_str(line).expect("each line is JSON"))
            .collect()
    }
}

/// Access to values of a document. The test fails if a value has another type.
pub(crate) trait Json {
    fn list(&self) -> &[Value];
    fn int(&self) -> u64;
    fn text(&self) -> &str;
}

impl Json for Value {
    #[track_caller]
    fn list(&self) -> &[Value] {
        self.as_array().unwrap_or_else(|| panic!("{self} is no list"))
    }

    #[track_caller]
    fn int(&self) -> u64 {
        self.as_u64().unwrap_or_else(|| panic!("{self} is no whole number"))
    }

    #[track_caller]
    fn text(&self) -> &str {
        self.as_str().unwrap_or_else(|| panic!("{self} is no text"))
    }
}

/// Returns the repository's top folder, where the binary is run.
pub(crate) fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the path of the binary: `NETTRACE`, such as a release build, or the one built with the
/// tests.
pub(crate) fn program() -> OsString {
    std::env::var_os("NETTRACE").unwrap_or_else(|| env!("CARGO_BIN_EXE_nettrace").into())
}

/// Returns the binary as a command in the top folder, without variables that change its output.
pub(crate) fn command(args: &[&str]) -> Command {
    take_signals();
    let mut command = Command::new(program());
    command.args(args).current_dir(top());
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM"] {
        command.env_remove(name);
    }
    command
}

/// Lets a child take Ctrl-C where a shell lets what runs behind it ignore that. A child inherits that
/// a signal is ignored, but no handler; this one ends the tests, as without it.
fn take_signals() {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT};
        use std::sync::{Arc, Once, atomic::AtomicBool};
        static TAKEN: Once = Once::new();
        TAKEN.call_once(|| {
            for signal in [SIGHUP, SIGINT, SIGQUIT] {
                let ends = Arc::new(AtomicBool::new(true));
                signal_hook::flag::register_conditional_default(signal, ends).unwrap();
            }
        });
    }
}

/// Runs the binary without input.
pub(crate) fn nettrace(args: &[&str]) -> Ran {
    ran(command(args).stdin(Stdio::null()).output().expect("the binary starts"))
}

/// Runs the binary with the words of a line.
pub(crate) fn run(line: &str) -> Ran {
    nettrace(&line.split(' ').collect::<Vec<_>>())
}

/// Runs the binary with these bytes on its standard input.
pub(crate) fn nettrace_with_input(args: &[&str], input: &[u8]) -> Ran {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // Fails if the binary has stopped reading.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the binary ends");
    writer.join().expect("writing does not panic");
    ran(output)
}

fn ran(output: Output) -> Ran {
    let stderr = String::from_utf8(output.stderr).expect("stderr is UTF-8");
    Ran { code: output.status.code(), stdout: output.stdout, stderr }
}

/// Creates an event type with these fields.
pub(crate) fn event_type(
    provider: &str,
    event_id: u32,
    name: &str,
    fields: Vec<Field>,
) -> EventType {
    let (provider, name) = (provider.into(), name.into());
    EventType { provider, event_id, name, fields, ..EventType::default() }
}

/// Creates a session of one type and thread whose events are 10 ticks apart.
pub(crate) fn session_of(
    version: Version,
    event_type: EventType,
    payloads: impl IntoIterator<Item = Vec<synth::Value>>,
) -> Session {
    Session {
        types: vec![event_type],
        threads: vec![SessionThread::new(11)],
        steps: payloads.into_iter().map(|values| Step::event(0, 0, 10, values)).collect(),
        ..Session::new(version)
    }
}

/// Writes these bytes to a file in a folder of its own and returns its path.
pub(crate) fn file(name: &str, bytes: &[u8]) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let all = Path::new(env!("CARGO_TARGET_TMPDIR"));
    if number == 0 {
        remove_old_files(all);
    }
    let folder = all.join(format!("{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("the target folder is writable");
    path.display().to_string()
}

/// Removes files of test programs that have ended, because a run leaves two hundred megabytes.
fn remove_old_files(all: &Path) {
    let Ok(folders) = std::fs::read_dir(all) else { return };
    for folder in folders.flatten() {
        let name = folder.file_name();
        let pid = name.to_str().and_then(|name| name.split_once('-')?.0.parse::<u32>().ok());
        let processes = Path::new("/proc");
        if pid.is_some_and(|pid| processes.is_dir() && !processes.join(pid.to_string()).is_dir()) {
            // Another program may be removing the same folder.
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory is writable");
    encoder.finish().expect("memory is writable")
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// Compares a text with the file `expected/NAME`. With `UPDATE_EXPECT=1`, writes the file instead;
/// look at the difference before you commit it.
pub(crate) fn expect(name: &str, actual: &str) {
    // CSV ends lines with CR LF, and git may check out all files so.
    let actual = actual.replace("\r\n", "\n");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &actual).expect("the folder is writable");
        return;
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; UPDATE_EXPECT=1 makes it", path.display()));
    let expected = expected.replace("\r\n", "\n");
    if expected != actual {
        let (mut old, mut new): (Vec<_>, Vec<_>) =
            (expected.lines().collect(), actual.lines().collect());
        let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        (old, new) = (old.split_off(same), new.split_off(same));
        while old.last() == new.last() && old.pop().is_some() {
            new.pop();
        }
        let lines = |sign, lines: Vec<&str>| {
            lines.iter().map(|line| format!("{sign}{line}\n")).collect::<String>()
        };
        panic!(
            "{name} differs from line {}:\n{}{}(UPDATE_EXPECT=1 takes the new text)\n\n{actual}",
            same + 1,
            lines('-', old),
            lines('+', new),
        );
    }
}

/// Returns exit code, stdout and stderr of a run, as one text to compare.
pub(crate) fn transcript(args: &[&str], ran: &Ran) -> String {
    let mut text = format!("$ nettrace {}\n{}", args.join(" "), ran.text());
    if !ran.stderr.is_empty() {
        text.push_str("--- stderr\n");
        text.push_str(&ran.stderr);
    }
    text.push_str(&format!("--- exit {}\n", ran.code.unwrap_or(-1)));
    text
}
