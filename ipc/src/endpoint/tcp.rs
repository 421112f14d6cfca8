//! TCP addresses. They are for runtimes on phones and in browsers, which have neither Unix sockets
//! nor pipes.

use super::hosts;
use crate::deadlines::Deadline;
use crate::error::RequestError;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};

/// A host and a port. There is no authentication: anyone who can connect can control the
/// process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TcpAddress {
    host: String,
    port: u16,
}

impl TcpAddress {
    /// Parses an address in the form `host:port`, `[v6]:port` or `*:port` (all interfaces).
    ///
    /// # Errors
    /// [`RequestError::PortAddress`] with the reason.
    pub fn parse(text: &str) -> Result<Self, RequestError> {
        let refuse = |reason| RequestError::PortAddress { text: text.to_owned(), reason };
        let (host, port) = text.rsplit_once(':').ok_or(refuse("expected host:port"))?;
        let port = port.parse().map_err(|_| refuse("the port is not a number from 0 to 65535"))?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match bare {
            Some(inside) => {
                inside
                    .parse::<Ipv6Addr>()
                    .map_err(|_| refuse("not an IPv6 address between brackets"))?;
                inside
            }
            None if host.contains(':') => return Err(refuse("an IPv6 address needs brackets")),
            None => host,
        };
        if host.is_empty() {
            return Err(refuse("no host; use 127.0.0.1, or * for all interfaces"));
        }
        Ok(TcpAddress { host: host.to_owned(), port })
    }

    /// Returns whether only this machine can reach the address.
    pub fn is_loopback(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost")
            || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        let host = if self.host == "*" { "0.0.0.0" } else { self.host.as_str() };
        hosts::resolve(host, self.port)
    }

    pub(super) fn connect(&self, deadline: Deadline) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in self.resolve()? {
            let left = deadline.left().ok_or(io::ErrorKind::TimedOut)?;
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => {
                    // A request is one small write before a wait for its answer, so Nagle's
                    // algorithm would only delay it.
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    pub(super) fn listen(&self) -> io::Result<TcpListener> {
        TcpListener::bind(self.resolve()?.as_slice())
    }
}

impl fmt::Display for TcpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_are_separated() {
        for (text, loopback) in [
            ("127.0.0.1:9000", true),
            ("[::1]:9000", true),
            ("localhost:1", true),
            ("*:9000", false),
            ("10.0.2.2:9000", false),
        ] {
            let address = TcpAddress::parse(text).unwrap();
            assert_eq!((address.to_string().as_str(), address.is_loopback()), (text, loopback));
        }
        for text in ["", "9000", ":9000", "host:", "host:65536", "::1:9000", "[::1:9000", "[x]:1"] {
            assert!(TcpAddress::parse(text).is_err(), "{text}");
        }
    }
}
