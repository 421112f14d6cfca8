//! Returns events and blocks of a reader to the caller.

use super::machine::Reader;
use super::phase::{Phase, Step, body_of};
use super::run::RunEnd;
use super::visit::{Each, TryEach, Visit};
use crate::block::Block;
use crate::block::trace::Trace;
use crate::error::Error;
use crate::event::Event;
use crate::frame::Frame;
use crate::source::Source;

/// Block, or event of the most recent event block.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Item<'r> {
    /// Block. If it is an event block, its events follow.
    Block(Block<'r>),
    /// Event of the last block.
    Event(Event<'r>),
}

impl<S: Source> Reader<S> {
    /// Returns the session: start time, process, pointer size and clock. Reads the beginning of
    /// the stream if it was not read before.
    ///
    /// # Errors
    /// The errors of [`Reader::next_event`].
    pub fn trace(&mut self) -> Result<&Trace, Error> {
        while matches!(self.phase, Phase::Header | Phase::Trace) {
            self.step()?;
        }
        match self.state.trace() {
            Some(trace) => Ok(trace),
            None => Err(self.phase.failure()),
        }
    }

    /// Returns the next event in file order, or `None` at the end.
    ///
    /// # Errors
    /// [`Error::Format`] if the beginning of the stream cannot be read; all further calls return
    /// this error, too. [`Error::Io`] if the source fails; after
    /// [`WouldBlock`](std::io::ErrorKind::WouldBlock), repeat the call later.
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        loop {
            match self.step()? {
                Step::Event => {
                    return Ok(Some(self.state.event(self.source.bytes(), self.source.start())));
                }
                Step::Block(_) | Step::Skipped(_) | Step::Passed | Step::Barrier => {}
                Step::End => return Ok(None),
            }
        }
    }

    /// Passes all remaining events to `take`, in file order. This is the fastest way to read a
    /// stream.
    ///
    /// # Errors
    /// The errors of [`Reader::next_event`].
    ///
    /// ```
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// let mut reader = nettrace_parser::Reader::from_slice(&bytes);
    /// let mut payload_bytes = 0;
    /// reader.for_each(|event| payload_bytes += event.payload().len())?;
    /// assert_eq!(payload_bytes, 36);
    /// # Ok::<(), nettrace_parser::Error>(())
    /// ```
    #[inline]
    pub fn for_each(&mut self, mut take: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.visit(&mut take)
    }

    /// Passes the remaining events to a [`Visit`], in file order. Unlike the closure of
    /// [`Reader::for_each`], it can control inlining, and stop.
    ///
    /// # Errors
    /// The errors of [`Reader::for_each`].
    #[inline]
    pub fn visit(&mut self, visitor: &mut impl Visit) -> Result<(), Error> {
        while visitor.wants_more() {
            let is_event = match self.pass_events(&mut Each(visitor)) {
                RunEnd::OnBlob => self.accept(),
                // A step would read an event that the visitor no longer wants.
                RunEnd::Between if !visitor.wants_more() => false,
                RunEnd::Between => match self.step()? {
                    Step::Event => true,
                    Step::Block(_) | Step::Skipped(_) | Step::Passed | Step::Barrier => false,
                    Step::End => return Ok(()),
                },
            };
            if is_event {
                visitor.event(self.state.event(self.source.bytes(), self.source.start()));
            }
        }
        Ok(())
    }

    /// Passes the remaining events to `take`, in file order, until it returns an error. The reader
    /// can then continue after the event that caused the error.
    ///
    /// # Errors
    /// The errors of `take` and of [`Reader::for_each`].
    ///
    /// ```
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// let mut reader = nettrace_parser::Reader::from_slice(&bytes);
    /// let mut names = Vec::new();
    /// let result: Result<(), Box<dyn std::error::Error>> = reader.try_for_each(|event| {
    ///     names.push(event.name().to_owned());
    ///     if names.len() < 2 { Ok(()) } else { Err("these are enough".into()) }
    /// });
    /// assert_eq!(result.unwrap_err().to_string(), "these are enough");
    /// assert_eq!(reader.next_event()?.map(|event| event.name()), Some("Go"));
    /// # Ok::<(), nettrace_parser::Error>(())
    /// ```
    #[inline]
    pub fn try_for_each<E: From<Error>>(
        &mut self,
        take: impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut each = TryEach::new(take);
        self.visit(&mut each)?;
        each.result
    }

    /// Returns the next block, or `None` at the end, for tools that look at blocks. Skips the
    /// remaining events of the current block. Events and losses in blocks that are returned are
    /// not counted.
    ///
    /// # Errors
    /// The errors of [`Reader::next_event`].
    pub fn next_block(&mut self) -> Result<Option<Block<'_>>, Error> {
        self.state.leave_block();
        loop {
            match self.item_step()? {
                Step::Block(frame) => return Ok(Some(self.block(frame, true))),
                Step::Skipped(frame) => return Ok(Some(self.block(frame, false))),
                Step::Event | Step::Passed | Step::Barrier => {}
                Step::End => return Ok(None),
            }
        }
    }

    fn block(&self, frame: Frame, is_read: bool) -> Block<'_> {
        let content = if is_read { body_of(&self.source, &frame) } else { &[] };
        let version = self.state.version();
        Block { kind: frame.kind, offset: frame.start, span: frame.body, content, version }
    }

    /// Returns the next block or event, in file order, or `None` at the end. A block is
    /// returned after its rows have been read, but before its events.
    ///
    /// # Errors
    /// The errors of [`Reader::next_event`].
    ///
    /// ```
    /// use nettrace_parser::{Item, Reader};
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// let mut reader = Reader::from_slice(&bytes);
    /// let mut lines = Vec::new();
    /// while let Some(item) = reader.next_item()? {
    ///     match item {
    ///         Item::Block(block) => lines.push(block.kind.to_string()),
    ///         Item::Event(event) => lines.push(event.id().to_string()),
    ///         _ => {}
    ///     }
    /// }
    /// assert_eq!(lines, ["Trace", "Metadata", "Stack", "Event", "7", "7", "8", "7", "SequencePoint"]);
    /// # Ok::<(), nettrace_parser::Error>(())
    /// ```
    pub fn next_item(&mut self) -> Result<Option<Item<'_>>, Error> {
        let step = self.item_step()?;
        Ok(self.item(step))
    }

    /// Returns the item to which a step of [`Reader::item_step`] led.
    pub(crate) fn item(&self, step: Step) -> Option<Item<'_>> {
        match step {
            Step::Event => {
                Some(Item::Event(self.state.event(self.source.bytes(), self.source.start())))
            }
            Step::Block(frame) => Some(Item::Block(self.block(frame, true))),
            Step::Skipped(frame) => Some(Item::Block(self.block(frame, false))),
            Step::Passed | Step::Barrier | Step::End => None,
        }
    }

    /// Steps to the next block, to the next event, or to the end.
    pub(crate) fn item_step(&mut self) -> Result<Step, Error> {
        self.gives_blocks = true;
        let step = loop {
            match self.step() {
                Ok(Step::Passed | Step::Barrier) => {}
                step => break step,
            }
        };
        self.gives_blocks = false;
        step
    }
}
