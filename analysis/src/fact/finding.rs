//! The kinds of findings, each with its numbers and what they are about.

use super::cause::{ActivityFailures, HotCall, LockOwner, MethodCaller, ProcessEnd, ThrownBy};
use super::collection::{AllocatedType, CollectionPlace, CollectionReason};
use super::number::{Number, Unit};
use super::place::Place;
use crate::heap::{HeapHolder, HeapOwnType};
use crate::model::{Coverage, MissingNames, WaitFor};

/// A field that holds a number, or may hold one.
trait MayBeNumber {
    fn number(&self) -> Option<&Number>;
}

impl MayBeNumber for Number {
    fn number(&self) -> Option<&Number> {
        Some(self)
    }
}

impl MayBeNumber for Option<Number> {
    fn number(&self) -> Option<&Number> {
        self.as_ref()
    }
}

// One list of the kinds: a kind that lacks a name, a subject, a command or a headline does not
// compile, and JSON documents cannot leave out a field.
macro_rules! facts {
    ($(
        $(#[$about:meta])*
        $kind:ident $name:literal of $subject:literal, see $command:literal {
            numbers { $( $(#[$number_about:meta])* $number:ident: $number_type:ty, )+ }
            about { $( $(#[$detail_about:meta])* $detail:ident: $detail_type:ty, )* }
        }
    )+) => {
        /// A notable fact about a trace. The first number of each kind is its headline.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Fact {
            $(
                $(#[$about])*
                #[non_exhaustive]
                $kind {
                    $( $(#[$number_about])* $number: $number_type, )+
                    $( $(#[$detail_about])* $detail: $detail_type, )*
                },
            )+
        }

        /// The kind of a [`Fact`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FindingKind {
            $( $(#[$about])* $kind, )+
        }

        impl FindingKind {
            /// All kinds.
            pub const ALL: &[FindingKind] = &[$( FindingKind::$kind, )+];

            /// Returns the name in JSON documents.
            pub const fn name(self) -> &'static str {
                match self {
                    $( FindingKind::$kind => $name, )+
                }
            }

            /// Returns what the kind is about. Several kinds have one subject.
            pub const fn subject(self) -> &'static str {
                match self {
                    $( FindingKind::$kind => $subject, )+
                }
            }

            /// Returns the command that shows more, without `nettrace` and the trace.
            pub const fn command(self) -> &'static str {
                match self {
                    $( FindingKind::$kind => $command, )+
                }
            }
        }

        impl Fact {
            /// Returns its kind.
            pub const fn kind(&self) -> FindingKind {
                match self {
                    $( Fact::$kind { .. } => FindingKind::$kind, )+
                }
            }

            /// Returns all numbers with their names, the headline first.
            pub fn numbers(&self) -> Vec<(&'static str, &Number)> {
                match self {
                    $( Fact::$kind { $( $number, )+ .. } => {
                        let all = [$( (stringify!($number), MayBeNumber::number($number)), )+];
                        let known = all.into_iter().filter_map(|(name, it)| Some((name, it?)));
                        known.collect()
                    } )+
                }
            }

            /// Writes what the numbers are about as members of a map.
            #[cfg(feature = "serde")]
            pub(crate) fn write_details<M: serde::ser::SerializeMap>(
                &self,
                map: &mut M,
            ) -> Result<(), M::Error> {
                match self {
                    $( Fact::$kind { $( $detail, )* .. } => {
                        // The method itself is a member of every finding.
                        $( if stringify!($detail) != "place" {
                            map.serialize_entry(stringify!($detail), $detail)?;
                        } )*
                    } )+
                }
                Ok(())
            }
        }
    };
}

facts! {
    /// Events were lost, so counts are too low.
    LostEvents "lost_events" of "lost_events", see "info" {
        numbers {
            /// Events that were lost.
            lost: Number,
            /// Share of the running time, in percent.
            share: Number,
        }
        about {}
    }
    /// The recording ends in the middle.
    CutOff "cut_off" of "cut_off", see "info" {
        numbers {
            /// Time from the beginning to the last event.
            after: Number,
        }
        about {
            /// How the process ended, if that is known.
            process_end: Option<ProcessEnd>,
            /// Type of an exception that was thrown within the last second.
            last_exception: Option<String>,
            /// Method of the program that was seen last.
            last_method: Option<Place>,
        }
    }
    /// Frames of samples have no names.
    MissingNames "missing_names" of "missing_names", see "report topN" {
        numbers {
            /// Share of the running time, in percent.
            share: Number,
        }
        about {
            /// How many frames have names, and what the trace has to name others.
            coverage: Coverage,
            /// Why the others have none.
            why: MissingNames,
        }
    }
    /// Collections took time, or came for a reason that can be mended.
    Collections "collections" of "gc", see "report gc" {
        numbers {
            /// Time of all pauses.
            paused: Number,
            /// Number of collections.
            collections: Number,
            /// Share of the running time, in percent.
            share: Number,
            /// The longest pause.
            longest: Number,
        }
        about {
            /// Why they came or are dear, at most two.
            reasons: Vec<CollectionReason>,
            /// The program's own method behind them.
            behind: Option<CollectionPlace>,
        }
    }
    /// Much was allocated.
    Allocations "allocations" of "alloc", see "report alloc" {
        numbers {
            /// Bytes that were allocated.
            allocated: Number,
            /// Bytes a second.
            rate: Number,
        }
        about {
            /// What most of it is.
            largest: Option<AllocatedType>,
        }
    }
    /// Exceptions were thrown.
    Exceptions "exceptions" of "exceptions", see "report exceptions" {
        numbers {
            /// Exceptions that were thrown.
            exceptions: Number,
            /// Those that were thrown before, and were caught and thrown again.
            rethrown: Option<Number>,
            /// Exceptions a second, if they are many.
            rate: Option<Number>,
            /// Part of the running time that throwing and catching takes, if it is much.
            throwing: Option<Number>,
            /// Exceptions of the most frequent type.
            of_type: Number,
        }
        about {
            /// The most frequent type.
            type_name: String,
            /// Where most of that type were thrown.
            thrown_by: Option<ThrownBy>,
        }
    }
    /// Methods were compiled.
    Compilation "compilation" of "jit", see "report jit" {
        numbers {
            /// Time for compiling, summed over threads.
            compiling: Number,
            /// Methods that were compiled.
            methods: Number,
            /// Share of the running time, in percent.
            share: Number,
            /// Methods that the program made while it ran, if these are many.
            dynamic_methods: Option<Number>,
            /// The time for these.
            compiling_dynamic: Option<Number>,
        }
        about {
            /// The program's own method that most dynamic methods were compiled for.
            asked_by: Option<Place>,
        }
    }
    /// A method has much of the running time by itself.
    HottestMethod "hottest_method" of "hottest_method", see "report topN" {
        numbers {
            /// Time in which it ran, or may have run.
            ran: Number,
            /// Share of the running time, in percent.
            share: Number,
            /// Number of samples.
            samples: Number,
        }
        about {
            /// The method.
            place: Place,
        }
    }
    /// A method of the program's own has much of the running time, with what it calls of others.
    OwnMethod "own_method" of "hottest_method", see "report topN --my-code" {
        numbers {
            /// Time in which it ran, or may have run.
            ran: Number,
            /// Share of the running time, in percent.
            share: Number,
            /// Number of samples.
            samples: Number,
            /// Samples in native calls, which may not have run, if these are most.
            native_samples: Option<Number>,
            /// The share if the spinning of idle workers is left out, where that is much.
            share_without_spinning: Option<Number>,
            /// Dynamic methods of the program, if it spends its time on making them.
            dynamic_methods: Option<Number>,
        }
        about {
            /// The method.
            place: Place,
            /// Whether the samples are few.
            is_few: bool,
            /// What calls the method, if that says something.
            called_by: Option<MethodCaller>,
            /// What it calls.
            call: Option<HotCall>,
        }
    }
    /// A method of the program's own runs on the finalizer's thread.
    Finalizer "finalizer" of "finalizer", see "report topN --my-code" {
        numbers {
            /// Time in which it ran, or may have run.
            ran: Number,
            /// Share of the running time, in percent.
            share: Number,
        }
        about {
            /// The method.
            place: Place,
        }
    }
    /// Threads spun to take a lock.
    LockSpinning "lock_spinning" of "lock_spinning", see "report topN" {
        numbers {
            /// Time in which it ran, or may have run.
            ran: Number,
            /// Share of the running time, in percent.
            share: Number,
            /// Number of samples.
            samples: Number,
        }
        about {
            /// The method.
            place: Place,
        }
    }
    /// Threads waited for a lock, by samples alone.
    SampledLockWaits "sampled_lock_waits" of "lock_waits", see "report topN --my-code --state waiting" {
        numbers {
            /// Total time of the waits, by samples.
            waited: Number,
            /// Number of threads.
            threads: Number,
        }
        about {
            /// The method.
            place: Place,
            /// Whether threads sleep in the same method, so that the holder of the lock may.
            is_holder_asleep: bool,
        }
    }
    /// Threads waited for locks, by events.
    LockContention "lock_contention" of "contention", see "report contention" {
        numbers {
            /// Total time of the waits.
            waited: Number,
            /// Number of waits that ended.
            waits: Number,
            /// Median time for which the most wanted lock was held.
            held: Option<Number>,
        }
        about {
            /// The method of the program where threads waited most for the most wanted lock.
            place: Option<Place>,
        }
    }
    /// Threads waited for handles, by events.
    HandleWaits "handle_waits" of "waits", see "report waits" {
        numbers {
            /// Total time of the waits.
            waited: Number,
            /// Number of waits that ended.
            waits: Number,
        }
        about {
            /// The method.
            place: Option<Place>,
        }
    }
    /// Threads wait for each other's locks, and will do so for ever.
    Deadlock "deadlock" of "deadlock", see "report contention" {
        numbers {
            /// Time of the longest wait up to the end of the trace.
            waited: Number,
            /// Further threads that wait for these.
            victims: Number,
        }
        about {
            /// The threads of the circle, by their ids.
            thread_ids: Vec<u64>,
            /// The method.
            place: Option<Place>,
        }
    }
    /// Threads still wait for a lock when the trace ends.
    EndlessLockWait "endless_lock_wait" of "endless_wait", see "report contention" {
        numbers {
            /// Time of the longest wait up to the end of the trace.
            waited: Number,
            /// Number of threads.
            threads: Number,
        }
        about {
            /// The thread that has waited longest.
            thread_id: Option<u64>,
            /// The thread that holds the lock, if that is known.
            owner: Option<LockOwner>,
            /// The method.
            place: Option<Place>,
        }
    }
    /// Threads still wait for a lock when the trace ends, and only stacks say so.
    StuckInLock "stuck_in_lock" of "endless_wait", see "report contention" {
        numbers {
            /// Time that the thread was stuck, up to the end of the trace.
            waited: Number,
            /// Number of threads.
            threads: Number,
        }
        about {
            /// Whether the wait is as old as the session, or older.
            is_from_start: bool,
            /// The thread that has waited longest.
            thread_id: Option<u64>,
            /// The method.
            place: Option<Place>,
        }
    }
    /// Awaits of the program's own code are not over when the trace ends.
    EndlessAwaits "endless_awaits" of "endless_wait", see "report tasks" {
        numbers {
            /// Time of the longest await up to the end of the trace.
            waited: Number,
            /// Number of awaits.
            awaits: Number,
        }
        about {
            /// The methods that await, at most three.
            places: Vec<Place>,
        }
    }
    /// The thread pool added workers because others were blocked.
    StarvedPool "starved_pool" of "starvation", see "report threadpool" {
        numbers {
            /// How often the pool added a worker for it.
            adjustments: Number,
            /// Workers before.
            workers_before: Option<Number>,
            /// Workers afterwards.
            workers_after: Option<Number>,
            /// Time for which workers were blocked in the call, all of them together.
            blocked: Option<Number>,
        }
        about {
            /// The call that blocks, by its public name.
            call: Option<String>,
            /// The own method that calls it.
            place: Option<Place>,
        }
    }
    /// All workers of the thread pool wait, and have for long.
    BlockedPool "blocked_pool" of "starvation", see "report tasks" {
        numbers {
            /// Number of workers.
            workers: Number,
            /// The time for which each has waited at least.
            waited: Number,
            /// Work items that wait for a worker.
            queued: Option<Number>,
        }
        about {
            /// What they wait for.
            waits_for: WaitFor,
            /// Whether the pool has added workers, or has work that waits for one.
            is_starved: bool,
            /// Whether the pool may have no more workers.
            is_at_limit: bool,
            /// The method.
            place: Option<Place>,
        }
    }
    /// The thread pool had a worker for all work.
    NoStarvation "no_starvation" of "no_starvation", see "report threadpool" {
        numbers {
            /// Number of workers.
            workers: Number,
        }
        about {}
    }
    /// Many threads were started.
    StartedThreads "started_threads" of "threads", see "report threads" {
        numbers {
            /// Number of threads.
            threads: Number,
            /// Those that code has started.
            started: Number,
            /// The time of the trace.
            elapsed: Number,
            /// How long each was alive on average.
            life: Option<Number>,
        }
        about {
            /// The method that started most.
            started_by: Option<Place>,
        }
    }
    /// The process does nothing but wait for another one.
    WaitsForProcess "waits_for_process" of "child_process", see "report topN --state waiting" {
        numbers {
            /// Number of samples.
            samples: Number,
        }
        about {}
    }
    /// Requests came in, and none failed.
    Requests "requests" of "requests", see "report http" {
        numbers {
            /// Number of requests.
            requests: Number,
            /// Median duration of those that are slowest.
            slowest_median: Option<Number>,
            /// Time of those that took most together.
            heaviest_total: Option<Number>,
        }
        about {
            /// The target of those that are slowest.
            slowest: Option<String>,
            /// The target of those that took most time together.
            heaviest: Option<String>,
        }
    }
    /// Requests that came in failed.
    FailedRequests "failed_requests" of "requests", see "report http" {
        numbers {
            /// Number of those that failed.
            failed: Number,
            /// Number of requests.
            requests: Number,
            /// Median duration of those that are slowest.
            slowest_median: Option<Number>,
            /// Time of those that took most together.
            heaviest_total: Option<Number>,
        }
        about {
            /// The target of those that are slowest.
            slowest: Option<String>,
            /// The target of those that took most time together.
            heaviest: Option<String>,
            /// What failed, most often first, at most three.
            failures: Vec<ActivityFailures>,
            /// Number of further targets that failed.
            further_targets: u64,
        }
    }
    /// Requests are slow because of one that they send.
    SlowCall "slow_call" of "slow_call", see "report http" {
        numbers {
            /// The time of the requests.
            total: Number,
            /// Number of requests.
            requests: Number,
            /// The mean time of a request.
            mean: Number,
            /// The call's part of the requests' time.
            share: Number,
        }
        about {
            /// The requests.
            target: String,
            /// The request that they send.
            call: String,
        }
    }
    /// A statement runs again and again in each unit of work.
    RepeatedQuery "repeated_query" of "repeated_query", see "report sql" {
        numbers {
            /// Number of commands with the statement.
            commands: Number,
            /// How often each unit of work ran it, on average.
            in_each: Number,
            /// Number of units of work.
            units: Number,
        }
        about {
            /// Whether each unit ran it as often.
            is_alike: bool,
            /// Whether the units are requests; else they are uses of a connection.
            is_request: bool,
            /// The statement.
            statement: String,
            /// The request or method that runs it; empty if it is not known.
            by: String,
        }
    }
    /// Activities failed.
    FailedActivities "failed_activities" of "activities", see "report activities" {
        numbers {
            /// Number of those that failed.
            failed: Number,
            /// Number of activities.
            activities: Number,
        }
        about {}
    }
    /// An activity took long.
    SlowActivity "slow_activity" of "slow_activity", see "report activities" {
        numbers {
            /// Duration of the slowest one.
            slowest: Number,
            /// Number of activities.
            activities: Number,
        }
        about {
            /// The name of the activity.
            name: String,
        }
    }
    /// Errors were logged.
    LogErrors "log_errors" of "log_errors", see "report logs --level error" {
        numbers {
            /// Number of messages of level error or worse.
            messages: Number,
        }
        about {}
    }
    /// Something keeps much of a heap alive.
    HeapHeld "heap_held" of "heap", see "heap --sort retained" {
        numbers {
            /// Bytes that it keeps alive.
            retained: Number,
            /// Bytes that roots reach.
            reachable: Number,
            /// Share of the running time, in percent.
            share: Number,
        }
        about {
            /// What holds them.
            holder: HeapHolder,
        }
    }
    /// Types of the program's own keep much of a heap alive.
    HeapOwnTypes "heap_own_types" of "heap", see "heap --sort retained" {
        numbers {
            /// Bytes that it keeps alive.
            retained: Number,
        }
        about {
            /// Those that keep most, at most three.
            types: Vec<HeapOwnType>,
        }
    }
}

impl Fact {
    /// Returns the headline.
    pub fn headline(&self) -> Number {
        let first = self.numbers().first().map(|(_, number)| **number);
        first.unwrap_or_else(|| Number::count(0, Unit::Events))
    }

    /// Returns the method that the fact names, if it names one.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Fact::HottestMethod { place, .. }
            | Fact::OwnMethod { place, .. }
            | Fact::Finalizer { place, .. }
            | Fact::LockSpinning { place, .. }
            | Fact::SampledLockWaits { place, .. } => Some(place),
            Fact::Compilation { asked_by: place, .. }
            | Fact::LockContention { place, .. }
            | Fact::HandleWaits { place, .. }
            | Fact::Deadlock { place, .. }
            | Fact::EndlessLockWait { place, .. }
            | Fact::StuckInLock { place, .. }
            | Fact::StarvedPool { place, .. }
            | Fact::BlockedPool { place, .. }
            | Fact::StartedThreads { started_by: place, .. }
            | Fact::CutOff { last_method: place, .. } => place.as_ref(),
            Fact::EndlessAwaits { places, .. } => places.first(),
            Fact::Exceptions { thrown_by, .. } => thrown_by.as_ref().map(|by| &by.place),
            Fact::Allocations { largest, .. } => largest.as_ref()?.place.as_ref(),
            Fact::Collections { behind, .. } => match behind.as_ref()? {
                CollectionPlace::Allocates(most) => most.place.as_ref(),
                CollectionPlace::Begins(place) | CollectionPlace::Busiest(place) => Some(place),
            },
            _ => None,
        }
    }

    /// Returns the method if all of the fact is about it: what it runs, and what is compiled for
    /// it.
    #[cfg(any(feature = "serde", feature = "page"))]
    pub(crate) fn subject_place(&self) -> Option<&Place> {
        match self.kind() {
            FindingKind::HottestMethod
            | FindingKind::OwnMethod
            | FindingKind::Finalizer
            | FindingKind::SampledLockWaits
            | FindingKind::Compilation => self.place(),
            _ => None,
        }
    }

    /// Returns the kinds of findings that this one makes superfluous, as it says as much.
    pub fn covers(&self) -> &'static [FindingKind] {
        match self {
            Fact::Collections { behind: Some(CollectionPlace::Allocates(_)), .. } => {
                &[FindingKind::Allocations]
            }
            Fact::OwnMethod { .. } => &[FindingKind::HottestMethod],
            Fact::StarvedPool { .. } | Fact::BlockedPool { .. } => {
                &[FindingKind::NoStarvation, FindingKind::HandleWaits]
            }
            Fact::LockContention { .. } => &[FindingKind::SampledLockWaits],
            _ => &[],
        }
    }

    /// Returns whether the fact is no fault, however large it is: what holds a heap, and what a
    /// program waits for.
    pub(crate) fn is_neutral(&self) -> bool {
        matches!(
            self,
            Fact::HeapHeld { .. } | Fact::HeapOwnTypes { .. } | Fact::WaitsForProcess { .. }
        )
    }
}
