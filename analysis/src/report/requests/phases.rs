//! Phases of an outgoing HTTP request: the queue for a connection, name resolution, connecting, TLS,
//! sending, waiting for the server, and receiving.
//!
//! `System.Net.Http`, `System.Net.NameResolution`, `System.Net.Sockets` and `System.Net.Security`
//! report them inside the activity of the request:
//!
//! | event | what follows |
//! |---|---|
//! | `ResolutionStart`, `ConnectStart`, `HandshakeStart`, until their stops | name resolution, connect, TLS, until the request is sent |
//! | `RequestLeftQueue` | the time that it names, without the phases above, was the queue |
//! | `RequestHeadersStart`, `RequestContentStart` | sending |
//! | `RequestHeadersStop`, `RequestContentStop` | waiting for the server |
//! | `ResponseHeadersStop` | receiving the content |
//! | `ResponseContentStop`, `Redirect` | other time: nothing, or the next round |
//!
//! A request may be sent more than once, such as after a redirection; its phases are sums. They do
//! not overlap. On HTTP/2, a request that was given more streams than the server allows goes back
//! to the queue while it sends its headers, without an event: `RequestLeftQueue` tells it later. A connection that opens for a request, but later than the request was sent on
//! another one, counts for no phase.

use crate::by_type::ByType;
use nettrace_parser::view::KnownProvider;
use nettrace_parser::{Event, Value};

/// Phases of outgoing requests, in nanoseconds. They do not overlap, and add up to the time of the
/// requests that report them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HttpPhases {
    /// Number of requests that report phases.
    pub requests: u64,
    /// Time in the queue for a connection, without the phases in which one was opened.
    pub queue_ns: u64,
    /// Time in which the name of the host was resolved.
    pub name_resolution_ns: u64,
    /// Time in which a socket connected.
    pub connect_ns: u64,
    /// Time of TLS handshakes.
    pub tls_ns: u64,
    /// Time in which headers and content were sent.
    pub send_ns: u64,
    /// Time from the end of sending to the end of the response's headers.
    pub server_ns: u64,
    /// Time in which the content of the response was received.
    pub content_ns: u64,
    /// Time that belongs to none of these phases, such as in message handlers.
    pub other_ns: u64,
}

/// Phase of an outgoing request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum HttpPhase {
    /// The request waited for a connection, or on HTTP/2 for a stream.
    Queue,
    /// The name of the host was resolved.
    NameResolution,
    /// A socket connected.
    Connect,
    /// A TLS handshake was made.
    Tls,
    /// Headers and content were sent.
    Send,
    /// The server had the request and had not answered.
    Server,
    /// The content of the response was received.
    Content,
    /// None of the other phases.
    Other,
}

impl HttpPhases {
    /// Returns all phases in the order in which they follow each other, with their time in
    /// nanoseconds.
    pub fn all(&self) -> [(HttpPhase, u64); 8] {
        [
            (HttpPhase::Queue, self.queue_ns),
            (HttpPhase::NameResolution, self.name_resolution_ns),
            (HttpPhase::Connect, self.connect_ns),
            (HttpPhase::Tls, self.tls_ns),
            (HttpPhase::Send, self.send_ns),
            (HttpPhase::Server, self.server_ns),
            (HttpPhase::Content, self.content_ns),
            (HttpPhase::Other, self.other_ns),
        ]
    }

