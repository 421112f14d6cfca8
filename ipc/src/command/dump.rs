//! The requests GenerateCoreDump 1 to 3, with the command ids 01 01 to 01 03.
//!
//! The request's payload has a string with the path, a u32 with the type, and a u32 with flags (for
//! GenerateCoreDump 1, instead, whether to log). The reply has an i32, and after a failure of
//! GenerateCoreDump3 a string. The connection stays open until the file is written.

use super::Command;
use super::sealed::Sealed;
use crate::command_id::{CommandId, Patience};
use crate::error::{ReplyFault, RequestError};
use crate::message::{Message, Writer, required};

/// How much of the process a dump contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DumpType {
    /// Stacks, modules and the memory that they refer to.
    Normal,
    /// The content of [`DumpType::Normal`], and the heaps.
    WithHeap,
    /// The content of [`DumpType::Normal`], with personal data removed.
    Triage,
    /// All memory of the process.
    Full,
}

/// Version of the GenerateCoreDump request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DumpCommand {
    /// GenerateCoreDump, since .NET Core 3.0. Its only flag is logging.
    V1,
    /// GenerateCoreDump2, since .NET 6. It has further flags.
    V2,
    /// GenerateCoreDump3, since .NET 7. The reply to a failed request contains the reason.
    V3,
}

impl DumpCommand {
    /// Returns the command set and the command id that the message contains.
    pub fn id(self) -> CommandId {
        match self {
            DumpCommand::V1 => CommandId::GENERATE_CORE_DUMP,
            DumpCommand::V2 => CommandId::GENERATE_CORE_DUMP_2,
            DumpCommand::V3 => CommandId::GENERATE_CORE_DUMP_3,
        }
    }
}

/// Request to the target to write a dump of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    path: String,
    kind: DumpType,
    logging: bool,
    verbose: bool,
    crash_report: bool,
}

impl Dump {
    /// Makes a request for a dump into a file, whose path is as the target sees it. A relative path
    /// starts at the target's working directory. Each `%` in the path stands for itself: the
    /// patterns that runtimes know in names of dumps (`%p`, `%e`, …) are not used.
    ///
    /// # Errors
    /// The path is empty or contains a NUL.
    pub fn new(path: &str, kind: DumpType) -> Result<Self, RequestError> {
        let path = required(path, "dump's path")?;
        Ok(Dump { path, kind, logging: false, verbose: false, crash_report: false })
    }

    /// Makes the target write about 90 kB of log to **its own** standard output. If that is a pipe
    /// without a reader, the target freezes and never answers, so enable this only if the output is
    /// read.
    #[must_use]
    pub fn logging(mut self, on: bool) -> Self {
        self.logging = on;
        self
    }

    /// Makes the target write a longer log, with the risk described at [`Dump::logging`]. It needs
    /// GenerateCoreDump2.
    #[must_use]
    pub fn verbose_logging(mut self, on: bool) -> Self {
        self.verbose = on;
        self
    }

    /// Makes the target also write a file `PATH.crashreport.json`. It needs GenerateCoreDump2.
    #[must_use]
    pub fn crash_report(mut self, on: bool) -> Self {
        self.crash_report = on;
        self
    }

    /// Builds the request with this command.
    ///
    /// # Errors
    /// GenerateCoreDump cannot carry verbose logging or a crash report, or the message is too long.
    pub fn message(&self, command: DumpCommand) -> Result<Message, RequestError> {
        let id = DumpRequest { dump: self, command }.id();
        if command == DumpCommand::V1 && (self.verbose || self.crash_report) {
            let what = if self.crash_report { "a crash report" } else { "verbose logging" };
            return Err(RequestError::Inexpressible { command: id, what });
        }
        let flags = u32::from(self.logging)
            | u32::from(self.verbose) << 1
            | u32::from(self.crash_report) << 2;
        let mut writer = Writer::new(id);
        writer.string(&self.wire_path());
        writer.u32(match self.kind {
            DumpType::Normal => 1,
            DumpType::WithHeap => 2,
            DumpType::Triage => 3,
            DumpType::Full => 4,
        });
        writer.u32(flags);
        writer.finish()
    }

