//! Names of types in a `.gcdump`, and in the notation of the runtime.
//!
//! | runtime | `.gcdump` |
//! |---|---|
//! | ``System.Collections.Generic.List`1[System.Int32]`` | `System.Collections.Generic.List<System.Int32>` |
//! | `System.Int32[]`, `System.Int32[,]` | `System.Int32[]`, `System.Int32<,>` |
//! | `<>c__DisplayClass17_0` | `[]c__DisplayClass17_0` |
//! | `Entry[System.Int32][]`, whose outer type is not known | `Entry<System.Int32>[]` |
//! | ``N.Outer`1+Inner[System.Int32]`` | ``N.Outer`1+Inner<System.Int32>`` by us, `N.Outer<System.Int32>+Inner` by others |
//!
//! A backtick with digits is left out where the number of arguments tells it. PerfView and dotnet-gcdump
//! append what they know of a type's objects, as in `System.Byte[] (Bytes > 1K)`.

use super::super::dump::HeapType;
use super::super::type_rows::TypeNames;
use std::borrow::Cow;

/// Maximum nesting of types, which is more than compilers generate.
const MAX_DEPTH: usize = 32;

/// Beginning of the text in place of a type's name that is not known: its number follows.
pub(super) const UNKNOWN: &str = "UNKNOWN 0x";
/// Beginning of the text that is shown in place of such a name.
pub(super) const NUMBERED: &str = "type 0x";
/// Beginning of the text in place of a module's name: its number and a bracket follow.
pub(super) const UNKNOWN_MODULE: &str = "Module(";

/// Returns the name of a type without what tools append, as ` (Bytes > 10K,NoPtrs,ElemSize=1)`.
pub(super) fn without_suffix(name: &str) -> &str {
    let Some((front, inside)) = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("))
    else {
        return name;
    };
    let is_known = |part: &str| {
        matches!(part, "Ptrs" | "NoPtrs")
            || ["Bytes > ", "ElemSize="].iter().any(|front| part.starts_with(front))
    };
    if !front.is_empty() && inside.split(',').all(is_known) { front } else { name }
}

/// Converts a name to the runtime's notation; `None` if it is not made as names of .NET are.
pub(super) fn to_stored(name: &str) -> Option<String> {
    let mut text = NotedName { rest: name, out: String::with_capacity(name.len()) };
    text.type_name(0)?;
    text.rest.is_empty().then_some(text.out)
}

/// A name that is converted to the runtime's notation from its beginning.
struct NotedName<'t> {
    rest: &'t str,
    out: String,
}

impl<'t> NotedName<'t> {
    fn skip(&mut self, front: &str) -> bool {
        match self.rest.strip_prefix(front) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Moves a part from the rest to the result.
    fn keep(&mut self, length: usize) -> Option<&'t str> {
        let (part, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        self.out.push_str(part);
        Some(part)
    }

    fn type_name(&mut self, depth: usize) -> Option<()> {
        let mut arguments: Vec<String> = Vec::new();
        loop {
            let has_arity = self.identifier()?.contains('`');
            let is_array = matches!(self.rest.as_bytes(), [b'<', b',' | b'>', ..]);
            if !is_array && self.skip("<") {
                let before = arguments.len();
                self.arguments(&mut arguments, depth)?;
                let count = arguments.len().saturating_sub(before);
                // The arguments of all levels come last.
                if !has_arity && (before > 0 || !self.out.contains('`')) {
                    self.out.push_str(&format!("`{count}"));
                }
            }
            match self.rest.chars().next() {
                Some('.' | '+') => self.keep(1)?,
                _ => break,
            };
        }
        if !arguments.is_empty() {
            self.out.push('[');
            self.out.push_str(&arguments.join(","));
            self.out.push(']');
        }
        while let Some('[' | '<') = self.rest.chars().next() {
            let inside = self.rest.get(1..)?;
            let commas = inside.len().saturating_sub(inside.trim_start_matches(',').len());
            let end = inside.get(commas..)?;
            if !end.starts_with([']', '>']) {
                return None;
            }
            self.out.push('[');
            self.out.push_str(inside.get(..commas)?);
            self.out.push(']');
            self.rest = end.get(1..)?;
        }
        Some(())
    }

    /// Reads arguments up to the bracket that ends them.
    fn arguments(&mut self, arguments: &mut Vec<String>, depth: usize) -> Option<()> {
        if depth >= MAX_DEPTH {
            return None;
        }
        loop {
            self.rest = self.rest.trim_start_matches(' ');
            let mut inner = NotedName { rest: self.rest, out: String::new() };
            inner.type_name(depth.saturating_add(1))?;
            self.rest = inner.rest;
            arguments.push(inner.out);
            if self.skip(">") {
                return Some(());
            }
            if !self.skip(",") {
                return None;
            }
        }
    }

    /// Keeps an identifier, which may begin with what compilers put into brackets.
    fn identifier(&mut self) -> Option<&'t str> {
        let begin = self.rest;
        if self.skip("[]") {
            self.out.push_str("<>");
        } else if self.rest.starts_with('<') {
            let mut open = 0usize;
            let end = self.rest.find(|c| {
                match c {
                    '<' => open = open.saturating_add(1),
                    '>' => open = open.saturating_sub(1),
                    _ => {}
                }
                open == 0
            })?;
            self.keep(end.saturating_add(1))?;
        }
        let length = self.rest.find(['<', '>', '[', ']', ',', '.', '+']);
        self.keep(length.unwrap_or(self.rest.len()))?;
        begin.strip_suffix(self.rest).filter(|text| !text.is_empty())
    }
}

