//! Converters: traces in the formats of other tools.
//!
//! A format is a file of its own and one row in [`FORMATS`]. What all share is done before: the
//! driver ([`Analysis`](crate::Analysis)) weighs samples, pairs what belongs together, finds names.
//!
//! | call | when | what |
//! |---|---|---|
//! | [`Convert::event`] | each event, in time order, if the converter [asks](Convert::wants_events) for them | for timelines: read it with the [views](nettrace_parser::view) |
//! | [`Convert::mark`] | each span, instant and counter value, if the converter [asks](Convert::wants_marks) for them | starts and stops, already paired |
//! | [`Convert::sample`] | each sample that the filter lets pass, as soon as its weight is known, unless the converter [declines](Convert::wants_samples) | kind, thread, stack, weight |
//! | [`Convert::finish`] | once, at the end | all names, and the samples summed up; write what is left |
//!
//! Samples of one kind and thread come in time order. A CPU sample comes when the thread's next one
//! is known, so it lags behind events and behind other threads.
//!
//! Names are known at the end only, because runtimes list methods at a session's end. So a converter
//! keeps handles, which are numbers, and asks for names in `finish`, through [`Resolved::selected`],
//! which also applies what the filter says about frames and states.
//!
//! Written bytes depend on the trace and the options alone: no clocks, no order of hash tables.

mod chromium;
mod cpuprofile;
mod dominator_paths;
mod encode;
mod events;
#[cfg(feature = "firefox")]
mod firefox;
mod folded;
mod heapprofile;
mod heapsnapshot;
mod lanes;
mod output;
mod perfetto;
#[cfg(feature = "gzip")]
mod pprof;
mod speedscope;
mod svg;

pub use chromium::Chromium;
pub use cpuprofile::CpuProfile;
pub use events::Events;
#[cfg(feature = "firefox")]
pub use firefox::Firefox;
pub use folded::Folded;
pub use heapprofile::HeapProfile;
pub use heapsnapshot::HeapSnapshot;
pub use output::Output;
pub use perfetto::Perfetto;
#[cfg(feature = "gzip")]
pub use pprof::Pprof;
pub use speedscope::Speedscope;
pub use svg::Svg;

use crate::model::{
    Call, FrameHandle, Kind, Model, Profile, ProfileKey, Resolved, Sample, ThreadHandle, TimelineMark,
};
use nettrace_parser::Event;
use std::fmt;
use std::io::{self, Write};

/// A converter: takes what a trace tells, writes a format. See the [module](self).
///
/// An [`Analysis`](crate::Analysis) with its converters may go to another thread, therefore converters are `Send`.
pub trait Convert: Send {
    /// Whether [`Convert::sample`] is to be called. What is needed of samples is often their sums, which
    /// [`Convert::finish`] is given.
    fn wants_samples(&self) -> bool {
        true
    }

    /// Whether CPU samples of a thread that follow each other with one stack and one mode may be given as
    /// one: with the time of the first, their number as its count, and the sum of their weights. A trace is
    /// read faster so.
    fn takes_runs(&self) -> bool {
        false
    }

    /// A sample: a stack with a weight. Others than those of the kinds that the format shows must
    /// be left alone.
    ///
    /// # Errors
    /// When it cannot be written.
    fn sample(&mut self, sample: &Sample, model: &Model) -> Result<(), ConvertError> {
        let _ = (sample, model);
        Ok(())
    }

    /// Whether [`Convert::event`] is to be called. A trace is read much faster if nobody asks for it.
    fn wants_events(&self) -> bool {
        false
    }

    /// Whether [`Convert::event`] is to be called only for events whose time, thread and process the filter lets pass.
    /// Those that learn from one event what another means need all.
    fn takes_filtered_events(&self) -> bool {
        false
    }

    /// An event, whatever the filter says (unless [`Convert::takes_filtered_events`]), after `model` has learned from it. `thread` is the one it
    /// is about.
    ///
    /// # Errors
    /// When it cannot be written.
    fn event(&mut self, event: &Event<'_>, thread: ThreadHandle, model: &Model) -> Result<(), ConvertError> {
        let _ = (event, thread, model);
        Ok(())
    }

    /// Whether [`Convert::mark`] is to be called.
    fn wants_marks(&self) -> bool {
        false
    }

    /// A span that has ended, something that happened, a counter's value; what the filter says about
    /// time, threads and processes is heeded. Instants and counters come in time order, spans in the
    /// order of their ends.
    ///
    /// # Errors
    /// When it cannot be written.
    fn mark(&mut self, mark: &TimelineMark, model: &Model) -> Result<(), ConvertError> {
        let _ = (mark, model);
        Ok(())
    }

