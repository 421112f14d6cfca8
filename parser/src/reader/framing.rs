//! Reads one block after the other: frame, content, and the bytes after the content.

use super::machine::Reader;
use super::phase::{Origin, Phase, STRIDE, Search, Step, body_of};
use super::scope::Scope;
use crate::error::{Error, Fault};
use crate::format::Framed;
use crate::format::fastserial::{self, ObjectEnd};
use crate::format::v6;
use crate::frame::{BlockKind, Frame};
use crate::resync::v6::LOOK_BACK;
use crate::source::{Source, Span, index};

impl<S: Source> Reader<S> {
    /// Reads the frame of the block at the current position, and its content, except for events.
    pub(super) fn read_frame(&mut self) -> Result<Option<Step>, Error> {
        if let Scope::Skipping(skips) = &mut self.scope {
            self.position = skips.skip_from(self.position);
        }
        let start = self.position;
        // If bytes are missing, a version 6 block may begin before the current position.
        let needed = if self.state.is_v6() { start.saturating_sub(LOOK_BACK) } else { start };
        self.source.release(self.keep_from.map_or(needed, |keep| keep.min(needed)));
        match self.framed() {
            Framed::Need(bytes) => {
                if !self.source.fill(start.saturating_add(bytes as u64))? {
                    self.end_in_header(start);
                }
            }
            Framed::End(bytes) => {
                if self.state.is_v6() && bytes > v6::HEADER as u64 {
                    // An end mark with content may also be a damaged header of a block.
                    let len =
                        u32::try_from(bytes.saturating_sub(v6::HEADER as u64)).unwrap_or(u32::MAX);
                    let body = Span { start: start.saturating_add(v6::HEADER as u64), len };
                    let frame = Frame { kind: BlockKind::Unknown(0), start, body };
                    match self.resynced_v6(frame)? {
                        None => return Ok(None),
                        Some(block) if block.kind != frame.kind => {
                            return self.read_content(block);
                        }
                        Some(_) => {}
                    }
                }
                self.handle_end_mark(start, start.saturating_add(bytes))?;
                return Ok(Some(Step::Barrier));
            }
            // The input ends in the padding before the content.
            Framed::Block(frame) | Framed::Odd(frame, _) | Framed::Refused(frame, _)
                if !self.source.fill(frame.body.start)? =>
            {
                self.end_in_header(start);
            }
            Framed::Block(frame) if self.state.is_v6() => {
                if frame.body.len > self.state.limits.block_bytes {
                    return self.read_content(frame);
                }
                if let Some(frame) = self.resynced_v6(frame)? {
                    return self.read_content(frame);
                }
            }
            Framed::Block(frame) => return self.read_object(frame),
            Framed::Odd(frame, fault) => {
                let frame = self.resynced(frame)?;
                let step = self.read_content(frame)?;
                self.state.damage.in_block(frame).add_contradiction(0, "object type", fault);
                return Ok(step);
            }
            Framed::Refused(frame, fault) => {
                self.phase =
                    Phase::Skip { frame, at: frame.body.start, lost: Some(("object type", fault)) };
            }
            Framed::Broken { at, fault, context } => {
                if at == 0
                    && let Some(frame) = self.object_without_tag(start)?
                {
                    self.state.damage.in_block(frame).add_contradiction(0, context, fault);
                    self.phase = Phase::Object(frame);
                    return Ok(None);
                }
                self.lose_framing(
                    start.saturating_add(at as u64),
                    context,
                    fault,
                    Origin::Between,
                    start,
                    start.saturating_add(1),
                );
            }
        }
        Ok(None)
    }

    /// Returns the object of versions 3 to 5 at a position if only its first byte, the begin tag,
    /// is damaged.
    #[cold]
    fn object_without_tag(&mut self, start: u64) -> Result<Option<Frame>, Error> {
        if self.state.is_v6() {
            return Ok(None);
        }
        let after = start.saturating_add(1);
        self.source
            .fill(after.saturating_add(fastserial::FOUND_HEADER as u64).saturating_add(3))?;
        Ok(fastserial::frame_without_tag(self.window_from(after), start, self.shift))
    }

    /// Reads an object of versions 3 to 5, or a block of version 6 that looked like an end mark.
    pub(super) fn read_object(&mut self, frame: Frame) -> Result<Option<Step>, Error> {
        if self.state.is_v6() {
            return self.read_content(frame);
        }
        let frame = self.resynced(frame)?;
        self.read_content(frame)
    }

