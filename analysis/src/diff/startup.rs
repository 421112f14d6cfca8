//! Measures how long a program took to start, in traces that begin with the start of their process.

use super::work::TimedWork;
use crate::fact::comparison::Measure;
use crate::model::is_core;
use crate::report::Moment;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// Time from the runtime's start in which assemblies and compilations count, in nanoseconds.
const START_NANOS: i64 = 1_000_000_000;

/// Times and numbers of a program's start. Times are relative to `began_ns`, the first event 187 of
/// the runtime, which is only recorded if the session exists before the process runs.
#[derive(Debug, Default)]
pub(super) struct StartTimes {
    began_ns: Option<i64>,
    program_ns: Option<i64>,
    first_request_ns: Option<i64>,
    jit_nanos: u64,
    jit_methods: u64,
    assemblies: u64,
    has_jit: bool,
}

impl StartTimes {
    pub(super) fn event(&mut self, event: &Event<'_>, moment: &Moment) {
        if event.known_provider() != KnownProvider::Runtime || !moment.is_selected {
            return;
        }
        match event.id() {
            187 => {
                self.began_ns.get_or_insert(moment.nanos);
            }
            154 => self.assembly(event, moment.nanos),
            _ => {}
        }
    }

    /// Notes the load of an assembly. The program can run once the first assembly besides the
    /// runtime's core is loaded.
    fn assembly(&mut self, event: &Event<'_>, nanos: i64) {
        let Some(since) = self.since(nanos) else { return };
        if since < START_NANOS {
            self.assemblies = self.assemblies.saturating_add(1);
        }
        if self.program_ns.is_some() {
            return;
        }
        let field = event.fields().find("FullyQualifiedAssemblyName");
        let name = field.and_then(|field| field.value.ok()?.to_text());
        if name.is_some_and(|name| !is_core(&name)) {
            self.program_ns = Some(since);
        }
    }

    /// Notes that methods were compiled.
    pub(super) fn compiled(&mut self, work: &TimedWork) {
        self.has_jit = true;
        if self.since(work.nanos).is_some_and(|since| since < START_NANOS) {
            self.jit_nanos = self.jit_nanos.saturating_add(work.spent_nanos);
            self.jit_methods = self.jit_methods.saturating_add(work.count);
        }
    }

    /// Notes that a request was answered.
    pub(super) fn answered(&mut self, end_ns: i64) {
        if let Some(since) = self.since(end_ns) {
            self.first_request_ns =
                Some(self.first_request_ns.map_or(since, |first| first.min(since)));
        }
    }

    fn since(&self, nanos: i64) -> Option<i64> {
        nanos.checked_sub(self.began_ns?).filter(|since| *since >= 0)
    }

    /// Returns the values to compare; empty if the trace does not begin with the start of
    /// its process.
    pub(super) fn values(&self) -> Vec<(Measure, f64)> {
        if self.began_ns.is_none() {
            return Vec::new();
        }
        let times =
            [(Measure::Program, self.program_ns), (Measure::FirstRequest, self.first_request_ns)];
        let times = times.into_iter().filter_map(|(measure, since)| Some((measure, since? as f64)));
        let assemblies =
            (self.assemblies > 0).then_some((Measure::Assemblies, self.assemblies as f64));
        let jit =
            [(Measure::Jit, self.jit_nanos as f64), (Measure::JitMethods, self.jit_methods as f64)];
        let jit = jit.into_iter().filter(|_| self.has_jit);
        times.chain(assemblies).chain(jit).collect()
    }
}
