//! Names in a list of counters that the process never published, mostly because they are misspelt.

use super::counter_list::CounterList;
use std::collections::BTreeSet;

/// Maximum number of published names that are kept for suggestions.
const MAX_NAMES: usize = 1000;

/// Name in a [`CounterList`] for which no value has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnseenCounter {
    /// Provider or meter, as the list names it.
    pub provider: String,
    /// Counter; `None` if no value of the provider has arrived at all.
    pub counter: Option<String>,
    /// Counters that the provider did publish, sorted. An EventCounter may itself be among them if
    /// a meter takes its provider's place.
    pub published: Vec<String>,
}

/// Names of a list of counters that have had values.
#[derive(Debug, Default)]
pub(super) struct SeenNames {
    /// Index of a choice in the list and of a counter in the choice; `None` for the choice as a
    /// whole.
    seen: BTreeSet<(usize, Option<usize>)>,
    published: BTreeSet<(String, String)>,
}

impl SeenNames {
    /// Notes that a process has published a counter. `is_shown`: whether its value is shown.
    pub(super) fn publish(
        &mut self,
        list: &CounterList,
        provider: &str,
        counter: &str,
        is_shown: bool,
    ) {
        let mut is_missing_some = false;
        for (place, choice) in list.choices.iter().enumerate() {
            if !choice.has_provider(provider) {
                continue;
            }
            self.seen.insert((place, None));
            for at in 0..choice.counters.len() {
                if is_shown && choice.has_counter(at, counter) {
                    self.seen.insert((place, Some(at)));
                }
                is_missing_some |= !self.seen.contains(&(place, Some(at)));
            }
        }
        if is_missing_some && self.published.len() < MAX_NAMES {
            self.published.insert((provider.to_owned(), counter.to_owned()));
        }
    }

    /// Returns the names for which no value has arrived, in the order of the list.
    pub(super) fn unseen(&self, list: &CounterList) -> Vec<UnseenCounter> {
        let mut unseen = Vec::new();
        for (place, choice) in list.choices.iter().enumerate() {
            if !self.seen.contains(&(place, None)) {
                let provider = choice.provider.clone();
                unseen.push(UnseenCounter { provider, counter: None, published: Vec::new() });
                continue;
            }
            let its = self.published.iter().filter(|(provider, _)| choice.has_provider(provider));
            let published: Vec<String> = its.map(|(_, counter)| counter.clone()).collect();
            for (at, counter) in choice.counters.iter().enumerate() {
                if !self.seen.contains(&(place, Some(at))) {
                    unseen.push(UnseenCounter {
                        provider: choice.provider.clone(),
                        counter: Some(counter.clone()),
                        published: published.clone(),
                    });
                }
            }
        }
        unseen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_that_never_came_are_listed_with_what_came_instead() {
        let list: CounterList =
            "System.Runtime[cpu-usag,gc-*],Shop,System.Runtme".parse().expect("a list");
        let mut names = SeenNames::default();
        names.publish(&list, "system.runtime", "cpu-usage", false);
        names.publish(&list, "System.Runtime", "gc-heap-size", true);
        names.publish(&list, "Shop", "orders", true);
        names.publish(&list, "Other", "orders", false);
        let unseen = names.unseen(&list);
        let names: Vec<_> =
            unseen.iter().map(|name| (&*name.provider, name.counter.as_deref())).collect();
        assert_eq!(names, [("System.Runtime", Some("cpu-usag")), ("System.Runtme", None)]);
        assert_eq!(unseen[0].published, ["gc-heap-size", "cpu-usage"]);
    }

    #[test]
    fn names_for_suggestions_are_bounded() {
        let list: CounterList = "Shop[orders]".parse().expect("a list");
        let mut names = SeenNames::default();
        for number in 0..2 * MAX_NAMES {
            names.publish(&list, "Shop", &number.to_string(), false);
        }
        assert_eq!(names.published.len(), MAX_NAMES);
    }
}