    fn read_content(&mut self, frame: Frame) -> Result<Option<Step>, Error> {
        self.last_block = Some(frame);
        let has_objects = !self.state.is_v6();
        match frame.kind {
            BlockKind::Trace => {
                self.state.damage.in_block(frame).note(0, "block", Fault::SecondTrace);
                self.phase = Phase::Skip { frame, at: frame.body.start, lost: None };
            }
            BlockKind::Unknown(kind) if !has_objects => {
                self.state.damage.in_block(frame).note(0, "block", Fault::UnknownBlock(kind));
                self.phase = Phase::Skip { frame, at: frame.body.start, lost: None };
            }
            BlockKind::Unknown(_) => return self.read_unknown_object(frame),
            _ if frame.body.len > self.state.limits.block_bytes => {
                let fault = Fault::BlockLimit(u64::from(frame.body.len));
                let at = frame.body.start;
                if has_objects {
                    // Such a size is probably damage, so the bytes that it covers are searched.
                    let (context, origin) = ("block size", Origin::Limit(frame));
                    self.begin_search(Search {
                        offset: at,
                        context,
                        fault,
                        origin,
                        at,
                        lost_from: at,
                    });
                } else {
                    self.phase = Phase::Skip { frame, at, lost: Some(("block size", fault)) };
                }
            }
            _ => {
                let passes_over = self.passes_over(&frame);
                if passes_over {
                    // Only the last byte is requested.
                    self.source.release(frame.body_end().saturating_sub(1).max(frame.body.start));
                }
                let is_whole = self.source.fill(frame.body_end())?;
                let present = match passes_over && is_whole {
                    true => u64::from(frame.body.len),
                    false => self.window_from(frame.body.start).len() as u64,
                };
                self.state.open_block(frame, is_whole, present);
                // Events are probably not read if the caller wants blocks.
                if !passes_over && (frame.kind != BlockKind::Event || !self.gives_blocks) {
                    self.approach(frame.body);
                }
                return Ok(self.read_block(frame));
            }
        }
        Ok(None)
    }

    /// Makes the source load content that will be read next into the processor's caches, except
    /// for content that it loaded before.
    fn approach(&mut self, body: Span) {
        let from = body.start.max(self.approached);
        self.approached = from.max(body.end());
        let len = u32::try_from(body.end().saturating_sub(from)).unwrap_or(0);
        self.source.approach(Span { start: from, len });
    }

    /// Reads a block whose content is in the window, as far as it is available.
    fn read_block(&mut self, frame: Frame) -> Option<Step> {
        match frame.kind {
            BlockKind::Event if self.passes_over(&frame) => {
                self.end_content(frame);
                Some(Step::Block(frame))
            }
            BlockKind::Event => {
                let content = body_of(&self.source, &frame);
                self.state.open_events(frame, content);
                self.phase = Phase::Rows;
                self.gives_blocks.then_some(Step::Block(frame))
            }
            BlockKind::SequencePoint => {
                // Read later, because events that wait in time order need the ids that the
                // sequence point may forget.
                self.phase = Phase::SequencePoint(frame);
                Some(Step::Barrier)
            }
            _ => {
                let content = body_of(&self.source, &frame);
                self.state.apply_block(frame, content);
                self.end_content(frame);
                Some(Step::Block(frame))
            }
        }
    }

    pub(super) fn read_sequence_point(&mut self, frame: Frame) -> Step {
        let content = body_of(&self.source, &frame);
        self.state.apply_block(frame, content);
        self.end_content(frame);
        Step::Block(frame)
    }

    /// Moves to the next event of the block. Returns `false` if there is none.
    pub(super) fn read_rows(&mut self) -> bool {
        while !self.state.cursor.is_done() {
            if self.state.next_blob(self.source.bytes(), self.source.start()) {
                return true;
            }
        }
        self.state.check_block(self.source.bytes(), self.source.start());
        self.state.note_times(self.source.bytes(), self.source.start());
        self.end_content(self.state.cursor.frame);
        false
    }

    /// Opens the next block of a plan.
    pub(super) fn open_planned_block(&mut self) -> Result<(), Error> {
        let Scope::Planned { blocks, next } = &self.scope else {
            self.phase = Phase::End;
            return Ok(());
        };
        let (place, Some(block)) = (*next, blocks.get(*next).copied()) else {
            self.phase = Phase::End;
            return Ok(());
        };
        let start = block.frame.body.start;
        self.source.release(self.keep_from.map_or(start, |keep| keep.min(start)));
        // A file may have become shorter since the block was found.
        self.source.fill(block.frame.body_end())?;
        if let Scope::Planned { next, .. } = &mut self.scope {
            *next = place.saturating_add(1);
        }
        self.state.context.tables.covered = block.covered;
        self.source.approach(block.frame.body);
        let content = body_of(&self.source, &block.frame);
        self.state.open_events(block.frame, content);
        self.phase = Phase::Rows;
        Ok(())
    }

