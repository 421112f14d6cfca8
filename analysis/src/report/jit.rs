//! Methods compiled at run time: time, size, tier, and decisions of the compiler.

use super::contract::{Moment, Recording, Report, SCHEMA};
use super::counts::{ReasonCount, increase};
use super::fields::Walk;
use crate::hash::HashMap;
use crate::model::intervals::Matcher;
use crate::model::{
    Model, NameOptions, ProcessHandle, Resolved, TextHandle, ThreadHandle, method_frame,
};
use crate::sorted::SortFew;
use nettrace_parser::Event;
use nettrace_parser::view::{self, KnownProvider, MethodChange, Tier, View};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Computes a [`JitReport`].
///
/// | event | meaning |
/// |---|---|
/// | runtime 145 | a thread starts to compile a method |
/// | runtime 141, 143 | its code is ready |
/// | runtime 283, 284 | a background thread starts, stops recompiling frequently called methods |
/// | runtime 185, 186, 192 | a call was inlined, or not |
/// | runtime 188, 189, 191 | a call became a jump, or not |
/// | runtime 160, 159 | precompiled code was searched for, and found |
///
/// A compilation without its start in the trace has no duration; one without its end has no code.
/// The report keeps a row for each compilation, because it lists them; there are about as many as
/// methods times tiers. The page lists none, so it has none kept.
#[derive(Debug, Default)]
pub struct Jit {
    /// Methods being compiled, by thread and method id; `None` if the filter does not admit the
    /// start.
    open: Matcher<(ThreadHandle, u64), Option<CompilationRow>>,
    /// Number of compilations that have begun.
    begun: u64,
    done: DoneCompilations,
    background: BTreeSet<ThreadHandle>,
    inlining: Decisions,
    tail_calls: Decisions,
    lookups: u64,
    found: u64,
}

/// Compilations about which no more events will come.
#[derive(Debug, Default)]
struct DoneCompilations {
    rows: Vec<CompilationRow>,
    totals: JitTotals,
    tiers: BTreeMap<&'static str, TierTotals>,
    omits_rows: bool,
    /// Compilations that have not been taken; `None` if nobody takes them.
    ended: Option<Vec<Compilation>>,
}

/// What a page shows of a compilation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
pub(crate) struct Compilation {
    pub(crate) start_ns: i64,
    pub(crate) duration_ns: u64,
    pub(crate) tier: Tier,
}

#[derive(Debug)]
struct CompilationRow {
    /// Number of the compilation, in the order in which they began.
    number: u64,
    process: ProcessHandle,
    thread: ThreadHandle,
    module_id: u64,
    ticks: u64,
    start_ns: i64,
    duration_ns: u64,
    il_bytes: u32,
    native_bytes: u32,
    tier: Tier,
    flags: u32,
    is_background: bool,
    is_complete: bool,
    /// Whether the program generated the method at run time.
    is_dynamic: bool,
    name: [TextHandle; 3],
}

#[derive(Debug, Default)]
struct Decisions {
    done: u64,
    refused: BTreeMap<TextHandle, u64>,
}

/// Compiled methods: totals and list.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct JitReport {
    /// Version of this document.
    pub schema: u32,
    /// Totals of all compilations.
    pub totals: JitTotals,
    /// Totals by tier, most methods first.
    pub tiers: Vec<TierTotals>,
    /// Decisions to inline calls.
    pub inlining: JitDecisions,
    /// Decisions to make calls tail calls.
    pub tail_calls: JitDecisions,
    /// Compiled methods, in the order in which compilation started. A method is listed each time it
    /// was compiled.
    pub methods: Vec<JitMethod>,
    /// Compilations that had not been taken.
    #[cfg_attr(feature = "serde", serde(skip))]
    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
    pub(crate) ended: Vec<Compilation>,
}

