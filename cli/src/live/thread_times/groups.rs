//! Reads the control groups of a process: its own and each above it, up to the root that can be
//! seen. Any of them may have the limit.

use super::process::KeptFiles;
use super::rows::{GroupLimits, Row, RowKind};
use super::system::{System, now_ns};
use crate::live::proc::ProcText;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Maximum number of levels that are read.
const MAX_LEVELS: usize = 16;
/// Smallest value of a limit of memory in version 1 that stands for none, in bytes: the largest
/// number of whole pages.
const MIN_UNLIMITED_BYTES: u64 = 1 << 62;

/// Groups of a process, from its own upwards.
#[derive(Debug, Default)]
pub(super) struct Groups {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    limits: GroupLimits,
    /// Folder with the files of the processor, and of the memory. Version 1 may have two.
    processor: Option<PathBuf>,
    memory: Option<PathBuf>,
    /// Open `cpu.stat`; `None` if it is opened each time.
    stat: Option<File>,
    is_written: bool,
}

/// A mounted hierarchy of groups.
#[derive(Debug)]
struct Mount {
    /// Group that is at the mount point.
    root: String,
    point: PathBuf,
    is_v2: bool,
    /// Controllers of version 1.
    controllers: String,
}

impl Groups {
    /// Finds the groups of the process with this folder below `/proc`.
    pub(super) fn of_process(system: &System, folder: &Path, kept: &mut KeptFiles) -> Groups {
        let read = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        let mounts = mounts(&read(system.path("proc/self/mountinfo")));
        let own = read(folder.join("cgroup"));
        let v1 = |controller: &str| {
            let path = own.lines().find_map(|line| {
                let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
                controllers.split(',').any(|name| name == controller).then_some(path)
            })?;
            let mut mounts = mounts.iter().filter(|mount| !mount.is_v2 && mount.has(controller));
            mounts.find_map(|mount| mount.folders(system, path))
        };
        let (processor, memory) = (v1("cpu"), v1("memory"));
        let levels = match (processor, memory) {
            (None, None) => {
                let path = own.lines().find_map(|line| line.strip_prefix("0::"));
                let mut mounts = mounts.iter().filter(|mount| mount.is_v2);
                let folders =
                    path.and_then(|path| mounts.find_map(|mount| mount.folders(system, path)));
                let folders = folders.unwrap_or_default().into_iter();
                folders
                    .map(|(path, folder)| (2, path, Some(folder.clone()), Some(folder)))
                    .collect()
            }
            (processor, memory) => {
                levels_v1(processor.unwrap_or_default(), memory.unwrap_or_default())
            }
        };
        let levels = levels.into_iter().zip(0..).take(MAX_LEVELS);
        let levels = levels.map(|((version, path, processor, memory), level)| Level {
            limits: GroupLimits { level, version, path, ..GroupLimits::default() },
            stat: open_stat(processor.as_ref()).and_then(|file| kept.keep(file)),
            processor,
            memory,
            is_written: false,
        });
        Groups { levels: levels.collect() }
    }

    /// Returns the number of descriptors that are kept of the [`KeptFiles`].
    pub(super) fn kept_files(&self) -> u64 {
        self.levels.iter().filter(|level| level.stat.is_some()).count() as u64
    }

    /// Pushes a row for each group that has changed. Limits, which hardly ever change, are read if
    /// `has_limits`, and the first time.
    pub(super) fn read(&mut self, text: &mut ProcText, has_limits: bool, rows: &mut Vec<Row>) {
        for level in &mut self.levels {
            let mut limits = level.limits.clone();
            level.read_throttling(text, &mut limits);
            if has_limits || !level.is_written {
                level.read_limits(&mut limits);
            }
            if !level.is_written || limits != level.limits {
                level.is_written = true;
                level.limits = limits.clone();
                rows.push(Row { ticks: now_ns(), kind: RowKind::Group(limits) });
            }
        }
    }
}

/// Version and path of a group, and its folders for the processor and the memory.
type GroupPlace = (u32, String, Option<PathBuf>, Option<PathBuf>);

/// Joins the groups of two hierarchies level by level.
fn levels_v1(processor: Vec<(String, PathBuf)>, memory: Vec<(String, PathBuf)>) -> Vec<GroupPlace> {
    let count = processor.len().max(memory.len());
    let (mut processor, mut memory) = (processor.into_iter(), memory.into_iter());
    let mut levels = Vec::new();
    for _ in 0..count {
        let (processor, memory) = (processor.next(), memory.next());
        let path = processor.as_ref().or(memory.as_ref()).map(|(path, _)| path.clone());
        let folder = |place: Option<(String, PathBuf)>| place.map(|(_, folder)| folder);
        levels.push((1, path.unwrap_or_default(), folder(processor), folder(memory)));
    }
    levels
}

