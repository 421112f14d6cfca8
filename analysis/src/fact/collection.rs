//! Reasons for collections, and the code behind them.

use super::place::Place;

/// Reason why collections came or took long.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", tag = "reason"))]
#[non_exhaustive]
pub enum CollectionReason {
    /// The program asked for collections.
    #[non_exhaustive]
    Induced {
        /// Number of collections that the program asked for.
        induced: u64,
        /// Number of all collections.
        of: u64,
        /// The method that asks for collections.
        by: Option<Place>,
    },
    /// The heap is at its limit: collections find no room, and free next to nothing.
    #[non_exhaustive]
    AtLimit {
        /// Number of collections that came because there was no room.
        collections: u64,
        /// Size of the heap after the last of them, in bytes.
        after_bytes: u64,
        /// Whether an `OutOfMemoryException` was thrown.
        is_out_of_memory: bool,
    },
    /// The heap has holes between pinned objects.
    #[non_exhaustive]
    Holes {
        /// Size of the holes in percent of the heap.
        percent: f64,
        /// Number of pinned objects.
        pinned_objects: u32,
    },
    /// The heap only grew.
    #[non_exhaustive]
    Growth {
        /// Size of the heap after the first collection, in bytes.
        from_bytes: u64,
        /// Size of the heap after the last collection, in bytes.
        to_bytes: u64,
        /// Growth in bytes a second; `None` if all collections came at one time.
        bytes_per_second: Option<f64>,
    },
    /// Large objects were allocated.
    #[non_exhaustive]
    LargeObjects {
        /// Number of collections that large objects caused.
        collections: u64,
        /// Number of all collections.
        of: u64,
        /// Whether all collections that large objects caused were of generation 2.
        is_generation_2: bool,
        /// The large objects; `None` if the trace has no allocations.
        objects: Option<LargeObjects>,
    },
    /// Most young objects survive.
    #[non_exhaustive]
    Survival {
        /// Number of collections that most young objects survived.
        collections: u64,
        /// Size of the objects that these collections copied, in bytes.
        copied_bytes: u64,
        /// Lower bound of the allocated bytes; `None` if `copied_bytes` is larger.
        allocated_bytes: Option<u64>,
    },
}

impl CollectionReason {
    /// Returns whether the reason's sentence may name a method.
    pub(crate) fn names_place(&self) -> bool {
        match self {
            CollectionReason::Induced { by, .. } => by.is_some(),
            CollectionReason::LargeObjects { objects, .. } => objects.is_some(),
            _ => false,
        }
    }
}

/// Large objects of a trace.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LargeObjects {
    /// Size of all large objects, in bytes.
    pub bytes: u64,
    /// Number of sampled allocations of large objects.
    pub allocations: u64,
    /// Size of the largest object of `type_name`, in bytes.
    pub max_object_bytes: Option<u64>,
    /// Type with most bytes of large objects.
    pub type_name: String,
    /// The program's own method that allocates objects of `type_name`.
    pub place: Option<Place>,
}

/// The program's own method behind collections.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum CollectionPlace {
    /// Allocates most bytes.
    Allocates(AllocatedType),
    /// Causes most collections.
    Begins(Place),
    /// Has most samples.
    Busiest(Place),
}

/// The type with most of the allocated bytes.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AllocatedType {
    /// Name of the type.
    pub type_name: String,
    /// Bytes of the type that `place` allocates, in percent of all allocated bytes; `None` if no
    /// method is known.
    pub percent: Option<f64>,
    /// The program's own method that allocates most of the type.
    pub place: Option<Place>,
}
