//! Descriptions of all tables, column by column.

use crate::column::ColumnKind::{Flag, Instant, Real, Small, Text, Unsigned, Whole};
use crate::column::{Column, Deferred, Layout, Table};

const fn column(name: &'static str, kind: crate::ColumnKind, about: &'static str) -> Column {
    Column::new(name, kind, about)
}

// The value is equal in all rows of a file, so differences cost less than a dictionary.
const INPUT: Column =
    column("input_id", Whole, "the trace: `inputs.input_id`").layout(Layout::Delta);
pub(crate) const TIME: Column =
    column("time", Instant, "when it happened").null("the trace has no start time");
pub(crate) const TIME_NS: Column = column("time_ns", Whole, "time since the start of the session")
    .unit("ns")
    .layout(Layout::Delta);
pub(crate) const PROCESS: Column =
    column("process_id", Whole, "OS id of the process").null("not in the trace");
pub(crate) const THREAD: Column =
    column("thread_id", Whole, "OS id of the thread").null("not in the trace");
pub(crate) const STACK: Column = column("stack_id", Whole, "the stack: `stacks.stack_id`")
    .null("there is no stack")
    .deferred(Deferred::StackId);

/// Table that has a row for each input, including those that could not be read.
pub const INPUTS: Table = Table {
    name: "inputs",
    about: "One row per input, including those that could not be read: what `nettrace info --json` reports, losses and damage.",
    source: "the whole trace; `nettrace info`",
    columns: &[
        column(
            "input_id",
            Whole,
            "the first 64 bits of `content_hash`; if `status` is `failed`, of a hash of its path and content",
        ),
        column("path", Text, "the input as it was named"),
        column(
            "content_hash",
            Text,
            "XXH3-128 of the file as it lies on disk, 32 hexadecimal digits",
        )
        .null("the input could not be read"),
        column("file_bytes", Whole, "size of the file as it lies on disk")
            .unit("bytes")
            .null("the input could not be read"),
        column(
            "status",
            Text,
            "`ok`; `damaged`: something is missing, the rest is in the tables; `failed`: nothing could be read",
        ),
        column("reason", Text, "why it failed, or the first finding of damage")
            .null("`status` is `ok`"),
        column("format_version", Small, "major version of the format: 3, 4 or 6")
            .null("`status` is `failed`"),
        column("format_minor_version", Small, "minor version of the format")
            .null("`status` is `failed`"),
        column("complete", Flag, "whether the end mark of the stream was read")
            .null("`status` is `failed`"),
        column("end_offset", Whole, "where the stream ended, in uncompressed bytes")
            .unit("bytes")
            .null("`status` is `failed`"),
        column("compressed", Flag, "whether the file is compressed, with gzip or zstd")
            .null("`status` is `failed`"),
        column("writer", Text, "the program that wrote the stream, such as `.NET 10.0.1`")
            .null("unknown"),
        column("process_id", Whole, "OS id of the traced process")
            .null("unknown, or several processes"),
        column("processes", Whole, "number of processes that events are about")
            .null("`status` is `failed`"),
        column("processes_are_at_least", Flag, "whether there may be more processes")
            .null("`status` is `failed`"),
        column(
            "process_name",
            Text,
            "the program: the assembly that `dotnet` runs, else the executable",
        )
        .null("unknown, or several processes"),
        column("command_line", Text, "the command line of the process").null("not recorded"),
        column("os", Text, "operating system, as the runtime reports it").null("not recorded"),
        column("architecture", Text, "architecture of the process").null("not recorded"),
        column("pointer_size", Small, "size of an address")
            .unit("bytes")
            .null("`status` is `failed`"),
        column("processors", Small, "number of processors").null("not recorded"),
        column("ticks_per_second", Whole, "frequency of the event clock")
            .unit("Hz")
            .null("`status` is `failed`"),
        column("sampling_period_ns", Whole, "period of the CPU sampler, as the stream states it")
            .unit("ns")
            .null("not recorded"),
        column("start_time", Instant, "start of the session").null("the trace has no start time"),
        column("duration_ns", Whole, "from the start of the session to the newest event")
            .unit("ns")
            .null("no event, or no usable clock"),
        column("events", Whole, "number of events").null("`status` is `failed`"),
        column("events_with_stack", Whole, "number of events with a stack")
            .null("`status` is `failed`"),
        column("payload_bytes", Whole, "bytes of all payloads")
            .unit("bytes")
            .null("`status` is `failed`"),
        column("lost", Whole, "events that were lost, by sequence numbers")
            .null("`status` is `failed`"),
        column("losses_known", Flag, "false for version 3, whose events have no numbers")
            .null("`status` is `failed`"),
        column(
            "lost_is_at_least",
            Flag,
            "whether more may be lost: with very many threads, `lost` is a lower bound",
        )
        .null("`status` is `failed`"),
        column("lost_threads", Whole, "threads that lost events").null("`status` is `failed`"),
        column("restarts", Whole, "how often the OS gave a thread's id to a new one")
            .null("`status` is `failed`"),
        column("threads", Whole, "number of threads that events are about")
            .null("`status` is `failed`"),
        column("threads_are_at_least", Flag, "whether there may be more threads")
            .null("`status` is `failed`"),
        column("types", Whole, "number of event types of which there are events")
            .null("`status` is `failed`"),
        column("types_are_at_least", Flag, "whether there may be more types")
            .null("`status` is `failed`"),
        column("stacks", Whole, "number of stacks that the stream stores")
            .null("`status` is `failed`"),
        column("stacks_are_at_least", Flag, "whether there may be more stacks")
            .null("`status` is `failed`"),
        column("providers", Text, "events by provider, JSON array of `{name, events}`")
            .null("`status` is `failed`"),
        column("blocks", Text, "blocks by kind, JSON object").null("`status` is `failed`"),
        column("bytes", Text, "bytes by kind of block, JSON object").null("`status` is `failed`"),
        column("damage_count", Whole, "findings of damage").null("`status` is `failed`"),
        column("damage_bytes", Whole, "bytes that were not read because of damage")
            .unit("bytes")
            .null("`status` is `failed`"),
        column("damage", Text, "findings of damage, JSON array as in `nettrace info --json`")
            .null("`status` is `failed`"),
        column("notes", Text, "oddities that do no harm, JSON array").null("`status` is `failed`"),
        column("properties", Text, "further keys and values of the stream's header, JSON object")
            .null("`status` is `failed`"),
    ],
};

