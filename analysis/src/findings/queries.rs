//! Findings about SQL commands.

use super::finding::Finding;
use crate::report::{SqlPlace, SqlReport, SqlStatement};
use nettrace_export::units::{count, counted};

/// A statement that each unit of work runs so often could be one.
const LEAST_REPEATS: u64 = 5;
/// In fewer units of work it may be chance.
const FEWEST_UNITS: u64 = 2;
/// Maximum number of characters of a statement, and of its condition.
const LONGEST_STATEMENT: usize = 80;

impl Finding {
    /// A statement that runs again and again in each request: once for each row of another one.
    pub(super) fn repeated_query(report: &SqlReport) -> Option<Finding> {
        let places = report
            .statements
            .iter()
            .flat_map(|statement| statement.places.iter().map(move |place| (statement, place)));
        let is_repeated = |(_, place): &(&SqlStatement, &SqlPlace)| {
            place.units >= FEWEST_UNITS && place.count >= place.units.saturating_mul(LEAST_REPEATS)
        };
        let (statement, place) = places.filter(is_repeated).max_by_key(|(_, place)| place.count)?;
        let mean = place.count.checked_div(place.units).unwrap_or(0);
        let times = match place.most_in_one == mean {
            true => count(mean),
            false => format!("about {}", count(mean)),
        };
        let what = if place.is_request { "request" } else { "connection" };
        let by = match place.name.is_empty() {
            true => String::new(),
            false => format!(", by {}", place.name),
        };
        let text = format!(
            "{} SQL commands are one statement, {times} in each of {} (N+1): {}{by}",
            count(place.count),
            counted(place.units, what),
            shortened(&statement.text),
        );
        let value = (place.count, "commands");
        Some(Finding::new("repeated_query", 75.0, value, text, "report sql"))
    }
}

/// `SELECT … WHERE "o"."CustomerId" = @id`: how a long statement begins, and its condition.
fn shortened(statement: &str) -> String {
    if statement.chars().count() <= LONGEST_STATEMENT {
        return statement.to_owned();
    }
    let verb = statement.split(' ').next().unwrap_or(statement);
    let condition = statement.rfind(" WHERE ").and_then(|at| statement.get(at..));
    let rest = condition.unwrap_or_else(|| statement.get(verb.len()..).unwrap_or_default());
    let mut letters = rest.chars();
    let cut: String = letters.by_ref().take(LONGEST_STATEMENT).collect();
    let end = if letters.next().is_some() { "…" } else { "" };
    format!("{verb} …{cut}{end}")
}
