//! What a reading of a process says, row by row. `docs/thread-times.md` describes each.

use nettrace_analysis::fact::ProcessEnd;

/// Exit code that shells give a program that a signal has killed, without the number of the signal.
const SIGNAL_CODES: i32 = 128;

/// Row of the second stream, with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// Time of the reading in ticks of the first stream.
    pub(crate) ticks: u64,
    pub(crate) kind: RowKind,
}

/// Content of a row. Numbers count from the start of the thread, process or system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RowKind {
    ThreadTime(ThreadTime),
    ThreadName { thread: u64, name: String, born_ticks: u64 },
    ThreadEnd { thread: u64 },
    Process(ProcessTotal),
    Machine(MachineTotal),
    Group(GroupLimits),
    End(RecordingEnd),
}

/// Processor time of a thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ThreadTime {
    pub(crate) thread: u64,
    pub(crate) ran_ns: u64,
    pub(crate) ready_ns: u64,
    pub(crate) slices: u64,
    pub(crate) major_faults: u64,
}

/// Numbers of the whole process, which end a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ProcessTotal {
    /// Start of the round in ticks of the first stream.
    pub(crate) round_ticks: u64,
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) major_faults: u64,
    pub(crate) resident_bytes: u64,
    pub(crate) threads: u32,
}

/// What all processors of the machine did together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MachineTotal {
    pub(crate) processors: u32,
    /// User, nice, system, idle, waiting for disks, interrupts, soft interrupts, stolen by other
    /// virtual machines; in nanoseconds.
    pub(crate) times_ns: [u64; 8],
}

/// Limits of a control group on the way from the process to the root, and what they cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GroupLimits {
    /// Number of levels above the group of the process.
    pub(crate) level: u32,
    /// Version of control groups: 1 or 2.
    pub(crate) version: u32,
    pub(crate) path: String,
    /// Processor time that the group may take in each period; 0 for no limit.
    pub(crate) quota_ns: u64,
    pub(crate) period_ns: u64,
    pub(crate) periods: u64,
    pub(crate) throttled: u64,
    /// Time for which the group was throttled, added up over processors.
    pub(crate) throttled_ns: u64,
    /// Limit of memory in bytes; 0 for none.
    pub(crate) memory_limit: u64,
    pub(crate) oom_kills: u64,
}

/// How a recording ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RecordingEnd {
    pub(crate) end: HowEnded,
    /// EventSources that the options of the recording name.
    pub(crate) asked: Vec<String>,
    /// EventSources among `asked` that sent nothing.
    pub(crate) silent: Vec<String>,
    /// Whether the process was not held at its start for the session.
    pub(crate) is_attached: bool,
    pub(crate) cost: ReadingCost,
}

/// How the recorded process ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum HowEnded {
    /// It still ran, or it is not known how it ended.
    #[default]
    Unknown,
    Exited(i32),
    Killed(i32),
}

impl HowEnded {
    /// Returns how a program ended, of which the exit code of a shell is known.
    pub(crate) fn from_program(program: ProcessEnd) -> HowEnded {
        let code = i32::from(program.exit_code);
        match program.signal {
            Some(_) => HowEnded::Killed(code - SIGNAL_CODES),
            None => HowEnded::Exited(code),
        }
    }

    /// Reads the status that `wait` returns.
    pub(crate) fn from_wait_status(status: u32) -> HowEnded {
        let low = |bits: u32| i32::try_from(bits & 0xFF).unwrap_or(0);
        match status & 0x7F {
            0 => HowEnded::Exited(low(status >> 8)),
            signal => HowEnded::Killed(low(signal)),
        }
    }
}

/// What the readings of a recording took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReadingCost {
    /// The last interval between two rounds.
    pub(crate) interval_ns: u64,
    pub(crate) rounds: u64,
    /// Processor time of all rounds.
    pub(crate) cost_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_of_wait_is_an_exit_code_or_a_signal() {
        assert_eq!(HowEnded::from_wait_status(0), HowEnded::Exited(0));
        assert_eq!(HowEnded::from_wait_status(3 << 8), HowEnded::Exited(3));
        assert_eq!(HowEnded::from_wait_status(9), HowEnded::Killed(9));
        assert_eq!(HowEnded::from_wait_status(0x80 | 11), HowEnded::Killed(11));
    }
}
