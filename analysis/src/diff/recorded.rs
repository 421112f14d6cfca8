//! Tells whether a trace without a kind of event recorded that none happened, or did not record
//! any.

use crate::fact::comparison::OldOrNew;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::collections::BTreeMap;

/// The keyword of the runtime's provider for collections.
pub(super) const GC: u64 = 0x1;
/// The keyword of the runtime's provider for waits for locks.
pub(super) const CONTENTION: u64 = 0x4000;
/// The keyword of the runtime's provider for exceptions.
pub(super) const EXCEPTION: u64 = 0x8000;
/// The keyword of the runtime's provider for waits for handles.
pub(super) const WAIT_HANDLE: u64 = 0x400_0000_0000;
/// Keywords of which a program may well have no event.
const RARE: u64 = CONTENTION | EXCEPTION | WAIT_HANDLE;
/// Minimum number of events of a keyword on one side for the other side, which has none, to count
/// as not having recorded the keyword.
const MIN_EVENTS: u64 = 20;
/// Maximum share of a module's time in methods without names for the module to count as named.
const MAX_UNNAMED: f64 = 0.2;

/// Number of events by keyword of the runtime's provider. Traces do not say which keywords the
/// session enabled, so only these numbers tell "none" from "not recorded".
#[derive(Debug, Clone, Default)]
pub(super) struct Keywords(BTreeMap<u64, u64>);

impl Keywords {
    pub(super) fn event(&mut self, event: &Event<'_>) {
        if event.known_provider() == KnownProvider::Runtime {
            let keywords = event.keywords();
            // An event with several keywords does not show which of them the session enabled.
            if keywords.is_power_of_two() {
                let count = self.0.entry(keywords).or_default();
                *count = count.saturating_add(1);
            }
        }
    }

    /// Returns the numbers of all traces together.
    pub(super) fn sum<'k>(all: impl Iterator<Item = &'k Keywords>) -> Keywords {
        let mut sum = Keywords::default();
        for (keyword, count) in all.flat_map(|keywords| &keywords.0) {
            let all = sum.0.entry(*keyword).or_default();
            *all = all.saturating_add(*count);
        }
        sum
    }

    /// Returns whether `keyword` was recorded, so that a side without its events had none. A
    /// keyword with events was recorded. A rare keyword without events counts as recorded if this
    /// side has all the other keywords that are frequent on the other side.
    pub(super) fn has_recorded(&self, keyword: u64, other: &Keywords) -> bool {
        let lacks = |(theirs, count): (&u64, &u64)| {
            *count >= MIN_EVENTS && theirs & RARE == 0 && !self.0.contains_key(theirs)
        };
        self.0.contains_key(&keyword) || (keyword & RARE != 0 && !other.0.iter().any(lacks))
    }
}

/// Nanoseconds of CPU samples by the module of the innermost frame: in all samples, and in samples
/// whose innermost frame has no name.
#[derive(Debug, Clone, Default)]
pub(super) struct NamedModules(BTreeMap<String, (u64, u64)>);

impl NamedModules {
    pub(super) fn count(&mut self, module: &str, is_named: bool, nanos: u64) {
        if !self.0.contains_key(module) {
            self.0.insert(module.to_owned(), (0, 0));
        }
        if let Some((all, unnamed)) = self.0.get_mut(module) {
            *all = all.saturating_add(nanos);
            *unnamed = unnamed.saturating_add(if is_named { 0 } else { nanos });
        }
    }

    /// Returns the times of all traces together.
    pub(super) fn sum<'m>(all: impl Iterator<Item = &'m NamedModules>) -> NamedModules {
        let mut sum = NamedModules::default();
        for (module, (nanos, unnamed)) in all.flat_map(|modules| &modules.0) {
            let row = sum.0.entry(module.clone()).or_default();
            *row = (row.0.saturating_add(*nanos), row.1.saturating_add(*unnamed));
        }
        sum
    }

    /// Returns the share of all time in frames without a name.
    pub(super) fn unnamed_share(&self) -> f64 {
        let sums = self
            .0
            .values()
            .fold((0.0, 0.0), |(all, unnamed), row| (all + row.0 as f64, unnamed + row.1 as f64));
        if sums.0 > 0.0 { sums.1 / sums.0 } else { 0.0 }
    }

    /// Returns the modules whose methods have names on one side only, and the side without names.
    /// `self` is the old side.
    pub(super) fn named_on_one_side<'m>(&'m self, new: &NamedModules) -> Vec<(&'m str, OldOrNew)> {
        let is_unnamed = |row: &(u64, u64)| row.1 as f64 > row.0 as f64 * MAX_UNNAMED;
        let named = self.0.iter().filter(|(module, _)| !module.is_empty());
        let on_one_side = named.filter_map(|(module, row)| {
            match (is_unnamed(row), is_unnamed(new.0.get(module)?)) {
                (true, false) => Some((module.as_str(), OldOrNew::Old)),
                (false, true) => Some((module.as_str(), OldOrNew::New)),
                _ => None,
            }
        });
        on_one_side.collect()
    }
}
