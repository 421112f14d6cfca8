//! Version 6: where a block ends whose size cannot be right (FORMAT.md 13.3).
//!
//! There are no marks. A size is believed when another block seems to begin behind what it covers, when the
//! input ends there, or when the block's rows end there. The first is looked at first, and costs nothing;
//! but a stream that is still written has nothing behind a block for a while, and that is not waited for.
//!
//! Payloads may look like blocks, so a block within another one counts only if it leads to the end of that one.

use super::looked_through::{LookedThrough, Walked};
use super::rows::Rows;
use super::{Expects, GROWN_BYTES, Need, Verdict, Window};
use crate::blob::BlobHeader;
use crate::block::signs::{MOST_OTHER_BYTES, SIGNS, begins_as};
use crate::format::v6::{self, Chain, Found, SHOWN};
use crate::format::{Framed, MAGIC};
use crate::frame::{BlockKind, Frame};
use crate::source::index;
use std::fmt;

/// How many bytes before the place where a block is expected one may begin: a header, and that of an event block.
pub(crate) const LOOK_BACK: u64 = 24;

/// So many blocks are passed over to find one that begins as it should.
const MOST_BETWEEN: u32 = 16;

/// Fewer bytes at the end of a block's content are taken for a payload, even if they look like a block. Blocks that
/// writers make are longer.
const LEAST_COVERED: u64 = 24;

/// Decisions about blocks.
pub(crate) struct Blocks<'w> {
    pub(crate) window: Window<'w>,
    pub(crate) looked_through: &'w mut LookedThrough,
    /// Whether some id of an event stands for nothing.
    pub(crate) is_unknown: &'w dyn Fn(&BlobHeader) -> bool,
    /// Whether the first block, which describes the session, was read.
    pub(crate) has_session: bool,
    /// Where the content of the block before begins; 0 if there is none.
    pub(crate) last_content: u64,
}

impl fmt::Debug for Blocks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks").field("window", &self.window).finish_non_exhaustive()
    }
}

/// What is behind an end mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    /// A block of the stream: the mark was none.
    Block(u64),
    /// Something that does not belong to the stream.
    Other,
    Nothing,
}

/// Other blocks that seem to lie within a block, behind a row that may be none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Within {
    /// Where they begin.
    pub(crate) from: u64,
    /// Whether the block's size is wrong, so that it ends there.
    pub(crate) ends_block: bool,
}

