//! Keeps files private. Traces hold secrets, such as the texts of exceptions, requests and whole
//! environments, so only their owner may read them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Returns options for new files, which only their owner may read and write.
pub(crate) fn options() -> OpenOptions {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Gives a new file the permissions that its owner had for the old file that it replaces.
pub(super) fn keep_mode(new: &File, old: &fs::Metadata) {
    // Some file systems have no permissions, so failing here is no error.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = old.permissions().mode() & 0o600;
        let _ = new.set_permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = new.set_permissions(old.permissions());
}

/// Refuses a symbolic link in a folder where other users may have placed it: a folder that all
/// users share (it is sticky), or one that belongs to another user than root.
///
/// # Errors
/// The path is such a link.
pub(super) fn check_link(link: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let folder = link.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::metadata(folder.unwrap_or(Path::new(".")))?;
        let is_sticky = folder.mode() & 0o1000 != 0;
        if is_sticky || ![0, rustix::process::geteuid().as_raw()].contains(&folder.uid()) {
            let text = "it is a symbolic link in a folder where others may have placed it";
            return Err(io::Error::other(text));
        }
    }
    let _ = link;
    Ok(())
}
