//! The gate: what must not get worse, measured so that it does not flicker.
//!
//! Instructions are counted by callgrind in runs of two lengths, so that what is done
//! once cancels; times are compared only within one process and as medians of many
//! rounds; allocations and memory are counted.

pub mod child;
pub mod convert;
pub mod report;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::cases::Case;
use crate::checksum::Checksum;
use crate::floor::{Rows, idiom, window};
use crate::pass::{self, Input, Mode};
use child::Child;
use report::{GateReport, Limit};

/// Where the gate keeps its traces: beside the program.
///
/// # Errors
/// When the program's own path is not known.
pub fn folder() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    Ok(program.with_file_name("bench-data"))
}

/// Measures all goals.
///
/// # Errors
/// When something cannot be measured at all.
pub fn run(folder: &Path, report: &mut GateReport) -> io::Result<()> {
    if child::has_callgrind() {
        instructions(folder, report)?;
        convert::instructions(folder, report)?;
    } else {
        report.skip("instructions per event", "valgrind is not there");
    }
    idioms(report)?;
    allocations(folder, report)?;
    memory(folder, report)?;
    convert::limits(folder, report)
}

/// Measures the instructions of the parser, of time order and of NDJSON alone: they are
/// the same on every machine, however busy it is.
///
/// # Errors
/// When there is no valgrind, or a pass under it fails.
pub fn counts(folder: &Path, report: &mut GateReport) -> io::Result<()> {
    if !child::has_callgrind() {
        return Err(io::Error::other("valgrind is not installed"));
    }
    let raw = raw_instructions(folder, report)?;
    ordered_instructions(folder, report)?;
    ndjson_instructions(folder, report, &raw)
}

/// Two lengths of a trace. The longer is about a second of callgrind.
fn lengths(case: Case, mode: &str) -> (u64, u64) {
    let unit = match case {
        // So that the short one holds a whole copy: all metadata, all shapes.
        Case::Net10 => 5_700_000,
        Case::Net31 => 1_300_000,
        Case::V6 => 4_000_000,
        Case::Samples | Case::Clr => return (6_000_000, 12_000_000),
        Case::Fat => 3_000_000,
        _ => 1_500_000,
    };
    let long = if mode == Mode::Raw.name() { 4 } else { 2 };
    (unit, long * unit)
}

/// Instructions that one event costs, start-up left out; `mode` is a mode's name, a
/// format's, [`child::IDIOM`], or [`child::STATS`].
///
/// # Errors
/// When callgrind, or a pass under it, fails.
pub fn instructions_per_event(folder: &Path, case: Case, mode: &str) -> io::Result<f64> {
    let (short, long) = lengths(case, mode);
    let count = |bytes| -> io::Result<(f64, f64)> {
        let file = case.file(folder, bytes)?;
        let counted = match mode {
            child::STATS => Child::stats_under_callgrind(&file)?,
            _ => Child::under_callgrind(&file, mode)?,
        };
        let events = match counted.events {
            0 => pass::file(&file, Mode::Raw, Input::Mapped, 1)?.checksum.events,
            events => events,
        };
        std::fs::remove_file(file)?;
        Ok((counted.instructions as f64, events as f64))
    };
    let (few, many) = (count(short)?, count(long)?);
    Ok((many.0 - few.0) / (many.1 - few.1))
}

/// Instructions an event of raw iteration: the goal, and the limit, a few percent above
/// what was reached, so that nothing gets worse.
const RAW_INSTRUCTIONS: [(Case, f64, f64); 7] = [
    // Since a row's time is held against those that its block states (FORMAT.md 13.6),
    // each event takes 3 to 6 more: the time of the run's last row is kept (not in version
    // 6), and what is compared has its place in memory.
    (Case::Uniform, 100.0, 81.0),
    (Case::Mixed, 110.0, 101.5),
    (Case::Net10, 120.0, 130.0),
    (Case::Net31, 120.0, 155.0),
    (Case::Fat, 120.0, 101.0),
    (Case::V6, 60.0, 94.5),
    // Only to be measured and stated.
    (Case::V6Compressed, 180.0, 172.0),
];

/// How many times fewer instructions than nom's idiom; the goals are 2.5, 3 and 3. The
/// idiom takes 395 to 560 instructions an event of the mixed trace, by whether the compiler
/// happens to inline its functions into its loop, which changes when other code of this
/// crate does. The limits are a little below what is reached where it does: a good day for
/// the idiom is what we compare with. Our own instructions have limits of their own.
const OVER_IDIOM: [(Case, f64); 3] = [(Case::Mixed, 3.9), (Case::Net10, 3.5), (Case::Net31, 3.1)];

/// The same of NDJSON, without those of raw iteration.
const NDJSON_INSTRUCTIONS: [(Case, f64, f64); 4] = [
    (Case::Mixed, 800.0, 640.0),
    (Case::Net10, 1_000.0, 1_000.0),
    (Case::Net31, 1_000.0, 920.0),
    (Case::Fat, 1_800.0, 1_610.0),
];

