//! Cheap tests of whether outputs are well formed.

use flate2::read::GzDecoder;
use nettrace_analysis::heap::HeapDump;
use serde_json::Value;
use std::io::Read;

/// Asserts that the output of the converter with this name is well formed.
pub(super) fn assert_made(name: &str, is_gzip: bool, made: &[u8]) {
    let mut unpacked = Vec::new();
    let made = if is_gzip {
        GzDecoder::new(made)
            .read_to_end(&mut unpacked)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        unpacked.as_slice()
    } else {
        made
    };
    match name {
        "speedscope" | "cpuprofile" | "heapprofile" | "heapsnapshot" | "chromium" | "firefox" => {
            assert_json(made)
        }
        "ndjson" => assert_json_lines(made),
        "csv" => assert_csv(made),
        "folded" => assert_folded(made),
        "svg" => assert_svg(made),
        "pprof" | "perfetto" => assert_protobuf(name, made),
        "gcdump" => assert_gcdump(made),
        _ => panic!("nobody looks at what {name} writes"),
    }
}

pub(super) fn assert_json(made: &[u8]) {
    if let Err(error) = serde_json::from_slice::<Value>(made) {
        panic!("no JSON: {error}\n{}", String::from_utf8_lossy(made));
    }
}

pub(super) fn assert_json_lines(made: &[u8]) {
    assert!(made.is_empty() || made.ends_with(b"\n"), "the last line has no end");
    made.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).for_each(assert_json);
}

fn assert_gcdump(made: &[u8]) {
    if let Err(error) = HeapDump::from_gcdump(made) {
        panic!("no .gcdump: {error}");
    }
}

/// Asserts that all rows of CSV have the same number of cells.
fn assert_csv(made: &[u8]) {
    let text = std::str::from_utf8(made).expect("CSV is UTF-8");
    let (mut is_quoted, mut cells, mut columns) = (false, 1, None);
    for letter in text.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells += 1,
            '\n' if !is_quoted => {
                assert_eq!(*columns.get_or_insert(cells), cells, "a row of another length");
                cells = 1;
            }
            _ => {}
        }
    }
    assert!(!is_quoted && (text.is_empty() || text.ends_with('\n')), "the last row has no end");
}

/// Asserts that text has no control characters but line ends, and returns it.
pub(super) fn assert_text(made: &[u8]) -> &str {
    let text = std::str::from_utf8(made).expect("text is UTF-8");
    let control = text.chars().find(|letter| letter.is_control() && *letter != '\n');
    assert_eq!(control, None, "a control character in {text:?}");
    text
}

/// Asserts that each line has frames, a space and a number.
fn assert_folded(made: &[u8]) {
    for line in std::str::from_utf8(made).expect("folded stacks are UTF-8").lines() {
        let (frames, weight) = line.rsplit_once(' ').expect("a weight after the frames");
        assert!(!frames.is_empty() && weight.parse::<u64>().is_ok(), "{line:?}");
    }
}

/// Asserts that an SVG is whole and has no characters that XML forbids.
fn assert_svg(made: &[u8]) {
    let text = std::str::from_utf8(made).expect("an SVG is UTF-8");
    assert!(text.contains("<svg") && text.trim_end().ends_with("</svg>"), "no whole SVG");
    let allowed = |letter: char| matches!(letter, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert_eq!(text.chars().find(|letter| !allowed(*letter)), None, "no letter of XML");
}

/// Asserts that a protobuf message consists of whole fields.
fn assert_protobuf(name: &str, made: &[u8]) {
    let mut rest = made;
    while !rest.is_empty() {
        let key = varint(&mut rest);
        let length = match key & 7 {
            0 => {
                varint(&mut rest);
                0
            }
            1 => 8,
            2 => varint(&mut rest),
            5 => 4,
            other => panic!("{name}: wire type {other}"),
        };
        assert!(key >> 3 > 0, "{name}: a field without a number");
        let length = usize::try_from(length).expect("lengths fit");
        rest = rest
            .get(length..)
            .unwrap_or_else(|| panic!("{name}: a field of {length} bytes is cut off"));
    }
}

fn varint(rest: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first().expect("a number goes on");
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return value;
        }
    }
    panic!("a number of more than ten bytes");
}
