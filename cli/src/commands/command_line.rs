//! The whole command line: what [`crate::args`] defines, with a subcommand for each
//! report and the list of formats.

use super::convert::formats_for_help;
use super::report::{REPORTS, ReportRow, find};
use crate::args::{self, CONVERT_EXAMPLES, Cli, GATE, ReportArgs};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command};
use std::ffi::OsString;

/// What these arguments are parsed by. Only commands and reports that they name have
/// their options: those of all take longer to define than a small trace takes to read.
pub(crate) fn of_args(args: &[OsString]) -> Command {
    let is_named = |name: &str| args.iter().any(|word| word == name);
    let has_command = command_at(args).is_some_and(|at| args::is_command(&args[at]));
    let is_version = args.get(1).is_some_and(|word| word == "--version" || word == "-V");
    // Only help, and a word that is no command, need to know what all commands are for.
    let is_wanted = |name: &str| {
        is_named(name) || name == "diff" && is_named(GATE) || !has_command && !is_version
    };
    let command = with_reports(is_wanted, |row| {
        if is_named(row.name) { subcommand(row) } else { Command::new(row.name).about(row.about) }
    });
    // An export has an option of its own that is called --wide, and no tables on a
    // terminal.
    if command_at(args).is_some_and(|at| args[at] == "export") {
        return command.mut_arg("wide", |wide| wide.global(false));
    }
    command
}

