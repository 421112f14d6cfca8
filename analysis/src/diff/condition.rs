//! Conditions on a comparison, for build servers: `cpu>5%`, `gc.pause.p99>10ms`.
//!
//! ```text
//! condition  = metric ( ">" | "<" ) limit
//! metric     = "cpu" | "method(" name ")" | "method.total(" name ")"
//!            | "alloc" | "type(" name ")"
//!            | "gc.count" | "gc.count." ( "gen0" | "gen1" | "gen2" )
//!            | "gc.pause" | "gc.pause." ( "mean" | "p50" | "p90" | "p99" | "max" )
//!            | "elapsed" | "exceptions" | "exception(" name ")" | "pool.threads"
//!            | "requests.count" | "requests.errors" | "request(" path ")"
//!            | "sql" | "sql(" statement ")"
//!            | "contention" | "contention.count" | "waits" | "open_waits" | "deadlocks"
//!            | "jit" | "jit.methods"
//!            | "startup." ( "program" | "first_request" | "jit" | "jit_methods" | "assemblies" )
//!            | "counter(" name ")"
//! limit      = [ "+" ] number unit
//! unit       = "%" | "" | "ns" | "us" | "ms" | "s" | "min" | "h"
//!            | "B" | "KB" | "MB" | "GB" | "TB" | "KiB" | "MiB" | "GiB" | "TiB"
//! ```
//!
//! A limit in percent refers to the change, and holds only for rows that changed. An amount refers
//! to the new value, or with `+` to the increase from old to new. It is converted to the unit of
//! the value, and a number without a unit is in that unit already. `*` in a name matches any text;
//! if several rows match, one is enough.

use super::lacking::reason_for_absence;
use super::report::DiffReport;
use super::row::DiffRow;
use crate::fact::comparison::{DiffKey, Measure, Subject, Undecided};
use nettrace_export::{Glob, Quantity};
use std::fmt;
use std::str::FromStr;

/// A condition on a comparison, such as `cpu>5%`.
///
/// ```
/// use nettrace_analysis::diff::Condition;
/// let condition: Condition = "gc.pause.p99 > 10ms".parse().unwrap();
/// assert_eq!(condition.to_string(), "gc.pause.p99 > 10ms");
/// assert!("gc.pause.p99 = 10ms".parse::<Condition>().is_err());
/// ```
#[derive(Debug, Clone)]
pub struct Condition {
    text: String,
    subject: Subject,
    name: Glob,
    is_above: bool,
    limit: Limit,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    /// Change in percent of a row that changed.
    Percent(f64),
    /// New value.
    Value(Quantity),
    /// Increase from the old value to the new one.
    Growth(Quantity),
}

/// Error of a text that is not a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConditionError {
    /// The text has neither `>` nor `<`.
    NoComparison,
    /// The text before the comparison is not a metric.
    Metric(String),
    /// The text after the comparison is not a limit.
    Limit(String),
    /// The limit has a unit that the metric does not have.
    Unit {
        /// Metric as written.
        metric: String,
        /// Unit of the metric's values: `ns`, `bytes` or `count`.
        unit: &'static str,
        /// Limit as written.
        limit: String,
    },
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConditionError::NoComparison => f.write_str("has neither > nor <, such as cpu>5%"),
            ConditionError::Metric(text) => write!(
                f,
                "{text} is none of cpu, method(NAME), method.total(NAME), alloc, type(NAME), gc.count, gc.count.gen0 to gen2, \
                 gc.pause, gc.pause.mean, p50, p90, p99 or max, exceptions, exception(NAME), contention, contention.count, waits, open_waits, deadlocks, jit, \
                 jit.methods, elapsed, pool.threads, requests.count, requests.errors, request(PATH), sql, sql(STATEMENT), startup.program, startup.first_request, startup.jit, startup.jit_methods, \
                 startup.assemblies, counter(NAME)"
            ),
            ConditionError::Limit(text) => {
                write!(f, "{text} is not a limit, such as 5%, 10ms, +1MB or 100")
            }
            ConditionError::Unit { metric, unit, limit } => {
                let kind = match *unit {
                    "ns" => "a time, such as 10ms",
                    "bytes" => "a size, such as 1MB",
                    _ => "a number, such as 100",
                };
                write!(f, "{metric} is {kind}: {limit} cannot be compared with it")
            }
        }
    }
}

