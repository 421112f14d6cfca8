//! Pairs the rows of async methods of traces whose runtimes name these methods differently.
//!
//! The compiler turns `A(int)` into a state machine. The code of a state machine is named `A()`,
//! because its `MoveNext` has no arguments, and `A(int)` only starts it. Where the runtime itself
//! suspends methods (.NET 11), all code is in `A(int)`. So `A()` of a trace with state machines is
//! compared with `A(int)`.
//!
//! The objects that keep the state of suspended methods have other types, too: boxes for the state
//! machine of each method, or continuations without names. All these types are one row, except
//! boxes that both sides have.

use super::measured::{Measured, MeasuredTrace};
use crate::fact::comparison::{DiffKey, Subject};
use crate::hash::HashMap;
use crate::model::Frame;
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::Arc;

/// Namespace of [`RESUMES`].
const RESUMES_IN: &str = "System.Runtime.CompilerServices";
/// Beginning of the name of the type that resumes methods which the runtime suspended.
const RESUMES: &str = "AsyncHelpers.RuntimeAsyncTask";

/// Name of the row for the objects that keep the state of suspended methods.
const STATES: &str = "(state of suspended async methods)";

/// Returns both sides with names that match, or `None` if no trace has methods that the runtime
/// itself suspends.
pub(super) fn paired(
    old: &[MeasuredTrace],
    new: &[MeasuredTrace],
) -> Option<(Vec<MeasuredTrace>, Vec<MeasuredTrace>)> {
    if ![old, new].iter().any(|side| methods(side).any(resumes_methods)) {
        return None;
    }
    let (of_old, of_new) = (Overloads::new(old), Overloads::new(new));
    let of_both: BTreeSet<&str> = boxes(old).intersection(&boxes(new)).copied().collect();
    let renamed = |side: &[MeasuredTrace], own: &Overloads<'_>, other: &Overloads<'_>| {
        let renames = own.renames(other);
        side.iter().map(|trace| rename(trace, &renames, &of_both)).collect()
    };
    Some((renamed(old, &of_old, &of_new), renamed(new, &of_new, &of_old)))
}

/// Returns the frames of methods in which threads ran, and of their callers.
fn methods(side: &[MeasuredTrace]) -> impl Iterator<Item = &Frame> {
    side.iter().flat_map(|trace| {
        let rows = trace.rows.keys().filter(|key| key.subject == Subject::MethodTotal);
        rows.filter_map(|key| trace.methods.get(&key.name)).map(|frame| &**frame)
    })
}

fn resumes_methods(frame: &Frame) -> bool {
    frame.namespace == RESUMES_IN && frame.type_name.starts_with(RESUMES)
}

/// Methods of a side, by their names without arguments.
#[derive(Default)]
struct Overloads<'t> {
    /// Names of methods without arguments, as the code of state machines has them.
    bare: BTreeSet<&'t str>,
    /// Full texts of methods with arguments.
    with_arguments: BTreeMap<&'t str, BTreeSet<&'t str>>,
}

impl<'t> Overloads<'t> {
    fn new(side: &'t [MeasuredTrace]) -> Overloads<'t> {
        let mut overloads = Overloads::default();
        // A guessed name may belong to a neighbouring method.
        for frame in methods(side).filter(|frame| !frame.is_guessed) {
            let name = frame.without_arguments();
            match frame.arguments() {
                "" => {}
                "()" => {
                    overloads.bare.insert(name);
                }
                _ => {
                    overloads.with_arguments.entry(name).or_default().insert(frame.without_call());
                }
            }
        }
        overloads
    }

    /// Returns the names without arguments that the other side has with arguments only, each with
    /// the text of the other side's single overload.
    fn renames<'o>(&self, other: &Overloads<'o>) -> BTreeMap<&'t str, &'o str> {
        let whole = |name: &&'t str| {
            let mut of_other = other.with_arguments.get(*name)?.iter();
            let whole = of_other.next().filter(|_| of_other.next().is_none())?;
            let own = self.with_arguments.get(*name);
            let is_it = own.is_none_or(|own| own.len() == 1 && own.contains(whole));
            (is_it && !other.bare.contains(name)).then_some((*name, *whole))
        };
        self.bare.iter().filter_map(whole).collect()
    }
}

/// Returns the types of boxes for state machines. Even a trace of .NET 11 has a few: the
/// framework's own.
fn boxes(side: &[MeasuredTrace]) -> BTreeSet<&str> {
    let keys = side.iter().flat_map(|trace| trace.rows.keys());
    let types = keys.filter(|key| key.subject == Subject::Type && is_box(&key.name));
    types.map(|key| &*key.name).collect()
}

fn is_box(type_name: &str) -> bool {
    type_name.contains("AsyncStateMachineBox<")
}

/// Returns whether objects of a type keep the state of suspended methods.
fn keeps_state(type_name: &str) -> bool {
    type_name.is_empty()
        || is_box(type_name)
        || type_name.starts_with("System.Runtime.CompilerServices.Continuation")
}

/// Returns a copy of the trace with the names of the other side.
fn rename(
    trace: &MeasuredTrace,
    renames: &BTreeMap<&str, &str>,
    of_both: &BTreeSet<&str>,
) -> MeasuredTrace {
    let mut trace = trace.clone();
    let mut methods: HashMap<String, Arc<Frame>> = HashMap::default();
    let mut renamed = |key: DiffKey| {
        if key.subject == Subject::Type {
            let is_state = keeps_state(&key.name) && !of_both.contains(&*key.name);
            return if is_state { DiffKey::named(Subject::Type, STATES) } else { key };
        }
        let frame = trace.methods.get(&key.name).filter(|_| names_a_method(key.subject));
        let Some(frame) = frame.filter(|it| it.arguments() == "()" && !it.is_guessed) else {
            return key;
        };
        let Some(whole) = renames.get(frame.without_arguments()) else { return key };
        let name = format!("{whole}{}", frame.call_text());
        methods.entry(name.clone()).or_insert_with(|| Arc::clone(frame));
        DiffKey::named(key.subject, name)
    };
    let mut rows: BTreeMap<DiffKey, Measured> = BTreeMap::new();
    for (key, measured) in std::mem::take(&mut trace.rows) {
        let key = renamed(key);
        let subject = key.subject;
        match rows.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(measured);
            }
            Entry::Occupied(mut entry) => join(subject, entry.get_mut(), measured),
        }
    }
    let mut counts: BTreeMap<DiffKey, f64> = BTreeMap::new();
    for (key, count) in std::mem::take(&mut trace.counts) {
        let key = renamed(key);
        let subject = key.subject;
        let known = counts.entry(key).or_default();
        *known = if adds_up(subject) { *known + count } else { known.max(count) };
    }
    (trace.rows, trace.counts) = (rows, counts);
    for (name, frame) in methods {
        trace.methods.entry(name).or_insert(frame);
    }
    trace
}

fn names_a_method(subject: Subject) -> bool {
    matches!(subject, Subject::Method | Subject::MethodTotal | Subject::Contention | Subject::Waits)
}

/// Returns whether the values of two rows are added when the rows become one. Times with callees
/// are not: the time of a state machine is mostly part of the time of the method that started it,
/// or the other way round.
fn adds_up(subject: Subject) -> bool {
    subject != Subject::MethodTotal
}

/// Merges the values of a second row into the first.
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
