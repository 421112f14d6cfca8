//! State that `top` shows at a moment.

use crate::live::cost::Cost;
use nettrace_analysis::live::TopSnapshot;

/// State of the process when the screen is drawn or lines are written.
#[derive(Debug, Clone)]
pub(super) struct TopState {
    pub(super) label: String,
    pub(super) snapshot: TopSnapshot,
    /// Number of events that the process lost.
    pub(super) lost: u64,
    pub(super) is_over: bool,
    /// Reason why the view's additional session has failed.
    pub(super) trouble: Option<String>,
    pub(super) cost: Cost,
}
