//! CollectTracing 1 to 6 and StopTracing (02 02 to 02 07, 02 01): sessions.
//!
//! | command | request payload |
//! |---|---|
//! | CollectTracing | u32 MB, u32 format, u32 count, providers |
//! | CollectTracing2 | u32 MB, u32 format, u8 rundown, u32 count, providers |
//! | CollectTracing3 | u32 MB, u32 format, u8 rundown, u8 stacks, u32 count, providers |
//! | CollectTracing4 | u32 MB, u32 format, u64 rundown keyword, u8 stacks, u32 count, providers |
//! | CollectTracing5 | u32 0, then as 4, each provider with its event filter |
//! | CollectTracing6 | as 5, then u32 mode: 0 drop, 1 block |
//! | StopTracing | u64 session id |
//!
//! A provider is u64 keywords, u32 level, string name, string arguments; an event filter
//! is u8 enable, u32 count, u32 ids. Each reply is a u64 session id; after the reply to a
//! CollectTracing, the stream follows on its connection.

use super::Command;
use super::sealed::Sealed;
use crate::command_id::{CommandId, Patience};
use crate::error::{ReplyFault, RequestError};
use crate::message::{Message, Reader, Writer};
use crate::provider::Providers;
use std::fmt;
use std::num::NonZeroU32;

/// Choice of the rundown: events at the end of a session that describe methods and modules which
/// already existed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rundown {
    /// The session ends without a rundown.
    Off,
    /// The runtime's default rundown, with the keyword [`Rundown::DEFAULT_KEYWORD`].
    Default,
    /// A rundown with only these keywords of the rundown provider. It needs CollectTracing4 (.NET
    /// 9).
    Keyword(u64),
}

impl Rundown {
    /// Keyword of the default rundown: GC, loader, JIT, NGEN, ILToNativeMap, thread
    /// transfer and more.
    pub const DEFAULT_KEYWORD: u64 = 0x8002_0139;

    /// Returns the keywords of the rundown provider that this choice stands for.
    pub fn keyword(self) -> u64 {
        match self {
            Rundown::Off => 0,
            Rundown::Default => Self::DEFAULT_KEYWORD,
            Rundown::Keyword(keyword) => keyword,
        }
    }

    /// Returns whether a command can express this choice if it can only switch the rundown on or
    /// off.
    fn is_plain(self) -> bool {
        matches!(self.keyword(), 0 | Self::DEFAULT_KEYWORD)
    }
}

/// The format of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StreamFormat {
    /// The format of .NET Core 3.0, without `Nettrace` at its start. Its code is 0.
    NetPerf,
    /// Nettrace version 4 or later, whichever the runtime uses. Its code is 1.
    NetTrace,
}

/// Behaviour when the buffer in the target is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WhenFull {
    /// The newest events are dropped.
    Drop,
    /// The target's threads wait, which can stop its work. It needs CollectTracing6 (.NET 11).
    Block,
}

/// A version of the CollectTracing command, which starts a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CollectCommand {
    /// CollectTracing, since .NET Core 3.0.
    V1,
    /// CollectTracing2, since .NET Core 3.0. It can switch the rundown on or off.
    V2,
    /// CollectTracing3, since .NET 9. It can switch stacks on or off.
    V3,
    /// CollectTracing4, since .NET 9. It can set the keyword of the rundown.
    V4,
    /// CollectTracing5, since .NET 10. It can filter events by id.
    V5,
    /// CollectTracing6, since .NET 11. It can choose whether a full buffer drops events or blocks
    /// threads.
    V6,
}

impl CollectCommand {
    /// All versions, lowest first.
    pub const ALL: [CollectCommand; 6] =
        [Self::V1, Self::V2, Self::V3, Self::V4, Self::V5, Self::V6];

    /// Returns the command set and the command id that the message contains.
    pub fn id(self) -> CommandId {
        match self {
            CollectCommand::V1 => CommandId::COLLECT_TRACING,
            CollectCommand::V2 => CommandId::COLLECT_TRACING_2,
            CollectCommand::V3 => CommandId::COLLECT_TRACING_3,
            CollectCommand::V4 => CommandId::COLLECT_TRACING_4,
            CollectCommand::V5 => CommandId::COLLECT_TRACING_5,
            CollectCommand::V6 => CommandId::COLLECT_TRACING_6,
        }
    }

    /// Returns the next lower version, or `None` for the lowest one.
    pub fn lower(self) -> Option<CollectCommand> {
        Self::ALL.into_iter().rev().find(|command| *command < self)
    }
}

