//! Divides the time that a thread ran between two readings among its samples.
//!
//! | time between the readings | samples | how certain |
//! |---|---|---|
//! | ran for at least 95 % | all ran | measured |
//! | ran for at most 5 %, and all samples wait | all waited | measured |
//! | any other | share the time, in the order of [`SampleClass`] | estimated |

use crate::model::Running;

/// Minimum time that a thread ran between two readings, in percent, for all its samples to have run.
const MIN_RAN_PERCENT: u64 = 95;
/// Maximum time that a thread ran between two readings, in percent, for waits to have waited.
const MAX_WAITED_PERCENT: u64 = 5;

/// What the stack and the state of a sample say of its thread. Earlier classes get processor time
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SampleClass {
    /// The thread could run: managed code, code that computes, or spinning for a lock. If it did not
    /// run, it was ready.
    Runs,
    /// The thread ran or waited: native calls, and all samples of a runtime that does not tell.
    Unknown,
    /// The thread was in a method that is known to wait.
    Waits,
}

impl SampleClass {
    /// Returns what a sample shows of its thread, given how certain it is that the thread ran. The
    /// sampler of some runtimes does not tell managed code from native code, which may wait.
    pub(crate) fn new(running: Option<Running>, is_untold: bool) -> SampleClass {
        match running {
            Some(Running::Computing) => SampleClass::Runs,
            Some(Running::NativeCall) => SampleClass::Unknown,
            Some(_) if is_untold => SampleClass::Unknown,
            Some(_) => SampleClass::Runs,
            None => SampleClass::Waits,
        }
    }
}

/// Times of a thread between two of its readings, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Elapsed {
    pub(crate) nanos: u64,
    /// Time on a processor.
    pub(crate) ran: u64,
    /// Time in which the thread was ready and had no processor.
    pub(crate) ready: u64,
}

impl Elapsed {
    /// Returns whether the thread ran nearly all the time.
    pub(super) fn is_full(self) -> bool {
        wide(self.ran, 100) >= wide(self.nanos, MIN_RAN_PERCENT) && self.ran > 0
    }

    /// Returns the times since an earlier reading, given all of both.
    pub(crate) fn since(self, before: Elapsed) -> Elapsed {
        Elapsed {
            nanos: self.nanos.saturating_sub(before.nanos),
            ran: self.ran.saturating_sub(before.ran),
            ready: self.ready.saturating_sub(before.ready),
        }
    }

    /// Returns what the thread did if it did the same for nearly all the time.
    pub(crate) fn state(self) -> ReadState {
        let waited = self.nanos.saturating_sub(self.ran.saturating_add(self.ready));
        match self {
            _ if self.is_full() => ReadState::Ran,
            _ if !self.is_nearly_idle() => ReadState::Part,
            _ if wide(self.ready, 100) >= wide(self.nanos, MIN_RAN_PERCENT) => ReadState::Ready,
            _ if wide(waited, 100) >= wide(self.nanos, MIN_RAN_PERCENT) => ReadState::Waited,
            _ => ReadState::Part,
        }
    }

    /// Adds the times between two other readings.
    pub(super) fn add(&mut self, other: Elapsed) {
        self.nanos = self.nanos.saturating_add(other.nanos);
        self.ran = self.ran.saturating_add(other.ran);
        self.ready = self.ready.saturating_add(other.ready);
    }

    fn is_nearly_idle(self) -> bool {
        wide(self.ran, 100) <= wide(self.nanos, MAX_WAITED_PERCENT)
    }
}

/// What a thread did between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ReadState {
    /// There are no readings.
    Unknown,
    /// It ran nearly all the time.
    Ran,
    /// It was ready nearly all the time, and had no processor.
    Ready,
    /// It waited nearly all the time.
    Waited,
    /// It did several of these.
    Part,
}