/// Reads the mounts of control groups.
fn mounts(mountinfo: &str) -> Vec<Mount> {
    let mount = |line: &str| {
        let (front, back) = line.split_once(" - ")?;
        let mut fields = front.split(' ').skip(3);
        let (root, point) = (unescaped(fields.next()?), unescaped(fields.next()?));
        let mut back = back.split(' ');
        let kind = back.next()?;
        let controllers = back.nth(1)?.to_owned();
        let is_v2 = kind == "cgroup2";
        (is_v2 || kind == "cgroup").then(|| Mount {
            root,
            point: PathBuf::from(point),
            is_v2,
            controllers,
        })
    };
    mountinfo.lines().filter_map(mount).collect()
}

/// Returns a path of `mountinfo` with its spaces, tabs and backslashes.
fn unescaped(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

impl Mount {
    fn has(&self, controller: &str) -> bool {
        self.controllers.split(',').any(|name| name == controller)
    }

    /// Returns path and folder of a group and of each above it, as far as they can be seen.
    fn folders(&self, system: &System, group: &str) -> Option<Vec<(String, PathBuf)>> {
        // A group outside of the namespace has a path that leads out of it.
        let is_outside = group.split('/').any(|part| part == "..");
        let root = self.root.trim_end_matches('/');
        let below =
            group.strip_prefix(root).filter(|below| below.is_empty() || below.starts_with('/'));
        let below = below.filter(|_| !is_outside)?.trim_matches('/');
        let mut folders = Vec::new();
        let mut rest = Some(Path::new(below));
        while let Some(part) = rest {
            let folder = system.absolute(&self.point).join(part);
            let path = Path::new(if root.is_empty() { "/" } else { root }).join(part);
            folders.push((path.to_string_lossy().trim_end_matches('/').to_owned(), folder));
            rest = part.parent();
        }
        for (path, _) in &mut folders {
            if path.is_empty() {
                path.push('/');
            }
        }
        Some(folders)
    }
}

impl Level {
    fn read_throttling(&self, text: &mut ProcText, limits: &mut GroupLimits) {
        let opened = match &self.stat {
            Some(_) => None,
            None => open_stat(self.processor.as_ref()),
        };
        if let Some(file) = self.stat.as_ref().or(opened.as_ref())
            && let Ok(text) = text.read(file)
        {
            limits.periods = value(&text, "nr_periods").unwrap_or(0);
            limits.throttled = value(&text, "nr_throttled").unwrap_or(0);
            let micros = value(&text, "throttled_usec").map(|micros| micros.saturating_mul(1000));
            limits.throttled_ns = micros.or_else(|| value(&text, "throttled_time")).unwrap_or(0);
        }
    }

    fn read_limits(&self, limits: &mut GroupLimits) {
        let read = |folder: &Option<PathBuf>, name: &str| {
            std::fs::read_to_string(folder.as_ref()?.join(name)).ok()
        };
        let number =
            |folder: &Option<PathBuf>, name: &str| read(folder, name)?.trim().parse::<u64>().ok();
        if limits.version == 2 {
            let max = read(&self.processor, "cpu.max").unwrap_or_default();
            let mut max = max.split_whitespace();
            let mut micros = || max.next()?.parse::<u64>().ok();
            let (quota, period) = (micros(), micros());
            limits.quota_ns = quota.unwrap_or(0).saturating_mul(1000);
            limits.period_ns = period.unwrap_or(0).saturating_mul(1000);
            limits.memory_limit = number(&self.memory, "memory.max").unwrap_or(0);
            let events = read(&self.memory, "memory.events").unwrap_or_default();
            limits.oom_kills = value(&events, "oom_kill").unwrap_or(0);
        } else {
            // No limit is -1.
            let quota = number(&self.processor, "cpu.cfs_quota_us").unwrap_or(0);
            let period = number(&self.processor, "cpu.cfs_period_us").unwrap_or(0);
            limits.quota_ns = quota.saturating_mul(1000);
            limits.period_ns = period.saturating_mul(1000);
            let memory = number(&self.memory, "memory.limit_in_bytes");
            limits.memory_limit = memory.filter(|bytes| *bytes < MIN_UNLIMITED_BYTES).unwrap_or(0);
            let control = read(&self.memory, "memory.oom_control").unwrap_or_default();
            limits.oom_kills = value(&control, "oom_kill").unwrap_or(0);
        }
    }
}

fn open_stat(folder: Option<&PathBuf>) -> Option<File> {
    File::open(folder?.join("cpu.stat")).ok()
}

/// Returns the number behind a name, from lines of names and numbers.
fn value(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line?.trim().parse().ok()
}
