//! `cargo xtask`: the tasks of the repository, each under one name.
//!
//! Most tasks are scripts, which can also be called directly; this program lists them.
#![allow(clippy::restriction, clippy::pedantic)]

mod base64;
mod catalog;
mod corpus;
mod lines;
mod outputs;
mod packages;
mod shipped;
mod site;

use clap::{Parser, Subcommand};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The tasks of the repository
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Generate the catalog of well-known events from parser/catalog/clr-events.json
    Catalog,
    /// Unpack or pack the corpus of the fuzz targets
    #[command(subcommand)]
    Corpus(corpus::Corpus),
    /// Make real .NET runtimes ready to test against, and print their folder
    Peers,
    /// Install the programs that open what `convert` writes
    Consumers,
    /// Check that reading stays within its limits of instructions, allocations and memory
    Gate {
        /// Arguments that are passed on, such as --instructions CASE MODE
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Count how often `nettrace diff` is right on the runs of a folder
    Ab {
        /// The folder, and after it how many comparisons of each kind
        rest: Vec<String>,
    },
    /// Update the expected pages of commands
    Pages,
    /// Check what has changed, in two minutes
    Quick,
    /// Count the code of each crate: lines, public items, long functions
    Lines(lines::Lines),
    /// Make what people install: archives, .NET tool packages and wheels, with checksums
    Packages(packages::Packages),
    /// Make the page that reads dropped traces in a browser: a folder to be hosted, with the page as
    /// one file that needs no network
    Site(site::Site),
    /// Hash what a binary prints for each trace and command, to compare two of them
    Outputs(outputs::Outputs),
}

fn main() -> ExitCode {
    let Arguments { task } = Arguments::parse();
    match task {
        Task::Catalog => done(catalog::write()),
        Task::Corpus(task) => done(task.run()),
        Task::Lines(task) => done(task.run(&top())),
        Task::Outputs(task) => done(task.run()),
        Task::Packages(task) => done(task.run()),
        Task::Site(task) => done(task.run()),
        Task::Peers => script(".ci/peers", &[]),
        Task::Consumers => script("analysis/consumers/install", &[]),
        Task::Gate { rest } => script("benches/gate", &rest),
        Task::Pages => {
            let pages = updated("UPDATE_EXPECT", &["nettrace-cli", "--test", "pages"]);
            if pages == ExitCode::SUCCESS {
                // `terminal` is the second test that compares with files of `cli/tests/expected`.
                updated("UPDATE_EXPECT", &["nettrace-cli", "--test", "all", "terminal"])
            } else {
                pages
            }
        }
        Task::Ab { rest } => {
            let program = [
                "run",
                "--quiet",
                "-p",
                "nettrace-benches",
                "--features",
                "diff",
                "--bin",
                "ab",
                "--",
            ];
            run(cargo().args(program).args(rest))
        }
        Task::Quick => script(".ci/quick", &[]),
    }
}

fn done(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Returns the folder of the repository.
fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs tests so that they write the files with which they usually compare results.
fn updated(variable: &str, tests: &[&str]) -> ExitCode {
    run(cargo().args(["test", "--quiet", "--package"]).args(tests).env(variable, "1"))
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn script(path: &str, rest: &[String]) -> ExitCode {
    run(Command::new(top().join(path)).args(rest))
}

fn run(command: &mut Command) -> ExitCode {
    match command.current_dir(top()).status() {
        Ok(status) => status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .map_or(ExitCode::FAILURE, ExitCode::from),
        Err(error) => {
            eprintln!("xtask: {}: {error}", command.get_program().display());
            ExitCode::FAILURE
        }
    }
}
