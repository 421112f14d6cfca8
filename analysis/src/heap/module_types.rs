//! Outer types of nested types, from the metadata of a module's file.
//!
//! Heap dumps have only the last name of a nested type, and its token. The file of the type's
//! module has the rest (ECMA-335 II.22 and II.25):
//!
//! | where | what |
//! |---|---|
//! | PE headers | the sections, and the address of the CLI header (data directory 14) |
//! | CLI header, bytes 8 to 15 | address and size of the metadata |
//! | metadata root | the streams `#~` (or `#-`) and `#Strings` |
//! | `#~` | number of rows of each table, then the tables, one after the other |
//! | table 2, TypeDef | name and namespace of each type; a token is 0x02000000 and its row |
//! | table 41, NestedClass | a type and the type around it |
//!
//! Nothing else is read. The file may be of another build, so a type's last name is compared with
//! the one in the trace. Files may be crafted: whatever does not fit into the file is an error, and
//! no number that is read decides how much memory is taken.

use nettrace_parser::internal::take_first;
use std::fmt;

/// Maximum length of a name, in bytes. Compilers write shorter names, but in a crafted file all
/// types may share one huge name.
const MAX_NAME_BYTES: usize = 1024;
/// Maximum depth of types nested in each other.
const MAX_DEPTH: usize = 32;
/// Maximum number of the file's sections that are read; linkers write about ten.
const MAX_SECTIONS: usize = 96;
/// Maximum number of the metadata's streams that are read; there are six kinds.
const MAX_STREAMS: usize = 32;

const TYPE_DEF: usize = 0x02;
const NESTED_CLASS: usize = 0x29;
/// Bits of a metadata token that are the number of its table.
const TABLE_MASK: u32 = 0xff00_0000;
const TYPE_DEF_TOKEN: u32 = 0x0200_0000;

/// Reason why the types of a file cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModuleTypesError {
    /// The file is not a PE file, which modules of .NET are on all systems.
    NotPe,
    /// The PE file has no metadata of .NET.
    NoMetadata,
    /// The file ends early, or its parts contradict each other.
    Truncated,
    /// The metadata has a table with this unknown number, after which no table can be found.
    UnknownTable(usize),
}

impl fmt::Display for ModuleTypesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModuleTypesError::NotPe => f.write_str("no PE file"),
            ModuleTypesError::NoMetadata => f.write_str("it has no metadata of .NET"),
            ModuleTypesError::Truncated => f.write_str("its metadata are truncated"),
            ModuleTypesError::UnknownTable(table) => {
                write!(f, "its metadata have the unknown table {table:#x}")
            }
        }
    }
}

impl std::error::Error for ModuleTypesError {}

/// Names of a module's types, and which types are nested in which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModuleTypes {
    /// Content of the stream `#Strings`.
    names: Vec<u8>,
    /// Types in the order of their rows, which are counted from 1.
    types: Vec<TypeDef>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TypeDef {
    name_at: u32,
    namespace_at: u32,
    /// Row of the outer type; 0 if there is none.
    outer: u32,
}

impl ModuleTypes {
    /// Reads the types of a `.dll` or `.exe` of .NET.
    pub(super) fn parse(file: &[u8]) -> Result<ModuleTypes, ModuleTypesError> {
        let metadata = metadata(file)?;
        let streams = Streams::parse(metadata)?;
        let tables = Tables::parse(streams.tables)?;
        let mut types = Vec::new();
        for row in tables.rows(TYPE_DEF)? {
            let mut row = Bytes(row);
            row.skip(4)?;
            let name_at = row.index(tables.strings)?;
            let namespace_at = row.index(tables.strings)?;
            types.push(TypeDef { name_at, namespace_at, outer: 0 });
        }
        let width = tables.width_of(&[TYPE_DEF]);
        for row in tables.rows(NESTED_CLASS)? {
            let mut row = Bytes(row);
            let (inner, outer) = (row.index(width)?, row.index(width)?);
            let inner = inner.checked_sub(1).and_then(|at| types.get_mut(at as usize));
            if let Some(inner) = inner {
                inner.outer = outer;
            }
        }
        Ok(ModuleTypes { names: streams.strings.to_vec(), types })
    }

