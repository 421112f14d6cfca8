//! What a user may have meant: the names nearest to one that does not exist.

/// At most three of `names` that are like `wanted`, nearest first.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().filter(|c| !matches!(c, '*' | '?')).collect();
    let needle: String = wanted.iter().collect();
    let mut found: Vec<(usize, &str)> = names
        .filter_map(|name| {
            let lowered = name.to_lowercase();
            if !needle.is_empty() && lowered.contains(&needle) {
                return Some((0, name));
            }
            let name_chars: Vec<char> = lowered.chars().collect();
            let distance = distance(&wanted, &name_chars);
            // A third of the letters may be wrong.
            (distance * 3 <= wanted.len().max(3)).then_some((distance, name))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(3);
    found.into_iter().map(|(_, name)| name).collect()
}

/// The names as a half-sentence: ` (is it a or b?)`, empty without names.
pub(crate) fn suggestion(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("; did you mean {one}?"),
        [rest @ .., last] => format!("; did you mean {} or {last}?", rest.join(", ")),
    }
}

/// How many letters must be put in, taken out or changed to make one text of the other. Texts are cut at
/// 256 letters.
fn distance(a: &[char], b: &[char]) -> usize {
    let (a, b) = (a.get(..256).unwrap_or(a), b.get(..256).unwrap_or(b));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (y, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let above = *cell;
            left = (diagonal + usize::from(x != y)).min(left + 1).min(above + 1);
            diagonal = above;
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    #[test]
    fn the_distance_counts_letters_put_in_taken_out_and_changed() {
        let cases =
            [("", "", 0), ("abc", "", 3), ("", "abc", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2)];
        for (a, b, expected) in cases {
            assert_eq!(distance(&letters(a), &letters(b)), expected, "{a} {b}");
        }
    }

    #[test]
    fn misspelt_and_shortened_names_are_found() {
        let names = ["System.Runtime", "Microsoft-Windows-DotNETRuntime", "Demo"];
        assert_eq!(nearest("System.Runtme", names.into_iter()), ["System.Runtime"]);
        let both = nearest("runtime", names.into_iter());
        assert_eq!(both, ["Microsoft-Windows-DotNETRuntime", "System.Runtime"]);
        assert!(nearest("Something.Else", names.into_iter()).is_empty());
        assert_eq!(suggestion(&["a", "b", "c"]), "; did you mean a, b or c?");
    }
}
