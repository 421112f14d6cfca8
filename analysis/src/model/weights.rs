//! Computes the weights of stacks that are not CPU samples: those of allocations and of selected
//! events.

use nettrace_export::Glob;
use nettrace_parser::Event;

/// Average distance between two bytes that the random sampler of the runtime picks (.NET 10), in
/// bytes.
const SAMPLED_EVERY_BYTES: f64 = 102_400.0;

/// Returns the number of objects, and of bytes, that a random sample of an object of `bytes`
/// represents.
///
/// Each byte is picked with probability p = 1/102,400, and an object is sampled if one of its bytes
/// is picked: with probability 1 − (1 − p)^bytes. A sample of a large object represents fewer
/// objects, because large objects are sampled more often. This unbiased estimate is from the
/// runtime's document on random sampling.
pub(crate) fn stands_for(bytes: u64) -> (f64, f64) {
    if bytes == 0 {
        return (1.0, 0.0);
    }
    let size = bytes as f64;
    let missed = (size * (-1.0 / SAMPLED_EVERY_BYTES).ln_1p()).exp_m1();
    let objects = -1.0 / missed;
    (objects, objects * size)
}

/// Rounds to the nearest integer, clamped to the range of `u64`.
pub(crate) fn rounded(value: f64) -> u64 {
    // `as` clamps a float; NaN becomes 0.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "cut off at both ends"
    )]
    let whole = value.round() as u64;
    whole
}

/// Selects events that become samples of [`Kind::Event`](super::Kind::Event).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventSelector {
    /// Name or id of the event, optionally after `Provider/`. Names as stored, as in the catalog
    /// and as in TraceEvent are accepted (`GC/Start`, `GCStart`, `GCStart_V2`); the case of letters
    /// and slashes in names are ignored. A text with `*` or `?` is a pattern for names or for
    /// `Provider/Name`: `My-Provider/*`.
    pub event: String,
    /// Name of the field whose value is the weight. If it is empty, each event weighs 1.
    pub weight: String,
}

impl EventSelector {
    pub(crate) fn is_match(&self, event: &Event<'_>) -> bool {
        if self.event.contains(['*', '?']) {
            return self.is_like(event);
        }
        let of_provider =
            after_name(&self.event, event.provider()).and_then(|rest| rest.strip_prefix('/'));
        [Some(&*self.event), of_provider].into_iter().flatten().any(|wanted| {
            is_same_name(wanted, event.name())
                || wanted.parse() == Ok(event.id())
                || event.catalog().is_some_and(|known| {
                    is_same_name(wanted, known.name)
                        || is_same_name(wanted, known.symbol)
                        || after_name(known.symbol, wanted).is_some_and(is_version)
                })
        })
    }

    fn is_like(&self, event: &Event<'_>) -> bool {
        if event.metadata().is_none() {
            return false;
        }
        let pattern = Glob::new(&self.event);
        let symbol = event.catalog().map_or("", |known| known.symbol);
        [event.name(), event.display_name(), symbol, ""].into_iter().any(|name| {
            pattern.is_match(&format!("{}/{name}", event.provider()))
                || (!name.is_empty() && pattern.is_match(name))
        })
    }

    pub(crate) fn weight_of(&self, event: &Event<'_>) -> Option<u64> {
        if self.weight.is_empty() {
            return Some(1);
        }
        let value = event.field(&self.weight)?;
        value.as_u64().or_else(|| value.as_f64().map(rounded))
    }
}

/// Returns the rest of `text` after `name`, if `text` begins with `name`, whatever the case of
/// letters.
fn after_name<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (begin, rest) = text.split_at_checked(name.len())?;
    begin.eq_ignore_ascii_case(name).then_some(rest)
}

/// Returns whether two names are equal apart from the case of letters and slashes: `Request/Start`
/// equals `RequestStart`.
fn is_same_name(a: &str, b: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = u8> {
        text.bytes().filter(|byte| *byte != b'/').map(|byte| byte.to_ascii_lowercase())
    }
    !b.is_empty() && letters(a).eq(letters(b))
}

/// Returns whether an ending is a version suffix such as `_V2`.
fn is_version(ending: &str) -> bool {
    let digits = ending.strip_prefix("_V").unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_sample_stands_for_more_the_smaller_the_object_is() {
        let (objects, bytes) = stands_for(24);
        assert!(
            (objects - 4267.2).abs() < 0.1 && (bytes - 102_412.0).abs() < 1.0,
            "{objects} {bytes}"
        );
        let (objects, bytes) = stands_for(102_400);
        assert!(
            (objects - 1.582).abs() < 0.001 && (bytes - 161_994.0).abs() < 100.0,
            "{objects} {bytes}"
        );
        let (objects, bytes) = stands_for(100 << 20);
        assert_eq!((objects, bytes), (1.0, 104_857_600.0));
        assert_eq!(stands_for(0), (1.0, 0.0));
        assert!(stands_for(u64::MAX).1.is_finite());
    }

    #[test]
    fn names_are_compared_without_case_and_slashes() {
        for name in ["Request/Start", "requeststart", "RequestStart"] {
            assert!(
                is_same_name(name, "RequestStart") && is_same_name("Request/Start", name),
                "{name}"
            );
        }
        assert!(!is_same_name("Request", "RequestStart") && !is_same_name("", ""));
        assert!(after_name("GCStart_V2", "gcstart").is_some_and(is_version));
        assert!(!after_name("GCStart_Vx", "GCStart").is_some_and(is_version));
        assert_eq!(after_name("My-Provider/7", "my-provider"), Some("/7"));
        assert_eq!(after_name("äb", "a"), None);
    }
}
