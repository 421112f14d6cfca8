//! Portable PDBs of made methods.

/// Kind of custom debug information that is Source Link: cc110556-a091-4d38-9fec-25ab9a351a6a.
const SOURCE_LINK: [u8; 16] = [
    0x56, 0x05, 0x11, 0xcc, 0x91, 0xa0, 0x38, 0x4d, 0x9f, 0xec, 0x25, 0xab, 0x9a, 0x35, 0x1a, 0x6a,
];

/// Returns a portable PDB with an id. Each of the module's methods, the first one being 1, is one
/// line: that of its number, in the file `document`. `source_link` is the JSON that maps files to
/// addresses.
///
/// ```
/// let pdb = nettrace_testdata::portable_pdb([7; 16], 3, "/src/a.cs", None);
/// assert!(pdb.starts_with(b"BSJB"));
/// ```
pub fn portable_pdb(
    id: [u8; 16],
    methods: u32,
    document: &str,
    source_link: Option<&str>,
) -> Vec<u8> {
    let mut blobs = vec![0];
    let mut blob = |content: &[u8]| {
        let at = blobs.len() as u32;
        blobs.extend(compressed(content.len() as u32));
        blobs.extend(content);
        at
    };
    let path = blob(document.as_bytes());
    // No separator, and one part.
    let name = blob(&[vec![0], compressed(path)].concat());
    let mut rows: Vec<u8> = [name, 0, 0, 0].into_iter().flat_map(u32::to_le_bytes).collect();
    for number in 1..=methods {
        // No locals; from offset 0 on, a line of one column; its number, and the column.
        let point = blob(&[vec![0, 0, 0, 1], compressed(number), vec![1]].concat());
        rows.extend(1u16.to_le_bytes());
        rows.extend(point.to_le_bytes());
    }
    let mut counts = vec![(0x30, 1), (0x31, methods)];
    if let Some(json) = source_link {
        // The parent is the module: its row, and the table's number in 5 bits.
        let parent: u32 = 1 << 5 | 7;
        let width = if methods < 1 << 11 { 2 } else { 4 };
        rows.extend(&parent.to_le_bytes()[..width]);
        rows.extend(1u32.to_le_bytes());
        rows.extend(blob(json.as_bytes()).to_le_bytes());
        counts.push((0x37, 1));
    }
    // Version, indices of four bytes into all heaps, and tables of which none is sorted.
    let mut tables = vec![0, 0, 0, 0, 2, 0, 7, 1];
    tables.extend(mask(&counts));
    tables.extend([0; 8]);
    tables.extend(counts.iter().flat_map(|(_, count)| count.to_le_bytes()));
    tables.extend(rows);
    // The stamp and the entry point are 0.
    let referenced = [(0, 1), (6, methods)];
    let mut pdb = [&id[..], &[0; 8], &mask(&referenced)].concat();
    pdb.extend(referenced.iter().flat_map(|(_, count)| count.to_le_bytes()));
    metadata(&[("#Pdb", pdb), ("#~", tables), ("#GUID", SOURCE_LINK.to_vec()), ("#Blob", blobs)])
}

/// Returns metadata with these streams.
fn metadata(streams: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let padded = |name: &str| (name.len() / 4 + 1) * 4;
    let mut file =
        [&b"BSJB\x01\0\x01\0\0\0\0\0\x0c\0\0\0"[..], b"PDB v1.0\0\0\0\0", &[0, 0]].concat();
    file.extend((streams.len() as u16).to_le_bytes());
    let heads: usize = streams.iter().map(|(name, _)| 8 + padded(name)).sum();
    let mut at = file.len() + heads;
    for (name, content) in streams {
        file.extend((at as u32).to_le_bytes());
        file.extend((content.len() as u32).to_le_bytes());
        file.extend(name.bytes());
        file.resize(file.len() + padded(name) - name.len(), 0);
        at += content.len();
    }
    file.extend(streams.iter().flat_map(|(_, content)| content));
    file
}

/// Returns the bits of the tables that are present.
fn mask(counts: &[(u32, u32)]) -> [u8; 8] {
    counts.iter().fold(0u64, |mask, (table, _)| mask | 1 << table).to_le_bytes()
}

/// Returns a number as blobs have it (ECMA-335 II.23.2).
fn compressed(number: u32) -> Vec<u8> {
    match number {
        0..0x80 => vec![number as u8],
        0x80..0x4000 => (number as u16 | 0x8000).to_be_bytes().to_vec(),
        _ => (number | 0xc000_0000).to_be_bytes().to_vec(),
    }
}
