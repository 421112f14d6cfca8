//! An endpoint that Prometheus scrapes: one document, over HTTP.
//!
//! `httparse` reads the heads of requests, as it does for hyper. All else is bounded: a few
//! connections at a time, each with one request of a few kilobytes and one answer, and a deadline
//! for both. tiny_http, the usual small server, has no deadlines and has not been released since
//! 2022; hyper needs an executor.

use crate::failure::Failure;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of connections at a time. Others are closed at once.
const MAX_CONNECTIONS: usize = 8;
/// Maximum bytes of a request's head.
const MAX_HEAD_BYTES: usize = 8 << 10;
/// Maximum number of a request's headers.
const MAX_HEADERS: usize = 64;
/// Maximum time for a request, and for taking its answer.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause after a failed accept, such as one without a free descriptor.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// Serves the document that was published last.
#[derive(Debug)]
pub(crate) struct Scrape {
    address: SocketAddr,
    document: Arc<Mutex<Arc<Vec<u8>>>>,
}

impl Scrape {
    /// Listens at an address, and answers clients that call this server by a loopback name or
    /// address, or by one of `hosts`. The thread ends with the process.
    pub(crate) fn listen(address: SocketAddr, hosts: &[String]) -> Result<Scrape, Failure> {
        Scrape::listen_within(EXCHANGE_TIMEOUT, address, hosts)
    }

    /// Listens as [`Scrape::listen`] does, with `timeout` as the maximum time of an exchange.
    fn listen_within(
        timeout: Duration,
        address: SocketAddr,
        hosts: &[String],
    ) -> Result<Scrape, Failure> {
        let failed = |error: io::Error| {
            Failure::input(
                address.to_string(),
                format!("cannot listen: {error}; give another --openmetrics-listen"),
            )
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let document = Arc::new(Mutex::new(Arc::new(b"# EOF\n".to_vec())));
        let served = Arc::clone(&document);
        let thread = std::thread::Builder::new().name("nettrace-scrape".to_owned());
        let hosts: Arc<[String]> = hosts.into();
        thread.spawn(move || serve(&listener, timeout, &served, &hosts)).map_err(failed)?;
        Ok(Scrape { address, document })
    }

    /// Returns the address of the server. If port 0 was given, it has the port that the system
    /// chose.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves this document from now on.
    pub(crate) fn publish(&self, document: Vec<u8>) {
        *self.document.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(document);
    }
}

fn serve(
    listener: &TcpListener,
    timeout: Duration,
    document: &Arc<Mutex<Arc<Vec<u8>>>>,
    hosts: &Arc<[String]>,
) {
    let open = Arc::new(AtomicUsize::new(0));
    loop {
        let Ok((stream, _)) = listener.accept() else {
            std::thread::sleep(ACCEPT_RETRY);
            continue;
        };
        if open.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
            open.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let (document, its, hosts) = (Arc::clone(document), Arc::clone(&open), Arc::clone(hosts));
        let thread = std::thread::Builder::new().name("nettrace-scraped".to_owned());
        let spawned = thread.spawn(move || {
            // A client that disconnects in the middle gets no more.
            let _ = answer(stream, Instant::now() + timeout, &document, &hosts);
            its.fetch_sub(1, Ordering::SeqCst);
        });
        if spawned.is_err() {
            open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Reads one request and writes its answer.
fn answer(
    mut stream: TcpStream,
    deadline: Instant,
    document: &Mutex<Arc<Vec<u8>>>,
    hosts: &[String],
) -> io::Result<()> {
    let head = match read_head(&mut stream, deadline)? {
        Some(head) => head,
        None => return reply(&mut stream, deadline, "400 Bad Request", PLAIN, b"", false),
    };
    let is_head = head.method == "HEAD";
    if !is_answered(&head.host, hosts) {
        let text = b"this host is not answered; name it with --openmetrics-host\n";
        return reply(&mut stream, deadline, "421 Misdirected Request", PLAIN, text, is_head);
    }
    let path = head.path.split('?').next().unwrap_or_default();
    match (&*head.method, path) {
        ("GET" | "HEAD", "/metrics" | "/") => {
            let document = Arc::clone(&document.lock().unwrap_or_else(PoisonError::into_inner));
            reply(&mut stream, deadline, "200 OK", OPENMETRICS, &document, is_head)
        }
        ("GET" | "HEAD", _) => {
            let text = b"counters are at /metrics\n";
            reply(&mut stream, deadline, "404 Not Found", PLAIN, text, is_head)
        }
        _ => reply(&mut stream, deadline, "405 Method Not Allowed", PLAIN, b"", false),
    }
}

struct Head {
    method: String,
    path: String,
    /// Name by which the client calls this server; empty if it gives none.
    host: String,
}

/// Returns whether a client that calls this server by the name `host` gets an answer. Other names
/// are refused, because a page in a browser may let its own name lead to this machine (DNS
/// rebinding), and would read values that only this machine may read.
fn is_answered(host: &str, hosts: &[String]) -> bool {
    let (name, port) = host.rsplit_once(':').unwrap_or((host, ""));
    let name = if port.bytes().all(|byte| byte.is_ascii_digit()) { name } else { host };
    let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        || hosts.iter().any(|host| [name, address].iter().any(|own| host.eq_ignore_ascii_case(own)))
}

/// Reads the head of a request; `None` if the bytes are no head, or too long.
fn read_head(stream: &mut TcpStream, deadline: Instant) -> io::Result<Option<Head>> {
    let mut bytes = Vec::new();
    let mut piece = [0; 1024];
    loop {
        stream.set_read_timeout(Some(left(deadline)?))?;
        let count = stream.read(&mut piece)?;
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&piece[..count]);
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(&bytes) {
            Ok(httparse::Status::Complete(_)) => {
                let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
                let (method, path) = (text(request.method), text(request.path));
                let mut all = request.headers.iter();
                let host = all.find(|header| header.name.eq_ignore_ascii_case("host"));
                let host = host.and_then(|header| std::str::from_utf8(header.value).ok());
                return Ok(Some(Head { method, path, host: text(host) }));
            }
            Ok(httparse::Status::Partial) if bytes.len() < MAX_HEAD_BYTES => {}
            Ok(httparse::Status::Partial) | Err(_) => return Ok(None),
        }
    }
}

fn reply(
    stream: &mut TcpStream,
    deadline: Instant,
    status: &str,
    content_type: &str,
    body: &[u8],
    is_head: bool,
) -> io::Result<()> {
    let length = body.len();
    let mut bytes = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    .into_bytes();
    if !is_head {
        bytes.extend_from_slice(body);
    }
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        stream.set_write_timeout(Some(left(deadline)?))?;
        let count = stream.write(rest)?;
        if count == 0 {
            return Err(ErrorKind::WriteZero.into());
        }
        rest = &rest[count..];
    }
    stream.flush()
}

/// Returns the time until the deadline. Fails if none is left.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrape() -> Scrape {
        Scrape::listen("127.0.0.1:0".parse().unwrap(), &["shop.example".to_owned()]).unwrap()
    }

