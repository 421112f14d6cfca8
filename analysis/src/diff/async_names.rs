//! Async methods of one name in traces of different kinds.
//!
//! A state machine's code is `A()`, since its `MoveNext` has no arguments, and the method that
//! starts it is `A(int)`. Where the runtime itself suspends methods (.NET 11), all code is
//! `A(int)`. So what a trace with state machines has as `A()` is compared with `A(int)`.
//!
//! What such methods keep while they are suspended is of other types, too: a box for each method's
//! state machine there, continuations without names here. They are one row, but for the boxes that
//! both sides have.

use super::measured::{Measured, MeasuredTrace};
use crate::fact::comparison::{DiffKey, Subject};
use crate::model::CALLS;
use std::collections::{BTreeMap, BTreeSet};

/// What resumes methods that the runtime itself suspends.
const RESUMES: &str = "System.Runtime.CompilerServices.AsyncHelpers.RuntimeAsyncTask";

/// The row of what suspended methods keep.
const STATES: &str = "(state of suspended async methods)";

/// Both sides with names that fit each other, if one side alone has state machines in place of
/// methods that the runtime suspends.
pub(super) fn paired(
    old: &[MeasuredTrace],
    new: &[MeasuredTrace],
) -> Option<(Vec<MeasuredTrace>, Vec<MeasuredTrace>)> {
    let is_new = |side: &[MeasuredTrace]| side.iter().any(resumes);
    if !is_new(old) && !is_new(new) {
        return None;
    }
    let (of_old, of_new) = (names(old), names(new));
    let of_both: BTreeSet<&str> = boxes(old).intersection(&boxes(new)).copied().collect();
    let renamed = |side: &[MeasuredTrace], own: &Names<'_>, other: &Names<'_>| {
        let renames = own.renames(other);
        side.iter().map(|trace| rename(trace, &renames, &of_both)).collect()
    };
    Some((renamed(old, &of_old, &of_new), renamed(new, &of_new, &of_old)))
}

fn resumes(trace: &MeasuredTrace) -> bool {
    let mut methods = trace.rows.keys().filter(|key| key.subject == Subject::MethodTotal);
    methods.any(|key| key.name.contains(RESUMES))
}

/// Names of methods: those without arguments, and those with, by their name.
#[derive(Default)]
struct Names<'f> {
    bare: BTreeSet<&'f str>,
    with_arguments: BTreeMap<&'f str, BTreeSet<&'f str>>,
}

fn names(side: &[MeasuredTrace]) -> Names<'_> {
    let mut names = Names::default();
    for key in side.iter().flat_map(|trace| trace.rows.keys()) {
        if key.subject != Subject::MethodTotal {
            continue;
        }
        let (text, _) = split_call(&key.name);
        match text.split_once('(') {
            Some((name, ")")) => {
                names.bare.insert(name);
            }
            Some((name, _)) => {
                names.with_arguments.entry(name).or_default().insert(text);
            }
            None => {}
        }
    }
    names
}

impl Names<'_> {
    /// Names of this side that the other one has only with arguments, and only once.
    fn renames(&self, other: &Names<'_>) -> BTreeMap<String, String> {
        let whole = |name: &&str| {
            let mut of_other = other.with_arguments.get(*name)?.iter();
            let whole = of_other.next().filter(|_| of_other.next().is_none())?;
            let own = self.with_arguments.get(*name);
            let is_it = own.is_none_or(|own| own.len() == 1 && own.contains(whole));
            (is_it && !other.bare.contains(name))
                .then(|| (format!("{name}()"), (*whole).to_owned()))
        };
        self.bare.iter().filter_map(whole).collect()
    }
}

/// A method, and what it has called, if the text says so.
fn split_call(text: &str) -> (&str, &str) {
    text.split_at_checked(text.find(CALLS).unwrap_or(text.len())).unwrap_or((text, ""))
}

fn renamed(name: String, renames: &BTreeMap<String, String>) -> String {
    let (method, call) = split_call(&name);
    match renames.get(method) {
        Some(new) => format!("{new}{call}"),
        None => name,
    }
}

/// Types of boxes for state machines. The framework of .NET 11 has few, whatever the program has.
fn boxes(side: &[MeasuredTrace]) -> BTreeSet<&str> {
    let keys = side.iter().flat_map(|trace| trace.rows.keys());
    let types = keys.filter(|key| key.subject == Subject::Type && is_box(&key.name));
    types.map(|key| &*key.name).collect()
}

fn is_box(name: &str) -> bool {
    name.contains("AsyncStateMachineBox<")
}

/// Types of objects that keep the state of suspended methods.
fn keeps_state(name: &str) -> bool {
    name.is_empty()
        || is_box(name)
        || name.starts_with("System.Runtime.CompilerServices.Continuation")
}

fn rename(
    trace: &MeasuredTrace,
    renames: &BTreeMap<String, String>,
    of_both: &BTreeSet<&str>,
) -> MeasuredTrace {
    let mut trace = trace.clone();
    let renamed = |key: DiffKey| match key.subject {
        Subject::Type if keeps_state(&key.name) && !of_both.contains(&*key.name) => {
            DiffKey::named(Subject::Type, STATES)
        }
        subject if names_a_method(subject) => DiffKey::named(subject, renamed(key.name, renames)),
        _ => key,
    };
    let mut rows: BTreeMap<DiffKey, Measured> = BTreeMap::new();
    for (key, measured) in trace.rows {
        let key = renamed(key);
        let subject = key.subject;
        match rows.entry(key) {
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(measured);
            }
            std::collections::btree_map::Entry::Occupied(mut entry) => {
                join(subject, entry.get_mut(), measured);
            }
        }
    }
    trace.rows = rows;
    let mut counts: BTreeMap<DiffKey, f64> = BTreeMap::new();
    for (key, count) in trace.counts {
        let key = renamed(key);
        let subject = key.subject;
        let known = counts.entry(key).or_default();
        *known = if adds_up(subject) { *known + count } else { known.max(count) };
    }
    trace.counts = counts;
    for (name, new) in renames {
        if let Some(module) = trace.modules.get(name).cloned() {
            trace.modules.entry(new.clone()).or_insert(module);
        }
    }
    trace
}

fn names_a_method(subject: Subject) -> bool {
    matches!(subject, Subject::Method | Subject::MethodTotal | Subject::Contention | Subject::Waits)
}

/// Own times and waits do. In the times with callees the state machine's are mostly part of
/// those of the method that started it, or the other way round.
fn adds_up(subject: Subject) -> bool {
    subject != Subject::MethodTotal
}

fn join(subject: Subject, one: &mut Measured, other: Measured) {
    match (one, other) {
        (Measured::Sums(one), Measured::Sums(other)) => {
            for (at, more) in other.into_iter().enumerate() {
                match one.get_mut(at) {
                    Some(known) if adds_up(subject) => *known += more,
                    Some(known) => *known = known.max(more),
                    None => one.push(more),
                }
            }
        }
        (Measured::Values(one), Measured::Values(other)) => one.extend(other),
        _ => {}
    }
}
