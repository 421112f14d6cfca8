//! Assemblies and modules over time, and searches for assemblies.

use super::contract::{Moment, Recording, Report, SCHEMA};
use super::fields::Walk;
use crate::hash::HashMap;
use crate::model::intervals::{Interval, Matcher};
use crate::model::{Model, ProcessHandle, Resolved, TextHandle, ThreadHandle};
use crate::sorted::SortFew;
use nettrace_parser::Event;
use nettrace_parser::view::{self, KnownProvider, ModuleChange, View};

/// Computes a [`LoaderReport`].
///
/// | event | meaning |
/// |---|---|
/// | runtime 154, 155 | an assembly was loaded, unloaded |
/// | rundown 155, 156 | it existed when the session started, ended |
/// | runtime 152, 153; rundown 153, 154 | the same for modules |
/// | runtime 290, 291 | a search for an assembly started, ended |
///
/// Memory is bounded by the number of assemblies, modules, and distinct requests.
#[derive(Debug, Default)]
pub struct Loader {
    assemblies: RowsById<AssemblyRow>,
    modules: RowsById<LoadedModule>,
    /// Searches in progress on each thread. One search may cause another inside of it.
    open: Matcher<ThreadHandle, ()>,
    /// Rows of searches, with the texts still in the key.
    binds: HashMap<BindKey, BindRow>,
}

/// Rows of assemblies or modules. An id may be reused after its owner was unloaded, so `newest` has
/// the index of the last row of a process and id.
#[derive(Debug)]
struct RowsById<T> {
    rows: Vec<Known<T>>,
    newest: HashMap<(ProcessHandle, u64), usize>,
}

#[derive(Debug)]
struct Known<T> {
    process: ProcessHandle,
    row: T,
    /// Whether the row is listed: the filter admits its load or unload, or it was loaded before the
    /// session. Other rows are kept only so that the list at the end of the session does not add
    /// them as loaded before it.
    is_selected: bool,
}

impl<T> Default for RowsById<T> {
    fn default() -> RowsById<T> {
        RowsById { rows: Vec::new(), newest: HashMap::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct BindKey {
    process: ProcessHandle,
    assembly: TextHandle,
    path: TextHandle,
    requested_by: TextHandle,
    context: TextHandle,
    is_found: bool,
}

/// Assemblies and modules with the times of loading, and searches for assemblies.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LoaderReport {
    /// Version of this document.
    pub schema: u32,
    /// Assemblies in the order of loading; those loaded before the session come first.
    pub assemblies: Vec<AssemblyRow>,
    /// Modules in the order of loading; those loaded before the session come first.
    pub modules: Vec<LoadedModule>,
    /// Searches for assemblies, most time first.
    pub binds: Vec<BindRow>,
}

/// Loaded assembly.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AssemblyRow {
    /// OS id of the process; `None` if the stream does not contain it.
    pub process_id: Option<u64>,
    /// Full name with version, culture and key.
    pub name: String,
    /// Time of loading, in nanoseconds since the session's start; `None` if not recorded, such as
    /// before the session.
    pub loaded_ns: Option<i64>,
    /// Time of unloading, in nanoseconds since the session's start; `None` if not recorded.
    pub unloaded_ns: Option<i64>,
    /// Whether the code was generated in memory.
    pub is_dynamic: bool,
    /// Whether the assembly can be unloaded.
    pub is_collectible: bool,
    /// Id that the runtime gave to the assembly.
    pub assembly_id: u64,
}

/// Loaded module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LoadedModule {
    /// OS id of the process; `None` if the stream does not contain it.
    pub process_id: Option<u64>,
    /// Path of the file with the IL, as the runtime reports it.
    pub path: String,
    /// Time of loading, in nanoseconds since the session's start; `None` if not recorded, such as
    /// before the session.
    pub loaded_ns: Option<i64>,
    /// Time of unloading, in nanoseconds since the session's start; `None` if not recorded.
    pub unloaded_ns: Option<i64>,
    /// Whether the module contains precompiled code that the runtime uses.
    pub is_ready_to_run: bool,
    /// Whether the code was generated in memory.
    pub is_dynamic: bool,
    /// Id that the runtime gave to the module.
    pub module_id: u64,
    /// Id of the module's assembly.
    pub assembly_id: u64,
}