/// Parts of the time that a sample stands for, in nanoseconds. Together they are all of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SampleParts {
    pub(super) ran: u64,
    /// Time in which the thread could have run, and did not.
    pub(super) ready: u64,
    pub(super) waited: u64,
    /// Whether `ran` follows from the readings alone.
    pub(super) is_ran_measured: bool,
    /// Whether the other parts follow from the readings alone.
    pub(super) is_rest_measured: bool,
}

impl SampleParts {
    /// Returns the parts, none of which follows from readings alone.
    pub(super) fn estimated(self) -> SampleParts {
        SampleParts { is_ran_measured: false, is_rest_measured: false, ..self }
    }
}

/// Divides the time that a thread ran among its samples, each given by its class and by the time
/// that it stands for. Returns the time that no sample can have.
pub(super) fn divide(
    elapsed: Elapsed,
    samples: &[(SampleClass, u64)],
    parts: &mut Vec<SampleParts>,
) -> u64 {
    let mut shares = Shares::new(elapsed, whole_of(samples.iter().copied()));
    parts.clear();
    parts.extend(samples.iter().map(|(class, nanos)| shares.next(*class, *nanos)));
    shares.left
}

/// Adds up the time that samples of each class stand for.
pub(super) fn whole_of(samples: impl Iterator<Item = (SampleClass, u64)>) -> [u64; 3] {
    let mut wholes = [0_u64; 3];
    for (class, nanos) in samples {
        if let Some(whole) = wholes.get_mut(class as usize) {
            *whole = whole.saturating_add(nanos);
        }
    }
    wholes
}

/// Shares that the samples of each class have in the times of their thread between two readings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shares {
    is_full: bool,
    is_idle: bool,
    /// Time that the samples of each class ran; of the first one, that all ran, if the thread ran
    /// nearly all the time.
    ran: [Portion; 3],
    /// Time of native calls in which the thread was ready.
    ready: Portion,
    /// Time that no sample can have.
    left: u64,
}

impl Shares {
    /// Divides the times of a thread among samples, given the time that those of each class stand
    /// for.
    pub(crate) fn new(elapsed: Elapsed, wholes: [u64; 3]) -> Shares {
        let is_full = elapsed.is_full();
        let [runs, unknown, waits] = wholes;
        let only_waits = runs == 0 && unknown == 0;
        let is_idle = elapsed.ran == 0 || elapsed.is_nearly_idle() && only_waits;
        let mut left = elapsed.ran;
        let mut ready = Portion::NONE;
        let ran = if is_full {
            // The thread ran in all of its samples, whatever they show.
            let all = wholes.into_iter().fold(0, u64::saturating_add);
            [Portion::new(all, &mut left), Portion::NONE, Portion::NONE]
        } else {
            // Code that can run is ready while it does not run.
            let busy = elapsed.ran.saturating_add(elapsed.ready);
            let mut of_runs = scaled(runs.min(busy), elapsed.ran, busy).min(left);
            left = left.saturating_sub(of_runs);
            let unknown = Portion::new(unknown, &mut left);
            // The thread may have been ready in waits, too. They get what nothing else can have.
            let more = runs.saturating_sub(of_runs).min(left);
            of_runs = of_runs.saturating_add(more);
            left = left.saturating_sub(more);
            let runs = Portion::new(runs, &mut of_runs);
            // What native calls did not run, they were ready as far as there is such time.
            let not_run = unknown.whole.saturating_sub(unknown.shared);
            let of_runs = runs.whole.saturating_sub(runs.shared);
            ready = Portion::new(not_run, &mut elapsed.ready.saturating_sub(of_runs));
            [runs, unknown, Portion::new(waits, &mut left)]
        };
        Shares { is_full, is_idle, ran, ready, left }
    }

    /// Returns the time that no sample can have.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Returns whether what samples ran follows from the readings alone.
    pub(crate) fn is_ran_measured(&self) -> bool {
        self.is_full
    }

