//! Names and creates the files of recordings. Existing files are replaced only with `--force`.

use super::formats::Formats;
use crate::failure::Failure;
use crate::live::target::Reached;
use crate::new_file::{self, NewFile, Unfinished};
use nettrace_parser::utc_text;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Naming of a run's files.
#[derive(Debug)]
pub(super) struct Files {
    /// Value of `-o`; without it, names are made of process and time.
    given: Option<PathBuf>,
    is_forced: bool,
    /// Whether several processes may be recorded, so that each file name needs the process id.
    is_per_process: bool,
    is_rotating: bool,
    /// Start of the command in UTC: `20261120_143746`.
    stamp: String,
    used: u64,
}

impl Files {
    pub(super) fn new(
        given: Option<&Path>,
        is_forced: bool,
        is_per_process: bool,
        is_rotating: bool,
    ) -> Files {
        Files {
            given: given.map(Path::to_owned),
            is_forced,
            is_per_process,
            is_rotating,
            stamp: stamp(),
            used: 0,
        }
    }

    /// Refuses paths that could not be written later, before any process is touched.
    pub(super) fn check(&self, formats: &Formats) -> Result<(), Failure> {
        let Some(path) = &self.given else { return Ok(()) };
        if has_places(path) {
            // The process that fills the placeholders is not known yet.
            return Ok(());
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(refused(path, &format!("there is no folder {}", folder.display())));
        }
        // With several files, their names are not known yet.
        let is_forced = self.is_forced || self.is_rotating || self.is_per_process;
        new_file::check(path, is_forced, &[])?;
        formats.files(path).try_for_each(|file| new_file::check(&file, self.is_forced, &[]))
    }

    /// Creates the file of a recording. `part` is the number within a rotation, from 1.
    pub(super) fn create(
        &mut self,
        reached: &Reached,
        part: Option<u64>,
    ) -> Result<(PathBuf, NewFile), Failure> {
        let path = self.path(reached, part);
        let file = NewFile::create(&path, self.is_forced, &[], Unfinished::Kept)?;
        self.used += 1;
        Ok((path, file))
    }

    /// Creates a file beside a recording's; `path` is from [`beside`].
    pub(super) fn create_beside(&self, path: &Path) -> Result<NewFile, Failure> {
        NewFile::create(path, self.is_forced, &[], Unfinished::Kept)
    }

    /// Creates the file of a rule's recording; `path` is from [`RuleFiles::path`].
    pub(super) fn create_for_rule(&mut self, path: &Path) -> Result<NewFile, Failure> {
        self.used += 1;
        // Never replaces a file, even with --force: a rule fires again and again, and its file
        // names have the time to the second only.
        NewFile::create(path, false, &[], Unfinished::Kept)
    }

    fn path(&self, reached: &Reached, part: Option<u64>) -> PathBuf {
        let pid = reached.pid.map(|pid| format!("_{pid}")).unwrap_or_default();
        let part = part.map(|part| format!("_{part:04}")).unwrap_or_default();
        let Some(given) = &self.given else {
            let name = plain_name(reached);
            let is_another = self.used > 0 && part.is_empty();
            let pid = if self.is_per_process || is_another { pid } else { String::new() };
            return PathBuf::from(format!("{name}{pid}_{}{part}.nettrace", self.stamp));
        };
        let is_named = given.to_string_lossy().contains("{pid}");
        let given = &filled(given, reached, &self.stamp);
        // If only one recording was expected, the first has the name as given, without a pid.
        let needs_pid = self.is_per_process || (self.used > 0 && part.is_empty());
        let pid = if needs_pid && !is_named { pid } else { String::new() };
        if pid.is_empty() && part.is_empty() {
            return given.clone();
        }
        with_suffix(given, &format!("{pid}{part}"))
    }
}

/// Placeholders that `-o` may have, in the order of `values` in [`filled`].
const PLACES: [&str; 3] = ["{pid}", "{name}", "{time}"];

fn has_places(path: &Path) -> bool {
    let text = path.to_string_lossy();
    PLACES.iter().any(|place| text.contains(place))
}

/// Returns `given` with the process's values in place of `{pid}`, `{name}` and `{time}`.
fn filled(given: &Path, reached: &Reached, stamp: &str) -> PathBuf {
    if !has_places(given) {
        return given.to_owned();
    }
    let pid = reached.pid.map_or_else(|| "0".to_owned(), |pid| pid.to_string());
    let values = [pid, plain_name(reached), stamp.to_owned()];
    // From left to right, so that a name with braces is not filled again.
    let text = given.to_string_lossy();
    let (mut rest, mut path) = (&*text, String::new());
    while let Some(at) = rest.find('{') {
        let (before, after) = rest.split_at(at);
        path.push_str(before);
        let place = PLACES.iter().zip(&values).find(|(place, _)| after.starts_with(**place));
        let (text, length) = place.map_or(("{", 1), |(place, value)| (value, place.len()));
        path.push_str(text);
        rest = after.get(length..).unwrap_or_default();
    }
    path.push_str(rest);
    PathBuf::from(path)
}

