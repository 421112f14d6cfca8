//! How many times faster than TraceEvent: `against-traceevent [--rounds N] [--passes N]
//! [FILE…]`.
//!
//! Both read in time order, warm, in turns. Without files: every trace of 4 MB or more.
#![allow(clippy::restriction, clippy::pedantic)]

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use nettrace_benches::against::{self, Turns};
use nettrace_benches::peers::TraceEvent;

const USAGE: &str = "usage: against-traceevent [--rounds N] [--passes N] [FILE...]
  --rounds N  how often both take their turn, default 7
  --passes N  passes in a turn, of which the best counts, default 12
  FILE        traces, gzip or not; default: every trace of 4 MB or more";

fn main() -> ExitCode {
    let Some((turns, files)) = options() else {
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
    match compare(turns, &files, &traceevent) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("against-traceevent: {error}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Option<(Turns, Vec<PathBuf>)> {
    let (mut turns, mut files) = (Turns { rounds: 7, passes: 12 }, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next()?.parse().ok().filter(|number| *number > 0);
        match argument.as_str() {
            "--rounds" => turns.rounds = number()?,
            "--passes" => turns.passes = number()?,
            option if option.starts_with("--") => return None,
            file => files.push(file.into()),
        }
    }
    Some((turns, files))
}

fn compare(turns: Turns, files: &[PathBuf], traceevent: &TraceEvent) -> io::Result<()> {
    let traces = if files.is_empty() { against::all_large()? } else { against::named(files)? };
    against::compare(turns, traceevent, &traces).map(|_| ())
}
