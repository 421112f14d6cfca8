//! Finds and reads the traces of both sides of a comparison.

use crate::analysed::{Analysed, chosen_spans};
use crate::analysis_options::AnalysisArgs;
use crate::args::{DiffArgs, InputArgs};
use crate::context::Context;
use crate::failure::Failure;
use crate::input::{Ended, pattern};
use nettrace_analysis::diff::{self, MeasuredTrace, OldOrNew};
use nettrace_export::TimeRange;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Name of a trace that was read, and how it ended.
pub(super) struct Read {
    pub(super) name: String,
    pub(super) ended: Ended,
}

/// Traces of one side, with the values measured in each.
#[derive(Default)]
pub(super) struct Side {
    pub(super) reads: Vec<Read>,
    pub(super) traces: Vec<MeasuredTrace>,
}

/// Benchmark or file name that only one of two folders has.
#[derive(Serialize)]
pub(super) struct Alone {
    pub(super) name: String,
    /// Side that lacks the benchmark or file.
    side: OldOrNew,
}

impl fmt::Display for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: only in {}", self.name, self.side.other())
    }
}

impl Side {
    fn add(&mut self, (read, trace): (Read, MeasuredTrace)) {
        self.reads.push(read);
        self.traces.push(trace);
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.reads.iter().map(|read| read.name.clone()).collect()
    }
}

/// Both sides of one comparison. Two folders have a comparison for each benchmark or file name.
pub(super) struct Pair {
    /// Name of the benchmark or the files; `None` if there is only one comparison.
    pub(super) name: Option<String>,
    pub(super) old: Side,
    pub(super) new: Side,
}

/// Files or folders of both sides.
pub(super) enum ComparedFiles {
    Sides(Vec<PathBuf>, Vec<PathBuf>),
    Folders(PathBuf, PathBuf),
}

impl ComparedFiles {
    pub(super) fn from_args(args: &DiffArgs) -> Result<ComparedFiles, Failure> {
        match (&args.old_file, &args.new_file) {
            (Some(old), Some(new)) if old.is_dir() && new.is_dir() => {
                Ok(ComparedFiles::Folders(old.clone(), new.clone()))
            }
            (Some(old), Some(new)) => {
                Ok(ComparedFiles::Sides(vec![old.clone()], vec![new.clone()]))
            }
            _ if !args.old.is_empty() && !args.new.is_empty() => {
                Ok(ComparedFiles::Sides(pattern::files(&args.old)?, pattern::files(&args.new)?))
            }
            _ => Err(Failure::usage(
                "give two traces or two folders: nettrace diff OLD NEW, or --old A B --new C D",
            )),
        }
    }

    /// Returns the files that must not be overwritten.
    pub(super) fn all(&self) -> Vec<&Path> {
        match self {
            ComparedFiles::Sides(old, new) => old.iter().chain(new).map(PathBuf::as_path).collect(),
            ComparedFiles::Folders(..) => Vec::new(),
        }
    }

    /// Reads the files. Also returns the benchmarks and file names that only one folder has.
    pub(super) fn read(
        &self,
        args: &DiffArgs,
        context: &mut Context<'_>,
    ) -> Result<(Vec<Pair>, Vec<Alone>), Failure> {
        let (old, new) = match self {
            ComparedFiles::Folders(old, new) => return read_folders(old, new, args, context),
            ComparedFiles::Sides(old, new) => (old, new),
        };
        let mut pair = Pair { name: None, old: Side::default(), new: Side::default() };
        for file in old {
            pair.old.add(read_one(file, args, context)?);
        }
        for file in new {
            pair.new.add(read_one(file, args, context)?);
        }
        Ok((vec![pair], Vec::new()))
    }
}

fn read_folders(
    old: &Path,
    new: &Path,
    args: &DiffArgs,
    context: &mut Context<'_>,
) -> Result<(Vec<Pair>, Vec<Alone>), Failure> {
    let mut sides: BTreeMap<String, (Side, Side)> = BTreeMap::new();
    for (folder, is_new) in [(old, false), (new, true)] {
        let files = traces_in(folder)?;
        if files.is_empty() {
            let text = "no .nettrace, .nettrace.gz or .nettrace.zst file lies in it".to_owned();
            return Err(Failure::input(folder.display().to_string(), text));
        }
        for file in files {
            let (read, trace) = read_one(&file, args, context)?;
            let name = trace.benchmark.clone().unwrap_or_else(|| stem(&file));
            let (old, new) = sides.entry(name).or_default();
            if is_new { new.add((read, trace)) } else { old.add((read, trace)) }
        }
    }
    let (mut pairs, mut alone) = (Vec::new(), Vec::new());
    for (name, (old, new)) in sides {
        match (old.reads.is_empty(), new.reads.is_empty()) {
            (false, false) => pairs.push(Pair { name: Some(name), old, new }),
            (true, _) => alone.push(Alone { name, side: OldOrNew::Old }),
            (_, true) => alone.push(Alone { name, side: OldOrNew::New }),
        }
    }
    Ok((pairs, alone))
}

/// Returns the traces of a folder, sorted by path.
fn traces_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed =
        |error: std::io::Error| Failure::input(folder.display().to_string(), error.to_string());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if [".nettrace", ".nettrace.gz", ".nettrace.zst"].iter().any(|end| name.ends_with(end)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns a file's name without `.nettrace` and the ending of a compressed file.
fn stem(file: &Path) -> String {
    let name =
        file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    name.strip_suffix(".nettrace").unwrap_or(name).to_owned()
}

/// Returns the file and the time range of an argument such as `trace.nettrace@1s..2s`.
fn file_and_time(file: &Path) -> (PathBuf, Option<TimeRange>) {
    let whole = (file.to_owned(), None);
    if file.exists() {
        return whole;
    }
    let text = file.to_string_lossy();
    let Some((path, time)) = text.rsplit_once('@') else { return whole };
    time.parse().map_or(whole, |time| (PathBuf::from(path), Some(time)))
}

fn read_one(
    file: &Path,
    args: &DiffArgs,
    context: &mut Context<'_>,
) -> Result<(Read, MeasuredTrace), Failure> {
    let (path, time) = file_and_time(file);
    let mut options = args.samples.options();
    if let Some(time) = time {
        options.filter.from_nanos = time.from();
        options.filter.to_nanos = time.to();
    }
    let input = InputArgs { file: path, read: args.read };
    options.filter.spans = chosen_spans(args.samples.during(), None, &options, &input, context)?;
    let mut trace = Analysed::new(context.open(&input)?)?;
    options.thread_times = trace.thread_times(&input);
    let mut pass = diff::pass(options);
    trace.read(|events| pass.read(events))?;
    for text in args.samples.add_names(&input.file, pass.model_mut())? {
        context.messages.warning(&text);
    }
    let name = match time {
        Some(_) => file.display().to_string(),
        None => trace.file.clone(),
    };
    Ok((Read { name, ended: trace.ended() }, pass.finish().output))
}
