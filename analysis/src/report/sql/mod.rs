//! SQL commands by statement and by the request that ran them.
//!
//! Several sources may report one command, such as Entity Framework and the driver below it. The
//! report counts the commands of the source with most.
//!
//! A command belongs to the request around it by activity ids; else to the last one that started on
//! its thread, if the stack shows that the request's call has not returned; else to the request of
//! an earlier command on its connection.

mod command;
mod document;
mod statement;
mod units;

pub use document::{SqlPlace, SqlReport, SqlRequests, SqlSource, SqlStatement};

use super::contract::{DEFAULT_ROWS, Moment, Recording, Report, SCHEMA};
use super::distribution::Distribution;
use super::endpoints::executed_method;
use super::logs::{Around, LogScopes, LoggedMessage};
use super::requests::{FollowedRequests, OpenRequests};
use crate::hash::{HashMap, HashSet, hash_of};
use crate::model::activity_edge::ActivityEdge;
use crate::model::activity_edge::http_facts::HttpFacts;
use crate::model::intervals::OpenActivities;
use crate::model::{Folding, Frame, Mode, Model, Resolved, StackHandle, TextHandle};
use crate::sorted::SortFew;
pub(crate) use command::{CommandEvent, CommandPhase, may_be_command};
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use statement::normalised;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use units::{UnitRow, Units, WorkUnit};

/// Maximum number of different statements; further ones share a row.
const MAX_STATEMENTS: usize = 10_000;
const MAX_SOURCES: usize = 64;
/// Maximum number of commands that are remembered after their end, because one may be reported in
/// two forms.
const MAX_ENDED: usize = 4_096;
/// Logger of ASP.NET Core that tells when a request begins.
const HOSTING: &str = "Microsoft.AspNetCore.Hosting.Diagnostics";
/// Beginning of the message that tells when a request begins. The HTTP version and the method
/// follow.
const BEGINS: &str = "Request starting ";
/// Maximum number of connections whose request is kept.
const MAX_CONNECTIONS: usize = 65_536;
/// Text of the row that further statements share.
const OTHERS: &str = "(other statements)";

/// Computes a [`SqlReport`]. Memory is bounded by the number of statements, stacks and open
/// requests.
#[derive(Debug)]
pub struct Sql {
    sources: BTreeMap<String, Commands>,
    /// Open requests, unless another report of the pass follows them.
    requests: Box<OpenRequests>,
    /// Scopes of log messages, which name requests.
    scopes: LogScopes,
    /// HTTP method of each request that log messages name, by the hash of the request's id.
    methods: HashMap<u64, String>,
    /// Number of the last request that used a connection, by the hash of the connection's id.
    connections: HashMap<u64, u64>,
    top: usize,
    used: u64,
}

/// Commands that one source reports.
#[derive(Debug, Default)]
struct Commands {
    open: OpenActivities<OpenCommand>,
    ended: HashSet<u64>,
    ended_in_order: VecDeque<u64>,
    sites: HashMap<(TextHandle, StackHandle), CommandStats>,
    statements: HashSet<TextHandle>,
    /// Statement and stack by the command's id, for an event that tells the number of rows later.
    by_command: HashMap<u64, (TextHandle, StackHandle)>,
    units: Units,
    count: u64,
}

#[derive(Debug)]
struct OpenCommand {
    statement: Option<TextHandle>,
    stack: StackHandle,
    unit: Option<WorkUnit>,
    is_selected: bool,
}

#[derive(Debug, Default)]
struct CommandStats {
    count: u64,
    errors: u64,
    durations: Distribution,
    rows: Option<u64>,
}

impl CommandStats {
    fn add_rows(&mut self, rows: Option<u64>) {
        if let Some(rows) = rows {
            self.rows = Some(self.rows.unwrap_or(0).saturating_add(rows));
        }
    }
}

