//! Against real runtimes: .NET Core 3.1, .NET 8, 9 and 10.
//!
//! `NETTRACE_PEERS` names the folder where the peers are unpacked (`net8`, `net9`, `net10`, `tools`, and
//! `net3/dotnetcore2` from the Python package of that name). Without it, or without one of them, tests say
//! that they skip.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nettrace_ipc::{
    AttachProfiler, Children, CollectCommand, Deadlines, Dump, DumpCommand, DumpType, Ending, Error,
    EventFilter, Found, Guid, HResult, Launch, LeftBy, Level, PerfMapType, Port, PortAddress, PortOptions,
    ProcessInfoCommand, Provider, Providers, Rundown, Runtime, Search, Session, SessionConfig,
    SetEnvironmentVariable, Startup, StartupProfiler, Unreachable,
};

/// A runtime to test against.
#[derive(Clone, Debug)]
struct Peer {
    major: u32,
    program: PathBuf,
    arguments: Vec<PathBuf>,
}

fn peers() -> Vec<Peer> {
    let Some(folder) = std::env::var_os("NETTRACE_PEERS").map(PathBuf::from) else {
        eprintln!("SKIPPED: NETTRACE_PEERS does not name a folder with runtimes");
        return Vec::new();
    };
    let all = [
        (
            3,
            folder.join("net3/dotnetcore2/bin/dotnet"),
            vec![folder.join("tools/workload-netstandard/workload.dll")],
        ),
        (8, folder.join("net8/workload"), vec![]),
        (9, folder.join("net9/workload"), vec![]),
        (10, folder.join("net10/dotnet"), vec![folder.join("tools/workload/workload.dll")]),
    ];
    let mut peers = Vec::new();
    for (major, program, arguments) in all {
        if program.exists() {
            peers.push(Peer { major, program, arguments });
        } else {
            eprintln!("SKIPPED: .NET {major} is not at {}", program.display());
        }
    }
    peers
}

/// Those with the Process command set.
fn modern_peers() -> Vec<Peer> {
    peers().into_iter().filter(|peer| peer.major >= 8).collect()
}

impl Peer {
    fn command(&self, folder: &Path, scenario: &str, seconds: u32) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(scenario).arg(seconds.to_string());
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder).env("TMPDIR", folder);
        command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1").env("LANG", "C.UTF-8");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }

    /// As a line for a shell.
    fn shell(&self, scenario: &str, seconds: u32) -> String {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        let words: Vec<String> = words.map(|word| format!("'{}'", word.display())).collect();
        format!("{} {scenario} {seconds}", words.join(" "))
    }

    fn start(&self, scenario: &str, seconds: u32) -> Running {
        let folder = Folder::new();
        let mut child = self.command(&folder.0, scenario, seconds).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.starts_with("ready"), ".NET {}: {line:?}", self.major);
        Running { child, output, folder, major: self.major }
    }
}

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("nt-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Running {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
    folder: Folder,
    major: u32,
}

impl Running {
    fn search(&self) -> Search {
        Search::new().directory(&self.folder.0)
    }

    fn found(&self) -> Found {
        self.search().process(self.child.id()).unwrap_or_else(|| panic!(".NET {} is not found", self.major))
    }

    fn runtime(&self) -> Runtime {
        self.found().runtime().unwrap().deadlines(hasty())
    }

    fn descriptors(&self) -> usize {
        descriptors(self.child.id())
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }

