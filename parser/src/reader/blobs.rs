//! The way through an event block, blob by blob, and what an event is checked for.

use super::cursor::Cursor;
use super::state::{OddBlob, State};
use crate::blob::{BlobEncoding, BlobHeader};
use crate::block::event::header as event_block_header;
use crate::error::{Fault, located};
use crate::event::Event;
use crate::frame::{BlockKind, Frame};
use crate::primitive::before;
use crate::source::index;
use crate::tables::NO_SLOT;
use crate::version::Version;

impl State {
    /// Passes over what is left of the current event block.
    pub(super) fn leave_block(&mut self) {
        self.cursor.at = self.cursor.end;
    }

    /// Puts the cursor on the first blob of an event block.
    pub(super) fn open_events(&mut self, frame: Frame, content: &[u8]) {
        let (from, encoding) = match self.context.version() {
            Some(Version::V3) => (0, BlobEncoding::FixedV3),
            version => match event_block_header(content) {
                Ok((rest, header)) => {
                    let version = version.unwrap_or(Version::V4);
                    (before(content, rest), BlobEncoding::of(version, header.is_compressed))
                }
                Err(error) => {
                    self.lose_block(frame, content, "event block header", located(content, error).fault);
                    (content.len(), BlobEncoding::FixedV4)
                }
            },
        };
        let begin = frame.body.start;
        self.cursor = Cursor::new(
            frame,
            encoding,
            begin.saturating_add(from as u64),
            begin.saturating_add(content.len() as u64),
        );
        self.odd_blob = OddBlob::default();
    }

    /// Steps to the next event of the block. `false`: there was none; the cursor may be done, or
    /// on a definition that a version 3 block holds among its events.
    #[inline(always)]
    pub(super) fn next_blob(&mut self, window: &[u8], start: u64) -> bool {
        if let Err(fault) = self.cursor.advance(window, start) {
            self.lose_rest(fault);
            return false;
        }
        self.accept(window, start)
    }

    /// Takes the blob that the cursor is on for an event, and says whether it is one.
    #[inline]
    pub(super) fn accept(&mut self, window: &[u8], start: u64) -> bool {
        let header = &self.cursor.header;
        self.statistics.events = self.statistics.events.wrapping_add(1);
        if header.metadata_id == 0 && !self.is_event_without_type(window, start) {
            return false;
        }
        let is_covered = self.has_references();
        if !is_covered && self.is_v6() && self.suspends(false) {
            return false;
        }
        let header = &self.cursor.header;
        if !self.losses.is_next(header.capture_thread, header.sequence) {
            if self.cursor.may_be_object() && self.stops_at_object(window, start) {
                return false;
            }
            if self.cursor.may_be_block(window, start) && self.suspends(true) {
                return false;
            }
            self.check_number();
        }
        if !is_covered {
            self.note_references();
        }
        true
    }

    /// The rest of the block cannot be read.
    #[cold]
    pub(super) fn lose_rest(&mut self, fault: Fault) {
        let frame = self.cursor.frame;
        let at = index(self.cursor.at, frame.body.start);
        let lost = index(self.cursor.end, self.cursor.at);
        self.broken_at = Some(self.cursor.at);
        self.damage_in(frame).rest_lost(at, lost, "event blob", fault);
        self.leave_block();
    }

    /// Whether the blob that the cursor is on is what ends an object and begins the next: then the
    /// block's size is wrong, and its rows end here.
    #[cold]
    fn stops_at_object(&mut self, window: &[u8], start: u64) -> bool {
        let from = index(self.cursor.blob, start);
        if !self.cursor.is_object(window.get(from..).unwrap_or_default()) {
            return false;
        }
        self.stop_before_blob();
        true
    }

    /// Whether the blob that the cursor is on must be looked at first, because it may be none: in version 6,
    /// where an id of it stands for nothing, which is looked at once a block, or it looks like a block's
    /// header. Then the cursor is as if it were done, until [`State::resume`] is called.
    #[cold]
    fn suspends(&mut self, is_header: bool) -> bool {
        let (block, blob) = (Some(self.cursor.frame.start), Some(self.cursor.blob));
        let was_seen = self.odd_blob.seen == blob || (!is_header && self.odd_blob.block == block);
        if was_seen || !self.block_is_whole || !(is_header || self.has_unknown_id(&self.cursor.header)) {
            return false;
        }
        let block = if is_header { self.odd_blob.block } else { block };
        self.odd_blob = OddBlob { block, seen: blob, behind: Some(self.cursor.at), is_header };
        self.leave_block();
        true
    }

    /// Goes on with the blob that was to be looked at. It was counted as an event when it was met.
    pub(super) fn resume(&mut self) {
        if let Some(at) = self.odd_blob.behind.take() {
            self.cursor.at = at;
        }
    }

