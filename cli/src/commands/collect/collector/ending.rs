//! How recordings end, and what is left of them.

use super::{Active, Collector, Job};
use crate::commands::collect::summary::Summary;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::units;
use std::path::PathBuf;

impl Collector {
    /// Tells how a recording ended.
    pub(super) fn end(&mut self, active: Active, context: &mut Context<'_>) {
        self.status.clear();
        let elapsed = active.start.elapsed();
        let label = active.reached.label();
        let pid = active.reached.pid;
        let file = active
            .path
            .as_ref()
            .map_or(self.outlet_name.clone(), |path| path.display().to_string());
        let (is_watch, part) = (active.is_watch(), active.part());
        let mut outcome = active.recording.outcome();
        if is_watch || self.guard.is_none() {
            // Another process may get its number.
            let own = format!("{label}: ");
            self.reported_losses.retain(|text| !text.starts_with(&own));
        }
        if is_watch {
            if let Some((guard, _)) = &mut self.guard {
                guard.forget(active.number);
            }
            if !self.is_stopping {
                context
                    .messages
                    .note(&format!("{label} has ended: its rules are no longer looked at"));
            }
            return;
        }
        self.totals.0 += outcome.bytes;
        self.totals.1 += outcome.events;
        self.totals.2 += outcome.lost;
        let summary = Summary { outcome: &outcome, label: &label, file: &file, elapsed };
        summary.tell(self.buffer_megabytes, &mut context.messages);
        self.is_damaged |= summary.is_damaged();
        if let Some(failure) = summary.failure() {
            self.failure.get_or_insert(failure);
        }
        if let Some(left) = &outcome.left {
            context.messages.note(&format!("what was recorded is in {}", left.display()));
        }
        if let Some(failure) = outcome.unnamed.take() {
            self.failure.get_or_insert(failure);
        }
        if let (Job::Rule { rule, watch, .. }, Some((guard, _))) = (&active.job, &mut self.guard) {
            let written = outcome.written.take().into_iter().collect();
            guard.recorded(*rule, *watch, &active.reached, written, &mut context.messages);
            return;
        }
        self.finished.extend(outcome.written.take().map(|written| (pid, part, written)));
        // One that was full later may have ended earlier.
        self.finished.make_contiguous().sort_by_key(|(_, part, _)| *part);
        if let Some((rule, watch)) = active.keeps {
            self.keep(rule, watch, &active.reached, context);
        }
        if let Some(kept) = self.kept {
            let is_growing = self.active.iter().any(|active| active.reached.pid == pid);
            let kept = if is_growing { kept.saturating_sub(1).max(1) } else { kept };
            while self.finished.iter().filter(|(other, ..)| *other == pid).count() > kept {
                let Some(at) = self.finished.iter().position(|(other, ..)| *other == pid) else {
                    break;
                };
                if let Some((.., old)) = self.finished.remove(at) {
                    old.remove();
                }
            }
        }
    }

    /// The files of all recordings, once they have ended.
    pub(in super::super) fn into_written(mut self) -> Vec<PathBuf> {
        let own = self.guard.as_ref().map(|(guard, _)| guard.paths()).unwrap_or_default();
        let finished = std::mem::take(&mut self.finished).into_iter();
        finished.map(|(.., written)| written.path().to_owned()).chain(own).collect()
    }

    /// How the command ends.
    pub(in super::super) fn conclude(
        &mut self,
        context: &mut Context<'_>,
    ) -> Result<Exit, Failure> {
        if self.turned_away > 0 {
            let processes = units::counted(self.turned_away, "process");
            context.messages.warning(&format!(
                "{processes} were not recorded because file descriptors ran out"
            ));
        }
        if let Some(outlet) = self.outlet.take() {
            let thrown = outlet.finish()?;
            if thrown.bytes > 0 {
                let bytes = units::bytes(thrown.bytes);
                let text = format!(
                    "of the trace were thrown away, since {} was not read",
                    self.outlet_name
                );
                context.messages.warning(&format!("{bytes} {text}"));
                self.is_damaged = true;
            }
        }
        match self.failure.take() {
            Some(failure) => Err(failure),
            None if self.count == 0 => Ok(Exit::Failed),
            None if self.is_damaged => Ok(Exit::Damaged),
            None => Ok(Exit::Fine),
        }
    }
}
