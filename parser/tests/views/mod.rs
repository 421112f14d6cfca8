//! Tests of typed views with real traces, and with payloads of every documented version.

mod case;
mod real_traces;
mod versions;

const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";
const RUNDOWN: &str = "Microsoft-Windows-DotNETRuntimeRundown";
