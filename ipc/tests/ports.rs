//! Tests of ports and of started programs, with fake runtimes.

use super::{MAX_WAIT, patient};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime};
use nettrace_ipc::{
    Ending, Endpoint, Error, Port, PortAddress, PortOptions, Provider, Providers, SessionConfig,
};
use nettrace_testdata::eventually;
use std::io::{Read, Write};
#[cfg(unix)]
use std::path::PathBuf;
use std::time::Duration;

/// A deadline that the test expects to pass.
const SHORT_DEADLINE: Duration = Duration::from_millis(20);

fn options() -> PortOptions {
    let mut options = PortOptions::default();
    (options.deadlines, options.greeting) = (patient(), MAX_WAIT);
    options
}

/// Makes options with short deadlines, for a port to which a dying runtime connects.
fn hasty() -> PortOptions {
    let mut options = options();
    options.deadlines = options.deadlines.connect(SHORT_DEADLINE).reply(SHORT_DEADLINE);
    options
}

/// Opens a TCP port, because these work on every system. Unix sockets have their own test.
fn tcp_port() -> (Port, Endpoint) {
    tcp_port_with(options())
}

fn tcp_port_with(options: PortOptions) -> (Port, Endpoint) {
    let port = Port::listen(&PortAddress::parse("tcp://127.0.0.1:0").unwrap(), options).unwrap();
    let endpoint =
        PortAddress::parse(&format!("tcp://{},connect", port.address())).unwrap().endpoint();
    (port, endpoint)
}

fn suspended() -> FakeConfig {
    FakeConfig {
        suspended: true,
        stream: b"stream".to_vec(),
        tail: b"end".to_vec(),
        ..FakeConfig::default()
    }
}

fn config() -> SessionConfig {
    SessionConfig::new(Providers::new([Provider::new("P").unwrap()]).unwrap())
}

#[test]
fn a_runtime_that_comes_to_the_port_takes_commands_and_sessions() {
    let (port, endpoint) = tcp_port();
    let fake = FakeRuntime::connect_to(suspended(), endpoint).unwrap();
    let arrival = port.next(MAX_WAIT).unwrap();
    let info = arrival.runtime.info().unwrap();
    assert_eq!((info.pid, info.cookie), (arrival.pid, arrival.cookie));
    let mut session = arrival.runtime.start(&config()).unwrap();
    assert!(!fake.is_resumed());
    arrival.runtime.resume().unwrap();
    assert!(fake.is_resumed());
    assert_eq!(session.stop().unwrap(), Ending::Stopped);
    let mut bytes = Vec::new();
    session.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, b"streamend");
    arrival.runtime.info().unwrap();
    assert!(port.next(Duration::ZERO).is_none(), "given out once");
}

#[test]
fn five_processes_on_one_port_are_distinguished() {
    let (port, endpoint) = tcp_port();
    let fakes: Vec<_> =
        (0..5).map(|_| FakeRuntime::connect_to(suspended(), endpoint.clone()).unwrap()).collect();
    let mut pids = Vec::new();
    for _ in 0..5 {
        let arrival = port.next(MAX_WAIT).unwrap();
        assert_eq!(arrival.runtime.info().unwrap().pid, arrival.pid);
        let session = arrival.runtime.start(&config()).unwrap();
        arrival.runtime.resume().unwrap();
        assert_eq!(session.stop().unwrap(), Ending::Stopped);
        pids.push(arrival.pid);
    }
    pids.sort_unstable();
    pids.dedup();
    assert_eq!(pids.len(), 5);
    assert!(fakes.iter().all(|fake| fake.is_resumed() && fake.resume_count() == 1));
}

#[test]
fn slow_and_hostile_peers_delay_nobody() {
    // A port that waited for one of them would wait ten times as long as the runtime may take to
    // connect.
    let mut slow = options();
    slow.greeting = MAX_WAIT * 10;
    let (port, endpoint) = tcp_port_with(slow);
    let silent: Vec<_> =
        (0..20).map(|_| std::net::TcpStream::connect(port.address()).unwrap()).collect();
    let mut babbler = std::net::TcpStream::connect(port.address()).unwrap();
    babbler.write_all(&[b'x'; 4096]).unwrap();
    let _fake = FakeRuntime::connect_to(suspended(), endpoint).unwrap();
    assert!(port.next(MAX_WAIT).is_some());
    // The port goes first, while the fake runtime can still be resumed.
    drop(port);
    drop(silent);
}

#[test]
fn dropping_the_port_resumes_whoever_waits() {
    let (port, endpoint) = tcp_port();
    let fakes: Vec<_> =
        (0..3).map(|_| FakeRuntime::connect_to(suspended(), endpoint.clone()).unwrap()).collect();
    let given = port.next(MAX_WAIT).unwrap();
    let _second = port.next(MAX_WAIT).unwrap();
    let _third = port.next(MAX_WAIT).unwrap();
    drop(port);
    assert!(fakes.iter().all(FakeRuntime::is_resumed));
    drop(given);
}

