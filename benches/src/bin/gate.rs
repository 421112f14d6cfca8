//! Fails when reading exceeds its limits for instructions, allocations or memory. See
//! `benches/README.md`.
#![allow(clippy::restriction, clippy::pedantic)]

use nettrace_benches::gate::{self, child, report::GateReport};
use nettrace_benches::make::Case;
use nettrace_benches::memory::{COUNTING, Counting};
use std::io;
use std::path::Path;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: &Counting = &COUNTING;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((flag, rest)) if flag == child::FLAG => child::serve(rest).map(|()| true),
        Some((flag, rest)) if flag == "--instructions" => {
            one(rest, gate::instructions_per_event, "Ir/event")
        }
        Some((flag, rest)) if flag == "--allocations" => {
            one(rest, gate::allocations_per_event, "allocations an event")
        }
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

/// Prints one measurement: `--instructions CASE MODE` or `--allocations CASE MODE`.
fn one(
    arguments: &[String],
    measure: fn(&Path, Case, &str) -> io::Result<f64>,
    unit: &str,
) -> io::Result<bool> {
    let [case, work] = arguments else {
        return Err(io::Error::other("a case and a mode are needed"));
    };
    let Some(case) = Case::of_name(case).filter(|_| child::is_work(work)) else {
        let names = Case::ALL.map(|(_, name)| name).join(", ");
        let text =
            format!("cases: {names}; modes: as of throughput, idiom, stats, formats, report:NAME");
        return Err(io::Error::other(text));
    };
    let per_event = measure(&gate::folder()?, case, work)?;
    println!("{}, {work}: {per_event:.4} {unit}", case.name());
    Ok(true)
}

fn measured(measure: fn(&Path, &mut GateReport) -> io::Result<()>) -> io::Result<bool> {
    let mut report = GateReport::begin();
    measure(&gate::folder()?, &mut report)?;
    Ok(report.end())
}
