//! Reads descriptions of event types (FORMAT.md 6.4, 7.3): provider, id, name, level and
//! fields.
//!
//! Versions 3 to 5 store one description as the payload of a blob; version 5 may append
//! tags. Version 6 has sized rows. [`field_list`] documents the encoding of the fields.

pub(crate) mod field_list;

use super::rows;
use crate::bytes::{
    Parsed, before, guid, i32, sized_row, string_v6, u8, u16, u32, u64, utf16_to_string, utf16z,
    varuint32,
};
use crate::catalog::{self, CatalogEvent, KnownProvider, shown};
use crate::damage::BlockDamage;
use crate::error::{Fault, FaultAt, located};
use crate::payload::Utf16;
use crate::schema::Schema;
use crate::serial::{Serial, SharedCopy};
use crate::work;
use nettrace_guid::Guid;
use nom::Parser;
use nom::error::context;
use std::sync::Arc;

/// An event type: the description that a metadata id stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    /// Id by which events refer to this type.
    pub id: u32,
    /// Name of the event's provider.
    pub provider: Box<str>,
    /// Event id within the provider; 0 if it has none.
    pub event_id: u32,
    /// Name that the stream has for the event; empty for native runtime events, see
    /// [`Metadata::display_name`].
    pub name: Box<str>,
    /// Keywords. EventSources with a manifest set `0xF00000000000` in addition to their
    /// own.
    pub keywords: u64,
    /// Version of the event.
    pub version: u32,
    /// Level: 0 log always, 1 critical, 2 error, 3 warning, 4 informational, 5 verbose.
    pub level: u32,
    /// Opcode; `None` if the stream does not store one, which is different from 0.
    pub opcode: Option<u8>,
    /// Fields of the payload.
    pub schema: Schema,
    /// Facts that only some writers of version 6 store; `None` if there are none.
    pub extra: Option<Box<MetadataExtra>>,
    /// Row of the catalog that describes the payload; `None` if [`Metadata::schema`] does.
    pub(crate) catalog: Option<&'static CatalogEvent>,
    /// Schema of the catalog's row; `None` without a row, and if the schema depends on the
    /// payload.
    pub(crate) catalog_schema: Option<&'static Schema>,
    /// The name before and after a slash, if it ends in Start or Stop.
    pub(crate) split_name: Option<Box<str>>,
    /// Provider, as far as [views](crate::view) distinguish providers.
    pub(crate) known_provider: KnownProvider,
    pub(crate) serial: Serial,
    pub(crate) shared: SharedCopy<Metadata>,
}

impl Metadata {
    /// Creates the description of an event type of which only these facts are known.
    fn named(id: u32, provider: Box<str>, event_id: u32, name: Box<str>) -> Metadata {
        Metadata {
            id,
            known_provider: KnownProvider::from_name(&provider),
            serial: Serial::default(),
            shared: SharedCopy::default(),
            provider,
            event_id,
            name,
            keywords: 0,
            version: 0,
            level: 0,
            opcode: None,
            schema: Schema::default(),
            extra: None,
            catalog: None,
            catalog_schema: None,
            split_name: None,
        }
    }

    /// Decides once for all events of the type which schema and name they have.
    pub(crate) fn settle(&mut self) {
        self.split_name = shown::split_name(&self.name, self.opcode);
        self.catalog = self.known(self.version);
        self.catalog_schema = self.catalog.filter(|row| !row.has_records).map(CatalogEvent::schema);
    }

    /// Returns the name of the event, without its provider, for people to read: the stream's name, or
    /// the catalog's, such as `GC/Start`, if the stream has no usable name; empty if neither
    /// has one. A stream's name that ends in Start or Stop is split there (`RequestStart` becomes
    /// `Request/Start`), unless the type's opcode contradicts.
    pub fn display_name(&self) -> &str {
        self.name_beside(self.catalog)
    }

    /// Returns a copy, the same for all callers.
    pub(crate) fn shared(&self) -> Arc<Metadata> {
        self.shared.get_or_make(|| self.clone())
    }

