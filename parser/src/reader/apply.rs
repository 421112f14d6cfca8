//! Reads blocks without events into the reader's tables (FORMAT.md 9).

use super::state::State;
use crate::blob::{BlobEncoding, BlobHeader};
use crate::block::event::header as event_block_header;
use crate::block::label_list;
use crate::block::metadata::{self, Metadata};
use crate::block::sequence_point::{self, entry_v4, entry_v6, header_v4, header_v6};
use crate::block::stack;
use crate::block::thread;
use crate::bytes::before;
use crate::cursor::Cursor;
use crate::damage::{BlockDamage, Class};
use crate::error::{Fault, located};
use crate::frame::{BlockKind, Frame};
use crate::limits::TableRoom;
use crate::loss::RowPlace;
use crate::serial::Serial;
use crate::source::index;
use crate::tables::{Defined, Tables};
use std::sync::Arc;

impl State {
    /// Reads the rows of a block without events into the context.
    pub(super) fn apply_block(&mut self, frame: Frame, content: &[u8]) {
        let lost_before = self.count_unread();
        let broken_rows_before = self.damage.count(Class::RowLost);
        match (frame.kind, self.is_v6()) {
            (BlockKind::Metadata, false) => self.read_metadata_v5(frame, content),
            (BlockKind::Metadata, true) => self.read_metadata_v6(frame, content),
            (BlockKind::Stack, _) => self.read_stacks(frame, content),
            (BlockKind::SequencePoint, is_v6) => self.read_sequence_point(frame, content, is_v6),
            (BlockKind::Thread, _) => self.read_threads(frame, content),
            (BlockKind::RemoveThread, _) => self.read_removals(frame, content),
            (BlockKind::LabelList, _) => self.read_labels(frame, content),
            // A second Trace block and unknown kinds are skipped. The cursor walks events.
            (BlockKind::Trace | BlockKind::Event | BlockKind::Unknown(_), _) => {}
        }
        self.context.tables.update_covered();
        self.ids_were_lost |= self.damage.count(Class::RowLost) > broken_rows_before;
        if self.count_unread() > lost_before {
            self.blocks_were_lost = true;
            // The most recent loss is the row at which reading the block stopped.
            self.broken_at =
                self.broken_at.or(self.damage.last_loss().map(|loss| loss.lost_offset));
        }
    }

    /// Returns the number of blocks that were not read to their end.
    fn count_unread(&self) -> u64 {
        let classes = [Class::BlockLost, Class::RestOfBlockLost, Class::Incomplete];
        classes.iter().map(|class| self.damage.count(*class)).sum()
    }

