//! Providers of the catalog, and GUIDs of provider names.

use super::event::CatalogEvent;
use nettrace_guid::Guid;

/// Provider whose events the catalog knows.
#[derive(Debug)]
pub(crate) struct CatalogProvider {
    /// Provider name.
    pub(crate) name: &'static str,
    /// GUID in the provider's manifest; `None` if the GUID follows from the name ([FORMAT.md
    /// 15](crate::format_guide#15)).
    pub(crate) guid: Option<Guid>,
    /// Names of the provider's keywords, lowest bit first.
    pub(crate) keywords: &'static [(u64, &'static str)],
    /// Facts by which the provider's events are identified.
    pub(super) key: Key,
    /// Row for events whose name has no row of its own.
    pub(super) others: Option<&'static CatalogEvent>,
    /// Condition for using the rows instead of the stream's description.
    pub(super) used: Use,
    /// Rows in groups, each sorted by id, then version. All versions of an id are in one
    /// group.
    pub(super) groups: &'static [&'static [CatalogEvent]],
}

/// Facts by which the events of a provider are identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// The id and the version of an event.
    Id,
    /// The name of an event.
    Name,
}

/// Condition for using the catalog's rows instead of the stream's own description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Always, because the stream's description is known to be wrong.
    Always,
    /// If the stream stores neither a name nor fields.
    WithoutName,
    /// If the stream stores no fields.
    WithoutFields,
}

impl CatalogProvider {
    pub(crate) fn events(&self) -> impl Iterator<Item = &'static CatalogEvent> + use<> {
        self.groups.iter().copied().flatten().chain(self.others)
    }

    /// Returns the row for an id and a version; the newest row if `version` is above all
    /// known versions.
    pub(super) fn version_of(&self, id: u32, version: u32) -> Option<&'static CatalogEvent> {
        self.groups.iter().copied().find_map(|group| {
            let end = group.partition_point(|event| (event.id, event.version) <= (id, version));
            let event = group.get(end.checked_sub(1)?).filter(|event| event.id == id)?;
            let is_newest = group.get(end).is_none_or(|next| next.id != id);
            (event.version == version || is_newest).then_some(event)
        })
    }

    /// Returns the row for a name; `others` if the name has no row of its own.
    pub(super) fn named(&self, name: &str) -> Option<&'static CatalogEvent> {
        self.groups.iter().copied().flatten().find(|event| event.symbol == name).or(self.others)
    }
}

/// GUIDs that .NET assigns to providers whose events are not in the catalog.
const FIXED: [(&str, Guid); 2] = [
    (
        "System.Threading.Tasks.TplEventSource",
        // 2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5
        Guid::from_bytes([
            0x47, 0xba, 0x5d, 0x2e, 0xd2, 0xa3, 0x16, 0x4d, 0x8e, 0xe0, 0x66, 0x71, 0xff, 0xdc,
            0xd7, 0xb5,
        ]),
    ),
    (
        "System.Diagnostics.Eventing.FrameworkEventSource",
        // 8e9f5090-2d75-4d03-8a81-e5afbf85daf1
        Guid::from_bytes([
            0x90, 0x50, 0x9f, 0x8e, 0x75, 0x2d, 0x03, 0x4d, 0x8a, 0x81, 0xe5, 0xaf, 0xbf, 0x85,
            0xda, 0xf1,
        ]),
    ),
];

/// Returns the GUID that .NET assigns to a provider; `None` if the GUID follows from the
/// name.
fn guid(provider: &str) -> Option<Guid> {
    let known =
        super::providers().find(|known| known.name == provider).and_then(|known| known.guid);
    known.or_else(|| FIXED.iter().find(|(name, _)| *name == provider).map(|&(_, guid)| guid))
}

/// Returns the GUID of a provider ([FORMAT.md 15](crate::format_guide#15)): the assigned GUID,
/// or else the GUID that .NET's EventSource derives from the name.
pub(crate) fn provider_guid(name: &str) -> Guid {
    guid(name).unwrap_or_else(|| from_name(name))
}

/// Bytes that EventSource hashes before every name.
const NAMESPACE: [u8; 16] = [
    0x48, 0x2c, 0x2d, 0xb2, 0xc3, 0x90, 0x47, 0xc8, 0x87, 0xf8, 0x1a, 0x15, 0xbf, 0xc1, 0x30, 0xfb,
];

/// Derives a GUID from a name: SHA-1 over the namespace and the upper-cased name in
/// big-endian UTF-16. The GUID is the first 16 bytes, with version 5 set in byte 7.
fn from_name(name: &str) -> Guid {
    let mut hash = sha1_smol::Sha1::from(NAMESPACE);
    let mut units = [0; 2];
    for letter in name.chars() {
        for unit in invariant_upper(letter).encode_utf16(&mut units) {
            hash.update(&unit.to_be_bytes());
        }
    }
    let [b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15, ..] =
        hash.digest().bytes();
    let b7 = b7 & 0x0f | 0x50;
    Guid::from_bytes([b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15])
}

/// Returns a letter in upper case by .NET's invariant rules. A letter does not change if its upper
/// case is several letters. Nor does a letter outside of ASCII whose upper case is an ASCII letter.
fn invariant_upper(letter: char) -> char {
    if letter.is_ascii() {
        return letter.to_ascii_uppercase();
    }
    let mut upper = letter.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(single), None) if !single.is_ascii() => single,
        _ => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guid_follows_from_the_name_in_any_case_as_eventsource_derives_it() {
        assert_eq!(
            from_name("Universal.System").to_string(),
            "8c107b6c-79f8-5231-4de6-2a0e20a3f562"
        );
        assert_eq!(
            from_name("universal.EVENTS").to_string(),
            "bc5e5d63-9799-5873-33d9-fba8316cef71"
        );
    }

    #[test]
    fn a_fixed_guid_beats_the_name() {
        let runtime = provider_guid("Microsoft-Windows-DotNETRuntime");
        assert_eq!(runtime.to_string(), "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");
        assert_ne!(runtime, from_name("Microsoft-Windows-DotNETRuntime"));
        let tasks = provider_guid("System.Threading.Tasks.TplEventSource");
        assert_eq!(tasks.to_string(), "2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5");
        let framework = provider_guid("System.Diagnostics.Eventing.FrameworkEventSource");
        assert_eq!(framework.to_string(), "8e9f5090-2d75-4d03-8a81-e5afbf85daf1");
    }

    #[test]
    fn the_mono_profiler_and_eventpipe_fix_the_guid_that_follows_from_their_names() {
        for name in ["Microsoft-DotNETRuntimeMonoProfiler", "Microsoft-DotNETCore-EventPipe"] {
            assert_eq!(guid(name), Some(from_name(name)), "{name}");
        }
    }

    #[test]
    fn letters_that_have_no_single_upper_case_stay() {
        assert_eq!(invariant_upper('ß'), 'ß');
        assert_eq!(invariant_upper('ı'), 'ı');
        assert_eq!(invariant_upper('é'), 'É');
    }
}
