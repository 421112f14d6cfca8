//! Event types seen so far, each with an index, its names and the shapes of its payloads. Provider,
//! id, version and name distinguish types.
//!
//! # Names
//! | used in | name |
//! |---|---|
//! | JSON and CSV (`event` of `events`, `name` of `stats` and `schema`) | for native events the catalog's, such as `GC/Start`; else the stream's, where a name that ends in Start or Stop is shown as `Request/Start` unless its opcode says otherwise (FORMAT.md 15); else `Provider/ID` |
//! | text | that name, preceded by the provider |
//! | `--event` | all of these, the stream's own name, and the manifest's symbol with and without its version: `GCStart_V2`, `GCStart` |

use crate::shape::Names;
use nettrace_parser::catalog::CatalogEvent;
use nettrace_parser::{Event, Metadata, Schema};
use std::collections::HashMap;

/// An event type that occurred in a trace.
#[derive(Debug, Clone)]
pub struct EventType {
    /// The provider's name.
    pub provider: Box<str>,
    /// The event's id within the provider; 0 if the stream identifies the event only by its name.
    pub id: u32,
    /// The version of the payload.
    pub version: u32,
    /// The event's name in the stream; empty for events of the native runtime.
    pub name: Box<str>,
    /// Whether the stream describes the type. If not, nothing else is known about the type.
    pub is_defined: bool,
    /// The [display name](Event::display_name); empty if the type has none.
    display_name: Box<str>,
    /// The row of the catalog that describes the payload's layout; `None` if the stream describes
    /// it.
    pub catalog: Option<&'static CatalogEvent>,
    /// Indices of the shapes that payloads of this type have, in [`EventTypes::shapes`].
    shapes: Vec<usize>,
}

/// Provider, id, version and name of a type, and whether the stream describes it.
type Key = (Box<str>, u32, u32, Box<str>, bool);

impl EventType {
    fn from_event(event: &Event<'_>) -> EventType {
        EventType {
            provider: event.provider().into(),
            id: event.id(),
            version: event.version(),
            name: event.name().into(),
            is_defined: event.metadata().is_some(),
            display_name: event.display_name().into(),
            catalog: event.catalog(),
            shapes: Vec::new(),
        }
    }

    fn from_metadata(metadata: &Metadata) -> EventType {
        EventType {
            provider: metadata.provider.clone(),
            id: metadata.event_id,
            version: metadata.version,
            name: metadata.name.clone(),
            is_defined: true,
            display_name: metadata.display_name().into(),
            catalog: metadata.catalog(),
            shapes: Vec::new(),
        }
    }

    fn key(&self) -> Key {
        (self.provider.clone(), self.id, self.version, self.name.clone(), self.is_defined)
    }

    /// Returns the key by which types are sorted.
    pub fn sort_key(&self) -> (&str, u32, u32, &str, bool) {
        (&self.provider, self.id, self.version, &self.name, self.is_defined)
    }

    /// Returns whether the type has a name in addition to provider and id.
    pub fn has_name(&self) -> bool {
        !self.display_name.is_empty()
    }

    /// Returns the name that output for programs uses; `Provider/ID` if the type has no name.
    pub fn event_name(&self) -> String {
        match (self.is_defined, &*self.display_name) {
            (false, _) => "(undefined)".to_owned(),
            (true, "") => self.numbered_path(),
            (true, name) => name.to_owned(),
        }
    }

    /// Returns the display name: `Provider/Name`, or `Provider/ID` if the type has no name.
    pub fn path(&self) -> String {
        match (self.is_defined, &*self.display_name) {
            (false, _) => "(undefined)".to_owned(),
            (true, "") => self.numbered_path(),
            (true, name) => format!("{}/{name}", self.provider),
        }
    }

    fn numbered_path(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }

    /// Returns all names, without the provider, by which users may know the event. The display name
    /// comes first.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut add = |name: String| {
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        };
        add(self.display_name.to_string());
        add(self.name.to_string());
        if let Some(known) = self.catalog {
            for name in catalog_names(known) {
                add(name);
            }
        }
        names
    }
}