impl Default for Sql {
    /// Lists the top 20 statements.
    fn default() -> Sql {
        Sql {
            sources: BTreeMap::new(),
            requests: Box::default(),
            scopes: LogScopes::default(),
            methods: HashMap::default(),
            connections: HashMap::default(),
            top: DEFAULT_ROWS,
            used: 0,
        }
    }
}

impl Sql {
    /// Returns the unit of work that runs a command.
    fn unit_of(
        &mut self,
        event: &Event<'_>,
        edge: Option<&ActivityEdge>,
        command: &CommandEvent,
        stack: StackHandle,
        (moment, requests): (&Moment, &impl FollowedRequests),
        model: &Model,
    ) -> Option<WorkUnit> {
        let found = requests.request_for(event, edge, moment.thread, stack, model);
        let request = found.map(|(number, _)| number).or_else(|| {
            let number = *self.connections.get(&command.connection?)?;
            let commands = self.sources.get(&command.source)?;
            commands.units.is_open(WorkUnit::Request(number)).then_some(number)
        });
        match (request, command.connection) {
            (Some(number), Some(connection)) => {
                if self.connections.len() >= MAX_CONNECTIONS {
                    self.connections.clear();
                }
                self.connections.insert(connection, number);
            }
            (None, Some(connection)) => return Some(WorkUnit::Connection(connection)),
            _ => {}
        }
        request.map(WorkUnit::Request)
    }

    /// Returns the request whose scope has a log message about a command; without such a scope, the
    /// open request that the message belongs to.
    fn unit_of_log(
        &mut self,
        event: &Event<'_>,
        command: &CommandEvent,
        (moment, requests): (&Moment, &impl FollowedRequests),
        model: &mut Model,
    ) -> Option<WorkUnit> {
        let message = LoggedMessage::from_event(event)?;
        let (trace, span) = (message.trace.as_deref(), message.span.as_deref());
        let around = self.scopes.around(event, moment.thread, trace, span, model);
        let Some(request) = around.request.as_deref().map(hash_of) else {
            let stack = model.stack_of(event, moment.thread);
            let found = requests.request_for(event, None, moment.thread, stack, model);
            return found.map(|(number, _)| WorkUnit::Request(number));
        };
        let unit = WorkUnit::Scope(request);
        let path = path_in(&around);
        self.learn_method(event, request, path, (moment, requests), model);
        let method = self.methods.get(&request).cloned();
        let facts = HttpFacts::new(None, method, path.map(str::to_owned));
        if let Some(name) = facts.name() {
            let label = model.texts_mut().intern(name);
            let commands = self.sources.entry(command.source.clone()).or_default();
            commands.units.name(unit, label);
        }
        Some(unit)
    }

    /// Learns the HTTP method of the request that a log message is about, from the start of the open
    /// request that the message belongs to. `path`: path that the scopes of the message tell.
    fn learn_method(
        &mut self,
        event: &Event<'_>,
        request: u64,
        path: Option<&str>,
        (moment, requests): (&Moment, &impl FollowedRequests),
        model: &mut Model,
    ) {
        if self.methods.contains_key(&request) {
            return;
        }
        let stack = model.stack_of(event, moment.thread);
        let found = requests.request_for(event, None, moment.thread, stack, model);
        // A handler may start another request on its thread.
        let found = found.filter(|(_, facts)| path.is_some() && facts.path() == path);
        let method = found.and_then(|(_, facts)| facts.method()).map(str::to_owned);
        if let Some(method) = method {
            self.note_method(request, method);
        }
    }

    fn note_method(&mut self, request: u64, method: String) {
        if self.methods.len() >= MAX_CONNECTIONS {
            self.methods.clear();
        }
        self.methods.insert(request, method);
    }

