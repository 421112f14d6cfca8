//! Tags of counters and instruments.

/// Splits the pairs of `a=1,b=2`. `separator` is `=` for instruments and `:` for EventCounters. A
/// comma belongs to a value if no `=` follows, or if the text before the `=` cannot be a key: keys
/// are sorted, so a key comes after the last one.
///
/// ```
/// let tags = nettrace_export::tags_of("ids=1,2,route=/orders", '=');
/// assert_eq!(tags, [("ids".into(), "1,2".into()), ("route".into(), "/orders".into())]);
/// ```
pub fn tags_of(text: &str, separator: char) -> Vec<(String, String)> {
    let mut tags: Vec<(String, String)> = Vec::new();
    for part in text.split(',') {
        // Tags of instruments are sorted by key.
        let follows =
            |key: &str| separator != '=' || tags.last().is_none_or(|(last, _)| last.as_str() < key);
        let pair = part.split_once(separator).filter(|(key, _)| follows(key));
        match (pair, tags.last_mut()) {
            (Some((key, value)), _) => tags.push((key.to_owned(), value.to_owned())),
            (None, Some((_, value))) => {
                value.push(',');
                value.push_str(part);
            }
            (None, None) if part.is_empty() => {}
            (None, None) => tags.push((part.to_owned(), String::new())),
        }
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_pairs_even_if_values_have_commas() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(tags_of("core=0,kind=tëä", '='), [pair("core", "0"), pair("kind", "tëä")]);
        assert_eq!(tags_of("a=1,2,b=x=y", '='), [pair("a", "1,2"), pair("b", "x=y")]);
        assert_eq!(tags_of("alone", '='), [pair("alone", "")]);
        assert_eq!(
            tags_of("plain=simple,url=/items?filter=red,blue&sort=name,", '='),
            [pair("plain", "simple"), pair("url", "/items?filter=red,blue&sort=name,")]
        );
        assert_eq!(tags_of("", '='), []);
    }
}
