//! What blocks do to the reader's state, and how an event gets its references (format.md 9).

use super::context::Context;
use super::cursor::{Cursor, Encoding};
use crate::blob::BlobHeader;
use crate::block::event::header as event_block_header;
use crate::block::label_list;
use crate::block::metadata::{self, Metadata, Serial};
use crate::block::stack;
use crate::block::trace::{self, Trace};
use crate::block::{BlockKind, sequence_point, thread};
use crate::damage::{BlockDamage, Class, Damage};
use crate::error::{Fault, located};
use crate::event::Event;
use crate::format::{Frame, Version};
use crate::limits::Limits;
use crate::loss::Losses;
use crate::statistics::Statistics;
use crate::tables::{Defined, NO_SLOT, Tables};
use std::sync::Arc;

/// Everything the reader knows, but for its source and its place.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) limits: Limits,
    pub(crate) context: Context,
    has_trace: bool,
    pub(crate) losses: Losses,
    pub(crate) damage: Damage,
    pub(crate) statistics: Statistics,
    /// The event block that is being read.
    pub(crate) cursor: Cursor,
    /// Whether the input holds the current block to its end.
    pub(super) block_is_whole: bool,
    /// Where the current block's first broken row lies.
    pub(super) broken_at: Option<u64>,
    /// Blocks were lost since the last sequence point, perhaps a sequence point among them.
    pub(super) blocks_were_lost: bool,
    pub(crate) is_complete: bool,
    pub(super) end_offset: Option<u64>,
    /// Every reference must be covered by what the reader was told; see [`State::is_irregular`].
    pub(super) must_cover: bool,
    /// Something was met that only a reader of the whole stream can tell of.
    pub(crate) is_irregular: bool,
}

impl State {
    pub(super) fn new(limits: Limits) -> State {
        State {
            limits,
            context: Context::new(),
            has_trace: false,
            losses: Losses::default(),
            damage: Damage::default(),
            statistics: Statistics::default(),
            cursor: Cursor::empty(),
            block_is_whole: true,
            broken_at: None,
            blocks_were_lost: false,
            is_complete: false,
            end_offset: None,
            must_cover: false,
            is_irregular: false,
        }
    }

    pub(super) fn begin(&mut self, version: Version) {
        self.context.begin(version);
    }

    pub(crate) fn version(&self) -> Option<Version> {
        self.context.version()
    }

    pub(crate) fn is_v6(&self) -> bool {
        self.context.is_v6()
    }

    pub(crate) fn is_block_whole(&self) -> bool {
        self.block_is_whole
    }

    pub(crate) fn end_offset(&self) -> Option<u64> {
        self.end_offset
    }

    pub(super) fn trace(&self) -> Option<&Trace> {
        self.has_trace.then_some(&self.context.trace)
    }

    /// Reads the first block. A fault in it is fatal: without it nothing has a meaning.
    pub(super) fn read_trace(&mut self, frame: Frame, content: &[u8]) -> Result<(), (u64, Fault)> {
        self.open_block(frame, true, u64::from(frame.body.len));
        let mut damage = self.damage.in_block(frame);
        let parsed = match self.context.version() {
            Some(Version::V6 { .. }) => trace::block_v6(content, &mut damage),
            _ => trace::object(content),
        };
        match parsed {
            Ok((_, trace)) => {
                trace::note_oddities(&trace, &mut damage);
                self.context.set_trace(trace);
                self.has_trace = true;
                Ok(())
            }
            Err(error) => {
                let error = located(content, error);
                Err((frame.body.start.saturating_add(error.at as u64), error.fault))
            }
        }
    }

    /// Counts a block up to the position `end`, which may lie in the middle of it. What follows the
    /// content is counted when it is met.
    pub(super) fn count_block(&mut self, frame: &Frame, end: u64) {
        self.statistics.add_block(frame.kind, end.min(frame.body_end()).saturating_sub(frame.start));
    }

    /// Begins a block of which `present` bytes of content and what follows are in the window.
    pub(super) fn open_block(&mut self, frame: Frame, is_whole: bool, present: u64) {
        self.block_is_whole = is_whole;
        self.broken_at = None;
        self.count_block(&frame, frame.body.start.saturating_add(present));
    }

