//! Makes ELF files with symbols, like those that a trace lists in its mappings.

/// Returns a 64-bit shared library with a build id and `functions`, each of which has a name, an
/// address and a size. Its only segment maps file offset 0x1000 to address 0x2000.
///
/// # Panics
/// If the texts are longer than 4 GiB.
pub fn small_elf(functions: &[(&str, u64, u64)], build_id: &[u8]) -> Vec<u8> {
    let (mut names, mut symbols) = (vec![0u8], vec![0u8; 24]);
    for (name, address, size) in functions {
        symbols.extend(u32::try_from(names.len()).unwrap().to_le_bytes());
        // Info and section of the symbol: a global function of section 1.
        symbols.extend([0x12, 0, 1, 0]);
        symbols.extend(address.to_le_bytes());
        symbols.extend(size.to_le_bytes());
        names.extend(name.bytes());
        names.push(0);
    }
    let mut note = Vec::new();
    for word in [4u32, u32::try_from(build_id.len()).unwrap(), 3] {
        note.extend(word.to_le_bytes());
    }
    note.extend(b"GNU\0");
    note.extend(build_id);
    let section_names = b"\0.text\0.symtab\0.strtab\0.note.gnu.build-id\0.shstrtab\0";
    let contents: [(&[u8], u32, u32, u32, u64); 5] = [
        // For each section: content, offset of its name, type, link, size of an entry.
        (&[0x90; 16], 1, 1, 0, 0),
        (&symbols, 7, 2, 3, 24),
        (&names, 15, 3, 0, 0),
        (&note, 23, 7, 0, 0),
        (section_names, 42, 3, 0, 0),
    ];
    let mut body = Vec::new();
    let mut headers = vec![0u8; 64];
    for (bytes, name, kind, link, entry) in contents {
        let at = 64 + 56 + body.len() as u64;
        headers.extend(name.to_le_bytes());
        headers.extend(kind.to_le_bytes());
        let info = u32::from(kind == 2);
        headers.extend([2u64, 0x2000, at, bytes.len() as u64].map(u64::to_le_bytes).concat());
        headers.extend(link.to_le_bytes());
        headers.extend(info.to_le_bytes());
        headers.extend([8u64, entry].map(u64::to_le_bytes).concat());
        body.extend(bytes);
        body.resize(body.len().next_multiple_of(8), 0);
    }
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    file.extend([3u16, 62].map(u16::to_le_bytes).concat());
    file.extend(1u32.to_le_bytes());
    file.extend([0u64, 64, 64 + 56 + body.len() as u64].map(u64::to_le_bytes).concat());
    file.extend(0u32.to_le_bytes());
    file.extend([64u16, 56, 1, 64, 6, 5].map(u16::to_le_bytes).concat());
    // Program header of the segment.
    file.extend([1u32, 5].map(u32::to_le_bytes).concat());
    file.extend([0x1000u64, 0x2000, 0x2000, 0x1000, 0x1000, 0x1000].map(u64::to_le_bytes).concat());
    file.extend(body);
    file.extend(headers);
    file
}
