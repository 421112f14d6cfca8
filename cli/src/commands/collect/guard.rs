//! Rules while processes run: which may fire, what they have recorded, and how much of that stays.

use super::files::{RuleFiles, stamp};
use crate::live::recording::Watcher;
use crate::live::rules::{Limit, Rule, Rules, WhenFull};
use crate::live::target::Reached;
use crate::messages::Messages;
use crate::new_file::Written;
use nettrace_export::Trigger;
use nettrace_parser::utc_text;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// All rules of one run.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) rules: Rules,
    pub(super) files: RuleFiles,
    watches: Vec<Watch>,
    /// Finished files, oldest first.
    kept: Vec<Kept>,
    /// Of each rule: it has said that it records nothing more.
    is_full: Vec<bool>,
}

/// A process that is looked at.
#[derive(Debug)]
struct Watch {
    /// Of its session.
    number: usize,
    /// By rule.
    states: Vec<RuleState>,
}

#[derive(Debug)]
struct RuleState {
    is_armed: Arc<AtomicBool>,
    rests_until: Option<Instant>,
}

/// A file of a rule.
#[derive(Debug)]
struct Kept {
    rule: usize,
    path: PathBuf,
    /// `None`: of a run before this one.
    written: Option<Written>,
    bytes: u64,
}

/// A line for programs.
#[derive(Serialize)]
struct Line<'l> {
    event: &'static str,
    time: String,
    rule: &'l str,
    process_id: Option<u64>,
    process: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<serde_json::Map<String, serde_json::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    files: &'l [PathBuf],
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

impl Guard {
    pub(super) fn new(rules: Rules, files: RuleFiles) -> Guard {
        let is_full = vec![false; rules.all.len()];
        let mut guard = Guard { rules, files, watches: Vec::new(), kept: Vec::new(), is_full };
        for (path, name, bytes) in guard.files.found() {
            if let Some(rule) = guard.rules.all.iter().position(|rule| is_of(&name, &rule.name)) {
                guard.kept.push(Kept { rule, path, written: None, bytes });
            }
        }
        guard
    }

    pub(super) fn rule(&self, rule: usize) -> Option<&Rule> {
        self.rules.all.get(rule)
    }

    /// What looks for the conditions in the session of this number.
    pub(super) fn watch(&mut self, number: usize) -> Vec<Watcher> {
        let arm = |_: &Rule| RuleState { is_armed: Arc::new(AtomicBool::new(true)), rests_until: None };
        let states: Vec<RuleState> = self.rules.all.iter().map(arm).collect();
        let watchers = self.rules.all.iter().zip(&states).map(|(rule, state)| Watcher {
            trigger: Trigger::new(vec![rule.condition.clone()]),
            is_armed: Arc::clone(&state.is_armed),
        });
        let watchers = watchers.collect();
        self.watches.push(Watch { number, states });
        watchers
    }

    /// The session of this number has ended.
    pub(super) fn forget(&mut self, number: usize) {
        self.watches.retain(|watch| watch.number != number);
    }

    /// Says that a rule has fired.
    pub(super) fn tell_fired(
        &self,
        rule: &Rule,
        reached: &Reached,
        values: Vec<(String, f64)>,
        file: Option<&Path>,
        messages: &mut Messages<'_>,
    ) {
        let values = values.into_iter().map(|(name, value)| (name, value.into())).collect();
        let files: Vec<PathBuf> = file.map(Path::to_owned).into_iter().collect();
        messages.object(&Line {
            event: "rule-fired",
            condition: Some(rule.condition.text()),
            values: Some(values),
            action: Some(if file.is_some() { "start" } else { "keep" }),
            files: &files,
            ..line(rule, reached)
        });
    }

    /// A recording of a rule has ended. From now on it rests.
    pub(super) fn recorded(
        &mut self,
        rule: usize,
        watch: usize,
        reached: &Reached,
        written: Vec<Written>,
        messages: &mut Messages<'_>,
    ) {
        self.rest(rule, watch);
        let files: Vec<PathBuf> = written.iter().map(|written| written.path().to_owned()).collect();
        let mut total = 0;
        for written in written {
            let path = written.path().to_owned();
            let bytes = path.metadata().map_or(0, |data| data.len());
            total += bytes;
            self.kept.push(Kept { rule, path, written: Some(written), bytes });
        }
        let Some(rule) = self.rules.all.get(rule) else { return };
        if !files.is_empty() {
            messages.object(&Line {
                event: "rule-recorded",
                files: &files,
                bytes: Some(total),
                ..line(rule, reached)
            });
        }
    }

    /// Gives files of a rotation the rule's name, so that they stay. From now on the rule rests.
    pub(super) fn keep(
        &mut self,
        rule: usize,
        watch: usize,
        reached: &Reached,
        written: Vec<Written>,
        messages: &mut Messages<'_>,
    ) {
        let name = self.rules.all.get(rule).map(|rule| rule.name.clone()).unwrap_or_default();
        let mut kept = Vec::new();
        let now = stamp();
        for (written, part) in written.into_iter().zip(1..) {
            let path = self.files.path(reached, &name, &now, Some(part));
            let old = written.path().display().to_string();
            match written.rename(&path) {
                Ok(written) => kept.push(written),
                Err(error) => {
                    messages.warning(&format!("{old} cannot be kept as {}: {error}", path.display()))
                }
            }
        }
        self.recorded(rule, watch, reached, kept, messages);
    }

