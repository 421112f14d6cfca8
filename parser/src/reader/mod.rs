//! The reader: from a source of bytes to events, one step at a time.
//!
//! Reading is a state machine whose every step either completes or leaves everything as it was:
//! each asks the source for the bytes it needs before it changes anything, so that a source that
//! has none yet ([`std::io::ErrorKind::WouldBlock`]) only means "call again".
//!
//! A step mutates and lends nothing; [`State::event`] lends and mutates nothing. That split lets
//! [`TimeOrdered`](crate::TimeOrdered) keep marks of events and lend them later.

mod apply;
mod begin;
mod blobs;
mod end;
mod framing;
mod item;
#[cfg(test)]
mod linear;
mod phase;
mod recovery;
mod run;
mod scope;
mod state;
mod visit;

use crate::block::Block;
use crate::block::metadata::Metadata;
use crate::block::trace::Trace;
use crate::cursor;
use crate::damage::Damage;
use crate::error::Error;
use crate::event::Event;
use crate::frame::Frame;
use crate::limits::Limits;
use crate::loss::Losses;
use crate::resync::looked_through::LookedThrough;
use crate::source::{Buffered, Source, Whole, index};
use crate::statistics::Statistics;
use crate::version::Version;
pub use item::Item;
use phase::{Phase, body_of};
pub(crate) use run::{BlobForm, RunEnd, Take};
use scope::Scope;
pub(crate) use scope::{Plan, PlannedBlock};
pub(crate) use state::State;
use std::io::Read;
use visit::Each;
pub(crate) use visit::TryEach;
pub use visit::Visit;

/// What one step of the reader did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The cursor is on an event.
    Event,
    /// A block was read; the tables know its content.
    Block(Frame),
    /// A block was passed over unread.
    Skipped(Frame),
    /// Bytes went by that belong to no block.
    Passed,
    /// A sequence point or the end comes next: what waits must be delivered before the next step.
    Barrier,
    /// There is nothing more.
    End,
}

/// Reads events from a nettrace stream of any version.
///
/// ```
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = Reader::from_slice(&bytes);
/// let mut count = 0;
/// while let Some(event) = reader.next_event()? {
///     println!("{} {}", event.provider(), event.timestamp_ticks());
///     count += 1;
/// }
/// assert!(count > 0 && reader.is_complete());
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
///
/// Only what makes a stream unreadable from its beginning is an [`Error`]. Damage further on is
/// reported by [`Reader::damage`], and everything around it is delivered.
#[derive(Debug)]
pub struct Reader<S> {
    source: S,
    state: State,
    phase: Phase,
    /// Where the next block begins.
    position: u64,
    /// How far the writer was ahead of our positions, modulo 4: not at all, unless bytes are missing.
    shift: u8,
    /// Where reading goes on behind the current block, if its size does not say.
    goes_on_from: Option<u64>,
    /// The last block.
    last_block: Option<Frame>,
    /// Up to where events were given, once the block they are in is done.
    given_to: u64,
    /// Content before this position was announced to the source.
    approached: u64,
    /// What was looked through for blocks whose sizes are wrong.
    looked_through: LookedThrough,
    /// Bytes from here on are still needed by those who wait for their turn.
    keep_from: Option<u64>,
    /// Whether the caller wants blocks, those of events too.
    gives_blocks: bool,
    scope: Scope,
}

impl<'d> Reader<Whole<&'d [u8]>> {
    /// Reads a whole stream in memory.
    pub fn from_slice(bytes: &'d [u8]) -> Self {
        Reader::new(Whole::new(bytes))
    }
}

impl<R: Read> Reader<Buffered<R>> {
    /// Reads from a pipe, a socket, a file. Memory is bounded by the largest block.
    pub fn from_read(input: R) -> Self {
        Reader::new(Buffered::new(input))
    }
}

impl<S: Source> Reader<S> {
    /// Reads from a source. Does not touch it: the stream's header is read by the first step.
    pub fn new(source: S) -> Self {
        Reader::with_limits(source, Limits::default())
    }

    /// Reads from a source with other limits than the default ones.
    pub fn with_limits(source: S, limits: Limits) -> Self {
        Reader {
            source,
            state: State::new(limits),
            phase: Phase::Header,
            position: 0,
            shift: 0,
            goes_on_from: None,
            last_block: None,
            given_to: 0,
            approached: 0,
            looked_through: LookedThrough::default(),
            keep_from: None,
            gives_blocks: false,
            scope: Scope::All,
        }
    }

