//! Finds open activities by id.

use crate::hash::HashMap;
use crate::model::TextHandle;
use crate::model::activity_id::ActivityId;
use std::collections::{BTreeMap, BTreeSet};

/// Open activities by their ids, each with its name and its number. Every operation takes only a
/// few steps, however many activities have the same id, and in whatever order they end.
#[derive(Debug, Default)]
pub(crate) struct ActivityIds {
    ids: HashMap<ActivityId, OpenId>,
    /// Name of each activity, by the number that stands for its id and the number of the activity.
    all: BTreeMap<(u64, u64), TextHandle>,
    by_name: BTreeSet<(u64, TextHandle, u64)>,
    given: u64,
}

#[derive(Debug)]
struct OpenId {
    /// Number that stands for the id in the other tables.
    number: u64,
    /// Number of open activities with this id.
    open: usize,
}

impl ActivityIds {
    /// Adds an open activity. `number` must be larger than that of every earlier activity.
    pub(crate) fn add(&mut self, id: &ActivityId, name: TextHandle, number: u64) {
        let of_id = match self.ids.get_mut(id) {
            Some(known) => {
                known.open = known.open.saturating_add(1);
                known.number
            }
            None => {
                let given = self.given;
                self.given = given.saturating_add(1);
                self.ids.insert(id.clone(), OpenId { number: given, open: 1 });
                given
            }
        };
        self.all.insert((of_id, number), name);
        self.by_name.insert((of_id, name, number));
    }

    /// Removes an open activity.
    pub(crate) fn remove(&mut self, id: &ActivityId, name: TextHandle, number: u64) {
        let Some(known) = self.ids.get_mut(id) else { return };
        if self.all.remove(&(known.number, number)).is_none() {
            return;
        }
        self.by_name.remove(&(known.number, name, number));
        known.open = known.open.saturating_sub(1);
        if known.open == 0 {
            self.ids.remove(id);
        }
    }

    /// Returns the newest open activity with an id.
    pub(crate) fn newest(&self, id: &ActivityId) -> Option<(TextHandle, u64)> {
        self.all(id).next()
    }

    /// Returns all open activities with an id, newest first.
    pub(crate) fn all(&self, id: &ActivityId) -> impl Iterator<Item = (TextHandle, u64)> + use<'_> {
        let of_id = self.ids.get(id).map(|known| known.number);
        let range = of_id.map(|of_id| self.all.range((of_id, 0)..=(of_id, u64::MAX)));
        range.into_iter().flatten().rev().map(|((_, number), name)| (*name, *number))
    }

    /// Returns the number of the newest open activity with an id and a name.
    pub(crate) fn newest_of(&self, id: &ActivityId, name: TextHandle) -> Option<u64> {
        self.all_of(id, name).next()
    }

    /// Returns the numbers of all open activities with an id and a name, newest first.
    pub(crate) fn all_of(
        &self,
        id: &ActivityId,
        name: TextHandle,
    ) -> impl Iterator<Item = u64> + use<'_> {
        let of_id = self.ids.get(id).map(|known| known.number);
        let range =
            of_id.map(|of_id| self.by_name.range((of_id, name, 0)..=(of_id, name, u64::MAX)));
        range.into_iter().flatten().rev().map(|(_, _, number)| *number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_with_an_id_comes_first_and_the_last_to_go_takes_the_id_along() {
        let [one, other] = [TextHandle(1), TextHandle(2)];
        let mut ids = ActivityIds::default();
        let [a, b, c] = ["a", "b", "c"].map(|text| ActivityId::from_text(text).unwrap());
        let [a, b, c] = [&a, &b, &c];
        for (id, name, number) in [(a, one, 0), (b, one, 1), (a, other, 2), (a, one, 3)] {
            ids.add(id, name, number);
        }
        assert_eq!(
            (ids.newest(a), ids.newest(b), ids.newest(c)),
            (Some((one, 3)), Some((one, 1)), None)
        );
        assert_eq!(ids.all_of(a, one).collect::<Vec<_>>(), [3, 0]);
        ids.remove(a, one, 3);
        ids.remove(a, one, 3);
        assert_eq!((ids.newest(a), ids.newest_of(a, one)), (Some((other, 2)), Some(0)));
        ids.remove(a, one, 0);
        ids.remove(a, other, 2);
        assert_eq!((ids.newest(a), ids.newest_of(a, one)), (None, None));
        ids.remove(b, one, 1);
        assert!(ids.ids.is_empty() && ids.all.is_empty() && ids.by_name.is_empty());
    }
}
