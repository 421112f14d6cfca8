//! State of the rules while processes run: which may fire, which files they recorded, and which
//! of these stay on disk.

use super::files::{RuleFiles, stamp};
use super::recording::Watcher;
use crate::failure::Failure;
use crate::live::rules::{Limit, Rule, Rules, WhenFull};
use crate::live::target::Reached;
use crate::messages::Messages;
use crate::new_file::Written;
use nettrace_export::Trigger;
use nettrace_parser::utc_text;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Minimum number of intervals without a value after which a counter is silent. The minimum time
/// is [`Delays::silent_rule`](crate::delays::Delays).
const MIN_SILENT_INTERVALS: u32 = 10;
/// Minimum number of intervals after which a counter that never had a value is reported, because
/// its name may be wrong.
const MIN_UNKNOWN_INTERVALS: u32 = 2;
/// Time for which a rule rests after its first failed recording; each further failure doubles it.
const MIN_BACK_OFF: Duration = Duration::from_secs(5);
/// Maximum time for which a rule rests after consecutive failures.
const MAX_BACK_OFF: Duration = Duration::from_secs(600);

/// Rules of one run, with the processes that they watch and the files that they wrote.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) rules: Rules,
    pub(super) files: RuleFiles,
    silence: Duration,
    watches: Vec<WatchedProcess>,
    /// Finished files of rules, oldest first.
    kept: Vec<Kept>,
    /// For each rule, whether its limit has been reported.
    is_full: Vec<bool>,
}

/// Process whose counters and events are checked against the rules.
#[derive(Debug)]
struct WatchedProcess {
    /// Number of the session that watches the process.
    number: usize,
    label: String,
    /// State of each rule in this process, in the order of the rules.
    states: Vec<RuleState>,
}

#[derive(Debug)]
struct RuleState {
    is_armed: Arc<AtomicBool>,
    rests_until: Option<Instant>,
    /// Number of consecutive recordings that failed.
    failures: u32,
    voice: Option<Voice>,
}

/// Values that a rule's counters have sent; `RuleState` has none for a rule without counters.
#[derive(Debug)]
struct Voice {
    value_count: Arc<AtomicU64>,
    last_count: u64,
    since: Instant,
    is_reported: bool,
}

/// File that a rule recorded or kept.
#[derive(Debug)]
struct Kept {
    rule: usize,
    path: PathBuf,
    /// `None` if an earlier run wrote it.
    written: Option<Written>,
    bytes: u64,
}

