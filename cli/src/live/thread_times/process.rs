//! Reads what the system says about one process and its threads.

use super::groups::Groups;
use super::rows::{HowEnded, ProcessTotal, Row, RowKind, ThreadTime};
use super::system::{System, now_ns};
use crate::live::proc::{self, ProcText, SchedTimes, Stat};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Descriptors that may still be kept open.
#[derive(Debug)]
pub(super) struct KeptFiles(pub(super) u64);

impl KeptFiles {
    /// Returns an open file if it may stay open.
    pub(super) fn keep(&mut self, file: File) -> Option<File> {
        self.0 = self.0.checked_sub(1)?;
        Some(file)
    }
}

/// Reader of one process.
#[derive(Debug)]
pub(super) struct ProcessReader {
    folder: PathBuf,
    system: System,
    stat: File,
    /// Start of the process, by which another process with this id is told apart.
    start_ticks: u64,
    /// Whether the process knows its threads by other ids than this command.
    has_own_ids: bool,
    /// Threads by their ids here.
    threads: BTreeMap<u64, ThreadReader>,
    groups: Groups,
    major_faults: u64,
    total: ProcessTotal,
    end: HowEnded,
    text: ProcText,
    /// Rows of the current round whose thread has run, with the thread's id here.
    ran: Vec<(u64, usize)>,
}

/// Reader of one thread.
#[derive(Debug, Default)]
struct ThreadReader {
    /// Id in the namespace of the process.
    own_id: u64,
    /// Open `schedstat`; `None` if it is opened each time.
    file: Option<File>,
    /// Whether `stat` is read, because `schedstat` says nothing.
    uses_stat: bool,
    last: SchedTimes,
    major_faults: u64,
    name: String,
    /// Whether the thread has run since its name was read.
    has_run: bool,
}

/// What became of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Running,
    /// Its parent has not waited for it yet.
    Ended,
    Gone,
}

impl ProcessReader {
    /// Opens a process.
    ///
    /// # Errors
    /// The files of the process cannot be read.
    pub(super) fn open(
        system: &System,
        pid: u32,
        kept: &mut KeptFiles,
    ) -> io::Result<ProcessReader> {
        let folder = system.path(&format!("proc/{pid}"));
        let mut text = ProcText::default();
        let stat = File::open(folder.join("stat"))?;
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        let first = Stat::parse(&text.read(&stat)?).ok_or_else(invalid)?;
        // Where other users' processes are hidden, their folders have no threads to list.
        std::fs::read_dir(folder.join("task"))?;
        let status = std::fs::read_to_string(folder.join("status")).unwrap_or_default();
        let groups = Groups::of_process(system, &folder, kept);
        Ok(ProcessReader {
            folder,
            system: system.clone(),
            stat,
            start_ticks: first.start_ticks,
            has_own_ids: proc::has_own_ids(&status),
            threads: BTreeMap::new(),
            groups,
            major_faults: 0,
            total: ProcessTotal::default(),
            end: HowEnded::Unknown,
            text,
            ran: Vec::new(),
        })
    }

    /// Reads everything once. `is_named`: the names of threads that ran are read again, and the
    /// limits of groups. `is_grouped`: what groups were throttled is read.
    pub(super) fn read(
        &mut self,
        kept: &mut KeptFiles,
        (is_named, is_grouped): (bool, bool),
        rows: &mut Vec<Row>,
    ) -> Presence {
        let round_ticks = now_ns();
        self.ran.clear();
        self.read_threads(kept, is_named, rows);
        let stat = match self.read_stat() {
            Ok(stat) => stat,
            Err(presence) => return presence,
        };
        if stat.threads != self.threads.len() as u64 {
            self.find_threads(kept, rows);
        }
        if std::mem::replace(&mut self.major_faults, stat.major_faults) != stat.major_faults {
            self.read_faults(rows);
        }
        if is_grouped {
            self.groups.read(&mut self.text, is_named, rows);
        }
        self.push_total(&stat, round_ticks, rows);
        match stat.has_ended() {
            true => Presence::Ended,
            false => Presence::Running,
        }
    }

    /// Reads the numbers of the whole process only. Pushes a row if they have changed.
    pub(super) fn read_total(&mut self, rows: &mut Vec<Row>) -> Presence {
        let round_ticks = now_ns();
        match self.read_stat() {
            Ok(stat) => {
                let last = [self.total.user_ns, self.total.system_ns];
                if last != self.times_of(&stat) {
                    self.push_total(&stat, round_ticks, rows);
                }
                if stat.has_ended() { Presence::Ended } else { Presence::Running }
            }
            Err(presence) => presence,
        }
    }

