//! Keeps a list of files that have no final name yet, and removes or keeps them when the process
//! ends early.

use super::{Unfinished, private};
#[cfg(unix)]
use crate::ignored_signal::is_ignored;
use crate::printable::printable;
use crate::unblocked::Unblocked;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// All files and folders that are being written.
static BEGUN: Mutex<Vec<(PathBuf, Unfinished)>> = Mutex::new(Vec::new());

/// Maximum length in bytes of a name that `.part` is appended to. The result must not be too long
/// for a file system.
const MAX_NAME_BYTES: usize = 240;
/// Maximum number of other unfinished files of the same name, including leftovers of killed
/// processes.
const MAX_OTHERS: u32 = 1000;

/// Creates a file beside its target, under a name that is free.
pub(super) fn begin(target: &Path, unfinished: Unfinished) -> io::Result<(File, PathBuf)> {
    let name = target.file_name().ok_or(ErrorKind::InvalidFilename)?;
    let name = if name.len() > MAX_NAME_BYTES { "nettrace-output".into() } else { name.to_owned() };
    for number in 1..MAX_OTHERS {
        let mut beside: OsString = name.clone();
        beside.push(".part");
        if number > 1 {
            beside.push(number.to_string());
        }
        let beside = target.with_file_name(beside);
        match private::create_new(&beside) {
            Ok(file) => {
                begun().push((beside.clone(), unfinished));
                return Ok((file, beside));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "too many unfinished .part files are beside it"))
}

/// Adds a folder of unfinished files, which is removed when a signal ends the process.
pub(crate) fn begin_folder(folder: &Path) {
    begun().push((folder.to_owned(), Unfinished::Removed));
}

/// Takes a file off the list, which has got its final name, or is to stay as it is.
pub(crate) fn forget(part: &Path) {
    begun().retain(|(path, _)| path != part);
}

/// Removes an unfinished file unless it is to be kept, and returns whether it was kept.
pub(super) fn end(part: &Path, unfinished: Unfinished) -> bool {
    let is_worth_it = || fs::metadata(part).is_ok_and(|metadata| metadata.len() > 0);
    if unfinished == Unfinished::Kept && is_worth_it() {
        return true;
    }
    // It does not matter if the file is gone already.
    if fs::remove_file(part).is_err() && part.is_dir() {
        let _ = fs::remove_dir_all(part);
        // The folder above is removed, too, unless another process has a folder in it.
        let _ = part.parent().map(fs::remove_dir);
    }
    false
}

/// Removes unfinished files that are not kept, and reports where the others are. Call it when the
/// process is about to end.
pub(crate) fn leave_unfinished() {
    for (part, unfinished) in std::mem::take(&mut *begun()) {
        if end(&part, unfinished) {
            let text = format!(
                "nettrace: what was recorded is in {}\n",
                printable(&part.display().to_string())
            );
            // A closed stderr must not keep the process from ending.
            let _ = Unblocked::default().write_all(text.as_bytes());
        }
    }
}

/// Makes signals that end the process remove unfinished files, from now on.
///
/// # Errors
/// The signals cannot be handled.
#[cfg(unix)]
pub(crate) fn end_with_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::low_level::{emulate_default_handler, pipe};
    use std::io::Read;
    use std::sync::OnceLock;

    static DONE: OnceLock<()> = OnceLock::new();
    if DONE.set(()).is_err() {
        return Ok(());
    }
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        if is_ignored(signal) {
            continue;
        }
        let (mut came, come) = io::pipe()?;
        pipe::register(signal, come)?;
        let wait = move || {
            if came.read_exact(&mut [0]).is_ok() {
                leave_unfinished();
                // The parent process sees that a signal ended this one.
                let _ = emulate_default_handler(signal);
            }
        };
        std::thread::Builder::new()
            .name("unfinished".to_owned())
            .stack_size(64 << 10)
            .spawn(wait)?;
    }
    Ok(())
}

/// Makes events of the console that end the process remove unfinished files, from now on.
///
/// # Errors
/// The events cannot be handled.
#[cfg(windows)]
pub(crate) fn end_with_signals() -> io::Result<()> {
    use std::sync::OnceLock;

    /// Exit code of a command that Ctrl-C ended, as on other systems.
    const INTERRUPTED: i32 = 130;
    static DONE: OnceLock<()> = OnceLock::new();
    if DONE.set(()).is_err() {
        return Ok(());
    }
    crate::console_events::listen(|_| {
        leave_unfinished();
        std::process::exit(INTERRUPTED);
    })
}

fn begun() -> std::sync::MutexGuard<'static, Vec<(PathBuf, Unfinished)>> {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner)
}
