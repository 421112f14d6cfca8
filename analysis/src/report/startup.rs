//! Start of a program: from the runtime's first event to `Main` and the first request, and the
//! methods and assemblies compiled and loaded until then.

use super::activities::Activities;
use super::contract::{DEFAULT_ROWS, Moment, Recording, Report, SCHEMA};
use super::jit::{Jit, JitMethod};
use super::loader::{AssemblyRow, Loader};
use super::occurrence::Lasted;
use crate::hash::HashMap;
use crate::model::{Model, Pattern, Resolved, StackHandle, is_core};
use crate::sorted::SortFew;
use nettrace_parser::view::KnownProvider;
use nettrace_parser::{Event, Value};
use std::cmp::Reverse;

/// Time after the runtime's first event at which the start ends if there is no request, in
/// nanoseconds.
const FIRST_NANOS: i64 = 1_000_000_000;
/// Id of the first event of a runtime, which is in a trace only if the session exists before the
/// process runs.
pub(crate) const RUNTIME_STARTS: u32 = 187;
/// Id of the event with which a runtime tells, mostly in the rundown, when it reached a point of its
/// start.
const CHECKPOINT: u32 = 300;
/// Name of the checkpoint at which Mono begins.
const MONO_BEGINS: &str = "RuntimeInit";

/// Computes a [`StartupReport`].
#[derive(Debug)]
pub struct Startup {
    began_ns: Option<i64>,
    first_request_ns: Option<i64>,
    jit: Jit,
    loader: Loader,
    requests: Activities,
    top: usize,
    /// Pattern of the method up to which the start lasts, and the time of the first sample with each
    /// stack.
    until: Option<(Pattern, HashMap<StackHandle, i64>)>,
}

impl Startup {
    /// Lets the start last until a method whose name matches is reached for the first time: until
    /// its compilation ends, or the first sample with it.
    #[must_use]
    pub fn until(self, method: Pattern) -> Startup {
        Startup { until: Some((method, HashMap::default())), ..self }
    }
}

impl Default for Startup {
    /// Lists the 20 methods that took longest to compile.
    fn default() -> Startup {
        Startup {
            began_ns: None,
            first_request_ns: None,
            jit: Jit::default(),
            loader: Loader::default(),
            requests: Activities::without_parts().with_http().with_each().without_fields(),
            top: DEFAULT_ROWS,
            until: None,
        }
    }
}

/// Start of a program. Times are in nanoseconds since the runtime's first event; if the trace does
/// not have that event, since the session's start.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StartupReport {
    /// Version of this document.
    pub schema: u32,
    /// Time of the runtime's first event, in nanoseconds since the session's start; `None` if the
    /// process ran before the session.
    pub began_ns: Option<i64>,
    /// Time at which the first assembly that is not the runtime's own was loaded; `None` if not
    /// recorded.
    pub program_ns: Option<i64>,
    /// Full name of the first assembly that is not the runtime's own.
    pub program: Option<String>,
    /// Time at which the compilation of `Main` ended; `None` if `Main` was not compiled, or that
    /// was not recorded.
    pub main_ns: Option<i64>,
    /// Time at which the first request was answered; `None` if there was none.
    pub first_request_ns: Option<i64>,
    /// First time that the method of [`Startup::until`] was reached; `None` if it was not, or none was
    /// asked for.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub reached: Option<Reached>,
    /// End of the start: [`Reached::at_ns`], or the answer to the first request, or one second.
    pub until_ns: i64,
    /// Number of methods compiled during the start.
    pub methods: u64,
    /// Time spent compiling during the start, summed over threads, in nanoseconds.
    pub jit_ns: u64,
    /// Number of assemblies loaded during the start.
    pub assemblies: u64,
    /// Methods compiled during the start that took longest, longest first.
    pub slowest: Vec<JitMethod>,
    /// Assemblies loaded during the start, in the order of loading.
    pub loaded: Vec<AssemblyRow>,
}

/// First time that a method was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Reached {
    /// Name of the method.
    pub name: String,
    /// Time, in nanoseconds like those of the report.
    pub at_ns: i64,
    /// What showed it first.
    pub by: ReachedBy,
}

/// What showed that a method was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ReachedBy {
    /// The end of its first compilation, directly before the first call.
    Compilation,
    /// The first sample with it, as precompiled methods are not compiled. It may have run before.
    Sample,
}

impl Report for Startup {
    type Output = StartupReport;

    const NAME: &'static str = "startup";
    const ABOUT: &'static str =
        "How the program started: time to Main, compilation, loading, first request";
    const RECORD: &'static [Recording] = &[Recording::runtime(0x18, 5)];

    fn top(mut self, rows: usize) -> Startup {
        self.top = rows;
        self
    }

