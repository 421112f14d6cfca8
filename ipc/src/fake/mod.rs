//! A fake .NET process, for tests of code that talks to live processes. It speaks the protocol as
//! .NET 8 to 11 do, and faults can be switched on.
//!
//! Like a real runtime it has one server thread, which serves one connection after the other and
//! waits for a request without limit. It writes the rest of a stopped session before it answers the
//! stop, and it dies of requests that crash real runtimes ([`FakeRuntime::death`] has the reason).
//!
//! ```
//! use std::io::Read;
//! use nettrace_ipc::fake::{FakeConfig, FakeRuntime};
//! use nettrace_ipc::{Provider, Providers, Runtime, SessionConfig};
//!
//! let config = FakeConfig { stream: b"Nettrace...".to_vec(), tail: b"end".to_vec(), ..FakeConfig::default() };
//! let fake = FakeRuntime::start(config)?;
//! let runtime = Runtime::new(fake.endpoint());
//! assert_eq!(runtime.info()?.product_version.as_deref(), Some("10.0.12"));
//!
//! let mut session = runtime.start(&SessionConfig::new(Providers::new([Provider::new("P")?])?))?;
//! session.stop()?;
//! let mut bytes = Vec::new();
//! session.read_to_end(&mut bytes)?;
//! assert_eq!(bytes, b"Nettrace...end");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod fault;
mod harm;
mod reply;
mod serve;
mod stream;

use crate::endpoint::{Endpoint, Listener, TcpAddress, Wire};
pub use fault::{Fault, FaultKind};
use nettrace_guid::Guid;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
#[cfg(unix)]
use std::sync::atomic::AtomicU32;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use stream::FakeSession;

/// Configuration of a fake runtime: the information that it reports, and the bytes that it streams.
#[derive(Debug, Clone, PartialEq)]
pub struct FakeConfig {
    /// Major version of .NET, 3 to 11. It decides which commands the fake knows, and which requests
    /// kill it.
    pub major: u32,
    /// Product version that the fake reports, as text.
    pub product_version: String,
    /// Process id that the fake reports.
    pub pid: u64,
    /// Id of the runtime that the fake reports.
    pub cookie: Guid,
    /// Command line that the fake reports.
    pub command_line: String,
    /// Name of the entry assembly that the fake reports.
    pub entry_assembly: String,
    /// Environment variables that the fake reports, each as `NAME=value`.
    pub environment: Vec<String>,
    /// Bytes that each session streams from its start.
    pub stream: Vec<u8>,
    /// Number of bytes in one write of the stream.
    pub piece_bytes: usize,
    /// Pause after each write.
    pub piece_pause: Duration,
    /// Number of bytes after which a session pauses until [`FakeRuntime::go_on`] is
    /// called or it is stopped.
    pub holds_at: Option<usize>,
    /// Whether `stream` is repeated until the session is stopped.
    pub repeat: bool,
    /// Bytes that a session streams when it is stopped: the rundown and the end.
    pub tail: Vec<u8>,
    /// The `stream` and `tail` of a session that starts while another one runs; `None` if they do
    /// not differ.
    pub beside: Option<(Vec<u8>, Vec<u8>)>,
    /// Maximum number of sessions at a time.
    pub max_sessions: usize,
    /// Whether the fake waits at startup. Until it is resumed, its sessions stream nothing.
    pub suspended: bool,
}

impl Default for FakeConfig {
    fn default() -> Self {
        FakeConfig::new(10, "10.0.12")
    }
}

impl FakeConfig {
    /// Makes the configuration of a runtime with this version.
    pub fn new(major: u32, product_version: &str) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut cookie = [0xC0; 16];
        for (target, byte) in cookie.iter_mut().zip(number.to_le_bytes()) {
            *target = byte;
        }
        FakeConfig {
            major,
            product_version: product_version.to_owned(),
            pid: 40_000_u64.saturating_add(number),
            cookie: Guid::from_bytes(cookie),
            command_line: "/app/fake /app/fake.dll sleep 0".to_owned(),
            entry_assembly: "fake".to_owned(),
            environment: vec!["PATH=/usr/bin:/bin".to_owned(), "LANG=C.UTF-8".to_owned()],
            stream: Vec::new(),
            piece_bytes: 4096,
            piece_pause: Duration::ZERO,
            holds_at: None,
            repeat: false,
            tail: Vec::new(),
            beside: None,
            max_sessions: 64,
            suspended: false,
        }
    }
}

