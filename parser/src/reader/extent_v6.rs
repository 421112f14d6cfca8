//! Where a block of version 6 ends whose size cannot be right (FORMAT.md 13.3).
//!
//! There are no marks: a size is believed when another block seems to begin behind what it covers, when the
//! input ends there, or when the block's rows end there. The first is looked at first, and costs nothing;
//! but a stream that is still written has nothing behind a block for a while, and that is not waited for.

use super::Reader;
use super::extent::{GROWN_BYTES, size_fault};
use super::looked_through::Walked;
use super::phase::{Phase, body_of};
use super::rows::Rows;
use crate::block::signs::{MOST_OTHER_BYTES, SIGNS, begins_as};
use crate::damage::Class;
use crate::error::Error;
use crate::format::Framed;
use crate::format::v6::{self, Chain, Found, SHOWN};
use crate::frame::{BlockKind, Frame};
use crate::source::{Source, index};

/// How many bytes before the place where a block is expected one may begin: a header, and that of an event block.
pub(super) const LOOK_BACK: u64 = 24;

/// So many blocks are passed over to find one that begins as it should.
const MOST_BETWEEN: u32 = 16;

impl<S: Source> Reader<S> {
    /// The block with the extent that fits what is behind it and in it. `None`: there is no block, and
    /// reading goes on elsewhere. Where nothing fits, the frame is as it was.
    pub(super) fn settled_v6(&mut self, frame: Frame) -> Result<Option<Frame>, Error> {
        if matches!(frame.kind, BlockKind::Unknown(_)) {
            return self.settled_unknown(frame);
        }
        if self.passes_over(&frame) {
            // Its content would tell, and is not asked for.
            self.source.release(frame.body_end().saturating_sub(LOOK_BACK).max(frame.start));
            self.state.is_irregular |= !self.is_followed_v6(frame.body_end())?;
            return Ok(Some(frame));
        }
        let is_whole = self.source.fill(frame.body_end())?;
        if is_whole && v6::leads_on(self.window_from(frame.body_end()), false) == Chain::Yes {
            return Ok(Some(frame));
        }
        self.doubted_v6(frame, is_whole)
    }

    /// A block of an unknown kind is passed over. But what damage makes of a block's header mostly looks like
    /// one, so the beginning of what it covers is searched for other blocks.
    fn settled_unknown(&mut self, frame: Frame) -> Result<Option<Frame>, Error> {
        if self.is_no_block(frame)? { Ok(None) } else { Ok(Some(frame)) }
    }

