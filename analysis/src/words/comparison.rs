//! Sentences about a comparison of traces: its rows, verdict, gaps and doubts.

use crate::fact::comparison::{
    DiffChange, DiffKey, DiffNote, DiffRuns, DiffVerdict, Doubt, Measure, NotCompared,
    NotComparedReason, OldOrNew, Per, PerReason, Subject, Undecided, Unreliable,
};
use std::fmt;

impl fmt::Display for OldOrNew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OldOrNew::Old => "OLD",
            OldOrNew::New => "NEW",
        })
    }
}

impl fmt::Display for Per {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Per::Run => "run",
            Per::Second => "second",
            Per::Request => "request",
            Per::Operation => "operation",
            Per::Sample => "sample",
        })
    }
}

impl fmt::Display for PerReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PerReason::AskedFor => "asked for",
            PerReason::Benchmark => "BenchmarkDotNet measured each trace's operation",
            PerReason::WholeRuns => "each trace is a whole run of its program",
            PerReason::Requests => "each trace has requests",
            PerReason::NotAllWholeRuns => "not all of the traces are whole runs of their program",
            PerReason::PartsOfRun => {
                "the traces are parts of a run: no end of the process is in them"
            }
        })
    }
}

/// Names the value that a row compares, such as `collections of gen2`.
impl fmt::Display for DiffKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DiffKey { subject, name, measure } = self;
        match subject {
            Subject::Elapsed => f.write_str("time it takes"),
            Subject::Method => f.write_str(name),
            Subject::MethodTotal => write!(f, "{name} and what it calls"),
            Subject::Cpu => f.write_str("running time of all threads"),
            Subject::Type => write!(f, "new {name}"),
            Subject::Alloc => f.write_str("all allocations"),
            Subject::GcCount if self.is_total() => f.write_str("collections"),
            Subject::GcCount => write!(f, "collections of {name}"),
            Subject::GcPause if self.is_total() => f.write_str("pauses of collections, together"),
            Subject::GcPause => write!(f, "pause of a collection, {name}"),
            Subject::Exception => write!(f, "throw {name}"),
            Subject::Exceptions => f.write_str("exceptions"),
            Subject::Contention if self.is_total() => f.write_str("waiting for locks"),
            Subject::Contention => write!(f, "waiting for locks in {name}"),
            Subject::ContentionCount => f.write_str("waits for locks"),
            Subject::Waits if self.is_total() => f.write_str("waiting for handles"),
            Subject::Waits => write!(f, "waiting for handles in {name}"),
            Subject::OpenWaits => f.write_str("waits that are not over at the end"),
            Subject::Deadlocks => f.write_str("deadlocks"),
            Subject::Requests => write!(f, "HTTP requests, {name}"),
            Subject::RequestPath => write!(f, "requests {name}"),
            Subject::Sql => f.write_str("SQL commands"),
            Subject::SqlStatement => write!(f, "SQL {name}"),
            Subject::PoolThreads => f.write_str("largest number of pool threads"),
            Subject::Jit => f.write_str("compiling"),
            Subject::JitMethods => f.write_str("methods compiled"),
            Subject::Startup => f.write_str(match measure {
                Measure::Program => {
                    "start of the process until the program's own assembly is loaded"
                }
                Measure::FirstRequest => "start of the process until the first request is answered",
                Measure::Jit => "compiling in the first second of the process",
                Measure::JitMethods => "methods compiled in the first second of the process",
                Measure::Assemblies => "assemblies loaded in the first second of the process",
                _ => name,
            }),
            Subject::Counter => write!(f, "counter {name}"),
        }
    }
}

/// Writes which side lacks a subject, and why: `allocations: only in OLD`.
impl fmt::Display for NotCompared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotCompared { subject, side, reason } = self;
        match reason {
            NotComparedReason::NotRecorded { rows } => {
                let other = side.other();
                match subject {
                    Subject::Counter => write!(f, "{rows} counters: only in {other}"),
                    subject => write!(f, "{}: only in {other}", recorded(*subject)),
                }
            }
            NotComparedReason::MethodsWithoutNames => write!(
                f,
                "{}: methods have no names in {side}, so threads that wait look busy",
                recorded(*subject)
            ),
            NotComparedReason::ModuleWithoutNames { module } => write!(
                f,
                "methods of {module}: they have names on one side only, so the module is one row"
            ),
        }
    }
}

