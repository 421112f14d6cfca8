//! `nettrace convert`: a trace's stacks in other tools' formats.

use super::{Context, failed};
use crate::args::{ConvertArgs, UnitArg};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{nearest, samples};
use nettrace_analysis::convert::{ConvertError, ConvertOptions, FORMATS, Format};
use nettrace_analysis::{Analysis, AnalysisError, Kind};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// One file, or standard output, and what goes there.
struct Target {
    format: &'static Format,
    is_gzip: bool,
    /// `None`: standard output.
    path: Option<PathBuf>,
}

pub(super) fn run(args: &ConvertArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    if args.format.iter().any(|format| format == "list") {
        let out = context.out.buffer();
        for format in FORMATS {
            let endings: Vec<String> = format.extensions.iter().map(|ending| format!(".{ending}")).collect();
            writeln!(out, "{:<12} {:<32} {}", format.name, endings.join(" "), format.about)?;
        }
        context.out.finish()?;
        return Ok(Exit::Fine);
    }
    let targets = targets(args)?;
    let trace = context.open(&args.input)?;
    let file = trace.file;
    let mut events = trace.reader.time_ordered();
    // What cannot be read at all is said before anything is written.
    events.trace().map(drop).map_err(|error| Failure::read(&file, &error, 0))?;
    let mut options = samples::options(&args.samples);
    let kinds: Vec<Kind> = args.kind.iter().flat_map(|kind| kind.kinds()).copied().collect();
    options.events = args.kind.iter().filter_map(|kind| kind.selector(args.weight.as_deref())).collect();
    options.kinds = match kinds.is_empty() {
        false => kinds.clone(),
        true => targets.iter().flat_map(|target| target.format.kinds).copied().collect(),
    };
    let mut made = Vec::new();
    let result = (|| {
        let mut analysis = Analysis::new(options);
        let mut stdout: Option<&mut dyn Write> = Some(&mut context.out);
        for target in &targets {
            let out: Box<dyn Write + '_> = match &target.path {
                Some(path) => {
                    let file = create(path, args.force)?;
                    made.push(path.clone());
                    Box::new(file)
                }
                None => match stdout.take() {
                    Some(stdout) => Box::new(stdout),
                    None => {
                        return Err(Failure::Usage("only one format can go to standard output".to_owned()));
                    }
                },
            };
            let mut options = ConvertOptions::new();
            options.kinds.clone_from(&kinds);
            options.is_by_thread = args.by_thread;
            options.counts_samples = args.unit == UnitArg::Samples;
            options.title = args
                .input
                .file
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            options.is_gzip = target.is_gzip;
            analysis.add((target.format.make)(out, &options));
        }
        analysis.read(&mut events).map_err(|error| match error {
            AnalysisError::Read(error) => failed(&file, events.reader(), &error),
            AnalysisError::Convert(error) => failure(&file, error),
            error => Failure::Input { file: file.clone(), message: error.to_string() },
        })?;
        samples::add_perf_maps(&args.samples, &mut analysis)?;
        analysis.finish().map_err(|error| failure(&file, error))
    })();
    let finished = match result {
        Ok(finished) => finished,
        Err(failure) => {
            // Half a file is worse than none.
            for path in made {
                let _ = std::fs::remove_file(path);
            }
            return Err(failure);
        }
    };
    context.out.finish()?;
    context.progress.end();
    if let Some(advice) = finished.resolved().coverage().advice() {
        context.messages.warning(&format!("{file}: {advice}"));
    }
    context.messages.losses(&file, events.reader());
    Ok(context.conclude(&file, events.reader(), true))
}

fn failure(file: &str, error: ConvertError) -> Failure {
    match error {
        ConvertError::Write(error) => Failure::Output(error),
        error => Failure::Input { file: file.to_owned(), message: error.to_string() },
    }
}

fn create(path: &Path, is_forced: bool) -> Result<File, Failure> {
    let mut options = File::options();
    options.write(true);
    if is_forced {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    options.open(path).map_err(|error| {
        let message = match error.kind() {
            io::ErrorKind::AlreadyExists => "is there already; give --force to overwrite it".to_owned(),
            _ => format!("cannot be written: {error}"),
        };
        Failure::Input { file: path.display().to_string(), message }
    })
}

/// Which formats go where.
fn targets(args: &ConvertArgs) -> Result<Vec<Target>, Failure> {
    let formats = args.format.iter().map(|name| known(name)).collect::<Result<Vec<_>, _>>()?;
    match (formats.as_slice(), args.output.as_slice()) {
        ([], []) => Err(Failure::Usage(
            "give a format with --format, or an output with -o; --format list shows them".to_owned(),
        )),
        (formats, []) => {
            Ok(formats.iter().map(|format| target(format, &beside(&args.input.file, format))).collect())
        }
        ([], outputs) => outputs.iter().map(|path| by_name(path)).collect(),
        (formats, outputs) if formats.len() == outputs.len() => {
            Ok(formats.iter().zip(outputs).map(|(format, path)| target(format, path)).collect())
        }
        (formats, outputs) => Err(Failure::Usage(format!(
            "{} formats and {} outputs; give as many of both, or outputs alone",
            formats.len(),
            outputs.len()
        ))),
    }
}

fn known(name: &str) -> Result<&'static Format, Failure> {
    Format::by_name(name).ok_or_else(|| {
        let hint = nearest::suggestion(&nearest::nearest(name, FORMATS.iter().map(|format| format.name)));
        Failure::Usage(format!("there is no format {name}{hint}; --format list shows them"))
    })
}

fn target(format: &'static Format, path: &Path) -> Target {
    let is_stdout = path == Path::new("-");
    let is_gzip = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    Target { format, is_gzip, path: (!is_stdout).then(|| path.to_owned()) }
}

fn by_name(path: &Path) -> Result<Target, Failure> {
    match Format::by_path(&path.to_string_lossy()) {
        Some((format, _)) => Ok(target(format, path)),
        None => Err(Failure::Usage(format!(
            "{} does not tell the format; give --format, or one of its endings (--format list)",
            path.display()
        ))),
    }
}

/// `x/trace.nettrace.gz` as `x/trace.speedscope.json`.
fn beside(trace: &Path, format: &Format) -> PathBuf {
    let name = trace.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let name = name.strip_suffix(".nettrace").or_else(|| name.strip_suffix(".netperf")).unwrap_or(name);
    let name = if name == "-" { "trace" } else { name };
    let ending = format.extensions.first().copied().unwrap_or(format.name);
    let ending = if format.is_always_gzip { format!("{ending}.gz") } else { ending.to_owned() };
    trace.with_file_name(format!("{name}.{ending}"))
}
