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

/// Quotes a name or an option for a shell, if need be.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-/+,:=@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", printable(word).replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_written_as_a_shell_takes_it() {
        let words = ["a/b.nettrace", "my trace", "it's", "A:0x2:4:Metrics=*"];
        assert_eq!(
            words.map(shell_word),
            ["a/b.nettrace", "'my trace'", "'it'\\''s'", "'A:0x2:4:Metrics=*'"]
        );
    }

    #[test]
    fn a_recommendation_says_what_is_enough_and_from_when_on() {
        let record =
            [Recording::new("A", 0, 4).arguments("B=*").since(9), Recording::runtime(1, 4)];
        assert_eq!(
            providers(&record),
            ["'A:0x0:4:B=*' (.NET 9 and later)", "Microsoft-Windows-DotNETRuntime:0x1:4"]
        );
    }
}
