//! How many times faster than TraceEvent: both in time order, warm, in turns on the same
//! traces.
//!
//! Each trace is written, synced, dropped from the page cache, and read once before the
//! first round: pages that a write leaves in small pieces cost twice as much to touch.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use nettrace_testdata::corpus;

use crate::gate::{folder, median};
use crate::make::repeat::unpacked;
use crate::memory::{load, processor_seconds};
use crate::pass::{self, Input, Mode};
use crate::peers::{TraceEvent, Work};

/// Traces below this size say more about start-up than about reading.
const LEAST_BYTES: usize = 4_000_000;

/// One of our ways of reading, and what TraceEvent does beside it.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// For the head of a table.
    pub name: &'static str,
    mode: Mode,
    threads: usize,
    work: Work,
}

/// All that are compared.
pub const COLUMNS: [Column; 3] = [
    Column { name: "headers, 1 thread", mode: Mode::Ordered, threads: 1, work: Work::Headers },
    Column { name: "headers, 2 threads", mode: Mode::Ordered, threads: 2, work: Work::Headers },
    Column { name: "fields, 1 thread", mode: Mode::OrderedFields, threads: 1, work: Work::Fields },
];

/// How often, in turns.
#[derive(Debug, Clone, Copy)]
pub struct Turns {
    /// How often both take their turn.
    pub rounds: usize,
    /// Passes in a turn, of which the best counts.
    pub passes: usize,
}

/// What one column gives for one trace: medians of nanoseconds an event, and of their
/// ratios.
#[derive(Debug, Clone, Copy)]
pub struct Faster {
    /// TraceEvent's.
    pub theirs: f64,
    /// Ours.
    pub ours: f64,
    /// How many times faster.
    pub ratio: f64,
    /// Our processor time, all threads together, in nanoseconds an event: of all rounds.
    /// NaN where the system does not say.
    pub processor: f64,
}

/// A trace with its name.
pub type Named = (String, PathBuf);

/// Compares on all traces and prints the table as it goes. Gives what each trace gave.
///
/// # Errors
/// What reading, on either side, reports.
pub fn compare(
    turns: Turns,
    traceevent: &TraceEvent,
    traces: &[Named],
) -> io::Result<Vec<[Faster; 3]>> {
    println!(
        "ns an event: TraceEvent / ours = times faster (our processor time); medians of {} rounds \
         in turns, the best of {} passes each; load {}\n",
        turns.rounds,
        turns.passes,
        load()
    );
    print!("| trace |");
    COLUMNS.iter().for_each(|column| print!(" {} |", column.name));
    println!("\n|---|{}", "---|".repeat(COLUMNS.len()));
    let mut rows = Vec::new();
    for (name, file) in traces {
        let row = row(turns, traceevent, file)?;
        print!("| {name} |");
        for of in &row {
            print!(" {:.0} / {:.1} = {:.1}x ({:.0}) |", of.theirs, of.ours, of.ratio, of.processor);
        }
        println!();
        rows.push(row);
    }
    print!("| least, median |");
    for at in 0..COLUMNS.len() {
        let (least, median) = least_and_median(&rows, at);
        print!(" {least:.1}x, {median:.1}x |");
    }
    println!("\n\nload {}\n", load());
    Ok(rows)
}

/// Of one column's ratios over all traces.
pub fn least_and_median(rows: &[[Faster; 3]], column: usize) -> (f64, f64) {
    let ratios: Vec<f64> =
        rows.iter().filter_map(|row| row.get(column)).map(|of| of.ratio).collect();
    (best(&ratios), median(ratios))
}

fn row(turns: Turns, traceevent: &TraceEvent, file: &Path) -> io::Result<[Faster; 3]> {
    prepare(file)?;
    let mut times = COLUMNS.map(|_| (Vec::new(), Vec::new(), Vec::new(), Vec::new()));
    for _ in 0..turns.rounds {
        let headers = best(&traceevent.passes(file, Work::Headers, turns.passes)?);
        let fields = best(&traceevent.passes(file, Work::Fields, turns.passes)?);
        for (column, times) in COLUMNS.iter().zip(&mut times) {
            let theirs = if column.work == Work::Headers { headers } else { fields };
            let (ours, processor) = ours(turns, file, column)?;
            times.0.push(theirs);
            times.1.push(ours);
            times.2.push(theirs / ours);
            times.3.push(processor);
        }
    }
    Ok(times.map(|(theirs, ours, ratios, processor)| Faster {
        // A turn is shorter than some ticks of the clock: all of them together.
        processor: processor.iter().sum::<f64>() / processor.len().max(1) as f64,
        theirs: median(theirs),
        ours: median(ours),
        ratio: median(ratios),
    }))
}

/// Nanoseconds an event of the best pass, and of processor time of all passes.
fn ours(turns: Turns, file: &Path, column: &Column) -> io::Result<(f64, f64)> {
    let (mut times, mut events) = (Vec::new(), 0u64);
    let before = processor_seconds();
    for _ in 0..turns.passes {
        let begin = Instant::now();
        let seen = pass::file(file, column.mode, Input::Mapped, column.threads)?;
        events += seen.checksum.events;
        times.push(begin.elapsed().as_secs_f64() * 1e9 / seen.checksum.events.max(1) as f64);
    }
    let processor = match (before, processor_seconds()) {
        (Some(before), Some(after)) => (after - before) * 1e9 / events.max(1) as f64,
        _ => f64::NAN,
    };
    Ok((best(&times), processor))
}

/// Leaves the file in the page cache as reading leaves it, whatever wrote it.
fn prepare(file: &Path) -> io::Result<()> {
    File::open(file)?.sync_all()?;
    // What drops a file's pages is a system call that needs unsafe code; `dd` makes it.
    let dropped = Command::new("dd")
        .arg(format!("if={}", file.display()))
        .args(["iflag=nocache", "count=0", "status=none"])
        .status();
    if !dropped.is_ok_and(|status| status.success()) {
        eprintln!("{}: not dropped from the page cache: there is no GNU dd", file.display());
    }
    io::copy(&mut File::open(file)?, &mut io::sink()).map(|_| ())
}

/// The least: what is warm, and was not disturbed.
fn best(times: &[f64]) -> f64 {
    times.iter().copied().min_by(f64::total_cmp).unwrap_or(f64::NAN)
}

/// Every trace that is large enough, unpacked.
///
/// # Errors
/// What the file system reports.
pub fn all_large() -> io::Result<Vec<Named>> {
    let mut found = Vec::new();
    for trace in corpus::all() {
        let bytes = trace.bytes();
        if bytes.len() >= LEAST_BYTES {
            found.push((trace.name().to_owned(), written(trace.name(), &bytes)?));
        }
    }
    Ok(found)
}

/// The traces in these files, unpacked.
///
/// # Errors
/// What the file system reports.
pub fn named(files: &[PathBuf]) -> io::Result<Vec<Named>> {
    let mut found = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let mut magic = [0; 2];
        File::open(file)?.read_exact(&mut magic)?;
        let is_gzip = magic == [0x1f, 0x8b];
        let path =
            if is_gzip { written(&name, &unpacked(std::fs::read(file)?)?)? } else { file.clone() };
        found.push((name, path));
    }
    Ok(found)
}

fn written(name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let folder = folder()?;
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(name.trim_end_matches(".gz").replace('/', "-"));
    std::fs::write(&path, bytes)?;
    Ok(path)
}
