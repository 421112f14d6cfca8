//! Writes the providers to record for a report as words of a shell.

use crate::printable::printable;
use nettrace_analysis::report::Recording;

/// Returns values of `--providers`, each of which is enough, with the version of .NET from which on
/// it works.
pub(crate) fn providers(record: &[Recording]) -> Vec<String> {
    let shown = |recording: &Recording| {
        let provider = shell_word(&recording.to_string());
        match recording.since_version {
            0 => provider,
            version => format!("{provider} (.NET {version} and later)"),
        }
    };
    record.iter().map(shown).collect()
}

/// Quotes a name or an option for a shell of this system, if need be.
pub(crate) fn shell_word(word: &str) -> String {
    let (plain, quote): (_, fn(&str) -> String) = match cfg!(windows) {
        true => (PLAIN_ON_WINDOWS, quoted_on_windows),
        false => (PLAIN, quoted),
    };
    let is_plain = |c: char| c.is_alphanumeric() || plain.contains(c);
    let is_word = !word.is_empty() && word.chars().all(is_plain);
    if is_word { word.to_owned() } else { quote(&printable(word)) }
}

/// What needs no quotes beside letters and digits.
const PLAIN: &str = "._-/+,:=@%";
/// PowerShell takes a comma for a list, and a word with `@` for a variable.
const PLAIN_ON_WINDOWS: &str = "._-/+:=\\";

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Returns a word in the quotes that both shells of Windows know.
fn quoted_on_windows(word: &str) -> String {
    format!("\"{}\"", word.replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(windows)]
    fn a_word_is_written_as_both_shells_of_windows_take_it() {
        let words = [r"C:\a\b.nettrace", "my trace", "it's", "a,b"];
        let expected = [r"C:\a\b.nettrace", "\"my trace\"", "\"it's\"", "\"a,b\""];
        assert_eq!(words.map(shell_word), expected);
    }

    #[test]
    #[cfg(not(windows))]
    fn a_word_is_written_as_a_shell_takes_it() {
        let words = ["a/b.nettrace", "my trace", "it's", "A:0x2:4:Metrics=*"];
        assert_eq!(
            words.map(shell_word),
            ["a/b.nettrace", "'my trace'", "'it'\\''s'", "'A:0x2:4:Metrics=*'"]
        );
    }

    #[test]
    #[cfg(not(windows))]
    fn a_recommendation_says_what_is_enough_and_from_when_on() {
        let record =
            [Recording::new("A", 0, 4).arguments("B=*").since(9), Recording::runtime(1, 4)];
        assert_eq!(
            providers(&record),
            ["'A:0x0:4:B=*' (.NET 9 and later)", "Microsoft-Windows-DotNETRuntime:0x1:4"]
        );
    }
}
