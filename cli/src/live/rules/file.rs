//! Reads a file of rules. Errors name line and column, and what to write instead.

use super::{Action, Limit, Rule, Rules, Start, WhenFull};
use crate::args::amount::{Bytes, Span};
use crate::args::providers::{ClrEvents, ProviderList, RundownChoice};
use crate::args::{ProfileName, SessionArgs};
use crate::failure::{Failure, plain};
use crate::live::{counters, request};
use clap::ValueEnum;
use nettrace_export::Predicate;
use nettrace_export::nearest::{nearest, suggestion};
use nettrace_ipc::{RequestError, Rundown};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Default duration of a recording.
const DEFAULT_DURATION: Duration = Duration::from_secs(30);
/// Default of `keep-after`.
const DEFAULT_KEEP_AFTER: Duration = Duration::from_secs(5);
/// Default pause after a rule has fired.
const DEFAULT_COOLDOWN: Duration = Duration::from_secs(60);
/// Maximum size of a file of rules, which is written by hand, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Maximum number of rules, because all of them may record at the same time, each a file of its
/// own.
const MAX_RULES: usize = 64;

const TOP: [&str; 6] = ["folder", "interval", "max-disk", "max-files", "rule", "when-full"];
const OF_RULE: [&str; 18] = [
    "action",
    "buffersize",
    "clreventlevel",
    "clrevents",
    "cooldown",
    "duration",
    "keep-after",
    "max-disk",
    "max-files",
    "max-size",
    "name",
    "no-stacks",
    "profile",
    "providers",
    "rundown",
    "watch",
    "when",
    "when-full",
];
/// Keys that only a rule with action `start` has.
const OF_START: [&str; 9] = [
    "buffersize",
    "clreventlevel",
    "clrevents",
    "duration",
    "max-size",
    "no-stacks",
    "profile",
    "providers",
    "rundown",
];

impl Rules {
    /// Reads a file. `args` and `rundown` of the command line are the defaults of each rule.
    ///
    /// # Errors
    /// The file cannot be read, or something in it is wrong.
    pub(crate) fn read(
        path: &Path,
        args: &SessionArgs,
        rundown: Option<RundownChoice>,
    ) -> Result<Rules, Failure> {
        let name = path.display().to_string();
        let cannot = |message: String| Failure::input(name.clone(), message);
        let too_long = || cannot("is no file of rules: it has more than 1 MiB".to_owned());
        let length = std::fs::metadata(path).map_err(|error| cannot(plain(&error)))?.len();
        // The length is checked before the file is read, because `--rules` may name a trace by
        // mistake.
        if length > MAX_FILE_BYTES {
            return Err(too_long());
        }
        let text = std::fs::read_to_string(path).map_err(|error| cannot(plain(&error)))?;
        Rules::parse(&name, &text, args, rundown)
    }

    fn parse(
        file: &str,
        text: &str,
        args: &SessionArgs,
        rundown: Option<RundownChoice>,
    ) -> Result<Rules, Failure> {
        let source = Source { file, text };
        let parsed = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(text.len(), |span| span.start);
            source.wrong(at, &format!("{}; docs/rules.md has an example", error.message()))
        })?;
        let top = Fields { source, table: parsed.get_ref(), at: parsed.span().start };
        top.check(&TOP, "a file of rules")?;
        let mut all: Vec<Rule> = Vec::new();
        for (at, table) in top.tables("rule")? {
            let fields = Fields { source, table, at };
            let rule = rule(&fields, args, rundown)?;
            if all.iter().any(|other| other.name == rule.name) {
                let text = format!("a rule before this is called \"{}\", too", rule.name);
                return Err(fields.wrong("name", &text));
            }
            all.push(rule);
        }
        if all.is_empty() {
            let text =
                "there is no rule; write [[rule]], and below it name = \"…\" and when = \"…\"";
            return Err(source.wrong(source.text.trim_end().len(), text));
        }
        if all.len() > MAX_RULES {
            let text = format!("there are {} rules; {MAX_RULES} are the most", all.len());
            return Err(source.wrong(0, &text));
        }
        let interval =
            top.parsed::<Span>("interval")?.map_or(Duration::from_secs(1), |span| span.0);
        if interval < Duration::from_millis(100) {
            return Err(top.wrong("interval", "counters come every 100ms at most"));
        }
        let folder = top.text("folder")?.map(PathBuf::from);
        if let Some(folder) = folder.as_ref().filter(|folder| !folder.is_dir()) {
            let text = format!("there is no folder {}; make it first", folder.display());
            return Err(top.wrong("folder", &text));
        }
        Ok(Rules { all, folder, interval, limit: top.limit()? })
    }
}

