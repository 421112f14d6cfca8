//! View of exceptions.

use super::{KnownProvider, View, number, number32, text};
use crate::event::Event;
use crate::payload::Utf16;

/// Exception that was thrown: runtime event 80, version 1. Version 0, which has no fields, has no
/// view.
///
/// Quirk: runtimes before .NET 6 omit a null message ([FORMAT.md Q11](crate::format_guide#Q11)),
/// which is then empty here.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Exception<'r> {
    /// Name of the exception's type.
    pub type_name: Utf16<'r>,
    /// Message of the exception; for a null message, `NULL` from .NET 6 on.
    pub message: Utf16<'r>,
    /// Address of the instruction that threw the exception.
    pub address: u64,
    /// HRESULT of the exception.
    pub hresult: u32,
    /// Flags as stored: 1 has an inner exception, 2 nested, 4 rethrown, 8 corrupted state (cannot
    /// be caught), 16 CLS compliant.
    pub flags: u32,
}

impl<'r> View<'r> for Exception<'r> {
    fn from_event(event: &Event<'r>) -> Option<Exception<'r>> {
        if event.known_provider() != KnownProvider::Runtime
            || event.id() != 80
            || event.version() < 1
        {
            return None;
        }
        let fields = &mut event.fields();
        Some(Exception {
            type_name: text(fields, "ExceptionType")?,
            message: text(fields, "ExceptionMessage")?,
            address: number(fields, "ExceptionEIP")?,
            hresult: number32(fields, "ExceptionHRESULT")?,
            flags: number32(fields, "ExceptionFlags")?,
        })
    }
}

impl<'r> Exception<'r> {
    /// Returns whether the exception has an inner exception.
    pub fn has_inner(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Returns whether the exception was thrown while another exception was being handled.
    pub fn is_nested(&self) -> bool {
        self.flags & 2 != 0
    }

    /// Returns whether the exception was rethrown.
    pub fn is_rethrown(&self) -> bool {
        self.flags & 4 != 0
    }
}
