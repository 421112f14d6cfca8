//! Version 6: decides where a block with an incorrect size ends (FORMAT.md 13.3).
//!
//! There are no marks. A size is trusted if another block seems to begin after the bytes
//! that it covers, if the input ends there, or if the block's rows end there. The first
//! test comes first and costs nothing. But in a stream that is still being written
//! nothing follows a block for a while, and that is not waited for.
//!
//! Payloads may look like blocks, so a block within another one counts only if it leads
//! to the end of the outer one.

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

/// How many bytes before its expected place a block may begin: a block header and the
/// header of an event block.
pub(crate) const LOOK_BACK: u64 = 24;

/// How many blocks may be walked to find one that begins as it should.
const MOST_BETWEEN: u32 = 16;

/// Fewer bytes than this at the end of a block's content are considered a payload, even
/// if they look like a block. Real blocks are longer.
const LEAST_COVERED: u64 = 24;

/// Decisions about blocks.
pub(crate) struct Blocks<'w> {
    pub(crate) window: Window<'w>,
    pub(crate) looked_through: &'w mut LookedThrough,
    /// Whether an id of an event is undefined.
    pub(crate) is_unknown: &'w dyn Fn(&BlobHeader) -> bool,
    /// Whether the first block, which describes the session, has been read.
    pub(crate) has_session: bool,
    /// Where the content of the previous block begins; 0 if there is none.
    pub(crate) last_content: u64,
}

impl fmt::Debug for Blocks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks").field("window", &self.window).finish_non_exhaustive()
    }
}

/// What follows an end mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    /// A block of the stream: the mark is not an end mark.
    Block(u64),
    /// Bytes that do not belong to the stream.
    Other,
    Nothing,
}

/// Other blocks that seem to lie within a block, after a row that may not be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Within {
    /// Where they begin.
    pub(crate) from: u64,
    /// Whether the block's size is wrong, so that it ends there.
    pub(crate) ends_block: bool,
}