/// Table with a row for each event.
pub const EVENTS: Table = Table {
    name: "events",
    about: "One row per event, in time order.",
    source: "every event; `nettrace events`",
    columns: &[
        INPUT,
        TIME,
        TIME_NS,
        PROCESS,
        THREAD,
        column(
            "provider",
            Text,
            "name of the provider; empty if the stream does not define the type",
        ),
        column("event", Text, "name of the event, as `nettrace events` shows it"),
        column("id", Small, "id of the event within its provider"),
        column("version", Small, "version of the event"),
        column(
            "level",
            Small,
            "0 log always, 1 critical, 2 error, 3 warning, 4 informational, 5 verbose",
        ),
        column("activity_id", Text, "id of the activity, a GUID").null("the event has none"),
        column("related_activity_id", Text, "id of the related activity, a GUID")
            .null("the event has none"),
        column("payload", Text, "the fields, JSON object as in `nettrace events --format ndjson`")
            .null("`--no-payload`, or the stream does not define the type")
            .layout(Layout::Plain),
        column("payload_rest", Text, "bytes of the payload that belong to no field, hexadecimal")
            .null("there are none"),
        column("payload_faults", Text, "fields that could not be read, JSON array")
            .null("there are none"),
        STACK,
    ],
};

/// Table with a row for each CPU sample.
pub const SAMPLES: Table = Table {
    name: "samples",
    about: "One row per CPU sample; recorders of operating systems add one for each time that a thread was switched out.",
    source: "`Microsoft-DotNETCore-SampleProfiler`, `Universal.Events` `cpu` and `cswitch`; `nettrace report topn`",
    columns: &[
        INPUT,
        TIME,
        TIME_NS,
        PROCESS,
        THREAD,
        column("kind", Text, "`cpu`, `off_cpu`"),
        column("state", Text, "`managed`, `native`, `taking_lock` or `waiting`, as in `--state`")
            .deferred(Deferred::State),
        column(
            "weight_ns",
            Whole,
            "time until the thread's next sample, or the time that the sample stands for",
        )
        .unit("ns")
        .layout(Layout::Delta),
        STACK,
        column(
            "is_repaired",
            Flag,
            "whether the stack, which the runtime cuts off at 100 frames, got its callers back from the thread's stack just before, or turned out to have lost none",
        ),
        column(
            "ran_ns",
            Whole,
            "part of `weight_ns` that the thread ran, by its readings in `thread_times`; the sum is the processor time of the process, less what threads ran while they had no samples",
        )
        .unit("ns")
        .null("the recording has no readings, or they ended before")
        .deferred(Deferred::RanTime),
        column(
            "is_ran_estimated",
            Flag,
            "whether `ran_ns` is estimated, because the thread ran in a part of the time between two readings",
        )
        .null("`ran_ns` is null")
        .deferred(Deferred::IsRanEstimated),
    ],
};

