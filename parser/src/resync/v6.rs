//! Decides where version 6 blocks with wrong sizes end (FORMAT.md 13.3).
//!
//! Nothing marks a block. A size is trusted if another block seems to begin after the bytes
//! that it covers, if the input ends there, or if the block's rows end there. The first test
//! costs nothing, but in a stream that is still being written the next block may arrive much
//! later, and the reader does not wait for it.
//!
//! Payloads may look like blocks, so blocks within another block count only if they lead to
//! its end.

use super::rows;
use super::{AfterMark, Expects, GROWN_BYTES, Need, Verdict, Window};
use crate::blob::BlobHeader;
use crate::block::kinds::{KINDS, KindRow, MAX_OTHER_BYTES, SIGN_BYTES};
use crate::format::Framed;
use crate::format::MAGIC;
use crate::format::v6::{self, Chain, Found, SHOWN};
use crate::frame::{BlockKind, Frame};
use crate::source::{Span, index};
use std::fmt;

/// Maximum number of bytes before its expected place at which a block may begin. If bytes of the
/// previous block are missing, its last row seems to include the header of the next block (4 bytes)
/// and the header of that block's content (20 bytes). Earlier bytes were delivered as rows.
pub(crate) const LOOK_BACK: u64 = 24;

/// Minimum total size in bytes of consecutive blocks that are taken for blocks and not for a
/// payload. It is the size of an event block without rows, because many bytes look like a small
/// block of another kind.
const MIN_COVERED_BYTES: u64 = 24;

/// Minimum size in bytes of a block whose kind may be corrected, because a few bytes may be rows
/// of any kind.
const MIN_RETYPED_BYTES: u32 = 16;

/// Maximum number of blocks of unknown kinds, or with broken content, between a block and the
/// block that confirms its size. It is small, because a hostile stream may cause such a walk
/// for every block.
const MAX_BLOCKS_BETWEEN: usize = 16;

/// Positions up to which bytes were examined, and sums of work. They keep the work linear, because
/// in a hostile stream a block or row may be part of very many others. A decision that starts
/// over after a wait for bytes does not change them twice.
#[derive(Debug, Default)]
pub(crate) struct Explored {
    /// Position before which no consecutive blocks begin.
    bytes: u64,
    /// Position before which rows were walked to check a block's size.
    rows: u64,
    /// Number of blocks that were walked to see where they lead.
    blocks: u64,
    /// Number of bytes that were read a second time, because reading went back to a block within
    /// another one.
    reread: u64,
}

/// Bytes and facts on which decisions about blocks depend.
pub(crate) struct Blocks<'w> {
    pub(crate) window: Window<'w>,
    pub(crate) explored: &'w mut Explored,
    /// Returns whether an event has an undefined id.
    pub(crate) is_unknown: &'w dyn Fn(&BlobHeader) -> bool,
    /// Whether the Trace block has been read.
    pub(crate) has_session: bool,
    /// Position of the content of the previous block; 0 if there is none.
    pub(crate) last_content: u64,
}

impl fmt::Debug for Blocks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks").field("window", &self.window).finish_non_exhaustive()
    }
}

