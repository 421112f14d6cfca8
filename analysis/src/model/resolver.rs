//! Turns the addresses of stacks into frames with names, and finds what the frames of a stack
//! reveal about its thread.

#[cfg(feature = "symbols")]
use super::aot_names::AotName;
use super::async_stacks::{AsyncRole, LogicalFrames};
use super::coverage::FrameCounts;
use super::cut_stacks::CutStacks;
use super::endpoints::{HandlerRole, called_handler, handlers, method_key};
use super::filter::Filter;
use super::folding::{Folder, Folding};
use super::handle::{FrameHandle, MethodHandle, ProcessHandle, StackHandle, TextHandle};
use super::innermost::{Innermost, InnermostCall};
use super::kept_frames::FramesPlace;
use super::kernel::KernelOwners;
use super::line_finder::{Line, LineFinder};
use super::method_name::MethodName;
use super::names::{Frame, FrameCall, FrameKind, NameOptions, RUNTIME_FRAMES, shorten};
use super::native_images::NativeImage;
use super::pattern::Pattern;
use super::role::{Leaf, Passage, Role, WaitChain, is_idle_worker};
use super::source_line::SourceLine;
use super::stacks::call_address;
#[cfg(feature = "symbols")]
use super::symbol_file::readable;
use super::thread_times::Unsampled;
use super::universal::KERNEL_START;
use super::wait_for::WaitFor;
use super::waits::{Wait, is_native_wait};
use super::{Model, Process};
use crate::hash::HashMap;
use std::sync::{Arc, OnceLock};

/// Frames of a stack, and facts about the stack and its thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResolvedStack {
    pub(super) place: FramesPlace,
    /// Whether the innermost frame stands for a call, such as `→ native call`. Only samples of
    /// running threads show this frame: see
    /// [`Resolved::sample_stack`](super::Resolved::sample_stack).
    pub(super) has_call: bool,
    pub(super) leaf: Leaf,
    /// The stack's frames in the trace.
    pub(super) counted: FrameCounts,
    /// Whether outer frames are missing, because the runtime keeps 100 frames of a stack.
    pub(super) is_cut_off: bool,
    /// Whether missing outer frames were taken from the thread's previous stack.
    pub(super) is_repaired: bool,
    /// Whether the callers of the async code on the stack are not in the trace.
    pub(super) lacks_async_callers: bool,
    /// What the thread waits for; `None` if no frame tells.
    pub(super) wait_for: Option<WaitFor>,
    /// Whether the stack meets the filter's conditions on frames.
    pub(super) passes: bool,
    /// Whether the stack is work of the recording, by itself: see
    /// [`Resolved::is_recording`](super::Resolved::is_recording).
    pub(super) is_recording: bool,
}

impl ResolvedStack {
    pub(super) const UNKNOWN: ResolvedStack = ResolvedStack {
        place: FramesPlace::NONE,
        has_call: false,
        leaf: Leaf::UNKNOWN,
        counted: FrameCounts::NONE,
        is_cut_off: false,
        is_repaired: false,
        lacks_async_callers: false,
        wait_for: None,
        passes: false,
        is_recording: false,
    };

    /// Returns whether a thread with this stack waits for work.
    pub(super) fn is_idle(&self) -> bool {
        let waits_for_work = self.wait_for == Some(WaitFor::Work) && self.leaf.is_known_wait();
        waits_for_work || self.leaf.is_idle_worker
    }
}

