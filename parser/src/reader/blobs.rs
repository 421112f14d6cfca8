//! Walks an event block blob by blob, and checks each event.

use super::state::{MIN_SEARCHED_PAYLOAD, State};
use crate::blob::{BlobEncoding, BlobHeader};
use crate::block::event::header as event_block_header;
use crate::bytes::before;
use crate::cursor::{Cursor, StatedTimes};
use crate::error::{Fault, located};
use crate::event::Event;
use crate::frame::{BlockKind, Frame};
use crate::loss::RowPlace;
use crate::payload::Fields;
use crate::source::index;
use crate::tables::NO_SLOT;
use crate::version::Version;

/// Number of undefined ids and flags in a block's rows that is a contradiction. One
/// undefined id of a type, and in version 6 of anything, is enough: it must be defined
/// before it is used.
const MIN_ODD_VALUES: u32 = 3;

/// Minimum number of consecutive all-zero rows that count as damage.
const MIN_BLANK_ROWS: u32 = 4;
/// Minimum total size of a run of all-zero rows, in bytes, in versions 4 and 5.
const MIN_BLANK_BYTES: usize = 512;
/// Distance in bytes between the places of a block of versions 4 and 5 that are searched
/// for zeros.
const ZERO_SEARCH_STRIDE: usize = 8192;

/// Minimum number of rows that fill the payload exactly, each later than the one before.
/// Fewer may be there by chance.
const MIN_ROWS_TO_END: u32 = 8;
/// Minimum number of such rows if they do not lead to the payload's end.
const MIN_ROWS: u32 = 32;
/// Maximum number of bytes between the fields and the rows.
const MAX_UNDESCRIBED_BYTES: u32 = 16;

