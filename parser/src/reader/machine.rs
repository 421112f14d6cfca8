//! Defines the reader, and its functions that can be called at any time.

use super::phase::Phase;
use super::run::{RunEnd, Take};
use super::scope::{Plan, Scope, Skips};
use super::state::State;
use crate::block::metadata::Metadata;
use crate::damage::Damage;
use crate::following::Following;
use crate::frame::Frame;
use crate::limits::Limits;
use crate::loss::Losses;
use crate::resync::v6::Explored;
use crate::source::{Buffered, Source, Whole, index};
use crate::statistics::Statistics;
use crate::version::Version;
use std::fmt;
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
/// Reading fails with an [`Error`](crate::Error) only if the beginning of the stream cannot be
/// read, or the source fails. Damage is reported by [`Reader::damage`], and everything around it
/// is read.
#[must_use]
pub struct Reader<S> {
    pub(super) source: S,
    pub(super) state: State,
    pub(super) phase: Phase,
    /// Position of the next block.
    pub(super) position: u64,
    /// Number of missing bytes before the current position, modulo 4.
    pub(super) shift: u8,
    /// Position of the next block, if the size of the current block is wrong.
    pub(super) continue_at: Option<u64>,
    /// Most recent block.
    pub(super) last_block: Option<Frame>,
    /// Position up to which events of finished blocks were delivered.
    pub(super) delivered_to: u64,
    /// Position up to which the source has loaded content into the processor's caches.
    pub(super) approached: u64,
    /// Parts of the stream that were searched for blocks with wrong sizes.
    pub(super) explored: Explored,
    /// Whether to wait for bytes after the end mark.
    pub(super) waits_for_tail: bool,
    /// Position of the first event that waits for its turn in time order.
    pub(super) keep_from: Option<u64>,
    /// Whether the caller wants blocks, including event blocks.
    pub(super) gives_blocks: bool,
    pub(super) scope: Scope,
}

/// Shows how far the reader is, and nothing of what it has read.
impl<S> fmt::Debug for Reader<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("version", &self.state.version())
            .field("position", &self.position)
            .field("events", &self.state.statistics.events)
            .field("findings", &self.state.damage.findings().len())
            .field("is_complete", &self.state.is_complete)
            .finish_non_exhaustive()
    }
}

impl<'d> Reader<Whole<&'d [u8]>> {
    /// Creates a reader for a whole stream in memory.
    pub fn from_slice(bytes: &'d [u8]) -> Self {
        Reader::new(Whole::new(bytes))
    }
}

impl<R: Read> Reader<Buffered<R>> {
    /// Creates a reader for a pipe, a socket or a file. Its memory depends on the largest block.
    pub fn from_read(input: R) -> Self {
        Reader::new(Buffered::new(input))
    }
}

impl<S: Source> Reader<S> {
    /// Creates a reader for a source, which is not used until the first event, block or session
    /// is requested.
    pub fn new(source: S) -> Self {
        Reader::with_limits(source, Limits::default())
    }

    /// Creates a reader for a source with other limits than the defaults.
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

    /// Makes the reader skip events: [`Reader::next_block`] returns event blocks without
    /// content. A source that can skip, such as [`PositionedFile`](crate::PositionedFile), does not
    /// read this content. A wrong size of an event block may remain undetected.
    ///
    /// ```
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// use nettrace_parser::{BlockKind, Reader, Whole};
    /// let mut reader = Reader::new(Whole::new(&bytes)).blocks_only();
    /// let mut event_bytes = 0;
    /// while let Some(block) = reader.next_block()? {
    ///     if block.kind == BlockKind::Event {
    ///         event_bytes += block.span.len;
    ///     }
    /// }
    /// assert!(event_bytes > 0 && reader.is_complete());
    /// # Ok::<(), nettrace_parser::Error>(())
    /// ```
    pub fn blocks_only(mut self) -> Self {
        self.scope = Scope::Index;
        self
    }

