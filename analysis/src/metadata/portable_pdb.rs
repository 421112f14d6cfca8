//! Portable PDBs, which say which line of which file each method's IL comes from.
//!
//! | where | what |
//! |---|---|
//! | `#Pdb`, bytes 0 to 15 | GUID, which is the same in the module |
//! | `#Pdb`, bytes 24 to 31 | tables of the module whose numbers of rows follow |
//! | table 0x30, Document | name of a source file: a separator and its parts, as blobs |
//! | table 0x31, MethodDebugInformation | document and sequence points of each method, in the order of the methods |
//! | table 0x37, CustomDebugInformation | of the module: the JSON of Source Link |
//! | sequence points | a blob of compressed numbers: see [`PortablePdb::sequence_points`] |

use super::source_link::SourceLink;
use super::tables::row_counts;
use super::{Bytes, MetadataError, Streams, TABLE_MASK, Tables, from};
use nettrace_parser::Guid;
use std::fmt;

/// Maximum length of the name of a source file, in bytes. Compilers write shorter names, but in a
/// crafted file all parts of a name may be one huge text.
const MAX_NAME_BYTES: usize = 1024;
/// Maximum number of parts of such a name, which are folders. In a crafted file, millions of them
/// have no text.
const MAX_NAME_PARTS: usize = 256;

const DOCUMENT: usize = 0x30;
const METHOD_DEBUG_INFORMATION: usize = 0x31;
const CUSTOM_DEBUG_INFORMATION: usize = 0x37;
/// Parent of custom debug information that is the module: its only row, and the table's number.
const MODULE: u32 = 1 << 5 | 7;
/// Kind of custom debug information that is Source Link: cc110556-a091-4d38-9fec-25ab9a351a6a.
const SOURCE_LINK: [u8; 16] = [
    0x56, 0x05, 0x11, 0xcc, 0x91, 0xa0, 0x38, 0x4d, 0x9f, 0xec, 0x25, 0xab, 0x9a, 0x35, 0x1a, 0x6a,
];
const METHOD_TOKEN: u32 = 0x0600_0000;

/// Place in the source from which IL comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SequencePoint {
    /// First offset in the method's IL.
    pub(crate) il_offset: u32,
    /// Row of the document, counted from 1.
    pub(crate) document: u32,
    /// Line, counted from 1; 0 if the IL is hidden: the compiler made it without source.
    pub(crate) line: u32,
}

/// Documents and methods of a portable PDB.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PortablePdb {
    pub(crate) id: Guid,
    /// Content of the stream `#Blob`.
    blobs: Vec<u8>,
    /// Place of each document's name in `blobs`.
    documents: Vec<u32>,
    /// Document of each method, or 0, and the place of its sequence points in `blobs`, or 0.
    methods: Vec<(u32, u32)>,
    source_link: SourceLink,
}

impl fmt::Debug for PortablePdb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortablePdb").field("id", &self.id).finish_non_exhaustive()
    }
}

impl PortablePdb {
    /// Reads a portable PDB. Sequence points are decoded later, for one method at a time.
    pub(crate) fn parse(file: &[u8]) -> Result<PortablePdb, MetadataError> {
        let streams = Streams::parse(file)?;
        let mut head = Bytes(streams.pdb);
        let id = head.take(16)?.try_into().map_err(|_| MetadataError::Truncated)?;
        head.skip(8)?;
        let (low, high) = (head.u32()?, head.u32()?);
        let referenced = row_counts(u64::from(high) << 32 | u64::from(low), &mut head)?;
        let tables = Tables::parse(streams.tables, referenced)?;
        let mut documents = Vec::new();
        for row in tables.rows(DOCUMENT)? {
            documents.push(Bytes(row).index(tables.blobs)?);
        }
        let width = tables.width_of(&[DOCUMENT]);
        let mut methods = Vec::new();
        for row in tables.rows(METHOD_DEBUG_INFORMATION)? {
            let mut row = Bytes(row);
            methods.push((row.index(width)?, row.index(tables.blobs)?));
        }
        let json = source_link(&tables, &streams).and_then(|at| blob(streams.blobs, at));
        let source_link = json.map(|json| SourceLink::parse(json.0)).unwrap_or_default();
        let blobs = streams.blobs.to_vec();
        Ok(PortablePdb { id: Guid::from_bytes(id), blobs, documents, methods, source_link })
    }