/// Finds the frames for addresses and methods. Equal frames are kept only once.
pub(super) struct Resolver<'m, 'f> {
    model: &'m Model,
    options: NameOptions,
    filter: &'f Filter,
    pub(super) frames: Vec<Frame>,
    /// Facts about each frame, by its handle.
    facts: Vec<MethodFacts>,
    by_text: HashMap<String, FrameHandle>,
    /// Frames for addresses that mean the same in the whole trace.
    by_address: HashMap<(u32, u64), FrameHandle>,
    /// Frames for addresses at which no code is known at any time. The third member says whether the
    /// address is the innermost one of its stack.
    unnamed: HashMap<(u32, u64, bool), FrameHandle>,
    by_method: HashMap<(u32, u32, Option<Line>), FrameHandle>,
    /// Finds the lines of frames; `None` unless the user wants lines.
    pub(super) lines: Option<LineFinder<'m>>,
    pub(super) counted: FrameCounts,
    folder: Option<Folder<'f>>,
    kernel: OnceLock<KernelOwners>,
    /// Frames in which a poll may have caught the thread of the latest stack. They lie below the
    /// nearest method of the user, without the poll itself and the method that polled.
    pub(super) caught: Vec<FrameHandle>,
    /// Frames of async callers; `None` unless stacks are to have them.
    pub(super) logical: Option<LogicalFrames>,
}

#[derive(Debug, Clone, Copy)]
struct MethodFacts {
    role: Role,
    in_handling: HandlerRole,
    /// Whether the filter's pattern for required frames matches the frame.
    is_wanted: bool,
    is_excluded: bool,
    async_role: AsyncRole,
}

/// The frame at an address, and whether the address means the same in the whole trace.
struct FoundFrame {
    frame: FrameHandle,
    is_always: bool,
}

impl<'m, 'f> Resolver<'m, 'f> {
    pub(super) fn new(
        model: &'m Model,
        options: NameOptions,
        folding: &'f Folding,
        filter: &'f Filter,
    ) -> Self {
        Resolver {
            model,
            options,
            filter,
            frames: Vec::new(),
            facts: Vec::new(),
            by_text: HashMap::default(),
            by_address: HashMap::default(),
            unnamed: HashMap::default(),
            by_method: HashMap::default(),
            lines: model.has_lines().then(|| LineFinder::new(model)),
            counted: FrameCounts::NONE,
            folder: Folder::new(folding),
            kernel: OnceLock::new(),
            caught: Vec::new(),
            logical: model.async_stacks.is_some().then(LogicalFrames::default),
        }
    }

    /// Replaces `frames` by the frames of a stack, innermost first. The caller keeps the frames and
    /// sets their place in the row.
    pub(super) fn resolve_stack(
        &mut self,
        stack: StackHandle,
        frames: &mut Vec<FrameHandle>,
    ) -> ResolvedStack {
        let stacks = self.model.stored_stacks();
        let process = stacks.process(stack).unwrap_or(ProcessHandle(0));
        let ticks = stacks.since_ticks(stack);
        let cut_at = stacks.is_cut(stack).then(|| stacks.addresses(stack).len().saturating_sub(1));
        frames.clear();
        self.caught.clear();
        let mut row = ResolvedStack::UNKNOWN;
        let (mut is_wanted, mut is_excluded) = (self.filter.frame.is_none(), false);
        let mut chain = WaitChain::NEW;
        for (index, address) in stacks.addresses(stack).iter().enumerate() {
            let handle = match cut_at == Some(index) {
                true => self.intern(Frame::left_out(), Role::WORK),
                false => self.resolve_address(process, *address, ticks, index == 0),
            };
            frames.push(handle);
            let (Some(frame), Some(facts)) =
                (self.frames.get(handle.index()), self.facts.get(handle.index()))
            else {
                continue;
            };
            row.counted.add_frame(frame);
            is_wanted |= facts.is_wanted;
            is_excluded |= facts.is_excluded;
            if index == 0 {
                row.leaf.is_managed = frame.kind == FrameKind::Managed;
                row.leaf.is_ahead = row.leaf.is_managed && self.is_ahead(process);
            }
            chain.push(facts.role);
        }
        self.counted.add(row.counted);
        row.is_repaired = stacks.is_repaired(stack);
        let idle_worker =
            is_idle_worker(frames.iter().filter_map(|it| self.frames.get(it.index())));
        row.leaf.is_idle_worker = idle_worker;
        let joined = self.join_async_callers(stack, frames);
        if let Some(lacks_callers) = joined {
            row.lacks_async_callers = lacks_callers;
            (is_wanted, is_excluded) = self.passes(frames);
        } else if !row.is_repaired && self.is_cut_off(process, stacks.addresses(stack).len()) {
            row.is_cut_off = true;
            frames.push(self.intern(Frame::callers_cut_off(), Role::WORK));
        }
        row.wait_for = chain.wait_for;
        row.leaf.wait = chain.wait;
        // An innermost address without a name is native code or a method whose name is missing.
        // Only a rundown, which names all methods, makes native code certain.
        row.leaf.is_returning = chain.is_returning() && self.lists_all_methods(process);
        row.leaf.is_native_call = chain.is_in_native;
        row.leaf.is_at_poll = chain.is_at_poll;
        if !self.options.is_raw {
            row.has_call = self.rewrite_innermost(frames, chain, row.leaf.is_returning);
        }
        let call = frames.first().copied().filter(|_| row.has_call);
        let handler = self.mark_handler(frames);
        self.fold(frames, handler);
        row.has_call = call.is_some() && frames.first().copied() == call && frames.len() > 1;
        row.passes = is_wanted && !is_excluded;
        row
    }

