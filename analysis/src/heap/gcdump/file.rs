//! The objects of a `.gcdump`: from the container to the parts of a graph.
//!
//! | object | fields |
//! |---|---|
//! | `GCHeapDump` 9 and later | graph, bool is 64-bit, f32 and f32 multipliers, JavaScript's heap, .NET's heap, string log, i64 time, strings machine and process, i32 process id, i64 commit, i64 working set, i32 n and n f32 multipliers of types; tagged: interop, string tool |
//! | `GCHeapDump` 4 to 7 | graph, i64 size of segments, i64 size and i64 number of dumped objects, bool all; from 5: log to working set as above; from 6: i32 n and n segments; from 7: bool is 64-bit |
//! | `Graphs.MemoryGraph` | i64 size, i32 root, i32 n and n types (string name, i32 size, string module), i32 n and n u32 offsets of records, i32 n and n bytes with the records; if a reader of version 1 is needed: names of types from elsewhere; i32 n and n u64 addresses; tagged: byte is 64-bit |
//! | names from elsewhere | i32 forward reference, i32 n and for each type i32 id, module, string suffix; `END` |
//! | `DotNetHeapInfo` | i64 size, i32 n and n segments |
//! | `GCHeapDumpSegment` | i64 start and end, then the i64 ends of generations 0 to 2, of large and (version 1 and later) of pinned objects |
//! | `InteropInfo` | i32 n; unless 0, i32 numbers of RCWs (40 bytes each), CCWs (32), interfaces (33) and modules (i64, i32, i32, string) |
//! | `Graphs.Module` | string path, i64 base, i32 or i64 size, i64 time, string PDB, 16 bytes GUID, i32 age |
//! | `JSHeapInfo` | none |

use super::super::gcdump_about::GcDumpAbout;
use super::container::{BYTE, Container, END, ObjectStart, SKIP_REGION, STRING};
use super::error::{GcDumpError, GcDumpFault as Fault};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Type of the first object.
pub(super) const DUMP: &[u8] = b"GCHeapDump";

/// Greatest version of the format that is known.
const MAX_VERSION: u32 = 10;
/// Maximum depth of objects in objects; sound files have four levels.
const MAX_DEPTH: u32 = 5;
/// Minimum sizes in the file, in bytes: of a type, of a segment's place, of a type's deferred name.
const MIN_TYPE_BYTES: usize = 12;
const MIN_SEGMENT_BYTES: usize = 1;
const MIN_DEFERRED_BYTES: usize = 9;
/// Sizes in bytes: of what versions 4 to 7 say of the dumped objects, of the process's memory, of RCWs,
/// CCWs and interfaces, and of a module of these without its name.
const DUMPED_BYTES: usize = 25;
const MEMORY_BYTES: usize = 16;
const INTEROP_BYTES: [usize; 3] = [40, 32, 33];
const INTEROP_MODULE_BYTES: usize = 16;
/// Maximum time of a module's build in ticks: the end of the year 9999.
const MAX_TICKS: i64 = 3_155_378_975_999_999_999;

/// A type of nodes.
#[derive(Debug)]
pub(super) struct StoredType<'f> {
    pub(super) name: Cow<'f, str>,
    /// Size of a node whose record has none.
    pub(super) bytes: i32,
    pub(super) module: Cow<'f, str>,
    /// Index in [`GcDumpFile::modules`] of the module, if it has an object of its own.
    pub(super) module_object: Option<usize>,
}

/// Start and end of a segment, and the ends of generations 0 to 2, of large and of pinned objects.
pub(super) type HeapSegment = [i64; 7];

/// The parts of a file that an analysis needs.
#[derive(Debug, Default)]
pub(super) struct GcDumpFile<'f> {
    pub(super) about: GcDumpAbout,
    pub(super) process_id: i32,
    pub(super) root: i32,
    pub(super) types: Vec<StoredType<'f>>,
    /// Offset in `blob` of each node's record, as bytes.
    pub(super) records: &'f [u8],
    pub(super) blob: &'f [u8],
    /// Offset of `blob` in the file.
    pub(super) blob_at: usize,
    /// Address of each node, as bytes.
    pub(super) addresses: &'f [u8],
    /// Paths of modules that have objects of their own.
    pub(super) modules: Vec<Cow<'f, str>>,
    pub(super) segments: Vec<HeapSegment>,
    /// Mean multipliers of counts and of bytes.
    pub(super) mean_multipliers: (f32, f32),
    /// Multiplier of each type, as bytes; empty if the heap was not sampled.
    pub(super) multipliers: &'f [u8],
}

/// An object that may be referred to a second time.
#[derive(Debug, Clone, Copy)]
enum Stored {
    /// A module, by its index in [`GcDumpFile::modules`].
    Module(usize),
    Segment(HeapSegment),
    /// An object without a meaning for the analysis.
    Other,
}

