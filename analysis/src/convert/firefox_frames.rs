//! Frames of Firefox Profiler's format: their names, and the tables' columns of source lines, which
//! the crate that writes the format leaves empty.

use crate::hash::HashMap;
use crate::model::{Frame, Resolved, SourceLine};
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;

/// Returns a frame's module, and its text without the module. The text keeps the mark of a guessed
/// name.
pub(super) fn without_module(frame: &Frame) -> (&str, Cow<'_, str>) {
    let (module, text) = (&*frame.module, &*frame.text);
    let after = |text: &'_ str| {
        text.strip_prefix(module).and_then(|rest| rest.strip_prefix('!')).map(str::len)
    };
    let tail = |length: usize| text.get(text.len().saturating_sub(length)..).unwrap_or(text);
    if let Some(length) = after(text) {
        return (module, tail(length).into());
    }
    match text.strip_prefix('~').and_then(after) {
        Some(length) => (module, format!("~{}", tail(length)).into()),
        None => (module, text.into()),
    }
}

/// Members of an object of the profile, as they are in the file.
type Members<'j> = BTreeMap<&'j str, Cow<'j, RawValue>>;

/// Source lines of frames, by the names of frames in the profile.
#[derive(Debug, Default)]
pub(super) struct FrameLines<'r>(HashMap<Cow<'r, str>, &'r SourceLine>);

impl<'r> FrameLines<'r> {
    pub(super) fn new(resolved: &'r Resolved<'_>) -> FrameLines<'r> {
        let frames = resolved.all_frames().iter();
        let lines =
            frames.filter_map(|frame| Some((without_module(frame).1, frame.line.as_ref()?)));
        FrameLines(lines.collect())
    }

    /// Writes the profile. If frames have lines, the tables of frames have them, and those of
    /// functions the files.
    pub(super) fn write(
        &self,
        profile: &fxprof_processed_profile::Profile,
        out: &mut impl Write,
    ) -> serde_json::Result<()> {
        if self.0.is_empty() {
            return serde_json::to_writer(out, profile);
        }
        let json = serde_json::to_vec(profile)?;
        let mut members: BTreeMap<&str, &RawValue> = serde_json::from_slice(&json)?;
        let threads = match members.remove("threads") {
            Some(threads) => serde_json::from_str::<Vec<&RawValue>>(threads.get())?,
            None => Vec::new(),
        };
        let threads = threads.into_iter().map(|thread| self.thread(thread.get()));
        let threads = to_raw_value(&threads.collect::<serde_json::Result<Vec<_>>>()?)?;
        members.insert("threads", &threads);
        serde_json::to_writer(out, &members)
    }

    /// Returns a thread of the profile with lines.
    fn thread<'j>(&self, json: &'j str) -> serde_json::Result<Members<'j>> {
        let mut thread: Members<'_> = members(json)?;
        let mut texts: Vec<String> = serde_json::from_str(values(&thread, "stringArray"))?;
        let [mut frames, mut functions] =
            [table(&thread, "frameTable")?, table(&thread, "funcTable")?];
        let names: Vec<usize> = serde_json::from_str(values(&functions, "name"))?;
        let mut files: BTreeMap<&str, usize> = BTreeMap::new();
        let mut of_functions = Vec::new();
        for name in names {
            let line = texts.get(name).and_then(|name| self.0.get(name.as_str()));
            of_functions.push(line.map(|line| {
                let file = *files.entry(&line.file).or_insert_with(|| {
                    texts.push((*line.file).to_owned());
                    texts.len().saturating_sub(1)
                });
                (file, line.line)
            }));
        }
        let of_frames: Vec<usize> = serde_json::from_str(values(&frames, "func"))?;
        let line = |function: &usize| of_functions.get(*function).copied().flatten();
        let lines: Vec<_> = of_frames.iter().map(|function| Some(line(function)?.1)).collect();
        let files: Vec<_> = of_functions.iter().map(|line| Some(line.as_ref()?.0)).collect();
        frames.insert("line", Cow::Owned(to_raw_value(&lines)?));
        functions.insert("fileName", Cow::Owned(to_raw_value(&files)?));
        let (frames, functions) = (to_raw_value(&frames)?, to_raw_value(&functions)?);
        thread.insert("frameTable", Cow::Owned(frames));
        thread.insert("funcTable", Cow::Owned(functions));
        thread.insert("stringArray", Cow::Owned(to_raw_value(&texts)?));
        Ok(thread)
    }
}

fn members(json: &str) -> serde_json::Result<Members<'_>> {
    let members: BTreeMap<&str, &RawValue> = serde_json::from_str(json)?;
    Ok(members.into_iter().map(|(name, value)| (name, Cow::Borrowed(value))).collect())
}

/// Returns a table of a thread.
fn table<'j>(thread: &Members<'j>, name: &str) -> serde_json::Result<Members<'j>> {
    match thread.get(name) {
        Some(Cow::Borrowed(table)) => members(table.get()),
        _ => Ok(Members::new()),
    }
}

/// Returns the texts or numbers of a column; none if the table does not have it.
fn values<'m>(table: &'m Members<'_>, name: &str) -> &'m str {
    table.get(name).map_or("[]", |values| values.get())
}
