//! Options that name a trace, and say how it is read.

use crate::args::amount::Bytes;
use crate::failure::STDIN_NAME;
use crate::input::pattern;
use crate::recommended::shell_word;
use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Heading in help of the options that choose how a trace is read. Few people need them, so help
/// lists them last.
const READING: &str = "Reading the trace";

/// Argument that names a trace.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// The trace: a file, plain, gzip or zstd, or - for standard input
    #[arg(value_name = "FILE", value_parser = trace_file())]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

/// Returns the parser of an argument that names one trace, by its name or by a pattern.
pub(super) fn trace_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(pattern::one_file)
}

impl InputArgs {
    /// Returns whether the trace comes from standard input, which can be read once.
    pub(crate) fn is_stdin(&self) -> bool {
        self.file == Path::new("-")
    }

    /// Returns the name of the trace in messages and headings.
    pub(crate) fn name(&self) -> String {
        if self.is_stdin() { STDIN_NAME.to_owned() } else { self.file.display().to_string() }
    }

    /// Returns the trace as a word of a command line: `FILE` for standard input, which has been
    /// read when the command is shown.
    pub(crate) fn shell_word(&self) -> String {
        if self.is_stdin() {
            return "FILE".to_owned();
        }
        shell_word(&self.file.display().to_string())
    }
}

/// Options that choose how a trace is read.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ReadArgs {
    /// Read the file instead of mapping it into memory. Use it if another program may
    /// shorten the file while it is read, which ends a command that has mapped it (SIGBUS)
    #[arg(long, help_heading = READING)]
    pub(crate) no_mmap: bool,

    /// Stop with an error if a compressed trace unpacks to more than this, such as 500MB
    /// or 1.5TB
    #[arg(long, value_name = "SIZE", default_value = "64GiB", help_heading = READING)]
    pub(crate) input_limit: Bytes,
}

/// Option that chooses with how many threads a trace is read.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ThreadArgs {
    /// Threads that read an uncompressed file; default: one for each processor, and one
    /// alone up to 8 MiB
    #[arg(long, value_name = "N", help_heading = READING)]
    pub(crate) threads: Option<NonZeroUsize>,
}

/// Option without effect, for commands that read with one thread: scripts may give it to every
/// command.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct UnusedThreadArgs {
    /// Has no effect: two threads read no faster what one has to put together
    #[arg(long, value_name = "N", hide = true)]
    threads: Option<NonZeroUsize>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use nettrace_analysis::input::MAX_UNPACKED_BYTES;

    #[test]
    fn a_trace_may_unpack_to_as_much_as_in_the_page_of_the_browser() {
        #[derive(Parser)]
        struct Read {
            #[command(flatten)]
            read: ReadArgs,
        }
        assert_eq!(Read::parse_from(["read"]).read.input_limit.0, MAX_UNPACKED_BYTES);
    }
}
