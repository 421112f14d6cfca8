//! Finds methods that one side lacks because their callers contain them there.
//!
//! Compilers of different versions inline different methods. Such a method has time on one side and
//! is on no stack of the other, while the caller's own time on that other side is larger by as much.
//! Its time belongs to its caller, so that both sides are compared by the same methods.

use super::measured::{Measured, MeasuredTrace};
use super::row_name::row_name;
use crate::fact::comparison::{DiffKey, Per, Subject};
use crate::model::{Frame, FrameKind};
use std::collections::{BTreeMap, BTreeSet};

/// Minimum part of a method's time that its callers must have gained on the other side.
const MIN_GAINED: f64 = 0.5;
/// Maximum time of a method with its callees on the other side, as a part of its time on this side.
/// A few callers may be compiled without it being inlined, such as before they are optimized.
const MAX_LEFT: f64 = 0.05;

/// Nanoseconds by name of a method, then by name of its nearest caller on both sides.
pub(super) type ByCaller<'t> = BTreeMap<&'t str, BTreeMap<&'t str, u64>>;

/// Returns the names of the methods that one side has inlined into callers.
pub(super) fn inlined<'t>(
    old: &'t [MeasuredTrace],
    new: &'t [MeasuredTrace],
    per: Per,
) -> BTreeSet<&'t str> {
    let mut names = inlined_on(new, old, per);
    names.append(&mut inlined_on(old, new, per));
    names
}

/// Returns the names of methods of `side` that `other` has inlined into callers.
fn inlined_on<'t>(
    other: &'t [MeasuredTrace],
    side: &'t [MeasuredTrace],
    per: Per,
) -> BTreeSet<&'t str> {
    let time = |side, subject, name: &str| time(side, &DiffKey::named(subject, name), per);
    let is_lacking = |frame: &Frame| {
        let [there, here] =
            [other, side].map(|side| time(side, Subject::MethodTotal, &row_name(frame)));
        there <= here * MAX_LEFT
    };
    let divisor = divisor(side, per);
    let mut of_side: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
    for (method, callers) in side.iter().flat_map(|it| by_caller(it, &is_lacking)) {
        let sums = of_side.entry(method).or_default();
        for (caller, nanos) in callers {
            *sums.entry(caller).or_default() += nanos as f64 / divisor;
        }
    }
    let mut lacking: Vec<_> = of_side.into_iter().collect();
    let lost = |callers: &BTreeMap<&str, f64>| callers.values().sum::<f64>();
    lacking.sort_by(|(_, one), (_, other)| lost(other).total_cmp(&lost(one)));
    // What each caller gained, less what was explained already.
    let mut gains: BTreeMap<&str, f64> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for (method, callers) in lacking {
        let mut gained = 0.0;
        for (caller, nanos) in &callers {
            let own = |side| time(side, Subject::Method, caller);
            let gain = gains.entry(caller).or_insert_with(|| own(other) - own(side));
            gained += gain.clamp(0.0, *nanos);
        }
        if gained >= lost(&callers) * MIN_GAINED {
            names.insert(method);
            for (caller, nanos) in callers {
                *gains.entry(caller).or_default() -= nanos;
            }
        }
    }
    names
}

/// Returns the time of a trace's methods that `is_lacking` accepts, by caller.
fn by_caller<'t>(trace: &'t MeasuredTrace, is_lacking: &dyn Fn(&Frame) -> bool) -> ByCaller<'t> {
    trace.calls.by_nearest_caller(&is_method, is_lacking)
}

/// Returns whether a frame is a method that a compiler may have inlined.
fn is_method(frame: &Frame) -> bool {
    frame.kind == FrameKind::Managed && frame.is_named()
}

/// Returns the number by which the sums of a side are divided; never 0.
fn divisor(side: &[MeasuredTrace], per: Per) -> f64 {
    let divisor: f64 = side.iter().map(|trace| trace.divisor(per)).sum();
    if divisor > 0.0 { divisor } else { 1.0 }
}

/// Returns the sum of a row, divided as the sums of the comparison are.
fn time(side: &[MeasuredTrace], key: &DiffKey, per: Per) -> f64 {
    let of_trace = |trace: &MeasuredTrace| match trace.rows.get(key) {
        Some(Measured::Sums(sums)) => sums.iter().sum(),
        _ => 0.0,
    };
    side.iter().map(of_trace).sum::<f64>() / divisor(side, per)
}

/// Moves the time of inlined methods to their callers. `rows` are those of the trace.
pub(super) fn join(
    rows: &mut BTreeMap<DiffKey, Measured>,
    trace: &MeasuredTrace,
    inlined: &BTreeSet<&str>,
) {
    let is_inlined = |frame: &Frame| inlined.contains(&*row_name(frame));
    let by_caller = by_caller(trace, &is_inlined);
    for method in inlined {
        // The time of the caller with its callees has the method's time already.
        rows.remove(&DiffKey::named(Subject::MethodTotal, *method));
        let own = rows.remove(&DiffKey::named(Subject::Method, *method));
        let (Some(Measured::Sums(own)), Some(callers)) = (own, by_caller.get(method)) else {
            continue;
        };
        let whole = callers.values().fold(0_u64, |sum, nanos| sum.saturating_add(*nanos)) as f64;
        for (caller, nanos) in callers {
            let row = rows.entry(DiffKey::named(Subject::Method, *caller));
            if let Measured::Sums(sums) =
                row.or_insert_with(|| Measured::Sums(vec![0.0; own.len()]))
            {
                let part = *nanos as f64 / whole.max(1.0);
                sums.iter_mut().zip(&own).for_each(|(sum, own)| *sum += own * part);
            }
        }
    }
}
