//! Options about output that several commands share.

use clap::Args;
use nettrace_analysis::report::DEFAULT_ROWS;

/// Option that chooses between text and JSON.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FormArg {
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Option that limits samples to those of one activity.
#[derive(Debug, Clone, Args)]
pub(crate) struct ActivityArg {
    /// Only samples and waits of the threads that worked for this activity or request, while
    /// they did; `report activities` and `report http` list ids. Reads the trace twice
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,

    /// Only samples and waits of the threads that worked for requests to this endpoint, such
    /// as 'GET /cart', while they did; `report http` lists endpoints. Reads the trace twice
    #[arg(long, value_name = "ENDPOINT", conflicts_with = "id")]
    pub(crate) endpoint: Option<String>,
}

/// Option that limits the length of tables.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct RowsArg {
    /// How many rows to show at most
    #[arg(long, short = 'n', visible_alias = "top", value_name = "N", default_value_t = DEFAULT_ROWS)]
    pub(crate) number: usize,
}
