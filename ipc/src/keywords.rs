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

            /// Names of the keywords and their bits, lowest bit first.
            const NAMES: &[(&str, u64)] = &[$((stringify!($name), $bit)),*];
        }
    };
}

named! {
    /// Events of garbage collections.
    GC = 0x1;
    /// Events of the garbage collector's handles.
    GC_HANDLE = 0x2;
    /// Events of the resolution of assemblies.
    ASSEMBLY_LOADER = 0x4;
    /// Events of assemblies and modules that are loaded.
    LOADER = 0x8;
    /// Events of methods that are compiled at run time.
    JIT = 0x10;
    /// Events of methods that were compiled in advance.
    NGEN = 0x20;
    /// Events about methods and modules that exist when the session starts. Runtimes send none of them over
    /// this protocol: the rundown of a session that is stopped at once has them.
    START_ENUMERATION = 0x40;
    /// Events about methods and modules that exist when the session ends.
    END_ENUMERATION = 0x80;
    /// Events of the verification of names and signatures.
    SECURITY = 0x400;
    /// Events about the memory and processor time of application domains.
    APP_DOMAIN_RESOURCE_MANAGEMENT = 0x800;
    /// Events of inlining and tail calls.
    JIT_TRACING = 0x1000;
    /// Events of stubs between managed and native code.
    INTEROP = 0x2000;
    /// Events of waits for locks.
    CONTENTION = 0x4000;
    /// Events of exceptions that are thrown and caught.
    EXCEPTION = 0x8000;
    /// Events of threads and the thread pool.
    THREADING = 0x10000;
    /// Events that map the IL of methods to their native code.
    JITTED_METHOD_IL_TO_NATIVE_MAP = 0x20000;
    /// Suppresses events of methods that were compiled in advance, whatever other keywords say.
    OVERRIDE_AND_SUPPRESS_NGEN_EVENTS = 0x40000;
    /// Events with the names of types.
    TYPE = 0x80000;
    /// Events about all objects on the heap.
    GC_HEAP_DUMP = 0x100000;
    /// Events of sampled allocations, up to 100 a second of each type.
    GC_SAMPLED_OBJECT_ALLOCATION_HIGH = 0x200000;
    /// Events about objects that survive a collection, and objects that it moves.
    GC_HEAP_SURVIVAL_AND_MOVEMENT = 0x400000;
    /// Makes the runtime collect garbage at the beginning of the session.
    MANAGED_HEAP_COLLECT = 0x800000;
    /// Events about the types of the objects in a dump of the heap.
    GC_HEAP_AND_TYPE_NAMES = 0x1000000;
    /// Events of sampled allocations, up to 5 a second of each type.
    GC_SAMPLED_OBJECT_ALLOCATION_LOW = 0x2000000;
    /// Events about modules, for the tracking of performance.
    PERF_TRACK = 0x20000000;
    /// Events with the stacks of other events that have none of their own.
    STACK = 0x40000000;
    /// Events of work that is handed from one thread to another.
    THREAD_TRANSFER = 0x80000000;
    /// Events of the debugger.
    DEBUGGER = 0x100000000;
    /// Events for monitoring.
    MONITORING = 0x200000000;
    /// Events with the symbols of modules that have no file.
    CODE_SYMBOLS = 0x400000000;
    /// Events of managed event sources.
    EVENT_SOURCE = 0x800000000;
    /// Events about the tiers of compilation.
    COMPILATION = 0x1000000000;
    /// Events with details of compilation.
    COMPILATION_DIAGNOSTIC = 0x2000000000;
    /// Events with details of methods.
    METHOD_DIAGNOSTIC = 0x4000000000;
    /// Events of the loading of types.
    TYPE_DIAGNOSTIC = 0x8000000000;
    /// Events with the counts that the JIT compiler collects for its profiles.
    JIT_INSTRUMENTATION_DATA = 0x10000000000;
    /// Events of the profiler.
    PROFILER = 0x20000000000;
    /// Events of waits for handles.
    WAIT_HANDLE = 0x40000000000;
    /// Events of allocations that are sampled at random, by their bytes.
    ALLOCATION_SAMPLING = 0x80000000000;
}

impl Keywords {
    /// No keyword. Only events without keywords are sent.
    pub const NONE: Keywords = Keywords(0);
    /// All keywords, with or without a name.
    pub const ALL: Keywords = Keywords(u64::MAX);

    /// Returns the keywords as bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Returns whether all keywords of `others` are set.
    pub const fn contains(self, others: Keywords) -> bool {
        self.0 & others.0 == others.0
    }

    /// Returns the keywords of both sets; constant expressions cannot use the operator `|`.
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
    /// Writes names joined by `|`, such as `GC | EXCEPTION`. Bits without a name follow in
    /// hexadecimal. Without any keyword, writes `0x0`.
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
