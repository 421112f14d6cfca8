//! What to say where a trace has nothing of the kinds that were wanted: which it has.

use super::super::Context;
use super::super::analysed::Analysed;
use super::target::{Target, Wanted};
use crate::args::{ConvertArgs, InputArgs, KINDS};
use crate::failure::Failure;
use crate::units;
use nettrace_analysis::convert::shown_kinds;
use nettrace_analysis::{Analysis, AnalysisOptions, Kind, Profile};

/// What follows on "the trace has no CPU samples". Reads the trace once more, where that is possible: what is
/// not wanted is not collected.
pub(super) fn there_are(
    input: &InputArgs,
    args: &ConvertArgs,
    wanted: &[Kind],
    targets: &[Target],
    context: &mut Context<'_>,
) -> String {
    // Standard input is gone, and a pipe would wait for ever.
    if !input.file.is_file() {
        return String::new();
    }
    survey(input, args, context).map_or_else(|_| String::new(), |profile| told(&profile, wanted, targets))
}

fn survey(input: &InputArgs, args: &ConvertArgs, context: &mut Context<'_>) -> Result<Profile, Failure> {
    let mut options = AnalysisOptions::new();
    options.kinds = KINDS.iter().flat_map(|(_, kinds)| kinds.iter().copied()).collect();
    let mut trace = Analysed::new(context.open(input)?, args.threads.into())?;
    let mut analysis = Analysis::new(options);
    let failed = |file: &str, error: String| Failure::Input { file: file.to_owned(), message: error };
    trace.read(&mut analysis, |file, error| failed(file, error.to_string()))?;
    let file = trace.file;
    Ok(analysis.finish().map_err(|error| failed(&file, error.to_string()))?.profile)
}

fn told(profile: &Profile, wanted: &[Kind], targets: &[Target]) -> String {
    let counts = profile.kinds();
    let count = |kinds: &[Kind]| {
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
        Wanted::all().filter(|format| format.takes_kinds).map(|format| format.name).collect();
    format!("; it has {there}, which --kind shows with one of the formats {}", formats.join(", "))
}
