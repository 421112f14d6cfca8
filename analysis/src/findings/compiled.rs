//! The finding about the time of compiling methods.

use super::finding::{Finding, weight_of_lost_time};
use crate::document::percent;
use crate::fact::{Base, Fact, Number, Place, Unit};
use crate::report::JitReport;

/// Minimum time of compilation that is not in the background, summed over threads, in percent of
/// the trace.
const MIN_JIT_PERCENT: f64 = 2.0;
/// Maximum ratio of all compiled methods to dynamic ones for the finding to count the dynamic ones.
const MAX_METHODS_PER_DYNAMIC: u64 = 5;
/// Minimum time of compilation in the background, in percent of all, for the finding to name it.
const MIN_BACKGROUND_PERCENT: f64 = 10.0;
/// Minimum number of dynamic methods for the finding to count them.
const MIN_DYNAMIC: u64 = 20;

/// Returns the finding about compilation. `asker` is the own method for which most dynamic methods
/// were compiled.
pub(super) fn compilation(
    report: &JitReport,
    asker: Option<Place>,
    trace_ns: u64,
) -> Option<Finding> {
    let totals = &report.totals;
    // A thread waits for the method that it calls, unless that is compiled in the background.
    let waited = totals.duration_ns.saturating_sub(totals.background_duration_ns);
    let share = percent(waited, trace_ns);
    if share < MIN_JIT_PERCENT {
        return None;
    }
    let background = Some(totals.background_duration_ns)
        .filter(|nanos| percent(*nanos, totals.duration_ns) >= MIN_BACKGROUND_PERCENT);
    // Reflection makes some dynamic methods of its own.
    let is_much = totals.dynamic >= MIN_DYNAMIC
        && totals.dynamic.saturating_mul(MAX_METHODS_PER_DYNAMIC) >= totals.methods;
    let dynamic = is_much.then_some((totals.dynamic, totals.dynamic_duration_ns));
    let fact = Fact::Compilation {
        compiling: Number::nanos(totals.duration_ns).in_member("totals.duration_ns"),
        methods: Number::count(totals.methods, Unit::Methods).in_member("totals.methods"),
        share: Number::percent(share, Base::Elapsed),
        background: background
            .map(|nanos| Number::nanos(nanos).in_member("totals.background_duration_ns")),
        dynamic_methods: dynamic
            .map(|(methods, _)| Number::count(methods, Unit::Methods).in_member("totals.dynamic")),
        compiling_dynamic: dynamic
            .map(|(_, nanos)| Number::nanos(nanos).in_member("totals.dynamic_duration_ns")),
        asked_by: asker,
    };
    Some(Finding::new(fact, weight_of_lost_time(share)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{JitDecisions, JitTotals};

    #[test]
    fn compilation_that_takes_a_negligible_share_is_no_finding() {
        let mut report = JitReport {
            schema: 1,
            totals: JitTotals { methods: 3, duration_ns: 19, ..JitTotals::default() },
            tiers: Vec::new(),
            inlining: JitDecisions::default(),
            tail_calls: JitDecisions::default(),
            methods: Vec::new(),
            ended: Vec::new(),
        };
        assert_eq!(compilation(&report, None, 1_000), None);
        report.totals.duration_ns = 20;
        let finding = compilation(&report, None, 1_000).unwrap();
        assert_eq!((finding.headline().whole(), finding.headline().unit), (20, Unit::Nanoseconds));
        assert_eq!(finding.text(), "3 methods compiled in 20 ns: 2.0 % of the time");
        // What is compiled in the background takes nothing from the program.
        report.totals.background_duration_ns = 1;
        assert_eq!(compilation(&report, None, 1_000), None);
        (report.totals.duration_ns, report.totals.background_duration_ns) = (60, 20);
        let finding = compilation(&report, None, 1_000).unwrap();
        assert_eq!(
            finding.text(),
            "3 methods compiled in 60 ns, 20 ns of it in the background: 4.0 % of the time"
        );
    }
}
