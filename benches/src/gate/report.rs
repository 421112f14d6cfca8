//! The gate's table.

use std::fmt;

/// What a measured value must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Not above.
    AtMost(f64),
    /// Not below.
    AtLeast(f64),
}

impl Limit {
    /// Whether the value is within the limit; what is no number is not.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Limit::AtMost(limit) => value <= limit,
            Limit::AtLeast(limit) => value >= limit,
        }
    }
}

/// Measured values against their limits, printed as they come.
#[derive(Debug, Default)]
pub struct GateReport {
    failed: usize,
    skipped: usize,
    missed: usize,
}

impl GateReport {
    /// Begins the table.
    pub fn begin() -> GateReport {
        println!("{:<44} {:>12} {:>12}  unit", "goal", "limit", "measured");
        GateReport::default()
    }

    /// A value with a limit.
    pub fn add(&mut self, what: String, limit: Limit, value: f64, unit: &str) {
        let verdict = if limit.holds(value) { "" } else { "  EXCEEDED" };
        self.failed += usize::from(!limit.holds(value));
        println!("{what:<44} {:>12} {:>12}  {unit}{verdict}", limit.to_string(), number(value));
    }

    /// A value with a goal, and a limit that is looser where the goal is missed: what was
    /// reached, so that nothing gets worse.
    pub fn add_with_goal(&mut self, what: String, goal: f64, limit: f64, value: f64, unit: &str) {
        let is_exceeded = !Limit::AtMost(limit).holds(value);
        let is_missed = !Limit::AtMost(goal).holds(value);
        let verdict = match (is_exceeded, is_missed) {
            (true, _) => "  EXCEEDED".to_owned(),
            (false, true) => format!("  MISSES ITS GOAL of {}", number(goal)),
            (false, false) if limit > goal => "  reaches its goal: make it the limit".to_owned(),
            (false, false) => String::new(),
        };
        self.failed += usize::from(is_exceeded);
        self.missed += usize::from(is_missed);
        let (limit, value) = (Limit::AtMost(limit).to_string(), number(value));
        println!("{what:<44} {limit:>12} {value:>12}  {unit}{verdict}");
    }

    /// A value without a limit.
    pub fn note(&mut self, what: String, value: f64, unit: &str) {
        println!("{what:<44} {:>12} {:>12}  {unit}", "", number(value));
    }

    /// Something that cannot be measured here.
    pub fn skip(&mut self, what: &str, why: &str) {
        self.skipped += 1;
        println!("NOT RUN: {what}: {why}");
    }

    /// The verdict: whether all that was measured is within its limits.
    pub fn end(self) -> bool {
        let skipped =
            if self.skipped > 0 { format!(", {} NOT RUN", self.skipped) } else { String::new() };
        let missed = if self.missed > 0 {
            format!(", {} miss their goals", self.missed)
        } else {
            String::new()
        };
        match self.failed {
            0 => println!("all within their limits{missed}{skipped}"),
            failed => println!("{failed} beyond their limits{missed}{skipped}"),
        }
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

/// Three digits or more.
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
        report.add("fine".into(), Limit::AtMost(1.0), 0.5, "");
        report.add("too much".into(), Limit::AtMost(1.0), 1.5, "");
        assert!(!report.end());
    }

    #[test]
    fn a_missed_goal_is_told_and_fails_the_gate_only_beyond_what_was_reached() {
        let mut report = GateReport::begin();
        report.add_with_goal("missed".into(), 60.0, 95.0, 94.0, "");
        assert_eq!((report.failed, report.missed), (0, 1));
        report.add_with_goal("worse".into(), 60.0, 95.0, 96.0, "");
        assert_eq!((report.failed, report.missed), (1, 2));
        assert!(!report.end());
    }
}
