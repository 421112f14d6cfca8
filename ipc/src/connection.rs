//! A connection to a runtime: sends one request in one write, and reads the reply and the bytes
//! after it.

use crate::command::{Command, read_failure};
use crate::command_id::CommandId;
use crate::deadlines::Deadline;
use crate::endpoint::Wire;
use crate::error::{Error, ReplyFault, Step};
use crate::message::{HEADER_BYTES, Message, ReplyHeader};
use crate::transcript::Tap;
use std::io;
use std::time::Duration;

/// Maximum size of the buffer for a read, in bytes. So a length that is announced, but not followed
/// by bytes, allocates nothing.
const MAX_READ_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct Connection {
    wire: Wire,
    tap: Option<Tap>,
}

impl Connection {
    pub(crate) fn new(wire: Wire, tap: Option<Tap>) -> Self {
        Connection { wire, tap }
    }

    /// Sends the whole request in one write.
    pub(crate) fn send(&mut self, message: &Message, deadline: Deadline) -> Result<(), Error> {
        if let Some(tap) = &self.tap {
            tap.sent(message.as_bytes());
        }
        let sent = self.wire.write_all(message.as_bytes(), deadline);
        sent.map_err(|source| Error::io(Step::Request, source, deadline.whole))
    }

    /// Sends a file descriptor in a message of its own.
    #[cfg(unix)]
    pub(crate) fn send_descriptor(
        &self,
        descriptor: std::os::fd::BorrowedFd<'_>,
    ) -> Result<(), Error> {
        let sent = self.wire.send_descriptor(descriptor);
        sent.map_err(|source| Error::Io { step: Step::Descriptor, source })
    }

    /// Returns whether a reply begins to arrive within the time `wait`.
    pub(crate) fn wait_readable(&mut self, wait: Duration) -> Result<bool, Error> {
        self.wire.wait_readable(wait).map_err(|source| Error::Io { step: Step::Reply, source })
    }

    /// Reads the reply. Returns its payload if it is a success, or else the runtime's refusal as an
    /// error.
    pub(crate) fn receive(
        &mut self,
        command: CommandId,
        deadline: Deadline,
    ) -> Result<Vec<u8>, Error> {
        let unbelievable = |fault| Error::Reply { command, fault };
        let head = self.read(HEADER_BYTES, Step::Reply, deadline)?;
        let Ok(bytes) = <[u8; HEADER_BYTES]>::try_from(head.as_slice()) else {
            if head.is_empty() {
                return Err(Error::Gone { step: Step::Reply });
            }
            let missing = HEADER_BYTES.saturating_sub(head.len());
            return Err(unbelievable(ReplyFault::EndedEarly { field: "reply header", missing }));
        };
        let header = ReplyHeader::read(bytes).map_err(unbelievable)?;
        let payload = self.read(header.payload_bytes, Step::Reply, deadline)?;
        if payload.len() < header.payload_bytes {
            let missing = header.payload_bytes.saturating_sub(payload.len());
            return Err(unbelievable(ReplyFault::EndedEarly { field: "reply payload", missing }));
        }
        if header.ok {
            return Ok(payload);
        }
        let (code, message) = read_failure(&payload).map_err(unbelievable)?;
        Err(Error::Refused { command, code, message })
    }

    /// Reads exactly `bytes` bytes after the reply.
    pub(crate) fn continuation(
        &mut self,
        command: CommandId,
        bytes: usize,
        deadline: Deadline,
    ) -> Result<Vec<u8>, Error> {
        let read = self.read(bytes, Step::Continuation, deadline)?;
        match bytes.checked_sub(read.len()) {
            None | Some(0) => Ok(read),
            Some(missing) => Err(Error::Reply {
                command,
                fault: ReplyFault::EndedEarly { field: "continuation", missing },
            }),
        }
    }

    /// Reads `wanted` bytes, or fewer if the connection ends before.
    fn read(&mut self, wanted: usize, step: Step, deadline: Deadline) -> Result<Vec<u8>, Error> {
        let mut read = Vec::new();
        let mut buffer = vec![0; wanted.min(MAX_READ_BYTES)];
        while read.len() < wanted {
            let room = wanted.saturating_sub(read.len()).min(buffer.len());
            let target = buffer.get_mut(..room).unwrap_or_default();
            let count = match self.wire.read(target, deadline) {
                // A peer that closes without reading the request resets the connection, which
                // counts as its end.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => 0,
                result => result.map_err(|source| Error::io(step, source, deadline.whole))?,
            };
            let bytes = target.get(..count).unwrap_or_default();
            if let Some(tap) = &self.tap {
                if count == 0 { tap.ended() } else { tap.received(bytes) }
            }
            if count == 0 {
                break;
            }
            read.extend_from_slice(bytes);
        }
        Ok(read)
    }

    /// Sends a typed command and reads its reply.
    pub(crate) fn exchange<C: Command>(
        &mut self,
        command: &C,
        connect: Duration,
        reply: Duration,
    ) -> Result<C::Success, Error> {
        self.send(&command.message()?, Deadline::after(connect))?;
        let payload = self.receive(command.id(), Deadline::after(reply))?;
        command
            .read_success(&payload)
            .map_err(|fault| Error::Reply { command: command.id(), fault })
    }

    /// Returns the open connection and its recorder to the reader of a session's stream.
    pub(crate) fn into_parts(self) -> (Wire, Option<Tap>) {
        (self.wire, self.tap)
    }

    /// Closes the connection without waiting for the other side, because after an error some
    /// runtimes never close it.
    pub(crate) fn close(self) {
        if let Some(tap) = &self.tap {
            tap.closed();
        }
    }
}
