//! The event types that were met: (provider, id, version, name) as small numbers, what they are called, and
//! the shapes of their payloads.
//!
//! # Names
//! | where | name |
//! |---|---|
//! | JSON and CSV (`event` of `events`, `name` of `stats` and `schema`) | of native events the catalog's, `GC/Start`; else the stream's, of which one that ends in Start or Stop and has no other opcode is shown as `Request/Start` (FORMAT.md 15); else `Provider/ID` |
//! | text | the same, with the provider in front |
//! | `--event` | all of these, the stream's own, and the manifest's symbols with and without version: `GCStart_V2`, `GCStart` |

use crate::shape::Names;
use nettrace_parser::catalog::CatalogEvent;
use nettrace_parser::catalog::event_name;
use nettrace_parser::{Event, Metadata, Schema};
use std::borrow::Cow;
use std::collections::HashMap;

/// One event type.
#[derive(Debug, Clone)]
pub struct EventType {
    /// The provider's name.
    pub provider: Box<str>,
    /// The event's number within the provider; 0 if the stream gives a name alone.
    pub id: u32,
    /// The version of its payload.
    pub version: u32,
    /// The name that the stream gives; empty for native runtime events.
    pub name: Box<str>,
    /// Whether the stream describes it. If not, nothing else is known of it.
    pub is_defined: bool,
    /// The opcode that the stream stores with the type.
    opcode: Option<u8>,
    /// The catalog's row, if the payload's layout is taken from there.
    pub catalog: Option<&'static CatalogEvent>,
    /// Numbers of its shapes.
    shapes: Vec<usize>,
}

/// What tells types apart.
type Key = (Box<str>, u32, u32, Box<str>, bool);

impl EventType {
    fn of(event: &Event<'_>) -> EventType {
        EventType {
            provider: event.provider().into(),
            id: event.id(),
            version: event.version(),
            name: event.name().into(),
            is_defined: event.metadata().is_some(),
            opcode: event.metadata().and_then(|metadata| metadata.opcode),
            catalog: event.catalog(),
            shapes: Vec::new(),
        }
    }

    fn of_metadata(metadata: &Metadata) -> EventType {
        EventType {
            provider: metadata.provider.clone(),
            id: metadata.event_id,
            version: metadata.version,
            name: metadata.name.clone(),
            is_defined: true,
            opcode: metadata.opcode,
            catalog: metadata.catalog(),
            shapes: Vec::new(),
        }
    }

    fn key(&self) -> Key {
        (self.provider.clone(), self.id, self.version, self.name.clone(), self.is_defined)
    }

    /// What types are sorted by.
    pub fn sort_key(&self) -> (&str, u32, u32, &str, bool) {
        (&self.provider, self.id, self.version, &self.name, self.is_defined)
    }

    /// Whether the name says more than provider and id.
    pub fn has_name(&self) -> bool {
        self.shown_name().is_some()
    }

    /// The name without provider; `None` without a name.
    fn shown_name(&self) -> Option<Cow<'_, str>> {
        event_name(&self.name, self.id, self.opcode, self.catalog)
    }

    /// The name for programs: `Provider/ID` without a name.
    pub fn event_name(&self) -> String {
        match (self.is_defined, self.shown_name()) {
            (false, _) => "(undefined)".to_owned(),
            (true, Some(name)) => name.into_owned(),
            (true, None) => self.numbered_path(),
        }
    }

    /// The name for people: `Provider/Name`, or `Provider/ID` without a name.
    pub fn path(&self) -> String {
        match (self.is_defined, self.shown_name()) {
            (false, _) => "(undefined)".to_owned(),
            (true, Some(name)) => format!("{}/{name}", self.provider),
            (true, None) => self.numbered_path(),
        }
    }

    fn numbered_path(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }

    /// All names without provider by which users may know it, the one for people first.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.shown_name().map(Cow::into_owned).into_iter().collect();
        let mut add = |name: String| {
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        };
        add(self.name.to_string());
        if let Some(known) = self.catalog {
            for name in catalog_names(known) {
                add(name);
            }
        }
        names
    }
}

/// The names of a row of the catalog: `GC/Start`, `GCStart`, `GCStart_V2`.
pub(crate) fn catalog_names(known: &CatalogEvent) -> [String; 4] {
    let symbol = known.symbol;
    let is_version = |version: &str| !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    let stem =
        symbol.rsplit_once("_V").filter(|(_, version)| is_version(version)).map_or(symbol, |(stem, _)| stem);
    [known.name.to_owned(), known.name.replace('/', ""), stem.to_owned(), symbol.to_owned()]
}

/// The fields of payloads of one type. A type has several when the stream describes it several times,
/// differently.
#[derive(Debug)]
pub struct Shape {
    /// Number of the type.
    pub type_number: usize,
    /// Its fields.
    pub schema: Schema,
    /// What the fields are called where they are shown.
    pub names: Names,
}

/// Where [`EventTypes`] keep what is known of an event: its type, and the shape of its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeIndex {
    /// Number of its type.
    pub number: usize,
    /// Number of its payload's shape.
    pub shape: usize,
    /// The level that the stream describes it with, which a label of the event may replace.
    pub level: u32,
}