    /// Returns the display name of events that this row of the catalog describes, if any.
    pub(crate) fn name_beside(&self, row: Option<&'static CatalogEvent>) -> &str {
        match row {
            Some(row) if shown::is_unnamed(&self.name, self.event_id) => row.name,
            _ => self.split_name.as_deref().unwrap_or(&self.name),
        }
    }

    /// Returns the provider's GUID as stored in the stream (version 6), or else the GUID that
    /// follows from the provider's name.
    pub fn provider_guid(&self) -> Guid {
        let given = self.extra.as_ref().and_then(|extra| extra.provider_guid);
        given.unwrap_or_else(|| catalog::provider_guid(&self.provider))
    }

    /// Returns the catalog's row for events of this type with this version, if the catalog
    /// describes their payload. In version 6 an event may differ in version from its type.
    pub(crate) fn known(&self, version: u32) -> Option<&'static CatalogEvent> {
        catalog::row_for(&catalog::Described {
            provider: &self.provider,
            event_id: self.event_id,
            name: &self.name,
            version,
            has_fields: !self.schema.fields.is_empty() || self.schema.opaque.is_some(),
        })
    }

    /// Returns a number that no other description in this process has. Use it as the key for
    /// anything derived from an event type, because a stream may reuse [`Metadata::id`].
    #[inline]
    pub fn serial(&self) -> u64 {
        self.serial.number()
    }

    /// Returns the catalog's row, if the catalog describes the payload and not
    /// [`Metadata::schema`]. An event with a version of its own (version 6) may have a
    /// different row: see [`Event::catalog`](crate::Event::catalog).
    pub fn catalog(&self) -> Option<&'static CatalogEvent> {
        self.catalog
    }
}

/// Optional facts of a version 6 description.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MetadataExtra {
    /// Message text with placeholders for the fields.
    pub message_template: Option<Box<str>>,
    /// Human-readable description of the event type.
    pub description: Option<Box<str>>,
    /// The provider's GUID.
    pub provider_guid: Option<Guid>,
    /// Further keys and values, in stored order.
    pub pairs: Vec<(Box<str>, Box<str>)>,
}

fn text_utf16(text: Utf16<'_>) -> Box<str> {
    utf16_to_string(text.bytes()).into_boxed_str()
}

fn text_utf8(bytes: &[u8]) -> Box<str> {
    String::from_utf8_lossy(bytes).into()
}

/// The part of a version 3 to 5 description before its field list ([FORMAT.md
/// 6.4](crate::format_guide#6.4)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetadataPayload<'a> {
    /// Id by which events refer to the type.
    pub id: u32,
    /// Name of the event's provider.
    pub provider: Utf16<'a>,
    /// Event id within the provider.
    pub event_id: u32,
    /// Event name; empty for events of the native runtime.
    pub name: Utf16<'a>,
    /// Keywords of the event type.
    pub keywords: u64,
    /// Version of the event.
    pub version: u32,
    /// Level: 0 log always, 1 critical, 2 error, 3 warning, 4 informational, 5 verbose.
    pub level: u32,
}

/// Reads a description of versions 3 to 5 up to its field list ([FORMAT.md
/// 6.4](crate::format_guide#6.4)). It is the payload of a blob in a metadata block, or in version 3
/// of a blob with metadata id 0. The remaining input is empty, or a version 1 field list and any
/// number of [tags](MetadataTag).
///
/// # Errors
/// [`Fault::Truncated`].
pub fn payload(input: &[u8]) -> Parsed<'_, MetadataPayload<'_>> {
    let text = |input| utf16z.map(|bytes| Utf16::new(bytes, true)).parse(input);
    let (rest, (id, provider, event_id, name, keywords, version, level)) =
        context("metadata payload", (u32, text, u32, text, u64, u32, u32)).parse(input)?;
    Ok((rest, MetadataPayload { id, provider, event_id, name, keywords, version, level }))
}

