//! Recordings that rules start or keep.

use super::Collector;
use super::recordings::Active;
use crate::commands::collect::files::stamp;
use crate::commands::collect::starts::{Job, StartRequest, Target};
use crate::context::Context;
use crate::failure::Failure;
use crate::live::rules::Action;
use crate::live::target::Reached;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Order of a fired rule to keep the rotation's files.
pub(super) struct Keep {
    rule: usize,
    /// Number of the session in which the rule fired.
    watch: usize,
    reached: Reached,
    due: Instant,
}

impl Collector {
    /// Starts the rotation whose files rules may keep, beside the session that looks for their
    /// conditions.
    pub(super) fn begin_rotation(
        &mut self,
        reached: Reached,
        resumes: bool,
        context: &mut Context<'_>,
    ) {
        let request = StartRequest::new(Job::Record { part: Some(1) }, &self.config);
        let request = StartRequest { resumes, ..request };
        if let Err(error) = self.begin(Target::Reached(reached), request) {
            context.messages.warning(&format!("nothing is recorded: {error}"));
        }
    }

    /// Returns the bytes and the duration after which a session is stopped.
    pub(super) fn bounds(&self, job: &Job) -> (Option<u64>, Option<Duration>) {
        let Some((rule, _)) = job.rule() else {
            return (self.limit.filter(|_| !job.is_watch()), None);
        };
        let rule = self.guard.as_ref().and_then(|(guard, _)| guard.rule(rule));
        match rule.map(|rule| &rule.action) {
            Some(Action::Start(start)) => (start.max_bytes, Some(start.duration)),
            _ => (None, None),
        }
    }

    /// Carries out the action of a rule whose condition is fulfilled.
    pub(super) fn fire(
        &mut self,
        number: usize,
        rule: usize,
        values: Vec<(String, f64)>,
        context: &mut Context<'_>,
    ) {
        self.status.clear();
        let (growing, is_stopping) = (self.growing(), self.is_stopping());
        let Some((guard, _)) = &mut self.guard else { return };
        let Some(watch) = self.active.iter().find(|active| active.number == number) else { return };
        if is_stopping || guard.is_full(rule, &growing, &mut context.messages) {
            return;
        }
        let reached = watch.reached.clone();
        let Some(fired) = guard.rule(rule) else { return };
        match &fired.action {
            Action::Start(start) => {
                let path = guard.files.path(&reached, &fired.name, &stamp(), None);
                guard.tell_fired(fired, &reached, values, Some(&path), &mut context.messages);
                let job = Job::Rule { rule, watch: number, path };
                let request = StartRequest::new(job, &start.config);
                if let Err(error) = self.begin(Target::Reached(reached), request) {
                    self.fail_rule(rule, number, &Failure::Output(error), context);
                }
            }
            Action::Keep { after } => {
                guard.tell_fired(fired, &reached, values, None, &mut context.messages);
                let due = Instant::now().checked_add(*after).unwrap_or_else(Instant::now);
                self.keeps.push(Keep { rule, watch: number, reached, due });
            }
        }
    }

    /// Returns rule and bytes of each recording that a rule has started or requested and that has
    /// not ended.
    pub(super) fn growing(&self) -> Vec<(usize, u64)> {
        let its = self.active.iter().filter_map(|active| {
            Some((active.job.rule()?.0, active.recording.session.received().bytes))
        });
        its.chain(self.starts.rules().map(|rule| (rule, 0))).collect()
    }

    /// Stops recordings of rules that have reached their duration, and enforces the limits of files
    /// and bytes on disk.
    pub(super) fn look_at_rules(&mut self, context: &mut Context<'_>) {
        let (growing, is_stopping) = (self.growing(), self.is_stopping());
        let Some((guard, _)) = &mut self.guard else { return };
        guard.arm();
        if !is_stopping {
            guard.tell_silence(&mut context.messages);
        }
        let full = guard.hold_limits(&growing, &mut context.messages);
        let is_over = |active: &&Active| {
            !active.is_stopping()
                && (active.deadline.is_some_and(|deadline| Instant::now() >= deadline)
                    || active.job.rule().is_some_and(|(rule, _)| full.contains(&rule)))
        };
        let over: Vec<usize> =
            self.active.iter().filter(is_over).map(|active| active.number).collect();
        over.into_iter().for_each(|number| self.stop_one(number));
        self.keep_what_is_due(false, context);
    }

    /// Ends the newest file of each rotation that is to be kept; when that file is whole, all files
    /// are kept. `is_last`: keeps files now, before they are due, because the command ends.
    pub(super) fn keep_what_is_due(&mut self, is_last: bool, context: &mut Context<'_>) {
        let is_due = |keep: &mut Keep| is_last || keep.due <= Instant::now();
        let due: Vec<Keep> = self.keeps.extract_if(.., is_due).collect();
        for keep in due {
            let Keep { rule, watch, reached, .. } = keep;
            let of_rotation = |active: &&mut Active| {
                active.job.part().is_some() && active.reached.pid == reached.pid
            };
            // The file before the newest may still be ending.
            match self.active.iter_mut().filter(of_rotation).max_by_key(|active| active.part()) {
                Some(active) if active.keeps.is_none() => {
                    active.keeps = Some((rule, watch));
                    active.full_since.get_or_insert_with(Instant::now);
                }
                // Another rule keeps these files already.
                Some(_) => self.rest(rule, watch),
                // The process has ended.
                None => self.keep(rule, watch, &reached, context),
            }
        }
    }

    /// Reports that a rule's recording failed.
    pub(super) fn fail_rule(
        &mut self,
        rule: usize,
        watch: usize,
        failure: &Failure,
        context: &mut Context<'_>,
    ) {
        self.has_failed_rule = true;
        let Some(its) = self.active.iter().find(|active| active.number == watch) else {
            // The process has ended, so that the rule needs no cooldown.
            context.messages.error(failure);
            return;
        };
        let reached = its.reached.clone();
        if let Some((guard, _)) = &mut self.guard {
            guard.take_failure(rule, watch, &reached, failure, &mut context.messages);
        }
    }

    /// Starts a rule's cooldown.
    pub(super) fn rest(&mut self, rule: usize, watch: usize) {
        if let Some(guard) = self.guard() {
            guard.rest(rule, watch);
        }
    }

    /// Keeps all files of a process's rotation.
    pub(super) fn keep(
        &mut self,
        rule: usize,
        watch: usize,
        reached: &Reached,
        context: &mut Context<'_>,
    ) {
        let all = std::mem::take(&mut self.finished).into_iter();
        let (kept, others) = all.partition::<VecDeque<_>, _>(|(pid, ..)| *pid == reached.pid);
        self.finished = others;
        let written = kept.into_iter().map(|(.., written)| written).collect();
        let Some(guard) = self.guard() else { return };
        for (old, new) in guard.keep(rule, watch, reached, written, &mut context.messages) {
            if let Some(beside) = self.beside.remove(&old) {
                let moved = beside.moved(&new);
                self.beside.insert(new, moved);
            }
        }
    }
}
