//! Converts names of types from the runtime's notation to source notation.
//!
//! | stored | shown |
//! |---|---|
//! | ``System.Collections.Generic.List`1[System.__Canon]`` | `System.Collections.Generic.List<__Canon>` |
//! | ``A.Outer`1+Inner`1[System.Int32,System.String]`` | `A.Outer<int>.Inner<string>` |
//! | ``class System.Collections.Generic.List`1<value class X>&`` (signatures) | `List<X>&` |
//! | `unsigned int8[]` | `byte[]` |
//! | `pMT: 0x7f922fb4fe30<class System.Object>` (signatures of dynamically emitted code) | `?<object>` |

use super::demangle::demangle_type;
use super::mono_names::{argument_of_mono, is_of_mono};

/// Maximum nesting of types, which is more than compilers generate. Deeper text is shown unchanged.
const MAX_DEPTH: usize = 32;

/// Splits a text at each `separator` outside of brackets.
pub(crate) fn split_outside(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    text.split(move |c| {
        match c {
            '[' | '<' | '(' => depth = depth.saturating_add(1),
            ']' | '>' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == separator && depth == 0
    })
}

/// Returns whether a text has opening or closing brackets. Most names have none.
fn has_brackets(text: &str) -> bool {
    let is_bracket = |byte: u8| matches!(byte, b'[' | b']' | b'<' | b'>' | b'(' | b')');
    text.bytes().fold(false, |has, byte| has | is_bracket(byte))
}

/// Splits a text at the last `separator` outside of brackets.
pub(crate) fn rsplit_outside(text: &str, separator: char) -> (&str, &str) {
    if !has_brackets(text) {
        return text.rsplit_once(separator).unwrap_or(("", text));
    }
    let last = split_outside(text, separator).last().unwrap_or(text);
    let before = text.len().saturating_sub(last.len());
    let namespace = text.get(..before).unwrap_or_default();
    (namespace.strip_suffix(separator).unwrap_or(namespace), last)
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TypeName {
    pub(crate) namespace: String,
    /// The outer types, then the type itself, each with its generic arguments.
    pub(crate) segments: Vec<String>,
}

impl TypeName {
    /// Parses a name such as ``N.Outer`1+Inner[System.Int32]``.
    pub(crate) fn parse(text: &str) -> TypeName {
        TypeName::at_depth(text, 0)
    }

    fn at_depth(text: &str, depth: usize) -> TypeName {
        // Generic arguments follow the innermost type, and belong to outer and nested types in
        // order.
        let (path, arguments) = match text.find('[').filter(|_| text.ends_with(']')) {
            Some(at) => {
                let inside = text
                    .get(at.saturating_add(1)..text.len().saturating_sub(1))
                    .unwrap_or_default();
                (text.get(..at).unwrap_or_default(), inside)
            }
            None => (text, ""),
        };
        // Names of types on the heap lack the outer types, but have the arguments of these.
        let of_outer = match arguments {
            "" => 0,
            _ => {
                let own = split_outside(path, '+').map(|part| arity_of(part).1);
                let own: usize = own.fold(0, usize::saturating_add);
                let all = split_outside(arguments, ',').filter(|argument| !argument.is_empty());
                if own > 0 { all.count().saturating_sub(own) } else { 0 }
            }
        };
        let mut arguments =
            split_outside(arguments, ',').filter(|argument| !argument.is_empty()).skip(of_outer);
        let mut parts = split_outside(path, '+');
        let (namespace, first) = rsplit_outside(parts.next().unwrap_or_default(), '.');
        let segments = std::iter::once(first).chain(parts).map(|part| {
            let (name, arity) = arity_of(part);
            let own: Vec<String> = arguments
                .by_ref()
                .take(arity)
                .map(|text| shown_at_depth(text, depth.saturating_add(1)))
                .collect();
            if own.is_empty() { name.to_owned() } else { format!("{name}<{}>", own.join(",")) }
        });
        TypeName { namespace: namespace.to_owned(), segments: segments.collect() }
    }
}

/// Returns the name of a generic type and its number of parameters: `List` and 1 for ``List`1``.
fn arity_of(part: &str) -> (&str, usize) {
    match part.rsplit_once('`') {
        Some((name, digits)) if !name.is_empty() => match digits.parse() {
            Ok(arity) => (name, arity),
            Err(_) => (part, 0),
        },
        _ => (part, 0),
    }
}

/// Returns the name of a type in source notation, without its namespace.
pub(crate) fn shown(text: &str) -> String {
    shown_at_depth(text, 0)
}

fn shown_at_depth(text: &str, depth: usize) -> String {
    let text = text.trim();
    if depth > MAX_DEPTH {
        return text.to_owned();
    }
    // Pointers to functions come before suffixes, which may belong to the last argument.
    if let Some(rest) = text.strip_prefix("fnptr ")
        && let Some((result, inside)) = rest.split_once('(')
        && let Some(inside) = inside.strip_suffix(')')
    {
        let arguments = split_outside(inside, ',').filter(|text| !text.is_empty()).chain([result]);
        return format!("delegate*<{}>", all_shown(arguments, depth));
    }
    // Arrays, pointers and references are suffixes.
    if let Some((element, suffix)) = with_suffix(text) {
        return format!("{}{suffix}", shown_at_depth(element, depth.saturating_add(1)));
    }
    for prefix in ["class ", "value class ", "valuetype "] {
        if let Some(rest) = text.strip_prefix(prefix) {
            return shown_at_depth(rest, depth.saturating_add(1));
        }
    }
    if let Some(name) = keyword(text) {
        return name.to_owned();
    }
    // The runtime writes an address for a type without a name. The address differs between
    // processes.
    if let Some(rest) = text.strip_prefix("pMT: 0x") {
        let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        let inside = rest.get(end..).and_then(|rest| rest.strip_prefix('<')?.strip_suffix('>'));
        let Some(inside) = inside else { return "?".to_owned() };
        return format!("?<{}>", all_shown(split_outside(inside, ','), depth));
    }
    // Signatures have generic arguments in angle brackets.
    if let Some((path, rest)) = text.split_once('<')
        && path.contains('`')
        && let Some(inside) = rest.strip_suffix('>')
    {
        let (name, _) = arity_of(path);
        let (_, name) = rsplit_outside(name, '.');
        let mut segments: Vec<String> =
            name.split('+').map(|part| arity_of(part).0.to_owned()).collect();
        demangle_type(&mut segments);
        let arguments = all_shown(split_outside(inside, ','), depth);
        return format!("{}<{arguments}>", segments.join("."));
    }
    let mut segments = TypeName::at_depth(text, depth.saturating_add(1)).segments;
    demangle_type(&mut segments);
    segments.join(".")
}

/// Returns types in source notation, separated by commas. `depth` is the nesting of the type that
/// contains them.
fn all_shown<'t>(types: impl Iterator<Item = &'t str>, depth: usize) -> String {
    let shown: Vec<_> = types.map(|text| shown_at_depth(text, depth.saturating_add(1))).collect();
    shown.join(",")
}

/// Returns the name of a type in source notation, with its namespace:
/// `System.Collections.Generic.List<string>[]`.
pub(crate) fn full_name(text: &str) -> String {
    let mut element = text;
    while let Some((inner, _)) = with_suffix(element) {
        element = inner;
    }
    let suffix = text.get(element.len()..).unwrap_or_default();
    let TypeName { namespace, mut segments } = TypeName::parse(element);
    demangle_type(&mut segments);
    let dot = if namespace.is_empty() { "" } else { "." };
    format!("{namespace}{dot}{}{suffix}", segments.join("."))
}

/// Returns the inner type and the suffix of an array, a reference or a pointer: `X[]`, `X[,]`,
/// `X&`, `X*`.
fn with_suffix(text: &str) -> Option<(&str, &str)> {
    for mark in ["&", "*"] {
        if let Some(element) = text.strip_suffix(mark).filter(|element| !element.is_empty()) {
            return Some((element, mark));
        }
    }
    let open = text.ends_with(']').then(|| text.rfind('['))??;
    let (element, suffix) = text.split_at_checked(open)?;
    // Two closing brackets end a generic type whose last argument is empty.
    let inside = suffix.strip_prefix('[')?.strip_suffix(']')?;
    let is_array = inside.chars().all(|c| matches!(c, ',' | '.' | '0'));
    (is_array && !element.is_empty()).then_some((element, suffix))
}

/// Returns the keyword that C# has for a type of IL or of the framework.
fn keyword(text: &str) -> Option<&'static str> {
    Some(match text {
        "bool" | "System.Boolean" => "bool",
        "wchar" | "char" | "System.Char" => "char",
        "int8" | "System.SByte" => "sbyte",
        "unsigned int8" | "uint8" | "System.Byte" => "byte",
        "int16" | "System.Int16" => "short",
        "unsigned int16" | "uint16" | "System.UInt16" => "ushort",
        "int32" | "System.Int32" => "int",
        "unsigned int32" | "uint32" | "System.UInt32" => "uint",
        "int64" | "System.Int64" => "long",
        "unsigned int64" | "uint64" | "System.UInt64" => "ulong",
        "int" | "native int" | "System.IntPtr" => "nint",
        "unsigned int" | "native uint" | "System.UIntPtr" => "nuint",
        "float32" | "System.Single" => "float",
        "float64" | "System.Double" => "double",
        "void" => "void",
        "System.Decimal" => "decimal",
        "string" | "System.String" => "string",
        "object" | "System.Object" => "object",
        _ => return None,
    })
}