/// Reads the objects of a file.
pub(super) fn parse(file: &[u8]) -> Result<GcDumpFile<'_>, GcDumpError> {
    let mut objects = Objects {
        container: Container::new(file)?,
        earlier: BTreeMap::new(),
        parts: GcDumpFile { mean_multipliers: (1.0, 1.0), ..GcDumpFile::default() },
        has_graph: false,
    };
    let start = objects.container.object()?;
    match start {
        ObjectStart::Fields(_, of) if of.name == DUMP => {
            objects.dump(of.version, of.minimum)?;
        }
        _ => return Err(GcDumpError::new(0, "first object", Fault::NotGcDump)),
    }
    objects.container.context = "GCHeapDump";
    objects.container.skip_to_end()?;
    objects.parts.about.lacks_end = !objects.container.ends_here();
    Ok(objects.parts)
}

struct Objects<'f> {
    container: Container<'f>,
    earlier: BTreeMap<u64, Stored>,
    parts: GcDumpFile<'f>,
    has_graph: bool,
}

impl<'f> Objects<'f> {
    /// Reads an object or null. Its type must be one of `wanted`.
    fn object(&mut self, wanted: &'static str, depth: u32) -> Result<Option<Stored>, GcDumpError> {
        let context = std::mem::replace(&mut self.container.context, wanted);
        let (at, of) = match self.container.object()? {
            ObjectStart::Null => return Ok(None),
            ObjectStart::Earlier(label) => {
                let known = self.earlier.get(&label).copied();
                let known = known.ok_or_else(|| self.container.fault(Fault::Reference(label)))?;
                self.container.context = context;
                return Ok(Some(known));
            }
            ObjectStart::Fields(at, of) => (at, of),
        };
        if depth > MAX_DEPTH {
            return Err(self.container.fault(Fault::Nesting));
        }
        if of.name != wanted.as_bytes() {
            let name = String::from_utf8_lossy(of.name).into_owned();
            return Err(self.container.fault(Fault::ObjectType(name)));
        }
        if of.minimum > 1 {
            return Err(self.container.fault(Fault::Version(of.version, of.minimum)));
        }
        let stored = match wanted {
            "Graphs.MemoryGraph" => self.graph(of.minimum, depth)?,
            "DotNetHeapInfo" => self.heap(depth)?,
            "GCHeapDumpSegment" => self.segment(of.version)?,
            "InteropInfo" => self.interop()?,
            "Graphs.Module" => self.module()?,
            _ => Stored::Other,
        };
        self.container.skip_to_end()?;
        self.container.context = context;
        self.earlier.insert(at, stored);
        Ok(Some(stored))
    }

    fn dump(&mut self, version: u32, minimum: u32) -> Result<(), GcDumpError> {
        self.container.context = "GCHeapDump";
        if version < 4 || version == 8 || minimum > MAX_VERSION {
            return Err(self.container.fault(Fault::Version(version, minimum)));
        }
        self.parts.about.version = version;
        let graph = self.object("Graphs.MemoryGraph", 1)?;
        if graph.is_none() {
            self.container.context = "graph";
            return Err(self.container.fault(Fault::Missing));
        }
        if version > 8 {
            let _: u8 = self.container.number()?;
            self.parts.mean_multipliers = (self.container.number()?, self.container.number()?);
            self.object("JSHeapInfo", 1)?;
            self.object("DotNetHeapInfo", 1)?;
        } else {
            self.container.take(DUMPED_BYTES)?;
        }
        if version > 4 {
            self.origin()?;
        }
        if version > 8 {
            self.container.context = "multipliers";
            let count = self.container.count(size_of::<f32>())?;
            self.parts.multipliers = self.container.take(count.saturating_mul(size_of::<f32>()))?;
            if self.container.has_tag(SKIP_REGION) {
                let _ = self.container.forward()?;
                self.object("InteropInfo", 1)?;
            }
            if self.container.has_tag(STRING) {
                self.parts.about.tool = self.container.string()?.map(Cow::into_owned);
            }
        } else {
            if version > 5 {
                self.segments(1)?;
            }
            if version > 6 {
                self.parts.about.is_64_bit |= self.container.number::<u8>()? != 0;
            }
        }
        Ok(())
    }

    /// Reads where and when the dump was made.
    fn origin(&mut self) -> Result<(), GcDumpError> {
        self.container.context = "origin";
        // The tool's log.
        self.container.string()?;
        let ticks: i64 = self.container.number()?;
        let about = &mut self.parts.about;
        about.collected_ticks = (ticks != 0).then_some(ticks);
        about.machine = self.container.string()?.map(Cow::into_owned);
        about.process = self.container.string()?.map(Cow::into_owned);
        self.parts.process_id = self.container.number()?;
        self.container.take(MEMORY_BYTES)?;
        Ok(())
    }

