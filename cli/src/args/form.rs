//! What several commands share about their output.

use clap::Args;

/// Text or JSON.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FormArg {
    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whose samples count.
#[derive(Debug, Clone, Args)]
pub(crate) struct ActivityArg {
    /// Only samples and waits of the threads that worked for this activity or request, while
    /// they did; `report activities` and `report http` list ids. Reads the trace twice
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
}

/// The length of tables.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct RowsArg {
    /// How many rows to show at most
    #[arg(long, short = 'n', visible_alias = "top", value_name = "N", default_value_t = 20)]
    pub(crate) number: usize,
}
