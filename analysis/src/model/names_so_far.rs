//! Finds names of frames from the events read so far, for streams that cannot be read twice, and
//! what these events say about the runtime.
//!
//! A watched session may last for days, while the process compiles and unloads code all the time.
//! So code is forgotten when the stream reports its unload, or other code at its place.

use super::memory_map::MemoryMap;
use super::method_name::MethodName;
use super::methods::{MAX_GUESS_BYTES, entry_point};
use super::modules::short_name;
use super::names::{Frame, FrameKind, NameOptions, shorten};
use super::role::Role;
use super::sampler::RuntimeVersion;
use super::stacks::call_address;
use crate::hash::HashMap;
use nettrace_parser::view::{self, KnownProvider, MethodChange, ModuleChange, View};
use nettrace_parser::{Event, Utf16};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Default limit of the memory that names may take, in bytes.
const MAX_NAMES_BYTES: usize = 256 << 20;
/// Memory that a name takes in addition to its text, in bytes: a row, its place in the tree, and
/// what the allocator adds.
const ROW_BYTES: usize = 160;

/// Id of a process, and an address in this process or the id of a module.
type CodeKey = (Option<u64>, u64);

/// Names of managed methods from the events read so far, for streams that cannot be read twice.
/// Memory is bounded by the number of methods that exist at a time, and by 256 MiB. Further methods
/// get no names ([`NamesSoFar::left_out`]).
///
/// A session of a running process has events of methods that are compiled from its start on. Those that
/// exist already are in the rundown at the end of a session: start one without keywords, stop it at once,
/// pass its events to [`NamesSoFar::learn`], and then start the one that you want (2,101 methods in
/// 40 ms, on .NET 10).
///
/// ```
/// use nettrace_analysis::{NameOptions, NamesSoFar};
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut names = NamesSoFar::new(NameOptions::default());
/// let mut reader = Reader::from_slice(&bytes);
/// while let Some(event) = reader.next_event()? {
///     names.learn(&event);
///     assert_eq!(names.stack_names(&event).len(), event.stack().len());
/// }
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug)]
pub struct NamesSoFar {
    options: NameOptions,
    limit: usize,
    /// Code of methods, by first address. Pieces of code whose size is known do not overlap.
    codes: BTreeMap<CodeKey, Code>,
    /// Short names of modules.
    modules: HashMap<CodeKey, Box<str>>,
    /// Memory map of each process, which tells the module of code without a name.
    memory: HashMap<Option<u64>, MemoryMap>,
    runtimes: HashMap<Option<u64>, KnownRuntime>,
    held_bytes: usize,
    left_out: u64,
}

/// What the events read so far say about the runtime of a process.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KnownRuntime {
    /// Version of the runtime; `None` until an event has named it.
    pub(crate) version: Option<RuntimeVersion>,
    /// Whether a rundown has listed methods, so that code without a name is a stub or native code.
    pub(crate) has_rundown: bool,
}

/// The code of a method.
#[derive(Debug)]
struct Code {
    /// Last address of the code; `None` for precompiled code, of which only the entry point is
    /// known.
    last: Option<u64>,
    method_id: u64,
    module_id: u64,
    name: Name,
    /// What the method reveals about a thread's state; it is known once the display name was
    /// computed.
    role: Role,
}

#[derive(Debug)]
enum Name {
    /// Namespace with type, name, and signature, as the trace stores them. The display name is
    /// computed only when it is needed, because most methods are never on a stack.
    Stored([Box<str>; 3]),
    Shown(Arc<Frame>),
}

impl Code {
    fn cost(&self) -> usize {
        let text = match &self.name {
            Name::Stored(parts) => {
                parts.iter().map(|part| part.len()).fold(0, usize::saturating_add)
            }
            Name::Shown(frame) => frame.held_bytes(),
        };
        ROW_BYTES.saturating_add(text)
    }