/// Table with a row for each frame of a distinct stack.
pub const STACKS: Table = Table {
    name: "stacks",
    about: "One row per frame of each distinct stack. Equal stacks of different traces have equal ids.",
    source: "stacks of the events in the other tables",
    columns: &[
        INPUT,
        column(
            "stack_id",
            Whole,
            "XXH64 of the ids of its frames, innermost first, 8 bytes each, lowest byte first",
        ),
        column("depth", Small, "0 for the innermost frame, where the thread was"),
        column("frame_id", Whole, "the frame: `frames.frame_id`"),
        column(
            "is_first",
            Flag,
            "whether this is the innermost occurrence of the frame in the stack; counting only these counts a recursive method once",
        ),
    ],
};

/// Table with a row for each distinct frame.
pub const FRAMES: Table = Table {
    name: "frames",
    about: "One row per distinct frame. Equal frames of different traces have equal ids.",
    source: "methods, symbols and mappings that the trace reports",
    columns: &[
        INPUT,
        column("frame_id", Whole, "XXH64 of `kind`, a zero byte, and `text`"),
        column("kind", Text, "`managed`, `native`, `kernel`, `unknown`"),
        column(
            "text",
            Text,
            "the frame as reports show it: `Module!Namespace.Type.Method(arguments)`",
        ),
        column("method_id", Whole, "the method: `methods.method_id`")
            .null("the frame has no name, or only a guessed one"),
        column(
            "is_named",
            Flag,
            "whether it has a name; if not, `text` is an address, which means something only in its process",
        ),
        column(
            "is_guessed",
            Flag,
            "whether the name belongs to a method at a slightly lower address",
        ),
        column("file", Text, "path of the source file that the compiler had")
            .null("`--lines` was not given, or the line is not known"),
        column("line", Whole, "line of the file, counted from 1").null("`file` is null"),
        column(
            "is_first_line",
            Flag,
            "whether the line is the first one of the method, because the trace does not tell which of them it is",
        )
        .null("`file` is null"),
        column("source_url", Text, "address of the file on the web, by Source Link of the PDB")
            .null("`file` is null, or the PDB has none"),
    ],
};

/// Table with a row for each method.
pub const METHODS: Table = Table {
    name: "methods",
    about: "One row per distinct method or function on a stack; overloads share it.",
    source: "methods and symbols that the trace reports",
    columns: &[
        INPUT,
        column(
            "method_id",
            Whole,
            "XXH64 of module, namespace, type and method with a zero byte between them",
        ),
        column("module", Text, "short name of the module; empty if unknown"),
        column("namespace", Text, "namespace; empty for native code"),
        column("type", Text, "the type, with the types that contain it; empty for native code"),
        column("method", Text, "name without arguments"),
    ],
};

/// Table with a row for each thread.
pub const THREADS: Table = Table {
    name: "threads",
    about: "One row per thread that events are about.",
    source: "every event; names from runtime 85 and rundown 159, or the recorder",
    columns: &[
        INPUT,
        PROCESS,
        THREAD,
        column("name", Text, "the thread's name or purpose").null("not recorded"),
        column("events", Whole, "number of events about it"),
    ],
};

/// Table with a row for each reading of a thread's times.
pub const THREAD_TIMES: Table = Table {
    name: "thread_times",
    about: "One row per reading of a thread: what the operating system counted since the thread's birth. The first reading of a thread that is older than the session has what the thread ran before.",
    source: "the second stream of a recording, with the times of threads (`collect --thread-times`, Linux)",
    columns: &[
        INPUT,
        column("time", Instant, "when it was read").null("the trace has no start time"),
        column("time_ns", Whole, "time since the start of the session")
            .unit("ns")
            .layout(Layout::Delta),
        PROCESS,
        THREAD,
        column("name", Text, "the thread's latest name").null("not recorded"),
        column("ran_ns", Whole, "time on a processor since the thread's birth").unit("ns"),
        column(
            "ready_ns",
            Whole,
            "time in which the thread was ready and had no processor, since its birth",
        )
        .unit("ns"),
    ],
};

