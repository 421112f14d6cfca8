//! Which trace is read, and how.

use crate::args::amount::Bytes;
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Which trace.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// The trace: a file, plain or gzip, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

/// How it is read.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ReadArgs {
    /// Read the file instead of mapping it into memory; use it if the file may shrink meanwhile
    #[arg(long)]
    pub(crate) no_mmap: bool,

    /// Stop with an error if a compressed trace unpacks to more than this, such as 500MB or 1.5TB
    #[arg(long, value_name = "SIZE", default_value = "64GiB")]
    pub(crate) input_limit: Bytes,

    /// Leave out events that follow a contradiction in their block: they may be made of damaged bytes. Without it
    /// they are given, and NDJSON marks them with "doubted": true
    #[arg(long)]
    pub(crate) only_sound: bool,
}

/// With how many threads.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ThreadArgs {
    /// Threads that read an uncompressed file; default: one for each processor
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
}

/// The same where what is read goes through one thread all the same, so that more of them seldom pay.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct SampleThreadArgs {
    /// Threads that read an uncompressed file; more than one is seldom faster
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZeroUsize,
}

impl From<SampleThreadArgs> for ThreadArgs {
    fn from(args: SampleThreadArgs) -> ThreadArgs {
        ThreadArgs { threads: Some(args.threads) }
    }
}
