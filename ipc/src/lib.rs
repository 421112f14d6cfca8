//! placeholder
#![forbid(unsafe_code)]
mod arguments;
mod command;
mod error;
mod guid;
mod hresult;
mod message;
mod provider;
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
pub use error::{Error, ReplyFault, RequestError, Step};
pub use guid::{Guid, NotAGuid};
pub use hresult::HResult;
pub use message::Message;
pub use provider::{EventFilter, Level, Provider, Providers};
pub use version::RuntimeVersion;