    fn asked(scrape: &Scrape, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(scrape.address()).unwrap();
        stream.write_all(request).unwrap();
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text);
        text
    }

    #[test]
    fn what_was_published_last_is_served() {
        let scrape = scrape();
        scrape.publish(b"old\n# EOF\n".to_vec());
        scrape.publish(b"new\n# EOF\n".to_vec());
        let text = asked(&scrape, b"GET /metrics HTTP/1.1\r\nHost: localhost:9464\r\n\r\n");
        assert!(text.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text;"));
        assert!(text.contains("Content-Length: 10\r\n") && text.ends_with("\r\n\r\nnew\n# EOF\n"));
        let text = asked(&scrape, b"HEAD / HTTP/1.0\r\nHost: [::1]:9464\r\n\r\n");
        assert!(text.contains("Content-Length: 10\r\n") && text.ends_with("\r\n\r\n"), "{text}");
    }

    #[test]
    fn what_is_no_such_request_gets_no_document() {
        let scrape = scrape();
        let status = |request: &[u8]| {
            let text = asked(&scrape, request);
            text.split(' ').nth(1).unwrap_or_default().to_owned()
        };
        assert_eq!(status(b"GET /other HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"), "404");
        assert_eq!(status(b"POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"), "405");
        assert_eq!(status(b"\x16\x03\x01 hello\r\n\r\n"), "400");
        let long = [&b"GET /"[..], &vec![b'a'; 2 * MAX_HEAD_BYTES], b" HTTP/1.1\r\n\r\n"].concat();
        // The rest of it may still be on the way when it is refused.
        assert!(["400", ""].contains(&&*status(&long)));
    }

    #[test]
    fn only_loopback_and_named_hosts_are_answered() {
        let named = ["shop.example".to_owned(), "10.1.2.3".to_owned()];
        for host in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1",
            "127.9.9.9:80",
            "[::1]",
            "[::1]:9",
            "shop.example:9464",
            "10.1.2.3",
        ] {
            assert!(is_answered(host, &named), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:9464",
            "localhost.evil.example",
            "10.1.2.4",
            "[::2]:1",
            "::",
            "[",
            ":80",
        ] {
            assert!(!is_answered(host, &named), "{host}");
        }
        let scrape = scrape();
        scrape.publish(b"secret".to_vec());
        for host in ["Host: evil.example\r\n", ""] {
            let request = format!("GET /metrics HTTP/1.1\r\n{host}\r\n");
            let text = asked(&scrape, request.as_bytes());
            assert!(text.starts_with("HTTP/1.1 421 ") && !text.contains("secret"), "{text}");
        }
    }

    #[test]
    fn connections_that_say_nothing_do_not_keep_others_out_for_long() {
        let (address, timeout) = ("127.0.0.1:0".parse().unwrap(), Duration::from_millis(500));
        let scrape = Scrape::listen_within(timeout, address, &[]).unwrap();
        let mute: Vec<TcpStream> =
            (0..MAX_CONNECTIONS).map(|_| TcpStream::connect(scrape.address()).unwrap()).collect();
        nettrace_testdata::eventually("an answer", || {
            asked(&scrape, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").starts_with("HTTP/1.1 200")
        });
        drop(mute);
    }
}
