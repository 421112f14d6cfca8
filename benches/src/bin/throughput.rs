//! How fast a trace is read: `throughput FILE [--mode MODE] [--threads N] [--passes N]
//! [--read] [--json]`.
#![allow(clippy::restriction, clippy::pedantic)]

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use nettrace_benches::memory::{self, COUNTING, Counting};
use nettrace_benches::pass::{self, Input, Mode, Seen};

#[global_allocator]
static ALLOCATOR: &Counting = &COUNTING;

const USAGE: &str = "usage: throughput FILE [options]
  --mode raw             file order, every header field (default)
         ordered         time order, header fields, schema and stack
         fields          file order, header fields and every payload value
         ordered-fields  time order, header fields and every payload value
         ndjson          formatted as NDJSON, thrown away
         index           where blocks lie; blocks stand for events
  --threads N            default 1; what is read and not mapped comes in by one, and so does the index
  --passes N             default 5
  --read                 read the file instead of mapping it
  --json                 one JSON object instead of text";

struct Options {
    file: PathBuf,
    mode: Mode,
    input: Input,
    threads: usize,
    passes: usize,
    json: bool,
}

/// One timed pass.
struct Timed {
    ns_per_event: f64,
    mb_per_s: f64,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("throughput: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("throughput: {}: {error}", options.file.display());
            ExitCode::FAILURE
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let (mut file, mut mode, mut input) = (None, Mode::Raw, Input::Mapped);
    let (mut threads, mut passes, mut json) = (1, 5, false);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--mode" => {
                let name = value()?;
                mode = Mode::of_name(&name).ok_or_else(|| format!("there is no mode '{name}'"))?;
            }
            "--threads" => threads = count(&value()?)?,
            "--passes" => passes = count(&value()?)?,
            "--read" => input = Input::Read,
            "--json" => json = true,
            option if option.starts_with("--") => {
                return Err(format!("there is no option {option}"));
            }
            path if file.is_none() => file = Some(PathBuf::from(path)),
            other => return Err(format!("one file at a time, not '{other}' too")),
        }
    }
    let file = file.ok_or("no file")?;
    Ok(Options { file, mode, input, threads, passes, json })
}

fn count(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|count| *count > 0)
        .ok_or_else(|| format!("'{text}' is no number above 0"))
}

fn run(options: &Options) -> io::Result<()> {
    let Options { file, mode, input, threads, passes, .. } = options;
    let bytes = std::fs::metadata(file)?.len();
    let mut seen: Option<Seen> = None;
    let mut timed = Vec::new();
    for _ in 0..*passes {
        let begin = Instant::now();
        let now = pass::file(file, *mode, *input, *threads)?;
        let seconds = begin.elapsed().as_secs_f64();
        if seen.is_some_and(|seen| seen != now) {
            return Err(io::Error::other("two passes saw different events"));
        }
        let events = now.checksum.events.max(1) as f64;
        timed.push(Timed {
            ns_per_event: seconds * 1e9 / events,
            mb_per_s: bytes as f64 / 1e6 / seconds,
        });
        seen = Some(now);
    }
    let Some(seen) = seen else { return Ok(()) };
    let allocations =
        pass::allocations_when_warm(file, *mode, *input, *threads, seen.checksum.events)?;
    let peak = memory::peak_bytes();
    if options.json {
        print_json(options, seen, &timed, allocations, peak);
    } else {
        print_text(options, seen, &timed, allocations, peak);
    }
    Ok(())
}

fn print_json(options: &Options, seen: Seen, timed: &[Timed], allocations: u64, peak: Option<u64>) {
    let pass = |pass: &Timed| {
        format!(r#"{{"ns_per_event":{:.3},"mb_per_s":{:.1}}}"#, pass.ns_per_event, pass.mb_per_s)
    };
    let passes: Vec<String> = timed.iter().map(pass).collect();
    let peak = peak.map_or("null".to_owned(), |peak| peak.to_string());
    let (events, checksum) = (seen.checksum.events, seen.checksum.value());
    let (mode, threads) = (options.mode.name(), options.threads);
    let passes = passes.join(",");
    println!(
        r#"{{"events":{events},"checksum":"{checksum:016x}","mode":"{mode}","threads":{threads},"passes":[{passes}],"allocations":{allocations},"peak_rss_bytes":{peak}}}"#
    );
}

fn print_text(options: &Options, seen: Seen, timed: &[Timed], allocations: u64, peak: Option<u64>) {
    let wrong = seen.wrong;
    println!(
        "{} · {} · {} thread(s)",
        options.file.display(),
        options.mode.name(),
        options.threads
    );
    println!("events {} · checksum {:016x}", seen.checksum.events, seen.checksum.value());
    if wrong != pass::Wrong::default() {
        println!("not all is well: {wrong:?}");
    }
    for pass in timed {
        let millions = 1e3 / pass.ns_per_event;
        println!(
            "{:9.2} ns/event  {millions:8.2} M events/s  {:9.1} MB/s",
            pass.ns_per_event, pass.mb_per_s
        );
    }
    println!("allocations in the second half of a pass {allocations}");
    match peak {
        Some(peak) => println!("peak memory {:.1} MiB", peak as f64 / (1 << 20) as f64),
        None => println!("peak memory not known here"),
    }
}
