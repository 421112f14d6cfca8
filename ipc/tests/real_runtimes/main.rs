//! Against real runtimes: .NET Core 3.1, .NET 8, 9 and 10, where `NETTRACE_PEERS` names them.
#![cfg(target_os = "linux")]

mod commands;
mod finding;
mod ports;
mod sessions;

use std::io::Read;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use nettrace_ipc::{Deadlines, Found, Level, Provider, Providers, Runtime, Search, Session, SessionConfig};
use nettrace_testdata::peers::{Folder, Peer, Target};

/// A program with a folder of its own.
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
        self.search().process(self.pid()).unwrap_or_else(|| panic!(".NET {} is not found", self.major))
    }

    fn runtime(&self) -> Runtime {
        self.found().runtime().unwrap().deadlines(hasty())
    }

    /// Still answers, and has no more descriptors than before.
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

fn hasty() -> Deadlines {
    Deadlines {
        connect: Duration::from_secs(3),
        reply: Duration::from_secs(5),
        stop: Duration::from_secs(20),
        ..Deadlines::default()
    }
}

fn workload() -> Provider {
    Provider::new("Nettrace-Workload").unwrap().keywords(7).level(Level::Verbose)
}

fn config() -> SessionConfig {
    SessionConfig::new(Providers::new([workload()]).unwrap())
}

fn read_all(session: &mut Session) -> Vec<u8> {
    let mut bytes = Vec::new();
    session.read_to_end(&mut bytes).unwrap();
    bytes
}

/// Begins as a nettrace stream and ends with its end mark.
fn assert_whole(bytes: &[u8], context: &str) {
    assert!(bytes.starts_with(b"Nettrace"), "{context}: begins {:?}", &bytes[..bytes.len().min(16)]);
    assert!(bytes.ends_with(&[6, 1]), "{context}: ends {:?}", &bytes[bytes.len().saturating_sub(16)..]);
}

/// Whether the text occurs as UTF-16.
fn names(bytes: &[u8], text: &str) -> bool {
    let wanted: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
