//! The reader: from a source of bytes to events, one step at a time.
//!
//! Reading is a state machine. Every step either completes or leaves everything
//! unchanged: it requests the bytes it needs from the source before it changes anything.
//! So if the source has no bytes yet ([`std::io::ErrorKind::WouldBlock`]), the caller can
//! simply repeat the call.
//!
//! A step mutates and returns nothing borrowed; [`State::event`] borrows and mutates
//! nothing. Because of this split, [`TimeOrdered`](crate::TimeOrdered) can queue events
//! and lend them later.

mod apply;
mod begin;
mod blobs;
mod end;
mod framing;
mod item;
mod phase;
mod recovery;
mod run;
mod scope;
mod state;
mod visit;

/// Counts the steps that hostile streams cause.
#[cfg(test)]
#[path = "../../tests/steps/search.rs"]
mod steps;

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

/// The result of one step of the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The cursor is at an event.
    Event,
    /// A block was read; its content is in the tables.
    Block(Frame),
    /// A block was skipped.
    Skipped(Frame),
    /// Bytes that belong to no block were skipped.
    Passed,
    /// A sequence point or the end comes next: queued events must be delivered before the
    /// next step.
    Barrier,
    /// There is nothing left.
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
/// Only a stream whose beginning cannot be read is an [`Error`]. Later damage is reported
/// by [`Reader::damage`], and everything around it is delivered.
#[derive(Debug)]
pub struct Reader<S> {
    source: S,
    state: State,
    phase: Phase,
    /// Where the next block begins.
    position: u64,
    /// How far the writer was ahead of our positions, modulo 4: 0 unless bytes are
    /// missing.
    shift: u8,
    /// Where reading continues after the current block, if not where its size says.
    goes_on_from: Option<u64>,
    /// The last block.
    last_block: Option<Frame>,
    /// Up to where events were delivered, set when their block is finished.
    given_to: u64,
    /// Content before this position has been announced to the source.
    approached: u64,
    /// Which bytes have been searched for blocks with wrong sizes.
    looked_through: LookedThrough,
    /// Bytes from here on are still needed by queued events.
    keep_from: Option<u64>,
    /// Whether the caller wants blocks, including event blocks.
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
    /// Reads from a pipe, a socket or a file. Memory is bounded by the largest block.
    pub fn from_read(input: R) -> Self {
        Reader::new(Buffered::new(input))
    }
}

impl<S: Source> Reader<S> {
    /// Reads from a source. The source is not accessed until the first step, which reads
    /// the stream's header.
    pub fn new(source: S) -> Self {
        Reader::with_limits(source, Limits::default())
    }

    /// Reads from a source with limits other than the defaults.
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

    /// Reads everything except events: [`Reader::next_block`] returns event blocks
    /// without their content, and a source that can skip, such as
    /// [`PositionedFile`](crate::PositionedFile), does not read it. The stated sizes of
    /// event blocks are trusted unless the end of the content gives reason to doubt them.
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

    /// The same, for a caller whose events are read elsewhere.
    pub(crate) fn index(source: S, limits: Limits) -> Self {
        let mut reader = Reader::with_limits(source, limits);
        reader.scope = Scope::Index;
        reader.state.losses = Losses::deferred();
        reader
    }

    /// Starts to read the events in blocks that were found before, and discards the
    /// previous state. The source continues: the blocks of each plan come after those of
    /// the plan before.
    pub(crate) fn plan(&mut self, plan: &mut Plan) {
        self.state = State::new(self.state.limits);
        std::mem::swap(&mut self.state.context, &mut plan.context);
        self.state.losses = Losses::deferred();
        self.state.must_cover = true;
        self.scope = Scope::Planned { blocks: std::mem::take(&mut plan.blocks), next: 0 };
        self.phase = Phase::Planned;
        self.keep_from = None;
    }

    /// Returns a finished plan for reuse.
    pub(crate) fn end_plan(&mut self, plan: &mut Plan) {
        std::mem::swap(&mut self.state.context, &mut plan.context);
        if let Scope::Planned { blocks, .. } = std::mem::replace(&mut self.scope, Scope::All) {
            plan.blocks = blocks;
        }
        self.phase = Phase::End;
    }

    /// What the stream says about the session. Reads the stream's header if that has not
    /// happened yet.
    ///
    /// # Errors
    /// See [`Reader::next_event`].
    pub fn trace(&mut self) -> Result<&Trace, Error> {
        while matches!(self.phase, Phase::Header | Phase::Trace) {
            self.step()?;
        }
        // The header has been read by now, or reading it failed before and fails again.
        match self.state.trace() {
            Some(trace) => Ok(trace),
            None => Err(self.phase.again()),
        }
    }

    /// The next event in file order, or `None` at the end.
    ///
    /// # Errors
    /// [`Error::Format`] if the beginning of the stream cannot be read; every further
    /// call returns the same error. [`Error::Io`] if the source fails; after
    /// [`WouldBlock`](std::io::ErrorKind::WouldBlock), repeat the call.
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

    /// Passes all remaining events to `take`, in file order. The fastest way to read a
    /// stream: a block is walked without returning here for each event.
    ///
    /// # Errors
    /// As [`Reader::next_event`]; after [`WouldBlock`](std::io::ErrorKind::WouldBlock),
    /// repeat the call.
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

    /// The same with a type that implements [`Visit`] instead of a closure, which can
    /// control inlining and stop when it has had enough.
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

    /// Passes the remaining events to `take`, in file order, until it returns an error.
    /// The reader can then continue after the event that caused it. As fast as
    /// [`Reader::for_each`].
    ///
    /// # Errors
    /// Errors of `take`, and those of [`Reader::for_each`].
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

    /// The next block, or `None` at the end. For tools: the remaining events of the
    /// current block are skipped. Events of the blocks returned here do not count as
    /// read, so losses are not counted.
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
        // Skipped content is not held.
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

    /// Whether the stream's end mark was read. If the process was killed, there is none.
    pub fn is_complete(&self) -> bool {
        self.state.is_complete
    }

    /// Where the stream ended: after its end mark, or where the input ended. `None`
    /// before that.
    pub fn end_offset(&self) -> Option<u64> {
        self.state.end_offset
    }

    /// The event types defined at this point of the stream, in order of definition,
    /// including those without events.
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

    /// Events that are missing according to the stream's sequence numbers. Version 3 has
    /// none, so nothing is known about its losses.
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

    /// The source, for example to set a socket's timeout or to add bytes. Bytes that it
    /// has already returned must not change, or the reader returns events that the trace
    /// does not contain.
    pub fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// Returns the source, including bytes that it read and the reader did not use.
    pub fn into_source(self) -> S {
        self.source
    }

    /// Stream position up to which bytes were processed, even in the middle of a range
    /// that is being skipped.
    pub(crate) fn reached(&self) -> u64 {
        self.phase.reached().unwrap_or(self.position).max(self.position)
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    pub(crate) fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// Passes the next events to `take`; see [`State::run`].
    #[inline(always)]
    pub(crate) fn run(&mut self, take: &mut impl Take) -> RunEnd {
        self.state.run(self.source.bytes(), self.source.start(), take)
    }

    /// Whether the blob at which a run stopped is an event.
    pub(crate) fn accept(&mut self) -> bool {
        self.state.accept(self.source.bytes(), self.source.start())
    }

    /// From now on, waits for bytes after the end mark.
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

    /// One step. Walking an event block is inlined; everything else is not.
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
