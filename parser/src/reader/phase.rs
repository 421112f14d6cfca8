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
    /// Passes over content that is not read.
    Skip { frame: Frame, at: u64 },
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
    block: Option<Frame>,
    /// Bytes before this were searched.
    at: u64,
    /// First byte that is lost.
    lost_from: u64,
    /// The content searched is that of a block above the limit, and ends here.
    skipping: Option<u64>,
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
                Phase::Skip { frame, at } => self.skip(frame, at)?,
                Phase::Search(search) => self.search(search)?,
                Phase::Tail { from, at } => self.tail(from, at)?,
                Phase::Planned => self.planned_block(),
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
                    let end = self.source.bytes().len() as u64;
                    self.fail(end, "stream header", Fault::HeaderTruncated);
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
            Framed::End(bytes) => self.end_mark(start + bytes)?,
            Framed::Block(frame) => return self.block_content(frame),
            Framed::Refused(frame, fault) => {
                let lost = frame.body.len as usize;
                self.state.damage.in_block(frame).block_lost(0, lost, "object type", fault);
                self.phase = Phase::Skip { frame, at: frame.body.start };
            }
            Framed::Broken { at, fault, context } => {
                self.lose_framing(start + at as u64, context, fault, None, start, start + 1);
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
                self.state.count_block(&frame);
                self.phase = Phase::Skip { frame, at: frame.body.start };
            }
            BlockKind::Unknown(kind) if !has_objects => {
                self.state.damage.in_block(frame).note(0, "block", Fault::UnknownBlock(kind));
                self.state.count_block(&frame);
                self.phase = Phase::Skip { frame, at: frame.body.start };
            }
            BlockKind::Unknown(_) => self.unknown_object(frame)?,
            _ if frame.body.len > self.state.limits.block_bytes => {
                let fault = Fault::BlockLimit(u64::from(frame.body.len));
                self.state.count_block(&frame);
                if has_objects {
                    // Such a size is more likely damage than a block, so what it covers is searched.
                    self.begin_search(Search {
                        offset: frame.body.start,
                        context: "block size",
                        fault,
                        block: Some(frame),
                        at: frame.body.start,
                        lost_from: frame.body.start,
                        skipping: Some(frame.body_end()),
                    });
                } else {
                    let lost = frame.body.len as usize;
                    self.state.damage.in_block(frame).block_lost(0, lost, "block size", fault);
                    self.phase = Phase::Skip { frame, at: frame.body.start };
                }
            }
            _ => {
                let is_whole = self.source.fill(frame.body_end())?;
                if self.source_end() < frame.body.start {
                    // Cut in the padding before the content.
                    self.end_in_header(frame.start);
                    return Ok(None);
                }
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
    fn planned_block(&mut self) {
        let Scope::Planned { blocks, next } = &mut self.scope else {
            self.phase = Phase::End;
            return;
        };
        let Some(block) = blocks.get(*next).copied() else {
            self.phase = Phase::End;
            return;
        };
        *next += 1;
        self.state.context.tables.covered = block.covered;
        let content = body_of(&self.source, &block.frame);
        self.state.open_events(block.frame, content);
        self.phase = Phase::Rows;
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
                block: Some(frame),
                at: at + 1,
                lost_from: at,
                skipping: None,
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
                self.position = end + bytes as u64;
                self.phase = Phase::Frame;
            }
            ObjectEnd::Need(bytes) => {
                if !self.source.fill(end + bytes as u64)? {
                    // The content counts in full; only the end tag is missing.
                    let present = self.window_from(end).len() as u64;
                    self.end_incomplete(end + present);
                }
            }
            ObjectEnd::Broken { at, fault } => {
                let at = end + at as u64;
                // If a row of the block was broken, its size may be, too: other objects may have
                // been taken for its content.
                let from = self.state.broken_at.unwrap_or(at);
                self.lose_framing(at, "object end", fault, Some(frame), at, from);
            }
        }
        Ok(())
    }

    /// An object of an unknown type is taken for a block if it ends like one.
    fn unknown_object(&mut self, frame: Frame) -> Result<(), Error> {
        let end = frame.body_end();
        let unknown = (frame.start, "object type", Fault::UnknownLayout);
        if frame.body.len > self.state.limits.block_bytes {
            self.lose_framing(unknown.0, unknown.1, unknown.2, None, frame.start, frame.start + 1);
            return Ok(());
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
                    self.state.count_block(&frame);
                    self.position = end + bytes as u64;
                    self.phase = Phase::Frame;
                    return Ok(());
                }
                _ => {
                    self.lose_framing(unknown.0, unknown.1, unknown.2, None, frame.start, frame.start + 1);
                    return Ok(());
                }
            }
        }
    }

    /// Passes over content without holding it.
    fn skip(&mut self, frame: Frame, mut at: u64) -> Result<(), Error> {
        let end = frame.body_end();
        while at < end {
            self.source.release(self.keep_from.map_or(at, |keep| keep.min(at)));
            let to = (at + STRIDE).min(end);
            if !self.source.fill(to)? {
                self.end_incomplete(self.source_end());
                return Ok(());
            }
            at = to;
            self.phase = Phase::Skip { frame, at };
        }
        self.phase = Phase::AfterContent(frame);
        Ok(())
    }

    fn lose_framing(
        &mut self,
        offset: u64,
        context: &'static str,
        fault: Fault,
        block: Option<Frame>,
        lost_from: u64,
        search_from: u64,
    ) {
        if self.state.is_v6() {
            // Nothing marks a block's beginning: everything before stands, and that is all.
            self.state.damage.add_outside(Class::FramingLost, offset, 0, context, fault);
            self.end_incomplete(offset);
            return;
        }
        self.begin_search(Search {
            offset,
            context,
            fault,
            block,
            at: search_from,
            lost_from,
            skipping: None,
        });
    }

    fn begin_search(&mut self, search: Search) {
        self.state.blocks_were_lost = true;
        self.phase = Phase::Search(search);
    }

    /// Searches for an object header, a stride at a time, in memory bounded by the stride.
    fn search(&mut self, mut search: Search) -> Result<(), Error> {
        loop {
            self.source.release(self.keep_from.map_or(search.at, |keep| keep.min(search.at)));
            let stride = search.at + STRIDE;
            let wanted = search.skipping.map_or(stride, |end| stride.min(end));
            let is_more = self.source.fill(wanted + fastserial::FOUND_HEADER as u64)?;
            let window = self.window_from(search.at);
            let ahead = usize::try_from(wanted - search.at).unwrap_or(usize::MAX);
            let searched = window.get(..ahead.saturating_add(fastserial::FOUND_HEADER)).unwrap_or(window);
            // What begins behind a block above the limit is the next object, and not lost with it.
            let is_lost = |found: &usize| search.skipping.is_none() || *found < ahead;
            if let Some(found) = fastserial::find(searched).filter(is_lost) {
                let position = search.at + found as u64;
                self.report_search(&search, position);
                self.position = position;
                self.phase = Phase::Frame;
                return Ok(());
            }
            if let Some(end) = search.skipping.filter(|end| wanted >= *end) {
                // An ordinary block after all, only too large.
                self.report_search(&search, end);
                if let Some(frame) = search.block {
                    self.phase = Phase::AfterContent(frame);
                }
                return Ok(());
            }
            if !is_more {
                let end = self.source_end();
                // A block that the input's end cut is told as such, not as lost framing.
                if self.state.block_is_whole || search.block.is_none() {
                    self.report_search(&search, end);
                }
                self.end_incomplete(end);
                return Ok(());
            }
            search.at = wanted;
            self.phase = Phase::Search(search);
        }
    }

    /// Reports what was wrong and how much was passed over because of it.
    fn report_search(&mut self, search: &Search, to: u64) {
        let lost = to.saturating_sub(search.lost_from);
        match (search.block, search.skipping) {
            (Some(frame), Some(_)) => {
                let lost = usize::try_from(lost).unwrap_or(usize::MAX);
                self.state.damage.in_block(frame).block_lost(0, lost, search.context, search.fault);
            }
            (Some(frame), None) => {
                let at =
                    usize::try_from(search.offset.saturating_sub(frame.body.start)).unwrap_or(usize::MAX);
                let lost = usize::try_from(lost).unwrap_or(usize::MAX);
                let mut damage = self.state.damage.in_block(frame);
                damage.add(Class::FramingLost, at, lost, search.context, search.fault);
            }
            (None, _) => self.state.damage.add_outside(
                Class::FramingLost,
                search.offset,
                lost,
                search.context,
                search.fault,
            ),
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
    fn tail(&mut self, from: u64, mut at: u64) -> Result<(), Error> {
        loop {
            self.source.release(self.keep_from.map_or(at, |keep| keep.min(at)));
            let is_more = self.source.fill(at + STRIDE)?;
            at += (self.window_from(at).len() as u64).min(if is_more { STRIDE } else { u64::MAX });
            self.phase = Phase::Tail { from, at };
            if !is_more {
                break;
            }
        }
        if at > from {
            let fault = Fault::TrailingBytes(at - from);
            self.state.damage.add_outside(Class::Note, from, 0, "end of stream", fault);
        }
        self.phase = Phase::End;
        Ok(())
    }
}

/// A block's content, as far as the window has it.
fn body_of<'s, S: Source>(source: &'s S, frame: &Frame) -> &'s [u8] {
    let index = usize::try_from(frame.body.start.saturating_sub(source.start())).unwrap_or(usize::MAX);
    let window = source.bytes().get(index..).unwrap_or_default();
    window.get(..frame.body.len as usize).unwrap_or(window)
}