    /// Returns the path in the form that the runtime needs. Runtimes read it as a pattern, in which
    /// `%%` means `%`. On Windows it becomes part of a command line and is quoted.
    fn wire_path(&self) -> String {
        let path = self.path.replace('%', "%%");
        if cfg!(windows) && !path.starts_with('"') { format!("\"{path}\"") } else { path }
    }
}

/// A request for a dump, and the version of the command that sends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DumpRequest<'d> {
    pub(crate) dump: &'d Dump,
    pub(crate) command: DumpCommand,
}

answered_by_hresult!(DumpRequest<'_>, Dump);

impl Command for DumpRequest<'_> {
    fn id(&self) -> CommandId {
        self.command.id()
    }

    fn message(&self) -> Result<Message, RequestError> {
        self.dump.message(self.command)
    }
}

#[cfg(test)]
mod tests {
    #[cfg(not(windows))]
    use super::super::golden::hex;
    use super::super::golden::{payload, unhex};
    use super::super::read_failure;
    use super::*;
    use crate::hresult::HResult;

    #[cfg(not(windows))]
    #[test]
    fn the_requests_are_those_of_the_transcripts() {
        let dump = Dump::new("/tmp/p/d", DumpType::Normal).unwrap();
        let commands =
            [(DumpCommand::V1, "0101"), (DumpCommand::V2, "0102"), (DumpCommand::V3, "0103")];
        for (command, id) in commands {
            let expected = format!(
                "444f544e45545f4950435f5631003200{id}0000090000002f0074006d0070002f0070002f00640000000100000000000000"
            );
            assert_eq!(hex(dump.message(command).unwrap().as_bytes()), expected);
        }
    }

    #[cfg(not(windows))]
    #[test]
    fn a_percent_sign_in_the_path_stands_for_itself() {
        let dump = Dump::new("/tmp/%p %%.dmp", DumpType::Normal).unwrap();
        let escaped = "/tmp/%%p %%%%.dmp".encode_utf16().flat_map(u16::to_le_bytes);
        let payload = dump.message(DumpCommand::V1).unwrap().payload()[4..].to_vec();
        assert!(payload.starts_with(&escaped.collect::<Vec<u8>>()), "{payload:?}");
    }

    #[test]
    fn flags_are_bits_1_2_and_4() {
        let dump = Dump::new("d", DumpType::Full)
            .unwrap()
            .logging(true)
            .verbose_logging(true)
            .crash_report(true);
        assert!(
            dump.message(DumpCommand::V3).unwrap().payload().ends_with(&[4, 0, 0, 0, 7, 0, 0, 0])
        );
        let dump = Dump::new("d", DumpType::Triage).unwrap().crash_report(true);
        assert!(
            dump.message(DumpCommand::V2).unwrap().payload().ends_with(&[3, 0, 0, 0, 4, 0, 0, 0])
        );
        let error = dump.message(DumpCommand::V1);
        assert!(matches!(error, Err(RequestError::Inexpressible { what: "a crash report", .. })));
    }

    #[test]
    fn a_dump_without_path_cannot_be_made() {
        assert_eq!(Dump::new("", DumpType::Full), Err(RequestError::Empty("dump's path")));
        assert_eq!(Dump::new("a\0b", DumpType::Full), Err(RequestError::Nul("dump's path")));
    }

    #[test]
    fn the_third_command_says_why_it_failed() {
        let empty = payload("444f544e45545f4950435f5631001e00ffff000005400080010000000000");
        assert_eq!(read_failure(&empty), Ok((HResult::FAIL, Some(String::new()))));
        let text = unhex("05400080 03000000 6e006f000000");
        assert_eq!(read_failure(&text), Ok((HResult::FAIL, Some("no".to_owned()))));
    }
}