/// Returns the path of a second file of a recording: `x.metrics.nettrace` beside `x.nettrace`.
pub(super) fn beside(path: &Path, part: &str) -> PathBuf {
    with_suffix(path, &format!(".{part}"))
}

/// Returns a path with a suffix before its extension, or before both in `x.nettrace.gz`.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let plain = if is_packed(path) { path.with_extension("") } else { path.to_owned() };
    let mut name = plain.file_stem().unwrap_or_default().to_owned();
    name.push(suffix);
    for extension in
        [plain.extension(), path.extension().filter(|_| plain != *path)].into_iter().flatten()
    {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// Returns the current time in UTC for file names: `20261120_143746`.
pub(super) fn stamp() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let digits: String = utc_text(i128::try_from(now.as_nanos()).unwrap_or(0), 0)
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    format!("{}_{}", digits.get(..8).unwrap_or_default(), digits.get(8..14).unwrap_or_default())
}

/// Returns the process's name for a file name: `_` replaces all but letters, digits, `-`, `.`, `_`.
fn plain_name(reached: &Reached) -> String {
    let letters = reached
        .name
        .chars()
        .map(|c| if c.is_alphanumeric() || "-._".contains(c) { c } else { '_' });
    let name: String = letters.collect();
    if name.is_empty() { "process".to_owned() } else { name }
}

/// Naming of rules' files: `shop_4711_20261120_143746_busy.nettrace`, or with the stem of `-o` in
/// place of `shop`.
#[derive(Debug, Clone)]
pub(super) struct RuleFiles {
    folder: PathBuf,
    /// File stem given with `-o`.
    stem: Option<String>,
    /// Extension of the files: `nettrace`, or the one given with `-o`.
    extension: String,
}

impl RuleFiles {
    pub(super) fn new(given: Option<&Path>, folder: Option<&Path>) -> RuleFiles {
        let plain = given
            .map(|path| if is_packed(path) { path.with_extension("") } else { path.to_owned() });
        let text =
            |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
        let inner =
            plain.as_ref().and_then(|path| text(path.extension())).unwrap_or("nettrace".to_owned());
        let is_packed = given.is_some_and(is_packed);
        let beside = given.and_then(Path::parent).unwrap_or(Path::new(""));
        RuleFiles {
            folder: folder.unwrap_or(beside).to_owned(),
            stem: plain.and_then(|path| text(path.file_stem())),
            extension: if is_packed { format!("{inner}.gz") } else { inner },
        }
    }

    /// Returns a path at which no file exists. `stamp` is from [`stamp`], `part` the number within
    /// a rotation that is kept.
    pub(super) fn path(
        &self,
        reached: &Reached,
        rule: &str,
        stamp: &str,
        part: Option<u64>,
    ) -> PathBuf {
        let stem = self.stem.as_ref().map(|stem| filled(Path::new(stem), reached, stamp));
        let stem = stem.map(|stem| stem.display().to_string());
        let stem = stem.unwrap_or_else(|| plain_name(reached));
        let pid = reached.pid.map(|pid| format!("_{pid}")).unwrap_or_default();
        let part = part.map(|part| format!("_{part:04}")).unwrap_or_default();
        let start = format!("{stem}{pid}_{stamp}_{rule}{part}");
        let mut path = self.folder.join(format!("{start}.{}", self.extension));
        let mut number = 2;
        // A dangling link counts as a file, because no file can be created at its path.
        while path.symlink_metadata().is_ok() && number < 1000 {
            path = self.folder.join(format!("{start}-{number}.{}", self.extension));
            number += 1;
        }
        path
    }

    /// Returns the name of the rule that wrote a file of this name, in this run or an earlier one.
    pub(super) fn rule_of<'n>(&self, name: &'n str) -> Option<&'n str> {
        let start = name.strip_suffix(&self.extension)?.strip_suffix('.')?;
        let (at, _) =
            start.match_indices('_').find(|(at, _)| is_stamp(start.get(at + 1..at + 17)))?;
        let rule = start.get(at + 17..)?;
        // The rule is followed by the number within a rotation, and by a number that makes names
        // differ. A file that the user renamed to keep it belongs to no rule.
        let Some((rule, part)) = rule.split_once('_') else { return Some(rule) };
        let (number, copy) = part.split_once('-').unwrap_or((part, "2"));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        // `path` writes these numbers with at least four digits.
        let is_part = number.len() >= 4 && are_digits(number);
        (is_part && !copy.is_empty() && are_digits(copy)).then_some(rule)
    }

    /// Returns existing recordings of rules, oldest first, with the rules' names and sizes in
    /// bytes.
    pub(super) fn found(&self) -> Vec<(PathBuf, String, u64)> {
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(data) = entry.metadata() else { continue };
            if let Some(rule) = self.rule_of(&name).filter(|_| data.is_file()) {
                let path = self.folder.join(&name);
                found.push((
                    data.modified().unwrap_or(UNIX_EPOCH),
                    path,
                    rule.to_owned(),
                    data.len(),
                ));
            }
        }
        // Rows begin with the time of the last change.
        found.sort();
        found.into_iter().map(|(_, path, rule, bytes)| (path, rule, bytes)).collect()
    }
}

