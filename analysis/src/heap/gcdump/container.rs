//! The container of a `.gcdump`: objects with types, fields and tags, one after the other.
//!
//! | what | bytes |
//! |---|---|
//! | file | a string, an object, the tag `END`, the table of forward references, the table's label, the label of that label |
//! | object | `NULL`; or `OBJECT_REFERENCE` and the label of an earlier object; or `BEGIN`, a type, fields, tagged fields, `END` |
//! | type | `OBJECT_REFERENCE` and the label of an earlier type; or `BEGIN`, `NULL`, version, least version of a reader, name, `END` |
//! | tagged field | a tag and a value; fields that a reader does not know are skipped |
//! | string | number of UTF-16 units (−1 for null), then each unit in one to three bytes, as UTF-8 would |
//! | label | an offset in the file, in 4 bytes in nearly all files, in 8 bytes in others |
//!
//! One pass reads a file: the table is needed only to skip objects that are not known.

use super::error::{GcDumpError, GcDumpFault as Fault};
use nettrace_parser::unstable::{Number, first, take_first};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The first bytes of a file.
pub(super) const MAGIC: &[u8; 24] = b"\x14\0\0\0!FastSerialization.1";

pub(super) const NULL: u8 = 1;
pub(super) const OBJECT_REFERENCE: u8 = 2;
pub(super) const BEGIN: u8 = 4;
pub(super) const BEGIN_PRIVATE: u8 = 5;
pub(super) const END: u8 = 6;
const FORWARD_DEFINITION: u8 = 7;
pub(super) const BYTE: u8 = 8;
const INT16: u8 = 9;
const INT32: u8 = 10;
const INT64: u8 = 11;
pub(super) const SKIP_REGION: u8 = 12;
pub(super) const STRING: u8 = 13;
const BLOB: u8 = 14;

/// Size of a GUID in bytes.
const GUID_BYTES: usize = 16;

/// Type of an object, as the file states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ObjectType<'f> {
    pub(super) name: &'f [u8],
    pub(super) version: u32,
    /// Least version of a reader.
    pub(super) minimum: u32,
}

/// What stands where an object may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectStart<'f> {
    Null,
    /// The object that begins at this offset.
    Earlier(u64),
    /// An object at this offset, whose fields follow.
    Fields(u64, ObjectType<'f>),
}

/// The rest of a file. What is read comes from its beginning.
#[derive(Debug)]
pub(super) struct Container<'f> {
    file: &'f [u8],
    rest: &'f [u8],
    types: BTreeMap<u64, ObjectType<'f>>,
    /// Size of a label in bytes.
    label_bytes: usize,
    /// Labels of the table of forward references, and the offset of the table; `None` if the file
    /// has no end.
    table: Option<(&'f [u8], usize)>,
    pub(super) context: &'static str,
}