/// Line of JSON on stderr for programs.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Guard {
    /// Creates the state before any process is watched. `silence` is the minimum time without a
    /// value that is reported.
    pub(super) fn new(rules: Rules, files: RuleFiles, silence: Duration) -> Guard {
        let is_full = vec![false; rules.all.len()];
        let (watches, kept) = (Vec::new(), Vec::new());
        let mut guard = Guard { rules, files, silence, watches, kept, is_full };
        for (path, name, bytes) in guard.files.found() {
            if let Some(rule) = rule_of(&name, guard.rules.all.iter().map(|rule| &*rule.name)) {
                guard.kept.push(Kept { rule, path, written: None, bytes });
            }
        }
        guard
    }

    pub(super) fn rule(&self, rule: usize) -> Option<&Rule> {
        self.rules.all.get(rule)
    }

    /// Watches a process by the session of this number. Returns a watcher for each rule's
    /// condition.
    pub(super) fn watch(&mut self, number: usize, label: String) -> Vec<Watcher> {
        let (mut states, mut watchers) = (Vec::new(), Vec::new());
        for rule in &self.rules.all {
            let is_armed = Arc::new(AtomicBool::new(true));
            let value_count = Arc::new(AtomicU64::new(0));
            let has_counters = !rule.condition.counters().is_empty();
            let voice = has_counters.then(|| Voice {
                value_count: Arc::clone(&value_count),
                last_count: 0,
                since: Instant::now(),
                is_reported: false,
            });
            states.push(RuleState {
                is_armed: Arc::clone(&is_armed),
                rests_until: None,
                failures: 0,
                voice,
            });
            let trigger = Trigger::new(vec![rule.condition.clone()]);
            watchers.push(Watcher { trigger, is_armed, value_count });
        }
        self.watches.push(WatchedProcess { number, label, states });
        watchers
    }

    /// Reports rules whose counters send no values, and counters that send values again. The
    /// process may hang, or another tool may have taken over its counters.
    pub(super) fn tell_silence(&mut self, messages: &mut Messages<'_>) {
        let interval = self.rules.interval;
        let known = interval.saturating_mul(MIN_SILENT_INTERVALS).max(self.silence);
        let unknown = interval.saturating_mul(MIN_UNKNOWN_INTERVALS);
        for watch in &mut self.watches {
            for (rule, state) in self.rules.all.iter().zip(&mut watch.states) {
                let Some(voice) = &mut state.voice else { continue };
                let (name, label) = (&rule.name, &watch.label);
                let count = voice.value_count.load(Ordering::Relaxed);
                // A counter that never had a value may be misspelled, which the user should learn
                // soon. A counter that had values may just be late.
                let patience = if voice.last_count == 0 { unknown } else { known };
                if count != voice.last_count {
                    (voice.last_count, voice.since) = (count, Instant::now());
                    if std::mem::take(&mut voice.is_reported) {
                        messages.note(&format!("rule {name}: {label} has values again"));
                    }
                } else if !voice.is_reported && voice.since.elapsed() >= patience {
                    voice.is_reported = true;
                    let counters = rule.condition.counters();
                    let names: Vec<String> = counters.iter().map(ToString::to_string).collect();
                    messages.warning(&format!(
                        "rule {name}: {label} has sent no value of {} for {} s; until one comes it cannot fire",
                        names.join(", "),
                        patience.as_secs_f64(),
                    ));
                }
            }
        }
    }

    /// Forgets the process that the session of this number watched.
    pub(super) fn forget(&mut self, number: usize) {
        self.watches.retain(|watch| watch.number != number);
    }

    /// Reports that a rule has fired.
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

    /// Adds the files of a rule's finished recording, reports them, and starts the rule's cooldown.
    pub(super) fn take_recorded(
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

    /// Reports that a rule's recording failed. The rule rests for its cooldown, or longer after
    /// consecutive failures.
    pub(super) fn take_failure(
        &mut self,
        rule: usize,
        watch: usize,
        reached: &Reached,
        failure: &Failure,
        messages: &mut Messages<'_>,
    ) {
        messages.error(failure);
        let Some(failed) = self.rules.all.get(rule) else { return };
        let error = Some(failure.to_string());
        messages.object(&Line { event: "rule-failed", error, ..line(failed, reached) });
        let cooldown = failed.cooldown;
        if let Some(state) = self.state(rule, watch) {
            // A fault such as a full disk stays, so that trying each second would not help.
            let factor = 2_u32.saturating_pow(state.failures);
            let back_off = MIN_BACK_OFF.saturating_mul(factor).min(MAX_BACK_OFF);
            state.failures = state.failures.saturating_add(1);
            state.rests_until = Instant::now().checked_add(cooldown.max(back_off));
        }
    }

    fn state(&mut self, rule: usize, watch: usize) -> Option<&mut RuleState> {
        let watch = self.watches.iter_mut().find(|other| other.number == watch);
        watch?.states.get_mut(rule)
    }

    /// Renames a rotation's files after the rule, so that they stay, and starts the rule's
    /// cooldown. Returns the old and the new paths.
    pub(super) fn keep(
        &mut self,
        rule: usize,
        watch: usize,
        reached: &Reached,
        written: Vec<Written>,
        messages: &mut Messages<'_>,
    ) -> Vec<(PathBuf, PathBuf)> {
        let mut moved = Vec::new();
        let name = self.rules.all.get(rule).map(|rule| rule.name.clone()).unwrap_or_default();
        let mut kept = Vec::new();
        let now = stamp();
        for (written, part) in written.into_iter().zip(1..) {
            let path = self.files.path(reached, &name, &now, Some(part));
            let old = written.path().to_owned();
            match written.rename(&path) {
                Ok(written) => {
                    kept.push(written);
                    moved.push((old, path));
                }
                Err(error) => {
                    let (old, new) = (old.display(), path.display());
                    messages.warning(&format!("{old} cannot be kept as {new}: {error}"));
                }
            }
        }
        self.take_recorded(rule, watch, reached, kept, messages);
        moved
    }

    /// Starts the rule's cooldown.
    pub(super) fn rest(&mut self, rule: usize, watch: usize) {
        let Some(cooldown) = self.rules.all.get(rule).map(|rule| rule.cooldown) else { return };
        if let Some(state) = self.state(rule, watch) {
            state.failures = 0;
            state.rests_until = Instant::now().checked_add(cooldown);
        }
    }

    /// Arms the rules whose cooldown is over.
    pub(super) fn arm(&mut self) {
        for state in self.watches.iter_mut().flat_map(|watch| &mut watch.states) {
            if state.rests_until.take_if(|until| *until <= Instant::now()).is_some() {
                state.is_armed.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Returns whether a rule may record nothing more, and reports that once.
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
        if let (true, Some(is_said), Some(rule)) =
            (is_full, self.is_full.get_mut(rule), self.rules.all.get(rule))
            && !std::mem::replace(is_said, true)
        {
            let text =
                "has recorded all that it may (max-files, max-disk): it records nothing more";
            messages.warning(&format!("rule {}: {text}", rule.name));
        }
        is_full
    }

    /// Removes the oldest files while a limit of files or bytes is exceeded. Returns the rules
    /// whose recordings must stop because no file is left to remove. `growing` has rule and bytes
    /// of each unfinished recording.
    pub(super) fn hold_limits(
        &mut self,
        growing: &[(usize, u64)],
        messages: &mut Messages<'_>,
    ) -> Vec<usize> {
        let mut stop = Vec::new();
        for (of, limit) in self.limits() {
            loop {
                let (_, bytes) = self.used(of, growing);
                // An unfinished recording may still fail, so that only finished ones replace files.
                let (files, _) = self.used(of, &[]);
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
                        messages.note(&format!(
                            "{} is removed: newer ones take its place",
                            old.path.display()
                        ));
                        match old.written {
                            Some(written) => written.remove(),
                            // The file may have been removed already.
                            None => drop(std::fs::remove_file(&old.path)),
                        }
                    }
                    None => {
                        if is_large {
                            stop.extend(
                                growing.iter().map(|(rule, _)| *rule).filter(|rule| is_its(*rule)),
                            );
                        }
                        break;
                    }
                }
            }
        }
        stop
    }

    /// Returns the files that this run recorded and that stay, to be converted at the end.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let own = self.kept.iter().filter(|kept| kept.written.is_some());
        own.map(|kept| kept.path.clone()).collect()
    }

    /// Returns the limit of each rule, then with `None` the limit of all rules together.
    fn limits(&self) -> Vec<(Option<usize>, Limit)> {
        let each = self.rules.all.iter().enumerate().map(|(at, rule)| (Some(at), rule.limit));
        each.chain([(None, self.rules.limit)]).collect()
    }

    /// Returns the number of files and bytes of a rule, or of all rules for `None`.
    fn used(&self, rule: Option<usize>, growing: &[(usize, u64)]) -> (usize, u64) {
        let kept = self.kept.iter().map(|kept| (kept.rule, kept.bytes));
        let its = kept
            .chain(growing.iter().copied())
            .filter(|(of, _)| rule.is_none_or(|rule| rule == *of));
        its.fold((0, 0), |(files, bytes), (_, more)| (files + 1, bytes + more))
    }
}

