//! Folding: omits frames, so that their time counts for their callers, or merges several into one.
//!
//! | what | becomes |
//! |---|---|
//! | `Run` → `AsyncTaskMethodBuilder.Start` → `<Run>d__4.MoveNext` | `Run` |
//! | `Mine` → `List.Sort` → `ArraySortHelper.IntrospectiveSort` | `Mine`, with [`Folding::is_my_code`] |
//! | `Json.Read` → `Json.Skip` → `Json.Next`, with the group `Json\.` called `JSON` | `JSON` |
//! | `EventSource.SendCommand` → whatever | `(recording)`, with [`Folding::is_recording`] |
//! | `Walk` → `Walk` → `Walk`, `Visit` → `Accept` → `Visit` → `Accept` | `Walk`, `Visit` → `Accept` |
//! Folding never changes the weight of a stack. At least one frame of a stack is kept.

use super::handle::FrameHandle;
use super::method_name::{MethodName, without_arguments};
use super::names::{Frame, FrameKind, NameOrigin};
use super::pattern::Pattern;
use super::recording::{RECORDING, is_for_recording, is_recording};
use crate::numbering::Numbering;
use std::sync::Arc;

/// Which frames of stacks are folded. By default none are.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Folding {
    /// Whether to omit code of .NET, of Microsoft's libraries and of the operating system. It is
    /// recognised by its module: `System.*`, `Microsoft.*`, the runtime's own files, the C library,
    /// the kernel. Async methods are shown as with [`Folding::is_async`]. Unknown code is kept,
    /// except for stubs that omitted code calls.
    pub is_my_code: bool,
    /// Pattern for the display names of the user's code. It is used instead of the recognition by
    /// module, also by the findings of a summary.
    pub my_code: Option<Pattern>,
    /// Whether to show an async method as a single frame: merges the method with its state machine,
    /// and omits the code that starts or resumes them.
    pub is_async: bool,
    /// Whether to show the work that the recording itself causes in the process as one frame,
    /// `(recording)`. This is, for example, turning on event sources, writing manifests, and
    /// polling counters. `None` leaves it to the report
    /// ([`Report::FOLDS_RECORDING`](crate::report::Report::FOLDS_RECORDING)); converters then do not.
    pub is_recording: Option<bool>,
    /// Whether to show recursion only once: methods that call themselves, and cycles of up to eight
    /// methods.
    pub merges_recursion: bool,
    /// Groups of frames that are shown under another name. The first group that matches a frame is
    /// used. Adjacent frames with the same name are merged.
    pub groups: Vec<FrameGroup>,
    /// Patterns for the display names of frames that are omitted.
    pub folds: Vec<Pattern>,
    /// Minimum share of the weight of all samples that a frame must have, in percent. Other frames
    /// are omitted; 0 omits none.
    pub least_percent: f64,
}

impl Folding {
    /// Returns whether a frame is the user's code: neither code of the framework, which
    /// [`Folding::is_my_code`] recognises, nor an address about which nothing is known.
    pub fn is_own(frame: &Frame) -> bool {
        match frame.origin {
            NameOrigin::Address | NameOrigin::Label => false,
            NameOrigin::Module if frame.module.is_empty() => false,
            _ => !is_framework(frame),
        }
    }

    /// Returns the index of the innermost frame of the user's code; without such a frame, that of
    /// the compiled handler of an endpoint, into which the user's code was inlined. `frames` are
    /// innermost first.
    pub fn own_at(frames: &[Arc<Frame>]) -> Option<usize> {
        let own = frames.iter().position(|frame| Folding::is_own(frame));
        own.or_else(|| frames.iter().rposition(|frame| frame.is_handler))
    }
}

/// Frames that are shown under a common name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameGroup {
    /// Pattern that must match anywhere in a frame's text.
    pub pattern: Pattern,
    /// The common name. `$1` stands for the match of a regular expression's first group.
    pub name: String,
}

/// Maximum number of frames in a cycle of recursive calls.
const MAX_CYCLE_FRAMES: usize = 8;

