//! Rotation: begins the next file of a recording whose file is full.

use super::Collector;
use super::recordings::Active;
use crate::commands::collect::starts::{Job, StartRequest, Target};
use crate::context::Context;
use std::time::Instant;

impl Collector {
    /// Starts the session of the next file before the session of the full file is stopped, so that
    /// no event falls between them.
    pub(super) fn go_on_rotating(&mut self, context: &mut Context<'_>) {
        let is_due = |active: &&mut Active| {
            !active.is_stopping() && active.full_since.is_some_and(|since| since <= Instant::now())
        };
        let is_stopping = self.is_stopping();
        let Some(active) = self.active.iter_mut().find(is_due).filter(|_| !is_stopping) else {
            return;
        };
        active.full_since = None;
        if let Some(failure) = active.refused.take() {
            self.status.clear();
            context.messages.warning(&format!("no new file yet: {failure}"));
        }
        let target = Target::Reached(active.reached.clone());
        let job = Job::Record { part: Some(active.part() + 1) };
        let replaces = Some(active.number);
        let request = StartRequest { replaces, ..StartRequest::new(job, &self.config) };
        if let Err(error) = self.begin(target, request) {
            self.status.clear();
            context.messages.warning(&format!("no new file: {error}"));
        }
    }
}
