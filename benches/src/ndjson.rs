//! Passes that write events as `nettrace events` does, as NDJSON or as text, in file or time order,
//! but only count the output.

use crate::checksum::Checksum;
use crate::pass::{Input, PassResult, mapped};
use nettrace_export::{EventForm, EventParts, EventWriter, Page, WriteOptions};
use nettrace_parser::parallel::{self, Options, Order};
use nettrace_parser::{Buffered, Event, PositionedFile, Reader, Source, Visit};
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// Size of a page of output, in bytes. The command has the same size.
const PAGE_BYTES: usize = 64 * 1024;

/// Writes the events of a trace. The checksum consists of the numbers of lines and bytes.
///
/// # Errors
/// The errors of reading.
pub fn pass(path: &Path, order: Order, input: Input, threads: usize) -> io::Result<PassResult> {
    match input {
        Input::Read => by_one(order, Buffered::new(File::open(path)?), writer()),
        Input::Mapped if threads == 1 => by_one(order, mapped(path)?, writer()),
        Input::Mapped => by_several(path, order, threads),
    }
}

/// Writes the events of a trace as text, in file order, and returns their number.
///
/// # Errors
/// The errors of reading.
pub fn text(path: &Path) -> io::Result<u64> {
    let writer = EventWriter::new(EventForm::Text, WriteOptions::default());
    Ok(by_one(Order::File, mapped(path)?, writer)?.checksum.events)
}

/// Destination that discards the output, and counts events and bytes.
#[derive(Debug, Default)]
struct Nowhere {
    events: u64,
    bytes: u64,
}

impl Nowhere {
    #[inline(never)]
    fn take(&mut self, page: &mut Page) {
        self.bytes += page.filled().len() as u64;
        page.clear(16 * PAGE_BYTES);
    }

    fn sum(&self) -> Checksum {
        Checksum::of_output(self.events, self.bytes)
    }
}

fn writer() -> EventWriter {
    EventWriter::new(EventForm::Ndjson, WriteOptions::default())
}

/// Visitor that writes each event as a line.
struct Lines {
    writer: EventWriter,
    nowhere: Nowhere,
}

impl Visit for Lines {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.writer.put(&event);
        self.nowhere.events += 1;
        if self.writer.page().len() >= PAGE_BYTES {
            self.nowhere.take(self.writer.page());
        }
    }
}

fn by_one<S: Source>(order: Order, source: S, writer: EventWriter) -> io::Result<PassResult> {
    let mut lines = Lines { writer, nowhere: Nowhere::default() };
    let mut reader = Reader::new(source);
    let outcome = match order {
        Order::Time => {
            let mut events = reader.time_ordered();
            events.visit(&mut lines).map(|()| events.outcome())
        }
        _ => reader.visit(&mut lines).map(|()| reader.outcome()),
    };
    let outcome = outcome.map_err(io::Error::other)?;
    lines.nowhere.take(lines.writer.page());
    Ok(PassResult::new(lines.nowhere.sum(), &outcome))
}

fn by_several(path: &Path, order: Order, threads: usize) -> io::Result<PassResult> {
    let file = PositionedFile::open(path)?;
    let mut options = Options::default();
    (options.threads, options.order) = (threads, order);
    let parts =
        EventParts::from_writer(&writer()).ok_or_else(|| io::Error::other("not divisible"))?;
    let mut nowhere = Nowhere::default();
    let collect = |mut page: Page| {
        // The threads return pages, in which each event is a line.
        nowhere.events += page.filled().iter().filter(|byte| **byte == b'\n').count() as u64;
        nowhere.take(&mut page);
        parts.reuse(page);
        ControlFlow::Continue(())
    };
    let outcome = parallel::read_in_parts(|| file.reopened(), options, || parts.part(), collect)
        .map_err(io::Error::other)?;
    Ok(PassResult::new(nowhere.sum(), &outcome))
}
