//! Repetition of tests whose runtime got stuck because of its own fault.
//!
//! .NET Core 3.1 gets stuck while it stops a session, about once in 300 times on a busy machine.
//! Its server thread waits in `EventPipeBufferManager::SuspendWriteEvent` for a thread that writes
//! an event, and this thread waits for ever for a lock in
//! `EventPipeBufferManager::AllocateBufferForThread` (seen with 3.1.23). The runtime then answers
//! no request.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Command;

use super::{Peer, Target};

/// Maximum number of attempts for a test whose runtime got stuck. A test that fails for another
/// reason is not repeated.
const TRIES: u32 = 4;

thread_local! {
    /// Whether a test on this thread failed while its target was stuck.
    static WAS_STUCK: Cell<bool> = const { Cell::new(false) };
}

/// Runs a test with each of the runtimes. If .NET Core 3.1 gets stuck, the test runs again with a
/// new process.
///
/// ```no_run
/// use nettrace_testdata::peers;
/// peers::each(peers::all(), |peer| {
///     let folder = peers::Folder::new();
///     assert!(peer.start(&folder, "sleep", 0).descriptor_count() > 0);
/// });
/// ```
///
/// # Panics
/// If the test panics.
pub fn each(peers: Vec<Peer>, test: impl Fn(&Peer)) {
    for peer in &peers {
        for left in (0..TRIES).rev() {
            WAS_STUCK.set(false);
            match catch_unwind(AssertUnwindSafe(|| test(peer))) {
                Ok(()) => break,
                Err(_) if WAS_STUCK.get() && left > 0 => {
                    eprintln!("AGAIN: .NET {} got stuck and answers nobody", peer.major);
                }
                Err(panic) => resume_unwind(panic),
            }
        }
    }
}

/// Records whether the target of a failed test is stuck. This is called when a target is dropped.
pub(super) fn note(target: &Target) {
    if std::thread::panicking() && target.major == 3 {
        // A process that the test has stopped answers only after SIGCONT. `kill` fails if it has
        // ended.
        let _ = Command::new("kill").args(["-CONT", &target.pid().to_string()]).status();
        WAS_STUCK.set(!answers(target));
    }
}

/// Returns whether the runtime answers a request within ten seconds. Any answer counts, also a
/// refusal.
#[cfg(unix)]
fn answers(target: &Target) -> bool {
    use std::io::{Read, Write};
    use std::time::Duration;

    let start = format!("dotnet-diagnostic-{}-", target.pid());
    let entries = std::fs::read_dir(&target.folder).into_iter().flatten().flatten();
    let mut sockets =
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&start));
    let Some(socket) = sockets.next() else { return true };
    let answer = || -> std::io::Result<()> {
        let mut stream = std::os::unix::net::UnixStream::connect(socket.path())?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        // ProcessInfo, without a payload.
        stream.write_all(b"DOTNET_IPC_V1\0\x14\0\x04\0\0\0")?;
        stream.read_exact(&mut [0; 20])
    };
    // A closed connection is an answer; only a timeout means that the runtime is stuck.
    answer().map_or_else(|error| error.kind() != std::io::ErrorKind::WouldBlock, |()| true)
}

#[cfg(not(unix))]
fn answers(_: &Target) -> bool {
    true
}
