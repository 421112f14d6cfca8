//! The command line of `nettrace open`.

use super::{InputArgs, SampleArgs};
use clap::Args;

const OPEN_EXAMPLES: &str = "\
The page is one HTML file, the same that `nettrace report html` writes. It is written to the folder `nettrace` of the \
user's cache ($XDG_CACHE_HOME or ~/.cache, on macOS ~/Library/Caches, on Windows %LOCALAPPDATA%), is kept there, and is \
replaced when a trace of the same path is opened again. The browser is what BROWSER names, else what the system opens pages \
with (xdg-open, open, start); without a browser or a display, the path is printed.

Examples:
  nettrace open trace.nettrace
  nettrace open trace.nettrace --print-path
  scp \"host:$(ssh host nettrace open trace.nettrace --print-path)\" .";

#[derive(Debug, Args)]
#[command(after_help = OPEN_EXAMPLES)]
pub(crate) struct OpenArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Print the page's path and start no browser
    #[arg(long)]
    pub(crate) print_path: bool,

    #[command(flatten)]
    pub(crate) samples: SampleArgs,
}