/// Returns a signature's arguments in source notation: `(int,string[])`. `type_name` is the stored
/// name of the method's type, whose generic arguments replace `!0`, `!1`.
pub(crate) fn arguments(signature: &str, type_name: &str) -> String {
    let is_mono = is_of_mono(signature) && opening_bracket(signature, '(', ')').is_some();
    let open = arguments_at(signature);
    let inside = signature.get(open.saturating_add(1)..).unwrap_or_default();
    let inside = inside.strip_suffix(')').unwrap_or(inside);
    let parameters = Parameters::from_signature(signature, type_name);
    let shown = |text: &str| parameters.put_into(&shown(text));
    let arguments = split_outside(inside, ',');
    let arguments: Vec<String> = match is_mono {
        true => arguments.map(|argument| shown(&argument_of_mono(argument))).collect(),
        false => arguments.map(shown).collect(),
    };
    format!("({})", arguments.join(","))
}

/// Returns the position of a signature's arguments. The last brackets are searched, because the
/// type of the result may be a pointer to a function, which also has arguments.
fn arguments_at(signature: &str) -> usize {
    let open = opening_bracket(signature, '(', ')').or_else(|| signature.find('('));
    open.unwrap_or(signature.len())
}

/// Returns the position of the bracket that the last bracket of a text closes.
pub(super) fn opening_bracket(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0usize;
    text.char_indices().rev().find_map(|(at, c)| {
        if c == close {
            depth = depth.saturating_add(1);
        } else if c == open {
            depth = depth.saturating_sub(1);
        }
        (c == open && depth == 0).then_some(at)
    })
}