    /// Returns the address of a source file on the web, by the name of the document.
    pub(crate) fn source_url(&self, document: &str) -> Option<String> {
        self.source_link.url(document)
    }

    /// Returns the name of a document by its row, counted from 1: the path that the compiler had.
    pub(crate) fn document(&self, row: u32) -> Option<String> {
        let at = row.checked_sub(1)?;
        let mut name = self.blob(*self.documents.get(at as usize)?)?;
        let separator = match name.take(1).ok()? {
            [0] => "",
            separator => std::str::from_utf8(separator).ok()?,
        };
        let mut path = String::new();
        for number in 0..MAX_NAME_PARTS {
            if name.0.is_empty() || path.len() > MAX_NAME_BYTES {
                break;
            }
            if number > 0 {
                path.push_str(separator);
            }
            let part = unsigned(&mut name)?;
            if part > 0 {
                let part = self.blob(part)?.0;
                path.push_str(&String::from_utf8_lossy(part.get(..MAX_NAME_BYTES).unwrap_or(part)));
            }
        }
        (!path.is_empty()).then_some(path)
    }

    /// Returns the sequence points of a method in the order of their IL offsets; empty if the
    /// method has none, or the token is not that of a method. Those of a damaged blob are returned
    /// up to the damage. `room` is how many bytes of such blobs may still be decoded: compilers
    /// write each blob for one method, but in a crafted file all methods may have one huge blob.
    /// Returns `None` if there is no room.
    ///
    /// The blob has the token of the local variables; a document, unless the method has one; then
    /// records. A record has the distance of the IL offset from the one before; number of lines;
    /// number of columns; and, unless both are 0, which means hidden, the distances of line and
    /// column from those of the visible record before. If the distance of the IL offset is 0, and
    /// the record is not the first one, a new document follows.
    pub(crate) fn sequence_points(
        &self,
        token: u32,
        room: &mut usize,
    ) -> Option<Vec<SequencePoint>> {
        let mut points = Vec::new();
        if let Some((document, blob)) = self.points_of(token) {
            *room = room.checked_sub(blob.0.len())?;
            let _ = decode(document, blob, &mut points);
        }
        Some(points)
    }

    /// Returns the document of a method, or 0, and the blob of its sequence points.
    fn points_of(&self, token: u32) -> Option<(u32, Bytes<'_>)> {
        let row = token.checked_sub(METHOD_TOKEN).filter(|_| token & TABLE_MASK == METHOD_TOKEN)?;
        let (document, at) = *self.methods.get(row.checked_sub(1)? as usize)?;
        (at != 0).then(|| self.blob(at)).flatten().map(|blob| (document, blob))
    }

    /// Returns the content of a blob.
    fn blob(&self, at: u32) -> Option<Bytes<'_>> {
        blob(&self.blobs, at)
    }
}

/// Returns the content of a blob.
fn blob(blobs: &[u8], at: u32) -> Option<Bytes<'_>> {
    let mut bytes = from(blobs, at).ok()?;
    let size = unsigned(&mut bytes)?;
    bytes.take(size as usize).ok().map(Bytes)
}

/// Returns the place of the JSON of Source Link in the blobs; `None` if there is none.
fn source_link(tables: &Tables<'_>, streams: &Streams<'_>) -> Option<u32> {
    // The number of a GUID counts from 1, in units of its 16 bytes.
    let is_it = |number: u32| {
        let (guids, _) = streams.guids.as_chunks::<16>();
        let at = number.checked_sub(1).and_then(|at| guids.get(at as usize));
        at == Some(&SOURCE_LINK)
    };
    tables.rows(CUSTOM_DEBUG_INFORMATION).ok()?.find_map(|row| {
        let mut row = Bytes(row);
        let parent = row.index(tables.debug_parent_width()).ok()?;
        let kind = row.index(tables.guids).ok()?;
        (parent == MODULE && is_it(kind)).then(|| row.index(tables.blobs).ok()).flatten()
    })
}

