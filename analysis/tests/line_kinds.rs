//! Source lines of each kind of method. What is right stands in the program: its comments name the
//! lines on which it spins, and the arguments of the calls say for how many milliseconds.

use nettrace_analysis::report::{ReportPass, TopN, TopNOptions};
use nettrace_analysis::{AnalysisOptions, NameStyle, PdbFile, ThreadState};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;

/// File with the lines of the program.
const PROGRAM: &str = "/src/LineKinds/LineKinds.cs";

/// Returns the rows of a trace of the program.
fn top() -> TopN {
    let mut options = AnalysisOptions::default();
    (options.lines, options.names.style) = (true, NameStyle::Short);
    options.filter.states = ThreadState::ALL.to_vec();
    let mut rows = TopNOptions::default();
    rows.count = usize::MAX;
    let mut pass = ReportPass::with_options(rows, options);
    let bytes = corpus::known("LineKinds").bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.model_mut().add_pdb(PdbFile::from_bytes(&corpus::known_file("LineKinds.pdb")).unwrap());
    let reported = pass.finish();
    let lines = reported.lines.unwrap();
    assert_eq!((lines.without_map, lines.without_pdb.len()), (0, 0), "{lines:?}");
    reported.output
}

/// Returns the line of the program that has this comment.
fn line(comment: &str) -> u32 {
    let program = include_str!("../../testdata/programs/LineKinds.cs");
    let ends = |line: &str| {
        line.split_once("// ").is_some_and(|(_, text)| {
            text.strip_prefix(comment).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        })
    };
    program.lines().position(ends).unwrap_or_else(|| panic!("no line {comment}")) as u32 + 1
}

/// Checks the milliseconds, with all that is called, of a method's line.
fn check(top: &TopN, method: &str, (file, line): (&str, u32), milliseconds: f64) {
    let rows = top.methods.iter().filter(|row| {
        let at = row.line.as_ref();
        at.is_some_and(|at| (&*at.file, at.line, at.is_first) == (file, line, false))
            && row.name.split(' ').next() == Some(method)
    });
    let found = rows.map(|row| row.total_ns).max().unwrap_or(0) as f64 / 1e6;
    // Threads of other programs take their turn; code is compiled before it runs.
    assert!(
        (found - milliseconds).abs() < 12.0 + milliseconds / 10.0,
        "{method} {file}:{line} took {found} ms instead of {milliseconds} ms"
    );
}

#[test]
fn generic_code_has_its_lines_whether_it_is_shared_or_not() {
    let top = top();
    for (method, comment, milliseconds) in [
        ("Box<int>.Take", "box", 100.0),
        ("Box<long>.Take", "box", 110.0),
        ("Box<__Canon>.Take", "box", 120.0 + 130.0),
        ("Box<__Canon>.Count<T>", "generic method of a generic type", 90.0),
        ("Box<Pair>.Count<T>", "generic method of a generic type", 70.0),
        ("LineKinds.Same<T>", "same", 100.0 + 80.0 + 60.0 + 40.0),
        ("LineKinds.Main", "caller of Box<int>", 100.0),
    ] {
        check(&top, method, (PROGRAM, line(comment)), milliseconds);
    }
}

#[test]
fn code_of_the_framework_that_was_compiled_for_a_type_of_the_program_has_no_lines_of_it() {
    let top = top();
    let of = |name: &str| top.methods.iter().find(|row| row.name == name).unwrap();
    assert_eq!(of("SortedSet<Pair>.AddIfNotPresent").line, None);
    assert!(of(&format!("Pair.CompareTo LineKinds.cs:{}", line("comparer"))).total_ns > 60_000_000);
}

#[test]
fn a_loop_whose_code_is_replaced_while_it_runs_has_the_lines_of_both() {
    let top = top();
    let (first, second) = (line("first loop"), line("second loop"));
    let of = |line: u32| {
        let rows = top.methods.iter().filter(|row| row.name.starts_with("LineKinds.Loop "));
        let is_it = |at: &&nettrace_analysis::SourceLine| (&*at.file, at.line) == (PROGRAM, line);
        let rows = rows.filter(|row| row.line.as_ref().filter(is_it).is_some());
        rows.map(|row| row.self_ns).sum::<u64>()
    };
    // The compiler moves the ends of loops into their bodies.
    let halves = [first, second].map(|body| of(body) + of(body - 2));
    assert!(halves.iter().all(|half| *half > 80_000_000), "{halves:?}");
    let whole = top
        .methods
        .iter()
        .find(|row| row.name.ends_with(&format!("cs:{}", line("caller of the loops"))));
    let whole = whole.unwrap().total_ns;
    assert!(halves.iter().sum::<u64>() >= whole / 100 * 97, "{halves:?} of {whole}");
}

#[test]
fn lambdas_local_functions_iterators_and_async_methods_have_their_own_lines() {
    let top = top();
    for (method, comment, milliseconds) in [
        ("LineKinds.Lambdas.lambda_0", "lambda", 150.0),
        ("LineKinds.Lambdas.lambda_1", "lambda in a lambda", 100.0),
        ("LineKinds.Lambdas.lambda_0", "lambda around it", 100.0),
        ("LineKinds.Lambdas", "caller of lambda", 200.0),
        ("LineKinds.Lambdas", "lambda that the framework calls", 100.0),
        ("LineKinds.Lambdas.lambda_1", "lambda that the framework calls", 100.0),
        ("LineKinds.Locals.Twice", "local", 60.0),
        ("LineKinds.Locals.Twice", "local, again", 60.0),
        ("LineKinds.Locals", "caller of local", 120.0),
        ("LineKinds.Steps", "before yield", 120.0),
        ("LineKinds.Steps", "after yield", 60.0),
        ("LineKinds.Main", "caller of the iterator", 180.0),
        ("LineKinds.Later", "after the first await", 150.0),
        ("LineKinds.Later", "after the second await", 100.0),
    ] {
        check(&top, method, (PROGRAM, line(comment)), milliseconds);
    }
}

#[test]
fn directives_name_files_and_lines_and_hidden_code_belongs_to_the_line_before_it() {
    let top = top();
    let method = "LineKinds.Directives";
    check(&top, method, (PROGRAM, line("before #line")), 100.0);
    check(&top, method, ("/src/LineKinds/Views/Page.cshtml", 40), 150.0 + 120.0);
    check(&top, method, ("/src/LineKinds/Views/Other.cshtml", 7), 80.0);
    check(&top, method, (PROGRAM, line("after #line")), 60.0);
    let of = |file: &str| {
        top.methods
            .iter()
            .filter_map(|row| row.line.as_ref())
            .filter(|at| &*at.file == file)
            .count()
    };
    assert_eq!(of("/src/LineKinds/Views/Page.cshtml"), 1);
}

#[test]
fn what_a_catch_or_finally_block_calls_has_the_line_at_which_the_try_block_was_left() {
    // .NET leaves such blocks out of stacks.
    check(&top(), "LineKinds.Catches", (PROGRAM, line("left")), 100.0 + 80.0);
}
