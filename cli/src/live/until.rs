//! Compares the conditions of `--until` with the providers of the session, to warn before it starts
//! about an event that cannot come.

use nettrace_export::Predicate;
use nettrace_export::nearest::{nearest, suggestion};
use nettrace_ipc::{Level, Provider};
use nettrace_parser::catalog::{self, CatalogEvent};

/// Returns whether every session has events of a provider, such as EventPipe itself and the
/// rundown.
fn comes_unasked(provider: &str) -> bool {
    provider.eq_ignore_ascii_case("Microsoft-DotNETCore-EventPipe")
        || provider.to_lowercase().ends_with("rundown")
}

/// Returns warnings about conditions that no event of the session can fulfil.
pub(crate) fn warnings<'p>(
    conditions: &[Predicate],
    providers: impl Iterator<Item = &'p Provider> + Clone,
) -> Vec<String> {
    let events = conditions.iter().flat_map(Predicate::events);
    events.filter_map(|event| warning(event, providers.clone())).collect()
}

fn warning<'p>(
    wanted: &str,
    mut providers: impl Iterator<Item = &'p Provider> + Clone,
) -> Option<String> {
    let (provider, name) = wanted.split_once('/')?;
    let has_wildcard = |text: &str| text.contains(['*', '?']);
    // `GC/Start` without a provider means the event of any provider.
    if has_wildcard(provider)
        || comes_unasked(provider)
        || catalog::events().any(|known| known.matches_name(wanted))
    {
        return None;
    }
    let enabled = providers.clone().find(|known| known.name().eq_ignore_ascii_case(provider));
    let Some(enabled) = enabled else {
        let names = nearest(provider, providers.by_ref().map(Provider::name));
        let hint = match names.is_empty() {
            true => format!("; add it with --providers {provider}"),
            false => suggestion(&names),
        };
        return Some(format!(
            "no {wanted} will come: the session does not record {provider}{hint}"
        ));
    };
    let known: Vec<&CatalogEvent> =
        catalog::events().filter(|known| known.provider.eq_ignore_ascii_case(provider)).collect();
    if has_wildcard(name) || known.is_empty() || !is_complete(provider) {
        return None;
    }
    let is_named =
        |known: &&&CatalogEvent| known.matches_name(name) || name.parse() == Ok(known.id);
    let named: Vec<&&CatalogEvent> = known.iter().filter(is_named).collect();
    if named.is_empty() {
        let names = nearest(name, known.iter().map(|known| known.name));
        return Some(format!("no {wanted} is known{}", suggestion(&names)));
    }
    // A runtime sends the newest version that it knows; the first versions of some had no
    // keywords.
    let is_newest = |event: &CatalogEvent| {
        !named.iter().any(|other| other.id == event.id && other.version > event.version)
    };
    let newest: Vec<&CatalogEvent> =
        named.iter().copied().copied().filter(|event| is_newest(event)).collect();
    if newest.iter().any(|event| is_recorded(enabled, event)) {
        return None;
    }
    let event = newest.last()?;
    Some(format!(
        "no {wanted} will come: it is sent at level {} with keyword {:#x}; add it with --providers {provider}:{:#x}:{}",
        event.level, event.keywords, event.keywords, event.level
    ))
}

/// Returns whether all events of a provider are in the catalog; other providers may have more.
fn is_complete(provider: &str) -> bool {
    provider.eq_ignore_ascii_case("Microsoft-Windows-DotNETRuntime")
}

fn is_recorded(provider: &Provider, event: &CatalogEvent) -> bool {
    let level = provider.wanted_level();
    let has_level = level == Level::LogAlways || u32::from(event.level) <= level.number();
    has_level && (event.keywords == 0 || provider.wire_keywords() & event.keywords != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";

    fn warning(until: &str) -> String {
        let runtime =
            Provider::new(RUNTIME).unwrap().exact_keywords(0x1).level(Level::Informational);
        let own = Provider::new("Nettrace-Workload").unwrap();
        let providers = [runtime, own];
        warnings(&[Predicate::parse_event(until).unwrap()], providers.iter()).join("\n")
    }

    #[test]
    fn what_can_come_is_not_warned_of() {
        for until in [
            "*/GC/Start",
            "GC/Start where Depth > 1",
            "GCStart",
            "Microsoft-Windows-DotNETRuntime/GC/Start",
            "Microsoft-Windows-DotNETRuntime/1",
            "Nettrace-Workload/Whatever",
            "Microsoft-Windows-DotNETRuntimeRundown/MethodDCEnd",
            "Depth > 1",
        ] {
            assert_eq!(warning(until), "", "{until}");
        }
    }

    #[test]
    fn a_provider_that_is_not_recorded_is_named() {
        assert_eq!(
            warning("System.Net.Http/RequestStart"),
            "no System.Net.Http/RequestStart will come: the session does not record System.Net.Http; add it with \
             --providers System.Net.Http"
        );
        assert!(
            warning("Nettrace-Workloat/RequestStart").ends_with("did you mean Nettrace-Workload?")
        );
    }

    #[test]
    fn an_event_that_the_runtime_does_not_know_or_that_is_not_asked_for_is_named() {
        let unknown = warning("Microsoft-Windows-DotNETRuntime/GC/Strat");
        assert!(
            unknown.contains("is known; did you mean") && unknown.contains("GC/Start"),
            "{unknown}"
        );
        let unasked = warning("Microsoft-Windows-DotNETRuntime/Exception/Start");
        assert!(
            unasked.contains("add it with --providers Microsoft-Windows-DotNETRuntime:0x"),
            "{unasked}"
        );
    }
}
