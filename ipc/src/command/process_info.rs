//! ProcessInfo, ProcessInfo2 and ProcessInfo3 (04 00, 04 04, 04 08): information about
//! the process.
//!
//! Reply payload:
//!
//! | field | type | in |
//! |---|---|---|
//! | version, at least 1 | u32 | 3 |
//! | process id | u64 | 1 2 3 |
//! | cookie | GUID | 1 2 3 |
//! | command line | string | 1 2 3 |
//! | operating system | string | 1 2 3 |
//! | architecture | string | 1 2 3 |
//! | entry assembly | string | 2 3 |
//! | product version | string | 2 3 |
//! | runtime identifier | string | 3, if version ≥ 1 |
//!
//! Quirk: the protocol document lists the cookie after the strings in some places;
//! runtimes send it second.

use super::Command;
use super::sealed::Sealed;
use crate::command_id::CommandId;
use crate::error::ReplyFault;
use crate::message::Reader;
use crate::version::RuntimeVersion;
use nettrace_guid::Guid;

/// Version of the ProcessInfo request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProcessInfoCommand {
    /// ProcessInfo, since .NET 5.
    V1,
    /// ProcessInfo2, since .NET 6: it adds entry assembly and product version.
    V2,
    /// ProcessInfo3, since .NET 8: it adds the runtime identifier.
    V3,
}

/// Information that a runtime reports about its process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessInfo {
    /// Process id as the process itself sees it. In a container it differs from the id outside.
    pub pid: u64,
    /// Id of the runtime, which never changes. The runtime's advertise frame has the same cookie.
    pub cookie: Guid,
    /// Host path, assembly path and arguments, all joined by spaces without quotes, so it cannot be
    /// split again. While the runtime is suspended at startup, it is only the host path.
    pub command_line: String,
    /// Operating system: `Linux`, `Windows`, `macOS` or `Unknown`.
    pub operating_system: String,
    /// Architecture of the process: `x86`, `x64`, `arm32`, `arm64` or `Unknown`.
    pub architecture: String,
    /// Name of the entry assembly, without extension. `None` on .NET 5.
    pub entry_assembly: Option<String>,
    /// Product version as SemVer text, such as `10.0.12`. `None` on .NET 5.
    pub product_version: Option<String>,
    /// Runtime identifier such as `linux-x64`. `None` before .NET 8.
    pub runtime_identifier: Option<String>,
}

impl ProcessInfo {
    /// Returns the product version as numbers, if the runtime reported it.
    pub fn version(&self) -> Option<RuntimeVersion> {
        self.product_version.as_deref().and_then(RuntimeVersion::parse)
    }
}

impl Sealed for ProcessInfoCommand {
    type Success = ProcessInfo;

    fn read_success(&self, payload: &[u8]) -> Result<ProcessInfo, ReplyFault> {
        let mut reader = Reader::new(payload);
        let version = if *self == ProcessInfoCommand::V3 { reader.u32("version")? } else { 0 };
        let mut info = ProcessInfo {
            pid: reader.u64("process id")?,
            cookie: reader.guid("cookie")?,
            command_line: reader.string("command line")?,
            operating_system: reader.string("operating system")?,
            architecture: reader.string("architecture")?,
            entry_assembly: None,
            product_version: None,
            runtime_identifier: None,
        };
        if *self >= ProcessInfoCommand::V2 {
            info.entry_assembly = Some(reader.string("entry assembly")?);
            info.product_version = Some(reader.string("product version")?);
        }
        if version >= 1 {
            info.runtime_identifier = Some(reader.string("runtime identifier")?);
        }
        Ok(info)
    }
}

impl Command for ProcessInfoCommand {
    fn id(&self) -> CommandId {
        match self {
            ProcessInfoCommand::V1 => CommandId::PROCESS_INFO,
            ProcessInfoCommand::V2 => CommandId::PROCESS_INFO_2,
            ProcessInfoCommand::V3 => CommandId::PROCESS_INFO_3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::golden::{hex, payload};
    use super::*;

    const INFO_1: &str = "444f544e45545f4950435f563100ac00ff000000225e000000000000ea5dd61fb94fc74aa5a03f48673c9a41300000002f006100700070002f007700310030002f0077006f0072006b006c006f006100640020002f006100700070002f007700310030002f0077006f0072006b006c006f00610064002e0064006c006c00200073006c00650065007000200030000000060000004c0069006e00750078000000040000007800360034000000";
    const INFO_3: &str = "444f544e45545f4950435f563100f200ff00000001000000225e000000000000ea5dd61fb94fc74aa5a03f48673c9a41300000002f006100700070002f007700310030002f0077006f0072006b006c006f006100640020002f006100700070002f007700310030002f0077006f0072006b006c006f00610064002e0064006c006c00200073006c00650065007000200030000000060000004c0069006e007500780000000400000078003600340000000900000077006f0072006b006c006f0061006400000008000000310030002e0030002e003100320000000a0000006c0069006e00750078002d007800360034000000";

    #[test]
    fn the_requests_are_those_of_the_transcripts() {
        let message = |command: ProcessInfoCommand| hex(command.message().unwrap().as_bytes());
        assert_eq!(message(ProcessInfoCommand::V1), "444f544e45545f4950435f563100140004000000");
        assert_eq!(message(ProcessInfoCommand::V2), "444f544e45545f4950435f563100140004040000");
        assert_eq!(message(ProcessInfoCommand::V3), "444f544e45545f4950435f563100140004080000");
    }

    #[test]
    fn the_cookie_follows_the_process_id() {
        let info = ProcessInfoCommand::V1.read_success(&payload(INFO_1)).unwrap();
        assert_eq!(info.pid, 0x5e22);
        assert_eq!(info.cookie.to_string(), "1fd65dea-4fb9-4ac7-a5a0-3f48673c9a41");
        assert_eq!(info.command_line, "/app/w10/workload /app/w10/workload.dll sleep 0");
        assert_eq!((info.operating_system.as_str(), info.architecture.as_str()), ("Linux", "x64"));
        assert_eq!((info.entry_assembly, info.product_version), (None, None));
    }

    #[test]
    fn info_3_starts_with_its_version_and_ends_with_the_runtime_identifier() {
        let info = ProcessInfoCommand::V3.read_success(&payload(INFO_3)).unwrap();
        assert_eq!(info.entry_assembly.as_deref(), Some("workload"));
        assert_eq!(info.product_version.as_deref(), Some("10.0.12"));
        assert_eq!(info.runtime_identifier.as_deref(), Some("linux-x64"));
        assert_eq!(info.version().map(|version| version.major), Some(10));
    }

    #[test]
    fn fields_of_a_later_info_3_are_passed_over() {
        let mut bytes = payload(INFO_3);
        bytes[0] = 2;
        bytes.extend_from_slice(&[1, 2, 3]);
        let info = ProcessInfoCommand::V3.read_success(&bytes).unwrap();
        assert_eq!(info.runtime_identifier.as_deref(), Some("linux-x64"));
    }

    #[test]
    fn every_cut_of_an_info_is_a_fault() {
        let bytes = payload(INFO_3);
        for length in 0..bytes.len() {
            assert!(ProcessInfoCommand::V3.read_success(&bytes[..length]).is_err(), "{length}");
        }
    }
}
