//! Ports to which runtimes connect.
//!
//! A runtime with `DOTNET_DiagnosticPorts=ADDRESS` connects there, identifies itself and, unless
//! the address has the option `nosuspend`, waits to be resumed before it runs anything. Its
//! children inherit the variable. The program that opens a port must therefore resume each of them;
//! [`Port`] does so in all cases.

mod address;
mod reserve;

use crate::advertise::{ADVERTISE_BYTES, Advertise};
use crate::arrived::Table;
use crate::deadlines::{Deadline, Deadlines};
use crate::endpoint::{Listener, Made, Wire};
use crate::error::{Error, RequestError, Step, is_out_of_descriptors};
use crate::runtime::Runtime;
use crate::transcript::Recorder;
use address::PortPlace;
pub use address::{PortAddress, PortMode};
use nettrace_guid::Guid;
use reserve::Reserve;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interval at which the listening thread checks whether the port is still in use.
const USE_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Interval at which connections are checked for processes that have ended.
const DEAD_PEER_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of connections that may be sending their advertise frames at the same time.
/// Further connections are closed; a runtime then tries again.
const MAX_GREETINGS: usize = 256;

/// The options of a port.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PortOptions {
    /// Deadlines of the runtimes that arrive.
    pub deadlines: Deadlines,
    /// Recorder for the runtimes' connections; `None` if they are not recorded.
    pub recorder: Option<Recorder>,
    /// Whether a TCP port may be reachable from other machines. There is no authentication: anyone
    /// who can connect to the port can pose as a runtime.
    pub allow_remote: bool,
    /// Maximum time that a connection may take to send its advertise frame; zero means 1 s.
    pub greeting: Duration,
}

/// A runtime that connected to a [`Port`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Arrival {
    /// Process id as the process itself sees it. In a container it differs from the id outside.
    pub pid: u64,
    /// Id of the runtime, which never changes.
    pub cookie: Guid,
    /// The runtime, which takes commands. It probably waits to be resumed: start the sessions, then
    /// call [`Runtime::resume`].
    pub runtime: Runtime,
}

/// A port that runtimes connect to.
///
/// When a port is dropped, every runtime that is still waiting is resumed, even while panicking.
/// The dropped port keeps listening, and resumes runtimes that arrive later, as long as one of its
/// runtimes or their sessions is in use.
///
/// ```no_run
/// use std::time::Duration;
/// use nettrace_ipc::{Port, PortAddress, PortOptions};
/// let port = Port::listen(&PortAddress::parse("/tmp/my-port")?, PortOptions::default())?;
/// // elsewhere: DOTNET_DiagnosticPorts=/tmp/my-port dotnet app.dll
/// while let Some(arrival) = port.next(Duration::from_secs(60)) {
///     println!("process {} waits", arrival.pid);
///     arrival.runtime.resume()?;
/// }
/// # Ok::<(), nettrace_ipc::Error>(())
/// ```
#[derive(Debug)]
pub struct Port {
    table: Arc<Table>,
    address: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Port {
    /// Listens at an address. A file that is already there is not removed.
    ///
    /// # Errors
    /// [`Error::Request`] for an address in connect mode, and for a TCP address that other machines
    /// can reach, unless that is allowed; [`Error::Io`] if the system refuses;
    /// [`Error::Unsupported`] for pipes on other systems than Windows.
    pub fn listen(address: &PortAddress, options: PortOptions) -> Result<Self, Error> {
        let refuse = |reason| {
            Error::Request(RequestError::PortAddress { text: address.to_string(), reason })
        };
        if address.mode() == PortMode::Connect {
            return Err(refuse("its mode is connect, not listen"));
        }
        if matches!(&address.place, PortPlace::Tcp(tcp) if !tcp.is_loopback() && !options.allow_remote)
        {
            return Err(refuse("others could reach it, and there is no authentication"));
        }
        let (listener, _) = address.open()?;
        let made = match &address.place {
            PortPlace::Socket(path) => Some(Made::at(path)),
            _ => None,
        };
        Self::on(listener, made, options)
    }

    fn on(listener: Listener, made: Option<Made>, options: PortOptions) -> Result<Self, Error> {
        let address = listener.address();
        let greeting =
            if options.greeting.is_zero() { Duration::from_secs(1) } else { options.greeting };
        let table = Arc::new(Table::new(options.deadlines, options.recorder));
        let stop = Arc::new(AtomicBool::new(false));
        let (watched, stopping) = (Arc::downgrade(&table), Arc::clone(&stop));
        let spawned =
            std::thread::Builder::new().name("nettrace-port".to_owned()).spawn(move || {
                let greetings = Arc::new(AtomicUsize::new(0));
                let mut reserve = Reserve::default();
                let mut looked = Instant::now();
                while !stopping.load(Ordering::SeqCst) && watched.strong_count() > 0 {
                    reserve.fill(&listener);
                    let accepted = listener.accept(USE_CHECK_INTERVAL);
                    let has_run_out = accepted.as_ref().is_err_and(is_out_of_descriptors);
                    if (has_run_out || looked.elapsed() >= DEAD_PEER_CHECK_INTERVAL)
                        && let Some(table) = watched.upgrade()
                    {
                        table.look_round();
                        looked = Instant::now();
                        if has_run_out {
                            table.shed();
                        }
                    }
                    match accepted {
                        Ok(Some(wire)) => {
                            let greeter = Greeter { table: Weak::clone(&watched), limit: greeting };
                            greeter.greet(wire, &greetings, reserve.is_touched());
                        }
                        Ok(None) => {}
                        Err(_) if has_run_out && reserve.spend() => {}
                        // The error may pass, when other threads have given descriptors back.
                        Err(_) => std::thread::sleep(USE_CHECK_INTERVAL),
                    }
                }
                reserve.close();
                // A runtime that connected in the last moment would otherwise wait for ever.
                let greeter = Greeter { table: watched, limit: greeting };
                while let Ok(Some(wire)) = listener.accept(Duration::ZERO) {
                    greeter.arrive(wire, false);
                }
                // The file is removed before it is taken off the list.
                drop(listener);
                drop(made);
            });
        let thread = Some(spawned.map_err(|source| Error::Io { step: Step::Listen, source })?);
        Ok(Port { table, address, stop, thread })
    }

    /// Returns the address that runtimes connect to, for their environment variable
    /// `DOTNET_DiagnosticPorts`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the next runtime that has not been returned yet, or `None` if none connects in time.
    pub fn next(&self, wait: Duration) -> Option<Arrival> {
        let advertise = self.table.next(wait)?;
        let line = self.table.line(advertise.cookie);
        let runtime = Runtime::on_line(line, self.table.deadlines, self.table.recorder.clone());
        Some(Arrival { pid: advertise.pid, cookie: advertise.cookie, runtime })
    }

    /// Resumes all runtimes that [`Port::next`] has not returned yet, and from now on those that
    /// connect. `next` returns no runtime any more.
    pub fn resume_newcomers(&self) {
        self.table.resume_newcomers();
    }

    /// Resumes every waiting runtime, whether [`Port::next`] has returned it or not, and from now
    /// on every runtime that connects.
    pub fn resume_everyone(&self) {
        self.table.close();
    }

    /// Takes the ids of processes that were resumed because of [`Port::resume_newcomers`], and that
    /// [`Port::next`] never returned. In a container these are the ids inside. At most 1,000 are
    /// kept until they are taken.
    pub fn let_go(&self) -> Vec<u64> {
        self.table.let_go()
    }

    /// Returns the number of runtimes that were resumed without being returned, because this
    /// process had no descriptor left for them. A higher limit of descriptors (`ulimit -n`) helps.
    pub fn turned_away(&self) -> u64 {
        self.table.turned_away()
    }

    /// Returns a handle with which another thread can resume all runtimes while the current thread
    /// is busy with the port.
    pub fn resumer(&self) -> Resumer {
        Resumer { table: Arc::downgrade(&self.table) }
    }

    /// Returns the ids of the processes that have been resumed. In a container these are the ids
    /// inside.
    #[cfg(target_os = "linux")]
    pub(crate) fn resumed_pids(&self) -> Vec<u64> {
        self.table.resumed_pids()
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.table.close();
        if self.table.is_unused() {
            self.stop.store(true, Ordering::SeqCst);
            if let Some(thread) = self.thread.take() {
                // The thread cannot panic, and if it did, the port would be closed.
                drop(thread.join());
            }
        }
    }
}

/// Resumes everything that waits at a [`Port`], from any thread. It is for code that ends
/// the process without dropping the port, for example after a second Ctrl-C.
///
/// ```no_run
/// # use nettrace_ipc::{Port, PortAddress, PortOptions};
/// let port = Port::listen(&PortAddress::parse("/tmp/my-port")?, PortOptions::default())?;
/// let resumer = port.resumer();
/// std::thread::spawn(move || {
///     // … wait for something that ends the process …
///     resumer.resume_everyone();
///     std::process::exit(130)
/// });
/// # Ok::<(), nettrace_ipc::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Resumer {
    table: Weak<Table>,
}

