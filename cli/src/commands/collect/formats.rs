//! Converts finished recordings to the formats of `--format`, beside the traces themselves.

use super::super::convert::{self, beside, by_name};
use crate::args::{Cli, Command};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use clap::Parser;
use nettrace_analysis::convert::Format;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Name of the trace itself as a format, as in dotnet-trace.
const TRACE: &str = "nettrace";

/// Formats of `--format` in the order given, without the trace itself.
#[derive(Debug, Default)]
pub(super) struct Formats(Vec<&'static Format>);

impl Formats {
    pub(super) fn new(names: &[String]) -> Result<Formats, Failure> {
        let wanted = names.iter().filter(|name| !name.eq_ignore_ascii_case(TRACE));
        wanted.map(|name| by_name(name)).collect::<Result<_, _>>().map(Formats)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the files that a trace will be converted to.
    pub(super) fn files<'f>(&'f self, trace: &'f Path) -> impl Iterator<Item = PathBuf> + 'f {
        self.0.iter().map(|format| beside(trace, format))
    }

    /// Converts finished traces. If one fails, the others are converted all the same.
    pub(super) fn convert(
        &self,
        traces: &[PathBuf],
        is_forced: bool,
        context: &mut Context<'_>,
    ) -> Result<Exit, Failure> {
        let mut worst = Exit::Fine;
        let mut failed = None;
        let traces = if self.is_empty() { &[] } else { traces };
        for trace in traces {
            match self.convert_one(trace, is_forced, context) {
                Ok(Exit::Fine) => {}
                Ok(exit) => worst = exit,
                Err(failure) => {
                    if let Some(earlier) = failed.replace(failure) {
                        context.messages.error(&earlier);
                    }
                }
            }
        }
        failed.map_or(Ok(worst), Err)
    }

    /// Converts a trace as `nettrace convert TRACE --format …` does.
    fn convert_one(
        &self,
        trace: &Path,
        is_forced: bool,
        context: &mut Context<'_>,
    ) -> Result<Exit, Failure> {
        let mut words: Vec<OsString> = vec![TRACE.into(), "convert".into()];
        for format in &self.0 {
            words.extend(["--format".into(), format.name.into()]);
        }
        words.extend(is_forced.then(|| "--force".into()));
        words.extend(["--".into(), trace.into()]);
        let parsed =
            Cli::try_parse_from(words).map_err(|error| Failure::Usage(error.to_string()))?;
        let Command::Convert(args) = parsed.command else { return Ok(Exit::Usage) };
        convert::write(&args, context, |_, context| {
            for file in self.files(trace) {
                context.messages.note(&format!(
                    "{}: converted to {}",
                    trace.display(),
                    file.display()
                ));
            }
        })
    }
}