    fn is_nameless(&self) -> bool {
        matches!(&self.name, Name::Stored([_, name, _]) if name.is_empty())
    }
}

impl Default for NamesSoFar {
    fn default() -> NamesSoFar {
        NamesSoFar::new(NameOptions::default())
    }
}

impl NamesSoFar {
    /// Creates a source of names that knows no names yet.
    pub fn new(options: NameOptions) -> NamesSoFar {
        NamesSoFar {
            options,
            limit: MAX_NAMES_BYTES,
            codes: BTreeMap::new(),
            modules: HashMap::default(),
            memory: HashMap::default(),
            runtimes: HashMap::default(),
            held_bytes: 0,
            left_out: 0,
        }
    }

    /// Sets the memory limit, in bytes; the default is 256 MiB. A name takes about 160 bytes plus
    /// its text.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> NamesSoFar {
        self.limit = bytes;
        self
    }

    /// Learns from the next event, which must come before the names of its stack are requested.
    /// Events must come in time order.
    pub fn learn(&mut self, event: &Event<'_>) {
        match (event.known_provider(), event.id()) {
            (KnownProvider::Runtime | KnownProvider::Rundown, 141..=144) => {
                if let Some(method) = view::Method::from_event(event) {
                    self.learn_method(event.process_id(), &method);
                }
            }
            (KnownProvider::Runtime, 152 | 153) | (KnownProvider::Rundown, 153 | 154) => {
                if let Some(module) = view::Module::from_event(event) {
                    self.learn_module((event.process_id(), module.module_id), &module);
                }
            }
            (KnownProvider::Runtime, 159) => {
                let _ = self.learn_entry_point(event);
            }
            (KnownProvider::Runtime | KnownProvider::Rundown, 187) => {
                let information = view::RuntimeInformation::from_event(event);
                let version = information.map(|it| RuntimeVersion::from_information(&it));
                if let Some(runtime) = self.runtime_mut(event.process_id()) {
                    runtime.version = version.or(runtime.version);
                }
            }
            _ => {}
        }
    }

    /// Sets the memory map of a process: first and last address of each stretch with code, and its
    /// file, which is empty for memory without a file. The map comes from the operating system.
    ///
    /// Code without a name is then shown by its module, not as an address:
    /// `System.Private.CoreLib!(no name)`, or `(generated code)` for stubs and other code without a
    /// file. The runtime names precompiled code only when a method is used for the first time.
    ///
    /// ```
    /// use nettrace_analysis::NamesSoFar;
    /// let mut names = NamesSoFar::default();
    /// names.set_mappings(Some(4711), [(0x1000, 0x1FFF, "/usr/lib/libcoreclr.so")]);
    /// ```
    pub fn set_mappings<'m>(
        &mut self,
        process: Option<u64>,
        mappings: impl IntoIterator<Item = (u64, u64, &'m str)>,
    ) {
        self.memory.insert(process, MemoryMap::new(mappings));
    }

    /// Moves the memory map of one process id to another, because the id of the process has become
    /// known.
    pub(crate) fn move_mappings(&mut self, from: Option<u64>, to: Option<u64>) {
        if let Some(memory) = self.memory.remove(&from) {
            self.memory.insert(to, memory);
        }
    }

    /// Returns the number of methods that are known now.
    pub fn method_count(&self) -> usize {
        self.codes.len()
    }

    /// Returns the number of reported methods and modules that got no names because of the limit.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns what is known about the runtime of a process.
    pub(crate) fn runtime(&self, process: Option<u64>) -> KnownRuntime {
        self.runtimes.get(&process).copied().unwrap_or_default()
    }

    /// Returns the row of a process; `None` if there is no memory for it.
    fn runtime_mut(&mut self, process: Option<u64>) -> Option<&mut KnownRuntime> {
        if !self.runtimes.contains_key(&process) && self.affords(ROW_BYTES) {
            self.runtimes.insert(process, KnownRuntime::default());
        }
        self.runtimes.get_mut(&process)
    }

    fn learn_method(&mut self, process: Option<u64>, method: &view::Method<'_>) {
        let place = (process, method.start);
        if matches!(method.change, MethodChange::AtEnd | MethodChange::AtStart)
            && let Some(runtime) = self.runtime_mut(process)
        {
            runtime.has_rundown = true;
        }
        if method.change == MethodChange::Unload {
            if self.codes.get(&place).is_some_and(|code| code.method_id == method.method_id) {
                self.forget(place);
            }
            return;
        }
        let size = u64::from(method.size);
        let Some(last) = size.checked_sub(1).and_then(|size| method.start.checked_add(size)) else {
            return;
        };
        let code = Code {
            last: Some(last),
            method_id: method.method_id,
            module_id: method.module_id,
            name: stored([method.namespace, method.name, method.signature]),
            role: Role::WORK,
        };
        let known = self.codes.get(&place);
        if code.is_nameless()
            && known
                .is_some_and(|known| known.method_id == code.method_id && known.last == code.last)
        {
            // The code is known, and now reported without its name.
            return;
        }
        let within = self.codes.range(place..=(process, last)).map(|(place, _)| *place);
        let before = self.codes.range((process, 0)..place).next_back();
        let reaching =
            before.filter(|(_, code)| code.last.is_some_and(|last| last >= method.start));
        let replaced: Vec<CodeKey> =
            reaching.map(|(place, _)| *place).into_iter().chain(within).collect();
        for place in replaced {
            self.forget(place);
        }
        self.keep(place, code);
    }

    /// Takes an event R2RGetEntryPoint: precompiled code is used for the first time. The event does
    /// not have the size of the code.
    fn learn_entry_point(&mut self, event: &Event<'_>) -> Option<()> {
        let (method_id, parts, start) = entry_point(event)?;
        let place = (event.process_id(), start);
        if self.over(place).is_none_or(|(_, code)| code.last.is_none()) {
            self.forget(place);
            let name = stored(parts);
            let code = Code { last: None, method_id, module_id: 0, name, role: Role::WORK };
            self.keep(place, code);
        }
        Some(())
    }

    fn learn_module(&mut self, place: CodeKey, module: &view::Module<'_>) {
        let cost = |name: &str| name.len().saturating_add(ROW_BYTES);
        if let Some(name) = self.modules.remove(&place) {
            self.held_bytes = self.held_bytes.saturating_sub(cost(&name));
        }
        if module.change == ModuleChange::Unload {
            return;
        }
        let mut path = module.il_path.to_string();
        if path.is_empty() {
            path = module.native_path.to_string();
        }
        shorten(&mut path);
        let name = short_name(&path);
        if self.affords(cost(name)) {
            self.modules.insert(place, name.into());
        }
    }

    /// Reserves `cost` bytes of memory. Returns whether the limit allows that.
    fn affords(&mut self, cost: usize) -> bool {
        let held = self.held_bytes.saturating_add(cost);
        if held > self.limit {
            self.left_out = self.left_out.saturating_add(1);
            return false;
        }
        self.held_bytes = held;
        true
    }

    fn keep(&mut self, place: CodeKey, code: Code) {
        if self.affords(code.cost()) {
            self.codes.insert(place, code);
        }
    }

    fn forget(&mut self, place: CodeKey) {
        if let Some(code) = self.codes.remove(&place) {
            self.held_bytes = self.held_bytes.saturating_sub(code.cost());
        }
    }

    /// Returns the code at an address.
    fn over(&self, (process, address): CodeKey) -> Option<(CodeKey, &Code)> {
        let (place, code) = self.codes.range((process, 0)..=(process, address)).next_back()?;
        let last = code.last.unwrap_or(place.1.saturating_add(MAX_GUESS_BYTES.saturating_sub(1)));
        (address <= last).then_some((*place, code))
    }

    /// Returns the names of an event's stack, innermost first, one for each address. An address
    /// about which nothing is known is its own name. Guessed names begin with `~`: see
    /// [`Frame::is_guessed`](crate::Frame::is_guessed). No frame is left out: the innermost ones of an
    /// exception are those of the runtime that throws it, such as `System.Runtime.EH.DispatchEx` from
    /// .NET 9 on.
    pub fn stack_names(&mut self, event: &Event<'_>) -> Vec<Cow<'_, str>> {
        let process = event.process_id();
        let stack = event.stack();
        let addresses = stack.addresses().enumerate();
        let found: Vec<FrameName> = addresses
            .map(|(index, at)| self.name((process, call_address(at, index == 0)), at))
            .collect();
        let text = |found| match found {
            FrameName::Method(place) => match self.codes.get(&place).map(|code| &code.name) {
                Some(Name::Shown(frame)) => Cow::Borrowed(&*frame.text),
                _ => Cow::Borrowed("?"),
            },
            FrameName::Frame(frame) => Cow::Owned(frame.text.clone()),
        };
        found.into_iter().map(text).collect()
    }

    /// Returns the frame at an address of a stack, and the facts that it reveals about a thread.
    /// `is_leaf` says that the address is the innermost one and not a return address.
    pub(crate) fn frame(
        &mut self,
        process: Option<u64>,
        address: u64,
        is_leaf: bool,
    ) -> (Arc<Frame>, Role) {
        let at = (process, call_address(address, is_leaf));
        let frame = match self.name(at, address) {
            FrameName::Method(place) => match self.codes.get(&place).map(|code| &code.name) {
                Some(Name::Shown(frame)) => Arc::clone(frame),
                _ => Arc::new(Frame::group("?".to_owned(), FrameKind::Unknown)),
            },
            FrameName::Frame(frame) => frame,
        };
        (frame, self.over(at).map_or(Role::NATIVE, |(_, code)| code.role))
    }

    /// Finds the name for the address of a call. `shown` is the address that the stack contains.
    fn name(&mut self, at: CodeKey, shown: u64) -> FrameName {
        let Some((place, code)) = self.over(at) else {
            let memory = self.memory.get(&at.0);
            let module = memory.and_then(|memory| memory.module(at.1));
            return FrameName::Frame(Arc::new(match module {
                Some(module) => Frame::lies_in(module, FrameKind::Native),
                None => Frame::address(shown, FrameKind::Unknown),
            }));
        };
        let Name::Stored([type_name, method, signature]) = &code.name else {
            return FrameName::Method(place);
        };
        let module = self.modules.get(&(place.0, code.module_id));
        let name =
            MethodName { module: module.map_or("", |module| module), type_name, method, signature };
        let mut frame = Frame::managed(&name, self.options);
        let role = Role::of_method(&name);
        let offset = at.1.saturating_sub(place.1);
        if code.last.is_none() && offset > 0 {
            frame = frame.guessed(offset);
        }
        let frame = frame.shortened();
        let (cost, has_module) = (code.cost(), module.is_some());
        if let Some(code) = self.codes.get_mut(&place) {
            code.role = role;
        }
        // A name is not kept before its module is known, because modules may be reported after
        // their methods.
        if !has_module {
            return FrameName::Frame(Arc::new(frame));
        }
        if let Some(code) = self.codes.get_mut(&place) {
            code.name = Name::Shown(Arc::new(frame));
            self.held_bytes = self.held_bytes.saturating_sub(cost).saturating_add(code.cost());
        }
        FrameName::Method(place)
    }
}

enum FrameName {
    /// A method whose name has been computed.
    Method(CodeKey),
    /// A frame that may get a better name later, such as an address.
    Frame(Arc<Frame>),
}

fn stored(parts: [Utf16<'_>; 3]) -> Name {
    Name::Stored(parts.map(|part| {
        let mut text = part.to_string();
        shorten(&mut text);
        text.into()
    }))
}