    /// Reads everything but events: [`Reader::next_block`] gives event blocks without their content, and
    /// a source that need not read what is passed over, such as
    /// [`PositionedFile`](crate::PositionedFile), does not. The sizes that event blocks state are taken
    /// at their word where the end of the content gives no reason to doubt it.
    ///
    /// ```
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// use nettrace_parser::{BlockKind, Reader, Whole};
    /// let mut reader = Reader::of_blocks(Whole::new(&bytes));
    /// let mut event_bytes = 0;
    /// while let Some(block) = reader.next_block()? {
    ///     if block.kind() == BlockKind::Event {
    ///         event_bytes += block.span().len;
    ///     }
    /// }
    /// assert!(event_bytes > 0 && reader.is_complete());
    /// # Ok::<(), nettrace_parser::Error>(())
    /// ```
    pub fn of_blocks(source: S) -> Self {
        let mut reader = Reader::new(source);
        reader.scope = Scope::Index;
        reader
    }

    /// The same for those who read the events elsewhere.
    pub(crate) fn index(source: S, limits: Limits) -> Self {
        let mut reader = Reader::with_limits(source, limits);
        reader.scope = Scope::Index;
        reader.state.losses = Losses::deferred();
        reader
    }

    /// Begins to read the events in blocks that were found before, and gives up what was known. The
    /// source goes on: blocks of one plan lie behind those of the plan before.
    pub(crate) fn plan(&mut self, plan: &mut Plan) {
        self.state = State::new(self.state.limits);
        std::mem::swap(&mut self.state.context, &mut plan.context);
        self.state.losses = Losses::deferred();
        self.state.must_cover = true;
        self.scope = Scope::Planned { blocks: std::mem::take(&mut plan.blocks), next: 0 };
        self.phase = Phase::Planned;
        self.keep_from = None;
    }

    /// Gives the plan that was read back, to be used again.
    pub(crate) fn end_plan(&mut self, plan: &mut Plan) {
        std::mem::swap(&mut self.state.context, &mut plan.context);
        if let Scope::Planned { blocks, .. } = std::mem::replace(&mut self.scope, Scope::All) {
            plan.blocks = blocks;
        }
        self.phase = Phase::End;
    }

    /// What the session was. Reads the stream's header if that has not happened yet.
    ///
    /// # Errors
    /// See [`Reader::next_event`].
    pub fn trace(&mut self) -> Result<&Trace, Error> {
        while matches!(self.phase, Phase::Header | Phase::Trace) {
            self.step()?;
        }
        // The header is read by now, or reading it failed before and fails again.
        match self.state.trace() {
            Some(trace) => Ok(trace),
            None => Err(self.phase.again()),
        }
    }

