//! `cargo xtask corpus`: unpacks the archives of inputs in the repository for a fuzzer, and packs
//! them again.

use super::top;
use clap::Subcommand;
use nettrace_testdata::fuzz_corpus;
use std::io;
use std::path::PathBuf;

#[derive(Subcommand)]
pub(crate) enum Corpus {
    /// Write each target's inputs to FOLDER/TARGET
    Unpack {
        /// Only the inputs of these targets
        targets: Vec<String>,
        /// Folder in which to make them
        #[arg(long, default_value_os_t = folder())]
        folder: PathBuf,
    },
    /// Make archives of FOLDER/TARGET
    Pack {
        /// The targets
        #[arg(required = true)]
        targets: Vec<String>,
        /// Folder that has a folder for each target
        #[arg(long, default_value_os_t = folder())]
        folder: PathBuf,
    },
}

/// Returns the default folder for unpacked inputs. It lies in the build folder of the fuzz targets,
/// so it is not in the repository.
fn folder() -> PathBuf {
    top().join("parser/fuzz/target/corpus")
}

impl Corpus {
    pub(crate) fn run(self) -> io::Result<()> {
        match self {
            Corpus::Unpack { targets, folder } => {
                let targets = if targets.is_empty() { fuzz_corpus::targets()? } else { targets };
                for target in targets {
                    let to = folder.join(&target);
                    println!("{}: {} inputs", to.display(), fuzz_corpus::unpack(&target, &to)?);
                }
            }
            Corpus::Pack { targets, folder } => {
                for target in targets {
                    println!(
                        "{target}: {} inputs",
                        fuzz_corpus::pack(&target, &folder.join(&target))?
                    );
                }
            }
        }
        Ok(())
    }
}
