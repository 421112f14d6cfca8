//! Rules for unattended use: when to make or keep a recording, and how much of them stays on disk.

mod file;

use crate::args::SessionArgs;
use nettrace_export::{CounterName, Predicate};
use nettrace_ipc::{Level, Provider, Providers, RequestError, Rundown, SessionConfig};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

/// The rules of one file.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) all: Vec<Rule>,
    /// Folder of the recordings; `None` for the current folder.
    pub(crate) folder: Option<PathBuf>,
    /// Time between two values of a counter.
    pub(crate) interval: Duration,
    /// Limit of the recordings of all rules on disk.
    pub(crate) limit: Limit,
}

/// A rule: a condition, and what to do when it holds.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Name of the rule, which is part of the names of its files.
    pub(crate) name: String,
    pub(crate) condition: Predicate,
    /// Providers of the condition's events.
    watched: Vec<Provider>,
    pub(crate) action: Action,
    /// Minimum time between the end of a recording and the next.
    pub(crate) cooldown: Duration,
    pub(crate) limit: Limit,
}

/// Action of a rule when its condition holds.
#[derive(Debug)]
pub(crate) enum Action {
    /// Begins a recording.
    Start(Box<Start>),
    /// Keeps the files of the rotation, and goes on recording for the time `after`.
    Keep { after: Duration },
}

/// The recording that a rule begins.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) session: SessionArgs,
    pub(crate) config: SessionConfig,
    pub(crate) duration: Duration,
    pub(crate) max_bytes: Option<u64>,
}

/// Limit of recordings on disk.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Limit {
    pub(crate) files: Option<usize>,
    pub(crate) bytes: Option<u64>,
    pub(crate) when_full: WhenFull,
}

/// Behaviour at a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum WhenFull {
    /// The oldest files are removed.
    #[default]
    DeleteOldest,
    /// Nothing more is recorded.
    Stop,
}

/// Buffer in megabytes of the session that watches the conditions: counters come to a few hundred
/// bytes a second.
const WATCH_MEGABYTES: u32 = 16;

impl Rules {
    /// Returns the configuration of the session that watches the conditions. It records neither
    /// stacks nor a rundown.
    pub(crate) fn watch_config(&self) -> Result<SessionConfig, RequestError> {
        let counters: Vec<&CounterName> =
            self.all.iter().flat_map(|rule| rule.condition.counters()).collect();
        let mut wanted = super::counters::providers(&counters, self.interval)?;
        wanted.extend(self.all.iter().flat_map(|rule| rule.watched.clone()));
        if wanted.is_empty() {
            // Conditions that name no event are about events of the runtime.
            let provider = Provider::new(crate::args::profiles::RUNTIME)?;
            let keywords = crate::args::profiles::COMMON_KEYWORDS;
            wanted.push(provider.keywords(keywords).level(Level::Informational));
        }
        let config =
            SessionConfig::new(Providers::new(wanted)?).rundown(Rundown::Off).stacks(false);
        Ok(config.buffer_megabytes(NonZeroU32::new(WATCH_MEGABYTES).unwrap_or(NonZeroU32::MIN)))
    }

    /// Returns whether a rule keeps the files of a rotation.
    pub(crate) fn keep_rotations(&self) -> bool {
        self.all.iter().any(|rule| matches!(rule.action, Action::Keep { .. }))
    }
}