    /// Processes the next event. `requests`: the open requests, which another report has followed up
    /// to this event, if several share a pass. Returns whether the event is about a command.
    pub(crate) fn event_among(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        model: &mut Model,
        requests: &mut impl FollowedRequests,
    ) -> bool {
        let edge = moment.activity_edge(event);
        let command = CommandEvent::from_event(event, edge);
        let is_about = command.is_some();
        match command {
            Some(command) => self.command(event, edge, command, (moment, requests), model),
            None if event.known_provider() == KnownProvider::Logging => {
                if let Some(message) = LoggedMessage::from_event(event) {
                    // The first messages of a request name its spans.
                    let (trace, span) = (message.trace.as_deref(), message.span.as_deref());
                    let around = self.scopes.around(event, moment.thread, trace, span, model);
                    if let Some(request) = around.request.as_deref().map(hash_of) {
                        let method = begun_method(&message).map(str::to_owned);
                        match method.or_else(|| executed_method(event)) {
                            Some(method) => self.note_method(request, method),
                            None => {
                                let path = path_in(&around);
                                let at = (moment, &*requests);
                                self.learn_method(event, request, path, at, model);
                            }
                        }
                    }
                } else {
                    self.scopes.event(event, moment.thread, model);
                }
            }
            None => {
                for (number, facts) in requests.requests_ended_by(event, moment, model) {
                    let unit = WorkUnit::Request(number);
                    let sources = self.sources.values_mut();
                    for source in sources.filter(|source| source.units.is_open(unit)) {
                        let label = facts.name().map(|name| model.texts_mut().intern(name));
                        source.units.end(unit, label);
                    }
                }
            }
        }
        self.used = self.used.saturating_add(u64::from(is_about && moment.is_selected));
        is_about
    }

    fn command(
        &mut self,
        event: &Event<'_>,
        edge: Option<&ActivityEdge>,
        command: CommandEvent,
        (moment, requests): (&Moment, &impl FollowedRequests),
        model: &mut Model,
    ) {
        if !self.sources.contains_key(&command.source) && self.sources.len() >= MAX_SOURCES {
            return;
        }
        let stack = model.stack_of(event, moment.thread);
        let text = command.text.as_deref().map(normalised);
        let statement = text.map(|text| model.texts_mut().intern(&text));
        let unit = match command.phase {
            CommandPhase::Start => {
                self.unit_of(event, edge, &command, stack, (moment, requests), model)
            }
            CommandPhase::Whole => self.unit_of_log(event, &command, (moment, requests), model),
            CommandPhase::Stop | CommandPhase::Rows => None,
        };
        let begun = OpenCommand { statement, stack, unit, is_selected: moment.is_selected };
        let commands = self.sources.entry(command.source.clone()).or_default();
        match (command.phase, edge) {
            (CommandPhase::Start, Some(edge)) => {
                if command.command.is_some_and(|id| commands.ended.contains(&id)) {
                    return;
                }
                let name = moment.activity_name(edge, model);
                // The stop of a command that starts again was lost.
                if let Some(lost) = commands.open.start(edge, name, moment.edge(event), begun) {
                    commands.add(lost.what.what, &command, None, model);
                }
            }
            (CommandPhase::Stop, Some(edge)) => {
                if command.command.is_some_and(|id| !commands.ends(id)) {
                    return;
                }
                let name = moment.activity_name(edge, model);
                let stopped = commands.open.stop(edge, name, moment.edge(event));
                for other in stopped.others {
                    let nanos = other.measured_nanos();
                    commands.add(other.what.what, &command, nanos, model);
                }
                let (begun, nanos) = match stopped.own {
                    // It is one of several, which are counted when all have stopped.
                    None if stopped.has_start => return,
                    Some(stopped) => {
                        let nanos = command.nanos.or(stopped.measured_nanos());
                        let known = stopped.what.what;
                        let statement = known.statement.or(begun.statement);
                        (OpenCommand { statement, ..known }, nanos)
                    }
                    // The command began before the session, or only stops were recorded.
                    None => {
                        let at = (moment, requests);
                        let unit = self.unit_of(event, Some(edge), &command, stack, at, model);
                        (OpenCommand { unit, ..begun }, command.nanos)
                    }
                };
                if let Some(commands) = self.sources.get_mut(&command.source) {
                    commands.add(begun, &command, nanos, model);
                }
            }
            (CommandPhase::Whole, _) => commands.add(begun, &command, command.nanos, model),
            (CommandPhase::Rows, _) => {
                let site = command.command.and_then(|id| commands.by_command.remove(&id));
                if let Some(stats) = site.and_then(|site| commands.sites.get_mut(&site)) {
                    stats.add_rows(command.rows);
                }
            }
            _ => {}
        }
    }
}

