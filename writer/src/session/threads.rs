//! Writes the threads of a session: their indices and sequence numbers, sequence points and
//! removals.

use std::collections::HashSet;

use super::record::{EXTRA, Numbers, Queued, Recorder};
use crate::{RemoveThreadBlock, SequencePoint, ThreadBlock, ThreadEntry, ThreadRow};

impl<'s> Recorder<'s> {
    pub(super) fn write_threads(&mut self, batch: &[Queued<'s>]) {
        let mut used = HashSet::new();
        let met = batch.iter().flat_map(|queued| [queued.thread_at, queued.capture_at]);
        let new: Vec<usize> = met
            .chain(self.mentioned.iter().copied())
            .filter(|at| !self.thread_indices.contains_key(at) && used.insert(*at))
            .collect();
        let mut rows = Vec::new();
        for thread_at in new {
            // The lowest free index.
            let index = self.free_indices.pop_first().unwrap_or(self.thread_indices.len() as u64);
            self.thread_indices.insert(thread_at, index);
            let thread = self.thread(thread_at);
            let mut row = ThreadRow::new(index, thread.process_id, thread.os_thread_id);
            row.entries.extend(thread.name.clone().map(ThreadEntry::Name));
            rows.push(row);
        }
        if !rows.is_empty() {
            self.stream.thread_block(&ThreadBlock::new(rows));
        }
    }

    pub(super) fn sequence_point(
        &mut self,
        lists: bool,
        forgets_threads: bool,
        forgets_metadata: bool,
    ) {
        let is_v6 = self.is_v6();
        let mut threads = Vec::new();
        for (&key, numbers) in &mut self.numbers {
            let listed_as =
                if is_v6 { self.thread_indices.get(&(key as usize)).copied() } else { Some(key) };
            let Some(listed_as) = listed_as.filter(|_| lists || !is_v6) else { continue };
            if !numbers.starts_again {
                threads.push((listed_as, numbers.last));
                self.lost += std::mem::take(&mut numbers.unreported);
            }
            (numbers.last_of_ended, numbers.fell_by) = (0, 0);
            if numbers.has_ended {
                let last_of_ended = numbers.last;
                *numbers = Numbers { starts_again: true, last_of_ended, ..Numbers::default() };
            }
        }
        self.clock += 1;
        let mut flags = 0;
        if is_v6 && forgets_threads {
            flags |= SequencePoint::FORGET_THREADS;
            self.thread_indices.clear();
            self.free_indices.clear();
            self.numbers.clear();
        }
        if is_v6 && forgets_metadata {
            flags |= SequencePoint::FORGET_METADATA;
            self.metadata_ids.clear();
        }
        self.stack_ids.clear();
        self.label_list_ids.clear();
        let extra = vec![EXTRA; self.session.row_extra];
        self.stream.sequence_point(&SequencePoint {
            ticks: self.clock,
            flags,
            threads,
            extra,
            thread_count: None,
        });
    }

    pub(super) fn remove_thread(&mut self, thread_at: usize) {
        if !self.is_v6() {
            if let Some(numbers) = self.numbers.get_mut(&self.key(thread_at)) {
                numbers.has_ended = !numbers.starts_again;
            }
            return;
        }
        self.flush();
        if let Some(index) = self.thread_indices.remove(&thread_at) {
            self.free_indices.insert(index);
            let numbers = self.numbers.remove(&self.key(thread_at)).unwrap_or_default();
            self.lost += numbers.unreported;
            self.stream.remove_thread_block(&RemoveThreadBlock::new(vec![(index, numbers.last)]));
        }
    }
}