#[test]
fn a_panic_resumes_whoever_waits() {
    let (port, endpoint) = tcp_port();
    let fake = FakeRuntime::connect_to(suspended(), endpoint).unwrap();
    let panicked = std::thread::spawn(move || {
        let arrival = port.next(MAX_WAIT).unwrap();
        let _session = arrival.runtime.start(&config()).unwrap();
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    assert!(panicked.join().is_err());
    assert!(fake.is_resumed());
    eventually("the session is stopped", || fake.session_count() == 0);
}

#[test]
fn who_comes_after_the_port_is_gone_is_resumed_while_a_session_lives() {
    let (port, endpoint) = tcp_port();
    let _fake = FakeRuntime::connect_to(suspended(), endpoint.clone()).unwrap();
    let arrival = port.next(MAX_WAIT).unwrap();
    let session = arrival.runtime.start(&config()).unwrap();
    drop(port);
    let late = FakeRuntime::connect_to(suspended(), endpoint).unwrap();
    eventually("the latecomer is resumed", || late.is_resumed());
    assert_eq!(session.stop().unwrap(), Ending::Stopped);
}

#[test]
fn newcomers_are_resumed_when_nobody_wants_them() {
    let (port, endpoint) = tcp_port();
    let early = FakeRuntime::connect_to(suspended(), endpoint.clone()).unwrap();
    let arrival = port.next(MAX_WAIT).unwrap();
    port.resume_newcomers();
    let late = FakeRuntime::connect_to(suspended(), endpoint).unwrap();
    eventually("the newcomer is resumed", || late.is_resumed());
    for _ in 0..3 {
        arrival.runtime.info().unwrap();
    }
    assert!(!early.is_resumed(), "it was given out, so it is its owner's to resume");
    assert!(port.next(Duration::ZERO).is_none());
    port.resume_everyone();
    assert!(early.is_resumed());
}

#[test]
fn a_runtime_that_died_is_found_out_at_the_deadline() {
    let (port, endpoint) = tcp_port_with(hasty());
    let fake = FakeRuntime::connect_to(suspended(), endpoint).unwrap();
    let arrival = port.next(MAX_WAIT).unwrap();
    drop(fake);
    let error = arrival.runtime.info().unwrap_err();
    assert!(
        matches!(error, Error::Deadline { after: SHORT_DEADLINE, .. } | Error::Gone { .. }),
        "{error:?}"
    );
}

#[test]
fn a_tcp_port_that_others_reach_must_be_allowed() {
    let everywhere = PortAddress::parse("tcp://*:0").unwrap();
    assert!(matches!(Port::listen(&everywhere, options()), Err(Error::Request(_))));
    let mut remote = options();
    remote.allow_remote = true;
    Port::listen(&everywhere, remote).unwrap();
    let connect = PortAddress::parse("tcp://127.0.0.1:0,connect").unwrap();
    assert!(matches!(Port::listen(&connect, options()), Err(Error::Request(_))));
}

#[cfg(unix)]
#[test]
fn a_socket_port_removes_its_file_and_nobody_elses() {
    let path = folder("port").join("port");
    let address = PortAddress::parse(path.to_str().unwrap()).unwrap();
    std::fs::write(&path, b"somebody's").unwrap();
    assert!(matches!(Port::listen(&address, options()), Err(Error::Io { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"somebody's");
    std::fs::remove_file(&path).unwrap();
    let port = Port::listen(&address, options()).unwrap();
    let fake = FakeRuntime::connect_to(suspended(), Endpoint::socket(&path)).unwrap();
    assert!(port.next(MAX_WAIT).is_some());
    drop(port);
    assert!(fake.is_resumed() && !path.exists());
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[cfg(windows)]
#[test]
fn a_pipe_port_is_the_only_one_of_its_name_and_resumes_who_came() {
    let name = format!("nettrace-port-test-{}", std::process::id());
    let address = PortAddress::parse(&name).unwrap();
    let port = Port::listen(&address, options()).unwrap();
    assert!(matches!(Port::listen(&address, options()), Err(Error::Io { .. })));
    let come = || FakeRuntime::connect_to(suspended(), Endpoint::pipe(port.address())).unwrap();
    let fakes = [come(), come()];
    let arrivals = [port.next(MAX_WAIT).unwrap(), port.next(MAX_WAIT).unwrap()];
    let mut session = arrivals[0].runtime.start(&config()).unwrap();
    arrivals[0].runtime.resume().unwrap();
    assert_eq!(session.stop().unwrap(), Ending::Stopped);
    let mut bytes = Vec::new();
    session.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, b"streamend");
    drop((session, arrivals, port));
    eventually("both to be resumed", || fakes.iter().all(FakeRuntime::is_resumed));
}

#[cfg(unix)]
#[test]
fn a_launched_program_that_is_no_runtime_just_runs() {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "test -n \"$DOTNET_DiagnosticPorts\" && exit 7"]);
    let mut launched = nettrace_ipc::Launch::new(command).spawn().unwrap();
    assert!(launched.next(Duration::MAX).unwrap().is_none());
    assert_eq!(launched.wait().unwrap().code(), Some(7));
}

#[cfg(unix)]
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("nettrace-{name}-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