/// Decodes the sequence points of a method up to the first damage.
fn decode(mut document: u32, mut blob: Bytes<'_>, points: &mut Vec<SequencePoint>) -> Option<()> {
    unsigned(&mut blob)?;
    if document == 0 {
        document = unsigned(&mut blob)?;
    }
    let (mut il_offset, mut line) = (0u32, None::<u32>);
    while !blob.0.is_empty() {
        let distance = unsigned(&mut blob)?;
        if distance == 0 && !points.is_empty() {
            document = unsigned(&mut blob)?;
            continue;
        }
        il_offset = il_offset.checked_add(distance)?;
        let lines = unsigned(&mut blob)?;
        let columns = if lines == 0 { i64::from(unsigned(&mut blob)?) } else { signed(&mut blob)? };
        if lines == 0 && columns == 0 {
            points.push(SequencePoint { il_offset, document, line: 0 });
            continue;
        }
        let start = match line {
            None => {
                let start = unsigned(&mut blob)?;
                unsigned(&mut blob)?;
                start
            }
            Some(line) => {
                let start = i64::from(line).checked_add(signed(&mut blob)?)?;
                signed(&mut blob)?;
                u32::try_from(start).ok()?
            }
        };
        line = Some(start);
        points.push(SequencePoint { il_offset, document, line: start });
    }
    Some(())
}

/// Reads a compressed number (ECMA-335 II.23.2), and returns it with its number of bits.
fn compressed(bytes: &mut Bytes<'_>) -> Option<(u32, u32)> {
    let [first] = *bytes.take(1).ok()? else { return None };
    let (bits, more) = match first {
        0..0x80 => return Some((u32::from(first), 7)),
        0x80..0xc0 => (14, 1),
        0xc0..0xe0 => (29, 3),
        _ => return None,
    };
    let first = u32::from(first & if bits == 14 { 0x3f } else { 0x1f });
    let rest = bytes.take(more).ok()?;
    Some((rest.iter().fold(first, |number, byte| number << 8 | u32::from(*byte)), bits))
}

fn unsigned(bytes: &mut Bytes<'_>) -> Option<u32> {
    compressed(bytes).map(|(number, _)| number)
}

