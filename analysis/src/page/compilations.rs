//! Compilations of a page: numbers and times by tier, so that ranges of time have exact sums.

use super::Page;
use super::sums::Sums;
use crate::fact::thinned::{PagePart, Thinning};
use crate::report::{Compilation, Jit, JitReport, Report};

/// Maximum number of sums by tier and time.
const MAX_SUMS: usize = 1 << 15;

#[derive(Debug)]
pub(super) struct PageCompilations {
    sums: Sums<1>,
    /// Names of the tiers by their numbers.
    tiers: Vec<&'static str>,
}

impl Default for PageCompilations {
    fn default() -> PageCompilations {
        PageCompilations { sums: Sums::exact(MAX_SUMS), tiers: Vec::new() }
    }
}

impl PageCompilations {
    pub(super) fn add(&mut self, row: Compilation) {
        let name = row.tier.as_str();
        let known = self.tiers.iter().position(|tier| *tier == name);
        let tier = known.unwrap_or_else(|| {
            self.tiers.push(name);
            self.tiers.len().saturating_sub(1)
        });
        self.sums.add(row.start_ns, [u32::try_from(tier).unwrap_or(u32::MAX)], row.duration_ns);
    }

    /// Writes the sums; their tiers are places in the report's list.
    pub(super) fn finish(self, report: &JitReport, page: &mut Page) {
        let PageCompilations { sums, tiers } = self;
        if let Some(bin_nanos) = sums.bin_if_longer() {
            let how = Thinning::AddedUp { bin_nanos, left_out: 0 };
            page.thin(PagePart::Report(Jit::NAME), how);
        }
        let place = |tier: u32| {
            let name = tiers.get(tier as usize);
            let place = report.tiers.iter().position(|row| Some(&row.tier) == name);
            place.and_then(|place| u32::try_from(place).ok()).unwrap_or(u32::MAX)
        };
        let sums = sums.with_keys(|[tier]| [place(tier)]);
        page.add_sums("jit.others", sums, ["tier"], true);
    }
}
