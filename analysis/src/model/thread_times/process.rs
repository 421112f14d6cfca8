//! Numbers of the process, the machine and the control groups beside the readings of threads.

use nettrace_parser::Event;

/// Totals of a process at the end of a round of readings. Times and faults include those of threads
/// that have ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessTotal {
    /// Time of the total, in nanoseconds since the session's start.
    pub nanos: i64,
    /// Processor time outside of the kernel, in nanoseconds.
    pub user_ns: u64,
    /// Processor time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Number of pages that had to be read from a disk.
    pub major_faults: u64,
    /// Memory that the process has, in bytes.
    pub resident_bytes: u64,
    /// Number of threads.
    pub threads: u32,
}

impl ProcessTotal {
    /// Returns the processor time in nanoseconds.
    pub fn ran_ns(&self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }
}

/// Totals of all processors of the machine since it started, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MachineTotal {
    /// Time of the total, in nanoseconds since the session's start.
    pub nanos: i64,
    /// Number of processors that are online.
    pub processors: u32,
    /// Time of all processes outside of the kernel.
    pub user_ns: u64,
    /// Time of processes with a low priority.
    pub nice_ns: u64,
    /// Time in the kernel.
    pub system_ns: u64,
    /// Time in which nothing ran.
    pub idle_ns: u64,
    /// Time in which nothing ran while a disk worked.
    pub io_wait_ns: u64,
    /// Time of hardware interrupts.
    pub irq_ns: u64,
    /// Time of software interrupts.
    pub soft_irq_ns: u64,
    /// Time that the host of a virtual machine gave to others.
    pub steal_ns: u64,
}

/// Limits of a control group, and what they took from its processes so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupLimits {
    /// Time of the reading, in nanoseconds since the session's start.
    pub nanos: i64,
    /// 0 for the process's own group, 1 for its parent, and so on.
    pub level: u32,
    /// Version of control groups: 1 or 2.
    pub version: u32,
    /// Path of the group.
    pub path: String,
    /// Processor time that the group may take in a period, in nanoseconds; `None` without a limit.
    pub quota_ns: Option<u64>,
    /// Length of a period, in nanoseconds; `None` without a limit.
    pub period_ns: Option<u64>,
    /// Number of periods in which the group had something to run.
    pub periods: u64,
    /// Number of periods in which the group was throttled.
    pub throttled: u64,
    /// Time in which the group was throttled, in nanoseconds, added up over processors.
    pub throttled_ns: u64,
    /// Memory that the group may take, in bytes; `None` without a limit.
    pub memory_limit_bytes: Option<u64>,
    /// Number of processes that were killed because there was no memory.
    pub oom_kills: u64,
}

/// How a recording ended, and what it cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordingEnd {
    /// Exit code of the process; `None` if it still ran, a signal killed it, or this is not known.
    pub exit_code: Option<i32>,
    /// Number of the signal that killed the process; `None` if none did, or this is not known.
    pub signal: Option<i32>,
    /// Names of the EventSources that were asked for.
    pub asked: Vec<String>,
    /// Names of those that sent nothing.
    pub silent: Vec<String>,
    /// Whether the process was not held at its start for the session, so that what it did before
    /// is not of the session. `false` if this is not known.
    pub is_attached: bool,
    /// Version of the command that recorded.
    pub version: String,
    /// Time between two rounds of readings at the end, in nanoseconds.
    pub interval_ns: u64,
    /// Number of rounds.
    pub rounds: u64,
    /// Processor time that the readings took, in nanoseconds.
    pub cost_ns: u64,
}

/// Maximum length of a text, in bytes.
pub(super) const MAX_TEXT_BYTES: usize = 4096;
/// Maximum number of names in a list.
const MAX_NAMES: usize = 1024;

/// Returns the value of a field; 0 if it is missing.
pub(super) fn number(event: &Event<'_>, name: &str) -> u64 {
    event.field(name).and_then(|value| value.as_u64()).unwrap_or(0)
}

/// Reads a limit, which is stored as 0 if there is none.
fn limit(event: &Event<'_>, name: &str) -> Option<u64> {
    Some(number(event, name)).filter(|limit| *limit > 0)
}

/// Returns the value of a field of 32 bits; 0 if it is missing or does not fit.
fn small(event: &Event<'_>, name: &str) -> u32 {
    u32::try_from(number(event, name)).unwrap_or(0)
}

/// Returns the text of a field, cut to a bound; empty if it is missing.
pub(super) fn text(event: &Event<'_>, name: &str) -> String {
    let text = event.field(name).and_then(|value| value.to_text()).unwrap_or_default();
    let end = text.char_indices().map(|(at, _)| at).find(|at| *at >= MAX_TEXT_BYTES);
    end.and_then(|end| text.get(..end)).unwrap_or(&text).to_owned()
}

/// Returns the lines of a text field.
fn names(event: &Event<'_>, name: &str) -> Vec<String> {
    let text = event.field(name).and_then(|value| value.to_text()).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.is_empty()).take(MAX_NAMES);
    lines.map(str::to_owned).collect()
}

impl ProcessTotal {
    pub(super) fn from_event(event: &Event<'_>, nanos: i64) -> ProcessTotal {
        ProcessTotal {
            nanos,
            user_ns: number(event, "UserNS"),
            system_ns: number(event, "SystemNS"),
            major_faults: number(event, "MajorFaults"),
            resident_bytes: number(event, "ResidentBytes"),
            threads: small(event, "Threads"),
        }
    }
}

impl MachineTotal {
    pub(super) fn from_event(event: &Event<'_>, nanos: i64) -> MachineTotal {
        MachineTotal {
            nanos,
            processors: small(event, "Processors"),
            user_ns: number(event, "UserNS"),
            nice_ns: number(event, "NiceNS"),
            system_ns: number(event, "SystemNS"),
            idle_ns: number(event, "IdleNS"),
            io_wait_ns: number(event, "IoWaitNS"),
            irq_ns: number(event, "IrqNS"),
            soft_irq_ns: number(event, "SoftIrqNS"),
            steal_ns: number(event, "StealNS"),
        }
    }
}

impl GroupLimits {
    pub(super) fn from_event(event: &Event<'_>, nanos: i64) -> GroupLimits {
        GroupLimits {
            nanos,
            level: small(event, "Level"),
            version: small(event, "Version"),
            path: text(event, "Path"),
            quota_ns: limit(event, "QuotaNS"),
            period_ns: limit(event, "PeriodNS"),
            periods: number(event, "Periods"),
            throttled: number(event, "Throttled"),
            throttled_ns: number(event, "ThrottledNS"),
            memory_limit_bytes: limit(event, "MemoryLimit"),
            oom_kills: number(event, "OomKills"),
        }
    }
}

impl RecordingEnd {
    pub(super) fn from_event(event: &Event<'_>) -> RecordingEnd {
        let status = event.field("Status").and_then(|value| i32::try_from(value.as_i64()?).ok());
        let ended = small(event, "Ended");
        RecordingEnd {
            exit_code: status.filter(|_| ended == 1),
            signal: status.filter(|_| ended == 2),
            asked: names(event, "Asked"),
            silent: names(event, "Silent"),
            is_attached: small(event, "Attached") == 1,
            version: text(event, "Version"),
            interval_ns: number(event, "IntervalNS"),
            rounds: number(event, "Rounds"),
            cost_ns: number(event, "CostNS"),
        }
    }
}
