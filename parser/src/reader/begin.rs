//! Reads the beginning of the stream: its header and its first block. A fault there ends
//! reading.

use super::machine::Reader;
use super::phase::{Phase, body_of};
use crate::bytes::before;
use crate::error::{Error, Fault, located};
use crate::format::{Framed, fastserial, needed_to_name, stream_header, v6};
use crate::frame::{BlockKind, Frame};
use crate::source::Source;
use crate::version::Version;

impl<S: Source> Reader<S> {
    fn fail(&mut self, offset: u64, context: &'static str, fault: Fault) {
        self.phase = Phase::Failed { offset, context, fault };
    }

    pub(super) fn read_header(&mut self) -> Result<(), Error> {
        let bytes = self.source.bytes();
        let error = match stream_header(bytes) {
            Ok((rest, version)) => {
                self.position = before(bytes, rest) as u64;
                self.state.begin(version);
                self.phase = Phase::Trace;
                return Ok(());
            }
            Err(error) => located(bytes, error),
        };
        // Reads enough to name another format, in whatever pieces bytes arrive.
        let wanted = match error.fault {
            Fault::Truncated => Some(bytes.len().saturating_add(1)),
            Fault::Foreign(_) => needed_to_name(bytes),
            _ => None,
        };
        let known = bytes.len();
        // A short input may have fewer bytes than wanted, but more than were examined.
        if let Some(wanted) = wanted
            && (self.source.fill(wanted as u64)? || self.source.bytes().len() > known)
        {
            return Ok(());
        }
        match error.fault {
            Fault::Truncated => {
                let end = self.source_end();
                self.fail(end, error.context, Fault::HeaderTruncated);
            }
            fault => self.fail(error.at as u64, error.context, fault),
        }
        Ok(())
    }

    pub(super) fn framed(&self) -> Framed {
        let window = self.window_from(self.position);
        match self.state.version() {
            Some(Version::V6 { .. }) => v6::frame(window, self.position),
            _ => fastserial::frame(window, self.position, self.shift),
        }
    }

    pub(super) fn read_first_block(&mut self) -> Result<Option<Frame>, Error> {
        let start = self.position;
        match self.framed() {
            Framed::Need(bytes) => {
                if !self.source.fill(start.saturating_add(bytes as u64))? {
                    let end = self.source_end();
                    self.fail(end, "Trace block", Fault::HeaderTruncated);
                }
            }
            framed @ (Framed::Block(frame) | Framed::Odd(frame, _))
                if frame.kind == BlockKind::Trace =>
            {
                // There is no search for another Trace block, because without it nothing can be
                // read.
                let frame = if self.state.is_v6() {
                    self.resynced_v6(frame)?.unwrap_or(frame)
                } else {
                    frame
                };
                if !self.source.fill(frame.body_end())? {
                    let end = self.source_end();
                    self.fail(end, "Trace block", Fault::HeaderTruncated);
                    return Ok(None);
                }
                let content = body_of(&self.source, &frame);
                match self.state.read_trace(frame, content) {
                    Ok(()) => {
                        if let Framed::Odd(_, fault) = framed {
                            self.state.damage.in_block(frame).add_contradiction(
                                0,
                                "object type",
                                fault,
                            );
                        }
                        self.last_block = Some(frame);
                        self.phase = Phase::AfterContent(frame);
                        return Ok(Some(frame));
                    }
                    Err((offset, fault)) => self.fail(offset, "Trace block", fault),
                }
            }
            Framed::Refused(_, fault) => self.fail(start.saturating_add(7), "Trace object", fault),
            Framed::Block(_) | Framed::Odd(..) | Framed::End(_) => {
                self.fail(start, "first block", Fault::FirstIsNotTrace)
            }
            Framed::Broken { at, fault, context } => {
                self.fail(start.saturating_add(at as u64), context, fault)
            }
        }
        Ok(None)
    }
}
