//! Where results go: one large buffer before stdout.

use crate::live::stdout_queue::StdoutQueue;
use nettrace_export::Page;
use std::io::{self, Write};

/// Bytes are handed on when this many wait.
const BUFFER_BYTES: usize = 64 * 1024;

/// Collects results and hands them on in large pieces.
pub(crate) struct Output<'a> {
    stream: &'a mut (dyn Write + Send),
    buffer: Vec<u8>,
    /// Where results go instead of the stream.
    queue: Option<StdoutQueue>,
    /// Lines that wait, where they are counted.
    items: u64,
    /// Bytes that went to the stream, and to files.
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

    /// Bytes that went to stdout so far, and those that files have.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Counts bytes among what was written.
    pub(crate) fn count(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
    }

    /// The bytes that wait; append to them, then call [`Output::hand_on`].
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// From now on results go to a queue.
    pub(crate) fn lead_to(&mut self, queue: StdoutQueue) {
        self.queue = Some(queue);
    }

    /// Counts a line among what waits.
    pub(crate) fn count_item(&mut self) {
        self.items += 1;
    }

    /// Writes what waits if it is much.
    #[inline]
    pub(crate) fn hand_on(&mut self) -> io::Result<()> {
        if self.buffer.len() >= BUFFER_BYTES { self.write_buffer() } else { Ok(()) }
    }

    /// Writes what others have put together, after what waits.
    pub(crate) fn pass_on(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_buffer()?;
        if let Some(queue) = &self.queue {
            return queue.offer(bytes.to_vec(), 0);
        }
        self.count(bytes.len() as u64);
        bytes.chunks(BUFFER_BYTES).try_for_each(|piece| self.stream.write_all(piece))
    }

    /// Writes a page if there is much on it.
    #[inline]
    pub(crate) fn hand_on_page(&mut self, page: &mut Page) -> io::Result<()> {
        if page.len() >= BUFFER_BYTES { self.write_page(page) } else { Ok(()) }
    }

    /// Writes a page, after what waits.
    #[inline(never)]
    pub(crate) fn write_page(&mut self, page: &mut Page) -> io::Result<()> {
        self.write_buffer()?;
        self.count(page.len() as u64);
        let written = match &self.queue {
            Some(queue) => queue.offer(page.filled().to_vec(), 0),
            None => self.stream.write_all(page.filled()),
        };
        page.clear(16 * BUFFER_BYTES);
        written
    }

    /// Writes all that waits.
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
        self.count(self.buffer.len() as u64);
        let written = self.stream.write_all(&self.buffer);
        self.buffer.clear();
        // One huge event must not make all others expensive.
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