    /// Returns the full name of a nested type as the runtime writes it: ``N.Outer`1+Inner``. `own`
    /// is the expected last name. Returns `None` if the type with this token is not nested, or its
    /// last name is not `own`.
    pub(super) fn full_name(&self, token: u32, own: &str) -> Option<String> {
        let mut at =
            token.checked_sub(TYPE_DEF_TOKEN).filter(|_| token & TABLE_MASK == TYPE_DEF_TOKEN)?;
        let mut parts: Vec<String> = Vec::new();
        while at != 0 {
            let row = self.types.get(at.checked_sub(1)? as usize)?;
            let mut name = self.name(row.name_at)?.into_owned();
            if parts.is_empty() && name != own {
                return None;
            }
            if row.outer == 0 {
                let namespace = self.name(row.namespace_at)?;
                if !namespace.is_empty() {
                    name = format!("{namespace}.{name}");
                }
            }
            if parts.len() >= MAX_DEPTH {
                return None;
            }
            parts.push(name);
            at = row.outer;
        }
        parts.reverse();
        (parts.len() > 1).then(|| parts.join("+"))
    }

    fn name(&self, at: u32) -> Option<std::borrow::Cow<'_, str>> {
        let text = self.names.get(at as usize..)?;
        let end = text.iter().take(MAX_NAME_BYTES).position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(text.get(..end)?))
    }
}

#[derive(Debug, Clone, Copy)]
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], ModuleTypesError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(ModuleTypesError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn skip(&mut self, count: usize) -> Result<(), ModuleTypesError> {
        self.take(count).map(drop)
    }

    fn u16(&mut self) -> Result<u16, ModuleTypesError> {
        take_first(&mut self.0).ok_or(ModuleTypesError::Truncated)
    }

    fn u32(&mut self) -> Result<u32, ModuleTypesError> {
        take_first(&mut self.0).ok_or(ModuleTypesError::Truncated)
    }

    /// Reads an index that has two or four bytes.
    fn index(&mut self, width: usize) -> Result<u32, ModuleTypesError> {
        if width == 2 { self.u16().map(u32::from) } else { self.u32() }
    }
}

/// Returns the bytes from a position on.
fn from(bytes: &[u8], at: u32) -> Result<Bytes<'_>, ModuleTypesError> {
    bytes.get(at as usize..).map(Bytes).ok_or(ModuleTypesError::Truncated)
}

/// Returns the metadata of a file.
fn metadata(file: &[u8]) -> Result<&[u8], ModuleTypesError> {
    let not_pe = |_| ModuleTypesError::NotPe;
    let mut header = Bytes(file);
    if header.take(2).map_err(not_pe)? != b"MZ" {
        return Err(ModuleTypesError::NotPe);
    }
    let at = from(file, 0x3c).and_then(|mut bytes| bytes.u32()).map_err(not_pe)?;
    let mut header = from(file, at).map_err(not_pe)?;
    if header.take(4).map_err(not_pe)? != b"PE\0\0" {
        return Err(ModuleTypesError::NotPe);
    }
    header.skip(2)?;
    let sections = usize::from(header.u16()?).min(MAX_SECTIONS);
    header.skip(12)?;
    let optional_bytes = usize::from(header.u16()?);
    header.skip(2)?;
    let mut optional = Bytes(header.take(optional_bytes)?);
    // Addresses have 4 bytes in PE32, and 8 in PE32+.
    let before_directories = match optional.u16()? {
        0x10b => 90,
        0x20b => 106,
        _ => return Err(ModuleTypesError::NotPe),
    };
    optional.skip(before_directories)?;
    let directories = optional.u32()?;
    if directories <= 14 {
        return Err(ModuleTypesError::NoMetadata);
    }
    optional.skip(14 * 8)?;
    let (cli_at, cli_bytes) = (optional.u32()?, optional.u32()?);
    if cli_at == 0 || cli_bytes < 16 {
        return Err(ModuleTypesError::NoMetadata);
    }
    let section_rows = header.take(sections.saturating_mul(40))?;
    // The position of an address in the file.
    let place = |address: u32| -> Result<u32, ModuleTypesError> {
        for row in section_rows.chunks_exact(40) {
            let mut row = Bytes(row);
            row.skip(8)?;
            let (virtual_bytes, start) = (row.u32()?, row.u32()?);
            let (bytes, at) = (row.u32()?, row.u32()?);
            let within = address.checked_sub(start);
            if let Some(within) = within.filter(|within| *within < virtual_bytes.max(bytes)) {
                return at.checked_add(within).ok_or(ModuleTypesError::Truncated);
            }
        }
        Err(ModuleTypesError::Truncated)
    };
    let mut cli = from(file, place(cli_at)?)?;
    cli.skip(8)?;
    let (address, count) = (cli.u32()?, cli.u32()?);
    if address == 0 {
        return Err(ModuleTypesError::NoMetadata);
    }
    from(file, place(address)?)?.take(count as usize)
}

