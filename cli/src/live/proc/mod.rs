//! Reads what Linux says about a process and its threads in the files below `/proc`: one reader for
//! everything that needs it.

mod sched;
mod stat;

pub(crate) use sched::SchedTimes;
pub(crate) use stat::Stat;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Maximum length of a file that is read, in bytes: a line for each of some thousand processors.
const MAX_FILE_BYTES: usize = 256 << 10;
/// Length in bytes of the first read, which is enough for files of one process or thread.
const FIRST_READ_BYTES: usize = 1 << 10;

/// Text of a file that is read again and again into one buffer.
#[derive(Debug, Default)]
pub(crate) struct ProcText {
    bytes: Vec<u8>,
}

impl ProcText {
    /// Reads the file from its beginning. Bytes that are no UTF-8, as in names, are replaced.
    pub(crate) fn read(&mut self, file: &File) -> io::Result<std::borrow::Cow<'_, str>> {
        let mut end = 0;
        loop {
            if end == self.bytes.len() {
                if end >= MAX_FILE_BYTES {
                    break;
                }
                self.bytes.resize((end * 2).max(FIRST_READ_BYTES), 0);
            }
            let room = self.bytes.get_mut(end..).unwrap_or_default();
            match file.read_at(room, end as u64) {
                // A second read would only say that this was all.
                Ok(count) if count < room.len() => {
                    end += count;
                    break;
                }
                Ok(count) => end += count.min(room.len()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(String::from_utf8_lossy(self.bytes.get(..end).unwrap_or_default()))
    }
}

/// Returns the nanoseconds of a tick, in which Linux counts processor time.
pub(crate) fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// Returns the id that a process or thread has in its own namespace, from the text of its `status`.
/// In a container, events have this id.
pub(crate) fn own_id(status: &str) -> Option<u64> {
    ids(status)?.last()?.parse().ok()
}

/// Returns whether a process is in a namespace of process ids below that of this command.
pub(crate) fn has_own_ids(status: &str) -> bool {
    ids(status).is_some_and(|ids| ids.count() > 1)
}

fn ids(status: &str) -> Option<std::str::SplitWhitespace<'_>> {
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    Some(line.split_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_id_is_that_of_the_innermost_namespace() {
        let status = "Name:\tshop\nNSpid:\t4711\t12\t3\nVmPeak:\t1 kB\n";
        assert_eq!((own_id(status), has_own_ids(status)), (Some(3), true));
        let status = "NSpid:\t4711\n";
        assert_eq!((own_id(status), has_own_ids(status)), (Some(4711), false));
        assert_eq!((own_id("Name:\tshop\n"), has_own_ids("")), (None, false));
    }

    #[test]
    fn a_file_is_read_from_its_beginning_each_time() {
        let path = std::env::temp_dir().join(format!("nettrace-proc-text-{}", std::process::id()));
        let long = "x".repeat(5000);
        std::fs::write(&path, &long).unwrap();
        let file = File::open(&path).unwrap();
        let mut text = ProcText::default();
        assert_eq!(text.read(&file).unwrap(), long);
        std::fs::write(&path, "short\n").unwrap();
        assert_eq!(text.read(&file).unwrap(), "short\n");
        std::fs::remove_file(path).unwrap();
    }
}
