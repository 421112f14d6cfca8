//! Reads what the operating system reports about the threads of a process.
//!
//! Linux has this in `/proc/PID/task/TID`. On other systems, and for processes of other machines or
//! namespaces, no data is available, and the output says so.

#[cfg(target_os = "linux")]
use super::proc::{self, SchedTimes, Stat, tick_ns};
use std::collections::BTreeMap;

/// Name of the threads of .NET 6 and later that take samples and send events.
const SESSION_THREAD: &str = ".NET EventPipe";

/// A thread, as the operating system sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OsThread {
    /// Id of the thread in the namespace of this command; in the namespace of the process it may
    /// have another.
    pub(crate) id: u64,
    pub(crate) name: String,
    /// Letter of the thread's state: R, S, D, T …
    pub(crate) state: char,
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    /// Processor time in nanoseconds, in user mode and in the kernel. It is more precise than their
    /// sum, which counts ticks, if the system has `schedstat`.
    pub(crate) cpu_ns: u64,
    /// Function of the kernel in which the thread sleeps, if the system shows it.
    pub(crate) kernel_function: Option<String>,
}

impl OsThread {
    /// Returns whether the runtime made the thread for sessions, of nettrace or of other tools.
    pub(crate) fn is_of_sessions(&self) -> bool {
        self.name == SESSION_THREAD
    }

    pub(crate) fn state_text(&self) -> &'static str {
        match self.state {
            'R' => "running",
            'S' => "sleeping",
            'D' => "in uninterruptible sleep",
            'T' => "stopped",
            't' => "stopped by a debugger",
            'Z' | 'X' | 'x' => "ended",
            'I' => "idle",
            'P' => "parked",
            _ => "unknown",
        }
    }
}

/// Returns whether all threads of a process are stopped, as by SIGSTOP or a debugger.
pub(crate) fn are_stopped<'t>(threads: impl IntoIterator<Item = &'t OsThread>) -> bool {
    let mut threads = threads.into_iter().peekable();
    threads.peek().is_some() && threads.all(|thread| matches!(thread.state, 'T' | 't'))
}

/// The threads of a process by their ids in the namespace of the process.
pub(crate) type OsThreads = BTreeMap<u64, OsThread>;

/// Returns the threads that a process has now.
///
/// # Errors
/// Why they cannot be listed, for the user.
#[cfg(target_os = "linux")]
pub(crate) fn list(pid: u64) -> Result<OsThreads, String> {
    let folder = std::path::PathBuf::from(format!("/proc/{pid}/task"));
    let entries = std::fs::read_dir(&folder)
        .map_err(|error| format!("{} cannot be read: {error}", folder.display()))?;
    let tick_ns = tick_ns();
    let mut threads = OsThreads::new();
    for entry in entries.flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // The thread may have ended since the folder was listed.
        if let Some((own_id, thread)) = read(&entry.path(), id, tick_ns) {
            threads.insert(own_id, thread);
        }
    }
    Ok(threads)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn list(_pid: u64) -> Result<OsThreads, String> {
    Err("only Linux tells names, states and CPU times of other processes' threads".to_owned())
}

#[cfg(target_os = "linux")]
fn read(folder: &std::path::Path, id: u64, tick_ns: u64) -> Option<(u64, OsThread)> {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let Stat { name, state, user_ticks, system_ticks, .. } = Stat::parse(&text("stat")?)?;
    // In a container the process knows its threads by other ids, which events contain.
    let own_id = text("status").as_deref().and_then(proc::own_id).unwrap_or(id);
    let kernel_function =
        text("wchan").filter(|name| !name.is_empty() && name != "0" && state != 'R');
    let [user_ns, system_ns] =
        [user_ticks, system_ticks].map(|ticks| ticks.saturating_mul(tick_ns));
    let exact = text("schedstat").and_then(|text| SchedTimes::parse(&text));
    let cpu_ns = exact.map_or(user_ns.saturating_add(system_ns), |times| times.ran_ns);
    Some((own_id, OsThread { id, name, state, user_ns, system_ns, cpu_ns, kernel_function }))
}

/// Returns the processor time of a process in nanoseconds, from the text of its `stat`.
#[cfg(target_os = "linux")]
pub(crate) fn cpu_of_stat(text: &str) -> Option<u64> {
    let stat = Stat::parse(text)?;
    Some(stat.user_ticks.saturating_add(stat.system_ticks).saturating_mul(tick_ns()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn our_own_threads_are_listed_with_their_names() {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let named = std::thread::Builder::new().name("os-thread-test".to_owned());
        let thread = named.spawn(move || stopped.recv().is_err()).unwrap();
        let is_there = || {
            let threads = list(u64::from(std::process::id())).unwrap();
            threads.values().any(|thread| thread.name == "os-thread-test")
        };
        while !is_there() {
            std::thread::yield_now();
        }
        drop(stop);
        assert!(thread.join().unwrap());
        assert!(list(u64::MAX).unwrap_err().starts_with("/proc/"));
    }
}
