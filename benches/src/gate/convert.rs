//! Memory of conversions: bounded by what is different in a trace, not by its length.

use std::io;
use std::path::Path;
use std::process::Command;

use super::MIB;
use super::report::{Limit, Report};
use crate::cases::Case;
use crate::pass::Input;
use crate::{convert, memory};

/// First argument of the gate when it is to convert a file.
pub const FLAG: &str = "--one-conversion";

/// Most memory that a conversion may hold, in MiB: the program, the window, what waits for its turn.
const MOST: f64 = 32.0;

/// Converts the file that the arguments behind [`FLAG`] name, and prints the memory that it took.
///
/// # Errors
/// What the conversion reports.
pub fn serve(arguments: &[String]) -> io::Result<()> {
    let [file, format] = arguments else { return Err(io::Error::other("a file and a format")) };
    convert::file(file.as_ref(), format, Input::Read)?;
    println!("{}", memory::peak_bytes().unwrap_or(0));
    Ok(())
}

/// Measures formats whose size does not grow with the trace's length.
pub(super) fn limits(folder: &Path, report: &mut Report) -> io::Result<()> {
    for case in [Case::Net10, Case::Net31] {
        let file = case.file(folder, 200_000_000)?;
        for format in ["folded", "pprof", "svg"] {
            let mut command = Command::new(std::env::current_exe()?);
            let output = command.arg(FLAG).arg(&file).arg(format).output()?;
            let said = String::from_utf8_lossy(&output.stdout);
            let peak: f64 = said.trim().parse().map_err(|_| {
                let error = String::from_utf8_lossy(&output.stderr);
                io::Error::other(format!("a conversion failed: {said}{error}"))
            })?;
            let what = format!("memory, {format}, {}", case.name());
            report.add(what, Limit::AtMost(MOST), peak / MIB, "MiB");
        }
        std::fs::remove_file(file)?;
    }
    Ok(())
}
