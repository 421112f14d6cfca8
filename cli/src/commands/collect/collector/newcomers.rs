//! Processes that connect while others are being recorded.

use super::Collector;
use crate::commands::collect::starts::Target;
use crate::context::Context;
use crate::failure::Failure;
use crate::failure::with_causes;
use crate::live::target::NAME_TIMEOUT;
use nettrace_ipc::{Found, Launched, Port, Search};
use std::time::Duration;

/// Maximum number of unrecorded processes that messages name.
const MAX_NAMED: u32 = 10;
/// Maximum number of session requests that wait for an answer at the same time, because each needs
/// several file descriptors.
const MAX_PENDING_STARTS: usize = 4;

/// Source of processes that connect during the run.
pub(in super::super) enum Newcomers<'n> {
    None,
    /// Function that returns the process ids of newcomers that go on unrecorded, each id once.
    LetGo(&'n dyn Fn() -> Vec<u64>),
    Port(&'n Port),
    Launched(&'n mut Launched),
}

impl Newcomers<'_> {
    /// Returns the number of processes that went on unrecorded because descriptors had run out.
    pub(super) fn turned_away(&self) -> u64 {
        match self {
            Newcomers::None | Newcomers::LetGo(_) => 0,
            Newcomers::Port(port) => port.turned_away(),
            Newcomers::Launched(launched) => launched.turned_away(),
        }
    }
}

impl Collector {
    /// Starts recording processes that have connected. Returns whether more can connect.
    pub(super) fn admit(&mut self, newcomers: &mut Newcomers<'_>) -> Result<bool, Failure> {
        loop {
            let is_busy = self.starts.count() >= MAX_PENDING_STARTS;
            let (arrival, more, resumes) = match newcomers {
                Newcomers::None | Newcomers::LetGo(_) => return Ok(false),
                Newcomers::Port(_) if is_busy => return Ok(true),
                Newcomers::Port(port) => (port.next(Duration::ZERO), true, self.resumes),
                Newcomers::Launched(launched) => {
                    let failed = |error: nettrace_ipc::Error| {
                        Failure::input("the started program", with_causes(&error))
                    };
                    let arrival = launched.next(Duration::ZERO).map_err(failed)?;
                    (arrival, !launched.has_ended().map_err(failed)?, true)
                }
            };
            match arrival {
                Some(arrival) => self.add(Target::Arrived(arrival), resumes, false)?,
                None => return Ok(more),
            }
        }
    }

    /// Reports unrecorded processes by their names: the user may have meant to record them.
    pub(in super::super) fn tell_let_go(&mut self, pids: &[u64], context: &mut Context<'_>) {
        for pid in pids {
            self.let_go += 1;
            if self.let_go > MAX_NAMED {
                continue;
            }
            let mut found = u32::try_from(*pid).ok().and_then(|pid| Search::new().process(pid));
            Found::ask_names(found.as_mut_slice(), NAME_TIMEOUT);
            let label = found.map_or_else(
                || format!("process {pid}"),
                |found| format!("{} ({pid})", found.name),
            );
            let more = if self.let_go == MAX_NAMED { "; so do all that follow" } else { "" };
            self.status.clear();
            let text = "goes on unrecorded; --children (or --all, at a port) records it too";
            context.messages.note(&format!("{label} {text}{more}"));
        }
    }

    /// Warns when the first process is resumed because descriptors ran out, and never again,
    /// because there may be thousands.
    pub(super) fn tell_turned_away(&mut self, now: u64, context: &mut Context<'_>) {
        let before = std::mem::replace(&mut self.turned_away, now);
        if before == 0 && now > 0 {
            self.status.clear();
            context.messages.warning(
                "out of file descriptors: new processes are resumed without being recorded; ulimit -n raises the limit",
            );
        }
    }
}
