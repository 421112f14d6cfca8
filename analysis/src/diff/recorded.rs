//! Whether a trace without some kind of event had none, or did not record them.

use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::collections::BTreeMap;

/// Keywords of the runtime's provider.
pub(super) const GC: u64 = 0x1;
pub(super) const CONTENTION: u64 = 0x4000;
pub(super) const EXCEPTION: u64 = 0x8000;
pub(super) const WAIT_HANDLE: u64 = 0x400_0000_0000;
/// Those that a program may well have no event of.
const RARE: u64 = CONTENTION | EXCEPTION | WAIT_HANDLE;
/// So many events of a keyword on one side, and none on the other, mean that it was not recorded there.
const MANY: u64 = 20;
/// Share of a module's time in methods without names from which on it is unnamed.
const MOST_UNNAMED: f64 = 0.2;

/// Number of events by keyword of the runtime's provider. Traces do not say what was asked
/// for, so this is all there is to tell "none" from "not recorded".
#[derive(Debug, Clone, Default)]
pub(super) struct Keywords(BTreeMap<u64, u64>);

impl Keywords {
    pub(super) fn event(&mut self, event: &Event<'_>) {
        if event.known_provider() == KnownProvider::Runtime {
            let keywords = event.keywords();
            // Those with several keywords do not say which of them was asked for.
            if keywords.is_power_of_two() {
                let count = self.0.entry(keywords).or_default();
                *count = count.saturating_add(1);
            }
        }
    }

    pub(super) fn of<'k>(all: impl Iterator<Item = &'k Keywords>) -> Keywords {
        let mut sum = Keywords::default();
        for (keyword, count) in all.flat_map(|keywords| &keywords.0) {
            let all = sum.0.entry(*keyword).or_default();
            *all = all.saturating_add(*count);
        }
        sum
    }

    /// Whether no event of `keyword` means that there was none: if there are events of it,
    /// or it is one of which there may be none, and all that the other side recorded often
    /// was recorded here, too.
    pub(super) fn has_recorded(&self, keyword: u64, other: &Keywords) -> bool {
        let lacks = |(theirs, count): (&u64, &u64)| {
            *count >= MANY && theirs & RARE == 0 && !self.0.contains_key(theirs)
        };
        self.0.contains_key(&keyword) || (keyword & RARE != 0 && !other.0.iter().any(lacks))
    }
}

/// Time of CPU samples by the module of their innermost frame, and that of frames without
/// a name.
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

    pub(super) fn of<'m>(all: impl Iterator<Item = &'m NamedModules>) -> NamedModules {
        let mut sum = NamedModules::default();
        for (module, (nanos, unnamed)) in all.flat_map(|modules| &modules.0) {
            let row = sum.0.entry(module.clone()).or_default();
            *row = (row.0.saturating_add(*nanos), row.1.saturating_add(*unnamed));
        }
        sum
    }

    /// The share of all time in frames without a name.
    pub(super) fn unnamed_share(&self) -> f64 {
        let sums = self
            .0
            .values()
            .fold((0.0, 0.0), |(all, unnamed), row| (all + row.0 as f64, unnamed + row.1 as f64));
        if sums.0 > 0.0 { sums.1 / sums.0 } else { 0.0 }
    }

    /// Modules of which only one side has names.
    pub(super) fn named_on_one_side<'m>(&'m self, other: &'m NamedModules) -> Vec<&'m str> {
        let is_unnamed = |row: &(u64, u64)| row.1 as f64 > row.0 as f64 * MOST_UNNAMED;
        let differs = |(module, row): &(&'m String, &(u64, u64))| {
            let theirs = other.0.get(*module);
            !module.is_empty() && theirs.is_some_and(|theirs| is_unnamed(row) != is_unnamed(theirs))
        };
        self.0.iter().filter(differs).map(|(module, _)| module.as_str()).collect()
    }
}
