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
//! | `Shop+VB$StateMachine_4_Run` . `MoveNext` (Visual Basic) | `Shop.Run` |
//! | `Shop+_Closure$__4-0` . `_Lambda$__1` (Visual Basic) | `Shop.lambda_1` |
//! | `Shop+<Run>c__async4` . `MoveNext` (Mono's compiler) | `Shop.Run` |
//! | `Shop+<Run>c__AnonStorey5` . `<>m__0` (Mono's compiler) | `Shop.Run.lambda_0` |

/// Maximum nesting of generated names, which is more than compilers generate.
const MAX_DEPTH: usize = 16;

/// Removes the parts that compilers generate from the segments of a type's name, and from a
/// method's name.
pub(crate) fn demangle(segments: &mut Vec<String>, method: &mut String) {
    let mut inner: Vec<String> = Vec::new();
    let mut is_closure = false;
    let mut is_in_mono_closure = false;
    segments.retain_mut(|segment| match of_type(segment) {
        TypeKind::Written => true,
        TypeKind::FileLocal(name) => {
            *segment = name;
            true
        }
        TypeKind::Closure => false,
        TypeKind::StateMachine(name) => {
            add_function(&mut inner, name, is_in_mono_closure);
            false
        }
        TypeKind::MonoClosure(name, _) => {
            add_function(&mut inner, name, false);
            is_in_mono_closure = true;
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
    let mut shown: Vec<String> = Vec::new();
    let mut is_in_mono_closure = false;
    for (at, segment) in segments.drain(..).enumerate() {
        match of_type(&segment) {
            TypeKind::Written => shown.push(segment),
            TypeKind::FileLocal(name) => shown.push(name),
            TypeKind::StateMachine(name) => add_function(&mut shown, name, is_in_mono_closure),
            TypeKind::MonoClosure(name, place) => {
                add_function(&mut shown, name, false);
                is_in_mono_closure = true;
                shown.extend((at == last).then_some(place));
            }
            TypeKind::FSharp(name, place) => shown.push(format!("{name}.{place}")),
            TypeKind::Closure if at < last => {}
            TypeKind::Closure => {
                let starts = ["<>c__DisplayClass", "<>c__", BASIC_CLOSURE];
                let number = starts.iter().find_map(|start| segment.strip_prefix(start));
                let number = number.map(|number| number.split('<').next().unwrap_or(number));
                shown.push(
                    number
                        .filter(|number| !number.is_empty())
                        .map_or("closure".to_owned(), |number| {
                            format!("closure_{}", number.replace('-', "_"))
                        }),
                );
            }
        }
    }
    *segments = shown;
}

/// Adds the function whose state machine or closure class a type of Mono's compiler is. Such types of
/// a function lie in each other, and a state machine in a closure class is that of a lambda.
fn add_function(functions: &mut Vec<String>, name: String, is_lambda: bool) {
    if functions.last() != Some(&name) {
        functions.push(name);
    } else if is_lambda {
        functions.push("lambda".to_owned());
    }
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
    /// A closure class of Mono's compiler: the function around it, and a name with the number, such
    /// as `closure_5`.
    MonoClosure(String, String),
}

/// Beginning of the name of a closure class of Visual Basic.
const BASIC_CLOSURE: &str = "_Closure$__";
/// Beginning of the name of a lambda of Visual Basic.
const BASIC_LAMBDA: &str = "_Lambda$__";

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
fn of_fsharp(segment: &str) -> Option<(&str, String)> {
    let segment = segment.split(['<', '`']).next().unwrap_or(segment);
    let (name, place) = segment.rsplit_once('@').filter(|(name, _)| !name.is_empty())?;
    let is_place = place.starts_with(|c: char| c.is_ascii_digit())
        && place.chars().all(|c| c.is_ascii_digit() || c == '-');
    is_place.then(|| (name, format!("closure_{}", place.replace('-', "_"))))
}

/// Returns the name of the async method or iterator whose state machine a type of C# or Visual Basic
/// is: `Run` for `<Run>d__4`, `<Run>c__async4`, `<Run>c__Iterator4` and `VB$StateMachine_4_Run`.
fn of_machine(segment: &str) -> Option<&str> {
    if let Some(rest) = segment.strip_prefix("VB$StateMachine_") {
        let name = rest.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix('_')?;
        return name.split(['<', '`']).next();
    }
    let (name, tail) = mangled(segment)?;
    let is_machine = matches!(tail.split(['<', '`']).next(), Some("d"))
        || ["d__", "c__async", "c__Iterator"].iter().any(|begin| tail.starts_with(begin));
    is_machine.then_some(name)
}

/// Returns the name of the async method or iterator to which a type may belong as its state machine.
/// F# names closures in the same way.
pub(crate) fn machine_method(segment: &str) -> Option<&str> {
    of_machine(segment).or_else(|| of_fsharp(segment).map(|(name, _)| name))
}

fn of_type(segment: &str) -> TypeKind {
    if segment == "<>c"
        || segment.starts_with("<>c__")
        || segment.starts_with("<>c<")
        || segment.starts_with(BASIC_CLOSURE)
    {
        return TypeKind::Closure;
    }
    if let Some(name) = of_machine(segment) {
        return TypeKind::StateMachine(of_method(name, 0));
    }
    if let Some((name, tail)) = mangled(segment) {
        if let Some(number) = tail.strip_prefix("c__AnonStorey") {
            let number = number.split('<').next().unwrap_or(number);
            return TypeKind::MonoClosure(of_method(name, 0), format!("closure_{number}"));
        }
        if let Some(name) = file_local(tail) {
            return TypeKind::FileLocal(name.to_owned());
        }
    }
    of_fsharp(segment)
        .map_or(TypeKind::Written, |(name, place)| TypeKind::FSharp(name.to_owned(), place))
}

fn of_method(name: &str, depth: usize) -> String {
    // In a closure class of Mono's compiler, and in each of Visual Basic, only the class has the
    // name of the function around the lambda.
    if let Some(number) = name.strip_prefix(BASIC_LAMBDA).or_else(|| name.strip_prefix("<>m__")) {
        return format!("lambda_{}", number.replace('-', "_"));
    }
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
    if let Some(number) = tail.strip_prefix("b__").or_else(|| tail.strip_prefix("m__")) {
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
            // Visual Basic.
            ("A.Shop+VB$StateMachine_4_Run", "MoveNext", "Shop.Run"),
            ("A.Shop+VB$StateMachine_4_Run`1[System.Int32]", "MoveNext", "Shop.Run"),
            ("A.Shop+_Closure$__4-0", "_Lambda$__1", "Shop.lambda_1"),
            ("A.Shop+_Closure$__", "_Lambda$__4-1", "Shop.lambda_4_1"),
            ("A.Shop+_Closure$__+VB$StateMachine___Lambda$__4-1", "MoveNext", "Shop.lambda_4_1"),
            // Mono's compiler.
            ("A.Shop+<Run>c__asyncD", "MoveNext", "Shop.Run"),
            ("A.Shop+<Run>c__asyncD`1[System.Int32]", "MoveNext", "Shop.Run"),
            ("A.Shop+<Each>c__Iterator0", "MoveNext", "Shop.Each"),
            ("A.Shop", "<Main>m__0", "Shop.Main.lambda_0"),
            ("A.Shop+<Run>c__async4+<Run>c__AnonStorey5", "<>m__0", "Shop.Run.lambda_0"),
            ("A.Shop+<Run>c__AnonStorey5", "<>m__0", "Shop.Run.lambda_0"),
            ("A.Shop+<Run>c__async4", "<>m__0", "Shop.Run.lambda_0"),
            (
                "A.Shop+<Run>c__async4+<Run>c__AnonStorey5+<Run>c__async6",
                "MoveNext",
                "Shop.Run.lambda",
            ),
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

    /// Calls and events of tasks name the state machine, each in its own way.
    #[test]
    fn state_machines_of_each_compiler_name_their_method() {
        for (machine, method) in [
            ("<Run>d__4", Some("Run")),
            ("<Run>d__4`1[System.Int32]", Some("Run")),
            ("<<Run>b__0>d", Some("<Run>b__0")),
            ("<Run>c__async4", Some("Run")),
            ("VB$StateMachine_4_Run_All", Some("Run_All")),
            ("load@12", Some("load")),
            ("<Run>c__AnonStorey5", None),
            ("VB$StateMachine_4", None),
            ("<Run>dozen", None),
            ("Run", None),
        ] {
            assert_eq!(machine_method(machine), method, "{machine}");
        }
    }

    #[test]
    fn deep_nesting_ends_somewhere() {
        let name = "<".repeat(100_000) + &">g__x".repeat(100_000);
        assert!(!shown("A", &name).is_empty());
    }
}
