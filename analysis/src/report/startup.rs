//! Start of a program: from the runtime's first event to `Main` and the first request, and the
//! methods and assemblies compiled and loaded until then.

use super::activities::Activities;
use super::contract::{DEFAULT_ROWS, Moment, Recording, Report, SCHEMA};
use super::jit::{Jit, JitMethod};
use super::loader::{AssemblyRow, Loader};
use super::occurrence::Lasted;
use crate::model::{Model, Resolved, is_core};
use crate::sorted::SortFew;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::cmp::Reverse;

/// Time after the runtime's first event at which the start ends if there is no request, in
/// nanoseconds.
const FIRST_NANOS: i64 = 1_000_000_000;
/// Id of the first event of a runtime, which is in a trace only if the session exists before the
/// process runs.
pub(crate) const RUNTIME_STARTS: u32 = 187;

/// Computes a [`StartupReport`].
#[derive(Debug)]
pub struct Startup {
    began_ns: Option<i64>,
    first_request_ns: Option<i64>,
    jit: Jit,
    loader: Loader,
    requests: Activities,
    top: usize,
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
    /// End of the start: the answer to the first request, or one second.
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
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let is_runtime = event.known_provider() == KnownProvider::Runtime;
        if is_runtime && event.id() == RUNTIME_STARTS && moment.is_selected {
            self.began_ns.get_or_insert(moment.nanos);
        }
        let mut is_about = false;
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

    fn finish(self, resolved: &Resolved<'_>) -> StartupReport {
        let began = self.began_ns.unwrap_or(0);
        let since = |nanos: i64| nanos.saturating_sub(began);
        let first_request_ns = self.first_request_ns.map(since);
        let until_ns = first_request_ns.unwrap_or(FIRST_NANOS);
        let is_early = |nanos: i64| (0..=until_ns).contains(&since(nanos));
        let mut slowest = self.jit.finish(resolved).methods;
        let main = slowest.iter().find(|method| method.is_main);
        let main_ns = main.map(|main| {
            let length = i64::try_from(main.duration_ns).unwrap_or(i64::MAX);
            since(main.start_ns.saturating_add(length))
        });
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
            until_ns,
            methods,
            jit_ns,
            assemblies: loaded.len() as u64,
            slowest,
            loaded,
        }
    }
}