/// Returns the rule named in a file name: `busy`, or `busy-2` for a second file within a second.
/// A rule that is itself called `busy-2` has precedence.
fn rule_of<'r>(name: &str, rules: impl Iterator<Item = &'r str> + Clone) -> Option<usize> {
    let is_numbered = |rule: &str| {
        let number = name.strip_prefix(rule).and_then(|rest| rest.strip_prefix('-'));
        number.is_some_and(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
    };
    rules.clone().position(|rule| rule == name).or_else(|| rules.clone().position(is_numbered))
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
        error: None,
    }
}

#[cfg(test)]
mod tests {
    use super::rule_of;

    #[test]
    fn a_file_is_that_of_the_rule_whose_whole_name_it_has() {
        let of = |name: &str| rule_of(name, ["cpu8", "cpu80", "cpu8-2"].into_iter());
        assert_eq!(of("cpu8"), Some(0));
        assert_eq!(of("cpu80"), Some(1), "digits are part of a name");
        assert_eq!(of("cpu80-2"), Some(1));
        assert_eq!(of("cpu8-3"), Some(0));
        assert_eq!(of("cpu8-2"), Some(2), "a rule may be called so");
        assert_eq!(of("cpu8-"), None);
        assert_eq!(of("cpu81"), None);
        assert_eq!(of("cpu8-x"), None);
    }
}
