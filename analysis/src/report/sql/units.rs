//! Units of work, and what they ran: a request, or where it is not known a connection, which
//! programs mostly open for one unit of work.

use crate::model::{StackHandle, TextHandle};
use std::collections::HashMap;

/// Maximum number of units that are open at a time, and of different combinations of what
/// units ran.
const MAX_UNITS: usize = 65_536;
const MAX_PATTERNS: usize = 10_000;
/// Maximum number of different commands of one unit.
const MAX_COMMANDS: usize = 1_000;

/// What runs commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum WorkUnit {
    /// The number of a request.
    Request(u64),
    /// The hash of a request's id in the scope of a log message.
    Scope(u64),
    /// The hash of a connection's id.
    Connection(u64),
}

/// A statement, and the stack that ran it.
type RanCommand = (TextHandle, StackHandle);

/// What a unit ran: how often, and for how long.
type UnitCommands = HashMap<RanCommand, (u64, u64)>;

/// Units with the same name that ran the same commands, as often.
type UnitPattern = (Option<TextHandle>, bool, Vec<(RanCommand, u64)>);

/// What units of work ran. Those that ran the same are one, so that memory is bounded by
/// how many ways there are.
#[derive(Debug, Default)]
pub(super) struct Units {
    open: HashMap<WorkUnit, UnitCommands>,
    /// Names that are known before the unit has ended.
    names: HashMap<WorkUnit, TextHandle>,
    /// How many units, and for how long each of the commands ran in all of them.
    patterns: HashMap<UnitPattern, (u64, Vec<u64>)>,
}

/// What some units of work ran.
#[derive(Debug)]
pub(super) struct UnitRow {
    /// The request's label.
    pub(super) label: Option<TextHandle>,
    /// How many units; 0 if it is not known.
    pub(super) units: u64,
    /// Each command, how often each unit ran it, and for how long all of them did.
    pub(super) commands: Vec<(TextHandle, StackHandle, u64, u64)>,
}

impl Units {
    pub(super) fn is_open(&self, unit: WorkUnit) -> bool {
        self.open.contains_key(&unit)
    }

    /// Sets the name of an open unit.
    pub(super) fn name(&mut self, unit: WorkUnit, label: TextHandle) {
        if self.names.len() < MAX_UNITS {
            self.names.insert(unit, label);
        }
    }

    /// Adds a command that a unit ran; `None`: nobody knows which.
    pub(super) fn add(
        &mut self,
        unit: Option<WorkUnit>,
        statement: TextHandle,
        stack: StackHandle,
        nanos: u64,
    ) {
        let ran = (statement, stack);
        let Some(unit) = unit else {
            self.fold(None, false, HashMap::from([(ran, (1, nanos))]));
            return;
        };
        if self.open.len() >= MAX_UNITS && !self.open.contains_key(&unit) {
            self.fold_all();
        }
        let commands = self.open.entry(unit).or_default();
        let is_full = commands.len() >= MAX_COMMANDS && !commands.contains_key(&ran);
        if is_full {
            self.fold(None, false, HashMap::from([(ran, (1, nanos))]));
            return;
        }
        let (count, sum) = commands.entry(ran).or_default();
        *count = count.saturating_add(1);
        *sum = sum.saturating_add(nanos);
    }

    /// Ends a unit.
    pub(super) fn end(&mut self, unit: WorkUnit, label: Option<TextHandle>) {
        if let Some(commands) = self.open.remove(&unit) {
            self.fold(label, true, commands);
        }
    }

    fn fold_all(&mut self) {
        let mut names = std::mem::take(&mut self.names);
        for (unit, commands) in std::mem::take(&mut self.open) {
            self.fold(names.remove(&unit), true, commands);
        }
    }

    fn fold(&mut self, label: Option<TextHandle>, is_unit: bool, commands: UnitCommands) {
        let mut commands: Vec<_> = commands.into_iter().collect();
        commands.sort_unstable();
        let counts = |commands: &[(RanCommand, (u64, u64))]| -> Vec<(RanCommand, u64)> {
            commands.iter().map(|(ran, (count, _))| (*ran, *count)).collect()
        };
        let key = (label, is_unit, counts(&commands));
        if self.patterns.len() >= MAX_PATTERNS && !self.patterns.contains_key(&key) {
            // Each command alone, which are not so many.
            for (ran, (count, nanos)) in commands {
                let sum =
                    self.patterns.entry((label, false, vec![(ran, 1)])).or_insert((0, vec![0]));
                sum.0 = sum.0.saturating_add(count);
                if let Some(all) = sum.1.first_mut() {
                    *all = all.saturating_add(nanos);
                }
            }
            return;
        }
        let (units, sums) = self.patterns.entry(key).or_default();
        *units = units.saturating_add(1);
        sums.resize(commands.len(), 0);
        for (sum, (_, (_, nanos))) in sums.iter_mut().zip(&commands) {
            *sum = sum.saturating_add(*nanos);
        }
    }

    /// Returns what all units ran, in a fixed order.
    pub(super) fn finish(mut self) -> Vec<UnitRow> {
        self.fold_all();
        let mut patterns: Vec<_> = self.patterns.into_iter().collect();
        patterns.sort_unstable();
        let row = |((label, is_unit, commands), (units, sums)): (UnitPattern, (u64, Vec<u64>))| {
            // Those without a unit stand one by one.
            let each = if is_unit { 1 } else { units };
            let commands =
                commands.into_iter().zip(sums).map(|(((statement, stack), count), nanos)| {
                    (statement, stack, count.saturating_mul(each), nanos)
                });
            UnitRow { label, units: if is_unit { units } else { 0 }, commands: commands.collect() }
        };
        patterns.into_iter().map(row).collect()
    }
}
