//! Talks to running .NET processes over the diagnostics protocol: finds them, sends every command there
//! is, and gives the bytes of a live event session as an [`std::io::Read`].
//!
//! The crate knows nothing of the nettrace format: it supplies bytes, `nettrace-parser` reads them. It
//! blocks, with deadlines on everything, and neither prints nor logs.
//!
//! # The tour
//!
//! - [`Search`] finds processes and says of each that cannot be reached why not.
//! - [`Endpoint`] is a socket, a pipe or a TCP address; [`Runtime`] is the process behind it and has a
//!   method for each command.
//! - [`Provider`]s, united in [`Providers`], make a [`SessionConfig`]; [`Runtime::start`] turns it into a
//!   [`Session`], which is read, and stopped through it or a [`StopHandle`].
//! - [`Port`] lets runtimes come to us; [`Launch`] runs a program that does so from its first event.
//! - [`Recorder`] writes down what crosses connections, [`Replay`] plays it without a process.
//! - `fake` (feature `fake-runtime`) stands in for a process, with faults to switch on.
//!
//! ```no_run
//! use std::io::Read;
//! use std::time::Duration;
//! use nettrace_ipc::{Level, Provider, Providers, Search, SessionConfig};
//!
//! let found = Search::new().process(4711).ok_or("no such .NET process")?;
//! let runtime = found.runtime().ok_or("it cannot be reached")?;
//! let gc = Provider::new("Microsoft-Windows-DotNETRuntime")?.keywords(0x1).level(Level::Informational);
//! let mut session = runtime.start(&SessionConfig::new(Providers::new([gc])?))?;
//! std::thread::sleep(Duration::from_secs(10));
//! session.stop()?;
//! let mut trace = Vec::new();
//! session.read_to_end(&mut trace)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Do no harm
//!
//! A runtime trusts whoever may connect. It dies of requests that are merely odd, serves one client at a
//! time, keeps the sessions of clients that went away, and cannot exit while nobody reads a session. So:
//!
//! | what harms | why it cannot happen here |
//! |---|---|
//! | an empty, superfluous or malformed payload | a [`Command`] is well-formed by its type |
//! | no provider, more than 1,000, one named twice | [`Providers`] counts and merges |
//! | event ids named twice, or in two tracepoint sets | [`EventFilter`] is a set, [`UserEventsConfig`] checks |
//! | a missing startup hook | [`StartupHook`] looks at the file, and again before it is sent |
//! | a perf map before versions 8 and 9 have started | [`Runtime::enable_perf_map`] asks first |
//! | a dump without `createdump` | [`Runtime::write_dump`] looks first |
//! | a client that connects and is silent | connecting and sending the whole request are one step |
//! | a session that nobody reads | a thread of its own drains it from the first byte to the last |
//! | a session that is never stopped | dropping a [`Session`] stops it, also in a panic |
//! | stopping a session twice, when its id may be another's | done once, and never after the stream's end |
//! | a start given up while the target was frozen | looked after in the background, and stopped |
//! | a runtime left waiting at startup | dropping a [`Port`] or [`Launched`] resumes it |
//!
//! What remains is [`Runtime::send_unchecked`], which says so in its name.
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]
#![cfg_attr(test, allow(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used))]

mod arguments;
mod command;
mod connection;
mod deadlines;
mod discover;
mod endpoint;
mod error;
#[cfg(feature = "fake-runtime")]
pub mod fake;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod guid;
mod hresult;
mod launch;
mod message;
mod port;
mod provider;
mod replay;
mod runtime;
mod session;
mod transcript;
mod version;
pub use arguments::Arguments;
pub use command::collect::{CollectCommand, Lost, Rundown, SessionConfig, SessionId, StreamFormat, WhenFull};
pub use command::dump::{Dump, DumpCommand, DumpType};
pub use command::process::{
    DisablePerfMap, PerfMapType, ProcessEnvironment, ResumeRuntime, SetEnvironmentVariable, StartupHook,
    Variable,
};
pub use command::process_info::{ProcessInfo, ProcessInfoCommand};
pub use command::profiler::{AttachProfiler, StartupProfiler};
pub use command::raw::RawCommand;
pub use command::user_events::{Tracepoints, UserEventsConfig};
pub use command::{Command, CommandId};
pub use deadlines::Deadlines;
pub use discover::{Found, LeftBy, Leftover, Listing, ProcessKind, Search, Unreachable};
pub use endpoint::{Endpoint, Peer, TcpAddress};
pub use error::{Error, ReplyFault, RequestError, Step};
pub use guid::{Guid, NotAGuid};
pub use hresult::HResult;
pub use launch::{Children, Launch, Launched};
pub use message::Message;
pub use port::{Arrival, Port, PortAddress, PortMode, PortOptions};
pub use provider::{EventFilter, Level, Provider, Providers};
pub use replay::{Pace, Replay, Transcript};
pub use runtime::{Runtime, Startup};
#[cfg(unix)]
pub use session::UserEventsSession;
pub use session::{Ending, Session, StopHandle};
pub use transcript::Recorder;
pub use version::RuntimeVersion;
