//! Lists of counters as in dotnet-counters: `System.Runtime[cpu-usage,gc-heap-size],My.Meter`.

use std::fmt;
use std::str::FromStr;

/// List of providers and meters, each with all or some of its counters.
///
/// The text form is `PROVIDER[COUNTER,…],…`. A provider without brackets stands for all of its
/// counters; `EventCounters\PROVIDER` excludes the instruments of a meter with the name. A name may
/// end in `*`. A backslash takes the meaning from a comma, a bracket, a backslash or a star after
/// it.
///
/// ```
/// use nettrace_analysis::live::CounterList;
/// let list: CounterList = "System.Runtime[cpu-usage],Shop.*".parse()?;
/// let [runtime, shop] = &list.choices[..] else { panic!("two providers") };
/// assert_eq!((&*runtime.provider, &*runtime.counters), ("System.Runtime", &["cpu-usage".into()][..]));
/// assert!(shop.provider == "Shop.*" && shop.counters.is_empty());
/// # Ok::<(), nettrace_analysis::live::CounterListError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CounterList {
    /// Providers in the order of the text; empty for all counters.
    pub choices: Vec<CounterChoice>,
}

/// Provider or meter with all or some of its counters.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CounterChoice {
    /// Name; ends in `*` if it is the beginning of names.
    pub provider: String,
    /// Names of counters, which may end in `*`; empty for all.
    pub counters: Vec<String>,
    /// Whether instruments of a meter with this name are excluded.
    pub event_counters_only: bool,
}

impl CounterChoice {
    fn has(&self, provider: &str, counter: &str) -> bool {
        self.has_provider(provider)
            && (self.counters.is_empty()
                || self.counters.iter().any(|wanted| is_match(wanted, counter)))
    }

    pub(super) fn has_provider(&self, provider: &str) -> bool {
        is_match(&self.provider, provider)
    }

    /// Returns whether the name at this index matches the counter.
    pub(super) fn has_counter(&self, place: usize, counter: &str) -> bool {
        self.counters.get(place).is_some_and(|wanted| is_match(wanted, counter))
    }
}

impl CounterList {
    /// Returns whether the list has an EventCounter.
    pub(crate) fn has_event_counter(&self, provider: &str, counter: &str) -> bool {
        self.choices.is_empty() || self.choices.iter().any(|choice| choice.has(provider, counter))
    }

    /// Returns whether the list has an instrument of `System.Diagnostics.Metrics`.
    pub(crate) fn has_instrument(&self, meter: &str, instrument: &str) -> bool {
        let mut choices = self.choices.iter().filter(|choice| !choice.event_counters_only);
        self.choices.is_empty() || choices.any(|choice| choice.has(meter, instrument))
    }

    /// Returns whether the list has a provider's EventCounters even if a meter has its name.
    pub(crate) fn insists_on_event_counters(&self, provider: &str) -> bool {
        let mut only = self.choices.iter().filter(|choice| choice.event_counters_only);
        only.any(|choice| is_match(&choice.provider, provider))
    }
}

/// Returns whether a pattern matches a name, ignoring case as runtimes do. The pattern has an
/// escaped star as `\*`.
fn is_match(pattern: &str, name: &str) -> bool {
    if let Some(start) = pattern.strip_suffix('*').filter(|start| !start.ends_with('\\')) {
        let start = start.replace("\\*", "*");
        return name.get(..start.len()).is_some_and(|begun| begun.eq_ignore_ascii_case(&start));
    }
    pattern.replace("\\*", "*").eq_ignore_ascii_case(name)
}

/// Reason why a text is not a list of counters.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CounterListError {
    /// `[` without `]`.
    Unclosed,
    /// `]` without `[`, or anything but a comma after `]`.
    Unexpected(char),
    /// Provider or counter without a name.
    NoName,
    /// Backslash at the end.
    Backslash,
}

impl fmt::Display for CounterListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CounterListError::Unclosed => f.write_str("a [ has no ]")?,
            CounterListError::Unexpected(character) => write!(f, "unexpected {character}")?,
            CounterListError::NoName => f.write_str("a name is missing")?,
            CounterListError::Backslash => f.write_str("nothing follows the last \\")?,
        }
        f.write_str("; write PROVIDER[COUNTER,COUNTER],PROVIDER")
    }
}

impl std::error::Error for CounterListError {}

/// Prefix that excludes the instruments of a meter.
const EVENT_COUNTERS: &str = "EventCounters\\";

impl FromStr for CounterList {
    type Err = CounterListError;

    fn from_str(text: &str) -> Result<CounterList, CounterListError> {
        let mut choices = Vec::new();
        let mut rest = text;
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                break;
            }
            let prefix = rest.get(..EVENT_COUNTERS.len());
            let event_counters_only =
                prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case(EVENT_COUNTERS));
            if event_counters_only {
                rest = rest.get(EVENT_COUNTERS.len()..).unwrap_or_default();
            }
            let (provider, end, after) = word(rest)?;
            rest = after;
            let mut counters = Vec::new();
            match end {
                Some('[') => rest = counters_of(rest, &mut counters)?,
                Some(']') => return Err(CounterListError::Unexpected(']')),
                _ => {}
            }
            choices.push(CounterChoice { provider, counters, event_counters_only });
        }
        Ok(CounterList { choices })
    }
}

