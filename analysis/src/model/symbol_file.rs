//! Names of native functions, from ELF files and [program databases](super::program_database). An
//! ELF file is a program, a library, or a file with symbols that were stripped from one.
//!
//! A mapping says which part of a file lies where in memory. Program headers give the linker
//! addresses of the part, and symbol tables the functions there. The library `object` parses both;
//! unreadable parts lead to an error or to missing symbols.

use super::program_database::ProgramDatabase;
use object::read::{Object, ObjectSegment, ObjectSymbol};
use object::{BinaryFormat, SymbolKind};
use std::borrow::Cow;
use std::fmt;

/// Maximum length of a symbol's name, in bytes. Longer names are cut off.
const MAX_SYMBOL_BYTES: usize = 4096;
/// Size of the pages in which files are mapped, in bytes.
const PAGE_BYTES: u64 = 4096;
/// Maximum size of all names, as a multiple of the size of the file. Symbols may share names, but
/// only hostile files share long ones.
const MAX_NAMES_PER_FILE: usize = 4;

/// Reason why a symbol file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SymbolFileError {
    /// The file is neither an ELF file nor a program database (PDB), or is truncated or
    /// inconsistent.
    Unreadable(UnreadableSymbols),
    /// The names of the symbols take more memory than a file of this size needs.
    Bloated,
    /// The process used another build of the file.
    OtherBuild {
        /// Build id of the file.
        of_file: String,
        /// Build id in the trace.
        of_trace: String,
    },
}

impl fmt::Display for SymbolFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SymbolFileError::Unreadable(_) => f.write_str("no readable ELF or PDB file"),
            SymbolFileError::Bloated => {
                f.write_str("its symbol names are far longer than the file itself")
            }
            SymbolFileError::OtherBuild { of_file, of_trace } => {
                write!(f, "another build: its build id is {of_file}, the trace has {of_trace}")
            }
        }
    }
}

impl std::error::Error for SymbolFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SymbolFileError::Unreadable(cause) => Some(cause),
            SymbolFileError::Bloated | SymbolFileError::OtherBuild { .. } => None,
        }
    }
}

/// Reason why a file of symbols cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableSymbols(UnreadableReason);

#[derive(Debug, Clone, PartialEq, Eq)]
enum UnreadableReason {
    /// The reader of object files refuses the file.
    Object(object::Error),
    /// A PDB is truncated, or has no symbols.
    Pdb,
    OtherFormat,
}

impl fmt::Display for UnreadableSymbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            UnreadableReason::Object(error) => error.fmt(f),
            UnreadableReason::Pdb => f.write_str("a PDB that is truncated or has no symbols"),
            UnreadableReason::OtherFormat => f.write_str("another format"),
        }
    }
}

impl std::error::Error for UnreadableSymbols {}

/// Functions of a program or library, found by position.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SymbolFile {
    segments: Vec<Segment>,
    /// Functions, sorted by address of the linker; they may overlap.
    symbols: Vec<Symbol>,
    names: String,
    build_id: Option<String>,
}

/// A part of the file, and the address that the linker gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
}

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Symbol {
    start: u64,
    /// Last address of the function.
    last: u64,
    name_at: usize,
    name_bytes: usize,
    is_local: bool,
}

impl Symbol {
    fn name<'n>(&self, names: &'n str) -> Option<&'n str> {
        names.get(self.name_at..self.name_at.saturating_add(self.name_bytes))
    }
}

impl SymbolFile {
    /// Reads the functions of an ELF file or of a program database (PDB).
    ///
    /// # Errors
    /// [`SymbolFileError::Unreadable`] or [`SymbolFileError::Bloated`].
    pub fn from_bytes(bytes: &[u8]) -> Result<SymbolFile, SymbolFileError> {
        let unreadable = |reason| SymbolFileError::Unreadable(UnreadableSymbols(reason));
        let most = bytes.len().saturating_mul(MAX_NAMES_PER_FILE);
        if ProgramDatabase::is_one(bytes) {
            let database =
                ProgramDatabase::parse(bytes).ok_or_else(|| unreadable(UnreadableReason::Pdb))?;
            return SymbolFile::of_database(&database, most);
        }
        let elf = object::File::parse(bytes)
            .map_err(|error| unreadable(UnreadableReason::Object(error)))?;
        if elf.format() != BinaryFormat::Elf {
            return Err(unreadable(UnreadableReason::OtherFormat));
        }
        let mut file = SymbolFile {
            segments: elf
                .segments()
                .map(|segment| {
                    let (offset, size) = segment.file_range();
                    // In files with stripped symbols, segments have no bytes in the file.
                    Segment { offset, size: size.max(segment.size()), address: segment.address() }
                })
                .collect(),
            build_id: elf.build_id().ok().flatten().map(hexadecimal),
            ..SymbolFile::default()
        };
        for symbol in elf.symbols().chain(elf.dynamic_symbols()) {
            if symbol.kind() != SymbolKind::Text || !symbol.is_definition() {
                continue;
            }
            let Ok(name) = symbol.name_bytes() else { continue };
            file.push(symbol.address(), symbol.size(), name, !symbol.is_global(), most)?;
        }
        file.sort();
        Ok(file)
    }

    fn of_database(database: &ProgramDatabase, most: usize) -> Result<SymbolFile, SymbolFileError> {
        // Addresses are distances from the start of the loaded program, not places in the file.
        let loaded = Segment { offset: 0, size: 0, address: 0 };
        let build_id = database.build_id.clone();
        let mut file = SymbolFile { segments: vec![loaded], build_id, ..SymbolFile::default() };
        for function in database.functions() {
            file.push(function.start, function.size, function.name, false, most)?;
        }
        file.sort();
        Ok(file)
    }

