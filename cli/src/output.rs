//! Collects results in one large buffer before stdout.

use crate::live::stdout_queue::StdoutQueue;
use nettrace_export::Page;
use std::io::{self, Write};

/// Number of waiting bytes from which on they are written.
const BUFFER_BYTES: usize = 64 * 1024;

/// Collects results and writes them in large pieces.
pub(crate) struct Output<'a> {
    stream: &'a mut (dyn Write + Send),
    buffer: Vec<u8>,
    /// Queue that takes the results instead of the stream, if there is one.
    queue: Option<StdoutQueue>,
    /// Number of waiting lines, as far as lines are counted.
    items: u64,
    /// Number of bytes that went to the stream and to files.
    written: u64,
}

impl<'a> Output<'a> {
    pub(crate) fn new(stream: &'a mut (dyn Write + Send)) -> Output<'a> {
        Output {
            stream,
            buffer: Vec::with_capacity(BUFFER_BYTES + 4096),
            queue: None,
            items: 0,
            written: 0,
        }
    }

    /// Returns the number of bytes that went to stdout and to files so far.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Adds a number of bytes that were written elsewhere to [`Output::written`].
    pub(crate) fn add_written(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
    }

    /// Returns the waiting bytes. Append to them, then call [`Output::hand_on`].
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Sends results to a queue from now on.
    pub(crate) fn lead_to(&mut self, queue: StdoutQueue) {
        self.queue = Some(queue);
    }

    /// Counts one more waiting line.
    pub(crate) fn count_item(&mut self) {
        self.items += 1;
    }

    /// Writes the waiting bytes if there are many.
    #[inline]
    pub(crate) fn hand_on(&mut self) -> io::Result<()> {
        if self.buffer.len() >= BUFFER_BYTES { self.write_buffer() } else { Ok(()) }
    }

    /// Writes bytes, after the bytes that wait.
    pub(crate) fn pass_on(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_buffer()?;
        if let Some(queue) = &self.queue {
            return queue.offer(bytes.to_vec(), 0);
        }
        self.add_written(bytes.len() as u64);
        bytes.chunks(BUFFER_BYTES).try_for_each(|piece| self.stream.write_all(piece))
    }

    /// Writes a page if many bytes are on it.
    #[inline]
    pub(crate) fn hand_on_page(&mut self, page: &mut Page) -> io::Result<()> {
        if page.len() >= BUFFER_BYTES { self.write_page(page) } else { Ok(()) }
    }

    /// Writes a page, after the bytes that wait.
    #[inline(never)]
    pub(crate) fn write_page(&mut self, page: &mut Page) -> io::Result<()> {
        self.write_buffer()?;
        self.add_written(page.len() as u64);
        let written = match &self.queue {
            Some(queue) => queue.offer(page.filled().to_vec(), 0),
            None => self.stream.write_all(page.filled()),
        };
        page.clear(16 * BUFFER_BYTES);
        written
    }

    /// Writes all bytes that wait.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.write_buffer()?;
        if self.queue.is_some() { Ok(()) } else { self.stream.flush() }
    }

    #[inline(never)]
    fn write_buffer(&mut self) -> io::Result<()> {
        if let Some(queue) = &self.queue {
            if self.buffer.is_empty() {
                return Ok(());
            }
            return queue.offer(std::mem::take(&mut self.buffer), std::mem::take(&mut self.items));
        }
        self.add_written(self.buffer.len() as u64);
        let written = self.stream.write_all(&self.buffer);
        self.buffer.clear();
        // One huge event must not keep its memory for all others.
        self.buffer.shrink_to(16 * BUFFER_BYTES);
        written
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        self.hand_on()?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.finish()
    }
}
