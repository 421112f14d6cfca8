//! Tests with real runtimes: .NET Core 3.1, .NET 8, 9 and 10, in the folder that `NETTRACE_PEERS`
//! names.
#![cfg(target_os = "linux")]
#![allow(clippy::restriction, clippy::pedantic)]

/// The tests, all of which need real runtimes.
#[path = "."]
mod with_runtime {
    use super::*;

    mod commands;
    mod finding;
    mod ports;
    mod sessions;
}

use nettrace_ipc::{
    Deadlines, Found, Level, Provider, Providers, Runtime, Search, Session, SessionConfig,
};
use nettrace_testdata::eventually;
use nettrace_testdata::peers::{Folder, Peer, Target};
use std::io::Read;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// A running program with a temporary folder of its own.
struct Running {
    target: Target,
    folder: Folder,
}

fn start(peer: &Peer, scenario: &str, seconds: u32) -> Running {
    let folder = Folder::new();
    Running { target: peer.start(&folder, scenario, seconds), folder }
}

impl Deref for Running {
    type Target = Target;

    fn deref(&self) -> &Target {
        &self.target
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Target {
        &mut self.target
    }
}

impl Running {
    fn search(&self) -> Search {
        Search::new().directory(self.folder.path())
    }

    fn found(&self) -> Found {
        self.search()
            .process(self.pid())
            .unwrap_or_else(|| panic!(".NET {} is not found", self.major))
    }

    fn runtime(&self) -> Runtime {
        self.found().runtime().unwrap().deadlines(patient())
    }

    /// Asserts that the program still answers, and has no more descriptors than `before`.
    fn assert_unharmed(&mut self, before: usize) {
        if self.major >= 8 {
            self.runtime().info().unwrap();
        } else {
            assert!(self.runtime().info().unwrap_err().is_unknown_command());
        }
        self.assert_no_more_descriptors_than(before);
    }

    fn finish(self) -> std::process::ExitStatus {
        self.target.finish()
    }
}

/// Maximum time of any wait. It is long, because other programs may keep the machine busy.
const MAX_WAIT: Duration = Duration::from_secs(120);

fn patient() -> Deadlines {
    Deadlines::default()
        .connect(MAX_WAIT)
        .reply(MAX_WAIT)
        .start(MAX_WAIT)
        .stop(MAX_WAIT)
        .drain(MAX_WAIT)
        .profiler(MAX_WAIT)
}

fn workload() -> Provider {
    Provider::new("Nettrace-Workload").unwrap().keywords(7).level(Level::Verbose)
}

fn config() -> SessionConfig {
    SessionConfig::new(Providers::new([workload()]).unwrap())
}

/// Reads a stream until `is_enough` holds for the bytes, or to its end.
fn read_until(session: &mut Session, mut is_enough: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    session.set_read_timeout(Some(MAX_WAIT));
    let (mut bytes, mut piece) = (Vec::new(), vec![0; 64 << 10]);
    while !is_enough(&bytes) {
        let count = session.read(&mut piece).unwrap();
        if count == 0 {
            break;
        }
        bytes.extend_from_slice(&piece[..count]);
    }
    bytes
}

fn read_all(session: &mut Session) -> Vec<u8> {
    read_until(session, |_| false)
}

/// Reads the first bytes of a stream. A runtime replies to the start of a session before it writes
/// them, so afterwards the stream has surely begun.
fn first_bytes(session: &mut Session) -> Vec<u8> {
    let bytes = read_until(session, |bytes| bytes.len() >= 8);
    assert!(bytes.starts_with(b"Nettrace"), "begins {bytes:?}");
    bytes
}

/// Reads the rest of a stream, and returns `bytes` and the rest.
fn read_rest(mut bytes: Vec<u8>, session: &mut Session) -> Vec<u8> {
    bytes.extend(read_all(session));
    bytes
}

/// Asserts that a nettrace stream is whole: the bytes have its beginning and its end mark.
fn assert_whole(bytes: &[u8], context: &str) {
    assert!(
        bytes.starts_with(b"Nettrace"),
        "{context}: begins {:?}",
        &bytes[..bytes.len().min(16)]
    );
    assert!(
        bytes.ends_with(&[6, 1]),
        "{context}: ends {:?}",
        &bytes[bytes.len().saturating_sub(16)..]
    );
}

/// Returns whether the bytes contain a text in UTF-16.
fn names(bytes: &[u8], text: &str) -> bool {
    let wanted: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
