//! Heap dumps: the objects of the managed heap, and what keeps them alive.
//!
//! A session with the settings of [`RECORD`] makes the runtime run a garbage collection and report
//! every object that survives. [`HeapReader`] builds a [`HeapDump`] for each such collection in a
//! trace: objects, references and roots in arrays, 20 bytes per object and 4 per reference.
//! [`Retained`] computes what each object keeps alive, and [`HeapPaths`] what keeps each object
//! alive.
//!
//! [`HeapLosses`] counts what a dump lacks. All other data of an incomplete dump can be used.

mod addresses;
mod breadth_first;
mod build;
mod diff;
mod dominators;
mod dump;
mod gathered;
mod gcdump;
mod gcdump_about;
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

pub use crate::metadata::MetadataError;
pub use diff::{HeapDiff, HeapHolderGrowth, HeapSize, HeapTypeChange, HeapTypeDiff};
pub use dump::{HeapDump, HeapLosses, HeapType, Root};
pub use gcdump::{GcDumpError, GcDumpFault};
pub use gcdump_about::{GcDumpAbout, HeapEstimate};
pub use holders::{HeapHolder, HeldBy};
pub use kinds::{HeapGeneration, RootKind};
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

/// What a session must record for a heap dump. The first element is for CoreCLR, the second for
/// Mono.
pub const RECORD: [Recording; 2] = [
    // Keywords: collections, types, the heap, a collection when the session starts, names of types.
    Recording::runtime(0x198_0001, 5),
    // Keywords: collections, the heap, a collection when the session starts, roots, names of types.
    Recording::new("Microsoft-DotNETRuntimeMonoProfiler", 0xc90_0001, 4),
];
