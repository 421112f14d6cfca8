//! Converts types and signatures from Mono's notation to the notation of other runtimes.
//!
//! | Mono | others |
//! |---|---|
//! | `A.Pair<B,C>[]` | ``A.Pair`2[B,C][]`` |
//! | `int(string,intptr)` | `int32  (string,native int)` |
//! | ``A/B`1<int>`` | ``A+B`1<int32>`` |
//!
//! A signature without a blank before the arguments is Mono's: other runtimes write two blanks.

use std::borrow::Cow;

/// Returns the name of a type in the notation of other runtimes: ``A.Pair`2[B,C][]`` for
/// `A.Pair<B,C>[]`. Angle brackets at the start of a name come from the compiler and are kept.
pub(crate) fn name_of_mono(name: &str) -> String {
    let mut stored = String::with_capacity(name.len().saturating_add(8));
    // For each open bracket, the position of its list of arguments and the length so far; `None`
    // for a bracket of the compiler.
    let mut open: Vec<Option<(usize, usize)>> = Vec::new();
    let mut before = '.';
    let mut squares = 0_usize;
    for letter in name.chars() {
        match letter {
            '<' if before.is_alphanumeric() || before == '_' => {
                open.push(Some((stored.len(), 1)));
                stored.push('[');
            }
            '<' => {
                open.push(None);
                stored.push('<');
            }
            '>' => match open.pop().flatten() {
                Some((at, count)) => {
                    stored.push(']');
                    stored.insert_str(at, &format!("`{count}"));
                }
                None => stored.push('>'),
            },
            _ => {
                match letter {
                    '[' => squares = squares.saturating_add(1),
                    ']' => squares = squares.saturating_sub(1),
                    ',' if squares == 0 => {
                        if let Some(Some((_, count))) = open.last_mut() {
                            *count = count.saturating_add(1);
                        }
                    }
                    _ => {}
                }
                stored.push(letter);
            }
        }
        before = letter;
    }
    stored
}

/// Returns whether a signature is in Mono's notation.
pub(crate) fn is_of_mono(signature: &str) -> bool {
    let before = signature.split_once('(').map(|(before, _)| before);
    before.is_some_and(|before| !before.is_empty() && !before.ends_with(' '))
}

/// Returns an argument without `modreq(…)` and `modopt(…)`.
fn without_modifiers(argument: &str) -> Cow<'_, str> {
    let found = [" modreq(", " modopt("].iter().find_map(|modifier| argument.split_once(modifier));
    match found.and_then(|(before, rest)| Some((before, rest.split_once(')')?.1))) {
        Some((before, after)) => format!("{before}{after}").into(),
        None => argument.into(),
    }
}

/// Returns the type of a signature's argument in the notation of other runtimes.
pub(crate) fn argument_of_mono(argument: &str) -> String {
    let plain = without_modifiers(argument);
    let mut text = String::with_capacity(plain.len());
    let mut rest = &*plain;
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '`' | '/' | '+');
    while !rest.is_empty() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        text.push_str(&match word {
            "int" => Cow::from("int32"),
            "uint" => "uint32".into(),
            "intptr" => "native int".into(),
            "uintptr" => "native uint".into(),
            "single" => "float32".into(),
            "double" => "float64".into(),
            word => word.replace('/', "+").into(),
        });
        let mut letters = after.chars();
        text.extend(letters.next());
        rest = letters.as_str();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mono_are_written_as_other_runtimes_do() {
        for (name, stored) in [
            ("System.String", "System.String"),
            ("System.Byte[]", "System.Byte[]"),
            ("A.List<A.Ref<B>>[]", "A.List`1[A.Ref`1[B]][]"),
            ("A.Map.Entry<B[,],C>[]", "A.Map.Entry`2[B[,],C][]"),
            ("System.Type.<>c", "System.Type.<>c"),
            ("P.<Main>d__0<System.Int32>", "P.<Main>d__0`1[System.Int32]"),
            ("<", "<"),
            (">a<b", ">a[b"),
        ] {
            assert_eq!(name_of_mono(name), stored, "{name}");
        }
    }

    #[test]
    fn signatures_of_mono_have_no_blank_before_their_arguments() {
        for (signature, expected) in [
            ("int(char*,int)", true),
            ("System.Func`2<object, A>(System.Type)", true),
            ("int32  (wchar&,int32)", false),
            ("instance void  ()", false),
            ("()", false),
            ("", false),
        ] {
            assert_eq!(is_of_mono(signature), expected, "{signature}");
        }
    }

    #[test]
    fn int_is_a_number_of_32_bits_and_intptr_a_native_one() {
        for (argument, expected) in [
            ("int", "int32"),
            ("uint&", "uint32&"),
            ("intptr*", "native int*"),
            ("single", "float32"),
            (
                "System.Collections.Generic.Dictionary`2/Entry<int, A/B>[]",
                "System.Collections.Generic.Dictionary`2+Entry<int32, A+B>[]",
            ),
            ("int16 modreq(System.InAttribute)&", "int16&"),
            ("My.int", "My.int"),
        ] {
            assert_eq!(argument_of_mono(argument), expected, "{argument}");
        }
    }
}
