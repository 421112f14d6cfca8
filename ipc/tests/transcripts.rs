//! Tests that a replay behaves like the process that was recorded.

use super::{MAX_WAIT, patient};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime};
use nettrace_ipc::{
    Ending, Pace, Port, PortAddress, PortOptions, Provider, Providers, Recorder, Replay, Runtime,
    SessionConfig, Transcript,
};
use nettrace_testdata::eventually;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Memory {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn config() -> SessionConfig {
    SessionConfig::new(Providers::new([Provider::new("P").unwrap()]).unwrap())
}

/// Number of bytes that a session streams before it is stopped.
const STREAM_BYTES: u32 = 300_000;

fn fake_config() -> FakeConfig {
    let stream: Vec<u8> = (0..STREAM_BYTES).map(|index| (index % 251) as u8).collect();
    FakeConfig { stream, tail: b"rundown and end".to_vec(), ..FakeConfig::default() }
}

/// Returns what a client reads from a process: the command line, the number of environment
/// variables and the bytes of a session.
fn visit(runtime: &Runtime) -> (String, usize, Vec<u8>) {
    let info = runtime.info().unwrap();
    let variables = runtime.environment().unwrap().len();
    let mut session = runtime.start(&config()).unwrap();
    eventually("all has come", || session.received_bytes() == u64::from(STREAM_BYTES));
    assert_eq!(session.stop().unwrap(), Ending::Stopped);
    let mut bytes = Vec::new();
    session.read_to_end(&mut bytes).unwrap();
    (info.command_line, variables, bytes)
}

fn anywhere() -> PortAddress {
    PortAddress::parse("tcp://127.0.0.1:0").unwrap()
}

#[test]
fn a_replay_answers_and_streams_what_the_process_did() {
    let fake = FakeRuntime::start(fake_config()).unwrap();
    let memory = Memory::default();
    let recorder = Recorder::new(memory.clone());
    let seen =
        visit(&Runtime::new(fake.endpoint()).deadlines(patient()).recorder(recorder.clone()));
    recorder.finish().unwrap();
    drop(fake);
    let transcript = Transcript::read(memory.text().as_bytes()).unwrap();
    assert_eq!(transcript.connection_count(), 4);
    for pace in [Pace::AtOnce, Pace::AsRecorded] {
        let replay = Replay::listen(transcript.clone(), &anywhere(), pace).unwrap();
        let runtime = Runtime::new(replay.endpoint()).deadlines(patient());
        assert!(visit(&runtime) == seen, "{pace:?}");
        eventually("all is played", || replay.is_finished());
        // A second request is answered again; one that was not recorded is unknown.
        assert_eq!(runtime.info().unwrap().command_line, seen.0);
        assert!(runtime.disable_perf_map().unwrap_err().is_unknown_command());
    }
}

#[test]
fn what_followed_the_stop_waits_for_the_stop() {
    let fake = FakeRuntime::start(fake_config()).unwrap();
    let memory = Memory::default();
    visit(
        &Runtime::new(fake.endpoint()).deadlines(patient()).recorder(Recorder::new(memory.clone())),
    );
    let replay = Replay::listen(
        Transcript::read(memory.text().as_bytes()).unwrap(),
        &anywhere(),
        Pace::AtOnce,
    )
    .unwrap();
    let runtime = Runtime::new(replay.endpoint()).deadlines(patient());
    let mut session = runtime.start(&config()).unwrap();
    eventually("all before the stop has come", || {
        session.received_bytes() >= u64::from(STREAM_BYTES)
    });
    // Other requests are served meanwhile.
    runtime.info().unwrap();
    assert_eq!(session.received_bytes(), u64::from(STREAM_BYTES));
    session.stop().unwrap();
    let mut bytes = Vec::new();
    session.read_to_end(&mut bytes).unwrap();
    assert!(bytes.ends_with(b"rundown and end"));
}

#[test]
fn runtimes_that_came_to_a_port_come_again() {
    let memory = Memory::default();
    let mut options = PortOptions::default();
    options.deadlines = patient();
    let mut recorded = options.clone();
    recorded.recorder = Some(Recorder::new(memory.clone()));
    let port = Port::listen(&anywhere(), recorded).unwrap();
    let endpoint = |port: &Port| {
        PortAddress::parse(&format!("tcp://{},connect", port.address())).unwrap().endpoint()
    };
    let fake = FakeRuntime::connect_to(fake_config(), endpoint(&port)).unwrap();
    let arrival = port.next(MAX_WAIT).unwrap();
    let (pid, seen) = (arrival.pid, visit(&arrival.runtime));
    arrival.runtime.resume().unwrap();
    drop((arrival, port, fake));

    let port = Port::listen(&anywhere(), options).unwrap();
    let transcript = Transcript::read(memory.text().as_bytes()).unwrap();
    let _replay = Replay::connect_to(transcript, &endpoint(&port), Pace::AtOnce).unwrap();
    let arrival = port.next(MAX_WAIT).unwrap();
    assert_eq!(arrival.pid, pid);
    assert!(visit(&arrival.runtime) == seen);
    arrival.runtime.resume().unwrap();
}

#[test]
fn a_recording_that_cannot_be_written_says_so_at_its_end() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let fake = FakeRuntime::start(FakeConfig::default()).unwrap();
    let recorder = Recorder::new(Full);
    Runtime::new(fake.endpoint()).recorder(recorder.clone()).info().unwrap();
    assert_eq!(recorder.finish().unwrap_err().kind(), std::io::ErrorKind::StorageFull);
}
