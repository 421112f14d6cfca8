//! Which events a user wants to see.

use crate::args::EventsArgs;
use crate::event_types::{EventType, EventTypes};
use crate::glob::Glob;
use crate::nearest::{nearest, suggestion};
use crate::time_range::TimeRange;
use crate::units;
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
    /// Which of the threads were met.
    met_threads: Vec<bool>,
    /// Whether anything lay in the time, and the times of the oldest and the youngest event of all.
    met_time: bool,
    extent: Option<(i64, i64)>,
    /// Whether any event has passed.
    met_all: bool,
}

impl Filter {
    pub(crate) fn new(args: &EventsArgs) -> Filter {
        Filter {
            providers: args.provider.clone(),
            events: args.event.clone(),
            threads: args.thread.clone(),
            time: args.time,
            passes: Vec::new(),
            met_threads: vec![false; args.thread.len()],
            met_time: false,
            extent: None,
            met_all: false,
        }
    }

    /// Whether the event, whose type has this number, is wanted.
    #[inline]
    pub(crate) fn accepts(&mut self, event: &Event<'_>, number: usize, types: &EventTypes) -> bool {
        for row in types.rows().iter().skip(self.passes.len()) {
            let is_wanted = self.accepts_type(row);
            self.passes.push(is_wanted);
        }
        let passes = self.passes.get(number).copied().unwrap_or(false) && self.accepts_instance(event);
        self.met_all |= passes;
        passes
    }

    fn accepts_type(&self, row: &EventType) -> bool {
        let by_provider = |pattern: &ProviderPattern| pattern.0.is_match(&row.provider);
        (self.providers.is_empty() || self.providers.iter().any(by_provider))
            && (self.events.is_empty() || self.events.iter().any(|pattern| pattern.is_match(row)))
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
        for (thread, met) in self.threads.iter().zip(&self.met_threads) {
            if !met {
                messages.push(format!("no event is of thread {thread}{}", self.among()));
            }
        }
        if let (Some(_), false) = (self.time, self.met_time) {
            let extent = match self.extent {
                Some((first, last)) => {
                    format!(": they are from {} to {}", units::duration(first), units::duration(last))
                }
                None => String::new(),
            };
            messages.push(format!("no event lies in --time{}{extent}", self.among()));
        }
        if messages.is_empty() && !self.met_all && !rows.is_empty() {
            messages.push("no event fits all filters together".to_owned());
        }
        messages
    }

    /// Thread and time were only asked of events that passed by their type.
    fn among(&self) -> &'static str {
        match self.providers.is_empty() && self.events.is_empty() {
            true => "",
            false => " (of those that fit --provider and --event)",
        }
    }
}