    /// Returns the sum of all phases, in nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.all().into_iter().fold(0, |sum, (_, nanos)| sum.saturating_add(nanos))
    }

    /// Returns the longest phase with its time; `None` if there is no time at all.
    pub fn longest(&self) -> Option<(HttpPhase, u64)> {
        self.all().into_iter().max_by_key(|(_, nanos)| *nanos).filter(|(_, nanos)| *nanos > 0)
    }

    /// Adds the phases of other requests.
    pub(crate) fn merge(&mut self, other: &HttpPhases) {
        self.requests = self.requests.saturating_add(other.requests);
        for (phase, nanos) in other.all() {
            self.add(phase, nanos);
        }
    }

    fn add(&mut self, phase: HttpPhase, nanos: u64) {
        let sum = self.sum_mut(phase);
        *sum = sum.saturating_add(nanos);
    }

    fn sum_mut(&mut self, phase: HttpPhase) -> &mut u64 {
        match phase {
            HttpPhase::Queue => &mut self.queue_ns,
            HttpPhase::NameResolution => &mut self.name_resolution_ns,
            HttpPhase::Connect => &mut self.connect_ns,
            HttpPhase::Tls => &mut self.tls_ns,
            HttpPhase::Send => &mut self.send_ns,
            HttpPhase::Server => &mut self.server_ns,
            HttpPhase::Content => &mut self.content_ns,
            HttpPhase::Other => &mut self.other_ns,
        }
    }

    /// Returns the time in which a connection was opened.
    fn opening_ns(&self) -> u64 {
        self.name_resolution_ns.saturating_add(self.connect_ns).saturating_add(self.tls_ns)
    }
}

/// Event that begins or ends a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PhaseMark {
    /// From here on the request itself is in a phase.
    Enter(HttpPhase),
    /// Opening a connection begins a phase.
    Begin(Opening),
    /// Opening a connection ends a phase.
    End(Opening),
    /// A connection has opened.
    Connected,
    /// The request has a connection, and waited this many nanoseconds for it.
    LeftQueue(u64),
}

/// Phase of opening a connection. An outer one may enclose an inner one, and the later variants
/// count first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    NameResolution,
    Connect,
    Tls,
}

impl PhaseMark {
    /// Returns whether the event shows that its request opens a connection.
    pub(crate) fn opens_connection(self) -> bool {
        matches!(self, PhaseMark::Connected | PhaseMark::Begin(_))
    }

    /// Returns what events of the event's type mark, without what is in their payloads; `None` for
    /// events that begin or end no phase.
    fn of_type(event: &Event<'_>) -> Option<PhaseMark> {
        if event.known_provider() != KnownProvider::Other {
            return None;
        }
        let source = event.provider().strip_prefix("System.Net.")?;
        let name = event.name();
        // Names come as `RequestStart` or `Request/Start`, by the runtime's version.
        let is = |task: &str, edge: &str| {
            let rest = name.strip_prefix(task);
            rest.and_then(|rest| rest.trim_start_matches('/').strip_prefix(edge)) == Some("")
        };
        let opening = |task: &str, opening: Opening| {
            let begins = is(task, "Start").then_some(PhaseMark::Begin(opening));
            begins.or_else(|| is(task, "Stop").then_some(PhaseMark::End(opening)))
        };
        match source {
            "NameResolution" => opening("Resolution", Opening::NameResolution),
            "Sockets" => opening("Connect", Opening::Connect),
            "Security" => opening("Handshake", Opening::Tls),
            "Http" if name == "RequestLeftQueue" => Some(PhaseMark::LeftQueue(0)),
            "Http" if name == "ConnectionEstablished" => Some(PhaseMark::Connected),
            "Http" if name == "Redirect" => Some(PhaseMark::Enter(HttpPhase::Other)),
            "Http" if is("RequestHeaders", "Start") || is("RequestContent", "Start") => {
                Some(PhaseMark::Enter(HttpPhase::Send))
            }
            "Http" if is("RequestHeaders", "Stop") || is("RequestContent", "Stop") => {
                Some(PhaseMark::Enter(HttpPhase::Server))
            }
            "Http" if is("ResponseHeaders", "Stop") => Some(PhaseMark::Enter(HttpPhase::Content)),
            "Http" if is("ResponseContent", "Stop") => Some(PhaseMark::Enter(HttpPhase::Other)),
            _ => None,
        }
    }
}

/// Reads events as begins and ends of phases. What a type of events marks is decided once, because
/// most events of a trace mark nothing.
#[derive(Debug)]
pub(crate) struct PhaseMarks(ByType<Option<PhaseMark>>);

