//! Holds the state of a reader, except for its source and its position.

use super::found::{FoundBlock, Need};
use crate::block::trace::{self, Trace};
use crate::context::Context;
use crate::cursor::Cursor;
use crate::damage::{BlockDamage, Damage};
use crate::error::{Fault, located};
use crate::frame::Frame;
use crate::limits::Limits;
use crate::loss::Losses;
use crate::statistics::Statistics;
use crate::version::Version;

/// Minimum size in bytes of a version 6 payload that is searched for rows. At least as many bytes
/// must follow its last field.
pub(super) const MIN_SEARCHED_PAYLOAD: u32 = 128;

/// State of a reader, except for its source and its position.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) limits: Limits,
    pub(crate) context: Context,
    has_trace: bool,
    pub(crate) losses: Losses,
    pub(crate) damage: Damage,
    pub(crate) statistics: Statistics,
    /// Position in the event block that is being read.
    pub(crate) cursor: Cursor,
    /// Whether the input contains all of the current block.
    pub(super) block_is_whole: bool,
    /// Position of the current block's first broken row.
    pub(super) broken_at: Option<u64>,
    /// Whether blocks were lost since the last sequence point. They may have included a sequence
    /// point.
    pub(super) blocks_were_lost: bool,
    /// Whether definitions that outlive sequence points may be missing, because blocks or rows
    /// were lost or a table was full. If not, undefined ids of version 6 are damage.
    pub(super) ids_were_lost: bool,
    pub(crate) is_complete: bool,
    pub(super) end_offset: Option<u64>,
    /// Whether the source went on with another stream after the end mark.
    pub(super) goes_on: bool,
    /// Number of bytes of the last block that the input lacks.
    pub(super) missing_bytes: u64,
    /// Whether an undefined id makes the stream irregular, because this reader reads a region.
    pub(super) must_cover: bool,
    /// Whether something was found that only a reader of the whole stream can report.
    pub(crate) is_irregular: bool,
    /// Blocks that were read, if they are listed.
    pub(super) found: Option<Vec<FoundBlock>>,
}

impl State {
    pub(super) fn new(limits: Limits) -> State {
        State {
            limits,
            context: Context::new(),
            has_trace: false,
            losses: Losses::default(),
            damage: Damage::default(),
            statistics: Statistics::default(),
            cursor: Cursor::empty(),
            block_is_whole: true,
            broken_at: None,
            blocks_were_lost: false,
            ids_were_lost: false,
            is_complete: false,
            end_offset: None,
            goes_on: false,
            missing_bytes: 0,
            must_cover: false,
            is_irregular: false,
            found: None,
        }
    }

    /// Lists the blocks and losses that are read from now on, for [`State::take_found`].
    pub(crate) fn list_blocks(&mut self) {
        self.found = Some(Vec::new());
        self.losses = Losses::listed();
    }

    pub(super) fn begin(&mut self, version: Version) {
        self.context.begin(version);
    }

    pub(crate) fn version(&self) -> Option<Version> {
        self.context.version()
    }

    pub(crate) fn is_v6(&self) -> bool {
        self.context.is_v6()
    }

    pub(crate) fn is_block_whole(&self) -> bool {
        self.block_is_whole
    }

    pub(crate) fn missing_bytes(&self) -> u64 {
        self.missing_bytes
    }

    pub(crate) fn end_offset(&self) -> Option<u64> {
        self.end_offset
    }

    pub(super) fn trace(&self) -> Option<&Trace> {
        self.has_trace.then_some(&self.context.trace)
    }

