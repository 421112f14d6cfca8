//! Runs `report http --endpoint` and writes it as text: the requests to one endpoint, the parts of
//! their time, what ran, what waited, and the slowest of them.

use super::activities::{events_hint, names_table, parts_table, phases_table, slowest_table};
use super::pass::{Asked, show};
use super::samples;
use super::words::{MIN_PLACE_COLUMNS, ms, prose};
use crate::analysed::{REQUESTS_LEFT_OUT, first_pass, no_such_endpoint};
use crate::args::ActivitiesArgs;
use crate::context::Context;
use crate::cut::{Text, fixed, main};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::style::Paint;
use crate::table::{first, left, right};
use crate::units;
use nettrace_analysis::report::{
    ActivityChoice, ActivityRow, During, EndpointTime, EndpointTimeReport, Http, HttpDirection,
    Report,
};
use std::io::{self, Write};

pub(super) fn run(
    endpoint: &str,
    args: &ActivitiesArgs,
    mut asked: Asked<'_>,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let rows = args.rows.number;
    let choice = ActivityChoice::Endpoint(endpoint.to_owned());
    let reports = (During::new(choice), Http::default().slowest_of(endpoint).top(rows));
    let (file, (found, http)) =
        first_pass("--endpoint", reports, asked.options.clone(), asked.input, context)?;
    let slowest = http.slowest;
    let (came, _): (Vec<ActivityRow>, Vec<ActivityRow>) =
        http.activities.into_iter().partition(|row| row.name.direction == Some(HttpDirection::In));
    let Some(row) = came.iter().find(|row| row.name.target == endpoint) else {
        let known: Vec<String> = came.iter().map(|row| row.name.target.clone()).collect();
        return Err(Failure::input(file, no_such_endpoint(endpoint, &known)));
    };
    asked.options.filter.spans = Some(found.spans);
    let left_out = found.left_out;
    let report = EndpointTime::new(row.clone(), slowest).requests_left_out(left_out).top(rows);
    show(report, asked, context, |report, context| text(rows, report, context))
}

fn text(rows: usize, report: &EndpointTimeReport, context: &mut Context<'_>) -> io::Result<()> {
    let requests = [&report.requests];
    names_table(&requests, context)?;
    parts_table(&requests, context)?;
    phases_table(&requests, context)?;
    calls(&report.requests, context)?;
    left_out(report, context)?;
    ran(report, context)?;
    waited(rows, report, context)?;
    slowest_table(&report.slowest, rows, context)?;
    events_hint(&report.slowest, context)
}

/// Writes the outgoing requests and SQL commands of the requests.
fn calls(row: &ActivityRow, context: &mut Context<'_>) -> io::Result<()> {
    let strong = context.style.strong();
    if !row.calls.is_empty() {
        writeln!(context.out.buffer())?;
        first(context, &row.calls, usize::MAX).columns([
            right("CALLS", 7, 0).fill(&|call| units::count(call.count).into()),
            right("TOTAL ms", 11, 0).fill(&|call| ms(call.total_ns).into()),
            left("OUTGOING REQUESTS OF THESE", 26, 0).fill(&|call| (&*call.name.target).into()),
        ])?;
    }
    if row.sql_commands > 0 {
        writeln!(context.out.buffer())?;
        let commands = units::counted(row.sql_commands, "SQL command");
        prose(context, &strong, &format!("{commands}, {} ms", ms(row.sql_ns)))?;
    }
    Ok(())
}

/// Writes how many of the requests have no samples in what follows.
fn left_out(report: &EndpointTimeReport, context: &mut Context<'_>) -> io::Result<()> {
    if report.requests_left_out == 0 {
        return Ok(());
    }
    writeln!(context.out.buffer())?;
    let requests = units::counted(report.requests_left_out, "request");
    prose(context, &Paint::default(), &format!("without {requests}: {REQUESTS_LEFT_OUT}"))
}

/// Writes the methods that ran.
fn ran(report: &EndpointTimeReport, context: &mut Context<'_>) -> io::Result<()> {
    let strong = context.style.strong();
    writeln!(context.out.buffer())?;
    let samples = units::counted(report.running_samples, "sample");
    prose(context, &strong, &format!("ran {} ms, {samples}", ms(report.running_ns)))?;
    if report.running.is_empty() {
        return Ok(());
    }
    samples::rows(&report.running, context).write(context)
}

/// Writes the places at which threads waited.
fn waited(rows: usize, report: &EndpointTimeReport, context: &mut Context<'_>) -> io::Result<()> {
    let strong = context.style.strong();
    writeln!(context.out.buffer())?;
    let samples = units::counted(report.waiting_samples, "sample");
    prose(context, &strong, &format!("waited {} ms, {samples}", ms(report.waiting_ns)))?;
    if report.waiting.is_empty() {
        return Ok(());
    }
    first(context, &report.waiting, rows).columns([
        right("WAIT %", 7, 0).fill(&|row| format!("{:.2}", row.total_percent).into()),
        right("WAIT ms", 11, 0).fill(&|row| ms(row.total_ns).into()),
        right("SAMPLES", 7, 1).fill(&|row| units::count(row.samples).into()),
        left("CALL ← BY", 9, 0).at_least(MIN_PLACE_COLUMNS).fill(&|row| {
            let by = row.by.as_deref().map(|by| format!(" ← {by}")).unwrap_or_default();
            Text::parts([main(&row.call), fixed(&by)]).into()
        }),
    ])
}
