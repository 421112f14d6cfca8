//! Tests of the readers on recorded files, which stand for `/proc` and `/sys/fs/cgroup`.

use super::process::{KeptFiles, Presence, ProcessReader};
use super::rows::{GroupLimits, HowEnded, Row, RowKind};
use super::system::System;
use std::fs;
use std::path::{Path, PathBuf};

/// Folder that is removed at the end.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Tree {
        let name = format!("nettrace-recorded-{name}-{}", std::process::id());
        let root = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("proc/self")).unwrap();
        Tree(root)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // In place, as files of /proc change, so that open ones see it.
        fs::write(path, text).unwrap();
    }

    /// Writes a thread that ran `ran` ns in `ticks` ticks, and had `faults` page faults.
    fn thread(&self, id: u64, name: &str, ran: u64, ticks: u64, faults: u64) {
        let folder = format!("proc/7/task/{id}");
        self.write(&format!("{folder}/schedstat"), &format!("{ran} 5 6\n"));
        self.write(&format!("{folder}/comm"), &format!("{name}\n"));
        self.write(&format!("{folder}/stat"), &stat(id, name, 'S', (faults, ticks), (2, 300)));
    }

    fn process(&self, threads: u64, ticks: u64, faults: u64) {
        self.write("proc/7/stat", &stat(7, "shop", 'S', (faults, ticks), (threads, 300)));
    }

    fn open(&self) -> ProcessReader {
        ProcessReader::open(&System::recorded(&self.0), 7, &mut KeptFiles(0)).unwrap()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn stat(
    id: u64,
    name: &str,
    state: char,
    (faults, ticks): (u64, u64),
    (threads, start): (u64, u64),
) -> String {
    let rest = ["0"; 27].join(" ");
    format!(
        "{id} ({name}) {state} 1 7 7 0 -1 0 100 0 {faults} 0 {ticks} 1 0 0 20 0 {threads} 0 {start} 4096 3 {rest} 35072\n"
    )
}

fn read(reader: &mut ProcessReader, is_named: bool) -> (Presence, Vec<Row>) {
    let mut rows = Vec::new();
    let presence = reader.read(&mut KeptFiles(100), (is_named, true), &mut rows);
    assert!(rows.is_sorted_by_key(|row| row.ticks));
    (presence, rows)
}

/// Returns what rows say, in short.
fn short(rows: &[Row]) -> Vec<String> {
    let row = |row: &Row| match &row.kind {
        RowKind::ThreadTime(time) => format!(
            "{} ran {} ready {} slices {} faults {}",
            time.thread, time.ran_ns, time.ready_ns, time.slices, time.major_faults
        ),
        RowKind::ThreadName { thread, name, born_ticks } => format!("{thread} {name} {born_ticks}"),
        RowKind::ThreadEnd { thread } => format!("{thread} ended"),
        RowKind::Process(total) => format!(
            "total {} {} faults {} bytes {} threads {}",
            total.user_ns, total.system_ns, total.major_faults, total.resident_bytes, total.threads
        ),
        RowKind::Group(group) => format!("group {} {}", group.level, group.path),
        other => format!("{other:?}"),
    };
    rows.iter().map(row).collect()
}

#[test]
fn a_round_has_the_threads_that_ran_and_the_whole_process() {
    let tree = Tree::new("round");
    tree.process(2, 40, 3);
    tree.thread(7, "shop", 250, 30, 1);
    tree.thread(8, "worker", 100, 10, 2);
    let mut reader = tree.open();
    let total = "total 400000000 10000000 faults 3 bytes 12288 threads 2";
    let (presence, rows) = read(&mut reader, false);
    assert_eq!(presence, Presence::Running);
    assert_eq!(
        {
            let mut first = short(&rows[..4]);
            first.sort();
            first
        },
        [
            "7 ran 250 ready 5 slices 6 faults 1",
            "7 shop 3000000000",
            "8 ran 100 ready 5 slices 6 faults 2",
            "8 worker 3000000000",
        ]
    );
    assert_eq!(short(&rows[4..]), [total]);
    // Threads that did not run have no row.
    assert_eq!(short(&read(&mut reader, false).1), [total]);
    tree.thread(8, "worker", 150, 11, 2);
    let rows = read(&mut reader, false).1;
    assert_eq!(short(&rows), ["8 ran 150 ready 5 slices 6 faults 2", total]);
    // Page faults are looked for when the process has had some.
    tree.thread(8, "worker", 160, 11, 5);
    tree.process(2, 40, 6);
    let rows = read(&mut reader, false).1;
    assert_eq!(short(&rows)[0], "8 ran 160 ready 5 slices 6 faults 5");
}

#[test]
fn a_thread_that_begins_is_found_and_one_that_ends_is_told() {
    let tree = Tree::new("threads");
    tree.process(1, 1, 0);
    tree.thread(7, "shop", 250, 30, 0);
    let mut reader = tree.open();
    read(&mut reader, false);
    tree.thread(9, "late", 10, 1, 0);
    tree.process(2, 1, 0);
    let rows = read(&mut reader, false).1;
    assert_eq!(short(&rows)[..2], ["9 late 3000000000", "9 ran 10 ready 5 slices 6 faults 0"]);
    assert_eq!(reader.kept_files(), 2);
    // An open file of a thread that has ended cannot be read; here a new one cannot be opened.
    let mut rows = Vec::new();
    let mut unkept = ProcessReader::open(&System::recorded(&tree.0), 7, &mut KeptFiles(9)).unwrap();
    unkept.read(&mut KeptFiles(0), (false, false), &mut rows);
    fs::remove_dir_all(tree.0.join("proc/7/task/9")).unwrap();
    tree.process(1, 1, 0);
    rows.clear();
    unkept.read(&mut KeptFiles(0), (false, false), &mut rows);
    assert_eq!(short(&rows)[0], "9 ended");
}

#[test]
fn a_number_that_falls_is_another_thread() {
    let tree = Tree::new("reused");
    tree.process(1, 1, 0);
    tree.thread(7, "shop", 250, 30, 0);
    let mut reader = tree.open();
    read(&mut reader, false);
    tree.thread(7, "other", 50, 1, 0);
    let rows = read(&mut reader, false).1;
    assert_eq!(
        short(&rows)[..3],
        ["7 ended", "7 other 3000000000", "7 ran 50 ready 5 slices 6 faults 0"]
    );
}

#[test]
fn names_are_read_again_when_a_thread_has_run() {
    let tree = Tree::new("names");
    tree.process(1, 1, 0);
    tree.thread(7, "dotnet", 250, 30, 0);
    let mut reader = tree.open();
    read(&mut reader, false);
    tree.thread(7, "Main", 260, 30, 0);
    assert!(!short(&read(&mut reader, false).1).iter().any(|row| row.contains("Main")));
    let rows = short(&read(&mut reader, true).1);
    assert_eq!(rows[0], "7 Main 3000000000");
    assert_eq!(read(&mut reader, true).1.len(), 1, "the name is told once");
}

#[test]
fn ticks_are_read_where_the_scheduler_does_not_count() {
    for schedstat in [None, Some("0 0 0\n")] {
        let tree = Tree::new("ticks");
        tree.process(1, 1, 0);
        tree.thread(7, "shop", 0, 30, 0);
        let path = "proc/7/task/7/schedstat";
        match schedstat {
            Some(text) => tree.write(path, text),
            None => fs::remove_file(tree.0.join(path)).unwrap(),
        }
        let rows = read(&mut tree.open(), false).1;
        assert_eq!(short(&rows)[1], "7 ran 310000000 ready 0 slices 0 faults 0", "{schedstat:?}");
    }
}

#[test]
fn threads_have_the_ids_that_the_process_knows() {
    let tree = Tree::new("namespace");
    tree.process(1, 1, 0);
    tree.write("proc/7/status", "Name:\tshop\nNSpid:\t7\t1\n");
    tree.thread(7, "shop", 250, 30, 0);
    tree.write("proc/7/task/7/status", "Name:\tshop\nNSpid:\t7\t1\n");
    let rows = short(&read(&mut tree.open(), false).1);
    assert_eq!(rows[..2], ["1 shop 3000000000", "1 ran 250 ready 5 slices 6 faults 0"]);
}

#[test]
fn a_process_that_ended_says_how_and_one_of_another_start_is_gone() {
    let tree = Tree::new("ended");
    tree.process(1, 1, 0);
    tree.thread(7, "shop", 250, 30, 0);
    let mut reader = tree.open();
    assert_eq!(read(&mut reader, false).0, Presence::Running);
    tree.write("proc/7/stat", &stat(7, "shop", 'Z', (0, 1), (2, 300)));
    let mut rows = Vec::new();
    assert_eq!(reader.read_total(&mut rows), Presence::Running, "its first thread has ended");
    assert_eq!(reader.end(), HowEnded::Unknown);
    tree.write("proc/7/stat", &stat(7, "shop", 'Z', (0, 90), (1, 300)));
    assert_eq!(reader.read_total(&mut rows), Presence::Ended);
    assert_eq!(short(&rows), ["total 900000000 10000000 faults 0 bytes 12288 threads 1"]);
    assert_eq!(reader.end(), HowEnded::Exited(137));
    rows.clear();
    assert_eq!(reader.read_total(&mut rows), Presence::Ended);
    assert_eq!(short(&rows), [""; 0], "nothing has changed");
    tree.write("proc/7/stat", &stat(7, "other", 'S', (0, 1), (1, 301)));
    assert_eq!(reader.read_total(&mut rows), Presence::Gone);
    assert!(
        ProcessReader::open(&System::recorded(Path::new("/nowhere")), 7, &mut KeptFiles(9))
            .is_err()
    );
}

fn groups(tree: &Tree) -> Vec<GroupLimits> {
    let rows = read(&mut tree.open(), false).1;
    rows.into_iter()
        .filter_map(|row| match row.kind {
            RowKind::Group(group) => Some(group),
            _ => None,
        })
        .collect()
}

#[test]
fn groups_of_version_2_are_read_up_to_the_root_of_the_mount() {
    let tree = Tree::new("v2");
    tree.process(1, 1, 0);
    tree.thread(7, "shop", 250, 30, 0);
    tree.write("proc/7/cgroup", "0::/kube/pod/shop\n");
    tree.write(
        "proc/self/mountinfo",
        "24 1 0:2 / /proc rw - proc proc rw\n31 23 0:28 /kube /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup rw,nsdelegate\n",
    );
    let at = "sys/fs/cgroup";
    let stat = "usage_usec 5\nnr_periods 30\nnr_throttled 12\nthrottled_usec 2970000\n";
    tree.write(&format!("{at}/pod/shop/cpu.stat"), "usage_usec 5\n");
    tree.write(&format!("{at}/pod/shop/cpu.max"), "max 100000\n");
    tree.write(&format!("{at}/pod/shop/memory.max"), "max\n");
    tree.write(&format!("{at}/pod/cpu.stat"), stat);
    tree.write(&format!("{at}/pod/cpu.max"), "150000 100000\n");
    tree.write(&format!("{at}/pod/memory.max"), "104857600\n");
    tree.write(&format!("{at}/pod/memory.events"), "low 0\noom 1\noom_kill 2\n");
    let none = |level, path: &str| GroupLimits {
        level,
        version: 2,
        path: path.to_owned(),
        ..GroupLimits::default()
    };
    assert_eq!(
        groups(&tree),
        [
            GroupLimits { period_ns: 100_000_000, ..none(0, "/kube/pod/shop") },
            GroupLimits {
                quota_ns: 150_000_000,
                period_ns: 100_000_000,
                periods: 30,
                throttled: 12,
                throttled_ns: 2_970_000_000,
                memory_limit: 104_857_600,
                oom_kills: 2,
                ..none(1, "/kube/pod")
            },
            none(2, "/kube"),
        ]
    );
    // A group outside of what can be seen.
    for outside in ["0::/../other\n", "0::/kubernetes/pod\n", ""] {
        tree.write("proc/7/cgroup", outside);
        assert_eq!(groups(&tree), [], "{outside}");
    }
}

#[test]
fn groups_of_version_1_have_other_units_and_other_words_for_none() {
    let tree = Tree::new("v1");
    tree.process(1, 1, 0);
    tree.thread(7, "shop", 250, 30, 0);
    tree.write("proc/7/cgroup", "9:name=systemd:/\n4:memory:/pod\n2:cpu,cpuacct:/pod\n0::/\n");
    tree.write(
        "proc/self/mountinfo",
        "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
    );
    let at = "sys/fs/cgroup/cpu,cpuacct";
    tree.write(&format!("{at}/pod/cpu.stat"), "nr_periods 9\nnr_throttled 4\nthrottled_time 77\n");
    tree.write(&format!("{at}/pod/cpu.cfs_quota_us"), "50000\n");
    tree.write(&format!("{at}/pod/cpu.cfs_period_us"), "100000\n");
    tree.write(&format!("{at}/cpu.cfs_quota_us"), "-1\n");
    let at = "sys/fs/cgroup/memory";
    tree.write(&format!("{at}/pod/memory.limit_in_bytes"), "9223372036854771712\n");
    tree.write(
        &format!("{at}/pod/memory.oom_control"),
        "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
    );
    tree.write(&format!("{at}/memory.limit_in_bytes"), "1048576\n");
    let group = |level, path: &str| GroupLimits {
        level,
        version: 1,
        path: path.to_owned(),
        ..GroupLimits::default()
    };
    assert_eq!(
        groups(&tree),
        [
            GroupLimits {
                quota_ns: 50_000_000,
                period_ns: 100_000_000,
                periods: 9,
                throttled: 4,
                throttled_ns: 77,
                oom_kills: 3,
                ..group(0, "/pod")
            },
            GroupLimits { memory_limit: 1_048_576, ..group(1, "/") },
        ]
    );
}

#[test]
fn a_group_is_told_again_only_when_it_has_changed() {
    let tree = Tree::new("changed");
    tree.process(1, 1, 0);
    tree.thread(7, "shop", 250, 30, 0);
    tree.write("proc/7/cgroup", "0::/a\\040b\n");
    tree.write("proc/self/mountinfo", "31 23 0:28 / /sys/my\\040groups rw - cgroup2 cgroup2 rw\n");
    tree.write("sys/my groups/cpu.stat", "nr_periods 1\n");
    let mut reader = tree.open();
    let told = |rows: Vec<Row>| short(&rows).iter().filter(|row| row.starts_with("group")).count();
    assert_eq!(told(read(&mut reader, false).1), 2);
    assert_eq!(told(read(&mut reader, false).1), 0);
    tree.write("sys/my groups/cpu.stat", "nr_periods 2\n");
    assert_eq!(told(read(&mut reader, false).1), 1);
}

#[test]
fn numbers_without_sense_are_left_out_and_nothing_panics() {
    let texts =
        ["", "\n", "7", "7 (", "7 (x) S", ") (", "-1 -1 -1\n", "99999999999999999999999 1 1\n"];
    for text in texts {
        let tree = Tree::new("hostile");
        tree.process(u64::MAX, u64::MAX, u64::MAX);
        tree.thread(7, "shop", u64::MAX, u64::MAX, u64::MAX);
        let mut reader = tree.open();
        read(&mut reader, true);
        for file in ["task/7/schedstat", "task/7/stat", "cgroup", "status"] {
            tree.write(&format!("proc/7/{file}"), text);
        }
        read(&mut reader, true);
        tree.write("proc/7/stat", text);
        assert_eq!(read(&mut reader, true).0, Presence::Gone);
        assert!(ProcessReader::open(&System::recorded(&tree.0), 7, &mut KeptFiles(9)).is_err());
    }
}

/// Writes the files of a group's processor limit in version 1.
fn limit_v1(tree: &Tree, folder: &str, quota_us: &str, [periods, throttled, ns]: [u64; 3]) {
    let stat = format!("nr_periods {periods}\nnr_throttled {throttled}\nthrottled_time {ns}\n");
    tree.write(&format!("{folder}/cpu.stat"), &stat);
    tree.write(&format!("{folder}/cpu.cfs_quota_us"), quota_us);
    tree.write(&format!("{folder}/cpu.cfs_period_us"), "100000\n");
}

/// Returns level, path, quota in milliseconds and throttled periods of each group.
fn quotas(tree: &Tree) -> Vec<(u32, String, u64, u64)> {
    let quota =
        |group: GroupLimits| (group.level, group.path, group.quota_ns / 1_000_000, group.throttled);
    groups(tree).into_iter().map(quota).collect()
}

#[test]
fn nested_groups_of_version_1_have_their_own_limits_each() {
    let tree = Tree::new("v1-nested");
    tree.process(1, 1, 0);
    tree.thread(7, "shop", 250, 30, 0);
    tree.write("proc/7/cgroup", "4:memory:/docker\n2:cpu,cpuacct:/docker/abc/app\n");
    tree.write(
        "proc/self/mountinfo",
        "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
    );
    let at = "sys/fs/cgroup/cpu,cpuacct";
    limit_v1(&tree, &format!("{at}/docker/abc/app"), "-1\n", [0, 0, 0]);
    limit_v1(&tree, &format!("{at}/docker/abc"), "50000\n", [30, 29, 2_970_000_000]);
    limit_v1(&tree, &format!("{at}/docker"), "150000\n", [30, 1, 5]);
    limit_v1(&tree, at, "-1\n", [0, 0, 0]);
    tree.write("sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "1048576\n");
    let level =
        |level, path: &str, quota_ms, throttled| (level, path.to_owned(), quota_ms, throttled);
    assert_eq!(
        quotas(&tree),
        [
            level(0, "/docker/abc/app", 0, 0),
            level(1, "/docker/abc", 50, 29),
            level(2, "/docker", 150, 1),
            level(3, "/", 0, 0),
        ]
    );
    // The memory's own group, which lies higher, is the lowest level.
    let memory: Vec<u64> = groups(&tree).iter().map(|group| group.memory_limit).collect();
    assert_eq!(memory, [1_048_576, 0, 0, 0]);
}

#[test]
fn a_container_sees_its_own_limit_at_the_mount_point_and_nothing_above() {
    // In version 1 with paths of the host, in version 1 and 2 with a namespace of control groups.
    for (own, root, kind, options, files) in [
        ("3:cpu:/docker/abc\n", "/docker/abc", "cgroup", "rw,cpu", 1),
        ("3:cpu:/\n", "/", "cgroup", "rw,cpu", 1),
        ("0::/\n", "/", "cgroup2", "rw,nsdelegate", 2),
        ("0::/kube/pod\n", "/kube/pod", "cgroup2", "rw", 2),
    ] {
        let tree = Tree::new("container");
        tree.process(1, 1, 0);
        tree.thread(7, "shop", 250, 30, 0);
        tree.write("proc/7/cgroup", own);
        let mount = format!("32 31 0:29 {root} /sys/fs/cgroup ro - {kind} cgroup {options}\n");
        tree.write("proc/self/mountinfo", &mount);
        if files == 1 {
            limit_v1(&tree, "sys/fs/cgroup", "25000\n", [9, 8, 7]);
        } else {
            tree.write("sys/fs/cgroup/cpu.max", "25000 100000\n");
            let stat = "nr_periods 9\nnr_throttled 8\nthrottled_usec 7\n";
            tree.write("sys/fs/cgroup/cpu.stat", stat);
        }
        assert_eq!(quotas(&tree), [(0, root.to_owned(), 25, 8)], "{own}");
    }
}

#[test]
fn of_nested_groups_of_version_2_each_level_has_its_limit() {
    let tree = Tree::new("v2-nested");
    tree.process(1, 1, 0);
    tree.thread(7, "shop", 250, 30, 0);
    tree.write("proc/7/cgroup", "1:name=systemd:/a\n0::/a/b/c\n");
    tree.write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    for (folder, quota, throttled) in [("a/b/c", "max", 0), ("a/b", "20000", 5), ("a", "80000", 1)]
    {
        let at = format!("sys/fs/cgroup/{folder}");
        tree.write(&format!("{at}/cpu.max"), &format!("{quota} 100000\n"));
        tree.write(&format!("{at}/cpu.stat"), &format!("nr_throttled {throttled}\n"));
    }
    let found: Vec<_> = quotas(&tree).into_iter().map(|group| (group.2, group.3)).collect();
    assert_eq!(found, [(0, 0), (20, 5), (80, 1), (0, 0)]);
}