/// Text of the frame that stands for a stack without any frame of the user's code.
pub(super) const NOT_MY_CODE: &str = "(not my code)";

/// Managed modules and namespaces of the framework. Those whose names continue one of these after a
/// dot belong to it, too.
const FRAMEWORK: &[&str] = &[
    "System",
    "Microsoft",
    "Interop",
    "mscorlib",
    "netstandard",
    "WindowsBase",
    "FSharp.Core",
    "dynamicClass",
];

/// Beginnings of the file names of native code that belongs to the framework.
const NATIVE_FRAMEWORK: &[&str] = &[
    "libcoreclr",
    "libclr",
    "libSystem.",
    "libhostfxr",
    "libhostpolicy",
    "libc.so",
    "libc-",
    "libm.so",
    "libdl",
    "librt.so",
    "libpthread",
    "libstdc++",
    "libgcc_s",
    "libsystem_",
    "ld-linux",
    "vmlinux",
    "[vdso]",
    "coreclr.",
    "clrjit.",
    "clrgc",
    "ntdll.",
    "kernel32.",
    "kernelbase.",
    "KERNELBASE.",
    "KERNEL32.",
    "ucrtbase.",
    "ntoskrnl.",
];

/// Facts about a frame that decide how it is folded.
#[derive(Debug, Clone, Copy)]
struct FoldingFacts {
    /// The frame itself, or the frame of its group if it has one.
    shown: FrameHandle,
    is_grouped: bool,
    is_folded: bool,
    is_framework: bool,
    /// Whether a pattern of the user decided whether the frame is folded.
    is_chosen: bool,
    /// Whether the frame is work of the recording, so that it stands for all frames that it calls.
    is_recording: bool,
    /// Whether the code has neither a name nor a module.
    is_unknown: bool,
    /// Number that identifies the frame's method.
    method: Option<u32>,
    machine_of: Option<u32>,
}

/// Folds stacks as the options say.
#[derive(Debug)]
pub(super) struct Folder<'f> {
    options: &'f Folding,
    facts: Vec<FoldingFacts>,
    methods: Numbering<String>,
    path: Path,
}

