//! Names of frames.

use super::demangle::demangle;
#[cfg(feature = "page")]
use super::folding::is_machine;
use super::mono_names::{is_of_mono, name_of_mono};
use super::type_name::{TypeName, arguments, rsplit_outside, type_parameters};

/// How much of a name is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum NameStyle {
    /// `Type.Method`.
    Short,
    /// `Module!Namespace.Type.Method`.
    Full,
    /// `Module!Namespace.Type.Method(arguments)`.
    #[default]
    Signature,
}

/// How frames are named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameOptions {
    /// How much of a name is shown.
    pub style: NameStyle,
    /// Shows names as the runtime stores them, with compiler-generated parts:
    /// `workload!Workload.Program+<TaskRound>d__14.MoveNext()`, and types in IL notation.
    /// PerfView shows names like this.
    pub is_raw: bool,
}

/// The kind of code that a frame belongs to.
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

/// A frame with its display names. Frames that look the same are merged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Frame {
    /// The full name in the chosen style; never empty.
    pub text: String,
    /// The module's short name; empty if unknown.
    pub module: String,
    /// Namespace; empty for native code.
    pub namespace: String,
    /// The type, including outer types; empty for native code.
    pub type_name: String,
    /// Name of the method or function, without its signature.
    pub method: String,
    /// The kind of code.
    pub kind: FrameKind,
    /// Whether it has a name; if not, the text is an address.
    pub is_named: bool,
    /// Whether the name is a guess: that of a method whose entry point is a little below
    /// the address, and whose size is unknown. Text and method are marked:
    /// `~Program.Run+0x1f0`, with the distance from the entry point in bytes.
    pub is_guessed: bool,
    /// Whether it may be the state machine of an async method or an iterator, which is shown
    /// under that method's name.
    #[cfg(feature = "page")]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) is_machine: bool,
}

/// A method's name as stored.
pub(crate) struct MethodName<'t> {
    pub(crate) module: &'t str,
    /// Namespace and type.
    pub(crate) type_name: &'t str,
    pub(crate) method: &'t str,
    pub(crate) signature: &'t str,
}

/// Number of frames of a stack that the runtime keeps: the innermost ones.
pub(crate) const RUNTIME_FRAMES: usize = 100;

/// Between a method and what it has called, in the text of a frame.
pub(crate) const CALLS: &str = " → ";

impl Frame {
    /// What a method has called: `Sockets.SocketPal.Send → native call`.
    pub(crate) fn calling(&self, what: &str) -> Frame {
        let called = |name: &str| format!("{name}{CALLS}{what}");
        Frame {
            text: called(&self.text),
            method: called(&self.method),
            #[cfg(feature = "page")]
            is_machine: false,
            ..self.clone()
        }
    }

