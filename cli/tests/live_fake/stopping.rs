//! Signals that end `nettrace collect` and other live commands, and limits of the system.

use super::{
    EACH_SIGNAL_COUNTS, Folder, SIGNALS_ARE_ONE, address, common::command, ended, ids,
    ignoring_stops, metrics, ran, signal, signal_taken, slow, start, streaming, trace, wait_until,
};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime, Fault, FaultKind};
use nettrace_ipc::{CommandId, Guid};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn a_signal_ends_collect_with_a_whole_file() {
    for name in ["INT", "TERM", "HUP"] {
        let (folder, bytes) = (Folder::new(), metrics());
        let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
        let port = address(&fake);
        let child = start(
            command(&["collect", "--port", &port, "-o", "x.nettrace"]).current_dir(&folder.0),
        );
        let (file, part) = (folder.0.join("x.nettrace"), folder.0.join("x.nettrace.part"));
        let grown =
            || std::fs::metadata(&part).is_ok_and(|data| data.len() >= bytes.len() as u64 - 500);
        wait_until("the stream is written", grown);
        assert!(!file.exists(), "it has its name before it is whole");
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(std::fs::read(&file).unwrap() == bytes, "SIG{name}");
        assert!(!part.exists());
        assert_eq!(fake.stops().len(), 1);
    }
}

#[test]
fn a_second_signal_exits_at_once_and_says_where_the_recording_is() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
    let port = address(&fake);
    // A command that waited would exit after ten minutes, with another code.
    let (file, part) = (folder.0.join("x.nettrace"), folder.0.join("x.nettrace.part"));
    std::fs::write(&file, "mine").unwrap();
    let arguments =
        ["collect", "--port", &port, "--patience", "600s", "-o", "x.nettrace", "--force"];
    let mut child = start(
        command(&arguments).env(EACH_SIGNAL_COUNTS.0, EACH_SIGNAL_COUNTS.1).current_dir(&folder.0),
    );
    wait_until("the first bytes", || std::fs::metadata(&part).is_ok_and(|data| data.len() > 1000));
    fake.set_fault(Some(Fault::always(FaultKind::StopIgnored)));
    signal_taken(&child, "INT");
    wait_until("the stop", || ids(&fake).contains(&(2, 1)));
    assert!(child.try_wait().unwrap().is_none());
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("what was recorded is in x.nettrace.part\n"), "{stderr}");
    assert!(std::fs::read(&part).unwrap().starts_with(b"Nettrace"));
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
}

