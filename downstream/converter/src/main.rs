//! `converter TRACE`: CSV to standard output.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: converter TRACE")?;
    if !converter::convert(&std::fs::read(path)?, std::io::BufWriter::new(std::io::stdout()))? {
        eprintln!("parts of the trace are missing");
    }
    Ok(())
}
