//! The managed heap: its objects, and what keeps them alive.
//!
//! A session with the runtime's keywords [`RECORD_KEYWORDS`] makes the runtime run a
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
mod holders;
mod kinds;
mod lengauer_tarjan;
mod links;
mod module_types;
mod mono;
mod paths;
mod reading;
mod report;
mod retained;
mod threads;
mod tree;
mod type_rows;

pub use diff::{HeapDiff, HeapHolderGrowth, HeapSize, HeapTypeChange, HeapTypeDiff};
pub use dump::{HeapDump, HeapLosses, HeapType, Root};
pub use holders::HeapHolder;
pub use kinds::{HeapGeneration, RootKind};
pub use module_types::ModuleTypesError;
pub use paths::{HeapPath, HeapPathGroup, HeapPathGroups, HeapPaths, HeapStep};
pub use reading::HeapReader;
pub use report::{
    HeapDumpRow, HeapGenerationRow, HeapModuleRow, HeapReport, HeapRootRow, HeapStaticRow,
    HeapTypeRow,
};
pub use retained::{HeapNode, Retained};
pub use tree::HeapTreeNode;

/// Keywords of `Microsoft-Windows-DotNETRuntime` for a heap dump: collections (0x1),
/// types (0x80000), the heap (0x100000), a collection when the session starts (0x800000),
/// names of types (0x1000000). Use level 5.
pub const RECORD_KEYWORDS: u64 = 0x198_0001;

/// The same of `Microsoft-DotNETRuntimeMonoProfiler`, Mono's own provider: collections (0x1), the
/// heap (0x100000), a collection when the session starts (0x800000), roots (0x4000000), names of
/// types (0x8000000).
pub const MONO_RECORD_KEYWORDS: u64 = 0xc90_0001;
