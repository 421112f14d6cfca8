//! Kinds of roots, and generations.

/// What holds an object from outside of the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum RootKind {
    /// A static variable.
    Static,
    /// A static variable that each thread has for itself.
    ThreadStatic,
    /// A local variable, an argument or a register.
    Stack,
    /// The queue of objects whose finalizer is to run.
    FinalizerQueue,
    /// A handle that pins its object: `GCHandleType.Pinned`, and what the runtime pins for itself.
    PinnedHandle,
    /// A handle: `GCHandleType.Normal`, and what the runtime holds for itself.
    StrongHandle,
    /// A handle with a size, as caches have it.
    SizedHandle,
    /// A dependent handle whose key is not in the dump.
    DependentHandle,
    /// A COM caller.
    Com,
    /// An object of an older generation that was not looked at.
    OlderGeneration,
    /// Anything else.
    Other,
}

impl RootKind {
    /// All kinds. Where several hold the same object, ways from the roots begin at the first of them.
    pub const ALL: [RootKind; 11] = [
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

    /// For reading: `static variable`.
    pub fn as_str(self) -> &'static str {
        match self {
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
        }
    }

    /// The kind of a root edge; `None`: it is weak and keeps nothing alive.
    pub(super) fn of(kind: u8, flags: u32) -> Option<RootKind> {
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

    pub(super) fn place(self) -> u32 {
        self as u32
    }
}

/// Where on the heap an object lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum HeapGeneration {
    /// Objects that survived no collection.
    Gen0,
    /// Objects that survived one.
    Gen1,
    /// Objects that survived more.
    Gen2,
    /// The heap of large objects.
    Large,
    /// The heap of pinned objects.
    Pinned,
    /// Memory that the collector does not touch: literals and the like.
    Frozen,
    /// The trace does not tell.
    Unknown,
}

impl HeapGeneration {
    /// All, in the order in which they are listed.
    pub const ALL: [HeapGeneration; 7] = [
        HeapGeneration::Gen0,
        HeapGeneration::Gen1,
        HeapGeneration::Gen2,
        HeapGeneration::Large,
        HeapGeneration::Pinned,
        HeapGeneration::Frozen,
        HeapGeneration::Unknown,
    ];

    /// For reading: `gen 2`.
    pub fn as_str(self) -> &'static str {
        match self {
            HeapGeneration::Gen0 => "gen 0",
            HeapGeneration::Gen1 => "gen 1",
            HeapGeneration::Gen2 => "gen 2",
            HeapGeneration::Large => "large objects",
            HeapGeneration::Pinned => "pinned objects",
            HeapGeneration::Frozen => "frozen objects",
            HeapGeneration::Unknown => "unknown",
        }
    }

    pub(super) fn of(number: u8) -> HeapGeneration {
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
