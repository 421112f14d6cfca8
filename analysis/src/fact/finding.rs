//! The kinds of findings, each with its numbers, its method and further details.

use super::cause::{
    ActivityFailures, HotCall, LockHolder, LockOwner, MethodCaller, ProcessEnd, ProcessorTaker,
    ThrownBy, WaitCall, WaitingProducers,
};
use super::collection::{AllocatedType, CollectionPlace, CollectionReason};
use super::number::Number;
use super::place::Place;
use crate::heap::{HeapHolder, HeapOwnType};
use crate::model::{Coverage, MissingNames, WaitFor};
use crate::report::HttpPhase;

facts! {
    /// Events were lost, so counts are too low.
    LostEvents "lost_events" of "lost_events", see "info" {
        numbers {
            /// Number of lost events.
            lost: Number,
            /// Lost events in percent of all events.
            share: Number,
        }
    }
    /// The recording ends in the middle.
    CutOff "cut_off" of "cut_off", see "info" {
        numbers {
            /// Time from the start of the session to the last event.
            after: Number,
        }
        about {
            /// Exit of the process; `None` if it is not known.
            process_end: Option<ProcessEnd>,
            /// Type of the last exception, if it was thrown within the last second.
            last_exception: Option<String>,
            /// Method of the program that samples saw last.
            last_method: Option<Place>,
        }
    }
    /// An EventSource reports a fault of its own, and sends no events, or not all.
    FaultySource "faulty_source" of "faulty_source", see "report logs" {
        numbers {
            /// Number of reports of the fault.
            messages: Number,
        }
        about {
            /// Name of the EventSource.
            source: String,
            /// What is wrong, as .NET words it.
            reason: String,
        }
    }
    /// EventSources that were asked for sent nothing.
    SilentSources "silent_sources" of "silent_sources", see "info" {
        numbers {
            /// Number of EventSources that sent nothing.
            silent: Number,
        }
        about {
            /// Names of the EventSources.
            sources: Vec<String>,
        }
    }
    /// Activities have no ids, so what belongs to which is a guess.
    NoActivityIds "no_activity_ids" of "activity_ids", see "report activities" {
        numbers {
            /// Number of activities that started.
            activities: Number,
        }
    }
    /// Frames of samples have no names.
    MissingNames "missing_names" of "missing_names", see "report topN" {
        numbers {
            /// Frames without names in percent of all frames.
            share: Number,
        }
        about {
            /// Number of frames with names, and which sources of names the trace has.
            coverage: Coverage,
            /// Reason why the other frames have no names.
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
            /// Time of all pauses in percent of the trace.
            share: Number,
            /// Longest pause.
            longest: Number,
        }
        about {
            /// Reasons why the collections came or took long, at most two.
            reasons: Vec<CollectionReason>,
            /// The program's own method behind the collections.
            behind: Option<CollectionPlace>,
        }
    }
    /// Much was allocated.
    Allocations "allocations" of "alloc", see "report alloc" {
        numbers {
            /// Allocated bytes.
            allocated: Number,
            /// Allocated bytes a second.
            rate: Number,
        }
        about {
            /// Type with most of the allocated bytes.
            largest: Option<AllocatedType>,
        }
    }
    /// Exceptions were thrown.
    Exceptions "exceptions" of "exceptions", see "report exceptions" {
        numbers {
            /// Number of exceptions, rethrown ones included.
            exceptions: Number,
            /// Number of exceptions that were caught and thrown again, such as by an await.
            rethrown: Option<Number>,
            /// Number of times that exceptions were caught and thrown again without an event.
            rethrown_without_event: Option<Number>,
            /// Exceptions a second; `None` below 10.
            rate: Option<Number>,
            /// Time of throwing and catching in percent of the running time, or of the trace if only
            /// events show it. `None` below 5 %.
            throwing: Option<Number>,
            /// Number of exceptions of the most frequent type.
            of_type: Number,
        }
        about {
            /// Name of the most frequent type.
            type_name: String,
            /// Method that threw most exceptions of the most frequent type.
            thrown_by: Option<ThrownBy>,
        }
    }
    /// Compiling methods took time.
    Compilation "compilation" of "jit", see "report jit" {
        numbers {
            /// Time of compiling, summed over threads.
            compiling: Number,
            /// Number of compiled methods.
            methods: Number,
            /// Time of compiling that the program waited for, in percent of the trace.
            share: Number,
            /// Time of compiling in the background, beside the program, if it is a tenth of all.
            background: Option<Number>,
            /// Number of compiled methods that the program made while it ran, if these are many.
            dynamic_methods: Option<Number>,
            /// Time of compiling dynamic methods, if these are many.
            compiling_dynamic: Option<Number>,
        }
        about {
            /// The program's own method for which most dynamic methods were compiled.
            asked_by: Option<Place>,
        }
    }
    /// A method has much of the running time by itself.
    HottestMethod "hottest_method" of "hottest_method", see "report topN" {
        numbers {
            /// Time in which the method ran, or may have run.
            ran: Number,
            /// Share of the running time, in percent.
            share: Number,
            /// Number of samples.
            samples: Number,
        }
        about {
            /// Hottest method.
            place: Place,
        }
    }
    /// A method of the program has much of the running time, calls into other code included.
    OwnMethod "own_method" of "hottest_method", see "report topN --my-code" {
        numbers {
            /// Time in which the method ran, or may have run.
            ran: Number,
            /// Share of the running time, in percent.
            share: Number,
            /// Number of samples in the method.
            samples: Number,
            /// Number of samples in native calls, which may not have run, if they are the most.
            native_samples: Option<Number>,
            /// Time for which idle pool workers spun beside the running time, if a tenth of both.
            idle_spinning: Option<Number>,
            /// Number of dynamic methods of the program, if the method's time goes to making them.
            dynamic_methods: Option<Number>,
            /// Time of taking locks in percent of the method's time, if it is notable.
            taking_lock: Option<Number>,
            /// Time of all threads that may have run, if the processors cannot have run so long and
            /// the runtime does not tell managed from native code.
            may_have_run: Option<Number>,
            /// Time that the processors can have run; the rest of `may_have_run` waited.
            processors_can: Option<Number>,
        }
        about {
            /// Hottest method of the program.
            place: Place,
            /// Whether fewer than 50 samples ran for certain.
            is_few: bool,
            /// Caller of the method, if it is the finalizer's thread or a timer.
            called_by: Option<MethodCaller>,
            /// Call that takes much of the method's time.
            call: Option<HotCall>,
            /// Threads that wait because a collection is full from which the method takes.
            producers: Option<WaitingProducers>,
        }
    }
    /// A method of the program takes much time on the finalizer's thread.
    Finalizer "finalizer" of "finalizer", see "report topN --my-code" {
        numbers {
            /// Time in which the method ran, or may have run.
            ran: Number,
            /// Share of the running time, in percent.
            share: Number,
        }
        about {
            /// Method below the finalizer.
            place: Place,
        }
    }
    /// Threads spun to take a lock.
    LockSpinning "lock_spinning" of "lock_spinning", see "report topN" {
        numbers {
            /// Time in which the method ran, or may have run.
            ran: Number,
            /// Share of the running time, in percent.
            share: Number,
            /// Number of samples.
            samples: Number,
        }
        about {
            /// Method that takes the lock.
            place: Place,
            /// The program's own method that takes the lock most, if it does so half of the time.
            called_by: Option<Place>,
        }
    }
    /// Threads waited for a lock, as only samples show.
    SampledLockWaits "sampled_lock_waits" of "lock_waits", see "report topN --my-code --state waiting" {
        numbers {
            /// Total time of the waits, by samples.
            waited: Number,
            /// Number of threads that waited.
            threads: Number,
            /// Time for which threads spun to take the lock before they waited, if it is long.
            spun: Option<Number>,
            /// Running time of the method or the holder in percent of all; `None` if another runs most.
            running: Option<Number>,
        }
        about {
            /// Method in which threads waited most.
            place: Place,
            /// Whether threads sleep in the method, probably while they hold the lock.
            is_holder_asleep: bool,
            /// Method in which the thread is that holds the lock; `None` if it is not known.
            holder: Option<LockHolder>,
        }
    }
    /// Threads waited for locks, as events show.
    LockContention "lock_contention" of "contention", see "report contention" {
        numbers {
            /// Total time of the waits.
            waited: Number,
            /// Number of waits that ended.
            waits: Number,
            /// Median time for which the lock with the longest waits was held.
            held: Option<Number>,
            /// Time for which threads spun to take the lock before they waited, if it is long.
            spun: Option<Number>,
            /// Running time of the method or the holder in percent of all; `None` if another runs most.
            running: Option<Number>,
        }
        about {
            /// Method in which threads waited most for the lock with the longest waits.
            place: Option<Place>,
            /// Method in which the thread is that holds the lock; `None` if it is not known.
            holder: Option<LockHolder>,
        }
    }
    /// Threads waited for handles, as events show.
    HandleWaits "handle_waits" of "waits", see "report waits" {
        numbers {
            /// Total time of the waits.
            waited: Number,
            /// Number of waits that ended.
            waits: Number,
        }
        about {
            /// Method in which threads waited most.
            place: Option<Place>,
        }
    }
    /// Threads wait for each other's locks, and will do so for ever.
    Deadlock "deadlock" of "deadlock", see "report contention" {
        numbers {
            /// Time of the longest wait up to the end of the trace.
            waited: Number,
            /// Number of threads outside the circle that wait for threads in the circle.
            victims: Number,
        }
        about {
            /// Ids of the threads in the circle.
            thread_ids: Vec<u64>,
            /// Method in which a thread of the circle waits.
            place: Option<Place>,
        }
    }
    /// Threads still wait for locks when the trace ends.
    EndlessLockWait "endless_lock_wait" of "endless_wait", see "report contention" {
        numbers {
            /// Time of the longest wait up to the end of the trace.
            waited: Number,
            /// Number of waiting threads.
            threads: Number,
            /// Number of waits that ended, if they were in the same method.
            earlier_waits: Option<Number>,
            /// Total time of these waits.
            earlier_waited: Option<Number>,
        }
        about {
            /// Id of the thread that has waited longest.
            thread_id: Option<u64>,
            /// Thread that holds the lock; `None` if it is not known.
            owner: Option<LockOwner>,
            /// Method in which the thread waits.
            place: Option<Place>,
            /// Method in which the thread is that holds the lock; `None` if it is not known.
            holder: Option<LockHolder>,
        }
    }
    /// Threads still wait for locks when the trace ends, as only their stacks show.
    StuckInLock "stuck_in_lock" of "endless_wait", see "report contention" {
        numbers {
            /// Time of the longest wait up to the end of the trace.
            waited: Number,
            /// Number of waiting threads.
            threads: Number,
        }
        about {
            /// Whether the wait began before the session, or at its start.
            is_from_start: bool,
            /// Id of the thread that has waited longest.
            thread_id: Option<u64>,
            /// Method in which the thread waits.
            place: Option<Place>,
            /// Method in which the thread is that holds the lock; `None` if it is not known.
            holder: Option<LockHolder>,
        }
    }
    /// Workers of the thread pool still wait for the end of a thread when the trace ends.
    StuckWorkers "stuck_workers" of "endless_wait", see "report waits" {
        numbers {
            /// Time of the longest wait up to the end of the trace.
            waited: Number,
            /// Number of waiting workers.
            workers: Number,
        }
        about {
            /// Method in which the worker is that has waited longest.
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
            /// Methods that await, at most three.
            places: Vec<Place>,
        }
    }
    /// Workers of the thread pool were blocked, so the pool added others or work waited.
    StarvedPool "starved_pool" of "starvation", see "report threadpool" {
        numbers {
            /// Number of times that the pool added workers because of starvation, if it did.
            adjustments: Option<Number>,
            /// Number of workers before the starvation.
            workers_before: Option<Number>,
            /// Largest number of workers.
            workers_after: Option<Number>,
            /// Time for which workers were blocked in `call`, summed over workers.
            blocked: Option<Number>,
            /// Time for which the pool wanted its workers, summed over workers, if it added none
            /// because of starvation.
            wanted: Option<Number>,
            /// Median time for which work waited for a worker, if it waited long.
            queued_median: Option<Number>,
            /// Longest time for which work waited for a worker, if it waited long.
            queued_longest: Option<Number>,
        }
        about {
            /// Public name of the call that blocks.
            call: Option<String>,
            /// The program's own method that makes the call.
            place: Option<Place>,
        }
    }
    /// All workers of the thread pool have waited for long.
    BlockedPool "blocked_pool" of "starvation", see "report tasks" {
        numbers {
            /// Number of waiting workers.
            workers: Number,
            /// Time of the shortest of their waits.
            waited: Number,
            /// Number of work items that wait for a worker.
            queued: Option<Number>,
        }
        about {
            /// Object of most of the waits, such as a task.
            waits_for: WaitFor,
            /// Whether the pool has added workers, is at its limit, or has work that waits.
            is_starved: bool,
            /// Whether the pool has as many workers as it may have.
            is_at_limit: bool,
            /// Method in which most workers wait.
            place: Option<Place>,
        }
    }
    /// Requests blocked workers of the thread pool, because the program's code waits for tasks.
    SyncOverAsync "sync_over_async" of "sync_over_async", see "report topN --my-code --state waiting" {
        numbers {
            /// Time for which workers were blocked in `call`, by samples, summed over workers.
            blocked: Number,
            /// Number of workers that were blocked, each counted once.
            workers: Number,
        }
        about {
            /// Public name of the call that blocks.
            call: String,
            /// The program's own method that makes the call.
            place: Place,
        }
    }
    /// The thread pool had a worker for all work.
    NoStarvation "no_starvation" of "no_starvation", see "report threadpool" {
        numbers {
            /// Largest number of workers.
            workers: Number,
        }
    }
    /// Many threads were started.
    StartedThreads "started_threads" of "threads", see "report threads" {
        numbers {
            /// Number of threads with events.
            threads: Number,
            /// Number of threads that were started.
            started: Number,
            /// Time of the trace.
            elapsed: Number,
            /// Mean life of a started thread.
            life: Option<Number>,
        }
        about {
            /// Method that started most threads.
            started_by: Option<Place>,
        }
    }
    /// Threads were ready to run and had no processor.
    NoProcessor "no_processor" of "no_processor", see "report threads" {
        numbers {
            /// Time in which threads were ready, summed over threads.
            ready: Number,
        }
        about {
            /// What took the processors.
            taken_by: ProcessorTaker,
        }
    }
    /// The kernel killed processes of a control group because there was no memory.
    OutOfMemory "out_of_memory" of "out_of_memory", see "report gc" {
        numbers {
            /// Number of killed processes.
            killed: Number,
            /// Smallest limit of memory of the process's control groups; `None` without a limit.
            limit: Option<Number>,
        }
    }
    /// The process only waits for another one to end.
    WaitsForProcess "waits_for_process" of "child_process", see "report topN --state waiting" {
        numbers {
            /// Number of samples of the wait.
            samples: Number,
        }
    }
    /// Threads are most of the trace in the waits and native calls of one method of the program.
    Waiting "waiting" of "waiting", see "report topN --my-code --state all" {
        numbers {
            /// Time in the calls, summed over threads.
            spent: Number,
            /// Time of the thread; of several threads, that of the longest.
            elapsed: Number,
            /// Time in the calls in percent of `elapsed`; of several threads, `covered`.
            share: Number,
            /// Time in which at least one of several threads is in them; `None` for one thread.
            covered: Option<Number>,
            /// Number of threads.
            threads: Number,
            /// Time that all code ran, if it is little and the trace lacks what is awaited.
            ran: Option<Number>,
        }
        about {
            /// Method that makes the calls.
            place: Place,
            /// Calls with most time, longest first.
            calls: Vec<WaitCall>,
            /// Whether the only thread is the main thread.
            is_main: bool,
            /// Whether several threads are in the calls one after another, not side by side.
            is_one_at_a_time: bool,
            /// Threads that wait because a collection is full from which the method takes.
            producers: Option<WaitingProducers>,
        }
    }
    /// Little ran, and nothing waited long for anything but work; or nothing stands out.
    Idle "idle" of "idle", see "report threads" {
        numbers {
            /// Time that ran for certain, summed over threads.
            ran: Number,
            /// Time of the trace.
            elapsed: Number,
        }
        about {
            /// Whether little ran.
            is_idle: bool,
        }
    }
    /// Requests came in, and none failed.
    Requests "requests" of "requests", see "report http" {
        numbers {
            /// Number of incoming requests.
            requests: Number,
            /// Median duration of requests to `slowest`.
            slowest_median: Option<Number>,
            /// Total duration of requests to `heaviest`.
            heaviest_total: Option<Number>,
        }
        about {
            /// Target with the longest median duration.
            slowest: Option<String>,
            /// Target with the longest total duration, if it is not `slowest`.
            heaviest: Option<String>,
        }
    }
    /// Incoming requests failed.
    FailedRequests "failed_requests" of "requests", see "report http" {
        numbers {
            /// Number of failed requests.
            failed: Number,
            /// Number of incoming requests.
            requests: Number,
            /// Median duration of requests to `slowest`.
            slowest_median: Option<Number>,
            /// Total duration of requests to `heaviest`.
            heaviest_total: Option<Number>,
        }
        about {
            /// Target with the longest median duration.
            slowest: Option<String>,
            /// Target with the longest total duration, if it is not `slowest`.
            heaviest: Option<String>,
            /// The three targets with most failures.
            failures: Vec<ActivityFailures>,
            /// Number of further targets with failures.
            further_targets: u64,
        }
    }
    /// Incoming requests are slow because of a request that they send.
    SlowCall "slow_call" of "slow_call", see "report http" {
        numbers {
            /// Total duration of the incoming requests.
            total: Number,
            /// Number of incoming requests.
            requests: Number,
            /// Mean duration of an incoming request.
            mean: Number,
            /// Time of the outgoing requests in percent of the incoming ones.
            share: Number,
        }
        about {
            /// Target of the incoming requests.
            target: String,
            /// Target of the outgoing requests.
            call: String,
        }
    }
    /// Outgoing requests spend most of their time in one phase other than waiting for the server.
    CallPhase "call_phase" of "call_phase", see "report http" {
        numbers {
            /// Time of the requests in the phase.
            time: Number,
            /// Share of the phase in percent of the requests' time.
            share: Number,
            /// Number of outgoing requests.
            requests: Number,
        }
        about {
            /// Phase.
            phase: HttpPhase,
            /// Target of the requests.
            target: String,
        }
    }
    /// Outgoing requests open connections although an open one is free.
    NeedlessConnections "needless_connections" of "needless_connections", see "report http" {
        numbers {
            /// Number of connections that opened although another one was free, or had just been.
            connections: Number,
            /// Number of outgoing requests.
            requests: Number,
        }
        about {
            /// Target of the requests.
            target: String,
        }
    }
    /// A statement runs again and again in each unit of work.
    RepeatedQuery "repeated_query" of "repeated_query", see "report sql" {
        numbers {
            /// Number of commands with the statement.
            commands: Number,
            /// Mean number of runs of the statement in a unit of work.
            in_each: Number,
            /// Number of units of work.
            units: Number,
        }
        about {
            /// Whether each unit of work ran the statement equally often.
            is_alike: bool,
            /// Whether units of work are requests; if not, they are uses of a connection.
            is_request: bool,
            /// Text of the statement.
            statement: String,
            /// Request or method that runs the statement; empty if it is not known.
            by: String,
        }
    }
    /// Activities failed.
    FailedActivities "failed_activities" of "activities", see "report activities" {
        numbers {
            /// Number of failed activities.
            failed: Number,
            /// Number of activities that started.
            activities: Number,
        }
    }
    /// An activity took long.
    SlowActivity "slow_activity" of "slow_activity", see "report activities" {
        numbers {
            /// Duration of the slowest activity.
            slowest: Number,
            /// Number of activities that started.
            activities: Number,
        }
        about {
            /// Name of the slowest activity.
            name: String,
        }
    }
    /// Errors were logged.
    LogErrors "log_errors" of "log_errors", see "report logs --level error" {
        numbers {
            /// Number of messages of level error or worse.
            messages: Number,
        }
    }
    /// An object, such as a static dictionary, keeps much of the heap alive.
    HeapHeld "heap_held" of "heap", see "heap --sort retained" {
        numbers {
            /// Bytes that the object keeps alive.
            retained: Number,
            /// Bytes of the heap that roots reach.
            reachable: Number,
            /// Bytes that the object keeps alive in percent of the bytes that roots reach.
            share: Number,
        }
        about {
            /// Object, and the root that holds it.
            holder: HeapHolder,
        }
    }
    /// Types of the program keep much of the heap alive.
    HeapOwnTypes "heap_own_types" of "heap", see "heap --sort retained" {
        numbers {
            /// Bytes that objects of the first type keep alive.
            retained: Number,
        }
        about {
            /// The three types that keep most alive.
            types: Vec<HeapOwnType>,
        }
    }
}
