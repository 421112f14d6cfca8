//! `nettrace convert`: a trace's stacks in other tools' formats.

mod kinds;
mod named_file;
mod target;

use crate::analysed::Analysed;
use crate::args::{ConvertArgs, UnitArg};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::new_file::{self, NewFile, Pending, Unfinished};
use crate::printable::PrintableText;
use crate::samples::AnalysisArgs;
use named_file::{NamedFile, fault};
use nettrace_analysis::convert::{ConvertError, ConvertOptions, FORMATS, Format};
use nettrace_analysis::{Analysis, AnalysisError, Kind};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use target::targets;
pub(super) use target::{Target, beside, by_name};

pub(super) fn run(args: &ConvertArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let chosen = |target: &Target| target.path.clone().filter(|_| target.is_chosen);
    write(args, context, |targets, context| {
        for path in targets.iter().filter_map(chosen) {
            context.messages.note(&format!("wrote {}", path.display()));
        }
    })
}

/// Converts. `written` is called when all files are there.
pub(super) fn write(
    args: &ConvertArgs,
    context: &mut Context<'_>,
    written: impl FnOnce(&[Target], &mut Context<'_>),
) -> Result<Exit, Failure> {
    if args.format.iter().any(|format| format == "list") {
        context.out.write_all(formats().as_bytes())?;
        context.out.finish()?;
        return Ok(Exit::Fine);
    }
    let input = args.input()?;
    let targets = targets(args, &input.file)?;
    let maps = args.samples.names.perf_map.iter();
    let read: Vec<&Path> = [&input.file].into_iter().chain(maps).map(PathBuf::as_path).collect();
    targets
        .iter()
        .filter_map(|target| target.path.as_deref())
        .try_for_each(|path| new_file::check(path, args.force, &read))?;
    let is_terminal = context.stdout_is_terminal;
    let is_shown = |target: &&Target| is_terminal && target.path.is_none();
    if let Some(target) = targets.iter().filter(is_shown).find(|target| target.is_binary()) {
        return Err(Failure::Usage(format!(
            "{} is not text, and standard output is a terminal: give -o FILE, or pipe it",
            target.wanted.name
        )));
    }
    // An unreadable trace is reported before any output is created.
    let mut trace = Analysed::new(context.open(&input)?)?;
    let file = trace.file.clone();
    let mut options = args.samples.options();
    let kinds: Vec<Kind> = args.kind.iter().flat_map(|kind| kind.kinds()).copied().collect();
    options.events =
        args.kind.iter().filter_map(|kind| kind.selector(args.weight.as_deref())).collect();
    options.kinds = match kinds.is_empty() {
        false => kinds.clone(),
        true => targets.iter().flat_map(|target| target.wanted.kinds).copied().collect(),
    };
    let wanted = options.kinds.clone();
    let (mut made, mut unused) = (Vec::<Pending>::new(), Vec::new());
    let mut lacks = None;
    #[cfg(unix)]
    new_file::end_with_signals()?;
    let result = (|| {
        let mut analysis = Analysis::new(options);
        let mut stdout: Option<&mut (dyn Write + Send)> = Some(&mut context.out);
        for target in &targets {
            let out: Box<dyn Write + Send + '_> = match &target.path {
                Some(path) => {
                    let new = NewFile::create(path, args.force, &read, Unfinished::Removed)?;
                    let (file, pending) = new.split();
                    if made.iter().any(|other| other.is_same(&pending)) {
                        let message =
                            "is named more than once; each output needs its own file".to_owned();
                        return Err(Failure::input(path.display().to_string(), message));
                    }
                    made.push(pending);
                    Box::new(NamedFile::new(file, path))
                }
                None => match stdout.take() {
                    Some(stdout) if is_terminal => Box::new(PrintableText::new(stdout)),
                    Some(stdout) => Box::new(stdout),
                    None => Box::new(io::sink()),
                },
            };
            let mut options = ConvertOptions::new();
            options.kinds.clone_from(&kinds);
            options.is_by_thread = args.by_thread;
            options.counts_samples = args.unit == UnitArg::Samples;
            options.title = input
                .file
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            options.is_gzip = target.is_gzip;
            options.dump = args.dump;
            options.is_csv_safe = args.csv_safe.unwrap_or(context.has_user);
            analysis.add((target.wanted.make)(out, &options));
        }
        let read = |events: &mut _| analysis.read(events);
        trace.read_or(read, |file, error| match error {
            AnalysisError::Convert(error) => failure(file, error),
            error => Failure::input(file, error.to_string()),
        })?;
        unused = args.samples.add_names(analysis.model_mut())?;
        analysis.finish().map_err(|error| match error {
            // Where users name events, the name may be the mistake.
            ConvertError::NothingToShow { .. } if !args.event_names().is_empty() => Failure::input(file.clone(), format!(
                    "no event is {}, or none of them has a stack or passes the filters; `nettrace stats` lists the \
                     events of a trace, and how many have stacks",
                    args.event_names().join(" or ")
                )),
            error => {
                if matches!(error, ConvertError::NothingToShow { .. }) {
                    lacks = Some(error.to_string());
                }
                failure(&file, error)
            }
        })
    })();
    let finished = match result {
        Ok(finished) => finished,
        Err(failure) => {
            // A partial file could pass for a complete one.
            drop(made);
            let Some(lacks) = lacks else { return Err(failure) };
            let there = kinds::there_are(&input, &wanted, &targets, context);
            return Err(Failure::input(file, format!("{lacks}{there}")));
        }
    };
    made.into_iter().try_for_each(|file| file.finish().map(drop))?;
    context.out.finish()?;
    context.progress.end();
    written(&targets, context);
    for message in unused {
        context.messages.warning(&message);
    }
    if let Some(advice) = finished.resolved().coverage().advice() {
        context.messages.warning(&format!("{file}: {advice}"));
    }
    let ended = trace.ended();
    context.messages.losses(&file, &ended);
    Ok(context.conclude(&file, &ended, true))
}

/// The formats, a line each: name, endings, what opens it.
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
        error => Failure::input(file, error.to_string()),
    }
}
