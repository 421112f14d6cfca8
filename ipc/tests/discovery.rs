//! Tests of the search for processes, in a `/proc` that is made for the test.
#![cfg(target_os = "linux")]

use nettrace_ipc::{Found, LeftBy, Listing, ProcessKind, Search, Unreachable};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

struct World {
    folder: PathBuf,
    sockets: Vec<UnixListener>,
}

struct Process<'w> {
    world: &'w World,
    pid: u32,
    start: u64,
    environment: Vec<String>,
    own_pid: Option<u32>,
    mounts: &'static str,
    maps: &'static str,
}

impl World {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("nt-world-{}-{number}", std::process::id()));
        fs::create_dir_all(folder.join("proc/self/ns")).unwrap();
        symlink("mnt:[1]", folder.join("proc/self/ns/mnt")).unwrap();
        fs::write(folder.join("proc/uptime"), "1000.00 1.00\n").unwrap();
        World { folder, sockets: Vec::new() }
    }

    fn directory(&self, name: &str) -> PathBuf {
        let directory = self.folder.join(name);
        fs::create_dir_all(&directory).unwrap();
        directory
    }

    fn socket(&mut self, directory: &Path, name: &str) -> PathBuf {
        let path = directory.join(name);
        self.sockets.push(UnixListener::bind(&path).unwrap());
        path
    }

    fn process(&self, pid: u32, start: u64) -> Process<'_> {
        let maps = "7f00-7f01 r-xp 0 00:00 0 /usr/share/dotnet/libcoreclr.so\n";
        Process {
            world: self,
            pid,
            start,
            environment: Vec::new(),
            own_pid: None,
            mounts: "mnt:[1]",
            maps,
        }
    }

    fn run(&self) -> Listing {
        Search::new().directory(self.folder.join("tmp")).proc(self.folder.join("proc")).run()
    }

    /// Returns the leftovers in the folder of the test. Sockets in `/tmp` are left out, because
    /// they belong to other programs.
    fn leftovers(&self) -> Vec<(u32, LeftBy)> {
        let listing = self.run();
        let ours = listing.leftovers.into_iter().filter(|left| left.path.starts_with(&self.folder));
        ours.map(|left| (left.pid, left.left_by)).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Process<'_> {
    fn env(mut self, name: &str, value: impl AsRef<Path>) -> Self {
        self.environment.push(format!("{name}={}", value.as_ref().display()));
        self
    }

    /// Turns the process into one in a container with this root directory.
    fn container(mut self, own_pid: u32, root: &Path) -> Self {
        (self.own_pid, self.mounts) = (Some(own_pid), "mnt:[2]");
        symlink(root, self.directory().join("root")).unwrap();
        self
    }

    fn directory(&self) -> PathBuf {
        self.world.directory(&format!("proc/{}", self.pid))
    }

    fn build(self) {
        let directory = self.directory();
        let fields =
            format!("({}) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {} 0 0", "dotnet", self.start);
        fs::write(directory.join("stat"), format!("{} {fields}\n", self.pid)).unwrap();
        let inner = self.own_pid.map_or(String::new(), |pid| format!("\t{pid}"));
        let status = format!("Name:\tdotnet\nUid:\t5\t5\t5\t5\nNSpid:\t{}{inner}\n", self.pid);
        fs::write(directory.join("status"), status).unwrap();
        fs::write(directory.join("environ"), self.environment.join("\0")).unwrap();
        fs::write(directory.join("cmdline"), "/usr/bin/dotnet\0exec\0/app/Shop.dll\0--port\x001\0")
            .unwrap();
        fs::write(directory.join("maps"), self.maps).unwrap();
        fs::create_dir_all(directory.join("ns")).unwrap();
        symlink(self.mounts, directory.join("ns/mnt")).unwrap();
        if self.own_pid.is_none() {
            symlink("/", directory.join("root")).unwrap();
        }
    }
}

fn only(listing: Listing) -> Found {
    assert_eq!(listing.processes.len(), 1, "{listing:?}");
    listing.processes.into_iter().next().unwrap()
}

#[test]
fn a_socket_whose_key_is_the_start_time_is_the_process_s() {
    let mut world = World::new();
    let directory = world.directory("tmp");
    let path = world.socket(&directory, "dotnet-diagnostic-901-5000-socket");
    world.process(901, 5000).env("TMPDIR", &directory).env("DOTNET_DiagnosticPorts", "/x").build();
    let found = only(world.run());
    assert_eq!((found.pid, found.own_pid, found.kind), (901, None, ProcessKind::Runtime));
    assert_eq!((found.name.as_str(), found.owner), ("Shop", Some(5)));
    assert_eq!(found.command_line.last().map(String::as_str), Some("1"));
    assert_eq!((found.ports.as_deref(), found.suspends_at_startup), (Some("/x"), true));
    assert_eq!(found.uptime.map(|uptime| uptime.as_secs()), Some(950));
    assert_eq!(found.endpoint.unwrap().path(), Some(path.as_path()));
}

#[test]
fn stale_and_recycled_sockets_are_distinguished_exactly() {
    let mut world = World::new();
    let directory = world.directory("tmp");
    world.socket(&directory, "dotnet-diagnostic-901-5000-socket");
    world.socket(&directory, "dotnet-diagnostic-902-5000-socket");
    world.socket(&directory, "dotnet-diagnostic-901-500-socket");
    world.process(901, 5000).env("TMPDIR", &directory).build();
    world.process(903, 7).build();
    let own = world.leftovers();
    assert_eq!(own, [(901, LeftBy::Recycled), (902, LeftBy::Gone)]);
    assert!(only_with(world.run(), 901).endpoint.is_ok());
}