/// Totals of all compilations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct JitTotals {
    /// Number of compiled methods.
    pub methods: u64,
    /// Size of the IL, in bytes.
    pub il_bytes: u64,
    /// Size of the native code, in bytes.
    pub native_bytes: u64,
    /// Time spent compiling, summed over threads, in nanoseconds.
    pub duration_ns: u64,
    /// Part of `duration_ns` spent compiling in the background.
    pub background_duration_ns: u64,
    /// Number of methods compiled in the background.
    pub background: u64,
    /// Number of methods compiled while one of their loops ran (on-stack replacement).
    pub osr: u64,
    /// Number of methods compiled because the runtime rejected their precompiled code.
    pub r2r_rejected: u64,
    /// Number of searches for precompiled code; 0 if they were not recorded.
    pub r2r_lookups: u64,
    /// Number of searches that found precompiled code.
    pub r2r_found: u64,
    /// Number of methods whose start or end of compilation is missing.
    pub incomplete: u64,
    /// Number of methods that the program generated at run time.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub dynamic: u64,
    /// Part of `duration_ns` spent compiling methods that the program generated.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub dynamic_duration_ns: u64,
}

/// Totals of the methods of one tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TierTotals {
    /// Name of the tier, such as `QuickJitted`.
    pub tier: &'static str,
    /// Number of compiled methods.
    pub methods: u64,
    /// Size of the native code, in bytes.
    pub native_bytes: u64,
    /// Time spent compiling, in nanoseconds.
    pub duration_ns: u64,
}

/// Decisions of one kind that the compiler made about calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct JitDecisions {
    /// Number of calls that the compiler changed.
    pub done: u64,
    /// Number of calls that the compiler refused to change.
    pub refused: u64,
    /// Reasons for refusals, most frequent first.
    pub reasons: Vec<ReasonCount>,
}

/// Compilation of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct JitMethod {
    /// Name of the method as in stacks: `Namespace.Type.Method(arguments)`.
    pub name: String,
    /// Short name of the module; empty if unknown.
    pub module: String,
    /// Size of the IL, in bytes; 0 for dynamically emitted code, and if the start is missing.
    pub il_bytes: u32,
    /// Size of the native code, in bytes; 0 if the end is missing.
    pub native_bytes: u32,
    /// Time spent compiling, in nanoseconds; 0 if the start or end is missing.
    pub duration_ns: u64,
    /// Start of the compilation, in nanoseconds since the session's start; the end if the start is
    /// missing.
    pub start_ns: i64,
    /// Name of the tier, such as `QuickJitted`; `Unknown` if the end is missing.
    pub tier: &'static str,
    /// Whether a background thread compiled the method.
    pub background: bool,
    /// OS id of the compiling thread; `None` if the stream does not contain it.
    pub thread: Option<u64>,
    /// OS id of the process; `None` if the stream does not contain it.
    pub process_id: Option<u64>,
    /// Whether the runtime rejected the method's precompiled code.
    pub r2r_rejected: bool,
    /// Whether the trace has start and end of the compilation.
    pub is_complete: bool,
    /// Part of an async method that the runtime itself suspends (.NET 11); `None` for other
    /// methods.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub async_part: Option<AsyncPart>,
    /// Whether the method is the program's `Main`.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub is_main: bool,
}

/// Part of an async method that the runtime itself suspends and resumes (runtime-async). Both parts
/// are compiled under one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum AsyncPart {
    /// Entry point for callers that want a task: creates the task and calls the body.
    Thunk,
    /// Method's own code, which returns the bare result.
    Body,
}

impl Jit {
    /// Lists no methods, which takes memory for each.
    pub(crate) fn without_methods(self) -> Jit {
        Jit { done: DoneCompilations { omits_rows: true, ..self.done }, ..self }
    }

    /// Keeps compilations until they are [taken](Jit::take_ended).
    #[cfg(feature = "page")]
    pub(crate) fn with_each(self) -> Jit {
        Jit { done: DoneCompilations { ended: Some(Vec::new()), ..self.done }, ..self }
    }

