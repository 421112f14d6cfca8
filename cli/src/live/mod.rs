//! Talking to running processes: whom, about what, how long.
//!
//! The way of a session: [`target`] (or a launched program) → [`request`] → a
//! [`recording`] on a thread of its own, which writes the bytes and reads them on the way
//! → the command, which watches [`signals`] and clock and shows the [`status`].
//!
//! A view has a [`feed`] in the place of a recording: a thread that reads the session
//! into live state of the analysis, which the command looks at when it draws.

pub(crate) mod cost;
pub(crate) mod counters;
pub(crate) mod enter;
pub(crate) mod event_sources;
pub(crate) mod feed;
pub(crate) mod mappings;
pub(crate) mod meters;
pub(crate) mod method_names;
pub(crate) mod metrics_notice;
pub(crate) mod native;
pub(crate) mod os_threads;
pub(crate) mod outlet;
pub(crate) mod program;
pub(crate) mod recording;
pub(crate) mod request;
pub(crate) mod rules;
pub(crate) mod scrape;
pub(crate) mod signals;
pub(crate) mod starting;
pub(crate) mod status;
pub(crate) mod stream;
pub(crate) mod target;
pub(crate) mod transcript;
pub(crate) mod unless_ended;
pub(crate) mod until;
pub(crate) mod until_time;
