//! Finds open activities by id.

use crate::hash::HashMap;
use crate::model::TextHandle;
use crate::model::activity_id::ActivityId;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Open activities by their ids, each with its name and its number. Every operation takes only a
/// few steps, however many activities have the same id, and in whatever order they end.
#[derive(Debug, Default)]
pub(crate) struct ActivityIds(HashMap<ActivityId, WithId>);

/// The open activities with an id.
#[derive(Debug)]
enum WithId {
    /// The only one, as most are.
    One(TextHandle, u64),
    Many(Box<ManyWithId>),
}

/// Open activities with one id.
#[derive(Debug, Default)]
struct ManyWithId {
    /// Name of each activity, by its number.
    all: BTreeMap<u64, TextHandle>,
    by_name: BTreeSet<(TextHandle, u64)>,
}

impl ManyWithId {
    fn add(&mut self, name: TextHandle, number: u64) {
        self.all.insert(number, name);
        self.by_name.insert((name, number));
    }
}

impl ActivityIds {
    /// Adds an open activity. `number` must be larger than that of every earlier activity.
    pub(crate) fn add(&mut self, id: &ActivityId, name: TextHandle, number: u64) {
        match self.0.entry(id.clone()) {
            Entry::Vacant(vacant) => {
                vacant.insert(WithId::One(name, number));
            }
            Entry::Occupied(mut known) => match known.get_mut() {
                WithId::Many(many) => many.add(name, number),
                WithId::One(first, of_first) => {
                    let mut many = Box::new(ManyWithId::default());
                    many.add(*first, *of_first);
                    many.add(name, number);
                    *known.get_mut() = WithId::Many(many);
                }
            },
        }
    }

    /// Removes an open activity.
    pub(crate) fn remove(&mut self, id: &ActivityId, name: TextHandle, number: u64) {
        let Entry::Occupied(mut known) = self.0.entry(id.clone()) else { return };
        let is_empty = match known.get_mut() {
            WithId::One(_, only) => *only == number,
            WithId::Many(many) => {
                many.all.remove(&number);
                many.by_name.remove(&(name, number));
                many.all.is_empty()
            }
        };
        if is_empty {
            known.remove();
        }
    }

    /// Returns the newest open activity with an id.
    pub(crate) fn newest(&self, id: &ActivityId) -> Option<(TextHandle, u64)> {
        self.all(id).next()
    }

    /// Returns the open activity with an id if there is exactly one.
    #[inline]
    pub(crate) fn only(&self, id: &ActivityId) -> Option<(TextHandle, u64)> {
        self.with_id(id).0
    }

    /// Returns all open activities with an id, newest first.
    pub(crate) fn all(&self, id: &ActivityId) -> impl Iterator<Item = (TextHandle, u64)> + use<'_> {
        let (one, many) = self.with_id(id);
        let many = many.into_iter().flat_map(|many| many.all.iter().rev());
        one.into_iter().chain(many.map(|(number, name)| (*name, *number)))
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
        let (one, many) = self.with_id(id);
        let one = one.filter(|(of, _)| *of == name).map(|(_, number)| number);
        let range = many.map(|many| many.by_name.range((name, 0)..=(name, u64::MAX)));
        one.into_iter().chain(range.into_iter().flatten().rev().map(|(_, number)| *number))
    }

    /// Returns the only activity with an id, or the several ones.
    #[inline]
    fn with_id(&self, id: &ActivityId) -> (Option<(TextHandle, u64)>, Option<&ManyWithId>) {
        match self.0.get(id) {
            Some(WithId::One(name, number)) => (Some((*name, *number)), None),
            Some(WithId::Many(many)) => (None, Some(many)),
            None => (None, None),
        }
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
        assert!(ids.0.is_empty());
    }
}
