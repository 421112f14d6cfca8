//! What ports have made in the file system, for a process that ends without dropping
//! them: a thread may still be waiting for an answer over one.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static MADE: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// A socket or a folder of ours. Dropping it removes nothing: its owner does that.
#[derive(Debug)]
pub(crate) struct Made {
    path: PathBuf,
}

#[derive(Debug)]
struct Entry {
    path: PathBuf,
    id: Option<(u64, u64)>,
}

impl Made {
    /// Notes that the file or folder was just made.
    pub(crate) fn at(path: &Path) -> Made {
        let path = path.to_owned();
        made().push(Entry { id: id(&path), path: path.clone() });
        Made { path }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        made().retain(|entry| entry.path != self.path);
    }
}

/// Removes the sockets of this process's ports, and the folders of those that programs
/// were started with. This is for the very end of a process, which may come while a
/// thread still uses a port, one of its runtimes or a session: no runtime can connect to
/// these ports afterwards.
///
/// A file that has replaced a socket since then is left alone.
pub fn remove_port_files() {
    let entries = std::mem::take(&mut *made());
    for Entry { path, id: before } in entries {
        let now = id(&path);
        // Another file has the name by now, and it is not ours to remove.
        if now != before {
            continue;
        }
        // What cannot be removed is only litter.
        drop(match std::fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(&path),
            _ => std::fs::remove_file(&path),
        });
    }
}

fn made() -> MutexGuard<'static, Vec<Entry>> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the device and the number of a file, where there are such.
fn id(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::symlink_metadata(path).ok()?;
        Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}