fn rule(
    fields: &Fields<'_>,
    args: &SessionArgs,
    rundown: Option<RundownChoice>,
) -> Result<Rule, Failure> {
    fields.check(&OF_RULE, "a rule")?;
    let name = fields.needed("name", "name = \"busy\": it is part of the names of its files")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if name.is_empty() || name.len() > 40 || !name.chars().all(is_plain) {
        let text = format!(
            "\"{name}\" is no name of a rule: 1 to 40 letters, digits and -, since files are called so"
        );
        return Err(fields.wrong("name", &text));
    }
    let example = "when = \"System.Runtime/cpu-usage > 80 for 10s\"";
    let when = fields.needed("when", example)?;
    let condition = Predicate::parse_event(when).map_err(|error| {
        // The column inside the condition is added to the place of its text, if the file has that
        // text without escapes.
        let (at, is_exact) = fields.inside("when", error.column());
        match is_exact {
            true => fields.source.wrong(at, error.reason()),
            false => fields.source.wrong(at, &error.to_string()),
        }
    })?;
    let failed = |key: &str| {
        let at = fields.place(key);
        move |error: RequestError| fields.source.wrong(at, &error.to_string())
    };
    let watched = match fields.parsed::<ProviderList>("watch")? {
        Some(list) => list.providers,
        None => counters::providers_of_events(&condition).map_err(failed("when"))?,
    };
    let action = match fields.text("action")?.unwrap_or("start") {
        "start" => {
            if fields.has("keep-after") {
                return Err(fields
                    .wrong("keep-after", "only action = \"keep\" has it; \"start\" has duration"));
            }
            Action::Start(Box::new(start(fields, args, rundown)?))
        }
        "keep" => {
            if let Some(key) = OF_START.into_iter().find(|key| fields.has(key)) {
                let text = format!(
                    "action = \"keep\" has no {key}: the rotation's recording is kept as it is"
                );
                return Err(fields.wrong(key, &text));
            }
            let after =
                fields.parsed::<Span>("keep-after")?.map_or(DEFAULT_KEEP_AFTER, |span| span.0);
            Action::Keep { after }
        }
        other => {
            let text = format!("\"{other}\" is no action; write \"start\" or \"keep\"");
            return Err(fields.wrong("action", &text));
        }
    };
    let cooldown = fields.parsed::<Span>("cooldown")?.map_or(DEFAULT_COOLDOWN, |span| span.0);
    Ok(Rule { name: name.to_owned(), condition, watched, action, cooldown, limit: fields.limit()? })
}