    /// The end: names are known. Must write everything that is left and flush. `profile` has all samples
    /// that the filter let pass, of every kind that was collected, summed up.
    ///
    /// # Errors
    /// When it cannot be written.
    fn finish(self: Box<Self>, resolved: &Resolved<'_>, profile: &Profile) -> Result<(), ConvertError>;
}

/// What a converter is asked for. Each format heeds what it can.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// Kinds of samples to show; empty: the format's own choice, [`Format::kinds`]. A format that
    /// shows one kind shows the first that the trace has.
    pub kinds: Vec<Kind>,
    /// Puts the thread in front of each stack (folded, svg).
    pub is_by_thread: bool,
    /// Counts samples instead of weights (folded).
    pub counts_samples: bool,
    /// Title, such as the file's name.
    pub title: String,
    /// Which heap dump of the trace, from 1, for formats that show one, and for [`Kind::Heap`]; `None`: the first.
    pub dump: Option<usize>,
    /// Compresses with gzip (feature `gzip`). Formats that are always compressed are so without it.
    pub is_gzip: bool,
}

impl ConvertOptions {
    /// What the format shows by default, uncompressed.
    pub fn new() -> ConvertOptions {
        ConvertOptions::default()
    }

    /// The kinds to show, or what the format shows by default.
    pub fn kinds_or(&self, default: &[Kind]) -> Vec<Kind> {
        if self.kinds.is_empty() { default.to_vec() } else { self.kinds.clone() }
    }
}

/// Those of `kinds` that were met. Random allocation samples make ticks superfluous: both stand for
/// all allocations.
///
/// # Errors
/// When there are none.
pub fn shown_kinds(kinds: &[Kind], profile: &Profile) -> Result<Vec<Kind>, ConvertError> {
    let mut shown: Vec<Kind> = kinds.iter().copied().filter(|kind| profile.has(*kind)).collect();
    if shown.contains(&Kind::AllocationSamples) {
        shown.retain(|kind| *kind != Kind::AllocationTicks);
    }
    if shown.is_empty() {
        return Err(ConvertError::NothingToShow {
            wanted: kinds.first().map_or("samples", |kind| kind.name()),
        });
    }
    Ok(shown)
}

/// The first of [`shown_kinds`], for formats that show one.
///
/// # Errors
/// When there are none.
pub fn first_kind(kinds: &[Kind], profile: &Profile) -> Result<Kind, ConvertError> {
    let shown = shown_kinds(kinds, profile)?;
    shown.first().copied().ok_or(ConvertError::NothingToShow { wanted: "samples" })
}

/// A stack's calls, root first. Formats that have no place for what was allocated or thrown show it as if it
/// had been called.
pub(crate) fn labelled<'f>(
    key: &ProfileKey,
    frames: &'f [FrameHandle],
) -> impl Iterator<Item = Call> + use<'f> {
    let label = key.label.map(|label| Call::Label(key.kind, label));
    frames.iter().rev().map(|frame| Call::Frame(*frame)).chain(label)
}

/// `new System.String`, `throw System.Exception`.
pub(crate) fn label_text(kind: Kind, label: &str) -> String {
    let verb = if kind == Kind::Exceptions { "throw" } else { "new" };
    format!("{verb} {label}")
}

/// Makes a converter that writes to `out`.
pub type Make = for<'o> fn(Box<dyn Write + Send + 'o>, &ConvertOptions) -> Box<dyn Convert + 'o>;

/// A format.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Format {
    /// Name, as users type it.
    pub name: &'static str,
    /// Endings of file names, the first one the usual; `.gz` may follow.
    pub extensions: &'static [&'static str],
    /// What it is and what opens it, in one line.
    pub about: &'static str,
    /// Kinds of samples that it shows when [`ConvertOptions::kinds`] is empty; an
    /// [`Analysis`](crate::Analysis) has to collect them.
    pub kinds: &'static [Kind],
    /// Whether it heeds [`ConvertOptions::kinds`], of whatever kind they are.
    pub takes_kinds: bool,
    /// Whether it is compressed with gzip even if that is not asked for.
    pub is_always_gzip: bool,
    /// Makes the converter.
    pub make: Make,
}