    /// Whether what looks like a block that nothing is known of is none. `true`: reading goes on elsewhere.
    pub(super) fn is_no_block(&mut self, frame: Frame) -> Result<bool, Error> {
        let to = frame.body_end().min(frame.body.start.saturating_add(GROWN_BYTES));
        match self.chain_in(self.least_start(frame.start), to)? {
            Some(found) if found < frame.body_end() => {
                self.pass_over(frame, found);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// From where on another block may begin, if the one at hand is none: the last row of the block before
    /// may have been taken to reach into its header.
    pub(super) fn least_start(&self, start: u64) -> u64 {
        let content = self.last_block.map_or(0, |block| block.body.start);
        start.saturating_sub(LOOK_BACK).max(content)
    }

    #[cold]
    fn doubted_v6(&mut self, frame: Frame, is_whole: bool) -> Result<Option<Frame>, Error> {
        let (start, end) = (frame.body.start, frame.body_end());
        if is_whole && self.seems_whole(frame) {
            return Ok(Some(frame));
        }
        // That the input ends where the block does may be chance, as its rows do not.
        if is_whole && self.is_followed_v6(end)? && !self.window_from(end).is_empty() {
            return Ok(Some(frame));
        }
        let reach = end.max(start.saturating_add(GROWN_BYTES));
        self.ask_behind(end, reach.saturating_add(SHOWN as u64))?;
        let content = body_of(&self.source, &frame);
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
            return Ok(Some(self.resized(frame, found)));
        }
        match found {
            Some(found) if has_signs && found <= end => {
                // Bytes of the block are missing, or its rows are broken too.
                self.state.blocks_were_lost = true;
                Ok(Some(self.resized(frame, found)))
            }
            // Without a session nothing has a meaning, so the first block is never passed over.
            Some(found) if !has_signs && self.state.trace().is_some() => {
                self.pass_over(frame, found);
                Ok(None)
            }
            _ => Ok(Some(frame)),
        }
    }

    /// Whether another block begins at the position, or the input ends there, if need be behind an end mark.
    /// Blocks that nothing is known of, or whose content is broken too, may stand between.
    pub(super) fn is_followed_v6(&mut self, from: u64) -> Result<bool, Error> {
        if let Some((_, is_followed)) = self.looked_through.followed.filter(|(asked, _)| *asked == from) {
            return Ok(is_followed);
        }
        let is_followed = self.leads_on_v6(from)?;
        self.looked_through.followed = Some((from, is_followed));
        Ok(is_followed)
    }

    fn leads_on_v6(&mut self, from: u64) -> Result<bool, Error> {
        // Asked of one block after the other, it goes on where it was.
        let walked = self.looked_through.walked.filter(|walked| walked.from == from);
        let Walked { mut at, mut passed, .. } = walked.unwrap_or(Walked { from, at: from, passed: 0 });
        let mut is_followed = false;
        while passed < MOST_BETWEEN {
            self.source.fill(at.saturating_add(v6::HEADER as u64))?;
            let is_shown = self.ask_behind(at, at.saturating_add(SHOWN as u64))?;
            let behind = self.window_from(at);
            let is_end = at == self.source_end() || behind == [0; 4];
            is_followed = (!is_shown && is_end) || self.is_block(at)?;
            match v6::frame(self.window_from(at), at) {
                Framed::Block(next)
                    if !is_followed && next.body_end() <= from.saturating_add(GROWN_BYTES) =>
                {
                    (at, passed) = (next.body_end(), passed.saturating_add(1));
                }
                _ => break,
            }
        }
        self.looked_through.walked = match v6::frame(self.window_from(from), from) {
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
        frame.kind == BlockKind::Trace && self.state.trace().is_some()
    }

    /// The number of the block's rows, if the last of them ends where the block does, and up to where they were passed
    /// over. `is_known`: only rows whose ids stand for something.
    pub(super) fn rows_to_end(&self, frame: Frame, is_known: bool) -> (Option<u64>, u64) {
        let (window, start, end) = (self.window_to(frame.body_end()), self.source.start(), frame.body_end());
        let Some(mut rows) = Rows::of(frame, window, start, end, true) else {
            return (None, frame.body.start);
        };
        let mut count = 0u64;
        while rows.at() < end {
            // What is no row may look like one, but hardly with ids that are known.
            if !rows.step(window, start)
                || is_known && rows.header().is_some_and(|header| self.state.has_unknown_id(header))
            {
                return (None, rows.passed());
            }
            count = count.saturating_add(1);
        }
        ((rows.at() == end && rows.are_all()).then_some(count), rows.passed())
    }

    /// The window's bytes up to a position.
    fn window_to(&self, end: u64) -> &[u8] {
        let window = self.source.bytes();
        window.get(..index(end, self.source.start())).unwrap_or(window)
    }

    /// Where other blocks follow the rows of this one, whatever its size says.
    fn end_by_rows(&mut self, frame: Frame, reach: u64) -> Result<Option<u64>, Error> {
        let (begin, end) = (frame.body.start, reach.min(self.source_end()));
        let rows = match self.looked_through.waiting.take().filter(|(of, _)| *of == begin) {
            Some((_, rows)) => Some(rows),
            None if begin < self.looked_through.ends || self.is_second_trace(frame) => None,
            None => Rows::of(frame, self.source.bytes(), self.source.start(), end, false),
        };
        let Some(mut rows) = rows else { return Ok(None) };
        let mut found = None;
        while rows.at() <= end {
            if v6::begins(self.window_from(rows.at())) {
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
            if !rows.step(self.window_to(end), self.source.start()) {
                break;
            }
        }
        self.looked_through.ends = rows.passed();
        Ok(found)
    }

    /// Whether a block surely begins at a position.
    fn is_block(&mut self, position: u64) -> Result<bool, Error> {
        let mut is_ended = false;
        loop {
            match v6::leads_on(self.window_from(position), is_ended) {
                Chain::Yes => return Ok(true),
                Chain::No => return Ok(false),
                Chain::Need(bytes) => is_ended = !self.ask(position.saturating_add(bytes as u64))?,
            }
        }
    }

    /// Whether blocks follow each other from a place on where one may be due.
    pub(super) fn is_chain(&mut self, position: u64) -> Result<bool, Error> {
        let mut is_ended = false;
        loop {
            match v6::chain(self.window_from(position), 2, is_ended) {
                Chain::Yes => return Ok(true),
                Chain::No => return Ok(false),
                Chain::Need(bytes) => is_ended = !self.ask(position.saturating_add(bytes as u64))?,
            }
        }
    }

    /// Whether three blocks begin one behind the other, the first at a position.
    pub(super) fn are_three(&mut self, position: u64) -> Result<bool, Error> {
        loop {
            match v6::chain(self.window_from(position), 3, false) {
                Chain::Yes => return Ok(true),
                Chain::Need(bytes) if self.ask(position.saturating_add(bytes as u64))? => {}
                _ => return Ok(false),
            }
        }
    }

    /// The first place from `from` up to `to` from which on blocks follow each other.
    pub(super) fn chain_in(&mut self, from: u64, to: u64) -> Result<Option<u64>, Error> {
        let mut at = from.max(self.looked_through.bytes);
        let mut is_ended = !self.ask_behind(to, to.saturating_add(SHOWN as u64))?;
        while at <= to {
            // Positions in the window count from here.
            match v6::find(self.window_from(at), 0, index(to, at), is_ended) {
                Found::At(found) => {
                    let found = at.saturating_add(found as u64);
                    self.looked_through.bytes = self.looked_through.bytes.max(found);
                    return Ok(Some(found));
                }
                Found::Need { at: place, bytes } => {
                    at = at.saturating_add(place as u64);
                    self.looked_through.bytes = self.looked_through.bytes.max(at);
                    is_ended = !self.ask(at.saturating_add(bytes as u64))?;
                }
                Found::Nothing => break,
            }
        }
        self.looked_through.bytes = self.looked_through.bytes.max(to.saturating_add(1));
        Ok(None)
    }

    /// The block up to where another begins.
    pub(super) fn resized(&mut self, frame: Frame, end: u64) -> Frame {
        let mut resized = frame;
        resized.body.len = u32::try_from(end.saturating_sub(frame.body.start)).unwrap_or(frame.body.len);
        let (at, fault) = (frame.start, size_fault(&frame));
        self.state.damage.add_framing_lost(resized, at, end, 0, "block size", fault);
        resized
    }

    /// What was taken for a block is none: another begins at `position`.
    fn pass_over(&mut self, frame: Frame, position: u64) {
        self.take_back(position);
        let (at, lost) = (frame.start, position.saturating_sub(frame.start));
        let fault = size_fault(&frame);
        self.state.damage.add_outside(Class::FramingLost, at, lost, "block header", fault);
        self.state.blocks_were_lost = true;
        self.position = position;
        self.phase = Phase::Frame;
    }

    /// Another block begins at `position`, perhaps in what was taken for the last rows of the one before, which
    /// ends there. Of what it was told to cost only what lies before is lost.
    pub(super) fn take_back(&mut self, position: u64) {
        let Some(last) = self.last_block.as_mut().filter(|last| position < last.body_end()) else { return };
        self.state.statistics.take_bytes(last.kind, last.body_end().saturating_sub(position));
        self.state.damage.shorten_losses(last.start, position);
        self.state.damage.spare(self.given_to);
        // Whoever takes back more takes it from what is left.
        last.body.len = u32::try_from(position.saturating_sub(last.body.start)).unwrap_or(last.body.len);
    }

    /// A row of the block is broken from `from` on. If other blocks follow each other in what looks like the
    /// block's rest, its size is what is wrong, though it happens to fit. `true`: reading goes on there.
    pub(super) fn leaves_for_chain(&mut self, frame: &Frame, from: u64) -> Result<bool, Error> {
        let end = frame.body_end();
        let begins_here = self.is_chain(from)?;
        let found = if begins_here { Some(from) } else { self.chain_in(from, end)? };
        let is_followed = self.is_followed_v6(end)?;
        self.state.broken_at = None;
        let Some(position) = found.filter(|position| *position < end) else { return Ok(false) };
        // What is broken may look like blocks; those that the size covers lead to its end.
        if (is_followed || self.is_last(end)) && !self.covers_blocks(position, end) {
            return Ok(false);
        }
        // Of these kinds more was read than what is in front of the other block, and perhaps of it as well. So
        // reading goes back over no more bytes than there are.
        if matches!(frame.kind, BlockKind::Stack | BlockKind::LabelList) {
            let left = self.looked_through.left.saturating_add(end.saturating_sub(position));
            if left > end {
                return Ok(false);
            }
            self.looked_through.left = left;
        }
        self.leave_at(frame, position);
        Ok(true)
    }
}
