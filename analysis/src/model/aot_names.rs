//! Reads names of methods from the linker names that the compiler of NativeAOT writes.
//!
//! | linker name | as the runtime would store it |
//! |---|---|
//! | `App_N_Program__Run` | `N.Program`, `Run` |
//! | `App_N_Box_1<Int32>__Grind` | ``N.Box`1[System.Int32]``, `Grind` |
//! | `App_N_Program___c___Main_b__5_0` | `N.Program+<>c`, `<Main>b__5_0` |
//! | `App_N_Program__Later_d__4__MoveNext` | `N.Program+<Later>d__4`, `MoveNext` |
//! | `S_P_CoreLib_System_Threading_Lock__TryEnterSlow_0` | `System.Threading.Lock`, `TryEnterSlow` |
//!
//! The compiler replaces special characters by `_`, so a name is a good guess: `My_Type` is read as
//! `My.Type`.

use super::type_name::opening_bracket;
use super::waits::stored_type;

/// Maximum nesting of generic arguments, which is more than compilers generate.
const MAX_DEPTH: usize = 16;

/// Names of assemblies that begin with `System.Private.`, such as `System.Private.CoreLib`. They
/// are listed without this beginning, for which the compiler writes `S_P_`.
const PRIVATE: &[&str] = &[
    "CoreLib",
    "TypeLoader",
    "Reflection_Execution",
    "StackTraceMetadata",
    "DataContractSerialization",
    "DisabledReflection",
    "Uri",
    "Xml_Linq",
    "Xml",
];

/// Name in the linker's symbols for `System.__Canon`, which stands for any reference type.
const CANON: &str = "System___Canon";
const CANON_MARK: &str = "\u{1}";

/// Name of a method in the notation of the runtime's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AotName {
    pub(super) module: String,
    pub(super) type_name: String,
    pub(super) method: String,
}

impl AotName {
    /// Reads the name of a managed method from a symbol; `None` for other symbols. `image` is the
    /// file name of the program.
    pub(super) fn parse(symbol: &str, image: &str) -> Option<AotName> {
        let own = image.split('.').next().unwrap_or(image);
        let own: String =
            own.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let is_own = symbol.strip_prefix(&*own).is_some_and(|rest| rest.starts_with('_'));
        if !is_own && !symbol.starts_with(|c: char| c.is_ascii_uppercase()) {
            return None;
        }
        let text = without_overload(symbol);
        // The runtime's notation leaves out generic arguments of the method itself.
        let text = match text.strip_suffix('>') {
            Some(_) => without_overload(text.get(..opening_bracket(text, '<', '>')?)?),
            None => text,
        };
        let (type_text, inner, method) = parts(text)?;
        let (module, type_text) = split_module(type_text, &own);
        let mut type_name = type_of(type_text, 0);
        if type_name.is_empty() || method.is_empty() {
            return None;
        }
        if let Some(stored) = stored_type(&type_name) {
            stored.clone_into(&mut type_name);
        }
        Some(AotName { module, type_name: type_name + &inner, method })
    }
}

/// Returns the text of the type, the name of a generated type that is nested in it, and the name of
/// the method.
fn parts(text: &str) -> Option<(&str, String, String)> {
    // A lambda: `TYPE___c___Main_b__5_0`, `TYPE___c__DisplayClass5_0___Main_b__1`.
    if let Some((before, number)) = text.rsplit_once("_b__")
        && let Some((owner, closure)) = before.split_once("___c")
        && let Some((_, name)) = closure.split_once("___").filter(|(closure, _)| {
            closure.is_empty() || closure.starts_with("__DisplayClass") || closure.starts_with("__")
        })
    {
        return Some((owner, "+<>c".to_owned(), format!("<{name}>b__{number}")));
    }
    // A state machine: `TYPE__Later_d__4__MoveNext`.
    if let Some((before, tail)) = text.rsplit_once("_d__")
        && let Some((number, "MoveNext")) = tail.rsplit_once("__")
        && let Some((owner, name)) = before.rsplit_once("__")
    {
        let number = number.split('_').next().unwrap_or(number);
        return Some((owner, format!("+<{name}>d__{number}"), "MoveNext".to_owned()));
    }
    // A local function: `TYPE___Main_g__Local_0_2`.
    if let Some((before, local)) = text.rsplit_once("_g__")
        && let Some((owner, name)) = before.rsplit_once("___")
    {
        let local = local.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
        return Some((owner, String::new(), format!("<{name}>g__{local}|0")));
    }
    let at = separators(text).last();
    let at = at.filter(|at| *at > 0 && at.saturating_add(2) < text.len())?;
    let (owner, method) = (text.get(..at)?, text.get(at.saturating_add(2)..)?);
    // `.ctor`, `.cctor`.
    match owner.strip_suffix('_') {
        Some(owner) => Some((owner, String::new(), format!(".{method}"))),
        None => Some((owner, String::new(), method.to_owned())),
    }
}