/// Reads the names up to `]`. Returns the text after it and the comma that follows.
fn counters_of<'t>(text: &'t str, counters: &mut Vec<String>) -> Result<&'t str, CounterListError> {
    let mut rest = text;
    loop {
        if counters.is_empty()
            && let Some(after) = rest.trim_start().strip_prefix(']')
        {
            rest = after;
            break;
        }
        let (counter, end, after) = word(rest)?;
        counters.push(counter);
        rest = after;
        match end {
            Some(',') => {}
            Some(']') => break,
            Some(other) => return Err(CounterListError::Unexpected(other)),
            None => return Err(CounterListError::Unclosed),
        }
    }
    let rest = rest.trim_start();
    match rest.chars().next() {
        None => Ok(rest),
        Some(',') => Ok(rest.get(1..).unwrap_or_default()),
        Some(other) => Err(CounterListError::Unexpected(other)),
    }
}

/// Reads a name up to a comma, a bracket or the end. Returns the name, the character that ended it,
/// and the text after that.
fn word(text: &str) -> Result<(String, Option<char>, &str), CounterListError> {
    let mut name = String::new();
    let mut characters = text.chars();
    let end = loop {
        match characters.next() {
            Some('\\') => match characters.next() {
                Some('*') => name.push_str("\\*"),
                Some(escaped @ (',' | '[' | ']' | '\\')) => name.push(escaped),
                // A backslash before anything else is part of the name.
                Some(other) => name.extend(['\\', other]),
                None => return Err(CounterListError::Backslash),
            },
            Some(end @ (',' | '[' | ']')) => break Some(end),
            Some(other) => name.push(other),
            None => break None,
        }
    };
    let name = name.trim().to_owned();
    if name.is_empty() {
        return Err(CounterListError::NoName);
    }
    Ok((name, end, characters.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, Vec<String>, bool)> {
        let list: CounterList = text.parse().unwrap();
        let parts = |choice: &CounterChoice| {
            (choice.provider.clone(), choice.counters.clone(), choice.event_counters_only)
        };
        list.choices.iter().map(parts).collect()
    }

    fn choice(provider: &str, counters: &[&str]) -> (String, Vec<String>, bool) {
        (provider.to_owned(), counters.iter().map(|name| (*name).to_owned()).collect(), false)
    }

    #[test]
    fn lists_are_those_of_dotnet_counters() {
        assert_eq!(
            read("System.Runtime[cpu-usage,gc-heap-size],Other"),
            [choice("System.Runtime", &["cpu-usage", "gc-heap-size"]), choice("Other", &[])]
        );
        assert_eq!(read(" A [ b , c ] , D[] "), [choice("A", &["b", "c"]), choice("D", &[])]);
        assert_eq!(read("A,B,"), [choice("A", &[]), choice("B", &[])]);
        assert_eq!(read(r"EventCounters\A[b]"), [("A".to_owned(), vec!["b".to_owned()], true)]);
        let only = |name: &str| (name.to_owned(), Vec::new(), true);
        assert_eq!(
            read(r"A, EventCounters\B ,  eventcounters\C"),
            [choice("A", &[]), only("B"), only("C")]
        );
        assert_eq!(read("A , "), [choice("A", &[])]);
        assert_eq!(read(""), []);
    }

    #[test]
    fn a_backslash_takes_the_meaning_from_what_separates() {
        assert_eq!(
            read(r"A\,B[c\]d,e\\f],g\h"),
            [choice("A,B", &["c]d", r"e\f"]), choice(r"g\h", &[])]
        );
    }

    #[test]
    fn a_wrong_list_of_counters_is_refused() {
        let error = |text: &str| text.parse::<CounterList>().unwrap_err();
        assert_eq!(error("A[b"), CounterListError::Unclosed);
        assert_eq!(error("A]"), CounterListError::Unexpected(']'));
        assert_eq!(error("A[b]c"), CounterListError::Unexpected('c'));
        assert_eq!(error("A[b[c]]"), CounterListError::Unexpected('['));
        assert_eq!(error(",A"), CounterListError::NoName);
        assert_eq!(error("A[b,,c]"), CounterListError::NoName);
        assert_eq!(error(r"A\"), CounterListError::Backslash);
        assert!(error("A[").to_string().contains("PROVIDER[COUNTER"));
    }

    #[test]
    fn a_star_at_the_end_means_what_begins_so() {
        let list: CounterList = r"system.*[cpu*],Plain,Odd\*".parse().unwrap();
        assert!(list.has_instrument("System.Runtime", "cpu-usage"));
        assert!(!list.has_instrument("System.Runtime", "gc"));
        assert!(list.has_event_counter("plain", "any") && !list.has_event_counter("Plainer", "x"));
        assert!(list.has_event_counter("Odd*", "x") && !list.has_event_counter("Odder", "x"));
        assert!(!list.has_event_counter("Ö", "x"));
    }
}
