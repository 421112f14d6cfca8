//! Formats and files that `convert` writes, as its arguments name them.

use crate::args::ConvertArgs;
use crate::failure::Failure;
use nettrace_analysis::convert::{FORMATS, Format};
use nettrace_export::nearest;
use std::path::{Path, PathBuf};

/// Returns the format of a name that a user typed.
pub(crate) fn by_name(name: &str) -> Result<&'static Format, Failure> {
    Format::by_name(name).ok_or_else(|| {
        let hint =
            nearest::suggestion(&nearest::nearest(name, FORMATS.iter().map(|format| format.name)));
        Failure::Usage(format!("there is no format {name}{hint}; --format list shows them"))
    })
}

fn by_path(path: &Path) -> Result<&'static Format, Failure> {
    let text = path.to_string_lossy().to_ascii_lowercase();
    match Format::by_path(&text) {
        Some((format, _)) => Ok(format),
        None if path == Path::new("-") => Err(Failure::usage(
            "the format of standard output is not known; give --format (--format list shows them)",
        )),
        None => Err(Failure::Usage(no_format(path, text.strip_suffix(".gz").unwrap_or(&text)))),
    }
}

/// Returns the error for a file name that does not determine the format. The error names the
/// formats with that suffix.
fn no_format(path: &Path, stem: &str) -> String {
    let path = path.display();
    let last = stem.rsplit('.').next();
    let mut may_be: Vec<(&str, &str)> = Vec::new();
    for wanted in FORMATS {
        let fits = |ending: &&&str| ending.contains('.') && ending.rsplit('.').next() == last;
        if let Some(ending) = wanted.extensions.iter().find(fits) {
            may_be.push((wanted.name, ending));
        }
    }
    if may_be.is_empty() {
        return format!(
            "the name {path} matches no format; give --format, or one of the endings that --format list shows"
        );
    }
    let names: Vec<&str> = may_be.iter().map(|(name, _)| *name).collect();
    let endings: Vec<String> = may_be.iter().map(|(_, ending)| format!(".{ending}")).collect();
    format!(
        "{path} could be {}; give --format with one of them, or name the file {}",
        names.join(" or "),
        endings.join(" or ")
    )
}

/// Format, and the file or standard output to which it is written.
pub(crate) struct OutputTarget {
    pub(super) wanted: &'static Format,
    pub(super) is_gzip: bool,
    /// Path of the file; `None` for standard output.
    pub(super) path: Option<PathBuf>,
    /// Whether the path was derived from the trace's name instead of given by the user.
    pub(super) is_default: bool,
}

impl OutputTarget {
    /// Returns whether the output is not text.
    pub(super) fn is_binary(&self) -> bool {
        self.is_gzip || self.wanted.is_binary
    }

    fn new(wanted: &'static Format, path: &Path) -> OutputTarget {
        let is_stdout = path == Path::new("-");
        let is_gzip = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
        OutputTarget {
            wanted,
            is_gzip,
            path: (!is_stdout).then(|| path.to_owned()),
            is_default: false,
        }
    }

    /// Returns the target for a file beside the trace.
    fn default(wanted: &'static Format, input: &Path) -> OutputTarget {
        OutputTarget { is_default: true, ..OutputTarget::new(wanted, &beside(input, wanted)) }
    }
}

/// Returns the targets that the arguments name: formats and outputs in pairs, or one of both
/// derived from the other.
pub(super) fn targets(args: &ConvertArgs, input: &Path) -> Result<Vec<OutputTarget>, Failure> {
    let formats = args.format.iter().map(|name| by_name(name)).collect::<Result<Vec<_>, _>>()?;
    let targets: Vec<OutputTarget> = match (formats.as_slice(), args.output.as_slice()) {
        ([], []) => {
            return Err(Failure::usage(
                "give a format with --format, or an output with -o; --format list shows them",
            ));
        }
        (formats, []) => {
            formats.iter().map(|wanted| OutputTarget::default(wanted, input)).collect()
        }
        ([], outputs) => outputs
            .iter()
            .map(|path| Ok(OutputTarget::new(by_path(path)?, path)))
            .collect::<Result<_, Failure>>()?,
        (formats, outputs) if formats.len() == outputs.len() => formats
            .iter()
            .zip(outputs)
            .map(|(wanted, path)| OutputTarget::new(wanted, path))
            .collect(),
        (formats, outputs) => {
            return Err(Failure::Usage(format!(
                "{} and {}; give equally many of both, or only outputs",
                crate::units::counted(formats.len() as u64, "format"),
                crate::units::counted(outputs.len() as u64, "output")
            )));
        }
    };
    if targets.iter().filter(|target| target.path.is_none()).count() > 1 {
        return Err(Failure::usage("only one format can go to standard output"));
    }
    Ok(targets)
}

/// Returns the path of an output beside a trace: `x/trace.speedscope.json` for
/// `x/trace.nettrace.gz`.
pub(crate) fn beside(trace: &Path, wanted: &Format) -> PathBuf {
    let ending = wanted.extensions.first().copied().unwrap_or(wanted.name);
    with_ending(
        trace,
        &if wanted.is_always_gzip { format!("{ending}.gz") } else { ending.to_owned() },
    )
}

/// Returns the path of a file beside a trace: with `html`, `x/trace.html` for `x/trace.nettrace`.
pub(crate) fn with_ending(trace: &Path, ending: &str) -> PathBuf {
    let name = Path::new(trace.file_name().unwrap_or_default());
    // File names need not be valid UTF-8, so extensions are removed without decoding the rest.
    let is = |name: &Path, ending: &str| name.extension().is_some_and(|found| found == ending);
    let is_packed = is(name, "gz") || is(name, "zst");
    let name = if is_packed { name.with_extension("") } else { name.to_owned() };
    let is_trace = is(&name, "nettrace") || is(&name, "netperf");
    let name = if is_trace { name.with_extension("") } else { name };
    let mut name = if name == Path::new("-") { "trace".into() } else { name.into_os_string() };
    name.push(".");
    name.push(ending);
    trace.with_file_name(name)
}
