//! Connections that outgoing requests open, by host, and which of them they could have spared.
//!
//! A client that is kept, such as one `HttpClient` for the life of the program, takes a free
//! connection before it opens a new one. A client that is made anew for each request opens one each
//! time, while those of the clients before it are idle or have just been closed.

use crate::hash::HashMap;

/// Maximum number of hosts whose connections are counted.
const MAX_HOSTS: usize = 10_000;

/// Maximum length of a host's name with scheme and port that is counted, in bytes.
const MAX_HOST_BYTES: usize = 512;

/// Time for which a connection that is not used stays open by default, in nanoseconds.
const IDLE_TIMEOUT_NANOS: i64 = 60_000_000_000;

/// Counts connections by host.
#[derive(Debug, Default)]
pub(crate) struct Connections(HashMap<String, Host>);

#[derive(Debug, Default)]
struct Host {
    /// Connections that opened since the host was last unused for a minute.
    opened: u64,
    /// Requests that have started and not stopped.
    in_flight: u64,
    last_stop_nanos: i64,
}

/// Connection of one outgoing request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ConnectionUse {
    host: Option<String>,
    /// Whether another connection to the host was free when the request started.
    was_free: bool,
    has_opened: bool,
}

impl ConnectionUse {
    /// Returns whether the request opened a connection, and whether it could have used another one.
    pub(crate) fn outcome(&self) -> (bool, bool) {
        (self.has_opened, self.has_opened && self.was_free)
    }
}

impl Connections {
    /// Notes that a request to a target, such as `https://host:8443/items`, has started.
    pub(crate) fn start(&mut self, target: &str, nanos: i64) -> ConnectionUse {
        let name = host_of(target);
        if name.len() > MAX_HOST_BYTES {
            return ConnectionUse::default();
        }
        if self.0.len() >= MAX_HOSTS && !self.0.contains_key(name) {
            return ConnectionUse::default();
        }
        let host = self.0.entry(name.to_owned()).or_default();
        let idle_nanos = nanos.saturating_sub(host.last_stop_nanos);
        if host.in_flight == 0 && idle_nanos > IDLE_TIMEOUT_NANOS {
            host.opened = 0;
        }
        let was_free = host.opened > host.in_flight;
        host.in_flight = host.in_flight.saturating_add(1);
        ConnectionUse { host: Some(name.to_owned()), was_free, has_opened: false }
    }

    /// Notes that a connection opens for a request.
    pub(crate) fn opens(&mut self, of_request: &mut ConnectionUse) {
        let Some(host) = of_request.host.as_ref().and_then(|name| self.0.get_mut(name)) else {
            return;
        };
        if !of_request.has_opened {
            of_request.has_opened = true;
            host.opened = host.opened.saturating_add(1);
        }
    }

    /// Notes that a request has stopped.
    pub(crate) fn stop(&mut self, of_request: &ConnectionUse, nanos: i64) {
        if let Some(host) = of_request.host.as_ref().and_then(|name| self.0.get_mut(name)) {
            host.in_flight = host.in_flight.saturating_sub(1);
            host.last_stop_nanos = nanos;
        }
    }
}

/// Returns scheme, host and port of a target.
fn host_of(target: &str) -> &str {
    let begin = target.find("://").map_or(0, |at| at.saturating_add(3));
    let rest = target.get(begin..).unwrap_or_default();
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len()).saturating_add(begin);
    target.get(..end).unwrap_or(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;
    const TARGET: &str = "http://shop:5000/items?page=1";

    /// Runs requests one after the other, each with a connection of its own, with pauses between
    /// them.
    fn one_by_one(count: usize, pause_nanos: i64) -> usize {
        let mut connections = Connections::default();
        let mut spared = 0;
        for number in 0..count {
            let nanos = i64::try_from(number).unwrap() * pause_nanos;
            let mut used = connections.start(TARGET, nanos);
            connections.opens(&mut used);
            connections.stop(&used, nanos + 1);
            spared += usize::from(used.outcome().1);
        }
        spared
    }

    #[test]
    fn each_request_after_the_first_could_have_used_the_connection_of_an_earlier_one() {
        assert_eq!(one_by_one(10, SECOND), 9);
        assert_eq!(one_by_one(10, 61 * SECOND), 0, "which is closed after a minute");
    }

    #[test]
    fn requests_at_once_need_a_connection_each() {
        let mut connections = Connections::default();
        let mut used: Vec<_> = (0..40).map(|nanos| connections.start(TARGET, nanos)).collect();
        for one in &mut used {
            connections.opens(one);
            // A second address of the same host is tried.
            connections.opens(one);
        }
        assert!(used.iter().all(|one| one.outcome() == (true, false)));
        used.iter().for_each(|one| connections.stop(one, SECOND));
        assert!(connections.start(TARGET, 2 * SECOND).was_free);
        assert!(!connections.start("http://shop:5001/items", 2 * SECOND).was_free);
    }

    #[test]
    fn a_host_with_an_endless_name_is_not_kept() {
        let mut connections = Connections::default();
        let mut used = connections.start(&format!("http://{}/", "a".repeat(1 << 20)), 0);
        connections.opens(&mut used);
        assert_eq!((used, connections.0.len()), (ConnectionUse::default(), 0));
    }

    #[test]
    fn a_host_has_scheme_and_port() {
        assert_eq!(host_of("https://a.b:1/c/d?e=/f"), "https://a.b:1");
        assert_eq!(host_of("http://a?b"), "http://a");
        assert_eq!(host_of("/c"), "");
    }
}
