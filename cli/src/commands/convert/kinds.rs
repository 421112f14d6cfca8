//! The message for a trace that has nothing of the requested kinds: which kinds it has.

use super::target::Target;
use crate::analysed::Analysed;
use crate::args::{InputArgs, KINDS};
use crate::context::Context;
use crate::failure::Failure;
use crate::units;
use nettrace_analysis::convert::{Convert, ConvertError, FORMATS, shown_kinds};
use nettrace_analysis::model::ThreadHandle;
use nettrace_analysis::{Analysis, AnalysisOptions, Kind, Model, Profile, Resolved};
use nettrace_parser::Event;
use nettrace_parser::view::{HeapRows, View};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What follows on "the trace has no CPU samples". Reads the trace once more, where that
/// is possible: what is not wanted is not collected.
pub(super) fn there_are(
    input: &InputArgs,
    wanted: &[Kind],
    targets: &[Target],
    context: &mut Context<'_>,
) -> String {
    // Standard input is gone, and a pipe would wait for ever.
    if !input.file.is_file() {
        return String::new();
    }
    survey(input, context).map_or_else(|_| String::new(), |survey| hint(&survey, wanted, targets))
}

/// What a trace has.
struct Survey {
    profile: Profile,
    /// Objects of its heap dumps.
    objects: u64,
}

/// Counts objects of heap dumps.
struct Objects(Arc<AtomicU64>);

impl Convert for Objects {
    fn wants_samples(&self) -> bool {
        false
    }

    fn wants_events(&self) -> bool {
        true
    }

    fn event(&mut self, event: &Event<'_>, _: ThreadHandle, _: &Model) -> Result<(), ConvertError> {
        if let Some(HeapRows::Objects(rows)) = HeapRows::of(event) {
            self.0.fetch_add(rows.count.into(), Ordering::Relaxed);
        }
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
    let objects = Arc::new(AtomicU64::new(0));
    analysis.add(Box::new(Objects(Arc::clone(&objects))));
    trace.read(|events| analysis.read(events))?;
    let finished =
        analysis.finish().map_err(|error| Failure::input(trace.file, error.to_string()))?;
    Ok(Survey { profile: finished.profile, objects: objects.load(Ordering::Relaxed) })
}

fn hint(survey: &Survey, wanted: &[Kind], targets: &[Target]) -> String {
    let Survey { profile, objects } = survey;
    let counts = profile.kinds();
    let count = |kinds: &[Kind]| {
        if kinds.contains(&Kind::Heap) {
            return *objects;
        }
        let shown = shown_kinds(kinds, profile).unwrap_or_default();
        counts.iter().filter(|(kind, _)| shown.contains(kind)).map(|(_, count)| count).sum::<u64>()
    };
    if count(wanted) > 0 {
        // They are there, and none of them passes the filters.
        return String::new();
    }
    let there: Vec<String> = KINDS
        .iter()
        .map(|(name, kinds)| (name, count(kinds)))
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{name} ({})", units::count(count)))
        .collect();
    let there = there.join(", ");
    if there.is_empty() {
        return ", and no samples of another --kind; `nettrace stats` lists its events".to_owned();
    }
    if targets.iter().any(|target| target.wanted.takes_kinds) {
        return format!("; it has --kind {there}");
    }
    let formats: Vec<&str> =
        FORMATS.iter().filter(|format| format.takes_kinds).map(|format| format.name).collect();
    format!("; it has {there}; use --kind with one of the formats {}", formats.join(", "))
}
