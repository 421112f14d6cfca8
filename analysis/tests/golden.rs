//! Compares frames and counts with the reference reader's.
//!
//! Our names are raw (`NameOptions::is_raw`), in the style `Signature`. For an unknown method the
//! reference reader writes `!?`, and we write the address or `module+0x…`; both become `!?`. A
//! thread is `thread ID` in both, without the name that may follow.
//!
//! Differences in which we are right:
//! - The reference reader writes names of modules that were loaded during the trace in lower case
//!   (`startup`, net3.1's `all`). Events have the true case, so the case of modules is not compared.
//! - It writes `ManagedModule!` for a method whose module event was lost (`lossy`). There is no such
//!   module, so the comparison leaves the word out.

use super::common;
use nettrace_analysis::convert::{ConvertOptions, Format};
use nettrace_analysis::report::Report;
use nettrace_analysis::report::TopNOptions;
use nettrace_analysis::{Analysis, AnalysisOptions, CutStacks, Finished, NameOptions};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use std::collections::BTreeMap;

fn names() -> NameOptions {
    let mut names = NameOptions::default();
    names.is_raw = true;
    names
}

fn analysis<'c>() -> Analysis<'c> {
    let mut options = AnalysisOptions::default();
    options.names = names();
    // The reference reader shows stacks as the trace stores them.
    options.cut_stacks = CutStacks::Keep;
    Analysis::new(options)
}

fn normalised(frame: &str) -> String {
    if let Some(rest) = frame.strip_prefix("thread ") {
        return frame[..7 + rest.find(" (").unwrap_or(rest.len())].to_owned();
    }
    if frame.starts_with("0x") || frame.contains("+0x") || frame == "!?" {
        return "!?".to_owned();
    }
    match frame.split_once('!') {
        Some(("ManagedModule", name)) => name.to_owned(),
        // An exclamation mark in brackets belongs to a generic parameter.
        Some((module, name)) if !module.contains(['(', '[', '<']) => {
            format!("{}!{name}", module.to_lowercase())
        }
        _ => frame.to_owned(),
    }
}

fn lines(text: &str) -> BTreeMap<String, u64> {
    let mut lines = BTreeMap::new();
    for line in text.lines() {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        let stack: Vec<String> = stack.split(';').map(normalised).collect();
        *lines.entry(stack.join(";")).or_insert(0) += count.parse::<u64>().unwrap();
    }
    lines
}

/// Returns name, folded golden and bytes of each trace that has such a golden.
fn folded_goldens() -> Vec<(String, BTreeMap<String, u64>, Vec<u8>)> {
    let goldens = common::goldens(".folded.txt.gz").into_iter();
    goldens.map(|(name, text, bytes)| (name, lines(&text), bytes)).collect()
}