impl Blocks<'_> {
    /// Decides where a block ends. If no size fits, the stated size is trusted.
    pub(crate) fn resync(&mut self, frame: Frame) -> Result<Verdict, Need> {
        // Most damaged headers look like a block of an unknown kind, so the beginning of the
        // bytes that it covers is searched for other blocks.
        if matches!(frame.kind, BlockKind::Unknown(_)) {
            if let Some(to) = self.blocks_instead(frame)? {
                return Ok(Verdict::Skip { to });
            }
            let block = self.retype(frame)?;
            return Ok(block.map_or(Verdict::Accept, |block| Verdict::Retype { block }));
        }
        let is_whole = self.window.reaches(frame.body_end(), Expects::Content)?;
        // This check comes before one of the bytes after the block, because it must not depend
        // on whether these have arrived.
        if is_whole
            && !self.begins_as_stated(frame)?
            && let Some(block) = self.retype(frame)?
        {
            return Ok(Verdict::Retype { block });
        }
        if is_whole && v6::leads_on(self.window.from(frame.body_end()), false) == Chain::Yes {
            return Ok(Verdict::Accept);
        }
        self.doubt(frame, is_whole)
    }

    /// Returns the position of consecutive blocks within bytes that look like a block of unknown
    /// kind. If there are any, these bytes are no block.
    pub(crate) fn blocks_instead(&mut self, frame: Frame) -> Result<Option<u64>, Need> {
        let to = frame.body_end().min(frame.body.start.saturating_add(GROWN_BYTES));
        let found = self.chain_in(self.earliest_start(frame.start), to)?;
        Ok(found.filter(|found| *found < frame.body_end()))
    }

    /// Returns whether a block begins as its kind does, as far as its first bytes show. `false` for
    /// long RemoveThread blocks, because any numbers may be the content of one.
    pub(crate) fn begins_as_stated(&self, frame: Frame) -> Result<bool, Need> {
        let shown = (frame.body.len as usize).min(SIGN_BYTES) as u64;
        if !self.window.reaches(frame.body.start.saturating_add(shown), Expects::Content)? {
            return Ok(true);
        }
        let is_long = frame.kind != BlockKind::RemoveThread || frame.body.len < MIN_RETYPED_BYTES;
        Ok(is_long && self.begins(frame))
    }

    fn begins(&self, frame: Frame) -> bool {
        let content = self.window.content(&frame);
        let len = match frame.kind {
            BlockKind::Event => frame.body.len,
            // Larger blocks are read, too.
            _ => frame.body.len.min(MAX_OTHER_BYTES),
        };
        frame.kind.can_begin(len, content.get(..SIGN_BYTES).unwrap_or(content))
    }

    /// Returns the block with another kind, if its rows are of that kind. Otherwise one changed bit
    /// of the kind would silently lose all events of the block, or the rows to which events refer.
    fn retype(&mut self, frame: Frame) -> Result<Option<Frame>, Need> {
        let number = match frame.kind {
            BlockKind::Unknown(number) => number,
            kind => kind.row().map_or(0, |row| row.number),
        };
        let is_near = |row: &KindRow| {
            let is_event = row.kind == BlockKind::Event && frame.kind.row().is_none();
            is_event || (row.number ^ number).is_power_of_two()
        };
        self.retype_if(frame, is_near)
    }

    /// Returns the block with its kind changed to that of its rows, if `is_it` returns `true` for
    /// this kind.
    fn retype_if(
        &mut self,
        frame: Frame,
        is_it: impl Fn(&KindRow) -> bool,
    ) -> Result<Option<Frame>, Need> {
        // No byte is walked twice.
        if frame.body.len < MIN_RETYPED_BYTES || frame.body.start < self.explored.rows {
            return Ok(None);
        }
        let shown = (frame.body.len as usize).min(SIGN_BYTES) as u64;
        if !self.window.reaches(frame.body.start.saturating_add(shown), Expects::Content)? {
            return Ok(None);
        }
        let with_kind = |row: &KindRow| Frame { kind: row.kind, ..frame };
        let is_possible =
            |row: &&KindRow| row.is_searched && is_it(row) && self.begins(with_kind(row));
        let kinds: Vec<&KindRow> = KINDS.iter().filter(is_possible).collect();
        if kinds.is_empty() || !self.window.reaches(frame.body_end(), Expects::Content)? {
            return Ok(None);
        }
        let (window, start) = (self.window.to(frame.body_end()), self.window.start);
        // A block whose rows are of its kind keeps it, because a new writer may have extended its
        // header. RemoveThread is excepted, because any numbers are rows of this kind.
        let is_telling = frame.kind.row().is_some() && frame.kind != BlockKind::RemoveThread;
        if is_telling && rows::fit(frame, window, start, self.is_unknown).0 {
            return Ok(None);
        }
        let mut found = None;
        for block in kinds.into_iter().map(with_kind) {
            let (fits, passed) = rows::fit(block, window, start, self.is_unknown);
            self.explored.rows = self.explored.rows.max(passed);
            if fits {
                found = Some(block);
                break;
            }
        }
        Ok(found)
    }

    /// Returns the earliest position at which another block may begin if the bytes at `start` are
    /// no block.
    fn earliest_start(&self, start: u64) -> u64 {
        start.saturating_sub(LOOK_BACK).max(self.last_content)
    }

    #[cold]
    fn doubt(&mut self, frame: Frame, is_whole: bool) -> Result<Verdict, Need> {
        let (start, end) = (frame.body.start, frame.body_end());
        if is_whole && self.seems_whole(frame) {
            return Ok(Verdict::Accept);
        }
        // The rows end elsewhere, so it may be a coincidence if the input ends with the block.
        if is_whole && self.is_followed(end)? && !self.window.from(end).is_empty() {
            return Ok(Verdict::Accept);
        }
        let reach = end.max(start.saturating_add(GROWN_BYTES));
        self.window.reaches(reach.saturating_add(SHOWN as u64), Expects::After(end))?;
        let content = self.window.content(&frame);
        // The length may be wrong, so all lengths are accepted.
        let len = frame.body.len.min(MAX_OTHER_BYTES);
        let has_signs = frame.kind.can_begin(len, content.get(..SIGN_BYTES).unwrap_or(content));
        let from = if has_signs { start } else { self.earliest_start(frame.start) };
        // Streams of killed processes end anywhere. Then only consecutive blocks that lead to the
        // input's end are evidence against the size.
        let is_last = self.is_last(end);
        let found = self.chain_in(from, reach)?;
        Ok(match found.filter(|place| !is_last || self.leads_to_end(*place)) {
            Some(found) if has_signs => resize(frame, found, found <= end),
            // The Trace block is never skipped, because without it nothing can be read.
            Some(to) if self.has_session => Verdict::Skip { to },
            _ => Verdict::Accept,
        })
    }

    /// Returns whether another block or an end mark begins at the position, or the input ends
    /// there. Some blocks of unknown kinds or with broken content may come in between.
    pub(crate) fn is_followed(&mut self, from: u64) -> Result<bool, Need> {
        let mut at = from;
        for _ in 0..MAX_BLOCKS_BETWEEN {
            self.window.reaches(at.saturating_add(v6::HEADER as u64), Expects::Content)?;
            let is_shown =
                self.window.reaches(at.saturating_add(SHOWN as u64), Expects::After(at))?;
            let is_end = at == self.window.end() || self.window.from(at) == [0; v6::HEADER];
            if (!is_shown && is_end) || self.has_chain(at, v6::leads_on)? {
                return Ok(true);
            }
            match v6::frame(self.window.from(at), at) {
                Framed::Block(next) if next.body_end() <= from.saturating_add(GROWN_BYTES) => {
                    at = next.body_end();
                }
                _ => break,
            }
        }
        Ok(false)
    }

    /// Returns whether a block's rows end where the block does, and all ids in them are defined.
    /// Without this check, a sound block before a damaged one would end early where its payloads
    /// look like blocks.
    fn seems_whole(&mut self, frame: Frame) -> bool {
        // A second Trace block is not read, and may have many pairs.
        let is_second_trace = frame.kind == BlockKind::Trace && self.has_session;
        if frame.body.start < self.explored.rows || is_second_trace {
            return false;
        }
        let window = self.window.to(frame.body_end());
        let (fits, passed) = rows::fit(frame, window, self.window.start, self.is_unknown);
        self.explored.rows = passed;
        fits
    }

    /// Returns whether `chain` finds consecutive blocks in the bytes from a position on.
    fn has_chain(&self, position: u64, chain: impl Fn(&[u8], bool) -> Chain) -> Result<bool, Need> {
        let mut is_ended = false;
        loop {
            match chain(self.window.from(position), is_ended) {
                Chain::Yes => return Ok(true),
                Chain::No => return Ok(false),
                Chain::Need(bytes) => {
                    is_ended = !self
                        .window
                        .reaches(position.saturating_add(bytes as u64), Expects::More)?
                }
            }
        }
    }

    /// Returns the first position in `from..to` at which consecutive blocks begin.
    fn chain_in(&mut self, from: u64, to: u64) -> Result<Option<u64>, Need> {
        let mut at = from.max(self.explored.bytes);
        let mut is_ended =
            !self.window.reaches(to.saturating_add(SHOWN as u64), Expects::After(to))?;
        while at <= to {
            // Offsets in the window are relative to `at`.
            match v6::find(self.window.from(at), 0, index(to, at), is_ended) {
                Found::At(found) => {
                    let found = at.saturating_add(found as u64);
                    self.explored.bytes = self.explored.bytes.max(found);
                    return Ok(Some(found));
                }
                Found::Need { at: place, bytes } => {
                    at = at.saturating_add(place as u64);
                    self.explored.bytes = self.explored.bytes.max(at);
                    is_ended =
                        !self.window.reaches(at.saturating_add(bytes as u64), Expects::More)?;
                }
                Found::Nothing => break,
            }
        }
        self.explored.bytes = self.explored.bytes.max(to.saturating_add(1));
        Ok(None)
    }

    /// Returns the position of consecutive blocks within the rest of a block with a broken row at
    /// `from`. If there are any, the block's size is wrong, although another block seems to
    /// follow it.
    pub(crate) fn block_within(&mut self, frame: &Frame, from: u64) -> Result<Option<u64>, Need> {
        let end = frame.body_end();
        let begins_here = self.has_chain(from, |input, is_ended| v6::chain(input, 2, is_ended))?;
        let found = if begins_here { Some(from) } else { self.chain_in(from, end)? };
        let is_followed = self.is_followed(end)?;
        let Some(position) = found.filter(|position| *position < end) else { return Ok(None) };
        // Broken bytes may look like blocks, but real blocks lead to the end of the size.
        if (is_followed || self.is_last(end)) && !self.covers_blocks(position, end) {
            return Ok(None);
        }
        // Reading goes back a limited number of bytes over all calls, so that the work stays
        // linear.
        if matches!(frame.kind, BlockKind::Stack | BlockKind::LabelList) {
            let left = self.explored.reread.saturating_add(end.saturating_sub(position));
            if left > end {
                return Ok(None);
            }
            self.explored.reread = left;
        }
        Ok(Some(position))
    }

    /// Returns the kind of the bytes from `at` to `to`, after an end mark that extends from `mark`
    /// to `from`.
    pub(crate) fn after_mark(
        &mut self,
        mark: u64,
        from: u64,
        at: u64,
        to: u64,
    ) -> Result<AfterMark, Need> {
        if self.window.from(at).is_empty() {
            // The input ends with the mark. The bytes before it have been read.
            return Ok(AfterMark::Nothing);
        }
        let found = self.chain_in(if at == from { self.earliest_start(mark) } else { at }, to)?;
        if let Some(end) = found.filter(|end| *end > from)
            && self.window.start <= from
        {
            // Zeros may have replaced the block's header.
            let len = u32::try_from(end.saturating_sub(from)).unwrap_or(u32::MAX);
            let body = Span { start: from, len };
            let frame = Frame { kind: BlockKind::Unknown(0), start: mark, body };
            if let Some(block) = self.retype_if(frame, |_| true)? {
                return Ok(AfterMark::Rest(block));
            }
        }
        let ahead = index(found.unwrap_or(to).max(at), at);
        let window = self.window.from(at);
        if window.get(..ahead).unwrap_or(window).windows(MAGIC.len()).any(|bytes| bytes == MAGIC) {
            return Ok(AfterMark::Other);
        }
        Ok(found.map_or(AfterMark::Nothing, AfterMark::Block))
    }

    /// Returns whether the input ends at or soon after a block that ends at `end`.
    fn is_last(&self, end: u64) -> bool {
        end.saturating_add(SHOWN as u64) > self.window.end()
    }

    /// Returns whether consecutive blocks lead from `from` to exactly `to`.
    fn covers_blocks(&mut self, from: u64, to: u64) -> bool {
        if to.saturating_sub(from) < MIN_COVERED_BYTES {
            return false;
        }
        // Over all calls, no more blocks are walked than there are bytes.
        let max_blocks = to.saturating_sub(self.explored.blocks);
        let led = v6::leads_to(self.window.from(from), index(to, from), max_blocks);
        self.explored.blocks = self.explored.blocks.saturating_add(led.count);
        led.are_blocks()
    }

    /// Returns whether consecutive blocks lead from `from` to the input's end or its end mark.
    fn leads_to_end(&mut self, from: u64) -> bool {
        let end = self.window.end();
        let mark = end.saturating_sub(v6::HEADER as u64);
        // Zeros at the end may be part of a block.
        self.covers_blocks(from, end)
            || (self.window.from(mark) == [0; v6::HEADER] && self.covers_blocks(from, mark))
    }
}

/// Decides that a block ends at `end`, where another block begins.
fn resize(frame: Frame, end: u64, loses_blocks: bool) -> Verdict {
    let mut block = frame;
    block.body.len = u32::try_from(end.saturating_sub(frame.body.start)).unwrap_or(frame.body.len);
    Verdict::Resize { block, loses_blocks, next: None }
}
