//! Texts of a trace that a spreadsheet would run as formulas, and files for other tools made from
//! damaged traces.

use crate::common;

use common::file;
use nettrace_cli::{Console, Exit, run};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{Blob, Definition, EventBlock, Stream, Trace, Version};

/// Returns the output of a command. Either a user at a terminal sends the output to a file, or
/// there is no terminal.
fn output(args: &[&str], has_user: bool) -> (Exit, String) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let console = Console {
        stdin: Box::new(std::io::empty()),
        stdout: &mut stdout,
        detached_stdout: || None,
        stderr: &mut stderr,
        stdin_is_terminal: false,
        stdout_is_terminal: false,
        stderr_is_terminal: has_user,
        variable: &|_| None,
    };
    let words = [&["nettrace"], args].concat();
    let exit = run(words.into_iter().map(Into::into), console);
    (exit, String::from_utf8(stdout).unwrap())
}

/// Creates an event whose provider and name are formulas.
fn formulas() -> Vec<u8> {
    let mut stream = Stream::new(Version::V4);
    stream.trace(&Trace::default());
    let definition = Definition {
        metadata_id: 1,
        provider: "=cmd|' /C calc'!A0".into(),
        event_id: 7,
        name: "@SUM(1)".into(),
        ..Definition::default()
    };
    stream.metadata_blobs(&EventBlock::new([Blob::definition(1, 1, definition.encode())]));
    let row = Blob {
        metadata_id: 1,
        sequence_number: 1,
        thread_id: 1,
        capture_thread_id: 1,
        ticks: 1_000_001,
        is_sorted: true,
        ..Blob::default()
    };
    stream.event_block(&EventBlock::new([row]));
    stream.end();
    stream.bytes
}

#[test]
fn cells_that_spreadsheets_run_are_texts_for_a_user_at_a_terminal_and_raw_keeps_them() {
    let path = file("formulas.nettrace", &formulas());
    let runs = |args: &[&str], has_user| {
        let (exit, text) =
            output(&[&["events", "--format", "csv"], args, &[&path]].concat(), has_user);
        assert_eq!(exit, Exit::Fine);
        assert!(text.contains("cmd|") && text.contains("SUM"), "{text}");
        text.split([',', '\n', '"']).any(|cell| cell.starts_with(['=', '@']))
    };
    for threads in [&["--threads", "1"][..], &["--threads", "2"], &["--no-mmap"]] {
        assert!(!runs(threads, true), "{threads:?}: safe at a terminal");
        assert!(runs(threads, false), "{threads:?}: programs get what is there");
        assert!(runs(&[threads, &["--raw"]].concat(), true), "{threads:?}: --raw");
        assert!(runs(&[threads, &["--csv-safe=false"]].concat(), true), "{threads:?}");
        assert!(!runs(&[threads, &["--csv-safe"]].concat(), false), "{threads:?}: asked for");
        assert!(!runs(&[threads, &["--raw", "--csv-safe"]].concat(), false), "{threads:?}");
    }
    let converted = |args: &[&str], has_user| {
        let words = [&["convert", "--format", "csv", "-o", "-"], args, &[&*path]].concat();
        let (exit, text) = output(&words, has_user);
        assert_eq!(exit, Exit::Fine);
        text.split([',', '\n', '"']).any(|cell| cell.starts_with(['=', '@']))
    };
    assert!(!converted(&[], true) && converted(&[], false), "convert: the same defaults");
    assert!(!converted(&["--csv-safe"], false) && converted(&["--csv-safe=false"], true));
}

#[test]
fn openmetrics_of_damaged_and_cut_traces_have_their_end_mark() {
    let trace = corpus::trace("net10-linux-x64/metrics.nettrace");
    let bytes = trace.bytes();
    let mut zeroed = bytes.clone();
    let middle = bytes.len() / 2;
    zeroed[middle..middle + 3000].fill(0);
    let cut = [bytes.len() / 8, middle, bytes.len() - 1].map(|end| bytes[..end].to_vec());
    for bytes in cut.into_iter().chain([zeroed]) {
        let path = file("cut.nettrace", &bytes);
        let (exit, text) = output(&["report", "counters", "--format", "openmetrics", &path], false);
        assert_eq!(exit, Exit::Damaged);
        assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1, "{text}");
    }
}
