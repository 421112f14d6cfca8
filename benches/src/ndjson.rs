//! Events as NDJSON, as `nettrace events --format ndjson --order file` and `--order time`
//! write them, to where it costs nothing.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use nettrace_export::{EventForm, EventParts, EventWriter, Page, WriteOptions};
use nettrace_parser::parallel::{self, Options, Order};
use nettrace_parser::{Buffered, Event, PositionedFile, Reader, Source, Visit};

use crate::checksum::Checksum;
use crate::pass::{Input, mapped};

/// A page is handed on when it has so many bytes, as the command does.
const PAGE_BYTES: usize = 64 * 1024;

/// Counts bytes, and lines if somebody wants to know.
struct Nowhere<'o> {
    lines: u64,
    bytes: u64,
    observe: Option<&'o mut (dyn FnMut(u64) + Send)>,
}

impl Nowhere<'_> {
    #[inline(never)]
    fn take(&mut self, page: &mut Page) {
        let bytes = page.filled();
        self.bytes += bytes.len() as u64;
        if let Some(observe) = &mut self.observe {
            self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
            observe(self.lines);
        }
        page.clear(16 * PAGE_BYTES);
    }
}

/// The bytes alone, so that nothing but the writing is measured: looking for ends of
/// lines costs some hundred instructions a line.
///
/// # Errors
/// When the file cannot be read.
pub fn bytes(path: &Path, order: Order, input: Input, threads: usize) -> io::Result<u64> {
    let nowhere = Nowhere { lines: 0, bytes: 0, observe: None };
    Ok(written(nowhere, path, order, input, threads)?.bytes)
}

/// Lines as events, bytes as the checksum. `observe` is called with the number of lines
/// so far now and then.
///
/// # Errors
/// When the file cannot be read.
pub fn pass(
    path: &Path,
    order: Order,
    input: Input,
    threads: usize,
    mut observe: impl FnMut(u64) + Send,
) -> io::Result<Checksum> {
    let nowhere = Nowhere { lines: 0, bytes: 0, observe: Some(&mut observe) };
    let written = written(nowhere, path, order, input, threads)?;
    Ok(Checksum::of_output(written.lines, written.bytes))
}

fn written<'o>(
    nowhere: Nowhere<'o>,
    path: &Path,
    order: Order,
    input: Input,
    threads: usize,
) -> io::Result<Nowhere<'o>> {
    match input {
        Input::Read => by_one(nowhere, order, Buffered::new(File::open(path)?)),
        Input::Mapped if threads == 1 => by_one(nowhere, order, mapped(path)?),
        Input::Mapped => by_several(nowhere, path, order, threads),
    }
}

fn writer() -> EventWriter {
    EventWriter::new(EventForm::Ndjson, WriteOptions::default())
}

/// Writes each event.
struct Lines<'o> {
    writer: EventWriter,
    nowhere: Nowhere<'o>,
}

impl Visit for Lines<'_> {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.writer.put(&event);
        if self.writer.page().len() >= PAGE_BYTES {
            self.nowhere.take(self.writer.page());
        }
    }
}

fn by_one<S: Source>(nowhere: Nowhere<'_>, order: Order, source: S) -> io::Result<Nowhere<'_>> {
    let mut lines = Lines { writer: writer(), nowhere };
    let mut reader = Reader::new(source);
    let result = match order {
        Order::Time => reader.time_ordered().visit(&mut lines),
        _ => reader.visit(&mut lines),
    };
    result.map_err(io::Error::other)?;
    lines.nowhere.take(lines.writer.page());
    Ok(lines.nowhere)
}

fn by_several<'o>(
    mut nowhere: Nowhere<'o>,
    path: &Path,
    order: Order,
    threads: usize,
) -> io::Result<Nowhere<'o>> {
    let file = PositionedFile::open(path)?;
    let options = Options::new().threads(threads).order(order);
    let parts = EventParts::of(&writer()).ok_or_else(|| io::Error::other("not divisible"))?;
    let collect = |mut page: Page| {
        nowhere.take(&mut page);
        parts.reuse(page);
        ControlFlow::Continue(())
    };
    let outcome = parallel::read_in_parts(|| file.reopened(), options, || parts.part(), collect)
        .map_err(io::Error::other)?;
    if !outcome.is_intact() {
        return Err(io::Error::other(outcome.to_string()));
    }
    Ok(nowhere)
}
