//! The reader's parts, and its functions that can be called at any time.

use super::phase::Phase;
use super::run::{RunEnd, Take};
use super::scope::{Plan, Scope};
use super::state::State;
use crate::block::metadata::Metadata;
use crate::damage::Damage;
use crate::frame::Frame;
use crate::limits::Limits;
use crate::loss::Losses;
use crate::resync::v6::Explored;
use crate::source::{Buffered, Source, Whole, index};
use crate::statistics::Statistics;
use crate::version::Version;
use std::io::Read;

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
/// Only a stream whose beginning cannot be read is an [`Error`](crate::Error). Later damage is reported
/// by [`Reader::damage`], and everything around it is delivered.
#[derive(Debug)]
pub struct Reader<S> {
    pub(super) source: S,
    pub(super) state: State,
    pub(super) phase: Phase,
    /// Position of the next block.
    pub(super) position: u64,
    /// Number of bytes by which the writer was ahead of our positions, modulo 4: 0 unless
    /// bytes are missing.
    pub(super) shift: u8,
    /// Where reading continues after the current block, if not where its size says.
    pub(super) continue_at: Option<u64>,
    /// The last block.
    pub(super) last_block: Option<Frame>,
    /// Position up to which events were delivered, set when their block is finished.
    pub(super) delivered_to: u64,
    /// Position before which content has been announced to the source.
    pub(super) approached: u64,
    /// Which bytes have been searched for blocks with wrong sizes.
    pub(super) explored: Explored,
    /// Whether to wait for bytes after the end mark.
    pub(super) waits_for_tail: bool,
    /// Position from which bytes are still needed by queued events.
    pub(super) keep_from: Option<u64>,
    /// Whether the caller wants blocks, including event blocks.
    pub(super) gives_blocks: bool,
    pub(super) scope: Scope,
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
            state: State::new(limits.bounded()),
            phase: Phase::Header,
            position: 0,
            shift: 0,
            continue_at: None,
            last_block: None,
            delivered_to: 0,
            approached: 0,
            explored: Explored::default(),
            waits_for_tail: false,
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
    ///     if block.kind == BlockKind::Event {
    ///         event_bytes += block.span.len;
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

    /// Creates a reader that finds event blocks for a caller whose events are read
    /// elsewhere.
    pub(crate) fn for_index(source: S, limits: Limits) -> Self {
        let mut reader = Reader::with_limits(source, limits);
        reader.scope = Scope::Index;
        reader.state.losses = Losses::deferred();
        reader
    }

    /// Starts to read the events in blocks that were found before, and discards the
    /// previous state. The source continues: the blocks of each plan come after those of
    /// the plan before.
    pub(crate) fn begin_plan(&mut self, plan: &mut Plan) {
        self.state = State::new(self.state.limits);
        std::mem::swap(&mut self.state.context, &mut plan.context);
        self.state.losses = Losses::deferred();
        self.state.must_cover = true;
        self.scope = Scope::Planned { blocks: std::mem::take(&mut plan.blocks), next: 0 };
        self.phase = Phase::Planned;
        self.keep_from = None;
    }

    /// Takes a finished plan back into `plan`, for reuse.
    pub(crate) fn end_plan(&mut self, plan: &mut Plan) {
        std::mem::swap(&mut self.state.context, &mut plan.context);
        if let Scope::Planned { blocks, .. } = std::mem::replace(&mut self.scope, Scope::All) {
            plan.blocks = blocks;
        }
        self.phase = Phase::End;
    }

    /// Returns the stream position up to which blocks were read.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the stream's version, once its header was read.
    pub fn version(&self) -> Option<Version> {
        self.state.version()
    }

    /// Returns whether the stream's end mark was read. If the process was killed, there
    /// is none.
    pub fn is_complete(&self) -> bool {
        self.state.is_complete
    }

    /// Returns where the stream ended: after its end mark, or where the input ended.
    /// `None` before that.
    pub fn end_offset(&self) -> Option<u64> {
        self.state.end_offset
    }

    /// Returns the event types defined at this point of the stream, in order of
    /// definition, including those without events.
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

    /// Returns the events that are missing according to the stream's sequence numbers.
    /// Version 3 has none, so nothing is known about its losses.
    pub fn losses(&self) -> &Losses {
        &self.state.losses
    }

    /// Returns what was wrong so far.
    pub fn damage(&self) -> &Damage {
        &self.state.damage
    }

    /// Returns what was read so far.
    pub fn statistics(&self) -> &Statistics {
        &self.state.statistics
    }

    /// Returns the source.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Returns the source, for example to set a socket's timeout or to add bytes. Bytes
    /// that it has already returned must not change, or the reader returns events that
    /// the trace does not contain.
    pub(crate) fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// Returns the stream position up to which bytes were processed, even in the middle
    /// of a range that is being skipped.
    pub(crate) fn reached(&self) -> u64 {
        self.phase.reached().unwrap_or(self.position).max(self.position)
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    pub(crate) fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// Passes the next events to `take`, as [`State::pass_events`] does.
    #[inline(always)]
    pub(crate) fn pass_events(&mut self, take: &mut impl Take) -> RunEnd {
        self.state.pass_events(self.source.bytes(), self.source.start(), take)
    }

    /// Accepts the blob at which a run stopped. Returns whether it is an event.
    pub(crate) fn accept(&mut self) -> bool {
        self.state.accept(self.source.bytes(), self.source.start())
    }

    /// Makes the reader wait for bytes after the end mark from now on.
    pub(crate) fn wait_for_tail(&mut self) {
        self.waits_for_tail = true;
    }

    pub(crate) fn keep_from(&mut self, position: Option<u64>) {
        self.keep_from = position;
    }

    /// Returns the window's bytes from a stream position on.
    pub(super) fn window_from(&self, position: u64) -> &[u8] {
        let index = index(position, self.source.start());
        self.source.bytes().get(index..).unwrap_or_default()
    }

    /// Returns where the source's bytes end, as far as they have been requested.
    pub(super) fn source_end(&self) -> u64 {
        self.source.start().saturating_add(self.source.bytes().len() as u64)
    }
}