impl Commands {
    /// Notes the end of a command. Returns whether it is the first end with this id.
    fn ends(&mut self, id: u64) -> bool {
        let is_new = self.ended.insert(id);
        if is_new {
            self.ended_in_order.push_back(id);
            if self.ended_in_order.len() > MAX_ENDED
                && let Some(oldest) = self.ended_in_order.pop_front()
            {
                self.ended.remove(&oldest);
            }
        }
        is_new
    }

    /// Counts a command that has ended.
    fn add(
        &mut self,
        begun: OpenCommand,
        event: &CommandEvent,
        nanos: Option<u64>,
        model: &mut Model,
    ) {
        if !begun.is_selected {
            return;
        }
        let mut statement = begun.statement.unwrap_or_else(|| model.texts_mut().intern(""));
        if !self.statements.contains(&statement) {
            if self.statements.len() >= MAX_STATEMENTS {
                statement = model.texts_mut().intern(OTHERS);
            }
            self.statements.insert(statement);
        }
        self.count = self.count.saturating_add(1);
        let site = (statement, begun.stack);
        let stats = self.sites.entry(site).or_default();
        stats.count = stats.count.saturating_add(1);
        stats.errors = stats.errors.saturating_add(u64::from(event.is_error));
        stats.add_rows(event.rows);
        nanos.into_iter().for_each(|nanos| stats.durations.add(nanos));
        if let Some(id) = event.command.filter(|_| event.rows.is_none()) {
            if self.by_command.len() >= MAX_ENDED {
                self.by_command.clear();
            }
            self.by_command.insert(id, site);
        }
        self.units.add(begun.unit, statement, begun.stack, nanos.unwrap_or(0));
    }
}

impl Report for Sql {
    type Output = SqlReport;

    const NAME: &'static str = "sql";
    const ABOUT: &'static str = "SQL commands, by statement and by request";
    const RECORD: &'static [Recording] = &[
        Recording::new("Microsoft-Diagnostics-DiagnosticSource", 0x2, 4).arguments(
            "FilterAndPayloadSpecs=Microsoft.EntityFrameworkCore/Microsoft.EntityFrameworkCore.Database.Command.CommandExecuted:Command.CommandText",
        ),
        Recording::new("Microsoft.Data.SqlClient.EventSource", 0x1, 4),
        Recording::new("Npgsql", u64::MAX, 4),
    ];

    fn top(mut self, rows: usize) -> Sql {
        self.top = rows;
        self
    }

    fn wants(&self, event: &Event<'_>) -> bool {
        may_be_command(event)
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let mut requests = std::mem::take(&mut self.requests);
        let is_about = self.event_among(event, moment, model, &mut *requests);
        self.requests = requests;
        is_about
    }

    fn finish(self, resolved: &Resolved<'_>) -> SqlReport {
        let mut sources: Vec<(String, Commands)> = self.sources.into_iter().collect();
        for (_, commands) in &mut sources {
            // These commands are not over, or only starts were recorded.
            let open: Vec<_> = commands.open.finish(0).map(|open| open.what.what).collect();
            for begun in open {
                commands.add_open(begun);
            }
        }
        sources.sort_few_by_key(|(_, commands)| Reverse(commands.count));
        let rows = sources.iter().filter(|(_, commands)| commands.count > 0);
        let rows =
            rows.map(|(name, commands)| SqlSource { name: name.clone(), commands: commands.count });
        let rows = rows.collect();
        let counted = sources.into_iter().next().map(|(_, commands)| commands).unwrap_or_default();
        counted.report(resolved, rows, self.top, self.used)
    }
}

