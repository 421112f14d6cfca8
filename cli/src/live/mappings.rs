//! The mapped files of a process that have code, for addresses without a name.

/// Returns ranges of memory with code, as the operating system lists them: first and last
/// address, and the file, which is empty for memory that belongs to no file. Empty if the system
/// does not tell.
pub(crate) fn of_process(pid: u64) -> Vec<(u64, u64, String)> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.lines().filter_map(parse).collect()
}

/// Reads a line such as `7f00-7f01 r-xp 00000000 08:01 12   /app/shop.dll`.
fn parse(line: &str) -> Option<(u64, u64, String)> {
    let mut fields = line.splitn(6, ' ');
    let (first, end) = fields.next()?.split_once('-')?;
    let permissions = fields.next()?;
    let (first, end) = (u64::from_str_radix(first, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    let file = fields.nth(3).unwrap_or_default().trim().trim_end_matches(" (deleted)");
    // .NET maps the code that it generates twice, by a file in memory.
    let file = if file.starts_with("/memfd:") { "" } else { file };
    permissions.contains('x').then(|| (first, end.saturating_sub(1), file.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_lies_in_files_and_in_memory_of_its_own() {
        for (line, expected) in [
            ("7f00-7f10 r-xp 00001000 08:01 12   /app/my shop.dll", Some("/app/my shop.dll")),
            ("7f00-7f10 r-xp 00001000 08:01 12   /app/shop.so (deleted)", Some("/app/shop.so")),
            ("7f00-7f10 rwxp 00000000 00:00 0 ", Some("")),
            ("7f00-7f10 r-xs 00000000 00:01 9  /memfd:doublemapper (deleted)", Some("")),
            ("7f00-7f10 rw-p 00000000 00:00 0  [heap]", None),
            ("nonsense", None),
        ] {
            let parsed = parse(line);
            assert_eq!(parsed, expected.map(|file| (0x7F00, 0x7F0F, file.to_owned())), "{line}");
        }
    }
}
