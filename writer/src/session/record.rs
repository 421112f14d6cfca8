//! The recorder, which turns the steps of a session into the blocks of a stream.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::{BatchOrder, ExpectedEvent, Session, SessionEvent, SessionThread, Step};
use crate::{Blob, EventBlock, Label, LabelListBlock, Row, StackBlock, Stream, Version};

/// Value of the unknown bytes that [`Session::header_extra`] and [`Session::row_extra`] add.
pub(super) const EXTRA: u8 = 0xee;

/// Maximum size of the rows of a block, in bytes, unless a single row is larger. A block of version
/// 6 has to be smaller than 16 MiB.
const MAX_ROW_BYTES: usize = 8 << 20;

/// Sequence numbers of one capture thread.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// Sequence number of the last event, whether it was written or dropped.
    pub(super) last: u32,
    /// Number of dropped events that neither a later event nor a sequence point has shown yet.
    pub(super) unreported: u64,
    /// Whether the thread has ended, so that the next sequence point is the last that lists it.
    pub(super) has_ended: bool,
    /// Whether the thread has ended and sequence points no longer list it. Its next event then has
    /// the sequence number 1, even if the session drops events before it.
    pub(super) starts_again: bool,
    /// Last sequence number of the ended thread that had this id before, until the next sequence
    /// point.
    pub(super) last_of_ended: u32,
    /// How far a sequence number was below the expected one, since the latest sequence point.
    pub(super) fell_by: u32,
}

/// An event of the batch, which is not written yet.
#[derive(Debug)]
pub(super) struct Queued<'s> {
    pub(super) event: Cow<'s, SessionEvent>,
    pub(super) type_at: usize,
    pub(super) thread_at: usize,
    pub(super) capture_at: usize,
    pub(super) sequence_number: u32,
    pub(super) ticks: u64,
}

#[derive(Debug)]
pub(super) struct Recorder<'s> {
    /// Session with the types, threads and settings. Its `steps` are not used.
    pub(super) session: Cow<'s, Session>,
    pub(super) stream: Stream,
    pub(super) events: Vec<ExpectedEvent>,
    pub(super) lost: u64,
    pub(super) undone: Vec<u64>,
    pub(super) clock: u64,
    pub(super) batch: Vec<Queued<'s>>,
    /// Indices of the threads that had dropped events in this batch. Version 6 has to define them,
    /// because a sequence point lists them.
    pub(super) mentioned: Vec<usize>,
    /// Sequence numbers of each capture thread, by [`Recorder::key`].
    pub(super) numbers: BTreeMap<u64, Numbers>,
    pub(super) metadata_ids: HashMap<usize, u32>,
    pub(super) stack_ids: HashMap<Vec<u64>, u32>,
    pub(super) label_list_ids: HashMap<Vec<Label>, u32>,
    /// Index of each thread in the stream, by its index in the session (version 6).
    pub(super) thread_indices: HashMap<usize, u64>,
    /// Indices of threads in the stream that became free when the threads were removed.
    pub(super) free_indices: BTreeSet<u64>,
}

impl<'s> Recorder<'s> {
    pub(super) fn new(session: Cow<'s, Session>) -> Self {
        let mut stream = Stream::new(session.version);
        stream.padding_byte = session.padding_byte;
        let mut trace = session.trace.clone();
        if session.version == Version::V6 {
            trace.extra = vec![EXTRA; session.header_extra];
        }
        stream.trace(&trace);
        Recorder {
            session,
            stream,
            events: Vec::new(),
            lost: 0,
            undone: Vec::new(),
            clock: trace.sync_ticks,
            batch: Vec::new(),
            mentioned: Vec::new(),
            numbers: BTreeMap::new(),
            metadata_ids: HashMap::new(),
            stack_ids: HashMap::new(),
            label_list_ids: HashMap::new(),
            thread_indices: HashMap::new(),
            free_indices: BTreeSet::new(),
        }
    }

    /// Writes the last batch and the end mark.
    pub(super) fn end(&mut self) {
        self.flush();
        if self.session.has_end {
            self.stream.end();
        }
    }

    pub(super) fn is_v3(&self) -> bool {
        self.session.version == Version::V3
    }

    pub(super) fn is_v6(&self) -> bool {
        self.session.version == Version::V6
    }

