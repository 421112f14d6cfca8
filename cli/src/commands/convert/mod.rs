//! `nettrace convert`: writes a trace's stacks in other tools' formats.

mod kinds;
mod named_file;
mod target;

use crate::analysed::{Analysed, chosen_spans};
use crate::analysis_options::AnalysisArgs;
use crate::args::{ConvertArgs, UnitArg};
use crate::async_runs::add_async_runs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::failure::with_causes;
use crate::new_file::{self, NewFile, Pending, Unfinished};
use crate::printable::PrintableText;
use named_file::{NamedFile, fault};
use nettrace_analysis::convert::{ConvertError, ConvertOptions, FORMATS, Format};
use nettrace_analysis::fact::SeenFact;
use nettrace_analysis::model::LineCoverage;
use nettrace_analysis::{Analysis, AnalysisError, AnalysisOptions, Kind};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use target::targets;
pub(super) use target::{OutputTarget, beside, by_name, with_ending};

pub(super) fn run(args: &ConvertArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let chosen = |target: &OutputTarget| target.path.clone().filter(|_| target.is_default);
    write(args, context, |targets, context| {
        for path in targets.iter().filter_map(chosen) {
            context.messages.note(&format!("wrote {}", path.display()));
        }
    })
}

/// Converts a trace, and calls `written` when all files are complete.
pub(super) fn write(
    args: &ConvertArgs,
    context: &mut Context<'_>,
    written: impl FnOnce(&[OutputTarget], &mut Context<'_>),
) -> Result<Exit, Failure> {
    if args.format.iter().any(|format| format == "list") {
        return list(context);
    }
    let input = args.input()?;
    let targets = targets(args, &input.file)?;
    let maps = args.samples.names.perf_map.iter();
    let read: Vec<&Path> = [&input.file].into_iter().chain(maps).map(PathBuf::as_path).collect();
    let is_terminal = context.stdout_is_terminal;
    check(&targets, args.force, &read, is_terminal)?;
    let (mut options, kinds) = options(args);
    add_async_runs(&mut options, &input, context)?;
    // An unreadable trace is reported before any output is created.
    let mut trace = Analysed::new(context.open(&input)?)?;
    let file = trace.file.clone();
    options.filter.spans =
        chosen_spans(args.samples.during(), Some(&args.activity), &options, &input, context)?;
    options.thread_times = trace.thread_times(&input);
    let wanted = match kinds.is_empty() {
        false => kinds.clone(),
        true => targets.iter().flat_map(|target| target.wanted.kinds).copied().collect(),
    };
    let (mut made, mut unused) = (Vec::<Pending>::new(), Vec::new());
    let mut lacks = None;
    new_file::end_with_signals()?;
    let result = (|| {
        let mut analysis = Analysis::new(options);
        let mut stdout: Option<&mut (dyn Write + Send)> = Some(&mut context.out);
        for target in &targets {
            let out: Box<dyn Write + Send + '_> = match &target.path {
                Some(path) => Box::new(create(path, args.force, &read, &mut made)?),
                None => standard_output(stdout.take(), is_terminal),
            };
            let mut options = convert_options(args, &input.file, context.has_user);
            options.kinds.clone_from(&kinds);
            options.is_gzip = target.is_gzip;
            analysis.add_format(target.wanted, out, &options);
        }
        let read = |events: &mut _| analysis.read(events);
        trace.read_or(read, |file, error| match error {
            AnalysisError::Convert(error) => failure(file, error),
            error => Failure::input(file, with_causes(&error)),
        })?;
        unused = args.samples.add_names(&input.file, analysis.model_mut())?;
        // Frees the reader's memory before the results are written.
        let ended = trace.ended();
        drop(trace);
        analysis.finish().map(|finished| (finished, ended)).map_err(|error| {
            let is_nothing = matches!(error, ConvertError::NothingToShow { .. });
            if is_nothing && !args.event_names().is_empty() {
                return no_event(&file, &args.event_names());
            }
            lacks = is_nothing.then(|| error.to_string());
            failure(&file, error)
        })
    })();
    let (finished, ended) = match result {
        Ok(done) => done,
        Err(failure) => {
            // A partial file could pass for a complete one.
            drop(made);
            let Some(lacks) = lacks else { return Err(failure) };
            let there = kinds::there_are(&input, &wanted, &targets, context);
            return Err(Failure::input(file, format!("{lacks}{there}")));
        }
    };
    for file in made {
        context.out.add_written(file.finish()?.bytes());
    }
    context.out.finish()?;
    context.progress.end();
    written(&targets, context);
    let advice = finished.coverage().advice(ended.is_complete);
    let advice = advice.map(|advice| format!("{file}: {}", advice.text()));
    let lines = finished.lines().iter().flat_map(LineCoverage::advice).collect::<Vec<_>>();
    for message in unused.into_iter().chain(lines).chain(advice) {
        context.messages.warning(&message);
    }
    if finished.has_untold_samples() {
        context.messages.note(&format!("{file}: {}", SeenFact::Untold.text()));
    }
    context.messages.losses(&file, &ended);
    Ok(context.conclude(&file, &ended, true))
}