impl std::error::Error for ConditionError {}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Condition, ConditionError> {
        // Names of generic types contain angle brackets, so the comparison is behind the last
        // parenthesis.
        let behind_name = text.rfind(')').map_or(0, |at| at.saturating_add(1));
        let tail = text.get(behind_name..).unwrap_or_default();
        let at = tail.find(['>', '<']).ok_or(ConditionError::NoComparison)?;
        let at = behind_name.saturating_add(at);
        let (metric, rest) = text.split_at_checked(at).ok_or(ConditionError::NoComparison)?;
        let is_above = rest.starts_with('>');
        let key = metric_of(metric.trim())?;
        let limit_text = rest.get(1..).unwrap_or_default().trim();
        let limit =
            limit_of(limit_text).ok_or_else(|| ConditionError::Limit(limit_text.to_owned()))?;
        if let (Some(unit), Some(amount)) = (key.unit(), limit.amount())
            && !is_of_unit(amount, unit)
        {
            let (metric, limit) = (metric.trim().to_owned(), limit_text.to_owned());
            return Err(ConditionError::Unit { metric, unit, limit });
        }
        Ok(Condition {
            text: text.trim().to_owned(),
            subject: key.subject,
            name: Glob::new(&key.name),
            is_above,
            limit,
        })
    }
}

/// Returns the key of the value that a metric refers to. The key's name may contain `*`.
fn metric_of(text: &str) -> Result<DiffKey, ConditionError> {
    let unknown = || ConditionError::Metric(text.to_owned());
    if let Some((word, name)) = text.split_once('(') {
        let name = name.strip_suffix(')').ok_or_else(unknown)?.trim();
        let subject = match word.trim() {
            "method" => Subject::Method,
            "method.total" => Subject::MethodTotal,
            "type" => Subject::Type,
            "exception" => Subject::Exception,
            "counter" => Subject::Counter,
            // `request(in GET /checkout p95)`.
            "request" => Subject::RequestPath,
            // `sql(SELECT .* p95)`.
            "sql" => Subject::SqlStatement,
            _ => return Err(unknown()),
        };
        let measures: &[Measure] = match subject {
            Subject::RequestPath | Subject::SqlStatement => &[Measure::P50, Measure::P95],
            _ => &[],
        };
        let last = name.rsplit(' ').next();
        let measure = measures.iter().find(|measure| last == Some(measure.word()));
        let measure = measure.copied().unwrap_or(Measure::Value);
        return match name.is_empty() {
            true => Err(unknown()),
            false => Ok(DiffKey { measure, ..DiffKey::named(subject, name) }),
        };
    }
    let measure = |subject, measure| Ok(DiffKey::measure(subject, measure));
    let subject = match text {
        "cpu" => Subject::Cpu,
        "alloc" => Subject::Alloc,
        "gc.count" => Subject::GcCount,
        "gc.count.gen0" => return Ok(DiffKey::named(Subject::GcCount, "gen0")),
        "gc.count.gen1" => return Ok(DiffKey::named(Subject::GcCount, "gen1")),
        "gc.count.gen2" => return Ok(DiffKey::named(Subject::GcCount, "gen2")),
        "gc.pause" => Subject::GcPause,
        "gc.pause.mean" => return measure(Subject::GcPause, Measure::Mean),
        "gc.pause.p50" => return measure(Subject::GcPause, Measure::P50),
        "gc.pause.p90" => return measure(Subject::GcPause, Measure::P90),
        "gc.pause.p99" => return measure(Subject::GcPause, Measure::P99),
        "gc.pause.max" => return measure(Subject::GcPause, Measure::Max),
        "elapsed" => Subject::Elapsed,
        "pool.threads" => Subject::PoolThreads,
        "requests.count" => return measure(Subject::Requests, Measure::Count),
        "requests.errors" => return measure(Subject::Requests, Measure::Errors),
        "sql" => Subject::Sql,
        "exceptions" => Subject::Exceptions,
        "contention" => Subject::Contention,
        "contention.count" => Subject::ContentionCount,
        "waits" => Subject::Waits,
        "open_waits" => Subject::OpenWaits,
        "deadlocks" => Subject::Deadlocks,
        "jit" => Subject::Jit,
        "jit.methods" => Subject::JitMethods,
        "startup.program" => return measure(Subject::Startup, Measure::Program),
        "startup.first_request" => return measure(Subject::Startup, Measure::FirstRequest),
        "startup.jit" => return measure(Subject::Startup, Measure::Jit),
        "startup.jit_methods" => return measure(Subject::Startup, Measure::JitMethods),
        "startup.assemblies" => return measure(Subject::Startup, Measure::Assemblies),
        _ => return Err(unknown()),
    };
    Ok(DiffKey::total(subject))
}

