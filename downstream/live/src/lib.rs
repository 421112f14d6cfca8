//! Reports the exceptions of a running process when they are thrown.

use nettrace_ipc::{Level, Provider, Providers, Runtime, SessionConfig, StopHandle};
use nettrace_parser::Reader;
use nettrace_parser::view::{Exception, View};

pub type Error = Box<dyn std::error::Error>;

/// What [`watch`] found out about the stream.
#[derive(Debug, PartialEq)]
pub struct Watched {
    pub exceptions: u64,
    /// Number of events that the runtime dropped because its buffers were full.
    pub lost: u64,
    /// Whether the stream had its end mark.
    pub is_complete: bool,
}

/// Calls `thrown` with type and message of each exception, until the process ends or the session is
/// stopped.
pub fn watch(
    runtime: &Runtime,
    mut thrown: impl FnMut(&str, &str, &StopHandle) -> Result<(), Error>,
) -> Result<Watched, Error> {
    let exceptions =
        Provider::new("Microsoft-Windows-DotNETRuntime")?.keywords(0x8000).level(Level::Error);
    let session =
        runtime.start(&SessionConfig::new(Providers::new([exceptions])?).stacks(false))?;
    let stop = session.stop_handle();
    let mut events = Reader::from_read(session);
    let mut count = 0;
    while let Some(event) = events.next_event()? {
        if let Some(exception) = Exception::from_event(&event) {
            count += 1;
            thrown(&exception.type_name.to_string(), &exception.message.to_string(), &stop)?;
        }
    }
    let (lost, is_complete) = (events.losses().total(), events.is_complete());
    Ok(Watched { exceptions: count, lost, is_complete })
}
