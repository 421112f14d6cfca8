//! Stacks of a web application by endpoint: one pass finds the requests, and one more has the stacks
//! of all of them, in the form that flame graphs are made of.
//!
//! `cargo run --example endpoint_stacks -- trace.nettrace`

use nettrace_analysis::convert::{Convert, ConvertError};
use nettrace_analysis::report::{ReportPass, RequestSpans};
use nettrace_analysis::{Analysis, AnalysisOptions, Profile, Resolved, ThreadState};
use nettrace_parser::Reader;
use std::collections::BTreeMap;
use std::io::Write;

/// Writes `ENDPOINT;OUTERMOST;…;INNERMOST NANOSECONDS` for each endpoint and stack.
#[derive(Debug)]
pub struct EndpointStacks<W>(pub W);

impl<W: Write + Send> Convert for EndpointStacks<W> {
    /// Declines single samples. Those that come in have a request: `Resolved::request_of`.
    fn wants_samples(&self) -> bool {
        false
    }

    fn finish(
        mut self: Box<Self>,
        resolved: &Resolved<'_>,
        profile: &Profile,
    ) -> Result<(), ConvertError> {
        let mut nanos = BTreeMap::new();
        for (key, totals) in profile.rows() {
            let Some(frames) = resolved.selected(key.stack, key.mode) else { continue };
            let endpoint = resolved.endpoint_of(&key).unwrap_or("other work");
            let sum = nanos.entry((endpoint, frames)).or_insert(0u64);
            *sum = sum.saturating_add(totals.weight);
        }
        for ((endpoint, frames), nanos) in nanos {
            write!(self.0, "{endpoint}")?;
            for frame in frames.iter().rev() {
                write!(self.0, ";{}", resolved.text(*frame).replace(';', ":"))?;
            }
            writeln!(self.0, " {nanos}")?;
        }
        Ok(self.0.flush()?)
    }
}

/// Writes the stacks of a trace by endpoint.
pub fn write_stacks(
    bytes: &[u8],
    out: impl Write + Send,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut requests = ReportPass::new(RequestSpans::default());
    let outcome = requests.read(&mut Reader::from_slice(bytes).time_ordered())?;
    if !outcome.is_intact() {
        eprintln!("sums are too low: {outcome}");
    }
    let mut options = AnalysisOptions::default();
    options.endpoints = Some(requests.finish().output);
    // As in the report of methods, time in which threads are known to wait is left out.
    options.filter.states = ThreadState::RUNNING.to_vec();
    let mut analysis = Analysis::new(options);
    analysis.add(Box::new(EndpointStacks(out)));
    let _same_outcome = analysis.read(&mut Reader::from_slice(bytes).time_ordered())?;
    analysis.finish()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("usage: endpoint_stacks FILE")?;
    write_stacks(&std::fs::read(file)?, std::io::stdout())
}
