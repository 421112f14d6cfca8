//! A program has several targets, so that few are linked: the name of the file by which it was
//! started says which. `build` and `oss-fuzz/build.sh` make a link for each target.

use std::path::PathBuf;
use std::sync::OnceLock;

pub(crate) type Target = fn(&[u8]);

/// Returns the target of this run.
pub(crate) fn target(targets: &[(&str, Target)]) -> Target {
    static CHOSEN: OnceLock<Target> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let program = PathBuf::from(std::env::args_os().next().unwrap_or_default());
        let found = targets.iter().find(|(name, _)| program.ends_with(name));
        let (_, target) = found.unwrap_or_else(|| {
            let names: Vec<&str> = targets.iter().map(|(name, _)| *name).collect();
            panic!("{}: start it by a link with one of the names {names:?}", program.display())
        });
        *target
    })
}