    /// The next event in file order, or `None` at the end.
    ///
    /// # Errors
    /// [`Error::Format`] when the stream cannot be read from its beginning; the same again on
    /// every further call. [`Error::Io`] when the source fails; after
    /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) the same call goes on.
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        loop {
            match self.step()? {
                Step::Event => return Ok(Some(self.state.event(self.source.bytes(), self.source.start()))),
                Step::Block(_) | Step::Skipped(_) | Step::Passed | Step::Barrier => {}
                Step::End => return Ok(None),
            }
        }
    }

    /// Gives all events that are left to `take`, in file order. The fastest way through a stream:
    /// a block is walked without coming back here between its events.
    ///
    /// # Errors
    /// As [`Reader::next_event`]; after [`WouldBlock`](std::io::ErrorKind::WouldBlock) the same call
    /// goes on.
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

    /// The same with something that need not be a closure, and so can say how it is compiled, and when it has
    /// had enough.
    ///
    /// # Errors
    /// As [`Reader::for_each`].
    #[inline]
    pub fn visit(&mut self, visitor: &mut impl Visit) -> Result<(), Error> {
        while visitor.wants_more() {
            let is_event = match self.run(&mut Each(visitor)) {
                RunEnd::OnBlob => self.accept(),
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

    /// Gives the events that are left to `take`, in file order, until it fails. The same reader can go on behind
    /// the event with which that happened. As fast as [`Reader::for_each`].
    ///
    /// # Errors
    /// What `take` reports, and what [`Reader::for_each`] does.
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

    /// The next block, or `None` at the end. For tools: the events that are left in the block that
    /// is being read are passed over, and events of the blocks given here are not counted as read,
    /// so losses cannot be counted.
    ///
    /// # Errors
    /// As [`Reader::next_event`].
    pub fn next_block(&mut self) -> Result<Option<Block<'_>>, Error> {
        self.state.leave_block();
        self.gives_blocks = true;
        let frame = self.next_frame();
        self.gives_blocks = false;
        Ok(frame?.map(|(frame, is_read)| self.block(frame, is_read)))
    }

    /// The next block, and whether it was read.
    fn next_frame(&mut self) -> Result<Option<(Frame, bool)>, Error> {
        loop {
            match self.step()? {
                Step::Block(frame) => return Ok(Some((frame, true))),
                Step::Skipped(frame) => return Ok(Some((frame, false))),
                Step::Event | Step::Passed | Step::Barrier => {}
                Step::End => return Ok(None),
            }
        }
    }

    fn block(&self, frame: Frame, is_read: bool) -> Block<'_> {
        // What is passed over is not held.
        let content = if is_read { body_of(&self.source, &frame) } else { &[] };
        Block { kind: frame.kind, start: frame.start, body: frame.body, content }
    }

    /// Stream position up to which blocks were read.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The stream's version, once its header was read.
    pub fn version(&self) -> Option<Version> {
        self.state.version()
    }

    /// Whether the stream's end mark was seen. A killed process leaves none.
    pub fn is_complete(&self) -> bool {
        self.state.is_complete
    }

    /// Where the stream ended, once it has: behind its end mark, or where the bytes ran out.
    pub fn end_offset(&self) -> Option<u64> {
        self.state.end_offset
    }

    /// The event types that are defined at this point of the stream, in the order of their
    /// definition; also those without events.
    ///
    /// ```
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// let mut reader = nettrace_parser::Reader::from_slice(&bytes);
    /// while reader.next_event()?.is_some() {}
    /// let names: Vec<&str> = reader.event_types().map(|metadata| &*metadata.name).collect();
    /// assert_eq!(names, ["Hi", "Go"]);
    /// # Ok::<(), nettrace_parser::Error>(())
    /// ```
    pub fn event_types(&self) -> impl Iterator<Item = &Metadata> {
        self.state.context.tables.metadata.live()
    }

    /// Events that the stream's numbers prove to be missing; nothing is known for version 3.
    pub fn losses(&self) -> &Losses {
        &self.state.losses
    }

    /// What was wrong so far.
    pub fn damage(&self) -> &Damage {
        &self.state.damage
    }

    /// What was read so far.
    pub fn statistics(&self) -> &Statistics {
        &self.state.statistics
    }

    /// The source.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The source, to tell it something: a socket's timeout, or bytes that have come. Bytes that it has shown
    /// must stay what they were, or events are read that nobody wrote.
    pub fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// Gives the source back, with the bytes that it read and the reader did not use.
    pub fn into_source(self) -> S {
        self.source
    }

    /// Stream position up to which bytes went by, also within a stretch that is passed over.
    pub(crate) fn reached(&self) -> u64 {
        self.phase.reached().unwrap_or(self.position).max(self.position)
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    pub(crate) fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// Gives the events ahead to `take`; see [`State::run`].
    #[inline(always)]
    pub(crate) fn run(&mut self, take: &mut impl Take) -> RunEnd {
        self.state.run(self.source.bytes(), self.source.start(), take)
    }

    /// Whether the blob that a run stopped on is an event.
    pub(crate) fn accept(&mut self) -> bool {
        self.state.accept(self.source.bytes(), self.source.start())
    }

    /// From now on what follows the end mark is waited for.
    pub(crate) fn wait_for_tail(&mut self) {
        self.state.limits.waits_for_tail = true;
    }

    pub(crate) fn keep_from(&mut self, position: Option<u64>) {
        self.keep_from = position;
    }

    /// The window's bytes from a stream position on.
    fn window_from(&self, position: u64) -> &[u8] {
        let index = index(position, self.source.start());
        self.source.bytes().get(index..).unwrap_or_default()
    }

    /// One step. The way through an event block is inlined; everything else is not.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<Step, Error> {
        if !self.state.cursor.is_done() {
            let (window, start) = (self.source.bytes(), self.source.start());
            if self.state.next_blob(window, start) {
                return Ok(Step::Event);
            }
        }
        self.step_block()
    }
}
