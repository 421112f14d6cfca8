//! Readers of standard output that stall, such as `| less`.

use super::common::{command, event_type, session_of};
use super::{Folder, address, signal, start, up_to_the_end_mark, wait_until};
use nettrace_ipc::fake::FakeRuntime;
use nettrace_testdata::synth::{Field, FieldType, Value, Version};
use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::process::{Child, Stdio};

/// Number of events of the stream, whose text exceeds the bytes that may wait for a reader.
const EVENTS: u64 = 8_000;

/// Creates a process that sends many events.
fn talkative() -> FakeRuntime {
    let fields = vec![Field::new("text", FieldType::Text)];
    let text = vec![Value::Text("x".repeat(3000))];
    let event_type = event_type("Synth", 1, "E", fields);
    let payloads = std::iter::repeat_n(text, EVENTS as usize);
    let mut session = session_of(Version::V4, event_type, payloads);
    session.events_per_block = 10;
    FakeRuntime::start(up_to_the_end_mark(&session.record().stream.into_bytes())).unwrap()
}

/// Command whose standard output nobody reads.
struct Stalled {
    child: Child,
    reader: PipeReader,
    folder: Folder,
}

/// Creates a full pipe.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, writer) = std::io::pipe().unwrap();
    let flags = rustix::fs::fcntl_getfl(&writer).unwrap();
    rustix::fs::fcntl_setfl(&writer, flags | rustix::fs::OFlags::NONBLOCK).unwrap();
    while (&writer).write(&[b'\n'; 1024]).is_ok() {}
    while (&writer).write(b"\n").is_ok() {}
    rustix::fs::fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

impl Stalled {
    fn start(fake: &FakeRuntime, words: &[&str]) -> Stalled {
        Stalled::at(std::io::pipe().unwrap(), fake, words)
    }

    fn at(
        (reader, writer): (PipeReader, PipeWriter),
        fake: &FakeRuntime,
        words: &[&str],
    ) -> Stalled {
        let folder = Folder::new();
        let port = address(fake);
        let args = [words, &["--port", &port, "--patience", "120s"]].concat();
        let child = command(&args)
            .current_dir(&folder.0)
            .stdin(Stdio::null())
            .stdout(writer)
            .stderr(File::create(folder.0.join("stderr")).unwrap())
            .spawn()
            .unwrap();
        Stalled { child, reader, folder }
    }

    fn messages(&self) -> String {
        std::fs::read_to_string(self.folder.0.join("stderr")).unwrap()
    }

