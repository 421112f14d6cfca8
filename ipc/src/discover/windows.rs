//! Finds .NET processes on Windows, where pipes are listed like files. A pipe disappears with its
//! process, so there are no leftovers.

use super::name::parse_pipe;
use super::{Found, Listing, Search};
use crate::endpoint::Endpoint;
use std::path::PathBuf;

impl Search {
    pub(super) fn platform(&self) -> Listing {
        let mut listing = Listing::default();
        let Ok(entries) = std::fs::read_dir(r"\\.\pipe\") else { return listing };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some((kind, pid)) = name.to_str().and_then(parse_pipe) else { continue };
            listing.processes.push(Found {
                pid,
                is_elsewhere: false,
                own_pid: None,
                kind,
                // The standard library has no calls for the rest, and the runtime itself tells
                // more.
                name: String::new(),
                command_line: Vec::new(),
                owner: None,
                uptime: None,
                root: PathBuf::from("/"),
                ports: None,
                suspends_at_startup: false,
                endpoint: Ok(Endpoint::pipe(&name.to_string_lossy())),
            });
        }
        listing.processes.sort_by_key(|found| (found.pid, found.kind));
        listing
    }
}