    /// Adds a symbol. `most` is the maximum size of all names, in bytes.
    fn push(
        &mut self,
        start: u64,
        size: u64,
        name: &[u8],
        is_local: bool,
        most: usize,
    ) -> Result<(), SymbolFileError> {
        let name = String::from_utf8_lossy(name.get(..MAX_SYMBOL_BYTES).unwrap_or(name));
        if self.names.len().saturating_add(name.len()) > most {
            return Err(SymbolFileError::Bloated);
        }
        if name.is_empty() {
            return Ok(());
        }
        let name_at = self.names.len();
        self.names.push_str(&name);
        let last = start.saturating_add(size.saturating_sub(1));
        self.symbols.push(Symbol { start, last, name_at, name_bytes: name.len(), is_local });
        Ok(())
    }

    /// Sorts the symbols by address and keeps one at each address, preferably a global symbol with
    /// a short name.
    fn sort(&mut self) {
        self.symbols.sort_by(|a, b| {
            let rank = |symbol: &Symbol| (symbol.start, symbol.is_local, symbol.name_bytes);
            rank(a).cmp(&rank(b)).then_with(|| a.name(&self.names).cmp(&b.name(&self.names)))
        });
        self.symbols.dedup_by_key(|symbol| symbol.start);
        // A symbol without a size, such as an assembler function, extends to the next symbol.
        let next: Vec<u64> = self.symbols.iter().skip(1).map(|symbol| symbol.start).collect();
        for (symbol, next) in self.symbols.iter_mut().zip(next) {
            if symbol.last == symbol.start {
                symbol.last = next.saturating_sub(1).max(symbol.start);
            }
        }
    }

    /// Adds the symbols of another file of the same build, such as the symbols that were stripped
    /// from this file. The segments of this file are kept.
    ///
    /// # Errors
    /// [`SymbolFileError::OtherBuild`].
    pub fn add(&mut self, other: &SymbolFile) -> Result<(), SymbolFileError> {
        if let Some(of_file) = &self.build_id {
            other.check_build(of_file)?;
        }
        for symbol in &other.symbols {
            let name = symbol.name(&other.names).unwrap_or_default();
            let size = symbol.last.saturating_sub(symbol.start).saturating_add(1);
            // Both files were checked for the size of their names.
            self.push(symbol.start, size, name.as_bytes(), symbol.is_local, usize::MAX)?;
        }
        self.sort();
        Ok(())
    }

    /// Checks that the file belongs to the build `of_trace`, if the file has a build id.
    ///
    /// # Errors
    /// [`SymbolFileError::OtherBuild`].
    pub(crate) fn check_build(&self, of_trace: &str) -> Result<(), SymbolFileError> {
        match &self.build_id {
            Some(of_file) if !of_file.eq_ignore_ascii_case(of_trace) => {
                Err(SymbolFileError::OtherBuild {
                    of_file: of_file.clone(),
                    of_trace: of_trace.to_owned(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Returns the build id in hexadecimal, if the file has one.
    pub fn build_id(&self) -> Option<&str> {
        self.build_id.as_deref()
    }

    /// Returns the linker name of the function at an offset in the file.
    pub(crate) fn name_at(&self, offset: u64) -> Option<&str> {
        let segment = self.segments.iter().find(|segment| {
            offset.checked_sub(segment.offset).is_some_and(|within| within < segment.size)
        })?;
        self.name_of(segment.address.checked_add(offset.checked_sub(segment.offset)?)?)
    }

    /// Returns the linker name of the function at a distance from the start of the loaded file.
    pub(crate) fn name_from_start(&self, distance: u64) -> Option<&str> {
        let lowest = self.segments.iter().map(|segment| segment.address).min().unwrap_or(0);
        let start = lowest.saturating_sub(lowest % PAGE_BYTES);
        self.name_of(start.checked_add(distance)?)
    }

    fn name_of(&self, address: u64) -> Option<&str> {
        let end = self.symbols.partition_point(|symbol| symbol.start <= address);
        let symbol =
            self.symbols.get(end.checked_sub(1)?).filter(|symbol| address <= symbol.last)?;
        symbol.name(&self.names)
    }

    /// Returns the name of the function at an offset in the file, in readable form: C++ names are
    /// demangled, and symbol versions are left out.
    pub fn readable_name_at(&self, offset: u64) -> Option<Cow<'_, str>> {
        self.name_at(offset).map(readable)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a linker name in readable form: C++ names are demangled, and symbol versions are left
/// out.
pub(crate) fn readable(name: &str) -> Cow<'_, str> {
    let plain = name.split_once('@').map_or(name, |(plain, _)| plain);
    if !plain.starts_with("_Z") {
        return Cow::Borrowed(if plain.is_empty() { name } else { plain });
    }
    let Ok(symbol) = cpp_demangle::Symbol::new(plain) else { return Cow::Borrowed(plain) };
    let mut out = Limited(String::new());
    match symbol.structured_demangle(&mut out, &cpp_demangle::DemangleOptions::default()) {
        Ok(()) => Cow::Owned(out.0),
        Err(_) => Cow::Borrowed(plain),
    }
}

/// A text that is cut off after [`MAX_SYMBOL_BYTES`]. It is needed because a short C++ name may
/// demangle to a text that does not fit in memory.
struct Limited(String);

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len().saturating_add(text.len()) > MAX_SYMBOL_BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cpp_are_readable_and_others_stay() {
        assert_eq!(readable("_ZN9AwareLock5EnterEv"), "AwareLock::Enter()");
        assert_eq!(readable("memcpy@@GLIBC_2.14"), "memcpy");
        assert_eq!((readable("_Zzz").as_ref(), readable("@x").as_ref()), ("_Zzz", "@x"));
    }
}
