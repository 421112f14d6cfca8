//! Tests with real runtimes that connect to ports, and with programs that are started.

use super::{
    MAX_WAIT, assert_whole, config, eventually, first_bytes, names, patient, read_all, read_rest,
};
use nettrace_ipc::{
    Children, Ending, Error, Launch, Level, PerfMapType, Port, PortAddress, PortOptions, Provider,
    Providers, Rundown, SessionConfig, Startup,
};
use nettrace_testdata::peers::{self, Folder};
use std::io::Read;
use std::process::{Child, Command, Stdio};

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn startup_is_traced_from_the_first_method() {
    peers::each(peers::modern(), |peer| {
        let folder = Folder::new();
        let command = peer.command(folder.path(), "sleep", 1);
        let mut launched = Launch::new(command).deadlines(patient()).spawn().unwrap();
        let arrival = launched.next(MAX_WAIT).unwrap().unwrap();
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
        let runtime = Provider::new("Microsoft-Windows-DotNETRuntime")
            .unwrap()
            .keywords(0x10)
            .level(Level::Verbose);
        let mut session = arrival
            .runtime
            .start(&SessionConfig::new(Providers::new([runtime]).unwrap()).rundown(Rundown::Off))
            .unwrap();
        arrival.runtime.resume().unwrap();
        let bytes = read_all(&mut session);
        assert_whole(&bytes, &format!(".NET {}", peer.major));
        assert!(names(&bytes, "Main"), ".NET {}: {} bytes", peer.major, bytes.len());
        assert!(launched.wait().unwrap().success());
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_launch_that_is_dropped_leaves_nobody_waiting() {
    peers::each(peers::modern(), |peer| {
        let folder = Folder::new();
        let mut command = Command::new("sh");
        let line = peer.shell("sleep", 1);
        command
            .arg("-c")
            .arg(format!("{line} & {line}; wait; echo over > '{}'/over", folder.path().display()));
        command.env("TMPDIR", folder.path()).env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
        command.stdout(Stdio::null());
        let mut launched = Launch::new(command).deadlines(patient()).spawn().unwrap();
        let arrival = launched.next(MAX_WAIT).unwrap().unwrap();
        let over = folder.path().join("over");
        drop(arrival);
        drop(launched);
        eventually(&format!(".NET {}: nobody waits", peer.major), || over.exists());
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn grandchildren_are_resumed_or_traced() {
    peers::each(peers::modern(), |peer| {
        for children in [Children::Resume, Children::GiveOut] {
            let folder = Folder::new();
            let mut command = Command::new("sh");
            command.arg("-c").arg(format!(
                "{} & {}; wait",
                peer.shell("cpu", 1),
                peer.shell("cpu", 2)
            ));
            command.env("TMPDIR", folder.path()).env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
            command.stdout(Stdio::piped());
            let mut launched =
                Launch::new(command).children(children).deadlines(patient()).spawn().unwrap();
            let mut readers = Vec::new();
            while let Some(arrival) = launched.next(MAX_WAIT).unwrap() {
                let mut session = arrival.runtime.start(&config()).unwrap();
                arrival.runtime.resume().unwrap();
                readers.push(std::thread::spawn(move || read_all(&mut session)));
                if readers.len() == 2 {
                    break;
                }
            }
            let context = format!(".NET {} {children:?}", peer.major);
            assert_eq!(
                readers.len(),
                if children == Children::Resume { 1 } else { 2 },
                "{context}"
            );
            let mut output = launched.child().unwrap().stdout.take().unwrap();
            assert!(launched.wait().unwrap().success());
            for reader in readers {
                assert_whole(&reader.join().unwrap(), &context);
            }
            let mut text = String::new();
            output.read_to_string(&mut text).unwrap();
            assert_eq!(text.matches("done").count(), 2, "{context}: {text}");
        }
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn five_processes_come_to_one_port() {
    peers::each(peers::modern(), |peer| {
        let folder = Folder::new();
        let address = folder.path().join("port");
        let mut options = PortOptions::default();
        options.deadlines = patient();
        let port =
            Port::listen(&PortAddress::parse(address.to_str().unwrap()).unwrap(), options).unwrap();
        let mut children: Vec<Child> = (0..5)
            .map(|_| {
                let mut command = peer.command(folder.path(), "sleep", 1);
                command.env("DOTNET_DiagnosticPorts", port.address()).stdout(Stdio::null());
                command.spawn().unwrap()
            })
            .collect();
        let mut pids = Vec::new();
        let mut sessions = Vec::new();
        for _ in 0..5 {
            let arrival = port.next(MAX_WAIT).unwrap();
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
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn stopping_over_a_port_works_and_dropping_it_resumes() {
    peers::each(peers::modern(), |peer| {
        let folder = Folder::new();
        let address = folder.path().join("port");
        let mut options = PortOptions::default();
        options.deadlines = patient();
        let port =
            Port::listen(&PortAddress::parse(address.to_str().unwrap()).unwrap(), options).unwrap();
        let start = |seconds| {
            let mut command = peer.command(folder.path(), "sleep", seconds);
            command
                .env("DOTNET_DiagnosticPorts", port.address())
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        };
        // One of them runs until it is killed.
        let (mut traced, mut waiting) = (start(0), start(1));
        let (first, second) = (port.next(MAX_WAIT).unwrap(), port.next(MAX_WAIT).unwrap());
        let arrival = if first.pid == u64::from(traced.id()) { first } else { second };
        let mut session = arrival.runtime.start(&config()).unwrap();
        arrival.runtime.resume().unwrap();
        let first = first_bytes(&mut session);
        assert_eq!(session.stop().unwrap(), Ending::Stopped);
        assert_whole(&read_rest(first, &mut session), "port");
        drop(session);
        drop(arrival);
        drop(port);
        assert!(waiting.wait().unwrap().success(), "it was resumed by the drop");
        traced.kill().unwrap();
        traced.wait().unwrap();
    });
}
