//! AttachProfiler and StartupProfiler (03 01, 03 02).
//!
//! | command | request payload |
//! |---|---|
//! | AttachProfiler | u32 timeout in seconds, GUID, string path, u32 length, client data |
//! | StartupProfiler | GUID, string path |
//!
//! Quirk: in the protocol document the timeout is in milliseconds and the GUID has 14 bytes; the
//! official client sends seconds and 16 bytes.

use super::Command;
use super::sealed::Sealed;
use crate::command_id::{CommandId, Patience};
use crate::error::{ReplyFault, RequestError};
use crate::message::{Message, Writer, required};
use nettrace_guid::Guid;
use std::time::Duration;

/// Loads a profiler into a running process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachProfiler {
    class_id: Guid,
    path: String,
    timeout: Duration,
    client_data: Vec<u8>,
}

impl AttachProfiler {
    /// Makes a request to load the profiler with this class id from the library at this path, as
    /// the target sees it. The runtime gives up after 10 seconds, unless
    /// [`AttachProfiler::timeout`] changes that.
    ///
    /// # Errors
    /// The path is empty or contains a NUL.
    pub fn new(class_id: Guid, path: &str) -> Result<Self, RequestError> {
        let path = required(path, "profiler's path")?;
        Ok(AttachProfiler {
            class_id,
            path,
            timeout: Duration::from_secs(10),
            client_data: Vec::new(),
        })
    }

    /// Sets the time after which the runtime stops trying. It is sent in whole seconds, rounded up.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the bytes that the profiler's method `InitializeForAttach` gets.
    #[must_use]
    pub fn client_data(mut self, bytes: Vec<u8>) -> Self {
        self.client_data = bytes;
        self
    }

    pub(crate) fn own_timeout(&self) -> Duration {
        self.timeout
    }
}

answered_by_hresult!(AttachProfiler, Profiler);

impl Command for AttachProfiler {
    fn id(&self) -> CommandId {
        CommandId::ATTACH_PROFILER
    }

    fn message(&self) -> Result<Message, RequestError> {
        let seconds =
            self.timeout.as_secs().saturating_add(u64::from(self.timeout.subsec_nanos() > 0));
        let mut writer = Writer::new(self.id());
        writer
            .u32(u32::try_from(seconds).unwrap_or(u32::MAX))
            .guid(self.class_id)
            .string(&self.path);
        writer.count(self.client_data.len()).raw(&self.client_data);
        writer.finish()
    }
}

/// Names a profiler that the runtime loads when it starts. A runtime that is running already
/// replies with success, but does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartupProfiler {
    class_id: Guid,
    path: String,
}

impl StartupProfiler {
    /// Makes a request to load the profiler with this class id from the library at this path, as
    /// the target sees it.
    ///
    /// # Errors
    /// The path is empty or contains a NUL.
    pub fn new(class_id: Guid, path: &str) -> Result<Self, RequestError> {
        Ok(StartupProfiler { class_id, path: required(path, "profiler's path")? })
    }
}

answered_by_hresult!(StartupProfiler, Reply);

impl Command for StartupProfiler {
    fn id(&self) -> CommandId {
        CommandId::STARTUP_PROFILER
    }

    fn message(&self) -> Result<Message, RequestError> {
        let mut writer = Writer::new(self.id());
        writer.guid(self.class_id).string(&self.path);
        writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::golden::hex;
    use super::*;

    const CLASS: Guid = Guid::from_bytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);

    #[test]
    fn attach_is_that_of_the_transcripts() {
        let attach = AttachProfiler::new(CLASS, "/app/none.so")
            .unwrap()
            .timeout(Duration::from_millis(4_001));
        assert_eq!(
            hex(attach.message().unwrap().as_bytes()),
            "444f544e45545f4950435f5631004a000301000005000000000102030405060708090a0b0c0d0e0f0d0000002f006100700070002f006e006f006e0065002e0073006f00000000000000"
        );
    }

    #[test]
    fn client_data_follows_its_length() {
        let attach = AttachProfiler::new(CLASS, "p").unwrap().client_data(vec![7, 8]);
        assert!(attach.message().unwrap().payload().ends_with(&[2, 0, 0, 0, 7, 8]));
    }

    #[test]
    fn startup_is_that_of_the_transcripts() {
        let startup = StartupProfiler::new(CLASS, "/app/none.so").unwrap();
        assert_eq!(
            hex(startup.message().unwrap().as_bytes()),
            "444f544e45545f4950435f563100420003020000000102030405060708090a0b0c0d0e0f0d0000002f006100700070002f006e006f006e0065002e0073006f000000"
        );
    }

    #[test]
    fn a_profiler_needs_a_path() {
        assert!(AttachProfiler::new(CLASS, "").is_err());
        assert!(StartupProfiler::new(CLASS, "").is_err());
    }
}
