//! Walks an event block blob by blob, and checks each event.

use super::state::{LEAST_OF_ROWS, State};
use crate::blob::{BlobEncoding, BlobHeader};
use crate::block::event::header as event_block_header;
use crate::cursor::{Cursor, Times};
use crate::error::{Fault, located};
use crate::event::Event;
use crate::frame::{BlockKind, Frame};
use crate::loss::RowPlace;
use crate::payload::Fields;
use crate::primitive::before;
use crate::source::index;
use crate::tables::NO_SLOT;
use crate::version::Version;

/// This many undefined ids and flags in a block's rows are a contradiction. One undefined id
/// of a type, and in version 6 of anything, is enough: it must be defined before it is used.
const ODD_VALUES: u32 = 3;

/// This many consecutive rows of zeros are not rows.
const BLANK_ROWS: u32 = 4;
/// In versions 4 and 5, as many bytes of them.
const LEAST_BLANK_BYTES: usize = 512;
/// Where in a block of versions 4 and 5 zeros are looked for.
const ZEROS_EVERY: usize = 8192;

/// Fewer rows in a payload, each with a later time, may be there by chance,
const LEAST_ROWS: u32 = 8;
/// and fewer if they do not lead to its end.
const MANY_ROWS: u32 = 32;
/// Maximum number of bytes between the fields and the rows.
const MOST_UNDESCRIBED: u32 = 16;

/// More processors than any machine has. The stream's own number is no limit, because it
/// may only count processors that the process could use.
const MOST_PROCESSORS: u32 = 1 << 16;

impl State {
    /// Skips the rest of the current event block.
    pub(super) fn leave_block(&mut self) {
        self.cursor.at = self.cursor.end;
        // Not all rows have been checked.
        self.cursor.times.span = u64::MAX;
    }

