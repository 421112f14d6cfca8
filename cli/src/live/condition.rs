//! Events at which to stop: `Provider/Event where FIELD>VALUE and …`.

use nettrace_export::{EventType, EventTypes, Glob};
use nettrace_parser::{Event, Value, catalog};
use std::str::FromStr;

/// Which events, with which values.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    text: String,
    provider: Option<Glob>,
    event: Option<Glob>,
    tests: Vec<Test>,
}

/// What a field must be.
#[derive(Debug, Clone)]
struct Test {
    field: String,
    comparison: Comparison,
    value: String,
    number: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrSame,
    Same,
    Other,
    MoreOrSame,
    More,
    Contains,
}

/// Longer ones first, so that `>=` is not read as `>`.
const COMPARISONS: [(&str, Comparison); 8] = [
    ("<=", Comparison::LessOrSame),
    (">=", Comparison::MoreOrSame),
    ("==", Comparison::Same),
    ("!=", Comparison::Other),
    ("<", Comparison::Less),
    (">", Comparison::More),
    ("=", Comparison::Same),
    ("~", Comparison::Contains),
];

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        let (names, tests) = match split_word(text, "where") {
            Some((names, tests)) => (names, Some(tests)),
            None => (text, None),
        };
        let names = names.trim();
        if names.is_empty() {
            return Err("expected an event: Provider/Event".to_owned());
        }
        let (provider, event) = match names.split_once('/') {
            Some((provider, event)) => (Some(provider), event),
            None => (None, names),
        };
        let glob = |text: &str| (!text.is_empty() && text != "*").then(|| Glob::new(text));
        let mut rest = tests;
        let mut tests = Vec::new();
        while let Some(text) = rest {
            let (test, more) = match split_word(text, "and") {
                Some((test, more)) => (test, Some(more)),
                None => (text, None),
            };
            tests.push(self::test(test)?);
            rest = more;
        }
        Ok(Condition { text: text.to_owned(), provider: provider.and_then(glob), event: glob(event), tests })
    }
}

/// Parts before and behind a word that stands alone, outside of quotes.
fn split_word<'t>(text: &'t str, word: &str) -> Option<(&'t str, &'t str)> {
    let mut quote = None;
    let mut is_start = true;
    for (at, letter) in text.char_indices() {
        let (before, rest) = text.split_at(at);
        let found = rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        let behind = rest.get(word.len()..).unwrap_or_default();
        let is_word = behind.is_empty() || behind.starts_with(char::is_whitespace);
        if is_start && quote.is_none() && found && is_word {
            return Some((before, behind));
        }
        match quote {
            Some(open) if letter == open => quote = None,
            None if letter == '"' || letter == '\'' => quote = Some(letter),
            _ => {}
        }
        is_start = letter.is_whitespace();
    }
    None
}

/// `FIELD>VALUE`
fn test(text: &str) -> Result<Test, String> {
    let at = text.find(['<', '>', '=', '!', '~']);
    let (field, rest) = at.map(|at| text.split_at(at)).unwrap_or((text, ""));
    let comparison =
        COMPARISONS.iter().find_map(|(sign, comparison)| Some((rest.strip_prefix(sign)?, *comparison)));
    let Some((value, comparison)) = comparison else {
        return Err(format!("\"{}\" is no comparison; write FIELD>VALUE (< <= = != >= > ~)", text.trim()));
    };
    let field = field.trim();
    if field.is_empty() {
        return Err(format!("expected a field before {}", rest.trim()));
    }
    let value = value.trim();
    let quoted = ['"', '\''].into_iter().find_map(|q| value.strip_prefix(q)?.strip_suffix(q));
    let (value, number) = match quoted {
        Some(value) => (value, None),
        None => (value, number(value)),
    };
    Ok(Test { field: field.to_owned(), comparison, value: value.to_owned(), number })
}

fn number(text: &str) -> Option<f64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|number| number as f64),
        None => text.parse().ok(),
    }
}

impl Condition {
    /// dotnet-trace's three options: a provider, perhaps an event of it, perhaps `FIELD:VALUE,…`, all of which
    /// must be the same as text.
    pub(crate) fn stopping_event(
        provider: &str,
        event: Option<&str>,
        filter: Option<&str>,
    ) -> Result<Condition, String> {
        let pair = |pair: &str| {
            let (field, value) = pair
                .split_once(':')
                .ok_or_else(|| format!("\"{pair}\" is no FIELD:VALUE in --stopping-event-payload-filter"))?;
            let (field, value) = (field.trim().to_owned(), value.trim().to_owned());
            Ok(Test { field, comparison: Comparison::Same, value, number: None })
        };
        let tests: Result<Vec<Test>, String> =
            filter.into_iter().flat_map(|text| text.split(',')).map(pair).collect();
        let text = format!("{provider}/{}", event.unwrap_or("*"));
        let event = event.map(Glob::new);
        Ok(Condition { text, provider: Some(Glob::new(provider)), event, tests: tests? })
    }

    /// As the user wrote it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn is_of(&self, row: &EventType) -> bool {
        let is_provider = self.provider.as_ref().is_none_or(|glob| glob.is_match(&row.provider));
        is_provider && row.is_defined && self.event.as_ref().is_none_or(|glob| is_named(row, glob))
    }
}

/// Whether a type has the name: the stream's, with or without slash, the id, or what the runtime's manifest calls
/// it.
fn is_named(row: &EventType, glob: &Glob) -> bool {
    let wanted = glob.as_str();
    glob.is_match(&row.name)
        || (!row.name.is_empty() && row.name.eq_ignore_ascii_case(&wanted.replace('/', "")))
        || wanted.parse() == Ok(row.id)
        || catalog::find(&row.provider, row.id, row.version)
            .is_some_and(|known| known.matches_name(wanted) || glob.is_match(known.name))
}

