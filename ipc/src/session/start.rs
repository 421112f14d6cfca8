//! Starts sessions.

use super::Session;
use crate::command::collect::{CollectCommand, Lost, SessionConfig, read_session_id};
use crate::connection::Connection;
use crate::deadlines::Deadline;
use crate::error::{Error, Step};
use crate::runtime::Runtime;
use std::time::Duration;

/// Maximum time to wait for a reply after the caller has given up the start of a session.
const MAX_LATE_START_WAIT: Duration = Duration::from_secs(600);

impl Runtime {
    /// Starts a session by the lowest version of the command that can express the whole
    /// configuration. If the runtime does not know that version, the next lower one is tried;
    /// [`Session::lost`] lists the options that this loses.
    ///
    /// # Errors
    /// The runtime refuses, with 0x80004005 if there are 64 sessions already.
    pub fn start(&self, config: &SessionConfig) -> Result<Session, Error> {
        let mut command = config.lowest();
        loop {
            match (self.start_by(config, command), command.lower()) {
                // The commands are tried in turn, because runtimes before .NET 6 do not report
                // their version.
                (Err(error), Some(lower)) if error.is_unknown_command() => command = lower,
                (result, _) => return result,
            }
        }
    }

    /// Starts a session by the given version of the command only. Options that it cannot express
    /// are lost.
    ///
    /// # Errors
    /// The errors of [`Runtime::start`].
    pub fn start_by(
        &self,
        config: &SessionConfig,
        command: CollectCommand,
    ) -> Result<Session, Error> {
        let message = config.message(command)?;
        let lost: Vec<Lost> = config.lost_with(command);
        let mut connection = self.connect()?;
        connection.send(&message, Deadline::after(self.current_deadlines().connect))?;
        let deadline = Deadline::after(self.current_deadlines().start);
        while !connection.wait_readable(deadline.left().unwrap_or_default())? {
            if deadline.left().is_none() {
                self.look_after(connection, command);
                return Err(Error::Deadline { step: Step::Reply, after: deadline.whole });
            }
        }
        self.take_session(connection, command, lost)
    }

    fn take_session(
        &self,
        mut connection: Connection,
        command: CollectCommand,
        lost: Vec<Lost>,
    ) -> Result<Session, Error> {
        let payload =
            connection.receive(command.id(), Deadline::after(self.current_deadlines().start))?;
        let id = read_session_id(&payload)
            .map_err(|fault| Error::Reply { command: command.id(), fault })?;
        Session::begin(self.clone(), connection, id, command, lost)
    }

    /// Waits for the reply to a start whose caller has given up, and stops the session, because a
    /// target that was frozen may still start it.
    ///
    /// Quirk: .NET Core 3.1 dies if the connection is closed before its reply (seen with 3.1.23).
    /// So the connection here stays open, and a session that begins late is stopped.
    fn look_after(&self, mut connection: Connection, command: CollectCommand) {
        let runtime = self.clone();
        let thread = std::thread::Builder::new().name("nettrace-late".to_owned());
        // Without a thread the connection closes here, which harms no later runtime.
        drop(thread.spawn(move || {
            if matches!(connection.wait_readable(MAX_LATE_START_WAIT), Ok(true)) {
                drop(runtime.take_session(connection, command, Vec::new()));
            }
        }));
    }

    /// Starts a session whose events go to Linux tracepoints. `user_events_data` is the open file
    /// of that name; its descriptor is sent after the request, in a separate message, before the
    /// reply.
    ///
    /// # Errors
    /// The runtime refuses, or [`Error::Io`] for anything but a Unix socket.
    #[cfg(unix)]
    pub fn start_user_events(
        &self,
        config: &crate::UserEventsConfig,
        user_events_data: std::os::fd::BorrowedFd<'_>,
    ) -> Result<crate::UserEventsSession, Error> {
        let command = crate::CommandId::COLLECT_TRACING_5;
        let message = config.message()?;
        let mut connection = self.connect()?;
        connection.send(&message, Deadline::after(self.current_deadlines().connect))?;
        connection.send_descriptor(user_events_data)?;
        let payload =
            connection.receive(command, Deadline::after(self.current_deadlines().start))?;
        let id = read_session_id(&payload).map_err(|fault| Error::Reply { command, fault })?;
        Ok(crate::UserEventsSession::begin(self.clone(), connection, id))
    }
}
