//! Typed views: on real traces, and on payloads of every version that their documentation
//! names.

mod case;
mod real_traces;
mod versions;

const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";
const RUNDOWN: &str = "Microsoft-Windows-DotNETRuntimeRundown";
