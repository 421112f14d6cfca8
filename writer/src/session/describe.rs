//! Gives ids to the event types of a session, and defines them in the form of the stream's version.

use super::EventType;
use super::record::{EXTRA, Queued, Recorder};
use crate::{
    Blob, Definition, Field, FieldForm, MetadataBlock, MetadataRow, Optional, Tag, Version,
};

impl<'s> Recorder<'s> {
    /// Gives ids to those types in the batch that have none. Returns, for each such type, the index
    /// in the batch of its first event.
    pub(super) fn define_types(&mut self, batch: &[Queued<'s>]) -> Vec<usize> {
        let mut first_met = Vec::new();
        for (at, queued) in batch.iter().enumerate() {
            let next_id = self.metadata_ids.len() as u32 + 1;
            self.metadata_ids.entry(queued.type_at).or_insert_with(|| {
                first_met.push(at);
                next_id
            });
        }
        first_met
    }

    pub(super) fn write_metadata(&mut self, new_types: &[usize], batch: &[Queued<'s>]) {
        if new_types.is_empty() {
            return;
        }
        if self.is_v6() {
            let rows = new_types.iter().map(|&at| self.metadata_row(batch[at].type_at)).collect();
            let header = vec![EXTRA; self.session.header_extra];
            self.stream.metadata_rows(&MetadataBlock { header, ..MetadataBlock::new(rows) });
        } else {
            let blobs: Vec<Blob> =
                new_types.iter().map(|&at| self.definition(&batch[at])).collect();
            let block = self.create_event_block(blobs);
            self.stream.metadata_blobs(&block);
        }
    }

    /// Creates the blob that defines the type of `first`, the first event of that type.
    pub(super) fn definition(&self, first: &Queued<'s>) -> Blob {
        let event_type = &self.session.types[first.type_at];
        let form = self.described_form(event_type);
        let mut tags = Vec::new();
        if self.session.version == Version::V5 {
            if let Some(opcode) = event_type.opcode {
                let mut payload = vec![opcode];
                payload.resize(1 + self.session.row_extra, EXTRA);
                tags.push(Tag::new(1, payload));
            }
            if form == Some(FieldForm::V2) {
                let mut tag = Tag::v2_params(&self.with_extra(&event_type.fields));
                tag.payload.resize(tag.payload.len() + self.session.row_extra, EXTRA);
                tags.push(tag);
            }
        }
        let definition = Definition {
            metadata_id: self.metadata_ids[&first.type_at],
            provider: event_type.provider.clone(),
            event_id: event_type.event_id,
            name: event_type.name.clone(),
            keywords: event_type.keywords,
            version: u32::from(event_type.version),
            level: u32::from(event_type.level),
            fields: if form == Some(FieldForm::V1) {
                event_type.fields.clone()
            } else {
                Vec::new()
            },
            tags,
            ..Definition::default()
        };
        let thread_id = self.thread(first.thread_at).os_thread_id;
        Blob::definition(thread_id, first.ticks, definition.encode())
    }

    fn metadata_row(&self, type_at: usize) -> MetadataRow {
        let event_type = &self.session.types[type_at];
        let mut optional = Vec::new();
        optional.extend(event_type.opcode.map(Optional::OpCode));
        if event_type.keywords != 0 {
            optional.push(Optional::Keywords(event_type.keywords));
        }
        if event_type.level != 0 {
            optional.push(Optional::Level(event_type.level));
        }
        if event_type.version != 0 {
            optional.push(Optional::Version(event_type.version));
        }
        optional.extend(event_type.optional.iter().cloned());
        MetadataRow {
            metadata_id: self.metadata_ids[&type_at],
            provider: event_type.provider.clone(),
            event_id: event_type.event_id,
            name: event_type.name.clone(),
            fields: self.with_extra(self.described_fields(event_type)),
            optional,
            extra: vec![EXTRA; self.session.row_extra],
            ..MetadataRow::default()
        }
    }

    fn with_extra(&self, fields: &[Field]) -> Vec<Field> {
        let extra = vec![EXTRA; self.session.row_extra];
        fields.iter().map(|field| Field { extra: extra.clone(), ..field.clone() }).collect()
    }

    /// Returns whether metadata of the stream's version can store opcodes.
    pub(super) fn stores_opcodes(&self) -> bool {
        self.session.version >= Version::V5
    }

    /// Returns the fields that the stream declares for an event type.
    pub(super) fn described_fields<'t>(&self, event_type: &'t EventType) -> &'t [Field] {
        if self.described_form(event_type).is_some() { &event_type.fields } else { &[] }
    }

    /// Returns the form of field list with which the stream's version can describe all fields of an
    /// event type; `None` if it cannot.
    fn described_form(&self, event_type: &EventType) -> Option<FieldForm> {
        let forms: &[FieldForm] = match self.session.version {
            Version::V3 | Version::V4 => &[FieldForm::V1],
            Version::V5 => &[FieldForm::V1, FieldForm::V2],
            Version::V6 => &[FieldForm::V6],
        };
        let all_in =
            |form: FieldForm| event_type.fields.iter().all(|f| f.field_type.is_allowed_in(form));
        forms.iter().copied().find(|&form| all_in(form))
    }
}
