//! Which events a user wants to see.

use crate::event_types::{EventType, EventTypes, TypeIndex, catalog_names};
use crate::glob::Glob;
use crate::nearest::{nearest, suggestion};
use crate::predicate::{Conditions, Predicate};
use crate::time_range::TimeRange;
use crate::units;
use nettrace_parser::{Event, catalog};
use std::convert::Infallible;
use std::str::FromStr;

/// A provider's name with wildcards.
#[derive(Debug, Clone)]
pub struct ProviderPattern(Glob);

impl ProviderPattern {
    /// Whether the type is of such a provider.
    pub fn is_match(&self, row: &EventType) -> bool {
        self.0.is_match(&row.provider)
    }

    /// What to say when nothing is of such a provider.
    pub fn unmatched(&self, rows: &[EventType]) -> Option<String> {
        if rows.iter().any(|row| self.is_match(row)) {
            return None;
        }
        let names = nearest(self.0.as_str(), rows.iter().map(|row| &*row.provider));
        Some(format!("no event is of a provider like {}{}", self.0.as_str(), suggestion(&names)))
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl FromStr for ProviderPattern {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(ProviderPattern(Glob::new(text)))
    }
}

/// An event's id, name, or `Provider/Name`, with wildcards.
#[derive(Debug, Clone)]
pub struct EventPattern {
    glob: Glob,
    id: Option<u32>,
}

impl FromStr for EventPattern {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(EventPattern::new(text))
    }
}

impl EventPattern {
    /// Reads a pattern; every text is one.
    pub fn new(text: &str) -> EventPattern {
        EventPattern { glob: Glob::new(text), id: text.parse().ok() }
    }

    /// Whether it can only mean one name.
    pub fn is_exact(&self) -> bool {
        !self.glob.as_str().contains(['*', '?'])
    }

    pub(crate) fn is_match(&self, row: &EventType) -> bool {
        if !row.is_defined {
            return false;
        }
        let is =
            |name: &str| self.glob.is_match(name) || self.glob.is_match(&format!("{}/{name}", row.provider));
        self.id == Some(row.id) || is(&row.id.to_string()) || row.names().iter().any(|name| is(name))
    }

    /// What to say when nothing is of such a name.
    pub(crate) fn unmatched(&self, rows: &[EventType]) -> Option<String> {
        if rows.iter().any(|row| self.is_match(row)) {
            return None;
        }
        let wanted = self.glob.as_str();
        if let Some(known) = self.known() {
            return Some(format!("no event is {wanted}: {known}, but it is not in this trace"));
        }
        let paths: Vec<String> = rows.iter().map(EventType::path).collect();
        let names: Vec<String> = rows.iter().flat_map(EventType::names).collect();
        let mut found = nearest(wanted, names.iter().map(String::as_str));
        if found.is_empty() && wanted.contains('/') {
            found = nearest(wanted, paths.iter().map(String::as_str));
        }
        Some(format!("no event is {wanted}{}", suggestion(&found)))
    }

    /// What the catalog knows of an event that was spelt rightly.
    fn known(&self) -> Option<String> {
        let wanted = self.glob.as_str();
        if !self.is_exact() || wanted.is_empty() {
            return None;
        }
        let event = catalog::events().find(|event| {
            let own =
                wanted.strip_prefix(event.provider).and_then(|rest| rest.strip_prefix('/')).unwrap_or(wanted);
            catalog_names(event).iter().any(|known| !known.is_empty() && known.eq_ignore_ascii_case(own))
        })?;
        let keywords: Vec<String> = catalog::keywords(event.provider)
            .iter()
            .filter(|(bit, _)| event.keywords & bit != 0)
            .map(|(bit, name)| format!("{name} ({bit:#x})"))
            .collect();
        let keywords = match keywords.is_empty() {
            true => String::new(),
            false => format!(" with keyword {}", keywords.join(" or ")),
        };
        Some(format!("{} sends it at level {}{keywords}", event.provider, event.level))
    }
}

/// Whether a type is one of those asked for.
pub fn accepts_type(providers: &[ProviderPattern], events: &[EventPattern], row: &EventType) -> bool {
    (providers.is_empty() || providers.iter().any(|pattern| pattern.is_match(row)))
        && (events.is_empty() || events.iter().any(|pattern| pattern.is_match(row)))
}

/// Patterns that fit none of the types, each with what may have been meant.
pub fn unmatched_types(
    providers: &[ProviderPattern],
    events: &[EventPattern],
    rows: &[EventType],
) -> Vec<String> {
    let mut messages: Vec<String> = providers.iter().filter_map(|pattern| pattern.unmatched(rows)).collect();
    messages.extend(events.iter().filter_map(|pattern| pattern.unmatched(rows)));
    messages
}

/// All that an event has to fulfil.
#[derive(Debug)]
pub struct Filter {
    providers: Vec<ProviderPattern>,
    events: Vec<EventPattern>,
    threads: Vec<i64>,
    time: Option<TimeRange>,
    conditions: Conditions,
    /// Whether each type passes, as far as types are known.
    passes: Vec<bool>,
    /// Which of the threads were met.
    met_threads: Vec<bool>,
    /// Whether anything lay in the time, and the times of the oldest and the youngest event of all.
    met_time: bool,
    extent: Option<(i64, i64)>,
    /// Whether any event passed all.
    passed: bool,
}