    fn wants(&self, event: &Event<'_>) -> bool {
        self.jit.wants(event)
            || self.loader.wants(event)
            || self.requests.wants(event)
            || event.known_provider() == KnownProvider::Runtime && event.id() == RUNTIME_STARTS
            || is_checkpoint(event)
            || self.until.is_some() && is_sample(event)
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let is_runtime = event.known_provider() == KnownProvider::Runtime;
        if is_runtime && event.id() == RUNTIME_STARTS && moment.is_selected {
            self.began_ns.get_or_insert(moment.nanos);
        }
        let mut is_about = false;
        if is_checkpoint(event) {
            self.began_ns = self.began_ns.or_else(|| mono_begins(event));
        }
        if let Some((_, first)) = self.until.as_mut().filter(|_| is_sample(event)) {
            if moment.is_selected {
                first.entry(model.stack_of(event, moment.thread)).or_insert(moment.nanos);
            }
            return false;
        }
        if self.jit.wants(event) {
            is_about |= self.jit.event(event, moment, model);
        }
        if self.loader.wants(event) {
            is_about |= self.loader.event(event, moment, model);
        }
        if self.requests.wants(event) {
            self.requests.event(event, moment, model);
            let [_, ended] = self.requests.take_ended();
            for request in ended {
                let Lasted::Nanos(nanos) = request.lasted else { continue };
                let end = request.start_nanos.saturating_add_unsigned(nanos);
                self.first_request_ns =
                    Some(self.first_request_ns.map_or(end, |first| first.min(end)));
            }
        }
        is_about
    }

    fn has_more(output: &StartupReport) -> bool {
        output.reached.is_some()
    }

    fn finish(self, resolved: &Resolved<'_>) -> StartupReport {
        let began = self.began_ns.unwrap_or(0);
        let since = |nanos: i64| nanos.saturating_sub(began);
        let first_request_ns = self.first_request_ns.map(since);
        let mut slowest = self.jit.finish(resolved).methods;
        let reached = self.until.and_then(|(method, first)| {
            let compiled = first_compiled(&method, &slowest);
            let reached = compiled.into_iter().chain(first_sampled(&method, &first, resolved));
            let first = reached.min_by_key(|reached| reached.at_ns)?;
            Some(Reached { at_ns: since(first.at_ns), ..first })
        });
        let reached_ns = reached.as_ref().map(|reached| reached.at_ns);
        let until_ns = reached_ns.or(first_request_ns).unwrap_or(FIRST_NANOS);
        let is_early = |nanos: i64| (0..=until_ns).contains(&since(nanos));
        let main = slowest.iter().find(|method| method.is_main);
        let main_ns = main.map(|main| since(compiled_ns(main)));
        slowest.retain(|method| is_early(method.start_ns));
        let methods = slowest.len() as u64;
        let jit_ns =
            slowest.iter().fold(0_u64, |sum, method| sum.saturating_add(method.duration_ns));
        slowest.sort_few_by_key(|method| (Reverse(method.duration_ns), method.start_ns));
        slowest.truncate(self.top);
        let mut loaded = self.loader.finish(resolved).assemblies;
        loaded.retain(|row| row.loaded_ns.is_some_and(is_early));
        loaded.sort_few_by_key(|row| row.loaded_ns);
        let program = loaded.iter().find(|row| !is_core(&row.name));
        StartupReport {
            schema: SCHEMA,
            began_ns: self.began_ns,
            program_ns: program.and_then(|row| row.loaded_ns).map(since),
            program: program.map(|row| row.name.clone()),
            main_ns,
            first_request_ns,
            reached,
            until_ns,
            methods,
            jit_ns,
            assemblies: loaded.len() as u64,
            slowest,
            loaded,
        }
    }
}

fn is_checkpoint(event: &Event<'_>) -> bool {
    let provider = event.known_provider();
    matches!(provider, KnownProvider::Runtime | KnownProvider::Rundown) && event.id() == CHECKPOINT
}

fn is_sample(event: &Event<'_>) -> bool {
    match event.known_provider() {
        KnownProvider::SampleProfiler => event.id() == 0,
        KnownProvider::UniversalEvents => event.name() == "cpu",
        _ => false,
    }
}

/// Returns the time at which Mono began, in nanoseconds since the session's start, if the event tells
/// it.
fn mono_begins(event: &Event<'_>) -> Option<i64> {
    let fields = &mut event.fields();
    let Value::Utf16(name) = fields.find("Name")?.value.ok()? else { return None };
    let ticks = fields.find("Timestamp")?.value.ok()?.as_u64().filter(|_| name == MONO_BEGINS)?;
    event.session().clock().nanos_since_start(ticks)
}

/// Returns the end of a compilation, in nanoseconds since the session's start.
fn compiled_ns(method: &JitMethod) -> i64 {
    method.start_ns.saturating_add_unsigned(method.duration_ns)
}

fn first_compiled(method: &Pattern, compilations: &[JitMethod]) -> Option<Reached> {
    let matching = compilations.iter().filter(|row| method.is_match(&row.name));
    matching.min_by_key(|row| compiled_ns(row)).map(|row| Reached {
        name: row.name.clone(),
        at_ns: compiled_ns(row),
        by: ReachedBy::Compilation,
    })
}

/// Returns the first sample with a method that matches. `first` has the first time of each stack.
fn first_sampled(
    method: &Pattern,
    first: &HashMap<StackHandle, i64>,
    resolved: &Resolved<'_>,
) -> Option<Reached> {
    let found = first.iter().filter_map(|(stack, at_ns)| {
        let mut frames = resolved.frames(*stack).iter();
        let frame = frames.find(|frame| method.is_match(resolved.text(**frame)))?;
        Some((*at_ns, *stack, *frame))
    });
    found.min().map(|(at_ns, _, frame)| Reached {
        name: resolved.text(frame).to_owned(),
        at_ns,
        by: ReachedBy::Sample,
    })
}