impl Resumer {
    /// Resumes as [`Port::resume_everyone`] does; does nothing if the port is gone. Returns when
    /// all runtimes have answered, including those that another thread is resuming, or when the
    /// deadline for replies has passed.
    pub fn resume_everyone(&self) {
        if let Some(table) = self.table.upgrade() {
            table.close();
            // The caller is about to exit, which would end resumes that are under way.
            table.wait_for_resumes();
        }
    }
}

/// Reads the advertise frames of connections, which identify the runtimes.
struct Greeter {
    table: Weak<Table>,
    limit: Duration,
}

impl Greeter {
    /// Identifies the runtime of a connection on a separate thread, so that a slow one delays no
    /// other.
    fn greet(self, wire: Wire, greetings: &Arc<AtomicUsize>, is_crowded: bool) {
        if greetings.fetch_add(1, Ordering::SeqCst) >= MAX_GREETINGS {
            greetings.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        let own_greetings = Arc::clone(greetings);
        let spawned =
            std::thread::Builder::new().name("nettrace-greeting".to_owned()).spawn(move || {
                self.arrive(wire, is_crowded);
                own_greetings.fetch_sub(1, Ordering::SeqCst);
            });
        if spawned.is_err() {
            greetings.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Reads the advertise frame and passes the connection to the port, if the port still exists.
    fn arrive(&self, mut wire: Wire, is_crowded: bool) {
        let Some(advertise) = read_advertise(&mut wire, Deadline::after(self.limit)) else {
            return;
        };
        let Some(table) = self.table.upgrade() else { return };
        let tap = table.recorder.as_ref().map(|recorder| {
            let tap = recorder.open("accept");
            tap.received(&advertise.to_bytes());
            tap
        });
        if is_crowded {
            table.arrive_crowded(advertise, wire, tap)
        } else {
            table.arrive(advertise, wire, tap)
        }
    }
}

/// Reads an advertise frame. Returns `None` if the other end is too slow, has closed, or sends
/// something else.
fn read_advertise(wire: &mut Wire, deadline: Deadline) -> Option<Advertise> {
    let mut bytes = [0; ADVERTISE_BYTES];
    let mut filled = 0_usize;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match wire.read(rest, deadline) {
            Ok(count) if count > 0 => filled = filled.saturating_add(count),
            _ => return None,
        }
    }
    Advertise::read(&bytes).ok()
}
