//! Keywords of the runtime's provider, by their names.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// Keywords of a provider: bits, each of which selects a group of events. The named ones belong to
/// `Microsoft-Windows-DotNETRuntime`; other providers give the bits their own meaning.
///
/// ```
/// use nettrace_ipc::{Keywords, Provider};
/// let runtime = Provider::new("Microsoft-Windows-DotNETRuntime")?.keywords(Keywords::GC | Keywords::EXCEPTION);
/// assert_eq!(runtime.wire_keywords(), 0xF000_0000_8001);
/// // Keywords of other providers are numbers.
/// let mine = Provider::new("MyCompany-Orders")?.keywords(0x4);
/// assert_eq!(Keywords::from(0x8001).to_string(), "GC | EXCEPTION");
/// # Ok::<(), nettrace_ipc::RequestError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Keywords(u64);

macro_rules! named {
    ($($(#[$doc:meta])* $name:ident = $bit:literal;)*) => {
        impl Keywords {
            $($(#[$doc])* pub const $name: Keywords = Keywords($bit);)*

            /// Names and bits, lowest bit first.
            const NAMES: &[(&str, u64)] = &[$((stringify!($name), $bit)),*];
        }
    };
}

named! {
    /// Garbage collections.
    GC = 0x1;
    /// Handles of the garbage collector.
    GC_HANDLE = 0x2;
    /// Resolution of assemblies.
    ASSEMBLY_LOADER = 0x4;
    /// Assemblies and modules that are loaded.
    LOADER = 0x8;
    /// Compiled methods.
    JIT = 0x10;
    /// Precompiled methods.
    NGEN = 0x20;
    /// Methods and modules that exist when the session starts.
    START_ENUMERATION = 0x40;
    /// Methods and modules that exist when the session ends.
    END_ENUMERATION = 0x80;
    /// Verification of names and signatures.
    SECURITY = 0x400;
    /// Memory and processor time of application domains.
    APP_DOMAIN_RESOURCE_MANAGEMENT = 0x800;
    /// Inlining and tail calls.
    JIT_TRACING = 0x1000;
    /// Stubs between managed and native code.
    INTEROP = 0x2000;
    /// Waits for locks.
    CONTENTION = 0x4000;
    /// Exceptions that are thrown and caught.
    EXCEPTION = 0x8000;
    /// Threads and the thread pool.
    THREADING = 0x10000;
    /// Maps from the IL of methods to their native code.
    JITTED_METHOD_IL_TO_NATIVE_MAP = 0x20000;
    /// Suppresses events of precompiled methods, whatever other keywords say.
    OVERRIDE_AND_SUPPRESS_NGEN_EVENTS = 0x40000;
    /// Types, with their names.
    TYPE = 0x80000;
    /// All objects of the heap.
    GC_HEAP_DUMP = 0x100000;
    /// Allocations, up to 100 a second of each type.
    GC_SAMPLED_OBJECT_ALLOCATION_HIGH = 0x200000;
    /// Objects that survive a collection, and objects that it moves.
    GC_HEAP_SURVIVAL_AND_MOVEMENT = 0x400000;
    /// A collection at the beginning of the session.
    MANAGED_HEAP_COLLECT = 0x800000;
    /// Types of the objects in a dump of the heap.
    GC_HEAP_AND_TYPE_NAMES = 0x1000000;
    /// Allocations, up to 5 a second of each type.
    GC_SAMPLED_OBJECT_ALLOCATION_LOW = 0x2000000;
    /// Modules, for tracking of performance.
    PERF_TRACK = 0x20000000;
    /// Stacks for events that have none of their own.
    STACK = 0x40000000;
    /// Work that is handed from one thread to another.
    THREAD_TRANSFER = 0x80000000;
    /// The debugger.
    DEBUGGER = 0x100000000;
    /// Monitoring.
    MONITORING = 0x200000000;
    /// Symbols of modules that have no file.
    CODE_SYMBOLS = 0x400000000;
    /// Events of managed event sources.
    EVENT_SOURCE = 0x800000000;
    /// Tiers of compilation.
    COMPILATION = 0x1000000000;
    /// Compilation in detail.
    COMPILATION_DIAGNOSTIC = 0x2000000000;
    /// Methods in detail.
    METHOD_DIAGNOSTIC = 0x4000000000;
    /// Loading of types.
    TYPE_DIAGNOSTIC = 0x8000000000;
    /// Counts of the JIT compiler for its profiles.
    JIT_INSTRUMENTATION_DATA = 0x10000000000;
    /// The profiler.
    PROFILER = 0x20000000000;
    /// Waits for handles.
    WAIT_HANDLE = 0x40000000000;
    /// Allocations, sampled at random by their bytes.
    ALLOCATION_SAMPLING = 0x80000000000;
}

impl Keywords {
    /// No keyword. Only events without keywords come.
    pub const NONE: Keywords = Keywords(0);
    /// All keywords, with or without a name.
    pub const ALL: Keywords = Keywords(u64::MAX);

    /// Returns the bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Returns whether all keywords of `others` are set.
    pub const fn contains(self, others: Keywords) -> bool {
        self.0 & others.0 == others.0
    }

    /// Returns the keywords of both sets; constants cannot use the operator `|`.
    #[must_use]
    pub const fn with(self, others: Keywords) -> Keywords {
        Keywords(self.0 | others.0)
    }
}

impl From<u64> for Keywords {
    fn from(bits: u64) -> Keywords {
        Keywords(bits)
    }
}

impl From<Keywords> for u64 {
    fn from(keywords: Keywords) -> u64 {
        keywords.0
    }
}

impl BitOr for Keywords {
    type Output = Keywords;

    fn bitor(self, others: Keywords) -> Keywords {
        self.with(others)
    }
}

impl BitOrAssign for Keywords {
    fn bitor_assign(&mut self, others: Keywords) {
        *self = self.with(others);
    }
}

impl fmt::Display for Keywords {
    /// Writes `GC | EXCEPTION`, with the bits that have no name in hexadecimal, or `0x0`
    /// for none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.0;
        for (name, bit) in Keywords::NAMES {
            if left & bit != 0 {
                f.write_str(if left == self.0 { "" } else { " | " })?;
                f.write_str(name)?;
                left &= !bit;
            }
        }
        match left {
            0 if self.0 != 0 => Ok(()),
            left if left == self.0 => write!(f, "{left:#x}"),
            left => write!(f, " | {left:#x}"),
        }
    }
}

impl fmt::Debug for Keywords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keywords({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_bits_are_those_of_the_runtime_s_manifest() {
        let plain = |name: &str| name.replace('_', "").to_lowercase();
        let ours: Vec<(u64, String)> =
            Keywords::NAMES.iter().map(|(name, bit)| (*bit, plain(name))).collect();
        let theirs: Vec<(u64, String)> =
            nettrace_parser::catalog::keywords("Microsoft-Windows-DotNETRuntime")
                .iter()
                .map(|(bit, name)| (*bit, plain(name.strip_suffix("Keyword").unwrap_or(name))))
                .collect();
        assert_eq!(ours, theirs);
    }

    #[test]
    fn bits_without_a_name_are_shown_as_numbers() {
        assert_eq!(Keywords::NONE.to_string(), "0x0");
        assert_eq!(Keywords::from(0x100).to_string(), "0x100");
        assert_eq!((Keywords::JIT | 0x100.into()).to_string(), "JIT | 0x100");
        assert!((Keywords::JIT | Keywords::GC).contains(Keywords::GC));
        assert!(
            !Keywords::JIT.contains(Keywords::GC) && Keywords::ALL.contains(Keywords::EXCEPTION)
        );
    }
}
