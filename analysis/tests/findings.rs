//! Results of reports can be cloned, compared, shown and, with the feature `serde`, serialised.

use nettrace_analysis::fact::FindingKind;
use nettrace_analysis::findings::Summary;
use nettrace_analysis::report::*;
use std::fmt::Debug;

#[cfg(feature = "serde")]
trait Document: serde::Serialize {}
#[cfg(feature = "serde")]
impl<T: serde::Serialize> Document for T {}
#[cfg(not(feature = "serde"))]
trait Document {}
#[cfg(not(feature = "serde"))]
impl<T> Document for T {}

/// Returns the name of a report. That it compiles is the test.
fn name<R: Report + Debug>() -> &'static str
where
    R::Output: Document + Clone + PartialEq + Debug + Send + Sync + 'static,
{
    R::NAME
}

#[test]
fn the_findings_of_all_reports_are_plain_values() {
    let names = [
        name::<Activities>(),
        name::<Alloc>(),
        name::<Contention>(),
        name::<Counters>(),
        name::<EndpointTime>(),
        name::<Exceptions>(),
        name::<Gc>(),
        name::<Http>(),
        name::<Jit>(),
        name::<Loader>(),
        name::<Logs>(),
        name::<MethodCallsOptions>(),
        name::<Modules>(),
        name::<During>(),
        name::<RequestSpans>(),
        name::<Summary>(),
        name::<Sql>(),
        name::<Startup>(),
        name::<Tasks>(),
        name::<ThreadPool>(),
        name::<Threads>(),
        name::<TopNOptions>(),
        name::<TreeOptions>(),
        name::<Types>(),
        name::<Waits>(),
    ];
    // The list has all reports.
    let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![sources];
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                count +=
                    std::fs::read_to_string(path).unwrap().matches("\nimpl Report for ").count();
            }
        }
    }
    assert_eq!(names.len(), count);
}

/// Returns the lines of a list in a module of the page.
fn list_of<'m>(module: &'m str, begin: &str, end: &str) -> Vec<&'m str> {
    let (_, after) = module.split_once(begin).unwrap();
    after
        .split_once(end)
        .unwrap()
        .0
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn each_kind_of_finding_has_a_view_of_the_page() {
    let module = |name: &str| {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("page/src");
        std::fs::read_to_string(folder.join(name)).unwrap()
    };
    let (overview, main) = (module("overview-view.mjs"), module("main.mjs"));
    let places = list_of(&overview, "const PLACES = {", "};");
    let kinds: Vec<&str> = places.iter().map(|line| line.split_once(':').unwrap().0).collect();
    assert_eq!(kinds, FindingKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>());
    let views = list_of(&main, "const VIEWS = [", "\n];").concat();
    for place in places {
        let view = place.split('\'').nth(1).unwrap();
        assert!(views.contains(&format!("['{view}',")), "{place}");
    }
}
