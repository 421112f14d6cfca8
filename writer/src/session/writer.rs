//! Writes sessions of any length step by step, in the memory of one batch.

use std::borrow::Cow;
use std::io::{self, Write};

use super::record::Recorder;
use super::{EventType, ExpectedEvent, Session, SessionThread, Step};

/// Writes a session step by step to a file, a pipe or a socket. The bytes are those of
/// [`Session::record`].
///
/// Memory holds one batch of events ([`Session::events_per_batch`]), the types, the threads, and
/// the distinct stacks and label lists since the last sequence point. None of these grows with the
/// length of the stream.
///
/// ```
/// use nettrace_writer::{EventType, FieldType, Session, SessionThread, SessionWriter, Step, Value, Version};
///
/// # fn main() -> std::io::Result<()> {
/// let mut writer = SessionWriter::new(Session::new(Version::V4), std::io::sink())?;
/// let hi = writer.add_type(EventType::new("Demo", 7, "Hi").field("n", FieldType::Int32));
/// let main = writer.add_thread(SessionThread::new(11));
/// let mut sum = 0;
/// for n in 0..100_000 {
///     for event in writer.step(Step::event(hi, main, 10, [Value::I32(n)]))? {
///         // What a reader will find, in file order.
///         assert_eq!((event.provider.as_str(), event.event_id), ("Demo", 7));
///         sum += 1;
///     }
/// }
/// let written = writer.finish()?;
/// assert_eq!(sum + written.events.len(), 100_000);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SessionWriter<W> {
    recorder: Recorder<'static>,
    out: W,
}

/// What [`SessionWriter::finish`] returns about the session.
#[derive(Debug)]
#[non_exhaustive]
pub struct Written<W> {
    /// The output that was passed to [`SessionWriter::new`].
    pub out: W,
    /// Events that were written since the last call of [`SessionWriter::step`].
    pub events: Vec<ExpectedEvent>,
    /// Number of lost events, as [`Recording::lost`](super::Recording::lost) counts them.
    pub lost: u64,
    /// Length of the stream, in bytes.
    pub bytes: u64,
}

impl<W: Write> SessionWriter<W> {
    /// Begins the stream of `session` and writes its steps. [`SessionWriter::step`] adds further
    /// steps.
    ///
    /// # Errors
    /// Errors of `out`.
    ///
    /// # Panics
    /// On the conditions of [`Session::record`].
    pub fn new(mut session: Session, out: W) -> io::Result<Self> {
        let steps = std::mem::take(&mut session.steps);
        let mut writer = SessionWriter { recorder: Recorder::new(Cow::Owned(session)), out };
        for step in steps {
            writer.recorder.step(Cow::Owned(step));
            writer.pass_on()?;
        }
        writer.pass_on()?;
        Ok(writer)
    }

    /// Adds an event type, and returns its index for
    /// [`SessionEvent::event_type`](super::SessionEvent::event_type).
    pub fn add_type(&mut self, event_type: EventType) -> usize {
        let types = &mut self.recorder.session.to_mut().types;
        types.push(event_type);
        types.len() - 1
    }

    /// Adds a thread, and returns its index for
    /// [`SessionEvent::thread`](super::SessionEvent::thread).
    pub fn add_thread(&mut self, thread: SessionThread) -> usize {
        let threads = &mut self.recorder.session.to_mut().threads;
        threads.push(thread);
        threads.len() - 1
    }

    /// Writes one more step. Returns the events of the batches that the step completed, in file
    /// order. There are none until a batch is complete.
    ///
    /// # Errors
    /// Errors of `out`. The stream cannot be continued after an error.
    ///
    /// # Panics
    /// On the conditions of [`Session::record`].
    pub fn step(&mut self, step: Step) -> io::Result<Vec<ExpectedEvent>> {
        self.recorder.step(Cow::Owned(step));
        self.pass_on()?;
        Ok(std::mem::take(&mut self.recorder.events))
    }

    /// Returns the length of the stream so far, in bytes.
    pub fn position(&self) -> u64 {
        self.recorder.stream.position()
    }

    /// Writes the last batch and the end of the stream, and flushes `out`.
    ///
    /// # Errors
    /// Errors of `out`.
    ///
    /// # Panics
    /// On the conditions of [`Session::record`].
    pub fn finish(mut self) -> io::Result<Written<W>> {
        self.recorder.end();
        self.pass_on()?;
        self.out.flush()?;
        let Recorder { stream, events, lost, .. } = self.recorder;
        Ok(Written { out: self.out, events, lost, bytes: stream.position() })
    }

    fn pass_on(&mut self) -> io::Result<()> {
        if self.recorder.stream.bytes.is_empty() {
            return Ok(());
        }
        self.recorder.stream.flush_to(&mut self.out)
    }
}