    /// Returns when every thread stands still.
    fn freeze(&self) {
        self.signal("STOP");
        let tasks = format!("/proc/{}/task", self.child.id());
        let stopped = |entry: std::fs::DirEntry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('T'))
        };
        while !std::fs::read_dir(&tasks).unwrap().flatten().all(stopped) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Still answers, and has no more descriptors than before.
    fn assert_unharmed(&mut self, before: usize) {
        if self.major >= 8 {
            self.runtime().info().unwrap();
        } else {
            assert!(self.runtime().info().unwrap_err().is_unknown_command());
        }
        let start = Instant::now();
        while self.descriptors() > before && start.elapsed() < Duration::from_secs(3) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(
            self.descriptors() <= before,
            ".NET {}: {} descriptors, {before} before",
            self.major,
            self.descriptors()
        );
        assert!(self.child.try_wait().unwrap().is_none());
    }

    /// Takes the standard input away and waits.
    fn finish(mut self) -> std::process::ExitStatus {
        drop(self.child.stdin.take());
        let status = self.child.wait().unwrap();
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        status
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

fn hasty() -> Deadlines {
    Deadlines {
        connect: Duration::from_secs(3),
        reply: Duration::from_secs(5),
        stop: Duration::from_secs(20),
        ..Deadlines::default()
    }
}

fn workload() -> Provider {
    Provider::new("Nettrace-Workload").unwrap().keywords(7).level(Level::Verbose)
}

fn config() -> SessionConfig {
    SessionConfig::new(Providers::new([workload()]).unwrap())
}

fn read_all(session: &mut Session) -> Vec<u8> {
    let mut bytes = Vec::new();
    session.read_to_end(&mut bytes).unwrap();
    bytes
}

/// Begins as a nettrace stream and ends with its end mark.
fn assert_whole(bytes: &[u8], context: &str) {
    assert!(bytes.starts_with(b"Nettrace"), "{context}: begins {:?}", &bytes[..bytes.len().min(16)]);
    assert!(bytes.ends_with(&[6, 1]), "{context}: ends {:?}", &bytes[bytes.len().saturating_sub(16)..]);
}

/// Whether the text occurs as UTF-16.
fn names(bytes: &[u8], text: &str) -> bool {
    let wanted: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[test]
fn processes_are_found_with_name_owner_and_uptime() {
    for peer in peers() {
        let target = peer.start("sleep", 0);
        let found = target.found();
        assert_eq!((found.name.as_str(), found.own_pid, found.told_to_suspend), ("workload", None, false));
        assert!(found.uptime.unwrap() < Duration::from_secs(60), "{:?}", found.uptime);
        assert_eq!(found.root, Path::new("/"));
        let socket = found.endpoint.unwrap();
        assert!(socket.path().unwrap().starts_with(&target.folder.0));
        // Without being told the directory: the process's own TMPDIR says it.
        assert!(Search::new().process(target.child.id()).unwrap().endpoint.is_ok());
        assert!(target.finish().success());
    }
}

#[test]
fn each_command_is_answered_and_harms_nothing() {
    for peer in modern_peers() {
        let major = peer.major;
        let mut target = peer.start("sleep", 0);
        let runtime = target.runtime();
        runtime.info().unwrap();
        let before = target.descriptors();
        for command in [ProcessInfoCommand::V1, ProcessInfoCommand::V2, ProcessInfoCommand::V3] {
            let info = runtime.info_by(command).unwrap();
            assert_eq!(info.pid, u64::from(target.child.id()));
            assert!(info.command_line.ends_with("sleep 0"), "{}", info.command_line);
        }
        assert_eq!(runtime.info().unwrap().version().map(|version| version.major), Some(major));
        assert_eq!(runtime.startup().unwrap(), Startup::Running);
        runtime.resume().unwrap();
        let environment = runtime.environment().unwrap();
        let home = environment.iter().find(|variable| variable.name == "HOME").unwrap();
        assert_eq!(home.value.as_deref(), target.folder.0.to_str());
        runtime
            .set_environment_variable(&SetEnvironmentVariable::set("NETTRACE_TEST", "a=b").unwrap())
            .unwrap();
        runtime.set_environment_variable(&SetEnvironmentVariable::unset("NETTRACE_TEST").unwrap()).unwrap();
        let missing =
            runtime.set_environment_variable(&SetEnvironmentVariable::unset("NETTRACE_NOPE").unwrap());
        assert_eq!(missing.unwrap_err().code(), Some(HResult::VARIABLE_NOT_FOUND));
        runtime.enable_perf_map(PerfMapType::PerfMap).unwrap();
        runtime.disable_perf_map().unwrap();
        let map = PathBuf::from(format!("/tmp/perf-{}.map", target.child.id()));
        assert!(map.exists());
        std::fs::remove_file(map).unwrap();
        let _ = std::fs::remove_file(format!("/tmp/perfinfo-{}.map", target.child.id()));
        let class = Guid::from_wire([7; 16]);
        let attach = runtime.attach_profiler(&AttachProfiler::new(class, "/none.so").unwrap());
        assert_eq!(attach.unwrap_err().code(), Some(HResult::MODULE_NOT_FOUND));
        runtime.startup_profiler(&StartupProfiler::new(class, "/none.so").unwrap()).unwrap();
        for command in [DumpCommand::V1, DumpCommand::V2, DumpCommand::V3] {
            let path = target.folder.0.join(format!("{command:?}.dmp"));
            let dump = Dump::new(path.to_str().unwrap(), DumpType::Normal).unwrap();
            runtime.write_dump_by(&dump, command).unwrap();
            assert!(std::fs::metadata(&path).unwrap().len() > 1_000_000);
            std::fs::remove_file(path).unwrap();
        }
        let nowhere = Dump::new("/nonexistent/d", DumpType::Normal).unwrap();
        match runtime.write_dump(&nowhere).unwrap_err() {
            Error::Refused { code, message, .. } => {
                assert_eq!(code, HResult::FAIL);
                assert!(message.unwrap().contains("/nonexistent/d"));
            }
            error => panic!("{error}"),
        }
        target.assert_unharmed(before + 2); // the perf map keeps its files open on some versions
        assert!(target.finish().success());
    }
}

#[test]
fn net_core_3_knows_sessions_and_dumps_only() {
    for peer in peers().into_iter().filter(|peer| peer.major == 3) {
        let mut target = peer.start("custom", 0);
        let runtime = target.runtime();
        let before = target.descriptors();
        assert!(runtime.info().unwrap_err().is_unknown_command());
        runtime.resume().unwrap();
        let provider = workload().filter(EventFilter::only([1]));
        let config = SessionConfig::new(Providers::new([provider]).unwrap()).stacks(false);
        let mut session = runtime.start(&config).unwrap();
        assert_eq!((session.command(), session.lost().len()), (CollectCommand::V2, 2));
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(session.stop().unwrap(), Ending::Stopped);
        assert_whole(&read_all(&mut session), "3.1");
        drop(session);
        let path = target.folder.0.join("d.dmp");
        let dump = Dump::new(path.to_str().unwrap(), DumpType::Normal).unwrap();
        match runtime.write_dump(&dump) {
            Ok(command) => assert_eq!(command, DumpCommand::V1),
            // Unpacked as a plain archive, its createdump cannot be run, which would harm the runtime.
            Err(error) => assert!(matches!(error, Error::Harmful { .. }), "{error}"),
        }
        target.assert_unharmed(before);
    }
}

#[test]
fn each_collect_tracing_streams_to_its_end_mark() {
    for peer in peers() {
        let mut target = peer.start("custom", 0);
        let runtime = target.runtime();
        runtime.start(&config()).unwrap().stop().unwrap();
        let before = target.descriptors();
        for command in CollectCommand::ALL {
            let context = format!(".NET {} {command:?}", peer.major);
            let known = command.id().since().unwrap() <= peer.major;
            match runtime.start_by(&config(), command) {
                Ok(mut session) => {
                    assert!(known, "{context}");
                    std::thread::sleep(Duration::from_millis(200));
                    assert_eq!(session.stop().unwrap(), Ending::Stopped, "{context}");
                    let bytes = read_all(&mut session);
                    assert_whole(&bytes, &context);
                    assert!(names(&bytes, "Nettrace-Workload"), "{context}");
                }
                Err(error) => assert!(!known && error.is_unknown_command(), "{context}: {error}"),
            }
        }
        target.assert_unharmed(before);
    }
}

#[test]
fn the_start_takes_the_lowest_command_and_says_what_is_lost() {
    for peer in modern_peers() {
        let target = peer.start("custom", 0);
        let runtime = target.runtime();
        let filtered = Providers::new([workload().filter(EventFilter::only([4]))]).unwrap();
        let config = SessionConfig::new(filtered).rundown(Rundown::Off);
        let session = runtime.start(&config).unwrap();
        let expected = match peer.major {
            10 => (CollectCommand::V5, 0),
            9 => (CollectCommand::V4, 1),
            _ => (CollectCommand::V2, 1),
        };
        assert_eq!((session.command(), session.lost().len()), expected);
        session.stop().unwrap();
    }
}

#[test]
fn a_stop_under_full_load_ends_whole() {
    for peer in peers() {
        let mut target = peer.start("throughput", 0);
        let runtime = target.runtime();
        runtime.start(&config()).unwrap().stop().unwrap();
        // A busy program opens files of its own for a while.
        std::thread::sleep(Duration::from_secs(1));
        let before = target.descriptors();
        for reader_stops in [true, false] {
            let mut session = runtime.start(&config()).unwrap();
            let bytes = if reader_stops {
                std::thread::sleep(Duration::from_millis(1500));
                assert_eq!(session.stop().unwrap(), Ending::Stopped);
                read_all(&mut session)
            } else {
                let stop = session.stop_handle();
                let stopper = std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(1500));
                    stop.stop()
                });
                let bytes = read_all(&mut session);
                assert_eq!(stopper.join().unwrap().unwrap(), Ending::Stopped);
                bytes
            };
            assert_whole(&bytes, &format!(".NET {}", peer.major));
            eprintln!(".NET {}: {} bytes, reader stops: {reader_stops}", peer.major, bytes.len());
            assert!(bytes.len() > 1_000_000);
        }
        target.assert_unharmed(before);
    }
}

