//! `wasm TRACE`: prints the lines that `run.mjs` prints about a trace, but without a browser.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: wasm TRACE")?;
    let trace = std::fs::read(path)?;
    let (events, is_intact) = wasm::events(&trace).ok_or("it is not a trace")?;
    println!("{events} events{}", if is_intact { "" } else { ", not intact" });
    print!("{}", wasm::top(&trace).ok_or("it is not a trace")?);
    Ok(())
}