    /// Moves the cursor to the first blob of an event block.
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
                    self.lose_block(
                        frame,
                        content,
                        "event block header",
                        located(content, error).fault,
                    );
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
    }

    /// Moves to the next event of the block. `false` if there is none; the cursor may
    /// then be at the end, or at a definition among the events of a version 3 block.
    #[inline(always)]
    pub(super) fn next_blob(&mut self, window: &[u8], start: u64) -> bool {
        if let Err(fault) = self.cursor.advance(window, start) {
            self.lose_rest(fault);
            return false;
        }
        self.accept(window, start)
    }

    /// Accepts the blob at the cursor as an event, and returns whether it is one.
    #[inline]
    pub(super) fn accept(&mut self, window: &[u8], start: u64) -> bool {
        let header = &self.cursor.header;
        self.statistics.events = self.statistics.events.wrapping_add(1);
        if header.metadata_id == 0 && !self.is_event_without_type(window, start) {
            return false;
        }
        let is_covered = self.has_references();
        if !is_covered && self.stops_at_block(window, start) {
            return false;
        }
        let header = &self.cursor.header;
        let is_contradicted = self.cursor.is_contradicted;
        let is_next = !is_contradicted
            && self.losses.is_next(header.capture_thread, header.sequence, header.timestamp);
        if !is_next {
            if self.cursor.may_be_object() && self.stops_at_object(window, start)
                || self.stops_at_block(window, start)
            {
                return false;
            }
            if !is_contradicted {
                self.check_number();
            }
        }
        if !is_covered {
            self.note_references();
        }
        let header = &self.cursor.header;
        let is_within = self.cursor.times.meet(header.timestamp);
        // In a run, as on the fast path, only the largest time is checked.
        let is_outside =
            if is_next { header.timestamp > self.cursor.times.most() } else { !is_within };
        if is_outside {
            self.contradicts("timestamp", Fault::TimeOutside(self.cursor.header.timestamp));
        } else if !is_next && header.processor >= MOST_PROCESSORS && header.processor != u32::MAX {
            self.contradicts("processor", Fault::Processor(self.cursor.header.processor));
        } else if header.header_size == 2 && self.is_v6() {
            self.check_blank(window, start);
        } else if header.payload_size >= LEAST_OF_ROWS && self.is_v6() {
            self.check_payload(window, start);
        }
        true
    }

    /// A version 6 row that changes nothing, not even the time. If it consists of zeros,
    /// it may not be a row.
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

    /// A large payload of version 6. If the bytes after its last field are rows to its end, its
    /// size is wrong.
    #[cold]
    fn check_payload(&mut self, window: &[u8], start: u64) {
        let (payload_at, size) = (self.cursor.payload_at, self.cursor.header.payload_size);
        let id = u64::from(self.cursor.header.metadata_id);
        let Some(metadata) = self.context.tables.metadata.get(id) else { return };
        let schema = &metadata.schema;
        let payload = window.get(index(payload_at, start)..).unwrap_or_default();
        let Some(payload) = payload.get(..size as usize) else { return };
        let mut fields = Fields::new(schema, payload, self.context.trace.pointer_size);
        while fields.next().is_some() {}
        let is_described = !schema.fields.is_empty() && schema.opaque.is_none();
        if !is_described || fields.rest().len() < LEAST_OF_ROWS as usize {
            return;
        }
        // Writers store a few bytes that they do not describe. A size that was written over may
        // have taken the payload's bytes for its own.
        let least = u32::try_from(fields.rest_offset()).unwrap_or(u32::MAX);
        let sizes = least..=least.saturating_add(MOST_UNDESCRIBED);
        if [0].into_iter().chain(sizes).any(|size| self.has_rows_after(size, window, start)) {
            self.contradicts("payload size", Fault::RowsInPayload(size));
        }
    }

    /// Whether rows fill the payload at the cursor after its first `size` bytes.
    fn has_rows_after(&self, size: u32, window: &[u8], start: u64) -> bool {
        let Cursor { frame, encoding, payload_at, at: to, end, header, .. } = self.cursor;
        let mut rows = Cursor::new(frame, encoding, payload_at.saturating_add(size.into()), end);
        // Rows that state no size have that of the row before them.
        rows.header = BlobHeader { payload_size: size, ..header };
        let mut later = 0u32;
        while rows.at < to {
            let before = rows.header.timestamp;
            if rows.advance(window, start).is_err() || self.has_unknown_id(&rows.header) {
                // There may be further damage.
                return later >= MANY_ROWS;
            }
            if rows.header.timestamp > self.cursor.times.most() {
                return false;
            }
            later = later.saturating_add(u32::from(rows.header.timestamp > before));
        }
        later >= LEAST_ROWS
    }

    /// A correct writer cannot have written the row at the cursor.
    #[cold]
    fn contradicts(&mut self, context: &'static str, fault: Fault) {
        self.contradicts_at(self.cursor.blob, context, fault);
    }

    /// The same for any position in the block. Only the first contradiction of a block is
    /// reported, because what follows it may be arbitrary bytes.
    #[cold]
    pub(super) fn contradicts_at(&mut self, position: u64, context: &'static str, fault: Fault) {
        if std::mem::replace(&mut self.cursor.is_contradicted, true) {
            return;
        }
        self.losses.distrust_block();
        let frame = self.cursor.frame;
        self.damage.in_block(frame).contradicts(index(position, frame.body.start), context, fault);
    }

    /// Reports contradictions that later sequence numbers revealed. Their rows have
    /// already been delivered.
    pub(super) fn tell_contradictions(&mut self) {
        for (place, fault) in self.losses.take_contradictions() {
            // Every sequence number has its place if the reader reads the whole stream.
            let Some(place) = place else { continue };
            let at = index(place.position, place.frame.body.start);
            self.damage.in_block(place.frame).contradicts(at, "sequence number", fault);
        }
    }

    /// Checks a block after all of its rows have been delivered.
    pub(super) fn check_block(&mut self, window: &[u8], start: u64) {
        // Other writers round times and write zeros.
        let is_exact = self.cursor.encoding == BlobEncoding::CompressedV4
            && self.cursor.times.span != u64::MAX;
        if is_exact
            && !self.cursor.is_contradicted
            && self.block_is_whole
            && self.broken_at.is_none()
        {
            self.check_times(window, start);
            self.check_zeros(window, start);
        }
    }

    /// Checks the times that a block states.
    fn check_times(&mut self, window: &[u8], start: u64) {
        let times = self.cursor.times;
        let is_met = times.latest == times.span && times.earliest == 0;
        if !is_met {
            self.check_each_time(window, start);
        }
    }

    /// The same by checking every row, for writers whose threads go back in time.
    #[cold]
    fn check_each_time(&mut self, window: &[u8], start: u64) {
        let Cursor { frame, encoding, end, times, .. } = self.cursor;
        let mut rows = Cursor::new(frame, encoding, times.rows_at, end);
        rows.times = Times { earliest: u64::MAX, latest: 0, ..times };
        while !rows.is_done() && rows.advance(window, start).is_ok() {
            rows.times.meet(rows.header.timestamp);
        }
        // The two times follow size and flags in the block's header.
        if rows.times.latest < times.span {
            let stated = times.least.saturating_add(times.span);
            let fault = Fault::TimeUnmet { is_largest: true, stated };
            self.contradicts_at(frame.body.start.saturating_add(12), "event block header", fault);
        } else if rows.times.earliest > 0 {
            let fault = Fault::TimeUnmet { is_largest: false, stated: times.least };
            self.contradicts_at(frame.body.start.saturating_add(4), "event block header", fault);
        }
    }

    /// Whether zeros lie where rows were: as compressed rows they repeat the row before them at
    /// its time. A test of each row would cost more than what is rarely there is worth, so a few
    /// bytes of each eight kilobytes are looked at first.
    #[inline(never)]
    fn check_zeros(&mut self, window: &[u8], start: u64) {
        let (from, to) = (self.cursor.times.rows_at, self.cursor.end);
        let rows = window.get(index(from, start)..index(to, start)).unwrap_or_default();
        let is_zero = |part: &[u8]| part.first() == Some(&0) && part.starts_with(&[0; 128]);
        if rows.chunks(ZEROS_EVERY).any(is_zero) {
            self.check_each_for_zeros(window, start);
        }
    }

    #[cold]
    fn check_each_for_zeros(&mut self, window: &[u8], start: u64) {
        let Cursor { frame, encoding, end, times, .. } = self.cursor;
        let mut rows = Cursor::new(frame, encoding, times.rows_at, end);
        let (mut blank_rows, mut blank_bytes) = (0u32, 0usize);
        while !rows.is_done() {
            let from = rows.at;
            if rows.advance(window, start).is_err() {
                return;
            }
            let row = window.get(index(from, start)..index(rows.at, start)).unwrap_or_default();
            if row.iter().any(|byte| *byte != 0) {
                (blank_rows, blank_bytes) = (0, 0);
                continue;
            }
            blank_rows = blank_rows.saturating_add(1);
            blank_bytes = blank_bytes.saturating_add(row.len());
            if blank_rows >= BLANK_ROWS && blank_bytes >= LEAST_BLANK_BYTES {
                return self.contradicts_at(from, "event row", Fault::Zeros);
            }
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

    /// Whether the blob at the cursor is really the end of an object and the beginning of
    /// the next one. Then the block's size is wrong, and its rows end here.
    #[cold]
    fn stops_at_object(&mut self, window: &[u8], start: u64) -> bool {
        let from = index(self.cursor.blob, start);
        if !self.cursor.is_object(window.get(from..).unwrap_or_default()) {
            return false;
        }
        self.stop_before_blob();
        true
    }

    /// The same for a block of version 6.
    #[inline]
    fn stops_at_block(&mut self, window: &[u8], start: u64) -> bool {
        let stops = self.cursor.is_covered_block(window, start);
        if stops {
            self.stop_before_blob();
        }
        stops
    }

    /// The blob at the cursor is not one, and its block's size is wrong. It was counted
    /// as an event.
    #[cold]
    fn stop_before_blob(&mut self) {
        self.statistics.events = self.statistics.events.wrapping_sub(1);
        self.cursor.at = self.cursor.blob;
        let size = i32::try_from(self.cursor.frame.body.len).unwrap_or(i32::MAX);
        self.lose_rest(Fault::BlockSize(size));
    }

    /// Metadata id 0: a definition in version 3, otherwise an event of an undefined type.
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

    /// Checks a sequence number that is not the next of the current thread.
    #[inline(never)]
    fn check_number(&mut self) {
        let header = &self.cursor.header;
        let (thread, number, limit) =
            (header.capture_thread, header.sequence, self.limits.table_rows);
        match self.context.version() {
            Some(Version::V3) | None => {}
            // In versions 4 and 5, an event with id 0 has no sequence number of its own.
            Some(Version::V4) if header.metadata_id == 0 => {}
            Some(Version::V4) => {
                let ticks = header.timestamp;
                let place = RowPlace { frame: self.cursor.frame, position: self.cursor.blob };
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

    /// Whether all ids of the current event are known to be defined.
    #[inline(always)]
    fn has_references(&self) -> bool {
        self.context.tables.covered.covers(&self.cursor.header, self.is_v6())
            && !self.cursor.header.has_reserved_flag
    }

    /// Reports undefined ids of the current event.
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

    /// Reports an undefined value. Unless definitions were lost, an undefined id of
    /// version 6, or several values in a block, indicate that the bytes are not rows.
    fn note_odd(&mut self, context: &'static str, fault: Fault) {
        self.cursor.odd_values = self.cursor.odd_values.saturating_add(1);
        // In version 6 any id is defined before it is used; in others those of types are.
        let is_sure = match fault {
            Fault::ReservedFlag(_) => false,
            Fault::UndefinedMetadata(_) => !self.context.is_v3(),
            _ => self.is_v6(),
        };
        let most = if is_sure { 1 } else { ODD_VALUES };
        let has_all = !self.blocks_were_lost && !self.ids_were_lost;
        if self.cursor.odd_values >= most && has_all && !self.cursor.is_contradicted {
            self.contradicts(context, fault);
        } else {
            self.note_event(context, fault);
        }
    }

    /// Whether every id that a correct writer uses is defined here.
    pub(super) fn must_be_defined(&self) -> bool {
        self.is_v6() && !self.blocks_were_lost && !self.ids_were_lost
    }

    /// Whether an event has an undefined id or flag.
    pub(super) fn has_unknown_id(&self, header: &BlobHeader) -> bool {
        header.has_reserved_flag || self.unknown_ids(header).iter().any(Option::is_some)
    }

    /// The undefined ids of an event.
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
            if header.capture_thread != header.thread
                && tables.threads.slot(header.capture_thread) == NO_SLOT
            {
                missing[3] =
                    Some(("capture thread index", Fault::UndefinedThread(header.capture_thread)));
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

    /// The event at the cursor.
    #[inline(always)]
    pub(crate) fn event<'a>(&'a self, window: &'a [u8], start: u64) -> Event<'a> {
        let cursor = &self.cursor;
        Event::new(&self.context, &cursor.header, None, cursor.payload_at, window, start)
    }
}
