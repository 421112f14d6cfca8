//! The version of a runtime, and the commands that it supports.

use crate::command_id::CommandId;
use std::fmt;

/// Version of a runtime: major, minor and patch number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct RuntimeVersion {
    /// Major version, such as the 8 of 8.0.31.
    pub major: u32,
    /// Minor version, such as the 0 of 8.0.31.
    pub minor: u32,
    /// Patch number, such as the 31 of 8.0.31.
    pub patch: u32,
    /// Whether the runtime is a preview or release candidate, which may lack commands of its major
    /// version.
    pub prerelease: bool,
}

impl RuntimeVersion {
    /// Parses the text of a version such as `10.0.0-rc.1`. A part after `+` is ignored; a part
    /// after `-` marks a prerelease. Returns `None` if the text does not begin with a number.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.split('+').next().unwrap_or(text);
        let (numbers, prerelease) = match text.split_once('-') {
            Some((numbers, _)) => (numbers, true),
            None => (text, false),
        };
        let mut numbers = numbers.split('.').map(|number| number.trim().parse().ok());
        let major = numbers.next().flatten()?;
        let minor = numbers.next().flatten().unwrap_or(0);
        let patch = numbers.next().flatten().unwrap_or(0);
        Some(RuntimeVersion { major, minor, patch, prerelease })
    }

    /// Returns the commands that a runtime of this version has. This is only a guess for display:
    /// prereleases and other kinds of runtime (Mono, native AOT) may lack some. Only the runtime's
    /// reply is certain.
    pub fn commands(self) -> impl Iterator<Item = CommandId> {
        CommandId::known().filter(move |id| self.has(*id))
    }

    /// Returns whether a runtime of this version should have the command.
    pub fn has(self, command: CommandId) -> bool {
        command.since().is_some_and(|since| since <= self.major)
    }
}

impl fmt::Display for RuntimeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{}.{}{}",
            self.major,
            self.minor,
            self.patch,
            if self.prerelease { "-pre" } else { "" }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_and_prerelease_parts_are_cut() {
        let version = RuntimeVersion::parse("10.0.0-rc.1.25451.107+abc-d").unwrap();
        assert_eq!(
            (version.major, version.minor, version.patch, version.prerelease),
            (10, 0, 0, true)
        );
        let version = RuntimeVersion::parse("8.0.31+1a2b-3").unwrap();
        assert_eq!((version.major, version.patch, version.prerelease), (8, 31, false));
        assert_eq!(RuntimeVersion::parse(""), None);
        assert_eq!(RuntimeVersion::parse("unknown"), None);
        assert_eq!(RuntimeVersion::parse("9").map(|version| version.minor), Some(0));
    }

    #[test]
    fn each_version_adds_its_commands() {
        let has = |text: &str, command| RuntimeVersion::parse(text).unwrap().has(command);
        assert!(!has("8.0.31", CommandId::COLLECT_TRACING_3));
        assert!(has("9.0.20", CommandId::COLLECT_TRACING_4));
        assert!(!has("9.0.20", CommandId::COLLECT_TRACING_5));
        assert!(has("10.0.12", CommandId::COLLECT_TRACING_5));
        assert!(!has("10.0.12", CommandId::COLLECT_TRACING_6));
        assert!(!has("3.1.23", CommandId::PROCESS_INFO));
    }
}