    /// Takes the compilations that have ended since the last call.
    #[cfg(feature = "page")]
    pub(crate) fn take_ended(&mut self) -> Vec<Compilation> {
        self.done.ended.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn started(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let Some(process) = model.thread(moment.thread).map(|row| row.process) else {
            return false;
        };
        let Some(jitting) = view::MethodJitting::from_event(event) else { return false };
        let row = moment.is_selected.then(|| {
            let texts = model.texts_mut();
            let name = [jitting.namespace, jitting.name, jitting.signature]
                .map(|text| texts.intern_stored(text));
            CompilationRow {
                module_id: jitting.module_id,
                il_bytes: jitting.il_bytes,
                is_background: self.background.contains(&moment.thread),
                ..self.begin(process, event, moment, name, model)
            }
        });
        let (key, at) = ((moment.thread, jitting.method_id), moment.edge(event));
        let Jit { open, done, .. } = self;
        open.start_again(key, at, row, |lost| done.add(lost.what));
        true
    }

    /// Returns the row of a compilation that begins, without what its event says.
    fn begin(
        &mut self,
        process: ProcessHandle,
        event: &Event<'_>,
        moment: &Moment,
        name: [TextHandle; 3],
        model: &Model,
    ) -> CompilationRow {
        let number = self.begun;
        self.begun = number.saturating_add(1);
        let [namespace, ..] = name;
        CompilationRow {
            number,
            process,
            thread: moment.thread,
            module_id: 0,
            ticks: event.timestamp_ticks(),
            start_ns: moment.nanos,
            duration_ns: 0,
            il_bytes: 0,
            native_bytes: 0,
            tier: Tier::Unknown,
            flags: 0,
            is_background: false,
            is_complete: false,
            is_dynamic: model.text(namespace) == DYNAMIC,
            name,
        }
    }

    fn loaded(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let Some(process) = model.thread(moment.thread).map(|row| row.process) else {
            return false;
        };
        let Some(method) = view::Method::from_event(event) else { return false };
        // Only hot sections: the cold section of a method is reported separately.
        if method.change != MethodChange::Load || !method.is_jitted() || method.extent() != 0 {
            return false;
        }
        let at = moment.edge(event);
        let compiled = self.open.stop((moment.thread, method.method_id), at, None, |_| {});
        let row = match compiled {
            Some(compiled) => compiled.what.map(|row| CompilationRow {
                duration_ns: compiled.nanos,
                is_complete: true,
                is_background: is_background(row.is_background, &method),
                ..row
            }),
            None if moment.is_selected => {
                let texts = model.texts_mut();
                let name = [method.namespace, method.name, method.signature]
                    .map(|text| texts.intern_stored(text));
                Some(CompilationRow {
                    module_id: method.module_id,
                    is_background: is_background(self.background.contains(&moment.thread), &method),
                    ..self.begin(process, event, moment, name, model)
                })
            }
            None => None,
        };
        self.done.add(row.map(|row| CompilationRow {
            native_bytes: method.size,
            tier: method.tier(),
            flags: method.flags,
            ..row
        }));
        true
    }
}

impl DoneCompilations {
    /// Adds a compilation to the totals, and to the list. Without a row there is nothing to add.
    fn add(&mut self, row: Option<CompilationRow>) {
        let Some(row) = row else { return };
        let totals = &mut self.totals;
        let tier = row.tier.as_str();
        increase(&mut totals.methods, 1);
        increase(&mut totals.il_bytes, u64::from(row.il_bytes));
        increase(&mut totals.native_bytes, u64::from(row.native_bytes));
        increase(&mut totals.duration_ns, row.duration_ns);
        increase(&mut totals.incomplete, u64::from(!row.is_complete));
        increase(&mut totals.r2r_rejected, u64::from(row.is_rejected()));
        increase(&mut totals.osr, u64::from(row.tier == Tier::OptimizedTier1Osr));
        if row.is_background {
            increase(&mut totals.background, 1);
            increase(&mut totals.background_duration_ns, row.duration_ns);
        }
        if row.is_dynamic {
            increase(&mut totals.dynamic, 1);
            increase(&mut totals.dynamic_duration_ns, row.duration_ns);
        }
        let of_tier = self.tiers.entry(tier).or_insert(TierTotals {
            tier,
            methods: 0,
            native_bytes: 0,
            duration_ns: 0,
        });
        increase(&mut of_tier.methods, 1);
        increase(&mut of_tier.native_bytes, u64::from(row.native_bytes));
        increase(&mut of_tier.duration_ns, row.duration_ns);
        if let Some(ended) = &mut self.ended {
            let CompilationRow { start_ns, duration_ns, tier, .. } = row;
            ended.push(Compilation { start_ns, duration_ns, tier });
        }
        if !self.omits_rows {
            self.rows.push(row);
        }
    }
}

/// Returns whether a method was compiled in the background. The first version of a method's code
/// never is, even on a thread that seems to work in the background: the event that ends its
/// background work was lost.
fn is_background(is_on_background_thread: bool, method: &view::Method<'_>) -> bool {
    let is_first = method.tier() == Tier::QuickJitted;
    (is_on_background_thread && !is_first) || is_recompiled(method)
}

/// Returns whether the code is a later version, at a tier that is compiled only in the background.
/// The events of the background thread may be missing: at the end of a session, .NET Core 3.x
/// reports methods without them.
fn is_recompiled(method: &view::Method<'_>) -> bool {
    let is_tier = matches!(
        method.tier(),
        Tier::OptimizedTier1 | Tier::OptimizedTier1Instrumented | Tier::QuickJittedInstrumented
    );
    is_tier && method.rejit_id.is_some_and(|id| id != 0)
}

fn refusal(event: &Event<'_>, model: &mut Model) -> Option<TextHandle> {
    Walk::new(event).text("FailReason", model.texts_mut())
}

impl Report for Jit {
    type Output = JitReport;