impl Commands {
    /// Counts a command without an end.
    fn add_open(&mut self, begun: OpenCommand) {
        let Some(statement) = begun.statement.filter(|_| begun.is_selected) else { return };
        self.count = self.count.saturating_add(1);
        let stats = self.sites.entry((statement, begun.stack)).or_default();
        stats.count = stats.count.saturating_add(1);
        self.units.add(begun.unit, statement, begun.stack, 0);
    }

    fn report(
        self,
        resolved: &Resolved<'_>,
        sources: Vec<SqlSource>,
        top: usize,
        used: u64,
    ) -> SqlReport {
        let texts = resolved.model().texts();
        let is_counted = |stack| resolved.selected(stack, Mode::Unknown).is_some();
        let mut statements: BTreeMap<&str, CommandStats> = BTreeMap::new();
        let mut all = CommandStats::default();
        let mut sites: Vec<_> =
            self.sites.into_iter().filter(|((_, stack), _)| is_counted(*stack)).collect();
        sites.sort_few_by_key(|(site, _)| *site);
        for ((statement, _), site) in sites {
            for sum in [&mut all, statements.entry(texts.get(statement)).or_default()] {
                sum.count = sum.count.saturating_add(site.count);
                sum.errors = sum.errors.saturating_add(site.errors);
                sum.durations.merge(&site.durations);
                sum.add_rows(site.rows);
            }
        }
        let mut ran = Ran::default();
        for unit in self.units.finish() {
            ran.add(unit, resolved, &is_counted);
        }
        let different = statements.len() as u64;
        let mut statements: Vec<_> = statements.into_iter().collect();
        statements.sort_few_by_key(|(text, stats)| {
            (Reverse(stats.durations.sum()), Reverse(stats.count), *text)
        });
        statements.truncate(top);
        let statements = statements.into_iter().map(|(text, stats)| SqlStatement {
            text: text.to_owned(),
            count: stats.count,
            errors: stats.errors,
            durations: stats.durations.spread(),
            rows: stats.rows,
            places: ran.places_of(text, top),
        });
        let statements = statements.collect();
        let all_requests = ran.requests();
        SqlReport {
            schema: SCHEMA,
            count: all.count,
            errors: all.errors,
            durations: all.durations.spread(),
            sources,
            statements,
            different,
            requests: all_requests.iter().take(top).cloned().collect(),
            all_requests,
            used,
        }
    }
}

/// Request or method that ran a statement: whether it is a request, and its name.
type RanBy<'r> = (bool, &'r str);

#[derive(Debug, Default)]
struct PlaceSums {
    count: u64,
    units: u64,
    most_in_one: u64,
    total_ns: u64,
}

/// Sums of the requests and methods that ran statements.
#[derive(Debug, Default)]
struct Ran<'r> {
    places: BTreeMap<(&'r str, RanBy<'r>), PlaceSums>,
    requests: BTreeMap<RanBy<'r>, (PlaceSums, BTreeSet<&'r str>)>,
}

