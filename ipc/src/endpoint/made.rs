//! Lists the files that ports have created. So a process can remove them at its end without
//! dropping its ports, which a thread may still be using.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static MADE: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// A socket or a folder that a port has created. Dropping this value does not remove the file, but
/// takes it off the list.
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
    /// Adds a file or folder that was just created to the list.
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

/// Removes the sockets of this process's ports, and the folders of ports for started programs.
///
/// Call it at the very end of a process, even while a thread still uses a port or a session. No
/// runtime can connect to these ports afterwards. A file that has replaced a socket since then is
/// left alone.
pub fn remove_port_files() {
    let entries = std::mem::take(&mut *made());
    for Entry { path, id: before } in entries {
        let now = id(&path);
        // Another file has the name by now, which this process must not remove.
        if now != before {
            continue;
        }
        // A file that cannot be removed does no harm.
        drop(match std::fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(&path),
            _ => std::fs::remove_file(&path),
        });
    }
}

fn made() -> MutexGuard<'static, Vec<Entry>> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the device and the inode number of a file, on systems that have them.
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