fn start(
    fields: &Fields<'_>,
    args: &SessionArgs,
    rundown: Option<RundownChoice>,
) -> Result<Start, Failure> {
    let mut session = args.clone();
    if ["profile", "providers", "clrevents"].iter().any(|key| fields.has(key)) {
        // The providers of a rule replace those of the command line; its other options stay.
        session.profile.clear();
        session.providers.clear();
        session.events.clear();
        session.clrevents = None;
    }
    for (at, name) in fields.texts("profile")? {
        let profile = ProfileName::from_str(name, true).map_err(|_| {
            let all = ProfileName::value_variants().iter().filter_map(ValueEnum::to_possible_value);
            let all: Vec<String> = all.map(|value| value.get_name().to_owned()).collect();
            let near = nearest(name, all.iter().map(String::as_str));
            let hint = match near.is_empty() {
                true => format!("; there are {}", all.join(", ")),
                false => suggestion(&near),
            };
            fields.source.wrong(at, &format!("there is no profile {name}{hint}"))
        })?;
        session.profile.push(profile);
    }
    session.providers.extend(fields.parsed::<ProviderList>("providers")?);
    session.clrevents = fields.parsed::<ClrEvents>("clrevents")?.or(session.clrevents);
    if let Some(level) = fields.text("clreventlevel")? {
        let level = crate::args::providers::level(level);
        session.clreventlevel = level.map_err(|error| fields.wrong("clreventlevel", &error))?;
    }
    if let Some(megabytes) = fields.number("buffersize")? {
        let megabytes = u32::try_from(megabytes).ok().and_then(std::num::NonZeroU32::new);
        session.buffersize =
            megabytes.ok_or_else(|| fields.wrong("buffersize", "it is too large"))?;
    }
    session.no_stacks = fields.boolean("no-stacks")?.unwrap_or(session.no_stacks);
    let rundown = fields.parsed::<RundownChoice>("rundown")?.or(rundown);
    let rundown: Rundown = request::rundown(&session, rundown);
    let config = request::config(&session, Vec::new(), rundown)
        .map_err(|failure| fields.source.wrong(fields.at, &failure.to_string()))?;
    Ok(Start {
        session,
        config,
        duration: fields.parsed::<Span>("duration")?.map_or(DEFAULT_DURATION, |span| span.0),
        max_bytes: fields.parsed::<Bytes>("max-size")?.map(|bytes| bytes.0),
    })
}

/// Name and text of the file, from which places in it are computed.
#[derive(Debug, Clone, Copy)]
struct Source<'t> {
    file: &'t str,
    text: &'t str,
}

impl Source<'_> {
    /// Returns a failure that names a place. `at` is its offset in bytes.
    fn wrong(&self, at: usize, message: &str) -> Failure {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.split('\n').count();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Failure::input(format!("{}:{line}:{column}", self.file), message)
    }
}

/// The keys of a table.
#[derive(Debug, Clone, Copy)]
struct Fields<'t> {
    source: Source<'t>,
    table: &'t DeTable<'t>,
    /// Offset of the table in the file, in bytes.
    at: usize,
}