/// Returns `<T>` for a generic method, or `<T1,T2>` if the signature shows several parameters.
/// Returns an empty text for other methods. The trace has neither names nor values of these
/// parameters.
pub(crate) fn type_parameters(signature: &str) -> String {
    let before = signature.get(..arguments_at(signature)).unwrap_or_default();
    if !before.split_whitespace().any(|word| word == "generic") {
        return String::new();
    }
    match highest(signature) {
        0 => "<T>".to_owned(),
        highest => {
            let names: Vec<String> =
                (1..=highest.saturating_add(1)).map(|number| format!("T{number}")).collect();
            format!("<{}>", names.join(","))
        }
    }
}

/// Maximum number of a method's generic parameters that are shown.
const MAX_PARAMETERS: usize = 16;

/// Returns the highest number among the generic parameters of a method that a signature contains:
/// `!!0`, `!!1`.
fn highest(signature: &str) -> usize {
    let numbers = signature.split("!!").skip(1).filter_map(leading_number);
    numbers.max().unwrap_or(0).min(MAX_PARAMETERS)
}

fn leading_number(text: &str) -> Option<usize> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}

/// The texts that replace `!0` and `!!0` in a signature.
struct Parameters {
    of_type: Vec<String>,
    has_several: bool,
}

impl Parameters {
    fn from_signature(signature: &str, type_name: &str) -> Parameters {
        let inside = type_name.split_once('[').and_then(|(_, rest)| rest.strip_suffix(']'));
        let of_type = inside.filter(|_| signature.contains('!')).into_iter();
        let of_type = of_type.flat_map(|inside| split_outside(inside, ',')).map(shown).collect();
        Parameters { of_type, has_several: highest(signature) > 0 }
    }