    /// Returns whether a frame is one that the filter requires, and whether one is excluded.
    fn passes(&self, frames: &[FrameHandle]) -> (bool, bool) {
        let mut facts = frames.iter().filter_map(|frame| self.facts.get(frame.index()));
        let is_wanted = self.filter.frame.is_none() || facts.clone().any(|it| it.is_wanted);
        (is_wanted, facts.any(|it| it.is_excluded))
    }

    /// Returns whether two frames are of one method, maybe at different lines.
    pub(super) fn is_same(&self, one: FrameHandle, other: FrameHandle) -> bool {
        let method = |frame: FrameHandle| {
            let frame = self.frames.get(frame.index())?;
            Some((&frame.module, &frame.namespace, &frame.type_name, &frame.method))
        };
        one == other || method(one).is_some_and(|one| Some(one) == method(other))
    }

    /// Returns the part that a frame has in resuming async code.
    pub(super) fn async_role(&self, frame: FrameHandle) -> AsyncRole {
        self.facts.get(frame.index()).map_or(AsyncRole::Other, |facts| facts.async_role)
    }

    /// Names the endpoint of each frame whose method handles only one.
    pub(super) fn name_endpoints(&mut self) {
        let of_methods = self.endpoints();
        if of_methods.is_empty() {
            return;
        }
        let names = &self.model.endpoints;
        for frame in &mut self.frames {
            let endpoint = of_methods.get(&method_key(frame)).copied().flatten();
            frame.endpoint = endpoint.map(|endpoint| Arc::from(names.name(endpoint)));
        }
    }

    /// Returns the endpoint of each method that handles requests, by the method's
    /// [key](method_key). It is `None` if a method serves several.
    fn endpoints(&mut self) -> HashMap<String, Option<TextHandle>> {
        let mut found: HashMap<String, Option<TextHandle>> = HashMap::default();
        let stacks = self.model.stored_stacks();
        for (stack, endpoint) in self.model.endpoints.seen() {
            let process = stacks.process(stack).unwrap_or(ProcessHandle(0));
            let ticks = stacks.since_ticks(stack);
            let addresses = stacks.addresses(stack).iter().enumerate();
            let handles: Vec<FrameHandle> = addresses
                .map(|(index, at)| self.resolve_address(process, *at, ticks, index == 0))
                .collect();
            let frames: Vec<&Frame> =
                handles.iter().filter_map(|frame| self.frames.get(frame.index())).collect();
            for handler in handlers(&frames) {
                let only = found.entry(method_key(handler)).or_insert(endpoint);
                *only = only.filter(|only| endpoint == Some(*only));
            }
        }
        found
    }