/// Table with a row for each garbage collection.
pub const GCS: Table = Table {
    name: "gcs",
    about: "One row per garbage collection.",
    source: "runtime 1, 2, 3, 4, 9, 204, 205; `collections` of `nettrace report gc --json`",
    columns: &[
        INPUT,
        column("time", Instant, "when it started").null("the trace has no start time"),
        column("time_ns", Whole, "time since the start of the session")
            .unit("ns")
            .layout(Layout::Delta),
        PROCESS,
        column("number", Whole, "its number in the process, from 1"),
        column("generation", Small, "the generation it collected: 0, 1 or 2"),
        column("reason", Text, "`AllocSmall`, `Induced` …"),
        column("type", Text, "`NonConcurrentGC`, `BackgroundGC`, `ForegroundGC`"),
        column("duration_ns", Whole, "from its start to its end")
            .unit("ns")
            .null("its start or end is missing"),
        column("pause_ns", Whole, "how long all threads were paused for it").unit("ns"),
        column("pauses", Small, "number of its pauses"),
        column("suspend_ns", Whole, "the part of its pauses before all threads were suspended")
            .unit("ns"),
        column("since_last_ns", Whole, "from the start of the collection before it")
            .unit("ns")
            .null("it is the first"),
        column("is_complete", Flag, "whether start, end and a pause are in the trace"),
        column("heap_before_bytes", Whole, "size of the heap when it started")
            .unit("bytes")
            .null("not recorded"),
        column("heap_after_bytes", Whole, "size of the heap after it")
            .unit("bytes")
            .null("not recorded"),
        column("heap_peak_bytes", Whole, "largest size while it ran")
            .unit("bytes")
            .null("not recorded"),
        column("promoted_bytes", Whole, "what survived in the collected generations")
            .unit("bytes")
            .null("not recorded"),
        column(
            "survival_percent",
            Real,
            "`promoted_bytes` as a share of what the collected generations held",
        )
        .unit("%")
        .null("not recorded"),
        column("fragmentation_bytes", Whole, "free space within the generations")
            .unit("bytes")
            .null("not recorded"),
        column("fragmentation_percent", Real, "`fragmentation_bytes` as a share of the heap")
            .unit("%")
            .null("not recorded"),
        column("allocated_bytes", Whole, "allocated since the collection before it")
            .unit("bytes")
            .null("not recorded"),
        column("allocated_bytes_per_second", Real, "`allocated_bytes` per second")
            .unit("bytes/s")
            .null("not recorded"),
        column("gen0_after_bytes", Whole, "size of generation 0 after it")
            .unit("bytes")
            .null("not recorded"),
        column("gen1_after_bytes", Whole, "size of generation 1 after it")
            .unit("bytes")
            .null("not recorded"),
        column("gen2_after_bytes", Whole, "size of generation 2 after it")
            .unit("bytes")
            .null("not recorded"),
        column("loh_after_bytes", Whole, "size of the large object heap after it")
            .unit("bytes")
            .null("not recorded"),
        column("poh_after_bytes", Whole, "size of the pinned object heap after it")
            .unit("bytes")
            .null("not recorded"),
        column("frozen_bytes", Whole, "size of frozen segments").unit("bytes"),
        column("pinned_objects", Whole, "objects that could not be moved").null("not recorded"),
        column("finalized_objects", Whole, "objects kept alive only by their finalizers")
            .null("not recorded"),
        column("finalized_bytes", Whole, "size of these objects")
            .unit("bytes")
            .null("not recorded"),
        column("handles", Whole, "handles in use").null("not recorded"),
        column("sync_blocks", Whole, "synchronisation blocks in use").null("not recorded"),
        column("heaps", Small, "number of heaps").null("not recorded"),
        column("is_compacting", Flag, "whether it compacted").null("not recorded"),
        column("is_concurrent", Flag, "whether it ran concurrently in the end")
            .null("not recorded"),
        column("memory_load_percent", Small, "memory in use on the machine")
            .unit("%")
            .null("not recorded"),
        column("mark_ns", Whole, "time spent marking").unit("ns").null("not recorded"),
        column("plan_ns", Whole, "time spent planning").unit("ns").null("not recorded"),
        column("relocate_ns", Whole, "time spent updating references")
            .unit("ns")
            .null("not recorded"),
        column("compact_ns", Whole, "time spent moving objects").unit("ns").null("not recorded"),
        column("sweep_ns", Whole, "time spent sweeping").unit("ns").null("not recorded"),
    ],
};