/// All formats. One row each.
pub const FORMATS: &[Format] = &[
    Format {
        name: "speedscope",
        extensions: &["speedscope.json"],
        about: "speedscope.app: sampled profiles, one for each thread and one for all",
        kinds: speedscope::KINDS,
        takes_kinds: true,
        is_always_gzip: false,
        make: |out, options| dominator_paths::or_samples(options, Speedscope::new(out, options)),
    },
    #[cfg(feature = "gzip")]
    Format {
        name: "pprof",
        extensions: &["pb", "pprof"],
        about: "go tool pprof, Pyroscope, Parca: aggregated stacks, with threads as labels",
        kinds: pprof::KINDS,
        takes_kinds: true,
        is_always_gzip: true,
        make: |out, options| dominator_paths::or_samples(options, Pprof::new(out, options)),
    },
    Format {
        name: "folded",
        extensions: &["folded", "folded.txt", "collapsed"],
        about: "flamegraph.pl, inferno, speedscope: one line per stack",
        kinds: folded::KINDS,
        takes_kinds: true,
        is_always_gzip: false,
        make: |out, options| dominator_paths::or_samples(options, Folded::new(out, options)),
    },
    Format {
        name: "svg",
        extensions: &["svg"],
        about: "any browser: a flame graph with search and zoom in one file",
        kinds: svg::KINDS,
        takes_kinds: true,
        is_always_gzip: false,
        make: |out, options| dominator_paths::or_samples(options, Svg::new(out, options)),
    },
    Format {
        name: "cpuprofile",
        extensions: &["cpuprofile"],
        about: "Chrome DevTools, VS Code, speedscope: V8's CPU profile, one thread after the other",
        kinds: cpuprofile::KINDS,
        takes_kinds: false,
        is_always_gzip: false,
        make: |out, options| Box::new(CpuProfile::new(out, options)),
    },
    Format {
        name: "heapprofile",
        extensions: &["heapprofile"],
        about: "Chrome DevTools, VS Code: V8's sampling heap profile, bytes allocated by stack",
        kinds: heapprofile::KINDS,
        takes_kinds: false,
        is_always_gzip: false,
        make: |out, options| Box::new(HeapProfile::new(out, options)),
    },
    Format {
        name: "heapsnapshot",
        extensions: &["heapsnapshot"],
        about: "Chrome DevTools, VS Code, memlab: V8's heap snapshot, from a trace with a heap dump",
        kinds: &[],
        takes_kinds: false,
        is_always_gzip: false,
        make: |out, options| Box::new(HeapSnapshot::new(out, options)),
    },
    Format {
        name: "chromium",
        extensions: &["chromium.json", "trace.json"],
        about: "ui.perfetto.dev, chrome://tracing: what ran when, spans, counters, CPU samples",
        kinds: chromium::KINDS,
        takes_kinds: false,
        is_always_gzip: false,
        make: |out, options| Box::new(Chromium::new(out, options)),
    },
    Format {
        name: "perfetto",
        extensions: &["pftrace", "perfetto-trace"],
        about: "ui.perfetto.dev, trace_processor: what ran when, spans, counters, CPU samples with stacks",
        kinds: perfetto::KINDS,
        takes_kinds: false,
        is_always_gzip: false,
        make: |out, options| Box::new(Perfetto::new(out, options)),
    },
    #[cfg(feature = "firefox")]
    Format {
        name: "firefox",
        extensions: &["firefox.json", "profile.json"],
        about: "profiler.firefox.com, samply load: samples, markers, counters, allocations",
        kinds: firefox::KINDS,
        takes_kinds: false,
        is_always_gzip: false,
        make: |out, options| Box::new(Firefox::new(out, options)),
    },
    Format {
        name: "ndjson",
        extensions: &["ndjson", "jsonl"],
        about: "jq, DuckDB, scripts: all events, one JSON object a line, as nettrace events writes them",
        kinds: &[],
        takes_kinds: false,
        is_always_gzip: false,
        make: |out, options| Box::new(Events::ndjson(out, options)),
    },
    Format {
        name: "csv",
        extensions: &["csv"],
        about: "spreadsheets, pandas, DuckDB: all events, one row each, the payload as JSON",
        kinds: &[],
        takes_kinds: false,
        is_always_gzip: false,
        make: |out, options| Box::new(Events::csv(out, options)),
    },
];

impl Format {
    /// The format of a name.
    pub fn by_name(name: &str) -> Option<&'static Format> {
        FORMATS.iter().find(|format| format.name.eq_ignore_ascii_case(name))
    }

    /// The format that a file's name asks for, and whether it asks for compression: the longest
    /// ending that fits.
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
        let endings = FORMATS.iter().flat_map(|format| format.extensions.iter().map(move |e| (format, *e)));
        let (format, _) = endings.filter(|(_, e)| ends(e)).max_by_key(|(_, e)| e.len())?;
        Some((format, is_gzip))
    }
}

/// Why a conversion failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConvertError {
    /// The output could not be written.
    Write(io::Error),
    /// The trace has nothing that the format could show.
    NothingToShow {
        /// What was asked for.
        wanted: &'static str,
    },
    /// What a converter of somebody else fails with.
    ///
    /// ```
    /// use nettrace_analysis::convert::ConvertError;
    ///
    /// let number: Result<u8, _> = "x".parse().map_err(ConvertError::other);
    /// assert_eq!(number.unwrap_err().to_string(), "invalid digit found in string");
    /// ```
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl ConvertError {
    /// [`ConvertError::Other`] of any error, or of a text.
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ConvertError {
        ConvertError::Other(error.into())
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConvertError::Write(error) => write!(f, "cannot write: {error}"),
            ConvertError::NothingToShow { wanted } => write!(f, "nothing to show: the trace has no {wanted}"),
            ConvertError::Other(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ConvertError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ConvertError::Write(error) => Some(error),
            ConvertError::NothingToShow { .. } => None,
            // Its text is shown as our own, so what is behind it is its cause.
            ConvertError::Other(error) => error.source(),
        }
    }
}

impl From<io::Error> for ConvertError {
    fn from(error: io::Error) -> Self {
        ConvertError::Write(error)
    }
}
