//! Tests how sessions in real runtimes end, and that they leave nothing behind.

use super::{
    assert_whole, config, eventually, first_bytes, patient, read_all, read_rest, read_until, start,
};
use nettrace_ipc::{Ending, Error, HResult, LeftBy, Rundown, Session, Step};
use nettrace_testdata::peers::{self};
use std::time::Duration;

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_stop_under_full_load_ends_whole() {
    const MANY_BYTES: usize = 1_000_000;
    peers::each(peers::all(), |peer| {
        let mut target = start(peer, "throughput", 0);
        let runtime = target.runtime();
        runtime.start(&config()).unwrap().stop().unwrap();
        let before = target.descriptor_count();
        for reader_stops in [true, false] {
            let mut session = runtime.start(&config()).unwrap();
            let bytes = if reader_stops {
                eventually("much has come", || session.received_bytes() > MANY_BYTES as u64);
                assert_eq!(session.stop().unwrap(), Ending::Stopped);
                read_all(&mut session)
            } else {
                let stop = session.stop_handle();
                let first = read_until(&mut session, |bytes| bytes.len() > MANY_BYTES);
                let stopper = std::thread::spawn(move || stop.stop());
                let bytes = read_rest(first, &mut session);
                assert_eq!(stopper.join().unwrap().unwrap(), Ending::Stopped);
                bytes
            };
            assert_whole(&bytes, &format!(".NET {}", peer.major));
            eprintln!(".NET {}: {} bytes, reader stops: {reader_stops}", peer.major, bytes.len());
            assert!(bytes.len() > MANY_BYTES);
        }
        target.assert_unharmed(before);
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn the_65th_session_is_refused_and_dropping_frees_all() {
    peers::each(peers::all(), |peer| {
        let mut target = start(peer, "sleep", 0);
        let runtime = target.runtime();
        let small = config().buffer_megabytes(std::num::NonZeroU32::MIN).rundown(Rundown::Off);
        runtime.start(&small).unwrap().stop().unwrap();
        let before = target.descriptor_count();
        for _ in 0..2 {
            let sessions: Vec<Session> = (0..64).map(|_| runtime.start(&small).unwrap()).collect();
            let error = runtime.start(&small).unwrap_err();
            assert_eq!(error.code(), Some(HResult::FAIL), ".NET {}: {error}", peer.major);
            drop(sessions);
        }
        target.assert_unharmed(before);
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_killed_target_ends_the_stream_and_leaves_a_stale_socket() {
    peers::each(peers::all(), |peer| {
        let mut target = start(peer, "custom", 0);
        let runtime = target.runtime();
        let mut session = runtime.start(&config()).unwrap();
        let first = first_bytes(&mut session);
        target.signal("KILL");
        let bytes = read_rest(first, &mut session);
        assert!(!bytes.ends_with(&[6, 1]));
        assert_eq!(session.ending(), Some(Ending::ByTarget));
        assert_eq!(session.stop().unwrap(), Ending::ByTarget);
        target.wait();
        // The error comes at once, not at a deadline.
        assert!(matches!(runtime.info(), Err(Error::Io { step: Step::Connect, .. })));
        let listing = target.search().run();
        let pid = target.pid();
        assert!(!listing.processes.iter().any(|found| found.pid == pid));
        assert!(
            listing.leftovers.iter().any(|left| left.pid == pid && left.left_by == LeftBy::Gone),
            "{listing:?}"
        );
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_terminated_target_ends_the_stream() {
    peers::each(peers::all(), |peer| {
        let mut target = start(peer, "custom", 0);
        let mut session = target.runtime().start(&config()).unwrap();
        let first = first_bytes(&mut session);
        target.signal("TERM");
        let bytes = read_rest(first, &mut session);
        assert_eq!(session.ending(), Some(Ending::ByTarget));
        let whole = bytes.ends_with(&[6, 1]);
        eprintln!(".NET {}: whole after SIGTERM: {whole}", peer.major);
        if peer.major != 3 {
            assert_eq!(whole, peer.major < 10, ".NET {}", peer.major);
        }
        target.wait();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_target_that_is_being_exited_hands_over_its_rundown() {
    peers::each(peers::all(), |peer| {
        let mut target = start(peer, "sleep", 0);
        let mut session = target.runtime().start(&config()).unwrap();
        let first = first_bytes(&mut session);
        target.close_input();
        let bytes = read_rest(first, &mut session);
        assert_whole(&bytes, &format!(".NET {}", peer.major));
        assert_eq!(session.ending(), Some(Ending::ByTarget));
        assert!(target.wait().success());
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_frozen_target_costs_a_deadline_and_is_as_before_when_it_goes_on() {
    let short = Duration::from_millis(700);
    let stops_hastily = patient().stop(short).drain(short);
    let hasty = stops_hastily.reply(short).start(short);
    let is_short = |error| matches!(error, Error::Deadline { after, .. } if after == short);
    peers::each(peers::all(), |peer| {
        let mut target = start(peer, "custom", 0);
        let patiently = target.runtime();
        let hastily = patiently.clone().deadlines(hasty);
        // A busy machine may take its time for the start.
        let started = patiently.clone().deadlines(stops_hastily);
        patiently.start(&config()).unwrap().stop().unwrap();
        let before = target.descriptor_count();
        let mut session = started.start(&config()).unwrap();
        let first = first_bytes(&mut session);
        target.freeze();
        assert!(is_short(hastily.resume().unwrap_err()));
        assert!(is_short(hastily.start(&config()).unwrap_err()));
        assert!(is_short(session.stop().unwrap_err()));
        let bytes = read_rest(first, &mut session);
        assert_eq!(session.ending(), Some(Ending::Cut));
        assert!(bytes.starts_with(b"Nettrace"));
        drop(session);
        target.signal("CONT");
        // The start that was given up is carried out now, and stopped in the background.
        target.assert_unharmed(before);
        // No session is left, not even that of the start that was abandoned.
        let runtime = target.runtime();
        let small = config().buffer_megabytes(std::num::NonZeroU32::MIN).rundown(Rundown::Off);
        let sessions: Vec<_> = (0..64).map(|_| runtime.start(&small)).collect();
        assert!(sessions.iter().all(Result::is_ok), ".NET {}", peer.major);
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn many_short_sessions_leak_no_descriptor_in_the_target() {
    peers::each(peers::all(), |peer| {
        let mut target = start(peer, "custom", 0);
        let runtime = target.runtime();
        runtime.start(&config()).unwrap().stop().unwrap();
        let before = target.descriptor_count();
        for round in 0..20 {
            let mut session = runtime.start(&config().rundown(Rundown::Off)).unwrap();
            if round % 2 == 0 {
                session.stop().unwrap();
                assert_whole(&read_all(&mut session), "short");
            }
        }
        target.assert_unharmed(before);
    });
}