/// Tests a runtime in an emulator, which sees another start time than `/proc` has.
#[test]
fn a_socket_with_another_key_is_the_processs_if_it_holds_its_other_end() {
    let mut world = World::new();
    let directory = world.directory("tmp");
    let own = std::process::id();
    let path = world.socket(&directory, &format!("dotnet-diagnostic-{own}-4996-socket"));
    world.process(own, 5000).env("TMPDIR", &directory).build();
    assert_eq!(only(world.run()).endpoint.unwrap().path(), Some(path.as_path()));
    assert!(world.leftovers().is_empty());
}

fn only_with(listing: Listing, pid: u32) -> Found {
    listing.processes.into_iter().find(|found| found.pid == pid).unwrap()
}

#[test]
fn processes_of_one_container_are_found_through_its_root_by_their_own_process_ids() {
    let mut world = World::new();
    let root = world.directory("container");
    let inside = world.directory("container/tmp");
    world.socket(&inside, "dotnet-diagnostic-1-5000-socket");
    world.socket(&inside, "dotnet-diagnostic-7-6000-socket");
    world.process(901, 5000).container(1, &root).build();
    world.process(902, 6000).container(7, &root).build();
    let listing = world.run();
    for (pid, own_pid, name) in
        [(901, 1, "dotnet-diagnostic-1-5000-socket"), (902, 7, "dotnet-diagnostic-7-6000-socket")]
    {
        let found = listing.processes.iter().find(|found| found.pid == pid).unwrap();
        assert_eq!(found.own_pid, Some(own_pid));
        assert!(found.root.ends_with(format!("proc/{pid}/root")));
        let path = found.endpoint.as_ref().unwrap().path().unwrap();
        assert!(path.ends_with(format!("proc/{pid}/root/tmp/{name}")), "{path:?}");
    }
}

#[test]
fn the_socket_of_a_container_that_shares_its_directory_is_not_left_behind() {
    let mut world = World::new();
    let (root, directory) = (world.directory("container"), world.directory("tmp"));
    symlink(&directory, root.join("tmp")).unwrap();
    world.socket(&directory, "dotnet-diagnostic-1-5000-socket");
    let own = std::process::id();
    world.process(own, 5000).container(1, &root).build();
    let listing = world.run();
    let found = only_with(listing, own);
    assert_eq!((found.own_pid, found.is_elsewhere), (Some(1), false));
    assert!(found.endpoint.is_ok());
    assert!(world.leftovers().is_empty());
}

#[test]
fn processes_with_roots_of_their_own_in_one_mount_namespace_are_both_found() {
    let mut world = World::new();
    for (pid, name) in [(901, "one"), (902, "other")] {
        let root = world.directory(name);
        let inside = world.directory(&format!("{name}/tmp"));
        world.socket(&inside, &format!("dotnet-diagnostic-{pid}-5000-socket"));
        world.process(pid, 5000).container(pid, &root).build();
    }
    let listing = world.run();
    for pid in [901, 902] {
        let found = listing.processes.iter().find(|found| found.pid == pid).unwrap();
        assert!(found.endpoint.is_ok(), "{found:?}");
    }
}

#[test]
fn reasons_are_given_where_there_is_no_socket() {
    let world = World::new();
    let directory = world.directory("tmp");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
    let missing = world.folder.join("missing");
    // Only its owner may write to it, who is not the user of the processes.
    let others = world.directory("others");
    fs::set_permissions(&others, fs::Permissions::from_mode(0o755)).unwrap();
    world
        .process(901, 1)
        .env("TMPDIR", &directory)
        .env("COMPlus_EnableDiagnostics_IPC", "0")
        .build();
    world.process(902, 1).env("TMPDIR", &missing).build();
    world.process(903, 1).env("TMPDIR", &directory).build();
    world.process(905, 1).env("TMPDIR", &others).build();
    let mut other = world.process(904, 1);
    other.maps = "7f00-7f01 r-xp 0 00:00 0 /usr/lib/libc.so.6\n";
    other.build();
    let reasons: Vec<Unreachable> =
        world.run().processes.into_iter().map(|found| found.endpoint.unwrap_err()).collect();
    let expected = [
        Unreachable::SwitchedOff("COMPlus_EnableDiagnostics_IPC=0".to_owned()),
        Unreachable::NoDirectory(missing),
        Unreachable::NoSocket(directory),
        Unreachable::Unwritable(others),
    ];
    assert_eq!(reasons, expected);
}

#[test]
fn a_router_is_found_beside_runtimes() {
    let mut world = World::new();
    let directory = world.directory("tmp");
    world.socket(&directory, "dotnet-diagnostic-dsrouter-901-1700000000-socket");
    world.process(901, 5000).env("TMPDIR", &directory).build();
    let found = only(world.run());
    assert_eq!((found.kind, found.endpoint.is_ok()), (ProcessKind::Router, true));
}

#[test]
fn a_process_whose_environment_cannot_be_read_is_unreadable() {
    let world = World::new();
    world.process(901, 1).build();
    fs::remove_file(world.folder.join("proc/901/environ")).unwrap();
    let found = only(world.run());
    assert!(matches!(found.endpoint, Err(Unreachable::Unreadable { owner: 5, .. })), "{found:?}");
}
