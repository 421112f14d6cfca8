//! A command given as bytes, for commands that this crate does not know yet.

use super::{Command, sealed::Sealed};
use crate::command_id::CommandId;
use crate::error::{ReplyFault, RequestError};
use crate::message::{Message, Writer};

/// A command with any set, id and payload.
///
/// Only its size is checked. **A wrong or missing payload can crash the target, leak its
/// descriptors or block its diagnostics for every tool.**
#[derive(Clone, PartialEq, Eq)]
pub struct RawCommand {
    id: CommandId,
    payload: Vec<u8>,
}

impl RawCommand {
    /// Makes a command from its id and the bytes of its payload, which are not checked.
    pub fn unchecked(id: CommandId, payload: Vec<u8>) -> Self {
        RawCommand { id, payload }
    }
}

impl std::fmt::Debug for RawCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RawCommand({:?}, {} bytes)", self.id, self.payload.len())
    }
}

impl Sealed for RawCommand {
    type Success = Vec<u8>;

    fn read_success(&self, payload: &[u8]) -> Result<Vec<u8>, ReplyFault> {
        Ok(payload.to_vec())
    }
}

impl Command for RawCommand {
    fn id(&self) -> CommandId {
        self.id
    }

    fn message(&self) -> Result<Message, RequestError> {
        let mut writer = Writer::new(self.id);
        writer.raw(&self.payload);
        writer.finish()
    }
}
