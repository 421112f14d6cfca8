//! Choice of the fuzz target. Several targets share a program, because linking is slow, and the
//! file name by which it is started chooses one. `build` and `oss-fuzz/build.sh` make a link for
//! each target.

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
