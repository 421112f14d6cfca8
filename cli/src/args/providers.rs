//! Providers, keywords, levels and event ids as users write them.

use super::amount;
use super::profiles::{CLR_KEYWORDS, COMMON_KEYWORDS, RUNTIME};
use nettrace_export::nearest::{nearest, suggestion};
use nettrace_ipc::{Arguments, EventFilter, Level, Provider, Rundown};
use std::str::FromStr;

/// The value of `--providers`.
#[derive(Debug, Clone)]
pub(crate) struct ProviderList {
    pub(crate) providers: Vec<Provider>,
    /// Names of providers that were given without keywords.
    pub(crate) bare: Vec<String>,
}

impl FromStr for ProviderList {
    type Err = String;

    fn from_str(text: &str) -> Result<ProviderList, String> {
        let entries = entries(text);
        let entries = entries.iter().map(|entry| entry.trim()).filter(|entry| !entry.is_empty());
        let mut list = ProviderList { providers: Vec::new(), bare: Vec::new() };
        for entry in entries {
            let provider = provider(entry)?;
            if entry.split(':').nth(1).is_none_or(|keywords| keywords.trim().is_empty()) {
                list.bare.push(provider.name().to_owned());
            }
            list.providers.push(provider);
        }
        if list.providers.is_empty() { Err("no provider given".to_owned()) } else { Ok(list) }
    }
}

/// Splits a list of providers into its entries. A comma inside a value does not end an entry:
/// `Metrics=A,B;RefreshInterval=1`.
fn entries(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for part in split_outside_quotes(text) {
        match entries.last_mut().filter(|before| goes_on(before, part)) {
            Some(before) => {
                before.push(',');
                before.push_str(part);
            }
            None => entries.push(part.to_owned()),
        }
    }
    entries
}

/// Returns whether the text after a comma belongs to the entry before the comma, as more of its
/// arguments or of a list of metrics. Arguments do not look like the name of a provider.
fn goes_on(before: &str, part: &str) -> bool {
    let Some(arguments) = before.splitn(4, ':').nth(3) else { return false };
    let name = part.split(':').next().unwrap_or_default();
    let last = arguments.rsplit(';').next().unwrap_or_default();
    let key = last.split('=').next().unwrap_or_default().trim();
    let is_list = key.eq_ignore_ascii_case("Metrics") && !part.contains(':');
    !arguments.is_empty() && (name.contains([';', '=', '\\']) || is_list)
}

/// Splits a text at commas that do not stand between double quotes.
fn split_outside_quotes(text: &str) -> Vec<&str> {
    let mut is_quoted = false;
    text.split(|c| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    })
    .collect()
}

/// Parses one provider: `Name[:KEYWORDS[:LEVEL[:ARGUMENTS]]]`.
fn provider(text: &str) -> Result<Provider, String> {
    let mut parts = text.splitn(4, ':');
    let name = parts.next().unwrap_or_default().trim();
    let provider = Provider::new(name).map_err(|error| error.to_string())?;
    let keywords = match parts.next().map(str::trim) {
        None | Some("") => default_keywords(name),
        Some("*") => u64::MAX,
        Some(text) => amount::hex(text).map_err(|error| format!("keywords of {name}: {error}"))?,
    };
    let level = match parts.next().map(str::trim) {
        None | Some("") => Level::Informational,
        Some(text) => level(text)?,
    };
    let arguments = match parts.next() {
        None | Some("") => Arguments::none(),
        Some(text) => arguments(text).map_err(|error| format!("arguments of {name}: {error}"))?,
    };
    Ok(provider.keywords(keywords).level(level).arguments(arguments))
}

/// Parses arguments as pairs of key and value, which can be combined with other arguments. Text
/// that is not made of pairs is kept as it is.
fn arguments(text: &str) -> Result<Arguments, String> {
    let pairs: Option<Vec<(&str, &str)>> =
        text.split(';').map(|pair| pair.split_once('=')).collect();
    let is_plain = !text.contains('"');
    match pairs.filter(|pairs| is_plain && pairs.iter().all(|(_, value)| !value.contains('='))) {
        Some(pairs) => Arguments::pairs(pairs),
        None => Arguments::raw(text),
    }
    .map_err(|error| error.to_string())
}

/// Returns the keywords of a provider that was named without keywords: all of them, except for the
/// runtime's own provider. For that one they are cheap and change nothing, because others start a
/// garbage collection or log every object.
pub(crate) fn default_keywords(name: &str) -> u64 {
    if name == RUNTIME { COMMON_KEYWORDS } else { u64::MAX }
}

/// Parses a level by number or name. Numbers above 5 mean 5.
pub(crate) fn level(text: &str) -> Result<Level, String> {
    const NAMES: [(&str, Level); 6] = [
        ("logalways", Level::LogAlways),
        ("critical", Level::Critical),
        ("error", Level::Error),
        ("warning", Level::Warning),
        ("informational", Level::Informational),
        ("verbose", Level::Verbose),
    ];
    if let Ok(number) = text.parse::<u32>() {
        return Ok(Level::from_number(number).unwrap_or(Level::Verbose));
    }
    let lowered = text.to_ascii_lowercase();
    let found = NAMES
        .iter()
        .find(|(name, _)| *name == lowered || (lowered == "info" && *name == "informational"));
    found.map(|(_, level)| *level).ok_or_else(|| {
        format!("\"{text}\" is no level; write 0 to 5, critical, error, warning, informational or verbose")
    })
}

/// The value of `--clrevents`: keywords of the runtime's provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClrEvents(pub(crate) u64);

impl FromStr for ClrEvents {
    type Err = String;