/// Table with a row for each allocation.
pub const ALLOCATIONS: Table = Table {
    name: "allocations",
    about: "One row per sampled allocation. Ticks and random samples both stand for all allocations: do not add them up together.",
    source: "runtime 10 (`tick`) and 303 (`sample`); `nettrace report alloc`",
    columns: &[
        INPUT,
        TIME,
        TIME_NS,
        PROCESS,
        THREAD,
        column("kind", Text, "`tick`: about every 100 KB; `sample`: at random, .NET 10"),
        column("heap", Text, "`small`, `large`, `pinned`, or the number that was recorded"),
        column("type", Text, "type of the object").null("not recorded (first version of the tick)"),
        column("objects", Whole, "number of objects that it stands for; 1 for a tick"),
        column("weight_bytes", Whole, "bytes that it stands for").unit("bytes"),
        column("object_bytes", Whole, "size of the object").unit("bytes").null("not recorded"),
        column("address", Unsigned, "address of the object").null("not recorded"),
        STACK,
    ],
};

/// Table with a row for each exception.
pub const EXCEPTIONS: Table = Table {
    name: "exceptions",
    about: "One row per exception that was thrown.",
    source: "runtime 80; `nettrace report exceptions`",
    columns: &[
        INPUT,
        TIME,
        TIME_NS,
        PROCESS,
        THREAD,
        column("type", Text, "type of the exception"),
        column("message", Text, "its message").null("it has none"),
        column("hresult", Small, "its HRESULT").null("the payload is broken"),
        column("address", Unsigned, "address of the instruction that threw it")
            .null("the payload is broken"),
        column("is_rethrown", Flag, "whether it was thrown again").null("the payload is broken"),
        column("is_nested", Flag, "whether it was thrown while another was handled")
            .null("the payload is broken"),
        column("has_inner", Flag, "whether it has an inner exception")
            .null("the payload is broken"),
        STACK,
    ],
};

/// Table with a row for each wait for a lock.
pub const CONTENTIONS: Table = Table {
    name: "contentions",
    about: "One row per wait for a lock, at the time when it started.",
    source: "runtime 81, 91; `nettrace report contention`",
    columns: &[
        INPUT,
        TIME,
        TIME_NS,
        PROCESS,
        THREAD,
        column(
            "duration_ns",
            Whole,
            "how long the thread waited; to the end of the trace if `is_open`",
        )
        .unit("ns"),
        column("lock_id", Unsigned, "identifies the lock in its process")
            .null("before .NET 6, or the start is missing"),
        column("owner_thread_id", Whole, "OS id of the thread that held it").null("not recorded"),
        STACK,
        column(
            "is_open",
            Flag,
            "whether it still waited at the end of the trace, so that it took at least as long",
        ),
    ],
};

/// Table with a row for each compiled method.
pub const JIT: Table = Table {
    name: "jit",
    about: "One row for each time that a method was compiled.",
    source: "runtime 145, 141, 143, 283, 284; `methods` of `nettrace report jit --json`",
    columns: &[
        INPUT,
        column("time", Instant, "when compiling started; if that is missing, when it ended")
            .null("the trace has no start time"),
        column("time_ns", Whole, "time since the start of the session")
            .unit("ns")
            .layout(Layout::Delta),
        PROCESS,
        THREAD,
        column("name", Text, "`Namespace.Type.Method(arguments)`"),
        column("module", Text, "short name of its module; empty if unknown"),
        column("tier", Text, "`QuickJitted`, `OptimizedTier1` …; `Unknown` if the end is missing"),
        column("il_bytes", Whole, "size of its IL").unit("bytes").null("not recorded"),
        column("native_bytes", Whole, "size of its code").unit("bytes").null("not recorded"),
        column("duration_ns", Whole, "time spent compiling")
            .unit("ns")
            .null("start or end is missing"),
        column("is_background", Flag, "whether a background thread compiled it"),
        column("is_r2r_rejected", Flag, "whether its precompiled code was rejected"),
        column("is_complete", Flag, "whether start and end are in the trace"),
    ],
};