    /// Finishes a block after its content was read, as far as possible.
    fn end_content(&mut self, frame: Frame) {
        if frame.kind == BlockKind::Event {
            self.delivered_to = self.state.damage.lost_to_end_of(frame).unwrap_or(frame.body_end());
        }
        if matches!(self.scope, Scope::Planned { .. }) {
            self.phase = Phase::Planned;
            return;
        }
        if self.state.block_is_whole {
            self.phase = Phase::AfterContent(frame);
            return;
        }
        self.end_in_block(frame.body_end(), self.source_end());
    }

    pub(super) fn check_after_content(&mut self, frame: Frame) -> Result<(), Error> {
        let end = frame.body_end();
        if self.state.is_v6() {
            if let Some(from) = self.state.broken_at
                && self.try_leave_block(&frame, from)?
            {
                return Ok(());
            }
            self.position = end;
            self.phase = Phase::Frame;
            return Ok(());
        }
        if let Some(position) = self.continue_at.take() {
            self.state.statistics.add_bytes(frame.kind, position.saturating_sub(end));
            self.state.broken_at = None;
            self.position = position;
            self.phase = Phase::Frame;
            return Ok(());
        }
        if let Some(from) = self.state.broken_at
            && self.try_leave_block(&frame, from)?
        {
            return Ok(());
        }
        match fastserial::object_end(self.window_from(end)) {
            ObjectEnd::At(bytes) => {
                self.state.statistics.add_bytes(frame.kind, bytes as u64);
                self.position = end.saturating_add(bytes as u64);
                self.phase = Phase::Frame;
            }
            ObjectEnd::Need(bytes) => {
                if !self.source.fill(end.saturating_add(bytes as u64))? {
                    // The content is complete, but the end tag is missing.
                    let present = self.window_from(end).len() as u64;
                    self.state.statistics.add_bytes(frame.kind, present);
                    self.end_incomplete(end.saturating_add(present));
                }
            }
            ObjectEnd::Broken { at, fault } => {
                let at = end.saturating_add(at as u64);
                // Other objects were searched before they were read. A Trace object has no size,
                // but may lack bytes.
                let from = if frame.kind == BlockKind::Trace { frame.body.start } else { end };
                self.lose_framing(at, "object end", fault, Origin::ObjectEnd(frame), end, from);
            }
        }
        Ok(())
    }

    /// Skips an object of an unknown type, if it has the layout of a block.
    fn read_unknown_object(&mut self, frame: Frame) -> Result<Option<Step>, Error> {
        let (start, end) = (frame.start, frame.body_end());
        let mut needed = 1;
        while frame.body.len <= self.state.limits.block_bytes {
            let is_there = self.source.fill(end.saturating_add(needed as u64))?;
            let after = self.window_from(end);
            match fastserial::object_end(after) {
                ObjectEnd::Need(bytes) if is_there => needed = bytes,
                ObjectEnd::At(bytes) if is_there && after.len() <= bytes => {
                    needed = bytes.saturating_add(1)
                }
                ObjectEnd::At(bytes)
                    if after.get(bytes).is_none_or(|byte| fastserial::may_begin(*byte)) =>
                {
                    self.state.damage.in_block(frame).note(0, "object type", Fault::UnknownObject);
                    self.state.count_block(&frame, end);
                    self.state.statistics.add_bytes(frame.kind, bytes as u64);
                    self.position = end.saturating_add(bytes as u64);
                    self.phase = Phase::Frame;
                    return Ok(Some(Step::Skipped(frame)));
                }
                _ => break,
            }
        }
        let (fault, from) = (Fault::UnknownLayout, start.saturating_add(1));
        self.lose_framing(start, "object type", fault, Origin::Between, start, from);
        Ok(None)
    }

    /// Skips content without keeping it, a stride at a time.
    pub(super) fn skip(
        &mut self,
        frame: Frame,
        at: u64,
        lost: Option<(&'static str, Fault)>,
    ) -> Result<Step, Error> {
        self.source.release(self.keep_from.map_or(at, |keep| keep.min(at)));
        let (end, to) = (frame.body_end(), at.saturating_add(STRIDE).min(frame.body_end()));
        let is_there = self.source.fill(to)?;
        let to = if is_there { to } else { at.saturating_add(self.window_from(at).len() as u64) };
        if is_there && to < end {
            self.phase = Phase::Skip { frame, at: to, lost };
            return Ok(Step::Passed);
        }
        self.state.count_block(&frame, to);
        if let Some((context, fault)) = lost {
            let bytes = index(to, frame.body.start);
            self.state.damage.in_block(frame).add_lost_block(0, bytes, context, fault);
        }
        if is_there {
            self.phase = Phase::AfterContent(frame);
        } else {
            self.end_in_block(frame.body_end(), to);
        }
        Ok(Step::Skipped(frame))
    }
}
