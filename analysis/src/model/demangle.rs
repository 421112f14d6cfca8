//! Converts names that compilers generate for lambdas, local functions, async methods and iterators
//! to names as in source code.
//!
//! | written by C#'s compiler | shown |
//! |---|---|
//! | `Program+<Run>d__4` . `MoveNext` | `Program.Run` |
//! | `Program+<>c` . `<Run>b__13_0` | `Program.Run.lambda_13_0` |
//! | `Program+<>c__DisplayClass14_0+<<Run>b__0>d` . `MoveNext` | `Program.Run.lambda_0` |
//! | `Thread` . `<PollGC>g__PollGCWorker\|67_0` | `Thread.PollGC.PollGCWorker` |
//! | `Program` . `<Main>$` | `Program.Main` |
//! | `<File>F…__Hidden` (a type that is local to a file) . `Go` | `Hidden.Go` |
//! | `Shop+load@12` . `MoveNext` (F#) | `Shop.load` |
//! | `Shop+step@7-1` . `Invoke` (F#, a closure of line 7) | `Shop.step.closure_7_1` |

/// Maximum nesting of generated names, which is more than compilers generate.
const MAX_DEPTH: usize = 16;

/// Removes the parts that compilers generate from the segments of a type's name, and from a
/// method's name.
pub(crate) fn demangle(segments: &mut Vec<String>, method: &mut String) {
    let mut inner: Vec<String> = Vec::new();
    let mut is_closure = false;
    segments.retain_mut(|segment| match of_type(segment) {
        TypeKind::Written => true,
        TypeKind::FileLocal(name) => {
            *segment = name;
            true
        }
        TypeKind::Closure => false,
        TypeKind::StateMachine(name) => {
            inner.push(name);
            false
        }
        TypeKind::FSharp(name, place) => {
            inner.push(name);
            // A state machine's `MoveNext` is the method itself.
            if method != "MoveNext" {
                inner.push(place);
                is_closure = true;
            }
            false
        }
    });
    let own = of_method(method, 0);
    let is_body = !inner.is_empty()
        && (own == "MoveNext" || is_closure && (own == "Invoke" || own == "Specialize"));
    if !is_body {
        inner.push(own);
    }
    *method = inner.join(".");
}

/// Makes the name of a type readable that stands without a method, such as a generic argument, or
/// an allocated or thrown type.
///
/// | written | shown |
/// |---|---|
/// | `Program+<Run>d__4` | `Program.Run` |
/// | `Program+<>c+<<Main>$>b__0_2>d` | `Program.Main.lambda_0_2` |
/// | `Program+<>c__DisplayClass14_0` | `Program.closure_14_0` |
pub(crate) fn demangle_type(segments: &mut Vec<String>) {
    let last = segments.len().saturating_sub(1);
    let shown =
        segments.drain(..).enumerate().filter_map(|(at, segment)| match of_type(&segment) {
            TypeKind::Written => Some(segment),
            TypeKind::FileLocal(name) | TypeKind::StateMachine(name) => Some(name),
            TypeKind::FSharp(name, place) => Some(format!("{name}.{place}")),
            TypeKind::Closure if at < last => None,
            TypeKind::Closure => {
                let starts = ["<>c__DisplayClass", "<>c__"];
                let number = starts.iter().find_map(|start| segment.strip_prefix(start));
                let number = number.map(|number| number.split('<').next().unwrap_or(number));
                Some(number.map_or("closure".to_owned(), |number| format!("closure_{number}")))
            }
        });
    *segments = shown.collect::<Vec<String>>();
}

/// Makes the name of a method readable that stands without its type, such as `<Run>b__0` or
/// `<Run>d__4` in events of tasks.
pub(crate) fn demangle_alone(name: &str) -> String {
    match of_type(name) {
        TypeKind::StateMachine(name) => name,
        _ => of_method(name, 0),
    }
}

enum TypeKind {
    /// A type that is written in source code.
    Written,
    /// A closure class, which holds the state of lambdas.
    Closure,
    /// A type that is written in source code with the modifier `file`.
    FileLocal(String),
    /// The state machine of an async method or iterator with this name.
    StateMachine(String),
    /// A closure or a state machine of F#: the function around it, and a name with the line, such
    /// as `closure_12_3`.
    FSharp(String, String),
}

/// Number of hexadecimal digits in the name of a file-local type.
const FILE_DIGITS: usize = 64;

/// Returns the name of a file-local type in source code. The runtime's name is `F`, 64 digits and
/// `__Hidden` for `Hidden`.
fn file_local(tail: &str) -> Option<&str> {
    let (digits, name) = tail.strip_prefix('F')?.split_at_checked(FILE_DIGITS)?;
    let name = name.strip_prefix("__").filter(|name| !name.is_empty())?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(name)
}