    /// Replaces the parameters in a type. Parameters without a replacement are not changed.
    fn put_into(&self, text: &str) -> String {
        if !text.contains('!') {
            return text.to_owned();
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('!') {
            let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
            out.push_str(before);
            let marks = if from.starts_with("!!") { 2 } else { 1 };
            let digits = from.get(marks..).unwrap_or_default();
            let number = leading_number(digits);
            let name = number.and_then(|number| match (marks, self.has_several) {
                (2, false) => Some("T".to_owned()),
                (2, true) => Some(format!("T{}", number.saturating_add(1))),
                _ => self.of_type.get(number).cloned(),
            });
            let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let (own, after) =
                from.split_at_checked(marks.saturating_add(length)).unwrap_or((from, ""));
            out.push_str(name.as_deref().unwrap_or(own));
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_shown_as_people_write_them() {
        let cases = [
            ("System.Collections.Generic.List`1[System.__Canon]", "List<__Canon>"),
            ("A.Outer`1+Inner`1[System.Int32,System.String]", "Outer<int>.Inner<string>"),
            // A nested type on the heap, without its outer type.
            ("Deep`1[System.Int32,System.String]", "Deep<string>"),
            ("Plain[System.Int32]", "Plain"),
            ("fnptr void(int32)", "delegate*<int,void>"),
            (
                "class System.Collections.Generic.IDictionary`2<class System.String,value class X[]>&",
                "IDictionary<string,X[]>&",
            ),
            ("unsigned int8[]", "byte[]"),
            ("class System.String[0...,0...]", "string[0...,0...]"),
            ("value class System.Span`1<unsigned int8>", "Span<byte>"),
            ("!!0&", "!!0&"),
            ("A.B`1[C.D`1[System.Int32]]", "B<D<int>>"),
            ("pMT: 0x7f9232bcb940", "?"),
            ("pMT: 0x7f922fb37940*", "?*"),
            ("pMT: 0x7f922fb4fe30<class System.Object>", "?<object>"),
            ("A.Box`1[W.Program+<Run>d__14]", "Box<Program.Run>"),
            ("A.Box`1[P+<Run>c__async0+<Run>c__AnonStorey7+<Run>c__async6]", "Box<P.Run.lambda>"),
            ("A.Box`1[P+<Run>c__AnonStorey7]", "Box<P.Run.closure_7>"),
            ("A.Box`1[P+_Closure$__3-0]", "Box<P.closure_3_0>"),
            ("A.Box`2[System.Int32,P+<>c+<<<Main>$>b__0_2>d]", "Box<int,P.Main.lambda_0_2>"),
            ("A.Program+<>c__DisplayClass14_0", "Program.closure_14_0"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn types_that_stand_alone_keep_their_namespace() {
        let cases = [
            ("System.Byte[]", "System.Byte[]"),
            ("System.String[][,]", "System.String[][,]"),
            (
                "System.Collections.Generic.Dictionary`2+Entry[System.String,System.Int32][]",
                "System.Collections.Generic.Dictionary<string,int>.Entry[]",
            ),
            ("W.Program+<Run>d__14", "W.Program.Run"),
            ("Widget", "Widget"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(full_name(text), expected, "{text}");
        }
    }

    #[test]
    fn any_text_is_shown_somehow() {
        for text in [
            "", "[", "]", "`", "<>", "a`", "`1[", "A`9[B]", "&", "*", "[]", "))((", "+", "a+",
            "class ",
        ] {
            shown(text);
            full_name(text);
            arguments(text, "A`1[B]");
            type_parameters(text);
        }
        let deep = "A`1[".repeat(10_000) + &"]".repeat(10_000);
        assert!(shown(&deep).starts_with("A<A<"));
    }

    #[test]
    fn arguments_of_a_signature_are_those_in_its_parentheses() {
        let of = |signature| arguments(signature, "A.B");
        assert_eq!(of("instance void  (int32,class System.String[])"), "(int,string[])");
        assert_eq!(of("void ()"), "()");
        // `int` has 32 bits in Mono's notation, and is a native integer in other runtimes'.
        assert_eq!(of("int(int,intptr,A.B`1/C<int>)"), "(int,nint,B.C<int>)");
        assert_eq!(of("int32  (int)"), "(nint)");
        assert_eq!(of("int& modreq(A.In)(int16 modreq(A.In)&)"), "(short&)");
        assert_eq!(of("void  (fnptr int32*(),!0&)"), "(delegate*<int*>,!0&)");
    }

    #[test]
    fn parameters_of_types_are_known_and_those_of_methods_have_names() {
        let type_name = "Nm.Outer`1+Mid`1[System.Int32,System.__Canon]";
        let signature = "instance generic void  (!0,!1,!!0,int32&,int64&,class System.String[])";
        let shown = "(int,__Canon,T,int&,long&,string[])";
        assert_eq!(
            (arguments(signature, type_name), type_parameters(signature)),
            (shown.into(), "<T>".into())
        );
        assert_eq!(type_parameters("instance generic void  ()"), "<T>");
        assert_eq!(type_parameters("generic void  (!!0&,!!1&)"), "<T1,T2>");
        assert_eq!(arguments("generic void  (!!0&,!!1&)", "A"), "(T1&,T2&)");
        assert_eq!(type_parameters("instance void (class Generic.generic)"), "");
        assert_eq!(type_parameters("generic void  (!!99999999999999999999)"), "<T>");
    }
}
