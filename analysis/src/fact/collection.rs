//! Why collections came, and which code is behind them.

use super::place::Place;

/// Why collections came, or are dear.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", tag = "reason"))]
#[non_exhaustive]
pub enum CollectionReason {
    /// The program asked for them.
    #[non_exhaustive]
    Induced {
        /// Number of those that were asked for.
        induced: u64,
        /// Number of all.
        of: u64,
        /// The method that asks.
        by: Option<Place>,
    },
    /// The heap has holes between pinned objects.
    #[non_exhaustive]
    Holes {
        /// Percentage of the heap that is holes.
        percent: f64,
        /// Number of pinned objects.
        pinned_objects: u32,
    },
    /// The heap only grew.
    #[non_exhaustive]
    Growth {
        /// Size after the first collection, in bytes.
        from_bytes: u64,
        /// Size after the last one.
        to_bytes: u64,
        /// Growth a second; `None` if they came at one time.
        bytes_per_second: Option<f64>,
    },
    /// Large objects were allocated.
    #[non_exhaustive]
    LargeObjects {
        /// Number of collections for them.
        collections: u64,
        /// Number of all.
        of: u64,
        /// Whether all of these were of generation 2.
        is_generation_2: bool,
        /// What was allocated, if the trace says so.
        objects: Option<LargeObjects>,
    },
    /// Most of what is young survives.
    #[non_exhaustive]
    Survival {
        /// Number of collections that copied much.
        collections: u64,
        /// What they copied, in bytes.
        copied_bytes: u64,
        /// What was allocated at least, if that is more.
        allocated_bytes: Option<u64>,
    },
}

impl CollectionReason {
    /// Returns whether it says where.
    pub(crate) fn names_place(&self) -> bool {
        match self {
            CollectionReason::Induced { by, .. } => by.is_some(),
            CollectionReason::LargeObjects { objects, .. } => objects.is_some(),
            _ => false,
        }
    }
}

/// Large objects that were allocated.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LargeObjects {
    /// Their size, in bytes.
    pub bytes: u64,
    /// Number of them, as far as they were sampled.
    pub allocations: u64,
    /// Size of the largest object of the type, in bytes.
    pub max_object_bytes: Option<u64>,
    /// The type that most of them have.
    pub type_name: String,
    /// The program's own method that allocates them.
    pub place: Option<Place>,
}

/// The program's own method behind collections.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum CollectionPlace {
    /// It allocates most.
    Allocates(AllocatedType),
    /// Most collections begin in it.
    Begins(Place),
    /// Most samples are in it.
    Busiest(Place),
}

/// The type with most of the allocated bytes.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AllocatedType {
    /// The type.
    pub type_name: String,
    /// Its part of what was allocated, in percent, by the method; `None` without one.
    pub percent: Option<f64>,
    /// The program's own method that allocates it.
    pub place: Option<Place>,
}