    /// Takes the blob that was looked at for an event after all.
    pub(super) fn accept_resumed(&mut self, window: &[u8], start: u64) -> bool {
        self.statistics.events = self.statistics.events.wrapping_sub(1);
        self.accept(window, start)
    }

    /// The blob that the cursor is on is none, and its block's size is wrong. It was counted as an event.
    pub(super) fn stop_before_blob(&mut self) {
        self.statistics.events = self.statistics.events.wrapping_sub(1);
        self.cursor.at = self.cursor.blob;
        let size = i32::try_from(self.cursor.frame.body.len).unwrap_or(i32::MAX);
        self.lose_rest(Fault::BlockSize(size));
    }

    /// Metadata id 0: in version 3 a definition, else an event of an undefined type.
    #[cold]
    fn is_event_without_type(&mut self, window: &[u8], start: u64) -> bool {
        if !self.context.is_v3() {
            return true;
        }
        self.statistics.events = self.statistics.events.wrapping_sub(1);
        let frame = self.cursor.frame;
        let from = index(self.cursor.payload_at, start);
        let size = self.cursor.header.payload_size as usize;
        let payload = window.get(from..).and_then(|rest| rest.get(..size)).unwrap_or_default();
        let at = index(self.cursor.payload_at, frame.body.start);
        self.define_v5(payload, at, frame);
        self.statistics.add_rows(BlockKind::Metadata, 1);
        false
    }

    /// A number that is not the next of the current thread.
    #[inline(never)]
    fn check_number(&mut self) {
        let header = &self.cursor.header;
        let (thread, number, limit) = (header.capture_thread, header.sequence, self.limits.table_rows);
        match self.context.version() {
            Some(Version::V3) | None => {}
            // An event of id 0 takes no number of its own in versions 4 and 5.
            Some(Version::V4) if header.metadata_id == 0 => {}
            Some(Version::V4) => self.losses.event_v4(thread, number, limit),
            Some(Version::V6 { .. }) => {
                if !self.losses.event_v6(thread, number, limit) {
                    self.note_event("sequence number", Fault::NumberFell(number));
                }
            }
        }
    }

    /// Whether all ids of the current event are known to stand for something.
    #[inline(always)]
    fn has_references(&self) -> bool {
        self.context.tables.covered.covers(&self.cursor.header, self.is_v6())
            && !self.cursor.header.has_reserved_flag
    }

    /// Notes ids of the current event that stand for nothing.
    #[inline(never)]
    fn note_references(&mut self) {
        self.is_irregular |= self.must_cover;
        if self.cursor.header.has_reserved_flag {
            self.note_event("flags", Fault::ReservedFlag(0x20));
        }
        for (context, fault) in self.unknown_ids(&self.cursor.header).into_iter().flatten() {
            self.note_event(context, fault);
        }
    }

    /// Whether an id of an event stands for nothing, or a flag of it.
    pub(super) fn has_unknown_id(&self, header: &BlobHeader) -> bool {
        header.has_reserved_flag || self.unknown_ids(header).iter().any(Option::is_some)
    }

    /// Ids of an event that stand for nothing.
    fn unknown_ids(&self, header: &BlobHeader) -> [Option<(&'static str, Fault)>; 5] {
        let tables = &self.context.tables;
        let mut missing = [None; 5];
        if tables.metadata.slot(u64::from(header.metadata_id)) == NO_SLOT {
            missing[0] = Some(("metadata id", Fault::UndefinedMetadata(header.metadata_id)));
        }
        let has_stack_id = !self.context.is_v3() && header.stack != 0;
        if has_stack_id && tables.stacks.slot(header.stack) == NO_SLOT {
            missing[1] = Some(("stack id", Fault::UndefinedStack(header.stack)));
        }
        if self.context.is_v6() {
            if tables.threads.slot(header.thread) == NO_SLOT {
                missing[2] = Some(("thread index", Fault::UndefinedThread(header.thread)));
            }
            if header.capture_thread != header.thread && tables.threads.slot(header.capture_thread) == NO_SLOT
            {
                missing[3] = Some(("capture thread index", Fault::UndefinedThread(header.capture_thread)));
            }
            if header.label_list != 0 && tables.labels.slot(header.label_list) == NO_SLOT {
                missing[4] = Some(("label list id", Fault::UndefinedLabels(header.label_list)));
            }
        }
        missing
    }

    #[cold]
    fn note_event(&mut self, context: &'static str, fault: Fault) {
        let frame = self.cursor.frame;
        let at = index(self.cursor.blob, frame.body.start);
        self.damage.in_block(frame).note(at, context, fault);
    }

    /// The event the cursor is on.
    #[inline(always)]
    pub(crate) fn event<'a>(&'a self, window: &'a [u8], start: u64) -> Event<'a> {
        let cursor = &self.cursor;
        Event::new(&self.context, &cursor.header, None, cursor.payload_at, window, start)
    }
}