impl<'f> Container<'f> {
    /// Begins to read a file.
    pub(super) fn new(file: &'f [u8]) -> Result<Container<'f>, GcDumpError> {
        let Some(rest) = file.strip_prefix(MAGIC) else {
            return Err(GcDumpError::new(0, "beginning", Fault::NotGcDump));
        };
        let table = [4, 8].into_iter().find_map(|label_bytes| {
            table(file, label_bytes).map(|(labels, at)| (label_bytes, labels, at))
        });
        Ok(Container {
            file,
            rest,
            types: BTreeMap::new(),
            label_bytes: table.map_or(4, |(label_bytes, ..)| label_bytes),
            table: table.map(|(_, labels, at)| (labels, at)),
            context: "first object",
        })
    }

    /// Returns the offset of what is read next.
    pub(super) fn offset(&self) -> usize {
        self.file.len().saturating_sub(self.rest.len())
    }

    /// Returns whether the file ends as it must: with the tag of the last object, and the table
    /// behind it.
    pub(super) fn ends_here(&self) -> bool {
        let table = self.table.map(|(_, at)| at);
        self.rest.first() == Some(&END) && table == self.offset().checked_add(1)
    }

    pub(super) fn fault(&self, fault: Fault) -> GcDumpError {
        GcDumpError::new(self.offset(), self.context, fault)
    }

    pub(super) fn number<T: Number>(&mut self) -> Result<T, GcDumpError> {
        take_first(&mut self.rest).ok_or_else(|| self.fault(Fault::CutOff))
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'f [u8], GcDumpError> {
        let Some((taken, rest)) = self.rest.split_at_checked(count) else {
            return Err(self.fault(Fault::CutOff));
        };
        self.rest = rest;
        Ok(taken)
    }

    /// Reads a number of items, each of which takes at least `min_bytes`.
    pub(super) fn count(&mut self, min_bytes: usize) -> Result<usize, GcDumpError> {
        let offset = self.offset();
        let count: i32 = self.number()?;
        let most = self.rest.len().checked_div(min_bytes).unwrap_or(0);
        let fits = usize::try_from(count).ok().filter(|count| *count <= most);
        fits.ok_or_else(|| GcDumpError::new(offset, self.context, Fault::Count(count)))
    }

    /// Reads a string; `None` for null.
    pub(super) fn string(&mut self) -> Result<Option<Cow<'f, str>>, GcDumpError> {
        let offset = self.offset();
        let count: i32 = self.number()?;
        if count == -1 {
            return Ok(None);
        }
        let fits = usize::try_from(count).ok().filter(|count| *count <= self.rest.len());
        let Some(count) = fits else {
            return Err(GcDumpError::new(offset, self.context, Fault::Count(count)));
        };
        if let Some((text, rest)) = self.rest.split_at_checked(count)
            && text.is_ascii()
            && let Ok(text) = str::from_utf8(text)
        {
            self.rest = rest;
            return Ok(Some(Cow::Borrowed(text)));
        }
        let mut units = Vec::new();
        for _ in 0..count {
            units.push(self.unit()?);
        }
        Ok(Some(Cow::Owned(String::from_utf16_lossy(&units))))
    }

    /// Reads a UTF-16 unit.
    fn unit(&mut self) -> Result<u16, GcDumpError> {
        let low = |byte: u8| u16::from(byte & 0x3f);
        let head: u8 = self.number()?;
        Ok(match head {
            0..0x80 => u16::from(head),
            0x80..0xe0 => u16::from(head & 0x1f) << 6 | low(self.number()?),
            0xe0.. => {
                let (middle, last): (u8, u8) = (self.number()?, self.number()?);
                u16::from(head & 0xf) << 12 | low(middle) << 6 | low(last)
            }
        })
    }

    fn label(&mut self) -> Result<u64, GcDumpError> {
        if self.label_bytes == 8 { self.number() } else { self.number::<u32>().map(u64::from) }
    }

    /// Reads the index of a forward reference, and returns the offset to which it leads; `None` if
    /// the file has no table.
    pub(super) fn forward(&mut self) -> Result<Option<usize>, GcDumpError> {
        let index: u32 = self.number()?;
        let Some((labels, end)) = self.table else { return Ok(None) };
        let place = (index as usize).checked_mul(self.label_bytes);
        let bytes = place.and_then(|place| labels.get(place..)).unwrap_or_default();
        let label = label_at(bytes, self.label_bytes);
        let label = label.filter(|label| (self.offset()..end).contains(label));
        label.map(Some).ok_or_else(|| self.fault(Fault::Forward(index)))
    }

