//! Tests that the search finds real processes, or tells the reason why they cannot be reached.

use super::{patient, start};
use nettrace_ipc::{Search, Unreachable};
use nettrace_testdata::peers::{self, Folder};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn processes_are_found_with_name_owner_and_uptime() {
    peers::each(peers::all(), |peer| {
        let begin = Instant::now();
        let target = start(peer, "sleep", 0);
        let found = target.found();
        assert_eq!(
            (found.name.as_str(), found.own_pid, found.suspends_at_startup),
            ("workload", None, false)
        );
        // The system counts the time in hundredths of a second.
        let longest = begin.elapsed() + Duration::from_secs(60);
        assert!(found.uptime.unwrap() < longest, "{:?}", found.uptime);
        assert_eq!(found.root, Path::new("/"));
        let socket = found.endpoint.unwrap();
        assert!(socket.path().unwrap().starts_with(target.folder.path()));
        // Here the directory is no argument: it comes from the process's own TMPDIR.
        assert!(Search::new().process(target.pid()).unwrap().endpoint.is_ok());
        assert!(target.finish().success());
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn names_cut_at_107_bytes_are_found_and_reached() {
    peers::each(peers::modern(), |peer| {
        for length in [70, 90, 110] {
            let folder = Folder::new();
            let mut long = folder.path().join("x");
            while long.as_os_str().len() < length {
                long.as_mut_os_string().push("x");
            }
            std::fs::create_dir_all(&long).unwrap();
            let mut command = peer.command(folder.path(), "sleep", 0);
            let mut child = command.env("TMPDIR", &long).spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            let found = Search::new().process(child.id()).unwrap();
            let context = format!(".NET {} {length}: {:?}", peer.major, found.endpoint);
            if length == 110 {
                assert_eq!(found.endpoint, Err(Unreachable::PathTooLong(long)), "{context}");
            } else {
                let runtime = found.runtime().unwrap().deadlines(patient());
                assert_eq!(runtime.info().unwrap().pid, u64::from(child.id()), "{context}");
            }
            child.kill().unwrap();
            child.wait().unwrap();
        }
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn reasons_are_given_for_processes_without_socket() {
    peers::each(peers::modern(), |peer| {
        let folder = Folder::new();
        let none = folder.path().join("none");
        let cases: [(&str, String, Unreachable); 2] = [
            (
                "DOTNET_EnableDiagnostics",
                "0".to_owned(),
                Unreachable::SwitchedOff("DOTNET_EnableDiagnostics=0".to_owned()),
            ),
            ("TMPDIR", none.display().to_string(), Unreachable::NoDirectory(none.clone())),
        ];
        for (name, value, expected) in cases {
            let mut child =
                peer.command(folder.path(), "sleep", 0).env(name, value).spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            let found = Search::new().process(child.id()).unwrap();
            assert_eq!(found.endpoint, Err(expected), ".NET {}", peer.major);
            child.kill().unwrap();
            child.wait().unwrap();
        }
    });
}

/// Returns the parent of a process. It tells the containers of the test from others on this
/// machine.
fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split_whitespace().nth(1)?.parse().ok()
}

mod with_namespaces {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_PEERS and namespaces"]
    fn a_process_in_a_container_is_reached_through_its_root() {
        peers::each(peers::modern(), |peer| {
            let folder = Folder::new();
            // The process has its own mounts, process ids and /tmp, like a container.
            let script = format!(
                "mount -t tmpfs none /tmp && mount -t proc none /proc && exec {}",
                peer.shell("sleep", 0)
            );
            let mut command = Command::new("unshare");
            command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", &script]);
            command
                .env_remove("TMPDIR")
                .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")
                .env("HOME", folder.path());
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert!(line.starts_with("ready"), "a namespace for the program: {line:?}");
            let listing = Search::new().run();
            let found = listing
                .processes
                .iter()
                .find(|found| found.own_pid == Some(1) && parent(found.pid) == Some(child.id()))
                .unwrap_or_else(|| panic!("{listing:?}"));
            assert!(found.root.starts_with("/proc"));
            let info = found.runtime().unwrap().deadlines(patient()).info().unwrap();
            assert_eq!(
                (info.pid, info.version().map(|version| version.major)),
                (1, Some(peer.major))
            );
            child.kill().unwrap();
            child.wait().unwrap();
        });
    }
}