/// Returns the function around a closure or a state machine of F#, and a name with the line: `step`
/// and `closure_7_1` for `step@7-1`. F# names these types by function, line, and number in the
/// line.
pub(crate) fn of_fsharp(segment: &str) -> Option<(&str, String)> {
    let segment = segment.split(['<', '`']).next().unwrap_or(segment);
    let (name, place) = segment.rsplit_once('@').filter(|(name, _)| !name.is_empty())?;
    let is_place = place.starts_with(|c: char| c.is_ascii_digit())
        && place.chars().all(|c| c.is_ascii_digit() || c == '-');
    is_place.then(|| (name, format!("closure_{}", place.replace('-', "_"))))
}

fn of_type(segment: &str) -> TypeKind {
    if segment == "<>c" || segment.starts_with("<>c__") || segment.starts_with("<>c<") {
        return TypeKind::Closure;
    }
    if let Some((name, tail)) = mangled(segment) {
        if tail == "d" || tail.starts_with("d__") || tail.starts_with("d<") {
            return TypeKind::StateMachine(of_method(name, 0));
        }
        if let Some(name) = file_local(tail) {
            return TypeKind::FileLocal(name.to_owned());
        }
    }
    of_fsharp(segment)
        .map_or(TypeKind::Written, |(name, place)| TypeKind::FSharp(name.to_owned(), place))
}

fn of_method(name: &str, depth: usize) -> String {
    let Some((inner, tail)) =
        mangled(name).filter(|(inner, _)| !inner.is_empty() && depth < MAX_DEPTH)
    else {
        return name.to_owned();
    };
    let inner = of_method(inner, depth.saturating_add(1));
    if tail == "$" {
        return inner;
    }
    if let Some(local) = tail.strip_prefix("g__") {
        let local = local.split('|').next().unwrap_or(local);
        return format!("{inner}.{local}");
    }
    if let Some(number) = tail.strip_prefix("b__") {
        return format!("{inner}.lambda_{number}");
    }
    name.to_owned()
}

/// Splits `<inside>tail` into `inside` and `tail`. The brackets must be balanced.
pub(crate) fn mangled(name: &str) -> Option<(&str, &str)> {
    let rest = name.strip_prefix('<')?;
    let mut depth = 1usize;
    for (at, c) in rest.char_indices() {
        match c {
            '<' => depth = depth.saturating_add(1),
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some((rest.get(..at)?, rest.get(at.saturating_add(1)..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::type_name::TypeName;
    use super::*;

    fn shown(type_name: &str, method: &str) -> String {
        let mut segments = TypeName::parse(type_name).segments;
        let mut method = method.to_owned();
        demangle(&mut segments, &mut method);
        segments.push(method);
        segments.join(".")
    }

    #[test]
    fn frames_are_shown_in_source_notation() {
        let cases = [
            ("Workload.Program+<TaskRound>d__14", "MoveNext", "Program.TaskRound"),
            (
                "Workload.Program+<>c",
                "<ContentionRound>b__13_0",
                "Program.ContentionRound.lambda_13_0",
            ),
            (
                "Workload.Program+<>c__DisplayClass14_0",
                "<TaskRound>b__0",
                "Program.TaskRound.lambda_0",
            ),
            (
                "W.Program+<>c__DisplayClass14_0+<<TaskRound>b__0>d",
                "MoveNext",
                "Program.TaskRound.lambda_0",
            ),
            (
                "System.Threading.Thread",
                "<PollGC>g__PollGCWorker|67_0",
                "Thread.PollGC.PollGCWorker",
            ),
            ("Program", "<Main>$", "Program.Main"),
            (
                "Nm.<Program>FFAE5D9B0848A57230E11CAD29A84CE855BDA14A6521B259900199B16BC4AB07E__Hidden",
                "Go",
                "Hidden.Go",
            ),
            ("N.<A>F12__B", "Go", "<A>F12__B.Go"),
            // F#.
            ("Shop+step@7-1", "Invoke", "Shop.step.closure_7_1"),
            ("Shop+step@7`1[System.Int32]", "Invoke", "Shop.step.closure_7"),
            ("Shop+load@12", "MoveNext", "Shop.load"),
            ("Shop+load@12", "get_Label", "Shop.load.closure_12.get_Label"),
            ("Shop+x@", "Invoke", "Shop.x@.Invoke"),
            ("A.B+<Get>d__3`1[System.Int32]", "MoveNext", "B.Get"),
            ("A.B+<Get>d__3", "SetStateMachine", "B.Get.SetStateMachine"),
            ("A.B+<>c__4`1[System.Int32]", "<Get>b__4_0", "B.Get.lambda_4_0"),
            ("A.Enumerator", "MoveNext", "Enumerator.MoveNext"),
            ("A.B", "<>n__0", "B.<>n__0"),
            ("A.B", "<oops", "B.<oops"),
        ];
        for (type_name, method, expected) in cases {
            assert_eq!(shown(type_name, method), expected);
        }
    }

    #[test]
    fn deep_nesting_ends_somewhere() {
        let name = "<".repeat(100_000) + &">g__x".repeat(100_000);
        assert!(!shown("A", &name).is_empty());
    }
}