/// Returns a method's name without the number of its overload: `Wait` for `Wait_4`.
fn without_overload(text: &str) -> &str {
    let rest = text.trim_end_matches(|c: char| c.is_ascii_digit());
    match rest.strip_suffix('_') {
        // The number of a lambda is part of the name.
        Some(name) if rest.len() < text.len() && !name.ends_with('_') && !text.contains("_b__") => {
            name
        }
        _ => text,
    }
}

/// Returns the positions of all `__` outside of brackets. Three underscores in a row have two such
/// positions.
fn separators(text: &str) -> impl Iterator<Item = usize> {
    let (mut depth, mut last) = (0usize, '\0');
    text.char_indices().filter_map(move |(at, c)| {
        match c {
            '<' => depth = depth.saturating_add(1),
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_second = c == '_' && last == '_' && depth == 0;
        last = c;
        at.checked_sub(1).filter(|_| is_second)
    })
}

/// Splits a text into the name of the assembly and the type. `own` is the name of the program's own
/// assembly.
fn split_module<'t>(text: &'t str, own: &str) -> (String, &'t str) {
    if let Some(rest) = text.strip_prefix("S_P_") {
        for name in PRIVATE {
            if let Some(rest) = rest.strip_prefix(name).and_then(|rest| rest.strip_prefix('_')) {
                return (format!("System.Private.{}", name.replace('_', ".")), rest);
            }
        }
    }
    if let Some(rest) = text.strip_prefix(own).and_then(|rest| rest.strip_prefix('_')) {
        return (own.to_owned(), rest);
    }
    // A namespace usually begins like its assembly: `Lib_Data_Lib_Data_Rows`.
    let first = text.split('_').next().unwrap_or(text);
    let again = format!("_{first}_");
    match text.find(&again).filter(|_| !first.is_empty()) {
        Some(at) => {
            let (module, rest) = text.split_at_checked(at).unwrap_or((text, ""));
            (module.replace('_', "."), rest.strip_prefix('_').unwrap_or(rest))
        }
        None => (String::new(), text),
    }
}

/// Returns the name of a type in the notation of the runtime's events.
fn type_of(text: &str, depth: usize) -> String {
    if depth > MAX_DEPTH {
        return text.to_owned();
    }
    let (path, arguments) = match text.split_once('<') {
        Some((path, rest)) => (path, rest.strip_suffix('>').unwrap_or(rest)),
        None => (text, ""),
    };
    let mut shown = String::new();
    let mut underscores = 0usize;
    for part in path.split('_') {
        if part.is_empty() {
            underscores = underscores.saturating_add(1);
            continue;
        }
        let is_arity = part.chars().all(|c| c.is_ascii_digit()) && !shown.is_empty();
        if is_arity {
            shown.push('`');
        } else if shown.ends_with(|c: char| c.is_ascii_digit()) && shown.contains('`') {
            shown.push('+');
        } else if !shown.is_empty() {
            shown.push('.');
        }
        shown.extend(std::iter::repeat_n('_', underscores));
        underscores = 0;
        shown.push_str(part);
    }
    if arguments.is_empty() {
        return shown;
    }
    let marked = arguments.replace(CANON, CANON_MARK);
    let shown_arguments: Vec<String> =
        split_arguments(&marked).into_iter().map(|text| argument(text, depth)).collect();
    format!("{shown}[{}]", shown_arguments.join(","))
}