/// Table with a row for each value of a counter.
pub const COUNTERS: Table = Table {
    name: "counters",
    about: "One row per value of a counter, at the time when it was published.",
    source: "`EventCounters` of any provider, `System.Diagnostics.Metrics`; `nettrace report counters --json`",
    columns: &[
        INPUT,
        TIME,
        TIME_NS,
        PROCESS,
        column("provider", Text, "provider of the counter, or meter"),
        column("name", Text, "name of the counter or instrument"),
        column("display_name", Text, "its display name; empty if it has none"),
        column(
            "kind",
            Text,
            "`mean`, `increment`, `counter`, `up_down_counter` (added since the metrics session began), \
             `observable_up_down_counter` (the level), `gauge`, `histogram`",
        ),
        column("unit", Text, "its unit; may be empty"),
        column("tags", Text, "names and values of its tags, JSON object"),
        column("interval_s", Real, "length of the interval").unit("s").null("unknown"),
        column("value", Real, "the value").null("it is not finite"),
        column("total", Real, "the sum so far").null("no counter or increment"),
        column("count", Whole, "values in the interval").null("no mean or histogram"),
        column("sum", Real, "sum of the values in the interval").null("no histogram"),
        column("min", Real, "smallest value in the interval").null("no mean"),
        column("max", Real, "largest value in the interval").null("no mean"),
    ],
};

/// Table with a row for each activity.
pub const ACTIVITIES: Table = Table {
    name: "activities",
    about: "One row per activity: an operation with a start and a stop, such as a request.",
    source: "starts and stops of EventSources and of `Microsoft-Diagnostics-DiagnosticSource`; `nettrace report activities`",
    columns: &[
        INPUT,
        TIME,
        TIME_NS,
        PROCESS,
        column("thread_id", Whole, "OS id of the thread that it started on")
            .null("not in the trace"),
        column("end_thread_id", Whole, "OS id of the thread that it ended on")
            .null("not in the trace"),
        column("name", Text, "its name, equal for all activities of a kind"),
        column(
            "duration_ns",
            Whole,
            "from its start to its stop; to the end of the trace if `ends` is `open_at_end`",
        )
        .unit("ns")
        .null("start or stop is missing, and the duration is not recorded"),
        column(
            "ends",
            Text,
            "`known`, `loss_between`, `no_start`, `left`, `open_at_end`, `shared_stop`, `no_stop`",
        ),
        column("arguments", Text, "its fields, JSON object"),
        column(
            "key",
            Text,
            "unique in the trace: its id, or its name if it has none, `@`, and `time_ns` of its start event",
        ),
    ],
};

/// Table with a row for each log message.
pub const LOGS: Table = Table {
    name: "logs",
    about: "One row per message.",
    source: "`Microsoft-Extensions-Logging`, EventSourceMessage; `nettrace report logs --json`",
    columns: &[
        INPUT,
        TIME,
        TIME_NS,
        THREAD,
        column("level", Text, "`trace`, `debug`, `information`, `warning`, `error`, `critical`"),
        column("logger", Text, "category of the logger, or the EventSource"),
        column("event", Text, "id and name of the event, as far as they are known"),
        column("message", Text, "the message"),
        column("exception", Text, "the exception: type, message and stack, in lines")
            .null("there is none"),
        column("arguments", Text, "its arguments, JSON").null("`message` has them in it"),
        column(
            "scopes",
            Text,
            "scopes around it, as far as they are known, outermost first, JSON array",
        ),
    ],
};

/// All tables, in the order of their documentation.
pub const TABLES: &[Table] = &[
    INPUTS,
    EVENTS,
    SAMPLES,
    STACKS,
    FRAMES,
    METHODS,
    THREADS,
    GCS,
    ALLOCATIONS,
    EXCEPTIONS,
    CONTENTIONS,
    JIT,
    COUNTERS,
    ACTIVITIES,
    LOGS,
    THREAD_TIMES,
];

impl Table {
    /// Returns the table that has this name.
    pub fn by_name(name: &str) -> Option<&'static Table> {
        TABLES.iter().find(|table| table.name == name)
    }
}
