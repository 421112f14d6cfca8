//! The event types that were met: (provider, id, version, name) as small numbers.

use nettrace_parser::Event;
use std::collections::HashMap;

/// One event type.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct EventType {
    pub(crate) provider: Box<str>,
    pub(crate) id: u32,
    pub(crate) version: u32,
    /// The name that the stream gives; empty for native runtime events.
    pub(crate) name: Box<str>,
    /// Whether the stream describes it. If not, nothing else is known of it.
    pub(crate) is_defined: bool,
}

impl EventType {
    fn of(event: &Event<'_>) -> EventType {
        EventType {
            provider: event.provider().into(),
            id: event.id(),
            version: event.version(),
            name: event.name().into(),
            is_defined: event.metadata().is_some(),
        }
    }

    fn is_of(&self, event: &Event<'_>) -> bool {
        self.id == event.id()
            && self.version == event.version()
            && self.is_defined == event.metadata().is_some()
            && *self.provider == *event.provider()
            && *self.name == *event.name()
    }

    /// The name to show: the stream's, else `Provider/ID`.
    pub(crate) fn display_name(&self) -> String {
        match (&*self.name, self.is_defined) {
            ("", true) => self.path(),
            ("", false) => "(undefined)".to_owned(),
            (name, _) => name.to_owned(),
        }
    }

    /// `Provider/Name`, or `Provider/ID` without a name.
    pub(crate) fn path(&self) -> String {
        match (&*self.name, self.is_defined) {
            (_, false) => "(undefined)".to_owned(),
            ("", true) => format!("{}/{}", self.provider, self.id),
            (name, true) => format!("{}/{name}", self.provider),
        }
    }
}

/// Metadata ids above this are looked up by hashing.
const DENSE_IDS: usize = 1 << 16;
const NONE: u32 = u32::MAX;

/// All types met so far, numbered in the order they were met.
#[derive(Debug, Default)]
pub(crate) struct EventTypes {
    rows: Vec<EventType>,
    by_key: HashMap<EventType, usize>,
    /// The number that a metadata id had the last time. Ids come back with other meanings, so it is only a
    /// guess.
    by_metadata_id: Vec<u32>,
}

impl EventTypes {
    /// The number of an event's type.
    #[inline]
    pub(crate) fn number_of(&mut self, event: &Event<'_>) -> usize {
        let guess =
            self.by_metadata_id.get(event.metadata_id() as usize).map_or(NONE as usize, |n| *n as usize);
        match self.rows.get(guess) {
            Some(row) if row.is_of(event) => guess,
            _ => self.look_up(event),
        }
    }

    #[inline(never)]
    fn look_up(&mut self, event: &Event<'_>) -> usize {
        let key = EventType::of(event);
        let number = match self.by_key.get(&key) {
            Some(number) => *number,
            None => {
                let number = self.rows.len();
                self.rows.push(key.clone());
                self.by_key.insert(key, number);
                number
            }
        };
        let id = event.metadata_id() as usize;
        if id < DENSE_IDS {
            if self.by_metadata_id.len() <= id {
                self.by_metadata_id.resize(id + 1, NONE);
            }
            if let (Some(guess), Ok(number)) = (self.by_metadata_id.get_mut(id), u32::try_from(number)) {
                *guess = number;
            }
        }
        number
    }

    /// The types, in the order they were met.
    pub(crate) fn rows(&self) -> &[EventType] {
        &self.rows
    }
}
