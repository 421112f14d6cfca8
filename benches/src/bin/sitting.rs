//! The table of all goals from one sitting: `sitting [--rounds N] [--try]`. See
//! `benches/README.md`.
#![allow(clippy::restriction, clippy::pedantic)]

use std::io;
use std::process::ExitCode;

use nettrace_benches::gate::child;
use nettrace_benches::memory::{COUNTING, Counting};
use nettrace_benches::sitting::{self, SittingPlan};

#[global_allocator]
static ALLOCATOR: &Counting = &COUNTING;

const USAGE: &str = "usage: sitting [--rounds N] [--try]
  --rounds N  how often each takes its turn, default 7
  --try       traces of a fiftieth of their size: says nothing about speed";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((flag, rest)) if flag == child::FLAG => child::serve(rest),
        _ => plan(&arguments).and_then(sitting::run),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            eprintln!("sitting: {error}\n{USAGE}");
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("sitting: {error}");
            ExitCode::FAILURE
        }
    }
}

fn plan(arguments: &[String]) -> io::Result<SittingPlan> {
    let mut plan = SittingPlan { rounds: 7, divisor: 1 };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rounds" => {
                let rounds = arguments.next().and_then(|number| number.parse().ok());
                plan.rounds = rounds.filter(|rounds| *rounds > 0).ok_or_else(wrong)?;
            }
            "--try" => plan.divisor = 50,
            _ => return Err(wrong()),
        }
    }
    Ok(plan)
}

fn wrong() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "wrong arguments")
}
