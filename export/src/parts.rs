//! Writes the events of a trace with several threads, each of which writes parts of the trace.

use crate::page::Page;
use crate::writer::{EventForm, EventWriter, WriteOptions};
use nettrace_parser::Event;
use nettrace_parser::parallel::MakeParts;
use std::sync::{Arc, Mutex, PoisonError};

/// Initial size of a page, which is enough for an ordinary part, in bytes.
const PART_BYTES: usize = 320 << 10;
/// Maximum number of bytes that a page keeps for the next part.
const MAX_KEPT_BYTES: usize = 1 << 20;

/// Pages that were written and can be used for further parts. Memory that was used before is faster
/// than new memory.
type SparePages = Arc<Mutex<Vec<Page>>>;

/// Makes the writers that write the parts of a trace: an [`EventPart`] for each thread with which
/// [`read_in_parts`](nettrace_parser::parallel::read_in_parts) reads.
#[derive(Debug)]
pub struct EventParts {
    form: EventForm,
    options: WriteOptions,
    spare: SparePages,
}

impl EventParts {
    /// Prepares to write further lines of `writer` with several threads, after the output on its
    /// page. Returns `None` if a line depends on the events before it, so that one thread has to
    /// write all lines.
    pub fn from_writer(writer: &EventWriter) -> Option<EventParts> {
        let (form, options) = writer.of_part()?;
        Some(EventParts { form, options, spare: SparePages::default() })
    }

    /// Makes the writer of one thread.
    pub fn part(&self) -> EventPart {
        let mut writer = EventWriter::new(self.form, self.options.clone());
        // The header comes before all parts.
        writer.page().clear(MAX_KEPT_BYTES);
        EventPart { writer, spare: Arc::clone(&self.spare) }
    }

    /// Takes back a page after it was written to its destination, to use it for another part.
    pub fn reuse(&self, mut page: Page) {
        page.clear(MAX_KEPT_BYTES);
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(page);
    }
}

/// Writes the events of a part of a trace.
#[derive(Debug)]
pub struct EventPart {
    writer: EventWriter,
    spare: SparePages,
}

impl MakeParts for EventPart {
    type Part = Page;

    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.writer.put(&event);
    }

    #[inline(always)]
    fn part_bytes(&self) -> usize {
        self.writer.page_bytes()
    }

    fn take_part(&mut self) -> Page {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let next = spare.unwrap_or_else(|| Page::with_room(PART_BYTES));
        std::mem::replace(self.writer.page(), next)
    }
}
