//! The stream's beginning: its header, its version, its first block. What is wrong here is fatal.

use super::Reader;
use super::phase::{Phase, body_of};
use crate::block::BlockKind;
use crate::error::{Error, Fault};
use crate::format::fastserial::{self, FirstType};
use crate::format::{Detected, Frame, Framed, Version, detect, needed_to_name, v6};
use crate::source::Source;

impl<S: Source> Reader<S> {
    fn fail(&mut self, offset: u64, context: &'static str, fault: Fault) {
        self.phase = Phase::Failed { offset, context, fault };
    }

    pub(super) fn header(&mut self) -> Result<(), Error> {
        match detect(self.source.bytes()) {
            Detected::V6 { minor, header } => {
                self.state.begin(Version::V6 { minor });
                self.position = header;
                self.phase = Phase::Trace;
            }
            Detected::Objects { with_magic, header } => self.first_object(with_magic, header)?,
            Detected::Need(bytes) => {
                if !self.source.fill(bytes as u64)? {
                    // What came last may be wrong, and then it is not the end that is.
                    match detect(self.source.bytes()) {
                        Detected::Broken { at, fault } => self.fail(at, "stream header", fault),
                        _ => {
                            let end = self.source.bytes().len() as u64;
                            self.fail(end, "stream header", Fault::HeaderTruncated);
                        }
                    }
                }
            }
            Detected::Broken { at, fault } => {
                // The same input gets the same name, however it comes in pieces.
                if matches!(fault, Fault::Foreign(_))
                    && let Some(bytes) = needed_to_name(self.source.bytes())
                    && self.source.fill(bytes as u64)?
                {
                    return Ok(());
                }
                self.fail(at, "stream header", fault);
            }
        }
        Ok(())
    }

    /// Tells versions 1 to 4 apart by the first object's type.
    fn first_object(&mut self, with_magic: bool, header: u64) -> Result<(), Error> {
        match fastserial::first_type(self.window_from(header)) {
            None => match fastserial::frame(self.window_from(header), header, 0) {
                Framed::Need(bytes) => {
                    if !self.source.fill(header.saturating_add(bytes as u64))? {
                        let end = self.source.bytes().len() as u64;
                        self.fail(end, "first object", Fault::HeaderTruncated);
                    }
                }
                Framed::Broken { at, fault, context } => {
                    self.fail(header.saturating_add(at as u64), context, fault)
                }
                _ => self.fail(header, "first object", Fault::FirstIsNotTrace),
            },
            Some(FirstType::EventPipeFile { version }) => {
                let version = u32::try_from(version).unwrap_or(0);
                self.fail(header, "first object", Fault::UnsupportedVersion(version));
            }
            Some(FirstType::Trace { version }) => {
                let version = match (version, with_magic) {
                    (3, false) => Version::V3,
                    (4.., _) => Version::V4,
                    (other, _) => {
                        let other = u32::try_from(other).unwrap_or(0);
                        self.fail(header.saturating_add(3), "Trace object", Fault::UnsupportedVersion(other));
                        return Ok(());
                    }
                };
                self.state.begin(version);
                self.position = header;
                self.phase = Phase::Trace;
            }
            Some(FirstType::Other) => self.fail(header, "first object", Fault::FirstIsNotTrace),
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

    pub(super) fn first_block(&mut self) -> Result<Option<Frame>, Error> {
        let start = self.position;
        match self.framed() {
            Framed::Need(bytes) => {
                if !self.source.fill(start.saturating_add(bytes as u64))? {
                    let end = self.source_end();
                    self.fail(end, "Trace block", Fault::HeaderTruncated);
                }
            }
            Framed::Block(frame) if frame.kind == BlockKind::Trace => {
                // It does not go on elsewhere: without a session nothing has a meaning.
                let frame = if self.state.is_v6() { self.settled_v6(frame)?.unwrap_or(frame) } else { frame };
                if !self.source.fill(frame.body_end())? {
                    let end = self.source_end();
                    self.fail(end, "Trace block", Fault::HeaderTruncated);
                    return Ok(None);
                }
                let content = body_of(&self.source, &frame);
                match self.state.read_trace(frame, content) {
                    Ok(()) => {
                        self.last_block = Some(frame);
                        self.phase = Phase::AfterContent(frame);
                        return Ok(Some(frame));
                    }
                    Err((offset, fault)) => self.fail(offset, "Trace block", fault),
                }
            }
            Framed::Refused(_, fault) => self.fail(start.saturating_add(7), "Trace object", fault),
            Framed::Block(_) | Framed::End(_) => self.fail(start, "first block", Fault::FirstIsNotTrace),
            Framed::Broken { at, fault, context } => {
                self.fail(start.saturating_add(at as u64), context, fault)
            }
        }
        Ok(None)
    }
}
