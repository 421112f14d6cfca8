//! What `convert` is to write, and where.

use crate::args::ConvertArgs;
use crate::failure::Failure;
use nettrace_analysis::convert::{FORMATS, Format};
use nettrace_export::nearest;
use std::path::{Path, PathBuf};

/// The format of a name that a user typed.
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

/// The error for a file name that does not determine the format: the formats with its
/// suffix.
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

/// One file, or standard output, and what goes there.
pub(crate) struct Target {
    pub(super) wanted: &'static Format,
    pub(super) is_gzip: bool,
    /// `None`: standard output.
    pub(super) path: Option<PathBuf>,
    /// Named after the trace, not by the user.
    pub(super) is_default: bool,
}

impl Target {
    /// Whether it is no text.
    pub(super) fn is_binary(&self) -> bool {
        self.is_gzip || self.wanted.is_binary
    }

    fn new(wanted: &'static Format, path: &Path) -> Target {
        let is_stdout = path == Path::new("-");
        let is_gzip = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
        Target { wanted, is_gzip, path: (!is_stdout).then(|| path.to_owned()), is_default: false }
    }

    /// Beside the trace.
    fn default(wanted: &'static Format, input: &Path) -> Target {
        Target { is_default: true, ..Target::new(wanted, &beside(input, wanted)) }
    }
}

/// Which formats go where.
pub(super) fn targets(args: &ConvertArgs, input: &Path) -> Result<Vec<Target>, Failure> {
    let formats = args.format.iter().map(|name| by_name(name)).collect::<Result<Vec<_>, _>>()?;
    let targets: Vec<Target> = match (formats.as_slice(), args.output.as_slice()) {
        ([], []) => {
            return Err(Failure::usage(
                "give a format with --format, or an output with -o; --format list shows them",
            ));
        }
        (formats, []) => formats.iter().map(|wanted| Target::default(wanted, input)).collect(),
        ([], outputs) => outputs
            .iter()
            .map(|path| Ok(Target::new(by_path(path)?, path)))
            .collect::<Result<_, Failure>>()?,
        (formats, outputs) if formats.len() == outputs.len() => {
            formats.iter().zip(outputs).map(|(wanted, path)| Target::new(wanted, path)).collect()
        }
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

/// `x/trace.nettrace.gz` as `x/trace.speedscope.json`.
pub(crate) fn beside(trace: &Path, wanted: &Format) -> PathBuf {
    let name = Path::new(trace.file_name().unwrap_or_default());
    // Names need not be text, so endings are taken off without a look at what stands
    // before them.
    let is = |name: &Path, ending: &str| name.extension().is_some_and(|found| found == ending);
    let name = if is(name, "gz") { name.with_extension("") } else { name.to_owned() };
    let is_trace = is(&name, "nettrace") || is(&name, "netperf");
    let name = if is_trace { name.with_extension("") } else { name };
    let mut name = if name == Path::new("-") { "trace".into() } else { name.into_os_string() };
    let ending = wanted.extensions.first().copied().unwrap_or(wanted.name);
    let ending = if wanted.is_always_gzip { format!("{ending}.gz") } else { ending.to_owned() };
    name.push(".");
    name.push(ending);
    trace.with_file_name(name)
}