/// Returns whether a text is a stamp with the separator that follows: `20261120_143746_`.
fn is_stamp(text: Option<&str>) -> bool {
    text.is_some_and(|text| {
        text.len() == 16
            && text
                .char_indices()
                .all(|(at, c)| if at == 8 || at == 15 { c == '_' } else { c.is_ascii_digit() })
    })
}

/// Returns whether a file at this path is compressed: its extension is `gz`.
pub(super) fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

fn refused(path: &Path, message: &str) -> Failure {
    Failure::input(path.display().to_string(), message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nettrace_ipc::{Endpoint, Runtime};

    fn reached() -> Reached {
        let runtime = Runtime::new(Endpoint::socket("/x"));
        Reached {
            pid: Some(7),
            is_elsewhere: false,
            name: "a shop/1".to_owned(),
            runtime,
            may_wait: false,
            settles_at: None,
        }
    }

    fn named(given: Option<&str>, is_per_process: bool, used: u64, part: Option<u64>) -> String {
        let mut files = Files::new(given.map(Path::new), false, is_per_process, part.is_some());
        files.used = used;
        files.stamp = "S".to_owned();
        files.path(&reached(), part).display().to_string().replace('\\', "/")
    }

    #[test]
    fn names_say_what_has_to_be_distinguished() {
        assert_eq!(named(None, false, 0, None), "a_shop_1_S.nettrace");
        assert_eq!(named(None, true, 0, None), "a_shop_1_7_S.nettrace");
        assert_eq!(named(Some("d/x.nettrace"), false, 0, None), "d/x.nettrace");
        assert_eq!(named(Some("d/x.nettrace"), false, 1, None), "d/x_7.nettrace");
        assert_eq!(named(Some("d/x.nettrace"), true, 0, None), "d/x_7.nettrace");
        assert_eq!(named(Some("x.nettrace"), false, 3, Some(3)), "x_0003.nettrace");
        assert_eq!(named(Some("x"), true, 3, Some(12)), "x_7_0012");
        assert_eq!(named(Some("x.nettrace.gz"), true, 3, Some(12)), "x_7_0012.nettrace.gz");
        assert_eq!(named(Some("d/{name}-{pid}.nettrace"), true, 2, None), "d/a_shop_1-7.nettrace");
        assert_eq!(named(Some("{time}{x}.nettrace"), false, 0, Some(2)), "S{x}_0002.nettrace");
        assert_eq!(named(Some("{time}.nettrace"), true, 1, None), "S_7.nettrace");
        // The first of a rotation is called as the others.
        for (used, part) in [(0, 1), (1, 2)] {
            assert_eq!(
                named(None, false, used, Some(part)),
                format!("a_shop_1_S_{part:04}.nettrace")
            );
            assert_eq!(
                named(Some("x.nettrace"), false, used, Some(part)),
                format!("x_{part:04}.nettrace")
            );
        }
    }

    #[test]
    fn the_stamp_is_date_and_time() {
        let files = Files::new(None, false, false, false);
        assert_eq!(files.stamp.len(), 15);
        assert!(files.stamp.starts_with("20"), "{}", files.stamp);
    }

    #[test]
    fn a_renamed_recording_belongs_to_no_rule() {
        let files =
            RuleFiles { folder: PathBuf::new(), stem: None, extension: "nettrace".to_owned() };
        let of = |end: &str| {
            let name = format!("a_shop_7_20261120_143746_{end}");
            files.rule_of(&name).map(str::to_owned)
        };
        assert_eq!(of("busy.nettrace").as_deref(), Some("busy"));
        assert_eq!(of("busy-2.nettrace").as_deref(), Some("busy-2"));
        assert_eq!(of("busy_0003.nettrace").as_deref(), Some("busy"));
        assert_eq!(of("busy_12345-2.nettrace").as_deref(), Some("busy"));
        for renamed in ["busy_KEEP", "busy_0003_ticket-812", "busy_3", "busy_0003-", "busy_0003-x"]
        {
            assert_eq!(of(&format!("{renamed}.nettrace")), None, "{renamed}");
        }
        assert_eq!(of("busy.nettrace.gz"), None, "it has another ending");
    }
}
