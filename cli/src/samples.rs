//! From the options that `report` and `convert` share to an analysis of samples.

use crate::args::SampleArgs;
use crate::failure::Failure;
use crate::symbols;
use clap::ValueEnum;
use nettrace_analysis::{AnalysisOptions, EventSelector, FrameGroup, Kind, Model, NameStyle, Pattern, State};
use std::convert::Infallible;
use std::path::Path;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateArg {
    /// All there are
    All,
    /// Managed or native
    Running,
    /// Managed code ran
    Managed,
    /// Native code ran, or something blocked that is not known to wait
    Native,
    /// A method that is known to wait was innermost
    Waiting,
}

impl StateArg {
    fn states(self) -> &'static [State] {
        match self {
            StateArg::All => &State::ALL,
            StateArg::Running => &State::RUNNING,
            StateArg::Managed => &[State::Managed],
            StateArg::Native => &[State::Native],
            StateArg::Waiting => &[State::Waiting],
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum NameStyleArg {
    /// Type.Method
    Short,
    /// Module!Namespace.Type.Method
    Full,
    /// Module!Namespace.Type.Method(arguments)
    #[default]
    Signature,
}

/// What to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KindArg {
    Known(&'static [Kind]),
    Event(String),
}

impl FromStr for KindArg {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let text_of = if text.eq_ignore_ascii_case("allocations") { "alloc" } else { text };
        let known = KINDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text_of));
        Ok(known.map_or_else(|| KindArg::Event(text.to_owned()), |(_, kinds)| KindArg::Known(kinds)))
    }
}

/// What `--kind` knows by name.
pub(crate) const KINDS: &[(&str, &[Kind])] = &[
    ("cpu", &[Kind::Cpu]),
    ("alloc", &[Kind::AllocationSamples, Kind::AllocationTicks]),
    ("exceptions", &[Kind::Exceptions]),
    ("contention", &[Kind::Contention]),
    ("waits", &[Kind::Waits]),
    ("threads", &[Kind::ThreadStarts]),
    ("off-cpu", &[Kind::OffCpu]),
];

impl KindArg {
    pub(crate) fn kinds(&self) -> &'static [Kind] {
        match self {
            KindArg::Known(kinds) => kinds,
            KindArg::Event(_) => &[Kind::Event],
        }
    }

    pub(crate) fn event_name(&self) -> Option<&str> {
        match self {
            KindArg::Known(_) => None,
            KindArg::Event(name) => Some(name),
        }
    }

    pub(crate) fn selector(&self, weight: Option<&str>) -> Option<EventSelector> {
        let name = self.event_name()?;
        Some(EventSelector::new(name).weight(weight.unwrap_or_default()))
    }
}

/// `1`, `0.5`, `2%`.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("expected a percentage, such as 1 or 0.5%".to_owned()),
    }
}

/// `REGEX=NAME`, or PerfView's `REGEX->NAME`. An expression may have `=` in it, a name may not.
pub(crate) fn group(text: &str) -> Result<FrameGroup, String> {
    let parts = text.rsplit_once("->").or_else(|| text.rsplit_once('='));
    let Some((pattern, name)) = parts.filter(|(pattern, name)| !pattern.is_empty() && !name.is_empty())
    else {
        return Err(r"expected an expression and a name, such as '^MyApp\.Json=JSON'".to_owned());
    };
    let pattern: Pattern = pattern.parse().map_err(|error: regex::Error| error.to_string())?;
    Ok(FrameGroup::new(pattern, name))
}

/// The options of an analysis that users choose.
pub(crate) fn options(args: &SampleArgs) -> AnalysisOptions {
    let mut options = AnalysisOptions::new();
    let filter = &mut options.filter;
    filter.threads.clone_from(&args.thread);
    filter.processes.clone_from(&args.process);
    filter.from_nanos = args.time.and_then(crate::time_range::TimeRange::from);
    filter.to_nanos = args.time.and_then(crate::time_range::TimeRange::to);
    filter.frame.clone_from(&args.frame);
    filter.exclude.clone_from(&args.exclude);
    filter.states = args.state.iter().flat_map(|state| state.states()).copied().collect();
    options.folding.is_my_code = args.my_code;
    options.folding.is_async = args.fold_async;
    options.folding.is_recursion = args.fold_recursion;
    options.folding.groups.clone_from(&args.group);
    options.folding.folds.clone_from(&args.fold);
    options.folding.least_percent = args.fold_percent.unwrap_or(0.0);
    options.names.is_raw = args.raw_names;
    options.names.style = match args.names {
        NameStyleArg::Short => NameStyle::Short,
        NameStyleArg::Full => NameStyle::Full,
        NameStyleArg::Signature => NameStyle::Signature,
    };
    options
}

/// Gives a model the names that lie in files which the user named. To be called when the trace was read,
/// so that its processes are known. Gives what there is to say of files that were not used.
pub(crate) fn add_names(args: &SampleArgs, model: &mut Model) -> Result<Vec<String>, Failure> {
    for path in &args.perf_map {
        let bytes =
            std::fs::read(path).map_err(|error| Failure::open(&path.display().to_string(), path, &error))?;
        model.add_perf_map(process_of(path), &String::from_utf8_lossy(&bytes));
    }
    symbols::add(&args.symbols, model)
}

/// 1234 of `perf-1234.map`.
fn process_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("perf-")?.strip_suffix(".map")?.parse().ok()
}
