//! Suggestions of existing names that are similar to a name that does not exist.

/// Returns up to three of `names` that are similar to `wanted`, the most similar name first.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted: Vec<char> =
        wanted.to_lowercase().chars().filter(|c| !matches!(c, '*' | '?')).collect();
    let needle: String = wanted.iter().collect();
    let mut found: Vec<(usize, &str)> = names
        .filter_map(|name| {
            let lowered = name.to_lowercase();
            if !needle.is_empty() && lowered.contains(&needle) {
                return Some((0, name));
            }
            let name_chars: Vec<char> = lowered.chars().collect();
            let distance = distance(&wanted, &name_chars);
            // A third of the characters may differ.
            (distance.saturating_mul(3) <= wanted.len().max(3)).then_some((distance, name))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    // If a name differs in a single character, a name that differs in five was hardly meant.
    let least = found.first().map_or(0, |(distance, _)| *distance);
    found.retain(|(distance, _)| *distance <= least.saturating_mul(2).saturating_add(1));
    found.truncate(3);
    found.into_iter().map(|(_, name)| name).collect()
}

/// Returns a question about the names to add to a message: ` (is it a or b?)`. Returns an empty
/// text if there are no names.
pub fn suggestion(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("; did you mean {one}?"),
        [rest @ .., last] => format!("; did you mean {} or {last}?", rest.join(", ")),
    }
}

/// Returns the number of changes that convert one text to the other. A change inserts, removes or
/// replaces a character, or swaps it with the next one. Texts are cut off at 256 characters.
fn distance(a: &[char], b: &[char]) -> usize {
    let (a, b) = (a.get(..256).unwrap_or(a), b.get(..256).unwrap_or(b));
    // Positions outside of a row are never the cheapest.
    let cost = |row: &[usize], place: Option<usize>, more: usize| {
        let found = place.and_then(|place| row.get(place)).copied();
        found.unwrap_or(usize::MAX).saturating_add(more)
    };
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i.saturating_add(1)];
        for (j, y) in b.iter().enumerate() {
            let changed = cost(&row, Some(j), usize::from(x != y));
            let taken_out = cost(&row, j.checked_add(1), 1);
            let put_in = cost(&next, Some(j), 1);
            let letter = |text: &[char], place: usize| text.get(place.checked_sub(1)?).copied();
            let is_swap = letter(a, i) == Some(*y) && letter(b, j) == Some(*x);
            let swapped = if is_swap { cost(&before, j.checked_sub(1), 1) } else { usize::MAX };
            next.push(changed.min(taken_out).min(put_in).min(swapped));
        }
        before = std::mem::replace(&mut row, next);
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
    fn the_distance_counts_letters_put_in_taken_out_changed_and_swapped() {
        let cases = [
            ("", "", 0),
            ("abc", "", 3),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("flaw", "lawn", 2),
            ("strat", "start", 1),
        ];
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
        let fields = ["ExceptionMessage", "ExceptionFlags", "ExceptionEIP"];
        assert_eq!(nearest("ExceptionMesage", fields.into_iter()), ["ExceptionMessage"]);
        assert!(nearest("Something.Else", names.into_iter()).is_empty());
        assert_eq!(suggestion(&["a", "b", "c"]), "; did you mean a, b or c?");
    }
}
