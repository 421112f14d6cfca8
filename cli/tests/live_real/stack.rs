//! `nettrace stack` on real runtimes.

use super::Subject;
use super::common::Json;
use nettrace_testdata::peers;
use serde_json::Value;
use std::process::{Command, Stdio};

const MAIN: &str = "workload!Workload.Program.Main(string[])";

/// Returns the latest stack of each thread that still exists.
fn current(document: &Value) -> Vec<&Value> {
    let threads = document["threads"].list();
    let is_current = |thread: &&Value| {
        thread["managed"] == true
            && thread["latest"] == true
            && (thread["in_last_round"] == true || thread["os_state"] != "ended")
    };
    threads.iter().filter(is_current).collect()
}

fn frames(thread: &Value) -> Vec<&str> {
    thread["frames"].list().iter().map(|frame| frame.text()).collect()
}

/// Scenarios of the test program, each with the method in which the main thread waits nearly all of
/// the time: for threads that wait for a lock, or for tasks of the pool's threads.
const SCENARIOS: [(&str, &str); 2] = [("contention", "ContentionRound"), ("tasks", "Main")];

/// Asserts that the stacks have each thread of the program, and that each frame has its name.
fn assert_all_named(subject: &Subject, (scenario, waits_in): (&str, &str), run: usize) {
    let context = format!(".NET {}, {scenario}, run {run}", subject.target.major);
    let ran = subject.run(&["stack", "--json", "--timeout", "120s"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{context}");
    let document = ran.json();
    assert_eq!(document["complete"], true, "{context}");
    assert_eq!(document["os"]["available"], true, "{context}: {document}");
    let threads = current(&document);
    for thread in &threads {
        let frames = frames(thread);
        let is_named = |frame: &&str| frame.contains('!') && !frame.starts_with("0x");
        assert!(!frames.is_empty() && frames.iter().all(is_named), "{context}: {thread:#}");
        // The runtime never names precompiled calls of native functions, such as the one that reads
        // the clock: for those the file that contains them is shown. Nobody waits there.
        let has_nameless = frames.iter().any(|frame| frame.ends_with("!(no name)"));
        assert!(thread["state"] != "waiting" || !has_nameless, "{context}: {thread:#}");
    }
    // The main thread waits for the others.
    let main = threads.iter().find(|thread| frames(thread).contains(&MAIN));
    let main = main.unwrap_or_else(|| panic!("{context}: {document:#}"));
    assert_eq!(main["thread_id"].as_u64(), Some(u64::from(subject.target.pid())), "{context}");
    assert!(frames(main).iter().any(|frame| frame.contains(waits_in)), "{context}");
    assert!(main["user_ns"].as_u64().is_some() && main["name"].is_string(), "{context}");
    // One thread waits for the end of standard input.
    let reads = |thread: &&&Value| frames(thread).iter().any(|frame| frame.contains("ReadToEnd"));
    let reader = threads.iter().find(reads).unwrap_or_else(|| panic!("{context}: {document:#}"));
    assert_eq!((&reader["state"], &reader["waits_for"]), (&"waiting".into(), &"input".into()));
    assert_eq!(reader["os_state"], "sleeping", "{context}");
    // Threads of the runtime have no managed frames.
    let all = document["threads"].list();
    let unmanaged = all.iter().filter(|thread| thread["managed"] == false).count();
    assert!(unmanaged > 0, "{context}: {document:#}");
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn every_waiting_thread_is_named_in_twenty_of_twenty_runs() {
    for scenario in SCENARIOS {
        peers::each(peers::all(), |peer| {
            let mut subject = Subject::start(peer, scenario.0);
            (0..20).for_each(|run| assert_all_named(&subject, scenario, run));
            subject.assert_unharmed();
        });
    }
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn every_waiting_thread_is_named_in_twenty_of_twenty_runs_under_load() {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let spin = |_| {
        let mut command = Command::new("sh");
        command.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
        command.spawn().unwrap()
    };
    let mut load: Vec<_> = (0..2 * cores).map(spin).collect();
    let ran = std::panic::catch_unwind(|| {
        for scenario in SCENARIOS {
            peers::each(peers::all(), |peer| {
                let mut subject = Subject::start(peer, scenario.0);
                (0..20).for_each(|run| assert_all_named(&subject, scenario, run));
                subject.assert_unharmed();
            });
        }
    });
    for child in &mut load {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    ran.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn threads_that_wait_for_a_lock_are_recognised() {
    peers::each(peers::modern(), |peer| {
        let mut subject = Subject::start(peer, "contention");
        let mut has_lock = false;
        // Each session is short, and on a busy machine threads seldom get as far.
        for _ in 0..200 {
            let document = subject.run(&["stack", "--json", "--merge"]).json();
            let stacks = document["stacks"].list();
            let lock = stacks.iter().find(|stack| stack["waits_for"] == "lock");
            has_lock |= lock.is_some_and(|stack| {
                frames(stack).iter().any(|frame| frame.contains("ContentionRound"))
            });
            if has_lock {
                break;
            }
        }
        assert!(has_lock, ".NET {}", peer.major);
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn stacks_that_are_taken_again_and_again_are_counted() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "sleep");
        let ran = subject.run(&["stack", "--every", "100ms", "--count", "4", "--json", "--merge"]);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), ".NET {}", peer.major);
        let document = ran.json();
        assert_eq!(document["taken"], 4);
        let stacks = document["stacks"].list();
        let main = stacks.iter().find(|stack| frames(stack).contains(&MAIN)).unwrap();
        assert_eq!(main["count"], 4, ".NET {}: {document:#}", peer.major);
        let ran = subject.run(&["stack", "--merge", "--native", "--all"]);
        let text = ran.text();
        assert!(text.contains("without managed frames:"), "{text}");
        assert!(text.contains(MAIN) && text.contains("Native code: "), "{text}");
        subject.assert_unharmed();
    });
}

/// Returns the modules of a thread's native frames.
fn modules(thread: &Value) -> Vec<&str> {
    let frames = thread["native_frames"].list();
    frames.iter().filter_map(|frame| frame["module"].as_str()).collect()
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn threads_that_wait_in_native_code_show_the_frames_of_its_libraries() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "sleep");
        let ran = subject.run(&["stack", "--native", "--json", "--merge"]);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), ".NET {}", peer.major);
        let document = ran.json();
        let context = format!(".NET {}: {document:#}", peer.major);
        assert!(document["os"]["native"].text().starts_with("frames of "), "{context}");
        let threads = document["threads"].list();
        for thread in threads {
            let is_blocked = thread["native_state"] == "blocked";
            let native = thread["native_frames"].list();
            assert_eq!(is_blocked, !native.is_empty(), "{context}");
            for frame in native {
                assert!(frame["address"].text().starts_with("0x"), "{context}");
                assert_eq!(frame["module"].is_null(), frame["offset"].is_null(), "{context}");
                assert!(frame.get("symbol").is_some(), "{context}");
            }
        }
        // The stack of a thread that waits for input goes from the system call through the library
        // of the runtime to the managed code that called it.
        let reads =
            |thread: &&Value| frames(thread).iter().any(|frame| frame.contains("ReadToEnd"));
        let reader = threads.iter().find(reads).unwrap_or_else(|| panic!("{context}"));
        assert_eq!(reader["system_call"], "read", "{context}");
        assert!(modules(reader)[0].starts_with("libc"), "{context}");
        assert!(modules(reader)[1..].iter().any(|name| name.ends_with("System.Native.so")));
        let managed = reader["native_frames"].list();
        assert!(managed.iter().any(|frame| frame["managed"] == true), "{context}");
        // Stacks of threads of the runtime itself go from the system call to their first function.
        let of_runtime = threads.iter().filter(|thread| thread["managed"] == false);
        let whole = of_runtime.filter(|thread| {
            thread["native_end"] == "start" && modules(thread).contains(&"libcoreclr.so")
        });
        assert!(whole.count() >= 2, "{context}");
        let stacks = document["stacks"].list();
        assert!(stacks.iter().all(|stack| stack["native_frames"].is_array()), "{context}");
        if peer.major == 3 {
            // The runtime's library has names for its functions.
            let names = threads.iter().flat_map(|thread| thread["native_frames"].as_array());
            let mut names = names.flatten().filter_map(|frame| frame["symbol"].as_str());
            assert!(names.any(|name| name.starts_with("FinalizerThread::")), "{context}");
        }
        let text = subject.run(&["stack", "--native"]).text().to_owned();
        assert!(
            text.contains("[system call read") && text.contains("\n    libcoreclr.so"),
            "{text}"
        );
        subject.assert_unharmed();
    });
}