fn limit_of(text: &str) -> Option<Limit> {
    let (growth, text) = match text.strip_prefix('+') {
        Some(rest) => (true, rest.trim()),
        None => (false, text),
    };
    // Limits are not negative: `<5%` is a decrease.
    if !text.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.') {
        return None;
    }
    let amount: Quantity = text.parse().ok()?;
    Some(match (growth, text.ends_with('%')) {
        (_, true) => Limit::Percent(amount.in_unit("%")?),
        (true, false) => Limit::Growth(amount),
        (false, false) => Limit::Value(amount),
    })
}

/// Returns whether an amount can be compared with values in `unit`. Counts can only be compared
/// with amounts that have no unit.
fn is_of_unit(amount: Quantity, unit: &str) -> bool {
    amount.is_plain() || unit != "count" && amount.in_unit(unit).is_some()
}

impl Limit {
    fn amount(self) -> Option<Quantity> {
        match self {
            Limit::Percent(_) => None,
            Limit::Value(amount) | Limit::Growth(amount) => Some(amount),
        }
    }
}

/// Result of a condition.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ConditionOutcome {
    /// Condition as written.
    pub condition: String,
    /// Whether the condition holds for at least one row.
    pub holds: bool,
    /// Number of rows that the condition applies to. It is 0, and the condition cannot hold, if the
    /// traces contain nothing of this kind.
    pub rows: u64,
    /// Name and unit of each counter that the condition names but cannot be compared with its
    /// limit, such as a counter in `%` with `10MB`.
    pub incomparable: Vec<(String, String)>,
    /// Reason for which the traces cannot show whether the condition holds; `None` if they can.
    #[cfg_attr(
        feature = "serde",
        serde(flatten, serialize_with = "crate::words::comparison_members::undecided")
    )]
    pub undecided: Option<Undecided>,
    /// Rows for which the condition holds.
    pub because: Vec<DiffRow>,
}

impl Condition {
    /// Checks the condition against a report.
    pub fn outcome(&self, report: &DiffReport) -> ConditionOutcome {
        let is_of =
            |row: &&DiffRow| row.key.subject == self.subject && self.name.is_match(&row.key.name);
        let rows: Vec<&DiffRow> = report.rows.iter().filter(is_of).collect();
        let is_other = |row: &&&DiffRow| {
            self.limit.amount().is_some_and(|amount| amount.in_unit(&row.unit).is_none())
        };
        let incomparable = rows.iter().filter(is_other);
        let incomparable =
            incomparable.map(|row| (row.key.name.clone(), row.unit.clone())).collect();
        let because: Vec<DiffRow> =
            rows.iter().filter(|row| self.holds(row)).map(|row| (*row).clone()).collect();
        let undecided = if because.is_empty() { self.undecided(&rows, report) } else { None };
        ConditionOutcome {
            condition: self.text.clone(),
            holds: !because.is_empty(),
            rows: rows.len() as u64,
            incomparable,
            undecided,
            because,
        }
    }

