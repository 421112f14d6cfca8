//! The page of a long trace.

use crate::code::{JITTED, TIER1, jitting, loaded};
use crate::script::{Script, bytes_of};
use nettrace_analysis::AnalysisOptions;
use nettrace_analysis::page::{self, PageAbout};
use nettrace_analysis::report::OutcomeReport;
use nettrace_parser::Reader;
use serde_json::{Value, json};
use std::io::Read;

/// Returns the document of the page of a trace.
fn document_of(bytes: &[u8]) -> Value {
    let mut pass = page::pass(AnalysisOptions::default());
    let outcome = pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap();
    let outcome = OutcomeReport::from_outcome(&outcome);
    let about = PageAbout { title: "long".into(), outcome, facts: Vec::new() };
    let mut html = Vec::new();
    pass.finish().output.write(&about, &mut html).unwrap();
    let html = String::from_utf8(html).unwrap();
    let (_, data) = html.split_once(" id=\"data\">").unwrap();
    let packed = from_base64(data.split_once('<').unwrap().0);
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&*packed).read_to_end(&mut unpacked).unwrap();
    let (length, rest) = unpacked.split_at(4);
    let length = u32::from_le_bytes(length.try_into().unwrap()) as usize;
    serde_json::from_slice(&rest[..length]).unwrap()
}

fn from_base64(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> = text.trim().bytes().filter(|letter| *letter != b'=').collect();
    let three = |four: &[u8]| {
        let bits = four.iter().fold(0_u32, |bits, letter| bits << 6 | u32::from(value(*letter)));
        let bits = bits << (6 * (4 - four.len()));
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    letters.chunks(4).flat_map(three).collect()
}

/// Returns a trace with this many collections, and a compiled method after each.
fn with_collections(count: u32) -> Vec<u8> {
    let script = (0..count).fold(Script::new(), |script, number| {
        let at = number * 150_000;
        let method = u64::from(number) + 1;
        script
            .whole(at, number, number % 3)
            .event(at + 30, 1, 145, jitting(method, 100, "Compiled"))
            .event(at + 40, 1, 143, loaded(method, 500, JITTED | TIER1, "Compiled"))
    });
    bytes_of(script.steps)
}

#[test]
fn the_page_of_a_long_trace_says_its_resolution() {
    let document = document_of(&with_collections(17_000));
    let texts: Vec<&str> = document["thinned"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["text"].as_str().unwrap())
        .collect();
    for text in [
        "gc: 1,063 of 17,000 collections are listed, one of 16",
        "gc: added up over 1 ms, the sums are exact",
    ] {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
    assert_eq!(document["sums"]["gc.others"], json!({ "bin_ns": 1_000_000, "left_out": 0 }));
    let count = |column: &str| document["columns"][column]["count"].as_u64().unwrap();
    // Two thirds of a bin's collections share it with an equal one.
    let sums = count("gc.others.t");
    assert!((4_000..8_192).contains(&sums), "{sums}");
    for column in ["gc.others.total", "gc.others.allocated", "gc.others.promoted"] {
        assert_eq!(count(column), sums, "{column}");
    }
    let totals = &document["reports"]["gc"]["totals"];
    assert_eq!((&totals["count"], &totals["pause_ns"]), (&json!(17_000), &json!(17_000 * 20)));
    assert_eq!(document["reports"]["jit"]["totals"]["methods"], json!(17_000));
}

#[test]
fn the_page_of_a_short_trace_has_everything() {
    let document = document_of(&with_collections(50));
    assert_eq!(document["thinned"], json!([]));
    assert_eq!(document["reports"]["gc"]["collections"].as_array().unwrap().len(), 50);
    assert_eq!(document["columns"].get("gc.others.t"), None);
    assert_eq!(document["columns"]["jit.others.t"]["count"], json!(50));
    assert_eq!(document["sums"]["jit.others"]["bin_ns"], json!(1));
}
