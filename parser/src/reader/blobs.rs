//! The way through an event block, blob by blob, and what an event is checked for.

use super::cursor::{Cursor, Times};
use super::state::{OddBlob, State};
use crate::blob::{BlobEncoding, BlobHeader};
use crate::block::event::header as event_block_header;
use crate::error::{Fault, located};
use crate::event::Event;
use crate::frame::{BlockKind, Frame};
use crate::loss::Place;
use crate::primitive::before;
use crate::source::index;
use crate::tables::NO_SLOT;
use crate::version::Version;

/// Ids and flags of a block's rows that stand for nothing, with which the block contradicts itself.
const ODD_VALUES: u32 = 3;

/// Rows of zeros, one behind the other, that are no rows.
const BLANK_ROWS: u32 = 4;

/// No machine has as many processors. What the stream says of theirs may be those that the process could use.
const MOST_PROCESSORS: u32 = 1 << 16;

impl State {
    /// Passes over what is left of the current event block.
    pub(super) fn leave_block(&mut self) {
        self.cursor.at = self.cursor.end;
        // Not all of its rows were met.
        self.cursor.times.span = u64::MAX;
    }

    /// Puts the cursor on the first blob of an event block.
    pub(super) fn open_events(&mut self, frame: Frame, content: &[u8]) {
        let begin = frame.body.start;
        let mut times = None;
        let (from, encoding) = match self.context.version() {
            Some(Version::V3) => (0, BlobEncoding::FixedV3),
            version => match event_block_header(content) {
                Ok((rest, header)) => {
                    let version = version.unwrap_or(Version::V4);
                    let from = before(content, rest);
                    times = Some(Times::stated(&header, begin.saturating_add(from as u64)));
                    (from, BlobEncoding::of(version, header.is_compressed))
                }
                Err(error) => {
                    self.lose_block(frame, content, "event block header", located(content, error).fault);
                    (content.len(), BlobEncoding::FixedV4)
                }
            },
        };
        self.cursor = Cursor::new(
            frame,
            encoding,
            begin.saturating_add(from as u64),
            begin.saturating_add(content.len() as u64),
        );
        self.cursor.times = times.unwrap_or(self.cursor.times);
        self.losses.begin_block();
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
        let is_doubted = self.cursor.is_doubted;
        let is_next =
            !is_doubted && self.losses.is_next(header.capture_thread, header.sequence, header.timestamp);
        if !is_next {
            if self.cursor.may_be_object() && self.stops_at_object(window, start) {
                return false;
            }
            if self.cursor.may_be_block(window, start) && self.suspends(true) {
                return false;
            }
            if !is_doubted {
                self.check_number();
            }
        }
        if !is_covered {
            self.note_references();
        }
        let header = &self.cursor.header;
        let is_within = self.cursor.times.meet(header.timestamp);
        // Of the next row of a run only the largest time is asked, here as where runs go fast.
        let is_outside = if is_next { header.timestamp > self.cursor.times.most() } else { !is_within };
        if is_outside {
            self.contradicts("timestamp", Fault::TimeOutside(self.cursor.header.timestamp));
        } else if !is_next && header.processor >= MOST_PROCESSORS && header.processor != u32::MAX {
            self.contradicts("processor", Fault::Processor(self.cursor.header.processor));
        } else if header.header_size == 2 && self.is_v6() {
            self.check_blank(window, start);
        }
        self.cursor.header.is_doubted = self.cursor.is_doubted;
        if self.cursor.is_doubted && self.limits.only_sound {
            self.statistics.events = self.statistics.events.wrapping_sub(1);
            return false;
        }
        true
    }

    /// A row of version 6 that says nothing new, not even a time: of zeros only, it may be no row.
    #[cold]
    fn check_blank(&mut self, window: &[u8], start: u64) {
        let (from, to) = (index(self.cursor.blob, start), index(self.cursor.at, start));
        if window.get(from..to).is_none_or(|row| row.iter().any(|byte| *byte != 0)) {
            return;
        }
        let follows = self.cursor.blank_to == self.cursor.blob;
        self.cursor.blank_rows = if follows { self.cursor.blank_rows.saturating_add(1) } else { 1 };
        self.cursor.blank_to = self.cursor.at;
        if self.cursor.blank_rows == BLANK_ROWS {
            self.contradicts("event row", Fault::Zeros);
        }
    }

