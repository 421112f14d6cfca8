//! Small files that unpack to many bytes.
#![allow(clippy::restriction, clippy::pedantic)]

mod common;

use common::{file, gzip, nettrace, nettrace_with_input, zstd};
use nettrace_testdata::synth;

const SIZE: usize = 8 << 20;

fn tiny_v4() -> Vec<u8> {
    synth::tiny_v4().bytes
}

/// Creates three streams that compress to small files: zeros and other bytes after the events, and
/// a block with a huge size. Bytes that were read must not be held.
fn bombs() -> [Vec<u8>; 3] {
    let zeros = vec![0; SIZE];
    let mut open_v4 = tiny_v4();
    open_v4.pop();
    let mut v6 = synth::Stream::new(synth::Version::V6);
    v6.trace(&synth::Trace::default());
    // A block of an unknown kind claims the largest size there is.
    let huge = [&v6.bytes[..], &[0xff, 0xff, 0xff, 77], &zeros[..]].concat();
    [[&open_v4[..], &zeros].concat(), [&open_v4[..], &vec![0xee; SIZE]].concat(), huge]
}

/// Commands that read traces. All reports and formats are tested below.
const COMMANDS: [&[&str]; 11] = [
    &["info", "--json"],
    &["stats"],
    &["events"],
    &["events", "--order", "file"],
    &["schema"],
    &["check"],
    &["heap"],
    &["report", "summary"],
    &["convert", "--format", "speedscope", "--output", "-"],
    &["diff", "testdata/traces/tiny-v4.nettrace.gz"],
    &["open", "--print-path"],
];

fn assert_ends_at_the_limit(command: &[&str], path: &str) {
    let ran = nettrace(&[command, &[path, "--input-limit", "1MiB"]].concat());
    let what = format!("{command:?} of {path}: {}", ran.stderr);
    assert_eq!(ran.code, Some(1), "{what}");
    assert!(ran.stderr.starts_with(&format!("nettrace: error: {path}: offset 0x")), "{what}");
    let next =
        "it unpacks to more than 1.0 MiB; give a larger --input-limit if the file can be trusted";
    assert!(ran.stderr.contains(next), "{what}");
}

/// Returns the first word of each line below a heading.
fn listed(text: &str, heading: &str) -> Vec<String> {
    let below = text.split_once(heading).expect("the heading is there").1;
    let lines = below.lines().skip(1).take_while(|line| line.starts_with("  "));
    lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn a_bomb_ends_at_the_input_limit_with_what_where_and_what_next() {
    let bombs = bombs();
    let packed = bombs.each_ref().map(|bomb| gzip(bomb)).into_iter().chain([zstd(&bombs[0])]);
    for (nth, packed) in packed.enumerate() {
        assert!(packed.len() < SIZE / 100);
        let path = file(&format!("bomb-{nth}.gz"), &packed);
        for command in COMMANDS {
            assert_ends_at_the_limit(command, &path);
        }
        // A pipe is limited, too, and a limit that is large enough changes nothing.
        let piped = nettrace_with_input(&["info", "-", "--input-limit", "1MiB"], &packed);
        assert_eq!(piped.code, Some(1), "{}", piped.stderr);
        let whole = nettrace(&["info", &path, "--input-limit", "9MiB"]);
        assert_ne!(whole.code, Some(1), "{}", whole.stderr);
    }
}

#[test]
fn what_follows_the_end_mark_is_not_unpacked() {
    let path = file("ended.gz", &gzip(&[&tiny_v4()[..], &vec![0; SIZE]].concat()));
    for command in COMMANDS.iter().filter(|command| !["check", "open"].contains(&command[0])) {
        // Some commands report that the trace has nothing for them, but none mentions the limit.
        let ran = nettrace(&[*command, &[&path[..], "--input-limit", "2MiB"]].concat());
        assert!(!ran.stderr.contains("--input-limit"), "{command:?}: {}", ran.stderr);
    }
    assert_eq!(nettrace(&["info", &path, "--input-limit", "2MiB"]).code, Some(0));
}

#[test]
fn a_gzip_bomb_ends_at_the_input_limit_in_every_report_and_converter() {
    let path = file("bomb.gz", &gzip(&bombs()[0]));
    let reports = listed(nettrace(&["report", "--help"]).text(), "Reports:");
    assert!(reports.len() > 15 && reports.contains(&"counters".to_owned()), "{reports:?}");
    for report in &reports {
        assert_ends_at_the_limit(&["report", report], &path);
        // The page is the only report without JSON.
        if report != "html" {
            assert_ends_at_the_limit(&["report", report, "--json"], &path);
        }
    }
    let formats = nettrace(&["convert", "--format", "list", &path]);
    let formats: Vec<&str> =
        formats.text().lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(formats.len() >= 10 && formats.contains(&"ndjson"), "{formats:?}");
    for format in formats {
        assert_ends_at_the_limit(&["convert", "--format", format, "--output", "-"], &path);
    }
}

#[test]
fn the_commands_with_an_input_limit_are_those_that_are_tested() {
    let commands = listed(nettrace(&["--help"]).text(), "Commands:");
    let has_limit = |command: &String| {
        // Each report has options of its own.
        let help: &[&str] =
            if command == "report" { &["report", "topN", "--help"] } else { &[command, "--help"] };
        nettrace(help).text().contains("--input-limit")
    };
    let mut limited: Vec<String> = commands.into_iter().filter(has_limit).collect();
    let mut tested: Vec<&str> = COMMANDS.iter().map(|command| command[0]).collect();
    tested.dedup();
    limited.sort_unstable();
    tested.sort_unstable();
    assert_eq!(limited, tested);
}
