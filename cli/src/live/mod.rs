//! Sessions of running processes: which process, what to request, and when to end.
//!
//! A session passes through these modules: [`target`] (or a launched [`program`]) → [`request`] →
//! [`start`] → [`driver`], one loop in which its bytes arrive, go to a [`sink`], are parsed, and
//! events come out. `watch`, `heap` and `stack` drive on the command's thread; a recording of
//! `collect` and the [`live_session`] of a view have a thread each, while the command shows how it
//! goes. One rule says when each of them ends: [`end_rule`].

pub(crate) mod cost;
pub(crate) mod counters;
pub(crate) mod driver;
pub(crate) mod end_rule;
pub(crate) mod enter;
pub(crate) mod event_sources;
pub(crate) mod first_values;
pub(crate) mod live_session;
pub(crate) mod mappings;
pub(crate) mod meters;
pub(crate) mod method_names;
pub(crate) mod metrics_apart;
pub(crate) mod metrics_notice;
pub(crate) mod os_threads;
pub(crate) mod pool_queue;
#[cfg(target_os = "linux")]
pub(crate) mod proc;
pub(crate) mod program;
pub(crate) mod request;
pub(crate) mod rules;
pub(crate) mod scrape;
pub(crate) mod signals;
pub(crate) mod sink;
pub(crate) mod start;
pub(crate) mod stdout_queue;
pub(crate) mod target;
pub(crate) mod thread_times;
pub(crate) mod transcript;
pub(crate) mod until;