fn read<'c>(mut analysis: Analysis<'c>, bytes: &[u8]) -> Finished {
    assert!(analysis.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    analysis.finish().unwrap()
}

fn folded(bytes: &[u8]) -> BTreeMap<String, u64> {
    let mut out = Vec::new();
    let mut options = ConvertOptions::default();
    options.is_by_thread = true;
    options.counts_samples = true;
    let mut analysis = analysis();
    analysis.add_format(Format::by_name("folded").unwrap(), &mut out, &options);
    read(analysis, bytes);
    // Waiting threads are kept, because the reference reader does not tell them apart.
    let all = std::str::from_utf8(&out).unwrap().lines();
    let all: Vec<&str> = all.map(|line| line.strip_prefix("(waiting);").unwrap_or(line)).collect();
    lines(&all.join("\n"))
}

fn all_rows() -> TopNOptions {
    let mut options = TopNOptions::default();
    options.count = usize::MAX;
    options
}

/// Joins consecutive frames without names to one.
fn with_runs_joined(lines: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut joined = BTreeMap::new();
    for (stack, count) in lines {
        let mut frames: Vec<&str> = stack.split(';').collect();
        frames.dedup_by(|a, b| a == b && *a == "!?");
        *joined.entry(frames.join(";")).or_insert(0) += count;
    }
    joined
}

#[test]
fn every_address_inside_a_symbol_of_a_version_6_trace_is_named() {
    let trace = corpus::trace("one-collect-v6/cpu-and-switches.nettrace");
    let bytes = trace.bytes();
    // Reads the symbols without the model.
    let mut symbols = Vec::new();
    let mut reader = Reader::from_slice(&bytes);
    while let Some(event) = reader.next_event().unwrap() {
        if (event.provider(), event.id()) == ("Universal.System", 4) {
            let number = |name| event.field(name).unwrap().as_u64().unwrap();
            symbols.push((
                number("StartAddress"),
                number("EndAddress"),
                event.field("Name").unwrap().to_text().unwrap(),
            ));
        }
    }
    assert_eq!(symbols.len(), 631);
    let finished = read(analysis(), &bytes);
    let resolved = finished.resolved();
    let (mut inside, mut deepest) = (0, 0);
    for stack in finished.model.stacks() {
        let addresses = finished.model.addresses(stack);
        deepest = deepest.max(addresses.len());
        for (index, (address, frame)) in addresses.iter().zip(resolved.frames(stack)).enumerate() {
            let address = if index == 0 { *address } else { address - 1 };
            let frame = resolved.frame(*frame).unwrap();
            let holding =
                symbols.iter().filter(|(start, last, _)| (*start..=*last).contains(&address));
            let names: Vec<&str> = holding.map(|(_, _, name)| &**name).collect();
            if names.is_empty() {
                assert!(!frame.is_named(), "{address:#x} is {}", frame.text);
                let is_shown = frame.text.starts_with("0x") || frame.text.contains("+0x");
                assert!(is_shown, "{}", frame.text);
            } else {
                assert!(
                    names.contains(&&*frame.method),
                    "{address:#x} is {} and not {names:?}",
                    frame.text
                );
                inside += 1;
            }
        }
    }
    assert!(inside > 1000 && deepest >= 17, "{inside} {deepest}");
    for module in ["vmlinux", "libcoreclr.so", "libc.so.6"] {
        assert!(
            resolved.all_frames().iter().any(|frame| frame.is_named() && frame.module == module),
            "{module}"
        );
    }
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn folded_stacks_equal_the_reference_readers() {
        for (name, mut golden, bytes) in folded_goldens() {
            let mut ours = folded(&bytes);
            if name == "one-collect-v6/cpu" {
                // The reference reader shows an unmapped leaf with unmapped callers as one `!?`.
                ours = with_runs_joined(&ours);
                golden = with_runs_joined(&golden);
            }
            for (stack, count) in &ours {
                assert_eq!(golden.get(stack), Some(count), "{name}: ours alone: {stack}");
            }
            assert_eq!(ours.len(), golden.len(), "{name}");
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn self_counts_equal_the_sums_of_leaves() {
        for (name, golden, bytes) in folded_goldens() {
            let mut leaves: BTreeMap<String, u64> = BTreeMap::new();
            for (stack, count) in golden {
                *leaves.entry(stack.rsplit(';').next().unwrap().to_owned()).or_insert(0) += count;
            }
            let finished = read(analysis(), &bytes);
            let top = all_rows().finish(&finished.resolved());
            let mut ours: BTreeMap<String, u64> = BTreeMap::new();
            for row in top.methods.iter().filter(|row| row.self_samples > 0) {
                // Addresses without a name are one row.
                let name = if row.addresses > 0 { "!?".to_owned() } else { normalised(&row.name) };
                *ours.entry(name).or_insert(0) += row.self_samples;
            }
            assert_eq!(ours, leaves, "{name}");
            assert_eq!(
                ours.values().sum::<u64>() + top.samples_without_stack,
                top.counted.samples,
                "{name}"
            );
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn percentages_are_within_0_15_points_of_dotnet_traces() {
        let shared = corpus::shared();
        let trace = corpus::trace("net10-linux-x64/samples-only.nettrace");
        let finished = read(analysis(), &trace.bytes());
        let top = all_rows().finish(&finished.resolved());
        let mut compared = 0;
        for order in ["exclusive", "inclusive"] {
            let path = shared
                .join(format!("golden/dotnet-trace/net10-linux-x64-samples-only.topN-{order}.txt"));
            for line in std::fs::read_to_string(path).unwrap().lines().skip(1) {
                let mut words = line.split_whitespace().rev();
                let mut percent = || words.next()?.strip_suffix('%')?.parse::<f64>().ok();
                let (Some(exclusive), Some(inclusive)) = (percent(), percent()) else { continue };
                let name = line.split_once(". ").unwrap().1.trim();
                let name = name.split("  ").next().unwrap();
                if ["(Non-Activities)", "Threads"].contains(&name) {
                    continue;
                }
                let row = top.methods.iter().find(|row| row.name.ends_with(&format!(".{name}")));
                let row = row.unwrap_or_else(|| panic!("no row for {name}"));
                let is_near = |ours: f64, theirs: f64| (ours - theirs).abs() <= 0.15;
                assert!(
                    is_near(row.self_percent, exclusive),
                    "{name}: {} and {exclusive}",
                    row.self_percent
                );
                assert!(
                    is_near(row.total_percent, inclusive),
                    "{name}: {} and {inclusive}",
                    row.total_percent
                );
                compared += 1;
            }
        }
        assert_eq!(compared, 16);
    }
}
