//! Lists the blocks of a stream with their times, so that a reader can skip most of them.

use crate::block::trace::Trace;
use crate::clock::Clock;
use crate::damage::Class;
use crate::error::Error;
use crate::event::Event;
use crate::frame::BlockKind;
use crate::loss::{FoundLoss, Losses};
use crate::order::{Candidate, FilteredEvents, PendingFilter, Watermark};
use crate::reader::{FoundBlock, Need, Reader};
use crate::source::Source;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;

/// Number of bytes at the beginning of a stream by which an index recognises it. They have the
/// session's start, in most streams also its first blocks.
const STAMPED_BYTES: usize = 4096;

/// Tells an index which events define something that events of any time refer to, such as methods.
///
/// An [`Index`] keeps the blocks with these events, so that [`Reader::in_range`] reads them whatever
/// the range is. The parser itself only knows the definitions that its own tables need.
///
/// A function `FnMut(&Event) -> bool` is an instance whose answer needs no time order.
pub trait Definitions {
    /// Returns whether an event may define something. Called for each event, in file order.
    fn may_define(&mut self, event: &Event<'_>) -> bool;

    /// Returns what an event defines. Called for the events that may define something, in time
    /// order. By default, all of them define something else.
    fn defines(&mut self, _event: &Event<'_>) -> Definition {
        Definition::Other
    }
}

/// What an event defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Definition {
    /// What earlier events have defined. The event is read with the range that it lies in.
    Known,
    /// Something new, unless all definitions between two sequence points are those that came last,
    /// in the same order, as some recorders write them with each block. Repeated definitions must
    /// mean the same as one. They are read with the range that they lie in.
    New,
    /// Something else than each other event.
    Other,
}

impl<F: FnMut(&Event<'_>) -> bool> Definitions for F {
    #[inline(always)]
    fn may_define(&mut self, event: &Event<'_>) -> bool {
        self(event)
    }
}

/// Blocks of a stream, each with its place, the least and the greatest time of its events, and
/// whether it has definitions. With it, [`Reader::in_range`] reads a time range of a large file
/// without the rest.
///
/// The times are those of the events, not those that the blocks state, which may be 0, or times at
/// which they were written ([FORMAT.md 6.1](crate::format_guide#6.1)).
///
/// An index takes one pass over the stream, and about 40 bytes for each block; .NET writes blocks of
/// 100 KB. With the feature `serde` it can be stored. It belongs to one file, whose length and
/// beginning it knows.
///
/// ```
/// use nettrace_parser::{Index, Reader, Whole};
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut methods = |event: &nettrace_parser::Event<'_>| event.display_name() == "MethodLoadVerbose_V1";
/// let index = Index::read(Whole::new(&bytes), &mut methods)?;
/// let (from, to) = (1_000, 2_000);
/// let mut count = 0;
/// let mut reader = Reader::from_slice(&bytes).in_range(&index, from..=to)?;
/// while let Some(event) = reader.next_event()? {
///     // A block may have other events, too.
///     count += u64::from((from..=to).contains(&event.timestamp_ticks()));
/// }
/// println!("{count} events");
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Index {
    /// Length of the stream in bytes.
    length: u64,
    /// SHA-1 of the stream's first bytes.
    beginning: [u8; 20],
    clock: Clock,
    /// Whether blocks may be skipped. Damage may hide events of any time.
    is_intact: bool,
    /// Whether the losses are lower bounds.
    is_at_least: bool,
    blocks: Vec<IndexedBlock>,
    /// Losses, each with the block in which it was found.
    losses: Vec<(usize, FoundLoss)>,
}

/// What a block is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum NeededFor {
    /// For the range of its times.
    Times,
    /// For the range of its times, and for other events up to the next sequence point.
    Part,
    /// For every range.
    Always,
    /// For the events up to the next sequence point: stacks and labels.
    Events,
    /// For every range: a sequence point.
    Point,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct IndexedBlock {
    start: u64,
    used: NeededFor,
    /// Time of the earliest event in ticks; `u64::MAX` if there is none.
    first: u64,
    /// Time of the latest event in ticks; 0 if there is none.
    last: u64,
}

