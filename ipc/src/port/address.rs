//! Addresses of ports as users of tools write them: `address[,connect|listen]`.

use crate::endpoint::{Endpoint, Listener, TcpAddress};
use crate::error::{Error, RequestError, Step};
use std::fmt;
use std::path::PathBuf;

/// Which side of a port connects to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PortMode {
    /// This process listens, and runtimes connect. This is the default for tools; the default for
    /// runtimes is to connect.
    Listen,
    /// The runtime or a router listens, and this process connects.
    Connect,
}

/// A diagnostic port: a path, `uds:PATH`, `file:PATH`, `namedpipe:NAME` or
/// `tcp://host:port`, with `,listen` or `,connect` after it.
///
/// ```
/// use nettrace_ipc::{PortAddress, PortMode};
/// assert_eq!(PortAddress::parse("/tmp/port")?.mode(), PortMode::Listen);
/// assert_eq!(PortAddress::parse("tcp://127.0.0.1:9000,connect")?.mode(), PortMode::Connect);
/// # Ok::<(), nettrace_ipc::RequestError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PortAddress {
    pub(super) place: PortPlace,
    mode: PortMode,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum PortPlace {
    Socket(PathBuf),
    Pipe(String),
    Tcp(TcpAddress),
}

impl PortAddress {
    /// Parses the address of a port.
    ///
    /// # Errors
    /// [`RequestError::PortAddress`] with the reason.
    pub fn parse(text: &str) -> Result<Self, RequestError> {
        let refuse = |reason| RequestError::PortAddress { text: text.to_owned(), reason };
        let mut parts = text.split(',').map(str::trim);
        let address = parts.next().unwrap_or_default();
        let mode = match parts.next().map(str::to_ascii_lowercase).as_deref() {
            None | Some("listen") => PortMode::Listen,
            Some("connect") => PortMode::Connect,
            Some("suspend" | "nosuspend") => {
                return Err(refuse(
                    "suspend and nosuspend belong to the runtime's side of the port",
                ));
            }
            Some(_) => return Err(refuse("expected connect or listen after the comma")),
        };
        if parts.next().is_some() {
            return Err(refuse("expected one word after the address"));
        }
        let pipe = |name: &str| {
            PortPlace::Pipe(name.strip_prefix(r"\\.\pipe\").unwrap_or(name).to_owned())
        };
        let after = |scheme: &str| {
            let (head, rest) = address.split_at_checked(scheme.len())?;
            head.eq_ignore_ascii_case(scheme).then_some(rest)
        };
        let socket =
            |rest: &str| PortPlace::Socket(PathBuf::from(rest.strip_prefix("//").unwrap_or(rest)));
        let (place, name) = if let Some(rest) = after("tcp://") {
            (PortPlace::Tcp(TcpAddress::parse(rest)?), rest)
        } else if let Some(rest) = after("uds:").or_else(|| after("file:")) {
            (socket(rest), rest)
        } else if let Some(rest) = after("namedpipe:") {
            (pipe(rest), rest)
        } else if cfg!(windows) {
            (pipe(address), address)
        } else {
            (PortPlace::Socket(PathBuf::from(address)), address)
        };
        if name.is_empty() {
            return Err(refuse("the address is empty"));
        }
        if name.contains(['\0', ';']) {
            return Err(refuse("an address cannot hold a NUL or a semicolon"));
        }
        Ok(PortAddress { place, mode })
    }

    /// Returns which side connects to the other.
    pub fn mode(&self) -> PortMode {
        self.mode
    }

    /// Listens at the address. Returns the endpoint to which runtimes connect, with the port number
    /// that the system chose.
    pub(crate) fn open(&self) -> Result<(Listener, Endpoint), Error> {
        let failed = |source: std::io::Error| Error::Io { step: Step::Listen, source };
        match &self.place {
            #[cfg(unix)]
            PortPlace::Socket(path) => Ok((Listener::unix(path).map_err(failed)?, self.endpoint())),
            #[cfg(not(unix))]
            PortPlace::Socket(_) => Err(Error::Unsupported("listening on Unix sockets")),
            #[cfg(windows)]
            PortPlace::Pipe(name) => Ok((Listener::pipe(name).map_err(failed)?, self.endpoint())),
            #[cfg(not(windows))]
            PortPlace::Pipe(_) => Err(Error::Unsupported("listening on named pipes")),
            PortPlace::Tcp(address) => {
                let listener = Listener::tcp(address).map_err(failed)?;
                let taken = TcpAddress::parse(&listener.address())?;
                Ok((listener, Endpoint::tcp(taken)))
            }
        }
    }

    /// Returns the endpoint to connect to, for [`PortMode::Connect`].
    pub fn endpoint(&self) -> Endpoint {
        match &self.place {
            PortPlace::Socket(path) => Endpoint::socket(path),
            PortPlace::Pipe(name) => Endpoint::pipe(name),
            PortPlace::Tcp(address) => Endpoint::tcp(address.clone()),
        }
    }
}

impl fmt::Display for PortAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{},{}",
            self.endpoint(),
            if self.mode == PortMode::Listen { "listen" } else { "connect" }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn addresses_have_schemes_and_one_word_after_them() {
        for (text, shown) in [
            ("/tmp/a", "/tmp/a,listen"),
            ("/tmp/a,connect", "/tmp/a,connect"),
            ("uds:/tmp/a,LISTEN", "/tmp/a,listen"),
            ("uds:///tmp/a", "/tmp/a,listen"),
            ("file:/tmp/a", "/tmp/a,listen"),
            ("namedpipe:x,connect", r"\\.\pipe\x,connect"),
            ("tcp://127.0.0.1:9000", "tcp://127.0.0.1:9000,listen"),
        ] {
            assert_eq!(
                PortAddress::parse(text).map(|address| address.to_string()).as_deref(),
                Ok(shown)
            );
        }
    }

    #[test]
    fn other_words_are_refused() {
        for text in [
            "",
            ",listen",
            "uds:",
            "/a,suspend",
            "/a,nosuspend",
            "/a,x",
            "/a,listen,connect",
            "tcp://x",
            "/a;/b",
        ] {
            assert!(PortAddress::parse(text).is_err(), "{text}");
        }
    }
}
