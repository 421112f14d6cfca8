//! The finding about an SQL statement that runs again and again in each request (N+1).

use super::finding::Finding;
use crate::fact::{Fact, Number, Unit};
use crate::report::{SqlPlace, SqlReport, SqlStatement};

/// Minimum mean number of runs of a statement in a unit of work.
const MIN_REPEATS: u64 = 5;
/// Minimum number of units of work that run the statement: in fewer it may be chance.
const MIN_UNITS: u64 = 2;
/// Weight of the finding, which is high because the mistake is well known and has a remedy.
const WEIGHT: f64 = 75.0;

/// Returns the finding about the most frequent statement that each request runs repeatedly, as
/// programs do that run one statement for each row of another.
pub(super) fn repeated_query(report: &SqlReport) -> Option<Finding> {
    let places = report
        .statements
        .iter()
        .flat_map(|statement| statement.places.iter().map(move |place| (statement, place)));
    let is_repeated = |(_, place): &(&SqlStatement, &SqlPlace)| {
        place.units >= MIN_UNITS && place.count >= place.units.saturating_mul(MIN_REPEATS)
    };
    let (statement, place) = places.filter(is_repeated).max_by_key(|(_, place)| place.count)?;
    let mean = place.count.checked_div(place.units).unwrap_or(0);
    let fact = Fact::RepeatedQuery {
        commands: Number::count(place.count, Unit::Commands)
            .in_member("statements[].places[].count"),
        in_each: Number::count(mean, Unit::Commands),
        units: Number::count(place.units, Unit::UnitsOfWork)
            .in_member("statements[].places[].units"),
        is_alike: place.most_in_one == mean,
        is_request: place.is_request,
        statement: statement.text.clone(),
        by: place.name.clone(),
    };
    Some(Finding::new(fact, WEIGHT))
}
