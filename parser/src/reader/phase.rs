//! What comes next in the stream: header, blocks, the way back after damage, the end.

use super::scope::Scope;
use super::{Reader, Step};
use crate::block::BlockKind;
use crate::damage::Class;
use crate::error::{Error, Fault};
use crate::format::fastserial::{self, FirstType, ObjectEnd};
use crate::format::{Detected, Frame, Framed, Version, detect, needed_to_name, v6};
use crate::source::Source;

/// What the next step does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Phase {
    /// Reads the stream's header.
    Header,
    /// Reads the first block.
    Trace,
    /// Frames the next block, at the reader's position.
    Frame,
    /// Walks the blobs of the block that the cursor is in.
    Rows,
    /// Reads a sequence point, after its barrier was announced.
    SequencePoint(Frame),
    /// Checks what follows a block's content.
    AfterContent(Frame),
    /// Passes over content that is not read; with a fault, it is lost.
    Skip { frame: Frame, at: u64, lost: Option<(&'static str, Fault)> },
    /// Searches for the next object.
    Search(Search),
    /// Counts bytes behind the end mark.
    Tail { from: u64, at: u64 },
    /// Opens the next block that was found before.
    Planned,
    /// Nothing more.
    End,
    /// The stream's beginning could not be read.
    Failed { offset: u64, context: &'static str, fault: Fault },
}

impl Phase {
    /// How far a stretch was passed over, in the middle of it.
    pub(super) fn reached(&self) -> Option<u64> {
        match *self {
            Phase::Skip { at, .. } | Phase::Tail { at, .. } => Some(at),
            Phase::Search(search) => Some(search.at),
            Phase::AfterContent(frame) => Some(frame.body_end()),
            _ => None,
        }
    }

    /// The error that ended the reading before it began.
    pub(super) fn again(&self) -> Error {
        match *self {
            Phase::Failed { offset, context, fault } => Error::Format { offset, context, fault },
            _ => Error::Format { offset: 0, context: "stream header", fault: Fault::HeaderTruncated },
        }
    }
}

/// A search for the next object header, after the framing was lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search {
    /// What was wrong, and where.
    offset: u64,
    context: &'static str,
    fault: Fault,
    origin: Origin,
    /// Bytes before this were searched.
    at: u64,
    /// First byte that is lost, unless it was told to be lost before.
    lost_from: u64,
}

/// Why the next object is searched for.
#[derive(Debug, Clone, Copy)]
enum Origin {
    /// No object begins where one should.
    Between,
    /// A block's content is not followed by what ends an object.
    ObjectEnd(Frame),
    /// The input ends in a block that is broken: its size may be what is wrong.
    Cut(Frame),
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

/// How far ahead bytes are asked for where no size tells how many there are.
const STRIDE: u64 = 64 * 1024;

impl<S: Source> Reader<S> {
    /// One step outside the way through an event block.
    #[inline(never)]
    pub(super) fn step_block(&mut self) -> Result<Step, Error> {
        loop {
            match self.phase {
                Phase::Header => self.header()?,
                Phase::Trace => {
                    if let Some(frame) = self.first_block()? {
                        return Ok(Step::Block(frame));
                    }
                }
                Phase::Frame => {
                    if let Some(step) = self.frame()? {
                        return Ok(step);
                    }
                }
                Phase::Rows => {
                    if self.rows() {
                        return Ok(Step::Event);
                    }
                }
                Phase::SequencePoint(frame) => return Ok(self.sequence_point(frame)),
                Phase::AfterContent(frame) => self.after_content(frame)?,
                Phase::Skip { frame, at, lost } => return self.skip(frame, at, lost),
                Phase::Search(search) => return self.search(search),
                Phase::Tail { from, at } => return self.tail(from, at),
                Phase::Planned => self.planned_block()?,
                Phase::End => return Ok(Step::End),
                Phase::Failed { .. } => return Err(self.phase.again()),
            }
        }
    }

    fn fail(&mut self, offset: u64, context: &'static str, fault: Fault) {
        self.phase = Phase::Failed { offset, context, fault };
    }

    fn header(&mut self) -> Result<(), Error> {
        match detect(self.source.bytes()) {
            Detected::V6 { minor, header } => {
                self.state.begin(Version::V6 { minor });
                self.position = header;
                self.phase = Phase::Trace;
            }
            Detected::Objects { with_magic, header } => self.first_object(with_magic, header)?,
            Detected::Need(bytes) => {
                if !self.source.fill(bytes as u64)? {
                    // What came last may be wrong, and then it is not the end that is.
                    match detect(self.source.bytes()) {
                        Detected::Broken { at, fault } => self.fail(at, "stream header", fault),
                        _ => {
                            let end = self.source.bytes().len() as u64;
                            self.fail(end, "stream header", Fault::HeaderTruncated);
                        }
                    }
                }
            }
            Detected::Broken { at, fault } => {
                // The same input gets the same name, however it comes in pieces.
                if matches!(fault, Fault::Foreign(_))
                    && let Some(bytes) = needed_to_name(self.source.bytes())
                    && self.source.fill(bytes as u64)?
                {
                    return Ok(());
                }
                self.fail(at, "stream header", fault);
            }
        }
        Ok(())
    }

    /// Tells versions 1 to 4 apart by the first object's type.
    fn first_object(&mut self, with_magic: bool, header: u64) -> Result<(), Error> {
        match fastserial::first_type(self.window_from(header)) {
            None => match fastserial::frame(self.window_from(header), header) {
                Framed::Need(bytes) => {
                    if !self.source.fill(header + bytes as u64)? {
                        let end = self.source.bytes().len() as u64;
                        self.fail(end, "first object", Fault::HeaderTruncated);
                    }
                }
                Framed::Broken { at, fault, context } => self.fail(header + at as u64, context, fault),
                _ => self.fail(header, "first object", Fault::FirstIsNotTrace),
            },
            Some(FirstType::EventPipeFile { version }) => {
                let version = u32::try_from(version).unwrap_or(0);
                self.fail(header, "first object", Fault::UnsupportedVersion(version));
            }
            Some(FirstType::Trace { version }) => {
                let version = match (version, with_magic) {
                    (3, false) => Version::V3,
                    (4.., _) => Version::V4,
                    (other, _) => {
                        let other = u32::try_from(other).unwrap_or(0);
                        self.fail(header + 3, "Trace object", Fault::UnsupportedVersion(other));
                        return Ok(());
                    }
                };
                self.state.begin(version);
                self.position = header;
                self.phase = Phase::Trace;
            }
            Some(FirstType::Other) => self.fail(header, "first object", Fault::FirstIsNotTrace),
        }
        Ok(())
    }

    fn framed(&self) -> Framed {
        let window = self.window_from(self.position);
        match self.state.version() {
            Some(Version::V6 { .. }) => v6::frame(window, self.position),
            _ => fastserial::frame(window, self.position),
        }
    }

    fn first_block(&mut self) -> Result<Option<Frame>, Error> {
        let start = self.position;
        match self.framed() {
            Framed::Need(bytes) => {
                if !self.source.fill(start + bytes as u64)? {
                    let end = self.source.start() + self.source.bytes().len() as u64;
                    self.fail(end, "Trace block", Fault::HeaderTruncated);
                }
            }
            Framed::Block(frame) if frame.kind == BlockKind::Trace => {
                if !self.source.fill(frame.body_end())? {
                    let end = self.source.start() + self.source.bytes().len() as u64;
                    self.fail(end, "Trace block", Fault::HeaderTruncated);
                    return Ok(None);
                }
                let content = body_of(&self.source, &frame);
                match self.state.read_trace(frame, content) {
                    Ok(()) => {
                        self.phase = Phase::AfterContent(frame);
                        return Ok(Some(frame));
                    }
                    Err((offset, fault)) => self.fail(offset, "Trace block", fault),
                }
            }
            Framed::Refused(_, fault) => self.fail(start + 7, "Trace object", fault),
            Framed::Block(_) | Framed::End(_) => self.fail(start, "first block", Fault::FirstIsNotTrace),
            Framed::Broken { at, fault, context } => self.fail(start + at as u64, context, fault),
        }
        Ok(None)
    }

    /// Frames the block at the position and reads it, if its content is not a run of events.
    fn frame(&mut self) -> Result<Option<Step>, Error> {
        let start = self.position;
        self.source.release(self.keep_from.map_or(start, |keep| keep.min(start)));
        match self.framed() {
            Framed::Need(bytes) => {
                if !self.source.fill(start + bytes as u64)? {
                    self.end_in_header(start);
                }
            }
            Framed::End(bytes) => {
                self.end_mark(start + bytes)?;
                return Ok(Some(Step::Barrier));
            }
            // Cut in the padding before the content.
            Framed::Block(frame) | Framed::Refused(frame, _) if !self.source.fill(frame.body.start)? => {
                self.end_in_header(start);
            }
            Framed::Block(frame) => return self.block_content(frame),
            Framed::Refused(frame, fault) => {
                self.phase = Phase::Skip { frame, at: frame.body.start, lost: Some(("object type", fault)) };
            }
            Framed::Broken { at, fault, context } => {
                self.lose_framing(start + at as u64, context, fault, Origin::Between, start, start + 1);
            }
        }
        Ok(None)
    }

    /// The end mark, which may have content, reaches to `end`; the input may stop before.
    fn end_mark(&mut self, end: u64) -> Result<(), Error> {
        let end = if self.source.fill(end)? { end } else { self.source_end() };
        self.state.is_complete = true;
        self.state.end_offset = Some(end);
        self.position = end;
        self.phase = Phase::Tail { from: end, at: end };
        Ok(())
    }

    fn block_content(&mut self, frame: Frame) -> Result<Option<Step>, Error> {
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
            BlockKind::Unknown(_) => return self.unknown_object(frame),
            _ if frame.body.len > self.state.limits.block_bytes => {
                let fault = Fault::BlockLimit(u64::from(frame.body.len));
                let at = frame.body.start;
                if has_objects {
                    // Such a size is more likely damage than a block, so what it covers is searched.
                    let (context, origin) = ("block size", Origin::Limit(frame));
                    self.begin_search(Search { offset: at, context, fault, origin, at, lost_from: at });
                } else {
                    self.phase = Phase::Skip { frame, at, lost: Some(("block size", fault)) };
                }
            }
            _ => {
                let is_whole = self.source.fill(frame.body_end())?;
                let present = self.window_from(frame.body.start).len() as u64;
                self.state.open_block(frame, is_whole, present);
                return Ok(self.read_block(frame));
            }
        }
        Ok(None)
    }

    /// Reads a block whose content is in the window, as far as it is there.
    fn read_block(&mut self, frame: Frame) -> Option<Step> {
        match frame.kind {
            BlockKind::Event if matches!(self.scope, Scope::Index) => {
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
                self.phase = Phase::SequencePoint(frame);
                Some(Step::Barrier)
            }
            _ => {
                let content = body_of(&self.source, &frame);
                self.state.read_block(frame, content);
                self.end_content(frame);
                Some(Step::Block(frame))
            }
        }
    }

    fn sequence_point(&mut self, frame: Frame) -> Step {
        let content = body_of(&self.source, &frame);
        self.state.read_block(frame, content);
        self.end_content(frame);
        Step::Block(frame)
    }

    /// Goes on in the event block. `false`: it is done.
    fn rows(&mut self) -> bool {
        while !self.state.cursor.is_done() {
            if self.state.next_blob(self.source.bytes(), self.source.start()) {
                return true;
            }
        }
        self.end_content(self.state.cursor.frame);
        false
    }

    /// Opens the next block of a plan.
    fn planned_block(&mut self) -> Result<(), Error> {
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
        // It was there when it was found; a file that shrank since gives what is left.
        self.source.fill(block.frame.body_end())?;
        if let Scope::Planned { next, .. } = &mut self.scope {
            *next = place + 1;
        }
        self.state.context.tables.covered = block.covered;
        let content = body_of(&self.source, &block.frame);
        self.state.open_events(block.frame, content);
        self.phase = Phase::Rows;
        Ok(())
    }

    /// All that could be read of a block was read.
    fn end_content(&mut self, frame: Frame) {
        if matches!(self.scope, Scope::Planned { .. }) {
            self.phase = Phase::Planned;
            return;
        }
        if self.state.block_is_whole {
            self.phase = Phase::AfterContent(frame);
            return;
        }
        let end = self.source_end();
        match self.state.broken_at {
            // The block's size may be what is wrong: if another object begins in what looked like
            // its rest, reading goes on there.
            Some(at) if !self.state.is_v6() => self.begin_search(Search {
                offset: at,
                context: "block size",
                fault: Fault::BlockSize(i32::try_from(frame.body.len).unwrap_or(i32::MAX)),
                origin: Origin::Cut(frame),
                at: at + 1,
                lost_from: at,
            }),
            _ => self.end_incomplete(end),
        }
    }

    fn after_content(&mut self, frame: Frame) -> Result<(), Error> {
        let end = frame.body_end();
        if self.state.is_v6() {
            self.position = end;
            self.phase = Phase::Frame;
            return Ok(());
        }
        match fastserial::object_end(self.window_from(end)) {
            ObjectEnd::At(bytes) => {
                self.state.statistics.add_bytes(frame.kind, bytes as u64);
                self.position = end + bytes as u64;
                self.phase = Phase::Frame;
            }
            ObjectEnd::Need(bytes) => {
                if !self.source.fill(end + bytes as u64)? {
                    // The content counts in full; only the end tag is missing.
                    let present = self.window_from(end).len() as u64;
                    self.state.statistics.add_bytes(frame.kind, present);
                    self.end_incomplete(end + present);
                }
            }
            ObjectEnd::Broken { at, fault } => {
                let at = end + at as u64;
                // If a row of the block was broken, its size may be, too: other objects may have
                // been taken for its content.
                let from = self.state.broken_at.unwrap_or(at);
                self.lose_framing(at, "object end", fault, Origin::ObjectEnd(frame), end, from);
            }
        }
        Ok(())
    }

    /// An object of an unknown type is taken for a block if it ends like one.
    fn unknown_object(&mut self, frame: Frame) -> Result<Option<Step>, Error> {
        let (start, end) = (frame.start, frame.body_end());
        if frame.body.len > self.state.limits.block_bytes {
            let fault = Fault::UnknownLayout;
            self.lose_framing(start, "object type", fault, Origin::Between, start, start + 1);
            return Ok(None);
        }
        let mut needed = 1;
        loop {
            let is_there = self.source.fill(end + needed as u64)?;
            let behind = self.window_from(end);
            match fastserial::object_end(behind) {
                ObjectEnd::Need(bytes) if is_there => needed = bytes,
                ObjectEnd::At(bytes) if is_there && behind.len() <= bytes => needed = bytes + 1,
                ObjectEnd::At(bytes) if behind.get(bytes).is_none_or(|byte| fastserial::may_begin(*byte)) => {
                    self.state.damage.in_block(frame).note(0, "object type", Fault::UnknownObject);
                    self.state.count_block(&frame, end);
                    self.state.statistics.add_bytes(frame.kind, bytes as u64);
                    self.position = end + bytes as u64;
                    self.phase = Phase::Frame;
                    return Ok(Some(Step::Skipped(frame)));
                }
                _ => {
                    let fault = Fault::UnknownLayout;
                    self.lose_framing(start, "object type", fault, Origin::Between, start, start + 1);
                    return Ok(None);
                }
            }
        }
    }

    /// Passes over content without holding it, a stride at a time.
    fn skip(&mut self, frame: Frame, at: u64, lost: Option<(&'static str, Fault)>) -> Result<Step, Error> {
        self.source.release(self.keep_from.map_or(at, |keep| keep.min(at)));
        let (end, to) = (frame.body_end(), (at + STRIDE).min(frame.body_end()));
        let is_there = self.source.fill(to)?;
        let to = if is_there { to } else { at + self.window_from(at).len() as u64 };
        if is_there && to < end {
            self.phase = Phase::Skip { frame, at: to, lost };
            return Ok(Step::Passed);
        }
        self.state.count_block(&frame, to);
        if let Some((context, fault)) = lost {
            let bytes = usize::try_from(to - frame.body.start).unwrap_or(usize::MAX);
            self.state.damage.in_block(frame).block_lost(0, bytes, context, fault);
        }
        if is_there {
            self.phase = Phase::AfterContent(frame);
        } else {
            self.end_incomplete(to);
        }
        Ok(Step::Skipped(frame))
    }

    fn lose_framing(
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

    fn begin_search(&mut self, search: Search) {
        self.state.blocks_were_lost = true;
        self.phase = Phase::Search(search);
    }

    /// Searches for an object header, a stride at a time, in memory bounded by the stride.
    fn search(&mut self, mut search: Search) -> Result<Step, Error> {
        self.source.release(self.keep_from.map_or(search.at, |keep| keep.min(search.at)));
        let stride = search.at + STRIDE;
        let wanted = search.end().map_or(stride, |end| stride.min(end));
        let is_more = self.source.fill(wanted + fastserial::FOUND_HEADER as u64)?;
        let window = self.window_from(search.at);
        let ahead = usize::try_from(wanted - search.at).unwrap_or(usize::MAX);
        let searched = window.get(..ahead.saturating_add(fastserial::FOUND_HEADER)).unwrap_or(window);
        // What begins behind a block above the limit is the next object, and not lost with it.
        let is_lost = |found: &usize| search.end().is_none() || *found < ahead;
        if let Some(found) = fastserial::find(searched).filter(is_lost) {
            let position = search.at + found as u64;
            self.report_search(&search, position, true);
            self.position = position;
            self.phase = Phase::Frame;
            return Ok(search.step());
        }
        let present = search.at + window.len() as u64;
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
                    self.state.statistics.take_bytes(frame.kind, search.lost_from - to);
                }
                let from = search.lost_from;
                self.state.damage.add_framing_lost(frame, offset, from, lost, context, fault);
            }
            // A block that the input's end cuts was told as such, and is not lost framing.
            Origin::Cut(_) if !is_found => {}
            Origin::Cut(frame) => {
                let end = self.source.start() + self.source.bytes().len() as u64;
                self.state.damage.retract_last_loss();
                self.state.statistics.take_bytes(frame.kind, end.min(frame.body_end()).saturating_sub(to));
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

    /// The input ends before a block's content, if not before the block.
    fn end_in_header(&mut self, start: u64) {
        let end = self.source_end();
        if end > start {
            let (class, lost, context) = (Class::Incomplete, end - start, "block header");
            self.state.damage.add_outside(class, start, lost, context, Fault::Truncated);
        }
        self.end_incomplete(end);
    }

    /// Where the source's bytes end, as far as they have been asked for.
    fn source_end(&self) -> u64 {
        self.source.start() + self.source.bytes().len() as u64
    }

    fn end_incomplete(&mut self, end: u64) {
        self.state.end_offset = Some(end);
        self.position = end;
        self.phase = Phase::End;
    }

    /// Bytes behind the end mark do not belong to the stream; how many there are is noted.
    fn tail(&mut self, from: u64, at: u64) -> Result<Step, Error> {
        self.source.release(self.keep_from.map_or(at, |keep| keep.min(at)));
        let is_more = self.source.fill(at + STRIDE)?;
        let at = at + (self.window_from(at).len() as u64).min(if is_more { STRIDE } else { u64::MAX });
        if is_more {
            self.phase = Phase::Tail { from, at };
            return Ok(Step::Passed);
        }
        if at > from {
            let fault = Fault::TrailingBytes(at - from);
            self.state.damage.add_outside(Class::Note, from, 0, "end of stream", fault);
        }
        self.phase = Phase::End;
        Ok(Step::Passed)
    }
}

/// A block's content, as far as the window has it.
pub(super) fn body_of<'s, S: Source>(source: &'s S, frame: &Frame) -> &'s [u8] {
    let index = usize::try_from(frame.body.start.saturating_sub(source.start())).unwrap_or(usize::MAX);
    let window = source.bytes().get(index..).unwrap_or_default();
    window.get(..frame.body.len as usize).unwrap_or(window)
}