    /// The row that the cursor is on cannot have been written by a sound writer.
    #[cold]
    fn contradicts(&mut self, context: &'static str, fault: Fault) {
        self.contradicts_at(self.cursor.blob, context, fault);
    }

    /// The same of any place of the block. Only the first contradiction of a block is told: what follows may be made
    /// of anything.
    #[cold]
    pub(super) fn contradicts_at(&mut self, position: u64, context: &'static str, fault: Fault) {
        if std::mem::replace(&mut self.cursor.is_doubted, true) {
            return;
        }
        self.losses.doubt_block();
        let frame = self.cursor.frame;
        self.damage.in_block(frame).contradicts(index(position, frame.body.start), context, fault);
    }

    /// Tells contradictions that later numbers brought to light. Their rows were given.
    pub(super) fn tell_contradictions(&mut self) {
        for (place, fault) in self.losses.take_contradictions() {
            // Every number that a reader meets has its place.
            let Some(place) = place else { continue };
            let at = index(place.position, place.frame.body.start);
            self.damage.in_block(place.frame).contradicts(at, "sequence number", fault);
        }
    }

    /// All rows of a block were given that reach to where its header says.
    pub(super) fn check_times(&mut self, window: &[u8], start: u64) {
        let times = self.cursor.times;
        let is_met = times.latest == times.span && times.earliest == 0;
        // Other writers round them.
        let is_exact = self.cursor.encoding == BlobEncoding::CompressedV4 && times.span != u64::MAX;
        if is_met || !is_exact || self.cursor.is_doubted || !self.block_is_whole || self.broken_at.is_some() {
            return;
        }
        self.check_each_time(window, start);
    }

    /// The same by a look at each row, for writers whose threads go back in time.
    #[cold]
    fn check_each_time(&mut self, window: &[u8], start: u64) {
        let Cursor { frame, encoding, end, times, .. } = self.cursor;
        let mut rows = Cursor::new(frame, encoding, times.rows_at, end);
        rows.times = Times { earliest: u64::MAX, latest: 0, ..times };
        while !rows.is_done() && rows.advance(window, start).is_ok() {
            rows.times.meet(rows.header.timestamp);
        }
        // The two times stand behind size and flags.
        if rows.times.latest < times.span {
            let stated = times.least.saturating_add(times.span);
            let fault = Fault::TimeUnmet { is_largest: true, stated };
            self.contradicts_at(frame.body.start.saturating_add(12), "event block header", fault);
        } else if rows.times.earliest > 0 {
            let fault = Fault::TimeUnmet { is_largest: false, stated: times.least };
            self.contradicts_at(frame.body.start.saturating_add(4), "event block header", fault);
        }
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
        self.cursor.at = self.cursor.end;
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
            Some(Version::V4) => {
                let ticks = header.timestamp;
                let place = Place { frame: self.cursor.frame, position: self.cursor.blob };
                let is_in_order = self.losses.event_v4(thread, number, ticks, Some(place), limit);
                self.tell_contradictions();
                if !is_in_order {
                    self.contradicts("timestamp", Fault::TimeFalls(ticks));
                }
            }
            Some(Version::V6 { .. }) => {
                if !self.losses.event_v6(thread, number, limit) {
                    self.contradicts("sequence number", Fault::NumberFell(number));
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
            self.note_odd("flags", Fault::ReservedFlag(0x20));
        }
        for (context, fault) in self.unknown_ids(&self.cursor.header).into_iter().flatten() {
            self.note_odd(context, fault);
        }
    }

    /// Notes a value that stands for nothing. One is odd; so many are what other bytes look like, unless definitions
    /// were lost.
    fn note_odd(&mut self, context: &'static str, fault: Fault) {
        self.cursor.odd_values = self.cursor.odd_values.saturating_add(1);
        if self.cursor.odd_values >= ODD_VALUES && !self.blocks_were_lost && !self.cursor.is_doubted {
            self.contradicts(context, fault);
        } else {
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
