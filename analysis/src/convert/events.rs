//! Events as NDJSON and CSV, with the same lines as `nettrace events --format ndjson` and `csv`.

use super::{Convert, ConvertError, ConvertOptions, Output};
use crate::model::{Model, Profile, Resolved, ThreadHandle};
use nettrace_export::{EventForm, EventWriter, WriteOptions};
use nettrace_parser::Event;
use std::fmt;
use std::io::Write;

/// Size of the buffered lines at which they are written, in bytes.
const GATHERED_BYTES: usize = 64 * 1024;

/// Writes events in time order, one per line. Only the times, threads and processes of the filter
/// apply, because events have no frames.
pub(crate) struct Events<'o> {
    out: Output<'o>,
    writer: EventWriter,
    lines: Vec<u8>,
}

impl<'o> Events<'o> {
    /// Creates a converter that writes one JSON object per event, each on its own line.
    pub(crate) fn ndjson(out: Box<dyn Write + Send + 'o>, options: &ConvertOptions) -> Events<'o> {
        Events::new(out, options, EventForm::Ndjson)
    }

    /// Creates a converter that writes a header line, then one row per event that has the payload
    /// as JSON.
    pub(crate) fn csv(out: Box<dyn Write + Send + 'o>, options: &ConvertOptions) -> Events<'o> {
        Events::new(out, options, EventForm::Csv)
    }

    fn new(
        out: Box<dyn Write + Send + 'o>,
        options: &ConvertOptions,
        form: EventForm,
    ) -> Events<'o> {
        let mut write = WriteOptions::default();
        write.csv_safe = options.is_csv_safe;
        let writer = EventWriter::new(form, write);
        Events { out: Output::new(out, options.is_gzip), writer, lines: Vec::new() }
    }
}

impl fmt::Debug for Events<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("out", &self.out).finish_non_exhaustive()
    }
}

impl Convert for Events<'_> {
    fn wants_samples(&self) -> bool {
        false
    }

    fn wants_events(&self) -> bool {
        true
    }

    fn takes_filtered_events(&self) -> bool {
        true
    }

    fn event(&mut self, event: &Event<'_>, _: ThreadHandle, _: &Model) -> Result<(), ConvertError> {
        self.writer.write(&mut self.lines, event);
        if self.lines.len() >= GATHERED_BYTES {
            self.out.write_all(&self.lines)?;
            self.lines.clear();
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &Resolved<'_>, _: &Profile) -> Result<(), ConvertError> {
        self.writer.finish(&mut self.lines);
        self.out.write_all(&self.lines)?;
        Ok(self.out.finish()?)
    }
}
