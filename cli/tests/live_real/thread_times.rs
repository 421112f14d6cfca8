//! Times of threads behind the traces of real processes.

use super::common::Json;
use super::{Subject, finished, launching, ran, wait_until};
use nettrace_parser::following::Following;
use nettrace_testdata::peers::{self, Folder, Peer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Events of a second stream.
struct Second(Vec<Value>);

impl Second {
    /// Splits a file into two, `first.nettrace` and `second.nettrace`, and reads the second.
    fn split(folder: &Folder, file: &str) -> Second {
        let bytes = std::fs::read(folder.file(file)).unwrap();
        let following = Following::from_slice(&bytes).expect("a second stream");
        std::fs::write(folder.file("first.nettrace"), &bytes[..following.start as usize]).unwrap();
        std::fs::write(folder.file("second.nettrace"), following.bytes(&bytes)).unwrap();
        Second::read(folder, "second.nettrace")
    }

    fn read(folder: &Folder, file: &str) -> Second {
        let run = ran(&["events", file, "--format", "ndjson"], folder);
        Second(run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    fn events_named(&self, name: &str) -> Vec<&Value> {
        self.0.iter().filter(|event| event["event"] == name).collect()
    }

    fn last(&self, name: &str) -> &Value {
        &self.events_named(name).last().unwrap()["payload"]
    }

    /// Returns the processor time of the process in the last row, in nanoseconds.
    fn total(&self) -> u64 {
        let total = self.last("Process/Total");
        total["UserNS"].int() + total["SystemNS"].int()
    }

    /// Returns the processor time of the threads in their last rows, in nanoseconds.
    fn threads(&self) -> BTreeMap<u64, u64> {
        let times = self.events_named("Thread/Time").into_iter();
        times.map(|row| (row["tid"].int(), row["payload"]["RanNS"].int())).collect()
    }
}

fn has_two_streams(path: &str) -> bool {
    Following::from_slice(&std::fs::read(path).unwrap()).is_some()
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_recording_with_samples_has_the_times_of_its_threads_behind_it_and_is_read_as_before() {
    peers::each(peers::modern(), |peer| {
        let mut subject = Subject::start(peer, "cpu");
        let run = subject.collect(&["--duration", "1500ms", "-o", "x.nettrace"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.assert_message("times of threads: read ");
        let folder = &subject.folder;
        let second = Second::split(folder, "x.nettrace");
        for command in
            [&["events", "--format", "ndjson"][..], &["info", "--json"], &["check", "--json"]]
        {
            let said = |file| {
                let run = ran(&[command, &[file]].concat(), folder);
                assert_eq!(run.code, Some(0), "{}", run.stderr);
                run.text().replace(file, "FILE")
            };
            assert_eq!(said("x.nettrace"), said("first.nettrace"), ".NET {}", peer.major);
        }
        assert_eq!(ran(&["check", "--strict", "x.nettrace"], folder).code, Some(0));
        assert_eq!(ran(&["check", "--strict", "second.nettrace"], folder).code, Some(0));
        // The program computes on one thread, which has most of the processor time.
        let threads = second.threads();
        let most = threads.iter().max_by_key(|(_, ran)| **ran).unwrap();
        assert_eq!(*most.0, u64::from(subject.target.pid()), "{threads:?}");
        let sum: u64 = threads.values().sum();
        assert!(sum <= second.total() + 30_000_000, "{sum} of {}", second.total());
        let names = second.events_named("Thread/Name").into_iter();
        let names: Vec<String> = names.map(|row| row["payload"]["Name"].to_string()).collect();
        assert!(names.iter().any(|name| name.contains(".NET Finalizer")), "{names:?}");
        assert!(second.events_named("Machine/Total").len() > 1);
        let end = second.last("Recording/End");
        assert_eq!((end["Ended"].int(), end["Rounds"].int() > 3), (0, true), "{end}");
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_compressed_recording_and_each_file_of_a_rotation_have_times_of_threads() {
    peers::each(peers::modern(), |peer| {
        let subject = Subject::start(peer, "all");
        let run = subject.collect(&["--duration", "1s", "-o", "x.nettrace.gz"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let check = ran(&["check", "--strict", "x.nettrace.gz"], &subject.folder);
        assert_eq!(check.code, Some(0), "{}", check.text());
        let packed = std::fs::File::open(subject.folder.file("x.nettrace.gz")).unwrap();
        let mut plain = std::fs::File::create(subject.folder.file("plain.nettrace")).unwrap();
        let mut unpacked = flate2::read::MultiGzDecoder::new(packed);
        std::io::copy(&mut unpacked, &mut plain).unwrap();
        assert!(Second::split(&subject.folder, "plain.nettrace").total() > 0);
        let child = subject.spawn(&["collect", "--rotate", "9x200KB", "-o", "r.nettrace"]);
        let third = subject.folder.file("r_0003.nettrace");
        wait_until("the third file", || std::path::Path::new(&third).exists());
        peers::signal(child.id(), "INT");
        let run = finished(child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let files: Vec<String> = super::traces(&subject.folder);
        let files = files.iter().filter(|name| name.starts_with("r_"));
        assert!(files.clone().count() > 1, "{}", run.stderr);
        for file in files {
            assert!(has_two_streams(&subject.folder.file(file)), "{file}");
        }
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_process_that_is_killed_leaves_its_times_beside_its_trace() {
    peers::each(peers::modern(), |peer| {
        let mut subject = Subject::start(peer, "cpu");
        let child = subject.spawn(&["collect", "-o", "x.nettrace"]);
        let beside = subject.folder.file("x.clock.nettrace");
        wait_until("the first rows", || {
            std::fs::metadata(&beside).is_ok_and(|data| data.len() > 2000)
        });
        subject.target.signal("KILL");
        let run = finished(child.wait_with_output().unwrap());
        subject.target.wait();
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        assert!(!has_two_streams(&subject.folder.file("x.nettrace")));
        let second = Second::read(&subject.folder, "x.clock.nettrace");
        assert!(second.total() > 0);
        assert_eq!(ran(&["check", "--strict", "x.clock.nettrace"], &subject.folder).code, Some(0));
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_recorder_that_is_killed_leaves_the_times_until_then() {
    peers::each(peers::modern(), |peer| {
        let subject = Subject::start(peer, "cpu");
        let mut child = subject.spawn(&["collect", "-o", "x.nettrace"]);
        let beside = subject.folder.file("x.clock.nettrace");
        wait_until("the first rows", || {
            std::fs::metadata(&beside).is_ok_and(|data| data.len() > 2000)
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let second = Second::read(&subject.folder, "x.clock.nettrace");
        assert!(
            second.total() > 0 && std::fs::metadata(subject.folder.file("x.nettrace.part")).is_ok()
        );
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_program_that_is_started_has_its_processor_time_to_the_end() {
    peers::each(peers::modern(), |peer| {
        for options in [&["collect"][..], &["collect", "--children"]] {
            let folder = Folder::new();
            let options = [options, &["--patience", "120s", "-o", "x.nettrace"]].concat();
            let mut command = launching(peer, &options, ("cpu", 1), &folder);
            // The times of ended children are those of the program and of the command.
            let run = finished(command.output().unwrap());
            assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
            let second = Second::split(&folder, "x.nettrace");
            let end = second.last("Recording/End");
            assert_eq!((end["Ended"].int(), end["Status"].int()), (1, 0), "{end}");
            let sum: u64 = second.threads().values().sum();
            assert!(sum <= second.total() + 30_000_000, "{sum} of {}", second.total());
        }
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn times_of_threads_are_left_out_on_demand_without_samples_and_on_standard_output() {
    peers::each(peers::modern(), |peer| {
        let subject = Subject::start(peer, "cpu");
        let args = ["--duration", "300ms", "-o", "x.nettrace"];
        for more in [&["--thread-times", "off"][..], &["--profile", "gc-collect"]] {
            let run = subject.collect(&[&args[..], more].concat());
            assert_eq!(run.code, Some(0), "{}", run.stderr);
            assert!(!has_two_streams(&subject.folder.file("x.nettrace")), "{more:?}");
            assert!(!run.stderr.contains("times of threads"), "{}", run.stderr);
        }
        let run = subject.run(&["collect", "--duration", "300ms", "-o", "-"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let text = "no times of threads: standard output takes one stream";
        assert_eq!(run.stderr.matches(text).count(), 1, "{}", run.stderr);
        assert!(Following::from_slice(&run.stdout).is_none());
    });
}

mod with_namespaces {
    use super::*;

    /// Starts a program that computes, in namespaces of its own. Returns it, and the options with
    /// which its socket is reached.
    fn start(peer: &Peer, namespaces: &[&str], folder: &Folder) -> (Child, String) {
        let mut command = Command::new("unshare");
        command.args(namespaces).args(["--fork", "--kill-child", "sh", "-c"]);
        command.arg(format!("exec {}", peer.shell("cpu", 0)));
        command.env("TMPDIR", folder.path()).env("HOME", folder.path());
        command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("ready"), "{line:?}");
        let names = std::fs::read_dir(folder.path()).unwrap().flatten();
        let mut names = names.map(|entry| entry.file_name().into_string().unwrap());
        let name = names.find(|name| name.ends_with("-socket")).unwrap();
        (child, format!("{},connect", folder.file(&name)))
    }

    #[test]
    #[ignore = "needs NETTRACE_PEERS and namespaces"]
    fn a_process_with_its_own_process_ids_has_times_by_the_ids_of_its_events() {
        peers::each(peers::modern(), |peer| {
            let folder = Folder::new();
            let (mut child, port) = start(peer, &["--pid", "--mount-proc"], &folder);
            let args = ["--patience", "120s", "--duration", "1500ms", "-o", "x.nettrace"];
            let run = ran(&[&["collect", "--port", &port], &args[..]].concat(), &folder);
            assert_eq!(run.code, Some(0), "{}", run.stderr);
            run.assert_message("times of threads: read ");
            let threads = Second::split(&folder, "x.nettrace").threads();
            let most = threads.iter().max_by_key(|(_, ran)| **ran).unwrap();
            assert_eq!(*most.0, 1, "{threads:?}");
            let top = ran(&["report", "topN", "x.nettrace", "--json"], &folder).json();
            // What the thread ran is that of its samples, and not of threads without any.
            let without = top["methods"].list().iter();
            let without = without.filter(|row| row["name"] == "(threads without samples)");
            let without: u64 = without.map(|row| row["self_ns"].int()).sum();
            assert!(without < top["total_ns"].int() / 2, "{top}");
            child.kill().unwrap();
            child.wait().unwrap();
        });
    }

    #[test]
    #[ignore = "needs NETTRACE_PEERS and namespaces"]
    fn a_process_with_a_clock_of_its_own_is_recorded_without_times() {
        peers::each(peers::modern(), |peer| {
            let folder = Folder::new();
            let (mut child, port) = start(peer, &["--time", "--monotonic", "100000"], &folder);
            let args = ["--patience", "120s", "--duration", "300ms", "-o", "x.nettrace"];
            let run = ran(&[&["collect", "--port", &port], &args[..]].concat(), &folder);
            assert_eq!(run.code, Some(0), "{}", run.stderr);
            let text = "no times of threads: its clock is not the one of this system";
            assert_eq!(run.stderr.matches(text).count(), 1, "{}", run.stderr);
            assert!(!has_two_streams(&folder.file("x.nettrace")));
            assert_eq!(ran(&["info", "x.nettrace", "--json"], &folder).json()["complete"], true);
            child.kill().unwrap();
            child.wait().unwrap();
        });
    }
}
