//! Events of the native runtime, a file a provider.
//!
//! Generated from `parser/catalog/clr-events.json`, the extract of the runtime's manifest, by
//! `cargo xtask catalog`; do not edit. After each event: the earliest manifest that has it, and the runtimes
//! whose payloads were read by this row.

mod event_pipe;
pub(super) mod gc_dynamic;
mod mono_profiler;
mod private;
mod rundown;
mod runtime;
mod runtime_code;
mod runtime_gc;
mod runtime_threads;
mod sample_profiler;
mod stress;

use super::provider::CatalogProvider;

pub(super) static PROVIDERS: [&CatalogProvider; 7] = [
    &runtime::PROVIDER,
    &rundown::PROVIDER,
    &stress::PROVIDER,
    &private::PROVIDER,
    &mono_profiler::PROVIDER,
    &sample_profiler::PROVIDER,
    &event_pipe::PROVIDER,
];