    const NAME: &'static str = "jit";
    const ABOUT: &'static str = "Methods that were compiled: time, size, tier";
    const RECORD: &'static [Recording] = &[Recording::runtime(0x10_0000_0010, 5)];

    fn wants(&self, event: &Event<'_>) -> bool {
        event.known_provider() == KnownProvider::Runtime
            && matches!(
                event.id(),
                141 | 143 | 145 | 159 | 160 | 185 | 186 | 188 | 189 | 191 | 192 | 283 | 284
            )
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let once = |count: &mut u64| increase(count, u64::from(moment.is_selected));
        match event.id() {
            145 => return self.started(event, moment, model),
            141 | 143 => return self.loaded(event, moment, model),
            283 => {
                self.background.insert(moment.thread);
                return false;
            }
            284 => {
                self.background.remove(&moment.thread);
                return false;
            }
            159 => once(&mut self.found),
            160 => once(&mut self.lookups),
            185 => once(&mut self.inlining.done),
            188 => once(&mut self.tail_calls.done),
            id @ (186 | 189 | 191 | 192) => {
                if let (true, Some(reason)) = (moment.is_selected, refusal(event, model)) {
                    let decisions = if matches!(id, 186 | 192) {
                        &mut self.inlining
                    } else {
                        &mut self.tail_calls
                    };
                    once(decisions.refused.entry(reason).or_default());
                }
            }
            _ => return false,
        }
        true
    }