/// A fake runtime in this process. It ends when it is dropped.
#[derive(Debug)]
pub struct FakeRuntime {
    shared: Arc<SharedFake>,
    endpoint: Endpoint,
    threads: Vec<JoinHandle<()>>,
    _folder: Option<Folder>,
}

#[derive(Debug)]
struct SharedFake {
    config: FakeConfig,
    state: Mutex<FakeState>,
    stop: AtomicBool,
    resumed: AtomicBool,
    goes_on: AtomicBool,
}

#[derive(Debug, Default)]
struct FakeState {
    fault: Option<Fault>,
    requests: Vec<Vec<u8>>,
    death: Option<String>,
    environment: Vec<String>,
    sessions: HashMap<u64, FakeSession>,
    next_session: u64,
    open: Vec<Wire>,
    descriptors: usize,
    stops: Vec<u64>,
    resumes: usize,
    /// Sessions that have written all that [`FakeConfig::holds_at`] lets through.
    held: usize,
}

impl SharedFake {
    fn new(config: FakeConfig) -> Arc<Self> {
        let state = FakeState {
            environment: config.environment.clone(),
            next_session: 0x7F00_1000,
            ..FakeState::default()
        };
        let resumed = AtomicBool::new(!config.suspended);
        let (state, stop) = (Mutex::new(state), AtomicBool::new(false));
        Arc::new(SharedFake { config, state, stop, resumed, goes_on: AtomicBool::new(false) })
    }

    fn lock(&self) -> MutexGuard<'_, FakeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Closes every connection, as the system does when a process ends.
    fn end(&self) {
        self.stop.store(true, Ordering::SeqCst);
        let mut state = self.lock();
        for wire in state.open.drain(..) {
            wire.close();
        }
        state.sessions.clear();
    }

    /// Remembers a connection, so that it can be closed at the end.
    fn watch(&self, wire: &Wire) {
        if let Ok(clone) = wire.try_clone() {
            let mut state = self.lock();
            state.open.retain(|open| !open.is_closed());
            state.open.push(clone);
        }
    }
}

impl FakeRuntime {
    /// Starts a runtime with its own endpoint: a socket in a private folder, or a pipe on Windows.
    ///
    /// # Errors
    /// The system refuses the socket or the thread.
    pub fn start(config: FakeConfig) -> io::Result<Self> {
        #[cfg(unix)]
        {
            let folder = Folder::new()?;
            let path = folder.0.join(format!("dotnet-diagnostic-{}-1-socket", config.pid));
            let listener = Listener::unix(&path)?;
            Self::serve_at(config, listener, Endpoint::socket(path), Some(folder))
        }
        #[cfg(windows)]
        {
            let name = format!("nettrace-fake-{}-{}", std::process::id(), config.pid);
            Self::start_at(config, &name)
        }
    }

    /// Starts a runtime with a pipe of this name.
    ///
    /// # Errors
    /// The system refuses the pipe or the thread.
    #[cfg(windows)]
    pub fn start_at(config: FakeConfig, name: &str) -> io::Result<Self> {
        Self::serve_at(config, Listener::pipe(name)?, Endpoint::pipe(name), None)
    }

    /// Starts a runtime with a socket at a path.
    ///
    /// # Errors
    /// The system refuses the socket or the thread.
    #[cfg(unix)]
    pub fn start_at(config: FakeConfig, path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let listener = Listener::unix(&path)?;
        Self::serve_at(config, listener, Endpoint::socket(path), None)
    }

    /// Starts a runtime at a TCP port of this machine.
    ///
    /// # Errors
    /// The system refuses the port or the thread.
    pub fn start_tcp(config: FakeConfig) -> io::Result<Self> {
        let (listener, endpoint) = Self::tcp_listener()?;
        Self::serve_at(config, listener, endpoint, None)
    }