impl IndexedBlock {
    fn new(found: &FoundBlock) -> IndexedBlock {
        let used = match found.kind {
            _ if found.need == Need::All => NeededFor::Always,
            BlockKind::Event if found.need == Need::Part => NeededFor::Part,
            BlockKind::Event => NeededFor::Times,
            BlockKind::Stack | BlockKind::LabelList => NeededFor::Events,
            BlockKind::SequencePoint => NeededFor::Point,
            _ => NeededFor::Always,
        };
        IndexedBlock { start: found.start, used, first: found.first, last: found.last }
    }

    fn has_events(&self) -> bool {
        self.first <= self.last
    }
}

impl Index {
    /// Reads a stream to its end, and lists its blocks.
    ///
    /// # Errors
    /// [`Error::NoLength`] for a source without a length; the errors of [`Reader::next_event`].
    pub fn read<S: Source>(
        mut source: S,
        definitions: &mut impl Definitions,
    ) -> Result<Index, Error> {
        let (length, beginning) = stamp(&mut source)?;
        let mut reader = Reader::new(source);
        reader.state_mut().list_blocks();
        let mut events = reader.time_ordered();
        let mut filter = MayDefine(definitions);
        let mut part = DefinedPart::default();
        while let Some(complete) = events.advance(&mut filter)? {
            loop {
                let event = events.ready();
                let is_over = event.is_none();
                if let Some(event) = event {
                    let definition = filter.0.defines(&event);
                    part.add(&event, definition);
                }
                if is_over && complete == Watermark::All || part.is_full() {
                    let state = events.reader_mut().state_mut();
                    part.end(|offset, need| state.need_block_at(offset, need));
                }
                if is_over {
                    break;
                }
            }
        }
        let reader = events.reader_mut();
        let clock = reader.trace().map(Trace::clock)?;
        let is_aligned = reader.is_aligned();
        let state = reader.state_mut();
        let found = state.take_found();
        let mut blocks: Vec<_> = found.iter().map(IndexedBlock::new).collect();
        if let Some(last) = blocks.last_mut().filter(|_| !state.is_complete) {
            // Where it ends is unknown.
            last.used = NeededFor::Always;
        }
        let each = found.iter().enumerate();
        let losses = each
            .flat_map(|(place, block)| block.losses.iter().map(move |loss| (place, *loss)))
            .collect();
        let faults =
            state.damage.loss_count().saturating_sub(state.damage.count(Class::Incomplete));
        Ok(Index {
            length,
            beginning,
            clock,
            is_intact: is_aligned && faults == 0,
            is_at_least: state.losses.is_at_least(),
            blocks,
            losses,
        })
    }

    /// Returns the clock of the stream, which converts times to ticks.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Returns whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns whether the stream is so damaged that nothing of it can be skipped. Damage may hide
    /// events of any time, and shows itself only to a reader of everything before it. A stream that
    /// ends early is not damaged in this sense.
    pub fn is_damaged(&self) -> bool {
        !self.is_intact
    }

    /// Returns the parts of the stream that have nothing of a range, and the losses in the rest.
    fn plan(&self, ticks: &RangeInclusive<u64>) -> (Vec<(u64, u64)>, Vec<FoundLoss>) {
        let meets = |first: u64, last: u64| first <= *ticks.end() && last >= *ticks.start();
        let mut skipped: Vec<(u64, u64)> = Vec::new();
        let mut skip = |start: u64, end: u64| match skipped.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => skipped.push((start, end)),
        };
        let mut losses = Vec::new();
        let mut all_losses = self.losses.iter().peekable();
        // The first block with events behind a part only moves on, whatever the number of parts.
        let (mut at, mut before, mut upcoming) = (0usize, 0u64, 0usize);
        for part in self.blocks.split_inclusive(|block| block.used == NeededFor::Point) {
            let next = at.saturating_add(part.len());
            let is_used = |block: &IndexedBlock| match block.used {
                NeededFor::Times | NeededFor::Part => meets(block.first, block.last),
                NeededFor::Always => block.has_events(),
                NeededFor::Events | NeededFor::Point => false,
            };
            let has_events = part.iter().any(is_used);
            let ends = self.blocks.get(at.saturating_add(1)..).unwrap_or_default();
            for (block, end) in part.iter().zip(ends) {
                let is_skipped = match block.used {
                    NeededFor::Times => !is_used(block),
                    NeededFor::Events | NeededFor::Part => !has_events,
                    NeededFor::Always | NeededFor::Point => false,
                };
                if is_skipped {
                    skip(block.start, end.start);
                }
            }
            // What is lost lies between the events before this part and those after it.
            upcoming = upcoming.max(next);
            while self.blocks.get(upcoming).is_some_and(|block| !block.has_events()) {
                upcoming = upcoming.saturating_add(1);
            }
            let after = self.blocks.get(upcoming).map_or(u64::MAX, |block| block.first);
            let found = |(place, _): &&(usize, FoundLoss)| *place < next;
            let mut lost = std::iter::from_fn(|| all_losses.next_if(found)).peekable();
            if lost.peek().is_some() && meets(before, after) {
                losses.extend(lost.map(|(_, loss)| *loss));
            } else {
                lost.for_each(drop);
            }
            before = part.iter().map(|block| block.last).fold(before, u64::max);
            at = next;
        }
        (skipped, losses)
    }
}

