//! Events as NDJSON, as one of the formats of `convert`: the lines of `nettrace events --format ndjson`.

use nettrace_analysis::convert::{Convert, ConvertError, Output};
use nettrace_analysis::{Filter, Model, Profile, Resolved, ThreadHandle};
use nettrace_export::EventWriter;
use nettrace_parser::Event;
use std::io::Write;

/// Lines are gathered up to this many bytes.
const GATHERED: usize = 64 * 1024;

/// Writes events. Of the filter it heeds times, threads and processes: events have no frames.
pub(super) struct NdjsonEvents<'o> {
    out: Output<'o>,
    filter: Filter,
    writer: EventWriter,
    lines: Vec<u8>,
}

impl<'o> NdjsonEvents<'o> {
    pub(super) fn new(out: Box<dyn Write + Send + 'o>, is_gzip: bool, filter: &Filter) -> NdjsonEvents<'o> {
        NdjsonEvents {
            out: Output::new(out, is_gzip),
            filter: filter.clone(),
            writer: EventWriter::new(),
            lines: Vec::new(),
        }
    }

    fn admits(&self, event: &Event<'_>, thread: ThreadHandle, model: &Model) -> bool {
        let filter = &self.filter;
        if filter.from_nanos.is_some() || filter.to_nanos.is_some() {
            let clock = event.session().clock();
            let nanos = clock.nanos_since_start(event.timestamp_ticks()).unwrap_or(0);
            if filter.from_nanos.is_some_and(|from| nanos < from)
                || filter.to_nanos.is_some_and(|to| to <= nanos)
            {
                return false;
            }
        }
        if filter.threads.is_empty() && filter.processes.is_empty() {
            return true;
        }
        let Some(row) = model.threads().get(thread) else { return false };
        let process = model.process(row.process).and_then(|process| process.id);
        let holds =
            |list: &[u64], id: Option<u64>| list.is_empty() || id.is_some_and(|id| list.contains(&id));
        holds(&filter.threads, row.os_thread_id) && holds(&filter.processes, process)
    }
}

impl Convert for NdjsonEvents<'_> {
    fn wants_samples(&self) -> bool {
        false
    }

    fn wants_events(&self) -> bool {
        true
    }

    fn event(&mut self, event: &Event<'_>, thread: ThreadHandle, model: &Model) -> Result<(), ConvertError> {
        if self.admits(event, thread, model) {
            self.writer.write(&mut self.lines, event);
            if self.lines.len() >= GATHERED {
                self.out.write_all(&self.lines)?;
                self.lines.clear();
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _resolved: &Resolved<'_>, _: &Profile) -> Result<(), ConvertError> {
        self.out.write_all(&self.lines)?;
        Ok(self.out.finish()?)
    }
}