    /// Returns whether the trace names all methods of a process. If so, code without a name is a
    /// stub or native code.
    fn lists_all_methods(&self, process: ProcessHandle) -> bool {
        self.model.process(process).is_some_and(|process| process.methods.has_rundown())
    }

    /// Returns whether the process was compiled ahead of time. Its sampler reports all code as
    /// native.
    fn is_ahead(&self, process: ProcessHandle) -> bool {
        let is_ahead =
            |process: &Process| !process.images.is_empty() && process.methods.codes().is_empty();
        self.model.process(process).is_some_and(is_ahead)
    }

    /// Returns whether a stack with this many frames has lost its callers, because the runtime
    /// keeps only so many frames.
    fn is_cut_off(&self, process: ProcessHandle, frames: usize) -> bool {
        // Recorders of operating systems have other limits, so that 100 frames mean nothing there.
        let is_of_runtime = |process: &Process| {
            !process.methods.codes().is_empty() || process.mappings().is_empty()
        };
        frames == RUNTIME_FRAMES
            && self.model.cut_stacks() != CutStacks::Keep
            && self.model.process(process).is_some_and(is_of_runtime)
    }

    /// Leaves out or names the innermost frames of a stack, as [`Innermost`] decides. Returns
    /// whether only samples of running threads show the first frame, which stands for a call.
    fn rewrite_innermost(
        &mut self,
        frames: &mut Vec<FrameHandle>,
        chain: WaitChain,
        is_returning: bool,
    ) -> bool {
        let of_stack = frames.iter().filter_map(|frame| {
            let passage = self.facts.get(frame.index())?.role.passage;
            Some((self.frames.get(frame.index())?, passage))
        });
        let Innermost { left_out, caught, call } = Innermost::new(of_stack, chain, is_returning);
        self.caught.extend(frames.get(caught).unwrap_or_default());
        let call = call.and_then(|call| Some((*frames.get(call.caller)?, call)));
        frames.drain(..left_out.min(frames.len()));
        let Some((caller, InnermostCall { what, unnamed, is_of_running, .. })) = call else {
            return false;
        };
        let call = self.intern_call(caller, what);
        frames.splice(..unnamed.min(frames.len()), [call]);
        is_of_running
    }

    /// Returns the frame that stands for a call by the method of the frame `place`.
    pub(super) fn intern_call(&mut self, place: FrameHandle, call: FrameCall) -> FrameHandle {
        let Some(caller) = self.frames.get(place.index()) else { return place };
        self.intern(caller.calling(call), Role::NATIVE)
    }

    /// Marks the compiled handler of an endpoint among the frames of a stack, and returns it.
    fn mark_handler(&mut self, frames: &[FrameHandle]) -> Option<FrameHandle> {
        let facts = |frame: &FrameHandle| self.facts.get(frame.index());
        let roles = frames.iter().map(facts);
        let at = called_handler(roles.map(|it| it.map_or(HandlerRole::Other, |it| it.in_handling)));
        let handler = at.and_then(|at| frames.get(at)).copied()?;
        self.frames.get_mut(handler.index())?.is_handler = true;
        Some(handler)
    }

    /// Folds the frames of a stack. At least one frame remains. `handler` stands for own code that
    /// was inlined.
    fn fold(&mut self, frames: &mut Vec<FrameHandle>, handler: Option<FrameHandle>) {
        let Some(folder) = &mut self.folder else { return };
        let Some(outermost) = frames.last().copied() else { return };
        let left = folder.fold(frames, handler);
        frames.clear();
        frames.extend(left.iter().rev());
        if frames.is_empty() {
            let instead = folder.nothing_left();
            frames.push(instead.map_or(outermost, |frame| self.intern_group(frame)));
        }
    }

