//! The functions that `page/worker.js` calls, and the ones that it has. Texts and bytes are passed as
//! their address in memory and their length.
//!
//! A task is called once in a memory of its own, because a browser gives no memory back to the
//! system before the worker ends.
#![allow(unsafe_code, reason = "names that JavaScript calls, and functions that it has; no block")]

use crate::{Dropped, SeekRead, Task};
use serde::Deserialize;
use std::cell::RefCell;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::panic;

unsafe extern "C" {
    /// Reads bytes of a file to an address. Returns how many; a negative number if it failed.
    safe fn read_file(file: usize, offset: f64, address: usize, length: usize) -> isize;
    /// Takes bytes of the result.
    safe fn take_result(address: usize, length: usize);
    /// Takes the reason why there is no result.
    safe fn take_failure(address: usize, length: usize);
}

/// Number of bytes of the result that are passed at a time.
const TAKEN_BYTES: usize = 1 << 20;

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A task and its files, as JSON.
#[derive(Deserialize)]
struct Request {
    task: Task,
    files: Vec<RequestedFile>,
}

#[derive(Deserialize)]
struct RequestedFile {
    name: String,
    bytes: u64,
}

/// Allocates so many bytes for a request, and returns their address.
#[unsafe(no_mangle)]
extern "C" fn room(bytes: usize) -> usize {
    REQUEST.with_borrow_mut(|request| {
        *request = vec![0; bytes];
        request.as_mut_ptr().expose_provenance()
    })
}

/// Runs the task. Returns 0 if traces are intact, 3 if they are damaged or incomplete, and
/// 1 if there is no result: the exit codes of the command.
#[unsafe(no_mangle)]
extern "C" fn run() -> u32 {
    panic::set_hook(Box::new(|panic| {
        fail(&format!("this is a defect of nettrace, please report it: {panic}"));
    }));
    let request = REQUEST.take();
    let request: Request = match serde_json::from_slice(&request) {
        Ok(request) => request,
        Err(error) => {
            fail(&error.to_string());
            return 1;
        }
    };
    let opens: Vec<_> = (0..request.files.len())
        .map(|number| {
            let bytes = request.files[number].bytes;
            move || -> Box<dyn SeekRead> { Box::new(BrowserFile { number, bytes, position: 0 }) }
        })
        .collect();
    let files: Vec<_> = request
        .files
        .iter()
        .zip(&opens)
        .map(|(file, open)| Dropped { name: file.name.clone(), bytes: file.bytes, open })
        .collect();
    let mut out = BufWriter::with_capacity(TAKEN_BYTES, Taken);
    let done = request.task.run(&files, &mut out);
    match done.and_then(|done| out.flush().map(|()| done).map_err(|error| error.to_string())) {
        Ok(done) if done.is_intact => 0,
        Ok(_) => 3,
        Err(message) => {
            fail(&message);
            1
        }
    }
}

fn fail(message: &str) {
    take_failure(message.as_ptr().expose_provenance(), message.len());
}

/// A file of the browser, which reads it piece by piece.
struct BrowserFile {
    number: usize,
    bytes: u64,
    position: u64,
}

impl Read for BrowserFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let address = buffer.as_mut_ptr().expose_provenance();
        let count = read_file(self.number, self.position as f64, address, buffer.len());
        match usize::try_from(count) {
            Ok(count) => {
                self.position += count as u64;
                Ok(count)
            }
            Err(_) => Err(io::Error::other("The browser cannot read the file")),
        }
    }
}

impl Seek for BrowserFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.bytes.checked_add_signed(by),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

/// The result, which JavaScript takes piece by piece.
struct Taken;

impl Write for Taken {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        take_result(bytes.as_ptr().expose_provenance(), bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
