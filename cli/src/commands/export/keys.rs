//! Partition folders by properties of a trace: `process=web/date=2026-11-23/host=a1`.

use crate::failure::Failure;
use nettrace_tables::ContentHash;
use regex::Regex;
use std::path::PathBuf;

/// Folder name for an unknown value, as in Hive.
const UNKNOWN: &str = "__HIVE_DEFAULT_PARTITION__";

/// Keys of `--partition-by`, outermost folder first.
#[derive(Debug, Default)]
pub(super) struct Keys(Vec<Key>);

#[derive(Debug)]
struct Key {
    name: String,
    source: ValueSource,
}

/// Source of a key's value.
#[derive(Debug)]
enum ValueSource {
    Process,
    Date,
    /// Name of the folder this many levels above the trace; at least 1.
    Folder(usize),
    PathMatch(Regex),
    Property(String),
    CommandMatch(Regex),
    Text(Option<String>),
}

/// Properties of a trace from which keys take their values.
#[derive(Debug, Default)]
pub(super) struct Facts<'f> {
    pub(super) path: &'f str,
    pub(super) process: Option<&'f str>,
    pub(super) command_line: Option<&'f str>,
    pub(super) start_unix_ns: Option<i64>,
    pub(super) properties: &'f [(String, String)],
}

impl Keys {
    /// Parses keys separated by commas. A comma that is not followed by a key is part of the
    /// expression before it.
    pub(super) fn parse(texts: &[String]) -> Result<Keys, Failure> {
        let mut pieces: Vec<String> = Vec::new();
        for text in texts {
            for (at, piece) in text.split(',').enumerate() {
                match pieces.last_mut() {
                    Some(last) if at > 0 && !is_key(piece) => {
                        last.push(',');
                        last.push_str(piece);
                    }
                    _ => pieces.push(piece.to_owned()),
                }
            }
        }
        let keys: Vec<Key> = pieces.iter().map(|piece| key(piece)).collect::<Result<_, _>>()?;
        for (at, key) in keys.iter().enumerate() {
            if keys.iter().take(at).any(|other| other.name == key.name) {
                return Err(Failure::Usage(format!(
                    "--partition-by: {} is named more than once",
                    key.name
                )));
            }
        }
        Ok(Keys(keys))
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.0.iter().map(|key| &*key.name).collect()
    }

    /// Returns the folder of a trace, relative to the folder of a table.
    pub(super) fn folder(&self, facts: &Facts<'_>) -> PathBuf {
        self.0
            .iter()
            .map(|key| format!("{}={}", key.name, escaped(key.source.value(facts))))
            .collect()
    }

    /// Returns the folder of files that belong to no trace.
    pub(super) fn unknown_folder(&self) -> PathBuf {
        self.0.iter().map(|key| format!("{}={UNKNOWN}", key.name)).collect()
    }
}

fn is_key(piece: &str) -> bool {
    let name = piece.split_once('=').map_or(piece, |(name, _)| name);
    matches!(piece, "process" | "date") || (name != piece && is_name(name))
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn key(piece: &str) -> Result<Key, Failure> {
    let wrong = |why: &str| Failure::Usage(format!("--partition-by {piece}: {why}"));
    let named = |name: &str, source| Ok(Key { name: name.to_owned(), source });
    match piece {
        "process" => return named("process", ValueSource::Process),
        "date" => return named("date", ValueSource::Date),
        _ => {}
    }
    let Some((name, expression)) = piece.split_once('=') else {
        return Err(wrong("give process, date, or NAME=EXPR, such as host=dir"));
    };
    if !is_name(name) {
        return Err(wrong("a name consists of lower-case letters, digits and _"));
    }
    // Query engines read a key as one more column of each table, so that no table may have a column
    // of this name.
    let is_column = nettrace_tables::schema::TABLES
        .iter()
        .any(|table| table.columns.iter().any(|column| column.name == name));
    if is_column {
        return Err(wrong("a table has a column of this name; choose another"));
    }
    let regex = |text: &str| {
        Regex::new(text).map_err(|error| {
            let text = error.to_string();
            wrong(text.lines().last().unwrap_or_default())
        })
    };
    let source = match expression.split_once(':') {
        _ if expression == "dir" => ValueSource::Folder(1),
        Some(("dir", up)) => match up.parse() {
            Ok(up) if up > 0 => ValueSource::Folder(up),
            _ => return Err(wrong("dir:N takes a number from 1")),
        },
        Some(("path", text)) => ValueSource::PathMatch(regex(text)?),
        Some(("command", text)) => ValueSource::CommandMatch(regex(text)?),
        Some(("property", text)) => ValueSource::Property(text.to_owned()),
        Some(("env", text)) => {
            ValueSource::Text(std::env::var(text).ok().filter(|text| !text.is_empty()))
        }
        _ => {
            let quoted = |quote| expression.strip_prefix(quote)?.strip_suffix(quote);
            match quoted('\'').or_else(|| quoted('"')) {
                Some(text) => ValueSource::Text(Some(text.to_owned())),
                None if expression.contains(':') || expression.is_empty() => {
                    let known = "dir, path:REGEX, property:KEY, command:REGEX, env:NAME or 'TEXT'";
                    return Err(wrong(&format!("an expression is {known}")));
                }
                None => ValueSource::Text(Some(expression.to_owned())),
            }
        }
    };
    named(name, source)
}

impl ValueSource {
    fn value(&self, facts: &Facts<'_>) -> Option<String> {
        let value = match self {
            ValueSource::Process => facts.process.map(str::to_owned),
            ValueSource::Date => facts.start_unix_ns.map(date),
            ValueSource::Folder(up) => {
                let path = std::path::absolute(facts.path).ok()?;
                let folder = path.ancestors().nth(*up)?;
                folder.file_name().map(|name| name.to_string_lossy().into_owned())
            }
            ValueSource::PathMatch(regex) => group(regex, facts.path),
            ValueSource::CommandMatch(regex) => group(regex, facts.command_line?),
            ValueSource::Property(key) => {
                let of_key = |(name, _): &&(String, String)| name.eq_ignore_ascii_case(key);
                facts.properties.iter().rev().find(of_key).map(|(_, value)| value.clone())
            }
            ValueSource::Text(text) => text.clone(),
        };
        value.filter(|value| !value.is_empty())
    }
}

/// Returns the text of the first capture group, or of the whole match if there is no group.
fn group(regex: &Regex, text: &str) -> Option<String> {
    let captures = regex.captures(text)?;
    let found = captures.get(1).or_else(|| captures.get(0))?;
    Some(found.as_str().to_owned())
}

fn date(nanos: i64) -> String {
    nettrace_parser::utc_text(i128::from(nanos), 0).chars().take(10).collect()
}

/// Maximum bytes of a value in a path, because file systems allow 255 bytes for key and value.
const MAX_VALUE_BYTES: usize = 160;

/// Escapes a value for a path as Hive, Spark and DuckDB do. A value that is too long is cut between
/// two characters and ends in its hash.
fn escaped(value: Option<String>) -> String {
    let Some(value) = value else { return UNKNOWN.to_owned() };
    let (mut text, mut most) = (String::new(), 0);
    for c in value.chars() {
        if c.is_control() || "\"#%'*/:=?\\{}[]^<>|".contains(c) || (c == '.' && text.is_empty()) {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                text.push_str(&format!("%{byte:02X}"));
            }
        } else {
            text.push(c);
        }
        if text.len() <= MAX_VALUE_BYTES {
            most = text.len();
        }
    }
    if most == text.len() {
        return text;
    }
    // Two long values with the same beginning must not share a folder.
    let mut hash = ContentHash::new();
    hash.add(value.as_bytes());
    text.truncate(most);
    format!("{text}-{}", hash.hex().get(..16).unwrap_or_default())
}

