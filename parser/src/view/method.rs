//! Methods: code that was loaded or unloaded, or existed when the session started or
//! ended.

use super::{KnownProvider, View, number, number32, text};
use crate::bytes::{first, take_first};
use crate::event::Event;
use crate::payload::Utf16;

/// A method's code and name: runtime 141 to 144, rundown 141 to 144, versions 0 to 2. For
/// the events without names (141, 142) the texts are empty.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Method<'r> {
    /// Why the method is reported.
    pub change: MethodChange,
    /// Id of the method.
    pub method_id: u64,
    /// Id of the method's module; see [`Module`](super::Module).
    pub module_id: u64,
    /// First address of the method's code.
    pub start: u64,
    /// Size of the method's code in bytes.
    pub size: u32,
    /// Metadata token; 0 for helpers and stubs.
    pub token: u32,
    /// Flags as stored; see [`Method::tier`] and the other accessors.
    pub flags: u32,
    /// Namespace and type.
    pub namespace: Utf16<'r>,
    /// Method name.
    pub name: Utf16<'r>,
    /// Signature in IL notation.
    pub signature: Utf16<'r>,
    /// Id of the code version, from version 2 on.
    pub rejit_id: Option<u64>,
}

/// Why a method is reported.
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

/// How a method's code was compiled. Only meaningful if [`Method::is_jitted`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tier {
    /// The tier is not reported.
    Unknown,
    /// Compiled without optimisation, as requested.
    MinOptJitted,
    /// Compiled with optimisation from the start, without tiers.
    Optimized,
    /// Tier 0.
    QuickJitted,
    /// Tier 1.
    OptimizedTier1,
    /// Tier 1, entered from a running loop (on-stack replacement).
    OptimizedTier1Osr,
    /// Tier 0 with instrumentation.
    QuickJittedInstrumented,
    /// Tier 1 with instrumentation.
    OptimizedTier1Instrumented,
}

impl Tier {
    /// Returns the tier's name in the manifest.
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
    /// Returns whether the method has no metadata: a helper, a stub, or dynamically
    /// emitted code.
    pub fn is_dynamic(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Returns whether the code was compiled in this process; if not, it was precompiled
    /// (ReadyToRun).
    pub fn is_jitted(&self) -> bool {
        self.flags & 8 != 0
    }

    /// Returns how the code was compiled.
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

    /// Returns which part of the method's code this is: 0 hot, 1 cold.
    pub fn extent(&self) -> u32 {
        self.flags >> 28
    }
}

/// The code of a method event without its name: the fields with which the payloads of all
/// method events begin. It is meant for the many events that list code which is known
/// already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodRange {
    /// Id of the method, as [`Method::method_id`].
    pub method_id: u64,
    /// Id of the method's module, as [`Method::module_id`].
    pub module_id: u64,
    /// First address of the code, as [`Method::start`].
    pub start: u64,
    /// Size of the code in bytes, as [`Method::size`].
    pub size: u32,
}

impl MethodRange {
    /// Returns the view of a payload that is known to belong to a method event.
    #[inline]
    pub fn from_payload(payload: &[u8]) -> Option<MethodRange> {
        let mut rest = payload;
        let [method_id, module_id, start] = take_first(&mut rest)?;
        Some(MethodRange { method_id, module_id, start, size: first(rest)? })
    }
}

/// A thread starts to compile a method: runtime 145, versions 0 and 1. Its [`Method`]
/// follows on the same thread.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MethodJitting<'r> {
    /// Id of the method.
    pub method_id: u64,
    /// Id of the method's module; see [`Module`](super::Module).
    pub module_id: u64,
    /// Metadata token; 0 for helpers and stubs.
    pub token: u32,
    /// Size of the method's IL in bytes; 0 for dynamically emitted code.
    pub il_bytes: u32,
    /// Namespace and type.
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
