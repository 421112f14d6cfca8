//! Finds the ids of the stacks and label lists of events, and makes the [`ExpectedEvent`] of each.

use super::record::{Queued, Recorder};
use super::{ExpectedEvent, SessionEvent};
use crate::{Blob, Label, NO_PROCESSOR, addresses, payload};

impl<'s> Recorder<'s> {
    fn frames(&self, event: &SessionEvent) -> Vec<u64> {
        let mask =
            if self.session.trace.pointer_size == 4 { u64::from(u32::MAX) } else { u64::MAX };
        event.stack.iter().map(|address| address & mask).collect()
    }

    pub(super) fn intern_stack(&mut self, event: &SessionEvent, new: &mut Vec<Vec<u64>>) -> u32 {
        if self.is_v3() || (event.stack.is_empty() && !self.session.interns_empty_stacks) {
            return 0;
        }
        let next_id = self.stack_ids.len() as u32 + 1;
        let frames = self.frames(event);
        *self.stack_ids.entry(frames.clone()).or_insert_with(|| {
            new.push(frames);
            next_id
        })
    }

    pub(super) fn intern_labels(
        &mut self,
        event: &SessionEvent,
        new: &mut Vec<Vec<Label>>,
    ) -> (Vec<Label>, u32) {
        let mut labels = Vec::new();
        if !self.is_v6() {
            return (labels, 0);
        }
        if event.activity_id != [0; 16] {
            labels.push(Label::ActivityId(event.activity_id));
        }
        if event.related_activity_id != [0; 16] {
            labels.push(Label::RelatedActivityId(event.related_activity_id));
        }
        labels.extend(event.labels.iter().cloned());
        if labels.is_empty() {
            return (labels, 0);
        }
        let next_id = self.label_list_ids.len() as u32 + 1;
        let id = *self.label_list_ids.entry(labels.clone()).or_insert_with(|| {
            new.push(labels.clone());
            next_id
        });
        (labels, id)
    }

    pub(super) fn expected(
        &self,
        queued: &Queued<'s>,
        is_sorted: bool,
        stack_id: u32,
        (labels, label_list_id): (Vec<Label>, u32),
    ) -> ExpectedEvent {
        let event = &*queued.event;
        let event_type = &self.session.types[queued.type_at];
        let thread = self.thread(queued.thread_at);
        let blob = self.blob(queued, is_sorted, stack_id, label_list_id);
        let mut expected = ExpectedEvent {
            provider: event_type.provider.clone(),
            event_id: event_type.event_id,
            name: event_type.name.clone(),
            keywords: event_type.keywords,
            level: event_type.level,
            version: event_type.version,
            opcode: event_type.opcode.filter(|_| self.stores_opcodes()),
            fields: self.described_fields(event_type).to_vec(),
            values: event.values.clone(),
            stack: self.frames(event),
            activity_id: Some(blob.activity_id),
            related_activity_id: Some(blob.related_activity_id),
            labels,
            os_thread_id: blob.thread_id,
            process_id: self.session.trace.process_id as u64,
            thread_name: None,
            blob,
        };
        if self.is_v6() {
            expected.os_thread_id = thread.os_thread_id;
            expected.process_id = thread.process_id;
            expected.thread_name = thread.name.clone();
        }
        for label in &expected.labels {
            match label {
                Label::ActivityId(guid) => expected.activity_id = Some(*guid),
                Label::RelatedActivityId(guid) => expected.related_activity_id = Some(*guid),
                Label::OpCode(value) => expected.opcode = Some(*value),
                Label::Keywords(value) => expected.keywords = *value,
                Label::Level(value) => expected.level = *value,
                Label::Version(value) => expected.version = *value,
                _ => {}
            }
        }
        expected.activity_id = expected.activity_id.filter(|guid| guid != &[0; 16]);
        expected.related_activity_id = expected.related_activity_id.filter(|guid| guid != &[0; 16]);
        expected
    }

    fn blob(
        &self,
        queued: &Queued<'s>,
        is_sorted: bool,
        stack_id: u32,
        label_list_id: u32,
    ) -> Blob {
        let event = &*queued.event;
        let mut blob = Blob {
            metadata_id: self.metadata_ids[&queued.type_at],
            thread_id: self.thread(queued.thread_at).os_thread_id,
            ticks: queued.ticks,
            payload: payload(&event.values),
            ..Blob::default()
        };
        if !self.is_v6() {
            blob.activity_id = event.activity_id;
            blob.related_activity_id = event.related_activity_id;
        }
        if self.is_v3() {
            blob.thread_id &= u64::from(u32::MAX);
            blob.stack = addresses(self.session.trace.pointer_size, &event.stack);
            return blob;
        }
        blob.sequence_number = queued.sequence_number;
        blob.capture_thread_id = self.thread(queued.capture_at).os_thread_id;
        blob.processor = event.processor.map_or(NO_PROCESSOR, u32::from);
        blob.stack_id = stack_id;
        blob.is_sorted = is_sorted;
        if self.is_v6() {
            blob.thread_id = self.thread_indices[&queued.thread_at];
            blob.capture_thread_id = self.thread_indices[&queued.capture_at];
            blob.label_list_id = label_list_id;
        }
        blob
    }
}