    /// Returns how the process ended, as far as it is known.
    pub(super) fn end(&self) -> HowEnded {
        self.end
    }

    fn read_stat(&mut self) -> Result<Stat, Presence> {
        let text = self.text.read(&self.stat).map_err(|_| Presence::Gone)?;
        let stat = Stat::parse(&text).filter(|stat| stat.start_ticks == self.start_ticks);
        let stat = stat.ok_or(Presence::Gone)?;
        if stat.has_ended() && self.end == HowEnded::Unknown {
            // The status of other users' processes reads 0.
            let is_told = stat.wait_status != 0 || self.is_own();
            if is_told {
                self.end = HowEnded::from_wait_status(stat.wait_status);
            }
        }
        Ok(stat)
    }

    fn is_own(&self) -> bool {
        let own = rustix::process::geteuid().as_raw();
        own == 0 || std::fs::metadata(&self.folder).is_ok_and(|folder| folder.uid() == own)
    }

    fn push_total(&mut self, stat: &Stat, round_ticks: u64, rows: &mut Vec<Row>) {
        let [user_ns, system_ns] = self.times_of(stat);
        let total = ProcessTotal {
            round_ticks,
            user_ns,
            system_ns,
            major_faults: stat.major_faults,
            resident_bytes: stat.resident_pages.saturating_mul(self.system.page_bytes),
            threads: u32::try_from(stat.threads).unwrap_or(u32::MAX),
        };
        self.total = total;
        rows.push(Row { ticks: now_ns(), kind: RowKind::Process(total) });
    }

    fn times_of(&self, stat: &Stat) -> [u64; 2] {
        [stat.user_ticks, stat.system_ticks].map(|ticks| ticks.saturating_mul(self.system.tick_ns))
    }

    /// Reads all threads that are known.
    fn read_threads(&mut self, kept: &mut KeptFiles, is_named: bool, rows: &mut Vec<Row>) {
        let ProcessReader { folder, threads, text, system, ran, .. } = self;
        threads.retain(|id, thread| {
            let Ok(times) = thread.times(folder, *id, text, system) else {
                if thread.file.is_some() {
                    kept.0 = kept.0.saturating_add(1);
                }
                let kind = RowKind::ThreadEnd { thread: thread.own_id };
                rows.push(Row { ticks: now_ns(), kind });
                return false;
            };
            if times != thread.last {
                if times.ran_ns < thread.last.ran_ns {
                    // Another thread got the id.
                    thread.name.clear();
                    thread.major_faults = 0;
                    let kind = RowKind::ThreadEnd { thread: thread.own_id };
                    rows.push(Row { ticks: now_ns(), kind });
                    thread.push_name(folder, *id, text, system, rows);
                }
                thread.last = times;
                thread.has_run = true;
                ran.push((*id, rows.len()));
                rows.push(thread.row());
            }
            if is_named
                && std::mem::take(&mut thread.has_run)
                && !thread.has_name(folder, *id, text)
            {
                thread.push_name(folder, *id, text, system, rows);
            }
            true
        });
    }

    /// Looks for new threads, and reads them.
    fn find_threads(&mut self, kept: &mut KeptFiles, rows: &mut Vec<Row>) {
        let Ok(entries) = std::fs::read_dir(self.folder.join("task")) else { return };
        for entry in entries.flatten() {
            let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            if self.threads.contains_key(&id) {
                continue;
            }
            let ProcessReader { folder, text, system, .. } = self;
            let mut thread = ThreadReader { own_id: id, ..ThreadReader::default() };
            if self.has_own_ids {
                let status = std::fs::read_to_string(thread_path(folder, id, "status"));
                let Some(own_id) = status.ok().as_deref().and_then(proc::own_id) else { continue };
                thread.own_id = own_id;
            }
            let open = File::open(thread_path(folder, id, "schedstat"));
            thread.file = open.ok().and_then(|file| kept.keep(file));
            let before = rows.len();
            let has_name = thread.push_name(folder, id, text, system, rows);
            let Ok(times) = thread.times(folder, id, text, system) else {
                // It has ended since the folder was listed.
                rows.truncate(before);
                kept.0 = kept.0.saturating_add(u64::from(thread.file.is_some()));
                continue;
            };
            if has_name {
                thread.last = times;
                rows.push(thread.row());
                self.threads.insert(id, thread);
            }
        }
    }

