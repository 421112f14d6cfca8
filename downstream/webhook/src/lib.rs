//! Posts each exception of a running process to a webhook, when it is thrown.

use nettrace_ipc::{Keywords, Level, Provider, Providers, Rundown, Runtime, SessionConfig};
use nettrace_parser::Reader;
use nettrace_parser::view::{Exception, View};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

pub type Error = Box<dyn std::error::Error>;

/// A webhook that is reached without TLS, as one on the same machine is: `HOST:PORT` and a path.
pub struct Webhook<'h> {
    pub host: &'h str,
    pub path: &'h str,
}

impl Webhook<'_> {
    /// Posts a JSON document.
    fn post(&self, json: &str) -> Result<(), Error> {
        let Webhook { host, path } = self;
        let mut connection = TcpStream::connect(host)?;
        write!(
            connection,
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{json}",
            json.len()
        )?;
        let mut status = String::new();
        BufReader::new(connection).read_line(&mut status)?;
        match status.split(' ').nth(1) {
            Some(code) if code.starts_with('2') => Ok(()),
            _ => Err(format!("the webhook answers {:?}", status.trim_end()).into()),
        }
    }
}

/// Returns a text as JSON.
fn quoted(text: &str) -> String {
    let mut json = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            control if control < ' ' => {
                let _ = write!(json, "\\u{:04x}", u32::from(control));
            }
            other => json.push(other),
        }
    }
    json + "\""
}

/// Posts exceptions until the process ends, or the webhook fails. Returns how many were thrown.
pub fn post_exceptions(runtime: &Runtime, webhook: &Webhook<'_>) -> Result<u64, Error> {
    let exceptions = Provider::new("Microsoft-Windows-DotNETRuntime")?
        .keywords(Keywords::EXCEPTION)
        .level(Level::Error);
    let config = SessionConfig::new(Providers::new([exceptions])?);
    let session = runtime.start(&config.stacks(false).rundown(Rundown::Off))?;
    let mut events = Reader::from_read(session);
    let mut count = 0;
    while let Some(event) = events.next_event()? {
        let Some(thrown) = Exception::from_event(&event) else { continue };
        count += 1;
        let [name, message] =
            [thrown.type_name, thrown.message].map(|text| quoted(&text.to_string()));
        webhook.post(&format!("{{\"type\":{name},\"message\":{message}}}"))?;
    }
    Ok(count)
}
