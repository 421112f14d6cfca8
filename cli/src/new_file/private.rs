//! Keeps files private. Traces hold secrets, such as the texts of exceptions, requests and whole
//! environments, so only their owner may read them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a file that only its owner may read and write.
///
/// # Errors
/// There is a file of that name, or the folder cannot be written.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        /// The rights to write a file, and to say who may do so.
        const GENERIC_WRITE: u32 = 0x4000_0000;
        const WRITE_DAC: u32 = 0x0004_0000;
        // Nobody else can open the file until it is private.
        let alone =
            options.clone().access_mode(GENERIC_WRITE | WRITE_DAC).share_mode(0).open(path)?;
        // Some file systems have no permissions, so failing here is no error.
        let _ = nettrace_ipc::restrict_to_user(&alone);
        options.create_new(false);
    }
    options.open(path)
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
    // Windows has only "read-only" here, which no file that can be replaced has.
    #[cfg(not(unix))]
    let _ = (new, old);
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
