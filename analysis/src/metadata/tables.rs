//! The streams and tables of metadata.

use super::{Bytes, MetadataError, from};

/// Maximum number of the metadata's streams that are read; there are seven kinds.
const MAX_STREAMS: usize = 32;

/// The streams of metadata. Those that are missing are empty, but for the tables.
pub(crate) struct Streams<'m> {
    /// The stream `#~` or `#-`.
    pub(crate) tables: &'m [u8],
    pub(crate) strings: &'m [u8],
    pub(crate) blobs: &'m [u8],
    pub(crate) guids: &'m [u8],
    /// The stream `#Pdb`, which only a portable PDB has.
    pub(crate) pdb: &'m [u8],
}

impl<'m> Streams<'m> {
    pub(crate) fn parse(metadata: &'m [u8]) -> Result<Streams<'m>, MetadataError> {
        let mut root = Bytes(metadata);
        if root.take(4)? != b"BSJB" {
            return Err(MetadataError::NoMetadata);
        }
        root.skip(8)?;
        let version_bytes = root.u32()? as usize;
        root.skip(version_bytes)?;
        root.skip(2)?;
        let count = usize::from(root.u16()?).min(MAX_STREAMS);
        let [mut strings, mut blobs, mut guids, mut pdb] = [&[] as &[u8]; 4];
        let mut tables = None;
        for _ in 0..count {
            let (at, bytes) = (root.u32()?, root.u32()?);
            // A name ends in a zero byte, and is padded to a multiple of four bytes.
            let end = root.0.iter().position(|byte| *byte == 0);
            let length = end.ok_or(MetadataError::Truncated)?;
            let name = root.take(length)?;
            root.skip((length | 3).saturating_add(1).saturating_sub(length))?;
            let stream = from(metadata, at)?.take(bytes as usize)?;
            match name {
                b"#~" | b"#-" => tables = Some(stream),
                b"#Strings" => strings = stream,
                b"#Blob" => blobs = stream,
                b"#GUID" => guids = stream,
                b"#Pdb" => pdb = stream,
                _ => {}
            }
        }
        let tables = tables.ok_or(MetadataError::NoMetadata)?;
        Ok(Streams { tables, strings, blobs, guids, pdb })
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

const TYPE_OR_METHOD_DEF: Column = Coded(1, &[0x02, 0x06]);
const HAS_CUSTOM_DEBUG_INFORMATION: Column = Coded(
    5,
    &[
        0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00, 0x0e, 0x17, 0x14, 0x11, 0x1a, 0x1b, 0x20,
        0x23, 0x26, 0x27, 0x28, 0x2a, 0x2c, 0x2b, 0x30, 0x32, 0x33, 0x34, 0x35,
    ],
);

/// Columns of each table, as in ECMA-335 II.22, of the pointer tables of uncompressed metadata
/// (`#-`), and of the tables of portable PDBs. A table without columns does not exist.
const TABLES: [&[Column]; 0x38] = [
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
    /* 2a GenericParam */ &[Fixed(4), TYPE_OR_METHOD_DEF, Name],
    /* 2b MethodSpec */ &[METHOD_DEF_OR_REF, Blob],
    /* 2c GenericParamConstraint */ &[Row(0x2a), TYPE_DEF_OR_REF],
    &[],
    &[],
    &[],
    /* 30 Document */ &[Blob, Guid, Blob, Guid],
    /* 31 MethodDebugInformation */ &[Row(0x30), Blob],
    /* 32 LocalScope */ &[Row(0x06), Row(0x35), Row(0x33), Row(0x34), Fixed(8)],
    /* 33 LocalVariable */ &[Fixed(4), Name],
    /* 34 LocalConstant */ &[Name, Blob],
    /* 35 ImportScope */ &[Row(0x35), Blob],
    /* 36 StateMachineMethod */ &[Row(0x06), Row(0x06)],
    /* 37 CustomDebugInformation */ &[HAS_CUSTOM_DEBUG_INFORMATION, Guid, Blob],
];

/// Reads the number of rows of each table that is present.
pub(crate) fn row_counts(present: u64, bytes: &mut Bytes<'_>) -> Result<[u32; 64], MetadataError> {
    let mut counts = [0u32; 64];
    for (table, count) in counts.iter_mut().enumerate() {
        if present >> table & 1 != 0 {
            *count = bytes.u32()?;
        }
    }
    Ok(counts)
}

/// The tables in the stream `#~`.
pub(crate) struct Tables<'m> {
    counts: [u32; 64],
    /// Number of rows of each table of the module to which a PDB belongs; 0 in a module.
    referenced: [u32; 64],
    /// Size of an index into `#Strings`, in bytes.
    pub(crate) strings: usize,
    /// Size of an index into `#GUID`, in bytes.
    pub(crate) guids: usize,
    /// Size of an index into `#Blob`, in bytes.
    pub(crate) blobs: usize,
    /// Bytes of the rows of all tables.
    rows: &'m [u8],
}

impl<'m> Tables<'m> {
    /// Reads the head of the tables. `referenced` is the number of rows of each table that stands in
    /// another file.
    pub(crate) fn parse(
        stream: &'m [u8],
        referenced: [u32; 64],
    ) -> Result<Tables<'m>, MetadataError> {
        let mut bytes = Bytes(stream);
        bytes.skip(6)?;
        let sizes = bytes.u16()?;
        let width = |bit: u16| if sizes & bit != 0 { 4 } else { 2 };
        let (low, high) = (bytes.u32()?, bytes.u32()?);
        let present = u64::from(high) << 32 | u64::from(low);
        bytes.skip(8)?;
        let counts = row_counts(present, &mut bytes)?;
        // Writers of `#-` may add four bytes of data.
        if sizes & 0x40 != 0 {
            bytes.skip(4)?;
        }
        let (strings, guids, blobs) = (width(1), width(2), width(4));
        Ok(Tables { counts, referenced, strings, guids, blobs, rows: bytes.0 })
    }

    fn count(&self, table: usize) -> u32 {
        self.counts.get(table).copied().unwrap_or(0)
    }

    /// Returns the size in bytes of a row number in one of these tables.
    pub(crate) fn width_of(&self, tables: &[usize]) -> usize {
        self.coded_width(0, tables)
    }

    fn coded_width(&self, bits: u32, tables: &[usize]) -> usize {
        let rows = |table: &usize| {
            self.count(*table).max(self.referenced.get(*table).copied().unwrap_or(0))
        };
        let most = tables.iter().map(rows).max().unwrap_or(0);
        if u64::from(most) < 1 << 16u32.saturating_sub(bits) { 2 } else { 4 }
    }

    /// Returns the size in bytes of the parent of custom debug information: the row of any table.
    pub(crate) fn debug_parent_width(&self) -> usize {
        let Coded(bits, tables) = HAS_CUSTOM_DEBUG_INFORMATION else { return 0 };
        self.coded_width(bits, tables)
    }

    fn row_bytes(&self, table: usize) -> Result<usize, MetadataError> {
        let columns = TABLES.get(table).filter(|columns| !columns.is_empty());
        let columns = columns.ok_or(MetadataError::UnknownTable(table))?;
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

    fn bytes_of(&self, table: usize) -> Result<usize, MetadataError> {
        (self.count(table) as usize)
            .checked_mul(self.row_bytes(table)?)
            .ok_or(MetadataError::Truncated)
    }

    /// Returns the rows of a table.
    pub(crate) fn rows(
        &self,
        table: usize,
    ) -> Result<impl Iterator<Item = &'m [u8]> + use<'m>, MetadataError> {
        let mut bytes = Bytes(self.rows);
        for before in 0..table {
            if self.count(before) > 0 {
                bytes.skip(self.bytes_of(before)?)?;
            }
        }
        Ok(bytes.take(self.bytes_of(table)?)?.chunks_exact(self.row_bytes(table)?.max(1)))
    }
}