    /// A managed method.
    pub(crate) fn managed(name: &MethodName<'_>, options: NameOptions) -> Frame {
        let arguments_at = name.signature.find('(').unwrap_or(name.signature.len());
        let (namespace, type_name, method, arguments) = if options.is_raw {
            let (namespace, type_name) = rsplit_outside(name.type_name, '.');
            let arguments = name.signature.get(arguments_at..).unwrap_or_default().to_owned();
            (namespace.to_owned(), type_name.to_owned(), name.method.to_owned(), arguments)
        } else {
            let TypeName { namespace, mut segments } = match is_of_mono(name.signature) {
                true => TypeName::of(&name_of_mono(name.type_name)),
                false => TypeName::of(name.type_name),
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
        let text = match options.style {
            NameStyle::Short => dotted(["", &type_name, &method]),
            NameStyle::Full => in_module(name.module, &dotted([&namespace, &type_name, &method])),
            NameStyle::Signature => {
                in_module(name.module, &(dotted([&namespace, &type_name, &method]) + &arguments))
            }
        };
        let module = name.module.to_owned();
        Frame {
            text,
            module,
            namespace,
            type_name,
            method,
            kind: FrameKind::Managed,
            is_named: true,
            is_guessed: false,
            #[cfg(feature = "page")]
            is_machine: is_machine(name),
        }
    }

    /// The same for an address that only probably belongs to the method.
    ///
    /// Each offset is a separate frame. A single frame for the whole method would have to
    /// show one offset for all, or none, and would then not distinguish code that
    /// certainly belongs to the method from code that may belong to its neighbour.
    /// `topN`, whose rows represent methods, merges them again: see
    /// [`Frame::guessed_of`].
    pub(crate) fn guessed(self, offset: u64) -> Frame {
        let mark = |name: &str| format!("~{name}+{offset:#x}");
        Frame { text: mark(&self.text), method: mark(&self.method), is_guessed: true, ..self }
    }

    /// The text without the offset, and the offset, of a guessed name.
    pub(crate) fn guessed_of(&self) -> Option<(&str, u64)> {
        let (name, digits) = self.text.rsplit_once("+0x").filter(|_| self.is_guessed)?;
        Some((name, u64::from_str_radix(digits, 16).ok()?))
    }

    /// A function with a name.
    pub(crate) fn native(module: &str, name: &str, kind: FrameKind, options: NameOptions) -> Frame {
        let text = match options.style {
            NameStyle::Short => name.to_owned(),
            _ => in_module(module, name),
        };
        Frame { text, method: name.to_owned(), ..Frame::unnamed(module, kind) }.named()
    }

    /// Code of a module, without a name: `module+0x1234`.
    pub(crate) fn in_mapping(module: &str, offset: u64, kind: FrameKind) -> Frame {
        let text = format!("{module}+{offset:#x}");
        Frame { method: text.clone(), text, ..Frame::unnamed(module, kind) }
    }

    /// Code of which is only known what it lies in: `System.Private.CoreLib!(no name)`.
    pub(crate) fn lies_in(text: &str, kind: FrameKind) -> Frame {
        Frame { method: text.to_owned(), text: text.to_owned(), ..Frame::unnamed("", kind) }
    }

    /// Only an address.
    pub(crate) fn address(address: u64, kind: FrameKind) -> Frame {
        let text = format!("{address:#x}");
        Frame { method: text.clone(), text, ..Frame::unnamed("", kind) }
    }

    /// Represents the outer frames of a stack with too many frames.
    pub(crate) fn left_out() -> Frame {
        let text = "(outer frames left out)".to_owned();
        Frame { method: text.clone(), text, ..Frame::unnamed("", FrameKind::Unknown) }.named()
    }

    /// Represents the callers of a stack with as many frames as the runtime keeps.
    pub(crate) fn callers_cut_off() -> Frame {
        let text = format!("(callers cut off at {RUNTIME_FRAMES} frames)");
        Frame { method: text.clone(), text, ..Frame::unnamed("", FrameKind::Unknown) }.named()
    }

    /// Represents several frames.
    pub(crate) fn group(name: String, kind: FrameKind) -> Frame {
        Frame { text: name.clone(), method: name, ..Frame::unnamed("", kind) }.named()
    }

    fn unnamed(module: &str, kind: FrameKind) -> Frame {
        Frame {
            text: String::new(),
            module: module.to_owned(),
            namespace: String::new(),
            type_name: String::new(),
            method: String::new(),
            kind,
            is_named: false,
            is_guessed: false,
            #[cfg(feature = "page")]
            is_machine: false,
        }
    }

    fn named(self) -> Frame {
        Frame { is_named: true, ..self }
    }
}

/// Maximum length of any name, in characters. A name may occur in each row of a report
/// and at each node of a tree. Longer names are cut off and end with `…`.
pub(crate) const LONGEST_NAME: usize = 4096;

/// The part of an event's, a provider's or a field's name that is shown at most. Such a
/// name may occur in each event of a trace.
pub(crate) fn short(name: &str) -> &str {
    match name.len() > LONGEST_NAME {
        true => name
            .char_indices()
            .nth(LONGEST_NAME)
            .and_then(|(end, _)| name.get(..end))
            .unwrap_or(name),
        false => name,
    }
}

/// Cuts off a name that is too long.
pub(crate) fn shorten(name: &mut String) {
    if name.len() > LONGEST_NAME
        && let Some((end, _)) = name.char_indices().nth(LONGEST_NAME)
    {
        name.truncate(end);
        name.push('…');
        name.shrink_to_fit();
    }
}

/// Joins parts with dots; empty ones are skipped. `.ctor` keeps its own dot.
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

fn in_module(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}!{name}") }
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
        let [whole, long] = [LONGEST_NAME, LONGEST_NAME + 1].map(|length| "ä".repeat(length));
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
        assert_eq!(guess.guessed_of(), Some(("~Box<int>.Run", 0x1f0)));
        assert_eq!((named.is_guessed, named.guessed_of()), (false, None));
    }

    #[test]
    fn constructors_keep_their_dot_and_nothing_is_nameless() {
        let name = MethodName { module: "", type_name: "A.B", method: ".ctor", signature: "" };
        assert_eq!(Frame::managed(&name, NameOptions::default()).text, "A.B..ctor");
        let name = MethodName { module: "m", type_name: "", method: "", signature: "" };
        assert_eq!(Frame::managed(&name, NameOptions::default()).text, "m!?");
    }
}