/// The same of NDJSON in time order, raw iteration not taken off: a few percent above what
/// was reached.
const ORDERED_NDJSON_INSTRUCTIONS: [(Case, f64); 2] =
    [(Case::Mixed, 960.0), (Case::Net10, 1_275.0)];

/// The same of `nettrace stats` with one thread.
const STATS_INSTRUCTIONS: [(Case, f64); 2] = [(Case::Mixed, 245.0), (Case::Net10, 282.0)];

/// The same in time order, with schema and stack: the goal, and the limit, a few percent
/// above what was reached.
const ORDERED_INSTRUCTIONS: [(Case, f64, f64); 3] =
    [(Case::Mixed, 260.0, 375.0), (Case::Net10, 300.0, 328.0), (Case::Net31, 310.0, 347.0)];

/// The same in time order with all fields, without schema and stack: a few percent above
/// what was reached.
const ORDERED_FIELDS_INSTRUCTIONS: [(Case, f64); 2] = [(Case::Mixed, 412.0), (Case::Net10, 628.0)];

/// The same of walking all fields, raw iteration included: a few percent above what was
/// reached. The goals are times.
const FIELDS_INSTRUCTIONS: [(Case, f64); 4] =
    [(Case::Mixed, 235.0), (Case::Net10, 540.0), (Case::Fat, 885.0), (Case::Metrics, 10_800.0)];

/// A case and the instructions that one of its events takes.
type PerEvent = Vec<(Case, f64)>;

/// That of `case`, or of no event if it was not measured.
fn of_case(measured: &PerEvent, case: Case) -> Option<f64> {
    measured.iter().find(|(other, _)| *other == case).map(|(_, per_event)| *per_event)
}

fn raw_instructions(folder: &Path, report: &mut GateReport) -> io::Result<PerEvent> {
    let mut per_event = Vec::new();
    for (case, goal, limit) in RAW_INSTRUCTIONS {
        let measured = instructions_per_event(folder, case, Mode::Raw.name())?;
        per_event.push((case, measured));
        report.add_with_goal(format!("raw, {}", case.name()), goal, limit, measured, "Ir/event");
    }
    Ok(per_event)
}

fn ordered_instructions(folder: &Path, report: &mut GateReport) -> io::Result<()> {
    for (case, goal, limit) in ORDERED_INSTRUCTIONS {
        let measured = instructions_per_event(folder, case, Mode::Ordered.name())?;
        let what = format!("ordered, {}", case.name());
        report.add_with_goal(what, goal, limit, measured, "Ir/event");
    }
    Ok(())
}

fn ndjson_instructions(folder: &Path, report: &mut GateReport, raw: &PerEvent) -> io::Result<()> {
    for (case, goal, limit) in NDJSON_INSTRUCTIONS {
        let below = of_case(raw, case).unwrap_or(0.0);
        let measured = instructions_per_event(folder, case, Mode::Ndjson.name())? - below;
        let what = format!("NDJSON above raw, {}", case.name());
        report.add_with_goal(what, goal, limit, measured, "Ir/event");
    }
    for (case, limit) in ORDERED_NDJSON_INSTRUCTIONS {
        let measured = instructions_per_event(folder, case, Mode::OrderedNdjson.name())?;
        let what = format!("NDJSON in time order, {}", case.name());
        report.add(what, Limit::AtMost(limit), measured, "Ir/event");
    }
    Ok(())
}

fn instructions(folder: &Path, report: &mut GateReport) -> io::Result<()> {
    let raw = raw_instructions(folder, report)?;
    for (case, goal) in OVER_IDIOM {
        let ours = of_case(&raw, case).unwrap_or(f64::NAN);
        let ratio = instructions_per_event(folder, case, child::IDIOM)? / ours;
        let what = format!("fewer than nom's idiom, {}", case.name());
        report.add(what, Limit::AtLeast(goal), ratio, "times the Ir");
    }
    ordered_instructions(folder, report)?;
    for (case, limit) in ORDERED_FIELDS_INSTRUCTIONS {
        let measured = instructions_per_event(folder, case, Mode::OrderedFields.name())?;
        let what = format!("ordered fields, {}", case.name());
        report.add(what, Limit::AtMost(limit), measured, "Ir/event");
    }
    for (case, limit) in FIELDS_INSTRUCTIONS {
        let measured = instructions_per_event(folder, case, Mode::Fields.name())?;
        report.add(format!("fields, {}", case.name()), Limit::AtMost(limit), measured, "Ir/event");
    }
    ndjson_instructions(folder, report, &raw)?;
    if !child::command()?.exists() {
        report.skip("stats", "the command is not beside the gate");
        return Ok(());
    }
    for (case, limit) in STATS_INSTRUCTIONS {
        let measured = instructions_per_event(folder, case, child::STATS)?;
        report.add(format!("stats, {}", case.name()), Limit::AtMost(limit), measured, "Ir/event");
    }
    Ok(())
}