#[test]
fn the_65th_session_is_refused_and_dropping_frees_all() {
    for peer in peers() {
        let mut target = peer.start("sleep", 0);
        let runtime = target.runtime();
        let small = config().buffer_megabytes(std::num::NonZeroU32::MIN).rundown(Rundown::Off);
        runtime.start(&small).unwrap().stop().unwrap();
        let before = target.descriptors();
        for _ in 0..2 {
            let sessions: Vec<Session> = (0..64).map(|_| runtime.start(&small).unwrap()).collect();
            let error = runtime.start(&small).unwrap_err();
            assert_eq!(error.code(), Some(HResult::FAIL), ".NET {}: {error}", peer.major);
            drop(sessions);
        }
        target.assert_unharmed(before);
    }
}

#[test]
fn a_killed_target_ends_the_stream_and_leaves_a_stale_socket() {
    for peer in peers() {
        let mut target = peer.start("custom", 0);
        let runtime = target.runtime();
        let mut session = runtime.start(&config()).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        target.signal("KILL");
        let bytes = read_all(&mut session);
        assert!(bytes.starts_with(b"Nettrace") && !bytes.ends_with(&[6, 1]));
        assert_eq!(session.ending(), Some(Ending::ByTarget));
        assert_eq!(session.stop().unwrap(), Ending::ByTarget);
        target.child.wait().unwrap();
        let start = Instant::now();
        assert!(matches!(runtime.info(), Err(Error::Io { .. })));
        assert!(start.elapsed() < Duration::from_secs(1));
        let listing = target.search().run();
        let pid = target.child.id();
        assert!(!listing.processes.iter().any(|found| found.pid == pid));
        assert!(
            listing.leftovers.iter().any(|left| left.pid == pid && left.left_by == LeftBy::Gone),
            "{listing:?}"
        );
    }
}

