//! Ids of activities, as numbers.

use super::activity_path::{ActivityPath, PathForm, WrittenPath};
use nettrace_parser::{Event, Guid};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Number of hexadecimal digits of a trace id of W3C.
const TRACE_DIGITS: usize = 32;
/// Number of hexadecimal digits of a span id of W3C.
const SPAN_DIGITS: usize = 16;

/// Id of an activity: the activity id of its events, or the id that a DiagnosticSource gives it.
///
/// An id is not an activity: activities that follow each other may have one id, and in .NET 10 and
/// 11 several that are open at once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ActivityId {
    /// Path in the tree of activities.
    Path(ActivityPath),
    /// Any other activity id.
    Guid(Guid),
    /// Id of W3C: `VERSION-TRACE-SPAN-FLAGS`.
    Trace { version: u8, trace: u128, span: u64, flags: u8 },
    /// Id of a span without its trace.
    Span(u64),
    /// Any other id of a DiagnosticSource.
    Text(Arc<str>),
}

impl Hash for ActivityId {
    /// Hashes what tells ids apart, not of which kind they are: most ids of a trace are of one kind.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            ActivityId::Path(path) => path.hash(state),
            ActivityId::Guid(id) => id.hash(state),
            ActivityId::Trace { trace, span, .. } => (trace, span).hash(state),
            ActivityId::Span(span) => span.hash(state),
            ActivityId::Text(text) => text.hash(state),
        }
    }
}

impl ActivityId {
    /// Returns the activity id of an event, if it has one.
    pub(crate) fn of_event(event: &Event<'_>) -> Option<ActivityId> {
        let id = event.activity_id().filter(|id| !id.is_zero())?;
        Some(ActivityId::from_guid(id, event.process_id()))
    }

    /// Returns the id of the activity that an event refers to, if it has one.
    pub(crate) fn related(event: &Event<'_>) -> Option<ActivityId> {
        let id = event.related_activity_id().filter(|id| !id.is_zero())?;
        Some(ActivityId::from_guid(id, event.process_id()))
    }

    pub(crate) fn from_guid(id: Guid, process_id: Option<u64>) -> ActivityId {
        ActivityPath::from_guid(id, process_id).map_or(ActivityId::Guid(id), ActivityId::Path)
    }

    /// Reads an id of a DiagnosticSource; `None` for an empty text.
    pub(crate) fn from_text(text: &str) -> Option<ActivityId> {
        if text.is_empty() {
            return None;
        }
        let span = || digits(text, SPAN_DIGITS).and_then(|digits| u64::try_from(digits).ok());
        Some(match trace_of(text) {
            Some(trace) => trace,
            None => span().map_or_else(|| ActivityId::Text(text.into()), ActivityId::Span),
        })
    }

    pub(crate) fn path(&self) -> Option<ActivityPath> {
        match self {
            ActivityId::Path(path) => Some(*path),
            _ => None,
        }
    }

    /// Returns whether the id is a path.
    pub(crate) fn is_path(&self) -> bool {
        self.path().is_some()
    }

    /// Returns whether several open activities may have this id, because a number of its path is
    /// lost.
    pub(crate) fn may_repeat(&self, form: PathForm) -> bool {
        self.path().is_some_and(|path| path.may_repeat(form))
    }

    /// Returns the id and the paths around it, the nearest first.
    pub(crate) fn and_around(&self) -> impl Iterator<Item = ActivityId> {
        std::iter::once(self.clone()).chain(self.around())
    }

    /// Returns the paths around this one, the nearest first. Other ids have none.
    pub(crate) fn around(&self) -> impl Iterator<Item = ActivityId> + use<> {
        self.path().into_iter().flat_map(ActivityPath::around).map(ActivityId::Path)
    }

    /// Returns the key of the activity with the id that starts at a time: `ID@START`, in nanoseconds.
    /// Ids repeat, keys do not.
    pub(crate) fn key(text: &str, start_nanos: i64) -> String {
        format!("{text}@{start_nanos}")
    }

    /// Returns the id as a text.
    pub(crate) fn text(&self, form: PathForm) -> String {
        match self {
            ActivityId::Path(path) => path.text(form),
            ActivityId::Guid(id) => id.to_string(),
            ActivityId::Trace { version, trace, span, flags } => {
                format!("{version:02x}-{trace:032x}-{span:016x}-{flags:02x}")
            }
            ActivityId::Span(span) => format!("{span:016x}"),
            ActivityId::Text(text) => text.to_string(),
        }
    }
}

/// Reads `VERSION-TRACE-SPAN-FLAGS`.
fn trace_of(text: &str) -> Option<ActivityId> {
    let mut parts = text.split('-');
    let mut part = |length| digits(parts.next()?, length);
    let (version, trace) = (part(2)?, part(TRACE_DIGITS)?);
    let (span, flags) = (part(SPAN_DIGITS)?, part(2)?);
    let id = ActivityId::Trace {
        version: u8::try_from(version).ok()?,
        trace,
        span: u64::try_from(span).ok()?,
        flags: u8::try_from(flags).ok()?,
    };
    parts.next().is_none().then_some(id)
}

