//! Converts a trace to a format that this project lacks: a line of CSV for each event, and a line
//! for each frame with its time as the innermost frame.

use nettrace_analysis::convert::{Convert, ConvertError};
use nettrace_analysis::model::{Model, ThreadHandle};
use nettrace_analysis::{Analysis, AnalysisError, AnalysisOptions, Kind, Profile, Resolved};
use nettrace_parser::{Event, Reader};
use std::{collections::BTreeMap, io::Write};

struct Csv<W>(W);

impl<W: Write + Send> Convert for Csv<W> {
    fn wants_samples(&self) -> bool {
        false // their sums will do
    }

    fn wants_events(&self) -> bool {
        true
    }

    fn event(
        &mut self,
        event: &Event<'_>,
        thread: ThreadHandle,
        model: &Model,
    ) -> Result<(), ConvertError> {
        let (nanos, thread) = (event.nanos().unwrap_or(0), model.thread_label(thread));
        Ok(writeln!(self.0, "event,{nanos},{thread},{}/{}", event.provider(), event.id())?)
    }

    fn finish(
        mut self: Box<Self>,
        resolved: &Resolved<'_>,
        profile: &Profile,
    ) -> Result<(), ConvertError> {
        let mut nanos = BTreeMap::new();
        for (key, totals) in profile.rows().into_iter().filter(|(key, _)| key.kind == Kind::Cpu) {
            let frames = resolved.selected(key.stack, key.mode).unwrap_or_default();
            if let Some(leaf) = frames.first() {
                *nanos.entry(resolved.text(*leaf).to_string()).or_insert(0) += totals.weight;
            }
        }
        for (frame, nanos) in nanos {
            writeln!(self.0, "frame,{nanos},\"{}\"", frame.replace('"', "\"\""))?;
        }
        Ok(self.0.flush()?)
    }
}

/// Converts a trace. Returns whether the trace was complete.
pub fn convert(trace: &[u8], out: impl Write + Send) -> Result<bool, AnalysisError> {
    let mut analysis = Analysis::new(AnalysisOptions::default());
    analysis.add(Box::new(Csv(out)));
    let outcome = analysis.read(&mut Reader::from_slice(trace).time_ordered())?;
    analysis.finish()?;
    Ok(outcome.is_intact())
}