#[test]
fn a_terminated_target_ends_the_stream() {
    for peer in peers() {
        let mut target = peer.start("custom", 0);
        let mut session = target.runtime().start(&config()).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        target.signal("TERM");
        let bytes = read_all(&mut session);
        assert!(bytes.starts_with(b"Nettrace"));
        assert_eq!(session.ending(), Some(Ending::ByTarget));
        let whole = bytes.ends_with(&[6, 1]);
        eprintln!(".NET {}: whole after SIGTERM: {whole}", peer.major);
        if peer.major != 3 {
            assert_eq!(whole, peer.major < 10, ".NET {}", peer.major);
        }
        target.child.wait().unwrap();
    }
}

#[test]
fn a_target_that_is_being_exited_hands_over_its_rundown() {
    for peer in peers() {
        let mut target = peer.start("sleep", 0);
        let mut session = target.runtime().start(&config()).unwrap();
        drop(target.child.stdin.take());
        let bytes = read_all(&mut session);
        assert_whole(&bytes, &format!(".NET {}", peer.major));
        assert_eq!(session.ending(), Some(Ending::ByTarget));
        assert!(target.child.wait().unwrap().success());
    }
}

#[test]
fn a_frozen_target_costs_a_deadline_and_is_as_before_when_it_goes_on() {
    let short = Duration::from_millis(700);
    let deadlines = Deadlines {
        connect: short,
        reply: short,
        start: short,
        stop: short,
        drain: short,
        ..Deadlines::default()
    };
    for peer in peers() {
        let mut target = peer.start("custom", 0);
        let runtime = target.runtime().deadlines(deadlines);
        target.runtime().start(&config()).unwrap().stop().unwrap();
        let before = target.descriptors();
        let mut session = runtime.start(&config()).unwrap();
        target.freeze();
        let start = Instant::now();
        assert!(matches!(runtime.resume(), Err(Error::Deadline { .. })));
        assert!(matches!(runtime.start(&config()), Err(Error::Deadline { .. })));
        assert!(matches!(session.stop(), Err(Error::Deadline { .. })));
        assert!(start.elapsed() < short * 6, "{:?}", start.elapsed());
        let bytes = read_all(&mut session);
        assert_eq!(session.ending(), Some(Ending::Cut));
        assert!(bytes.starts_with(b"Nettrace"));
        drop(session);
        target.signal("CONT");
        // The start that was given up is carried out now, and stopped in the background.
        target.assert_unharmed(before);
        // No session was left behind, not even by the start that was given up.
        let runtime = target.runtime();
        let small = config().buffer_megabytes(std::num::NonZeroU32::MIN).rundown(Rundown::Off);
        let sessions: Vec<_> = (0..64).map(|_| runtime.start(&small)).collect();
        assert!(sessions.iter().all(Result::is_ok), ".NET {}", peer.major);
    }
}