/// Maximum number of processors of a machine; no machine has as many. The stream's own
/// number is no limit, because it may only count processors that the process could use.
const MAX_PROCESSORS: u32 = 1 << 16;

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
                    times = Some(StatedTimes::stated(&header, begin.saturating_add(from as u64)));
                    (from, BlobEncoding::for_version(version, header.is_compressed))
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

    /// Moves to the next event of the block. Returns `false` if there is none; the cursor
    /// may then be at the end, or at a definition among the events of a version 3 block.
    #[inline(always)]
    pub(super) fn next_blob(&mut self, window: &[u8], start: u64) -> bool {
        if let Err(fault) = self.cursor.advance(window, start) {
            self.lose_rest(fault);
            return false;
        }
        self.accept(window, start)
    }

    /// Accepts the blob at the cursor as an event. Returns whether it is one.
    #[inline]
    pub(super) fn accept(&mut self, window: &[u8], start: u64) -> bool {
        let header = &self.cursor.header;
        self.statistics.events = self.statistics.events.wrapping_add(1);
        if header.metadata_id == 0 && !self.accept_without_type(window, start) {
            return false;
        }
        let is_covered = self.has_references();
        if !is_covered && self.stop_at_block(window, start) {
            return false;
        }
        let header = &self.cursor.header;
        let is_contradicted = self.cursor.is_contradicted;
        let is_next = !is_contradicted
            && self.losses.count_if_next(header.capture_thread, header.sequence, header.timestamp);
        if !is_next {
            if self.cursor.may_be_object() && self.stop_at_object(window, start)
                || self.stop_at_block(window, start)
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
            if is_next { header.timestamp > self.cursor.times.max() } else { !is_within };
        if is_outside {
            self.add_contradiction("timestamp", Fault::TimeOutside(self.cursor.header.timestamp));
        } else if !is_next && header.processor >= MAX_PROCESSORS && header.processor != u32::MAX {
            self.add_contradiction("processor", Fault::Processor(self.cursor.header.processor));
        } else if header.header_size == 2 && self.is_v6() {
            self.check_blank(window, start);
        } else if header.payload_size >= MIN_SEARCHED_PAYLOAD && self.is_v6() {
            self.check_payload(window, start);
        }
        true
    }

    /// Checks a version 6 row that changes nothing, not even the time. If it consists of
    /// zeros, it may not be a row.
    #[cold]
    fn check_blank(&mut self, window: &[u8], start: u64) {
        let (from, to) = (index(self.cursor.blob, start), index(self.cursor.at, start));
        if window.get(from..to).is_none_or(|row| row.iter().any(|byte| *byte != 0)) {
            return;
        }
        let follows = self.cursor.blank_to == self.cursor.blob;
        self.cursor.blank_rows = if follows { self.cursor.blank_rows.saturating_add(1) } else { 1 };
        self.cursor.blank_to = self.cursor.at;
        if self.cursor.blank_rows == MIN_BLANK_ROWS {
            self.add_contradiction("event row", Fault::Zeros);
        }
    }

    /// Checks a large payload of version 6. If the bytes after its last field are rows to
    /// its end, its size is wrong.
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
        if !is_described || fields.rest().len() < MIN_SEARCHED_PAYLOAD as usize {
            return;
        }
        // Writers store a few bytes that they do not describe. If the size was damaged,
        // some bytes of the payload may now be taken for its size.
        let min_size = u32::try_from(fields.rest_offset()).unwrap_or(u32::MAX);
        let sizes = min_size..=min_size.saturating_add(MAX_UNDESCRIBED_BYTES);
        if [0].into_iter().chain(sizes).any(|size| self.has_rows_after(size, window, start)) {
            self.add_contradiction("payload size", Fault::RowsInPayload(size));
        }
    }

    /// Returns whether rows fill the payload at the cursor after its first `size` bytes.
    fn has_rows_after(&self, size: u32, window: &[u8], start: u64) -> bool {
        let Cursor { frame, encoding, payload_at, at: to, end, header, .. } = self.cursor;
        let mut rows = Cursor::new(frame, encoding, payload_at.saturating_add(size.into()), end);
        // Rows that state no size have the size of the row before them.
        rows.header = BlobHeader { payload_size: size, ..header };
        let mut later = 0u32;
        while rows.at < to {
            let before = rows.header.timestamp;
            if rows.advance(window, start).is_err() || self.has_unknown_id(&rows.header) {
                // There may be further damage.
                return later >= MIN_ROWS;
            }
            if rows.header.timestamp > self.cursor.times.max() {
                return false;
            }
            later = later.saturating_add(u32::from(rows.header.timestamp > before));
        }
        later >= MIN_ROWS_TO_END
    }

    /// Reports that a correct writer cannot have written the row at the cursor.
    #[cold]
    fn add_contradiction(&mut self, context: &'static str, fault: Fault) {
        self.add_contradiction_at(self.cursor.blob, context, fault);
    }

    /// Reports that a correct writer cannot have written the bytes at a position in the
    /// block. Only the first contradiction of a block is reported, because the bytes
    /// after it may be arbitrary.
    #[cold]
    pub(super) fn add_contradiction_at(
        &mut self,
        position: u64,
        context: &'static str,
        fault: Fault,
    ) {
        if std::mem::replace(&mut self.cursor.is_contradicted, true) {
            return;
        }
        self.losses.distrust_block();
        let frame = self.cursor.frame;
        self.damage.in_block(frame).add_contradiction(
            index(position, frame.body.start),
            context,
            fault,
        );
    }

    /// Reports contradictions that later sequence numbers revealed. Their rows have
    /// already been delivered.
    pub(super) fn report_contradictions(&mut self) {
        for (place, fault) in self.losses.take_contradictions() {
            // Every sequence number has its place if the reader reads the whole stream.
            let Some(place) = place else { continue };
            let at = index(place.position, place.frame.body.start);
            self.damage.in_block(place.frame).add_contradiction(at, "sequence number", fault);
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

    /// Checks the times that a block states against every row, for writers whose threads
    /// go back in time.
    #[cold]
    fn check_each_time(&mut self, window: &[u8], start: u64) {
        let Cursor { frame, encoding, end, times, .. } = self.cursor;
        let mut rows = Cursor::new(frame, encoding, times.rows_at, end);
        rows.times = StatedTimes { earliest: u64::MAX, latest: 0, ..times };
        while !rows.is_done() && rows.advance(window, start).is_ok() {
            rows.times.meet(rows.header.timestamp);
        }
        // The two times follow size and flags in the block's header.
        if rows.times.latest < times.span {
            let stated = times.min.saturating_add(times.span);
            let fault = Fault::TimeUnmet { is_largest: true, stated };
            self.add_contradiction_at(
                frame.body.start.saturating_add(12),
                "event block header",
                fault,
            );
        } else if rows.times.earliest > 0 {
            let fault = Fault::TimeUnmet { is_largest: false, stated: times.min };
            self.add_contradiction_at(
                frame.body.start.saturating_add(4),
                "event block header",
                fault,
            );
        }
    }

    /// Checks whether there are zeros where rows were: as compressed rows they repeat the
    /// row before them at its time. Since zeros are rare, checking each row would cost
    /// too much. So a few bytes of each eight kilobytes are examined first.
    #[inline(never)]
    fn check_zeros(&mut self, window: &[u8], start: u64) {
        let (from, to) = (self.cursor.times.rows_at, self.cursor.end);
        let rows = window.get(index(from, start)..index(to, start)).unwrap_or_default();
        let is_zero = |part: &[u8]| part.first() == Some(&0) && part.starts_with(&[0; 128]);
        if rows.chunks(ZERO_SEARCH_STRIDE).any(is_zero) {
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
            if blank_rows >= MIN_BLANK_ROWS && blank_bytes >= MIN_BLANK_BYTES {
                return self.add_contradiction_at(from, "event row", Fault::Zeros);
            }
        }
    }

    /// Gives up the rest of the block, which cannot be read.
    #[cold]
    pub(super) fn lose_rest(&mut self, fault: Fault) {
        let frame = self.cursor.frame;
        let at = index(self.cursor.at, frame.body.start);
        let lost = index(self.cursor.end, self.cursor.at);
        self.broken_at = Some(self.cursor.at);
        self.damage_in(frame).add_lost_rest(at, lost, "event blob", fault);
        self.leave_block();
    }

    /// Stops the block if the blob at the cursor is really the end of an object and the
    /// beginning of the next one: the block's size is wrong, and its rows end here.
    /// Returns whether it did.
    #[cold]
    fn stop_at_object(&mut self, window: &[u8], start: u64) -> bool {
        let from = index(self.cursor.blob, start);
        if !self.cursor.is_object(window.get(from..).unwrap_or_default()) {
            return false;
        }
        self.stop_before_blob();
        true
    }

    /// Stops the block if the blob at the cursor is really a block of version 6: the size
    /// is wrong, and the rows end here. Returns whether it did.
    #[inline]
    fn stop_at_block(&mut self, window: &[u8], start: u64) -> bool {
        let stops = self.cursor.is_covered_block(window, start);
        if stops {
            self.stop_before_blob();
        }
        stops
    }

    /// Ends the block before the blob at the cursor, which is no blob: the block's size
    /// is wrong. The blob was counted as an event.
    #[cold]
    fn stop_before_blob(&mut self) {
        self.statistics.events = self.statistics.events.wrapping_sub(1);
        self.cursor.at = self.cursor.blob;
        let size = i32::try_from(self.cursor.frame.body.len).unwrap_or(i32::MAX);
        self.lose_rest(Fault::BlockSize(size));
    }

    /// Handles metadata id 0: a definition in version 3, otherwise an event of an
    /// undefined type. Returns whether it is an event.
    #[cold]
    fn accept_without_type(&mut self, window: &[u8], start: u64) -> bool {
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
                let is_in_order =
                    self.losses.count_event_v4(thread, number, ticks, Some(place), limit);
                self.report_contradictions();
                if !is_in_order {
                    self.add_contradiction("timestamp", Fault::TimeFalls(ticks));
                }
            }
            Some(Version::V6 { .. }) => {
                if !self.losses.count_event_v6(thread, number, limit) {
                    self.add_contradiction("sequence number", Fault::NumberFell(number));
                }
            }
        }
    }

    /// Returns whether all ids of the current event are known to be defined.
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
        let max_values = if is_sure { 1 } else { MIN_ODD_VALUES };
        let has_all = !self.blocks_were_lost && !self.ids_were_lost;
        if self.cursor.odd_values >= max_values && has_all && !self.cursor.is_contradicted {
            self.add_contradiction(context, fault);
        } else {
            self.note_event(context, fault);
        }
    }

    /// Returns whether every id that a correct writer uses is defined here.
    pub(super) fn must_be_defined(&self) -> bool {
        self.is_v6() && !self.blocks_were_lost && !self.ids_were_lost
    }

    /// Returns whether an event has an undefined id or flag.
    pub(super) fn has_unknown_id(&self, header: &BlobHeader) -> bool {
        header.has_reserved_flag || self.unknown_ids(header).iter().any(Option::is_some)
    }

    /// Returns the undefined ids of an event.
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

    /// Returns the event at the cursor.
    #[inline(always)]
    pub(crate) fn event<'a>(&'a self, window: &'a [u8], start: u64) -> Event<'a> {
        let cursor = &self.cursor;
        Event::new(&self.context, &cursor.header, None, cursor.payload_at, window, start)
    }
}
