//! Many processes on one port of a command with few descriptors.

use super::{Folder, common::command, signal, wait_until};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime};
use nettrace_ipc::{Endpoint, Guid};
use std::path::Path;
use std::process::{Child, Command};

/// Starts `collect --all` at a port with at most this many descriptors.
fn listening(folder: &Folder, limit: u32) -> (Running, Endpoint) {
    let port = folder.path("port");
    let own =
        command(&["collect", "--port", &port, "--all", "--patience", "120s", "-o", "x.nettrace"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -n {limit}; exec \"$0\" \"$@\"")]);
    limited.arg(own.get_program()).args(own.get_args());
    let stderr = std::fs::File::create(folder.path("stderr")).unwrap();
    let child = limited.current_dir(&folder.0).stderr(stderr).spawn().unwrap();
    wait_until("the port", || Path::new(&port).exists());
    (Running(child), Endpoint::socket(port))
}

/// Child process that is killed when the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Creates a suspended process that connects to a port.
fn newcomer(port: &Endpoint, number: u32) -> FakeRuntime {
    let cookie = Guid::from_bytes((0xc0de_u128 << 64 | u128::from(number)).to_le_bytes());
    let config =
        FakeConfig { suspended: true, cookie, pid: number.into(), ..FakeConfig::default() };
    FakeRuntime::connect_to(config, port.clone()).unwrap()
}

#[cfg(target_os = "linux")]
fn descriptors(running: &Running) -> usize {
    nettrace_testdata::peers::descriptor_count(running.0.id())
}

/// Stops the command by a signal and returns its messages.
fn ended(mut running: Running, folder: &Folder) -> String {
    signal(&running.0, "INT");
    running.0.wait().unwrap();
    std::fs::read_to_string(folder.0.join("stderr")).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn five_thousand_short_processes_leak_no_descriptor() {
    let folder = Folder::new();
    let (child, port) = listening(&folder, 64);
    let first = newcomer(&port, 0);
    wait_until("the first to be let go", || first.is_resumed());
    drop(first);
    use std::sync::atomic::{AtomicU32, Ordering};
    let next = AtomicU32::new(1);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number > 5000 {
                        return;
                    }
                    let process = newcomer(&port, number);
                    wait_until(&format!("process {number} to be let go"), || process.is_resumed());
                }
            });
        }
    });
    // 24 descriptors: standard streams, pipe for signals, port, and connections that wait at it.
    wait_until("the connections of the dead to be closed", || descriptors(&child) <= 24);
    ended(child, &folder);
}

#[test]
fn nobody_stays_suspended_when_descriptors_run_out() {
    let folder = Folder::new();
    let (child, port) = listening(&folder, 40);
    let first: Vec<FakeRuntime> = (0..2).map(|number| newcomer(&port, number)).collect();
    let is_recorded = |process: &FakeRuntime| process.is_resumed() && process.session_count() == 1;
    wait_until("two to be recorded", || first.iter().all(is_recorded));
    let crowd: Vec<FakeRuntime> = (2..62).map(|number| newcomer(&port, number)).collect();
    wait_until("all to be let go", || crowd.iter().all(FakeRuntime::is_resumed));
    let messages = || std::fs::read_to_string(folder.0.join("stderr")).unwrap();
    wait_until("the warning", || messages().contains("out of file descriptors"));
    assert!(first.iter().all(is_recorded), "{}", messages());
    let messages = ended(child, &folder);
    assert!(messages.contains("were not recorded because file descriptors ran out"), "{messages}");
    assert!(first.iter().all(|process| process.stops().len() == 1), "{messages}");
}
