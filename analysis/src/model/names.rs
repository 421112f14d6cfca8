//! Frames of stacks and their display names.

use super::demangle::demangle;
use super::method_name::MethodName;
use super::mono_names::{is_of_mono, name_of_mono};
use super::source_line::SourceLine;
use super::type_name::{TypeName, arguments, rsplit_outside, type_parameters};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Which parts of a name are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum NameStyle {
    /// Shows `Type.Method`.
    Short,
    /// Shows `Module!Namespace.Type.Method`.
    Full,
    /// Shows `Module!Namespace.Type.Method(arguments)`.
    #[default]
    Signature,
}

/// Options for the names of frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameOptions {
    /// Which parts of a name are shown.
    pub style: NameStyle,
    /// Whether names are shown as the runtime stores them, with compiler-generated parts and types
    /// in IL notation: `workload!Workload.Program+<TaskRound>d__14.MoveNext()`. PerfView shows such
    /// names, too.
    pub is_raw: bool,
}

/// Kind of code to which a frame belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum FrameKind {
    /// A method of .NET.
    Managed,
    /// Code of a library or program, with or without a name.
    Native,
    /// Code of the operating system's kernel.
    Kernel,
    /// An address about which nothing is known.
    Unknown,
}

/// How a frame got its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum NameOrigin {
    /// The runtime reported the method, or a symbol names a method.
    Method,
    /// A symbol file, a perf map or a recorder named the function.
    Symbol,
    /// The function has no name, but the file that contains the address is known:
    /// `libfoo.so+0x1234`.
    Module,
    /// Nothing is known about the address, so the text is the address.
    Address,
    /// The frame stands for a group of frames, or for no code at all: `(recording)`.
    Label,
}

/// Kind of the call for which a frame stands that lies on top of the calling method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum FrameCall {
    /// A call of native code without a name.
    Native,
    /// A call of the runtime's code that takes a lock.
    TakingLock,
    /// The thread went to sleep or woke: it ran in a method that waits, as its readings show.
    Waking,
}

impl FrameCall {
    /// All kinds of calls.
    pub const ALL: [FrameCall; 3] = [FrameCall::Native, FrameCall::TakingLock, FrameCall::Waking];

    /// Returns the end of a frame's text that names the call, such as ` → native call`.
    pub fn text(self) -> &'static str {
        match self {
            FrameCall::Native => " → native call",
            FrameCall::TakingLock => " → taking a lock",
            FrameCall::Waking => " → going to sleep and waking",
        }
    }
}

/// A frame with its display names. Frames are compared by their texts, so that frames which look
/// alike are equal.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Frame {
    /// Full name in the chosen style; never empty.
    pub text: String,
    /// Short name of the module; empty if unknown.
    pub module: String,
    /// Namespace of the type; empty for native code.
    pub namespace: String,
    /// Name of the type, including outer types; empty for native code.
    pub type_name: String,
    /// Name of the method or function, without its signature.
    pub method: String,
    /// Kind of code to which the frame belongs.
    pub kind: FrameKind,
    /// How the frame got its name.
    pub origin: NameOrigin,
    /// Call for which the frame stands; `None` for most frames. The fields `text` and `method` end
    /// with the call: `Sockets.SocketPal.Send → native call`.
    pub call: Option<FrameCall>,
    /// Source line, with which `text` ends: `Program.Main(string[]) Program.cs:33`. `None` unless
    /// [`AnalysisOptions::lines`](crate::AnalysisOptions::lines) asks for lines, or if the line is not
    /// known.
    #[cfg_attr(feature = "serde", serde(flatten, skip_serializing_if = "Option::is_none"))]
    pub line: Option<SourceLine>,
    /// Endpoint of a web application, such as `GET /cart`, of which the method is the handler;
    /// `None` if the method handles none, or several.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub endpoint: Option<Arc<str>>,
    /// Whether ASP.NET Core compiled the method around the handler of an endpoint, and called it.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub is_handler: bool,
    /// Whether the name is a guess: the address lies shortly after the entry point of a method of
    /// unknown size. The fields `text` and `method` show the mark `~` and the distance from the
    /// entry point in bytes: `~Program.Run+0x1f0`.
    pub is_guessed: bool,
    /// Distance of the address from the entry point of a guessed method, in bytes; 0 for other
    /// frames.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) guess_offset: u64,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) ends: NameEnds,
    /// Whether the frame may be a state machine, which is shown with the name of its async method
    /// or iterator.
    #[cfg(feature = "page")]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) is_machine: bool,
    /// Hash of the method's type and name without generic arguments; 0 for code that is not a
    /// managed method. A state machine has the hash of the method that starts it.
    #[cfg(feature = "page")]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) async_method: u64,
}

