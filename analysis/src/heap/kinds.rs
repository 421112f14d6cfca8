//! Kinds of roots, and generations of objects.

use std::fmt;

/// Kind of a root, which holds an object from outside of the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum RootKind {
    /// A static variable.
    Static,
    /// A thread-static variable.
    ThreadStatic,
    /// A local variable, an argument or a register.
    Stack,
    /// The queue of objects waiting for their finalizer.
    FinalizerQueue,
    /// A pinned handle: `GCHandleType.Pinned`, and objects pinned by the runtime itself.
    PinnedHandle,
    /// A strong handle: `GCHandleType.Normal`, and handles of the runtime itself.
    StrongHandle,
    /// A sized reference handle, which caches use.
    SizedHandle,
    /// A dependent handle whose key is not in the dump.
    DependentHandle,
    /// A reference that COM holds.
    Com,
    /// An object of an older generation that was not collected.
    OlderGeneration,
    /// Anything else.
    Other,
}

impl fmt::Display for RootKind {
    /// Writes, for example, `static variable`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            RootKind::Static => "static variable",
            RootKind::ThreadStatic => "thread static variable",
            RootKind::Stack => "local variable",
            RootKind::FinalizerQueue => "queued finalizer",
            RootKind::PinnedHandle => "pinned handle",
            RootKind::StrongHandle => "strong handle",
            RootKind::SizedHandle => "sized handle",
            RootKind::DependentHandle => "dependent handle",
            RootKind::Com => "COM caller",
            RootKind::OlderGeneration => "older-generation root",
            RootKind::Other => "other root",
        })
    }
}

impl RootKind {
    /// All kinds, in order of preference: if several kinds of roots hold an object, paths start at
    /// the first of them.
    pub(crate) const ALL: [RootKind; 11] = [
        RootKind::Static,
        RootKind::ThreadStatic,
        RootKind::Stack,
        RootKind::FinalizerQueue,
        RootKind::PinnedHandle,
        RootKind::StrongHandle,
        RootKind::SizedHandle,
        RootKind::DependentHandle,
        RootKind::Com,
        RootKind::OlderGeneration,
        RootKind::Other,
    ];

    /// Returns the kind of a root from the two numbers that the event has for it. Returns `None`
    /// for a weak root, which keeps nothing alive.
    pub(super) fn from_edge(kind: u8, flags: u32) -> Option<RootKind> {
        const PINNING: u32 = 1;
        const WEAK: u32 = 2;
        const REF_COUNTED: u32 = 8;
        if flags & WEAK != 0 {
            return None;
        }
        Some(match kind {
            0 => RootKind::Stack,
            _ if flags & REF_COUNTED != 0 => RootKind::Com,
            1 | 7 => RootKind::FinalizerQueue,
            2 if flags & PINNING != 0 => RootKind::PinnedHandle,
            2 => RootKind::StrongHandle,
            3 => RootKind::OlderGeneration,
            4 => RootKind::SizedHandle,
            6 => RootKind::DependentHandle,
            _ => RootKind::Other,
        })
    }
}

/// The part of the heap in which an object lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum HeapGeneration {
    /// Generation 0: objects that have not survived a collection.
    Gen0,
    /// Generation 1: objects that have survived one collection.
    Gen1,
    /// Generation 2: objects that have survived several collections.
    Gen2,
    /// The large object heap.
    Large,
    /// The pinned object heap.
    Pinned,
    /// Memory that the collector does not touch, such as string literals.
    Frozen,
    /// The trace does not tell in which part the object lies.
    Unknown,
}

impl fmt::Display for HeapGeneration {
    /// Writes, for example, `gen 2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            HeapGeneration::Gen0 => "gen 0",
            HeapGeneration::Gen1 => "gen 1",
            HeapGeneration::Gen2 => "gen 2",
            HeapGeneration::Large => "large objects",
            HeapGeneration::Pinned => "pinned objects",
            HeapGeneration::Frozen => "frozen objects",
            HeapGeneration::Unknown => "unknown",
        })
    }
}

impl HeapGeneration {
    /// All generations, in display order.
    pub(crate) const ALL: [HeapGeneration; 7] = [
        HeapGeneration::Gen0,
        HeapGeneration::Gen1,
        HeapGeneration::Gen2,
        HeapGeneration::Large,
        HeapGeneration::Pinned,
        HeapGeneration::Frozen,
        HeapGeneration::Unknown,
    ];

    pub(super) fn from_number(number: u8) -> HeapGeneration {
        let known = [
            HeapGeneration::Gen0,
            HeapGeneration::Gen1,
            HeapGeneration::Gen2,
            HeapGeneration::Large,
            HeapGeneration::Pinned,
        ];
        known.get(usize::from(number)).copied().unwrap_or(HeapGeneration::Unknown)
    }
}
