//! Asserts that commands have the same results with several threads as with one.

use crate::common;

use common::nettrace;
use nettrace_testdata::corpus;
use std::path::PathBuf;

/// A plain file, removed when the value is dropped.
struct Plain(PathBuf);

impl Plain {
    fn new(name: &str, bytes: &[u8]) -> Plain {
        let name = name.replace('/', "-");
        let path =
            std::env::temp_dir().join(format!("nettrace-threads-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Plain(path)
    }

    /// Returns the outputs of commands about the file with some number of threads.
    fn output(&self, words: &[&str], threads: &str) -> (Option<i32>, Vec<u8>, String) {
        let path = self.0.to_str().unwrap();
        let mut args = vec![words[0], path];
        args.extend(&words[1..]);
        args.extend(["--threads", threads]);
        let ran = nettrace(&args);
        (ran.code, ran.stdout, ran.stderr)
    }

    fn assert_equal(&self, words: &[&str]) {
        let one = self.output(words, "1");
        assert!(!one.1.is_empty(), "{words:?}: {}", one.2);
        for threads in ["2", "5"] {
            let several = self.output(words, threads);
            assert!(
                one == several,
                "{}: {words:?} with {threads} threads\n{}",
                self.0.display(),
                several.2
            );
        }
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

const COMMANDS: [&[&str]; 6] = [
    &["events", "--format", "ndjson", "--stacks", "--raw"],
    &["events", "--format", "ndjson", "--order", "file"],
    &["events", "--format", "csv"],
    &["stats", "--json"],
    &["info", "--json"],
    &["events", "--limit", "9"],
];

#[test]
fn several_threads_write_the_same_bytes_as_one() {
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        // The largest traces take long in a build without optimisation.
        if bytes.len() > 2_500_000 {
            continue;
        }
        let plain = Plain::new(trace.name(), &bytes);
        for words in COMMANDS {
            plain.assert_equal(words);
        }
    }
}

#[test]
fn several_threads_report_the_same_damage_as_one() {
    let trace = corpus::traces()
        .into_iter()
        .find(|trace| trace.name().contains("net10-linux-x64/"))
        .unwrap();
    let mut bytes = trace.bytes();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40].fill(0xff);
    bytes.truncate(middle + bytes.len() / 4);
    let plain = Plain::new("damaged", &bytes);
    for words in &COMMANDS[..5] {
        plain.assert_equal(words);
    }
}

#[test]
fn conversions_and_reports_take_threads_without_effect() {
    let trace = corpus::trace("net10-linux-x64/samples-only.nettrace");
    let plain = Plain::new("samples", &trace.bytes());
    let path = plain.0.to_str().unwrap();
    for words in [
        &["convert", path, "--format", "folded", "-o", "-"][..],
        &["report", "topN", path],
        &["report", "modules", path, "--json"],
    ] {
        let (output, unsaid) = (nettrace(&[words, &["--threads", "2"]].concat()), nettrace(words));
        assert_eq!((output.code, unsaid.code), (Some(0), Some(0)), "{words:?}: {}", output.stderr);
        assert!(output.stdout == unsaid.stdout && !output.stdout.is_empty(), "{words:?}");
    }
}

#[test]
fn no_threads_are_wrong_usage() {
    let ran = nettrace(&["stats", "--threads", "0", "no-such-trace"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}
