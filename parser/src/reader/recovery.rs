//! Carries out the decisions of [`resync`](crate::resync) about a damaged stream, and records
//! the damage.

use super::machine::Reader;
use super::phase::{Origin, Phase, STRIDE, Search, Step};
use super::scope::Scope;
use crate::blob::BlobHeader;
use crate::damage::Class;
use crate::error::{Error, Fault};
use crate::format::{fastserial, v6};
use crate::frame::{BlockKind, Frame};
use crate::resync::fastserial::{Objects, Searched, tail};
use crate::resync::v6::{Blocks, LOOK_BACK};
use crate::resync::{Expects, Need, RefusedBytes, Verdict, Window, size_fault};
use crate::source::Source;

impl<S: Source> Reader<S> {
    /// Requests the bytes that a decision needs from the source.
    fn provide(&mut self, need: Need, refused: &mut RefusedBytes) -> Result<(), Error> {
        let is_tail = matches!(self.phase, Phase::Tail(_));
        if need.expects != Expects::Content && is_tail {
            if !self.request(need.to)? {
                refused.from = refused.from.min(need.to);
            }
        } else if !self.is_worth_waiting_for(need) {
            if !self.source.fill_at_once(need.to)? {
                refused.unawaited.push(need.to);
            }
        } else if !self.source.fill(need.to)? {
            // The input ends here. Its remaining bytes are in the window.
            refused.from = self.source_end().saturating_add(1);
        }
        Ok(())
    }

    /// Returns whether the reader should wait for bytes. If the available bytes end like a
    /// complete stream, it should not, because a pipe that is kept open would block it.
    fn is_worth_waiting_for(&self, need: Need) -> bool {
        match need.expects {
            Expects::Content => true,
            // In version 6, the end mark is four zeros.
            Expects::More => {
                let is_next = need.to == self.source_end().saturating_add(1);
                !(is_next && self.state.is_v6() && self.source.bytes().ends_with(&[0; v6::HEADER]))
            }
            Expects::After(end) => match self.state.is_v6() {
                true => self.window_from(end) != [0; v6::HEADER],
                false => !fastserial::is_end(self.window_from(end)),
            },
        }
    }

