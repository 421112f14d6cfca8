//! Options about output that several commands share.

use crate::failure::Failure;
use clap::Args;
use nettrace_analysis::model::ActivitySpans;
use nettrace_analysis::report::{ActivityChoice, DEFAULT_ROWS};

/// Option that chooses between text and JSON.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FormArg {
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options that limit what counts to the spans of activities of a name.
#[derive(Debug, Clone, Args)]
pub(crate) struct DuringArgs {
    /// Only what happened inside the spans of this activity, by its name in `report
    /// activities`, or of those with a value in a field of their start: on the threads that
    /// worked for it; collections, pauses and counters by their time. Reads the trace twice
    #[arg(long, value_name = "PROVIDER/ACTIVITY[:FIELD=VALUE]")]
    pub(crate) during: Option<ActivityChoice>,

    /// What all threads did at the time of the chosen activity, not only its own
    #[arg(long)]
    pub(crate) all_threads: bool,
}

/// Short forms of `--during`, for one activity and for requests.
#[derive(Debug, Clone, Args)]
pub(crate) struct ActivityArg {
    /// As --during, for one activity or request: its id in `report activities` or `report
    /// http`
    #[arg(long, value_name = "ID", conflicts_with = "during")]
    pub(crate) id: Option<String>,

    /// As --during, for the requests to an endpoint of `report http`, such as 'GET /cart'
    #[arg(long, value_name = "ENDPOINT", conflicts_with_all = ["id", "during"])]
    pub(crate) endpoint: Option<String>,
}

/// The activities that the user chose, and whether what all threads did meanwhile counts.
#[derive(Debug, Clone)]
pub(crate) struct ChosenActivity {
    /// Option that chose them.
    pub(crate) option: &'static str,
    pub(crate) choice: ActivityChoice,
    pub(crate) is_on_all_threads: bool,
}

impl ChosenActivity {
    /// Returns the choice of the options; `None` if they make none. Refuses `--all-threads` without
    /// one.
    pub(crate) fn from_args(
        during: Option<&DuringArgs>,
        short: Option<&ActivityArg>,
    ) -> Result<Option<ChosenActivity>, Failure> {
        let by_name = during.and_then(|args| args.during.clone());
        let by_id = short.and_then(|args| args.id.clone());
        let by_endpoint = short.and_then(|args| args.endpoint.clone());
        let (option, choice) = match (by_name, by_id, by_endpoint) {
            (Some(choice), ..) => ("--during", choice),
            (_, Some(id), _) => ("--id", ActivityChoice::Id(id)),
            (_, _, Some(endpoint)) => ("--endpoint", ActivityChoice::Endpoint(endpoint)),
            _ if during.is_some_and(|args| args.all_threads) => {
                return Err(Failure::usage(ALL_THREADS_ALONE));
            }
            _ => return Ok(None),
        };
        let is_on_all_threads = during.is_some_and(|args| args.all_threads);
        Ok(Some(ChosenActivity { option, choice, is_on_all_threads }))
    }

    /// Returns the spans of the activities, on the threads that count.
    pub(crate) fn limit(&self, spans: ActivitySpans) -> ActivitySpans {
        if self.is_on_all_threads { spans.on_all_threads() } else { spans }
    }
}

/// Refusal of `--all-threads` without an activity.
const ALL_THREADS_ALONE: &str =
    "--all-threads is for --during: without an activity, all threads count anyway";

/// Option that limits the length of tables.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct RowsArg {
    /// How many rows to show at most
    #[arg(long, short = 'n', visible_alias = "top", value_name = "N", default_value_t = DEFAULT_ROWS)]
    pub(crate) number: usize,
}