    /// Reads a metadata block of versions 4 and 5, which consists of blobs.
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
        let from = before(content, rest) as u64;
        let encoding =
            if header.is_compressed { BlobEncoding::CompressedV4 } else { BlobEncoding::FixedV4 };
        let begin = frame.body.start;
        let mut cursor = Cursor::new(
            frame,
            encoding,
            begin.saturating_add(from),
            begin.saturating_add(content.len() as u64),
        );
        let mut rows = 0;
        while !cursor.is_done() {
            let advanced = match cursor.advance(content, begin) {
                Ok(())
                    if cursor.may_be_object()
                        && cursor.is_object(
                            content.get(index(cursor.blob, begin)..).unwrap_or_default(),
                        ) =>
                {
                    cursor.at = cursor.blob;
                    Err(Fault::BlockSize(i32::try_from(frame.body.len).unwrap_or(i32::MAX)))
                }
                advanced => advanced,
            };
            match advanced {
                Ok(()) => {
                    let at = index(cursor.payload_at, begin);
                    let size = cursor.header.payload_size as usize;
                    let payload =
                        content.get(at..).and_then(|rest| rest.get(..size)).unwrap_or_default();
                    self.define_v5(payload, at, frame);
                    rows = u64::saturating_add(rows, 1);
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

    /// Reads the definition of an event type of versions 3 to 5 from a blob's payload, which lies
    /// at offset `at` of the block's content.
    pub(super) fn define_v5(&mut self, payload: &[u8], at: usize, frame: Frame) {
        let mut damage = self.damage.in_block(frame);
        match metadata::payload_v5(payload, at, &mut damage) {
            Ok((_, metadata)) => {
                let room = self.limits.room();
                self.ids_were_lost |=
                    define(&mut self.context.tables, metadata, at, room, &mut damage);
                self.context.tables.update_covered();
            }
            Err(error) => {
                let error = located(payload, error);
                let place = at.saturating_add(error.at);
                damage.add_spoilt_row(place, at, payload.len(), "metadata payload", error.fault);
                // In version 3 definitions are among the events.
                self.ids_were_lost = true;
            }
        }
    }

    fn read_metadata_v6(&mut self, frame: Frame, content: &[u8]) {
        let (tables, room) = (&mut self.context.tables, self.limits.room());
        let mut rows = 0;
        let ids_were_lost = &mut self.ids_were_lost;
        let mut damage = self.damage.in_part_of_block(frame, self.block_is_whole);
        metadata::block_v6(content, &mut damage, |at, metadata, damage| {
            rows = u64::saturating_add(rows, 1);
            *ids_were_lost |= define(tables, metadata, at, room, damage);
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
            // Runtimes reuse ids only after a sequence point, so one must have been lost.
            damage.note(0, "stack block", Fault::StaleTable);
            self.context.tables.stacks.forget_ids();
        }
        let (stacks, mut rows) = (&mut self.context.tables.stacks, 0);
        let ids_were_lost = &mut self.ids_were_lost;
        stack::block(content, pointer_size, &mut damage, |id, bytes, at, damage| {
            rows = u64::saturating_add(rows, 1);
            let (defined, is_full) = stacks.define(id, bytes, limit);
            if defined == Defined::Again {
                damage.note(at, "stack id", Fault::Redefined(u64::from(id)));
            }
            if is_full {
                *ids_were_lost = true;
                damage.note(at, "stack block", Fault::TableLimit);
            }
        });
        self.statistics.add_rows(BlockKind::Stack, rows);
    }

    fn read_labels(&mut self, frame: Frame, content: &[u8]) {
        let limit = self.limits.table_bytes;
        let mut damage = self.damage.in_part_of_block(frame, self.block_is_whole);
        if let Ok((_, (first_id, _))) = stack::header(content)
            && self.blocks_were_lost
            && self.context.tables.labels.is_defined(first_id)
        {
            damage.note(0, "label list block", Fault::StaleTable);
            self.context.tables.labels.forget_ids();
        }
        let (labels, mut rows) = (&mut self.context.tables.labels, 0);
        let ids_were_lost = &mut self.ids_were_lost;
        label_list::block(content, &mut damage, |id, bytes, at, damage| {
            rows = u64::saturating_add(rows, 1);
            let counting = label_list::counting(bytes);
            let (defined, is_full) = labels.define_joined(id, bytes, counting.bytes(), limit);
            if defined == Defined::Again {
                damage.note(at, "label list id", Fault::Redefined(u64::from(id)));
            }
            if is_full {
                *ids_were_lost = true;
                damage.note(at, "label list block", Fault::TableLimit);
            }
        });
        self.statistics.add_rows(BlockKind::LabelList, rows);
    }

    fn read_threads(&mut self, frame: Frame, content: &[u8]) {
        let (tables, losses, limit) =
            (&mut self.context.tables, &mut self.losses, self.limits.table_rows);
        let room = self.limits.room();
        let mut rows = 0;
        let ids_were_lost = &mut self.ids_were_lost;
        let mut damage = self.damage.in_part_of_block(frame, self.block_is_whole);
        thread::block(content, &mut damage, |at, thread, damage| {
            rows = u64::saturating_add(rows, 1);
            let index = thread.index;
            let is_alive = tables.threads.get(index).is_some();
            if is_alive {
                damage.note(at, "thread row", Fault::Redefined(index));
            }
            losses.define_thread(index, is_alive, limit);
            if Arc::make_mut(&mut tables.threads).define(index, thread, room) {
                *ids_were_lost = true;
                damage.note(at, "thread row", Fault::TableLimit);
            }
        });
        self.statistics.add_rows(BlockKind::Thread, rows);
    }

    fn read_removals(&mut self, frame: Frame, content: &[u8]) {
        let must_be_defined = self.must_be_defined();
        let (tables, losses, limit) =
            (&mut self.context.tables, &mut self.losses, self.limits.table_rows);
        let mut rows = 0;
        let mut damage = self.damage.in_part_of_block(frame, self.block_is_whole);
        sequence_point::removals(content, &mut damage, |index, number, at, damage| {
            rows = u64::saturating_add(rows, 1);
            if tables.threads.get(index).is_some() {
                Arc::make_mut(&mut tables.threads).remove(index);
                losses.remove_thread(index, number, limit);
            } else {
                damage.add_undefined_thread(must_be_defined, at, "thread removal", index);
            }
        });
        self.statistics.add_rows(BlockKind::RemoveThread, rows);
    }

    /// Reads a sequence point, in the order of steps of [FORMAT.md
    /// 9.4](crate::format_guide#9.4). No events may wait for their turn in time order then.
    fn read_sequence_point(&mut self, frame: Frame, content: &[u8], is_v6: bool) {
        let must_be_defined = self.must_be_defined();
        let (tables, losses, limit) =
            (&mut self.context.tables, &mut self.losses, self.limits.table_rows);
        let (mut rows, mut zeros) = (0, 0u32);
        let mut damage = self.damage.in_part_of_block(frame, self.block_is_whole);
        let point = if is_v6 {
            sequence_point::payload(
                content,
                &mut damage,
                header_v6,
                entry_v6,
                |index, number, at, damage| {
                    rows = u64::saturating_add(rows, 1);
                    if tables.threads.get(index).is_some() {
                        losses.count_listed(index, number, limit);
                    } else {
                        damage.add_undefined_thread(
                            must_be_defined,
                            at,
                            "sequence point entry",
                            index,
                        );
                    }
                },
            )
        } else {
            losses.begin_list_v4(RowPlace { frame, position: frame.body.start });
            sequence_point::payload(
                content,
                &mut damage,
                header_v4,
                entry_v4,
                |thread, number, at, damage| {
                    rows = u64::saturating_add(rows, 1);
                    // An id is listed twice if the system reused it, but no system uses id 0.
                    zeros = zeros.saturating_add(u32::from(thread == 0));
                    if thread == 0 && zeros == 2 {
                        damage.add_contradiction(
                            at,
                            "sequence point entry",
                            Fault::UndefinedThread(0),
                        );
                    }
                    losses.add_list_entry_v4(thread, number);
                },
            )
        };
        if let Some((point, _)) = point {
            if is_v6 {
                losses.pass_point_v6();
            } else if zeros > 1 {
                self.is_irregular = true;
                losses.distrust_list_v4();
            } else {
                let is_whole = rows == u64::from(point.thread_count);
                losses.end_list_v4(is_whole, !self.blocks_were_lost, limit);
            }
            if point.forgets_threads {
                losses.forget_threads();
            }
            tables.pass_sequence_point(point.forgets_threads, point.forgets_metadata);
            let forgets_all = point.forgets_threads && point.forgets_metadata;
            // If all ids are forgotten, lost definitions do not matter any more.
            self.ids_were_lost = (self.ids_were_lost || self.blocks_were_lost) && !forgets_all;
            self.blocks_were_lost = false;
        }
        self.statistics.add_rows(BlockKind::SequencePoint, rows);
        self.report_contradictions();
        if let Some((_, Some(at))) = point {
            self.broken_at = Some(frame.body.start.saturating_add(at as u64));
        }
    }
}

/// Defines a metadata id ([FORMAT.md 9.2](crate::format_guide#9.2)). Returns `true` if older
/// definitions were removed to make room.
fn define(
    tables: &mut Tables,
    mut metadata: Metadata,
    at: usize,
    room: TableRoom,
    damage: &mut BlockDamage<'_>,
) -> bool {
    let id = u64::from(metadata.id);
    if id == 0 {
        damage.note(at, "metadata id", Fault::DefinesNothing(0));
        return false;
    }
    metadata.settle();
    match tables.metadata.get(id) {
        Some(before) if *before == metadata => return false,
        Some(_) => damage.note(at, "metadata id", Fault::Redefined(id)),
        None => {}
    }
    metadata.serial = Serial::next();
    let is_full = Arc::make_mut(&mut tables.metadata).define(id, metadata, room);
    if is_full {
        damage.note(at, "metadata id", Fault::TableLimit);
    }
    is_full
}
