//! The command's NDJSON, written to where it costs nothing.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use nettrace_cli::{Console, Exit, run};

use crate::checksum::Checksum;
use crate::pass::Input;

/// Counts bytes, and lines if somebody wants to know.
struct Nowhere<'o> {
    lines: u64,
    bytes: u64,
    observe: Option<&'o mut (dyn FnMut(u64) + Send)>,
}

impl Write for Nowhere<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        if let Some(observe) = &mut self.observe {
            self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
            observe(self.lines);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes alone, so that nothing but the command is measured: looking for ends of lines costs some hundred
/// instructions a line.
///
/// # Errors
/// When the command fails.
pub fn bytes(path: &Path, input: Input, threads: usize) -> io::Result<u64> {
    Ok(run_into(Nowhere { lines: 0, bytes: 0, observe: None }, path, input, threads)?.bytes)
}

/// `nettrace events FILE --format ndjson --order file --threads N`: lines as events, bytes as the checksum.
/// `observe` is called with the number of lines so far now and then.
///
/// # Errors
/// When the command fails.
pub fn pass(
    path: &Path,
    input: Input,
    threads: usize,
    mut observe: impl FnMut(u64) + Send,
) -> io::Result<Checksum> {
    let stdout = Nowhere { lines: 0, bytes: 0, observe: Some(&mut observe) };
    let written = run_into(stdout, path, input, threads)?;
    Ok(Checksum::of_output(written.lines, written.bytes))
}

fn run_into<'o>(
    mut stdout: Nowhere<'o>,
    path: &Path,
    input: Input,
    threads: usize,
) -> io::Result<Nowhere<'o>> {
    let mut stderr = Vec::new();
    let console = Console {
        stdin: Box::new(io::empty()),
        stdout: &mut stdout,
        detached_stdout: || None,
        stderr: &mut stderr,
        stdin_is_terminal: false,
        stdout_is_terminal: false,
        stderr_is_terminal: false,
        variable: &|_| None,
    };
    let threads = threads.to_string();
    let mut options = vec!["--format", "ndjson", "--order", "file", "--quiet", "--threads", &threads];
    if input == Input::Read {
        options.push("--no-mmap");
    }
    let words = ["nettrace", "events"].map(OsString::from).into_iter().chain([path.into()]);
    let exit = run(words.chain(options.into_iter().map(OsString::from)), console);
    if exit != Exit::Fine {
        return Err(io::Error::other(String::from_utf8_lossy(&stderr).into_owned()));
    }
    Ok(stdout)
}
