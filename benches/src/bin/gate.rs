//! Fails when reading has become slower or hungrier than it may be. See
//! `benches/README.md`.
#![allow(clippy::restriction, clippy::pedantic)]

use std::io;
use std::path::Path;
use std::process::ExitCode;

use nettrace_benches::cases::Case;
use nettrace_benches::gate::{self, child, convert, report::GateReport};
use nettrace_benches::memory::{COUNTING, Counting};
use nettrace_benches::pass::Mode;

#[global_allocator]
static ALLOCATOR: &Counting = &COUNTING;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((flag, rest)) if flag == child::FLAG => child::serve(rest).map(|()| true),
        Some((flag, rest)) if flag == convert::FLAG => convert::serve(rest).map(|()| true),
        Some((flag, rest)) if flag == "--instructions" => instructions(rest),
        Some((what, [])) if what == "counts" => measured(gate::counts),
        Some((other, _)) => Err(io::Error::other(format!("there is no argument {other}"))),
        None => measured(gate::run),
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

/// `--instructions CASE MODE`: one number, for whoever works on it.
fn instructions(arguments: &[String]) -> io::Result<bool> {
    let [case, mode] = arguments else {
        return Err(io::Error::other("--instructions needs a case and a mode"));
    };
    let cases = || Case::ALL.into_iter().chain(Case::CONVERTED);
    let case = cases().find(|known| known.name() == case);
    let is_mode = mode == child::IDIOM || Mode::of_name(mode).is_some() || convert::is_format(mode);
    let Some(case) = case.filter(|_| is_mode) else {
        let names = cases().map(Case::name).collect::<Vec<_>>().join(", ");
        let text = format!("cases: {names}; modes: as of throughput, idiom, formats, report:NAME");
        return Err(io::Error::other(text));
    };
    let per_event = gate::instructions_per_event(&gate::folder()?, case, mode)?;
    println!("{}, {}: {per_event:.1} Ir/event", case.name(), mode);
    Ok(true)
}

fn measured(measure: fn(&Path, &mut GateReport) -> io::Result<()>) -> io::Result<bool> {
    let mut report = GateReport::begin();
    measure(&gate::folder()?, &mut report)?;
    Ok(report.end())
}
