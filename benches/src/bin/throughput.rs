//! Measures how fast a trace is read.
#![allow(clippy::restriction, clippy::pedantic)]

use nettrace_benches::pass::{self, Input, Mode, PassResult};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: throughput FILE [options]
  --mode raw             file order, every header field (default)
         ordered         time order, header fields, schema and stack
         fields          file order, header fields and every payload value
         ordered-fields  time order, header fields and every payload value
         ndjson          formatted as NDJSON, thrown away
         ordered-ndjson  the same in time order
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
    let (mut seen, mut seconds) = (None::<PassResult>, Vec::new());
    for _ in 0..*passes {
        let begin = Instant::now();
        let now = pass::file(file, *mode, *input, *threads)?;
        seconds.push(begin.elapsed().as_secs_f64());
        if seen.is_some_and(|seen| seen != now) {
            return Err(io::Error::other("two passes saw different events"));
        }
        seen = Some(now);
    }
    let Some(PassResult { checksum, is_intact }) = seen else { return Ok(()) };
    let (events, mode) = (checksum.events, mode.name());
    let nanoseconds: Vec<f64> =
        seconds.iter().map(|seconds| seconds * 1e9 / events.max(1) as f64).collect();
    let sum = checksum.value();
    if options.json {
        let passes: Vec<String> = nanoseconds.iter().map(|ns| format!("{ns:.3}")).collect();
        let passes = passes.join(",");
        println!(
            r#"{{"events":{events},"checksum":"{sum:016x}","intact":{is_intact},"mode":"{mode}","threads":{threads},"ns_per_event":[{passes}]}}"#
        );
        return Ok(());
    }
    println!("{} · {mode} · {threads} thread(s)", file.display());
    println!("events {events} · checksum {sum:016x}");
    if !is_intact {
        println!("not intact: see `nettrace check`");
    }
    let megabytes = std::fs::metadata(file)?.len() as f64 / 1e6;
    for (ns, seconds) in nanoseconds.iter().zip(seconds) {
        let (millions, rate) = (1e3 / ns, megabytes / seconds);
        println!("{ns:9.2} ns/event  {millions:8.2} M events/s  {rate:9.1} MB/s");
    }
    Ok(())
}