impl Default for PhaseMarks {
    fn default() -> PhaseMarks {
        PhaseMarks(ByType::new(None))
    }
}

impl PhaseMarks {
    /// Returns the begin or end of a phase that an event marks; `None` for other events.
    pub(crate) fn read(&mut self, event: &Event<'_>) -> Option<PhaseMark> {
        match (*self.0.look_up(event, PhaseMark::of_type))? {
            PhaseMark::LeftQueue(_) => {
                let waited = event.fields().next()?.value.ok()?;
                Some(PhaseMark::LeftQueue(nanos_of(waited)?))
            }
            mark => Some(mark),
        }
    }
}

/// Returns a number of milliseconds in nanoseconds; `None` for other values, and below 0.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers out of range become the nearest one"
)]
fn nanos_of(milliseconds: Value<'_>) -> Option<u64> {
    let nanos = milliseconds.as_f64()? * 1e6;
    (nanos >= 0.0).then_some(nanos as u64)
}

/// Follows one request through its phases.
#[derive(Debug, Clone)]
pub(crate) struct PhaseClock {
    phase: HttpPhase,
    /// Start of `phase`, in nanoseconds since the session's start.
    entered: i64,
    /// Time up to which phases are counted, in nanoseconds since the session's start.
    counted_to: i64,
    /// Number of phases that have begun and not ended, by [`Opening`].
    open: [u32; 3],
    phases: HttpPhases,
    /// Phases when the current round began: at the start, or when an answer had come.
    before_round: HttpPhases,
    is_told: bool,
}

impl PhaseClock {
    /// Starts with a request.
    pub(crate) fn new(start_nanos: i64) -> PhaseClock {
        PhaseClock {
            phase: HttpPhase::Other,
            entered: start_nanos,
            counted_to: start_nanos,
            open: [0; 3],
            phases: HttpPhases::default(),
            before_round: HttpPhases::default(),
            is_told: false,
        }
    }

    /// Counts the time up to an event of the request.
    pub(crate) fn mark(&mut self, mark: PhaseMark, nanos: i64) {
        self.count(nanos);
        match mark {
            PhaseMark::Enter(phase) => {
                if phase == HttpPhase::Other {
                    self.before_round = self.phases;
                }
                (self.phase, self.entered) = (phase, nanos);
                self.is_told = true;
            }
            PhaseMark::Begin(opening) => {
                if let Some(open) = self.open.get_mut(opening as usize) {
                    *open = open.saturating_add(1);
                }
            }
            PhaseMark::End(opening) => {
                if let Some(open) = self.open.get_mut(opening as usize) {
                    *open = open.saturating_sub(1);
                }
            }
            PhaseMark::Connected => {}
            PhaseMark::LeftQueue(waited) if self.phase != HttpPhase::Other => {
                let sent = u64::try_from(nanos.saturating_sub(self.entered)).unwrap_or(0);
                let queue = waited.min(sent);
                let sum = self.phases.sum_mut(self.phase);
                *sum = sum.saturating_sub(queue);
                self.phases.add(HttpPhase::Queue, queue);
                (self.phase, self.entered) = (HttpPhase::Other, nanos);
                self.before_round = self.phases;
            }
            PhaseMark::LeftQueue(waited) => {
                self.is_told = true;
                let before = &self.before_round;
                let opening = self.phases.opening_ns().saturating_sub(before.opening_ns());
                let other = self.phases.other_ns.saturating_sub(before.other_ns);
                let queue = waited.saturating_sub(opening).min(other);
                self.phases.other_ns = self.phases.other_ns.saturating_sub(queue);
                self.phases.queue_ns = self.phases.queue_ns.saturating_add(queue);
            }
        }
    }

    /// Returns the phases of the request, which stops; `None` if it reported none.
    pub(crate) fn stop(mut self, nanos: i64) -> Option<HttpPhases> {
        self.count(nanos);
        self.is_told.then_some(HttpPhases { requests: 1, ..self.phases })
    }