#[test]
fn startup_is_traced_from_the_first_method() {
    for peer in modern_peers() {
        let folder = Folder::new();
        let command = peer.command(&folder.0, "sleep", 1);
        let mut launched = Launch::new(command).deadlines(hasty()).spawn().unwrap();
        let arrival = launched.next(Duration::from_secs(20)).unwrap().unwrap();
        assert_eq!(Some(arrival.pid), launched.pid().map(u64::from));
        let variables = arrival.runtime.environment().unwrap();
        assert!(
            !variables.iter().any(|variable| variable.name == "DOTNET_DiagnosticPorts"),
            "it is taken back"
        );
        assert_eq!(arrival.runtime.startup().unwrap(), Startup::Suspended);
        if peer.major < 10 {
            let perf_map = arrival.runtime.enable_perf_map(PerfMapType::PerfMap);
            assert!(matches!(perf_map, Err(Error::Harmful { .. })));
        }
        // JIT keyword, verbose: each method that is compiled.
        let runtime =
            Provider::new("Microsoft-Windows-DotNETRuntime").unwrap().keywords(0x10).level(Level::Verbose);
        let mut session = arrival
            .runtime
            .start(&SessionConfig::new(Providers::new([runtime]).unwrap()).rundown(Rundown::Off))
            .unwrap();
        arrival.runtime.resume().unwrap();
        let bytes = read_all(&mut session);
        assert_whole(&bytes, &format!(".NET {}", peer.major));
        assert!(names(&bytes, "Main"), ".NET {}: {} bytes", peer.major, bytes.len());
        assert!(launched.wait().unwrap().success());
    }
}

