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

/// Minimum number of undefined ids and flags in a block's rows that count as a contradiction. One
/// is enough for an id that must be defined before it is used: a metadata id, or any id of version
/// 6.
const MIN_ODD_VALUES: u32 = 3;

/// Minimum number of consecutive all-zero rows that count as damage.
const MIN_BLANK_ROWS: u32 = 4;
/// Minimum size in bytes of consecutive all-zero rows that count as damage, versions 4 and 5.
const MIN_BLANK_BYTES: usize = 512;
/// Distance in bytes between the places of a block that are searched for zeros, versions 4 and
/// 5.
const ZERO_SEARCH_STRIDE: usize = 8192;

/// Minimum number of rows with rising times that are taken for real rows if they lie in a payload
/// and end where it does. Fewer may be there by chance.
const MIN_ROWS_TO_END: u32 = 8;
/// Minimum number of rows with rising times that are taken for real rows if they lie in a payload,
/// wherever they end.
const MIN_ROWS: u32 = 32;
/// Maximum number of bytes after a payload's fields that are skipped in the search for real rows in
/// the payload. Writers may store a few bytes there.
const MAX_UNDESCRIBED_BYTES: u32 = 16;

/// Maximum number of processors of a machine. The number in the Trace block is no limit, because
/// it may only count processors that the process could use.
const MAX_PROCESSORS: u32 = 1 << 16;

impl State {
    /// Skips the rest of the current event block.
    pub(super) fn leave_block(&mut self) {
        self.cursor.at = self.cursor.end;
        // Without all rows, the times in the block's header cannot be checked.
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
                    (from, BlobEncoding::new(version, header.is_compressed))
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

    /// Moves to the next blob of the block. Returns `false` if it is not an event: it cannot be
    /// read, or defines an event type (version 3).
    #[inline(always)]
    pub(super) fn next_blob(&mut self, window: &[u8], start: u64) -> bool {
        if let Err(fault) = self.cursor.advance(window, start) {
            self.lose_rest(fault);
            return false;
        }
        self.accept(window, start)
    }

    /// Checks and counts the blob at the cursor. Returns whether it is an event.
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
        // In a run only the largest time is checked, as on the fast path (`run.rs`).
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

    /// Reports a contradiction at the fourth consecutive version 6 row that consists of zeros. The
    /// row at the cursor is one that changes no field, not even the time.
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

    /// Checks the size of a large payload of version 6, which is wrong if real rows follow the
    /// payload's fields.
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
        // Writers may store a few bytes after the fields. If the flag that announces a size is
        // damaged, the payload may begin with the size, or be empty.
        let min_size = u32::try_from(fields.rest_offset()).unwrap_or(u32::MAX);
        let sizes = min_size..=min_size.saturating_add(MAX_UNDESCRIBED_BYTES);
        if [0].into_iter().chain(sizes).any(|size| self.has_rows_after(size, window, start)) {
            self.add_contradiction("payload size", Fault::RowsInPayload(size));
        }
    }

    /// Returns whether real rows follow the first `size` bytes of the payload at the cursor.
    fn has_rows_after(&self, size: u32, window: &[u8], start: u64) -> bool {
        let Cursor { frame, encoding, payload_at, at: to, end, header, .. } = self.cursor;
        let mut rows = Cursor::new(frame, encoding, payload_at.saturating_add(size.into()), end);
        // Rows without a size inherit it.
        rows.header = BlobHeader { payload_size: size, ..header };
        let mut later = 0u32;
        while rows.at < to {
            let before = rows.header.timestamp;
            if rows.advance(window, start).is_err() || self.has_unknown_id(&rows.header) {
                // Further damage may have ended the rows.
                return later >= MIN_ROWS;
            }
            if rows.header.timestamp > self.cursor.times.max() {
                return false;
            }
            later = later.saturating_add(u32::from(rows.header.timestamp > before));
        }
        later >= MIN_ROWS_TO_END
    }

    /// Reports a contradiction in the row at the cursor.
    #[cold]
    fn add_contradiction(&mut self, context: &'static str, fault: Fault) {
        self.add_contradiction_at(self.cursor.blob, context, fault);
    }

    /// Reports a contradiction at a position in the block, unless the block has one already: the
    /// bytes after it may be no rows.
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

