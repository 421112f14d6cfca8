//! The managed heap: its objects, and what keeps them alive.
//!
//! A session with what [`RECORD`] has makes the runtime run a
//! garbage collection and report every object that survives. [`HeapReader`] builds a
//! [`HeapDump`] for each such collection in a trace: objects, references and roots in
//! arrays, 20 bytes per object and 4 per reference. [`Retained`] computes what each
//! object keeps alive, and [`HeapPaths`] what keeps it alive.
//!
//! Missing parts of a dump are counted in [`HeapLosses`]; everything else is delivered.

mod addresses;
mod breadth_first;
mod build;
mod diff;
mod dominators;
mod dump;
mod gathered;
mod graph;
mod holders;
mod kinds;
mod lengauer_tarjan;
mod links;
mod module_types;
mod mono;
mod name;
mod own_types;
mod paths;
mod reading;
mod report;
mod retained;
mod threads;
mod tree;
mod type_rows;

pub use diff::{HeapDiff, HeapHolderGrowth, HeapSize, HeapTypeChange, HeapTypeDiff};
pub use dump::{HeapDump, HeapLosses, HeapType, Root};
pub use holders::{HeapHolder, HeldBy};
pub use kinds::{HeapGeneration, RootKind};
pub use module_types::ModuleTypesError;
pub use name::HeapName;
pub use own_types::HeapOwnType;
pub use paths::{HeapPath, HeapPathGroup, HeapPathGroups, HeapPaths, HeapStep};
pub use reading::HeapReader;
pub use report::{
    HeapDumpRow, HeapGenerationRow, HeapModuleRow, HeapReport, HeapRootRow, HeapStaticRow,
    HeapTypeRow,
};
pub use retained::{HeapNode, Retained};
pub use tree::{HeapTreeKind, HeapTreeNode};

use crate::recording::Recording;

/// What to record for a heap dump: of .NET and of Mono, which has a provider of its own.
pub const RECORD: [Recording; 2] = [
    // Collections, types, the heap, a collection when the session starts, names of types.
    Recording::runtime(0x198_0001, 5),
    // Collections, the heap, a collection when the session starts, roots, names of types.
    Recording::new("Microsoft-DotNETRuntimeMonoProfiler", 0xc90_0001, 4),
];