#[test]
fn signals_that_come_together_are_one() {
    for name in ["TERM", "INT", "HUP"] {
        let (folder, bytes) = (Folder::new(), metrics());
        let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
        // The process takes more than a second to stop, during which the second signal comes.
        let slowly = FaultKind::SlowDrip(Duration::from_millis(50));
        fake.set_fault(Some(Fault::on(CommandId::STOP_TRACING, slowly)));
        let port = address(&fake);
        let child = start(
            command(&["collect", "--port", &port, "-o", "x.nettrace"])
                .env(SIGNALS_ARE_ONE.0, SIGNALS_ARE_ONE.1)
                .current_dir(&folder.0),
        );
        let file = folder.0.join("x.nettrace");
        let part = folder.0.join("x.nettrace.part");
        let grown =
            || std::fs::metadata(&part).is_ok_and(|data| data.len() >= bytes.len() as u64 - 500);
        wait_until("the stream is written", grown);
        // GNU timeout sends a signal twice.
        let pid = child.id().to_string();
        let both = format!("kill -{name} {pid}; kill -{name} {pid}");
        assert!(Command::new("sh").args(["-c", &both]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(std::fs::read(&file).unwrap() == bytes, "SIG{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_hangup_that_is_ignored_stays_ignored() {
    let (folder, bytes) = (Folder::new(), metrics());
    let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
    let own = command(&["collect", "--port", &address(&fake), "-o", "x.nettrace"]);
    let mut ignoring = Command::new("sh");
    // As nohup starts programs.
    ignoring
        .args(["-c", "trap '' HUP; exec \"$0\" \"$@\""])
        .arg(own.get_program())
        .args(own.get_args());
    let mut child = ignoring.current_dir(&folder.0).stderr(Stdio::null()).spawn().unwrap();
    wait_until("a session", || fake.session_count() == 1);
    signal(&child, "HUP");
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    assert_eq!(u64::from_str_radix(mask, 16).unwrap() & 1, 1, "signal 1 is ignored");
    assert!(child.try_wait().unwrap().is_none() && fake.stops().is_empty());
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn one_signal_ends_the_waiting_for_a_session() {
    for words in [&["collect", "-o", "x.nettrace"][..], &["watch", "--show", "gc"]] {
        let folder = Folder::new();
        let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
        fake.set_fault(Some(Fault::on(CommandId::COLLECT_TRACING_2, FaultKind::Silence)));
        fake.set_fault(Some(Fault::always(FaultKind::Silence)));
        let port = address(&fake);
        let mut child = start(
            command(&[words, &["--port", &port, "--patience", "600s"]].concat())
                .current_dir(&folder.0),
        );
        wait_until("the request", || !fake.requests().is_empty());
        signal(&child, "INT");
        wait_until("its end", || child.try_wait().unwrap().is_some());
        assert_ne!(child.wait().unwrap().code(), Some(0));
        assert!(folder.names().is_empty(), "{:?}", folder.names());
    }
}

#[test]
fn one_signal_ends_the_waiting_for_a_session_that_only_asks() {
    // These commands list meters or learn names in additional sessions.
    for (words, silent, major) in [
        (&["counters"][..], CommandId::COLLECT_TRACING_2, 8),
        (&["discover"], CommandId::COLLECT_TRACING_3, 8),
        (&["top"], CommandId::COLLECT_TRACING_4, 9),
    ] {
        let folder = Folder::new();
        let config = FakeConfig::new(major, &format!("{major}.0.1"));
        let fake = FakeRuntime::start(FakeConfig { stream: metrics(), ..config }).unwrap();
        fake.set_fault(Some(Fault::on(silent, FaultKind::Silence)));
        let port = address(&fake);
        let mut child = start(
            command(&[words, &["--port", &port, "--patience", "600s"]].concat())
                .current_dir(&folder.0),
        );
        wait_until(&format!("the request: {words:?}"), || ids(&fake).contains(&(2, silent.id)));
        signal(&child, "INT");
        wait_until(&format!("its end: {words:?}"), || child.try_wait().unwrap().is_some());
        child.wait().unwrap();
    }
}

#[test]
fn a_process_that_has_not_answered_when_it_is_time_to_end_is_not_asked_again() {
    for words in [&["counters"][..], &["discover"], &["top"], &["heap"], &["stack"]] {
        let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
        fake.set_fault(Some(Fault::always(FaultKind::Silence)));
        let port = address(&fake);
        let child = start(&mut command(&[words, &["--port", &port]].concat()));
        wait_until("a request", || !fake.requests().is_empty());
        signal(&child, "INT");
        let run = ended(child);
        // A resume is sent in any case.
        let asked = ids(&fake).into_iter().filter(|id| *id != (4, 1)).count();
        assert_eq!((asked, run.code), (1, Some(1)), "{words:?}: {:?} {}", ids(&fake), run.stderr);
    }
}

#[test]
fn one_signal_ends_a_view_whatever_its_process_does_with_the_stop() {
    for words in [
        &["watch", "--providers", "X"][..],
        &["counters"],
        &["top"],
        &["discover"],
        &["stack", "--timeout", "600s"],
    ] {
        let fake = ignoring_stops();
        let port = address(&fake);
        let child =
            start(&mut command(&[words, &["--port", &port, "--patience", "600s"]].concat()));
        wait_until("the session", || fake.session_count() > 0);
        signal(&child, "INT");
        let run = ended(child);
        assert!(ids(&fake).contains(&(2, 1)), "{words:?} sends the stop: {}", run.stderr);
    }
}

/// Runs the command in a shell after `limit`, such as `ulimit -n 4`.
fn limited(limit: &str, words: &[&str], folder: &Folder) -> super::common::Ran {
    let own = command(words);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{limit}; exec \"$0\" \"$@\"")]);
    shell.arg(own.get_program()).args(own.get_args());
    ended(start(shell.current_dir(&folder.0)))
}

#[test]
fn with_few_descriptors_a_recording_ends_and_leaves_no_session() {
    for count in 4..=14 {
        let folder = Folder::new();
        let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
        let port = address(&fake);
        let words = ["collect", "--port", &port, "--duration", "100ms", "-o", "x.nettrace"];
        let run = limited(&format!("ulimit -n {count}"), &words, &folder);
        eprintln!("{count} descriptors: {:?}: {}", run.code, run.stderr);
        wait_until("the end of the session", || fake.session_count() == 0);
        // A session that has begun is stopped, even if descriptors have run out.
        let has_begun = ids(&fake).iter().any(|(set, id)| *set == 2 && *id > 1);
        assert_eq!(has_begun, !fake.stops().is_empty(), "{count}: {}", run.stderr);
    }
}

#[test]
fn a_disk_that_is_full_is_an_error_at_once_that_says_what_was_saved() {
    // A limit of 32 KiB. Ignoring SIGXFSZ leaves the error, as on a full disk.
    let full = "trap '' XFSZ; ulimit -f 64";
    for name in ["x.nettrace", "x.nettrace.gz"] {
        let folder = Folder::new();
        let fake = FakeRuntime::start(FakeConfig { repeat: true, ..slow() }).unwrap();
        let port = address(&fake);
        let words = ["collect", "--port", &port, "--duration", "600s", "-o", name];
        let run = limited(full, &words, &folder);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        run.assert_message(&format!("{name}: recording failed: "));
        let saved = format!("what was recorded is in {name}.part: 32.0 KiB");
        run.assert_message(&saved);
        assert_eq!(folder.names(), [format!("{name}.part")]);
        assert_eq!((fake.stops().len(), fake.session_count()), (1, 0));
    }
}

#[test]
fn a_second_signal_leaves_nobody_suspended() {
    let folder = Folder::new();
    let port = folder.path("port");
    // The processes stay suspended, and one does not answer the stop, so that the first signal
    // waits.
    let args =
        ["collect", "--port", &port, "--all", "--resume-runtime", "false", "--patience", "600s"];
    let mut child = start(
        command(&[&args[..], &["-o", "x.nettrace"]].concat())
            .env(EACH_SIGNAL_COUNTS.0, EACH_SIGNAL_COUNTS.1)
            .current_dir(&folder.0),
    );
    wait_until("the port", || std::path::Path::new(&port).exists());
    let come = |number: u8| {
        let cookie = Guid::from_bytes([number; 16]);
        let config = FakeConfig { suspended: true, cookie, ..streaming(&metrics()) };
        FakeRuntime::connect_to(config, nettrace_ipc::Endpoint::socket(&port)).unwrap()
    };
    let (stuck, other) = (come(1), come(2));
    wait_until("both sessions", || stuck.session_count() == 1 && other.session_count() == 1);
    stuck.set_fault(Some(Fault::on(CommandId::STOP_TRACING, FaultKind::StopIgnored)));
    signal_taken(&child, "INT");
    wait_until("the stop", || ids(&stuck).contains(&(2, 1)));
    assert!(child.try_wait().unwrap().is_none() && !other.is_resumed());
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    wait_until("the resume", || other.is_resumed());
}

#[test]
fn collect_records_for_a_while_after_the_event_to_stop_at() {
    let (folder, bytes) = (Folder::new(), trace("net10-linux-x64/all.nettrace.gz"));
    let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
    let port = address(&fake);
    let until = ["--until", "*/GC/Start", "--keep-after", "600s", "-o", "x.nettrace"];
    let mut child = command(&[&["collect", "--port", &port][..], &until].concat())
        .current_dir(&folder.0)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let messages = BufReader::new(child.stderr.take().unwrap());
    let mut messages = messages.lines().map(Result::unwrap);
    assert!(messages.any(|line| line.ends_with(": stopping")));
    assert!(fake.stops().is_empty() && child.try_wait().unwrap().is_none());
    signal(&child, "INT");
    // The command would block if nobody read its messages.
    messages.for_each(drop);
    assert_eq!((child.wait().unwrap().code(), fake.stops().len()), (Some(0), 1));
}

#[test]
fn a_rotation_keeps_the_newest_files_and_overlaps_sessions() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(slow()).unwrap();
    let port = address(&fake);
    let args = [
        "collect",
        "--port",
        &port,
        "--patience",
        "120s",
        "--rotate",
        "2x200KB",
        "-o",
        "x.nettrace",
    ];
    // If the next file is about to begin at the signal, that may take long on a busy machine.
    let patient = ("NETTRACE_DELAYS", "signal-patience=600000");
    let child = start(command(&args).env(patient.0, patient.1).current_dir(&folder.0));
    wait_until("some files", || fake.stops().len() >= 3);
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{messages}");
    let names = folder.names();
    assert_eq!(names.len(), 2, "{names:?}\n{messages}");
    assert!(!names.contains(&"x_0001.nettrace".to_owned()), "{names:?}");
    for name in &names {
        let info = ran(&["info", name, "--json"], &folder);
        assert_eq!(info.json()["lost"], 0, "{name}");
    }
    // Each session begins before the session before is stopped.
    let order: Vec<_> = ids(&fake).into_iter().filter(|id| id.0 == 2).map(|id| id.1).collect();
    let count = order.iter().filter(|id| **id == 3).count();
    let (mut starts, mut stops) = (0, 0);
    for id in &order {
        match id {
            3 => starts += 1,
            _ => stops += 1,
        }
        assert!(starts > stops || starts == count, "{order:?}");
    }
    assert_eq!((starts, stops), (count, count));
}

#[cfg(target_os = "linux")]
mod with_script {
    use super::*;

    #[test]
    #[ignore = "needs script (util-linux)"]
    fn enter_ends_a_recording_on_a_terminal() {
        let (folder, bytes) = (Folder::new(), metrics());
        let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
        let own = command(&["collect", "--port", &address(&fake), "-o", "x.nettrace"]);
        let words = std::iter::once(own.get_program()).chain(own.get_args());
        let words: Vec<String> =
            words.map(|word| format!("'{}'", word.to_string_lossy())).collect();
        // `script` runs the command on a terminal, and passes its standard input on to it.
        let script = Command::new("script")
            .args(["-q", "-e", "-c", &words.join(" "), "/dev/null"])
            .current_dir(&folder.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut script = script.expect("there is a script (util-linux)");
        let part = folder.0.join("x.nettrace.part");
        let grown =
            || std::fs::metadata(&part).is_ok_and(|data| data.len() >= bytes.len() as u64 - 500);
        wait_until("the stream is written", grown);
        let mut keys = script.stdin.take().unwrap();
        std::io::Write::write_all(&mut keys, b"\n").unwrap();
        wait_until("its end", || script.try_wait().unwrap().is_some());
        assert_eq!(script.wait().unwrap().code(), Some(0));
        assert!(std::fs::read(folder.0.join("x.nettrace")).unwrap() == bytes);
        drop(keys);
    }
}