    /// Reports contradictions in rows that were already delivered, which later sequence numbers
    /// revealed.
    pub(super) fn report_contradictions(&mut self) {
        for (place, fault) in self.losses.take_contradictions() {
            // The place is unknown if several threads read the stream.
            let Some(place) = place else { continue };
            let at = index(place.position, place.frame.body.start);
            self.damage.in_block(place.frame).add_contradiction(at, "sequence number", fault);
        }
    }

    /// Checks a block after all of its rows have been delivered.
    pub(super) fn check_block(&mut self, window: &[u8], start: u64) {
        // Writers with other encodings round times and write zeros.
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

    /// Checks the times in the block's header against the oldest and the newest row.
    fn check_times(&mut self, window: &[u8], start: u64) {
        let times = self.cursor.times;
        let is_met = times.latest == times.span && times.earliest == 0;
        if !is_met {
            self.check_each_time(window, start);
        }
    }

    /// Checks the times in the block's header against every row, because the fast path does not
    /// record the time of each row.
    #[cold]
    fn check_each_time(&mut self, window: &[u8], start: u64) {
        let Cursor { frame, encoding, end, times, .. } = self.cursor;
        let mut rows = Cursor::new(frame, encoding, times.rows_at, end);
        rows.times = StatedTimes { earliest: u64::MAX, latest: 0, ..times };
        while !rows.is_done() && rows.advance(window, start).is_ok() {
            rows.times.meet(rows.header.timestamp);
        }
        // The header stores the smallest time at offset 4, and the largest at 12.
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

    /// Checks whether zeros have replaced rows. Compressed rows of zeros would repeat the previous
    /// row. Zeros are rare, so a few bytes of each eight kilobytes are examined first; if any of
    /// these places has only zeros, each row is checked.
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

    /// Skips the rest of the block, which cannot be read, and reports it as lost.
    #[cold]
    pub(super) fn lose_rest(&mut self, fault: Fault) {
        let frame = self.cursor.frame;
        let at = index(self.cursor.at, frame.body.start);
        let lost = index(self.cursor.end, self.cursor.at);
        self.broken_at = Some(self.cursor.at);
        self.damage_in(frame).add_lost_rest(at, lost, "event blob", fault);
        self.leave_block();
    }

    /// Ends the block if the blob at the cursor is in fact the end of the object and the beginning
    /// of the next, so that the block's size is wrong. Returns whether it is.
    #[cold]
    fn stop_at_object(&mut self, window: &[u8], start: u64) -> bool {
        let from = index(self.cursor.blob, start);
        if !self.cursor.is_object(window.get(from..).unwrap_or_default()) {
            return false;
        }
        self.stop_before_blob();
        true
    }

    /// Ends the block if the blob at the cursor is in fact the next block of version 6, so that
    /// the block's size is wrong. Returns whether it is.
    #[inline]
    fn stop_at_block(&mut self, window: &[u8], start: u64) -> bool {
        let stops = self.cursor.is_covered_block(window, start);
        if stops {
            self.stop_before_blob();
        }
        stops
    }

    /// Ends the block, whose size is wrong, before the blob at the cursor. The blob was counted as
    /// an event, but is none.
    #[cold]
    fn stop_before_blob(&mut self) {
        self.statistics.events = self.statistics.events.wrapping_sub(1);
        self.cursor.at = self.cursor.blob;
        let size = i32::try_from(self.cursor.frame.body.len).unwrap_or(i32::MAX);
        self.lose_rest(Fault::BlockSize(size));
    }

    /// Handles a blob with metadata id 0, which defines an event type in version 3, and is an
    /// event of an undefined type in other versions. Returns whether it is an event.
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
        self.list_needed();
        false
    }

    /// Checks a sequence number that does not continue the current run.
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

    /// Reports an undefined id or flag. It is a contradiction if no definition was lost, and if
    /// either the id must be defined before it is used or the block has [`MIN_ODD_VALUES`] such
    /// values.
    fn note_odd(&mut self, context: &'static str, fault: Fault) {
        self.cursor.odd_values = self.cursor.odd_values.saturating_add(1);
        // Version 6 defines all ids before they are used, versions 4 and 5 only those of types.
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

    /// Returns whether a correct writer has defined every id that it uses, and no definition was
    /// lost.
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
