//! The methods with most time in a part of a large trace, which an index finds without the rest.
//!
//! ```sh
//! cargo run --release --example time_range -- trace.nettrace trace.index
//! cargo run --release --example time_range -- trace.nettrace trace.index 10000 10200
//! ```
//! The first writes the index, the second reads from millisecond 10,000 to 10,200.

use nettrace_analysis::report::ReportPass;
use nettrace_analysis::report::TopNOptions;
use nettrace_analysis::{AnalysisOptions, read_index};
use nettrace_parser::{Index, PositionedFile, Reader};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// Writes the index of a trace to a file.
fn write_index(trace: &Path, index: &Path) -> Result<Index, Box<dyn Error>> {
    let built = read_index(PositionedFile::open(trace)?)?;
    std::fs::write(index, serde_json::to_vec(&built)?)?;
    Ok(built)
}

fn print_methods(trace: &Path, index: &Index, millis: [i64; 2]) -> Result<(), Box<dyn Error>> {
    let [from, to] = millis.map(|millis| Some(millis.saturating_mul(1_000_000)));
    let mut options = AnalysisOptions::default();
    (options.filter.from_nanos, options.filter.to_nanos) = (from, to);
    let reader = options.filter.narrow(Reader::new(PositionedFile::open(trace)?), index)?;
    let mut pass = ReportPass::with_options(TopNOptions::default(), options);
    let outcome = pass.read(&mut reader.time_ordered())?;
    let top = pass.finish().output;
    for row in top.methods.iter().take(10) {
        println!("{:>10.3} ms  {}", row.self_ns as f64 / 1e6, row.name);
    }
    println!(
        "{} samples; {} events read; {outcome}",
        top.counted.samples, outcome.statistics.events
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let begin = Instant::now();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [trace, index] => {
            let index = write_index(trace.as_ref(), index.as_ref())?;
            println!("{} blocks in {:?}", index.len(), begin.elapsed());
        }
        [trace, index, from, to] => {
            let index: Index = serde_json::from_slice(&std::fs::read(index)?)?;
            println!("index loaded in {:?}", begin.elapsed());
            print_methods(trace.as_ref(), &index, [from.parse()?, to.parse()?])?;
            println!("{:?}", begin.elapsed());
        }
        _ => return Err("usage: time_range TRACE INDEX [FROM TO], times in milliseconds".into()),
    }
    Ok(())
}
