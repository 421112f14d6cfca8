//! From the options that `report` and `convert` share to an analysis of samples.

use crate::args::{NameStyleArg, SampleArgs};
use crate::failure::Failure;
use crate::symbols;
use nettrace_analysis::{AnalysisOptions, Model, NameStyle};
use std::path::Path;

/// The options of an analysis that users choose.
pub(crate) fn options(args: &SampleArgs) -> AnalysisOptions {
    let mut options = AnalysisOptions::new();
    let filter = &mut options.filter;
    filter.threads.clone_from(&args.thread);
    filter.processes.clone_from(&args.process);
    filter.from_nanos = args.time.and_then(nettrace_export::TimeRange::from);
    filter.to_nanos = args.time.and_then(nettrace_export::TimeRange::to);
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

/// Gives a model the names that lie in files which the user named. To be called when the
/// trace was read, so that its processes are known. Gives what there is to say of files
/// that were not used.
pub(crate) fn add_names(args: &SampleArgs, model: &mut Model) -> Result<Vec<String>, Failure> {
    for path in &args.perf_map {
        let bytes = std::fs::read(path)
            .map_err(|error| Failure::open(&path.display().to_string(), path, &error))?;
        model.add_perf_map(process_of(path), &String::from_utf8_lossy(&bytes));
    }
    symbols::add(&args.symbols, model)
}

/// 1234 of `perf-1234.map`.
fn process_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("perf-")?.strip_suffix(".map")?.parse().ok()
}
