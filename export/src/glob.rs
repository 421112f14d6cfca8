//! Wildcards: `*` matches any text, `?` matches one character; the case of letters is ignored.

/// A pattern with wildcards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    text: String,
    lowered: Vec<char>,
}

impl Glob {
    /// Parses a pattern; every text is valid.
    pub fn new(text: &str) -> Glob {
        Glob { text: text.to_owned(), lowered: lowered(text).collect() }
    }

    /// Returns the pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether the pattern matches all of `name`. The time is at most proportional to the
    /// product of both lengths.
    pub fn is_match(&self, name: &str) -> bool {
        let name: Vec<char> = lowered(name).collect();
        let (mut at, mut place) = (0, 0);
        // Position of the last star in the pattern, and the end of the text that it matches.
        let mut star: Option<(usize, usize)> = None;
        while place < name.len() {
            match self.lowered.get(at) {
                Some('*') => {
                    star = Some((at, place));
                    at = at.saturating_add(1);
                }
                Some(wanted) if *wanted == '?' || Some(wanted) == name.get(place) => {
                    at = at.saturating_add(1);
                    place = place.saturating_add(1);
                }
                _ => match star {
                    Some((star_at, reached)) => {
                        let further = reached.saturating_add(1);
                        star = Some((star_at, further));
                        at = star_at.saturating_add(1);
                        place = further;
                    }
                    None => return false,
                },
            }
        }
        self.lowered.iter().skip(at).all(|rest| *rest == '*')
    }
}

fn lowered(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_text_and_characters() {
        let cases = [
            ("*", "", true),
            ("*", "x", true),
            ("", "", true),
            ("", "x", false),
            ("*runtime", "Microsoft-Windows-DotNETRuntime", true),
            ("*runtime", "Microsoft-Windows-DotNETRuntimeRundown", false),
            ("*runtime*", "Microsoft-Windows-DotNETRuntimeRundown", true),
            ("System.*", "System.Runtime", true),
            ("System.?untime", "System.Runtime", true),
            ("System.??untime", "System.Runtime", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b-c-d", false),
            ("ÄÖ*", "äöü", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(Glob::new(pattern).is_match(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let pattern = "a*".repeat(30) + "b";
        assert!(!Glob::new(&pattern).is_match(&"a".repeat(2000)));
    }
}
