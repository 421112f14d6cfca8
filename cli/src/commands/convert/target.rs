//! What `convert` is to write, and where.

use crate::args::ConvertArgs;
use crate::failure::Failure;
use nettrace_analysis::Kind;
use nettrace_analysis::convert::{FORMATS, Format, Make};
use nettrace_export::nearest;
use std::path::{Path, PathBuf};

/// A format that can be asked for: one of the analysis, or events.
#[derive(Debug, Clone, Copy)]
pub(in crate::commands) struct Wanted {
    pub(in crate::commands) name: &'static str,
    /// Endings of file names, the first one the usual.
    pub(super) extensions: &'static [&'static str],
    pub(super) about: &'static str,
    /// Kinds of samples that it shows by itself.
    pub(super) kinds: &'static [Kind],
    /// Whether users can choose others.
    pub(super) takes_kinds: bool,
    is_always_gzip: bool,
    /// `None`: events as NDJSON.
    pub(super) make: Option<Make>,
}

const NDJSON: Wanted = Wanted {
    name: "ndjson",
    extensions: &["ndjson", "jsonl"],
    about: "jq, DuckDB, scripts: all events, one JSON object a line, as nettrace events writes them",
    kinds: &[],
    takes_kinds: false,
    is_always_gzip: false,
    make: None,
};

impl Wanted {
    pub(in crate::commands) fn all() -> impl Iterator<Item = Wanted> {
        FORMATS.iter().map(Wanted::of).chain([NDJSON])
    }

    fn of(format: &'static Format) -> Wanted {
        Wanted {
            name: format.name,
            extensions: format.extensions,
            about: format.about,
            kinds: format.kinds,
            takes_kinds: format.takes_kinds,
            is_always_gzip: format.is_always_gzip,
            make: Some(format.make),
        }
    }

    pub(in crate::commands) fn by_name(name: &str) -> Result<Wanted, Failure> {
        Wanted::all().find(|wanted| wanted.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let names = Wanted::all().map(|wanted| wanted.name);
            let hint = nearest::suggestion(&nearest::nearest(name, names));
            Failure::Usage(format!("there is no format {name}{hint}; --format list shows them"))
        })
    }

    fn by_path(path: &Path) -> Result<Wanted, Failure> {
        let text = path.to_string_lossy().to_ascii_lowercase();
        let stem = text.strip_suffix(".gz").unwrap_or(&text);
        if NDJSON.extensions.iter().any(|ending| stem.strip_suffix(ending).is_some_and(|s| s.ends_with('.')))
        {
            return Ok(NDJSON);
        }
        match Format::by_path(&text) {
            Some((format, _)) => Ok(Wanted::of(format)),
            None if path == Path::new("-") => Err(Failure::Usage(
                "standard output does not tell the format; give --format (--format list shows them)"
                    .to_owned(),
            )),
            None => Err(Failure::Usage(untold(path, stem))),
        }
    }
}

/// What to say of a name that does not say the format: which ones its ending may stand for.
fn untold(path: &Path, stem: &str) -> String {
    let path = path.display();
    let last = stem.rsplit('.').next();
    let mut may_be: Vec<(&str, &str)> = Vec::new();
    for wanted in Wanted::all() {
        let fits = |ending: &&&str| ending.contains('.') && ending.rsplit('.').next() == last;
        if let Some(ending) = wanted.extensions.iter().find(fits) {
            may_be.push((wanted.name, ending));
        }
    }
    if may_be.is_empty() {
        return format!(
            "{path} does not tell the format; give --format, or one of its endings (--format list)"
        );
    }
    let names: Vec<&str> = may_be.iter().map(|(name, _)| *name).collect();
    let endings: Vec<String> = may_be.iter().map(|(_, ending)| format!(".{ending}")).collect();
    format!(
        "{path} may be {}; give --format with one of them, or name the file {}",
        names.join(" or "),
        endings.join(" or ")
    )
}

/// One file, or standard output, and what goes there.
pub(in crate::commands) struct Target {
    pub(super) wanted: Wanted,
    pub(super) is_gzip: bool,
    /// `None`: standard output.
    pub(super) path: Option<PathBuf>,
    /// The user did not name it.
    pub(super) is_chosen: bool,
}

impl Target {
    fn new(wanted: Wanted, path: &Path) -> Target {
        let is_stdout = path == Path::new("-");
        let is_gzip = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
        Target { wanted, is_gzip, path: (!is_stdout).then(|| path.to_owned()), is_chosen: false }
    }

    /// Beside the trace.
    fn chosen(wanted: Wanted, input: &Path) -> Target {
        Target { is_chosen: true, ..Target::new(wanted, &beside(input, &wanted)) }
    }
}

/// Which formats go where.
pub(super) fn targets(args: &ConvertArgs, input: &Path) -> Result<Vec<Target>, Failure> {
    let formats = args.format.iter().map(|name| Wanted::by_name(name)).collect::<Result<Vec<_>, _>>()?;
    let targets: Vec<Target> = match (formats.as_slice(), args.output.as_slice()) {
        ([], []) => {
            return Err(Failure::Usage(
                "give a format with --format, or an output with -o; --format list shows them".to_owned(),
            ));
        }
        (formats, []) => formats.iter().map(|wanted| Target::chosen(*wanted, input)).collect(),
        ([], outputs) => outputs
            .iter()
            .map(|path| Ok(Target::new(Wanted::by_path(path)?, path)))
            .collect::<Result<_, Failure>>()?,
        (formats, outputs) if formats.len() == outputs.len() => {
            formats.iter().zip(outputs).map(|(wanted, path)| Target::new(*wanted, path)).collect()
        }
        (formats, outputs) => {
            return Err(Failure::Usage(format!(
                "{} and {}; give as many of both, or outputs alone",
                crate::units::counted(formats.len() as u64, "format"),
                crate::units::counted(outputs.len() as u64, "output")
            )));
        }
    };
    if targets.iter().filter(|target| target.path.is_none()).count() > 1 {
        return Err(Failure::Usage("only one format can go to standard output".to_owned()));
    }
    Ok(targets)
}

/// `x/trace.nettrace.gz` as `x/trace.speedscope.json`.
pub(in crate::commands) fn beside(trace: &Path, wanted: &Wanted) -> PathBuf {
    let name = Path::new(trace.file_name().unwrap_or_default());
    // Names need not be text, so endings are taken off without a look at what stands before them.
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