    /// Makes a decision about objects, after providing the bytes that it needs.
    pub(super) fn decide<T>(
        &mut self,
        decide: impl Fn(&Objects<'_>) -> Result<T, Need>,
    ) -> Result<T, Error> {
        let mut refused = RefusedBytes::NOTHING;
        loop {
            let objects = Objects {
                window: Window::new(self.source.bytes(), self.source.start(), &refused),
                version: self.state.version(),
                shift: self.shift,
                max_bytes: self.state.limits.block_bytes,
            };
            match decide(&objects) {
                Ok(decided) => return Ok(decided),
                Err(need) => self.provide(need, &mut refused)?,
            }
        }
    }

    /// Makes a decision about version 6 blocks, after providing the bytes that it needs.
    pub(super) fn decide_v6<T>(
        &mut self,
        decide: impl Fn(&mut Blocks<'_>) -> Result<T, Need>,
    ) -> Result<T, Error> {
        let mut refused = RefusedBytes::NOTHING;
        loop {
            let state = &self.state;
            let mut blocks = Blocks {
                window: Window::new(self.source.bytes(), self.source.start(), &refused),
                explored: &mut self.explored,
                is_unknown: &|header: &BlobHeader| state.has_unknown_id(header),
                has_session: state.trace().is_some(),
                last_content: self.last_block.map_or(0, |block| block.body.start),
            };
            match decide(&mut blocks) {
                Ok(decided) => return Ok(decided),
                Err(need) => self.provide(need, &mut refused)?,
            }
        }
    }

    /// Returns whether the content of a block is not wanted.
    pub(super) fn passes_over(&self, frame: &Frame) -> bool {
        frame.kind == BlockKind::Event && matches!(self.scope, Scope::Index)
    }

    /// Returns the block with a size that fits its content and the bytes after it; unchanged if no
    /// size fits.
    pub(super) fn resynced(&mut self, frame: Frame) -> Result<Frame, Error> {
        let has_tag = !matches!(frame.kind, BlockKind::Trace | BlockKind::Unknown(_));
        if !has_tag || frame.body.len > self.state.limits.block_bytes {
            return Ok(frame);
        }
        if self.passes_over(&frame) {
            self.source.release(tail(&frame));
        }
        if self.decide(|objects| objects.is_sound(&frame))? {
            return Ok(frame);
        }
        if self.passes_over(&frame) {
            // A decision needs the content, which is not wanted.
            self.state.is_irregular = true;
            return Ok(frame);
        }
        let verdict = self.decide(|objects| objects.resync(frame))?;
        Ok(self.carry_out(frame, frame.body.start, verdict).unwrap_or(frame))
    }

    /// Returns the block of version 6 with a size that fits. `None` if it is no block, so that
    /// reading continues at another position.
    pub(super) fn resynced_v6(&mut self, frame: Frame) -> Result<Option<Frame>, Error> {
        if self.passes_over(&frame) {
            let begins = self.decide_v6(|blocks| blocks.begins_as_stated(frame))?;
            // A decision would need the content, which is not wanted.
            self.source.release(frame.body_end().saturating_sub(LOOK_BACK).max(frame.start));
            let is_followed = self.decide_v6(|blocks| blocks.is_followed(frame.body_end()))?;
            self.state.is_irregular |= !(begins && is_followed);
            return Ok(Some(frame));
        }
        let verdict = self.decide_v6(|blocks| blocks.resync(frame))?;
        Ok(self.carry_out(frame, frame.start, verdict))
    }

    /// Carries out a decision about a block. Reports a wrong size at position `at`. Returns `None`
    /// if it is no block, so that reading continues at another position.
    fn carry_out(&mut self, frame: Frame, at: u64, verdict: Verdict) -> Option<Frame> {
        match verdict {
            Verdict::Accept => Some(frame),
            Verdict::Resize { block, loses_blocks, next } => {
                self.state.blocks_were_lost |= loses_blocks;
                self.continue_at = next.or(self.continue_at);
                self.note_size(frame, block, at);
                Some(block)
            }
            Verdict::Realign { block, shift } => {
                self.shift = shift;
                self.state.damage.in_block(block).note(0, "padding", Fault::Padding(shift));
                Some(block)
            }
            Verdict::Retype { block } => {
                let number = match frame.kind {
                    BlockKind::Unknown(number) => number,
                    kind => kind.row().map_or(0, |row| row.number),
                };
                let fault = Fault::ChangedKind(number);
                self.state.damage.in_block(block).add_contradiction(0, "block header", fault);
                Some(block)
            }
            Verdict::Skip { to } => {
                self.pass_over(frame, to);
                None
            }
        }
    }

    /// Reports the wrong size of a block. `block` has the right size.
    fn note_size(&mut self, frame: Frame, block: Frame, at: u64) {
        let (end, fault) = (block.body_end(), size_fault(&frame));
        self.state.damage.add_framing_lost(block, at, end, 0, "block size", fault);
    }

    /// Handles a block with a broken row at `from`. Returns `true` if another block begins within
    /// the rest of this one, so that reading continues there.
    pub(super) fn try_leave_block(&mut self, frame: &Frame, from: u64) -> Result<bool, Error> {
        let found = match self.state.is_v6() {
            true => self.decide_v6(|blocks| blocks.block_within(frame, from))?,
            false => self.decide(|objects| objects.object_within(frame, from))?,
        };
        self.state.broken_at = None;
        let Some(position) = found else { return Ok(false) };
        self.take_back(position);
        let (at, fault) = (frame.body.start, size_fault(frame));
        self.state.damage.add_framing_lost(*frame, at, position, 0, "block size", fault);
        self.state.blocks_were_lost = true;
        self.position = position;
        self.phase = Phase::Frame;
        Ok(true)
    }

    /// Skips bytes that only looked like a block, up to the block at `position`.
    fn pass_over(&mut self, frame: Frame, position: u64) {
        self.take_back(position);
        let (at, lost) = (frame.start, position.saturating_sub(frame.start));
        let fault = size_fault(&frame);
        self.state.damage.add_outside(Class::FramingLost, at, lost, "block header", fault);
        self.state.blocks_were_lost = true;
        self.position = position;
        self.phase = Phase::Frame;
    }

    /// Ends the most recent block at `position`, where another block begins. The losses that were
    /// reported for the ended block end there, too.
    pub(super) fn take_back(&mut self, position: u64) {
        let Some(last) = self.last_block.as_mut().filter(|last| position < last.body_end()) else {
            return;
        };
        self.state.statistics.take_bytes(last.kind, last.body_end().saturating_sub(position));
        self.state.damage.shorten_losses(last.start, position);
        self.state.damage.spare(self.delivered_to);
        last.body.len =
            u32::try_from(position.saturating_sub(last.body.start)).unwrap_or(last.body.len);
    }

    pub(super) fn lose_framing(
        &mut self,
        offset: u64,
        context: &'static str,
        fault: Fault,
        origin: Origin,
        lost_from: u64,
        search_from: u64,
    ) {
        if self.state.is_v6() {
            // In version 6 nothing marks the beginning of a block, so reading ends.
            self.state.damage.add_outside(Class::FramingLost, offset, 0, context, fault);
            self.end_incomplete(offset);
            return;
        }
        self.begin_search(Search { offset, context, fault, origin, at: search_from, lost_from });
    }

    pub(super) fn begin_search(&mut self, search: Search) {
        self.state.blocks_were_lost = true;
        self.phase = Phase::Search(search);
    }

    /// Searches for an object header, a stride at a time.
    pub(super) fn search(&mut self, search: Search) -> Result<Step, Error> {
        self.source.release(self.keep_from.map_or(search.at, |keep| keep.min(search.at)));
        match self.decide(|objects| objects.search(search.at, search.end(), STRIDE))? {
            Searched::Object(position) => {
                self.report_search(&search, position, true);
                self.position = position;
                self.phase = Phase::Frame;
            }
            Searched::Nothing(end) => {
                // The block is only too large.
                self.report_search(&search, end, false);
                if let Origin::Limit(frame) = search.origin {
                    self.phase = Phase::AfterContent(frame);
                }
            }
            Searched::Ended => {
                let end = self.source_end();
                self.report_search(&search, end, false);
                self.end_incomplete(end);
            }
            Searched::Further(at) => {
                self.phase = Phase::Search(Search { at, ..search });
                return Ok(Step::Passed);
            }
        }
        Ok(search.step())
    }

    /// Reports the fault and the bytes that were skipped because of it, up to `to`. `is_found` is
    /// set if an object begins there.
    fn report_search(&mut self, search: &Search, to: u64, is_found: bool) {
        let (offset, context, fault) = (search.offset, search.context, search.fault);
        let lost = to.saturating_sub(search.lost_from);
        match search.origin {
            Origin::Between => {
                let (class, from) = (Class::FramingLost, search.lost_from);
                self.state.damage.add_between(class, offset, from, lost, context, fault);
            }
            Origin::ObjectEnd(frame) => {
                if is_found && to < search.lost_from {
                    // The object lies within the block's content, whose size was wrong.
                    self.state.damage.shorten_last_loss(to);
                    self.state
                        .statistics
                        .take_bytes(frame.kind, search.lost_from.saturating_sub(to));
                }
                let from = search.lost_from;
                self.state.damage.add_framing_lost(frame, offset, from, lost, context, fault);
            }
            Origin::Limit(frame) => {
                self.state.count_block(&frame, to);
                let lost = usize::try_from(lost).unwrap_or(usize::MAX);
                self.state.damage.in_block(frame).add_lost_block(0, lost, context, fault);
            }
        }
    }
}
