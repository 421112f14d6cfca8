//! The name of activities, with the direction of HTTP requests.

use crate::model::activity_edge::http_facts::HttpDirection;
use std::fmt;

/// Name of activities. [`Display`](fmt::Display) and JSON have the direction of requests in front of
/// their target, such as `in GET /items/#`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct ActivityName {
    /// HTTP: direction; `None` for other activities, and if the source does not say.
    pub direction: Option<HttpDirection>,
    /// Target of HTTP requests, such as `GET /items/#`. For other activities, and requests whose
    /// target the trace does not tell, `Provider/Task`; for DiagnosticSource `Source/Activity`.
    pub target: String,
    /// Whether the trace tells the target of these requests.
    has_target: bool,
}

impl ActivityName {
    /// Returns the name of activities with a label and a direction. The label of requests whose
    /// target is known begins with their direction.
    pub(super) fn from_label(label: &str, direction: Option<HttpDirection>) -> ActivityName {
        let behind = |it: HttpDirection| label.strip_prefix(it.name())?.strip_prefix(' ');
        let target = direction.and_then(behind);
        ActivityName {
            direction,
            target: target.unwrap_or(label).to_owned(),
            has_target: target.is_some(),
        }
    }
}

impl fmt::Display for ActivityName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(direction) = self.direction.filter(|_| self.has_target) {
            write!(f, "{} ", direction.name())?;
        }
        f.write_str(&self.target)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ActivityName {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Writes the name, and the direction if it is known, as members of an object.
#[cfg(feature = "serde")]
pub(super) fn name_and_direction<S: serde::Serializer>(
    name: &ActivityName,
    to: S,
) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeMap;
    let mut members = to.serialize_map(None)?;
    members.serialize_entry("name", name)?;
    if let Some(direction) = name.direction {
        members.serialize_entry("direction", direction.name())?;
    }
    members.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_stands_in_front_of_a_target_alone() {
        let of = |label: &str, direction| {
            let name = ActivityName::from_label(label, direction);
            assert_eq!(name.to_string(), label);
            name.target
        };
        let [into, out] = [HttpDirection::In, HttpDirection::Out];
        assert_eq!(of("in GET /items/#", Some(into)), "GET /items/#");
        assert_eq!(of("out /", Some(out)), "/");
        assert_eq!(of("System.Net.Http/Request", Some(out)), "System.Net.Http/Request");
        // Names of sources begin as they like.
        assert_eq!(of("in progress/Order", None), "in progress/Order");
        assert_eq!(of("out GET /", Some(into)), "out GET /");
    }
}