// `Thread.Join` leaves no managed frame in .NET Core 3.1, and that runtime's library has names for
// its functions.
#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn the_functions_of_an_old_runtime_say_what_a_thread_waits_for() {
    peers::each(peers::all().into_iter().filter(|peer| peer.major == 3).collect(), |peer| {
        let mut subject = Subject::start(peer, "contention");
        let joins = |_: &u32| {
            let document = subject.run(&["stack", "--native", "--json"]).json();
            let threads = document["threads"].list();
            let main = threads.iter().find(|thread| frames(thread).contains(&MAIN)).unwrap();
            let native = main["native_frames"].list();
            let joins = native.iter().any(|frame| {
                let name = frame["symbol"].as_str();
                name.is_some_and(|name| name.starts_with("ThreadNative::DoJoin("))
            });
            // The thread waits for another one if, and only if, its functions say so.
            assert_eq!(main["waits_for"] == "thread", joins, "{main:#}");
            joins
        };
        assert!((0..40).any(|run| joins(&run)));
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn the_perf_map_of_a_process_names_its_compiled_methods() {
    peers::each(peers::modern(), |peer| {
        let mut subject = Subject::start(peer, "sleep");
        let ran = subject.run(&["process", "perfmap", "perfmap"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let document = subject.run(&["stack", "--native", "--json"]).json();
        let threads = document["threads"].list();
        let native = threads.iter().filter_map(|thread| thread["native_frames"].as_array());
        let compiled = native.flatten().filter(|frame| frame["managed"] == true);
        let names: Vec<_> = compiled.filter_map(|frame| frame["symbol"].as_str()).collect();
        let has_own = names.iter().any(|name| name.contains("Workload.Program::"));
        assert!(has_own, ".NET {}: {names:?} in {document:#}", peer.major);
        assert_eq!(subject.run(&["process", "perfmap", "off"]).code, Some(0));
        for name in ["perf", "perfinfo"] {
            let _ = std::fs::remove_file(format!("/tmp/{name}-{}.map", subject.pid()));
        }
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_process_that_is_stopped_is_called_so() {
    peers::each(peers::modern(), |peer| {
        let mut subject = Subject::start(peer, "sleep");
        subject.target.freeze();
        let ran = subject.run(&["stack", "--patience", "1s"]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        ran.assert_message("the process is stopped");
        subject.target.signal("CONT");
        subject.assert_unharmed();
    });
}
