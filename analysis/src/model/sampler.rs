//! Whether a runtime's sampler tells managed code from native code.
//!
//! | runtime | its samples |
//! |---|---|
//! | up to .NET 8 | tell, but not on Windows in older versions |
//! | .NET 9, .NET 10.0.0 to 10.0.3 | (almost) all say "external" (dotnet/runtime issue 123996) |
//! | .NET 10.0.4 and 10.0.5 | tell if the correction came with that build |
//! | from .NET 10.0.6 on, and .NET 11 | tell |

use nettrace_parser::view::RuntimeInformation;

/// The runtime of a process, as `Runtime/Start` describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RuntimeVersion {
    /// Version of the base class library: 10, 0, 9 for .NET 10.0.9; 4, 0, 0 for .NET Core 3.1.
    pub(crate) version: [u32; 3],
    pub(crate) is_windows: bool,
    pub(crate) is_mono: bool,
}

impl RuntimeVersion {
    pub(super) fn from_information(information: &RuntimeInformation<'_>) -> RuntimeVersion {
        let path = information.runtime_path.to_string();
        RuntimeVersion {
            version: information.version,
            is_windows: path.ends_with(".dll") || path.ends_with(".exe"),
            is_mono: information.is_mono,
        }
    }

    /// Returns whether the sampler tells managed code from native code; `None` if the version does
    /// not decide it.
    pub(crate) fn tells_managed(self) -> Option<bool> {
        let [major, _, build] = self.version;
        match (major, build) {
            _ if self.is_mono => None,
            (9, _) | (10, 0..=3) => Some(false),
            (10, 4..=5) => None,
            (..=8, _) if self.is_windows => None,
            _ => Some(true),
        }
    }
}

/// Samples of one process whose innermost frame is a managed method that is not known to wait and
/// does not only call native code, counted by what the sampler says of their thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RunningCandidates {
    pub(crate) managed: u64,
    pub(crate) external: u64,
}

/// Minimum number of samples before a sampler can be found not to tell managed from native code.
const MIN_CANDIDATES: u64 = 20;
/// If a sampler says "external" more than this many times as often as "managed", it does not tell
/// managed from native code.
const MIN_TIMES_EXTERNAL: u64 = 10;

impl RunningCandidates {
    /// Adds the samples of a stack: those that say "managed", and those that say "external".
    pub(crate) fn add(&mut self, managed: u64, external: u64) {
        self.managed = self.managed.saturating_add(managed);
        self.external = self.external.saturating_add(external);
    }

    /// Returns whether so few samples say "managed" that the sampler does not tell managed from
    /// native code.
    pub(crate) fn are_untold(self) -> bool {
        self.external >= MIN_CANDIDATES
            && self.managed.saturating_mul(MIN_TIMES_EXTERNAL) < self.external
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tells(version: [u32; 3], is_windows: bool) -> Option<bool> {
        RuntimeVersion { version, is_windows, is_mono: false }.tells_managed()
    }

    #[test]
    fn versions_with_the_defect_do_not_tell_managed_from_native_code() {
        for version in [[9, 0, 0], [9, 0, 20], [10, 0, 0], [10, 0, 3]] {
            assert_eq!(tells(version, false), Some(false), "{version:?}");
        }
        for version in [[10, 0, 12], [11, 0, 0], [8, 0, 31], [4, 0, 0], [6, 0, 1]] {
            assert_eq!(tells(version, false), Some(true), "{version:?}");
        }
        assert_eq!(tells([10, 0, 4], false), None);
        assert_eq!(tells([8, 0, 31], true), None);
    }

    #[test]
    fn a_few_managed_samples_among_many_external_ones_do_not_tell() {
        let are_untold = |managed, external| RunningCandidates { managed, external }.are_untold();
        assert!(are_untold(0, 20) && are_untold(56, 2_000));
        assert!(!are_untold(0, 19) && !are_untold(100, 1_000));
    }
}