/// Serializes the member `frames`, the texts of frames, and the member `lines`, their source lines at
/// the same places, if one has a line.
#[cfg(feature = "serde")]
pub(crate) fn with_lines<S>(frames: &[Arc<Frame>], to: S) -> Result<S::Ok, S::Error>
where
    S: serde::Serializer,
{
    use serde::Serialize;
    #[derive(Serialize)]
    struct Members<'f> {
        #[serde(serialize_with = "crate::document::as_texts")]
        frames: &'f [Arc<Frame>],
        #[serde(skip_serializing_if = "Option::is_none")]
        lines: Option<Vec<Option<&'f SourceLine>>>,
    }
    let has_lines = frames.iter().any(|frame| frame.line.is_some());
    let lines = || frames.iter().map(|frame| frame.line.as_ref()).collect();
    Members { frames, lines: has_lines.then(lines) }.serialize(to)
}

/// Text of a frame in code that lies in no file.
const GENERATED_CODE: &str = "(generated code)";
/// End of the text of a frame of which only the file of its code is known.
const NO_NAME: &str = "!(no name)";

/// Type of the methods that a program compiles from expressions.
const COMPILED_TYPE: &str = "dynamicClass";
/// Beginning of the names of the methods that a program compiles from expressions.
const COMPILED_METHOD: &str = "lambda_method";

/// Number of frames that the runtime keeps of a stack, which are the innermost ones.
pub(crate) const RUNTIME_FRAMES: usize = 100;

/// Where the parts of a frame's names end, in bytes. A name that was cut off may be shorter than
/// that.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NameEnds {
    /// End of the module's name and its `!` in `text`.
    module: usize,
    /// End of the method's name in `text`; the arguments come after it.
    name: usize,
    /// End of the arguments in `text`; the offset of a guess or the line, and the call come after
    /// them.
    arguments: usize,
    /// End of the name in `method`; the call comes after it.
    method: usize,
}

impl PartialEq for Frame {
    fn eq(&self, other: &Frame) -> bool {
        self.text == other.text
    }
}

impl Eq for Frame {}

