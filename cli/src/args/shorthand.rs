//! Rewrites command lines that leave out the command, or have words in another order, into the form
//! that clap reads.

use super::Report;
use clap::{Command, Subcommand};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Writes a command line out in full. `nettrace FILE …` stands for `nettrace report summary FILE
/// …`, and so does `nettrace report FILE …`. The report's name may follow the trace and options, as
/// users of dotnet-trace write it: `nettrace report FILE topN`.
pub(super) fn written_out(mut args: Vec<OsString>, root: &Command) -> Vec<OsString> {
    if begins_with_an_option_of_a_report(&args, root) {
        args.splice(1..1, ["report".into(), "summary".into()]);
        return args;
    }
    let Some(first) = word_from(&args, 1) else { return args };
    let word = args[first].as_os_str();
    if is_trace(word) && word != "help" && root.find_subcommand(word).is_none() {
        args.splice(first..first, ["report".into(), "summary".into()]);
    } else if word == "report" {
        put_report_first(&mut args, first + 1);
    } else if word == "collect" {
        args[first..].iter_mut().take_while(|word| *word != "--").for_each(with_equals);
    }
    args
}

/// Returns whether a command line has an option that not all commands have, then a trace, and no
/// command: `nettrace --json FILE`, `nettrace --time 1s.. FILE`.
fn begins_with_an_option_of_a_report(args: &[OsString], root: &Command) -> bool {
    let words = || args.iter().skip(1).take_while(|word| *word != "--");
    let is_of_all = |word: &OsStr| {
        let text = word.to_string_lossy();
        let name = text.trim_start_matches('-').split('=').next().unwrap_or_default();
        let is_short = !text.starts_with("--");
        let known = root.get_arguments().any(|known| match is_short {
            true => known.get_short().is_some_and(|short| name.starts_with(short)),
            false => known.get_long() == Some(name),
        });
        known || matches!(&*text, "-h" | "-V" | "--help" | "--version")
    };
    let options = words().take_while(|word| is_option(word) || word.as_encoded_bytes().is_empty());
    let is_strange = options.into_iter().any(|word| !is_of_all(word));
    is_strange
        && !words().any(|word| word == "help" || root.find_subcommand(word).is_some())
        && words().any(|word| !is_option(word) && is_trace(word))
}

/// Returns the index of the first word, from `at` on, that is not an option of all commands.
fn word_from(args: &[OsString], mut at: usize) -> Option<usize> {
    while args.get(at).filter(|word| *word != "--").is_some_and(|word| is_option(word)) {
        // The value of `--color` may be a separate word.
        at += if args[at] == "--color" { 2 } else { 1 };
    }
    (at < args.len() && args[at] != "--").then_some(at)
}

fn is_option(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-") && word != "-"
}

/// Returns whether a word looks like the path of a trace. The file need not exist, so that the
/// error can name it.
fn is_trace(word: &OsStr) -> bool {
    let path = Path::new(word);
    let is_path = || path.extension().is_some() || path.components().count() > 1;
    word == "-" || is_path() || path.is_file()
}

/// Moves the report's name to index `at`, right after `report`.
fn put_report_first(args: &mut Vec<OsString>, at: usize) {
    let Some(next) = args.get(at) else { return };
    if next.to_str().is_some_and(Report::has_subcommand) {
        return;
    }
    let reports = Report::augment_subcommands(Command::new("report"));
    // Names of reports may be written in any case.
    let name_of = |word: &OsString| {
        let word = if word.eq_ignore_ascii_case("top") { OsStr::new("topN") } else { word };
        reports
            .get_subcommands()
            .map(Command::get_name)
            .find(|name| word.eq_ignore_ascii_case(name))
    };
    let words = || args[at..].iter().take_while(|word| *word != "--").enumerate();
    if let Some((offset, name)) = words().find_map(|(offset, word)| Some((offset, name_of(word)?)))
    {
        args.remove(at + offset);
        args.insert(at, name.into());
    } else if words().find(|(_, word)| !is_option(word)).is_some_and(|(_, word)| is_trace(word)) {
        args.insert(at, "summary".into());
    }
}

/// Replaces the colon of an option by an equals sign: `--rundown:false`, as dotnet-trace takes it,
/// stands for `--rundown=false`.
fn with_equals(word: &mut OsString) {
    let Some((option, value)) = word.to_str().and_then(|text| text.split_once(':')) else {
        return;
    };
    let is_option =
        option.starts_with('-') && option.chars().all(|c| c == '-' || c.is_ascii_lowercase());
    if is_option {
        *word = format!("{option}={value}").into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, CommonArgs};
    use clap::{Args, CommandFactory};

    fn written_out_line(line: &str) -> String {
        let args = line.split(' ').map(OsString::from).collect();
        let words = written_out(args, &Cli::command());
        words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_trace_in_the_place_of_a_command_or_of_a_report_is_summed_up() {
        for (short, long) in [
            ("n a.nettrace", "n report summary a.nettrace"),
            (
                "n -q --color never a.nettrace -n 5",
                "n -q --color never report summary a.nettrace -n 5",
            ),
            ("n -", "n report summary -"),
            ("n --json a.nettrace", "n report summary --json a.nettrace"),
            ("n -q --time 1s.. a.nettrace", "n report summary -q --time 1s.. a.nettrace"),
            ("n --json gc a.nettrace", "n report summary --json gc a.nettrace"),
            ("n --json stats a.nettrace", "n --json stats a.nettrace"),
            ("n report a.nettrace --json", "n report summary a.nettrace --json"),
            ("n report --json a.nettrace", "n report summary --json a.nettrace"),
            ("n -q report a/b", "n -q report summary a/b"),
            ("n stats a.nettrace", "n stats a.nettrace"),
            ("n gate a.nettrace", "n gate a.nettrace"),
            ("n stat a.nettrace", "n stat a.nettrace"),
            ("n report topM a.nettrace", "n report topM a.nettrace"),
            ("n -q", "n -q"),
            ("n -- a.nettrace", "n -- a.nettrace"),
        ] {
            assert_eq!(written_out_line(short), long);
        }
    }

    #[test]
    fn a_reports_name_may_follow_its_trace() {
        for (short, long) in [
            ("n report a.nettrace gc", "n report gc a.nettrace"),
            ("n report a.nettrace topn -n 5", "n report topN a.nettrace -n 5"),
            ("n report TOP a.nettrace", "n report topN a.nettrace"),
            ("n report a.nettrace -n 5 --json gc", "n report gc a.nettrace -n 5 --json"),
            ("n report --json gc a.nettrace", "n report gc --json a.nettrace"),
            ("n report tree a.nettrace --from gc", "n report tree a.nettrace --from gc"),
        ] {
            assert_eq!(written_out_line(short), long);
        }
    }

    #[test]
    fn only_one_option_of_all_commands_has_a_value() {
        let common = CommonArgs::augment_args(Command::new("n"));
        let with_value = common.get_arguments().filter(|arg| arg.get_action().takes_values());
        assert_eq!(with_value.filter_map(|arg| arg.get_long()).collect::<Vec<_>>(), ["color"]);
    }
}