fn list(context: &mut Context<'_>) -> Result<Exit, Failure> {
    context.out.write_all(formats().as_bytes())?;
    context.out.finish()?;
    Ok(Exit::Fine)
}

/// Refuses outputs that cannot be written, before the trace is read.
fn check(
    targets: &[OutputTarget],
    is_forced: bool,
    read: &[&Path],
    is_terminal: bool,
) -> Result<(), Failure> {
    for target in targets {
        match &target.path {
            Some(path) => new_file::check(path, is_forced, read)?,
            None if is_terminal && target.is_binary() => {
                let text =
                    "is not text, and standard output is a terminal: give -o FILE, or pipe it";
                return Err(Failure::usage(format!("{} {text}", target.wanted.name)));
            }
            None => {}
        }
    }
    Ok(())
}

/// Creates an output file and adds it to `made`; refuses a file that is already there.
fn create(
    path: &Path,
    is_forced: bool,
    read: &[&Path],
    made: &mut Vec<Pending>,
) -> Result<NamedFile, Failure> {
    let (file, pending) = NewFile::create(path, is_forced, read, Unfinished::Removed)?.split();
    if made.iter().any(|other| other.is_same(&pending)) {
        let text = "is named more than once; each output needs its own file";
        return Err(Failure::input(path.display().to_string(), text));
    }
    made.push(pending);
    Ok(NamedFile::new(file, path))
}

/// Returns the output of a format without a file: standard output, or nothing if another format has
/// taken it.
fn standard_output(
    stdout: Option<&mut (dyn Write + Send)>,
    is_terminal: bool,
) -> Box<dyn Write + Send + '_> {
    match stdout {
        Some(stdout) if is_terminal => Box::new(PrintableText::new(stdout)),
        Some(stdout) => Box::new(stdout),
        None => Box::new(io::sink()),
    }
}

/// Returns the options of the analysis, and the kinds that the user named.
fn options(args: &ConvertArgs) -> (AnalysisOptions, Vec<Kind>) {
    let mut options = args.samples.options();
    options.has_sampler_pauses = args.sampler_pauses;
    let kinds: Vec<Kind> = args.kind.iter().flat_map(|kind| kind.kinds()).copied().collect();
    options.events =
        args.kind.iter().filter_map(|kind| kind.selector(args.weight.as_deref())).collect();
    options.kinds.clone_from(&kinds);
    (options, kinds)
}

fn convert_options(args: &ConvertArgs, file: &Path, has_user: bool) -> ConvertOptions {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut options = ConvertOptions::default();
    options.is_by_thread = args.by_thread;
    options.counts_samples = args.unit == UnitArg::Samples;
    options.title = name.unwrap_or_default();
    options.dump = args.dump;
    options.is_csv_safe = args.csv_safe.unwrap_or(has_user);
    options
}

/// Creates the failure for `--kind` with names of events of which the trace has none.
fn no_event(file: &str, names: &[&str]) -> Failure {
    let text = format!(
        "no event is {}, or none of them has a stack or passes the filters; `nettrace stats` lists the events of a \
         trace, and how many have stacks",
        names.join(" or ")
    );
    Failure::input(file, text)
}

/// Returns a line for each format: name, file extensions, and programs that open the file.
pub(crate) fn formats() -> String {
    let line = |format: &Format| {
        let endings: Vec<String> =
            format.extensions.iter().map(|ending| format!(".{ending}")).collect();
        format!("{:<12} {:<32} {}\n", format.name, endings.join(" "), format.about)
    };
    FORMATS.iter().map(line).collect()
}

fn failure(file: &str, error: ConvertError) -> Failure {
    match error {
        ConvertError::Write(error) => fault(error),
        error => Failure::input(file, with_causes(&error)),
    }
}
