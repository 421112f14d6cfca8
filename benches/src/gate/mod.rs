//! Limits on instructions, allocations and memory, which do not depend on the speed or the load of
//! the machine.
//!
//! Instructions and allocations are counted in runs of two lengths, so that start-up work cancels
//! out. Memory is measured in a pass over a long trace.

pub mod child;
pub mod report;

use crate::make::Case;
use crate::pass::Mode;
use child::{Access, Child};
use report::{GateReport, Limit};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};

/// Returns the folder of the gate's traces, which lies beside the program.
///
/// # Errors
/// When the program's own path is not known.
pub fn folder() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    Ok(program.with_file_name("bench-data"))
}

/// A limit on instructions.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// Name of the work: a mode, a format, or another name that [`child::is_work`] knows.
    work: &'static str,
    case: Case,
    unit: Unit,
    limit: Limit,
    /// Value to reach in future; `None` if the limit is the goal.
    goal: Option<f64>,
}

/// What the value of a limit counts.
#[derive(Debug, Clone, Copy)]
enum Unit {
    /// Instructions for each event.
    Event,
    /// Instructions for each event, minus those that the mode `raw` takes.
    AboveRaw,
    /// Ratio to the instructions of these works, of which the one with the most counts.
    Times(&'static [&'static str]),
}

const fn event(work: &'static str, case: Case, limit: f64) -> Row {
    Row { work, case, unit: Unit::Event, limit: Limit::AtMost(limit), goal: None }
}

