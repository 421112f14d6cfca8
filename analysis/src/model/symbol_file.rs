//! Symbols of ELF files: programs and libraries, or separate files with the symbols
//! stripped from them. And those of [program databases](super::program_database).
//!
//! A mapping says which part of a file is where in memory. The file's program headers say
//! which linker addresses that part has, and its symbol tables which functions are there.
//! The library `object` parses them; parts that it cannot parse lead to an error, or to a
//! missing symbol.

use super::program_database::ProgramDatabase;
use object::read::{Object, ObjectSegment, ObjectSymbol};
use object::{BinaryFormat, SymbolKind};
use std::borrow::Cow;
use std::fmt;

/// Maximum length of a name, in bytes: longer ones are cut off.
const MAX_SYMBOL_BYTES: usize = 4096;
/// Files are loaded in pages.
const PAGE_BYTES: u64 = 4096;
/// Names may take this many times the file's size: symbols may share names, but only
/// hostile files share long ones.
const MAX_NAMES_PER_FILE: usize = 4;

/// Why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SymbolFileError {
    /// It is neither an ELF file nor a program database (PDB), or it is truncated or inconsistent.
    Unreadable(String),
    /// Its names take more memory than a file of its size needs.
    Bloated,
    /// The process used another build of it.
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
            SymbolFileError::Unreadable(cause) => write!(f, "no readable ELF or PDB file: {cause}"),
            SymbolFileError::Bloated => {
                f.write_str("its symbol names are far longer than the file itself")
            }
            SymbolFileError::OtherBuild { of_file, of_trace } => {
                write!(f, "another build: its build id is {of_file}, the trace has {of_trace}")
            }
        }
    }
}

impl std::error::Error for SymbolFileError {}

/// The functions of a program or library by position.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SymbolFile {
    segments: Vec<Segment>,
    /// By address; they may overlap.
    symbols: Vec<Symbol>,
    names: String,
    build_id: Option<String>,
}

/// A part of the file, and its linker address.
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
    /// Its last address.
    last: u64,
    name_at: usize,
    name_bytes: usize,
    is_local: bool,
}

impl SymbolFile {
    /// Reads the functions of an ELF file or of a program database (PDB).
    ///
    /// # Errors
    /// [`SymbolFileError::Unreadable`], [`SymbolFileError::Bloated`].
    pub fn parse(bytes: &[u8]) -> Result<SymbolFile, SymbolFileError> {
        let unreadable = |cause: &dyn fmt::Display| SymbolFileError::Unreadable(cause.to_string());
        let most = bytes.len().saturating_mul(MAX_NAMES_PER_FILE);
        if ProgramDatabase::is_one(bytes) {
            let database = ProgramDatabase::parse(bytes)
                .ok_or_else(|| unreadable(&"a PDB that is truncated or has no symbols"))?;
            return SymbolFile::of_database(&database, most);
        }
        let elf = object::File::parse(bytes).map_err(|error| unreadable(&error))?;
        if elf.format() != BinaryFormat::Elf {
            return Err(unreadable(&"another format"));
        }
        let mut file = SymbolFile {
            segments: elf
                .segments()
                .map(|segment| {
                    let (offset, size) = segment.file_range();
                    // In files with stripped symbols, segments have no bytes.
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
        // Its addresses are distances from where the program was loaded, and not places in it.
        let loaded = Segment { offset: 0, size: 0, address: 0 };
        let build_id = database.build_id.clone();
        let mut file = SymbolFile { segments: vec![loaded], build_id, ..SymbolFile::default() };
        for function in database.functions() {
            file.push(function.start, function.size, function.name, false, most)?;
        }
        file.sort();
        Ok(file)
    }

    /// Adds a symbol. `most`: the number of bytes that all names may take.
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

    /// Sorts the symbols by address. If there are several at one address, the first one is used: a
    /// global symbol with a short name is preferred.
    fn sort(&mut self) {
        let names = &self.names;
        let name = |symbol: &Symbol| {
            names
                .get(symbol.name_at..symbol.name_at.saturating_add(symbol.name_bytes))
                .unwrap_or_default()
        };
        self.symbols.sort_by(|a, b| {
            let rank = |symbol: &Symbol| (symbol.start, symbol.is_local, symbol.name_bytes);
            rank(a).cmp(&rank(b)).then_with(|| name(a).cmp(name(b)))
        });
        self.symbols.dedup_by_key(|symbol| symbol.start);
        // A symbol without a size, such as an assembler function, extends to the next
        // one.
        let next: Vec<u64> = self.symbols.iter().skip(1).map(|symbol| symbol.start).collect();
        for (symbol, next) in self.symbols.iter_mut().zip(next) {
            if symbol.last == symbol.start {
                symbol.last = next.saturating_sub(1).max(symbol.start);
            }
        }
    }

    /// Adds the symbols of another file of the same build, such as those stripped from
    /// this one. The segments of this file are kept, because the other one has no
    /// contents.
    ///
    /// # Errors
    /// [`SymbolFileError::OtherBuild`].
    pub fn add(&mut self, other: &SymbolFile) -> Result<(), SymbolFileError> {
        if let Some(of_file) = &self.build_id {
            other.check_build(of_file)?;
        }
        for symbol in &other.symbols {
            let end = symbol.name_at.saturating_add(symbol.name_bytes);
            let name = other.names.get(symbol.name_at..end).unwrap_or_default();
            let size = symbol.last.saturating_sub(symbol.start).saturating_add(1);
            // Both files have shown that they may have their names.
            self.push(symbol.start, size, name.as_bytes(), symbol.is_local, usize::MAX)?;
        }
        self.sort();
        Ok(())
    }

    /// Checks that the file is of this build, if its build id is known.
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

    /// Returns the function that contains the byte at an offset in the file, with its linker
    /// name.
    pub(crate) fn name_at(&self, offset: u64) -> Option<&str> {
        let segment = self.segments.iter().find(|segment| {
            offset.checked_sub(segment.offset).is_some_and(|within| within < segment.size)
        })?;
        self.name_of(segment.address.checked_add(offset.checked_sub(segment.offset)?)?)
    }

    /// Returns the function at a distance from where the file was loaded, with its linker name.
    pub(crate) fn name_from_start(&self, distance: u64) -> Option<&str> {
        let lowest = self.segments.iter().map(|segment| segment.address).min().unwrap_or(0);
        let start = lowest.saturating_sub(lowest % PAGE_BYTES);
        self.name_of(start.checked_add(distance)?)
    }

    fn name_of(&self, address: u64) -> Option<&str> {
        let end = self.symbols.partition_point(|symbol| symbol.start <= address);
        let symbol =
            self.symbols.get(end.checked_sub(1)?).filter(|symbol| address <= symbol.last)?;
        self.names.get(symbol.name_at..symbol.name_at.saturating_add(symbol.name_bytes))
    }

    /// Returns the name of the function that contains the byte at an offset in the file, in
    /// readable form: C++ names are demangled and symbol versions left out.
    pub fn readable_name_at(&self, offset: u64) -> Option<Cow<'_, str>> {
        self.name_at(offset).map(readable)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a linker name in readable form: C++ names are demangled, others are unchanged.
pub(crate) fn readable(name: &str) -> Cow<'_, str> {
    // Symbol versions are of no use to readers.
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

/// A text limited to [`MAX_SYMBOL_BYTES`]: a short C++ name can demangle to one that does not
/// fit in memory.
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
