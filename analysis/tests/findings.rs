//! What reports find can be kept, compared, shown and, with the feature `serde`,
//! serialised.

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

/// Compiling is the test.
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
        name::<Exceptions>(),
        name::<Gc>(),
        name::<Http>(),
        name::<Jit>(),
        name::<Loader>(),
        name::<Logs>(),
        name::<Modules>(),
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
    // No report is forgotten.
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
