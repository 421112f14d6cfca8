//! Names with characters that would reverse text, move the cursor or end a line on a terminal.

use crate::{common, invariants};

use common::{file, nettrace};
use nettrace_export::hidden::is_hidden;
use nettrace_testdata::{cases, corpus};

/// Hidden characters, which are put into long names in turn. Each is one unit of UTF-16.
const HIDDEN: [u16; 12] = [
    0x202e, 0x2066, 0x2069, 0x200b, 0x200d, 0x200f, 0x2028, 0x2029, 0x061c, 0x009b, 0x001b, 0xfeff,
];

/// Words that are not changed, because readers identify events and fields by them.
const KEPT: &str = "Microsoft System. EventCounters Payload Name DisplayName Mean StandardDeviation Count Min \
    Max IntervalSec Series CounterType Metadata DisplayUnits Increment DisplayRateTimeScale \
    sessionId meterName meterVersion instrumentName instrumentId meterTags instrumentTags \
    meterScopeHash unit tags rate value quantiles lastValue sum count MessageJson \
    FormattedMessage LoggerName EventName Level EventId Message";

/// Returns the trace with a hidden character in place of the third letter of each long word in
/// UTF-16, such as the name of a provider, type or method, and the number of changed words.
fn hostile(bytes: &[u8]) -> (Vec<u8>, usize) {
    let (mut made, mut changed, mut at) = (bytes.to_vec(), 0, 0);
    while at + 1 < bytes.len() {
        let units = bytes[at..]
            .chunks_exact(2)
            .take_while(|unit| unit[1] == 0 && unit[0].is_ascii_graphic());
        let word: String = units.map(|unit| char::from(unit[0])).collect();
        let is_kept = KEPT.split(' ').any(|kept| match kept.len() > 6 {
            true => word.starts_with(kept),
            false => word == kept,
        });
        if word.len() >= 4 && !is_kept {
            made[at + 4..at + 6].copy_from_slice(&HIDDEN[changed % HIDDEN.len()].to_le_bytes());
            changed += 1;
        }
        at += (word.len() * 2).max(1);
    }
    (made, changed)
}

/// Returns the trace of version 6 with hidden characters in paths and symbols, which are UTF-8, and
/// the number of changed words.
fn hostile_utf8(bytes: &[u8]) -> (Vec<u8>, usize) {
    let (mut made, mut changed, mut at) = (bytes.to_vec(), 0, 0);
    while at < bytes.len() {
        let word = bytes[at..].iter().take_while(|byte| byte.is_ascii_graphic()).count();
        if word >= 8 && bytes[at..at + word].iter().any(|byte| b"/(:".contains(byte)) {
            made[at + 3..at + 6].copy_from_slice("\u{202e}".as_bytes());
            changed += 1;
        }
        at += word.max(1);
    }
    (made, changed)
}

#[test]
fn no_name_of_a_trace_reaches_a_reader_with_hidden_characters() {
    let (mut shown, mut escaped) = (0, 0);
    for name in [
        "net10-linux-x64/samples-only.nettrace",
        "net10-linux-x64/waits.nettrace",
        "net10-linux-x64/metrics-with-csv.nettrace",
        "net3.1-linux-x64/heap.nettrace",
        "one-collect-v6/cpu.nettrace",
    ] {
        let bytes = corpus::trace(name).bytes();
        let (bytes, changed) =
            if name.contains("v6") { hostile_utf8(&bytes) } else { hostile(&bytes) };
        assert!(changed > 20, "{name}: {changed} names");
        // Without many cases, the largest trace gets only the commands that no other trace tests.
        let first = (cases(1) == 1 && name.contains("/heap")).then_some("heap");
        invariants::all(first, &bytes, |args, text| {
            // Formats for other programs have names unchanged; `--csv-safe` and escapes protect
            // their readers.
            if args.contains(&"csv") || args.contains(&"openmetrics") {
                return;
            }
            let hidden = text.char_indices().find(|(_, c)| is_hidden(*c) && *c != '\n');
            if let Some((at, c)) = hidden {
                let start = (at.saturating_sub(60)..=at)
                    .find(|at| text.is_char_boundary(*at))
                    .unwrap_or(at);
                panic!(
                    "{name}, {args:?}: {c:?} in {:?}",
                    &text[start..=at.max(start) + c.len_utf8() - 1]
                );
            }
            shown += text.matches('\u{fffd}').count();
            escaped += text.matches("\\u202e").count();
        });
    }
    assert!(shown > 500 && escaped > 500, "{shown} shown, {escaped} escaped");
}

#[test]
fn errors_show_names_of_files_without_hidden_characters() {
    let path = file("gpj.\u{202e}ecart\u{9b}31m.nettrace", b"nothing");
    for args in [
        &["info", &*path][..],
        &["events", &path],
        &["report", "topN", &path],
        &["info", "no\u{2066}ne"],
    ] {
        let ran = nettrace(args);
        assert_eq!(ran.code, Some(1));
        ran.assert_message("\u{fffd}");
        assert!(!ran.stderr.contains(|c| is_hidden(c) && c != '\n'), "{:?}", ran.stderr);
    }
}

#[test]
fn a_terminal_sees_no_hidden_characters_of_tags() {
    let bytes = corpus::trace("net10-linux-x64/metrics-with-csv.nettrace").bytes();
    let path = file("hidden-tags.nettrace", &hostile(&bytes).0);
    let shown = |stdout_is_terminal: bool| {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let console = nettrace_cli::Console {
            stdin: Box::new(std::io::empty()),
            stdout: &mut stdout,
            detached_stdout: || None,
            stderr: &mut stderr,
            stdin_is_terminal: false,
            stdout_is_terminal,
            stderr_is_terminal: false,
            variable: &|_: &str| None,
        };
        let args = ["nettrace", "report", "counters", &path, "--format", "openmetrics"];
        nettrace_cli::run(args.into_iter().map(Into::into), console);
        String::from_utf8(stdout).unwrap()
    };
    let is_bad = |c: char| is_hidden(c) && c != '\n';
    let (terminal, piped) = (shown(true), shown(false));
    assert!(terminal.contains('\u{fffd}') && !terminal.contains(is_bad), "{terminal}");
    // Other programs get the characters unchanged.
    assert!(piped.contains(is_bad), "{piped}");
    assert_eq!(terminal.lines().count(), piped.lines().count());
}