    pub(super) fn thread(&self, at: usize) -> &SessionThread {
        &self.session.threads[at]
    }

    /// Returns the key of a thread in `numbers`: its OS id, or in version 6 its index in the
    /// session.
    pub(super) fn key(&self, thread_at: usize) -> u64 {
        if self.is_v6() { thread_at as u64 } else { self.thread(thread_at).os_thread_id }
    }

    pub(super) fn step(&mut self, step: Cow<'s, Step>) {
        let thread_count = self.session.threads.len();
        let step = match step {
            Cow::Borrowed(Step::Event(event)) => return self.queue(Cow::Borrowed(event)),
            Cow::Owned(Step::Event(event)) => return self.queue(Cow::Owned(event)),
            other => other,
        };
        match &*step {
            Step::Event(_) => {}
            Step::Lose { thread, count } if thread_count > 0 => {
                self.lose(thread % thread_count, *count)
            }
            Step::Lose { .. } => {}
            Step::Flush => self.flush(),
            Step::SequencePoint { lists_threads, forgets_threads, forgets_metadata } => {
                self.flush();
                if !self.is_v3() {
                    self.sequence_point(*lists_threads, *forgets_threads, *forgets_metadata);
                }
            }
            Step::RemoveThread(thread) if thread_count > 0 => {
                self.remove_thread(thread % thread_count)
            }
            Step::RemoveThread(_) => {}
        }
    }

    fn lose(&mut self, thread_at: usize, count: u16) {
        if self.is_v3() {
            return;
        }
        let numbers = self.numbers.entry(self.key(thread_at)).or_default();
        if !numbers.starts_again {
            numbers.last = numbers.last.wrapping_add(u32::from(count));
            numbers.unreported += u64::from(count);
            numbers.has_ended = false;
            self.mentioned.push(thread_at);
        }
    }

    fn queue(&mut self, event: Cow<'s, SessionEvent>) {
        let (types, threads) = (self.session.types.len(), self.session.threads.len());
        if types == 0 || threads == 0 {
            return;
        }
        self.clock += u64::from(event.ticks_later);
        let capture_at = event.capture_thread % threads;
        let mut sequence_number = 0;
        if !self.is_v3() {
            let numbers = self.numbers.entry(self.key(capture_at)).or_default();
            let lost_before = if numbers.starts_again { 0 } else { event.lost_before };
            let missing = u64::from(lost_before) + numbers.unreported;
            if numbers.starts_again {
                numbers.fell_by = std::mem::take(&mut numbers.last_of_ended);
            } else if missing > 0 {
                let fell_by = u64::from(std::mem::take(&mut numbers.fell_by));
                self.undone.extend(Some(missing).filter(|missing| *missing == fell_by));
            }
            (numbers.has_ended, numbers.starts_again) = (false, false);
            numbers.last = numbers.last.wrapping_add(u32::from(lost_before)).wrapping_add(1);
            sequence_number = numbers.last;
            self.lost += missing;
            numbers.unreported = 0;
        }
        self.batch.push(Queued {
            type_at: event.event_type % types,
            thread_at: event.thread % threads,
            capture_at,
            sequence_number,
            ticks: self.clock,
            event,
        });
        if self.batch.len() == self.session.events_per_batch {
            self.flush();
        }
    }

    pub(super) fn flush(&mut self) {
        let batch = self.in_file_order();
        let new_types = self.define_types(&batch);
        if !self.is_v3() {
            self.write_metadata(&new_types, &batch);
        }
        if self.is_v6() {
            self.write_threads(&batch);
        }
        self.mentioned.clear();
        let first_new_stack = self.stack_ids.len() as u32 + 1;
        let first_new_list = self.label_list_ids.len() as u32 + 1;
        let (mut new_stacks, mut new_lists) = (Vec::new(), Vec::new());
        let mut written = Vec::new();
        let mut run_of = None;
        for queued in &batch {
            let key = self.key(queued.capture_at);
            let is_sorted = match self.session.order {
                BatchOrder::ThreadRuns => run_of.replace(key) != Some(key),
                BatchOrder::ByTime => true,
                BatchOrder::Unmarked => false,
            };
            let stack_id = self.intern_stack(&queued.event, &mut new_stacks);
            let labels = self.intern_labels(&queued.event, &mut new_lists);
            written.push(self.expected(queued, is_sorted, stack_id, labels));
        }
        let pointer_size = self.session.trace.pointer_size;
        for place in pieces(&new_stacks, usize::MAX, |frames| 4 + 8 * frames.len()) {
            let first_id = first_new_stack + place.start as u32;
            self.stream.stack_block(&StackBlock::new(first_id, pointer_size, &new_stacks[place]));
        }
        for place in pieces(&new_lists, usize::MAX, |list| list.iter().map(Label::max_bytes).sum())
        {
            let first_index = first_new_list + place.start as u32;
            self.stream
                .label_list_block(&LabelListBlock::new(first_index, new_lists[place].to_vec()));
        }
        self.write_events(&new_types, &batch, &written);
        self.events.append(&mut written);
    }