impl<S: Source> Reader<S> {
    /// Makes the reader skip the blocks that have no event in a range of times, and no definitions.
    /// Call this before anything is read, on a reader of the stream that was indexed. `ticks` are
    /// [timestamps](Event::timestamp_ticks); [`Clock::first_ticks_at`] finds them.
    ///
    /// The reader returns all events of the blocks that it reads, so the caller leaves out those of
    /// other times. Events of the range have the same stacks, threads, labels and types as in a
    /// whole read. [`Reader::losses`] has the losses of the whole read between the sequence points
    /// around the range, from the beginning on; [`Reader::statistics`] counts what is read.
    ///
    /// # Errors
    /// [`Error::OtherIndex`] if the index is of a stream with another length or beginning;
    /// [`Error::NoLength`] for a source without a length; [`Error::Io`] if the source fails.
    pub fn in_range(mut self, index: &Index, ticks: RangeInclusive<u64>) -> Result<Self, Error> {
        if stamp(self.source_mut())? != (index.length, index.beginning) {
            return Err(Error::OtherIndex);
        }
        if index.is_intact {
            let (parts, losses) = index.plan(&ticks);
            self.skip_parts(parts, Losses::stated(losses.into_iter(), index.is_at_least));
        }
        Ok(self)
    }
}

/// Returns the length of a stream and the SHA-1 of its first bytes.
fn stamp(source: &mut impl Source) -> Result<(u64, [u8; 20]), Error> {
    let length = source.length().ok_or(Error::NoLength)?;
    source.fill(STAMPED_BYTES as u64).map_err(Error::Io)?;
    let bytes = if source.start() == 0 { source.bytes() } else { &[] };
    let beginning = bytes.get(..STAMPED_BYTES).unwrap_or(bytes);
    Ok((length, sha1_smol::Sha1::from(beginning).digest().bytes()))
}

/// Maximum number of definitions that are compared with those before.
const MAX_COMPARED: usize = 1 << 16;

/// Definitions since the last sequence point, or as many as are compared.
#[derive(Default)]
struct DefinedPart {
    /// Offset of each.
    definitions: Vec<(u64, Definition)>,
    hasher: DefaultHasher,
    /// Hash of the last definitions before this part.
    before: Option<u64>,
}

impl DefinedPart {
    fn add(&mut self, event: &Event<'_>, definition: Definition) {
        self.definitions.push((event.payload_offset(), definition));
        if definition == Definition::Other {
            return;
        }
        let metadata = event.metadata();
        let names = metadata.map(|metadata| (&*metadata.provider, metadata.event_id));
        (names, event.version(), event.process_id(), event.payload()).hash(&mut self.hasher);
    }

    fn is_full(&self) -> bool {
        self.definitions.len() >= MAX_COMPARED
    }

    /// Ends the part, and passes on what needs its definitions.
    fn end(&mut self, mut needs: impl FnMut(u64, Need)) {
        if self.definitions.is_empty() {
            return;
        }
        let hash = std::mem::take(&mut self.hasher).finish();
        let is_again = self.before.replace(hash) == Some(hash);
        for (offset, definition) in self.definitions.drain(..) {
            let need = match definition {
                Definition::Known => Need::Part,
                Definition::New if is_again => Need::Part,
                Definition::New | Definition::Other => Need::All,
            };
            needs(offset, need);
        }
    }
}

/// Defers the events that may define something, so that they come in time order.
struct MayDefine<'a, D>(&'a mut D);

impl<D: Definitions> PendingFilter for MayDefine<'_, D> {
    #[inline(always)]
    fn is_deferred(&mut self, candidate: &Candidate<'_>) -> bool {
        self.0.may_define(candidate.event())
    }
}
