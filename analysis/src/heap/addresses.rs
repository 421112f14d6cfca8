//! Looks up objects by address.
//!
//! The runtime reports objects in runs of ascending addresses, one run for each piece of the heap.
//! Each run is divided into buckets of equal size, about one for every two objects, so a lookup
//! takes a shift and a few comparisons. Objects are sorted only if runs overlap, which no runtime
//! produces.

use super::links::{Links, NONE, length};

/// Mean number of objects in a bucket.
const PER_BUCKET: u64 = 2;
/// Maximum gap between objects of a run, in bytes. A larger gap starts a new run, because buckets
/// for unused memory would be a waste.
const GAP: u64 = 1 << 20;

/// Finds the object at an address.
#[derive(Debug)]
pub(super) struct Addresses {
    /// Runs, sorted by first address.
    runs: Vec<AddressRun>,
    /// Place of the first object at or after the start of each bucket, run by run. Objects have
    /// places in the order of their addresses.
    buckets: Vec<u32>,
    /// Number of the object at each place; `None` if places and numbers are equal.
    sorted: Option<Links>,
}

#[derive(Debug, Clone, Copy)]
struct AddressRun {
    first: u64,
    last: u64,
    /// Place of the first object.
    begin: u32,
    /// Place after the last object.
    end: u32,
    /// Binary logarithm of the size of a bucket, in bytes.
    shift: u32,
    /// Index of the run's first bucket.
    bucket: u32,
}

impl Addresses {
    /// Builds the lookup for objects with these addresses. If several objects have the same
    /// address, lookups find the first of them, and `repeated` is called for the others.
    pub(super) fn new(addresses: &[u64], mut repeated: impl FnMut(u32)) -> Addresses {
        let mut runs = runs_of(addresses.iter().copied());
        runs.sort_unstable_by_key(|run| (run.first, run.begin));
        let is_apart =
            |pair: &[AddressRun]| matches!(pair, [before, after] if before.last < after.first);
        if runs.windows(2).all(is_apart) {
            let at = |place: u32| addresses.get(place as usize).copied().unwrap_or(u64::MAX);
            let buckets = buckets_of(&mut runs, at);
            return Addresses { runs, buckets, sorted: None };
        }
        let mut order: Vec<u32> = (0..length(addresses)).collect();
        let address = |object: u32| addresses.get(object as usize).copied().unwrap_or(u64::MAX);
        order.sort_unstable_by_key(|object| (address(*object), *object));
        order.dedup_by(|object, before| {
            let is_repeated = address(*object) == address(*before);
            if is_repeated {
                repeated(*object);
            }
            is_repeated
        });
        let mut runs = runs_of(order.iter().map(|object| address(*object)));
        let at = |place: u32| order.get(place as usize).map_or(u64::MAX, |object| address(*object));
        let buckets = buckets_of(&mut runs, at);
        Addresses { runs, buckets, sorted: Some(Links::from(order)) }
    }

    /// Returns the number of the object at an address, or [`NONE`] if there is none. `addresses`
    /// must be those from which the lookup was built.
    #[inline]
    pub(super) fn find(&self, addresses: &[u64], address: u64) -> u32 {
        let at = self.runs.partition_point(|run| run.last < address);
        let Some(run) = self.runs.get(at).filter(|run| run.first <= address) else { return NONE };
        let offset = address.wrapping_sub(run.first) >> run.shift;
        let bucket =
            usize::try_from(offset).unwrap_or(usize::MAX).saturating_add(run.bucket as usize);
        let mut place = self.buckets.get(bucket).copied().unwrap_or(run.end);
        while place < run.end {
            let object = match &self.sorted {
                Some(sorted) => sorted.get(place),
                None => place,
            };
            match addresses.get(object as usize) {
                Some(found) if *found < address => place = place.wrapping_add(1),
                Some(found) if *found == address => return object,
                _ => return NONE,
            }
        }
        NONE
    }
}

/// Divides addresses into runs that ascend and have no large gaps.
fn runs_of(addresses: impl Iterator<Item = u64>) -> Vec<AddressRun> {
    let mut runs: Vec<AddressRun> = Vec::new();
    for (place, address) in (0..NONE).zip(addresses) {
        let end = place.wrapping_add(1);
        match runs.last_mut() {
            Some(run) if run.last < address && address.wrapping_sub(run.last) <= GAP => {
                (run.last, run.end) = (address, end);
            }
            _ => runs.push(AddressRun {
                first: address,
                last: address,
                begin: place,
                end,
                shift: 0,
                bucket: 0,
            }),
        }
    }
    runs
}

/// Divides runs into buckets, and returns the place of each bucket's first object. `at` returns the
/// address of the object at a place.
fn buckets_of(runs: &mut [AddressRun], at: impl Fn(u32) -> u64) -> Vec<u32> {
    let mut buckets = Vec::new();
    for run in runs {
        let objects = u64::from(run.end.wrapping_sub(run.begin));
        let span = run.last.wrapping_sub(run.first);
        while (span >> run.shift) > objects / PER_BUCKET {
            run.shift = run.shift.wrapping_add(1);
        }
        run.bucket = length(&buckets);
        let mut next = 0;
        for place in run.begin..run.end {
            let bucket = at(place).wrapping_sub(run.first) >> run.shift;
            while next <= bucket {
                buckets.push(place);
                next = next.wrapping_add(1);
            }
        }
    }
    buckets
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "dumps of tests are small")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_object_is_found_and_nothing_else(
            steps in prop::collection::vec((0u64..4, 0u64..(1 << 22)), 0..200),
            asked in prop::collection::vec(0u64..(1 << 24), 20),
        ) {
            let mut address = 1 << 40;
            let addresses: Vec<u64> = steps.iter().map(|(kind, step)| {
                address = match kind {
                    0 => address + 24,
                    1 => address + 1 + step % 100,
                    2 => address + step,
                    _ => address.wrapping_sub(step % 1000),
                };
                address
            }).collect();
            let mut repeated = Vec::new();
            let index = Addresses::new(&addresses, |object| repeated.push(object));
            for (object, address) in addresses.iter().enumerate() {
                let first = addresses.iter().position(|other| other == address).unwrap();
                prop_assert_eq!(index.find(&addresses, *address), first as u32);
                prop_assert_eq!(repeated.contains(&(object as u32)), first != object);
            }
            for asked in asked {
                let asked = (1 << 40) + asked;
                let expected = addresses.iter().position(|other| *other == asked);
                prop_assert_eq!(index.find(&addresses, asked), expected.map_or(NONE, |at| at as u32));
            }
        }
    }

    #[test]
    fn ends_of_the_address_space_are_addresses_too() {
        let addresses = [0, u64::MAX, u64::MAX - 8, 8];
        let index = Addresses::new(&addresses, |_| panic!());
        assert_eq!(addresses.map(|address| index.find(&addresses, address)), [0, 1, 2, 3]);
        assert_eq!(Addresses::new(&[], |_| panic!()).find(&[], 7), NONE);
    }
}
