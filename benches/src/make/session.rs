//! Synthetic sessions: definitions, then regions of stacks, events and a sequence point.

use super::Written;
use super::rows::{Layout, Rows};
use super::stream::Writer;
use nettrace_testdata::synth::{
    Blob, Definition, EventBlock, Field, MetadataBlock, MetadataRow, Optional, PartKind,
    SequencePoint, StackBlock, ThreadBlock, ThreadRow, Trace, Version,
};
use std::io::{self, Write};

/// Tick at which every synthetic session starts: the `sync_ticks` of [`Trace::default`].
pub(super) const START_TICKS: u64 = 1_000_000;

/// An event type of a synthetic session.
#[derive(Debug, Clone)]
pub struct EventType {
    /// Name of the provider.
    pub provider: &'static str,
    /// Id of the event.
    pub id: u32,
    /// Version of the event.
    pub version: u32,
    /// Name of the event; empty for native events.
    pub name: String,
    /// Fields of the payload; none for native events.
    pub fields: Vec<Field>,
}

impl EventType {
    /// Creates the type of a native event, which has neither a name nor fields in the stream.
    pub fn native(provider: &'static str, id: u32, version: u32) -> EventType {
        EventType { provider, id, version, name: String::new(), fields: Vec::new() }
    }
}

/// Source of the events of a synthetic session.
pub trait Events {
    /// Returns the version of the stream.
    fn version(&self) -> Version {
        Version::V4
    }
    /// Returns the layout of the rows.
    fn layout(&self) -> Layout {
        Layout::Compressed
    }
    /// Returns the event types. The first one has metadata id 1.
    fn types(&self) -> Vec<EventType>;
    /// Returns the threads that write events: their OS ids, or in version 6 their indices.
    fn capture_threads(&self) -> Vec<u64>;
    /// Returns the threads that events are about, if they differ from the capture threads (version
    /// 6).
    fn threads(&self) -> Vec<u64> {
        self.capture_threads()
    }
    /// Returns whether a sequence point may follow here, `events` events after the last one. If so,
    /// later events are not older than the ones before.
    fn is_region_end(&self, events: u64) -> bool;
    /// Returns the stacks of the next region. The first one has id 1.
    fn stacks(&mut self) -> Vec<Vec<u64>>;
    /// Sets the fields of the next event, except its sequence number.
    fn next(&mut self, blob: &mut Blob);
    /// Returns the flags to write for a compressed row that needs at least the flags `needed`.
    fn flags(&self, needed: u8) -> u8 {
        needed
    }
}

/// Writes a session of at least `bytes` bytes.
pub fn write(out: impl Write, events: &mut impl Events, bytes: u64) -> io::Result<Written> {
    let version = events.version();
    let mut writer = Writer::new(out, version)?;
    writer.write_trace(&Trace::default().known_keys())?;
    write_types(&mut writer, &events.types())?;
    if version == Version::V6 {
        let threads = events.threads();
        let rows =
            threads.iter().map(|index| ThreadRow::new(*index, 1234, 40_000 + index)).collect();
        writer.write_part(PartKind::Thread, ThreadBlock::new(rows).content().bytes)?;
    }
    let mut numbers: Vec<(u64, u32)> =
        events.capture_threads().into_iter().map(|thread| (thread, 0)).collect();
    let mut rows = Rows::new(version, events.layout());
    let mut blob = Blob::default();
    let (mut count, mut newest) = (0, START_TICKS);
    while writer.position() < bytes {
        let stacks = events.stacks();
        writer.write_part(PartKind::Stack, StackBlock::new(1, 8, &stacks).content().bytes)?;
        let begin = count;
        while count == begin || !events.is_region_end(count - begin) {
            events.next(&mut blob);
            let number = numbers.iter_mut().find(|(thread, _)| *thread == blob.capture_thread_id);
            let (_, number) =
                number.ok_or_else(|| io::Error::other("an event of an unlisted thread"))?;
            *number = number.wrapping_add(1);
            blob.sequence_number = *number;
            blob.flags = Some(events.flags(rows.needed_flags(&blob)));
            rows.push(&blob);
            newest = newest.max(blob.ticks);
            count += 1;
            if rows.is_full() {
                writer.write_part(PartKind::Event, rows.take())?;
                if writer.position() >= bytes {
                    break;
                }
            }
        }
        if !rows.is_empty() {
            writer.write_part(PartKind::Event, rows.take())?;
        }
        let point =
            SequencePoint { ticks: newest, threads: numbers.clone(), ..SequencePoint::default() };
        writer.write_part(PartKind::SequencePoint, point.content(version).bytes)?;
    }
    Ok(Written { events: count, bytes: writer.end()? })
}

/// Writes the definitions of event types, with metadata ids from 1 on.
pub(super) fn write_types<W: Write>(writer: &mut Writer<W>, types: &[EventType]) -> io::Result<()> {
    let ids = 1u32..;
    let version = writer.version();
    let content = if version == Version::V6 {
        let row = |(metadata_id, kind): (u32, &EventType)| MetadataRow {
            metadata_id,
            provider: kind.provider.to_owned(),
            event_id: kind.id,
            name: kind.name.clone(),
            fields: kind.fields.clone(),
            optional: vec![
                Optional::Level(4),
                Optional::Version(kind.version as u8),
                Optional::Keywords(1),
            ],
            ..MetadataRow::default()
        };
        MetadataBlock::new(ids.zip(types).map(row).collect()).content()
    } else {
        let blob = |(metadata_id, kind): (u32, &EventType)| {
            let definition = Definition {
                metadata_id,
                provider: kind.provider.to_owned(),
                event_id: kind.id,
                name: kind.name.clone(),
                keywords: 1,
                version: kind.version,
                level: 4,
                fields: kind.fields.clone(),
                ..Definition::default()
            };
            Blob::definition(40_000, START_TICKS, definition.encode())
        };
        EventBlock::new(ids.zip(types).map(blob)).content(version)
    };
    writer.write_part(PartKind::Metadata, content.bytes)
}
