//! Times, sizes and other numbers of the live commands as users write them.

use nettrace_export::parse_nanos;
use std::str::FromStr;
use std::time::Duration;

/// A length of time: `90s`, `5min`, `1.5h`, `90` (seconds), or `dd:hh:mm:ss`, from which days, then
/// hours, then minutes may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let text = text.trim();
        if !text.contains(':') {
            let nanos = parse_nanos(text).map_err(|error| error.to_string())?;
            let nanos = u64::try_from(nanos).map_err(|_| "it is negative".to_owned())?;
            return Ok(Span(Duration::from_nanos(nanos)));
        }
        let wrong = || format!("\"{text}\" is no time; write dd:hh:mm:ss, 90s or 5min");
        let parts: Vec<&str> = text.split(':').collect();
        let (last, first) = parts.split_last().ok_or_else(wrong)?;
        let seconds =
            u64::try_from(parse_nanos(last).map_err(|_| wrong())?).map_err(|_| wrong())?;
        let mut total = Duration::from_nanos(seconds);
        let scales = [60, 3600, 86_400];
        if first.len() > scales.len() {
            return Err(wrong());
        }
        for (part, scale) in first.iter().rev().zip(scales) {
            let number: u64 = part.parse().map_err(|_| wrong())?;
            let seconds = number.checked_mul(scale).ok_or_else(wrong)?;
            total = total.checked_add(Duration::from_secs(seconds)).ok_or_else(wrong)?;
        }
        Ok(Span(total))
    }
}

/// A number of bytes: `500000`, `100KB`, `100MB`, `1.5GiB`. KB, MB, GB and TB are powers of 1,000;
/// KiB, MiB, GiB and TiB are powers of 1,024, as in conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) u64);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Bytes, String> {
        let wrong = || format!("\"{text}\" is no size; write 500000, 100MB or 1.5GB");
        let lowered = text.trim().to_ascii_lowercase();
        let digits =
            lowered.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lowered.len());
        let (number, unit) = lowered.split_at(digits);
        let scale: u64 = match unit.trim() {
            "" | "b" => 1,
            "k" | "kb" => 1_000,
            "m" | "mb" => 1_000_000,
            "g" | "gb" => 1_000_000_000,
            "t" | "tb" => 1_000_000_000_000,
            "kib" => 1 << 10,
            "mib" => 1 << 20,
            "gib" => 1 << 30,
            "tib" => 1 << 40,
            _ => return Err(wrong()),
        };
        let bytes = match number.parse::<u64>() {
            Ok(number) => number.checked_mul(scale).ok_or_else(wrong)?,
            Err(_) => {
                let number: f64 = number.parse().map_err(|_| wrong())?;
                // A fraction need not be exact, and `as` limits a value that is too large.
                (number * scale as f64) as u64
            }
        };
        if bytes == 0 { Err(wrong()) } else { Ok(Bytes(bytes)) }
    }
}

/// Minimum size in bytes of a file of `--rotate`, because each file is a whole trace with its own
/// beginning and end.
const MIN_PART_BYTES: u64 = 64_000;

/// The value of `--rotate`: `5x100MB` keeps at most five files of about that size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rotation {
    pub(crate) files: usize,
    pub(crate) bytes: u64,
}

impl FromStr for Rotation {
    type Err = String;

    fn from_str(text: &str) -> Result<Rotation, String> {
        let (files, size) = text
            .split_once(['x', 'X', '×'])
            .ok_or("expected a number of files, x and a size: 5x100MB")?;
        let files =
            files.trim().parse().map_err(|_| format!("\"{files}\" is no number of files"))?;
        if files == 0 {
            return Err("at least one file must be kept".to_owned());
        }
        let bytes = size.parse::<Bytes>()?.0;
        if bytes < MIN_PART_BYTES {
            return Err(format!(
                "{text}: each file has at least 64 KB, since each begins with names; 5x100MB"
            ));
        }
        Ok(Rotation { files, bytes })
    }
}

/// Parses one byte in hexadecimal: `04` or `0x4`.
pub(crate) fn hex_byte(text: &str) -> Result<u8, String> {
    u8::from_str_radix(without_0x(text), 16)
        .map_err(|_| "expected one byte in hexadecimal".to_owned())
}

/// Parses a number in hexadecimal: `0x1f`, `1F`.
pub(crate) fn hex(text: &str) -> Result<u64, String> {
    let digits = without_0x(text);
    let fault = || format!("\"{text}\" is no number in hexadecimal");
    if digits.starts_with('+') {
        Err(fault())
    } else {
        u64::from_str_radix(digits, 16).map_err(|_| fault())
    }
}

/// Parses bytes in hexadecimal; blanks between digits do not matter.
pub(crate) fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = without_0x(text)
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| u8::try_from(high << 4 | low).ok()).collect();
    if rest.is_empty() { bytes } else { None }
}

fn without_0x(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_or_colons() {
        let seconds = |text: &str| text.parse::<Span>().map(|span| span.0.as_secs_f64());
        assert_eq!(seconds("90s"), Ok(90.0));
        assert_eq!(seconds("1.5min"), Ok(90.0));
        assert_eq!(seconds("90"), Ok(90.0));
        assert_eq!(seconds("00:00:01:30"), Ok(90.0));
        assert_eq!(seconds("01:30"), Ok(90.0));
        assert_eq!(seconds("1:00:00:00"), Ok(86_400.0));
        for wrong in ["", "-1s", "x", "1:2:3:4:5", "1:x", ":", "99999999999999999999:00"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_have_units() {
        let bytes = |text: &str| text.parse::<Bytes>().map(|bytes| bytes.0);
        assert_eq!(bytes("17"), Ok(17));
        assert_eq!(bytes("100MB"), Ok(100_000_000));
        assert_eq!(bytes("1.5 GiB"), Ok(3 << 29));
        for wrong in ["", "0", "MB", "1XB", "-1", "99999999TB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!("5x10MB".parse(), Ok(Rotation { files: 5, bytes: 10_000_000 }));
        for wrong in ["5", "0x1MB", "x1MB", "5x", "5x100", "5x63KB"] {
            assert!(wrong.parse::<Rotation>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn hexadecimal_may_have_a_prefix() {
        assert_eq!((hex("0x1F"), hex("1f")), (Ok(31), Ok(31)));
        assert!(hex("+1").is_err() && hex("").is_err());
        assert_eq!(hex_bytes("01 ff"), Some(vec![1, 255]));
        assert_eq!((hex_bytes("1"), hex_bytes("zz"), hex_bytes("")), (None, None, Some(vec![])));
        assert_eq!(hex_byte("ff"), Ok(255));
    }
}
