//! What took processors away from a process: its limit, other programs, or the host of a virtual
//! machine.

use super::{GroupLimits, MachineTotal, ThreadTimes};
use std::collections::BTreeMap;

/// What took processors away from a process while it was recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HeldBack {
    /// Periods of the smallest limit on the way to the root of control groups, if there is a limit.
    pub(crate) limit: Option<LimitPeriods>,
    /// Processes that were killed because there was no memory; `None` if none were.
    pub(crate) memory: Option<MemoryKills>,
    /// Processor time that other programs took, in nanoseconds.
    pub(crate) others_ns: u64,
    /// Processor time that the host of a virtual machine gave to others, in nanoseconds.
    pub(crate) steal_ns: u64,
}

/// Periods of a limit of processor time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LimitPeriods {
    /// Time that the group may run in a period, in nanoseconds.
    pub(crate) quota_ns: u64,
    /// Length of a period, in nanoseconds.
    pub(crate) period_ns: u64,
    /// Number of periods in which the group had something to run.
    pub(crate) periods: u64,
    /// Number of periods in which the group was throttled.
    pub(crate) throttled: u64,
}

/// Processes of a control group that the kernel killed because there was no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemoryKills {
    /// Number of killed processes.
    pub(crate) killed: u64,
    /// Smallest limit of memory on the way to the root of control groups, in bytes; `None` without a
    /// limit.
    pub(crate) limit_bytes: Option<u64>,
}

impl LimitPeriods {
    /// Compares limits by the number of processors that they leave.
    fn is_smaller(&self, other: &LimitPeriods) -> bool {
        let product = |one: u64, other: u64| u128::from(one).saturating_mul(u128::from(other));
        product(self.quota_ns, other.period_ns) < product(other.quota_ns, self.period_ns)
    }
}

impl HeldBack {
    /// Reads what took processors away from the differences of first and last totals. `ran_ns`: time
    /// that the process ran.
    pub(super) fn new(times: &ThreadTimes, ran_ns: u64) -> HeldBack {
        let machine = times.machine.first().zip(times.machine.last());
        let [busy, steal] = machine.map_or([0; 2], |(first, last)| {
            let since = |total: fn(&MachineTotal) -> u64| total(last).saturating_sub(total(first));
            [since(busy_ns), since(|total| total.steal_ns)]
        });
        HeldBack {
            limit: smallest_limit(&times.groups),
            memory: memory_kills(&times.groups),
            others_ns: busy.saturating_sub(ran_ns),
            steal_ns: steal,
        }
    }
}

/// Returns the time in which processors of the machine ran anything.
fn busy_ns(total: &MachineTotal) -> u64 {
    let MachineTotal { user_ns, nice_ns, system_ns, irq_ns, soft_irq_ns, .. } = *total;
    let parts = [user_ns, nice_ns, system_ns, irq_ns, soft_irq_ns];
    parts.into_iter().fold(0, u64::saturating_add)
}

/// Returns the first and the last row of each level.
fn levels(groups: &[GroupLimits]) -> impl Iterator<Item = (&GroupLimits, &GroupLimits)> {
    let mut levels: BTreeMap<u32, (&GroupLimits, &GroupLimits)> = BTreeMap::new();
    for row in groups {
        levels.entry(row.level).or_insert((row, row)).1 = row;
    }
    levels.into_values()
}

/// Returns the processes that were killed in the innermost group in which there were any. Kills in a
/// group count for the groups above it, too.
fn memory_kills(groups: &[GroupLimits]) -> Option<MemoryKills> {
    let killed = |(first, last): (&GroupLimits, &GroupLimits)| {
        last.oom_kills.checked_sub(first.oom_kills).filter(|killed| *killed > 0)
    };
    let killed = levels(groups).find_map(killed)?;
    let limits = levels(groups).filter_map(|(_, last)| last.memory_limit_bytes);
    Some(MemoryKills { killed, limit_bytes: limits.min() })
}

/// Returns the periods of the smallest limit of all levels.
fn smallest_limit(groups: &[GroupLimits]) -> Option<LimitPeriods> {
    let mut smallest: Option<LimitPeriods> = None;
    for (first, last) in levels(groups) {
        let Some((quota_ns, period_ns)) = last.quota_ns.zip(last.period_ns) else { continue };
        let limit = LimitPeriods {
            quota_ns,
            period_ns,
            periods: last.periods.saturating_sub(first.periods),
            throttled: last.throttled.saturating_sub(first.throttled),
        };
        if smallest.is_none_or(|known| limit.is_smaller(&known)) {
            smallest = Some(limit);
        }
    }
    smallest
}

/// Returns the times between two readings of a control group between which the group was throttled,
/// in time order and apart from each other.
pub(super) fn throttled_spans(groups: &[GroupLimits]) -> Vec<(i64, i64)> {
    let mut before: BTreeMap<u32, &GroupLimits> = BTreeMap::new();
    let mut spans: Vec<(i64, i64)> = Vec::new();
    for row in groups {
        let before = before.insert(row.level, row);
        let before = before.filter(|it| it.path == row.path && it.throttled < row.throttled);
        spans.extend(before.map(|before| (before.nanos, row.nanos)));
    }
    spans.sort_unstable();
    spans.dedup_by(|later, earlier| {
        let meets = later.0 <= earlier.1;
        if meets {
            earlier.1 = earlier.1.max(later.1);
        }
        meets
    });
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_limit_on_the_way_to_the_root_holds() {
        let row = |level, quota_ns: u64, periods, throttled| GroupLimits {
            level,
            quota_ns: (quota_ns > 0).then_some(quota_ns),
            period_ns: Some(100),
            periods,
            throttled,
            ..GroupLimits::default()
        };
        let groups = [
            row(0, 0, 0, 0),
            row(1, 150, 10, 1),
            row(2, 400, 0, 0),
            row(1, 150, 40, 31),
            row(2, 400, 9, 9),
        ];
        let expected = LimitPeriods { quota_ns: 150, period_ns: 100, periods: 30, throttled: 30 };
        assert_eq!(smallest_limit(&groups), Some(expected));
        assert_eq!(smallest_limit(&groups[..1]), None);
    }

    #[test]
    fn processes_that_were_killed_are_those_of_the_innermost_group_that_lost_some() {
        let row = |level, oom_kills, memory_limit: u64| GroupLimits {
            level,
            oom_kills,
            memory_limit_bytes: (memory_limit > 0).then_some(memory_limit),
            ..GroupLimits::default()
        };
        let groups = [row(0, 0, 0), row(1, 3, 1 << 20), row(2, 9, 1 << 30), row(1, 5, 1 << 20)];
        let expected = MemoryKills { killed: 2, limit_bytes: Some(1 << 20) };
        assert_eq!(memory_kills(&groups), Some(expected));
        assert_eq!(memory_kills(&groups[..3]), None);
    }

    #[test]
    fn what_others_ran_is_what_the_machine_ran_less_the_process() {
        let total =
            |user_ns, steal_ns| MachineTotal { user_ns, steal_ns, ..MachineTotal::default() };
        let machine = vec![total(100, 5), total(400, 25)];
        let times = ThreadTimes { machine, ..ThreadTimes::default() };
        let held = HeldBack::new(&times, 120);
        assert_eq!((held.others_ns, held.steal_ns, held.limit), (180, 20, None));
    }
}
