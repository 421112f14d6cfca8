//! Garbage collections.

use super::{KnownProvider, number32};
use crate::event::Event;

/// A collection begins: runtime 1, versions 0 to 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcStart {
    /// Its number, from 1.
    pub number: u32,
    /// The generation it collects; `None` in version 0.
    pub generation: Option<u32>,
    /// Why, as stored: `GCReasonMap` of the catalog.
    pub reason: u32,
    /// How, as stored: 0 blocking, 1 background, 2 blocking while a background one runs. `None` in
    /// version 0.
    pub kind: Option<u32>,
}

impl GcStart {
    /// The view of an event.
    pub fn of(event: &Event<'_>) -> Option<GcStart> {
        if event.known_provider() != KnownProvider::Runtime || event.id() != 1 {
            return None;
        }
        let has_depth = event.version() >= 1;
        let fields = &mut event.fields();
        Some(GcStart {
            number: number32(fields, "Count")?,
            generation: if has_depth { number32(fields, "Depth") } else { None },
            reason: number32(fields, "Reason")?,
            kind: if has_depth { number32(fields, "Type") } else { None },
        })
    }
}

/// A collection ends: runtime 2, versions 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcEnd {
    /// Its number, from 1.
    pub number: u32,
    /// The generation it collected.
    pub generation: u32,
}

impl GcEnd {
    /// The view of an event.
    pub fn of(event: &Event<'_>) -> Option<GcEnd> {
        if event.known_provider() != KnownProvider::Runtime || event.id() != 2 {
            return None;
        }
        let fields = &mut event.fields();
        Some(GcEnd { number: number32(fields, "Count")?, generation: number32(fields, "Depth")? })
    }
}