impl PartialOrd for Frame {
    fn partial_cmp(&self, other: &Frame) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Frame {
    fn cmp(&self, other: &Frame) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl Hash for Frame {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl AsRef<str> for Frame {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl Frame {
    /// Returns whether the frame has a name. If not, its text is an address, or names the file that
    /// contains the address.
    pub fn is_named(&self) -> bool {
        !matches!(self.origin, NameOrigin::Module | NameOrigin::Address)
    }

    /// Returns whether the text tells neither a name nor a place in a file: the frame is an address
    /// about which nothing is known, or only the file of its code is.
    pub(crate) fn has_no_place(&self) -> bool {
        self.origin == NameOrigin::Address
            || self.origin == NameOrigin::Module
                && (self.text == GENERATED_CODE || self.text.ends_with(NO_NAME))
    }

    /// Returns the text without arguments and call: `app!Program.Main` for
    /// `app!Program.Main(string[])`.
    pub fn without_arguments(&self) -> &str {
        self.text.get(..self.ends.name).unwrap_or(&self.text)
    }

    /// Returns the text without module, arguments and call: `N.Program.Main` for
    /// `app!N.Program.Main(string[])`.
    pub fn qualified_name(&self) -> &str {
        self.text.get(self.ends.module..self.ends.name).unwrap_or(&self.text)
    }

    /// Returns the arguments in the text, such as `(string[])`; empty if the style shows none.
    pub(crate) fn arguments(&self) -> &str {
        self.text.get(self.ends.name..self.ends.arguments).unwrap_or_default()
    }

    /// Returns the text without the call.
    pub(crate) fn without_call(&self) -> &str {
        self.text.get(..self.ends.arguments).unwrap_or(&self.text)
    }

    /// Returns whether the frame is a method of a type or of one nested in it, and its name begins
    /// with `method`.
    pub(crate) fn is_method_of(&self, type_name: &str, method: &str) -> bool {
        let nested = self.type_name.strip_prefix(type_name);
        // A guess is marked by one byte in front of the name.
        let name = self.method.get(usize::from(self.is_guessed)..).unwrap_or_default();
        nested.is_some_and(|nested| nested.is_empty() || nested.starts_with(['.', '+']))
            && name.starts_with(method)
    }

    /// Returns whether the type lies in a namespace or in one nested in it.
    pub(crate) fn is_in_namespace(&self, namespace: &str) -> bool {
        let below = self.namespace.strip_prefix(namespace);
        below.is_some_and(|below| below.is_empty() || below.starts_with('.'))
    }

    /// Returns whether the frame is a method that was compiled from an expression while the program
    /// ran, as ASP.NET Core compiles one around each handler, in which the handler is often inlined.
    pub(crate) fn is_compiled(&self) -> bool {
        self.type_name == COMPILED_TYPE && self.method.starts_with(COMPILED_METHOD)
    }

    /// Returns whether the frame is a lambda, or a method nested in a lambda.
    pub(crate) fn is_lambda(&self) -> bool {
        self.method.starts_with("lambda_")
            || [&self.method, &self.type_name].iter().any(|name| name.contains(".lambda_"))
    }

    /// Returns the method's name without the marks of a guess and without the call.
    pub(crate) fn bare_method(&self) -> &str {
        let caller = self.caller_method();
        match self.is_guessed {
            true => caller.get(1..).and_then(|name| name.split('+').next()).unwrap_or(caller),
            false => caller,
        }
    }

    /// Returns whether the frame is a program's `Main`, or the method of its top-level statements.
    pub(crate) fn is_main(&self) -> bool {
        matches!(self.bare_method(), "Main" | "<Main>$")
    }

    /// Returns whether a program begins at the frame: `Main`, or the method that waits for an async
    /// `Main`.
    pub(crate) fn is_entry_point(&self) -> bool {
        self.is_main() || self.bare_method() == "<Main>"
    }

    /// Returns the method's name without the call.
    pub fn caller_method(&self) -> &str {
        self.method.get(..self.ends.method).unwrap_or(&self.method)
    }

    /// Returns the name of a handler as people know it: the endpoint and the method, `GET /cart
    /// (shop!Shop.Program.Main.lambda_0_8)`, or `an endpoint's handler (dynamicClass.lambda_method7)`
    /// without a known endpoint. Returns `None` for other methods.
    pub fn handler_name(&self) -> Option<String> {
        // A compiled method has no meaningful module.
        let name = match self.is_compiled() {
            true => self.qualified_name(),
            false => self.without_arguments(),
        };
        let call = self.call_text();
        match &self.endpoint {
            Some(endpoint) => Some(format!("{endpoint} ({name}){call}")),
            None => self.is_handler.then(|| format!("an endpoint's handler ({name}){call}")),
        }
    }

    /// Returns the end of the text that names the call, such as ` → native call`; empty for a frame
    /// that stands for no call.
    pub fn call_text(&self) -> &'static str {
        self.call.map_or("", FrameCall::text)
    }

    /// Returns the frame that stands for a call made by this method.
    pub(crate) fn calling(&self, call: FrameCall) -> Frame {
        let called = |name: &str| format!("{name}{}", call.text());
        Frame {
            text: called(&self.text),
            method: called(&self.method),
            call: Some(call),
            #[cfg(feature = "page")]
            is_machine: false,
            #[cfg(feature = "page")]
            async_method: 0,
            ..self.clone()
        }
    }

    /// Creates the frame of a managed method.
    pub(crate) fn managed(name: &MethodName<'_>, options: NameOptions) -> Frame {
        let arguments_at = name.signature.find('(').unwrap_or(name.signature.len());
        let (namespace, type_name, method, arguments) = if options.is_raw {
            let (namespace, type_name) = rsplit_outside(name.type_name, '.');
            let arguments = name.signature.get(arguments_at..).unwrap_or_default().to_owned();
            (namespace.to_owned(), type_name.to_owned(), name.method.to_owned(), arguments)
        } else {
            let TypeName { namespace, mut segments } = match is_of_mono(name.signature) {
                true => TypeName::parse(&name_of_mono(name.type_name)),
                false => TypeName::parse(name.type_name),
            };
            let mut method = name.method.to_owned();
            demangle(&mut segments, &mut method);
            method.push_str(&type_parameters(name.signature));
            let has_arguments = arguments_at < name.signature.len();
            let arguments = match has_arguments {
                true => arguments(name.signature, name.type_name),
                false => String::new(),
            };
            (namespace, segments.join("."), method, arguments)
        };
        let namespace_shown = if options.style == NameStyle::Short { "" } else { &*namespace };
        let shown = dotted([namespace_shown, &type_name, &method]);
        let arguments = if options.style == NameStyle::Signature { &*arguments } else { "" };
        let end = shown.len();
        let frame = Frame {
            namespace,
            type_name,
            method,
            #[cfg(feature = "page")]
            is_machine: name.machine().is_some(),
            #[cfg(feature = "page")]
            async_method: name.async_method(),
            ..Frame::unnamed(name.module, FrameKind::Managed)
        };
        frame.named([&shown, arguments], end, options.style, NameOrigin::Method)
    }

    /// Adds the source line to the text.
    pub(crate) fn at_line(self, line: SourceLine) -> Frame {
        let text = format!("{} {line}", self.text);
        Frame { text, line: Some(line), ..self }
    }

    /// Returns the text without the source line.
    pub fn without_line(&self) -> Cow<'_, str> {
        match (&self.line, self.text.get(..self.ends.arguments)) {
            (Some(_), Some(name)) if self.call.is_none() => Cow::Borrowed(name),
            (Some(_), Some(name)) => Cow::Owned(format!("{name}{}", self.call_text())),
            _ => Cow::Borrowed(&self.text),
        }
    }

    /// Marks the name as a guess, for an address that probably belongs to the method.
    ///
    /// Each offset gives a separate frame, so that readers can judge each guess: the larger the
    /// offset, the more likely the code belongs to a neighbour. Reports with a row for each method
    /// use [`Frame::without_offset`].
    pub(crate) fn guessed(self, offset: u64) -> Frame {
        let mark = |name: &str| format!("~{name}+{offset:#x}");
        let (text, method) = (mark(&self.text), mark(&self.method));
        // The mark `~` in front of the name takes one byte.
        let NameEnds { module, name, arguments, .. } = self.ends;
        let ends = NameEnds {
            module: if module > 0 { module.saturating_add(1) } else { 0 },
            name: name.saturating_add(1),
            arguments: arguments.saturating_add(1),
            method: method.len(),
        };
        Frame { text, method, is_guessed: true, guess_offset: offset, ends, ..self }
    }

    /// Returns the text of a guessed name without the offset, and the offset in bytes; `None` for
    /// other frames and for calls.
    pub(crate) fn guess(&self) -> Option<(&str, u64)> {
        let name = self.text.get(..self.ends.arguments)?;
        (self.is_guessed && self.call.is_none()).then_some((name, self.guess_offset))
    }

    /// Returns the frame of a guessed method without the offset, so that all addresses of the
    /// method share one frame. Other frames are not changed.
    pub(crate) fn without_offset(mut self) -> Frame {
        if let Some(end) = self.guess().map(|(name, _)| name.len()) {
            self.text.truncate(end);
        }
        self
    }

    /// Returns the memory that the frame and its names take, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        let names = [&self.text, &self.module, &self.namespace, &self.type_name, &self.method];
        let names = names.iter().map(|name| name.len()).fold(0, usize::saturating_add);
        size_of::<Frame>().saturating_add(names)
    }

    /// Shortens all names to at most [`MAX_NAME_CHARS`] characters.
    pub(crate) fn shortened(mut self) -> Frame {
        let Frame { text, module, namespace, type_name, method, .. } = &mut self;
        [text, module, namespace, type_name, method].into_iter().for_each(shorten);
        self
    }

    /// Makes the frame of a native function whose name is known.
    pub(crate) fn native(module: &str, name: &str, kind: FrameKind, options: NameOptions) -> Frame {
        let frame = Frame { method: name.to_owned(), ..Frame::unnamed(module, kind) };
        // Names of C++ functions have arguments.
        let end = name.find('(').unwrap_or(name.len());
        frame.named([name, ""], end, options.style, NameOrigin::Symbol)
    }

    /// Makes the frame for an offset in a module where no name is known: `module+0x1234`.
    pub(crate) fn in_mapping(module: &str, offset: u64, kind: FrameKind) -> Frame {
        Frame::unnamed(module, kind).only(format!("{module}+{offset:#x}"), NameOrigin::Module)
    }

    /// Makes a frame that tells only the module of the code: `System.Private.CoreLib!(no name)`, or
    /// `(generated code)` if there is no module.
    pub(crate) fn lies_in(module: &str, kind: FrameKind) -> Frame {
        let text = match module {
            "" => GENERATED_CODE.to_owned(),
            module => format!("{module}{NO_NAME}"),
        };
        Frame::unnamed(module, kind).only(text, NameOrigin::Module)
    }

    /// Makes the frame of a method from names in the runtime's notation, for frames that are not
    /// from a trace.
    ///
    /// ```
    /// use nettrace_analysis::Frame;
    /// let frame = Frame::from_names("shop", "Shop.Orders", "Add", "void (int32)");
    /// assert_eq!(frame.text, "shop!Shop.Orders.Add(int)");
    /// assert_eq!(frame.qualified_name(), "Shop.Orders.Add");
    /// ```
    pub fn from_names(module: &str, type_name: &str, method: &str, signature: &str) -> Frame {
        let name = MethodName { module, type_name, method, signature };
        Frame::managed(&name, NameOptions::default())
    }

    /// Makes the frame for an address about which nothing is known.
    pub fn from_address(address: u64) -> Frame {
        Frame::address(address, FrameKind::Unknown)
    }

    /// Makes the frame for an address in code of this kind.
    pub(crate) fn address(address: u64, kind: FrameKind) -> Frame {
        Frame::unnamed("", kind).only(format!("{address:#x}"), NameOrigin::Address)
    }

    /// Makes the frame that stands for the outer frames of a stack that has too many frames.
    pub(crate) fn left_out() -> Frame {
        Frame::group("(outer frames left out)".to_owned(), FrameKind::Unknown)
    }

    /// Makes the frame that stands for the callers which a stack has lost to the runtime's limit.
    pub(crate) fn callers_cut_off() -> Frame {
        Frame::group(format!("(callers cut off at {RUNTIME_FRAMES} frames)"), FrameKind::Unknown)
    }

    /// Makes the frame that stands for the callers of async code which the trace does not tell.
    pub(crate) fn async_callers_missing() -> Frame {
        Frame::group("(async callers not in the trace)".to_owned(), FrameKind::Unknown)
    }

    /// Makes a frame that stands for a group of frames.
    pub(crate) fn group(name: String, kind: FrameKind) -> Frame {
        Frame::unnamed("", kind).only(name, NameOrigin::Label)
    }

    fn unnamed(module: &str, kind: FrameKind) -> Frame {
        Frame {
            text: String::new(),
            module: module.to_owned(),
            namespace: String::new(),
            type_name: String::new(),
            method: String::new(),
            kind,
            origin: NameOrigin::Address,
            call: None,
            line: None,
            endpoint: None,
            is_handler: false,
            is_guessed: false,
            guess_offset: 0,
            ends: NameEnds::default(),
            #[cfg(feature = "page")]
            is_machine: false,
            #[cfg(feature = "page")]
            async_method: 0,
        }
    }

    /// Sets `text` and `method` to a name that has no parts.
    fn only(self, text: String, origin: NameOrigin) -> Frame {
        let ends =
            NameEnds { module: 0, name: text.len(), arguments: text.len(), method: text.len() };
        Frame { method: text.clone(), text, origin, ends, ..self }
    }

    /// Sets `text` from the display name and its arguments. `end` is the length of the name without
    /// arguments, in bytes.
    fn named(
        self,
        [name, arguments]: [&str; 2],
        end: usize,
        style: NameStyle,
        origin: NameOrigin,
    ) -> Frame {
        let module = match (style, &*self.module) {
            (NameStyle::Short, _) | (_, "") => String::new(),
            (_, module) => format!("{module}!"),
        };
        let text = format!("{module}{name}{arguments}");
        let ends = NameEnds {
            module: module.len(),
            name: module.len().saturating_add(end),
            arguments: text.len(),
            method: self.method.len(),
        };
        Frame { text, origin, ends, ..self }
    }
}

/// Maximum length of a name, in characters. There is a maximum because each row of a report may
/// repeat a name. Longer names are cut off and end with `…`.
pub(crate) const MAX_NAME_CHARS: usize = 4096;

/// Returns at most [`MAX_NAME_CHARS`] characters of the name of an event, a provider or a field.
pub(crate) fn short(name: &str) -> &str {
    excess_at(name).and_then(|end| name.get(..end)).unwrap_or(name)
}

/// Cuts off a name after [`MAX_NAME_CHARS`] characters and appends `…`.
pub(crate) fn shorten(name: &mut String) {
    if let Some(end) = excess_at(name) {
        name.truncate(end);
        name.push('…');
        name.shrink_to_fit();
    }
}

fn excess_at(name: &str) -> Option<usize> {
    if name.len() <= MAX_NAME_CHARS {
        return None;
    }
    name.char_indices().nth(MAX_NAME_CHARS).map(|(end, _)| end)
}

/// Joins parts with dots and skips empty parts. The dot that `.ctor` begins with is kept.
fn dotted(parts: [&str; 3]) -> String {
    let mut text = String::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if !text.is_empty() {
            text.push('.');
        }
        text.push_str(part);
    }
    if text.is_empty() { "?".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: MethodName<'_> = MethodName {
        module: "app",
        type_name: "N.M.Box`1+<Run>d__4[System.Int32]",
        method: "MoveNext",
        signature: "instance void  (class System.String[])",
    };