/// Returns the names that a row of the catalog gives an event: `GC/Start`, `GCStart`, `GCStart_V2`.
pub(crate) fn catalog_names(known: &CatalogEvent) -> [String; 4] {
    let symbol = known.symbol;
    let is_version =
        |version: &str| !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    let stem = symbol
        .rsplit_once("_V")
        .filter(|(_, version)| is_version(version))
        .map_or(symbol, |(stem, _)| stem);
    [known.name.to_owned(), known.name.replace('/', ""), stem.to_owned(), symbol.to_owned()]
}

/// The fields in payloads of one type. A type has several shapes if the stream describes
/// it more than once, differently.
#[derive(Debug)]
#[non_exhaustive]
pub struct Shape {
    /// Index of the type in [`EventTypes::rows`].
    pub type_number: usize,
    /// Fields of the payloads.
    pub schema: Schema,
    /// The display names of the fields.
    pub names: Names,
}

/// Refers to the type of an event and the shape of its payload in [`EventTypes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeIndex {
    /// Index of the event's type in [`EventTypes::rows`].
    pub number: usize,
    /// Index of the payload's shape in [`EventTypes::shapes`].
    pub shape: usize,
    /// The level in the type's description, which a label of the event may override.
    pub level: u32,
}

/// The type that a metadata id referred to last. A stream may reuse an id for another description,
/// so the description's serial number is compared, too.
#[derive(Debug, Clone, Copy)]
struct Guess {
    serial: u64,
    /// The version of the event, which one of its labels may override.
    version: u32,
    type_index: TypeIndex,
}

impl Guess {
    #[inline(always)]
    fn is_for(&self, serial: u64, version: u32) -> bool {
        self.serial == serial && self.version == version
    }
}

/// A guess that matches no description, because no description has the serial number 0.
const NO_GUESS: Guess =
    Guess { serial: 0, version: 0, type_index: TypeIndex { number: 0, shape: 0, level: 0 } };

/// Maximum number of metadata ids whose last type is kept. Types of larger ids are looked up by
/// their key.
const MAX_DENSE_IDS: usize = 1 << 16;

/// All event types seen so far, with indices in the order in which they appeared.
#[derive(Debug, Default)]
pub struct EventTypes {
    rows: Vec<EventType>,
    by_key: HashMap<Key, usize>,
    shapes: Vec<Shape>,
    by_metadata_id: Vec<Guess>,
    /// Types with several payload layouts that were looked up most recently, by the address of the
    /// layout's schema in the catalog.
    by_record: Vec<(usize, Guess)>,
}

/// Maximum length of `by_record`, which is searched linearly.
const MAX_RECORDS: usize = 8;

impl EventTypes {
    /// Returns the type of an event and the shape of its payload, and adds them if they are new.
    #[inline(always)]
    pub fn index_of(&mut self, event: &Event<'_>) -> TypeIndex {
        match self.expected(event) {
            Some(type_index) => type_index,
            None => self.look_up(event),
        }
    }

    /// Returns the type that the last event with this description had. Returns `None` for an event
    /// with labels, because they may change the version.
    #[inline(always)]
    fn expected(&self, event: &Event<'_>) -> Option<TypeIndex> {
        let metadata = event.metadata()?;
        let guess = self.by_metadata_id.get(metadata.id as usize)?;
        let is_same = guess.is_for(metadata.serial(), metadata.version);
        (is_same && event.labels().is_empty()).then_some(guess.type_index)
    }

    #[inline(never)]
    fn look_up(&mut self, event: &Event<'_>) -> TypeIndex {
        let metadata_id = event.metadata_id() as usize;
        let serial = event.metadata().map_or(0, Metadata::serial);
        let version = event.version();
        if let Some(type_index) = self.last_meaning(metadata_id, serial, version) {
            return type_index;
        }
        let is_fixed = !event.catalog().is_some_and(|row| row.has_records);
        let record = event.schema().map_or(0, |schema| std::ptr::from_ref(schema).addr());
        let is_known = |guess: &Guess| guess.is_for(serial, version) && serial != 0;
        if !is_fixed
            && let Some((_, guess)) =
                self.by_record.iter().find(|(at, guess)| *at == record && is_known(guess))
        {
            return guess.type_index;
        }
        let level = event.metadata().map_or(0, |metadata| metadata.level);
        let type_index = self.insert(EventType::from_event(event), event.schema(), level);
        if !is_fixed {
            self.by_record.truncate(MAX_RECORDS - 1);
            self.by_record.insert(0, (record, Guess { serial, version, type_index }));
        }
        if serial != 0 && metadata_id < MAX_DENSE_IDS && is_fixed {
            self.keep_guess(metadata_id, Guess { serial, version, type_index });
        }
        type_index
    }

