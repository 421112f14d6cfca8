//! `cargo xtask packages`: makes what people install.

mod archive;
mod dotnet;
mod platform;
mod program;
mod wheel;
mod zipped;

use crate::{invalid, top};
use clap::Args;
use platform::Platform;
use program::Program;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::{fs, io};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const DESCRIPTION: &str = "Records, reads and explains .nettrace files, the traces of .NET";

/// Lists the hashes of all packages, as `sha256sum --check` reads them.
const SUMS: &str = "SHA256SUMS";

#[derive(Args)]
#[command(after_help = "\
Without options, all kinds are made for each target whose standard library is installed and for which a linker is known: this
machine's, and those with a variable CARGO_TARGET_…_LINKER. Programs for Linux are static (glibc), those of msvc have the C
runtime inside. A program that cannot be run here, also not by the runner of CARGO_TARGET_…_RUNNER, is linked, not run.")]
pub(crate) struct Packages {
    /// Make archives: the command, completions, manual pages, licences
    #[arg(long)]
    archives: bool,
    /// Make packages for `dotnet tool install` and `dnx`
    #[arg(long)]
    dotnet: bool,
    /// Make wheels, for `pip install` and `uvx`
    #[arg(long)]
    wheel: bool,
    /// Build for this target; may be repeated
    #[arg(long = "target", value_name = "TARGET")]
    targets: Vec<String>,
    /// Build nothing: only list what FOLDER has
    #[arg(long, conflicts_with_all = ["archives", "dotnet", "wheel", "targets"])]
    built: bool,
    /// Folder for the packages
    #[arg(default_value = "target/dist")]
    folder: PathBuf,
}

impl Packages {
    pub(crate) fn run(self) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let platforms = if self.built {
            Vec::new()
        } else if self.targets.is_empty() {
            Platform::linked_here()
        } else {
            let found = self.targets.iter().map(|target| {
                Platform::find(target)
                    .ok_or_else(|| invalid(format!("{target}: there are no packages for it")))
            });
            found.collect::<io::Result<_>>()?
        };
        let all = !(self.archives || self.dotnet || self.wheel);
        for platform in platforms {
            let program = Program::build(platform)?;
            let mut packages = Vec::new();
            if all || self.archives {
                packages.push(archive::archive(&program)?);
            }
            if all || self.dotnet {
                packages.extend(dotnet::packages(&program)?);
            }
            if all || self.wheel {
                packages.push(wheel::wheel(&program)?);
            }
            for package in packages {
                let path = self.folder.join(&package.path);
                fs::write(&path, &package.bytes)?;
                let done = if program.ran { "run" } else { "linked, not run" };
                println!("{} {} bytes, {done}", path.display(), package.bytes.len());
            }
        }
        self.list()
    }

    /// Writes what lists the folder's packages: the .NET tool, if there are packages of it, and all
    /// hashes.
    fn list(&self) -> io::Result<()> {
        let tool = dotnet::list(&self.names()?)?;
        if let Some(tool) = tool {
            fs::write(self.folder.join(&tool.path), &tool.bytes)?;
        }
        let mut lines = String::new();
        for name in self.names()? {
            let hash = Sha256::digest(fs::read(self.folder.join(&name))?);
            let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            lines += &format!("{hash}  {name}\n");
        }
        fs::write(self.folder.join(SUMS), lines)
    }

    /// Returns the names of the folder's packages, sorted.
    fn names(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.folder)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .filter(|name| name.as_ref().map_or(true, |name| name.starts_with("nettrace")));
        let mut names = names.collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }
}

/// A file of a package, or a package.
#[derive(Clone, Debug)]
struct Packed {
    path: String,
    mode: u32,
    bytes: Vec<u8>,
}

impl Packed {
    /// Returns a file that everybody may read.
    fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Packed {
        Packed { path: path.into(), mode: 0o644, bytes: bytes.into() }
    }

    /// Returns the file in a folder.
    fn below(&self, folder: &str) -> Packed {
        Packed { path: format!("{folder}/{}", self.path), ..self.clone() }
    }
}

fn repository_file(path: &str) -> io::Result<Vec<u8>> {
    fs::read(top().join(path))
}
