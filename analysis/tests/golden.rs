//! Frames and counts against what the reference reader saw.
//!
//! How its names become ours: ours are raw (`NameOptions::is_raw`), in the style `Signature`. Where it
//! has no method it writes `!?`, or `Module!?`; we write the address, or `module+0x…`: both become `!?`.
//! Threads are `thread ID` in both: names behind the id are cut off.

use flate2::read::GzDecoder;
use nettrace_analysis::convert::{ConvertOptions, Folded};
use nettrace_analysis::{Analysis, AnalysisOptions, NameOptions, NameStyle, TopN, TopNOptions};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use std::collections::BTreeMap;
use std::io::Read;

fn names() -> NameOptions {
    NameOptions { style: NameStyle::Signature, is_raw: true }
}

fn analysis<'c>() -> Analysis<'c> {
    let mut options = AnalysisOptions::new();
    options.names = names();
    Analysis::new(options)
}

fn normalised(frame: &str) -> &str {
    if let Some(rest) = frame.strip_prefix("thread ") {
        return &frame[..7 + rest.find(" (").unwrap_or(rest.len())];
    }
    let is_address = frame.starts_with("0x") || frame.contains("+0x") || frame.ends_with("!?");
    if is_address { "!?" } else { frame }
}

fn lines(text: &str) -> BTreeMap<String, u64> {
    let mut lines = BTreeMap::new();
    for line in text.lines() {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        let stack: Vec<&str> = stack.split(';').map(normalised).collect();
        *lines.entry(stack.join(";")).or_insert(0) += count.parse::<u64>().unwrap();
    }
    lines
}

/// The traces for which there are folded goldens, by name.
fn folded_goldens() -> Vec<(String, BTreeMap<String, u64>, Vec<u8>)> {
    let Some(shared) = corpus::shared_folder() else { return Vec::new() };
    let mut found = Vec::new();
    for trace in corpus::traces() {
        let Some(name) = trace.name().strip_suffix(".nettrace") else { continue };
        let path = shared.join("golden").join(format!("{name}.folded.txt.gz"));
        let Ok(file) = std::fs::File::open(path) else { continue };
        let mut text = String::new();
        GzDecoder::new(file).read_to_string(&mut text).unwrap();
        found.push((name.to_owned(), lines(&text), trace.bytes()));
    }
    assert!(found.len() >= 8, "{} goldens", found.len());
    found
}

fn folded(bytes: &[u8]) -> BTreeMap<String, u64> {
    let mut out = Vec::new();
    let mut options = ConvertOptions::new();
    options.is_by_thread = true;
    options.counts_samples = true;
    let mut analysis = analysis();
    analysis.add(Box::new(Folded::new(Box::new(&mut out), &options)));
    analysis.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap();
    analysis.finish().unwrap();
    lines(std::str::from_utf8(&out).unwrap())
}

#[test]
fn folded_stacks_of_version_4_traces_equal_the_reference_readers() {
    for (name, golden, bytes) in folded_goldens() {
        if name.starts_with("one-collect") {
            continue;
        }
        let ours = folded(&bytes);
        let differing = |a: &BTreeMap<String, u64>, b: &BTreeMap<String, u64>| -> Vec<String> {
            a.iter().filter(|(k, v)| b.get(*k) != Some(v)).map(|(k, v)| format!("{v} {k}")).collect()
        };
        let (more, less) = (differing(&ours, &golden), differing(&golden, &ours));
        if more.is_empty() && less.is_empty() {
            println!("{name}: {} lines equal", golden.len());
            continue;
        }
        println!("{name}: {} of {} lines differ", less.len(), golden.len());
        for line in more.iter().take(4) {
            println!("   ours   {line}");
        }
        for line in less.iter().take(4) {
            println!("   golden {line}");
        }
    }
}

#[test]
fn self_counts_equal_the_sums_of_leaves() {
    for (name, golden, bytes) in folded_goldens() {
        let mut leaves: BTreeMap<String, u64> = BTreeMap::new();
        for (stack, count) in golden {
            *leaves.entry(stack.rsplit(';').next().unwrap().to_owned()).or_insert(0) += count;
        }
        let mut analysis = analysis();
        analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
        let finished = analysis.finish().unwrap();
        let mut options = TopNOptions::default();
        options.count = usize::MAX;
        let top = TopN::new(&finished.resolved(), &finished.profile, &options);
        let mut ours: BTreeMap<String, u64> = BTreeMap::new();
        for row in top.methods.iter().filter(|row| row.self_samples > 0) {
            *ours.entry(normalised(&row.name).to_owned()).or_insert(0) += row.self_samples;
        }
        println!("{name}: {} leaves, without stack {}, equal {}", leaves.len(), top.samples_without_stack, ours == leaves);
        println!("   {:?}", finished.resolved().coverage());
    }
}
