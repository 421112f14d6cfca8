//! `nettrace check`: tests whether a trace keeps to the format.

use crate::args::CheckArgs;
use crate::context::{Context, Trace};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Input;
use crate::printable::printable;
use crate::units;

use nettrace_parser::check::{Findings, Severity, Violation};
use nettrace_parser::{BlockKind, Limits};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

/// Maximum number of findings of each kind that the text lists; JSON lists up to 64.
const MAX_SHOWN_PER_KIND: usize = 5;

pub(super) fn run(args: &CheckArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let mut limits = Limits::default();
    limits.tail_bytes = args.tail_limit.0;
    let mut trace = context.open_with(&args.input, limits)?;
    let mut findings = Findings::read(&mut trace.reader).map_err(|error| trace.failed(&error))?;
    add_second(args, &trace, &mut findings)?;
    context.progress.end();
    if args.form.json {
        context.write_json(&CheckReport::new(&trace, &findings))?;
    } else {
        text(context, &trace, &findings)?;
    }
    context.out.finish()?;
    let unpack = trace.reader.source().unpack_fault();
    if let Some(fault) = unpack {
        context.messages.warning(&format!("{}: {fault}", trace.file));
    }
    let is_damaged = findings.is_damaged() || unpack.is_some_and(|fault| fault.is_loss());
    let is_clean = findings.counts().next().is_none() && unpack.is_none();
    Ok(match is_damaged {
        true => Exit::Damaged,
        false if args.strict && !is_clean => Exit::Noted,
        false => Exit::Fine,
    })
}

/// Checks the second stream of a file, too, if it has one.
fn add_second(args: &CheckArgs, trace: &Trace, findings: &mut Findings) -> Result<(), Failure> {
    let (input, start) = (&args.input, trace.reader.end_offset().unwrap_or_default());
    let second = (!input.is_stdin()).then(|| Input::behind(&input.file, input.read.input_limit.0));
    let Some(mut second) = second.flatten() else { return Ok(()) };
    let its =
        Findings::read(&mut second).map_err(|error| Failure::read(&trace.file, &error, start))?;
    findings.add_following(start, its);
    Ok(())
}

/// Document of `--json`.
#[derive(Serialize)]
struct CheckReport<'a> {
    schema: u32,
    /// Major version of the format: 3, 4 or 6.
    version: u32,
    /// Whether the stream's end mark was seen.
    complete: bool,
    events: u64,
    /// Number of events that the writer counted but did not write.
    lost: u64,
    /// Findings in the order of their offsets; at most 64 of each kind.
    findings: Vec<FindingReport<'a>>,
    /// Number of findings of each kind, including those that are not listed.
    counts: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct FindingReport<'a> {
    kind: &'static str,
    severity: &'static str,
    offset: u64,
    block: Option<&'static str>,
    section: &'static str,
    message: &'a str,
}

/// Kind of a finding about the compressed file that holds the trace.
const COMPRESSED: &str = "compressed-file";

impl<'a> CheckReport<'a> {
    fn new(trace: &Trace, findings: &'a Findings) -> CheckReport<'a> {
        let unpack = trace.reader.source().unpack_fault();
        let packed = unpack.map(|fault| FindingReport {
            kind: COMPRESSED,
            severity: if fault.is_loss() { Severity::Damage } else { Severity::Note }.as_str(),
            offset: fault.offset,
            block: None,
            section: "",
            message: fault.what(),
        });
        CheckReport {
            schema: 1,
            version: trace.reader.version().map_or(0, |version| version.major()),
            complete: trace.reader.is_complete(),
            events: findings.events(),
            lost: trace.reader.losses().total(),
            counts: findings.counts().chain(packed.iter().map(|it| (it.kind, 1))).collect(),
            findings: packed
                .into_iter()
                .chain(findings.violations().iter().map(FindingReport::from_violation))
                .collect(),
        }
    }
}

impl<'a> FindingReport<'a> {
    fn from_violation(violation: &'a Violation) -> FindingReport<'a> {
        FindingReport {
            kind: violation.kind,
            severity: violation.severity.as_str(),
            offset: violation.offset,
            block: violation.block.map(BlockKind::as_str),
            section: violation.section,
            message: &violation.message,
        }
    }
}

fn text(context: &mut Context<'_>, trace: &Trace, findings: &Findings) -> Result<(), Failure> {
    let style = context.style;
    let version = trace.reader.version().map_or(0, |version| version.major());
    let read = units::counted(findings.events(), "event");
    writeln!(context.out, "{}", style.strong().over(printable(&trace.file)))?;
    let unpack = trace.reader.source().unpack_fault();
    if findings.counts().next().is_none() && unpack.is_none() {
        writeln!(context.out, "  nettrace {version}, {read}: conforms to the format")?;
        return Ok(());
    }
    // A fault of the compressed file counts, as it does for `info`.
    let packed = u64::from(unpack.is_some());
    let total = findings.counts().map(|(_, count)| count).sum::<u64>().saturating_add(packed);
    let kinds = (findings.counts().count() as u64).saturating_add(packed);
    let kinds = units::counted(kinds, "kind");
    let found = units::counted(total, "finding");
    writeln!(
        context.out,
        "  nettrace {version}, {read}: {found} of {kinds}; sections refer to parser/FORMAT.md"
    )?;
    if let Some(fault) = unpack {
        let (label, paint) = match fault.is_loss() {
            true => (Severity::Damage, style.bad()),
            false => (Severity::Note, style.warning()),
        };
        let label = paint.over(format_args!("{:<6}", label.as_str()));
        writeln!(context.out, "\n  {label}  {}  1", style.name().over(COMPRESSED))?;
        writeln!(
            context.out,
            "    {:#10x}  {:<14}  {}",
            fault.offset,
            "compressed file",
            fault.what()
        )?;
    }
    for severity in [Severity::Damage, Severity::Note] {
        for (kind, count) in findings.counts() {
            let of_kind: Vec<&Violation> = findings
                .violations()
                .iter()
                .filter(|violation| violation.kind == kind && violation.severity == severity)
                .collect();
            if of_kind.is_empty() {
                continue;
            }
            let paint = if severity == Severity::Damage { style.bad() } else { style.warning() };
            let label = paint.over(format_args!("{:<6}", severity.as_str()));
            writeln!(
                context.out,
                "\n  {label}  {}  {}",
                style.name().over(kind),
                units::count(count)
            )?;
            for violation in of_kind.iter().take(MAX_SHOWN_PER_KIND) {
                let place = violation.block.map_or("between blocks", BlockKind::as_str);
                let message = printable(&violation.message);
                let section = violation.section;
                writeln!(
                    context.out,
                    "    {:#10x}  {place:<14}  {message}  (section {section})",
                    violation.offset
                )?;
            }
            if of_kind.len() > MAX_SHOWN_PER_KIND {
                // A kind can occur both as damage and as a note, while `of_kind` has one severity.
                let others = findings.violations().iter().filter(|it| it.kind == kind).count()
                    - of_kind.len();
                let shown = (MAX_SHOWN_PER_KIND + others) as u64;
                writeln!(
                    context.out,
                    "    and {} more; --json lists up to 64",
                    units::count(count.saturating_sub(shown))
                )?;
            }
        }
    }
    Ok(())
}
