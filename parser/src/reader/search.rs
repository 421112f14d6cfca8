//! The way back after the framing was lost: a search for the next object, and what it says.

use super::phase::{Phase, STRIDE};
use super::{Reader, Step};
use crate::damage::Class;
use crate::error::{Error, Fault};
use crate::format::fastserial;
use crate::frame::Frame;
use crate::source::{Source, index};

/// A search for the next object header, after the framing was lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search {
    /// What was wrong, and where.
    pub(super) offset: u64,
    pub(super) context: &'static str,
    pub(super) fault: Fault,
    pub(super) origin: Origin,
    /// Bytes before this were searched.
    pub(super) at: u64,
    /// First byte that is lost, unless it was told to be lost before.
    pub(super) lost_from: u64,
}

/// Why the next object is searched for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin {
    /// No object begins where one should.
    Between,
    /// A block's content is not followed by what ends an object.
    ObjectEnd(Frame),
    /// A block is above the limit, which is more likely damage than a block.
    Limit(Frame),
}

impl Search {
    /// What the search was, when it has ended.
    fn step(&self) -> Step {
        match self.origin {
            Origin::Limit(frame) => Step::Skipped(frame),
            _ => Step::Passed,
        }
    }

    /// Where the search ends although nothing was found.
    fn end(&self) -> Option<u64> {
        match self.origin {
            Origin::Limit(frame) => Some(frame.body_end()),
            _ => None,
        }
    }
}

impl<S: Source> Reader<S> {
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
            // Nothing marks a block's beginning: everything before stands, and that is all.
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

    /// Searches for an object header, a stride at a time, in memory bounded by the stride.
    pub(super) fn search(&mut self, mut search: Search) -> Result<Step, Error> {
        self.source.release(self.keep_from.map_or(search.at, |keep| keep.min(search.at)));
        let stride = search.at.saturating_add(STRIDE);
        let wanted = search.end().map_or(stride, |end| stride.min(end));
        let is_more = self.source.fill(wanted.saturating_add(fastserial::FOUND_HEADER as u64))?;
        let window = self.window_from(search.at);
        let ahead = index(wanted, search.at);
        let searched = window.get(..ahead.saturating_add(fastserial::FOUND_HEADER)).unwrap_or(window);
        // What begins behind a block above the limit is the next object, and not lost with it.
        let is_lost = |found: &usize| search.end().is_none() || *found < ahead;
        if let Some(found) = fastserial::find(searched).filter(is_lost) {
            let position = search.at.saturating_add(found as u64);
            self.report_search(&search, position, true);
            self.position = position;
            self.phase = Phase::Frame;
            return Ok(search.step());
        }
        let present = search.at.saturating_add(window.len() as u64);
        if search.end().is_some_and(|end| wanted >= end && present >= end) {
            // An ordinary block after all, only too large.
            self.report_search(&search, wanted, false);
            if let Origin::Limit(frame) = search.origin {
                self.phase = Phase::AfterContent(frame);
            }
            return Ok(search.step());
        }
        if !is_more {
            // A search that begins behind a broken row at the very end begins behind the input.
            let end = self.source_end();
            self.report_search(&search, end, false);
            self.end_incomplete(end);
            return Ok(search.step());
        }
        search.at = wanted;
        self.phase = Phase::Search(search);
        Ok(Step::Passed)
    }

    /// Reports what was wrong and how much was passed over because of it. `is_found`: an object
    /// begins at `to`, and reading goes on there.
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
                    // The other object lies in what was taken for the rest of the block's content.
                    self.state.damage.shorten_last_loss(to);
                    self.state.statistics.take_bytes(frame.kind, search.lost_from.saturating_sub(to));
                }
                let from = search.lost_from;
                self.state.damage.add_framing_lost(frame, offset, from, lost, context, fault);
            }
            Origin::Limit(frame) => {
                self.state.count_block(&frame, to);
                let lost = usize::try_from(lost).unwrap_or(usize::MAX);
                self.state.damage.in_block(frame).block_lost(0, lost, context, fault);
            }
        }
    }
}
