//! How programs are built that are given to others: they name no folder of the machine.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Variable that has flags of rustc. Unlike others it takes folders with spaces.
pub(crate) const FLAGS: &str = "CARGO_ENCODED_RUSTFLAGS";
/// What separates flags there.
const SEPARATOR: &str = "\u{1f}";

/// Returns the value of [`FLAGS`]: these flags, and those that leave folders of the machine out of what a
/// panic says. Files of packages keep the name and version of their package; those of the standard library are
/// named as it was built.
pub(crate) fn flags(own: &[&str]) -> String {
    let remap = |folder: &PathBuf| format!("--remap-path-prefix={}=", folder.display());
    let own = own.iter().map(|&flag| flag.to_owned());
    own.chain(folders().iter().map(remap)).collect::<Vec<_>>().join(SEPARATOR)
}

/// Returns the folders with sources, outer ones first: of several that fit, rustc takes the last.
fn folders() -> Vec<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned);
    let target =
        env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let registries = home.iter().flat_map(|home| fs::read_dir(home.join("registry/src")));
    let registries = registries.flatten().flatten().map(|entry| entry.path());
    let outer = [top, target, home.clone()].into_iter().flatten();
    outer.chain(registries).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top;
    use std::process::Command;

    #[test]
    fn a_panic_names_a_file_without_the_folder_of_the_machine() {
        let folder = folders()[0].join("target/tmp/shipped");
        fs::create_dir_all(&folder).unwrap();
        let (source, made) = (folder.join("lib.rs"), folder.join("made.ll"));
        fs::write(&source, "pub fn fail(at: usize) -> u8 { [1, 2][at] }").unwrap();
        let flags = flags(&["--crate-type=lib"]);
        let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.args(flags.split(SEPARATOR)).args(["--emit=llvm-ir", "-o"]).arg(&made).arg(&source);
        assert!(rustc.current_dir(top()).status().unwrap().success());
        let text = fs::read_to_string(made).unwrap();
        assert!(text.contains("target/tmp/shipped/lib.rs"));
        assert!(!text.contains(&source.display().to_string()));
    }
}
