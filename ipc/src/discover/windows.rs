//! Finds .NET processes on Windows, where pipes are listed like files. A pipe disappears with its
//! process, so there are no leftovers.

use super::name::{ProcessKind, parse_pipe, pipe_of};
use super::{Found, Listing, Search};
use crate::endpoint::Endpoint;
use std::path::PathBuf;

impl Search {
    pub(super) fn platform(&self) -> Listing {
        let mut listing = Listing::default();
        let entries = match std::fs::read_dir(r"\\.\pipe\") {
            Ok(entries) => entries,
            Err(error) => {
                listing.failure =
                    Some(format!("the pipes of this machine cannot be listed: {error}"));
                return listing;
            }
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some((kind, pid)) = name.to_str().and_then(parse_pipe) else { continue };
            listing.processes.push(found(kind, pid));
        }
        listing.processes.sort_by_key(|found| (found.pid, found.kind));
        listing
    }

    /// Finds a process by the names that its pipe may have, because a list of pipes may be refused.
    pub(super) fn platform_processes(&self, pid: u32) -> Vec<Found> {
        let kinds = [ProcessKind::Runtime, ProcessKind::Router].into_iter();
        let has_pipe = |found: &Found| found.endpoint.as_ref().is_ok_and(Endpoint::is_a_pipe);
        kinds.map(|kind| found(kind, pid)).filter(has_pipe).collect()
    }
}

fn found(kind: ProcessKind, pid: u32) -> Found {
    Found {
        pid,
        is_elsewhere: false,
        own_pid: None,
        kind,
        // The standard library has no calls for the rest, and the runtime itself tells more.
        name: String::new(),
        command_line: Vec::new(),
        owner: None,
        uptime: None,
        root: PathBuf::from("/"),
        ports: None,
        suspends_at_startup: false,
        endpoint: Ok(Endpoint::pipe(&pipe_of(kind, pid))),
    }
}
