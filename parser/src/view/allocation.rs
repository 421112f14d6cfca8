//! View of sampled allocations.

use super::{KnownProvider, View, number, number32, text};
use crate::event::Event;
use crate::payload::Utf16;

/// Sampled allocation: runtime event 10 (allocation tick, for about every 100 KB of a heap),
/// versions 2 to 4, and runtime event 303 (allocation sampled, .NET 10), version 0. Earlier
/// versions of ticks, which have no type, have no view.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Allocation<'r> {
    /// Whether the object was chosen at random (303) or by a byte counter (10).
    pub is_random_sample: bool,
    /// Kind of heap: 0 small objects, 1 large objects, 2 pinned objects.
    pub kind: u32,
    /// Number of bytes allocated since the last tick; `None` for random samples.
    pub bytes_since_last: Option<u64>,
    /// Id of the object's type.
    pub type_id: u64,
    /// Name of the object's type.
    pub type_name: Utf16<'r>,
    /// Address of the object; `None` for ticks before version 3.
    pub address: Option<u64>,
    /// Size of the object in bytes; `None` for ticks before version 4.
    pub object_bytes: Option<u64>,
}

impl<'r> View<'r> for Allocation<'r> {
    fn from_event(event: &Event<'r>) -> Option<Allocation<'r>> {
        if event.known_provider() != KnownProvider::Runtime {
            return None;
        }
        match (event.id(), event.version()) {
            (10, 2..) => Allocation::tick(event),
            (303, _) => Allocation::sampled(event),
            _ => None,
        }
    }
}

impl<'r> Allocation<'r> {
    fn tick(event: &Event<'r>) -> Option<Allocation<'r>> {
        let fields = &mut event.fields();
        Some(Allocation {
            is_random_sample: false,
            kind: number32(fields, "AllocationKind")?,
            bytes_since_last: Some(number(fields, "AllocationAmount64")?),
            type_id: number(fields, "TypeID")?,
            type_name: text(fields, "TypeName")?,
            address: if event.version() >= 3 { number(fields, "Address") } else { None },
            object_bytes: if event.version() >= 4 { number(fields, "ObjectSize") } else { None },
        })
    }

    fn sampled(event: &Event<'r>) -> Option<Allocation<'r>> {
        let fields = &mut event.fields();
        Some(Allocation {
            is_random_sample: true,
            kind: number32(fields, "AllocationKind")?,
            bytes_since_last: None,
            type_id: number(fields, "TypeID")?,
            type_name: text(fields, "TypeName")?,
            address: number(fields, "Address"),
            object_bytes: number(fields, "ObjectSize"),
        })
    }
}
