//! Which of the program's own methods ran, and what they call: a sample belongs to its
//! innermost frame of own code, as what the framework does there was asked for there.

use super::Finding;
use super::finding::short_name;
use crate::document::percent;
use crate::model::{
    Folding, FrameHandle, Kind, Module, ProfileKey, Resolved, Running as Certainty, StackHandle,
    ThreadHandle, Totals, WaitFor,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A method is notable if it has as many samples, which is 50 ms at the usual rate, and one
/// in so many of all samples, waiting ones included.
const LEAST_SAMPLES: u64 = 50;
const LEAST_SHARE: u64 = 100;
/// Of a shorter run the method that ran most is named all the same, from so many samples
/// on.
const FEW_SAMPLES: u64 = 5;
/// What takes a smaller percentage of a method's time is not named beside it.
const LEAST_CALL: f64 = 20.0;
/// Frames of what a recording itself does in the process: it starts event sources and
/// writes their manifests.
const RECORDING: [&str; 3] = [
    "EventSource.InitializeDefaultEventSources",
    "EventSource.SendCommand",
    "EventSource.DoCommand",
];

/// Frames of input and output.
const IO: [&str; 4] = ["System.Net.", "System.IO.", "Interop.Sys.", "Interop.Winsock."];

/// Time of a method, by how certain it is that it ran.
#[derive(Debug, Default)]
struct Method {
    nanos: u64,
    samples: u64,
    /// Samples that ran for certain, those that took a lock among them.
    certain: u64,
    /// Of the methods that it calls and that are not own.
    calls: BTreeMap<FrameHandle, u64>,
}

impl Method {
    /// `, of it 94 % in Regex.IsMatch`: the call into other code that takes most, by a method
    /// that a user may have written. Where the compiler has put that into its caller, only
    /// helpers of it are seen there; then the call that is seen elsewhere is an example.
    fn call(&self, resolved: &Resolved<'_>) -> Option<String> {
        let most = |is: &dyn Fn(&str) -> bool| {
            let calls =
                self.calls.iter().filter(|(call, _)| is(&short_name(resolved.text(**call))));
            calls.max_by_key(|(call, nanos)| (**nanos, Reverse(**call)))
        };
        let (call, nanos) = most(&|_| true)?;
        let name = short_name(resolved.text(*call));
        if !is_helper(&name) {
            let share = percent(*nanos, self.nanos);
            return (share >= LEAST_CALL).then(|| format!(", of it {share:.0} % in {name}"));
        }
        let all =
            percent(self.calls.values().fold(0, |sum, it| sum.saturating_add(*it)), self.nanos);
        let (example, _) = most(&|name| !is_helper(name))?;
        let example = short_name(resolved.text(*example));
        (all >= LEAST_CALL).then(|| format!(", of it {all:.0} % in calls such as {example}"))
    }
}

/// Whether a method is one that only the framework calls.
fn is_helper(name: &str) -> bool {
    let (type_name, method) = name.rsplit_once('.').unwrap_or(("", name));
    let type_name = type_name.split('<').next().unwrap_or_default();
    let is_inner = |name: &str| name.contains("Helper") || INNER_TYPES.contains(&name);
    is_inner(type_name)
        || type_name.rsplit('.').next().is_some_and(is_inner)
        || method.starts_with("Throw")
        || method.contains("Slow")
        || name.contains('→')
}

/// Types whose methods stand behind others that users call.
const INNER_TYPES: [&str; 11] = [
    "Buffer",
    "Number",
    "RuntimeTypeHandle",
    "MethodTable",
    "Marvin",
    "SR",
    "GC",
    "Utf8Utility",
    "Utf16Utility",
    "DefaultBinder",
    "EH",
];

/// The program's own methods.
#[derive(Debug, Default)]
pub(super) struct OwnCode {
    methods: BTreeMap<FrameHandle, Method>,
    /// Time and samples that are not known to have waited.
    nanos: u64,
    samples: u64,
    /// All samples.
    sampled: u64,
    /// Methods in which threads waited for a lock: how long, and which threads.
    lock_waits: BTreeMap<FrameHandle, (u64, BTreeSet<ThreadHandle>)>,
    /// Methods in which threads slept.
    sleeps: BTreeMap<FrameHandle, u64>,
    /// Methods in which `GC.Collect` and `Thread.Start` were called, by their samples.
    collects: BTreeMap<FrameHandle, u64>,
    starts: BTreeMap<FrameHandle, u64>,
}

impl OwnCode {
    pub(super) fn new(resolved: &Resolved<'_>) -> OwnCode {
        let own = OwnModules::of(resolved);
        // Names may be long and stacks deep, so each name is looked at once.
        let all = (0_u32..).zip(resolved.all_frames());
        let facts: Vec<FrameFacts> =
            all.map(|(at, _)| FrameFacts::of(resolved, &own, FrameHandle(at))).collect();
        let mut code = OwnCode::default();
        let mut places: HashMap<StackHandle, Place> = HashMap::new();
        let rows = resolved.profile().rows();
        for (key, totals) in rows.iter().filter(|(key, _)| key.kind == Kind::Cpu) {
            code.sampled = code.sampled.saturating_add(totals.samples);
            if !resolved.admits(key.stack, key.mode) {
                continue;
            }
            let place = *places
                .entry(key.stack)
                .or_insert_with(|| Place::of(resolved.frames(key.stack), &facts));
            if let Some(method) = place.method {
                for (is_called, callers) in
                    [(place.collects, &mut code.collects), (place.starts, &mut code.starts)]
                {
                    if is_called {
                        let samples = callers.entry(method).or_default();
                        *samples = samples.saturating_add(totals.samples);
                    }
                }
            }
            let Some(how) = resolved.running(key.stack, key.mode) else {
                if let Some(method) = place.method {
                    code.add_wait(resolved.waits_for(key.stack, key.mode), method, key, totals);
                }
                continue;
            };
            code.nanos = code.nanos.saturating_add(totals.weight);
            code.samples = code.samples.saturating_add(totals.samples);
            let Some(method) = place.method.filter(|_| !place.records) else { continue };
            let is_certain =
                matches!(how, Certainty::Managed | Certainty::Computing | Certainty::TakingLock);
            // A native call for input or output may well have waited.
            if !is_certain && place.does_io {
                continue;
            }
            let row = code.methods.entry(method).or_default();
            row.nanos = row.nanos.saturating_add(totals.weight);
            row.samples = row.samples.saturating_add(totals.samples);
            if is_certain {
                row.certain = row.certain.saturating_add(totals.samples);
            }
            if let Some(call) = place.calls {
                let nanos = row.calls.entry(call).or_default();
                *nanos = nanos.saturating_add(totals.weight);
            }
        }
        code
    }

    fn add_wait(
        &mut self,
        waits_for: Option<WaitFor>,
        method: FrameHandle,
        key: &ProfileKey,
        totals: &Totals,
    ) {
        match waits_for {
            Some(WaitFor::Lock) => {
                let (nanos, threads) = self.lock_waits.entry(method).or_default();
                *nanos = nanos.saturating_add(totals.weight);
                threads.insert(key.thread);
            }
            Some(WaitFor::Sleep) => {
                let nanos = self.sleeps.entry(method).or_default();
                *nanos = nanos.saturating_add(totals.weight);
            }
            _ => {}
        }
    }

    /// Waits for a lock, by samples alone: for traces without the events of locks.
    pub(super) fn lock_waits(&self, resolved: &Resolved<'_>, trace_ns: u64) -> Option<Finding> {
        let most =
            self.lock_waits.iter().max_by_key(|(method, (nanos, _))| (*nanos, Reverse(**method)));
        let (method, (nanos, threads)) = most?;
        let held =
            if self.sleeps.contains_key(method) { ", in which the holder sleeps" } else { "" };
        Finding::sampled_lock_waits(
            resolved.text(*method),
            held,
            (*nanos, trace_ns),
            threads.len() as u64,
        )
    }

    /// The method in which most of the running time is, with what it calls; `None` if there
    /// are too few samples to say so.
    pub(super) fn hottest(&self, resolved: &Resolved<'_>) -> Option<Finding> {
        // What may only have waited in native code leads nothing.
        let ran =
            self.methods.iter().filter(|(_, row)| row.certain.saturating_mul(10) >= row.samples);
        let (method, row) = ran.max_by_key(|(method, row)| (row.nanos, Reverse(**method)))?;
        let is_enough =
            row.certain >= LEAST_SAMPLES && row.samples.saturating_mul(LEAST_SHARE) >= self.sampled;
        let is_short = self.samples < LEAST_SAMPLES * 4 && row.certain >= FEW_SAMPLES;
        if !is_enough && !is_short {
            return None;
        }
        let native = row.samples.saturating_sub(row.certain);
        let how = match (is_enough, native > row.certain) {
            (false, _) => ", which are few".to_owned(),
            (true, true) => format!(", {native} in native calls, which may not have run"),
            (true, false) => String::new(),
        };
        Finding::own_method(
            resolved.text(*method),
            &row.call(resolved).unwrap_or_default(),
            (row.nanos, self.nanos),
            (row.samples, &how),
        )
    }

    /// The method that most samples are in which are not known to have waited. Those in native
    /// calls are among them: allocating is one.
    pub(super) fn busiest<'r>(&self, resolved: &'r Resolved<'_>) -> Option<&'r str> {
        let most = self.methods.iter().max_by_key(|(method, row)| (row.nanos, Reverse(**method)));
        let (method, _) = most.filter(|(_, row)| row.samples >= FEW_SAMPLES)?;
        Some(resolved.text(*method))
    }

    /// The method that asks for collections.
    pub(super) fn collector<'r>(&self, resolved: &'r Resolved<'_>) -> Option<&'r str> {
        most(&self.collects, resolved)
    }

    /// The method that starts threads.
    pub(super) fn starter<'r>(&self, resolved: &'r Resolved<'_>) -> Option<&'r str> {
        most(&self.starts, resolved)
    }
}

fn most<'r>(callers: &BTreeMap<FrameHandle, u64>, resolved: &'r Resolved<'_>) -> Option<&'r str> {
    let most = callers.iter().max_by_key(|(method, samples)| (**samples, Reverse(**method)));
    most.map(|(method, _)| resolved.text(*method))
}

/// What a stack is about.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// Its innermost own frame.
    method: Option<FrameHandle>,
    /// What that calls, if it is not own.
    calls: Option<FrameHandle>,
    records: bool,
    collects: bool,
    starts: bool,
    does_io: bool,
}

