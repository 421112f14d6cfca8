//! Fails when reading has become slower or hungrier than it may be. See `benches/README.md`.

use std::io;
use std::process::ExitCode;

use nettrace_benches::gate::{self, child, report::Report};
use nettrace_benches::memory::{COUNTING, Counting};

#[global_allocator]
static ALLOCATOR: &Counting = &COUNTING;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((flag, rest)) if flag == child::FLAG => child::serve(rest).map(|()| true),
        Some((other, _)) => Err(io::Error::other(format!("there is no argument {other}"))),
        None => whole(),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("gate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn whole() -> io::Result<bool> {
    let folder = gate::folder()?;
    let mut report = Report::begin();
    gate::run(&folder, &mut report)?;
    Ok(report.end())
}
