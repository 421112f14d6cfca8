//! Talking to running processes: whom, about what, how long.
//!
//! The way of a session: [`target`] (or a launched program) → [`request`] → a [`recording`] on a thread of its
//! own, which writes the bytes and reads them on the way → the command, which watches [`signals`] and clock and
//! shows the [`status`].

pub(crate) mod counters;
pub(crate) mod enter;
pub(crate) mod method_names;
pub(crate) mod outlet;
pub(crate) mod recording;
pub(crate) mod request;
pub(crate) mod rules;
pub(crate) mod signals;
pub(crate) mod status;
pub(crate) mod stream;
pub(crate) mod target;
pub(crate) mod transcript;
pub(crate) mod unless_ended;
pub(crate) mod until;
