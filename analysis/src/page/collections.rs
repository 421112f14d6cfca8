//! Collections of a page: details of some, and figures of all by generation, so that ranges of time
//! have exact sums.

use super::Page;
use super::sums::Sums;
use crate::fact::thinned::{PagePart, Thinning};
use crate::report::{CollectionFigures, Gc, GcReport, Report};

/// Maximum number of sums by generation and time.
const MAX_SUMS: usize = 1 << 13;

/// Sums of all collections by generation, and by what is missing: 0 if nothing is, 1 if the start or
/// the end is, 2 if the pause is. All have the same bins.
#[derive(Debug)]
pub(super) struct PageCollections {
    pauses: Sums<2>,
    allocated: Sums<2>,
    promoted: Sums<2>,
    count: u64,
}

impl Default for PageCollections {
    fn default() -> PageCollections {
        let [pauses, allocated, promoted] = std::array::from_fn(|_| Sums::exact(MAX_SUMS));
        PageCollections { pauses, allocated, promoted, count: 0 }
    }
}

impl PageCollections {
    pub(super) fn add(&mut self, row: &CollectionFigures) {
        let missing = match (row.is_complete, row.has_pause) {
            (_, false) => 2,
            (is_complete, true) => u32::from(!is_complete),
        };
        let (at, key) = (row.start_ns, [row.generation, missing]);
        self.count = self.count.saturating_add(1);
        self.pauses.add(at, key, row.pause_ns);
        self.allocated.add(at, key, row.allocated_bytes.unwrap_or(0));
        self.promoted.add(at, key, row.promoted_bytes.unwrap_or(0));
    }

    /// Writes the sums, if the report does not list all collections.
    pub(super) fn finish(mut self, report: &mut GcReport, most: usize, page: &mut Page) {
        report.ended.drain(..).for_each(|row| self.add(&row));
        let all = usize::try_from(self.count).unwrap_or(usize::MAX);
        page.cut_rows(Gc::NAME, "collections", &mut report.collections, all, most);
        if report.collections.len() >= all {
            return;
        }
        if let Some(bin_nanos) = self.pauses.bin_if_longer() {
            let how = Thinning::AddedUp { bin_nanos, left_out: 0 };
            page.thin(PagePart::Report(Gc::NAME), how);
        }
        self.allocated.write_totals("gc.others.allocated", &mut page.columns);
        self.promoted.write_totals("gc.others.promoted", &mut page.columns);
        page.add_sums("gc.others", self.pauses, ["generation", "missing"], true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Collection;

    #[test]
    fn figures_of_collections_share_their_bins() {
        let mut collections = PageCollections::default();
        for at in 0..40_000_i64 {
            let generation = u32::try_from(at % 3).unwrap();
            collections.add(&CollectionFigures::from(&Collection {
                start_ns: at * 300_000,
                generation,
                promoted_bytes: Some(7),
                ..Collection::default()
            }));
        }
        assert_eq!(collections.promoted.bin_if_longer(), collections.pauses.bin_if_longer());
        assert_eq!(collections.promoted.count(), 40_000);
        let mut page = Page::default();
        collections.promoted.write_totals("promoted", &mut page.columns);
        page.add_sums("gc.others", collections.pauses, ["generation", "missing"], true);
        let rows = page.columns.rows();
        assert_eq!(rows["promoted"].count(), rows["gc.others.t"].count());
    }
}