impl<'f> Folder<'f> {
    /// Prepares the folding; returns `None` if nothing is to be folded.
    pub(super) fn new(options: &'f Folding) -> Option<Folder<'f>> {
        let Folding { is_my_code, is_async, is_recording, merges_recursion, groups, folds, .. } =
            options;
        let is_recording = is_recording.unwrap_or(false);
        let is_needed = *is_my_code
            || *is_async
            || is_recording
            || *merges_recursion
            || !groups.is_empty()
            || !folds.is_empty();
        let path = Path::new(*merges_recursion);
        is_needed.then(|| Folder {
            options,
            facts: Vec::new(),
            methods: Numbering::default(),
            path,
        })
    }

    /// Returns the name under which a frame is shown, if it belongs to a group.
    pub(super) fn group_of(&self, frame: &Frame) -> Option<String> {
        if self.options.is_recording == Some(true)
            && !is_recording(frame)
            && is_for_recording(frame)
        {
            return Some(RECORDING.to_owned());
        }
        self.options.groups.iter().find_map(|group| {
            let name = group.pattern.named(&frame.text, &group.name)?;
            // Names must not be empty.
            Some(if name.is_empty() { "?".to_owned() } else { name })
        })
    }

    /// Adds the next frame. `shown` is the frame itself, or the frame of its group.
    pub(super) fn add(
        &mut self,
        frame: &Frame,
        shown: FrameHandle,
        shown_text: &str,
        is_grouped: bool,
    ) {
        let is_framework = self.options.is_my_code
            && !is_grouped
            && match &self.options.my_code {
                Some(mine) => !mine.is_match(shown_text),
                None => is_framework(frame),
            };
        let is_chosen_fold = self.options.folds.iter().any(|fold| fold.is_match(shown_text));
        self.facts.push(FoldingFacts {
            shown,
            is_grouped,
            is_folded: is_framework || is_chosen_fold,
            is_framework,
            is_chosen: is_chosen_fold || self.options.my_code.is_some(),
            is_recording: self.options.is_recording == Some(true) && shown_text == RECORDING,
            is_unknown: self.options.is_my_code && !frame.is_named() && frame.module.is_empty(),
            method: None,
            machine_of: None,
        });
    }

    /// Records which method, by the runtime's name, a frame belongs to.
    pub(super) fn method(&mut self, frame: FrameHandle, name: &MethodName<'_>) {
        if !self.options.is_async && !self.options.is_my_code {
            return;
        }
        let method = self.number(without_arguments(name.type_name), without_arguments(name.method));
        let machine_of = name.machine().map(|(type_name, method)| self.number(type_name, method));
        let is_carrier = name.carries_async();
        let Some(facts) = self.facts.get_mut(frame.index()) else { return };
        facts.is_folded |= is_carrier && !facts.is_grouped;
        facts.method.get_or_insert(method);
        // A method and its state machine may share a frame.
        facts.machine_of = facts.machine_of.or(machine_of);
    }

    fn number(&mut self, type_name: &str, method: &str) -> u32 {
        self.methods.number(format!("{type_name}\0{method}"))
    }

    /// Returns the frames of a stack that are left after folding, outermost first. `handler` is the
    /// compiled handler of an endpoint, which stands for own code that was inlined into it.
    pub(super) fn fold(
        &mut self,
        frames: &[FrameHandle],
        handler: Option<FrameHandle>,
    ) -> &[FrameHandle] {
        self.path.frames.clear();
        let facts = |frame: &FrameHandle| self.facts.get(frame.index()).copied();
        let mut last_method = None;
        let mut is_called_by_framework = false;
        // Callers come first, because they decide which frames are omitted.
        for (index, frame) in frames.iter().enumerate().rev() {
            let Some(known) = facts(frame) else { continue };
            if known.is_recording {
                self.path.push(known.shown);
                break;
            }
            let callee = index.checked_sub(1).and_then(|below| frames.get(below)).and_then(facts);
            let is_stub = known.is_unknown
                && is_called_by_framework
                && callee.is_none_or(|callee| !callee.is_unknown);
            is_called_by_framework = known.is_framework;
            let stands_in = handler == Some(*frame) && known.is_framework && !known.is_chosen;
            if known.is_folded && !stands_in || is_stub {
                continue;
            }
            let last = self.path.frames.last().copied();
            let is_same = last == Some(known.shown);
            let is_started =
                known.machine_of.is_some() && (is_same || known.machine_of == last_method);
            last_method = known.method;
            if is_same && (known.is_grouped || is_started) {
                continue;
            }
            // The state machine replaces the method that started it, because both are one async
            // method.
            if is_started {
                self.path.frames.pop();
            }
            self.path.push(known.shown);
        }
        &self.path.frames
    }

    /// Returns the frame to show for a stack of which folding leaves no frame.
    pub(super) fn nothing_left(&self) -> Option<Frame> {
        self.options.is_my_code.then(|| Frame::group(NOT_MY_CODE.to_owned(), FrameKind::Managed))
    }
}

/// Frames of a stack, outermost first.
#[derive(Debug)]
pub(super) struct Path {
    pub(super) frames: Vec<FrameHandle>,
    joins_recursion: bool,
}

impl Path {
    pub(super) fn new(joins_recursion: bool) -> Path {
        Path { frames: Vec::new(), joins_recursion }
    }

