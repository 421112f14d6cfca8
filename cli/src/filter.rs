//! Which events a user wants to see.

use crate::args::EventsArgs;
use crate::event_types::{EventType, EventTypes};
use crate::glob::Glob;
use crate::nearest::{nearest, suggestion};
use crate::time_range::TimeRange;
use nettrace_parser::Event;
use std::convert::Infallible;
use std::str::FromStr;

/// A provider's name with wildcards.
#[derive(Debug, Clone)]
pub(crate) struct ProviderPattern(Glob);

impl FromStr for ProviderPattern {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(ProviderPattern(Glob::new(text)))
    }
}

/// An event's id, name, or `Provider/Name`, with wildcards.
#[derive(Debug, Clone)]
pub(crate) struct EventPattern {
    glob: Glob,
    id: Option<u32>,
}

impl FromStr for EventPattern {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(EventPattern { glob: Glob::new(text), id: text.parse().ok() })
    }
}

impl EventPattern {
    fn is_match(&self, row: &EventType) -> bool {
        if !row.is_defined {
            return false;
        }
        self.id == Some(row.id)
            || self.glob.is_match(&row.name)
            || self.glob.is_match(&row.path())
            || self.glob.is_match(&format!("{}/{}", row.provider, row.id))
    }
}

/// All that an event has to fulfil.
#[derive(Debug)]
pub(crate) struct Filter {
    providers: Vec<ProviderPattern>,
    events: Vec<EventPattern>,
    threads: Vec<i64>,
    time: Option<TimeRange>,
    /// Whether each type passes, as far as types are known.
    passes: Vec<bool>,
}

impl Filter {
    pub(crate) fn new(args: &EventsArgs) -> Filter {
        Filter {
            providers: args.provider.clone(),
            events: args.event.clone(),
            threads: args.thread.clone(),
            time: args.time,
            passes: Vec::new(),
        }
    }

    /// Whether the event, whose type has this number, is wanted.
    #[inline]
    pub(crate) fn accepts(&mut self, event: &Event<'_>, number: usize, types: &EventTypes) -> bool {
        for row in types.rows().iter().skip(self.passes.len()) {
            let is_wanted = self.accepts_type(row);
            self.passes.push(is_wanted);
        }
        self.passes.get(number).copied().unwrap_or(false) && self.accepts_instance(event)
    }

    fn accepts_type(&self, row: &EventType) -> bool {
        let by_provider = |pattern: &ProviderPattern| pattern.0.is_match(&row.provider);
        (self.providers.is_empty() || self.providers.iter().any(by_provider))
            && (self.events.is_empty() || self.events.iter().any(|pattern| pattern.is_match(row)))
    }

    fn accepts_instance(&self, event: &Event<'_>) -> bool {
        let thread = || event.thread_id().map_or(Some(-1), |id| i64::try_from(id).ok());
        (self.threads.is_empty() || thread().is_some_and(|id| self.threads.contains(&id)))
            && self.time.is_none_or(|time| event.nanos().is_some_and(|nanos| time.contains(nanos)))
    }

    /// Filters that fit nothing in the whole trace, each with what may have been meant.
    pub(crate) fn unmatched(&self, types: &EventTypes) -> Vec<String> {
        let rows = types.rows();
        let mut messages = Vec::new();
        for pattern in &self.providers {
            if !rows.iter().any(|row| pattern.0.is_match(&row.provider)) {
                let names = nearest(pattern.0.as_str(), rows.iter().map(|row| &*row.provider));
                let hint = suggestion(&names);
                messages.push(format!("no event is of a provider like {}{hint}", pattern.0.as_str()));
            }
        }
        for pattern in &self.events {
            if !rows.iter().any(|row| pattern.is_match(row)) {
                let wanted = pattern.glob.as_str();
                let paths: Vec<String> = rows.iter().map(EventType::path).collect();
                let names = if wanted.contains('/') {
                    nearest(wanted, paths.iter().map(String::as_str))
                } else {
                    nearest(wanted, rows.iter().filter(|row| !row.name.is_empty()).map(|row| &*row.name))
                };
                messages.push(format!("no event is {wanted}{}", suggestion(&names)));
            }
        }
        messages
    }
}
