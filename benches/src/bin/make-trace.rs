//! Writes a valid trace of any size, or with any number of different stacks, methods, threads or
//! types.
#![allow(clippy::restriction, clippy::pedantic)]

use nettrace_benches::make::scale::Scale;
use nettrace_benches::make::{Case, Written, repeat};
use nettrace_benches::size;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str =
    "usage: make-trace uniform|mixed|fat|v6|v6c|heap|heap-far|net10-all|…|FILE SIZE OUT
       make-trace stacks|methods|threads|threads-v6|types|providers COUNT OUT
  FILE   a trace to repeat, gzip or not
  SIZE   bytes: 500k, 100MB, 1GB, 64MiB
  COUNT  how many different ones: 1000000, 100k";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, size, out] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let Some(bytes) = size::parse(size) else {
        eprintln!("make-trace: '{size}' is no size\n{USAGE}");
        return ExitCode::from(2);
    };
    match write(what, bytes, out.as_ref()) {
        Ok(written) => {
            println!("{out}: {} events, {} bytes", written.events, written.bytes);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("make-trace: {what}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(what: &str, bytes: u64, out: &Path) -> io::Result<Written> {
    let create = || File::create(out).map(|file| BufWriter::with_capacity(1 << 20, file));
    if let Some(scale) = Scale::of_name(what) {
        return scale.write(create()?, bytes);
    }
    match Case::of_name(what) {
        Some(case) => case.write(create()?, bytes),
        None => repeat::write(create()?, &repeat::Base::open(what.as_ref())?, bytes),
    }
}
