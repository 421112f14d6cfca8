//! Turns the options that reports and conversions share into options of an analysis.

use crate::args::{
    BeforeArgs, DuringArgs, FoldArgs, FoldedArgs, FollowArgs, MomentArgs, NameArgs, NameStyleArg,
    NamedArgs, NoArgs, OwnedArgs, SampleArgs, StackFilterArgs,
};
use crate::failure::Failure;
use crate::pdbs;
use nettrace_analysis::model::Model;
use nettrace_analysis::{AnalysisOptions, NameStyle};
use nettrace_export::TimeRange;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Options that choose what an analysis counts.
pub(crate) trait AnalysisArgs {
    /// Adds these arguments to the options of an analysis.
    fn add_to(&self, options: &mut AnalysisOptions);

    /// Returns how frames are named, for commands that show frames.
    fn names(&self) -> Option<&NameArgs> {
        None
    }

    /// Returns the options that limit what counts to the spans of activities, for commands that have
    /// them.
    fn during(&self) -> Option<&DuringArgs> {
        None
    }

    /// Returns the options of an analysis that the user chose.
    fn options(&self) -> AnalysisOptions {
        let mut options = AnalysisOptions::default();
        self.add_to(&mut options);
        options
    }

    /// Adds to a model the names from files that the user named, and returns messages about files
    /// that were not used. Call it when the trace has been read, so that its processes are known.
    fn add_names(&self, trace: &Path, model: &mut Model) -> Result<Vec<String>, Failure> {
        self.names().map_or_else(|| Ok(Vec::new()), |names| add_names(names, trace, model))
    }
}

impl AnalysisArgs for NoArgs {
    fn add_to(&self, _: &mut AnalysisOptions) {}
}

impl AnalysisArgs for MomentArgs {
    fn add_to(&self, options: &mut AnalysisOptions) {
        let filter = &mut options.filter;
        filter.threads.clone_from(&self.thread);
        filter.processes.clone_from(&self.process);
        filter.from_nanos = self.time.and_then(TimeRange::from);
        filter.to_nanos = self.time.and_then(TimeRange::to);
    }

    fn during(&self) -> Option<&DuringArgs> {
        Some(&self.during)
    }
}

impl<A: AnalysisArgs + clap::Args> AnalysisArgs for BeforeArgs<A> {
    fn add_to(&self, options: &mut AnalysisOptions) {
        self.others.add_to(options);
        options.filter.to_nanos = options.filter.to_nanos.or(self.before);
    }

    fn names(&self) -> Option<&NameArgs> {
        self.others.names()
    }

    fn during(&self) -> Option<&DuringArgs> {
        self.others.during()
    }
}

impl AnalysisArgs for NamedArgs {
    fn add_to(&self, options: &mut AnalysisOptions) {
        self.moments.add_to(options);
        self.stacks.add_to(options);
        self.names.add_to(options);
    }

    fn names(&self) -> Option<&NameArgs> {
        Some(&self.names)
    }

    fn during(&self) -> Option<&DuringArgs> {
        self.moments.during()
    }
}

impl AnalysisArgs for OwnedArgs {
    fn add_to(&self, options: &mut AnalysisOptions) {
        self.named.add_to(options);
        options.folding.my_code.clone_from(&self.my_code);
    }

    fn names(&self) -> Option<&NameArgs> {
        self.named.names()
    }

    fn during(&self) -> Option<&DuringArgs> {
        self.named.during()
    }
}

impl AnalysisArgs for FollowArgs {
    fn add_to(&self, options: &mut AnalysisOptions) {
        self.named.add_to(options);
        options.async_callers = self.async_callers;
    }

    fn names(&self) -> Option<&NameArgs> {
        self.named.names()
    }

    fn during(&self) -> Option<&DuringArgs> {
        self.named.during()
    }
}

impl AnalysisArgs for FoldedArgs {
    fn add_to(&self, options: &mut AnalysisOptions) {
        self.moments.add_to(options);
        self.stacks.add_to(options);
        self.folds.add_to(options);
        self.names.add_to(options);
    }

    fn names(&self) -> Option<&NameArgs> {
        Some(&self.names)
    }

    fn during(&self) -> Option<&DuringArgs> {
        self.moments.during()
    }
}

impl AnalysisArgs for SampleArgs {
    fn add_to(&self, options: &mut AnalysisOptions) {
        self.moments.add_to(options);
        self.stacks.add_to(options);
        self.folds.add_to(options);
        self.names.add_to(options);
        options.filter.states =
            self.state.iter().flat_map(|state| state.states()).copied().collect();
        options.folding.least_percent = self.fold_percent.unwrap_or(0.0);
    }

    fn names(&self) -> Option<&NameArgs> {
        Some(&self.names)
    }

    fn during(&self) -> Option<&DuringArgs> {
        self.moments.during()
    }
}

impl StackFilterArgs {
    fn add_to(&self, options: &mut AnalysisOptions) {
        options.filter.frame.clone_from(&self.frame);
        options.filter.exclude.clone_from(&self.exclude);
        options.cut_stacks = self.cut_stacks.how();
    }
}

impl FoldArgs {
    fn add_to(&self, options: &mut AnalysisOptions) {
        options.folding.is_my_code = self.my_code.is_some();
        options.folding.my_code = self.my_code.clone().flatten();
        options.folding.is_async = self.fold_async;
        options.folding.merges_recursion = self.fold_recursion;
        options.async_callers = self.async_callers;
        options.folding.groups.clone_from(&self.group);
        options.folding.folds.clone_from(&self.fold);
    }
}

impl NameArgs {
    fn add_to(&self, options: &mut AnalysisOptions) {
        options.lines = self.lines;
        options.names.is_raw = self.raw_names;
        options.names.style = match self.names {
            NameStyleArg::Short => NameStyle::Short,
            NameStyleArg::Full => NameStyle::Full,
            NameStyleArg::Signature => NameStyle::Signature,
        };
    }
}

fn add_names(args: &NameArgs, trace: &Path, model: &mut Model) -> Result<Vec<String>, Failure> {
    for path in &args.perf_map {
        let bytes = perf_map(path)
            .map_err(|error| Failure::open(&path.display().to_string(), path, &error))?;
        model.add_perf_map(process_of(path), &String::from_utf8_lossy(&bytes));
    }
    #[cfg(feature = "symbols")]
    let mut unused = crate::symbols::add(&args.symbols, model)?;
    #[cfg(not(feature = "symbols"))]
    let mut unused = match &*args.symbols {
        [] => Vec::new(),
        _ => vec![crate::failure::not_built("names of native code", "symbols")],
    };
    if args.lines {
        unused.extend(pdbs::add(&args.symbols, trace, model)?);
    }
    Ok(unused)
}

/// Reads a perf map. Refuses content that is no text with lines, before all of it is read, because
/// a device may never end.
fn perf_map(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let (mut bytes, mut begin) = (Vec::new(), file.take(MAX_LINE_BYTES));
    begin.read_to_end(&mut bytes)?;
    if bytes.contains(&0) || bytes.len() as u64 == MAX_LINE_BYTES && !bytes.contains(&b'\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a perf map"));
    }
    begin.into_inner().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Maximum length in bytes of the first line of a perf map; real ones have some hundred bytes.
const MAX_LINE_BYTES: u64 = 64 << 10;

/// Returns the process id in the name of a perf map: 1234 for `perf-1234.map`.
fn process_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("perf-")?.strip_suffix(".map")?.parse().ok()
}