/// A requested option that is lost, because the command that started the session cannot express it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lost {
    /// Full buffers drop events, although blocking of threads was requested.
    Blocking,
    /// All events of the provider are sent, although an event filter was requested.
    EventFilter {
        /// Name of the provider.
        provider: String,
    },
    /// The rundown uses other keywords than the requested ones.
    RundownKeyword {
        /// The keywords that were requested.
        asked: u64,
        /// The keywords that the session uses.
        used: u64,
    },
    /// Stacks are collected, although they were not requested.
    StacksOff,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lost::Blocking => {
                f.write_str("events are dropped when buffers are full; blocking is not supported")
            }
            Lost::EventFilter { provider } => {
                write!(f, "all event ids of {provider} are sent, not only the requested ones")
            }
            Lost::RundownKeyword { asked, used } => {
                write!(f, "rundown uses keyword {used:#x} instead of {asked:#x}")
            }
            Lost::StacksOff => f.write_str("stacks are recorded; they cannot be disabled"),
        }
    }
}

/// The configuration of a session: everything that can be requested.
///
/// ```
/// use nettrace_ipc::{CollectCommand, Provider, Providers, Rundown, SessionConfig};
/// let providers = Providers::new([Provider::new("System.Runtime")?])?;
/// let config = SessionConfig::new(providers).rundown(Rundown::Off);
/// assert_eq!(config.lowest(), CollectCommand::V2);
/// assert_eq!(config.stacks(false).lowest(), CollectCommand::V3);
/// # Ok::<(), nettrace_ipc::RequestError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionConfig {
    providers: Providers,
    buffer_megabytes: NonZeroU32,
    format: StreamFormat,
    rundown: Rundown,
    stacks: bool,
    when_full: WhenFull,
}

/// Default size of the target's buffer, in megabytes: 256. It is written as a sum that cannot be
/// zero.
const DEFAULT_BUFFER_MEGABYTES: NonZeroU32 = NonZeroU32::MIN.saturating_add(255);

impl SessionConfig {
    /// Makes the configuration of a session of these providers. Its defaults are a buffer of 256
    /// MB, the nettrace format, the default rundown, stacks, and dropping events when the buffer is
    /// full.
    pub fn new(providers: Providers) -> Self {
        SessionConfig {
            providers,
            buffer_megabytes: DEFAULT_BUFFER_MEGABYTES,
            format: StreamFormat::NetTrace,
            rundown: Rundown::Default,
            stacks: true,
            when_full: WhenFull::Drop,
        }
    }

    /// Replaces the providers of the configuration.
    #[must_use]
    pub fn providing(mut self, providers: Providers) -> Self {
        self.providers = providers;
        self
    }

    /// Sets the maximum size of the buffer in which the target keeps events that are not sent yet,
    /// in megabytes.
    #[must_use]
    pub fn buffer_megabytes(mut self, megabytes: NonZeroU32) -> Self {
        self.buffer_megabytes = megabytes;
        self
    }

    /// Sets the format of the session's stream.
    #[must_use]
    pub fn format(mut self, format: StreamFormat) -> Self {
        self.format = format;
        self
    }

    /// Sets the rundown at the end of the session.
    #[must_use]
    pub fn rundown(mut self, rundown: Rundown) -> Self {
        self.rundown = rundown;
        self
    }

    /// Sets whether events carry stacks.
    #[must_use]
    pub fn stacks(mut self, stacks: bool) -> Self {
        self.stacks = stacks;
        self
    }

    /// Sets the behaviour when the target's buffer is full.
    #[must_use]
    pub fn when_full(mut self, when_full: WhenFull) -> Self {
        self.when_full = when_full;
        self
    }

    /// Returns the providers whose events are requested.
    pub fn providers(&self) -> &Providers {
        &self.providers
    }

    /// Returns the lowest version of the command that can express the whole configuration. It is
    /// never CollectTracing, which always sends a rundown.
    pub fn lowest(&self) -> CollectCommand {
        if self.when_full == WhenFull::Block {
            CollectCommand::V6
        } else if self.providers.iter().any(|provider| provider.event_filter().is_some()) {
            CollectCommand::V5
        } else if !self.rundown.is_plain() {
            CollectCommand::V4
        } else if !self.stacks {
            CollectCommand::V3
        } else {
            CollectCommand::V2
        }
    }

    /// Returns the options of this configuration that a command cannot express.
    pub fn lost_with(&self, command: CollectCommand) -> Vec<Lost> {
        let mut lost = Vec::new();
        if command < CollectCommand::V6 && self.when_full == WhenFull::Block {
            lost.push(Lost::Blocking);
        }
        if command < CollectCommand::V5 {
            let filtered =
                self.providers.iter().filter(|provider| provider.event_filter().is_some());
            lost.extend(
                filtered.map(|provider| Lost::EventFilter { provider: provider.name().to_owned() }),
            );
        }
        let (asked, used) = (self.rundown.keyword(), self.rundown_used(command));
        if asked != used {
            lost.push(Lost::RundownKeyword { asked, used });
        }
        if command < CollectCommand::V3 && !self.stacks {
            lost.push(Lost::StacksOff);
        }
        lost
    }