    /// Returns the part of the time of samples of each class that their thread ran, in parts of
    /// `whole`.
    pub(crate) fn ran_parts(&self, whole: u64) -> [u64; 3] {
        let [all, _, _] = self.ran;
        let ran = if self.is_full { [all; 3] } else { self.ran };
        ran.map(|portion| scaled(whole, portion.shared, portion.whole))
    }

    /// Returns the part of the time of native calls in which their thread was ready, in parts of
    /// `whole`.
    pub(super) fn unknown_ready_part(&self, whole: u64) -> u64 {
        let [_, unknown, _] = self.ran;
        scaled(whole, self.ready.shared, unknown.whole)
    }

    /// Returns the parts of the next sample.
    pub(super) fn next(&mut self, class: SampleClass, nanos: u64) -> SampleParts {
        let place = if self.is_full { 0 } else { class as usize };
        let ran = self.ran.get_mut(place).map_or(0, |portion| portion.next(nanos));
        let rest = nanos.saturating_sub(ran);
        let ready = match class {
            SampleClass::Runs => rest,
            SampleClass::Unknown => self.ready.next(rest),
            SampleClass::Waits => 0,
        };
        SampleParts {
            ran,
            ready,
            waited: rest.saturating_sub(ready),
            is_ran_measured: self.is_full,
            is_rest_measured: self.is_full || self.is_idle,
        }
    }
}

/// Time that a thread ran in waits, and that its samples that can run have instead, up to the time
/// that these stand for beyond what the thread ran and was ready for while they were taken. Work that
/// is shorter than the time between two samples is seen in some of the intervals in which it runs,
/// and stands for more time there than the thread ran.
#[derive(Debug, Clone, Copy)]
pub(super) struct GivenBack {
    to_runs: Portion,
    from_waits: Portion,
}

impl GivenBack {
    /// Computes the time from that of samples that can run in which the thread did not, the time that
    /// it ran in waits, and the time `over` for which the former stand beyond what it ran and was
    /// ready for.
    pub(super) fn new(could_run: u64, in_waits: u64, over: u64) -> GivenBack {
        let more = over.min(could_run).min(in_waits);
        GivenBack {
            to_runs: Portion::new(could_run, &mut { more }),
            from_waits: Portion::new(in_waits, &mut { more }),
        }
    }

    /// Returns what the next time in which the thread could run has run after all.
    pub(super) fn runs_get(&mut self, nanos: u64) -> u64 {
        self.to_runs.next(nanos)
    }

    /// Returns what the next time that the thread ran in waits has waited after all.
    pub(super) fn waits_give(&mut self, nanos: u64) -> u64 {
        self.from_waits.next(nanos)
    }

    /// Returns the parts of the next sample with the time that it gets or gives.
    pub(super) fn change(&mut self, class: SampleClass, parts: SampleParts) -> SampleParts {
        let mut parts = parts;
        let nanos = match class {
            SampleClass::Runs => {
                let nanos = self.runs_get(parts.ready);
                parts.ready = parts.ready.saturating_sub(nanos);
                parts.ran = parts.ran.saturating_add(nanos);
                nanos
            }
            SampleClass::Waits => {
                let nanos = self.waits_give(parts.ran);
                parts.ran = parts.ran.saturating_sub(nanos);
                parts.waited = parts.waited.saturating_add(nanos);
                nanos
            }
            SampleClass::Unknown => 0,
        };
        if nanos > 0 { parts.estimated() } else { parts }
    }
}

/// Time that samples share in proportion to the times that they stand for.
#[derive(Debug, Clone, Copy)]
struct Portion {
    /// Time of all samples.
    whole: u64,
    /// Time that they share: at most `whole`.
    shared: u64,
    /// Time of the samples so far, and what they got.
    before: (u64, u64),
}

impl Portion {
    const NONE: Portion = Portion { whole: 0, shared: 0, before: (0, 0) };

    /// Takes as much of `left` as the samples stand for, whose time is `whole`.
    fn new(whole: u64, left: &mut u64) -> Portion {
        let shared = whole.min(*left);
        *left = left.saturating_sub(shared);
        Portion { whole, shared, before: (0, 0) }
    }

