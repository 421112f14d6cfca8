//! Converters: traces in the formats of other tools.
//!
//! A format is a file in this folder and one row in [`FORMATS`]. The shared work is done
//! by the driver ([`Analysis`](crate::Analysis)): it weighs samples, matches starts with
//! stops, and resolves names.
//!
//! | call | when | what |
//! |---|---|---|
//! | [`Convert::event`] | for each event, in time order, if the converter [wants](Convert::wants_events) events | for timelines: read it with the [views](nettrace_parser::view) |
//! | [`Convert::mark`] | for each span, instant and counter value, if the converter [wants](Convert::wants_marks) them | starts and stops, already matched |
//! | [`Convert::sample`] | for each sample that passes the filter, as soon as its weight is known, unless the converter [declines](Convert::wants_samples) | kind, thread, stack, weight |
//! | [`Convert::finish`] | once, at the end | all names, and the aggregated samples; write everything that is left |
//!
//! Samples of one kind and thread are passed in time order. A CPU sample is passed when
//! the thread's next sample is known, so it comes later than events and samples of other
//! threads with the same time.
//!
//! Names are only known at the end, because runtimes list methods when a session ends. So
//! a converter keeps handles, which are numbers, and resolves them in `finish` with
//! [`Resolved::selected`], which also applies the filter's conditions on frames and
//! states.
//!
//! The output depends only on the trace and the options: not on the current time, nor on
//! the order of hash tables.

mod chromium;
mod cpuprofile;
mod dominator_paths;
mod encode;
mod events;
#[cfg(feature = "firefox")]
mod firefox;
#[cfg(feature = "firefox")]
mod firefox_frames;
mod folded;
mod gcdump;
mod heap_dump;
mod heapprofile;
mod heapsnapshot;
mod lanes;
mod nesting;
mod output;
mod perfetto;
#[cfg(feature = "gzip")]
mod pprof;
mod roots;
mod speedscope;
mod states;
mod svg;

use output::Output;

use chromium::Chromium;
use cpuprofile::CpuProfile;
use events::Events;
#[cfg(feature = "firefox")]
use firefox::Firefox;
use folded::Folded;
use heapprofile::HeapProfile;
use perfetto::Perfetto;
#[cfg(feature = "gzip")]
use pprof::Pprof;
use speedscope::Speedscope;
use svg::Svg;

use crate::model::{
    Call, FrameHandle, Kind, Model, Profile, ProfileKey, Resolved, Sample, ThreadHandle,
    TimelineMark,
};
use nettrace_parser::Event;
use std::fmt;
use std::io::{self, Write};

/// A converter: it receives the data of a trace and writes it in a format. See the [module](self).
///
/// Converters are `Send`, so that an [`Analysis`](crate::Analysis) with its converters can be moved
/// to another thread.
pub trait Convert: Send {
    /// Returns whether [`Convert::sample`] should be called. Converters that only need sums can
    /// use the profile that [`Convert::finish`] receives.
    fn wants_samples(&self) -> bool {
        true
    }

    /// Returns whether consecutive CPU samples of a thread with the same stack and mode may be
    /// passed as one. That one has the time of the first, the number of samples, and the sum of
    /// their weights. This makes reading faster.
    fn takes_runs(&self) -> bool {
        false
    }

    /// Receives a sample: a stack with a weight. Implementations ignore kinds of samples that the
    /// format does not show.
    ///
    /// # Errors
    /// If writing fails.
    fn sample(&mut self, sample: &Sample, model: &Model) -> Result<(), ConvertError> {
        let _ = (sample, model);
        Ok(())
    }

    /// Returns whether [`Convert::event`] should be called. Reading is much faster if no
    /// converter wants events.
    fn wants_events(&self) -> bool {
        false
    }

    /// Returns whether [`Convert::event`] should be called only for events whose time, thread and
    /// process pass the filter. Converters that need one event to interpret another need
    /// all events.
    fn takes_filtered_events(&self) -> bool {
        false
    }

    /// Notes that no sample, mark or event follows. Returns whether the converter is done: then
    /// [`Convert::finish`] is not called, for which names of frames must be known.
    fn is_done(&mut self) -> bool {
        false
    }