#[test]
fn a_launch_that_is_dropped_leaves_nobody_waiting() {
    for peer in modern_peers() {
        let folder = Folder::new();
        let mut command = Command::new("sh");
        let line = peer.shell("sleep", 1);
        command.arg("-c").arg(format!("{line} & {line}; wait; echo over > '{}'/over", folder.0.display()));
        command.env("TMPDIR", &folder.0).env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
        command.stdout(Stdio::null());
        let mut launched = Launch::new(command).spawn().unwrap();
        let arrival = launched.next(Duration::from_secs(20)).unwrap().unwrap();
        let over = folder.0.join("over");
        drop(arrival);
        drop(launched);
        let start = Instant::now();
        while !over.exists() {
            assert!(start.elapsed() < Duration::from_secs(15), ".NET {}: somebody still waits", peer.major);
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn grandchildren_are_resumed_or_traced() {
    for peer in modern_peers() {
        for children in [Children::Resume, Children::GiveOut] {
            let folder = Folder::new();
            let mut command = Command::new("sh");
            command.arg("-c").arg(format!("{} & {}; wait", peer.shell("cpu", 1), peer.shell("cpu", 2)));
            command.env("TMPDIR", &folder.0).env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
            command.stdout(Stdio::piped());
            let mut launched = Launch::new(command).children(children).deadlines(hasty()).spawn().unwrap();
            let mut readers = Vec::new();
            while let Some(arrival) = launched.next(Duration::from_secs(10)).unwrap() {
                let mut session = arrival.runtime.start(&config()).unwrap();
                arrival.runtime.resume().unwrap();
                readers.push(std::thread::spawn(move || read_all(&mut session)));
                if readers.len() == 2 {
                    break;
                }
            }
            let context = format!(".NET {} {children:?}", peer.major);
            assert_eq!(readers.len(), if children == Children::Resume { 1 } else { 2 }, "{context}");
            let mut output = launched.child().unwrap().stdout.take().unwrap();
            assert!(launched.wait().unwrap().success());
            for reader in readers {
                assert_whole(&reader.join().unwrap(), &context);
            }
            let mut text = String::new();
            output.read_to_string(&mut text).unwrap();
            assert_eq!(text.matches("done").count(), 2, "{context}: {text}");
        }
    }
}

#[test]
fn five_processes_come_to_one_port() {
    for peer in modern_peers() {
        let folder = Folder::new();
        let address = folder.0.join("port");
        let options = PortOptions { deadlines: hasty(), ..PortOptions::default() };
        let port = Port::listen(&PortAddress::parse(address.to_str().unwrap()).unwrap(), options).unwrap();
        let mut children: Vec<Child> = (0..5)
            .map(|_| {
                let mut command = peer.command(&folder.0, "sleep", 1);
                command.env("DOTNET_DiagnosticPorts", port.address()).stdout(Stdio::null());
                command.spawn().unwrap()
            })
            .collect();
        let mut pids = Vec::new();
        let mut sessions = Vec::new();
        for _ in 0..5 {
            let arrival = port.next(Duration::from_secs(20)).unwrap();
            let info = arrival.runtime.info().unwrap();
            assert_eq!((info.pid, info.cookie), (arrival.pid, arrival.cookie));
            assert_eq!(arrival.runtime.startup().unwrap(), Startup::Suspended);
            if peer.major < 10 {
                let perf_map = arrival.runtime.enable_perf_map(PerfMapType::PerfMap);
                assert!(matches!(perf_map, Err(Error::Harmful { .. })));
            }
            sessions.push(arrival.runtime.start(&config()).unwrap());
            arrival.runtime.resume().unwrap();
            pids.push(u32::try_from(arrival.pid).unwrap());
        }
        for mut session in sessions {
            std::thread::spawn(move || read_all(&mut session))
                .join()
                .map(|bytes| assert_whole(&bytes, "port"))
                .unwrap();
        }
        pids.sort_unstable();
        let mut expected: Vec<u32> = children.iter().map(Child::id).collect();
        expected.sort_unstable();
        assert_eq!(pids, expected);
        for child in &mut children {
            assert!(child.wait().unwrap().success());
        }
    }
}

#[test]
fn stopping_over_a_port_works_and_dropping_it_resumes() {
    for peer in modern_peers() {
        let folder = Folder::new();
        let address = folder.0.join("port");
        let port =
            Port::listen(&PortAddress::parse(address.to_str().unwrap()).unwrap(), PortOptions::default())
                .unwrap();
        let start = |seconds| {
            let mut command = peer.command(&folder.0, "sleep", seconds);
            command.env("DOTNET_DiagnosticPorts", port.address()).stdout(Stdio::null()).spawn().unwrap()
        };
        let (mut traced, mut waiting) = (start(30), start(1));
        let (first, second) =
            (port.next(Duration::from_secs(20)).unwrap(), port.next(Duration::from_secs(20)).unwrap());
        let arrival = if first.pid == u64::from(traced.id()) { first } else { second };
        let mut session = arrival.runtime.start(&config()).unwrap();
        arrival.runtime.resume().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(session.stop().unwrap(), Ending::Stopped);
        assert_whole(&read_all(&mut session), "port");
        drop(session);
        drop(arrival);
        drop(port);
        assert!(waiting.wait().unwrap().success(), "it was resumed by the drop");
        traced.kill().unwrap();
        traced.wait().unwrap();
    }
}

#[test]
fn names_cut_at_107_bytes_are_found_and_reached() {
    for peer in modern_peers() {
        for length in [70, 90, 110] {
            let folder = Folder::new();
            let mut long = folder.0.join("x");
            while long.as_os_str().len() < length {
                long.as_mut_os_string().push("x");
            }
            std::fs::create_dir_all(&long).unwrap();
            let mut command = peer.command(&folder.0, "sleep", 0);
            let mut child = command.env("TMPDIR", &long).spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            let found = Search::new().process(child.id()).unwrap();
            let context = format!(".NET {} {length}: {:?}", peer.major, found.endpoint);
            if length == 110 {
                assert_eq!(found.endpoint, Err(Unreachable::PathTooLong(long)), "{context}");
            } else {
                assert_eq!(found.runtime().unwrap().info().unwrap().pid, u64::from(child.id()), "{context}");
            }
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

#[test]
fn reasons_are_given_for_processes_without_socket() {
    for peer in modern_peers() {
        let folder = Folder::new();
        let none = folder.0.join("none");
        let cases: [(&str, String, Unreachable); 2] = [
            (
                "DOTNET_EnableDiagnostics",
                "0".to_owned(),
                Unreachable::SwitchedOff("DOTNET_EnableDiagnostics=0".to_owned()),
            ),
            ("TMPDIR", none.display().to_string(), Unreachable::NoDirectory(none.clone())),
        ];
        for (name, value, expected) in cases {
            let mut child = peer.command(&folder.0, "sleep", 0).env(name, value).spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            let found = Search::new().process(child.id()).unwrap();
            assert_eq!(found.endpoint, Err(expected), ".NET {}", peer.major);
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

#[test]
fn a_process_in_a_container_is_reached_through_its_root() {
    for peer in modern_peers() {
        let folder = Folder::new();
        // Own mount, process-id and /tmp: what a container has.
        let script = format!(
            "mount -t tmpfs none /tmp && mount -t proc none /proc && exec {}",
            peer.shell("sleep", 0)
        );
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", &script]);
        command.env_remove("TMPDIR").env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1").env("HOME", &folder.0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if !line.starts_with("ready") {
            eprintln!("SKIPPED: no namespaces here");
            child.wait().unwrap();
            return;
        }
        let listing = Search::new().run();
        let found = listing
            .processes
            .iter()
            .find(|found| found.own_pid == Some(1))
            .unwrap_or_else(|| panic!("{listing:?}"));
        assert!(found.root.starts_with("/proc"));
        let info = found.runtime().unwrap().info().unwrap();
        assert_eq!((info.pid, info.version().map(|version| version.major)), (1, Some(peer.major)));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn many_short_sessions_leak_no_descriptor_in_the_target() {
    for peer in peers() {
        let mut target = peer.start("custom", 0);
        let runtime = target.runtime();
        runtime.start(&config()).unwrap().stop().unwrap();
        let before = target.descriptors();
        for round in 0..20 {
            let mut session = runtime.start(&config().rundown(Rundown::Off)).unwrap();
            if round % 2 == 0 {
                session.stop().unwrap();
                assert_whole(&read_all(&mut session), "short");
            }
        }
        target.assert_unharmed(before);
    }
}