impl Blocks<'_> {
    /// Where a block ends that says to end at [`Frame::body_end`]. Where nothing fits, it is believed.
    pub(crate) fn resync(&mut self, frame: Frame) -> Result<Verdict, Need> {
        // A block of an unknown kind is passed over. But what damage makes of a block's header mostly looks like
        // one, so the beginning of what it covers is searched for other blocks.
        if matches!(frame.kind, BlockKind::Unknown(_)) {
            let found = self.blocks_instead(frame)?;
            return Ok(found.map_or(Verdict::Accept, |to| Verdict::Skip { to }));
        }
        let is_whole = self.window.reaches(frame.body_end(), Expects::Content)?;
        if is_whole && v6::leads_on(self.window.from(frame.body_end()), false) == Chain::Yes {
            return Ok(Verdict::Accept);
        }
        self.doubt(frame, is_whole)
    }

    /// Where blocks follow each other within what looks like a block that nothing is known of. Then it is none.
    pub(crate) fn blocks_instead(&mut self, frame: Frame) -> Result<Option<u64>, Need> {
        let to = frame.body_end().min(frame.body.start.saturating_add(GROWN_BYTES));
        let found = self.chain_in(self.least_start(frame.start), to)?;
        Ok(found.filter(|found| *found < frame.body_end()))
    }

    /// From where on another block may begin, if the one at hand is none: the last row of the block before
    /// may have been taken to reach into its header.
    pub(crate) fn least_start(&self, start: u64) -> u64 {
        start.saturating_sub(LOOK_BACK).max(self.last_content)
    }

    #[cold]
    fn doubt(&mut self, frame: Frame, is_whole: bool) -> Result<Verdict, Need> {
        let (start, end) = (frame.body.start, frame.body_end());
        if is_whole && self.seems_whole(frame) {
            return Ok(Verdict::Accept);
        }
        // That the input ends where the block does may be chance, as its rows do not.
        if is_whole && self.is_followed(end)? && !self.window.from(end).is_empty() {
            return Ok(Verdict::Accept);
        }
        let reach = end.max(start.saturating_add(GROWN_BYTES));
        self.window.reaches(reach.saturating_add(SHOWN as u64), Expects::Behind(end))?;
        let content = self.window.content(&frame);
        // Whatever its length: that may be what is wrong.
        let len = frame.body.len.min(MOST_OTHER_BYTES);
        let has_signs = begins_as(frame.kind, len, content.get(..SIGNS).unwrap_or(content));
        let from = if has_signs { start } else { self.least_start(frame.start) };
        // Streams of killed processes end anywhere. Then nothing speaks against the size but blocks that lead to
        // where the input ends.
        let is_last = self.is_last(end);
        let mut found = self.chain_in(from, reach)?;
        let mut tries = if is_last { MOST_BETWEEN } else { 0 };
        while let Some(place) = found.filter(|place| is_last && !self.leads_to_end(*place)) {
            tries = tries.saturating_sub(1);
            found = if tries == 0 { None } else { self.chain_in(place.saturating_add(1), reach)? };
        }
        // Where bytes of the block are missing, its rows may lead past the next block; where none are, they
        // lead to blocks too few to be found otherwise.
        let walk_to = found.unwrap_or(reach);
        if has_signs
            && !is_last
            && let Some(found) = self.end_by_rows(frame, walk_to)?
        {
            return Ok(resized(frame, found, false));
        }
        match found {
            Some(found) if has_signs && found <= end => {
                // Bytes of the block are missing, or its rows are broken too.
                Ok(resized(frame, found, true))
            }
            // Without a session nothing has a meaning, so the first block is never passed over.
            Some(to) if !has_signs && self.has_session => Ok(Verdict::Skip { to }),
            _ => Ok(Verdict::Accept),
        }
    }

    /// Whether another block begins at the position, or the input ends there, if need be behind an end mark.
    /// Blocks that nothing is known of, or whose content is broken too, may stand between.
    pub(crate) fn is_followed(&mut self, from: u64) -> Result<bool, Need> {
        if let Some((_, is_followed)) = self.looked_through.followed.filter(|(asked, _)| *asked == from) {
            return Ok(is_followed);
        }
        let is_followed = self.leads_on(from)?;
        self.looked_through.followed = Some((from, is_followed));
        Ok(is_followed)
    }

    fn leads_on(&mut self, from: u64) -> Result<bool, Need> {
        // Asked of one block after the other, it goes on where it was.
        let walked = self.looked_through.walked.filter(|walked| walked.from == from);
        let Walked { mut at, mut passed, .. } = walked.unwrap_or(Walked { from, at: from, passed: 0 });
        let mut is_followed = false;
        while passed < MOST_BETWEEN {
            self.window.reaches(at.saturating_add(v6::HEADER as u64), Expects::Content)?;
            let is_shown = self.window.reaches(at.saturating_add(SHOWN as u64), Expects::Behind(at))?;
            let behind = self.window.from(at);
            let is_end = at == self.window.end() || behind == [0; 4];
            is_followed = (!is_shown && is_end) || self.is_block(at)?;
            match v6::frame(self.window.from(at), at) {
                Framed::Block(next)
                    if !is_followed && next.body_end() <= from.saturating_add(GROWN_BYTES) =>
                {
                    (at, passed) = (next.body_end(), passed.saturating_add(1));
                }
                _ => break,
            }
        }
        self.looked_through.walked = match v6::frame(self.window.from(from), from) {
            Framed::Block(next) if passed > 0 => {
                Some(Walked { from: next.body_end(), at, passed: passed.saturating_sub(1) })
            }
            _ => None,
        };
        Ok(is_followed)
    }

    /// Whether a block's rows end where it does, and all ids in them are known.
    fn seems_whole(&mut self, frame: Frame) -> bool {
        if frame.body.start < self.looked_through.sizes || self.is_second_trace(frame) {
            return false;
        }
        let (count, passed) = self.rows_to_end(frame, true);
        self.looked_through.sizes = passed;
        count.is_some()
    }

    /// Whether it is a Trace block that nothing is read of. Its pairs are many, and are passed over at once.
    fn is_second_trace(&self, frame: Frame) -> bool {
        frame.kind == BlockKind::Trace && self.has_session
    }

    /// The number of the block's rows, if the last of them ends where the block does, and up to where they were passed
    /// over. `is_known`: only rows whose ids stand for something.
    pub(crate) fn rows_to_end(&self, frame: Frame, is_known: bool) -> (Option<u64>, u64) {
        let (window, start, end) = (self.window.to(frame.body_end()), self.window.start, frame.body_end());
        let Some(mut rows) = Rows::of(frame, window, start, end, true) else {
            return (None, frame.body.start);
        };
        let mut count = 0u64;
        while rows.at() < end {
            // What is no row may look like one, but hardly with ids that are known.
            if !rows.step(window, start)
                || is_known && rows.header().is_some_and(|header| (self.is_unknown)(header))
            {
                return (None, rows.passed());
            }
            count = count.saturating_add(1);
        }
        ((rows.at() == end && rows.are_all()).then_some(count), rows.passed())
    }

    /// Where other blocks follow the rows of this one, whatever its size says.
    fn end_by_rows(&mut self, frame: Frame, reach: u64) -> Result<Option<u64>, Need> {
        let (begin, end) = (frame.body.start, reach.min(self.window.end()));
        let rows = match self.looked_through.waiting.take().filter(|(of, _)| *of == begin) {
            Some((_, rows)) => Some(rows),
            None if begin < self.looked_through.ends || self.is_second_trace(frame) => None,
            None => Rows::of(frame, self.window.bytes, self.window.start, end, false),
        };
        let Some(mut rows) = rows else { return Ok(None) };
        let mut found = None;
        while rows.at() <= end {
            if v6::begins(self.window.from(rows.at())) {
                match self.is_chain(rows.at()) {
                    Ok(true) => {
                        found = Some(rows.at());
                        break;
                    }
                    Ok(false) => {}
                    Err(error) => {
                        self.looked_through.waiting = Some((begin, rows));
                        return Err(error);
                    }
                }
            }
            if !rows.step(self.window.to(end), self.window.start) {
                break;
            }
        }
        self.looked_through.ends = rows.passed();
        Ok(found)
    }

    /// Whether a block surely begins at a position.
    fn is_block(&mut self, position: u64) -> Result<bool, Need> {
        let mut is_ended = false;
        loop {
            match v6::leads_on(self.window.from(position), is_ended) {
                Chain::Yes => return Ok(true),
                Chain::No => return Ok(false),
                Chain::Need(bytes) => {
                    is_ended = !self.window.reaches(position.saturating_add(bytes as u64), Expects::More)?
                }
            }
        }
    }

    /// Whether blocks follow each other from a place on where one may be due.
    pub(crate) fn is_chain(&mut self, position: u64) -> Result<bool, Need> {
        let mut is_ended = false;
        loop {
            match v6::chain(self.window.from(position), 2, is_ended) {
                Chain::Yes => return Ok(true),
                Chain::No => return Ok(false),
                Chain::Need(bytes) => {
                    is_ended = !self.window.reaches(position.saturating_add(bytes as u64), Expects::More)?
                }
            }
        }
    }

    /// Whether three blocks begin one behind the other, the first at a position.
    pub(crate) fn are_three(&mut self, position: u64) -> Result<bool, Need> {
        loop {
            match v6::chain(self.window.from(position), 3, false) {
                Chain::Yes => return Ok(true),
                Chain::Need(bytes)
                    if self.window.reaches(position.saturating_add(bytes as u64), Expects::More)? => {}
                _ => return Ok(false),
            }
        }
    }

    /// The first place from `from` up to `to` from which on blocks follow each other.
    pub(crate) fn chain_in(&mut self, from: u64, to: u64) -> Result<Option<u64>, Need> {
        let mut at = from.max(self.looked_through.bytes);
        let mut is_ended = !self.window.reaches(to.saturating_add(SHOWN as u64), Expects::Behind(to))?;
        while at <= to {
            // Positions in the window count from here.
            match v6::find(self.window.from(at), 0, index(to, at), is_ended) {
                Found::At(found) => {
                    let found = at.saturating_add(found as u64);
                    self.looked_through.bytes = self.looked_through.bytes.max(found);
                    return Ok(Some(found));
                }
                Found::Need { at: place, bytes } => {
                    at = at.saturating_add(place as u64);
                    self.looked_through.bytes = self.looked_through.bytes.max(at);
                    is_ended = !self.window.reaches(at.saturating_add(bytes as u64), Expects::More)?;
                }
                Found::Nothing => break,
            }
        }
        self.looked_through.bytes = self.looked_through.bytes.max(to.saturating_add(1));
        Ok(None)
    }

    /// A row of the block is broken from `from` on. If other blocks follow each other in what looks like the
    /// block's rest, its size is what is wrong, though it happens to fit: reading goes on there.
    pub(crate) fn block_within(&mut self, frame: &Frame, from: u64) -> Result<Option<u64>, Need> {
        let end = frame.body_end();
        let begins_here = self.is_chain(from)?;
        let found = if begins_here { Some(from) } else { self.chain_in(from, end)? };
        let is_followed = self.is_followed(end)?;
        let Some(position) = found.filter(|position| *position < end) else { return Ok(None) };
        // What is broken may look like blocks; those that the size covers lead to its end.
        if (is_followed || self.is_last(end)) && !self.covers_blocks(position, end) {
            return Ok(None);
        }
        // Of these kinds more was read than what is in front of the other block, and perhaps of it as well. So
        // reading goes back over no more bytes than there are.
        if matches!(frame.kind, BlockKind::Stack | BlockKind::LabelList) {
            let left = self.looked_through.left.saturating_add(end.saturating_sub(position));
            if left > end {
                return Ok(None);
            }
            self.looked_through.left = left;
        }
        Ok(Some(position))
    }

    /// A blob of a block that ends at `end` may be none, because the block's size is too large: then other blocks follow
    /// each other from it on, or from somewhere behind it. If none do, it is an event. `is_header`: it looks like a
    /// block's header, so only a block right there counts.
    ///
    /// Where another block begins behind the one at hand, or the input ends, its size is wrong only if it covers whole
    /// blocks, which lead to its end. What looks like blocks in a payload hardly does.
    #[cold]
    pub(crate) fn blocks_from_blob(
        &mut self,
        blob: u64,
        end: u64,
        is_header: bool,
    ) -> Result<Option<Within>, Need> {
        let found = match self.is_chain(blob)? {
            true => Some(blob),
            false if is_header => None,
            false => self.chain_in(blob, end)?.filter(|found| *found < end),
        };
        let Some(from) = found else { return Ok(None) };
        let must_lead = self.is_followed(end)? || self.is_last(end);
        Ok(Some(Within { from, ends_block: !must_lead || self.covers_blocks(from, end) }))
    }

    /// What is between `at` and `to` behind an end mark that reaches from `mark` to `from`.
    pub(crate) fn behind_mark(&mut self, mark: u64, from: u64, at: u64, to: u64) -> Result<Behind, Need> {
        let is_bare = from.saturating_sub(mark) == v6::HEADER as u64;
        if is_bare && at == from && self.window.from(at).is_empty() {
            // The mark ends the input, as it should: what stands before it was read, whatever it looks like.
            return Ok(Behind::Nothing);
        }
        // The last row before may have been taken to reach into a block's header.
        let found = self.chain_in(if at == from { self.least_start(mark) } else { at }, to)?;
        let ahead = index(found.unwrap_or(to).max(at), at);
        let window = self.window.from(at);
        if window.get(..ahead).unwrap_or(window).windows(MAGIC.len()).any(|bytes| bytes == MAGIC) {
            return Ok(Behind::Other);
        }
        Ok(match found {
            // Right behind the mark a block is no part of the stream. But no writer gives the mark content yet;
            // it may be a block of which damage changed the kind.
            Some(position) if position == from && (is_bare || !self.are_three(position)?) => Behind::Other,
            Some(position) => Behind::Block(position),
            None => Behind::Nothing,
        })
    }

    /// Whether the input, as far as it was asked for, ends before it shows what is behind a block that ends at `end`.
    pub(crate) fn is_last(&self, end: u64) -> bool {
        end.saturating_add(SHOWN as u64) > self.window.end()
    }

    /// Whether whole blocks follow each other from `from` on and lead to `to`. Where they are few, the rows of one
    /// must lead to its end: one of a kind of which enough is known, for blocks of threads are soon made by chance.
    pub(crate) fn covers_blocks(&mut self, from: u64, to: u64) -> bool {
        // Asked of a row that is none, and again of what the block is left for.
        if self.looked_through.led != Some((from, to)) && self.leads_by_blocks(from, to) {
            self.looked_through.led = Some((from, to));
        }
        self.looked_through.led == Some((from, to))
    }

    fn leads_by_blocks(&mut self, from: u64, to: u64) -> bool {
        if to.saturating_sub(from) < LEAST_COVERED {
            return false;
        }
        // All in all no more blocks are passed over than there are bytes.
        let most = to.saturating_sub(self.looked_through.blocks);
        let (count, leads_there) = v6::leads_to(self.window.from(from), index(to, from), most);
        self.looked_through.blocks = self.looked_through.blocks.saturating_add(count);
        if !leads_there || count > 2 {
            return leads_there;
        }
        let mut at = from;
        while at < to && at >= self.looked_through.covered {
            let Framed::Block(block) = v6::frame(self.window.from(at), at) else { return false };
            let kinds = [BlockKind::Event, BlockKind::Metadata, BlockKind::Stack, BlockKind::SequencePoint];
            if kinds.contains(&block.kind) {
                let (rows, passed) = self.rows_to_end(block, false);
                self.looked_through.covered = passed;
                if rows.is_some_and(|rows| rows > 0) {
                    return true;
                }
            }
            at = block.body_end();
        }
        false
    }

    /// The same up to the input's end, or its end mark.
    pub(crate) fn leads_to_end(&mut self, from: u64) -> bool {
        let end = self.window.end();
        let mark = end.saturating_sub(v6::HEADER as u64);
        // Zeros are common at a block's end, too.
        self.covers_blocks(from, end)
            || (self.window.from(mark) == [0; v6::HEADER] && self.covers_blocks(from, mark))
    }
}

/// The block up to where another begins.
fn resized(frame: Frame, end: u64, loses_blocks: bool) -> Verdict {
    let mut block = frame;
    block.body.len = u32::try_from(end.saturating_sub(frame.body.start)).unwrap_or(frame.body.len);
    Verdict::Resize { block, loses_blocks, next: None }
}
