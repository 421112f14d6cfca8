//! How many times faster than TraceEvent: `against-traceevent [--rounds N] [--passes N] [FILE…]`.
//!
//! Both read in time order, warm, in turns. Without files: every trace of 4 MB or more.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use nettrace_benches::gate::{folder, median};
use nettrace_benches::make::repeat::unpacked;
use nettrace_benches::pass::{self, Input, Mode};
use nettrace_benches::peers::{TraceEvent, Work};
use nettrace_testdata::corpus;

const USAGE: &str = "usage: against-traceevent [--rounds N] [--passes N] [FILE...]
  --rounds N  how often both take their turn, default 7
  --passes N  passes in a turn, of which the best counts, default 5
  FILE        traces, gzip or not; default: every trace of 4 MB or more";

/// Traces below this size say more about start-up than about reading.
const LEAST_BYTES: usize = 4_000_000;

struct Options {
    rounds: usize,
    passes: usize,
    files: Vec<PathBuf>,
}

/// Our ways of reading, each with what TraceEvent does beside it.
const COLUMNS: [(&str, Mode, usize, Work); 3] = [
    ("headers, 1 thread", Mode::Ordered, 1, Work::Headers),
    ("headers, 2 threads", Mode::Ordered, 2, Work::Headers),
    ("fields, 1 thread", Mode::OrderedFields, 1, Work::Fields),
];

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let traceevent = match TraceEvent::find() {
        Ok(traceevent) => traceevent,
        Err(why) => {
            println!("SKIPPED: no TraceEvent to compare with: {why}");
            return ExitCode::SUCCESS;
        }
    };
    match compare(&options, &traceevent) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("against-traceevent: {error}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Option<Options> {
    let mut options = Options { rounds: 7, passes: 5, files: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next()?.parse().ok().filter(|number| *number > 0);
        match argument.as_str() {
            "--rounds" => options.rounds = number()?,
            "--passes" => options.passes = number()?,
            option if option.starts_with("--") => return None,
            file => options.files.push(file.into()),
        }
    }
    Some(options)
}

fn compare(options: &Options, traceevent: &TraceEvent) -> io::Result<()> {
    let traces = if options.files.is_empty() { all_large()? } else { named(&options.files)? };
    println!("ns an event: TraceEvent / ours = times faster; medians of {} rounds in turns", options.rounds);
    print!("| trace |");
    COLUMNS.iter().for_each(|(name, ..)| print!(" {name} |"));
    println!("\n|---|{}", "---|".repeat(COLUMNS.len()));
    let mut ratios = COLUMNS.map(|_| Vec::new());
    for (name, file) in &traces {
        let row = row(options, traceevent, file)?;
        print!("| {name} |");
        for (times, ratios) in row.iter().zip(&mut ratios) {
            match times {
                Some((theirs, ours, ratio)) => {
                    print!(" {theirs:.0} / {ours:.1} = {ratio:.1}x |");
                    ratios.push(*ratio);
                }
                None => print!(" - |"),
            }
        }
        println!();
    }
    print!("| least, median |");
    for ratios in ratios {
        match ratios.iter().copied().min_by(f64::total_cmp) {
            Some(least) => print!(" {least:.1}x, {:.1}x |", median(ratios)),
            None => print!(" not there yet |"),
        }
    }
    println!();
    Ok(())
}

/// What one trace gives: medians of both times and of their ratios, for each column.
fn row(
    options: &Options,
    traceevent: &TraceEvent,
    file: &Path,
) -> io::Result<[Option<(f64, f64, f64)>; COLUMNS.len()]> {
    let mut times = COLUMNS.map(|_| (Vec::new(), Vec::new(), Vec::new()));
    for _ in 0..options.rounds {
        let headers = best(&traceevent.passes(file, Work::Headers, options.passes)?);
        let fields = best(&traceevent.passes(file, Work::Fields, options.passes)?);
        for ((_, mode, threads, work), times) in COLUMNS.iter().zip(&mut times) {
            let theirs = if *work == Work::Headers { headers } else { fields };
            let Some(ours) = ours(options, file, *mode, *threads)? else { continue };
            times.0.push(theirs);
            times.1.push(ours);
            times.2.push(theirs / ours);
        }
    }
    Ok(times.map(|(theirs, ours, ratios)| {
        (!ratios.is_empty()).then(|| (median(theirs), median(ours), median(ratios)))
    }))
}

/// Nanoseconds an event of the best pass; `None` if the library cannot do it.
fn ours(options: &Options, file: &Path, mode: Mode, threads: usize) -> io::Result<Option<f64>> {
    let mut times = Vec::new();
    for _ in 0..options.passes {
        let begin = Instant::now();
        match pass::file(file, mode, Input::Mapped, threads) {
            Ok(seen) => times.push(begin.elapsed().as_secs_f64() * 1e9 / seen.checksum.events.max(1) as f64),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(best(&times)))
}

/// The least: what is warm, and was not disturbed.
fn best(times: &[f64]) -> f64 {
    times.iter().copied().min_by(f64::total_cmp).unwrap_or(f64::NAN)
}

type Named = (String, PathBuf);

fn all_large() -> io::Result<Vec<Named>> {
    let mut found = Vec::new();
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        if bytes.len() >= LEAST_BYTES {
            found.push((trace.name().to_owned(), written(trace.name(), &bytes)?));
        }
    }
    Ok(found)
}

fn named(files: &[PathBuf]) -> io::Result<Vec<Named>> {
    let mut found = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let mut magic = [0; 2];
        File::open(file)?.read_exact(&mut magic)?;
        let is_gzip = magic == [0x1f, 0x8b];
        let path = if is_gzip { written(&name, &unpacked(std::fs::read(file)?)?)? } else { file.clone() };
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