    /// Takes what is wrong with the current block.
    fn damage_in(&mut self, frame: Frame) -> BlockDamage<'_> {
        self.damage.in_part_of_block(frame, self.block_is_whole)
    }

    /// Passes over what is left of the current event block.
    pub(super) fn leave_block(&mut self) {
        self.cursor.at = self.cursor.end;
    }

    /// Puts the cursor on the first blob of an event block.
    pub(super) fn open_events(&mut self, frame: Frame, content: &[u8]) {
        let (from, encoding) = match self.context.version() {
            Some(Version::V3) => (0, Encoding::FixedV3),
            version => match event_block_header(content) {
                Ok((rest, header)) => {
                    let is_v6 = version.is_some_and(Version::has_thread_rows);
                    let encoding = match (is_v6, header.is_compressed) {
                        (false, true) => Encoding::CompressedV4,
                        (false, false) => Encoding::FixedV4,
                        (true, true) => Encoding::CompressedV6,
                        (true, false) => Encoding::FixedV6,
                    };
                    (content.len() - rest.len(), encoding)
                }
                Err(error) => {
                    self.lose_block(frame, content, "event block header", located(content, error).fault);
                    (content.len(), Encoding::FixedV4)
                }
            },
        };
        let begin = frame.body.start;
        self.cursor = Cursor::new(frame, encoding, begin + from as u64, begin + content.len() as u64);
    }

    fn lose_block(&mut self, frame: Frame, content: &[u8], context: &'static str, fault: Fault) {
        self.broken_at = Some(frame.body.start);
        self.blocks_were_lost = true;
        self.damage_in(frame).block_lost(0, content.len(), context, fault);
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
        self.statistics.events += 1;
        if header.metadata_id == 0 && !self.is_event_without_type(window, start) {
            return false;
        }
        let header = &self.cursor.header;
        if !self.losses.is_next(header.capture_thread, header.sequence) {
            self.check_number();
        }
        self.check_references();
        true
    }

    /// The rest of the block cannot be read.
    #[cold]
    fn lose_rest(&mut self, fault: Fault) {
        let frame = self.cursor.frame;
        let at = (self.cursor.at - frame.body.start) as usize;
        let lost = (self.cursor.end - self.cursor.at) as usize;
        self.broken_at = Some(self.cursor.at);
        self.damage_in(frame).rest_lost(at, lost, "event blob", fault);
        self.leave_block();
    }

    /// Metadata id 0: in version 3 a definition, else an event of an undefined type.
    #[cold]
    fn is_event_without_type(&mut self, window: &[u8], start: u64) -> bool {
        if !self.context.is_v3() {
            return true;
        }
        self.statistics.events -= 1;
        let frame = self.cursor.frame;
        let from = usize::try_from(self.cursor.payload_at - start).unwrap_or(usize::MAX);
        let size = self.cursor.header.payload_size as usize;
        let payload = window.get(from..).and_then(|rest| rest.get(..size)).unwrap_or_default();
        let at = (self.cursor.payload_at - frame.body.start) as usize;
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

    /// Notes ids of the current event that stand for nothing.
    #[inline(always)]
    fn check_references(&mut self) {
        if !self.context.tables.covered.covers(&self.cursor.header, self.is_v6())
            || self.cursor.header.has_reserved_flag
        {
            self.note_references();
        }
    }

    #[inline(never)]
    fn note_references(&mut self) {
        self.is_irregular |= self.must_cover;
        let header = self.cursor.header;
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
        if header.has_reserved_flag {
            self.note_event("flags", Fault::ReservedFlag(0x20));
        }
        for (context, fault) in missing.into_iter().flatten() {
            self.note_event(context, fault);
        }
    }

    #[cold]
    fn note_event(&mut self, context: &'static str, fault: Fault) {
        let frame = self.cursor.frame;
        let at = (self.cursor.blob - frame.body.start) as usize;
        self.damage.in_block(frame).note(at, context, fault);
    }

    /// The event the cursor is on.
    #[inline(always)]
    pub(crate) fn event<'a>(&'a self, window: &'a [u8], start: u64) -> Event<'a> {
        let cursor = &self.cursor;
        self.context.event(&cursor.header, None, cursor.payload_at, window, start)
    }

    /// Reads a block that holds no events.
    pub(super) fn read_block(&mut self, frame: Frame, content: &[u8]) {
        let lost_before = self.unread();
        match (frame.kind, self.is_v6()) {
            (BlockKind::Metadata, false) => self.read_metadata_v5(frame, content),
            (BlockKind::Metadata, true) => self.read_metadata_v6(frame, content),
            (BlockKind::Stack, _) => self.read_stacks(frame, content),
            (BlockKind::SequencePoint, is_v6) => self.read_sequence_point(frame, content, is_v6),
            (BlockKind::Thread, _) => self.read_threads(frame, content),
            (BlockKind::RemoveThread, _) => self.read_removals(frame, content),
            (BlockKind::LabelList, _) => self.read_labels(frame, content),
            _ => {}
        }
        self.context.tables.update_covered();
        if self.unread() > lost_before {
            self.blocks_were_lost = true;
            // A block is left at its first row that does not tell where the next begins, so if there
            // is one it is the last loss.
            self.broken_at = self.broken_at.or(self.damage.last_loss().map(|loss| loss.lost_offset));
        }
    }

    /// How often a block was not read to its end.
    fn unread(&self) -> u64 {
        let classes = [Class::BlockLost, Class::RestOfBlockLost, Class::Incomplete];
        classes.iter().map(|class| self.damage.count(*class)).sum()
    }

    /// A block of blobs, each a definition.
    fn read_metadata_v5(&mut self, frame: Frame, content: &[u8]) {
        let (rest, header) = match event_block_header(content) {
            Ok(done) => done,
            Err(error) => {
                return self.lose_block(
                    frame,
                    content,
                    "metadata block header",
                    located(content, error).fault,
                );
            }
        };
        let from = (content.len() - rest.len()) as u64;
        let encoding = if header.is_compressed { Encoding::CompressedV4 } else { Encoding::FixedV4 };
        let begin = frame.body.start;
        let mut cursor = Cursor::new(frame, encoding, begin + from, begin + content.len() as u64);
        let mut rows = 0;
        while !cursor.is_done() {
            match cursor.advance(content, begin) {
                Ok(()) => {
                    let at = (cursor.payload_at - begin) as usize;
                    let size = cursor.header.payload_size as usize;
                    let payload = content.get(at..).and_then(|rest| rest.get(..size)).unwrap_or_default();
                    self.define_v5(payload, at, frame);
                    rows += 1;
                }
                Err(fault) => {
                    self.cursor = cursor;
                    self.cursor.header = BlobHeader::default();
                    self.lose_rest_of_metadata(fault);
                    break;
                }
            }
        }
        self.statistics.add_rows(BlockKind::Metadata, rows);
    }

    fn lose_rest_of_metadata(&mut self, fault: Fault) {
        self.lose_rest(fault);
        self.blocks_were_lost |= self.block_is_whole;
    }

    /// A definition of versions 3 to 5, in a blob's payload at `at` of the block's content.
    fn define_v5(&mut self, payload: &[u8], at: usize, frame: Frame) {
        let mut damage = self.damage.in_block(frame);
        match metadata::payload_v5(payload, at, &mut damage) {
            Ok((_, metadata)) => {
                define(&mut self.context.tables, metadata, at, self.limits.table_rows, &mut damage);
                self.context.tables.update_covered();
            }
            Err(error) => {
                let error = located(payload, error);
                let place = at.saturating_add(error.at);
                damage.row_spoilt(place, at, payload.len(), "metadata payload", error.fault);
            }
        }
    }

    fn read_metadata_v6(&mut self, frame: Frame, content: &[u8]) {
        let (tables, limit) = (&mut self.context.tables, self.limits.table_rows);
        let mut rows = 0;
        let mut damage = self.damage.in_part_of_block(frame, self.block_is_whole);
        metadata::block_v6(content, &mut damage, |at, metadata, damage| {
            rows += 1;
            define(tables, metadata, at, limit, damage);
        });
        self.statistics.add_rows(BlockKind::Metadata, rows);
    }

    fn read_stacks(&mut self, frame: Frame, content: &[u8]) {
        let pointer_size = self.context.trace.pointer_size;
        let limit = self.limits.table_bytes;
        let mut damage = self.damage.in_part_of_block(frame, self.block_is_whole);
        if let Ok((_, (first_id, _))) = stack::header(content)
            && self.blocks_were_lost
            && self.context.tables.stacks.is_defined(first_id)
        {
            // Runtimes start over only at a sequence point: it must have been among what was lost.
            damage.note(0, "stack block", Fault::StaleTable);
            self.context.tables.stacks.forget_ids();
        }
        let (stacks, mut rows) = (&mut self.context.tables.stacks, 0);
        stack::block(content, pointer_size, &mut damage, |id, bytes, at, damage| {
            rows += 1;
            let (defined, is_full) = stacks.define(id, bytes, limit);
            if defined == Defined::Again {
                damage.note(at, "stack id", Fault::Redefined(u64::from(id)));
            }
            if is_full {
                damage.note(at, "stack block", Fault::TableLimit);
            }
        });
        self.statistics.add_rows(BlockKind::Stack, rows);
    }

    fn read_labels(&mut self, frame: Frame, content: &[u8]) {
        let limit = self.limits.table_bytes;
        let mut damage = self.damage.in_part_of_block(frame, self.block_is_whole);
        if let Ok((_, (first_id, _))) = label_list::header(content)
            && self.blocks_were_lost
            && self.context.tables.labels.is_defined(first_id)
        {
            damage.note(0, "label list block", Fault::StaleTable);
            self.context.tables.labels.forget_ids();
        }
        let (labels, mut rows) = (&mut self.context.tables.labels, 0);
        label_list::block(content, &mut damage, |id, bytes, at, damage| {
            rows += 1;
            let (defined, is_full) = labels.define(id, bytes, limit);
            if defined == Defined::Again {
                damage.note(at, "label list id", Fault::Redefined(u64::from(id)));
            }
            if is_full {
                damage.note(at, "label list block", Fault::TableLimit);
            }
        });
        self.statistics.add_rows(BlockKind::LabelList, rows);
    }

    fn read_threads(&mut self, frame: Frame, content: &[u8]) {
        let (tables, losses, limit) = (&mut self.context.tables, &mut self.losses, self.limits.table_rows);
        let mut rows = 0;
        let mut damage = self.damage.in_part_of_block(frame, self.block_is_whole);
        thread::block(content, &mut damage, |at, thread, damage| {
            rows += 1;
            let index = thread.index;
            let is_alive = tables.threads.get(index).is_some();
            if is_alive {
                damage.note(at, "thread row", Fault::Redefined(index));
            }
            losses.define_thread(index, is_alive, limit);
            if Arc::make_mut(&mut tables.threads).define(index, thread, limit) {
                damage.note(at, "thread row", Fault::TableLimit);
            }
        });
        self.statistics.add_rows(BlockKind::Thread, rows);
    }

    fn read_removals(&mut self, frame: Frame, content: &[u8]) {
        let (tables, losses, limit) = (&mut self.context.tables, &mut self.losses, self.limits.table_rows);
        let mut rows = 0;
        let mut damage = self.damage.in_part_of_block(frame, self.block_is_whole);
        sequence_point::removals(content, &mut damage, |index, number, at, damage| {
            rows += 1;
            // Removal takes effect for what comes after; events that wait keep their thread.
            if tables.threads.get(index).is_some() {
                Arc::make_mut(&mut tables.threads).remove(index);
                losses.remove_thread(index, number, limit);
            } else {
                damage.note(at, "thread removal", Fault::UndefinedThread(index));
            }
        });
        self.statistics.add_rows(BlockKind::RemoveThread, rows);
    }

    /// In the order of format.md 9.4. What waited was delivered before this is called.
    fn read_sequence_point(&mut self, frame: Frame, content: &[u8], is_v6: bool) {
        let (tables, losses, limit) = (&mut self.context.tables, &mut self.losses, self.limits.table_rows);
        let mut rows = 0;
        let mut damage = self.damage.in_part_of_block(frame, self.block_is_whole);
        let point = if is_v6 {
            sequence_point::payload_v6(content, &mut damage, |index, number, at, damage| {
                rows += 1;
                if tables.threads.get(index).is_some() {
                    losses.listed(index, number, limit);
                } else {
                    damage.note(at, "sequence point entry", Fault::UndefinedThread(index));
                }
            })
        } else {
            losses.begin_list_v4();
            sequence_point::payload_v4(content, &mut damage, |thread, number, _, _| {
                rows += 1;
                losses.listed(thread, number, limit);
            })
        };
        if let Some(point) = point {
            if point.forgets_threads {
                losses.forget_threads();
            }
            tables.pass_sequence_point(point.forgets_threads, point.forgets_metadata);
            self.blocks_were_lost = false;
        }
        self.statistics.add_rows(BlockKind::SequencePoint, rows);
    }
}

/// Defines a metadata id (format.md 9.2).
fn define(
    tables: &mut Tables,
    mut metadata: Metadata,
    at: usize,
    limit: usize,
    damage: &mut BlockDamage<'_>,
) {
    let id = u64::from(metadata.id);
    if id == 0 {
        return damage.note(at, "metadata id", Fault::DefinesNothing(0));
    }
    metadata.catalog = crate::catalog::for_metadata(&metadata);
    match tables.metadata.get(id) {
        Some(before) if *before == metadata => return,
        Some(_) => damage.note(at, "metadata id", Fault::Redefined(id)),
        None => {}
    }
    metadata.serial = Serial::next();
    if Arc::make_mut(&mut tables.metadata).define(id, metadata, limit) {
        damage.note(at, "metadata id", Fault::TableLimit);
    }
}
