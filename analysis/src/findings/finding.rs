//! A finding: a fact, with a weight that ranks it among others.

#[cfg(feature = "serde")]
use crate::fact::ReportedNumber;
use crate::fact::{Fact, FindingKind, Number};
use crate::sorted::SortFew;
use crate::words;

/// Maximum number of findings of a summary.
const MAX_FINDINGS: usize = 7;
/// Maximum ratio of what a sentence counts to what its place stands for.
const MAX_RATIO_OF_PLACE: u64 = 10;
/// Minimum weight of a severe finding.
const MIN_SEVERE_WEIGHT: f64 = 60.0;
/// Minimum weight of a notable finding.
const MIN_NOTABLE_WEIGHT: f64 = 30.0;

/// Importance of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Severity {
    /// The program is stuck, has died, or loses half of its time; or the trace misleads.
    Severe,
    /// Worth a look.
    Notable,
    /// Possibly worth a look.
    Minor,
    /// A good sign: a common problem that the program does not have.
    Good,
}

impl Severity {
    /// Returns the name in JSON documents.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Severe => "severe",
            Severity::Notable => "notable",
            Severity::Minor => "minor",
            Severity::Good => "good",
        }
    }
}

/// A notable fact about a trace, with its weight.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The fact.
    pub fact: Fact,
    /// Importance from 0 to 100, by which findings are sorted.
    pub weight: f64,
    /// Importance in a word, which follows from the weight and the kind of fact.
    pub severity: Severity,
}

impl Finding {
    /// Makes a finding. A fact that is no fault is at most [`Severity::Notable`].
    pub(super) fn new(fact: Fact, weight: f64) -> Finding {
        let weight = weight.clamp(0.0, 100.0);
        let severity = match weight {
            _ if matches!(fact.kind(), FindingKind::NoStarvation | FindingKind::Idle) => {
                Severity::Good
            }
            MIN_SEVERE_WEIGHT.. if !fact.is_neutral() => Severity::Severe,
            MIN_NOTABLE_WEIGHT.. => Severity::Notable,
            _ => Severity::Minor,
        };
        Finding { fact, weight, severity }
    }

    /// Makes the finding at least as important as `weight`, because it tells what another one did.
    pub(super) fn raise(&mut self, weight: f64) {
        if weight > self.weight {
            *self = Finding::new(self.fact.clone(), weight);
        }
    }

    /// Returns whether the finding is that little ran.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.fact, Fact::Idle { is_idle: true, .. })
    }

    /// Returns the subject, such as `gc`, which several kinds of findings may share.
    pub fn about(&self) -> &'static str {
        self.fact.kind().subject()
    }

    /// Returns the sentence. A place comes last in it, and is the only part of unbounded length.
    pub fn text(&self) -> String {
        words::findings::sentence(&self.fact)
    }

    /// Returns the most important number, which [`command`](Finding::command) shows in its first
    /// rows or totals.
    pub fn headline(&self) -> Number {
        self.fact.headline()
    }

    /// Returns the command that shows more, such as `report exceptions`, without `nettrace` and the
    /// trace's name.
    pub fn command(&self) -> &'static str {
        self.fact.kind().command()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Finding {
    /// Writes the sentence, subject and headline, and then the fact: its kind, its numbers by name,
    /// the method, and further members of the kind.
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let Finding { fact, weight, severity } = self;
        let headline = fact.headline();
        let subject_place = fact.subject_place();
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("about", self.about())?;
        map.serialize_entry("weight", weight)?;
        map.serialize_entry("severity", severity)?;
        map.serialize_entry("text", &self.text())?;
        map.serialize_entry(
            "place",
            &subject_place.map(|place| words::frames::place_name(&place.frame)),
        )?;
        map.serialize_entry("value", &headline.whole())?;
        map.serialize_entry("unit", headline.unit.name())?;
        map.serialize_entry("command", self.command())?;
        map.serialize_entry("kind", fact.kind().name())?;
        map.serialize_entry("numbers", &Numbers(fact))?;
        if let Some(place) = fact.place() {
            map.serialize_entry("method", &place.frame.text)?;
            if let Some(endpoint) = &place.endpoint {
                map.serialize_entry("endpoint", endpoint)?;
            }
        }
        fact.write_details(&mut map)?;
        map.end()
    }
}

/// The numbers of a fact, written as a map from names to numbers.
#[cfg(feature = "serde")]
struct Numbers<'f>(&'f Fact);

#[cfg(feature = "serde")]
impl serde::Serialize for Numbers<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let command = self.0.kind().command();
        let reported = |(name, number)| (name, ReportedNumber { number, command });
        to.collect_map(self.0.numbers().into_iter().map(reported))
    }
}

/// Returns whether a place that stands for `part` of the `whole` that a sentence counts is worth
/// naming: a place that stands for less than a tenth explains nothing.
pub(super) fn is_worth_naming(part: u64, whole: u64) -> bool {
    part.saturating_mul(MAX_RATIO_OF_PLACE) >= whole
}

/// Returns the weight of a loss, such as pauses, waits or compilation, that takes this percentage
/// of the time.
pub(super) fn weight_of_lost_time(percent: f64) -> f64 {
    20.0 + 0.75 * percent.clamp(0.0, 100.0)
}

/// Returns the weight of a method that has this percentage of the running time. It is lower than
/// for lost time, because the method may be what the program is for.
pub(super) fn weight_of_running_time(percent: f64) -> f64 {
    20.0 + 0.4 * percent
}

/// Sorts findings by weight, and keeps the first [`MAX_FINDINGS`].
pub(super) fn rank(findings: &mut Vec<Finding>) {
    findings.sort_few_by(|one, other| other.weight.total_cmp(&one.weight));
    findings.truncate(MAX_FINDINGS);
}

/// Removes findings that another finding makes superfluous.
pub(super) fn leave_out_covered(findings: &mut Vec<Finding>) {
    let facts: Vec<Fact> = findings.iter().map(|finding| finding.fact.clone()).collect();
    findings.retain(|finding| !facts.iter().any(|fact| fact.covers(&finding.fact)));
}