fn with_reports(
    is_wanted: impl Fn(&str) -> bool,
    subcommand: impl Fn(&'static ReportRow) -> Command,
) -> Command {
    let mut command = Cli::with_options_of(&is_wanted);
    if is_wanted("report") {
        command = command
            .mut_subcommand("report", |report| report.subcommands(REPORTS.iter().map(subcommand)));
    }
    if is_wanted("convert") {
        let convert_help = format!("Formats:\n{}\n{CONVERT_EXAMPLES}", formats_for_help());
        command = command.mut_subcommand("convert", |convert| convert.after_help(convert_help));
    }
    command
}

/// The whole command line without the options that a report has only to refuse them: for
/// completions and manual pages.
pub(super) fn shown() -> Command {
    fn without_hidden(command: Command) -> Command {
        let Some(row) = find(command.get_name()) else { return command };
        let mut shown = Command::new(row.name);
        if let Some(about) = command.get_about() {
            shown = shown.about(about.clone());
        }
        if let Some(after) = command.get_after_help() {
            shown = shown.after_help(after.clone());
        }
        shown.args(command.get_arguments().filter(|arg| !arg.is_hide_set()).cloned())
    }
    with_reports(|_| true, subcommand)
        .mut_subcommand("report", |report| report.mut_subcommands(without_hidden))
}

/// Fails if a report was given an option that is for other reports.
pub(crate) fn check(matches: &ArgMatches) -> Result<(), clap::Error> {
    let report = matches.subcommand_matches("report").and_then(ArgMatches::subcommand);
    match report.and_then(|(name, own)| Some((find(name)?, own))) {
        Some((row, own)) => refuse_others(row, own),
        None => Ok(()),
    }
}

/// One report's subcommand. Options that are for other reports are there, but hidden: so
/// they can be refused with the name of the report that has them.
fn subcommand(row: &'static ReportRow) -> Command {
    let record = crate::recommended::providers(row.record);
    let command = ReportArgs::augment_args(Command::new(row.name))
        .about(row.about)
        .override_usage(format!("nettrace report {} [OPTIONS] <FILE>", row.name))
        .mut_args(|arg| if takes(row, arg.get_id().as_str()) { arg } else { arg.hide(true) });
    match record.as_slice() {
        [] => command,
        record => command.after_help(format!(
            "Record with --providers {}",
            record.join("\n or with --providers ")
        )),
    }
}

/// Options that every report takes.
const OF_ALL: &[&str] =
    &["file", "no_mmap", "input_limit", "color", "quiet", "wide", "help", "version"];

fn takes(row: &ReportRow, id: &str) -> bool {
    OF_ALL.contains(&id)
        || row.has_json && id == "json"
        || row.flags.iter().any(|flags| flags.contains(&id))
}

/// Fails if an option was given that the report does not take.
fn refuse_others(row: &ReportRow, matches: &ArgMatches) -> Result<(), clap::Error> {
    let all = ReportArgs::augment_args(Command::new(row.name));
    let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let Some(arg) = all
        .get_arguments()
        .find(|arg| !takes(row, arg.get_id().as_str()) && is_given(arg.get_id().as_str()))
    else {
        return Ok(());
    };
    let (id, flag) = (arg.get_id().as_str(), arg.get_long().unwrap_or_default());
    let others: Vec<&str> =
        REPORTS.iter().filter(|other| takes(other, id)).map(|other| other.name).collect();
    let message = format!(
        "report {} has no option --{flag}; it belongs to {}\n\nFor its options, try '{}'.\n",
        row.name,
        others.join(", "),
        format_args!("nettrace report {} --help", row.name),
    );
    Err(clap::Error::raw(ErrorKind::UnknownArgument, message))
}

/// Puts the report's name right after `report`, wherever it stands: users of
/// dotnet-trace have the trace in front of it. `report FILE` stands for `report summary
/// FILE`.
pub(crate) fn with_report_first(mut args: Vec<OsString>) -> Vec<OsString> {
    let Some(command) =
        command_at(&args).filter(|at| args.get(*at).is_some_and(|word| word == "report"))
    else {
        return args;
    };
    // Where it stands there already, options that have values need not be known.
    let behind = command.saturating_add(1);
    if let Some(row) = args.get(behind).and_then(|word| find(word.to_str()?)) {
        args[behind] = row.name.into();
        return args;
    }
    let words = words_behind(&args, command);
    let named = words.iter().find_map(|at| Some((*at, find(args.get(*at)?.to_str()?)?)));
    let name = match (named, words.as_slice()) {
        (Some((at, row)), _) => {
            args.remove(at);
            row.name
        }
        (None, [_]) => "summary",
        (None, _) => return args,
    };
    args.insert(behind, name.into());
    args
}

/// The place of the command: the first word that is no option of all commands.
fn command_at(args: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(option) = args.get(at).filter(|word| word.as_encoded_bytes().starts_with(b"-")) {
        at = at.saturating_add(if option == "--color" { 2 } else { 1 });
    }
    (at < args.len()).then_some(at)
}

/// The places of words that are neither options nor their values.
fn words_behind(args: &[OsString], command: usize) -> Vec<usize> {
    let all = ReportArgs::augment_args(Command::new("report"));
    let with_value: Vec<String> = all
        .get_arguments()
        .filter(|arg| arg.get_action().takes_values())
        .flat_map(|arg| {
            let longs = arg.get_long_and_visible_aliases().unwrap_or_default().into_iter();
            let shorts = arg.get_short_and_visible_aliases().unwrap_or_default().into_iter();
            longs
                .map(|long| format!("--{long}"))
                .chain(shorts.map(|short| format!("-{short}")))
                .collect::<Vec<_>>()
        })
        .chain(["--color".to_owned()])
        .collect();
    let mut words = Vec::new();
    let mut at = command.saturating_add(1);
    while let Some(word) = args.get(at).filter(|word| *word != "--") {
        if !word.as_encoded_bytes().starts_with(b"-") || word == "-" {
            words.push(at);
        } else if with_value.iter().any(|option| word == option.as_str()) {
            at = at.saturating_add(1);
        }
        at = at.saturating_add(1);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    /// A command and all below it, by their names.
    fn all_below(command: &Command, names: &str, found: &mut Vec<(String, Command)>) {
        let names = format!("{names} {}", command.get_name());
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            all_below(below, &names, found);
        }
        found.push((names, command.clone()));
    }

    #[test]
    fn help_fits_into_80_columns_and_leaves_columns_and_examples_as_they_are() {
        let mut whole = shown();
        whole.build();
        let mut all = Vec::new();
        all_below(&whole, "", &mut all);
        assert!(all.len() > 50, "{}", all.len());
        let mut wrong = Vec::new();
        for (names, command) in all {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let help = command.term_width(80).render_long_help().to_string();
            let lines: Vec<&str> = help.lines().collect();
            let is_wide = |line: &&&str| line.width() > 80 && line.trim().contains(' ');
            wrong.extend(lines.iter().filter(is_wide).map(|line| format!("{names}: {line}")));
            for line in after.lines().filter(|line| line.starts_with("  ")) {
                if line.width() > 78 || !lines.contains(&line) {
                    wrong.push(format!("{names}, its own: {line}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