    pub(super) fn model(&self) -> &'m Model {
        self.model
    }

    pub(super) fn text(&self, frame: FrameHandle) -> &str {
        self.frames.get(frame.index()).map_or("?", |frame| &frame.text)
    }

    /// Returns the frame at an address of a stack. `is_leaf` says that the address is the innermost
    /// one and not a return address.
    pub(super) fn resolve_address(
        &mut self,
        process: ProcessHandle,
        address: u64,
        ticks: u64,
        is_leaf: bool,
    ) -> FrameHandle {
        let address = call_address(address, is_leaf);
        if let Some(known) = self.by_address.get(&(process.0, address)) {
            return *known;
        }
        if let Some(known) = self.unnamed.get(&(process.0, address, is_leaf)) {
            return *known;
        }
        let found = self.find(process, address, ticks, is_leaf);
        if found.is_always {
            self.by_address.insert((process.0, address), found.frame);
        }
        found.frame
    }

    fn find(
        &mut self,
        process: ProcessHandle,
        address: u64,
        ticks: u64,
        is_leaf: bool,
    ) -> FoundFrame {
        if process == Unsampled::PROCESS {
            let text = Unsampled::from_address(address).map_or("?", Unsampled::text);
            let frame = self.intern(Frame::group(text.to_owned(), FrameKind::Unknown), Role::WORK);
            return FoundFrame { frame, is_always: true };
        }
        let model = self.model;
        if let Some(row) = model.process(process)
            && let Some(found) = self.find_in(row, process, address, ticks)
        {
            return found;
        }
        // All processes share the kernel, so a recorder may report its symbols for one process
        // only.
        let is_kernel = address >= KERNEL_START;
        if is_kernel {
            let owners = self.kernel.get_or_init(|| {
                KernelOwners::new(model.processes().flat_map(|(process, row)| {
                    let of_code = row.methods.extents().chain(row.mappings.extents());
                    let all = of_code.chain(row.perf_map.extents());
                    all.map(move |(start, last)| (process, start, last))
                }))
            });
            if let Some(other) = owners.other_than(process, address)
                && let Some(row) = model.process(other)
                && let Some(found) = self.find_in(row, other, address, ticks)
            {
                return found;
            }
        }
        let kind = if is_kernel { FrameKind::Kernel } else { FrameKind::Unknown };
        let shown = if is_leaf { address } else { address.saturating_add(1) };
        let frame = self.intern(Frame::address(shown, kind), Role::NATIVE);
        // Ranges of code find the nearest time, so what finds nothing now finds nothing ever.
        self.unnamed.insert((process.0, address, is_leaf), frame);
        FoundFrame { frame, is_always: false }
    }

    fn find_in(
        &mut self,
        row: &'m Process,
        process: ProcessHandle,
        address: u64,
        ticks: u64,
    ) -> Option<FoundFrame> {
        if let Some((method, is_always)) = row.methods.find(address, ticks) {
            let lines = self.lines.as_mut();
            let line = lines.and_then(|it| it.find((process, row), method, address, ticks));
            return Some(FoundFrame {
                frame: self.method_frame((row, process), method, line, ticks),
                is_always,
            });
        }
        let kind = if address >= KERNEL_START { FrameKind::Kernel } else { FrameKind::Native };
        let mapping = row.mappings.mapping(address, ticks);
        if let Some((name, is_always)) = row.mappings.symbol(address, ticks) {
            let (module, is_same) =
                mapping.map_or(("", true), |(mapping, is_same)| (&*mapping.name, is_same));
            let frame = self.symbol(module, self.model.text(name), kind);
            return Some(FoundFrame { frame, is_always: is_always && is_same });
        }
        if let Some((range, is_always)) = row.perf_map.find(address, ticks) {
            let module = mapping.map_or("", |(mapping, _)| &*mapping.name);
            let frame = self.symbol(module, self.model.text(range.value), kind);
            return Some(FoundFrame { frame, is_always });
        }
        // Guesses come after all names that are certain.
        if let Some((method, offset)) = row.methods.guess(address) {
            let frame = match offset {
                0 => self.method_frame((row, process), method, None, ticks),
                _ => self.guess_frame(row, method, offset, ticks),
            };
            return Some(FoundFrame {
                frame,
                is_always: mapping.is_none_or(|(_, is_always)| is_always),
            });
        }
        let image = row.images.find(address).filter(|_| mapping.is_none());
        if let Some(image) = image {
            return Some(FoundFrame { frame: self.in_image(image, address), is_always: true });
        }
        let Some((mapping, is_always)) = mapping else {
            let frame = Frame::lies_in(row.memory.module(address)?, kind);
            return Some(FoundFrame { frame: self.intern(frame, Role::NATIVE), is_always: false });
        };
        let offset = address.wrapping_sub(mapping.start).wrapping_add(mapping.file_offset);
        #[cfg(feature = "symbols")]
        if let Some(name) =
            self.model.symbol_file(&mapping.path).and_then(|file| file.name_at(offset))
        {
            let frame = self.symbol(&mapping.name, &readable(name), kind);
            return Some(FoundFrame { frame, is_always });
        }
        Some(FoundFrame {
            frame: self.intern(Frame::in_mapping(&mapping.name, offset, kind), Role::NATIVE),
            is_always,
        })
    }

    /// Returns the frame for code of a NativeAOT program. Its name comes from the symbol file of
    /// the program.
    fn in_image(&mut self, image: &NativeImage, address: u64) -> FrameHandle {
        let distance = address.saturating_sub(image.start);
        #[cfg(feature = "symbols")]
        if let Some(symbol) =
            self.model.symbol_file(&image.path).and_then(|file| file.name_from_start(distance))
        {
            return match AotName::parse(symbol, &image.name) {
                Some(AotName { module, type_name, method }) => self.managed(&MethodName {
                    module: &module,
                    type_name: &type_name,
                    method: &method,
                    signature: "",
                }),
                None => self.symbol(&image.name, &readable(symbol), FrameKind::Native),
            };
        }
        self.intern(Frame::in_mapping(&image.name, distance, FrameKind::Native), Role::NATIVE)
    }

    fn method_frame(
        &mut self,
        (row, process): (&Process, ProcessHandle),
        method: MethodHandle,
        line: Option<Line>,
        ticks: u64,
    ) -> FrameHandle {
        if let Some(known) = self.by_method.get(&(process.0, method.0, line)) {
            return *known;
        }
        let Some(name) = self.name_of(row, method, ticks) else {
            return self.intern(Frame::address(0, FrameKind::Unknown), Role::NATIVE);
        };
        let at = line.and_then(|line| self.lines.as_ref()?.source_line(line));
        let frame = self.managed_at(&name, at);
        self.by_method.insert((process.0, method.0, line), frame);
        frame
    }

    /// Returns the guessed frame for an address that lies `offset` bytes after the entry point of a
    /// method.
    fn guess_frame(
        &mut self,
        row: &Process,
        method: MethodHandle,
        offset: u64,
        ticks: u64,
    ) -> FrameHandle {
        let Some(name) = self.name_of(row, method, ticks) else {
            return self.intern(Frame::address(0, FrameKind::Unknown), Role::NATIVE);
        };
        let frame = self
            .intern(Frame::managed(&name, self.options).guessed(offset), Role::of_method(&name));
        if let Some(folder) = &mut self.folder {
            folder.method(frame, &name);
        }
        frame
    }

    fn name_of<'r>(
        &self,
        row: &'r Process,
        method: MethodHandle,
        ticks: u64,
    ) -> Option<MethodName<'r>>
    where
        'm: 'r,
    {
        let texts = self.model.texts();
        let code = row.methods.code(method)?;
        Some(MethodName {
            module: row.modules.find(code.module_id, ticks).map_or("", |module| &*module.name),
            type_name: texts.get(code.namespace),
            method: texts.get(code.name),
            signature: texts.get(code.signature),
        })
    }

    fn managed(&mut self, name: &MethodName<'_>) -> FrameHandle {
        self.managed_at(name, None)
    }

    fn managed_at(&mut self, name: &MethodName<'_>, line: Option<SourceLine>) -> FrameHandle {
        let mut frame = Frame::managed(name, self.options);
        if let Some(line) = line {
            frame = frame.at_line(line);
        }
        let frame = self.intern(frame, Role::of_method(name));
        if let Some(folder) = &mut self.folder {
            folder.method(frame, name);
        }
        // A method and its state machine may share a frame.
        if self.logical.is_some()
            && let Some(facts) = self.facts.get_mut(frame.index())
            && facts.async_role == AsyncRole::Other
        {
            facts.async_role = AsyncRole::of_method(name);
        }
        frame
    }

    /// Returns the frame for a symbol with this name. Perf maps also name methods of .NET.
    fn symbol(&mut self, module: &str, name: &str, kind: FrameKind) -> FrameHandle {
        match MethodName::from_perf_map(name).filter(|_| kind == FrameKind::Native) {
            Some(name) => self.managed(&name),
            None => {
                let wait = if is_native_wait(name) { Wait::Always } else { Wait::No };
                self.intern(
                    Frame::native(module, name, kind, self.options),
                    Role { wait, wait_for: None, passage: Passage::Native },
                )
            }
        }
    }

    pub(super) fn intern(&mut self, frame: Frame, role: Role) -> FrameHandle {
        let frame = frame.shortened();
        if let Some(known) = self.by_text.get(&frame.text) {
            #[cfg(feature = "page")]
            if let Some(known) = self.frames.get_mut(known.index()) {
                known.is_machine |= frame.is_machine;
            }
            return *known;
        }
        let handle = FrameHandle::next(self.frames.len());
        let matches = |pattern: &Option<Pattern>| {
            pattern.as_ref().is_some_and(|pattern| pattern.is_match(&frame.text))
        };
        self.facts.push(MethodFacts {
            role,
            in_handling: HandlerRole::from_frame(&frame),
            is_wanted: matches(&self.filter.frame),
            is_excluded: matches(&self.filter.exclude),
            async_role: AsyncRole::Other,
        });
        self.by_text.insert(frame.text.clone(), handle);
        self.frames.push(frame);
        self.foldable(handle);
        handle
    }

    /// Passes a new frame to the folder, together with the frame of its group.
    fn foldable(&mut self, handle: FrameHandle) {
        let (Some(folder), Some(frame)) = (&mut self.folder, self.frames.get(handle.index()))
        else {
            return;
        };
        let Some(name) = folder.group_of(frame) else {
            return folder.add(frame, handle, &frame.text, false);
        };
        // The folder numbers frames in the order of addition, so the frame goes before its group.
        let mut group = Frame::group(name, frame.kind);
        shorten(&mut group.text);
        let shown = match self.by_text.get(&group.text) {
            Some(known) => *known,
            None => FrameHandle::next(self.frames.len()),
        };
        folder.add(frame, shown, &group.text, true);
        self.intern_group(group);
    }

    /// Interns a frame that does not stand for an address of the trace, such as a group.
    fn intern_group(&mut self, group: Frame) -> FrameHandle {
        if let Some(known) = self.by_text.get(&group.text) {
            return *known;
        }
        let handle = FrameHandle::next(self.frames.len());
        let (role, in_handling) = (Role::WORK, HandlerRole::Other);
        self.facts.push(MethodFacts {
            role,
            in_handling,
            is_wanted: false,
            is_excluded: false,
            async_role: AsyncRole::Other,
        });
        self.by_text.insert(group.text.clone(), handle);
        if let Some(folder) = &mut self.folder {
            folder.add(&group, handle, &group.text, true);
        }
        self.frames.push(group);
        handle
    }
}
