//! Recognises requests that crash, block or damage a real runtime. The rules come from live
//! runtimes, and not from the code that sends requests.

use crate::bytes;

/// Reads a payload from its beginning. Each method returns `None` if too few bytes are left.
struct Walk<'p>(&'p [u8]);

impl<'p> Walk<'p> {
    fn take(&mut self, count: usize) -> Option<&'p [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(bytes::u32)
    }

    /// Reads a string; `Some(None)` is the null string.
    fn string(&mut self) -> Option<Option<&'p [u8]>> {
        let units = usize::try_from(self.u32()?).ok()?;
        if units == 0 {
            return Some(None);
        }
        let bytes = self.take(units.checked_mul(2)?)?;
        bytes.ends_with(&[0, 0]).then_some(Some(bytes))
    }
}

/// Returns the reason why the request would harm a real runtime, or `None` if it would not.
pub(super) fn reason(
    set: u8,
    id: u8,
    payload: &[u8],
    suspended: bool,
    major: u32,
) -> Option<String> {
    let harm = |what: &str| Some(format!("{set:02x}{id:02x}: {what}"));
    let bare = matches!((set, id), (4, 0 | 1 | 2 | 4 | 6 | 8));
    if bare {
        return if payload.is_empty() { None } else { harm("a payload where none is expected") };
    }
    if payload.is_empty() {
        let known = matches!((set, id), (1, 1..=3) | (2, 1..=7) | (3, 1..=2) | (4, 3 | 5 | 7));
        return if known { harm("no payload where one is expected") } else { None };
    }
    let mut walk = Walk(payload);
    match (set, id) {
        (1, 1..=3) => match walk.string() {
            Some(Some(path)) if path.len() > 2 => None,
            _ => harm("a dump without path"),
        },
        (2, 1) if payload.len() != 8 => harm("a session id that is not 8 bytes long"),
        (2, 2..=7) => match collect(id, &mut walk) {
            Ok(()) => None,
            Err(what) => harm(what),
        },
        (3, 3..) => harm("an unknown profiler command leaks a descriptor"),
        (4, 5) if suspended && major < 10 => harm("a perf map before the start"),
        (4, 5) if !matches!(walk.u32(), Some(1..=3)) => harm("a perf map type that does not exist"),
        (4, 7) => match walk.string() {
            Some(Some(path)) if path.len() > 2 => None,
            _ => harm("a startup hook without path"),
        },
        _ => None,
    }
}

fn collect(id: u8, walk: &mut Walk<'_>) -> Result<(), &'static str> {
    let cut = "a payload that is cut";
    let user_events = id >= 6 && walk.u32().ok_or(cut)? == 1;
    if user_events {
        walk.take(8).ok_or(cut)?;
    } else {
        if walk.u32().ok_or(cut)? == 0 {
            return Err("a buffer of 0 MB");
        }
        if walk.u32().ok_or(cut)? > 1 {
            return Err("an unknown format");
        }
        let fixed = match id {
            2 => 0,
            3 => 1,
            4 => 2,
            _ => 9,
        };
        walk.take(fixed).ok_or(cut)?;
    }
    let count = walk.u32().ok_or(cut)?;
    if !(1..=1000).contains(&count) {
        return Err("a number of providers outside 1 to 1000");
    }
    let mut names = std::collections::BTreeSet::new();
    for _ in 0..count {
        walk.take(8).ok_or(cut)?;
        if walk.u32().ok_or(cut)? > 5 {
            return Err("a level above 5");
        }
        let name = walk
            .string()
            .ok_or(cut)?
            .filter(|name| name.len() > 2)
            .ok_or("a provider without name")?;
        if !names.insert(name) {
            return Err("a provider named twice");
        }
        walk.string().ok_or(cut)?;
        if id >= 6 {
            walk.take(1).ok_or(cut)?;
            ids(walk, &mut std::collections::BTreeSet::new())?;
        }
        if user_events {
            let default = walk.string().ok_or(cut)?;
            let sets = walk.u32().ok_or(cut)?;
            if default.is_none() && sets == 0 {
                return Err("a provider without tracepoint");
            }
            let mut seen = std::collections::BTreeSet::new();
            for _ in 0..sets {
                walk.string().ok_or(cut)?.ok_or("a tracepoint without name")?;
                ids(walk, &mut seen)?;
            }
        }
    }
    if id == 7 && !user_events && walk.u32().ok_or(cut)? > 1 {
        return Err("an unknown buffer mode");
    }
    if walk.0.is_empty() { Ok(()) } else { Err("bytes after the payload") }
}

fn ids(
    walk: &mut Walk<'_>,
    seen: &mut std::collections::BTreeSet<u32>,
) -> Result<(), &'static str> {
    for _ in 0..walk.u32().ok_or("a filter that is cut")? {
        if !seen.insert(walk.u32().ok_or("a filter count beyond the payload")?) {
            return Err("an event id named twice");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn what_kills_live_runtimes_is_known() {
        let alive = |set, id, payload: &[u8]| reason(set, id, payload, false, 8).is_none();
        assert!(alive(4, 8, &[]));
        assert!(!alive(4, 8, &[0; 8]));
        assert!(!alive(2, 3, &[]));
        assert!(!alive(1, 3, &[]));
        assert!(!alive(1, 3, &[0; 12]));
        assert!(!alive(4, 5, &[0; 4]));
        assert!(alive(4, 5, &[3, 0, 0, 0]));
        assert!(reason(4, 5, &[3, 0, 0, 0], true, 9).is_some());
        assert!(reason(4, 5, &[3, 0, 0, 0], true, 10).is_none());
        let provider = [&[0; 8][..], &[4, 0, 0, 0], &[2, 0, 0, 0, 65, 0, 0, 0], &[0; 4]].concat();
        let collect = |megabytes: u8, format: u8, count: u8| {
            [&[megabytes, 0, 0, 0, format, 0, 0, 0, 1, count, 0, 0, 0][..], &provider].concat()
        };
        assert!(alive(2, 3, &collect(1, 1, 1)));
        assert!(!alive(2, 3, &collect(0, 1, 1)));
        assert!(!alive(2, 3, &collect(1, 2, 1)));
        assert!(!alive(2, 3, &collect(1, 1, 0)));
        assert!(!alive(2, 3, &collect(1, 1, 2)));
    }
}
