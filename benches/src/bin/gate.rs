//! The gate.

use std::process::ExitCode;

use nettrace_benches::memory::{COUNTING, Counting};
use nettrace_benches::pass::{self, Input, Mode};

#[global_allocator]
static ALLOCATOR: &Counting = &COUNTING;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, file, mode] = arguments.as_slice()
        && flag == "--one-pass"
        && let Some(mode) = Mode::of_name(mode)
    {
        match pass::file(file.as_ref(), mode, Input::Mapped, 1) {
            Ok(seen) => println!("{}", seen.checksum.events),
            Err(error) => eprintln!("{error}"),
        }
    }
    ExitCode::SUCCESS
}