/// Reads a number whose lowest bit is its sign.
fn signed(bytes: &mut Bytes<'_>) -> Option<i64> {
    let (number, bits) = compressed(bytes)?;
    let negative = if number & 1 == 0 { 0 } else { 1i64 << bits.saturating_sub(1) };
    i64::from(number >> 1).checked_sub(negative)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nettrace_testdata::corpus;
    use proptest::prelude::*;

    #[test]
    fn compressed_numbers_are_those_of_the_specification() {
        let unsigned = |bytes: &[u8]| unsigned(&mut Bytes(bytes));
        for (number, bytes) in [
            (0x03, &[0x03][..]),
            (0x7f, &[0x7f]),
            (0x80, &[0x80, 0x80]),
            (0x2e57, &[0xae, 0x57]),
            (0x3fff, &[0xbf, 0xff]),
            (0x4000, &[0xc0, 0x00, 0x40, 0x00]),
            (0x1fff_ffff, &[0xdf, 0xff, 0xff, 0xff]),
        ] {
            assert_eq!(unsigned(bytes), Some(number));
        }
        assert_eq!([&[][..], &[0x80], &[0xc0, 0], &[0xff; 4]].map(unsigned), [None; 4]);
        for (number, bytes) in [
            (3, &[0x06][..]),
            (-3, &[0x7b]),
            (64, &[0x80, 0x80]),
            (-64, &[0x01]),
            (8192, &[0xc0, 0x00, 0x40, 0x00]),
            (-8192, &[0x80, 0x01]),
            (268_435_455, &[0xdf, 0xff, 0xff, 0xfe]),
            (-268_435_456, &[0xc0, 0x00, 0x00, 0x01]),
        ] {
            assert_eq!(signed(&mut Bytes(bytes)), Some(number));
        }
    }

    #[test]
    fn a_method_has_its_documents_lines_and_hidden_points() {
        let pdb = PortablePdb::parse(&corpus::known_file("LineHot.pdb")).unwrap();
        let points = |token| pdb.sequence_points(token, &mut { usize::MAX }).unwrap();
        let at = |point: &SequencePoint| (point.il_offset, point.line);
        let slow: Vec<_> = points(0x0600_0003).iter().map(at).collect();
        assert_eq!(slow, [(0, 33), (2, 0), (4, 33), (16, 33), (20, 33), (24, 34)]);
        let main = points(0x0600_0008);
        let files = main.iter().filter(|point| point.line == 500).map(|point| point.document);
        let files: Vec<_> = files.filter_map(|row| pdb.document(row)).collect();
        assert_eq!(files, ["/src/LineHot/Generated/Model.g.cs"]);
        assert!(main.iter().any(|point| point.line == 85), "{main:?}");
        // The iterator's state machine begins with a hidden point.
        assert_eq!(points(0x0600_000e).first().map(at), Some((0, 0)));
        // In order: no method, beyond the last one, another table, made by the compiler.
        for token in [0x0600_0000, 0x0600_00ff, 0x0200_0001, 0x0600_0007] {
            assert_eq!(points(token), [], "{token:#x}");
        }
        assert_eq!([0, 99].map(|row| pdb.document(row)), [None, None]);
    }

    fn made(blobs: Vec<u8>, documents: Vec<u32>, methods: Vec<(u32, u32)>) -> PortablePdb {
        let (id, source_link) = (Guid::from_bytes([0; 16]), SourceLink::default());
        PortablePdb { id, blobs, documents, methods, source_link }
    }

    #[test]
    fn methods_that_share_a_blob_are_decoded_as_far_as_there_is_room() {
        let blob = [11, 0, 0, 1, 1, 7, 1, 2, 1, 2, 2, 2];
        let methods = vec![(1, 0), (1, 1), (1, 1)];
        let blobs = [&[0][..], &blob].concat();
        let pdb = made(blobs, vec![], methods);
        let mut room = 15;
        let mut count = |row| {
            let points = pdb.sequence_points(METHOD_TOKEN + row, &mut room);
            points.map(|points| points.len())
        };
        assert_eq!([1, 2, 3, 1].map(&mut count), [Some(0), Some(2), None, Some(0)]);
    }

    #[test]
    fn the_name_of_a_document_has_a_maximum_of_parts() {
        // A separator and 3,000 parts without text, behind a size of two bytes.
        let blobs = [&[0, 0x8b, 0xb9, b'/'][..], &[0; 3_000]].concat();
        let pdb = made(blobs, vec![1], Vec::new());
        assert_eq!(pdb.document(1).unwrap().len(), MAX_NAME_PARTS - 1);
    }

    /// Reads all of a file that may be damaged.
    fn read(file: &[u8]) {
        let Ok(pdb) = PortablePdb::parse(file) else { return };
        for row in 0..0x40 {
            let name = pdb.document(row).unwrap_or_default();
            assert!(name.len() <= 8 * MAX_NAME_BYTES, "{}", name.len());
            let points = pdb.sequence_points(METHOD_TOKEN + row, &mut { usize::MAX });
            assert!(points.unwrap().len() <= file.len());
        }
    }

    #[test]
    fn a_file_that_was_cut_is_an_error_or_lacks_its_end() {
        let whole = corpus::known_file("LineHot.pdb");
        (0..whole.len()).for_each(|length| read(&whole[..length]));
    }

    proptest! {
        #[test]
        fn a_file_that_was_changed_is_read_within_its_bounds(
            changes in prop::collection::vec((0usize..11848, any::<u8>()), 1..16)
        ) {
            let mut file = corpus::known_file("LineHot.pdb");
            for (at, byte) in changes {
                if let Some(place) = file.get_mut(at) {
                    *place = byte;
                }
            }
            read(&file);
        }
    }
}
