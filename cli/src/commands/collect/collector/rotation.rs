//! One file after the other, so that nothing falls between them.

use super::{Active, Collector};
use crate::commands::collect::begin::{Begin, Job, Whom};
use crate::context::Context;
use crate::live::unless_ended::GRACE;
use std::time::Instant;

impl Collector {
    /// Starts the next file of a process before the full one is stopped, so that nothing
    /// falls between them.
    pub(super) fn go_on_rotating(&mut self, context: &mut Context<'_>) {
        let is_due = |active: &&mut Active| {
            !active.is_stopping && active.full_since.is_some_and(|since| since <= Instant::now())
        };
        let Some(active) = self.active.iter_mut().find(is_due) else { return };
        if self.is_stopping {
            return;
        }
        active.full_since = None;
        let begin = Begin {
            whom: Whom::Reached(active.reached.clone()),
            job: Job::Record { part: Some(active.part() + 1) },
            config: self.config.clone(),
            resumes: false,
            is_only: false,
            replaces: Some(active.number),
        };
        if let Err(error) = self.beginnings.begin(begin) {
            self.status.clear();
            context.messages.warning(&format!("no new file: {error}"));
        }
    }

    /// The next file of a process that does not answer keeps no recording from its end.
    pub(super) fn stop_who_waits_for_a_next_file(&mut self) {
        if self.stopping_since.is_some_and(|since| since.elapsed() >= GRACE) {
            while let Some(number) =
                self.active.iter().find(|active| !active.is_stopping).map(|a| a.number)
            {
                self.stop_one(number);
            }
        }
    }
}