/// Searches for one assembly with equal results.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct BindRow {
    /// OS id of the process; `None` if the stream does not contain it.
    pub process_id: Option<u64>,
    /// Requested name or path.
    pub assembly: String,
    /// Path at which the assembly was found; empty if it was not.
    pub path: String,
    /// Name of the assembly that requested the search.
    pub requested_by: String,
    /// Load context in which the assembly was searched for.
    pub context: String,
    /// Whether the assembly was found.
    pub is_found: bool,
    /// Number of searches.
    pub count: u64,
    /// Number of searches that found an assembly loaded before.
    pub cached: u64,
    /// Time spent searching, including searches inside these, in nanoseconds.
    pub duration_ns: u64,
    /// Longest time of one search, in nanoseconds.
    pub max_duration_ns: u64,
    /// Start of the first search, in nanoseconds since the session's start.
    pub first_ns: i64,
}

/// Change of an assembly or module that an event reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoaderState {
    Load,
    Unload,
    Exists,
}

trait Lives {
    fn times(&mut self) -> (&mut Option<i64>, &mut Option<i64>);

    fn process_id(&mut self) -> &mut Option<u64>;

    /// Returns whether two rows with one id are about one assembly or module.
    fn is_same(&self, other: &Self) -> bool;
}

impl Lives for AssemblyRow {
    fn times(&mut self) -> (&mut Option<i64>, &mut Option<i64>) {
        (&mut self.loaded_ns, &mut self.unloaded_ns)
    }

    fn process_id(&mut self) -> &mut Option<u64> {
        &mut self.process_id
    }

    fn is_same(&self, other: &AssemblyRow) -> bool {
        self.name == other.name
    }
}

impl Lives for LoadedModule {
    fn times(&mut self) -> (&mut Option<i64>, &mut Option<i64>) {
        (&mut self.loaded_ns, &mut self.unloaded_ns)
    }

    fn process_id(&mut self) -> &mut Option<u64> {
        &mut self.process_id
    }

    fn is_same(&self, other: &LoadedModule) -> bool {
        self.assembly_id == other.assembly_id && self.path == other.path
    }
}

impl<T: Lives> RowsById<T> {
    fn change(
        &mut self,
        process: ProcessHandle,
        id: u64,
        reported: LoaderState,
        moment: &Moment,
        row: impl Fn() -> T,
    ) {
        let nanos = moment.nanos;
        let known = self.newest.get(&(process, id)).and_then(|at| self.rows.get_mut(*at));
        let mut new = None;
        if let Some(known) = known {
            let (_, unloaded) = known.row.times();
            match reported {
                LoaderState::Unload => {
                    unloaded.get_or_insert(nanos);
                    known.is_selected |= moment.is_selected;
                    return;
                }
                _ if unloaded.is_none() => return,
                // An exiting process unloads everything before the session's rundown lists it
                // again.
                LoaderState::Exists if known.row.is_same(new.insert(row())) => return,
                _ => {}
            }
        }
        let mut row = new.unwrap_or_else(row);
        let (loaded, unloaded) = row.times();
        match reported {
            LoaderState::Load => *loaded = Some(nanos),
            LoaderState::Unload => *unloaded = Some(nanos),
            LoaderState::Exists => {}
        }
        self.newest.insert((process, id), self.rows.len());
        let is_selected = moment.is_selected || reported == LoaderState::Exists;
        self.rows.push(Known { process, row, is_selected });
    }

    /// Returns the listed rows with the ids of their processes, which may be reported late.
    fn finish(self, model: &Model) -> Vec<T> {
        let with_id = |Known { process, mut row, .. }: Known<T>| {
            *row.process_id() = model.process(process).and_then(|process| process.id);
            row
        };
        self.rows.into_iter().filter(|known| known.is_selected).map(with_id).collect()
    }
}

impl Loader {
    fn assembly(
        &mut self,
        reported: LoaderState,
        event: &Event<'_>,
        moment: &Moment,
        process: ProcessHandle,
    ) -> Option<()> {
        let fields = &mut event.fields();
        let assembly_id = fields.find("AssemblyID")?.value.ok()?.as_u64()?;
        let flags = fields.find("AssemblyFlags")?.value.ok()?.as_u64()?;
        let name = fields.find("FullyQualifiedAssemblyName")?.value.ok()?;
        self.assemblies.change(process, assembly_id, reported, moment, || AssemblyRow {
            name: name.to_text().unwrap_or_default(),
            is_dynamic: flags & 2 != 0,
            is_collectible: flags & 8 != 0,
            assembly_id,
            ..AssemblyRow::default()
        });
        Some(())
    }

    fn module(&mut self, event: &Event<'_>, moment: &Moment, process: ProcessHandle) -> Option<()> {
        let module = view::Module::from_event(event)?;
        let reported = match module.change {
            ModuleChange::Load => LoaderState::Load,
            ModuleChange::Unload => LoaderState::Unload,
            _ => LoaderState::Exists,
        };
        self.modules.change(process, module.module_id, reported, moment, || LoadedModule {
            path: if module.il_path.is_empty() { module.native_path } else { module.il_path }
                .to_string(),
            is_ready_to_run: module.is_ready_to_run(),
            is_dynamic: module.is_dynamic(),
            module_id: module.module_id,
            assembly_id: module.assembly_id,
            ..LoadedModule::default()
        });
        Some(())
    }

