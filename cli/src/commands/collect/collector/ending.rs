//! The end of a recording: reports its result, and keeps or removes its file.

use super::Collector;
use super::recordings::{Active, NO_COUNTERS, NO_NEXT_FILE};
use crate::commands::collect::second_stream::BesideStream;
use crate::commands::collect::summary::Summary;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::sink::Saved;
use crate::units;
use std::collections::BTreeMap;
use std::path::PathBuf;

impl Collector {
    /// Reports the result of a recording that has ended, and keeps or removes its file.
    pub(super) fn take_ended(&mut self, active: Active, context: &mut Context<'_>) {
        self.status.clear();
        let (label, is_watch) = (active.reached.label(), active.job.is_watch());
        // With rules, a process has many recordings, and its watch ends last.
        if is_watch || self.guard.is_none() {
            // Another process may get this process id.
            self.reported_losses.retain(|(pid, _)| *pid != active.reached.pid);
        }
        if is_watch {
            self.forget_watch(active, &label, context);
            return;
        }
        let file =
            active.path.as_ref().map_or(self.queue_name.clone(), |path| path.display().to_string());
        if active.later.is_some() {
            context.messages.warning(&format!("{label}: {NO_COUNTERS}"));
        }
        let (pid, part, elapsed) = (active.reached.pid, active.part(), active.start.elapsed());
        let is_stdout = active.path.is_none();
        let outcome = match active.recording.outcome() {
            Ok(outcome) => outcome,
            Err(failure) => {
                self.failure.get_or_insert(failure);
                return;
            }
        };
        let read = &outcome.read;
        self.totals.add(read.received);
        let asked = self.named.iter().filter(|name| active.providers.contains(name));
        // A stream that cannot be read to its end does not tell who sent nothing.
        let is_silent =
            |name: &&String| read.fault.is_none() && !read.providers.contains(name.as_str());
        let silent = asked.filter(is_silent).cloned().collect();
        let summary =
            Summary { outcome: &outcome, label: &label, file: &file, is_stdout, elapsed, silent };
        summary.tell(self.buffer_megabytes, &mut context.messages);
        if active.refused.is_some() && !summary.is_damaged() {
            context.messages.note(&format!("{label}: {NO_NEXT_FILE}"));
        }
        self.is_damaged |= summary.is_damaged();
        let mut failure = summary.failure();
        let is_kept = matches!(outcome.read.saved, Saved::Part(Some(_)) | Saved::Unnamed(_));
        let written = match outcome.read.saved {
            Saved::Whole { file, .. } => Some(file),
            Saved::Unnamed(unnamed) => {
                failure.get_or_insert(unnamed);
                None
            }
            Saved::Nothing | Saved::Part(_) => None,
        };
        self.no_times.extend(outcome.no_times);
        if let Some(beside) = outcome.beside {
            match &written {
                Some(written) => drop(self.beside.insert(written.path().to_owned(), beside)),
                None if is_kept => beside.end(None),
                None => beside.discard(),
            }
        }
        if let Some((rule, watch)) = active.job.rule() {
            let written = written.into_iter().collect();
            match (failure, &mut self.guard) {
                (Some(failure), _) => self.fail_rule(rule, watch, &failure, context),
                (None, Some((guard, _))) => {
                    guard.take_recorded(
                        rule,
                        watch,
                        &active.reached,
                        written,
                        &mut context.messages,
                    );
                }
                (None, None) => {}
            }
            return;
        }
        self.failure = self.failure.take().or(failure);
        if active.main != active.number {
            // Files of metrics are not converted, and belong to no rotation.
            return;
        }
        self.finished.extend(written.map(|written| (pid, part, written)));
        // Files may end in another order than they began.
        self.finished.make_contiguous().sort_by_key(|(_, part, _)| *part);
        if let Some((rule, watch)) = active.keeps {
            self.keep(rule, watch, &active.reached, context);
        }
        self.remove_oldest(pid);
    }

    /// Forgets a session that looked for the conditions of rules and has ended.
    fn forget_watch(&mut self, active: Active, label: &str, context: &mut Context<'_>) {
        drop(active.recording.outcome());
        if active.main != active.number {
            return;
        }
        if let Some(guard) = self.guard() {
            guard.forget(active.number);
        }
        if !self.is_stopping() {
            let text = format!("{label} has ended: its rules are no longer looked at");
            context.messages.note(&text);
        }
    }

    /// Removes the oldest files of a process if its rotation has more files than it may have.
    fn remove_oldest(&mut self, pid: Option<u64>) {
        let Some(kept) = self.kept else { return };
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

    /// Takes the second streams of recordings that were cut off, by the file of the recording.
    pub(in super::super) fn take_beside(&mut self) -> BTreeMap<PathBuf, BesideStream> {
        std::mem::take(&mut self.beside)
    }

    /// Reports why times of threads are lacking, and what reading them took.
    fn tell_thread_times(&self, context: &mut Context<'_>) {
        for reason in &self.no_times {
            context.messages.note(&format!("no times of threads: {reason}"));
        }
        let times = self.thread_times.as_ref();
        if let Some((times, summary)) = times.and_then(|times| Some((times, times.summary()?))) {
            context.messages.note(&summary.text(times.interval()));
        }
    }

    /// Returns the files of all recordings that have ended.
    pub(in super::super) fn into_written(mut self) -> Vec<PathBuf> {
        let own = self.guard.as_ref().map(|(guard, _)| guard.paths()).unwrap_or_default();
        let finished = std::mem::take(&mut self.finished).into_iter();
        finished.map(|(.., written)| written.path().to_owned()).chain(own).collect()
    }

    /// Returns the command's exit code. Warns of processes that were not recorded, and of bytes
    /// that were thrown away.
    pub(in super::super) fn conclude(
        &mut self,
        context: &mut Context<'_>,
    ) -> Result<Exit, Failure> {
        self.tell_thread_times(context);
        if self.turned_away > 0 {
            let processes = units::counted(self.turned_away, "process");
            context.messages.warning(&format!(
                "{processes} were not recorded because file descriptors ran out"
            ));
        }
        if let Some(queue) = self.queue.take() {
            let dropped = queue.finish()?;
            if dropped.bytes > 0 {
                let bytes = units::bytes(dropped.bytes);
                let text = format!(
                    "of the trace were thrown away, since {} was not read",
                    self.queue_name
                );
                context.messages.warning(&format!("{bytes} {text}"));
                self.is_damaged = true;
            }
        }
        match self.failure.take() {
            Some(failure) => Err(failure),
            None if self.count == 0 || self.has_failed_rule => Ok(Exit::Failed),
            None if self.is_damaged => Ok(Exit::Damaged),
            None => Ok(Exit::Fine),
        }
    }
}
