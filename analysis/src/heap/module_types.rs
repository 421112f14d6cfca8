//! Outer types of nested types, from the metadata of a module's file.
//!
//! Heap dumps have only the last name of a nested type, and its token. The file of the type's
//! module has the rest (ECMA-335 II.22 and II.25):
//!
//! | where | what |
//! |---|---|
//! | table 2, TypeDef | name and namespace of each type; a token is 0x02000000 and its row |
//! | table 41, NestedClass | a type and the type around it |
//!
//! Nothing else is read. The file may be of another build, so a type's last name is compared with
//! the one in the trace.

use crate::metadata::{Bytes, MetadataError, PeFile, Streams, TABLE_MASK, Tables};

/// Maximum length of a name, in bytes. Compilers write shorter names, but in a crafted file all
/// types may share one huge name.
const MAX_NAME_BYTES: usize = 1024;
/// Maximum depth of types nested in each other.
const MAX_DEPTH: usize = 32;

const TYPE_DEF: usize = 0x02;
const NESTED_CLASS: usize = 0x29;
const TYPE_DEF_TOKEN: u32 = 0x0200_0000;

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
    pub(super) fn parse(file: &[u8]) -> Result<ModuleTypes, MetadataError> {
        let streams = Streams::parse(PeFile::parse(file)?.metadata()?)?;
        let tables = Tables::parse(streams.tables, [0; 64])?;
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
        assert_eq!(ModuleTypes::parse(b"\x7fELF"), Err(MetadataError::NotPe));
    }
}