/// The streams `#~` (or `#-`) and `#Strings` of the metadata.
struct Streams<'m> {
    tables: &'m [u8],
    strings: &'m [u8],
}

impl<'m> Streams<'m> {
    fn parse(metadata: &'m [u8]) -> Result<Streams<'m>, ModuleTypesError> {
        let mut root = Bytes(metadata);
        if root.take(4)? != b"BSJB" {
            return Err(ModuleTypesError::NoMetadata);
        }
        root.skip(8)?;
        let version_bytes = root.u32()? as usize;
        root.skip(version_bytes)?;
        root.skip(2)?;
        let count = usize::from(root.u16()?).min(MAX_STREAMS);
        let (mut tables, mut strings) = (None, None);
        for _ in 0..count {
            let (at, bytes) = (root.u32()?, root.u32()?);
            // A name ends in a zero byte, and is padded to a multiple of four bytes.
            let end = root.0.iter().position(|byte| *byte == 0);
            let length = end.ok_or(ModuleTypesError::Truncated)?;
            let name = root.take(length)?;
            root.skip((length | 3).saturating_add(1).saturating_sub(length))?;
            let stream = from(metadata, at)?.take(bytes as usize)?;
            match name {
                b"#~" | b"#-" => tables = Some(stream),
                b"#Strings" => strings = Some(stream),
                _ => {}
            }
        }
        match (tables, strings) {
            (Some(tables), Some(strings)) => Ok(Streams { tables, strings }),
            _ => Err(ModuleTypesError::NoMetadata),
        }
    }
}

/// A column of a metadata table.
#[derive(Debug, Clone, Copy)]
enum Column {
    /// A number of this many bytes.
    Fixed(usize),
    String,
    Guid,
    Blob,
    /// A row number in the table with this number.
    Row(usize),
    /// A row number in one of several tables, whose numbers are listed. The first field is the
    /// number of bits that select the table.
    Coded(u32, &'static [usize]),
}

use Column::{Blob, Coded, Fixed, Guid, Row, String as Name};

const TYPE_DEF_OR_REF: Column = Coded(2, &[0x02, 0x01, 0x1b]);
const HAS_CONSTANT: Column = Coded(2, &[0x04, 0x08, 0x17]);
const HAS_CUSTOM_ATTRIBUTE: Column = Coded(
    5,
    &[
        0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00, 0x0e, 0x17, 0x14, 0x11, 0x1a, 0x1b, 0x20,
        0x23, 0x26, 0x27, 0x28, 0x2a, 0x2c, 0x2b,
    ],
);
const HAS_FIELD_MARSHAL: Column = Coded(1, &[0x04, 0x08]);
const HAS_DECL_SECURITY: Column = Coded(2, &[0x02, 0x06, 0x20]);
const MEMBER_REF_PARENT: Column = Coded(3, &[0x02, 0x01, 0x1a, 0x06, 0x1b]);
const HAS_SEMANTICS: Column = Coded(1, &[0x14, 0x17]);
const METHOD_DEF_OR_REF: Column = Coded(1, &[0x06, 0x0a]);
const MEMBER_FORWARDED: Column = Coded(1, &[0x04, 0x06]);
const IMPLEMENTATION: Column = Coded(2, &[0x26, 0x23, 0x27]);
const CUSTOM_ATTRIBUTE_TYPE: Column = Coded(3, &[0x06, 0x0a]);
const RESOLUTION_SCOPE: Column = Coded(2, &[0x00, 0x1a, 0x23, 0x01]);

/// Columns of each table up to NestedClass, as in ECMA-335 II.22, and of the pointer tables of
/// uncompressed metadata (`#-`).
const TABLES: [&[Column]; NESTED_CLASS + 1] = [
    /* 00 Module */ &[Fixed(2), Name, Guid, Guid, Guid],
    /* 01 TypeRef */ &[RESOLUTION_SCOPE, Name, Name],
    /* 02 TypeDef */ &[Fixed(4), Name, Name, TYPE_DEF_OR_REF, Row(0x04), Row(0x06)],
    /* 03 FieldPtr */ &[Row(0x04)],
    /* 04 Field */ &[Fixed(2), Name, Blob],
    /* 05 MethodPtr */ &[Row(0x06)],
    /* 06 MethodDef */ &[Fixed(8), Name, Blob, Row(0x08)],
    /* 07 ParamPtr */ &[Row(0x08)],
    /* 08 Param */ &[Fixed(4), Name],
    /* 09 InterfaceImpl */ &[Row(0x02), TYPE_DEF_OR_REF],
    /* 0a MemberRef */ &[MEMBER_REF_PARENT, Name, Blob],
    /* 0b Constant */ &[Fixed(2), HAS_CONSTANT, Blob],
    /* 0c CustomAttribute */ &[HAS_CUSTOM_ATTRIBUTE, CUSTOM_ATTRIBUTE_TYPE, Blob],
    /* 0d FieldMarshal */ &[HAS_FIELD_MARSHAL, Blob],
    /* 0e DeclSecurity */ &[Fixed(2), HAS_DECL_SECURITY, Blob],
    /* 0f ClassLayout */ &[Fixed(6), Row(0x02)],
    /* 10 FieldLayout */ &[Fixed(4), Row(0x04)],
    /* 11 StandAloneSig */ &[Blob],
    /* 12 EventMap */ &[Row(0x02), Row(0x14)],
    /* 13 EventPtr */ &[Row(0x14)],
    /* 14 Event */ &[Fixed(2), Name, TYPE_DEF_OR_REF],
    /* 15 PropertyMap */ &[Row(0x02), Row(0x17)],
    /* 16 PropertyPtr */ &[Row(0x17)],
    /* 17 Property */ &[Fixed(2), Name, Blob],
    /* 18 MethodSemantics */ &[Fixed(2), Row(0x06), HAS_SEMANTICS],
    /* 19 MethodImpl */ &[Row(0x02), METHOD_DEF_OR_REF, METHOD_DEF_OR_REF],
    /* 1a ModuleRef */ &[Name],
    /* 1b TypeSpec */ &[Blob],
    /* 1c ImplMap */ &[Fixed(2), MEMBER_FORWARDED, Name, Row(0x1a)],
    /* 1d FieldRVA */ &[Fixed(4), Row(0x04)],
    /* 1e EncLog */ &[Fixed(8)],
    /* 1f EncMap */ &[Fixed(4)],
    /* 20 Assembly */ &[Fixed(16), Blob, Name, Name],
    /* 21 AssemblyProcessor */ &[Fixed(4)],
    /* 22 AssemblyOS */ &[Fixed(12)],
    /* 23 AssemblyRef */ &[Fixed(12), Blob, Name, Name, Blob],
    /* 24 AssemblyRefProcessor */ &[Fixed(4), Row(0x23)],
    /* 25 AssemblyRefOS */ &[Fixed(12), Row(0x23)],
    /* 26 File */ &[Fixed(4), Name, Blob],
    /* 27 ExportedType */ &[Fixed(8), Name, Name, IMPLEMENTATION],
    /* 28 ManifestResource */ &[Fixed(8), Name, IMPLEMENTATION],
    /* 29 NestedClass */ &[Row(0x02), Row(0x02)],
];

/// The tables in the stream `#~`.
struct Tables<'m> {
    counts: [u32; 64],
    /// Size of an index into `#Strings`, in bytes.
    strings: usize,
    /// Size of an index into `#GUID`, in bytes.
    guids: usize,
    /// Size of an index into `#Blob`, in bytes.
    blobs: usize,
    /// Bytes of the rows of all tables.
    rows: &'m [u8],
}

impl<'m> Tables<'m> {
    fn parse(stream: &'m [u8]) -> Result<Tables<'m>, ModuleTypesError> {
        let mut bytes = Bytes(stream);
        bytes.skip(6)?;
        let sizes = bytes.u16()?;
        let width = |bit: u16| if sizes & bit != 0 { 4 } else { 2 };
        let (low, high) = (bytes.u32()?, bytes.u32()?);
        let present = u64::from(high) << 32 | u64::from(low);
        bytes.skip(8)?;
        let mut counts = [0u32; 64];
        for (table, count) in counts.iter_mut().enumerate() {
            if present >> table & 1 != 0 {
                *count = bytes.u32()?;
            }
        }
        // Writers of `#-` may add four bytes of data.
        if sizes & 0x40 != 0 {
            bytes.skip(4)?;
        }
        let (strings, guids, blobs) = (width(1), width(2), width(4));
        Ok(Tables { counts, strings, guids, blobs, rows: bytes.0 })
    }

    fn count(&self, table: usize) -> u32 {
        self.counts.get(table).copied().unwrap_or(0)
    }

    /// Returns the size in bytes of a row number in one of these tables.
    fn width_of(&self, tables: &[usize]) -> usize {
        self.coded_width(0, tables)
    }

    fn coded_width(&self, bits: u32, tables: &[usize]) -> usize {
        let most = tables.iter().map(|table| self.count(*table)).max().unwrap_or(0);
        if u64::from(most) < 1 << 16u32.saturating_sub(bits) { 2 } else { 4 }
    }

    fn row_bytes(&self, table: usize) -> Result<usize, ModuleTypesError> {
        let columns = TABLES.get(table).ok_or(ModuleTypesError::UnknownTable(table))?;
        let width = |column: &Column| match column {
            Fixed(bytes) => *bytes,
            Name => self.strings,
            Guid => self.guids,
            Blob => self.blobs,
            Row(table) => self.width_of(&[*table]),
            Coded(bits, tables) => self.coded_width(*bits, tables),
        };
        Ok(columns.iter().map(width).fold(0, usize::saturating_add))
    }

    fn bytes_of(&self, table: usize) -> Result<usize, ModuleTypesError> {
        (self.count(table) as usize)
            .checked_mul(self.row_bytes(table)?)
            .ok_or(ModuleTypesError::Truncated)
    }

    /// Returns the rows of a table.
    fn rows(&self, table: usize) -> Result<impl Iterator<Item = &'m [u8]>, ModuleTypesError> {
        let mut bytes = Bytes(self.rows);
        for before in 0..table {
            if self.count(before) > 0 {
                bytes.skip(self.bytes_of(before)?)?;
            }
        }
        Ok(bytes.take(self.bytes_of(table)?)?.chunks_exact(self.row_bytes(table)?.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a module file with one section, which has the CLI header and the metadata.
    fn module(tables: &[u8], strings: &[u8]) -> Vec<u8> {
        let mut metadata = b"BSJB\x01\0\x01\0\0\0\0\0\x04\0\0\0v4\0\0\0\0\x02\0".to_vec();
        let tables_at = metadata.len() as u32 + 12 + 20;
        for (at, bytes, name) in [
            (tables_at, tables, &b"#~\0\0"[..]),
            (tables_at + tables.len() as u32, strings, b"#Strings\0\0\0\0"),
        ] {
            metadata.extend(at.to_le_bytes());
            metadata.extend((bytes.len() as u32).to_le_bytes());
            metadata.extend(name);
        }
        metadata.extend([tables, strings].concat());
        let mut file = b"MZ".to_vec();
        file.resize(0x3c, 0);
        file.extend(0x40u32.to_le_bytes());
        file.extend(b"PE\0\0\0\0\x01\0");
        file.extend([0; 12]);
        file.extend([224, 0, 0, 0, 0x0b, 0x01]);
        file.extend([0; 90]);
        file.extend(16u32.to_le_bytes());
        file.extend([0; 14 * 8]);
        file.extend([0, 0x20, 0, 0, 72, 0, 0, 0]);
        file.extend([0; 8]);
        file.extend([0; 8]);
        for number in [0x1000u32, 0x2000, 0x1000, 0x200] {
            file.extend(number.to_le_bytes());
        }
        file.resize(0x200, 0);
        file.extend([72, 0, 0, 0, 2, 0, 5, 0, 0x48, 0x20, 0, 0]);
        file.extend((metadata.len() as u32).to_le_bytes());
        file.resize(0x248, 0);
        file.extend(metadata);
        file
    }

    /// Makes a module file with types of these names and namespaces. Each pair in `nested` has the
    /// rows of an inner and its outer type.
    fn with_types(types: &[(&str, &str)], nested: &[(u16, u16)]) -> Vec<u8> {
        let mut strings = vec![0];
        let mut rows = Vec::new();
        let mut add = |text: &str| {
            let at = strings.len() as u16;
            strings.extend([text.as_bytes(), b"\0"].concat());
            at.to_le_bytes()
        };
        for (name, namespace) in types {
            rows.extend([0; 4]);
            rows.extend([add(name), add(namespace)].concat());
            rows.extend([0; 6]);
        }
        for (inner, outer) in nested {
            rows.extend([inner.to_le_bytes(), outer.to_le_bytes()].concat());
        }
        let mut tables = vec![0, 0, 0, 0, 2, 0, 0, 1];
        tables.extend((1u64 << TYPE_DEF | 1 << NESTED_CLASS).to_le_bytes());
        tables.extend([0; 8]);
        tables.extend((types.len() as u32).to_le_bytes());
        tables.extend((nested.len() as u32).to_le_bytes());
        tables.extend(rows);
        module(&tables, &strings)
    }

    fn generic() -> Vec<u8> {
        let types = [("<Module>", ""), ("Outer`1", "N.M"), ("Inner", ""), ("Deep`1", "")];
        with_types(&types, &[(3, 2), (4, 3)])
    }

    #[test]
    fn a_nested_type_has_the_names_of_those_around_it() {
        let types = ModuleTypes::parse(&generic()).unwrap();
        let deep = types.full_name(0x0200_0004, "Deep`1");
        assert_eq!(deep.as_deref(), Some("N.M.Outer`1+Inner+Deep`1"));
        for (token, name) in [
            // In order: another build, not nested, no type, another table, beyond the end.
            (0x0200_0004, "Other"),
            (0x0200_0002, "Outer`1"),
            (0x0200_0000, ""),
            (0x0600_0003, "Inner"),
            (0x0200_0005, "Deep`1"),
        ] {
            assert_eq!(types.full_name(token, name), None, "{token:#x} {name}");
        }
    }

    #[test]
    fn types_that_are_inside_each_other_have_no_name() {
        let types = [("A", ""), ("B", ""), ("C", "")];
        let file = with_types(&types, &[(1, 2), (2, 1), (3, 9)]);
        let types = ModuleTypes::parse(&file).unwrap();
        for (token, name) in [(0x0200_0001, "A"), (0x0200_0002, "B"), (0x0200_0003, "C")] {
            assert_eq!(types.full_name(token, name), None, "{name}");
        }
    }

    #[test]
    fn a_file_that_was_cut_or_changed_is_an_error_or_has_other_types() {
        let whole = generic();
        let mut cut = Vec::new();
        for length in 0..whole.len() {
            cut.push(ModuleTypes::parse(&whole[..length]).is_ok());
        }
        // The stream of names comes last, so every cut loses some names.
        assert!(cut.iter().all(|is_read| !is_read));
        for at in 0..whole.len() {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut file = whole.clone();
                file[at] = byte;
                if let Ok(types) = ModuleTypes::parse(&file) {
                    for token in 0x0200_0000..0x0200_0010 {
                        types.full_name(token, "Deep`1");
                    }
                }
            }
        }
        assert_eq!(ModuleTypes::parse(b"\x7fELF"), Err(ModuleTypesError::NotPe));
    }
}