    /// Receives an event, regardless of the filter (unless [`Convert::takes_filtered_events`]),
    /// after `model` has been updated with it. `thread` is the thread that the event is
    /// about.
    ///
    /// # Errors
    /// If writing fails.
    fn event(
        &mut self,
        event: &Event<'_>,
        thread: ThreadHandle,
        model: &Model,
    ) -> Result<(), ConvertError> {
        let _ = (event, thread, model);
        Ok(())
    }

    /// Returns whether [`Convert::mark`] should be called.
    fn wants_marks(&self) -> bool {
        false
    }

    /// Receives a span that has ended, an instant, or a counter's value, if its time, thread and
    /// process pass the filter. Instants and counters are passed in time order, spans in
    /// the order of their ends.
    ///
    /// # Errors
    /// If writing fails.
    fn mark(&mut self, mark: &TimelineMark, model: &Model) -> Result<(), ConvertError> {
        let _ = (mark, model);
        Ok(())
    }

    /// Ends the output: the trace is over, and names are known now. Implementations write
    /// everything that is left, and flush the output. `profile` contains all samples that passed
    /// the filter, of every kind that was collected, aggregated.
    ///
    /// # Errors
    /// If writing fails.
    fn finish(
        self: Box<Self>,
        resolved: &Resolved<'_>,
        profile: &Profile,
    ) -> Result<(), ConvertError>;
}

/// Options for a converter. A format ignores options that do not apply to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// Kinds of samples to show. If there are none, [`Format::kinds`] are shown. A format that
    /// shows a single kind shows the first one that the trace has.
    pub kinds: Vec<Kind>,
    /// Whether the thread is added as the outermost frame of each stack. For the formats folded and
    /// svg.
    pub is_by_thread: bool,
    /// Whether the number of samples is shown instead of their weight. For the format folded.
    pub counts_samples: bool,
    /// Title of the output, such as the name of the trace's file.
    pub title: String,
    /// Number of the heap dump to show, counting from 1, for [`Kind::Heap`] and formats of heap
    /// dumps. `None` stands for [`HeapDump::usual`](crate::heap::HeapDump::usual).
    pub dump: Option<usize>,
    /// Whether the output is compressed with gzip, which needs the feature `gzip`. Some formats are
    /// always compressed.
    pub is_gzip: bool,
    /// Whether an apostrophe precedes texts that a spreadsheet would run as formulas. For the
    /// format csv.
    pub is_csv_safe: bool,
}

impl ConvertOptions {
    /// Returns the kinds to show: [`ConvertOptions::kinds`], or `default` if it is empty.
    pub(crate) fn kinds_or(&self, default: &[Kind]) -> Vec<Kind> {
        if self.kinds.is_empty() { default.to_vec() } else { self.kinds.clone() }
    }
}

/// Returns the kinds among `kinds` that the trace has. If two kinds show the same thing, returns only one
/// of them (`Kind::is_represented`).
///
/// # Errors
/// If the trace has none of the kinds.
pub fn shown_kinds(kinds: &[Kind], profile: &Profile) -> Result<Vec<Kind>, ConvertError> {
    let has = |kind| kinds.contains(&kind) && profile.has(kind);
    let is_shown = |kind: &Kind| has(*kind) && !kind.is_represented(has);
    let shown: Vec<Kind> = kinds.iter().copied().filter(is_shown).collect();
    if shown.is_empty() {
        return Err(ConvertError::NothingToShow {
            wanted: kinds.first().map_or("samples", |kind| kind.name()),
        });
    }
    Ok(shown)
}

/// Returns the first kind that [`shown_kinds`] returns, for formats that show a single kind.
///
/// # Errors
/// If the trace has none of the kinds.
pub(crate) fn first_kind(kinds: &[Kind], profile: &Profile) -> Result<Kind, ConvertError> {
    let shown = shown_kinds(kinds, profile)?;
    shown.first().copied().ok_or(ConvertError::NothingToShow { wanted: "samples" })
}

/// Returns a stack's calls, root first. The label, which is an allocated or thrown type or `(still
/// waiting)`, follows as if it had been called, because formats have no other place for it.
pub(crate) fn labelled<'f>(
    key: &ProfileKey,
    frames: &'f [FrameHandle],
) -> impl Iterator<Item = Call> + use<'f> {
    let label = key.label.map(|label| Call::Label(key.kind, label));
    frames.iter().rev().map(|frame| Call::Frame(*frame)).chain(label)
}

