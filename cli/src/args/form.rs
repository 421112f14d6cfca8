//! What several commands share about their output.

use clap::Args;

/// Text or JSON.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FormArg {
    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// The length of tables.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct RowsArg {
    /// How many rows to show at most
    #[arg(long, short = 'n', visible_alias = "top", value_name = "N", default_value_t = 20)]
    pub(crate) number: usize,
}