    /// Reads the first block. A fault in it ends reading, because without a session the rest of
    /// the stream has no meaning.
    pub(super) fn read_trace(&mut self, frame: Frame, content: &[u8]) -> Result<(), (u64, Fault)> {
        self.open_block(frame, true, u64::from(frame.body.len));
        let mut damage = self.damage.in_block(frame);
        let is_v6 = matches!(self.context.version(), Some(Version::V6 { .. }));
        let parsed = trace::read_sized(content, &mut damage, |content, damage| {
            let parsed =
                if is_v6 { trace::block_v6(content, damage) } else { trace::object(content) };
            parsed.map(|(_, trace)| trace).map_err(|error| located(content, error))
        });
        match parsed {
            Ok(trace) => {
                trace::note_oddities(&trace, &mut damage);
                self.context.set_trace(trace);
                self.has_trace = true;
                Ok(())
            }
            Err(error) => Err((frame.body.start.saturating_add(error.at as u64), error.fault)),
        }
    }

    /// Counts a block and its bytes up to position `end`, at most to the end of its content.
    pub(super) fn count_block(&mut self, frame: &Frame, end: u64) {
        self.list_block(frame, end);
        self.statistics
            .add_block(frame.kind, end.min(frame.body_end()).saturating_sub(frame.start));
    }

    /// Begins a block and counts it. The window has `present` bytes from its content on.
    pub(super) fn open_block(&mut self, frame: Frame, is_whole: bool, present: u64) {
        self.block_is_whole = is_whole;
        self.broken_at = None;
        self.count_block(&frame, frame.body.start.saturating_add(present));
    }

    /// Returns a collector for the faults of the current block.
    pub(super) fn damage_in(&mut self, frame: Frame) -> BlockDamage<'_> {
        self.damage.in_part_of_block(frame, self.block_is_whole)
    }

    pub(super) fn lose_block(
        &mut self,
        frame: Frame,
        content: &[u8],
        context: &'static str,
        fault: Fault,
    ) {
        self.broken_at = Some(frame.body.start);
        self.blocks_were_lost = true;
        self.damage_in(frame).add_lost_block(0, content.len(), context, fault);
    }

    /// Adds a block to the list, if there is one. The bytes up to `end` are present.
    pub(super) fn list_block(&mut self, frame: &Frame, end: u64) {
        let Some(found) = &mut self.found else { return };
        let losses = self.losses.take_found();
        if let Some(before) = found.last_mut() {
            before.losses.extend(losses);
        }
        let need = if end < frame.body_end() { Need::All } else { Need::Nothing };
        found.push(FoundBlock::new(frame.kind, frame.start, need));
    }

    /// Notes that other blocks need the current one, which defines event types (version 3).
    pub(super) fn list_needed(&mut self) {
        if let Some(block) = self.found.as_mut().and_then(|found| found.last_mut()) {
            block.need = Need::All;
        }
    }

    /// Notes the times of the current event block, if there is a list. The fast path does not
    /// record them, and what the block's header states may be wrong.
    pub(super) fn note_times(&mut self, window: &[u8], start: u64) {
        let Some(block) = self.found.as_mut().and_then(|found| found.last_mut()) else { return };
        let Cursor { frame, encoding, end, times, .. } = self.cursor;
        let rows_at = if times.rows_at == 0 { frame.body.start } else { times.rows_at };
        let mut rows = Cursor::new(frame, encoding, rows_at, end);
        while !rows.is_done() && rows.advance(window, start).is_ok() {
            block.first = block.first.min(rows.header.timestamp);
            block.last = block.last.max(rows.header.timestamp);
        }
    }

    /// Notes what needs the block with the event whose payload is at `offset`.
    pub(crate) fn need_block_at(&mut self, offset: u64, need: Need) {
        let found = self.found.as_deref_mut().unwrap_or_default();
        let after = found.partition_point(|block| block.start <= offset);
        if let Some(block) = after.checked_sub(1).and_then(|place| found.get_mut(place)) {
            block.need = block.need.max(need);
        }
    }

    /// Takes the list of blocks.
    pub(crate) fn take_found(&mut self) -> Vec<FoundBlock> {
        let losses = self.losses.take_found();
        let mut found = self.found.take().unwrap_or_default();
        if let Some(last) = found.last_mut() {
            last.losses.extend(losses);
        }
        found
    }
}