    #[test]
    fn very_long_names_are_cut_between_characters() {
        let shortened = |name: &str| {
            let mut name = name.to_owned();
            shorten(&mut name);
            name
        };
        let [whole, long] = [MAX_NAME_CHARS, MAX_NAME_CHARS + 1].map(|length| "ä".repeat(length));
        assert_eq!(shortened(&whole), whole);
        assert_eq!(shortened(&long), format!("{whole}…"));
    }

    #[test]
    fn a_method_is_named_in_the_chosen_style() {
        let text = |style, is_raw| Frame::managed(&NAME, NameOptions { style, is_raw }).text;
        assert_eq!(text(NameStyle::Short, false), "Box<int>.Run");
        assert_eq!(text(NameStyle::Full, false), "app!N.M.Box<int>.Run");
        assert_eq!(text(NameStyle::Signature, false), "app!N.M.Box<int>.Run(string[])");
        let raw = "app!N.M.Box`1+<Run>d__4[System.Int32].MoveNext(class System.String[])";
        assert_eq!(text(NameStyle::Signature, true), raw);
    }

    #[test]
    fn a_guess_is_marked_wherever_its_name_stands() {
        let named = Frame::managed(&NAME, NameOptions { style: NameStyle::Short, is_raw: false });
        let guess = named.clone().guessed(0x1f0);
        assert_eq!((&*guess.text, &*guess.method), ("~Box<int>.Run+0x1f0", "~Run+0x1f0"));
        assert_eq!(guess.guess(), Some(("~Box<int>.Run", 0x1f0)));
        assert_eq!((named.is_guessed, named.guess()), (false, None));
    }

    #[test]
    fn constructors_keep_their_dot_and_nothing_is_nameless() {
        let name = MethodName { module: "", type_name: "A.B", method: ".ctor", signature: "" };
        assert_eq!(Frame::managed(&name, NameOptions::default()).text, "A.B..ctor");
        let name = MethodName { module: "m", type_name: "", method: "", signature: "" };
        assert_eq!(Frame::managed(&name, NameOptions::default()).text, "m!?");
    }
}
