//! A converter of your own: it writes the heaviest innermost frame of each thread as CSV.
//!
//! `cargo run --example own_converter -- trace.nettrace`

use nettrace_analysis::convert::{Convert, ConvertError};
use nettrace_analysis::{Analysis, AnalysisOptions, Kind, Profile, Resolved};
use nettrace_parser::Reader;
use std::collections::BTreeMap;
use std::io::Write;

/// Writes the frame in which each thread was sampled longest.
#[derive(Debug)]
pub struct HeaviestLeaf<W>(pub W);

impl<W: Write + Send> Convert for HeaviestLeaf<W> {
    /// Declines single samples, because their sums by thread and stack are enough.
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
            // `None` says that the analysis's filter leaves out the stack.
            let Some(frames) = resolved.selected(key.stack, key.mode) else { continue };
            if let (Kind::Cpu, Some(leaf)) = (key.kind, frames.first()) {
                let sum = nanos.entry((key.thread, *leaf)).or_insert(0u64);
                *sum = sum.saturating_add(totals.weight);
            }
        }
        let mut heaviest = BTreeMap::new();
        for ((thread, leaf), nanos) in nanos {
            let best = heaviest.entry(thread).or_insert((nanos, leaf));
            *best = (*best).max((nanos, leaf));
        }
        writeln!(self.0, "thread,milliseconds,frame")?;
        for (thread, (nanos, leaf)) in heaviest {
            let label = resolved.model().thread_label(thread);
            let frame = resolved.text(leaf).replace('"', "\"\"");
            writeln!(self.0, "{label},{},\"{frame}\"", nanos / 1_000_000)?;
        }
        Ok(self.0.flush()?)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bytes = std::fs::read(std::env::args().nth(1).ok_or("usage: own_converter FILE")?)?;
    let mut analysis = Analysis::new(AnalysisOptions::default());
    analysis.add(Box::new(HeaviestLeaf(std::io::stdout())));
    let outcome = analysis.read(&mut Reader::from_slice(&bytes).time_ordered())?;
    if !outcome.is_intact() {
        eprintln!("sums are too low: {outcome}");
    }
    analysis.finish()?;
    Ok(())
}