    /// From now on the rule rests for its cooldown.
    pub(super) fn rest(&mut self, rule: usize, watch: usize) {
        let Some(cooldown) = self.rules.all.get(rule).map(|rule| rule.cooldown) else { return };
        let watch = self.watches.iter_mut().find(|other| other.number == watch);
        if let Some(state) = watch.and_then(|watch| watch.states.get_mut(rule)) {
            state.rests_until = Instant::now().checked_add(cooldown);
        }
    }

    /// Lets those fire again that have rested.
    pub(super) fn arm(&mut self) {
        for state in self.watches.iter_mut().flat_map(|watch| &mut watch.states) {
            if state.rests_until.take_if(|until| *until <= Instant::now()).is_some() {
                state.is_armed.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Whether a rule may record no more; said once.
    pub(super) fn is_full(
        &mut self,
        rule: usize,
        growing: &[(usize, u64)],
        messages: &mut Messages<'_>,
    ) -> bool {
        let limits = self.limits();
        let over = |(of, limit): &(Option<usize>, Limit)| {
            let (files, bytes) = self.used(*of, growing);
            limit.when_full == WhenFull::Stop
                && of.is_none_or(|of| of == rule)
                && (limit.files.is_some_and(|most| files >= most)
                    || limit.bytes.is_some_and(|most| bytes >= most))
        };
        let is_full = limits.iter().any(over);
        if let (true, Some(told), Some(rule)) =
            (is_full, self.is_full.get_mut(rule), self.rules.all.get(rule))
            && !std::mem::replace(told, true)
        {
            let text = "has recorded all that it may (max-files, max-disk): it records nothing more";
            messages.warning(&format!("rule {}: {text}", rule.name));
        }
        is_full
    }

    /// Removes the oldest files where there are too many, or they are too large. Tells which recordings have to be
    /// stopped because nothing else is left. `growing`: rules and bytes of those that are not finished.
    pub(super) fn hold_limits(
        &mut self,
        growing: &[(usize, u64)],
        messages: &mut Messages<'_>,
    ) -> Vec<usize> {
        let mut stop = Vec::new();
        for (of, limit) in self.limits() {
            loop {
                let (files, bytes) = self.used(of, growing);
                let has_many = limit.files.is_some_and(|most| files > most);
                let is_large = limit.bytes.is_some_and(|most| bytes > most);
                if !has_many && !is_large {
                    break;
                }
                let is_its = |rule: usize| of.is_none_or(|of| of == rule);
                let oldest = self.kept.iter().position(|kept| is_its(kept.rule));
                match oldest.filter(|_| limit.when_full == WhenFull::DeleteOldest) {
                    Some(at) => {
                        let old = self.kept.remove(at);
                        messages
                            .note(&format!("{} is removed: newer ones take its place", old.path.display()));
                        match old.written {
                            Some(written) => written.remove(),
                            // Somebody may have taken it away already.
                            None => drop(std::fs::remove_file(&old.path)),
                        }
                    }
                    None => {
                        if is_large {
                            stop.extend(growing.iter().map(|(rule, _)| *rule).filter(|rule| is_its(*rule)));
                        }
                        break;
                    }
                }
            }
        }
        stop
    }

    /// Files that stay, for what is done with them at the end.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let own = self.kept.iter().filter(|kept| kept.written.is_some());
        own.map(|kept| kept.path.clone()).collect()
    }

    /// Each rule's, then that of all.
    fn limits(&self) -> Vec<(Option<usize>, Limit)> {
        let each = self.rules.all.iter().enumerate().map(|(at, rule)| (Some(at), rule.limit));
        each.chain([(None, self.rules.limit)]).collect()
    }

    /// Files and bytes of a rule, or of all.
    fn used(&self, rule: Option<usize>, growing: &[(usize, u64)]) -> (usize, u64) {
        let kept = self.kept.iter().map(|kept| (kept.rule, kept.bytes));
        let its = kept.chain(growing.iter().copied()).filter(|(of, _)| rule.is_none_or(|rule| rule == *of));
        its.fold((0, 0), |(files, bytes), (_, more)| (files + 1, bytes + more))
    }
}

/// `busy`, or `busy-2` where there was one of the same second.
fn is_of(name: &str, rule: &str) -> bool {
    let more = name.strip_prefix(rule).map(|more| more.strip_prefix('-').unwrap_or(more));
    name == rule || more.is_some_and(|more| !more.is_empty() && more.bytes().all(|b| b.is_ascii_digit()))
}

fn line<'l>(rule: &'l Rule, reached: &'l Reached) -> Line<'l> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Line {
        event: "",
        time: utc_text(i128::try_from(now.as_nanos()).unwrap_or(0), 3).replace(' ', "T") + "Z",
        rule: &rule.name,
        process_id: reached.pid,
        process: &reached.name,
        condition: None,
        values: None,
        action: None,
        files: &[],
        bytes: None,
    }
}