/// Reads a description of versions 3 to 5, which is the payload of a metadata blob, and
/// reports broken fields and tags to `damage`. `at` is the payload's offset in its block.
pub(crate) fn payload_v5<'a>(
    input: &'a [u8],
    at: usize,
    damage: &mut BlockDamage<'_>,
) -> Parsed<'a, Metadata> {
    let (rest, read) = payload(input)?;
    let MetadataPayload { id, event_id, keywords, version, level, .. } = read;
    let named = Metadata::named(id, text_utf16(read.provider), event_id, text_utf16(read.name));
    let mut metadata = Metadata { keywords, version, level, ..named };
    if rest.is_empty() {
        return Ok((rest, metadata));
    }
    let list = field_list::v1(rest);
    metadata.schema = Schema::from_stream(list.fields, list.opaque, false);
    let place = |rest: &[u8]| at.saturating_add(before(input, rest));
    if let Some(fault) = metadata.schema.opaque {
        damage.note(place(list.stopped_at), "field list", fault);
        // Without the end of the field list, the beginning of the tags is unknown.
        return Ok((&[], metadata));
    }
    let tags_at = place(list.stopped_at);
    rows::read_entries(list.stopped_at, tags_at, "metadata tag", damage, tag, |at, tag, damage| {
        apply_tag(&mut metadata, tag, at, damage);
    });
    Ok((&[], metadata))
}

/// A tag of version 5 ([FORMAT.md 6.6](crate::format_guide#6.6)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetadataTag<'a> {
    /// Kind of the payload: 1 for the opcode, a u8; 2 for a version 2 field list, which
    /// replaces the version 1 list. Tags of other kinds are skipped.
    pub kind: u8,
    /// Payload without its size and kind.
    pub payload: &'a [u8],
}

impl MetadataTag<'_> {
    pub(crate) const OPCODE: u8 = 1;
    pub(crate) const V2_PARAMS: u8 = 2;
}

/// Reads a tag after the field list of a version 5 description ([FORMAT.md
/// 6.6](crate::format_guide#6.6)): an i32 size of the payload, a u8 kind, the payload.
///
/// # Errors
/// [`Fault::TagSize`] if the payload extends past the input; [`Fault::Truncated`].
pub fn tag(input: &[u8]) -> Parsed<'_, MetadataTag<'_>> {
    let (rest, (size, kind)) = (i32, u8).parse(input)?;
    match usize::try_from(size).ok().and_then(|size| rest.split_at_checked(size)) {
        Some((payload, rest)) => Ok((rest, MetadataTag { kind, payload })),
        None => FaultAt::error(input, Fault::TagSize(size)),
    }
}

fn apply_tag(
    metadata: &mut Metadata,
    tag: MetadataTag<'_>,
    at: usize,
    damage: &mut BlockDamage<'_>,
) {
    match tag.kind {
        MetadataTag::OPCODE => {
            // The payload may be longer than one byte; the rest is ignored.
            if let Some(&opcode) = tag.payload.first() {
                metadata.opcode = Some(opcode);
            }
        }
        MetadataTag::V2_PARAMS => {
            if !metadata.schema.fields.is_empty() {
                damage.note(at, "metadata tag", Fault::BothFieldLists);
            }
            let list = field_list::v2(tag.payload);
            metadata.schema = Schema::from_stream(list.fields, list.opaque, false);
            if let Some(fault) = metadata.schema.opaque {
                damage.note(at, "field list", fault);
            }
        }
        _ => {}
    }
}

