//! A finding: a fact, and how much it matters.

#[cfg(feature = "serde")]
use crate::fact::ReportedNumber;
use crate::fact::{Fact, FindingKind, Number};
use crate::sorted::SortFew;
use crate::words;

/// Maximum number of findings of a summary.
const MAX_FINDINGS: usize = 7;
/// Minimum weight of a severe finding.
const MIN_SEVERE_WEIGHT: f64 = 60.0;
/// Minimum weight of a notable finding.
const MIN_NOTABLE_WEIGHT: f64 = 30.0;

/// How much a finding matters, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Severity {
    /// The program is stuck or has died, or loses half of its time, or the trace misleads.
    Severe,
    /// It is worth a look.
    Notable,
    /// It may be worth a look.
    Minor,
    /// It does not stand in the way.
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

/// A notable fact about a trace, and how much it matters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The fact.
    pub fact: Fact,
    /// How notable it is, from 0 to 100.
    pub weight: f64,
    /// The weight in a word.
    pub severity: Severity,
}

impl Finding {
    /// Makes a finding of a fact. What is no fault is at most notable.
    pub(super) fn new(fact: Fact, weight: f64) -> Finding {
        let weight = weight.clamp(0.0, 100.0);
        let severity = match weight {
            _ if fact.kind() == FindingKind::NoStarvation => Severity::Good,
            MIN_SEVERE_WEIGHT.. if !fact.is_neutral() => Severity::Severe,
            MIN_NOTABLE_WEIGHT.. => Severity::Notable,
            _ => Severity::Minor,
        };
        Finding { fact, weight, severity }
    }

    /// Returns the subject, which several kinds may share: `gc`, `hottest_method`.
    pub fn about(&self) -> &'static str {
        self.fact.kind().subject()
    }

    /// Returns the sentence. If it names a place, that comes last, and is the only part of
    /// unbounded length.
    pub fn text(&self) -> String {
        words::findings::sentence(&self.fact)
    }

    /// Returns the number that matters most. The command shows it in its first rows or its
    /// totals.
    pub fn headline(&self) -> Number {
        self.fact.headline()
    }

    /// Returns the command that shows more, without `nettrace` and the trace, such as `report
    /// exceptions`.
    pub fn command(&self) -> &'static str {
        self.fact.kind().command()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Finding {
    /// Writes the sentence with its subject and headline, and then the fact: kind, numbers by
    /// name, the method, and what else belongs to the kind.
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

/// The numbers of a fact by their names.
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

/// Returns the weight of what takes this percentage of the time from those who want something
/// else: pauses, waits, compilation.
pub(super) fn weight_of_lost_time(percent: f64) -> f64 {
    20.0 + 0.75 * percent.clamp(0.0, 100.0)
}

/// Returns the weight of what has this percentage of the running time: it may be what the
/// program is for.
pub(super) fn weight_of_running_time(percent: f64) -> f64 {
    20.0 + 0.4 * percent
}

/// Keeps the most notable findings, and sorts them.
pub(super) fn rank(findings: &mut Vec<Finding>) {
    findings.sort_few_by(|one, other| other.weight.total_cmp(&one.weight));
    findings.truncate(MAX_FINDINGS);
}

/// Leaves out what another finding says, too.
pub(super) fn leave_out_covered(findings: &mut Vec<Finding>) {
    let covered: Vec<FindingKind> =
        findings.iter().flat_map(|finding| finding.fact.covers()).copied().collect();
    findings.retain(|finding| !covered.contains(&finding.fact.kind()));
}