    /// Reads the beginning of an object.
    pub(super) fn object(&mut self) -> Result<ObjectStart<'f>, GcDumpError> {
        let at = self.offset() as u64;
        let mut tag: u8 = self.number()?;
        if tag == FORWARD_DEFINITION {
            let _: u32 = self.number()?;
            tag = self.number()?;
        }
        match tag {
            NULL => Ok(ObjectStart::Null),
            OBJECT_REFERENCE => self.label().map(ObjectStart::Earlier),
            BEGIN | BEGIN_PRIVATE => Ok(ObjectStart::Fields(at, self.object_type()?)),
            tag => Err(self.fault(Fault::Tag(tag))),
        }
    }

    fn object_type(&mut self) -> Result<ObjectType<'f>, GcDumpError> {
        let at = self.offset() as u64;
        match self.number()? {
            OBJECT_REFERENCE => {
                let label = self.label()?;
                let known = self.types.get(&label).copied();
                known.ok_or_else(|| self.fault(Fault::Reference(label)))
            }
            BEGIN => {
                let tag: u8 = self.number()?;
                if tag != NULL {
                    return Err(self.fault(Fault::Tag(tag)));
                }
                let (version, minimum) = (self.number()?, self.number()?);
                let length = self.count(1)?;
                let name = self.take(length)?;
                self.skip_to_end()?;
                let known = ObjectType { name, version, minimum };
                self.types.insert(at, known);
                Ok(known)
            }
            tag => Err(self.fault(Fault::Tag(tag))),
        }
    }

    /// Skips the rest of an object's tagged fields, and its end.
    pub(super) fn skip_to_end(&mut self) -> Result<(), GcDumpError> {
        loop {
            let count = match self.number()? {
                END => return Ok(()),
                NULL => 0,
                BYTE => 1,
                INT16 => 2,
                INT32 => 4,
                INT64 => 8,
                STRING => {
                    self.string()?;
                    0
                }
                BLOB => self.count(1)?,
                SKIP_REGION => match self.forward()? {
                    Some(label) => label.saturating_sub(self.offset()),
                    None => return Err(self.fault(Fault::Forward(0))),
                },
                tag => return Err(self.fault(Fault::Tag(tag))),
            };
            self.take(count)?;
        }
    }

    /// Returns the length of the rest of a module's fields if its size takes `size_bytes` and its time
    /// is at most `max_ticks`; `None` if the object does not end behind them.
    pub(super) fn module_rest(&self, size_bytes: usize, max_ticks: i64) -> Option<usize> {
        let mut ahead = Container { rest: self.rest, types: BTreeMap::new(), ..*self };
        ahead.take(size_bytes).ok()?;
        let ticks: i64 = ahead.number().ok()?;
        ahead.string().ok()?;
        ahead.take(GUID_BYTES.saturating_add(size_of::<i32>())).ok()?;
        let is_sound = (0..=max_ticks).contains(&ticks) && ahead.rest.first() == Some(&END);
        is_sound.then(|| ahead.offset().saturating_sub(self.offset()))
    }

    /// Returns whether a tagged field comes next, and skips its tag.
    pub(super) fn has_tag(&mut self, tag: u8) -> bool {
        match self.rest.strip_prefix(&[tag]) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

/// Returns the label at the beginning of some bytes.
fn label_at(bytes: &[u8], label_bytes: usize) -> Option<usize> {
    let label = match label_bytes {
        8 => first(bytes)?,
        _ => u64::from(first::<u32>(bytes)?),
    };
    usize::try_from(label).ok()
}

/// Returns the labels of the table of forward references, and the table's offset; `None` if the
/// file does not end with labels of this size.
fn table(file: &[u8], label_bytes: usize) -> Option<(&[u8], usize)> {
    let last = file.len().checked_sub(label_bytes)?;
    let before = last.checked_sub(label_bytes)?;
    let of_table = label_at(file.get(last..)?, label_bytes).filter(|label| *label == before)?;
    let at = label_at(file.get(of_table..)?, label_bytes)?;
    let rest = file.get(at..before).filter(|_| at > MAGIC.len())?;
    let count: u32 = first(rest)?;
    let labels = rest.get(size_of::<u32>()..)?;
    (labels.len() == (count as usize).checked_mul(label_bytes)?).then_some((labels, at))
}

/// Returns whether a file begins with an object of a type.
pub(super) fn begins(file: &[u8], type_name: &[u8]) -> bool {
    let is_of_type = || {
        let mut container = Container::new(file).ok()?;
        match container.object().ok()? {
            ObjectStart::Fields(_, of) => Some(of.name == type_name),
            _ => None,
        }
    };
    is_of_type() == Some(true)
}