/// Reads the rows of a version 6 metadata block. Each row stores its size. So the rows after a
/// broken row can be read, unless the broken row's size extends past the block.
pub(crate) fn block_v6(
    content: &[u8],
    damage: &mut BlockDamage<'_>,
    mut define: impl FnMut(usize, Metadata, &mut BlockDamage<'_>),
) {
    let header = rows::read_header(content, "metadata block header", damage, header_v6);
    let Some((rest, ())) = header else { return };
    rows::read_each(content, rest, "metadata row", damage, sized_row, |at, row, damage| {
        let row_at = at.saturating_add(2);
        match row_v6(row, row_at, damage) {
            Ok((_, metadata)) if metadata.id == 0 => {
                damage.note(row_at, "metadata row", Fault::DefinesNothing(0));
            }
            Ok((_, metadata)) => define(row_at, metadata, damage),
            Err(error) => {
                let error = located(row, error);
                let at = row_at.saturating_add(error.at);
                damage.add_spoilt_row(at, row_at, row.len(), "metadata row", error.fault);
            }
        }
    });
}

/// Returns whether the content of a version 6 metadata block, `len` bytes long, can begin
/// with these bytes.
pub(crate) fn begins_v6(len: usize, content: &[u8]) -> bool {
    let Ok((rest, size)) = u16(content) else { return false };
    let rows_at = usize::from(size).saturating_add(2);
    let Some(rows) = len.checked_sub(rows_at) else { return false };
    if rows == 0 {
        return true;
    }
    // The smallest row: size, id, two texts, event id.
    match rest.get(usize::from(size)..).map(u16) {
        Some(Ok((row, size))) => {
            let size = usize::from(size);
            size >= 4 && size <= rows.saturating_sub(2) && begins_row_v6(row, size)
        }
        // The header is longer than the examined bytes.
        _ => false,
    }
}

/// Returns whether a row of `size` bytes can begin with these bytes, which must contain an id
/// and the provider's name.
pub(crate) fn begins_row_v6(row: &[u8], size: usize) -> bool {
    let Ok((rest, (id, length))) = (varuint32, varuint32).parse(row) else { return false };
    let (length, room) = (length as usize, size.saturating_sub(before(row, rest)));
    let name = rest.get(..length.min(rest.len())).unwrap_or_default();
    work::count(name.len());
    // The event id and the event's name follow.
    id != 0 && length.saturating_add(2) <= room && name.iter().all(|byte| *byte >= b' ')
}

/// Reads the header of metadata blocks of version 6 ([FORMAT.md
/// 7.3](crate::format_guide#7.3)): a u16 size, *not* including itself, and that many
/// bytes, which are skipped. The remaining input consists of [rows](sized_row).
///
/// # Errors
/// [`Fault::HeaderSize`], [`Fault::Truncated`].
pub fn header_v6(input: &[u8]) -> Parsed<'_, ()> {
    let (rest, size) = u16(input)?;
    match rest.get(usize::from(size)..) {
        Some(rest) => Ok((rest, ())),
        None => FaultAt::error(input, Fault::HeaderSize(size)),
    }
}

/// Reads the header of a version 6 metadata block. It does not state the number of rows, so the
/// result is `None`.
pub(crate) fn first_row_v6(content: &[u8]) -> Parsed<'_, Option<u32>> {
    header_v6(content).map(|(rest, ())| (rest, None))
}

/// Steps over a row and checks how it begins, because any two bytes can be a size.
pub(crate) fn next_row_v6(input: &[u8]) -> Parsed<'_, ()> {
    match sized_row(input)? {
        (rest, row) if begins_row_v6(row, row.len()) => Ok((rest, ())),
        (_, row) => FaultAt::error(input, Fault::RowSize(row.len() as u64)),
    }
}

/// The part of a version 6 row before its field list ([FORMAT.md
/// 7.3](crate::format_guide#7.3)). Texts are UTF-8, unless the writer made a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetadataRow<'a> {
    /// Id by which events refer to the type.
    pub id: u32,
    /// Name of the event's provider.
    pub provider: &'a [u8],
    /// Event id within the provider.
    pub event_id: u32,
    /// Name of the event.
    pub name: &'a [u8],
}

/// Reads a row of a version 6 metadata block, after its [size](sized_row) and up to its
/// field list. The remaining input is empty, or a version 6 field list and a
/// [sized](sized_row) list of [optional metadata](OptionalMetadata).
///
/// # Errors
/// The errors of [`varuint32`] and [`string_v6`].
pub fn row_begin_v6(row: &[u8]) -> Parsed<'_, MetadataRow<'_>> {
    let (rest, (id, provider, event_id, name)) =
        (varuint32, string_v6, varuint32, string_v6).parse(row)?;
    Ok((rest, MetadataRow { id, provider, event_id, name }))
}

