//! Reports: plain structs, made from a finished trace. With the feature `serde` they serialise; each
//! document has a `schema`, which is raised when a member changes its meaning or goes.
//!
//! Percentages are of the weight of all samples that the filter lets pass. All lists have an order
//! that depends on the trace alone.

mod modules;
mod threads;
mod topn;
mod tree;

pub use modules::{ModuleRow, ModulesReport};
pub use threads::{StateTotals, ThreadRow, ThreadsReport};
pub use topn::{GroupBy, MethodRow, ThreadTop, TopN, TopNOptions};
pub use tree::{CallTree, TreeNode, TreeOptions};

/// Version of the documents.
pub const SCHEMA: u32 = 1;

/// `part` of `whole` in percent; 0 of nothing.
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}