impl<'t> Fields<'t> {
    fn get(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns the offset of a key's value, or of the table if it lacks the key.
    fn place(&self, key: &str) -> usize {
        self.get(key).map_or(self.at, |value| value.span().start)
    }

    /// Returns the offset of a character in the text of a key, and whether the offset is exact,
    /// which it is only if nothing in the text is escaped. `column` counts from 1.
    fn inside(&self, key: &str, column: usize) -> (usize, bool) {
        let Some(value) = self.get(key) else { return (self.at, false) };
        let span = value.span();
        let written = self.source.text.get(span.clone()).unwrap_or_default();
        let is_plain = written.starts_with('\'') && !written.starts_with("'''")
            || written.starts_with('"')
                && !written.starts_with("\"\"\"")
                && !written.contains('\\');
        match written.char_indices().nth(column).filter(|_| is_plain) {
            Some((offset, _)) => (span.start + offset, true),
            None => (span.start, false),
        }
    }

    fn wrong(&self, key: &str, message: &str) -> Failure {
        self.source.wrong(self.place(key), message)
    }

    /// Refuses unknown keys.
    fn check(&self, known: &[&str], what: &str) -> Result<(), Failure> {
        for name in self.table.keys() {
            if !known.contains(&name.get_ref().as_ref()) {
                let near = nearest(name.get_ref(), known.iter().copied());
                let hint = match near.is_empty() {
                    true => format!("; it has {}", known.join(", ")),
                    false => suggestion(&near),
                };
                let text = format!("{what} has no key {}{hint}", name.get_ref());
                return Err(self.source.wrong(name.span().start, &text));
            }
        }
        Ok(())
    }

    fn text(&self, key: &str) -> Result<Option<&'t str>, Failure> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::String(text) => Ok(Some(text)),
            _ => Err(self.wrong(key, &format!("{key} is a text; put it into quotes"))),
        }
    }

    fn needed(&self, key: &str, example: &str) -> Result<&'t str, Failure> {
        self.text(key)?.ok_or_else(|| {
            self.source.wrong(self.at, &format!("this rule has no {key}; write {example}"))
        })
    }

    /// Reads one text, a list of texts, or texts with commas between them, each with its offset.
    fn texts(&self, key: &str) -> Result<Vec<(usize, &'t str)>, Failure> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let wrong = |at| {
            self.source.wrong(at, &format!("{key} is a text, or a list of texts: [\"…\", \"…\"]"))
        };
        match value.get_ref() {
            DeValue::String(text) => {
                Ok(text.split(',').map(|part| (value.span().start, part.trim())).collect())
            }
            DeValue::Array(parts) => parts
                .iter()
                .map(|part| match part.get_ref() {
                    DeValue::String(text) => Ok((part.span().start, text.as_ref())),
                    _ => Err(wrong(part.span().start)),
                })
                .collect(),
            _ => Err(wrong(value.span().start)),
        }
    }

    fn parsed<T: FromStr<Err = String>>(&self, key: &str) -> Result<Option<T>, Failure> {
        let text = self.text(key)?;
        text.map(|text| text.parse().map_err(|error: String| self.wrong(key, &error))).transpose()
    }

    /// Reads a whole number from 1 on.
    fn number(&self, key: &str) -> Result<Option<u64>, Failure> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = match value.get_ref() {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        let number = number.filter(|number| *number > 0);
        number.map(Some).ok_or_else(|| {
            self.wrong(key, &format!("{key} is a whole number from 1 on, without quotes"))
        })
    }

    fn boolean(&self, key: &str) -> Result<Option<bool>, Failure> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Boolean(is_so) => Ok(Some(*is_so)),
            _ => Err(self.wrong(key, &format!("{key} is true or false, without quotes"))),
        }
    }

    /// Reads tables in a list, with their offsets.
    fn tables(&self, key: &str) -> Result<Vec<(usize, &'t DeTable<'t>)>, Failure> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let DeValue::Array(parts) = value.get_ref() else {
            return Err(
                self.wrong(key, &format!("each {key} begins with [[{key}]], in two brackets"))
            );
        };
        let table = |part: &'t Spanned<DeValue<'t>>| match part.get_ref() {
            DeValue::Table(table) => Ok((part.span().start, table)),
            _ => Err(self
                .source
                .wrong(part.span().start, &format!("each {key} begins with [[{key}]]"))),
        };
        parts.iter().map(table).collect()
    }

    fn limit(&self) -> Result<Limit, Failure> {
        let files =
            self.number("max-files")?.map(|files| usize::try_from(files).unwrap_or(usize::MAX));
        let bytes = self.parsed::<Bytes>("max-disk")?.map(|bytes| bytes.0);
        let when_full = match self.text("when-full")?.unwrap_or("delete-oldest") {
            "delete-oldest" => WhenFull::DeleteOldest,
            "stop" => WhenFull::Stop,
            other => {
                let text = format!("\"{other}\" is not known; write \"delete-oldest\" or \"stop\"");
                return Err(self.wrong("when-full", &text));
            }
        };
        if self.has("when-full") && files.is_none() && bytes.is_none() {
            let text = "there is nothing that could be full; write max-files = 5 or max-disk = \"1GB\", too";
            return Err(self.wrong("when-full", text));
        }
        Ok(Limit { files, bytes, when_full })
    }
}