    /// Takes the events of the batch, sorted into file order.
    fn in_file_order(&mut self) -> Vec<Queued<'s>> {
        let mut batch = std::mem::take(&mut self.batch);
        if self.is_v3() || self.session.order == BatchOrder::ByTime {
            return batch;
        }
        // The batch is in time order, so the first event of a thread is its oldest.
        let mut runs: HashMap<u64, usize> = HashMap::new();
        for queued in &batch {
            let next = runs.len();
            runs.entry(self.key(queued.capture_at)).or_insert(next);
        }
        batch.sort_by_key(|queued| runs[&self.key(queued.capture_at)]);
        batch
    }

    pub(super) fn create_event_block(&self, blobs: impl IntoIterator<Item = Blob>) -> EventBlock {
        EventBlock {
            layout: self.session.layout,
            header_extra: vec![EXTRA; self.session.header_extra],
            rows: blobs
                .into_iter()
                .map(|blob| Row::Blob(Blob { extra: vec![EXTRA; self.session.row_extra], ..blob }))
                .collect(),
            ..EventBlock::default()
        }
    }

    fn write_events(
        &mut self,
        new_types: &[usize],
        batch: &[Queued<'s>],
        written: &[ExpectedEvent],
    ) {
        let max_events = match self.session.events_per_block {
            0 => usize::MAX,
            count => count,
        };
        // 96 bytes are enough for the header and the padding of every layout.
        let size = |event: &ExpectedEvent| {
            96 + event.blob.payload.len() + event.blob.stack.len() + self.session.row_extra
        };
        for place in pieces(written, max_events, size) {
            let mut blobs = Vec::new();
            for (at, event) in place.clone().zip(&written[place]) {
                // `new_types` is sorted, because it follows the order of the batch.
                if self.is_v3() && new_types.binary_search(&at).is_ok() {
                    blobs.push(self.definition(&batch[at]));
                }
                blobs.push(event.blob.clone());
            }
            let block = self.create_event_block(blobs);
            self.stream.event_block(&block);
        }
    }
}

/// Splits rows into groups, one for each block, of at most `max_rows` rows and [`MAX_ROW_BYTES`].
pub(super) fn pieces<T>(
    rows: &[T],
    max_rows: usize,
    size: impl Fn(&T) -> usize,
) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let (mut start, mut bytes) = (0, 0_usize);
    for (at, row) in rows.iter().enumerate() {
        let size = size(row);
        if at > start && (at - start == max_rows || bytes.saturating_add(size) > MAX_ROW_BYTES) {
            pieces.push(start..at);
            (start, bytes) = (at, 0);
        }
        bytes = bytes.saturating_add(size);
    }
    if start < rows.len() {
        pieces.push(start..rows.len());
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_ends_at_its_number_of_things_or_bytes() {
        assert_eq!(pieces(&[0; 5], 2, |size| *size), [0..2, 2..4, 4..5]);
        assert_eq!(pieces(&[MAX_ROW_BYTES / 2; 5], 9, |size| *size), [0..2, 2..4, 4..5]);
        // A row that is larger than a block gets a block of its own.
        assert_eq!(pieces(&[1, MAX_ROW_BYTES + 1, 1], 9, |size| *size), [0..1, 1..2, 2..3]);
        assert_eq!(pieces(&[] as &[usize], 9, |size| *size), [] as [Range<usize>; 0]);
    }
}
