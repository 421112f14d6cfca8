//! Names the kinds of samples and events that a trace has, for a message that the requested kinds
//! are missing.

use super::target::OutputTarget;
use crate::analysed::Analysed;
use crate::args::{InputArgs, KINDS};
use crate::context::Context;
use crate::failure::Failure;
use crate::failure::with_causes;
use crate::recommended::shell_word;
use crate::units;
use nettrace_analysis::convert::{Convert, ConvertError, FORMATS, shown_kinds};
use nettrace_analysis::model::{Model, ThreadHandle};
use nettrace_analysis::{Analysis, AnalysisOptions, Kind, Profile, Resolved};
use nettrace_export::EventTypes;
use nettrace_parser::Event;
use nettrace_parser::view::{HeapRows, KnownProvider, View};
use std::sync::{Arc, Mutex, PoisonError};

/// Returns the end of a message such as "the trace has no CPU samples". Reads the trace once more,
/// because the first pass collected only the requested kinds.
pub(super) fn there_are(
    input: &InputArgs,
    wanted: &[Kind],
    targets: &[OutputTarget],
    context: &mut Context<'_>,
) -> String {
    // Standard input and pipes cannot be read twice.
    if !input.file.is_file() {
        return String::new();
    }
    survey(input, context).map_or_else(|_| String::new(), |survey| hint(&survey, wanted, targets))
}

/// Samples and events of a trace.
struct Survey {
    profile: Profile,
    counts: Counts,
}

/// Numbers of objects and events that are not samples.
#[derive(Default)]
struct Counts {
    /// Number of objects in heap dumps.
    objects: u64,
    types: EventTypes,
    /// Number of events with stacks for each type of `types`; samples are not counted.
    with_stack: Vec<u64>,
}

/// Maximum number of event types that the message names.
const MAX_NAMED: usize = 4;
/// Maximum number of event types that are counted.
const MAX_TYPES: usize = 1 << 12;

impl Counts {
    fn add(&mut self, event: &Event<'_>) {
        if let Some(HeapRows::Objects(rows)) = HeapRows::from_event(event) {
            self.objects = self.objects.saturating_add(rows.count.into());
        }
        let is_sample = event.known_provider() == KnownProvider::SampleProfiler
            || (event.known_provider() == KnownProvider::UniversalEvents && event.name() == "cpu");
        if is_sample || event.stack().is_empty() {
            return;
        }
        let Some(number) = self.types.number_within(MAX_TYPES, event) else { return };
        if self.with_stack.len() <= number {
            self.with_stack.resize(number.saturating_add(1), 0);
        }
        if let Some(count) = self.with_stack.get_mut(number) {
            *count = count.saturating_add(1);
        }
    }

    /// Returns event types with their counts, as `GC/Start (12)`: the most frequent first, events of
    /// the catalog last. If the trace `has_kinds`, events of the catalog are left out.
    fn event_kinds(&self, has_kinds: bool) -> Vec<String> {
        let rows = self.types.rows().iter().zip(&self.with_stack);
        let mut rows: Vec<_> =
            rows.filter(|(event_type, _)| !has_kinds || event_type.catalog.is_none()).collect();
        rows.sort_by_key(|(event_type, count)| {
            (event_type.catalog.is_some(), std::cmp::Reverse(**count))
        });
        let named = rows.iter().take(MAX_NAMED);
        let mut texts: Vec<String> = named
            .map(|(event_type, count)| {
                format!("{} ({})", shell_word(&event_type.path()), units::count(**count))
            })
            .collect();
        let further = rows.len().saturating_sub(MAX_NAMED);
        if further > 0 {
            texts.push(format!(
                "{} of `nettrace stats`",
                units::counted(further as u64, "more event")
            ));
        }
        texts
    }
}

/// Counts the events of an analysis.
struct Counting(Arc<Mutex<Counts>>);

impl Convert for Counting {
    fn wants_samples(&self) -> bool {
        false
    }

    fn wants_events(&self) -> bool {
        true
    }

    fn event(&mut self, event: &Event<'_>, _: ThreadHandle, _: &Model) -> Result<(), ConvertError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add(event);
        Ok(())
    }

    fn finish(self: Box<Self>, _: &Resolved<'_>, _: &Profile) -> Result<(), ConvertError> {
        Ok(())
    }
}

fn survey(input: &InputArgs, context: &mut Context<'_>) -> Result<Survey, Failure> {
    let mut options = AnalysisOptions::default();
    options.kinds = KINDS.iter().flat_map(|(_, kinds)| kinds.iter().copied()).collect();
    let mut trace = Analysed::new(context.open(input)?)?;
    let mut analysis = Analysis::new(options);
    let counts = Arc::new(Mutex::new(Counts::default()));
    analysis.add(Box::new(Counting(Arc::clone(&counts))));
    trace.read(|events| analysis.read(events))?;
    let finished =
        analysis.finish().map_err(|error| Failure::input(trace.file, with_causes(&error)))?;
    let counts = std::mem::take(&mut *counts.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(Survey { profile: finished.profile, counts })
}

fn hint(survey: &Survey, wanted: &[Kind], targets: &[OutputTarget]) -> String {
    let Survey { profile, counts } = survey;
    let samples = profile.kinds();
    let count = |kinds: &[Kind]| {
        if kinds.contains(&Kind::Heap) {
            return counts.objects;
        }
        let shown = shown_kinds(kinds, profile).unwrap_or_default();
        samples.iter().filter(|(kind, _)| shown.contains(kind)).map(|(_, count)| count).sum::<u64>()
    };
    if count(wanted) > 0 {
        // The trace has samples of these kinds, but none passes the filters.
        return String::new();
    }
    let mut there: Vec<String> = KINDS
        .iter()
        .map(|(name, kinds)| (name, count(kinds)))
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{name} ({})", units::count(count)))
        .collect();
    there.extend(counts.event_kinds(!there.is_empty()));
    let there = there.join(", ");
    if there.is_empty() {
        return ", and no event has a stack; `nettrace stats` lists them".to_owned();
    }
    if targets.iter().any(|target| target.wanted.takes_kinds) {
        return format!("; it has --kind {there}");
    }
    let formats: Vec<&str> =
        FORMATS.iter().filter(|format| format.takes_kinds).map(|format| format.name).collect();
    format!("; it has {there}; use --kind with one of the formats {}", formats.join(", "))
}