/// Reads a number that is written with so many lower-case hexadecimal digits.
fn digits(text: &str, length: usize) -> Option<u128> {
    let is_digit = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    let is_number = text.len() == length && text.bytes().all(is_digit);
    is_number.then(|| u128::from_str_radix(text, 16).ok())?
}

/// The activity that a user chose by an id: a path, a GUID, an id of a DiagnosticSource; in any of
/// them the case of letters does not matter.
#[derive(Debug, Clone)]
pub(crate) struct WantedId {
    /// The id in lower case.
    text: String,
    /// Time of the start event, in nanoseconds since the session's start.
    start: Option<i64>,
    path: Option<WrittenPath>,
    guid: Option<Guid>,
    /// The path in the GUID, if there may be one.
    path_of_guid: Option<ActivityPath>,
}

impl WantedId {
    /// Reads an id, or a key of an activity: `ID@START`.
    pub(crate) fn new(text: &str) -> WantedId {
        let key = text.rsplit_once('@').and_then(|(id, start)| Some((id, start.parse().ok()?)));
        let (text, start) = key.map_or((text, None), |(id, start)| (id, Some(start)));
        let text = text.trim_end_matches('/').to_ascii_lowercase();
        let (path, guid) = (WrittenPath::from_text(&text), text.parse().ok());
        let path_of_guid = guid.and_then(|guid| ActivityPath::from_guid(guid, None));
        WantedId { text, start, path, guid, path_of_guid }
    }

    /// Returns whether only the activity with one start is wanted.
    pub(crate) fn has_start(&self) -> bool {
        self.start.is_some()
    }

    /// Returns whether an activity that starts at a time is wanted, if it has the id.
    pub(crate) fn is_start(&self, nanos: i64) -> bool {
        self.start.is_none_or(|start| start == nanos)
    }

    /// Returns whether an id is the wanted one.
    pub(crate) fn is(&self, id: &ActivityId) -> bool {
        match id {
            ActivityId::Path(path) => {
                self.path.as_ref().is_some_and(|wanted| wanted.is(*path))
                    || self.path_of_guid == Some(*path)
            }
            ActivityId::Guid(id) => self.guid == Some(*id),
            _ => id.text(PathForm::Complete).eq_ignore_ascii_case(&self.text),
        }
    }

    /// Returns whether an id is the wanted one, or a path below it.
    pub(crate) fn holds(&self, id: &ActivityId) -> bool {
        match id {
            ActivityId::Path(path) => {
                let is_around = |wanted| path.around().any(|around| around == wanted);
                self.path.as_ref().is_some_and(|wanted| wanted.holds(*path))
                    || self.is(id)
                    || self.path_of_guid.is_some_and(is_around)
            }
            _ => self.is(id),
        }
    }
}

#[cfg(test)]
impl ActivityId {
    /// Returns an id: a path such as `//1/2` with numbers to 10 or 0, which stands for a lost
    /// number; or another text.
    pub(crate) fn for_test(text: &str) -> ActivityId {
        let Some(numbers) = text.strip_prefix("//") else {
            return ActivityId::from_text(text).unwrap();
        };
        let mut nibbles = Vec::new();
        for number in numbers.split('/').map(|number| number.parse::<u8>().unwrap()) {
            match number {
                // Lost numbers begin in a high nibble.
                0 if nibbles.len().is_multiple_of(2) => nibbles.extend([12, 0]),
                0 => panic!("{text}"),
                number if number < 11 => nibbles.push(number),
                number => nibbles.extend([12, number >> 4, number & 15]),
            }
        }
        nibbles.resize(24, 0);
        let bytes: Vec<u8> = nibbles.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        ActivityId::Path(ActivityPath::of_bytes(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_every_kind_are_numbers_and_become_their_text_again() {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        for (text, is_number) in [
            (trace, true),
            ("b7ad6b7169203331", true),
            ("0000000000000001", true),
            ("B7AD6B7169203331", false),
            ("|abc.1.2_", false),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", false),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x", false),
            ("+7ad6b7169203331", false),
        ] {
            let id = ActivityId::from_text(text).unwrap();
            assert_eq!(id.text(PathForm::Complete), text);
            assert_eq!(!matches!(id, ActivityId::Text(_)), is_number, "{text}");
        }
        assert_eq!(ActivityId::from_text(""), None);
    }

    #[test]
    fn a_wanted_id_is_found_whatever_its_case() {
        let guid = Guid::from_bytes([0xab; 16]);
        assert!(WantedId::new(&guid.to_string().to_uppercase()).is(&ActivityId::Guid(guid)));
        let text = ActivityId::from_text("|aB.1").unwrap();
        assert!(WantedId::new("|Ab.1").is(&text) && !WantedId::new("|Ab").holds(&text));
        let key = WantedId::new("|Ab.1@-25");
        assert!(key.is(&text) && key.has_start() && key.is_start(-25) && !key.is_start(25));
        assert!(!WantedId::new("a@b").has_start());
        let path = ActivityId::Path(ActivityPath::of_bytes(&[0x12]));
        assert!(WantedId::new("//1/2/").is(&path) && WantedId::new("//1").holds(&path));
    }
}
