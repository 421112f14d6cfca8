//! Writes `report startup` as text.

use super::words::{assemblies, ms, prose};
use crate::args::StartupArgs;
use crate::context::Context;
use crate::printable::printable;
use crate::style::Paint;
use crate::table::{first, left, right};
use crate::units;
use nettrace_analysis::report::{ReachedBy, Report, Startup, StartupReport};
use std::io;

pub(super) fn startup_of(args: &StartupArgs) -> Startup {
    let report = Startup::default().top(args.rows.number);
    match &args.until {
        Some(method) => report.until(method.clone()),
        None => report,
    }
}

pub(super) fn text(
    args: &StartupArgs,
    report: &StartupReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let strong = context.style.strong();
    let mut steps: Vec<(i64, String)> = Vec::new();
    if let Some(at) = report.program_ns {
        let name = report.program.as_deref().unwrap_or_default();
        let name = name.split_once(',').map_or(name, |(name, _)| name);
        steps.push((
            at,
            format!("the first assembly of the program is loaded: {}", printable(name)),
        ));
    }
    steps.extend(report.main_ns.map(|at| (at, "Main is compiled".to_owned())));
    steps
        .extend(report.first_request_ns.map(|at| (at, "the first request is answered".to_owned())));
    steps.extend(report.reached.as_ref().map(|reached| {
        let what = match reached.by {
            ReachedBy::Compilation => "is compiled for the first time",
            _ => "is in a sample for the first time; it may have run before",
        };
        (reached.at_ns, format!("{} {what}", printable(&reached.name)))
    }));
    steps.sort();
    let start = match report.began_ns {
        Some(_) => "the runtime starts",
        None => "the recording starts: not the process, whose start is not in the trace",
    };
    for (at, what) in [(0, start.to_owned())].into_iter().chain(steps) {
        prose(context, &Paint::default(), &format!("{:>12} ms  {what}", units::milliseconds(at)))?;
    }
    if args.until.is_some() && report.reached.is_none() {
        prose(context, &strong, "no compilation and no sample has a method that matches --until")?;
    }
    if !report.slowest.is_empty() {
        prose(context, &Paint::default(), "")?;
        let began = report.began_ns.unwrap_or(0);
        first(context, &report.slowest, args.rows.number).columns([
            right("TOOK ms", 10, 0).fill(&|row| ms(row.duration_ns).into()),
            right("AT ms", 10, 1)
                .fill(&|row| units::milliseconds(row.start_ns.saturating_sub(began)).into()),
            left("TIER", 8, 2).fill(&|row| row.tier.into()),
            left("COMPILED", 8, 0).fill(&|row| row.name.clone().into()),
        ])?;
    }
    let compiled = match report.methods {
        0 => String::new(),
        methods => {
            format!("{} compiled in {} ms, ", units::counted(methods, "method"), ms(report.jit_ns))
        }
    };
    let line = format!(
        "until {} ms: {compiled}{} loaded",
        units::milliseconds(report.until_ns),
        assemblies(report.assemblies),
    );
    prose(context, &strong, &line)
}