    pub(super) fn push(&mut self, frame: FrameHandle) {
        self.frames.push(frame);
        if !self.joins_recursion {
            return;
        }
        let end = self.frames.len();
        // The shortest cycle comes first: A A A A is one frame, not the cycle A A twice.
        for period in 1..=MAX_CYCLE_FRAMES {
            let Some(before) = end.checked_sub(period.saturating_mul(2)) else { return };
            let middle = end.saturating_sub(period);
            if self.frames.get(before..middle) == self.frames.get(middle..end) {
                return self.frames.truncate(middle);
            }
        }
    }
}

/// Returns whether a managed module or a namespace belongs to the framework.
pub(crate) fn is_framework_name(name: &str) -> bool {
    FRAMEWORK.iter().any(|framework| {
        name.strip_prefix(framework).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Returns whether a managed or native module belongs to the framework.
pub(crate) fn is_framework_module(module: &str) -> bool {
    is_framework_name(module) || NATIVE_FRAMEWORK.iter().any(|begin| module.starts_with(begin))
}

/// Returns whether a frame is code of the framework.
pub(crate) fn is_framework(frame: &Frame) -> bool {
    let begins = is_framework_name;
    match frame.kind {
        FrameKind::Kernel => true,
        FrameKind::Native => is_framework_module(&frame.module),
        FrameKind::Managed if !frame.module.is_empty() => {
            begins(&frame.module) || frame.namespace.is_empty() && frame.type_name == "dynamicClass"
        }
        // A method without a module is judged by its namespace.
        FrameKind::Managed if frame.namespace.is_empty() => begins(&frame.type_name),
        FrameKind::Managed => begins(&frame.namespace),
        FrameKind::Unknown => false,
    }
}

/// Returns whether a frame only starts, suspends or resumes async methods, judging by its display
/// name.
#[cfg(feature = "page")]
pub(crate) fn shows_async(frame: &Frame) -> bool {
    let type_name = format!("{}.{}", frame.namespace, frame.type_name);
    let type_name = type_name.split('<').next().unwrap_or_default();
    let method = frame.method.split('<').next().unwrap_or_default();
    // A call by such a method is shown.
    frame.kind == FrameKind::Managed
        && frame.call.is_none()
        && MethodName { module: "", type_name, method, signature: "" }.carries_async()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::names::{NameOptions, NameStyle};

    /// Folds a stack of (module, type, method), and returns its texts, outermost first.
    fn folded(options: &Folding, stack: &[(&str, &str, &str)]) -> Vec<String> {
        let mut folder = Folder::new(options).expect("something to fold");
        let mut texts: Vec<String> = Vec::new();
        let mut frames = Vec::new();
        for (module, type_name, method) in stack {
            let name = MethodName { module, type_name, method, signature: "" };
            let style = NameOptions { style: NameStyle::Short, is_raw: false };
            let frame = Frame::managed(&name, style);
            let group = folder.group_of(&frame);
            let text = group.clone().unwrap_or_else(|| frame.text.clone());
            let known = texts.iter().position(|known| *known == text);
            let handle = FrameHandle::next(known.unwrap_or(texts.len()));
            if known.is_none() {
                texts.push(text.clone());
                folder.add(&frame, handle, &text, group.is_some());
            }
            folder.method(handle, &name);
            frames.insert(0, handle);
        }
        folder.fold(&frames, None).iter().map(|frame| texts[frame.index()].clone()).collect()
    }

    #[test]
    fn an_async_method_is_one_frame_however_it_was_started() {
        let options = Folding { is_async: true, ..Folding::default() };
        let builder = "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1[System.Int32]";
        let started = [
            ("app", "A.Program", "Main"),
            ("app", "A.Program", "Run"),
            ("core", builder, "Start"),
            ("app", "A.Program+<Run>d__4", "MoveNext"),
            ("app", "A.Program", "Inner"),
        ];
        assert_eq!(folded(&options, &started), ["Program.Main", "Program.Run", "Program.Inner"]);
        let resumed = [
            ("core", "System.Threading.ExecutionContext", "RunInternal"),
            (
                "core",
                "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1",
                "MoveNext",
            ),
            ("app", "A.Program+<Run>d__4", "MoveNext"),
        ];
        assert_eq!(folded(&options, &resumed), ["Program.Run"]);
        // A state machine below another method is a separate call.
        let nested = [("app", "A.Program", "Other"), ("app", "A.Program+<Run>d__4", "MoveNext")];
        assert_eq!(folded(&options, &nested), ["Program.Other", "Program.Run"]);
    }

    #[test]
    fn what_runs_async_code_of_fsharp_is_folded() {
        let options = Folding { is_async: true, ..Folding::default() };
        let stack = [
            ("FSharp.Core", "Microsoft.FSharp.Control.Trampoline", "Execute"),
            ("FSharp.Core", "Microsoft.FSharp.Control.AsyncPrimitives+ctxt@1", "Invoke"),
            ("shop", "Shop+load@12-3", "Invoke"),
            ("FSharp.Core", "Microsoft.FSharp.Control.AsyncPrimitives", "CallThenInvoke"),
            ("shop", "Shop+save@20", "MoveNext"),
        ];
        assert_eq!(folded(&options, &stack), ["Shop.load.closure_12_3", "Shop.save"]);
    }

    #[test]
    fn code_of_the_framework_is_its_callers() {
        let options = Folding { is_my_code: true, ..Folding::default() };
        let stack = [
            ("System.Private.CoreLib", "System.Threading.Thread", "StartCallback"),
            ("web", "Web.Handler", "Handle"),
            ("Microsoft.Extensions.Logging", "Microsoft.Extensions.Logging.Logger", "Log"),
            ("Systematic", "Systematic.Sink", "Write"),
            ("System.Console", "System.Console", "WriteLine"),
        ];
        assert_eq!(folded(&options, &stack), ["Handler.Handle", "Sink.Write"]);
        assert!(folded(&options, &stack[..1]).is_empty());
        let unnamed_modules = [("", "System.Text.Rune", "Decode"), ("", "Mine.Program", "Main")];
        assert_eq!(folded(&options, &unnamed_modules), ["Program.Main"]);
    }

    #[cfg(feature = "regex")]
    #[test]
    fn groups_are_one_frame_and_folds_are_asked_by_the_name_that_is_shown() {
        let group =
            FrameGroup { pattern: r"^(Json\w*)\.".parse().unwrap(), name: "[$1]".to_owned() };
        let mut options = Folding { groups: vec![group], ..Folding::default() };
        let stack =
            [("m", "P", "Main"), ("m", "Json", "Read"), ("m", "Json", "Skip"), ("m", "P", "Call")];
        assert_eq!(folded(&options, &stack), ["P.Main", "[Json]", "P.Call"]);
        options.folds.push(r"^\[Json\]$|Call".parse().unwrap());
        assert_eq!(folded(&options, &stack), ["P.Main"]);
    }

    #[test]
    fn recursion_is_shown_once_and_no_method_is_lost() {
        let options = Folding { merges_recursion: true, ..Folding::default() };
        let of = |names: &[&'static str]| {
            let stack: Vec<_> = names.iter().map(|name| ("m", "T", *name)).collect();
            folded(&options, &stack).join(" ").replace("T.", "")
        };
        assert_eq!(of(&["M", "A", "A", "A", "B"]), "M A B");
        assert_eq!(of(&["M", "A", "B", "A", "B", "A"]), "M A B A");
        assert_eq!(of(&["A", "B", "C", "A", "D", "A"]), "A B C A D A");
    }

    #[test]
    #[cfg(feature = "page")]
    fn an_async_method_and_its_state_machine_have_one_number() {
        let number = |type_name, method| {
            MethodName { module: "app", type_name, method, signature: "(int32)" }.async_method()
        };
        let run = number("A.Program", "Run");
        assert_eq!(run, number("A.Program+<Run>d__4", "MoveNext"));
        assert_ne!(run, number("A.Program+<Other>d__5", "MoveNext"));
        assert_ne!(run, number("A.Program", "MoveNext"));
        let read = number("A.Reader`1[System.__Canon]", "Read[System.__Canon]");
        assert_eq!(read, number("A.Reader`1+<Read>d__1`1[System.__Canon]", "MoveNext"));
    }
}