    fn bind_ends(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        process: ProcessHandle,
        model: &mut Model,
    ) -> Option<()> {
        // The duration is unknown without the start.
        let at = moment.edge(event);
        let bind = self.open.stop(moment.thread, at, None, |_| {});
        let Interval { start, nanos, .. } =
            bind.unwrap_or_else(|| Interval::without_start(at, None, ()));
        if !moment.is_selected {
            return Some(());
        }
        let mut walk = Walk::new(event);
        let texts = model.texts_mut();
        let name = walk.text("AssemblyName", texts)?;
        let asked_path = walk.text("AssemblyPath", texts)?;
        let requested_by = walk.text("RequestingAssembly", texts)?;
        let context = walk.text("AssemblyLoadContext", texts)?;
        let is_found = walk.flag("Success")?;
        let path = walk.text("ResultAssemblyPath", texts)?;
        let is_cached = walk.flag("Cached").unwrap_or(false);
        let assembly = if texts.get(name).is_empty() { asked_path } else { name };
        let key = BindKey { process, assembly, path, requested_by, context, is_found };
        let sums = self
            .binds
            .entry(key)
            .or_insert_with(|| BindRow { first_ns: start.nanos, ..BindRow::default() });
        sums.count = sums.count.saturating_add(1);
        sums.cached = sums.cached.saturating_add(u64::from(is_cached));
        sums.duration_ns = sums.duration_ns.saturating_add(nanos);
        sums.max_duration_ns = sums.max_duration_ns.max(nanos);
        Some(())
    }
}

impl Report for Loader {
    type Output = LoaderReport;

    const NAME: &'static str = "loader";
    const ABOUT: &'static str =
        "Assemblies and modules over time, and where they were searched for";
    const RECORD: &'static [Recording] = &[Recording::runtime(0xc, 4)];

    fn wants(&self, event: &Event<'_>) -> bool {
        match event.known_provider() {
            KnownProvider::Runtime => matches!(event.id(), 152..=155 | 290 | 291),
            KnownProvider::Rundown => matches!(event.id(), 153..=156),
            _ => false,
        }
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let is_rundown = event.known_provider() == KnownProvider::Rundown;
        let Some(process) = model.thread(moment.thread).map(|row| row.process) else {
            return false;
        };
        let _ = match (event.id(), is_rundown) {
            (154, false) => self.assembly(LoaderState::Load, event, moment, process),
            (155, false) => self.assembly(LoaderState::Unload, event, moment, process),
            (155 | 156, true) => self.assembly(LoaderState::Exists, event, moment, process),
            (152 | 153, false) => self.module(event, moment, process),
            (153 | 154, true) => self.module(event, moment, process),
            (290, false) => {
                let at = moment.edge(event);
                self.open.start_inside(moment.thread, at, (), |_| {});
                None
            }
            (291, false) => self.bind_ends(event, moment, process, model),
            _ => return false,
        };
        true
    }

    fn finish(self, resolved: &Resolved<'_>) -> LoaderReport {
        let model = resolved.model();
        let id = |process: ProcessHandle| model.process(process).and_then(|process| process.id);
        let text = |text: TextHandle| model.text(text).to_owned();
        let mut assemblies = self.assemblies.finish(model);
        assemblies.sort_few_by(|a, b| (a.loaded_ns, &a.name).cmp(&(b.loaded_ns, &b.name)));
        let mut modules = self.modules.finish(model);
        modules.sort_few_by(|a, b| (a.loaded_ns, &a.path).cmp(&(b.loaded_ns, &b.path)));
        let mut binds: Vec<BindRow> = self
            .binds
            .into_iter()
            .map(|(key, sums)| BindRow {
                process_id: id(key.process),
                assembly: text(key.assembly),
                path: text(key.path),
                requested_by: text(key.requested_by),
                context: text(key.context),
                is_found: key.is_found,
                ..sums
            })
            .collect();
        binds.sort_few_by(|a, b| {
            let key = |row: &BindRow| (std::cmp::Reverse(row.duration_ns), row.first_ns);
            key(a).cmp(&key(b)).then_with(|| {
                (&a.assembly, &a.path, &a.requested_by, &a.context).cmp(&(
                    &b.assembly,
                    &b.path,
                    &b.requested_by,
                    &b.context,
                ))
            })
        });
        LoaderReport { schema: SCHEMA, assemblies, modules, binds }
    }
}
