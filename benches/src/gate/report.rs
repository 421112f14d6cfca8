//! The table of measured values and their limits.

use std::fmt;

/// Bound of a measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// The value must not be larger.
    AtMost(f64),
    /// The value must not be smaller.
    AtLeast(f64),
}

impl Limit {
    /// Returns whether the value is within the limit; false for NaN.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Limit::AtMost(limit) => value <= limit,
            Limit::AtLeast(limit) => value >= limit,
        }
    }
}

/// The table of measured values and their limits. It is printed row by row.
#[derive(Debug, Default)]
pub struct GateReport {
    failed: usize,
    skipped: usize,
    missed: usize,
}

impl GateReport {
    /// Prints the heading of the table.
    pub fn begin() -> GateReport {
        println!("{:<44} {:>12} {:>12}  unit", "goal", "limit", "measured");
        GateReport::default()
    }

    /// Adds a value with its limit. `goal` is given if the value does not reach it. Then the limit
    /// is a few percent above the measured value, so that the value gets no worse.
    pub fn add(&mut self, what: &str, limit: Limit, goal: Option<f64>, value: f64, unit: &str) {
        let is_exceeded = !limit.holds(value);
        let missed = goal.filter(|goal| !Limit::AtMost(*goal).holds(value));
        self.failed += usize::from(is_exceeded);
        self.missed += usize::from(missed.is_some());
        let verdict = match (is_exceeded, missed) {
            (true, _) => "  EXCEEDED".to_owned(),
            (false, Some(goal)) => format!("  MISSES ITS GOAL of {}", number(goal)),
            (false, None) if goal.is_some_and(|goal| limit.holds(goal + 1e-9)) => {
                "  reaches its goal: make it the limit".to_owned()
            }
            (false, None) => String::new(),
        };
        println!("{what:<44} {:>12} {:>12}  {unit}{verdict}", limit.to_string(), number(value));
    }

    /// Adds a row for a value that cannot be measured on this machine.
    pub fn skip(&mut self, what: &str, why: &str) {
        self.skipped += 1;
        println!("NOT RUN: {what}: {why}");
    }

    /// Prints the verdict. Returns whether all measured values are within their limits.
    pub fn end(self) -> bool {
        let verdict = match self.failed {
            0 => "all within their limits".to_owned(),
            failed => format!("{failed} beyond their limits"),
        };
        println!("{verdict}, {} miss their goals, {} NOT RUN", self.missed, self.skipped);
        self.failed == 0
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::AtMost(limit) => write!(f, "<= {}", number(*limit)),
            Limit::AtLeast(limit) => write!(f, ">= {}", number(*limit)),
        }
    }
}

/// Formats a number with at least three significant digits.
fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_beyond_its_limit_fails_the_gate_and_so_does_no_value() {
        assert!(Limit::AtMost(3.0).holds(3.0) && !Limit::AtMost(3.0).holds(3.1));
        assert!(Limit::AtLeast(3.0).holds(3.0) && !Limit::AtLeast(3.0).holds(2.9));
        assert!(!Limit::AtMost(3.0).holds(f64::NAN) && !Limit::AtLeast(3.0).holds(f64::NAN));
        let mut report = GateReport::begin();
        report.add("fine", Limit::AtMost(1.0), None, 0.5, "");
        report.add("too much", Limit::AtMost(1.0), None, 1.5, "");
        assert!(!report.end());
    }

    #[test]
    fn a_missed_goal_is_reported_and_fails_the_gate_only_beyond_the_limit() {
        let mut report = GateReport::begin();
        report.add("missed", Limit::AtMost(95.0), Some(60.0), 94.0, "");
        assert_eq!((report.failed, report.missed), (0, 1));
        report.add("worse", Limit::AtMost(95.0), Some(60.0), 96.0, "");
        assert_eq!((report.failed, report.missed), (1, 2));
        assert!(!report.end());
    }
}
