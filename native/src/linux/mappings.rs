//! `/proc/PID/maps`: the mappings of a process's memory.
//!
//! ```text
//! 7f3c1a228000-7f3c1a37d000 r-xp 00028000 fe:00 1234      /usr/lib/x86_64-linux-gnu/libc.so.6
//! ```
//!
//! A line has the first address, the end, permissions, the offset in the file, device, inode and
//! path. The path may contain spaces. Memory of the kernel has a name such as `[stack]`, and memory
//! without a file has none. ` (deleted)` follows the path of a file that is gone.

const DELETED: &str = " (deleted)";

/// A range of memory that the kernel lists as one mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Offset in the file that is mapped at the beginning of the range.
    pub(super) offset: u64,
    pub(super) is_executable: bool,
    /// Path of the mapped file; empty if no file is mapped.
    pub(super) path: String,
    /// Whether the mapped file has been deleted.
    pub(super) is_deleted: bool,
}

impl Mapping {
    /// Returns whether a file is mapped. A path can also name memory that the kernel made.
    pub(super) fn has_file(&self) -> bool {
        self.path.starts_with('/')
    }
}

/// Parses the kernel's list of mappings, and sorts them by address. Lines of another form are left
/// out.
pub(super) fn parse(text: &str) -> Vec<Mapping> {
    let mut mappings: Vec<Mapping> = text.lines().filter_map(line).collect();
    mappings.sort_by_key(|mapping| mapping.start);
    mappings
}

fn line(text: &str) -> Option<Mapping> {
    let (range, rest) = text.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let (start, end) = (hexadecimal(start)?, hexadecimal(end)?);
    let (permissions, rest) = rest.split_once(' ')?;
    let (offset, rest) = rest.split_once(' ')?;
    let (_device, rest) = rest.split_once(' ')?;
    let path = rest.split_once(' ').map_or("", |(_inode, path)| path.trim_start());
    let alive = path.strip_suffix(DELETED);
    let mapping = Mapping {
        start,
        end,
        offset: hexadecimal(offset)?,
        is_executable: permissions.as_bytes().get(2) == Some(&b'x'),
        path: alive.unwrap_or(path).to_owned(),
        is_deleted: alive.is_some(),
    };
    (start < end).then_some(mapping)
}

fn hexadecimal(digits: &str) -> Option<u64> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_plain.then(|| u64::from_str_radix(digits, 16).ok())?
}

/// Returns the mapping that contains an address.
pub(super) fn at(mappings: &[Mapping], address: u64) -> Option<&Mapping> {
    let after = mappings.partition_point(|mapping| mapping.start <= address);
    mappings.get(after.checked_sub(1)?).filter(|mapping| address < mapping.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
5000-6000 rw-p 00000000 00:00 0 
1000-2000 r-xp 00003000 fe:00 77                 /opt/my app/libx.so
2000-3000 r-xs 00000000 00:01 9                  /memfd:doublemapper (deleted)
7fff0000-7fff1000 rw-p 00000000 00:00 0          [stack]
";

    #[test]
    fn a_line_is_a_range_of_memory_with_its_file() {
        let mappings = parse(TEXT);
        assert_eq!(
            mappings.iter().map(|m| m.start).collect::<Vec<_>>(),
            [0x1000, 0x2000, 0x5000, 0x7fff_0000]
        );
        let library = at(&mappings, 0x1fff).unwrap();
        assert_eq!((&*library.path, library.offset), ("/opt/my app/libx.so", 0x3000));
        assert!(library.is_executable && library.has_file() && !library.is_deleted);
        let code = at(&mappings, 0x2000).unwrap();
        assert_eq!((&*code.path, code.is_deleted), ("/memfd:doublemapper", true));
        let nameless = at(&mappings, 0x5000).unwrap();
        assert_eq!((&*nameless.path, nameless.is_executable), ("", false));
        assert!(!at(&mappings, 0x7fff_0000).unwrap().has_file());
        for outside in [0, 0xfff, 0x3000, 0x4fff, 0x6000, u64::MAX] {
            assert_eq!(at(&mappings, outside), None);
        }
    }

    #[test]
    fn lines_of_another_form_are_left_out() {
        let wrong = "\n \n-\n1000-\n1000-2000\n1000-2000 r-xp\n1000-2000 r-xp 0\n\
            2000-1000 r-xp 0 0:0 0\n1000-1000 r-xp 0 0:0 0\nx-y r-xp 0 0:0 0\n\
            +1000-2000 r-xp 0 0:0 0\n1000-2000 r-xp -1 0:0 0\n\
            1000-10000000000000000 r-xp 0 0:0 0\n";
        assert_eq!(parse(wrong), []);
        let short = parse("1000-2000 r 0 0:0 0");
        assert!(!short[0].is_executable && short[0].path.is_empty());
    }
}