    fn rundown_used(&self, command: CollectCommand) -> u64 {
        match command {
            CollectCommand::V1 => Rundown::DEFAULT_KEYWORD,
            CollectCommand::V2 | CollectCommand::V3 if self.rundown.keyword() != 0 => {
                Rundown::DEFAULT_KEYWORD
            }
            _ => self.rundown.keyword(),
        }
    }

    /// Builds the request with this command. Options that the command cannot express are omitted;
    /// see [`SessionConfig::lost_with`].
    ///
    /// # Errors
    /// [`RequestError::TooLong`] if providers and filters exceed 65,535 bytes.
    pub fn message(&self, command: CollectCommand) -> Result<Message, RequestError> {
        let mut writer = Writer::new(command.id());
        if command >= CollectCommand::V5 {
            writer.u32(0); // a stream, not user_events
        }
        writer.u32(self.buffer_megabytes.get());
        writer.u32(match self.format {
            StreamFormat::NetPerf => 0,
            StreamFormat::NetTrace => 1,
        });
        match command {
            CollectCommand::V1 => {}
            CollectCommand::V2 | CollectCommand::V3 => {
                writer.u8(u8::from(self.rundown.keyword() != 0));
            }
            CollectCommand::V4 | CollectCommand::V5 | CollectCommand::V6 => {
                writer.u64(self.rundown.keyword());
            }
        }
        if command >= CollectCommand::V3 {
            writer.u8(u8::from(self.stacks));
        }
        writer.count(self.providers.count());
        for provider in &self.providers {
            if command >= CollectCommand::V5 {
                provider.write_with_filter(&mut writer);
            } else {
                provider.write(&mut writer);
            }
        }
        if command == CollectCommand::V6 {
            writer.u32(u32::from(self.when_full == WhenFull::Block));
        }
        writer.finish()
    }
}

/// The id that a runtime gives a session. It has no meaning beyond that, and the runtime may reuse
/// it once the session is over.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionId(pub(crate) u64);

impl SessionId {
    /// Returns the id as the number that messages contain.
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({:#x})", self.0)
    }
}

/// Reads the reply to any version of CollectTracing.
pub(crate) fn read_session_id(payload: &[u8]) -> Result<SessionId, ReplyFault> {
    Reader::new(payload).u64("session id").map(SessionId)
}

/// The request that stops a session. Only [`crate::Session`] builds it, and only once,
/// because the id may be reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StopTracing(pub(crate) SessionId);

impl Sealed for StopTracing {
    type Success = ();

    fn patience(&self) -> Patience {
        Patience::Stop
    }

    fn read_success(&self, payload: &[u8]) -> Result<(), ReplyFault> {
        let answered = read_session_id(payload)?;
        let StopTracing(asked) = *self;
        if answered == asked {
            Ok(())
        } else {
            Err(ReplyFault::SessionId { asked: asked.0, answered: answered.0 })
        }
    }
}

impl Command for StopTracing {
    fn id(&self) -> CommandId {
        CommandId::STOP_TRACING
    }