const fn times(work: &'static str, case: Case, of: &'static [&'static str], limit: Limit) -> Row {
    Row { work, case, unit: Unit::Times(of), limit, goal: None }
}

impl Row {
    const fn above_raw(self) -> Row {
        Row { unit: Unit::AboveRaw, ..self }
    }

    const fn goal(self, goal: f64) -> Row {
        Row { goal: Some(goal), ..self }
    }

    /// Returns the works to measure: the row's own work, and the works with which it is compared.
    fn works(&self) -> impl Iterator<Item = (Case, &'static str)> {
        let others: &[&str] = match self.unit {
            Unit::Event => &[],
            Unit::AboveRaw => &["raw"],
            Unit::Times(others) => others,
        };
        std::iter::once(self.work).chain(others.iter().copied()).map(|work| (self.case, work))
    }

    /// Returns the name of the measurement in the table and in `benches/README.md`.
    fn what(&self) -> String {
        let (work, case) = (self.work, self.case.name());
        match self.unit {
            Unit::Event => format!("{work}, {case}"),
            Unit::AboveRaw => format!("{work} above raw, {case}"),
            Unit::Times(others) => format!("{work} over {}, {case}", others.join(" or ")),
        }
    }

    fn add_to(&self, report: &mut GateReport, measured: &HashMap<(Case, &'static str), f64>) {
        let of = |work| measured.get(&(self.case, work)).copied().unwrap_or(f64::NAN);
        let own = of(self.work);
        let (value, unit) = match self.unit {
            Unit::Event => (own, "Ir/event"),
            Unit::AboveRaw => (own - of("raw"), "Ir/event"),
            Unit::Times(others) => {
                let dearest = others.iter().map(|work| of(work)).fold(f64::NAN, f64::max);
                (own / dearest, "times the Ir")
            }
        };
        report.add(&self.what(), self.limit, self.goal, value, unit);
    }
}

/// Limits on reading and on NDJSON, a few percent above the measured values.
const READING: [Row; 16] = [
    // 3 to 6 of these instructions compare the time of a row with the range in the header of its
    // block (FORMAT.md 13.6).
    event("raw", Case::Uniform, 81.0).goal(100.0),
    event("raw", Case::Mixed, 101.5).goal(110.0),
    event("raw", Case::Net10, 130.0).goal(120.0),
    event("raw", Case::Net31, 155.0).goal(120.0),
    event("raw", Case::Fat, 101.0).goal(120.0),
    event("raw", Case::V6, 94.5).goal(60.0),
    event("raw", Case::V6Compressed, 172.0),
    event("ordered", Case::Mixed, 375.0).goal(260.0),
    event("ordered", Case::Net10, 328.0).goal(300.0),
    event("ordered", Case::Net31, 347.0).goal(310.0),
    event("ndjson", Case::Mixed, 640.0).above_raw().goal(800.0),
    event("ndjson", Case::Net10, 1_000.0).above_raw(),
    event("ndjson", Case::Net31, 930.0).above_raw().goal(1_000.0),
    event("ndjson", Case::Fat, 1_610.0).above_raw().goal(1_800.0),
    event("ordered-ndjson", Case::Mixed, 960.0),
    event("ordered-ndjson", Case::Net10, 1_275.0),
];

/// Limits on what people wait for: reports, and events as text.
const REPORTS: [Row; 6] = [
    event("summary", Case::Net10, 1_005.0),
    event("summary", Case::Web, 3_240.0),
    event("http", Case::Web, 3_760.0),
    event("page", Case::Net10, 3_990.0),
    event("perfetto", Case::Net10, 2_330.0),
    event("text", Case::Net10, 1_545.0),
];

/// Minimum ratios of nom's idiom to reading, in instructions. The idiom takes 395 to 560
/// instructions for an event of the mixed trace; it takes the fewest if the compiler inlines its
/// functions into the loop. The limits are a little below the ratios of that case. The goals are
/// 2.5, 3 and 3.
const IDIOM: [Row; 3] = [
    times(child::IDIOM, Case::Mixed, &["raw"], Limit::AtLeast(3.9)),
    times(child::IDIOM, Case::Net10, &["raw"], Limit::AtLeast(3.5)),
    times(child::IDIOM, Case::Net31, &["raw"], Limit::AtLeast(3.1)),
];

/// Limits on other work: decoding fields, including raw iteration; `stats` with one thread;
/// conversions, whose goals are ratios of times; and two reports in one pass.
const OTHER_WORK: [Row; 17] = [
    event("ordered-fields", Case::Mixed, 412.0),
    event("ordered-fields", Case::Net10, 628.0),
    event("fields", Case::Mixed, 235.0),
    event("fields", Case::Net10, 540.0),
    event("fields", Case::Fat, 885.0),
    event("fields", Case::Metrics, 10_800.0),
    event("stats", Case::Mixed, 255.0),
    event("stats", Case::Net10, 291.0),
    times("folded", Case::Samples, &["raw"], Limit::AtMost(4.05)).goal(1.15),
    times("speedscope", Case::Samples, &["raw"], Limit::AtMost(6.9)).goal(1.5),
    times("pprof", Case::Samples, &["raw"], Limit::AtMost(4.05)).goal(1.5),
    times("folded", Case::Clr, &["raw"], Limit::AtMost(3.4)).goal(1.15),
    times("speedscope", Case::Clr, &["raw"], Limit::AtMost(7.75)).goal(1.5),
    times("pprof", Case::Clr, &["raw"], Limit::AtMost(3.4)).goal(1.5),
    times("report:gc+contention", Case::Net10, &["report:gc", "report:contention"], TOGETHER),
    times("report:gc+exceptions", Case::Net10, &["report:gc", "report:exceptions"], TOGETHER),
    times("report:topN+tree", Case::Net10, &["report:topN", "report:tree"], TOGETHER),
];

const TOGETHER: Limit = Limit::AtMost(1.42);

/// Limits on allocations for each event of what people wait for, a few percent above the measured
/// values.
const ALLOCATIONS: [(&str, Case, f64); 12] = [
    ("report:summary", Case::Net10, 0.35),
    ("report:summary", Case::Web, 3.2),
    ("report:topN", Case::Net10, 0.006),
    ("report:topN", Case::Web, 0.57),
    ("report:http", Case::Net10, 0.26),
    ("report:http", Case::Web, 2.8),
    ("report:exceptions", Case::Net10, 0.085),
    ("report:exceptions", Case::Web, 0.005),
    ("perfetto", Case::Net10, 0.4),
    ("perfetto", Case::Web, 0.88),
    ("text", Case::Net10, 0.005),
    ("text", Case::Web, 0.005),
];

/// Limits on the memory of pages of traces of [`PAGE_BYTES`], in MiB, a few percent above the measured
/// values. No trace, however long, may take more than 96 MiB.
const PAGES: [(Case, f64); 2] = [(Case::Net10, 72.0), (Case::Web, 56.0)];
/// Length of the traces whose pages are measured, in bytes. All that grows has reached its bound.
const PAGE_BYTES: u64 = 400_000_000;

/// Number of passes that run under callgrind at the same time. Their counts do not influence each
/// other.
const PASSES_AT_ONCE: usize = 2;

/// Measures instructions, allocations and memory.
///
/// # Errors
/// When a measurement fails.
pub fn run(folder: &Path, report: &mut GateReport) -> io::Result<()> {
    if child::has_callgrind() {
        let rows = [READING.as_slice(), &REPORTS, &IDIOM, &OTHER_WORK].concat();
        instructions(&rows, folder, report)?;
    } else {
        report.skip("instructions per event", "valgrind is not there");
    }
    allocations(folder, report)?;
    pages(folder, report)?;
    memory(folder, report)
}

/// Measures the instructions of reading, of NDJSON and of reports alone, and the memory of pages.
///
/// # Errors
/// When there is no valgrind, or a pass under it fails.
pub fn counts(folder: &Path, report: &mut GateReport) -> io::Result<()> {
    if !child::has_callgrind() {
        return Err(io::Error::other("valgrind is not installed"));
    }
    instructions(&[READING.as_slice(), &REPORTS].concat(), folder, report)?;
    pages(folder, report)
}

/// Measures the memory that the command takes for the pages of long traces.
fn pages(folder: &Path, report: &mut GateReport) -> io::Result<()> {
    for (case, limit) in PAGES {
        let file = case.file(folder, PAGE_BYTES)?;
        let peak = Child::peak_of_command(&file, "page")? as f64 / (1 << 20) as f64;
        let what = format!("memory, page, {}", case.name());
        report.add(&what, Limit::AtMost(limit), None, peak, "MiB");
        std::fs::remove_file(file)?;
    }
    Ok(())
}

/// Measures each work of the rows once, and reports each row as soon as its works are measured.
fn instructions(rows: &[Row], folder: &Path, report: &mut GateReport) -> io::Result<()> {
    let mut works: Vec<(Case, &str)> = Vec::new();
    for work in rows.iter().flat_map(Row::works) {
        if !works.contains(&work) {
            works.push(work);
        }
    }
    let works = Mutex::new(works.into_iter());
    let next = || works.lock().unwrap_or_else(PoisonError::into_inner).next();
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..PASSES_AT_ONCE {
            let sender = sender.clone();
            scope.spawn(move || {
                while let Some((case, work)) = next() {
                    let measured = instructions_per_event(folder, case, work);
                    // Nobody listens any more after a failure.
                    if sender.send(((case, work), measured)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let (mut measured, mut rows) = (HashMap::new(), rows.iter().peekable());
        for (work, per_event) in receiver {
            measured.insert(work, per_event?);
            let is_known = |row: &&Row| row.works().all(|work| measured.contains_key(&work));
            while let Some(row) = rows.next_if(is_known) {
                row.add_to(report, &measured);
            }
        }
        Ok(())
    })
}

/// Returns the number of instructions for each event, without those of the start of the program.
///
/// # Errors
/// If callgrind, or a pass under it, fails.
pub fn instructions_per_event(folder: &Path, case: Case, work: &str) -> io::Result<f64> {
    let is_converted = matches!(case, Case::Samples | Case::Clr);
    let times = if work == Mode::Raw.name() && !is_converted { 4 } else { 2 };
    per_event(folder, case, work, [short(case), times * short(case)], |file| {
        let child = Child::under_callgrind(file, work)?;
        Ok((child.events, child.instructions))
    })
}

/// Returns the number of allocations for each event, without those of the start of the work.
///
/// # Errors
/// If a pass fails.
pub fn allocations_per_event(folder: &Path, case: Case, work: &str) -> io::Result<f64> {
    per_event(folder, case, work, [2 * short(case), 4 * short(case)], |file| {
        let child = Child::run(file, work, Access::Mapped)?;
        Ok((child.events, child.allocations))
    })
}

/// Returns the length in bytes of the shorter trace. It has to contain a whole copy of the real
/// trace, with all its metadata.
fn short(case: Case) -> u64 {
    match case {
        Case::Net10 => 5_700_000,
        Case::Web => 13_000_000,
        Case::Net31 => 1_300_000,
        Case::V6 => 4_000_000,
        Case::Samples | Case::Clr => 6_000_000,
        Case::Fat => 3_000_000,
        _ => 1_500_000,
    }
}

/// Returns the increase of a count for each event, computed from traces of two lengths.
fn per_event(
    folder: &Path,
    case: Case,
    work: &str,
    lengths: [u64; 2],
    count: impl Fn(&Path) -> io::Result<(u64, u64)>,
) -> io::Result<f64> {
    // Each work has a folder of its own, because works run in parallel and would write the same
    // file.
    let folder = folder.join(work.replace(':', "-"));
    let counted = |bytes| -> io::Result<(f64, f64)> {
        let file = case.file(&folder, bytes)?;
        let (events, count) = count(&file)?;
        std::fs::remove_file(file)?;
        Ok((events as f64, count as f64))
    };
    let [short, long] = lengths;
    let ((few, low), (many, high)) = (counted(short)?, counted(long)?);
    Ok((high - low) / (many - few))
}

/// Measures allocations for each event, after tables and buffers have grown to their size.
fn allocations(folder: &Path, report: &mut GateReport) -> io::Result<()> {
    let mut add = |work: &str, case: Case, limit| {
        let value = allocations_per_event(folder, case, work)?;
        report.add(&allocating(work, case), Limit::AtMost(limit), None, value, "an event");
        Ok(())
    };
    for case in [Case::Mixed, Case::Net10, Case::Fat, Case::V6] {
        for mode in [Mode::Raw, Mode::Ordered, Mode::Fields, Mode::Ndjson] {
            // A table may still grow once or twice, but no event may allocate.
            add(mode.name(), case, 0.001)?;
        }
    }
    ALLOCATIONS.into_iter().try_for_each(|(work, case, limit)| add(work, case, limit))
}

/// Returns the name of a measurement of allocations, in the table and in `benches/README.md`.
fn allocating(work: &str, case: Case) -> String {
    format!("allocations, {}, {}", work.trim_start_matches(child::REPORT), case.name())
}

/// Measures the memory of passes over traces of 200 MB.
fn memory(folder: &Path, report: &mut GateReport) -> io::Result<()> {
    const MIB: f64 = (1 << 20) as f64;
    // 8 MiB and two blocks.
    const READ: f64 = 8.2;
    // 16 MiB and 80 bytes for each event of the largest region between two sequence points.
    const ORDERED: [(Case, f64); 3] = [(Case::Mixed, 18.5), (Case::Net10, 17.0), (Case::Fat, 16.8)];
    for (case, ordered) in ORDERED {
        let (file, name) = (case.file(folder, 200_000_000)?, case.name());
        let mut add = |what: &str, limit, bytes: u64| {
            let what = format!("memory, {what}, {name}");
            report.add(&what, Limit::AtMost(limit), None, bytes as f64 / MIB, "MiB");
        };
        let peak = |mode: Mode, how| Child::run(&file, mode.name(), how).map(|child| child.peak);
        add("read", READ, peak(Mode::Raw, Access::Read)?);
        add("mapped", 24.0, peak(Mode::Raw, Access::Mapped)?);
        let watched = Child::run(&file, Mode::Raw.name(), Access::Watched)?;
        add("mapped, anonymous", 4.0, watched.anonymous);
        add("ordered", ordered, peak(Mode::Ordered, Access::Read)?);
        std::fs::remove_file(file)?;
    }
    for case in [Case::Net10, Case::Net31, Case::Samples] {
        let (file, name) = (case.file(folder, 200_000_000)?, case.name());
        // Formats that do not grow with the trace.
        for format in ["folded", "pprof", "svg"] {
            let peak = Child::run(&file, format, Access::Read)?.peak as f64 / MIB;
            let what = format!("memory, {format}, {name}");
            report.add(&what, Limit::AtMost(32.0), None, peak, "MiB");
        }
        std::fs::remove_file(file)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_has_the_limits_of_reading_and_of_reports_and_of_their_allocations() {
        let readme = include_str!("../../README.md");
        for row in READING.into_iter().chain(REPORTS) {
            let Limit::AtMost(limit) = row.limit else { panic!("{} has no maximum", row.what()) };
            let goal = row.goal.map_or(String::new(), |goal| format!("{goal} "));
            let line = format!("| {} | {limit} | {goal}|", row.what());
            // The README has commas in numbers.
            let plain = |text: &str| text.replace(',', "");
            assert!(readme.lines().any(|found| plain(found).starts_with(&plain(&line))), "{line}");
        }
        for (work, case, limit) in ALLOCATIONS {
            let line = format!("| {} | {limit} | ", allocating(work, case));
            assert!(readme.lines().any(|found| found.starts_with(&line)), "{line}");
        }
    }
}
