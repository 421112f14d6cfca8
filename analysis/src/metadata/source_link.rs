//! Source Link: where the source files of a PDB lie on the web.
//!
//! The JSON `{"documents":{"C:\\src\\*":"https://…/*"}}` maps paths to addresses. What the `*` of a
//! path stands for takes the place of the `*` of the address.

use crate::flat_json;
use std::fmt::Write as _;

/// Maximum length of the JSON, in bytes. Compilers write a hundred bytes for each repository.
const MAX_JSON_BYTES: usize = 64 << 10;
/// Maximum length of an address, in bytes. Browsers and servers take no longer ones.
const MAX_URL_BYTES: usize = 2048;

/// Addresses of source files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SourceLink {
    maps: Vec<SourceMap>,
}

/// Address of a file, or of all files in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SourceMap {
    /// Path, or the beginning of paths.
    path: String,
    /// Address, or its beginning.
    url: String,
    /// Rest of the address behind that of the path; `None` if the map is for one file.
    after: Option<String>,
}

impl SourceLink {
    /// Reads the JSON of a PDB. What is no map to an address of the web is left out.
    pub(crate) fn parse(json: &[u8]) -> SourceLink {
        let json = json.get(..MAX_JSON_BYTES).unwrap_or(json);
        let json = String::from_utf8_lossy(json);
        let documents = json.split_once("\"documents\"").map_or("", |(_, rest)| rest);
        let object = documents.trim_start().strip_prefix(':').unwrap_or_default();
        let maps = flat_json::members(object).into_iter().filter_map(SourceMap::read).collect();
        SourceLink { maps }
    }

    /// Returns the address of a file. The map with the longest path decides.
    pub(crate) fn url(&self, path: &str) -> Option<String> {
        let found = self.maps.iter().filter_map(|map| Some((map, map.rest_of(path)?)));
        let (map, rest) = found.max_by_key(|(map, _)| (map.after.is_none(), map.path.len()))?;
        let mut url = map.url.clone();
        for (number, part) in rest.split(['/', '\\']).enumerate() {
            if number > 0 {
                url.push('/');
            }
            escape(&mut url, part);
        }
        url.push_str(map.after.as_deref().unwrap_or_default());
        (url.len() <= MAX_URL_BYTES).then_some(url)
    }
}

impl SourceMap {
    fn read((path, url): (String, String)) -> Option<SourceMap> {
        if !is_of_web(&url) {
            return None;
        }
        match path.strip_suffix('*') {
            Some(path) => {
                let (url, after) = url.split_once('*')?;
                let [path, url, after] = [path, url, after].map(str::to_owned);
                Some(SourceMap { path, url, after: Some(after) })
            }
            None => Some(SourceMap { path, url, after: None }),
        }
    }

    /// Returns what the `*` stands for; `None` if the map is not for the path.
    fn rest_of<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (before, rest) = path.split_at_checked(self.path.len())?;
        let is_it =
            before.eq_ignore_ascii_case(&self.path) && (self.after.is_some() || rest.is_empty());
        is_it.then_some(rest)
    }
}

/// Returns whether a text is an address that a browser opens as a page. Others, such as
/// `javascript:`, would do something else.
fn is_of_web(url: &str) -> bool {
    let has = |scheme: &str| {
        url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !br#""<>\^`{|}"#.contains(&byte);
    (has("https://") || has("http://")) && url.len() <= MAX_URL_BYTES && url.bytes().all(is_plain)
}

/// Adds a part of a path to an address.
fn escape(url: &mut String, part: &str) {
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(url, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_with_the_longest_path_has_the_address_of_a_file() {
        let link = SourceLink::parse(
            br#"{"documents":{"C:\\src\\*":"https://example.com/raw/1/*","C:\\src\\lib\\*":"http://example.com/*?at=2",
                "C:\\src\\lib\\One.cs":"https://example.com/one"}}"#,
        );
        let of = |path: &str| link.url(path);
        for (path, url) in [
            (r"C:\src\A b\C#.cs", Some("https://example.com/raw/1/A%20b/C%23.cs")),
            (r"c:\SRC\lib\x/y.cs", Some("http://example.com/x/y.cs?at=2")),
            (r"C:\src\lib\One.cs", Some("https://example.com/one")),
            (r"C:\src\lib\One.cs2", Some("http://example.com/One.cs2?at=2")),
            ("/src/lib/One.cs", None),
            ("C:", None),
        ] {
            assert_eq!(of(path).as_deref(), url, "{path}");
        }
    }

    #[test]
    fn what_is_no_address_of_the_web_is_left_out() {
        for url in [
            "javascript:alert(1)//*",
            "file:///*",
            "//example.com/*",
            "https://example.com/\\\"onclick=x*",
            "https://example.com/ *",
            "https://example.com/\\u000a*",
            "https://example.com/none",
        ] {
            let json = format!(r#"{{"documents":{{"/src/*":"{url}"}}}}"#);
            assert_eq!(SourceLink::parse(json.as_bytes()), SourceLink::default(), "{url}");
        }
        let none: [&[u8]; 5] =
            [b"", b"{}", b"{\"documents\"", b"\xff\xfe", br#"{"documents":["/*","https://x/*"]}"#];
        for json in none {
            assert_eq!(SourceLink::parse(json), SourceLink::default());
        }
    }

    #[test]
    fn an_address_and_the_json_have_maximum_lengths() {
        let link = SourceLink::parse(br#"{"documents":{"*":"https://example.com/*"}}"#);
        assert!(link.url(&"a".repeat(1_000)).is_some());
        assert_eq!(link.url(&"a".repeat(MAX_URL_BYTES)), None);
        assert_eq!(link.url(&"\u{1}".repeat(1_000)), None);
        let padded = format!(
            r#"{{{} "documents":{{"*":"https://example.com/*"}}}}"#,
            " ".repeat(MAX_JSON_BYTES)
        );
        assert_eq!(SourceLink::parse(padded.as_bytes()), SourceLink::default());
    }
}
