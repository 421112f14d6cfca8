//! Callers of async code: who awaits it, whatever resumed it on the thread.

use nettrace_analysis::report::{CallTree, ReportPass, TreeNode, TreeOptions};
use nettrace_analysis::{AnalysisOptions, NameStyle};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;

fn options() -> AnalysisOptions {
    let mut options = AnalysisOptions::default();
    options.async_callers = true;
    options.names.style = NameStyle::Short;
    options
}

fn tree(bytes: &[u8], options: AnalysisOptions) -> CallTree {
    let mut tree = TreeOptions::default();
    tree.min_percent = 0.0;
    let mut pass = ReportPass::with_options(tree, options);
    assert!(pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

/// Returns the milliseconds at the end of each path from a root, whose names are joined by ` > `.
fn paths(tree: &CallTree) -> Vec<(String, f64)> {
    let mut path: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for node in &tree.nodes {
        let TreeNode { depth, name, total_ns, .. } = node;
        path.truncate(*depth as usize);
        path.push(name);
        rows.push((path.join(" > "), *total_ns as f64 / 1e6));
    }
    rows
}

/// The stacks of the program by its source, below `Program.Run`, with milliseconds.
const SHAPES: [(&str, f64); 10] = [
    ("Orders.PlaceOrder > Orders.Validate > Orders.Price > Cpu.BurnA", 400.0),
    ("Orders.Invoice > Cpu.BurnB", 300.0),
    ("Stock.Check > Stock.Lookup > Stock.Read > Cpu.BurnC", 300.0),
    ("Stock.SumAll > Stock.Items > Cpu.BurnD", 300.0),
    ("Fan.Out > [Task.WhenAll] > Fan.Leg > Cpu.BurnE", 600.0),
    ("Pipe.Run > Pipe.Consume > Cpu.BurnF", 300.0),
    ("Net.Send > Net.Encode > Net.Sign > Cpu.BurnG", 300.0),
    ("Net.Offload > Net.Offload.lambda_3_0 > Cpu.BurnH", 300.0),
    ("Shared.First > Shared.Helper > Cpu.BurnI", 300.0),
    ("Shared.Second > Shared.Helper > Cpu.BurnI", 100.0),
];
const ABOVE: &str = "Program.<Main> > Program.Main > Program.Run";
const MISSING: &str = "(async callers not in the trace)";

#[track_caller]
fn assert_millis(tree: &CallTree, path: &str, expected: f64) {
    let paths = paths(tree);
    let found = paths.iter().find(|(known, _)| known == path);
    let millis = found.unwrap_or_else(|| panic!("no {path} in {paths:#?}")).1;
    assert!((millis - expected).abs() <= expected * 0.05, "{path}: {millis}");
}

#[test]
fn who_awaits_is_the_caller_in_ten_shapes_of_async_code() {
    let tree = tree(&corpus::known("async/shop-full").bytes(), options());
    for (shape, expected) in SHAPES {
        assert_millis(&tree, &format!("{ABOVE} > {shape}"), expected);
    }
    // A sample may lie between the event and the call.
    assert!(
        tree.counted.without_async_callers_samples <= 4,
        "{}",
        tree.counted.without_async_callers_samples
    );
}

#[test]
fn fewer_keywords_tell_the_callers_of_all_but_a_channel() {
    let tree = tree(&corpus::known("async/shop-c2").bytes(), options());
    for (shape, expected) in SHAPES {
        // They do not tell what the task of several awaits.
        let shape = shape.replace("[Task.WhenAll] > ", "");
        let path = match shape.strip_prefix("Pipe.Run > ") {
            Some(shape) => format!("{MISSING} > {shape}"),
            None => format!("{ABOVE} > {shape}"),
        };
        assert_millis(&tree, &path, expected);
    }
    assert!(tree.counted.without_async_callers_samples > 100, "they are counted");
}

#[test]
fn methods_that_the_runtime_suspends_have_no_invented_callers() {
    let tree = tree(&corpus::known("async/rt-full").bytes(), options());
    // Who queues a delegate is known, and who called that method is not.
    let delegate = "Net.Offload > Net.Offload.lambda_3_0 > Cpu.BurnH";
    for (shape, expected) in [
        ("Orders.Price > Cpu.BurnA", 400.0),
        ("Orders.Invoice > Cpu.BurnB", 300.0),
        (delegate, 300.0),
    ] {
        assert_millis(&tree, &format!("{MISSING} > {shape}"), expected);
    }
    let is_store = |(path, _): &(String, f64)| path.contains("Store > Orders.Invoice");
    assert!(!paths(&tree).iter().any(is_store));
}

#[test]
fn times_and_methods_are_the_same_with_async_callers() {
    let of = |async_callers| {
        let bytes = corpus::known("async/shop-full").bytes();
        let mut options = options();
        options.async_callers = async_callers;
        options.folding.is_async = true;
        let tree = tree(&bytes, options);
        (
            tree.counted.samples,
            tree.counted.total_ns,
            tree.counted.waiting_samples,
            tree.counted.running,
        )
    };
    assert_eq!(of(true), of(false));
}

mod with_shared {
    use super::*;
    use nettrace_analysis::model::AsyncRuns;
    use std::sync::Arc;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn the_async_profiler_of_net11_tells_the_callers_of_what_the_runtime_suspends() {
        let bytes = corpus::trace("net11-linux-x64/async-profiler.nettrace").bytes();
        let runs = AsyncRuns::read(&mut Reader::from_slice(&bytes)).unwrap().unwrap();
        assert_eq!(runs.left_out(), 0);
        let of = |runs| {
            let mut options = options();
            options.async_runs = runs;
            tree(&bytes, options)
        };
        let (without, with) = (of(None), of(Some(Arc::new(runs))));
        let chains = [
            "Program.Worker > Program.A > Program.B > Program.C > Program.Burn",
            "Program.Worker > Program.Copy > Stream.CopyToAsync.Core > Program.SlowStream.ReadAsync > \
             Program.Burn",
            "Program.Worker > Program.Stream > Program.Burn",
        ];
        for chain in chains {
            let millis = |tree: &CallTree| paths(tree).into_iter().find(|(path, _)| path == chain);
            assert!(millis(&with).is_some_and(|(_, millis)| millis > 100.0), "{chain}");
            assert!(millis(&without).is_none(), "{chain}");
        }
        let lacking = [&with, &without].map(|tree| tree.counted.without_async_callers_samples);
        assert!(lacking[0] * 2 < lacking[1], "{lacking:?}");
        assert_eq!(
            (with.counted.samples, with.counted.total_ns),
            (without.counted.samples, without.counted.total_ns)
        );
    }
}