    /// Returns the index of an event's type, for counting; shapes are not kept. Returns `None` if
    /// the type is new and `most` types are known already.
    #[inline(always)]
    pub fn number_within(&mut self, most: usize, event: &Event<'_>) -> Option<usize> {
        match self.expected(event) {
            Some(type_index) => Some(type_index.number),
            None => self.look_number_up(most, event),
        }
    }

    #[inline(never)]
    fn look_number_up(&mut self, most: usize, event: &Event<'_>) -> Option<usize> {
        let metadata_id = event.metadata_id() as usize;
        let serial = event.metadata().map_or(0, Metadata::serial);
        let version = event.version();
        if let Some(type_index) = self.last_meaning(metadata_id, serial, version) {
            return Some(type_index.number);
        }
        let row = EventType::from_event(event);
        let number = match self.by_key.get(&row.key()) {
            Some(number) => *number,
            None if self.rows.len() >= most => return None,
            None => self.number_of(row),
        };
        if serial != 0 && metadata_id < MAX_DENSE_IDS {
            let type_index = TypeIndex { number, shape: 0, level: 0 };
            self.keep_guess(metadata_id, Guess { serial, version, type_index });
        }
        Some(number)
    }

    fn last_meaning(&self, metadata_id: usize, serial: u64, version: u32) -> Option<TypeIndex> {
        let guess = self.by_metadata_id.get(metadata_id)?;
        (serial != 0 && guess.is_for(serial, version)).then_some(guess.type_index)
    }

    fn keep_guess(&mut self, metadata_id: usize, guess: Guess) {
        if self.by_metadata_id.len() <= metadata_id {
            self.by_metadata_id.resize(metadata_id.saturating_add(1), NO_GUESS);
        }
        if let Some(place) = self.by_metadata_id.get_mut(metadata_id) {
            *place = guess;
        }
    }

    /// Returns the type and shape of events with this metadata, and adds them if they are new.
    pub fn index_of_metadata(&mut self, metadata: &Metadata) -> TypeIndex {
        let schema = metadata.catalog().map_or(&metadata.schema, CatalogEvent::schema);
        self.insert(EventType::from_metadata(metadata), Some(schema), metadata.level)
    }

    fn insert(&mut self, row: EventType, schema: Option<&Schema>, level: u32) -> TypeIndex {
        let number = self.number_of(row);
        let undescribed = Schema::default();
        let schema = schema.unwrap_or(&undescribed);
        let shapes = self.rows.get(number).map_or(&[][..], |row| &row.shapes);
        let known = shapes
            .iter()
            .copied()
            .find(|shape| self.shapes.get(*shape).is_some_and(|s| s.schema == *schema));
        let shape = known.unwrap_or_else(|| {
            let shape = self.shapes.len();
            self.shapes.push(Shape {
                type_number: number,
                schema: schema.clone(),
                names: Names::from_schema(schema),
            });
            if let Some(row) = self.rows.get_mut(number) {
                row.shapes.push(shape);
            }
            shape
        });
        TypeIndex { number, shape, level }
    }

    /// Returns the index of a type, and adds the type without its shapes if it is new. The type may
    /// come from another [`EventTypes`], to count its events here.
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

    /// Returns the event types, in the order in which they appeared.
    pub fn rows(&self) -> &[EventType] {
        &self.rows
    }

    /// Returns the type of an event.
    pub fn row(&self, type_index: TypeIndex) -> Option<&EventType> {
        self.rows.get(type_index.number)
    }

    /// Returns the payloads' shapes, in the order in which they appeared.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// Returns the names of the fields in an event's payload.
    pub fn names(&self, type_index: TypeIndex) -> Option<&Names> {
        self.shapes.get(type_index.shape).map(|shape| &shape.names)
    }
}
