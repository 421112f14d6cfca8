//! The system whose files are read, and its clocks.

use super::rows::{MachineTotal, Row, RowKind};
use crate::live::proc::ProcText;
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Returns the time of the clock that .NET traces have on Linux, in nanoseconds.
pub(crate) fn now_ns() -> u64 {
    nanos(ClockId::Monotonic)
}

/// Returns the processor time of this thread in nanoseconds.
pub(super) fn own_cpu_ns() -> u64 {
    nanos(ClockId::ThreadCPUTime)
}

fn nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// Place of the files, and the units of their numbers.
#[derive(Debug, Clone)]
pub(super) struct System {
    /// The folder that stands for `/`.
    root: PathBuf,
    pub(super) tick_ns: u64,
    pub(super) page_bytes: u64,
    /// Time that the clock of boots is ahead of the clock of traces, which stands still in sleep.
    asleep_ns: u64,
}

impl System {
    /// Returns the running system.
    pub(super) fn running() -> System {
        System {
            root: PathBuf::from("/"),
            tick_ns: crate::live::proc::tick_ns(),
            page_bytes: rustix::param::page_size() as u64,
            asleep_ns: nanos(ClockId::Boottime).saturating_sub(now_ns()),
        }
    }

    /// Returns recorded files below `root`, with ticks of 10 ms and pages of 4 KiB.
    #[cfg(test)]
    pub(super) fn recorded(root: &Path) -> System {
        System { root: root.to_owned(), tick_ns: 10_000_000, page_bytes: 4096, asleep_ns: 0 }
    }

    /// Returns the path of a file; `path` begins without a slash.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Returns the path of a file whose absolute path is known.
    pub(super) fn absolute(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Converts ticks since the system started to ticks of a trace.
    pub(super) fn born_ticks(&self, start_ticks: u64) -> u64 {
        start_ticks.saturating_mul(self.tick_ns).saturating_sub(self.asleep_ns)
    }
}

/// Reader of what all processors did.
#[derive(Debug, Default)]
pub(super) struct Machine {
    file: Option<File>,
    tick_ns: u64,
    text: ProcText,
}

impl Machine {
    pub(super) fn open(system: &System) -> Machine {
        let file = File::open(system.path("proc/stat")).ok();
        Machine { file, tick_ns: system.tick_ns, text: ProcText::default() }
    }

    /// Reads the numbers now; `None` where the system does not tell.
    pub(super) fn read(&mut self) -> Option<Row> {
        let text = self.text.read(self.file.as_ref()?).ok()?;
        let total = machine_total(&text, self.tick_ns)?;
        Some(Row { ticks: now_ns(), kind: RowKind::Machine(total) })
    }
}

/// Reads the lines of `/proc/stat` that begin with `cpu`.
fn machine_total(text: &str, tick_ns: u64) -> Option<MachineTotal> {
    let mut lines = text.lines().take_while(|line| line.starts_with("cpu"));
    let mut numbers = lines.next()?.strip_prefix("cpu ")?.split_whitespace().map(str::parse::<u64>);
    let mut total = MachineTotal::default();
    for time in &mut total.times_ns {
        // Old kernels have fewer numbers.
        *time = numbers.next().and_then(Result::ok).unwrap_or(0).saturating_mul(tick_ns);
    }
    total.processors = u32::try_from(lines.count()).unwrap_or(u32::MAX);
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted_and_their_times_are_those_of_the_first_line() {
        let text = "cpu  10 1 20 300 4 5 6 7 0 0\ncpu0 5 0 9 1 1 1 1 1 0 0\ncpu1 5 0 9 1 1 1 1 1 0 0\nintr 5 cpu\n";
        let total = machine_total(text, 10).unwrap();
        assert_eq!(total.processors, 2);
        assert_eq!(total.times_ns, [100, 10, 200, 3000, 40, 50, 60, 70]);
        assert_eq!(machine_total("intr 5\n", 10), None);
    }

    #[test]
    fn a_birth_is_on_the_clock_of_traces() {
        let mut system = System::recorded(Path::new("/nowhere"));
        system.asleep_ns = 5;
        assert_eq!(system.born_ticks(3), 29_999_995);
        assert_eq!(system.absolute(Path::new("/sys/fs")), Path::new("/nowhere/sys/fs"));
    }
}