    fn graph(&mut self, minimum: u32, depth: u32) -> Result<Stored, GcDumpError> {
        if std::mem::replace(&mut self.has_graph, true) {
            return Err(self.container.fault(Fault::Nesting));
        }
        self.parts.about.stored_bytes = self.container.number()?;
        self.parts.root = self.container.number()?;
        self.container.context = "types";
        let mut nameless = Vec::new();
        for at in 0..self.container.count(MIN_TYPE_BYTES)? {
            let name = self.container.string()?;
            if name.is_none() {
                nameless.push(at);
            }
            let bytes = self.container.number()?;
            let module = self.container.string()?.unwrap_or_default();
            let name = name.unwrap_or_default();
            self.parts.types.push(StoredType { name, bytes, module, module_object: None });
        }
        self.container.context = "nodes";
        let nodes = self.container.count(size_of::<u32>())?;
        self.parts.records = self.container.take(nodes.saturating_mul(size_of::<u32>()))?;
        self.container.context = "records";
        let length = self.container.count(1)?;
        self.parts.blob_at = self.container.offset();
        self.parts.blob = self.container.take(length)?;
        if minimum > 0 {
            self.deferred(&nameless, depth)?;
        }
        self.container.context = "addresses";
        let count = self.container.count(size_of::<u64>())?;
        if count != nodes {
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            return Err(self.container.fault(Fault::Addresses(count)));
        }
        self.parts.addresses = self.container.take(count.saturating_mul(size_of::<u64>()))?;
        if self.container.has_tag(BYTE) {
            self.parts.about.is_64_bit = self.container.number::<u8>()? != 0;
        }
        Ok(Stored::Other)
    }

    /// Reads names of types that were to come from a PDB file.
    fn deferred(&mut self, nameless: &[usize], depth: u32) -> Result<(), GcDumpError> {
        self.container.context = "deferred names";
        let end = self.container.forward()?;
        for at in 0..self.container.count(MIN_DEFERRED_BYTES)? {
            let id: u32 = self.container.number()?;
            let module = self.object("Graphs.Module", depth.saturating_add(1))?;
            let suffix = self.container.string()?.unwrap_or_default();
            let Some(of) = self.parts.types.get_mut(at) else { continue };
            if nameless.binary_search(&at).is_ok() {
                of.name = Cow::Owned(format!("TypeID(0x{id:x}){suffix}"));
                if let Some(Stored::Module(module)) = module {
                    of.module_object = Some(module);
                }
            }
        }
        let tag: u8 = self.container.number()?;
        match end {
            _ if tag != END => Err(self.container.fault(Fault::Tag(tag))),
            Some(end) if end != self.container.offset() => {
                Err(self.container.fault(Fault::Forward(0)))
            }
            _ => Ok(()),
        }
    }

    fn heap(&mut self, depth: u32) -> Result<Stored, GcDumpError> {
        let _: i64 = self.container.number()?;
        self.segments(depth.saturating_add(1))?;
        Ok(Stored::Other)
    }

    fn segments(&mut self, depth: u32) -> Result<(), GcDumpError> {
        self.container.context = "segments";
        for _ in 0..self.container.count(MIN_SEGMENT_BYTES)? {
            if let Some(Stored::Segment(segment)) = self.object("GCHeapDumpSegment", depth)? {
                self.parts.segments.push(segment);
            }
        }
        Ok(())
    }

    fn segment(&mut self, version: u32) -> Result<Stored, GcDumpError> {
        let mut segment = HeapSegment::default();
        let fields = if version > 0 { 7 } else { 6 };
        for field in segment.iter_mut().take(fields) {
            *field = self.container.number()?;
        }
        Ok(Stored::Segment(segment))
    }

    fn interop(&mut self) -> Result<Stored, GcDumpError> {
        let wrappers: u32 = self.container.number()?;
        if wrappers == 0 {
            return Ok(Stored::Other);
        }
        self.parts.about.com_wrappers = wrappers.into();
        let counts: [u32; 4] = self.container.number()?;
        let [.., modules] = counts;
        for (count, bytes) in counts.into_iter().zip(INTEROP_BYTES) {
            self.container.take((count as usize).saturating_mul(bytes))?;
        }
        for _ in 0..modules {
            self.container.take(INTEROP_MODULE_BYTES)?;
            self.container.string()?;
        }
        Ok(Stored::Other)
    }

    fn module(&mut self) -> Result<Stored, GcDumpError> {
        let path = self.container.string()?.unwrap_or_default();
        let _: i64 = self.container.number()?;
        // The size takes four bytes, or eight since 2025, and no version tells which.
        let rest = |bytes| self.container.module_rest(bytes, MAX_TICKS);
        let length = rest(size_of::<i32>()).or_else(|| rest(size_of::<i64>()));
        let length = length.ok_or_else(|| self.container.fault(Fault::Missing))?;
        self.container.take(length)?;
        self.parts.modules.push(path);
        Ok(Stored::Module(self.parts.modules.len().saturating_sub(1)))
    }
}