fn row_v6<'a>(row: &'a [u8], at: usize, damage: &mut BlockDamage<'_>) -> Parsed<'a, Metadata> {
    let (rest, MetadataRow { id, provider, event_id, name }) = row_begin_v6(row)?;
    let mut metadata = Metadata::named(id, text_utf8(provider), event_id, text_utf8(name));
    let place = |rest: &[u8]| at.saturating_add(before(row, rest));
    if rest.is_empty() {
        return Ok((rest, metadata));
    }
    let list = field_list::v6(rest);
    metadata.schema = Schema::from_stream(list.fields, list.opaque, true);
    if let Some(fault) = metadata.schema.opaque {
        damage.note(place(list.stopped_at), "field list", fault);
    }
    // Unlike a version 1 list, a version 6 list stores the sizes of its fields, so its
    // end is often known even if it cannot be decoded.
    let Some(rest) = list.after else { return Ok((rest, metadata)) };
    if rest.is_empty() {
        return Ok((rest, metadata));
    }
    match sized_row(rest) {
        Ok((after, optional)) => {
            let optional_at = place(rest).saturating_add(2);
            let apply = |_, entry, _: &mut BlockDamage<'_>| apply_optional(&mut metadata, entry);
            rows::read_entries(
                optional,
                optional_at,
                "optional metadata",
                damage,
                optional_entry,
                apply,
            );
            Ok((after, metadata))
        }
        Err(error) => {
            damage.add_lost_row(
                place(rest),
                rest.len(),
                "optional metadata",
                located(rest, error).fault,
            );
            Ok((rest, metadata))
        }
    }
}

/// An entry of a version 6 row's optional metadata ([FORMAT.md
/// 7.3](crate::format_guide#7.3)). Texts are UTF-8, unless the writer made a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionalMetadata<'a> {
    /// Opcode of the event type.
    Opcode(u8),
    /// Keywords of the event type.
    Keywords(u64),
    /// Message text with placeholders for the fields.
    MessageTemplate(&'a [u8]),
    /// Human-readable description of the event type.
    Description(&'a [u8]),
    /// A key and a value.
    Pair(&'a [u8], &'a [u8]),
    /// The provider's GUID.
    ProviderGuid(Guid),
    /// Level of the event type.
    Level(u8),
    /// Version of the event.
    Version(u8),
}

/// Reads an entry of a version 6 row's optional metadata.
///
/// # Errors
/// [`Fault::UnknownEntry`]: entries of unknown kinds have an unknown size, so the remaining
/// entries cannot be read. Also the errors of reading the entry's value.
pub fn optional_entry(input: &[u8]) -> Parsed<'_, OptionalMetadata<'_>> {
    let (rest, kind) = u8(input)?;
    match kind {
        1 => u8.map(OptionalMetadata::Opcode).parse(rest),
        3 => u64.map(OptionalMetadata::Keywords).parse(rest),
        4 => string_v6.map(OptionalMetadata::MessageTemplate).parse(rest),
        5 => string_v6.map(OptionalMetadata::Description).parse(rest),
        6 => (string_v6, string_v6)
            .map(|(key, value)| OptionalMetadata::Pair(key, value))
            .parse(rest),
        7 => guid.map(OptionalMetadata::ProviderGuid).parse(rest),
        8 => u8.map(OptionalMetadata::Level).parse(rest),
        9 => u8.map(OptionalMetadata::Version).parse(rest),
        other => FaultAt::error(input, Fault::UnknownEntry(other)),
    }
}

/// Stores an entry's value; if a kind occurs twice, the last entry wins.
fn apply_optional(metadata: &mut Metadata, entry: OptionalMetadata<'_>) {
    let extra = &mut metadata.extra;
    match entry {
        OptionalMetadata::Opcode(opcode) => metadata.opcode = Some(opcode),
        OptionalMetadata::Keywords(keywords) => metadata.keywords = keywords,
        OptionalMetadata::MessageTemplate(text) => {
            extra.get_or_insert_default().message_template = Some(text_utf8(text));
        }
        OptionalMetadata::Description(text) => {
            extra.get_or_insert_default().description = Some(text_utf8(text));
        }
        OptionalMetadata::Pair(key, value) => {
            extra.get_or_insert_default().pairs.push((text_utf8(key), text_utf8(value)));
        }
        OptionalMetadata::ProviderGuid(guid) => {
            extra.get_or_insert_default().provider_guid = Some(guid)
        }
        OptionalMetadata::Level(level) => metadata.level = u32::from(level),
        OptionalMetadata::Version(version) => metadata.version = u32::from(version),
    }
}
