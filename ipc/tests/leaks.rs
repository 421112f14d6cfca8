//! A test that no descriptor or thread leaks. It is a program of its own, because it counts the
//! descriptors and threads of the whole process.
#![cfg(target_os = "linux")]
#![allow(clippy::restriction, clippy::pedantic)]

use nettrace_ipc::fake::{FakeConfig, FakeRuntime};
use nettrace_ipc::{
    Endpoint, Port, PortAddress, PortOptions, Provider, Providers, Runtime, SessionConfig,
};
use nettrace_testdata::eventually;
use std::time::Duration;

fn count(what: &str) -> usize {
    std::fs::read_dir(format!("/proc/self/{what}")).unwrap().count()
}

#[test]
fn two_hundred_sessions_and_twenty_ports_leave_no_thread_and_no_descriptor() {
    let config =
        || FakeConfig { stream: vec![7; 10_000], tail: b"end".to_vec(), ..FakeConfig::default() };
    let session = SessionConfig::new(Providers::new([Provider::new("P").unwrap()]).unwrap());
    let work = |sessions: usize, ports: usize| {
        let fake = FakeRuntime::start(config()).unwrap();
        let runtime = Runtime::new(fake.endpoint());
        for round in 0..sessions {
            let session = runtime.start(&session).unwrap();
            if round % 2 == 0 {
                session.stop().unwrap();
            }
        }
        let path = fake.endpoint().path().unwrap().with_file_name("port");
        let address = PortAddress::parse(path.to_str().unwrap()).unwrap();
        for _ in 0..ports {
            let port = Port::listen(&address, PortOptions::default()).unwrap();
            let suspended = FakeConfig { suspended: true, ..config() };
            let come = FakeRuntime::connect_to(suspended, Endpoint::socket(&path)).unwrap();
            let arrival = port.next(Duration::from_secs(60)).unwrap();
            drop(arrival.runtime.start(&session).unwrap());
            drop((arrival, port));
            assert!(come.is_resumed());
        }
    };
    work(2, 1);
    let before = (count("fd"), count("task"));
    work(200, 20);
    eventually("no more descriptors and threads than before", || {
        count("fd") <= before.0 && count("task") <= before.1
    });
}