    fn end(&mut self) -> Option<i32> {
        wait_until("its end", || self.child.try_wait().unwrap().is_some());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Stalled {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const WATCH: [&str; 5] = ["watch", "--providers", "X", "--format", "ndjson"];

#[test]
fn watch_throws_away_what_nobody_reads_and_obeys_signals() {
    for name in ["INT", "TERM", "HUP"] {
        let fake = talkative();
        let mut stalled = Stalled::start(&fake, &WATCH);
        wait_until("the stall", || stalled.messages().contains("standard output is not read"));
        signal(&stalled.child, name);
        assert_eq!(stalled.end(), Some(0), "SIG{name}: {}", stalled.messages());
        // The session could be stopped because the process was read on.
        assert_eq!((fake.stops().len(), fake.session_count()), (1, 0), "SIG{name}");
        let messages = stalled.messages();
        let note = " not shown, since standard output was not read";
        let line = messages.lines().find(|line| line.contains(note)).expect(&messages);
        let digits: String =
            line.split(" event").next().unwrap().chars().filter(char::is_ascii_digit).collect();
        let thrown: u64 = digits.parse().unwrap();
        assert!(thrown > 0 && thrown <= EVENTS, "{line}");
        // All lines in the pipe but the last are whole.
        let mut shown = vec![0; 1 << 17];
        let mut count = 0;
        while let taken @ 1.. = stalled.reader.read(&mut shown[count..]).unwrap() {
            count += taken;
        }
        let text = String::from_utf8_lossy(&shown[..count]).into_owned();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.pop();
        assert!(lines.len() > 10 && lines.iter().all(|line| line.ends_with('}')), "{text}");
    }
}

#[test]
fn top_ends_in_time_and_obeys_signals_though_nobody_reads_it() {
    let words = ["top", "--json", "--window", "1s", "--refresh-interval", "50ms"];
    let bytes = super::trace("net10-linux-x64/all.nettrace.gz");
    for (duration, name) in [("1s", None), ("600s", Some("INT")), ("600s", Some("TERM"))] {
        let fake = FakeRuntime::start(super::streaming(&bytes)).unwrap();
        let words = [&words[..], &["--duration", duration]].concat();
        let mut stalled = Stalled::at(full_pipe(), &fake, &words);
        if let Some(name) = name {
            wait_until("the sessions", || fake.session_count() == 2 && fake.stops().len() == 1);
            signal(&stalled.child, name);
        }
        assert_eq!(stalled.end(), Some(0), "{name:?}: {}", stalled.messages());
        let messages = stalled.messages();
        assert!(messages.contains("not shown, since standard output was not read"), "{messages}");
        // Three sessions: for samples, for names, and for the thread pool.
        assert_eq!((fake.stops().len(), fake.session_count()), (3, 0), "{name:?}");
    }
}

#[test]
fn watch_waits_for_its_reader_or_stops_as_on_stall_says() {
    let fake = talkative();
    let mut stalled = Stalled::start(&fake, &[&WATCH[..], &["--on-stall", "stop"]].concat());
    assert_eq!(stalled.end(), Some(0), "{}", stalled.messages());
    assert_eq!(fake.stops().len(), 1, "{}", stalled.messages());
    // A command that waits for its reader still obeys `--duration`.
    let fake = talkative();
    let mut stalled =
        Stalled::start(&fake, &[&WATCH[..], &["--on-stall", "wait", "--duration", "2s"]].concat());
    assert_eq!(stalled.end(), Some(0), "{}", stalled.messages());
}

#[test]
fn a_trace_that_nobody_reads_is_cut_and_its_session_stopped() {
    for (on_stall, message) in [("stop", "the trace is cut here"), ("drop", "the trace has a hole")]
    {
        let fake = talkative();
        let duration = if on_stall == "drop" { "5s" } else { "600s" };
        let mut stalled = Stalled::start(
            &fake,
            &["collect", "-o", "-", "--on-stall", on_stall, "--duration", duration],
        );
        assert_eq!(stalled.end(), Some(3), "{}", stalled.messages());
        assert!(stalled.messages().contains(message), "{}", stalled.messages());
        assert!(
            stalled.messages().contains("of the trace were thrown away"),
            "{}",
            stalled.messages()
        );
        assert_eq!((fake.stops().len(), fake.session_count()), (1, 0));
    }
}

#[test]
fn a_trace_that_nobody_reads_ends_at_a_signal() {
    let fake = talkative();
    let mut stalled = Stalled::start(&fake, &["collect", "-o", "-", "--on-stall", "wait"]);
    wait_until("the session", || fake.session_count() == 1);
    signal(&stalled.child, "INT");
    assert_eq!(stalled.end(), Some(3), "{}", stalled.messages());
    assert_eq!(fake.stops().len(), 1);
}

#[test]
fn messages_that_nobody_reads_hold_up_nothing() {
    let fake = talkative();
    let folder = Folder::new();
    let port = address(&fake);
    let (reader, writer) = full_pipe();
    // As with `2>&1 | less`.
    let mut child = command(&[&WATCH[..], &["--port", &port]].concat())
        .current_dir(&folder.0)
        .stdin(Stdio::null())
        .stdout(writer.try_clone().unwrap())
        .stderr(writer)
        .spawn()
        .unwrap();
    wait_until("the session", || fake.session_count() == 1);
    signal(&child, "INT");
    wait_until("its end", || child.try_wait().unwrap().is_some());
    assert_eq!(fake.stops().len(), 1);
    drop(reader);
}

/// Creates a named pipe.
fn fifo(folder: &Folder) -> std::path::PathBuf {
    let path = folder.0.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

#[test]
fn a_pipe_that_nobody_reads_holds_up_neither_the_process_nor_us() {
    for is_opened in [false, true] {
        let (folder, fake) = (Folder::new(), talkative());
        let path = fifo(&folder);
        // Opening a pipe for both reading and writing does not wait.
        let reader = is_opened.then(|| File::options().read(true).write(true).open(&path).unwrap());
        let port = address(&fake);
        let words = ["collect", "--port", &port, "--patience", "120s", "-o", "pipe"];
        let messages = File::create(folder.0.join("messages")).unwrap();
        let mut child = command(&words)
            .current_dir(&folder.0)
            .stdin(Stdio::null())
            .stderr(messages)
            .spawn()
            .unwrap();
        // The command stops without a signal, as for standard output.
        wait_until("its end", || child.try_wait().unwrap().is_some());
        let messages = std::fs::read_to_string(folder.0.join("messages")).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(3), "{messages}");
        assert!(messages.contains("pipe is not read: the trace is cut here"), "{messages}");
        assert!(messages.contains("were thrown away, since pipe was not read"), "{messages}");
        assert_eq!((fake.stops().len(), fake.session_count()), (1, 0));
        drop(reader);
    }
}

#[test]
fn one_signal_ends_a_recording_to_a_pipe_that_nobody_opens() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(super::streaming(&super::metrics())).unwrap();
    fifo(&folder);
    let port = address(&fake);
    let words = ["collect", "--port", &port, "--patience", "120s", "-o", "pipe"];
    let mut child = start(command(&words).current_dir(&folder.0));
    wait_until("a session", || fake.session_count() == 1);
    signal(&child, "INT");
    wait_until("its end", || child.try_wait().unwrap().is_some());
    wait_until("the end of the session", || fake.session_count() == 0);
}

#[test]
fn a_pipe_that_is_read_has_every_byte_and_a_full_disk_is_reported() {
    let (folder, bytes) = (Folder::new(), super::metrics());
    let fake = FakeRuntime::start(super::streaming(&bytes)).unwrap();
    let path = fifo(&folder);
    let reading = std::thread::spawn(move || std::fs::read(path).unwrap());
    let run = super::on(&fake, &folder, &["collect", "--duration", "1s", "-o", "pipe"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(reading.join().unwrap() == bytes);
    let run = super::on(&fake, &folder, &["collect", "--duration", "60s", "-o", "/dev/full"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    run.assert_message("/dev/full: recording failed: No space left");
    assert_eq!(fake.session_count(), 0);
    let run = super::on(&fake, &folder, &["collect", "--rotate", "3x1MB", "-o", "pipe"]);
    assert!(run.code == Some(2) && run.stderr.contains("a pipe takes one trace"), "{}", run.stderr);
}
