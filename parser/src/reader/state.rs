//! What the reader knows, but for its source and its place in it.

use super::cursor::Cursor;
use crate::block::trace::{self, Trace};
use crate::context::Context;
use crate::damage::{BlockDamage, Damage};
use crate::error::{Fault, located};
use crate::frame::Frame;
use crate::limits::Limits;
use crate::loss::Losses;
use crate::statistics::Statistics;
use crate::version::Version;

/// Everything the reader knows, but for its source and its place.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) limits: Limits,
    pub(crate) context: Context,
    has_trace: bool,
    pub(crate) losses: Losses,
    pub(crate) damage: Damage,
    pub(crate) statistics: Statistics,
    /// The event block that is being read.
    pub(crate) cursor: Cursor,
    /// Whether the input holds the current block to its end.
    pub(super) block_is_whole: bool,
    /// Where the current block's first broken row lies.
    pub(super) broken_at: Option<u64>,
    pub(super) odd_blob: OddBlob,
    /// Blocks were lost since the last sequence point, perhaps a sequence point among them.
    pub(super) blocks_were_lost: bool,
    pub(crate) is_complete: bool,
    pub(super) end_offset: Option<u64>,
    /// Every reference must be covered by what the reader knows; see [`State::is_irregular`].
    pub(super) must_cover: bool,
    /// Something was met that only a reader of the whole stream can report.
    pub(crate) is_irregular: bool,
}

/// A blob of version 6 that may be none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OddBlob {
    /// The block that was looked through because of an id that stands for nothing.
    pub(super) block: Option<u64>,
    /// The blob that was looked at.
    pub(super) seen: Option<u64>,
    /// It is looked at because it looks like a block's header.
    pub(super) is_header: bool,
    /// Where the next blob begins, while this one has yet to be looked at.
    pub(super) behind: Option<u64>,
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
            odd_blob: OddBlob::default(),
            blocks_were_lost: false,
            is_complete: false,
            end_offset: None,
            must_cover: false,
            is_irregular: false,
        }
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

    pub(crate) fn end_offset(&self) -> Option<u64> {
        self.end_offset
    }

    pub(super) fn trace(&self) -> Option<&Trace> {
        self.has_trace.then_some(&self.context.trace)
    }

    /// Reads the first block. A fault in it is fatal: without it nothing has a meaning.
    pub(super) fn read_trace(&mut self, frame: Frame, content: &[u8]) -> Result<(), (u64, Fault)> {
        self.open_block(frame, true, u64::from(frame.body.len));
        let mut damage = self.damage.in_block(frame);
        let parsed = match self.context.version() {
            Some(Version::V6 { .. }) => trace::block_v6(content, &mut damage),
            _ => trace::object(content),
        };
        match parsed {
            Ok((_, trace)) => {
                trace::note_oddities(&trace, &mut damage);
                self.context.set_trace(trace);
                self.has_trace = true;
                Ok(())
            }
            Err(error) => {
                let error = located(content, error);
                Err((frame.body.start.saturating_add(error.at as u64), error.fault))
            }
        }
    }

    /// Counts a block up to the position `end`, which may lie in the middle of it. What follows the
    /// content is counted when it is met.
    pub(super) fn count_block(&mut self, frame: &Frame, end: u64) {
        self.statistics.add_block(frame.kind, end.min(frame.body_end()).saturating_sub(frame.start));
    }

    /// Begins a block of which `present` bytes of content and what follows are in the window.
    pub(super) fn open_block(&mut self, frame: Frame, is_whole: bool, present: u64) {
        self.block_is_whole = is_whole;
        self.broken_at = None;
        self.count_block(&frame, frame.body.start.saturating_add(present));
    }

    /// Takes what is wrong with the current block.
    pub(super) fn damage_in(&mut self, frame: Frame) -> BlockDamage<'_> {
        self.damage.in_part_of_block(frame, self.block_is_whole)
    }

    pub(super) fn lose_block(&mut self, frame: Frame, content: &[u8], context: &'static str, fault: Fault) {
        self.broken_at = Some(frame.body.start);
        self.blocks_were_lost = true;
        self.damage_in(frame).block_lost(0, content.len(), context, fault);
    }
}