/// How many times faster than idiomatic nom, and how near to the floor, in this process.
fn idioms(report: &mut GateReport) -> io::Result<()> {
    // Times differ from build to build of the same code and from processor to processor:
    // the very same program reached 3.9 times on one machine and 2.9 on another. So the
    // limit in time only notices a decoder that fell back to the idiom; what holds the
    // goals is the limit in instructions.
    for case in [Case::Mixed, Case::Net10, Case::Net31] {
        let stream = case.bytes(12_000_000);
        let rows = Rows::of(&stream);
        let (mut over_idiom, mut over_floor) = (Vec::new(), Vec::new());
        for _ in 0..15 {
            let ours = seconds(|| pass::memory(&stream, Mode::Raw).map(|seen| seen.checksum));
            let idiom = seconds(|| Ok(idiom::decode(&stream, &rows)));
            let floor = seconds(|| Ok(window::decode(&stream, &rows)));
            let (ours, idiom, floor) = (ours?, idiom?, floor?);
            if ours.1 != idiom.1 || ours.1 != floor.1 {
                return Err(io::Error::other("decoders disagree on what they saw"));
            }
            over_idiom.push(idiom.0 / ours.0);
            over_floor.push(ours.0 / floor.0);
        }
        let name = case.name();
        let over_idiom = median(over_idiom);
        report.add(
            format!("faster than nom's idiom, {name}"),
            Limit::AtLeast(2.0),
            over_idiom,
            "times",
        );
        report.note(format!("slower than the floor, {name}"), median(over_floor), "times");
    }
    Ok(())
}

fn seconds(work: impl FnOnce() -> io::Result<Checksum>) -> io::Result<(f64, Checksum)> {
    let begin = Instant::now();
    let seen = work()?;
    Ok((begin.elapsed().as_secs_f64(), seen))
}

/// The middle one.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Allocations an event, when everything has its size.
fn allocations(folder: &Path, report: &mut GateReport) -> io::Result<()> {
    for case in [Case::Mixed, Case::Net10, Case::Fat, Case::V6] {
        let file = case.file(folder, 12_000_000)?;
        let events = pass::file(&file, Mode::Raw, Input::Mapped, 1)?.checksum.events;
        for mode in [Mode::Raw, Mode::Ordered, Mode::Fields, Mode::Ndjson] {
            let count = pass::allocations_when_warm(&file, mode, Input::Mapped, 1, events)?;
            let per_event = count as f64 / (events / 2) as f64;
            let what = format!("allocations, {}, {}", mode.name(), case.name());
            // A table may still grow once or twice; an event may not cost any.
            report.add(what, Limit::AtMost(0.001), per_event, "an event");
        }
        std::fs::remove_file(file)?;
    }
    Ok(())
}

pub(crate) const MIB: f64 = (1 << 20) as f64;

/// Memory of passes over long traces, each in a process of its own.
fn memory(folder: &Path, report: &mut GateReport) -> io::Result<()> {
    for case in [Case::Mixed, Case::Net10, Case::Fat] {
        let name = case.name();
        let file = case.file(folder, 200_000_000)?;
        let (largest_block, largest_region) = extent(&file)?;
        let read = Child::plain(&file, Mode::Raw.name(), Input::Read)?;
        let limit = 8.0 + 2.0 * largest_block as f64 / MIB;
        report.add(
            format!("memory, read, {name}"),
            Limit::AtMost(limit),
            read.peak as f64 / MIB,
            "MiB",
        );
        let mapped = Child::plain(&file, Mode::Raw.name(), Input::Mapped)?;
        report.add(
            format!("memory, mapped, {name}"),
            Limit::AtMost(24.0),
            mapped.peak as f64 / MIB,
            "MiB",
        );
        let anonymous = mapped.anonymous as f64 / MIB;
        report.add(
            format!("memory, mapped, anonymous, {name}"),
            Limit::AtMost(4.0),
            anonymous,
            "MiB",
        );
        let ordered = Child::plain(&file, Mode::Ordered.name(), Input::Read)?;
        let limit = (16.0 + 80.0 * largest_region as f64 / MIB).min(256.0);
        report.add(
            format!("memory, ordered, {name}"),
            Limit::AtMost(limit),
            ordered.peak as f64 / MIB,
            "MiB",
        );
        std::fs::remove_file(file)?;
    }
    Ok(())
}

/// Bytes of the largest block, and events of the largest region between two sequence
/// points, in what is enough of a trace to meet them.
pub(crate) fn extent(file: &Path) -> io::Result<(u64, u64)> {
    let mut beginning = std::fs::read(file)?;
    beginning.truncate(20_000_000);
    let mut reader = nettrace_parser::Reader::from_slice(&beginning);
    let (mut block_bytes, mut region, mut largest) = (0, 0, 0);
    while let Some(block) = reader.next_block().map_err(io::Error::other)? {
        let size = u64::from(block.span().len);
        block_bytes = block_bytes.max(size);
        if size != block.content().len() as u64 {
            break;
        }
        match block.kind() {
            nettrace_parser::BlockKind::SequencePoint => region = 0,
            nettrace_parser::BlockKind::Event => {
                let start = block.span().start as usize;
                let rows = Rows::of_block(block.content(), start, false);
                region += rows.map_or(0, |rows| window::decode(&beginning, &[rows]).events);
                largest = largest.max(region);
            }
            _ => {}
        }
    }
    Ok((block_bytes, largest))
}