/// What the name of a frame says.
#[derive(Debug, Clone, Copy, Default)]
struct FrameFacts {
    is_own: bool,
    is_package: bool,
    records: bool,
    collects: bool,
    starts: bool,
    does_io: bool,
}

impl FrameFacts {
    fn of(resolved: &Resolved<'_>, own: &OwnModules, frame: FrameHandle) -> FrameFacts {
        let text = resolved.text(frame);
        FrameFacts {
            is_own: own.has(resolved, frame),
            is_package: is_package(resolved, frame),
            records: RECORDING.iter().any(|word| text.contains(word)),
            collects: text.contains("System.GC.Collect("),
            starts: text.contains("System.Threading.Thread.Start"),
            does_io: IO.iter().any(|word| text.contains(word)),
        }
    }
}

impl Place {
    fn of(frames: &[FrameHandle], facts: &[FrameFacts]) -> Place {
        let fact = |frame: &FrameHandle| facts.get(frame.index()).copied().unwrap_or_default();
        let at = frames.iter().position(|frame| fact(frame).is_own);
        let at = at.or_else(|| frames.iter().position(|frame| fact(frame).is_package));
        let inner = frames.get(..at.unwrap_or(0)).unwrap_or_default();
        Place {
            method: at.and_then(|at| frames.get(at)).copied(),
            calls: inner.last().copied(),
            records: frames.iter().any(|frame| fact(frame).records),
            collects: inner.iter().any(|frame| fact(frame).collects),
            starts: inner.iter().any(|frame| fact(frame).starts),
            does_io: inner.iter().any(|frame| fact(frame).does_io),
        }
    }
}