    fn count(&mut self, nanos: i64) {
        let passed = u64::try_from(nanos.saturating_sub(self.counted_to)).unwrap_or(0);
        self.counted_to = self.counted_to.max(nanos);
        let [resolving, connecting, shaking_hands] = self.open.map(|open| open > 0);
        let phase = match self.phase {
            HttpPhase::Other if shaking_hands => HttpPhase::Tls,
            HttpPhase::Other if connecting => HttpPhase::Connect,
            HttpPhase::Other if resolving => HttpPhase::NameResolution,
            phase => phase,
        };
        self.phases.add(phase, passed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Returns the phases in milliseconds of a request that starts at 0 and stops at `end`.
    fn phases(marks: &[(i64, PhaseMark)], end: i64) -> Option<[u64; 8]> {
        let mut clock = PhaseClock::new(0);
        for (at, mark) in marks {
            clock.mark(*mark, at * 1_000_000);
        }
        Some(clock.stop(end * 1_000_000)?.all().map(|(_, nanos)| nanos / MS))
    }

    use HttpPhase::{Content, Other, Send, Server};
    use PhaseMark::{Begin, End, Enter, LeftQueue};

    #[test]
    fn phases_follow_each_other_and_add_up_to_the_time_of_the_request() {
        let marks = [
            (2, Begin(Opening::NameResolution)),
            (5, End(Opening::NameResolution)),
            (6, Begin(Opening::Connect)),
            (10, End(Opening::Connect)),
            (11, Begin(Opening::Tls)),
            (31, End(Opening::Tls)),
            (32, LeftQueue(31 * MS)),
            (33, Enter(Send)),
            (35, Enter(Server)),
            (135, Enter(Content)),
            (140, Enter(Other)),
        ];
        // 31 ms in the queue have 27 ms of opening the connection in them.
        assert_eq!(phases(&marks, 142), Some([4, 3, 4, 20, 2, 100, 5, 4]));
    }

    #[test]
    fn a_connection_that_opens_after_the_request_was_sent_counts_for_no_phase() {
        let marks = [
            (1, Begin(Opening::Connect)),
            (3, LeftQueue(3 * MS)),
            (3, Enter(Send)),
            (4, Enter(Server)),
            (90, End(Opening::Connect)),
            (100, Enter(Content)),
        ];
        assert_eq!(phases(&marks, 100), Some([1, 0, 2, 0, 1, 96, 0, 0]));
    }

    #[test]
    fn rounds_of_a_redirected_request_add_up() {
        let round = |at: i64| {
            [
                (at + 10, LeftQueue(10 * MS)),
                (at + 10, Enter(Send)),
                (at + 11, Enter(Server)),
                (at + 30, Enter(Content)),
                (at + 31, Enter(Other)),
            ]
        };
        let marks = [round(0), round(31)].concat();
        assert_eq!(phases(&marks, 62), Some([20, 0, 0, 0, 2, 38, 2, 0]));
    }

    #[test]
    fn a_request_that_goes_back_to_the_queue_waits_there() {
        let marks = [
            (5, LeftQueue(4 * MS)),
            (6, Enter(Send)),
            // The server allows fewer streams than the connection had given away.
            (40, LeftQueue(33 * MS)),
            (41, Enter(Send)),
            (42, Enter(Server)),
            (60, Enter(Content)),
        ];
        assert_eq!(phases(&marks, 60), Some([37, 0, 0, 0, 2, 18, 0, 3]));
    }

    #[test]
    fn a_queue_is_no_longer_than_the_time_that_no_other_phase_has() {
        assert_eq!(
            phases(&[(5, LeftQueue(500 * MS)), (5, Enter(Send))], 6),
            Some([5, 0, 0, 0, 1, 0, 0, 0])
        );
    }

    #[test]
    fn a_request_without_events_of_phases_has_none() {
        assert_eq!(phases(&[(1, Begin(Opening::Connect)), (2, End(Opening::Connect))], 5), None);
        assert_eq!(phases(&[], 5), None);
    }
}
