//! The MethodFlags field of method load, unload and rundown events.

/// MethodFlags of a method event: flags, optimisation tier and part of the method in one number.
///
/// | bits | meaning |
/// |---|---|
/// | 0–6 | flags, see the field's [`ValueMap`](crate::ValueMap) `MethodFlagsMap` |
/// | 7–9 | [`Tier`] of compiled code |
/// | 28–31 | extent: 0 the hot section, 1 the cold section |
///
/// ```
/// use nettrace_parser::catalog::{MethodFlags, Tier};
/// let flags = MethodFlags(0x0000_0208);
/// assert!(flags.is_jitted() && !flags.is_cold());
/// assert_eq!(flags.tier(), Some(Tier::OptimizedTier1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MethodFlags(pub u32);

/// How the runtime compiled a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tier {
    /// 0: not said, as runtimes before .NET 5 do.
    Unknown,
    /// 1: without optimisation, for a debugger or by attribute.
    MinOptJitted,
    /// 2: optimised, outside of tiered compilation.
    Optimized,
    /// 3: tier 0, compiled quickly.
    QuickJitted,
    /// 4: tier 1.
    OptimizedTier1,
    /// 5: tier 1 of a method that was running, by on-stack replacement.
    OptimizedTier1Osr,
    /// 6: tier 0 that collects a profile.
    QuickJittedInstrumented,
    /// 7: tier 1 that collects a profile.
    OptimizedTier1Instrumented,
}

impl Tier {
    /// Name as in the manifest's style: `OptimizedTier1OSR`.
    pub fn name(self) -> &'static str {
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

impl MethodFlags {
    /// Made at run time, without metadata (bit 0).
    pub fn is_dynamic(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// Compiled in this process (bit 3). Otherwise the code came precompiled, or it is a stub.
    pub fn is_jitted(self) -> bool {
        self.0 & 0x8 != 0
    }

    /// The tier. `None` unless [jitted](MethodFlags::is_jitted): for precompiled code the bits say
    /// 2 without meaning it.
    pub fn tier(self) -> Option<Tier> {
        self.is_jitted().then_some(match self.0 >> 7 & 0x7 {
            1 => Tier::MinOptJitted,
            2 => Tier::Optimized,
            3 => Tier::QuickJitted,
            4 => Tier::OptimizedTier1,
            5 => Tier::OptimizedTier1Osr,
            6 => Tier::QuickJittedInstrumented,
            7 => Tier::OptimizedTier1Instrumented,
            _ => Tier::Unknown,
        })
    }

    /// Part of the method that the event describes (bits 28 to 31): 0 hot, 1 cold.
    pub fn extent(self) -> u8 {
        (self.0 >> 28 & 0xf) as u8
    }

    /// Whether the event describes the method's cold section, which has an event of its own.
    pub fn is_cold(self) -> bool {
        self.extent() == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precompiled_code_has_no_tier_whatever_its_bits_say() {
        assert_eq!(MethodFlags(2 << 7).tier(), None);
        assert_eq!(MethodFlags(2 << 7 | 0x8).tier(), Some(Tier::Optimized));
    }

    #[test]
    fn every_tier_has_its_number() {
        let names: Vec<_> = (0..8).map(|n| MethodFlags(n << 7 | 0x8).tier().unwrap().name()).collect();
        assert_eq!(
            names,
            [
                "Unknown",
                "MinOptJitted",
                "Optimized",
                "QuickJitted",
                "OptimizedTier1",
                "OptimizedTier1OSR",
                "QuickJittedInstrumented",
                "OptimizedTier1Instrumented",
            ]
        );
    }

    #[test]
    fn the_cold_section_is_told_by_the_highest_bits() {
        assert!(MethodFlags(0x1000_0008).is_cold());
        assert!(!MethodFlags(0x0000_0008).is_cold());
    }
}