    /// Returns what the next sample gets: at most the time that it stands for.
    fn next(&mut self, nanos: u64) -> u64 {
        let (time, got) = self.before;
        let time = time.saturating_add(nanos);
        // Rounding sums instead of samples makes the samples add up to the whole.
        let until = scaled(time, self.shared, self.whole);
        self.before = (time, until);
        until.saturating_sub(got).min(nanos)
    }
}

fn wide(one: u64, other: u64) -> u128 {
    u128::from(one).saturating_mul(u128::from(other))
}

/// Returns `value` times `part` by `whole`, rounded down; 0 if `whole` is 0.
pub(crate) fn scaled(value: u64, part: u64, whole: u64) -> u64 {
    let scaled = wide(value, part).checked_div(u128::from(whole)).unwrap_or(0);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// Returns the number of `count` samples that belong to `part` of the time `whole`, to the nearest.
pub(crate) fn nearest(count: u64, part: u64, whole: u64) -> u64 {
    let doubled = wide(count, part).saturating_mul(2).saturating_add(u128::from(whole));
    let nearest = doubled.checked_div(u128::from(whole).saturating_mul(2)).unwrap_or(0);
    u64::try_from(nearest).unwrap_or(u64::MAX).min(count)
}

#[cfg(test)]
mod tests {
    use super::SampleClass::{Runs, Unknown, Waits};
    use super::*;
    use proptest::prelude::*;

    fn divided(
        [nanos, ran, ready]: [u64; 3],
        samples: &[(SampleClass, u64)],
    ) -> (Vec<SampleParts>, u64) {
        let mut parts = Vec::new();
        let left = divide(Elapsed { nanos, ran, ready }, samples, &mut parts);
        (parts, left)
    }

    fn ran(times: [u64; 3], samples: &[(SampleClass, u64)]) -> (Vec<u64>, u64) {
        let (parts, left) = divided(times, samples);
        (parts.iter().map(|part| part.ran).collect(), left)
    }

    #[test]
    fn a_thread_that_ran_nearly_all_the_time_ran_in_all_of_its_samples() {
        let (parts, left) = divided([100, 96, 0], &[(Waits, 50), (Unknown, 50)]);
        assert_eq!((parts.iter().map(|it| it.ran).collect::<Vec<_>>(), left), (vec![48, 48], 0));
        assert!(parts.iter().all(|part| part.is_ran_measured));
        assert_eq!(ran([100, 94, 0], &[(Waits, 50), (Unknown, 50)]), (vec![44, 50], 0));
    }

    #[test]
    fn waits_of_a_thread_that_hardly_ran_waited() {
        let (parts, left) = divided([100, 4, 0], &[(Waits, 60), (Waits, 40)]);
        assert!(parts.iter().all(|part| part.is_rest_measured && !part.is_ran_measured));
        assert_eq!(parts.iter().map(|it| it.waited).sum::<u64>(), 96);
        assert_eq!(left, 0);
        let (parts, _) = divided([100, 4, 0], &[(Waits, 60), (Unknown, 40)]);
        assert!(parts.iter().all(|part| !part.is_rest_measured));
    }

    #[test]
    fn what_a_thread_did_nearly_all_the_time_is_its_state() {
        let state = |ran, ready| Elapsed { nanos: 100, ran, ready }.state();
        assert_eq!(state(96, 0), ReadState::Ran);
        assert_eq!(state(50, 0), ReadState::Part);
        assert_eq!(state(1, 97), ReadState::Ready);
        assert_eq!(state(1, 50), ReadState::Part);
        assert_eq!(state(2, 2), ReadState::Waited);
    }

    #[test]
    fn what_can_run_gets_time_first_then_native_calls_then_waits() {
        let all = [(Waits, 20), (Unknown, 40), (Runs, 40)];
        assert_eq!(ran([100, 30, 0], &all), (vec![0, 0, 30], 0));
        assert_eq!(ran([100, 60, 0], &all), (vec![0, 20, 40], 0));
        assert_eq!(ran([100, 90, 0], &all), (vec![10, 40, 40], 0));
        assert_eq!(ran([200, 150, 0], &all), (vec![20, 40, 40], 50));
    }

    #[test]
    fn code_that_can_run_is_ready_while_it_does_not_run() {
        let (parts, left) = divided([100, 30, 60], &[(Runs, 60), (Unknown, 40)]);
        assert_eq!((parts[0].ran, parts[0].ready, parts[0].waited), (20, 40, 0));
        assert_eq!((parts[1].ran, left), (10, 0));
    }

    #[test]
    fn waits_get_no_time_that_code_which_can_run_may_have() {
        let (parts, left) = divided([100, 30, 60], &[(Runs, 40), (Waits, 60)]);
        assert_eq!((parts[0].ran, parts[0].ready, parts[1].ran, left), (30, 10, 0, 0));
        assert_eq!(ran([100, 50, 40], &[(Runs, 40), (Waits, 60)]), (vec![40, 10], 0));
    }

    #[test]
    fn native_calls_are_ready_as_far_as_managed_code_leaves_such_time() {
        let (parts, _) = divided([100, 20, 60], &[(Unknown, 50), (Unknown, 50)]);
        assert!(parts.iter().all(|it| (it.ran, it.ready, it.waited) == (10, 30, 10)), "{parts:?}");
        let (parts, _) = divided([100, 30, 60], &[(Runs, 60), (Unknown, 40)]);
        assert_eq!((parts[1].ran, parts[1].ready, parts[1].waited), (10, 20, 10));
    }

    proptest! {
        #[test]
        fn samples_and_the_rest_add_up_to_what_ran(
            nanos in 0..1_000_000_000_u64,
            ran_percent in 0..120_u64,
            ready_percent in 0..120_u64,
            samples in prop::collection::vec((0..3_usize, 0..100_000_000_u64), 0..40),
        ) {
            let classes = [Runs, Unknown, Waits];
            let samples: Vec<_> =
                samples.into_iter().map(|(class, nanos)| (classes[class], nanos)).collect();
            let (ran, ready) = (nanos * ran_percent / 100, nanos * ready_percent / 100);
            let (parts, left) = divided([nanos, ran, ready], &samples);
            prop_assert_eq!(parts.iter().map(|part| part.ran).sum::<u64>() + left, ran);
            for (part, (_, nanos)) in parts.iter().zip(&samples) {
                prop_assert_eq!(part.ran + part.ready + part.waited, *nanos);
            }
            // A class gets time only if the classes before have all that they can get.
            let of = |class| parts.iter().zip(&samples).filter(move |it| it.1.0 == class);
            let is_full = Elapsed { nanos, ran, ready }.is_full();
            let got = |class| of(class).map(|it| it.0.ran).sum::<u64>();
            let not_run = of(Unknown).map(|it| it.0.ready + it.0.waited).sum::<u64>();
            prop_assert!(is_full || got(Waits) == 0 || not_run == 0);
            let managed = of(Runs).map(|it| it.0.ready).sum::<u64>();
            let unknown = of(Unknown).map(|it| it.0.ready).sum::<u64>();
            prop_assert!(unknown == 0 || managed + unknown <= ready);
            prop_assert!(is_full || left == 0 || of(Waits).all(|it| it.0.waited == 0));
        }

        #[test]
        fn numbers_of_any_size_are_divided(
            times in any::<[u64; 3]>(),
            samples in prop::collection::vec((0..3_usize, any::<u64>()), 0..10),
        ) {
            let classes = [Runs, Unknown, Waits];
            let samples: Vec<_> =
                samples.into_iter().map(|(class, nanos)| (classes[class], nanos)).collect();
            let (parts, _) = divided(times, &samples);
            prop_assert!(parts.iter().zip(&samples).all(|(part, it)| part.ran <= it.1));
        }
    }
}
