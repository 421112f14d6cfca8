//! Views of methods whose code was loaded or unloaded, or existed when the session started or
//! ended.

use super::{KnownProvider, View, number, number32, text};
use crate::bytes::{first, take_first};
use crate::event::Event;
use crate::payload::Utf16;

/// Code and name of a method: runtime events 141 to 144 and rundown events 141 to 144, versions 0
/// to 2. The texts of events 141 and 142, which have no names, are empty.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Method<'r> {
    /// Reason why the method is reported.
    pub change: MethodChange,
    /// Id of the method.
    pub method_id: u64,
    /// Id of the method's module; see [`Module`](super::Module).
    pub module_id: u64,
    /// First address of the method's code.
    pub start: u64,
    /// Size of the method's code in bytes.
    pub size: u32,
    /// Metadata token of the method; 0 for helpers and stubs.
    pub token: u32,
    /// Flags as stored, which functions such as [`Method::tier`] interpret.
    pub flags: u32,
    /// Namespace and name of the type that declares the method.
    pub namespace: Utf16<'r>,
    /// Name of the method.
    pub name: Utf16<'r>,
    /// Signature in IL notation.
    pub signature: Utf16<'r>,
    /// Id of the code version; `None` before version 2.
    pub rejit_id: Option<u64>,
}

/// Reason why a method is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MethodChange {
    /// The method's code was compiled or loaded.
    Load,
    /// The method's code was unloaded.
    Unload,
    /// The method existed when the session started.
    AtStart,
    /// The method existed when the session ended.
    AtEnd,
}

/// Way in which a method's code was compiled, for methods with [`Method::is_jitted`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tier {
    /// The tier is not reported.
    Unknown,
    /// Compiled without optimisation, as requested.
    MinOptJitted,
    /// Compiled with optimisation from the start, without tiers.
    Optimized,
    /// Compiled quickly, to be optimised later (tier 0).
    QuickJitted,
    /// Compiled again with optimisation, after many calls (tier 1).
    OptimizedTier1,
    /// Compiled again with optimisation, and entered from a running loop (tier 1, on-stack
    /// replacement).
    OptimizedTier1Osr,
    /// Compiled quickly, with instrumentation (tier 0).
    QuickJittedInstrumented,
    /// Compiled again with optimisation and instrumentation (tier 1).
    OptimizedTier1Instrumented,
}

impl Tier {
    /// Returns the tier's name in the manifest, such as `OptimizedTier1`.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::Unknown => "Unknown",
            Tier::MinOptJitted => "MinOptJitted",
            Tier::Optimized => "Optimized",
            Tier::QuickJitted => "QuickJitted",
            Tier::OptimizedTier1 => "OptimizedTier1",
            Tier::OptimizedTier1Osr => "OptimizedTier1OSR",
            Tier::QuickJittedInstrumented => "QuickJittedInstrumented",
            Tier::OptimizedTier1Instrumented => "OptimizedTier1Instrumented",
        }
    }
}

impl<'r> View<'r> for Method<'r> {
    fn from_event(event: &Event<'r>) -> Option<Method<'r>> {
        let is_rundown = match event.known_provider() {
            KnownProvider::Runtime => false,
            KnownProvider::Rundown => true,
            _ => return None,
        };
        let change = match (event.id(), is_rundown) {
            (141 | 143, false) => MethodChange::Load,
            (142 | 144, false) => MethodChange::Unload,
            (141 | 143, true) => MethodChange::AtStart,
            (142 | 144, true) => MethodChange::AtEnd,
            _ => return None,
        };
        let has_names = matches!(event.id(), 143 | 144);
        let fields = &mut event.fields();
        Some(Method {
            change,
            method_id: number(fields, "MethodID")?,
            module_id: number(fields, "ModuleID")?,
            start: number(fields, "MethodStartAddress")?,
            size: number32(fields, "MethodSize")?,
            token: number32(fields, "MethodToken")?,
            flags: number32(fields, "MethodFlags")?,
            namespace: if has_names { text(fields, "MethodNamespace")? } else { Utf16::default() },
            name: if has_names { text(fields, "MethodName")? } else { Utf16::default() },
            signature: if has_names { text(fields, "MethodSignature")? } else { Utf16::default() },
            rejit_id: if event.version() >= 2 { number(fields, "ReJITID") } else { None },
        })
    }
}

impl<'r> Method<'r> {
    /// Returns whether the method has no metadata, such as a helper, a stub, or dynamically emitted
    /// code.
    pub fn is_dynamic(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Returns whether the code was compiled in this process, and not before (ReadyToRun).
    pub fn is_jitted(&self) -> bool {
        self.flags & 8 != 0
    }

    /// Returns the tier of the code.
    pub fn tier(&self) -> Tier {
        match self.flags >> 7 & 7 {
            1 => Tier::MinOptJitted,
            2 => Tier::Optimized,
            3 => Tier::QuickJitted,
            4 => Tier::OptimizedTier1,
            5 => Tier::OptimizedTier1Osr,
            6 => Tier::QuickJittedInstrumented,
            7 => Tier::OptimizedTier1Instrumented,
            _ => Tier::Unknown,
        }
    }

    /// Returns the part of the method's code: 0 hot, 1 cold.
    pub fn extent(&self) -> u32 {
        self.flags >> 28
    }
}

/// Ids and code of a method: the fields with which the payload of every event of [`Method`] begins.
/// Reading only these is faster, and enough for the many events about code that is already known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodRange {
    /// Id of the method.
    pub method_id: u64,
    /// Id of the method's module; see [`Module`](super::Module).
    pub module_id: u64,
    /// First address of the code.
    pub start: u64,
    /// Size of the code in bytes.
    pub size: u32,
}

impl MethodRange {
    /// Returns the view of a payload, which must be of an event that [`Method`] covers.
    #[inline]
    pub fn from_payload(payload: &[u8]) -> Option<MethodRange> {
        let mut rest = payload;
        let [method_id, module_id, start] = take_first(&mut rest)?;
        Some(MethodRange { method_id, module_id, start, size: first(rest)? })
    }
}

/// Start of the compilation of a method: runtime event 145, versions 0 and 1. The [`Method`]
/// follows on the thread.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MethodJitting<'r> {
    /// Id of the method.
    pub method_id: u64,
    /// Id of the method's module; see [`Module`](super::Module).
    pub module_id: u64,
    /// Metadata token of the method; 0 for helpers and stubs.
    pub token: u32,
    /// Size of the method's IL in bytes; 0 for dynamically emitted code.
    pub il_bytes: u32,
    /// Namespace and name of the type that declares the method.
    pub namespace: Utf16<'r>,
    /// Name of the method.
    pub name: Utf16<'r>,
    /// Signature in IL notation.
    pub signature: Utf16<'r>,
}

impl<'r> View<'r> for MethodJitting<'r> {
    fn from_event(event: &Event<'r>) -> Option<MethodJitting<'r>> {
        if event.known_provider() != KnownProvider::Runtime || event.id() != 145 {
            return None;
        }
        let fields = &mut event.fields();
        Some(MethodJitting {
            method_id: number(fields, "MethodID")?,
            module_id: number(fields, "ModuleID")?,
            token: number32(fields, "MethodToken")?,
            il_bytes: number32(fields, "MethodILSize")?,
            namespace: text(fields, "MethodNamespace")?,
            name: text(fields, "MethodName")?,
            signature: text(fields, "MethodSignature")?,
        })
    }
}