    fn tcp_listener() -> io::Result<(Listener, Endpoint)> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        let listener = Listener::tcp(&TcpAddress::parse("127.0.0.1:0").map_err(invalid)?)?;
        let address = TcpAddress::parse(&listener.address()).map_err(invalid)?;
        Ok((listener, Endpoint::tcp(address)))
    }

    fn serve_at(
        config: FakeConfig,
        listener: Listener,
        endpoint: Endpoint,
        folder: Option<Folder>,
    ) -> io::Result<Self> {
        let shared = SharedFake::new(config);
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("fake-runtime".to_owned())
            .spawn(move || serve::listen(&serving, &listener))?;
        Ok(FakeRuntime { shared, endpoint, threads: vec![thread], _folder: folder })
    }

    /// Starts a runtime that connects to a port, as one with `DOTNET_DiagnosticPorts`
    /// does. It has no endpoint of its own.
    ///
    /// # Errors
    /// The system refuses the thread.
    pub fn connect_to(config: FakeConfig, port: Endpoint) -> io::Result<Self> {
        let shared = SharedFake::new(config);
        let (serving, address) = (Arc::clone(&shared), port.clone());
        let thread = std::thread::Builder::new()
            .name("fake-runtime".to_owned())
            .spawn(move || serve::connect(&serving, &address))?;
        Ok(FakeRuntime { shared, endpoint: port, threads: vec![thread], _folder: None })
    }

    /// Returns the endpoint of the runtime, or the port to which it connects.
    pub fn endpoint(&self) -> Endpoint {
        self.endpoint.clone()
    }

    /// Switches a fault on; `None` switches all faults off.
    pub fn set_fault(&self, fault: Option<Fault>) {
        self.shared.lock().fault = fault;
    }

    /// Returns all requests that the fake has received so far, in order.
    pub fn requests(&self) -> Vec<Vec<u8>> {
        self.shared.lock().requests.clone()
    }

    /// Returns the reason why the fake has died: a request that would have crashed, blocked or
    /// damaged a real runtime. Returns `None` if it is alive.
    pub fn death(&self) -> Option<String> {
        self.shared.lock().death.clone()
    }

    /// Returns whether the runtime runs, because it was resumed or never waited.
    pub fn is_resumed(&self) -> bool {
        self.shared.resumed.load(Ordering::SeqCst)
    }

    /// Returns the number of resume commands that the fake has received.
    pub fn resume_count(&self) -> usize {
        self.shared.lock().resumes
    }

    /// Lets all sessions go on that pause because of [`FakeConfig::holds_at`].
    pub fn go_on(&self) {
        self.shared.goes_on.store(true, Ordering::SeqCst);
    }

    /// Returns how many sessions have written everything that [`FakeConfig::holds_at`] lets through.
    pub fn held_count(&self) -> usize {
        self.shared.lock().held
    }

    /// Returns the number of running sessions.
    pub fn session_count(&self) -> usize {
        self.shared.lock().sessions.len()
    }

    /// Returns the ids of the sessions that the fake was told to stop, in order.
    pub fn stops(&self) -> Vec<u64> {
        self.shared.lock().stops.clone()
    }

    /// Returns the number of file descriptors that the fake has received.
    pub fn descriptor_count(&self) -> usize {
        self.shared.lock().descriptors
    }

    /// Returns the environment variables, with the changes that commands have made.
    pub fn environment(&self) -> Vec<String> {
        self.shared.lock().environment.clone()
    }

    /// Ends the fake like a killed process: all its connections end.
    pub fn kill(&self) {
        self.shared.end();
    }
}

impl Drop for FakeRuntime {
    fn drop(&mut self) {
        self.shared.end();
        for thread in self.threads.drain(..) {
            // A panic of the server thread has been reported where it happened.
            drop(thread.join());
        }
    }
}

#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    #[cfg(unix)]
    fn new() -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("nettrace-fake-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed does no harm.
        drop(std::fs::remove_dir_all(&self.0));
    }
}
