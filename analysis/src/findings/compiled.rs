//! Findings about methods that are compiled.

use super::finding::{Finding, lost};
use crate::document::percent;
use crate::model::Frame;
use crate::report::JitReport;
use crate::words::frames::place_name;
use nettrace_export::units::{count, counted, duration};
use std::sync::Arc;

/// Compilation that takes less of the trace, in percent and summed over threads, is not notable.
const LEAST_JIT: f64 = 2.0;
/// Dynamic methods are named if they are this part of those that were compiled.
const LEAST_DYNAMIC_PART: u64 = 5;
const LEAST_DYNAMIC: u64 = 20;
/// How the names of dynamic methods begin.
const DYNAMIC: &str = "dynamicClass.";

impl Finding {
    /// `asker`: the method of the program's own that most dynamic methods are compiled for.
    pub(super) fn jit(
        report: &JitReport,
        asker: Option<&Arc<Frame>>,
        trace_ns: u64,
    ) -> Option<Finding> {
        let totals = &report.totals;
        let share = percent(totals.duration_ns, trace_ns);
        // Others wait for what is not compiled in the background.
        let waited = totals.duration_ns.saturating_sub(totals.background_duration_ns);
        let text = format!(
            "{} compiled in {}: {share:.1} % of the time{}",
            counted(totals.methods, "method"),
            duration(totals.duration_ns),
            dynamic_methods(report, asker)
        );
        let finding = (share >= LEAST_JIT).then(|| {
            let (weight, value) = (lost(percent(waited, trace_ns)), (totals.duration_ns, "ns"));
            Finding::new("jit", weight, value, text, "report jit")
        })?;
        Some(match asker {
            Some(asker) => finding.at(asker),
            None => finding,
        })
    }
}

/// `; 3,000 of them dynamic, 172.1 ms, asked for in Rules.Build`: those that the program makes
/// while it runs.
fn dynamic_methods(report: &JitReport, asker: Option<&Arc<Frame>>) -> String {
    let dynamic = report.methods.iter().filter(|row| row.name.starts_with(DYNAMIC));
    let (methods, nanos) = dynamic.fold((0_u64, 0_u64), |(methods, nanos), row| {
        (methods.saturating_add(1), nanos.saturating_add(row.duration_ns))
    });
    // Reflection makes some for its own sake.
    let part = methods.saturating_mul(LEAST_DYNAMIC_PART);
    if methods < LEAST_DYNAMIC || part < report.totals.methods {
        return String::new();
    }
    let by = asker.map_or(String::new(), |by| format!(", asked for in {}", place_name(by)));
    format!("; {} of them dynamic, {}{by}", count(methods), duration(nanos))
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
        };
        assert_eq!(Finding::jit(&report, None, 1_000), None);
        report.totals.duration_ns = 20;
        let finding = Finding::jit(&report, None, 1_000).unwrap();
        assert_eq!((finding.value, finding.unit), (20, "ns"));
        assert_eq!(finding.text, "3 methods compiled in 20 ns: 2.0 % of the time");
    }
}