    /// Creates a reader that finds event blocks, whose events other threads read.
    pub(crate) fn for_index(source: S, limits: Limits) -> Self {
        let mut reader = Reader::with_limits(source, limits).blocks_only();
        reader.state.losses = Losses::deferred();
        reader
    }

    /// Skips these parts of the stream, and reports these losses instead of counting them.
    pub(crate) fn skip_parts(&mut self, parts: Vec<(u64, u64)>, losses: Losses) {
        self.scope = Scope::Skipping(Skips::new(parts));
        self.state.losses = losses;
    }

    /// Returns whether no bytes are missing that all later blocks would need for their padding.
    pub(crate) fn is_aligned(&self) -> bool {
        self.shift == 0
    }

    /// Starts to read the events of a plan's blocks with a new state. The blocks must come after
    /// the blocks of the previous plan, because the source continues.
    pub(crate) fn begin_plan(&mut self, plan: &mut Plan) {
        self.state = State::new(self.state.limits);
        std::mem::swap(&mut self.state.context, &mut plan.context);
        self.state.losses = Losses::deferred();
        self.state.must_cover = true;
        self.scope = Scope::Planned { blocks: std::mem::take(&mut plan.blocks), next: 0 };
        self.phase = Phase::Planned;
        self.keep_from = None;
    }

    /// Moves the memory of a finished plan back to `plan`, for reuse.
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

    /// Returns the stream's version; `None` before its header was read.
    pub fn version(&self) -> Option<Version> {
        self.state.version()
    }

    /// Returns whether the stream's end mark was read. Streams lack it if the traced process was
    /// killed.
    pub fn is_complete(&self) -> bool {
        self.state.is_complete
    }

    /// Returns the stream offset after the end mark, or the offset at which the input ended without
    /// one. `None` before the end.
    pub fn end_offset(&self) -> Option<u64> {
        self.state.end_offset
    }

    /// Returns the place of a [second stream](crate::following) in the same file, if the source
    /// knows of one.
    pub fn following(&self) -> Option<Following> {
        self.source.following()
    }

    /// Returns whether the source went on with a second stream after the end mark, because it did
    /// not know where its file ends: standard input, for example. The second stream is not read.
    pub fn goes_on(&self) -> bool {
        self.state.goes_on
    }

    /// Returns the event types that are defined at the current position, in order of definition,
    /// including types without events.
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

    /// Returns the events that are missing according to the stream's sequence numbers. Losses of
    /// version 3, which has no sequence numbers, are unknown.
    pub fn losses(&self) -> &Losses {
        &self.state.losses
    }

    /// Returns the faults of the stream so far.
    pub fn damage(&self) -> &Damage {
        &self.state.damage
    }

    /// Returns the numbers of events, blocks and bytes that were read so far.
    pub fn statistics(&self) -> &Statistics {
        &self.state.statistics
    }

    /// Returns the source of the stream's bytes.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Ends reading and returns the source, which has released what was read.
    pub fn into_source(self) -> S {
        self.source
    }

    /// Returns the source, for example to add bytes. Bytes that it has already returned must not
    /// change.
    pub(crate) fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// Returns the stream position up to which bytes were processed, even within a range that is
    /// being skipped.
    pub(crate) fn reached(&self) -> u64 {
        self.phase.reached().unwrap_or(self.position).max(self.position)
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    pub(crate) fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// Passes the next events to `take`. See [`State::pass_events`].
    #[inline(always)]
    pub(crate) fn pass_events(&mut self, take: &mut impl Take) -> RunEnd {
        self.state.pass_events(self.source.bytes(), self.source.start(), take)
    }

    /// Checks and counts the blob at which a run stopped. Returns whether it is an event.
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

    /// Returns the stream position at which the window ends.
    pub(super) fn source_end(&self) -> u64 {
        self.source.start().saturating_add(self.source.bytes().len() as u64)
    }
}