impl Test {
    /// `None`: the event has no such field.
    fn is_met(&self, event: &Event<'_>) -> Option<bool> {
        let mut fields = event.fields();
        let field = Iterator::find(&mut fields, |field| field.name().eq_ignore_ascii_case(&self.field))?;
        // A value that cannot be read is none that was asked for.
        Some(field.value.as_ref().is_ok_and(|value| self.holds(value, field.value_name())))
    }

    fn holds(&self, value: &Value<'_>, name: Option<String>) -> bool {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let text = value.to_text().unwrap_or_else(|| value.to_string());
        if self.comparison == Comparison::Contains {
            return text.contains(&self.value);
        }
        let is_name = name.is_some_and(|name| name.eq_ignore_ascii_case(&self.value));
        let order = match (value.as_f64(), self.number) {
            (Some(value), Some(number)) => value.partial_cmp(&number),
            _ if is_name => Some(Equal),
            _ => Some(text.as_str().cmp(self.value.as_str())),
        };
        match self.comparison {
            Comparison::Less => order == Some(Less),
            Comparison::LessOrSame => matches!(order, Some(Less | Equal)),
            Comparison::Same => order == Some(Equal),
            Comparison::Other => order != Some(Equal),
            Comparison::MoreOrSame => matches!(order, Some(Greater | Equal)),
            Comparison::More => order == Some(Greater),
            Comparison::Contains => false,
        }
    }
}

/// Looks for events that fulfil a condition.
#[derive(Debug)]
pub(crate) struct Watcher {
    conditions: Vec<Condition>,
    types: EventTypes,
    /// By the type's number: which conditions ask for it.
    asked: Vec<Vec<usize>>,
    /// Fields that an event of the right type lacked.
    lacking: Option<String>,
}

impl Watcher {
    pub(crate) fn new(conditions: Vec<Condition>) -> Watcher {
        Watcher { conditions, types: EventTypes::default(), asked: Vec::new(), lacking: None }
    }

    /// The first condition that the event fulfils.
    pub(crate) fn met(&mut self, event: &Event<'_>) -> Option<&Condition> {
        let number = self.types.place_of(event).number;
        for row in self.types.rows().iter().skip(self.asked.len()) {
            let fitting = self.conditions.iter().enumerate().filter(|(_, condition)| condition.is_of(row));
            self.asked.push(fitting.map(|(at, _)| at).collect());
        }
        for at in self.asked.get(number)? {
            let Some(condition) = self.conditions.get(*at) else { continue };
            let mut is_met = true;
            for test in &condition.tests {
                match test.is_met(event) {
                    Some(holds) => is_met &= holds,
                    None => {
                        is_met = false;
                        let lacking = || format!("{} has no field {}", condition.text, test.field);
                        self.lacking.get_or_insert_with(lacking);
                    }
                }
            }
            if is_met {
                return self.conditions.get(*at);
            }
        }
        None
    }

    /// A condition that could not be asked of its own event.
    pub(crate) fn lacking(&self) -> Option<&str> {
        self.lacking.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nettrace_parser::Reader;

    /// How many events of a recorded trace fulfil it.
    fn count(text: &str) -> (usize, Option<String>) {
        let compressed = include_bytes!("../../../testdata/traces/net10-linux-x64/all.nettrace.gz");
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&compressed[..]), &mut bytes).unwrap();
        let mut watcher = Watcher::new(vec![text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))]);
        let mut reader = Reader::from_slice(&bytes);
        let mut met = 0;
        while let Some(event) = reader.next_event().unwrap() {
            met += usize::from(watcher.met(&event).is_some());
        }
        (met, watcher.lacking().map(str::to_owned))
    }

    #[test]
    fn events_are_known_by_any_of_their_names() {
        let by_name = count("Microsoft-Windows-DotNETRuntime/GC/Start").0;
        assert!(by_name > 0);
        for text in [
            "*/GCStart",
            "*DotNETRuntime/1",
            "Microsoft-Windows-DotNETRuntime/GCStart_V2",
            "*Runtime/GC/St?rt",
        ] {
            assert_eq!(count(text).0, by_name, "{text}");
        }
        assert_eq!(count("Nettrace-Workload/Request/Start").0, count("Nettrace-Workload/RequestStart").0);
        assert!(count("Nettrace-Workload/RequestStart").0 > 0);
    }

    #[test]
    fn fields_are_compared_as_numbers_or_texts() {
        let all = count("Microsoft-Windows-DotNETRuntime/GC/Start").0;
        let deep = count("Microsoft-Windows-DotNETRuntime/GC/Start where Depth >= 1").0;
        let flat = count("Microsoft-Windows-DotNETRuntime/GC/Start where depth<1").0;
        assert!(deep > 0 && flat > 0);
        assert_eq!(deep + flat, all);
        assert_eq!(count("*Runtime/GC/Start where Depth=0 and Depth!=0").0, 0);
        assert!(count("Nettrace-Workload/RequestStart where url ~ 'a and b'").1.is_none());
        assert!(count("Nettrace-Workload/RequestStart where url ~ '/'").0 > 0);
    }

    #[test]
    fn a_field_that_is_not_there_is_told() {
        let (met, lacking) = count("*Runtime/GC/Start where Deepness>1");
        assert_eq!(met, 0);
        assert!(lacking.unwrap().ends_with("has no field Deepness"));
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for wrong in ["", " where a=1", "A/B where", "A/B where a", "A/B where =1", "A/B where a=1 and b"] {
            assert!(wrong.parse::<Condition>().is_err(), "{wrong}");
        }
        assert!(Condition::stopping_event("P", Some("E"), Some("a")).is_err());
    }
}