    fn finish(mut self, resolved: &Resolved<'_>) -> JitReport {
        let model = resolved.model();
        self.open.finish(i64::MAX).for_each(|open| self.done.add(open.what));
        let DoneCompilations { mut rows, totals, tiers, .. } = self.done;
        rows.sort_few_by_key(|row| row.number);
        let mut methods: Vec<JitMethod> =
            rows.iter().map(|row| row.shown(model, resolved.names())).collect();
        name_async_parts(&rows, &mut methods, model);
        let mut tiers: Vec<TierTotals> = tiers.into_values().collect();
        tiers.sort_few_by_key(|row| (Reverse(row.methods), row.tier));
        JitReport {
            schema: SCHEMA,
            totals: JitTotals { r2r_lookups: self.lookups, r2r_found: self.found, ..totals },
            tiers,
            inlining: self.inlining.shown(model),
            tail_calls: self.tail_calls.shown(model),
            methods,
            ended: self.done.ended.unwrap_or_default(),
        }
    }
}

/// Namespace of methods that a program generates at run time.
const DYNAMIC: &str = "dynamicClass";

/// Flag of a method whose precompiled code the runtime rejected.
const R2R_REJECTED: u32 = 0x40;

impl CompilationRow {
    /// Returns whether the runtime rejected the method's precompiled code.
    fn is_rejected(&self) -> bool {
        self.flags & R2R_REJECTED != 0
    }

    fn shown(&self, model: &Model, names: NameOptions) -> JitMethod {
        let [namespace, name, signature] = self.name.map(|text| model.text(text));
        let process = model.process(self.process);
        let module = process.and_then(|process| process.modules.find(self.module_id, self.ticks));
        let frame = method_frame(namespace, name, signature, names);
        JitMethod {
            is_main: frame.is_main(),
            name: frame.text,
            module: module.map(|module| module.name.clone()).unwrap_or_default(),
            il_bytes: self.il_bytes,
            native_bytes: self.native_bytes,
            duration_ns: self.duration_ns,
            start_ns: self.start_ns,
            tier: self.tier.as_str(),
            background: self.is_background,
            thread: model.thread(self.thread).and_then(|row| row.os_thread_id),
            process_id: process.and_then(|process| process.id),
            r2r_rejected: self.is_rejected(),
            is_complete: self.is_complete,
            async_part: None,
        }
    }
}

/// Sets the parts of async methods: of two methods with one name and equal arguments, the one that
/// returns a task is the thunk, and the one that does not is the body.
fn name_async_parts(rows: &[CompilationRow], methods: &mut [JitMethod], model: &Model) {
    let texts = model.texts();
    let part = |row: &CompilationRow| {
        let signature = texts.get({
            let [_, _, signature] = row.name;
            signature
        });
        let (result, _) = signature.split_once('(').unwrap_or((signature, ""));
        let is_task = ["System.Threading.Tasks.Task", "System.Threading.Tasks.ValueTask"];
        if is_task.iter().any(|name| result.contains(name)) {
            AsyncPart::Thunk
        } else {
            AsyncPart::Body
        }
    };
    let key = |row: &CompilationRow| {
        let [namespace, name, signature] = row.name;
        let arguments = texts.get(signature).split_once('(').map_or("", |(_, rest)| rest);
        (row.process, row.module_id, namespace, name, arguments)
    };
    let mut parts: HashMap<_, [bool; 2]> = HashMap::default();
    for row in rows {
        let [has_thunk, has_body] = parts.entry(key(row)).or_default();
        match part(row) {
            AsyncPart::Thunk => *has_thunk = true,
            AsyncPart::Body => *has_body = true,
        }
    }
    for (row, method) in rows.iter().zip(methods) {
        let has_both = parts.get(&key(row)).is_some_and(|has| *has == [true, true]);
        method.async_part = has_both.then(|| part(row));
    }
}

impl Decisions {
    fn shown(&self, model: &Model) -> JitDecisions {
        let mut reasons: Vec<ReasonCount> = self
            .refused
            .iter()
            .map(|(reason, count)| ReasonCount {
                reason: model.text(*reason).to_owned(),
                count: *count,
            })
            .collect();
        reasons
            .sort_few_by(|a, b| (Reverse(a.count), &a.reason).cmp(&(Reverse(b.count), &b.reason)));
        JitDecisions {
            done: self.done,
            refused: self.refused.values().fold(0, |sum, count| sum.saturating_add(*count)),
            reasons,
        }
    }
}