/// What a metadata id stood for the last time: ids come back with other meanings, serial numbers do not.
#[derive(Debug, Clone, Copy)]
struct Guess {
    serial: u64,
    /// Of the event: labels may give it one of its own.
    version: u32,
    type_index: TypeIndex,
}

/// No description has this serial number.
const NO_GUESS: Guess =
    Guess { serial: 0, version: 0, type_index: TypeIndex { number: 0, shape: 0, level: 0 } };

/// Metadata ids above this are looked up by hashing.
const DENSE_IDS: usize = 1 << 16;

/// All types met so far, numbered in the order they were met.
#[derive(Debug, Default)]
pub struct EventTypes {
    rows: Vec<EventType>,
    by_key: HashMap<Key, usize>,
    shapes: Vec<Shape>,
    by_metadata_id: Vec<Guess>,
    /// The newest places of types whose payloads differ, by the address of the payload's schema in the catalog.
    by_record: Vec<(usize, Guess)>,
}

/// As many as the catalog knows records.
const RECORDS: usize = 8;

impl EventTypes {
    /// The type of an event and the shape of its payload, which are added if they are new.
    #[inline(always)]
    pub fn index_of(&mut self, event: &Event<'_>) -> TypeIndex {
        if let Some(metadata) = event.metadata()
            && let Some(guess) = self.by_metadata_id.get(metadata.id as usize)
            && guess.serial == metadata.serial()
            && guess.version == metadata.version
            && event.labels().is_empty()
        {
            return guess.type_index;
        }
        self.look_up(event)
    }

    #[inline(never)]
    fn look_up(&mut self, event: &Event<'_>) -> TypeIndex {
        let metadata_id = event.metadata_id() as usize;
        let serial = event.metadata().map_or(0, Metadata::serial);
        let version = event.version();
        if let Some(guess) = self.by_metadata_id.get(metadata_id)
            && guess.serial == serial
            && guess.version == version
            && serial != 0
        {
            return guess.type_index;
        }
        let is_fixed = !event.catalog().is_some_and(CatalogEvent::has_records);
        let record = event.schema().map_or(0, |schema| std::ptr::from_ref(schema).addr());
        let is_known = |guess: &Guess| guess.serial == serial && guess.version == version && serial != 0;
        if !is_fixed
            && let Some((_, guess)) =
                self.by_record.iter().find(|(at, guess)| *at == record && is_known(guess))
        {
            return guess.type_index;
        }
        let level = event.metadata().map_or(0, |metadata| metadata.level);
        let type_index = self.insert(EventType::of(event), event.schema(), level);
        if !is_fixed {
            self.by_record.truncate(RECORDS - 1);
            self.by_record.insert(0, (record, Guess { serial, version, type_index }));
        }
        if serial != 0 && metadata_id < DENSE_IDS && is_fixed {
            if self.by_metadata_id.len() <= metadata_id {
                self.by_metadata_id.resize(metadata_id.saturating_add(1), NO_GUESS);
            }
            if let Some(guess) = self.by_metadata_id.get_mut(metadata_id) {
                *guess = Guess { serial, version, type_index };
            }
        }
        type_index
    }

    /// Where the events of a description belong.
    pub fn index_of_metadata(&mut self, metadata: &Metadata) -> TypeIndex {
        let schema = metadata.catalog().map_or(&metadata.schema, CatalogEvent::schema);
        self.insert(EventType::of_metadata(metadata), Some(schema), metadata.level)
    }

    fn insert(&mut self, row: EventType, schema: Option<&Schema>, level: u32) -> TypeIndex {
        let key = row.key();
        let number = match self.by_key.get(&key) {
            Some(number) => *number,
            None => {
                let number = self.rows.len();
                self.rows.push(row);
                self.by_key.insert(key, number);
                number
            }
        };
        let undescribed = Schema::default();
        let schema = schema.unwrap_or(&undescribed);
        let shapes = self.rows.get(number).map_or(&[][..], |row| &row.shapes);
        let known =
            shapes.iter().copied().find(|shape| self.shapes.get(*shape).is_some_and(|s| s.schema == *schema));
        let shape = known.unwrap_or_else(|| {
            let shape = self.shapes.len();
            self.shapes.push(Shape { type_number: number, schema: schema.clone(), names: Names::of(schema) });
            if let Some(row) = self.rows.get_mut(number) {
                row.shapes.push(shape);
            }
            shape
        });
        TypeIndex { number, shape, level }
    }

    /// The number of a type that others met; for counts, without its shapes.
    pub fn number_of(&mut self, row: EventType) -> usize {
        let key = row.key();
        if let Some(number) = self.by_key.get(&key) {
            return *number;
        }
        let number = self.rows.len();
        self.by_key.insert(key, number);
        self.rows.push(EventType { shapes: Vec::new(), ..row });
        number
    }

    /// The types, in the order they were met.
    pub fn rows(&self) -> &[EventType] {
        &self.rows
    }

    /// The type of an event.
    pub fn row(&self, type_index: TypeIndex) -> Option<&EventType> {
        self.rows.get(type_index.number)
    }

    /// The shapes, in the order they were met.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The names of an event's fields.
    pub fn names(&self, type_index: TypeIndex) -> Option<&Names> {
        self.shapes.get(type_index.shape).map(|shape| &shape.names)
    }
}