    fn message(&self) -> Result<Message, RequestError> {
        let mut writer = Writer::new(self.id());
        writer.u64(self.0.0);
        writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::golden::{hex, payload};
    use super::*;
    use crate::provider::{EventFilter, Level, Provider};

    const PROVIDER: &str = "0100000007000000000000000500000012000000\
        4e0065007400740072006100630065002d0057006f0072006b006c006f0061006400000000000000";

    fn workload() -> Provider {
        Provider::new("Nettrace-Workload").unwrap().exact_keywords(7).level(Level::Verbose)
    }

    /// Makes the configuration with which the transcripts were recorded: 16 MB, no rundown, no
    /// stacks.
    fn config() -> SessionConfig {
        SessionConfig::new(Providers::new([workload()]).unwrap())
            .buffer_megabytes(NonZeroU32::new(16).unwrap())
            .rundown(Rundown::Off)
            .stacks(false)
    }

    fn sent(config: &SessionConfig, command: CollectCommand) -> String {
        hex(config.message(command).unwrap().as_bytes())
    }

    #[test]
    fn each_collect_tracing_is_that_of_the_transcripts() {
        let magic = "444f544e45545f4950435f563100";
        let head = |rest: &str| format!("{magic}{rest}");
        let expected = [
            head(&format!("58000202000010000000 01000000 {PROVIDER}")),
            head(&format!("59000203000010000000 01000000 00 {PROVIDER}")),
            head(&format!("5a000204000010000000 01000000 00 00 {PROVIDER}")),
            head(&format!("61000205000010000000 01000000 0000000000000000 00 {PROVIDER}")),
            head(&format!(
                "6a0002060000 00000000 10000000 01000000 0000000000000000 00 {PROVIDER} 0000000000"
            )),
            head(&format!(
                "6e0002070000 00000000 10000000 01000000 0000000000000000 00 {PROVIDER} 0000000000 00000000"
            )),
        ];
        for (command, expected) in CollectCommand::ALL.into_iter().zip(expected) {
            assert_eq!(sent(&config(), command), expected.replace(' ', ""), "{command:?}");
        }
    }

    #[test]
    fn the_golden_collect_tracing_2_of_57_bytes() {
        let provider = Provider::new("A").unwrap().exact_keywords(1).level(Level::Informational);
        let config = SessionConfig::new(Providers::new([provider]).unwrap());
        assert_eq!(
            sent(&config, CollectCommand::V2),
            "444f544e45545f4950435f56310039000203000000010000010000000101000000010000000000000004000000020000004100000000000000"
        );
    }

    #[test]
    fn a_filter_writes_its_ids_once_and_in_order() {
        let providers = Providers::new([workload().filter(EventFilter::only([4, 1, 4]))]).unwrap();
        let message = SessionConfig::new(providers).message(CollectCommand::V5).unwrap();
        assert!(message.payload().ends_with(&[1, 2, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0]));
    }

    #[test]
    fn blocking_is_the_last_word_of_collect_tracing_6() {
        let message = config().when_full(WhenFull::Block).message(CollectCommand::V6).unwrap();
        assert!(message.payload().ends_with(&[1, 0, 0, 0]));
    }

    #[test]
    fn the_lowest_command_that_says_all_is_taken() {
        let plain = config().stacks(true);
        assert_eq!(plain.lowest(), CollectCommand::V2);
        assert_eq!(
            plain.clone().rundown(Rundown::Keyword(Rundown::DEFAULT_KEYWORD)).lowest(),
            CollectCommand::V2
        );
        assert_eq!(plain.clone().stacks(false).lowest(), CollectCommand::V3);
        assert_eq!(plain.clone().rundown(Rundown::Keyword(1)).lowest(), CollectCommand::V4);
        let filtered = Providers::new([workload().filter(EventFilter::only([1]))]).unwrap();
        assert_eq!(SessionConfig::new(filtered).lowest(), CollectCommand::V5);
        assert_eq!(plain.when_full(WhenFull::Block).lowest(), CollectCommand::V6);
    }

    #[test]
    fn a_command_loses_what_it_cannot_say_and_nothing_else() {
        let providers = Providers::new([workload().filter(EventFilter::only([1]))]).unwrap();
        let config = SessionConfig::new(providers)
            .rundown(Rundown::Keyword(1))
            .stacks(false)
            .when_full(WhenFull::Block);
        let filter = Lost::EventFilter { provider: "Nettrace-Workload".to_owned() };
        let keyword = Lost::RundownKeyword { asked: 1, used: Rundown::DEFAULT_KEYWORD };
        assert_eq!(config.lost_with(CollectCommand::V6), []);
        assert_eq!(config.lost_with(CollectCommand::V5), [Lost::Blocking]);
        assert_eq!(config.lost_with(CollectCommand::V4), [Lost::Blocking, filter.clone()]);
        assert_eq!(
            config.lost_with(CollectCommand::V3),
            [Lost::Blocking, filter.clone(), keyword.clone()]
        );
        assert_eq!(
            config.lost_with(CollectCommand::V2),
            [Lost::Blocking, filter, keyword, Lost::StacksOff]
        );
        let off = self::config().stacks(true);
        assert_eq!(off.lost_with(CollectCommand::V2), []);
        let on = Lost::RundownKeyword { asked: 0, used: Rundown::DEFAULT_KEYWORD };
        assert_eq!(off.lost_with(CollectCommand::V1), [on]);
    }

    #[test]
    fn too_many_long_filters_are_refused() {
        let providers = Providers::new([workload().filter(EventFilter::only(0..17_000))]).unwrap();
        let error = SessionConfig::new(providers).message(CollectCommand::V5);
        assert!(matches!(error, Err(RequestError::TooLong { .. })));
    }

    #[test]
    fn a_stop_names_its_session_and_must_be_answered_by_it() {
        let id =
            read_session_id(&payload("444f544e45545f4950435f5631001c00ff0000002010004c457f0000"))
                .unwrap();
        let stop = StopTracing(id);
        assert_eq!(
            hex(stop.message().unwrap().as_bytes()),
            "444f544e45545f4950435f5631001c00020100002010004c457f0000"
        );
        assert_eq!(stop.read_success(&id.0.to_le_bytes()), Ok(()));
        let other = stop.read_success(&1_u64.to_le_bytes());
        assert_eq!(other, Err(ReplyFault::SessionId { asked: id.0, answered: 1 }));
    }
}