impl<'r> Ran<'r> {
    /// Adds units that ran equal commands.
    fn add(
        &mut self,
        row: UnitRow,
        resolved: &'r Resolved<'_>,
        is_counted: &dyn Fn(StackHandle) -> bool,
    ) {
        let texts = resolved.model().texts();
        let label = row.label.map(|label| (true, texts.get(label)));
        // A unit may run a statement from several stacks of one method.
        let mut of_unit: BTreeMap<(&str, RanBy<'_>), (u64, u64)> = BTreeMap::new();
        for (statement, stack, count, nanos) in row.commands {
            if !is_counted(stack) {
                continue;
            }
            let frames = resolved.frames(stack).iter().filter_map(|at| resolved.frame(*at));
            let place = label.unwrap_or_else(|| (false, own_method(frames).unwrap_or_default()));
            let sums = of_unit.entry((texts.get(statement), place)).or_default();
            *sums = (sums.0.saturating_add(count), sums.1.saturating_add(nanos));
        }
        let times = row.units.max(1);
        let mut all: BTreeMap<RanBy<'_>, (u64, u64)> = BTreeMap::new();
        for ((statement, place), (count, nanos)) in of_unit {
            self.places.entry((statement, place)).or_default().add(row.units, times, count, nanos);
            let sums = all.entry(place).or_default();
            *sums = (sums.0.saturating_add(count), sums.1.saturating_add(nanos));
            self.requests.entry(place).or_default().1.insert(statement);
        }
        for (place, (count, nanos)) in all {
            self.requests.entry(place).or_default().0.add(row.units, times, count, nanos);
        }
    }

    fn places_of(&self, statement: &str, top: usize) -> Vec<SqlPlace> {
        let of_it = self.places.iter().filter(|((text, _), _)| *text == statement);
        let mut places: Vec<SqlPlace> = of_it
            .map(|((_, (is_request, name)), sums)| SqlPlace {
                name: (*name).to_owned(),
                is_request: *is_request,
                count: sums.count,
                units: sums.units,
                most_in_one: sums.most_in_one,
                total_ns: sums.total_ns,
            })
            .collect();
        places.sort_few_by_key(|place| Reverse(place.count));
        places.truncate(top);
        places
    }

    /// Returns the commands by request or method, most commands first.
    fn requests(self) -> Vec<SqlRequests> {
        let rows = self.requests.into_iter();
        let mut rows: Vec<SqlRequests> = rows
            .map(|((is_request, name), (sums, statements))| SqlRequests {
                name: name.to_owned(),
                is_request,
                units: sums.units,
                commands: sums.count,
                most_in_one: sums.most_in_one,
                statements: statements.len() as u64,
                total_ns: sums.total_ns,
            })
            .collect();
        rows.sort_few_by_key(|row| Reverse(row.commands));
        rows
    }
}

impl PlaceSums {
    /// Adds commands of `units` known units: `times` runs with `count` commands each, which took
    /// `nanos` nanoseconds together.
    fn add(&mut self, units: u64, times: u64, count: u64, nanos: u64) {
        self.units = self.units.saturating_add(units);
        self.count = self.count.saturating_add(count.saturating_mul(times));
        if units > 0 {
            self.most_in_one = self.most_in_one.max(count);
        }
        self.total_ns = self.total_ns.saturating_add(nanos);
    }
}

/// Returns the path of the request that the scopes around a log message tell.
fn path_in(around: &Around) -> Option<&str> {
    let words = around.scopes.iter().flat_map(|scope| scope.split(' '));
    words.filter_map(|word| word.strip_prefix("RequestPath=")).next_back()
}

/// Returns the HTTP method of the request that a log message begins.
fn begun_method(message: &LoggedMessage) -> Option<&str> {
    if message.logger != HOSTING {
        return None;
    }
    let text = message.text.strip_prefix(BEGINS).and_then(|rest| rest.split(' ').nth(1));
    let is_begin = || message.template.as_deref().is_some_and(|it| it.starts_with(BEGINS));
    let method = || message.arguments.iter().find(|(name, _)| name == "Method");
    text.or_else(|| method().filter(|_| is_begin()).map(|(_, method)| method.as_str()))
}

/// Returns the innermost method of the program's own code, without arguments and module; without
/// one, the endpoint whose handler is on the stack, or that handler.
fn own_method<'r>(mut frames: impl Iterator<Item = &'r Arc<Frame>> + Clone) -> Option<&'r str> {
    let own = frames.clone().find(|frame| Folding::is_own(frame));
    let handler = || frames.find(|frame| frame.is_handler);
    let frame = own.or_else(handler)?;
    let endpoint = frame.endpoint.as_deref().filter(|_| frame.is_handler);
    Some(endpoint.unwrap_or_else(|| frame.qualified_name()))
}
