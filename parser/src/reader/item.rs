//! Blocks and events in one sequence, for tools that examine the structure of a stream.

use super::{Reader, Step};
use crate::block::Block;
use crate::error::Error;
use crate::event::Event;
use crate::source::Source;

/// A block, or an event of the most recent event block.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Item<'r> {
    /// A block. The events of an event block follow.
    Block(Block<'r>),
    /// An event.
    Event(Event<'r>),
}

impl<S: Source> Reader<S> {
    /// The next block or event, in file order, or `None` at the end. A block is returned
    /// after its rows have been read, but before its events.
    ///
    /// # Errors
    /// As [`Reader::next_event`].
    ///
    /// ```
    /// use nettrace_parser::{Item, Reader};
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// let mut reader = Reader::from_slice(&bytes);
    /// let mut lines = Vec::new();
    /// while let Some(item) = reader.next_item()? {
    ///     match item {
    ///         Item::Block(block) => lines.push(block.kind().to_string()),
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

    /// What a step of [`Reader::item_step`] came to.
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

    /// The step to the next block, to the next event, or to the end.
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
