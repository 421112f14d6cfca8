#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(windows), forbid(unsafe_code))]
#![cfg_attr(test, allow(clippy::restriction, clippy::pedantic))]

mod advertise;
mod arguments;
mod arrived;
mod bytes;
mod command;
mod command_id;
mod connection;
mod deadlines;
mod discover;
mod endpoint;
mod error;
#[cfg(feature = "fake-runtime")]
pub mod fake;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod hresult;
mod keywords;
mod launch;
mod message;
mod port;
#[cfg(target_os = "linux")]
mod proc;
mod provider;
mod replay;
mod runtime;
mod session;
mod startup;
mod transcript;
mod version;
pub use arguments::Arguments;
pub use command::Command;
pub use command::collect::{
    CollectCommand, Lost, Rundown, SessionConfig, SessionId, StreamFormat, WhenFull,
};
pub use command::dump::{Dump, DumpCommand, DumpType};
pub use command::process::{
    DisablePerfMap, PerfMapType, ProcessEnvironment, ResumeRuntime, SetEnvironmentVariable,
    StartupHook, Variable,
};
pub use command::process_info::{ProcessInfo, ProcessInfoCommand};
pub use command::profiler::{AttachProfiler, StartupProfiler};
pub use command::raw::RawCommand;
pub use command::user_events::{Tracepoints, UserEventsConfig};
pub use command_id::CommandId;
pub use deadlines::Deadlines;
pub use discover::{Found, LeftBy, Leftover, Listing, ProcessKind, Search, Unreachable};
#[cfg(windows)]
pub use endpoint::restrict_to_user;
pub use endpoint::{Endpoint, Peer, TcpAddress, remove_port_files};
pub use error::{Error, ReplyFault, RequestError, StartupHookFault, Step};
pub use hresult::HResult;
pub use keywords::Keywords;
pub use launch::{Children, Launch, Launched};
pub use message::Message;
#[doc(inline)]
pub use nettrace_guid::{Guid, NotAGuid};
pub use port::{Arrival, Port, PortAddress, PortMode, PortOptions, Resumer};
pub use provider::{EventFilter, Level, Provider, Providers};
pub use replay::{Pace, Replay, Transcript};
pub use runtime::Runtime;
#[cfg(unix)]
pub use session::UserEventsSession;
pub use session::{Ending, Session, StopHandle};
pub use startup::{NamedPort, Startup};
pub use transcript::Recorder;
pub use version::RuntimeVersion;