    fn from_str(text: &str) -> Result<ClrEvents, String> {
        let mut keywords = 0;
        for name in text.split('+').map(str::trim).filter(|name| !name.is_empty()) {
            let lowered = name.to_ascii_lowercase();
            match CLR_KEYWORDS.iter().find(|(known, _)| *known == lowered) {
                Some((_, keyword)) => keywords |= keyword,
                None => {
                    let near = nearest(name, CLR_KEYWORDS.iter().map(|(known, _)| *known));
                    return Err(format!("the runtime has no keyword {name}{}", suggestion(&near)));
                }
            }
        }
        if keywords == 0 { Err("no keyword given".to_owned()) } else { Ok(ClrEvents(keywords)) }
    }
}

/// The value of `--events`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventIds {
    pub(crate) provider: String,
    pub(crate) filter: EventFilter,
}

impl FromStr for EventIds {
    type Err = String;

    fn from_str(text: &str) -> Result<EventIds, String> {
        let (provider, ids) = text.split_once('=').ok_or("expected provider=ids: Name=1,2,3")?;
        let (provider, is_except) = match provider.strip_suffix('!') {
            Some(provider) => (provider, true),
            None => (provider, false),
        };
        let id = |id: &str| id.trim().parse().map_err(|_| format!("\"{id}\" is no event id"));
        let ids: Vec<u32> = ids.split(',').map(id).collect::<Result<_, _>>()?;
        let filter = if is_except { EventFilter::except(ids) } else { EventFilter::only(ids) };
        Ok(EventIds { provider: provider.trim().to_owned(), filter })
    }
}

/// The value of `--rundown`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RundownChoice(pub(crate) Rundown);

impl FromStr for RundownChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<RundownChoice, String> {
        Ok(RundownChoice(match text.to_ascii_lowercase().as_str() {
            "true" => Rundown::Default,
            "false" => Rundown::Off,
            other => match amount::hex(other)? {
                0 => Rundown::Off,
                Rundown::DEFAULT_KEYWORD => Rundown::Default,
                keyword => Rundown::Keyword(keyword),
            },
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let list = text.parse::<ProviderList>().unwrap_or_else(|error| panic!("{text}: {error}"));
        list.providers.iter().map(Provider::to_string).collect()
    }

    #[test]
    fn providers_are_read_as_dotnet_trace_reads_them() {
        assert_eq!(shown("A:0x1:5"), ["A:0xf00000000001:5"]);
        assert_eq!(
            shown("A:1:Verbose:k=v;l=w, B::2"),
            ["A:0xf00000000001:5:k=v;l=w", "B:0xffffffffffffffff:2"]
        );
        assert_eq!(shown("A:*:9"), ["A:0xffffffffffffffff:5"]);
        assert_eq!(
            shown("Microsoft-Windows-DotNETRuntime"),
            ["Microsoft-Windows-DotNETRuntime:0xf0100003801d:4"]
        );
    }

    #[test]
    fn commas_between_quotes_belong_to_arguments() {
        assert_eq!(
            shown("A:1:4:k=\"x,y\",B:1:4"),
            ["A:0xf00000000001:4:k=\"x,y\"", "B:0xf00000000001:4"]
        );
    }

    #[test]
    fn a_list_of_metrics_is_of_one_provider_with_quotes_or_without() {
        let metrics = "System.Diagnostics.Metrics:0x2:4";
        for (arguments, others) in [
            ("Metrics=A,B;RefreshInterval=1", 0),
            ("Metrics=A,B\\i,C", 0),
            ("Metrics=\"A,B\";RefreshInterval=1", 0),
            ("RefreshInterval=1;Metrics=A,B,C:1:4", 1),
            ("SessionId=SHARED,B", 1),
            ("Metrics=A,B;X=1,C:1:4,D", 2),
        ] {
            let found = shown(&format!("{metrics}:{arguments}"));
            assert_eq!(found.len(), 1 + others, "{found:?}");
        }
        let one = shown(&format!("{metrics}:Metrics=A,B;RefreshInterval=1"));
        assert!(one[0].ends_with(":4:Metrics=A,B;RefreshInterval=1"), "{one:?}");
    }

    #[test]
    fn what_is_no_provider_is_refused() {
        for wrong in ["", ",", ":1", "A:xyz", "A:1:loud", "A:1:4:k=\"open"] {
            assert!(wrong.parse::<ProviderList>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn runtime_keywords_have_names() {
        assert_eq!("gc+Exception+waithandle".parse(), Ok(ClrEvents(0x400_0000_8001)));
        let error = "gc+exceptoin".parse::<ClrEvents>().unwrap_err();
        assert!(error.contains("did you mean exception?"), "{error}");
        assert!("".parse::<ClrEvents>().is_err());
    }

    #[test]
    fn event_ids_are_wanted_or_unwanted() {
        let only: EventIds = "P=1,2,2".parse().unwrap();
        assert_eq!((only.provider.as_str(), only.filter), ("P", EventFilter::only([1, 2])));
        let except: EventIds = "P!=3".parse().unwrap();
        assert_eq!((except.provider.as_str(), except.filter), ("P", EventFilter::except([3])));
        assert!("P=x".parse::<EventIds>().is_err() && "P".parse::<EventIds>().is_err());
    }

    #[test]
    fn rundown_is_yes_no_or_a_keyword() {
        let rundown = |text: &str| text.parse::<RundownChoice>().map(|choice| choice.0);
        assert_eq!(rundown("True"), Ok(Rundown::Default));
        assert_eq!(rundown("false"), Ok(Rundown::Off));
        assert_eq!(rundown("0x1"), Ok(Rundown::Keyword(1)));
        assert!(rundown("perhaps").is_err());
    }
}