/// Whether a frame is neither the framework's nor without a name.
fn is_package(resolved: &Resolved<'_>, frame: FrameHandle) -> bool {
    let is_named = resolved.frame(frame).is_some_and(|frame| frame.is_named);
    let text = resolved.text(frame);
    is_named && !text.starts_with('(') && !Folding::is_framework(text)
}

/// The modules that a program brings: its main module, those of the same family
/// (`Shop.Web` and `Shop.Data`) and, of a program that is itself Microsoft's, those that lie
/// beside it.
#[derive(Debug, Default)]
struct OwnModules {
    modules: BTreeSet<String>,
    /// Without a main module all that is not the framework's is own.
    has_main: bool,
}

impl OwnModules {
    fn of(resolved: &Resolved<'_>) -> OwnModules {
        let rows = resolved.profile().rows();
        let roots = rows.iter().filter_map(|(key, _)| {
            let root = resolved.frames(key.stack).last()?;
            super::running::is_main(resolved.text(*root)).then(|| resolved.frame(*root))?
        });
        let mut mains: BTreeMap<&str, u64> = BTreeMap::new();
        for root in roots.filter(|root| !root.module.is_empty()) {
            let count = mains.entry(&root.module).or_default();
            *count = count.saturating_add(1);
        }
        let Some((main, _)) = mains.into_iter().max_by_key(|(_, count)| *count) else {
            return OwnModules::default();
        };
        let family = |name: &str| name.split('.').next().unwrap_or(name).to_owned();
        let folder =
            |path: &str| path.rfind(['/', '\\']).and_then(|at| path.get(..at)).map(str::to_owned);
        let processes = resolved.model().processes();
        let all: Vec<&Module> = processes.flat_map(|(_, process)| process.modules()).collect();
        let main_folder = all
            .iter()
            .find(|module| module.name == main)
            .and_then(|module| folder(&module.il_path));
        let is_selfcontained = all.iter().any(|module| {
            module.name == "System.Private.CoreLib" && folder(&module.il_path) == main_folder
        });
        let mut modules = BTreeSet::from([main.to_owned()]);
        for module in &all {
            let is_family = family(&module.name) == family(main)
                && !Folding::is_framework(&format!("{}!", module.name));
            let is_microsofts = module.name.starts_with("Microsoft.")
                && main_folder.is_some()
                && folder(&module.il_path) == main_folder
                && !is_selfcontained
                && (main.starts_with("Microsoft.") || COMPILERS.contains(&main));
            if is_family || is_microsofts {
                modules.insert(module.name.clone());
            }
        }
        OwnModules { modules, has_main: true }
    }

    fn has(&self, resolved: &Resolved<'_>, frame: FrameHandle) -> bool {
        if !self.has_main {
            return is_package(resolved, frame);
        }
        resolved
            .frame(frame)
            .is_some_and(|frame| frame.is_named && self.modules.contains(&frame.module))
    }
}

/// Programs of Microsoft whose own modules have names of the framework.
const COMPILERS: [&str; 4] = ["csc", "vbc", "VBCSCompiler", "pwsh"];
