//! Reads a live stream from a socket on which no bytes may arrive for a while: `cargo run --example
//! socket -- ADDRESS`.

use nettrace_parser::Reader;
use std::net::TcpStream;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).ok_or("usage: socket ADDRESS")?;
    let socket = TcpStream::connect(address)?;
    socket.set_read_timeout(Some(Duration::from_millis(100)))?;
    let mut events = Reader::from_read(socket).time_ordered();
    loop {
        match events.next_event() {
            Ok(Some(event)) => {
                println!("{:?} {}/{}", event.nanos(), event.provider(), event.display_name());
            }
            Ok(None) => break,
            // No bytes arrived for a while, so events that wait for older ones are shown now.
            Err(error) if error.is_would_block() => events.release(),
            Err(error) => return Err(error.into()),
        }
    }
    // "complete", or what is missing.
    println!("{}", events.outcome());
    Ok(())
}