/// Splits a text at each `__` outside of brackets.
fn split_arguments(text: &str) -> Vec<&str> {
    let mut arguments = Vec::new();
    let mut rest = text;
    while let Some(at) = separators(rest).next() {
        arguments.push(rest.get(..at).unwrap_or_default());
        rest = rest.get(at.saturating_add(2)..).unwrap_or_default();
    }
    arguments.push(rest);
    arguments
}

fn argument(text: &str, depth: usize) -> String {
    if text == CANON_MARK {
        return "System.__Canon".to_owned();
    }
    if !text.contains('_') {
        return format!("System.{text}");
    }
    let text = text.replace(CANON_MARK, CANON);
    let (_, rest) = split_module(&text, "");
    type_of(rest, depth.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linker_names_are_read_as_the_runtime_would_store_them() {
        for (symbol, module, type_name, method) in [
            ("Aot_Native_Program__Alpha", "Aot", "Native.Program", "Alpha"),
            ("Aot_Native_Box_1<Int32>__Grind", "Aot", "Native.Box`1[System.Int32]", "Grind"),
            (
                "Aot_Native_Box_1<System___Canon>__Grind",
                "Aot",
                "Native.Box`1[System.__Canon]",
                "Grind",
            ),
            ("Aot_Native_Program___c___Main_b__5_0", "Aot", "Native.Program+<>c", "<Main>b__5_0"),
            (
                "Aot_Native_Program___c__DisplayClass5_0___Main_b__1",
                "Aot",
                "Native.Program+<>c",
                "<Main>b__1",
            ),
            (
                "Aot_Native_Program__Later_d__4__MoveNext",
                "Aot",
                "Native.Program+<Later>d__4",
                "MoveNext",
            ),
            ("Aot_Native_Program___Main_g__Loc_0_2", "Aot", "Native.Program", "<Main>g__Loc|0"),
            ("Aot_Native_Row___ctor", "Aot", "Native.Row", ".ctor"),
            (
                "S_P_CoreLib_System_Threading_WaitSubsystem_ThreadWaitInfo__Wait",
                "System.Private.CoreLib",
                "System.Threading.WaitSubsystem+ThreadWaitInfo",
                "Wait",
            ),
            (
                "S_P_CoreLib_System_Runtime___Finalizer__ProcessFinalizers",
                "System.Private.CoreLib",
                "System.Runtime.__Finalizer",
                "ProcessFinalizers",
            ),
            (
                "S_P_CoreLib_System_Threading_Lock__TryEnterSlow_0",
                "System.Private.CoreLib",
                "System.Threading.Lock",
                "TryEnterSlow",
            ),
            (
                "S_P_CoreLib_System_Collections_Generic_Dictionary_2<S_P_CoreLib_System_Guid__System___Canon>__Remove_0",
                "System.Private.CoreLib",
                "System.Collections.Generic.Dictionary`2[System.Guid,System.__Canon]",
                "Remove",
            ),
            (
                "System_Console_System_ConsolePal__Write",
                "System.Console",
                "System.ConsolePal",
                "Write",
            ),
            (
                "S_P_CoreLib_System_Threading_Tasks_Task_1<Int32>__GetResultCore",
                "System.Private.CoreLib",
                "System.Threading.Tasks.Task`1[System.Int32]",
                "GetResultCore",
            ),
        ] {
            let name = AotName::parse(symbol, "Aot").unwrap();
            assert_eq!(
                (&*name.module, &*name.type_name, &*name.method),
                (module, type_name, method)
            );
        }
    }

    #[test]
    fn functions_of_native_code_are_no_methods() {
        for symbol in
            ["RhpAssignRef", "__libc_start_main", "_ZN3Foo3BarEv", "memcpy", "", "A__", "__"]
        {
            assert_eq!(AotName::parse(symbol, "Aot"), None, "{symbol}");
        }
        let deep = "A_1<".repeat(10_000) + &">".repeat(10_000) + "__M";
        assert!(AotName::parse(&deep, "A").is_some());
    }
}
