//! Shortens names of methods and types.

use super::LEFT_OUT;
use nettrace_analysis::FrameCall;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Minimum columns of a method that is shown together with its call.
const MIN_CALLER_COLUMNS: usize = 4;

/// Returns a text in at most `most` columns. The name of a method loses its arguments, then module
/// and namespaces; other texts lose their middle. The end of a name says more than its beginning,
/// so more of it is kept.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    // Line and call tell a row from other rows of the method.
    let (name, tail) = text.split_at(tail_at(text));
    if !tail.is_empty()
        && let Some(room) = most.checked_sub(tail.width())
        && room >= MIN_CALLER_COLUMNS
    {
        return format!("{}{tail}", cut_caller(name, room));
    }
    let without_arguments = match (text.find('('), text.ends_with(')')) {
        (Some(at), true) if at > 0 => format!("{}(…)", &text[..at]),
        _ => text.to_owned(),
    };
    if without_arguments.width() <= most {
        return without_arguments;
    }
    let is_method = |(module, method): &(&str, &str)| {
        !module.is_empty() && !module.contains(' ') && !method.starts_with([' ', '!'])
    };
    let Some((_, mut end)) = without_arguments.split_once('!').filter(is_method) else {
        return cut_middle(&without_arguments, most);
    };
    let least = ending(end, 2);
    loop {
        if end.width() < most {
            return format!("{LEFT_OUT}{end}");
        }
        let Some(dot) = dots(end).first().copied().filter(|_| end.len() > least.len()) else {
            return cut_middle(least, most);
        };
        end = &end[dot + 1..];
    }
}

/// Returns where the line of a method and its call begin: ` Program.cs:33 → native call`.
fn tail_at(text: &str) -> usize {
    let call = FrameCall::ALL.into_iter().find_map(|call| text.strip_suffix(call.text()));
    let name = call.unwrap_or(text);
    let is_line = |line: &str| {
        let (file, number) = line.split_once(':').unwrap_or_default();
        let number = number.strip_suffix('+').unwrap_or(number);
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number && file.contains('.') && !file.contains(['/', '\\'])
    };
    match name.rsplit_once(' ') {
        Some((before, line)) if is_line(line) => before.len(),
        _ => name.len(),
    }
}

/// Returns a method that makes a call in at most `most` columns. It loses all of its arguments, then
/// what stands before the method, and only then letters of the method.
fn cut_caller(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let at = text.find('(').filter(|at| *at > 0 && text.ends_with(')'));
    let name = &text[..at.unwrap_or(text.len())];
    let (short, method) = (cut(name, most), bare(ending(name, 2)));
    match short.ends_with(method) || method.width() >= most {
        true => short,
        false => format!("{LEFT_OUT}{method}"),
    }
}

/// Cuts the middle out of a text: its beginning gets one third of the room, its end two thirds.
pub(super) fn cut_middle(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(1);
    let (front, mut back) = (room / 3, room - room / 3);
    let mut begin = String::new();
    let mut used = 0;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > front {
            break;
        }
        begin.push(c);
    }
    let mut end: Vec<char> = Vec::new();
    for c in text.chars().rev() {
        let Some(left) = back.checked_sub(c.width().unwrap_or(0)) else { break };
        back = left;
        end.push(c);
    }
    begin.push_str(if most > 0 { LEFT_OUT } else { "" });
    begin.extend(end.iter().rev());
    begin
}

/// Returns the places of the dots that separate parts of a name.
fn dots(name: &str) -> Vec<usize> {
    let (mut depth, mut dots) = (0_u32, Vec::new());
    for (at, c) in name.char_indices() {
        match c {
            '<' | '(' | '[' => depth = depth.saturating_add(1),
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            '.' if depth == 0 => dots.push(at),
            _ => {}
        }
    }
    // The name of a constructor begins with a dot: `.ctor`.
    if let [.., before, last] = dots[..]
        && before + 1 == last
    {
        dots.pop();
    }
    dots
}

/// Returns the last `count` parts of a name: `Program.Run` of `Shop.Program.Run`, `Program..ctor`
/// of `Shop.Program..ctor`.
pub(super) fn ending(name: &str, count: usize) -> &str {
    let dots = dots(name);
    dots.len().checked_sub(count).map_or(name, |at| &name[dots[at] + 1..])
}

/// Returns a method without its type, as `Enter` for `Monitor.Enter`. Names that say nothing
/// without their type keep it.
pub(super) fn bare(short: &str) -> &str {
    match ending(short, 1) {
        method if method.starts_with('.') || method.starts_with("lambda") => short,
        "MoveNext" | "Invoke" => short,
        method => method,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_loses_its_arguments_before_its_begin_and_then_its_middle() {
        let name = "a!N.B.Cdefgh(int,string)";
        assert_eq!(cut(name, 24), name);
        assert_eq!(cut(name, 15), "a!N.B.Cdefgh(…)");
        assert_eq!(cut(name, 14), "…N.B.Cdefgh(…)");
        assert_eq!(cut(name, 13), "…B.Cdefgh(…)");
        assert_eq!(cut(name, 10), "B.C…fgh(…)");
        assert_eq!(cut("abcdefghij", 7), "ab…ghij");
        assert_eq!(cut("a!N.List<N.T>..ctor()", 19), "…List<N.T>..ctor(…)");
    }

    #[test]
    fn a_method_loses_its_arguments_before_its_name_and_keeps_its_line() {
        let name = "a!N.B.Cdefgh(int,string) File.cs:33+";
        assert_eq!(cut(name, 27), "a!N.B.Cdefgh File.cs:33+");
        assert_eq!(cut(name, 23), "…N.B.Cdefgh File.cs:33+");
        assert_eq!(cut(name, 19), "…Cdefgh File.cs:33+");
        let calling = format!("{name} → native call");
        assert_eq!(cut(&calling, 37), "…N.B.Cdefgh File.cs:33+ → native call");
        assert_eq!(cut("GET http://localhost:5000", 12), "GET…ost:5000");
    }

    #[test]
    fn a_method_that_calls_loses_its_arguments_before_its_name_and_keeps_its_call() {
        let name = "a!N.B.Cdefgh(int,string) → native call";
        assert_eq!(cut(name, 29), "a!N.B.Cdefgh → native call");
        assert_eq!(cut(name, 25), "…N.B.Cdefgh → native call");
        assert_eq!(cut(name, 21), "…Cdefgh → native call");
        assert_eq!(cut(name, 19), "B…fgh → native call");
        assert_eq!(
            cut("a!N.B.lambda_1_2(int) → taking a lock", 29),
            "…B.lambda_1_2 → taking a lock"
        );
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(cut("日本語日本語", 7), "日…本語");
    }
}