/// Returns the text for the label of a sample: `new System.String`, `throw System.Exception`,
/// `(still waiting)`.
pub(crate) fn label_text(kind: Kind, label: &str) -> String {
    match kind {
        Kind::Contention | Kind::Waits => label.to_owned(),
        Kind::Exceptions => format!("throw {label}"),
        _ => format!("new {label}"),
    }
}

/// Function that makes a converter which writes to the given output.
type Make = for<'o> fn(Box<dyn Write + Send + 'o>, &ConvertOptions) -> Box<dyn Convert + 'o>;

/// An output format of conversions.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Format {
    /// Name by which users choose the format.
    pub name: &'static str,
    /// File extensions; the first is the usual one. `.gz` may follow.
    pub extensions: &'static [&'static str],
    /// Description in one line: what the format is, and which programs open it.
    pub about: &'static str,
    /// Kinds of samples that are shown if [`ConvertOptions::kinds`] is empty. An
    /// [`Analysis`](crate::Analysis) has to collect them.
    pub kinds: &'static [Kind],
    /// Whether the format can show any kind of samples that [`ConvertOptions::kinds`] requests.
    pub takes_kinds: bool,
    /// Whether the format is always compressed with gzip.
    pub is_always_gzip: bool,
    /// Whether the format is binary, so that a terminal cannot show it.
    pub is_binary: bool,
    /// Makes a converter to the format, which [`Analysis::add_format`](crate::Analysis::add_format)
    /// adds.
    pub(crate) make: Make,
}

/// Defaults for the rows of [`FORMATS`]: those of a text format that shows only its own kinds of
/// samples.
const TEXT: Format = Format {
    name: "",
    extensions: &[],
    about: "",
    kinds: &[],
    takes_kinds: false,
    is_always_gzip: false,
    is_binary: false,
    make: |out, options| Box::new(Events::ndjson(out, options)),
};

/// All formats, with a row for each.
pub const FORMATS: &[Format] = &[
    Format {
        name: "speedscope",
        extensions: &["speedscope.json"],
        about: "speedscope.app: sampled profiles, one for each thread and one for all",
        kinds: speedscope::KINDS,
        takes_kinds: true,
        make: |out, options| dominator_paths::or_samples(options, Speedscope::new(out, options)),
        ..TEXT
    },
    #[cfg(feature = "gzip")]
    Format {
        name: "pprof",
        extensions: &["pb", "pprof"],
        about: "go tool pprof, Pyroscope, Parca: aggregated stacks, with threads as labels",
        kinds: pprof::KINDS,
        takes_kinds: true,
        is_always_gzip: true,
        is_binary: true,
        make: |out, options| dominator_paths::or_samples(options, Pprof::new(out, options)),
        ..TEXT
    },
    Format {
        name: "folded",
        extensions: &["folded", "folded.txt", "collapsed"],
        about: "flamegraph.pl, inferno, speedscope: one line per stack",
        kinds: folded::KINDS,
        takes_kinds: true,
        make: |out, options| dominator_paths::or_samples(options, Folded::new(out, options)),
        ..TEXT
    },
    Format {
        name: "svg",
        extensions: &["svg"],
        about: "any browser: a flame graph with search and zoom in one file",
        kinds: svg::KINDS,
        takes_kinds: true,
        make: |out, options| dominator_paths::or_samples(options, Svg::new(out, options)),
        ..TEXT
    },
    Format {
        name: "cpuprofile",
        extensions: &["cpuprofile"],
        about: "Chrome DevTools, VS Code, speedscope: V8's CPU profile, one thread after the other",
        kinds: cpuprofile::KINDS,
        make: |out, options| Box::new(CpuProfile::new(out, options)),
        ..TEXT
    },
    Format {
        name: "heapprofile",
        extensions: &["heapprofile"],
        about: "Chrome DevTools, VS Code: V8's sampling heap profile, bytes allocated by stack",
        kinds: heapprofile::KINDS,
        make: |out, options| Box::new(HeapProfile::new(out, options)),
        ..TEXT
    },
    Format {
        name: "heapsnapshot",
        extensions: &["heapsnapshot"],
        about: "Chrome DevTools, VS Code, memlab: V8's heap snapshot, from a trace with a heap dump",
        kinds: &[],
        make: heapsnapshot::converter,
        ..TEXT
    },
    Format {
        name: "gcdump",
        extensions: &["gcdump"],
        about: "PerfView, Visual Studio, dotnet-gcdump: a heap graph, from a trace with a heap dump; module files are not read, so nested types may lack their outer types",
        kinds: &[],
        is_binary: true,
        make: gcdump::converter,
        ..TEXT
    },
    Format {
        name: "chromium",
        extensions: &["chromium.json", "trace.json"],
        about: "ui.perfetto.dev, chrome://tracing: what ran when, spans, counters, CPU samples",
        kinds: chromium::KINDS,
        make: |out, options| Box::new(Chromium::new(out, options)),
        ..TEXT
    },
    Format {
        name: "perfetto",
        extensions: &["pftrace", "perfetto-trace"],
        about: "ui.perfetto.dev, trace_processor: what ran when, spans, counters, CPU samples with stacks",
        kinds: perfetto::KINDS,
        is_binary: true,
        make: |out, options| Box::new(Perfetto::new(out, options)),
        ..TEXT
    },
    #[cfg(feature = "firefox")]
    Format {
        name: "firefox",
        extensions: &["firefox.json", "profile.json"],
        about: "profiler.firefox.com, samply load: samples, markers, counters, allocations",
        kinds: firefox::KINDS,
        make: |out, options| Box::new(Firefox::new(out, options)),
        ..TEXT
    },
    Format {
        name: "ndjson",
        extensions: &["ndjson", "jsonl"],
        about: "jq, DuckDB, scripts: all events, one JSON object a line, as nettrace events writes them",
        kinds: &[],
        make: |out, options| Box::new(Events::ndjson(out, options)),
        ..TEXT
    },
    Format {
        name: "csv",
        extensions: &["csv"],
        about: "spreadsheets, pandas, DuckDB: all events, one row each, the payload as JSON",
        kinds: &[],
        make: |out, options| Box::new(Events::csv(out, options)),
        ..TEXT
    },
];