    /// Reads the page faults of threads that ran in this round.
    fn read_faults(&mut self, rows: &mut [Row]) {
        let ProcessReader { folder, threads, text, ran, .. } = self;
        for (id, row) in ran.drain(..) {
            let Some(thread) = threads.get_mut(&id) else { continue };
            let Some(stat) = thread_stat(folder, id, text) else { continue };
            thread.major_faults = stat.major_faults;
            if let Some(Row { kind: RowKind::ThreadTime(time), .. }) = rows.get_mut(row) {
                time.major_faults = stat.major_faults;
            }
        }
    }

    /// Returns the number of descriptors that the reader has kept of the [`KeptFiles`].
    pub(super) fn kept_files(&self) -> u64 {
        let of_threads = self.threads.values().filter(|thread| thread.file.is_some()).count();
        self.groups.kept_files().saturating_add(of_threads as u64)
    }
}

impl ThreadReader {
    fn row(&self) -> Row {
        let time = ThreadTime {
            thread: self.own_id,
            ran_ns: self.last.ran_ns,
            ready_ns: self.last.ready_ns,
            slices: self.last.slices,
            major_faults: self.major_faults,
        };
        Row { ticks: now_ns(), kind: RowKind::ThreadTime(time) }
    }

    /// Reads what the thread ran.
    fn times(
        &mut self,
        folder: &std::path::Path,
        id: u64,
        text: &mut ProcText,
        system: &System,
    ) -> io::Result<SchedTimes> {
        if !self.uses_stat {
            let opened = match &self.file {
                Some(_) => None,
                None => Some(File::open(thread_path(folder, id, "schedstat"))),
            };
            let read = match (&self.file, opened) {
                (Some(file), _) => text.read(file),
                (None, Some(Ok(file))) => text.read(&file),
                (None, Some(Err(error))) => Err(error),
                (None, None) => Err(io::ErrorKind::NotFound.into()),
            };
            match read.map(|text| SchedTimes::parse(&text)) {
                Ok(Some(times)) if !times.is_zero() => return Ok(times),
                Ok(_) => {}
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Err(_) => {}
            }
        }
        // Without `schedstat`, and where the kernel does not count for it, `stat` has ticks.
        let stat = thread_stat(folder, id, text);
        let stat = stat.ok_or(io::ErrorKind::NotFound)?;
        let ticks = stat.user_ticks.saturating_add(stat.system_ticks);
        self.uses_stat |= ticks > 0;
        Ok(SchedTimes { ran_ns: ticks.saturating_mul(system.tick_ns), ready_ns: 0, slices: 0 })
    }

    /// Returns whether the thread still has the name that is known. Reads a file that takes the
    /// kernel a third of the time of `stat`.
    fn has_name(&self, folder: &std::path::Path, id: u64, text: &mut ProcText) -> bool {
        let file = File::open(thread_path(folder, id, "comm"));
        let name = file.and_then(|file| Ok(text.read(&file)?.trim_end_matches('\n') == self.name));
        name.unwrap_or(true)
    }

    /// Pushes the name of the thread if it is new. Returns whether the thread has one.
    fn push_name(
        &mut self,
        folder: &std::path::Path,
        id: u64,
        text: &mut ProcText,
        system: &System,
        rows: &mut Vec<Row>,
    ) -> bool {
        let Some(stat) = thread_stat(folder, id, text) else { return false };
        if stat.name != self.name || self.name.is_empty() {
            let ticks = now_ns();
            let born_ticks = system.born_ticks(stat.start_ticks).min(ticks);
            self.major_faults = stat.major_faults;
            self.name.clone_from(&stat.name);
            let kind = RowKind::ThreadName { thread: self.own_id, name: stat.name, born_ticks };
            rows.push(Row { ticks, kind });
        }
        true
    }
}

fn thread_path(folder: &std::path::Path, id: u64, name: &str) -> PathBuf {
    folder.join(format!("task/{id}/{name}"))
}

fn thread_stat(folder: &std::path::Path, id: u64, text: &mut ProcText) -> Option<Stat> {
    let file = File::open(thread_path(folder, id, "stat")).ok()?;
    Stat::parse(&text.read(&file).ok()?)
}
