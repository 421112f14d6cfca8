//! Sessions whose events go to tracepoints of the Linux kernel, and not to the current process.

use crate::command::collect::{SessionId, StopTracing};
use crate::connection::Connection;
use crate::error::Error;
use crate::runtime::Runtime;
use std::sync::atomic::{AtomicBool, Ordering};

/// A session whose events go to tracepoints. Dropping this value stops the session.
#[derive(Debug)]
pub struct UserEventsSession {
    runtime: Runtime,
    _connection: Connection,
    id: SessionId,
    stopped: AtomicBool,
}

impl UserEventsSession {
    pub(crate) fn begin(runtime: Runtime, connection: Connection, id: SessionId) -> Self {
        UserEventsSession { runtime, _connection: connection, id, stopped: AtomicBool::new(false) }
    }

    /// Returns the id that the runtime gave the session.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// Stops the session. Only the first call sends a request, even if it fails.
    ///
    /// # Errors
    /// The errors of any command.
    pub fn stop(&self) -> Result<(), Error> {
        if self.stopped.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let deadlines = self.runtime.current_deadlines();
        let mut connection = self.runtime.connect()?;
        let result = connection.exchange(&StopTracing(self.id), deadlines.connect, deadlines.stop);
        connection.close();
        result
    }
}

impl Drop for UserEventsSession {
    fn drop(&mut self) {
        // A failure can no longer be reported to anyone.
        drop(self.stop());
    }
}