/// Returns the name of what must be recorded to compare a subject.
fn recorded(subject: Subject) -> &'static str {
    match subject {
        Subject::Elapsed => "the time of whole runs",
        Subject::Method | Subject::MethodTotal | Subject::Cpu => "CPU samples",
        Subject::Type | Subject::Alloc => "allocations",
        Subject::GcCount | Subject::GcPause => "collections",
        Subject::Exception | Subject::Exceptions => "exceptions",
        Subject::Contention | Subject::ContentionCount | Subject::Deadlocks => "waits for locks",
        Subject::Waits | Subject::OpenWaits => "waits",
        Subject::Requests | Subject::RequestPath => "HTTP requests",
        Subject::Sql | Subject::SqlStatement => "SQL commands",
        Subject::PoolThreads => "the thread pool",
        Subject::Jit | Subject::JitMethods => "compiled methods",
        Subject::Startup => "the start of the process",
        Subject::Counter => "counters",
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::FewValues { min_values } => {
                write!(f, "fewer than {min_values} values are no sample")
            }
            Doubt::MayBeUnnamed { side } => {
                write!(f, "it may be among the frames of {side} that have no name")
            }
            Doubt::EventsLost { side, events } => {
                write!(f, "{events} events were lost in {side}, which may explain it")
            }
        }
    }
}

impl fmt::Display for DiffNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiffNote::EventsLost { side, events, rows } => {
                let lost = Doubt::EventsLost { side: *side, events: *events };
                write!(f, "{lost}: {rows} rows are not judged")
            }
            DiffNote::UnevenLoad => f.write_str(
                "the load is uneven: half of the running time is in a quarter of a trace",
            ),
            DiffNote::Burst { key } => {
                write!(f, "{key}: too bursty to judge from one trace each")
            }
        }
    }
}

impl fmt::Display for Undecided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undecided::NotCompared(not_compared) => not_compared.fmt(f),
            Undecided::NoData => f.write_str("neither side has data for it"),
            Undecided::Doubted { doubt } => doubt.fmt(f),
            Undecided::OneRun => f.write_str(
                "one run on a side does not show how much runs differ: record three or more of each",
            ),
        }
    }
}

impl fmt::Display for Unreliable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreliable::NothingCompared => f.write_str("nothing could be compared"),
            Unreliable::NotCompared(not_compared) => not_compared.fmt(f),
        }
    }
}

/// Writes the result in one sentence.
impl fmt::Display for DiffVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiffVerdict::SameTrace => f.write_str("OLD and NEW are the same trace"),
            DiffVerdict::NothingLarge { elapsed, largest } => {
                match elapsed {
                    Some(change) => write!(f, "The program takes {}, but with", longer(change))?,
                    None => f.write_str("With")?,
                }
                f.write_str(" one run each these may be differences between runs")?;
                match largest {
                    None => f.write_str(", and none is large"),
                    Some(DiffChange { key, change_percent: Some(change), .. }) => {
                        write!(f, "; the largest: {key}, {change:+.1} %")
                    }
                    Some(DiffChange { key, .. }) => write!(f, "; the largest: {key}, new"),
                }
            }
            DiffVerdict::NothingCompared => f.write_str("Nothing could be compared"),
            DiffVerdict::NothingChanged { detectable_percent: Some(percent), runs } => write!(
                f,
                "Nothing changed by more than about {percent:.0} %, which {runs} would show"
            ),
            DiffVerdict::NothingChanged { detectable_percent: None, .. } => {
                f.write_str("Nothing that was compared changed")
            }
            DiffVerdict::Changed { first, per, more, elapsed, has_runs } => {
                match (first.key.subject, per) {
                    (Subject::Elapsed, Per::Operation) => {
                        write!(f, "The operation takes {}", longer(first))?;
                    }
                    (Subject::Elapsed, _) => write!(f, "The program takes {}", longer(first))?,
                    _ => match first.change_percent {
                        Some(change) => write!(f, "{}: {change:+.1} %", first.key)?,
                        None => write!(f, "{}: new", first.key)?,
                    },
                }
                if let Some(change) = elapsed {
                    write!(f, "; it takes {}, which may be chance", longer(change))?;
                }
                match more {
                    0 => {}
                    1 => f.write_str("; one more finding")?,
                    more => write!(f, "; {more} more findings")?,
                }
                if !has_runs {
                    f.write_str(" (one run each: only what is large by experience is a finding)")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for DiffRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DiffRuns { old, new, are_iterations: true } => write!(f, "{old} and {new} iterations"),
            DiffRuns { old, new, .. } if old == new => write!(f, "{old} runs each"),
            DiffRuns { old, new, .. } => write!(f, "{old} and {new} runs"),
        }
    }
}

/// Returns the change of a time, such as `13.2 % longer` or `5.0 % less time`.
fn longer(change: &DiffChange) -> String {
    match change.change_percent {
        Some(change) if change >= 0.0 => format!("{change:.1} % longer"),
        Some(change) => format!("{:.1} % less time", -change),
        None => "longer".to_owned(),
    }
}
