//! Types of allocated objects.

use super::alloc::{Alloc, AllocEvent, AllocReport, AllocType};
use super::contract::{Moment, Recording, Report, SCHEMA};
use crate::model::{Model, Resolved};
use nettrace_parser::Event;

/// Computes a [`TypesReport`] from the events of an [`AllocReport`].
#[derive(Debug, Default)]
pub struct Types(Alloc);

/// Types of allocated objects, by the most accurate measurement in the trace.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TypesReport {
    /// Version of this document.
    pub schema: u32,
    /// Events that were used, as [`Alloc`] describes them; `None` if the trace has none.
    pub source: Option<AllocEvent>,
    /// Number of events.
    pub events: u64,
    /// Estimated total size in bytes.
    pub bytes: u64,
    /// Types with the most bytes first.
    pub types: Vec<AllocType>,
}

impl Report for Types {
    type Output = TypesReport;

    const NAME: &'static str = "types";
    const ABOUT: &'static str = "The types of objects that were allocated";
    const RECORD: &'static [Recording] = Alloc::RECORD;

    fn wants(&self, event: &Event<'_>) -> bool {
        self.0.wants(event)
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        self.0.event(event, moment, model)
    }

    fn finish(self, resolved: &Resolved<'_>) -> TypesReport {
        let AllocReport { sources, .. } = self.0.finish(resolved);
        let best = sources.into_iter().next();
        TypesReport {
            schema: SCHEMA,
            source: best.as_ref().map(|source| source.source),
            events: best.as_ref().map_or(0, |source| source.events),
            bytes: best.as_ref().map_or(0, |source| source.bytes),
            types: best.map(|source| source.types).unwrap_or_default(),
        }
    }
}