impl Format {
    /// Returns the format with this name.
    pub fn by_name(name: &str) -> Option<&'static Format> {
        FORMATS.iter().find(|format| format.name.eq_ignore_ascii_case(name))
    }

    /// Returns the format for a file name, and whether the name asks for compression. The longest
    /// matching extension wins.
    ///
    /// ```
    /// use nettrace_analysis::convert::Format;
    /// let (format, is_gzip) = Format::by_path("out/trace.speedscope.json.gz").unwrap();
    /// assert_eq!((format.name, is_gzip), ("speedscope", true));
    /// ```
    pub fn by_path(path: &str) -> Option<(&'static Format, bool)> {
        let path = path.to_ascii_lowercase();
        let (stem, is_gzip) = match path.strip_suffix(".gz") {
            Some(stem) => (stem, true),
            None => (&*path, false),
        };
        let ends = |extension: &str| {
            stem.strip_suffix(extension)
                .is_some_and(|rest| rest.ends_with('.') || rest.ends_with(['/', '\\']))
        };
        let endings =
            FORMATS.iter().flat_map(|format| format.extensions.iter().map(move |e| (format, *e)));
        let (format, _) = endings.filter(|(_, e)| ends(e)).max_by_key(|(_, e)| e.len())?;
        Some((format, is_gzip))
    }
}

/// Reason why a conversion failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConvertError {
    /// The output could not be written.
    Write(io::Error),
    /// The trace has nothing that the format can show.
    NothingToShow {
        /// Description of the data that was requested.
        wanted: &'static str,
    },
    /// Any other error, such as an error of a converter outside this crate.
    ///
    /// ```
    /// use nettrace_analysis::convert::ConvertError;
    ///
    /// let number: Result<u8, _> =
    ///     "x".parse().map_err(|error: std::num::ParseIntError| ConvertError::Other(error.into()));
    /// assert_eq!(number.unwrap_err().to_string(), "invalid digit found in string");
    /// ```
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConvertError::Write(_) => f.write_str("cannot write"),
            ConvertError::NothingToShow { wanted } => {
                write!(f, "nothing to show: the trace has no {wanted}")
            }
            ConvertError::Other(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ConvertError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ConvertError::Write(error) => Some(error),
            ConvertError::NothingToShow { .. } => None,
            // The message of the inner error is already shown, so the cause is its source.
            ConvertError::Other(error) => error.source(),
        }
    }
}

impl From<io::Error> for ConvertError {
    fn from(error: io::Error) -> Self {
        ConvertError::Write(error)
    }
}
