//! Units of work and the commands that they ran. A unit is a request or, if that is unknown, a
//! connection, which programs mostly open for one unit of work.

use crate::hash::HashMap;
use crate::model::{StackHandle, TextHandle};

/// Maximum number of open units.
const MAX_UNITS: usize = 65_536;
const MAX_PATTERNS: usize = 10_000;
/// Maximum number of different commands of one unit.
const MAX_COMMANDS: usize = 1_000;

/// Unit of work that runs commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum WorkUnit {
    /// Request, by number.
    Request(u64),
    /// Request of a log message's scope, by the hash of its id.
    Scope(u64),
    /// Connection, by the hash of its id.
    Connection(u64),
}

/// Statement, and the stack that ran it.
type RanCommand = (TextHandle, StackHandle);

/// Number of runs, and their nanoseconds, of each command of a unit.
type UnitCommands = HashMap<RanCommand, (u64, u64)>;

/// Key under which equal commands are summed: label, whether they are those of a unit, and how
/// often each command ran.
type UnitPattern = (Option<TextHandle>, bool, Vec<(RanCommand, u64)>);

/// Commands of units of work. Ended units with equal commands are merged, so that memory is bounded
/// by the number of different combinations.
#[derive(Debug, Default)]
pub(super) struct Units {
    open: HashMap<WorkUnit, UnitCommands>,
    /// Labels of open units.
    names: HashMap<WorkUnit, TextHandle>,
    /// Number of units, and nanoseconds of each command in all of them.
    patterns: HashMap<UnitPattern, (u64, Vec<u64>)>,
}

/// Units of work with equal commands.
#[derive(Debug)]
pub(super) struct UnitRow {
    /// Label of the request; `None` if unknown.
    pub(super) label: Option<TextHandle>,
    /// Number of units; 0 if unknown.
    pub(super) units: u64,
    /// Commands: statement, stack, number in each unit, and nanoseconds in all units.
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

    /// Adds a command. `unit`: the unit that ran it, if known.
    pub(super) fn add(
        &mut self,
        unit: Option<WorkUnit>,
        statement: TextHandle,
        stack: StackHandle,
        nanos: u64,
    ) {
        let ran = (statement, stack);
        let Some(unit) = unit else {
            self.fold(None, false, HashMap::from_iter([(ran, (1, nanos))]));
            return;
        };
        if self.open.len() >= MAX_UNITS && !self.open.contains_key(&unit) {
            self.fold_all();
        }
        let commands = self.open.entry(unit).or_default();
        let is_full = commands.len() >= MAX_COMMANDS && !commands.contains_key(&ran);
        if is_full {
            self.fold(None, false, HashMap::from_iter([(ran, (1, nanos))]));
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
            // Each command counts alone, as there are fewer commands than combinations.
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

    /// Returns the commands of all units, in a fixed order.
    pub(super) fn finish(mut self) -> Vec<UnitRow> {
        self.fold_all();
        let mut patterns: Vec<_> = self.patterns.into_iter().collect();
        patterns.sort_unstable();
        let row = |((label, is_unit, commands), (units, sums)): (UnitPattern, (u64, Vec<u64>))| {
            // Without a unit, each command is a row.
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