/// Returns the program of a command line: the assembly that `dotnet` runs, or the executable.
pub(super) fn program(command_line: &str) -> Option<String> {
    let words = words(command_line);
    let name = |word: &str| {
        let file = word.rsplit(['/', '\\']).next().unwrap_or(word);
        let stem = file.strip_suffix(".exe").or_else(|| file.strip_suffix(".dll"));
        stem.unwrap_or(file).to_owned()
    };
    let first = name(words.first()?);
    let program = if first == "dotnet" {
        let run = words.iter().skip(1).find(|word| word.ends_with(".dll"));
        run.map_or(first, |word| name(word))
    } else {
        first
    };
    Some(program).filter(|program| !program.is_empty())
}

fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in text.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => quote = Some(c),
            (c, None) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            (c, _) => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(keys: &str, facts: &Facts<'_>) -> String {
        let folder = Keys::parse(&[keys.to_owned()]).unwrap().folder(facts);
        folder.display().to_string().replace('\\', "/")
    }

    #[test]
    fn folders_are_made_of_process_date_and_expressions() {
        let facts = Facts {
            path: "/traces/web-1/a.nettrace",
            process: Some("shop"),
            command_line: Some("dotnet shop.dll --build 17"),
            start_unix_ns: Some(1_700_000_000_000_000_000),
            properties: &[("HostName".to_owned(), "h/1".to_owned())],
        };
        assert_eq!(
            folder("process,date,host=dir", &facts),
            "process=shop/date=2023-11-14/host=web-1"
        );
        assert_eq!(folder("host=path:web-([0-9]{1,3})", &facts), "host=1");
        assert_eq!(
            folder("host=property:hostname,build=command:build ([0-9]+)", &facts),
            "host=h%2F1/build=17"
        );
        assert_eq!(folder("region='eu, west',date", &facts), "region=eu, west/date=2023-11-14");
        assert_eq!(
            folder("process,date", &Facts::default()),
            format!("process={UNKNOWN}/date={UNKNOWN}")
        );
        for wrong in
            ["", "host", "Host=dir", "host=path:(", "thread_id=dir", "date,date", "host=what:x"]
        {
            assert!(Keys::parse(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_value_too_long_for_a_folder_name_is_cut_and_ends_in_its_hash() {
        let host = |text: &str| folder(&format!("host='{text}'"), &Facts::default());
        for text in ["x".repeat(300), "ä".repeat(300), "/".repeat(300), "\u{85}".repeat(300)] {
            let cut = host(&text);
            assert!(cut.len() < 200 && cut != host(&format!("{text}y")), "{cut}");
            let kept = cut.strip_prefix("host=").unwrap().rsplit_once('-').unwrap().0;
            // No character is cut within its bytes or escapes.
            let bytes = if kept.starts_with("%C2") { 6 } else { 3 };
            assert!(
                kept.len() > 150 && (!kept.starts_with('%') || kept.len() % bytes == 0),
                "{cut}"
            );
        }
        assert_eq!(host("short"), "host=short");
    }

    #[test]
    fn a_program_is_the_assembly_that_dotnet_runs() {
        for (line, name) in [
            ("/usr/bin/dotnet /app/Shop.Web.dll --x", "Shop.Web"),
            ("dotnet exec \"/my app/Shop.dll\"", "Shop"),
            ("/app/shop --run other.dll", "shop"),
            ("C:\\a\\shop.exe", "shop"),
            ("dotnet run", "dotnet"),
        ] {
            assert_eq!(program(line).as_deref(), Some(name));
        }
        assert_eq!(program(" "), None);
    }
}
