//! Parses sizes such as `100MB`, `1GB`, `500k` or `4096`.

/// Reads a size in bytes. Units are decimal; `KiB`, `MiB` and `GiB` are binary.
///
/// ```
/// assert_eq!(nettrace_benches::size::parse("1GB"), Some(1_000_000_000));
/// assert_eq!(nettrace_benches::size::parse("500k"), Some(500_000));
/// assert_eq!(nettrace_benches::size::parse("2MiB"), Some(2 << 20));
/// assert_eq!(nettrace_benches::size::parse("many"), None);
/// ```
pub fn parse(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}