    /// Returns the reason for which it is unknown whether the condition holds, if no row fulfils
    /// it.
    fn undecided(&self, rows: &[&DiffRow], report: &DiffReport) -> Option<Undecided> {
        if rows.is_empty() {
            let why = reason_for_absence(self.subject, &report.not_compared).cloned();
            return Some(why.map_or(Undecided::NoData, Undecided::NotCompared));
        }
        let limits_change = !matches!(self.limit, Limit::Value(_));
        let mut doubts = rows.iter().filter_map(|row| row.doubt.as_ref());
        if let Some(doubt) = doubts.next().filter(|_| limits_change) {
            return Some(Undecided::Doubted { doubt: doubt.clone() });
        }
        let has_runs = report.old.runs >= 2 && report.new.runs >= 2;
        (matches!(self.limit, Limit::Percent(_)) && !has_runs).then_some(Undecided::OneRun)
    }

    fn holds(&self, row: &DiffRow) -> bool {
        let is_beyond =
            |value: f64, limit: f64| if self.is_above { value > limit } else { value < limit };
        match self.limit {
            // If the old value is 0, every increase exceeds any percentage. `<5%` is a
            // decrease by more than 5 %.
            Limit::Percent(limit) if self.is_above => {
                row.is_changed
                    && row.new > row.old
                    && row.change_percent.is_none_or(|change| change > limit)
            }
            Limit::Percent(limit) => {
                row.is_changed && row.change_percent.is_some_and(|change| change < -limit)
            }
            Limit::Value(limit) => {
                limit.in_unit(&row.unit).is_some_and(|limit| is_beyond(row.new, limit))
            }
            Limit::Growth(limit) => {
                limit.in_unit(&row.unit).is_some_and(|limit| is_beyond(row.new - row.old, limit))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Subject, bool, Limit) {
        let condition: Condition = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        (condition.subject, condition.is_above, condition.limit)
    }

    #[test]
    fn conditions_are_a_metric_a_comparison_and_a_limit() {
        let amount = |text: &str| text.parse::<Quantity>().unwrap();
        let (value, growth) =
            (|text| Limit::Value(amount(text)), |text| Limit::Growth(amount(text)));
        assert_eq!(parsed("cpu>5%"), (Subject::Cpu, true, Limit::Percent(5.0)));
        assert_eq!(parsed(" gc.pause.p99 > 10ms "), (Subject::GcPause, true, value("10ms")));
        assert_eq!(parsed("alloc>+1.5MB"), (Subject::Alloc, true, growth("1500KB")));
        assert_eq!(parsed("alloc>2MiB"), (Subject::Alloc, true, value("2048KiB")));
        assert_eq!(parsed("type(List<Foo>)<10"), (Subject::Type, false, value("10")));
        assert_eq!(parsed("method(*Run*)>20%"), (Subject::Method, true, Limit::Percent(20.0)));
    }

    #[test]
    fn a_wrong_condition_is_refused_with_its_fault() {
        let error = |text: &str| text.parse::<Condition>().unwrap_err();
        assert_eq!(error("cpu 5%"), ConditionError::NoComparison);
        assert_eq!(error("cpus>5%"), ConditionError::Metric("cpus".to_owned()));
        assert_eq!(error("method()>5%"), ConditionError::Metric("method()".to_owned()));
        for (condition, unit) in [
            ("gc.count>10MB", "count"),
            ("exception(*)>5ms", "count"),
            ("startup.assemblies>5s", "count"),
            ("alloc>5ms", "bytes"),
            ("startup.program>5MB", "ns"),
            ("cpu>+5KiB", "ns"),
        ] {
            let found = error(condition);
            assert!(
                matches!(&found, ConditionError::Unit { unit: its, .. } if *its == unit),
                "{condition}: {found}"
            );
        }
        for limit in ["", "x", "5 parsecs", "-5%"] {
            assert_eq!(
                error(&format!("cpu>{limit}")),
                ConditionError::Limit(limit.to_owned()),
                "{limit}"
            );
        }
    }
}
