//! Lists .NET processes, or records a session of one process in a file: `collect [PID SECONDS
//! FILE]`.

use nettrace_ipc::{Level, Provider, Providers, Search, SessionConfig};
use std::io::{BufRead, Write};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [pid, seconds, file] = arguments.as_slice() else {
        for found in Search::new().run().processes {
            match &found.endpoint {
                Ok(endpoint) => println!("{:>7} {:<24} {endpoint}", found.pid, found.name),
                Err(reason) => println!("{:>7} {:<24} {reason}", found.pid, found.name),
            }
        }
        return Ok(());
    };
    let found = Search::new().process(pid.parse()?).ok_or("no .NET process of that id")?;
    let runtime = found.runtime()?;
    let provider = |name: &str| Provider::new(name).map(|provider| provider.level(Level::Verbose));
    let providers = Providers::new([provider("Nettrace-Workload")?, provider("System.Runtime")?])?;
    let mut session = runtime.start(&SessionConfig::new(providers))?;
    let stop = session.stop_handle();
    let wait = Duration::from_secs(seconds.parse()?);
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(wait);
        stop.stop()
    });
    let mut out = std::fs::File::create(file)?;
    let mut bytes = 0usize;
    loop {
        // Writes the chunks as they arrived, without another copy.
        let chunk = session.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        out.write_all(chunk)?;
        let count = chunk.len();
        session.consume(count);
        bytes = count.saturating_add(bytes);
    }
    println!("{bytes} bytes, {:?}", stopper.join().map_err(|_| "the stop failed")??);
    Ok(())
}