/// What events have to be. What is empty is not asked for.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct FilterOptions {
    /// Of one of these providers.
    pub providers: Vec<ProviderPattern>,
    /// Of one of these types.
    pub events: Vec<EventPattern>,
    /// About one of these OS threads; -1: about none.
    pub threads: Vec<i64>,
    /// Within this stretch of time.
    pub time: Option<TimeRange>,
    /// With fields that fulfil all of these.
    pub conditions: Vec<Predicate>,
}

impl FilterOptions {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
            && self.events.is_empty()
            && self.threads.is_empty()
            && self.time.is_none()
            && self.conditions.is_empty()
    }
}

impl Filter {
    /// A filter that has met no event yet.
    pub fn new(options: FilterOptions) -> Filter {
        Filter {
            met_threads: vec![false; options.threads.len()],
            providers: options.providers,
            events: options.events,
            threads: options.threads,
            time: options.time,
            conditions: Conditions::new(&options.conditions),
            passed: false,
            passes: Vec::new(),
            met_time: false,
            extent: None,
        }
    }

    /// Whether the event, which belongs to `place`, is wanted.
    #[inline]
    pub fn accepts(&mut self, event: &Event<'_>, type_index: TypeIndex, types: &EventTypes) -> bool {
        for row in types.rows().iter().skip(self.passes.len()) {
            let is_wanted = accepts_type(&self.providers, &self.events, row);
            self.passes.push(is_wanted);
        }
        let passes = self.passes.get(type_index.number).copied().unwrap_or(false)
            && self.accepts_instance(event)
            && (self.conditions.is_empty() || self.fulfils_conditions(event, type_index, types));
        self.passed |= passes;
        passes
    }

    #[inline(never)]
    fn fulfils_conditions(&mut self, event: &Event<'_>, type_index: TypeIndex, types: &EventTypes) -> bool {
        self.conditions.hold(event, type_index, types)
    }

    /// What is asked of the event itself. Both questions are always answered, so that each filter knows whether
    /// it has ever fitted.
    fn accepts_instance(&mut self, event: &Event<'_>) -> bool {
        let is_of_thread = self.threads.is_empty() || self.is_of_thread(event);
        is_of_thread & self.is_in_time(event)
    }

    fn is_of_thread(&mut self, event: &Event<'_>) -> bool {
        let id = event.thread_id().map_or(Some(-1), |id| i64::try_from(id).ok());
        let mut is_met = false;
        for (thread, met) in self.threads.iter().zip(&mut self.met_threads) {
            if Some(*thread) == id {
                (*met, is_met) = (true, true);
            }
        }
        is_met
    }

    fn is_in_time(&mut self, event: &Event<'_>) -> bool {
        let Some(time) = self.time else { return true };
        let Some(nanos) = event.nanos() else { return false };
        let (first, last) = self.extent.unwrap_or((nanos, nanos));
        self.extent = Some((first.min(nanos), last.max(nanos)));
        let is_in_time = time.contains(nanos);
        self.met_time |= is_in_time;
        is_in_time
    }

    /// Filters that fit nothing in the whole trace, each with what may have been meant.
    pub fn unmatched(&self, types: &EventTypes) -> Vec<String> {
        let mut messages = unmatched_types(&self.providers, &self.events, types.rows());
        for (thread, met) in self.threads.iter().zip(&self.met_threads) {
            if !met {
                messages.push(format!("no event is of thread {thread}{}", self.among()));
            }
        }
        if let (Some(_), false) = (self.time, self.met_time) {
            let extent = match self.extent {
                Some((first, last)) => {
                    format!(
                        ": they are from {} to {}",
                        units::signed_duration(first),
                        units::signed_duration(last)
                    )
                }
                None => String::new(),
            };
            messages.push(format!("no event lies in --time{}{extent}", self.among()));
        }
        // If no event came so far as to be asked, nothing can be said of the conditions.
        if messages.is_empty() {
            let among = if self.has_others_than_conditions() {
                " (of those that pass the other filters)"
            } else {
                ""
            };
            messages = self.conditions.unmatched(&self.known_fields(types), types, among);
        }
        if messages.is_empty()
            && !self.passed
            && (self.has_others_than_conditions() || !self.conditions.is_empty())
        {
            messages.push("no event passes all filters together".to_owned());
        }
        messages
    }

    /// Names of the fields of events that pass by their type.
    fn known_fields(&self, types: &EventTypes) -> Vec<String> {
        let passes = |number: usize| self.passes.get(number).copied().unwrap_or(false);
        let shapes = types.shapes().iter().filter(|shape| passes(shape.type_number));
        shapes.flat_map(|shape| shape.names.all()).collect()
    }

    fn has_others_than_conditions(&self) -> bool {
        !(self.providers.is_empty()
            && self.events.is_empty()
            && self.threads.is_empty()
            && self.time.is_none())
    }

    /// Thread and time were only asked of events that passed by their type.
    fn among(&self) -> &'static str {
        match self.providers.is_empty() && self.events.is_empty() {
            true => "",
            false => " (of those that fit --provider and --event)",
        }
    }
}