impl Blocks<'_> {
    /// Where a block with the stated end [`Frame::body_end`] really ends. If nothing
    /// fits, the stated end is trusted.
    pub(crate) fn resync(&mut self, frame: Frame) -> Result<Verdict, Need> {
        // A block of an unknown kind is skipped. But most damaged block headers look like
        // one, so search the beginning of what it covers for other blocks.
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

    /// Where a chain of blocks begins within something that looks like a block of unknown
    /// kind, which then is not a block.
    pub(crate) fn blocks_instead(&mut self, frame: Frame) -> Result<Option<u64>, Need> {
        let to = frame.body_end().min(frame.body.start.saturating_add(GROWN_BYTES));
        let found = self.chain_in(self.least_start(frame.start), to)?;
        Ok(found.filter(|found| *found < frame.body_end()))
    }

    /// The earliest position at which another block may begin, if the current one is not
    /// a block: the last row of the previous block may have been taken to extend into its
    /// header.
    pub(crate) fn least_start(&self, start: u64) -> u64 {
        start.saturating_sub(LOOK_BACK).max(self.last_content)
    }

    #[cold]
    fn doubt(&mut self, frame: Frame, is_whole: bool) -> Result<Verdict, Need> {
        let (start, end) = (frame.body.start, frame.body_end());
        if is_whole && self.seems_whole(frame) {
            return Ok(Verdict::Accept);
        }
        // That the input ends together with the block may be a coincidence, since its
        // rows do not.
        if is_whole && self.is_followed(end)? && !self.window.from(end).is_empty() {
            return Ok(Verdict::Accept);
        }
        let reach = end.max(start.saturating_add(GROWN_BYTES));
        self.window.reaches(reach.saturating_add(SHOWN as u64), Expects::Behind(end))?;
        let content = self.window.content(&frame);
        // Whatever its length is: that may be what is wrong.
        let len = frame.body.len.min(MOST_OTHER_BYTES);
        let has_signs = begins_as(frame.kind, len, content.get(..SIGNS).unwrap_or(content));
        let from = if has_signs { start } else { self.least_start(frame.start) };
        // Streams of killed processes end anywhere. Then the only evidence against the
        // size is a chain of blocks that leads to the input's end.
        let is_last = self.is_last(end);
        let mut found = self.chain_in(from, reach)?;
        let mut tries = if is_last { MOST_BETWEEN } else { 0 };
        while let Some(place) = found.filter(|place| is_last && !self.leads_to_end(*place)) {
            tries = tries.saturating_sub(1);
            found = if tries == 0 { None } else { self.chain_in(place.saturating_add(1), reach)? };
        }
        Ok(match found {
            // The size is too large, bytes of the block are missing, or the size is too
            // small.
            Some(found) if has_signs => resized(frame, found, found <= end),
            // Without a session nothing has a meaning, so the first block is never
            // skipped.
            Some(to) if self.has_session => Verdict::Skip { to },
            _ => Verdict::Accept,
        })
    }

    /// Whether another block begins at the position, or the input ends there, possibly
    /// after an end mark. Blocks of unknown kinds or with broken content may come in
    /// between.
    pub(crate) fn is_followed(&mut self, from: u64) -> Result<bool, Need> {
        if let Some((_, is_followed)) =
            self.looked_through.followed.filter(|(asked, _)| *asked == from)
        {
            return Ok(is_followed);
        }
        let is_followed = self.leads_on(from)?;
        self.looked_through.followed = Some((from, is_followed));
        Ok(is_followed)
    }

    fn leads_on(&mut self, from: u64) -> Result<bool, Need> {
        // If asked about one block after the other, continue where the last search ended.
        let walked = self.looked_through.walked.filter(|walked| walked.from == from);
        let Walked { mut at, mut passed, .. } =
            walked.unwrap_or(Walked { from, at: from, passed: 0 });
        let mut is_followed = false;
        while passed < MOST_BETWEEN {
            self.window.reaches(at.saturating_add(v6::HEADER as u64), Expects::Content)?;
            let is_shown =
                self.window.reaches(at.saturating_add(SHOWN as u64), Expects::Behind(at))?;
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

    /// Whether a block's rows end where it does, and all ids in them are defined.
    fn seems_whole(&mut self, frame: Frame) -> bool {
        if frame.body.start < self.looked_through.sizes || self.is_second_trace(frame) {
            return false;
        }
        let (count, passed) = self.rows_to_end(frame, true);
        self.looked_through.sizes = passed;
        count.is_some()
    }

    /// Whether it is a Trace block, which would be the second and not be read. It may
    /// have many pairs, so they are skipped at once.
    fn is_second_trace(&self, frame: Frame) -> bool {
        frame.kind == BlockKind::Trace && self.has_session
    }

    /// The number of the block's rows if the last of them ends where the block does, and
    /// up to where they were walked. `is_known`: accept only rows with defined ids.
    pub(crate) fn rows_to_end(&self, frame: Frame, is_known: bool) -> (Option<u64>, u64) {
        let (window, start, end) =
            (self.window.to(frame.body_end()), self.window.start, frame.body_end());
        let Some(mut rows) = Rows::of(frame, window, start, end) else {
            return (None, frame.body.start);
        };
        let mut count = 0u64;
        while rows.at() < end {
            // Other bytes may look like a row, but hardly ever with defined ids.
            if !rows.step(window, start)
                || is_known && rows.header().is_some_and(|header| (self.is_unknown)(header))
            {
                return (None, rows.passed());
            }
            count = count.saturating_add(1);
        }
        ((rows.at() == end && rows.are_all()).then_some(count), rows.passed())
    }

    /// Whether a block certainly begins at a position.
    fn is_block(&mut self, position: u64) -> Result<bool, Need> {
        let mut is_ended = false;
        loop {
            match v6::leads_on(self.window.from(position), is_ended) {
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

    /// Whether a chain of blocks begins at a position where one is expected.
    pub(crate) fn is_chain(&mut self, position: u64) -> Result<bool, Need> {
        let mut is_ended = false;
        loop {
            match v6::chain(self.window.from(position), 2, is_ended) {
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

    /// Whether three consecutive blocks begin at a position.
    pub(crate) fn are_three(&mut self, position: u64) -> Result<bool, Need> {
        loop {
            match v6::chain(self.window.from(position), 3, false) {
                Chain::Yes => return Ok(true),
                Chain::Need(bytes)
                    if self
                        .window
                        .reaches(position.saturating_add(bytes as u64), Expects::More)? => {}
                _ => return Ok(false),
            }
        }
    }

    /// The first position in `from..to` at which a chain of blocks begins.
    pub(crate) fn chain_in(&mut self, from: u64, to: u64) -> Result<Option<u64>, Need> {
        let mut at = from.max(self.looked_through.bytes);
        let mut is_ended =
            !self.window.reaches(to.saturating_add(SHOWN as u64), Expects::Behind(to))?;
        while at <= to {
            // Positions in the window are relative to here.
            match v6::find(self.window.from(at), 0, index(to, at), is_ended) {
                Found::At(found) => {
                    let found = at.saturating_add(found as u64);
                    self.looked_through.bytes = self.looked_through.bytes.max(found);
                    return Ok(Some(found));
                }
                Found::Need { at: place, bytes } => {
                    at = at.saturating_add(place as u64);
                    self.looked_through.bytes = self.looked_through.bytes.max(at);
                    is_ended =
                        !self.window.reaches(at.saturating_add(bytes as u64), Expects::More)?;
                }
                Found::Nothing => break,
            }
        }
        self.looked_through.bytes = self.looked_through.bytes.max(to.saturating_add(1));
        Ok(None)
    }

    /// A row of the block is broken from `from` on. If a chain of blocks begins in what
    /// looks like the rest of the block, the block's size is wrong even though it happens
    /// to fit, and reading continues at the chain.
    pub(crate) fn block_within(&mut self, frame: &Frame, from: u64) -> Result<Option<u64>, Need> {
        let end = frame.body_end();
        let begins_here = self.is_chain(from)?;
        let found = if begins_here { Some(from) } else { self.chain_in(from, end)? };
        let is_followed = self.is_followed(end)?;
        let Some(position) = found.filter(|position| *position < end) else { return Ok(None) };
        // The broken bytes may look like blocks; blocks that the size really covers lead
        // to its end.
        if (is_followed || self.is_last(end)) && !self.covers_blocks(position, end) {
            return Ok(None);
        }
        // Blocks of these kinds were read up to their end, possibly including parts of
        // the other block. Limit how far reading goes back, so that the total stays
        // linear.
        if matches!(frame.kind, BlockKind::Stack | BlockKind::LabelList) {
            let left = self.looked_through.left.saturating_add(end.saturating_sub(position));
            if left > end {
                return Ok(None);
            }
            self.looked_through.left = left;
        }
        Ok(Some(position))
    }

    /// Decides about a blob of a block that ends at `end`. It may not be a blob because
    /// the block's size is too large: then a chain of blocks begins at it or somewhere
    /// after it. If there is none, it is an event. `is_header`: it looks like a block's
    /// header, so only a block at this very position counts.
    ///
    /// If another block begins after the current one, or the input ends there, the size
    /// is wrong only if it covers whole blocks that lead to its end. Bytes in a payload
    /// that look like blocks hardly ever do.
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

    /// What is between `at` and `to`, after an end mark that extends from `mark` to
    /// `from`.
    pub(crate) fn behind_mark(
        &mut self,
        mark: u64,
        from: u64,
        at: u64,
        to: u64,
    ) -> Result<Behind, Need> {
        let is_bare = from.saturating_sub(mark) == v6::HEADER as u64;
        if is_bare && at == from && self.window.from(at).is_empty() {
            // The mark is at the end of the input, where it belongs. What precedes it has
            // been read, whatever it looks like.
            return Ok(Behind::Nothing);
        }
        // The previous block's last row may have been taken to extend into a block's
        // header.
        let found = self.chain_in(if at == from { self.least_start(mark) } else { at }, to)?;
        let ahead = index(found.unwrap_or(to).max(at), at);
        let window = self.window.from(at);
        if window.get(..ahead).unwrap_or(window).windows(MAGIC.len()).any(|bytes| bytes == MAGIC) {
            return Ok(Behind::Other);
        }
        Ok(match found {
            // A block directly after the mark is not part of the stream. But no current
            // writer gives the mark content, so the mark may be a block whose kind was
            // changed by damage.
            Some(position) if position == from && (is_bare || !self.are_three(position)?) => {
                Behind::Other
            }
            Some(position) => Behind::Block(position),
            None => Behind::Nothing,
        })
    }

    /// Whether the input, as far as it was requested, ends before it shows what follows a
    /// block that ends at `end`.
    pub(crate) fn is_last(&self, end: u64) -> bool {
        end.saturating_add(SHOWN as u64) > self.window.end()
    }

    /// Whether whole blocks follow each other from `from` to exactly `to`. If there are
    /// few, the rows of one of them must lead to its end, and it must be of a kind with
    /// enough recognisable features: blocks of threads, for example, easily occur by
    /// chance.
    pub(crate) fn covers_blocks(&mut self, from: u64, to: u64) -> bool {
        // Asked first about a doubtful row, and again when deciding whether to leave the
        // block.
        if self.looked_through.led != Some((from, to)) && self.leads_by_blocks(from, to) {
            self.looked_through.led = Some((from, to));
        }
        self.looked_through.led == Some((from, to))
    }

    fn leads_by_blocks(&mut self, from: u64, to: u64) -> bool {
        if to.saturating_sub(from) < LEAST_COVERED {
            return false;
        }
        // In total, no more blocks are walked than there are bytes.
        let most = to.saturating_sub(self.looked_through.blocks);
        let (count, leads_there) = v6::leads_to(self.window.from(from), index(to, from), most);
        self.looked_through.blocks = self.looked_through.blocks.saturating_add(count);
        if !leads_there || count > 2 {
            return leads_there;
        }
        let mut at = from;
        while at < to && at >= self.looked_through.covered {
            let Framed::Block(block) = v6::frame(self.window.from(at), at) else { return false };
            let kinds =
                [BlockKind::Event, BlockKind::Metadata, BlockKind::Stack, BlockKind::SequencePoint];
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

    /// The same up to the input's end, or up to its end mark.
    pub(crate) fn leads_to_end(&mut self, from: u64) -> bool {
        let end = self.window.end();
        let mark = end.saturating_sub(v6::HEADER as u64);
        // Zeros are common at a block's end, too.
        self.covers_blocks(from, end)
            || (self.window.from(mark) == [0; v6::HEADER] && self.covers_blocks(from, mark))
    }
}

/// The block, cut where another one begins.
fn resized(frame: Frame, end: u64, loses_blocks: bool) -> Verdict {
    let mut block = frame;
    block.body.len = u32::try_from(end.saturating_sub(frame.body.start)).unwrap_or(frame.body.len);
    Verdict::Resize { block, loses_blocks, next: None }
}