/// Returns the name that is shown for a name in a `.gcdump`.
pub(super) fn shown(name: &str) -> String {
    to_stored(name).map_or_else(|| name.to_owned(), |stored| TypeNames::shown(&stored))
}

/// Converts a name from the runtime's notation, as dotnet-gcdump does: without marks of arity, as long
/// as the name that is [`shown`] for it stays the same.
pub(super) fn from_stored(stored: &str) -> String {
    let wanted = TypeNames::shown(stored);
    let marked = in_angles(stored);
    let names = [in_angles(&without_arity(stored)), marked.clone(), wanted.clone()];
    names.into_iter().find(|name| shown(name) == wanted).unwrap_or(marked)
}

/// Returns the name that is written for a type.
pub(super) fn of_type(row: &HeapType) -> String {
    match row.name.strip_prefix(NUMBERED).filter(|_| !row.name.is_known()) {
        Some(id) => format!("{UNKNOWN}{id}"),
        None if row.name.is_known() => from_stored(&row.stored_name),
        None => row.name.to_string(),
    }
}

/// Returns the text that is written for a type's module: its path, or what is known; `None` if
/// nothing is.
pub(super) fn of_module(row: &HeapType) -> Option<Cow<'_, str>> {
    match (&*row.module_path, &*row.module) {
        ("", "") => None,
        ("", name) if row.module.is_known() => Some(Cow::Borrowed(name)),
        ("", id) => Some(Cow::Owned(format!("{UNKNOWN_MODULE}{id})"))),
        (path, _) => Some(Cow::Borrowed(path)),
    }
}

/// Returns a name without backticks and the digits behind them.
fn without_arity(stored: &str) -> String {
    let mut parts = stored.split('`');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

fn in_angles(stored: &str) -> String {
    stored.replace('[', "<").replace(']', ">").replace("<>", "[]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_dotnet_gcdump() {
        for (stored, name) in [
            (
                "System.Collections.Generic.Dictionary`2[System.Int32,Zoo.Session]",
                "System.Collections.Generic.Dictionary<System.Int32,Zoo.Session>",
            ),
            ("System.Int32[]", "System.Int32[]"),
            ("System.Int32[,]", "System.Int32<,>"),
            ("<>c__DisplayClass17_0", "[]c__DisplayClass17_0"),
            ("Entry[System.Int32,Zoo.Session][]", "Entry<System.Int32,Zoo.Session>[]"),
            ("A.B`1[C`2[D,E[]][]][,][]", "A.B<C<D,E[]>[]><,>[]"),
            ("N.Outer+Inner`1[A]", "N.Outer+Inner<A>"),
            ("<>f__AnonymousType0`2[A,B]", "[]f__AnonymousType0<A,B>"),
            // Only the marks tell whose the arguments are.
            ("N.Outer`1+Inner[A]", "N.Outer`1+Inner<A>"),
            ("Deep`1[System.Int32,System.String]", "Deep`1<System.Int32,System.String>"),
        ] {
            assert_eq!(from_stored(stored), name);
            assert_eq!(shown(name), TypeNames::shown(stored), "{name}");
        }
    }

    #[test]
    fn names_of_other_tools_are_understood() {
        for (name, wanted) in [
            (
                "System.Collections.Generic.Dictionary<System.Int32, Zoo.Session>+Entry[]",
                "System.Collections.Generic.Dictionary<int,Session>.Entry[]",
            ),
            ("N.Outer<A>+Inner+Deep<B,C>", "N.Outer<A>.Inner.Deep<B,C>"),
            ("(Type  HTMLImageElement <...>)", "(Type  HTMLImageElement <...>)"),
            ("[RCW A.B]", "[RCW A.B]"),
            ("A<B", "A<B"),
            ("", ""),
        ] {
            assert_eq!(shown(name), wanted);
        }
    }

    #[test]
    fn what_tools_append_to_a_name_is_no_part_of_it() {
        for name in [
            "A.B[] (Bytes > 10K)",
            "A.B[] (Bytes > 10K,NoPtrs,ElemSize=1)",
            "A.B[] (Ptrs,ElemSize=4)",
        ] {
            assert_eq!(without_suffix(name), "A.B[]");
        }
        for name in ["A (x)", " (Ptrs)", "A (Bytes > 1K) "] {
            assert_eq!(without_suffix(name), name);
        }
    }

    #[test]
    fn types_nested_without_end_are_names_like_others() {
        let name = "A<".repeat(100_000);
        assert_eq!(to_stored(&name), None);
    }
}
