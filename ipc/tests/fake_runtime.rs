//! Tests of every command and every fault, with the fake runtime.

use super::{MAX_WAIT, patient};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime, Fault, FaultKind};
use nettrace_ipc::{
    AttachProfiler, CollectCommand, CommandId, Dump, DumpCommand, DumpType, Ending, Endpoint,
    Error, EventFilter, Guid, HResult, Level, Lost, PerfMapType, ProcessInfoCommand, Provider,
    Providers, RawCommand, ReplyFault, Rundown, Runtime, SessionConfig, SetEnvironmentVariable,
    Startup, StartupHook, StartupProfiler, Step, WhenFull,
};
use nettrace_testdata::eventually;
use std::io::{BufRead, Read};
use std::path::Path;
use std::time::Duration;

/// A deadline that the test expects to pass.
const SHORT_DEADLINE: Duration = Duration::from_millis(50);

fn fake(config: FakeConfig) -> (FakeRuntime, Runtime) {
    let fake = FakeRuntime::start(config).unwrap();
    let runtime = Runtime::new(fake.endpoint()).deadlines(patient());
    (fake, runtime)
}

fn session_config() -> SessionConfig {
    let provider = Provider::new("Nettrace-Workload").unwrap().keywords(7).level(Level::Verbose);
    SessionConfig::new(Providers::new([provider]).unwrap())
}

/// Makes the bytes of a stream, of which each is known to the test.
fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| (index % 251) as u8).collect()
}

fn streaming(bytes: usize) -> FakeConfig {
    FakeConfig {
        stream: pattern(bytes),
        tail: b"rundown and end".to_vec(),
        ..FakeConfig::default()
    }
}

fn whole(bytes: usize) -> Vec<u8> {
    [pattern(bytes), b"rundown and end".to_vec()].concat()
}

fn ids(fake: &FakeRuntime) -> Vec<(u8, u8)> {
    fake.requests().iter().map(|request| (request[16], request[17])).collect()
}

// Commands

#[test]
fn each_command_without_stream_is_answered_and_harms_nothing() {
    let (fake, runtime) = fake(FakeConfig::default());
    for command in [ProcessInfoCommand::V1, ProcessInfoCommand::V2, ProcessInfoCommand::V3] {
        assert_eq!(runtime.info_by(command).unwrap().architecture, "x64");
    }
    runtime.resume().unwrap();
    assert_eq!(runtime.environment().unwrap()[0].name, "PATH");
    runtime.set_environment_variable(&SetEnvironmentVariable::set("A", "b").unwrap()).unwrap();
    assert!(fake.environment().contains(&"A=b".to_owned()));
    runtime.set_environment_variable(&SetEnvironmentVariable::unset("A").unwrap()).unwrap();
    assert!(!fake.environment().contains(&"A=b".to_owned()));
    for kind in [PerfMapType::All, PerfMapType::JitDump, PerfMapType::PerfMap] {
        runtime.enable_perf_map(kind).unwrap();
    }
    runtime.disable_perf_map().unwrap();
    let class = Guid::from_bytes([7; 16]);
    runtime
        .attach_profiler(&AttachProfiler::new(class, "/p.so").unwrap().client_data(vec![1]))
        .unwrap();
    runtime.startup_profiler(&StartupProfiler::new(class, "/p.so").unwrap()).unwrap();
    let dump = Dump::new("/tmp/d", DumpType::Normal).unwrap().crash_report(true);
    assert_eq!(runtime.write_dump(&dump).unwrap(), DumpCommand::V3);
    runtime.write_dump_by(&dump, DumpCommand::V2).unwrap();
    runtime.write_dump_by(&Dump::new("d", DumpType::Full).unwrap(), DumpCommand::V1).unwrap();
    let raw = RawCommand::unchecked(CommandId::PROCESS_INFO, Vec::new());
    assert!(runtime.send_unchecked(&raw).unwrap().len() > 24);
    assert_eq!(fake.death(), None);
}

#[test]
fn unsetting_what_is_not_set_is_refused_with_its_code() {
    let (_fake, runtime) = fake(FakeConfig::default());
    let error = runtime
        .set_environment_variable(&SetEnvironmentVariable::unset("NOPE").unwrap())
        .unwrap_err();
    assert_eq!(error.code(), Some(HResult::VARIABLE_NOT_FOUND));
    assert!(error.to_string().contains("ERROR_ENVVAR_NOT_FOUND"), "{error}");
}

#[test]
fn a_startup_hook_is_looked_at_again_before_it_is_sent() {
    let (fake, runtime) = fake(FakeConfig::default());
    let folder = std::env::temp_dir().join(format!("nettrace-hook-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("hook.dll");
    std::fs::write(&path, b"MZ..BSJB..StartupHook\0Initialize\0").unwrap();
    let hook = StartupHook::new(&path).unwrap();
    runtime.apply_startup_hook(&hook).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(runtime.apply_startup_hook(&hook), Err(Error::Request(_))));
    assert_eq!(ids(&fake), [(4, 7)]);
    assert!(StartupHook::new(Path::new("none.dll")).is_err());
}

#[test]
fn information_steps_down_to_what_the_runtime_knows() {
    for (major, asked, entry) in [(8, 1, true), (6, 2, true), (5, 3, false)] {
        let (fake, runtime) = fake(FakeConfig::new(major, "x"));
        let info = runtime.info().unwrap();
        assert_eq!(
            (fake.requests().len(), info.entry_assembly.is_some()),
            (asked, entry),
            "{major}"
        );
        assert_eq!(info.runtime_identifier.is_some(), major >= 8);
    }
    let (_fake, runtime) = fake(FakeConfig::new(3, "3.1.23"));
    assert!(runtime.info().unwrap_err().is_unknown_command());
}

#[test]
fn dumps_step_down_and_refuse_what_the_first_cannot_say() {
    let plain = Dump::new("/d", DumpType::Normal).unwrap();
    for (major, expected) in [(7, DumpCommand::V3), (6, DumpCommand::V2), (3, DumpCommand::V1)] {
        let (_fake, runtime) = fake(FakeConfig::new(major, "x"));
        assert_eq!(runtime.write_dump(&plain).unwrap(), expected);
    }
    let (_fake, runtime) = fake(FakeConfig::new(3, "x"));
    assert!(matches!(runtime.write_dump(&plain.crash_report(true)), Err(Error::Request(_))));
}

#[test]
fn resuming_a_runtime_without_the_command_is_a_success() {
    let (_fake, runtime) = fake(FakeConfig::new(3, "3.1.23"));
    runtime.resume().unwrap();
    assert_eq!(runtime.startup().unwrap(), Startup::Running);
}

#[test]
fn a_perf_map_is_refused_before_the_start_of_8_and_9_and_sent_to_10() {
    for (major, version, harmful) in
        [(8, "8.0.31", true), (9, "9.0.20", true), (10, "10.0.12", false)]
    {
        let config = FakeConfig {
            suspended: true,
            environment: vec!["DOTNET_DiagnosticPorts=/tmp/x".to_owned()],
            ..FakeConfig::new(major, version)
        };
        let (fake, runtime) = fake(config);
        assert_eq!(runtime.startup().unwrap(), Startup::Suspended);
        match runtime.enable_perf_map(PerfMapType::PerfMap) {
            Err(Error::Harmful { reason, .. }) => {
                assert!(harmful && reason.contains(version), "{reason}")
            }
            result => assert!(!harmful && result.is_ok(), "{result:?}"),
        }
        runtime.resume().unwrap();
        assert_eq!(runtime.startup().unwrap(), Startup::Running);
        runtime.enable_perf_map(PerfMapType::PerfMap).unwrap();
        assert_eq!(fake.death(), None);
    }
}

// Faults of single commands

#[test]
fn faults_end_at_their_deadline_or_with_their_reason() {
    let kinds = [
        FaultKind::Silence,
        FaultKind::HalfReply,
        FaultKind::HalfReplyThenClose,
        FaultKind::Uninitialised,
        FaultKind::WrongMagic,
        FaultKind::WrongSet,
        FaultKind::SizeTooSmall,
        FaultKind::SizeTooLarge,
        FaultKind::HugeCounts,
        FaultKind::EarlyClose,
        FaultKind::CloseUnread,
        FaultKind::SlowDrip(Duration::from_millis(50)),
        FaultKind::Refuse(HResult::BAD_ENCODING),
        FaultKind::RefuseLeftOpen(HResult::BAD_ENCODING),
    ];
    for kind in kinds {
        let (fake, runtime) = fake(FakeConfig::default());
        fake.set_fault(Some(Fault::always(kind.clone())));
        let has_no_end =
            matches!(kind, FaultKind::Silence | FaultKind::HalfReply | FaultKind::SlowDrip(_));
        // Only these faults may end by the deadline. For all others it is too far away.
        let reply = if has_no_end { SHORT_DEADLINE } else { MAX_WAIT };
        let asked = runtime.clone().deadlines(patient().reply(reply));
        let error = asked.info_by(ProcessInfoCommand::V3).expect_err(&format!("{kind:?}"));
        let expected = match (&kind, &error) {
            (
                FaultKind::Silence | FaultKind::HalfReply | FaultKind::SlowDrip(_),
                Error::Deadline { step, after },
            ) => (*step, *after) == (Step::Reply, SHORT_DEADLINE),
            (
                FaultKind::HalfReplyThenClose | FaultKind::SizeTooLarge,
                Error::Reply { fault, .. },
            ) => {
                matches!(fault, ReplyFault::EndedEarly { .. })
            }
            (FaultKind::Uninitialised | FaultKind::WrongMagic, Error::Reply { fault, .. }) => {
                matches!(fault, ReplyFault::Magic(_))
            }
            (FaultKind::WrongSet, Error::Reply { fault, .. }) => {
                *fault == ReplyFault::NotAReply { set: 4, id: 0 }
            }
            (FaultKind::SizeTooSmall, Error::Reply { fault, .. }) => *fault == ReplyFault::Size(10),
            (FaultKind::HugeCounts, Error::Reply { fault, .. }) => {
                matches!(fault, ReplyFault::Truncated { .. })
            }
            (FaultKind::EarlyClose | FaultKind::CloseUnread, Error::Gone { .. }) => true,
            (FaultKind::Refuse(_) | FaultKind::RefuseLeftOpen(_), Error::Refused { code, .. }) => {
                *code == HResult::BAD_ENCODING
            }
            _ => false,
        };
        assert!(expected, "{kind:?} gave {error:?}");
        // The target serves the next request as usual.
        fake.set_fault(None);
        runtime.info().unwrap_or_else(|error| panic!("after {kind:?}: {error}"));
        assert_eq!(fake.death(), None);
    }
}

#[test]
fn a_slow_reply_within_the_deadline_is_read() {
    let (fake, runtime) = fake(FakeConfig::default());
    fake.set_fault(Some(Fault::always(FaultKind::SlowDrip(Duration::from_millis(1)))));
    assert_eq!(runtime.info().unwrap().architecture, "x64");
}

#[test]
fn an_environment_with_huge_counts_is_a_fault_and_no_allocation() {
    let (fake, runtime) = fake(FakeConfig::default());
    fake.set_fault(Some(Fault::on(CommandId::PROCESS_ENVIRONMENT, FaultKind::HugeCounts)));
    let error = runtime.environment().unwrap_err();
    assert!(matches!(error, Error::Reply { fault: ReplyFault::Limit { .. }, .. }), "{error:?}");
}

#[test]
fn a_missing_endpoint_is_an_error_at_once() {
    let nowhere = match cfg!(windows) {
        true => Endpoint::pipe("nettrace-nobody"),
        false => Endpoint::socket("/nonexistent/socket"),
    };
    let runtime = Runtime::new(nowhere);
    let runtime = runtime.deadlines(patient().connect(Duration::MAX));
    assert!(matches!(runtime.info(), Err(Error::Io { step: Step::Connect, .. })));
}

#[cfg(target_os = "linux")]
#[test]
fn a_socket_of_another_process_gets_nothing() {
    let (fake, _) = fake(FakeConfig::default());
    let path = fake.endpoint().path().unwrap().to_owned();
    let runtime = Runtime::new(Endpoint::socket_of(&path, 1)).deadlines(patient());
    assert!(matches!(runtime.info(), Err(Error::WrongPeer { expected: 1, .. })));
    assert!(fake.requests().is_empty());
    Runtime::new(Endpoint::socket_of(&path, std::process::id())).info().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_too_long_for_an_address_is_reached_through_its_directory() {
    let folder = std::env::temp_dir().join(format!(
        "nettrace-long-{}-{}",
        std::process::id(),
        "x".repeat(100)
    ));
    std::fs::create_dir_all(&folder).unwrap();
    let (fake, _) = fake(FakeConfig::default());
    // A link, because a socket cannot be bound at such a long path either.
    let path = folder.join("socket");
    std::os::unix::fs::symlink(fake.endpoint().path().unwrap(), &path).unwrap();
    assert!(path.as_os_str().len() > 107);
    assert_eq!(Runtime::new(Endpoint::socket(&path)).info().unwrap().architecture, "x64");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn commands_work_over_tcp() {
    let fake = FakeRuntime::start_tcp(streaming(100_000)).unwrap();
    let runtime = Runtime::new(fake.endpoint()).deadlines(patient());
    assert_eq!(runtime.info().unwrap().architecture, "x64");
    let mut session = runtime.start(&session_config()).unwrap();
    session.stop().unwrap();
    let mut bytes = Vec::new();
    session.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, whole(100_000));
}

// Sessions

#[test]
fn a_session_gives_every_byte_and_its_end() {
    let (fake, runtime) = fake(streaming(3_000_000));
    let mut session = runtime.start(&session_config()).unwrap();
    assert_eq!(session.command(), CollectCommand::V2);
    let stop = session.stop_handle();
    let mut bytes = vec![0; 1000];
    session.read_exact(&mut bytes).unwrap();
    let stopper = std::thread::spawn(move || stop.stop());
    session.read_to_end(&mut bytes).unwrap();
    assert!(bytes == whole(3_000_000));
    assert_eq!(stopper.join().unwrap().unwrap(), Ending::Stopped);
    assert_eq!(session.ending(), Some(Ending::Stopped));
    assert_eq!(session.received_bytes(), bytes.len() as u64);
    assert_eq!((fake.session_count(), fake.death()), (0, None));
}

#[test]
fn sessions_show_no_bytes_that_they_have_received() {
    let (_fake, runtime) = fake(streaming(1_000_000));
    let session = runtime.start(&session_config()).unwrap();
    eventually("bytes have come", || session.received_bytes() > 500_000);
    for text in [format!("{session:?}"), format!("{:?}", session.stop_handle())] {
        assert!(text.len() < 300, "{text}");
    }
}

#[test]
fn a_stop_by_the_reader_itself_loses_nothing_although_nobody_reads() {
    // More bytes than socket and queue hold: the stop would hang if the drain waited for the
    // reader.
    let bytes = 24 << 20;
    let (_fake, runtime) = fake(streaming(bytes));
    let mut session = runtime.start(&session_config()).unwrap();
    eventually("the queue is full", || session.received_bytes() > 8 << 20);
    assert_eq!(session.stop().unwrap(), Ending::Stopped);
    let mut read = Vec::new();
    session.read_to_end(&mut read).unwrap();
    assert!(read == whole(bytes));
}

#[test]
fn a_reader_that_does_not_read_costs_a_limited_memory() {
    let config = FakeConfig { repeat: true, ..streaming(1 << 20) };
    let (_fake, runtime) = fake(config);
    let session = runtime.start(&session_config()).unwrap();
    eventually("the queue is full", || session.received_bytes() >= 8 << 20);
    // The fake runtime could send more, and serves other requests meanwhile.
    for _ in 0..100 {
        runtime.info().unwrap();
    }
    let received = session.received_bytes();
    assert!(received < 10 << 20, "{received}");
}

#[test]
fn a_session_is_stopped_once_whoever_asks() {
    let (fake, runtime) = fake(streaming(10));
    let session = runtime.start(&session_config()).unwrap();
    let handles: Vec<_> = (0..4).map(|_| session.stop_handle()).collect();
    let stops: Vec<_> =
        handles.into_iter().map(|handle| std::thread::spawn(move || handle.stop())).collect();
    for stop in stops {
        assert_eq!(stop.join().unwrap().unwrap(), Ending::Stopped);
    }
    session.stop().unwrap();
    let id = session.id().number();
    drop(session);
    assert_eq!(fake.stops(), [id]);
}

#[test]
fn a_session_that_has_ended_is_never_stopped() {
    let (fake, runtime) = fake(streaming(1000));
    fake.set_fault(Some(Fault::on(CommandId::COLLECT_TRACING_2, FaultKind::DieInStream(500))));
    let mut session = runtime.start(&session_config()).unwrap();
    let mut bytes = Vec::new();
    session.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, pattern(500));
    assert_eq!(session.ending(), Some(Ending::ByTarget));
    assert_eq!(session.stop().unwrap(), Ending::ByTarget);
    drop(session);
    assert!(fake.stops().is_empty());
}

#[test]
fn finishing_a_session_waits_for_its_ending() {
    let (fake, runtime) = fake(streaming(1000));
    // The reader has every byte, and perhaps not yet the end of the connection.
    let mut session = runtime.start(&session_config()).unwrap();
    let stop = session.stop_handle();
    let stopper = std::thread::spawn(move || stop.stop());
    let mut bytes = vec![0; whole(1000).len()];
    session.read_exact(&mut bytes).unwrap();
    assert_eq!(session.finish().unwrap(), Ending::Stopped);
    assert_eq!(stopper.join().unwrap().unwrap(), Ending::Stopped);
    // A session that nobody has stopped, although nobody reads it.
    let session = runtime.start(&session_config()).unwrap();
    assert_eq!(session.finish().unwrap(), Ending::Stopped);
    fake.set_fault(Some(Fault::on(CommandId::COLLECT_TRACING_2, FaultKind::DieInStream(500))));
    let mut session = runtime.start(&session_config()).unwrap();
    session.read_exact(&mut bytes[..500]).unwrap();
    eventually("the end", || session.ending().is_some());
    assert_eq!(session.finish().unwrap(), Ending::ByTarget);
}

#[test]
fn finishing_a_session_that_cannot_be_stopped_is_an_error() {
    let (fake, runtime) = fake(streaming(1000));
    fake.set_fault(Some(Fault::always(FaultKind::StopIgnored)));
    let session = runtime.deadlines(patient().stop(SHORT_DEADLINE)).start(&session_config());
    assert!(matches!(session.unwrap().finish(), Err(Error::Deadline { .. })));
}

#[test]
fn dropping_a_session_stops_it_even_in_a_panic() {
    let (fake, runtime) = fake(streaming(5_000_000));
    let id = {
        let session = runtime.start(&session_config()).unwrap();
        session.id().number()
    };
    assert_eq!((fake.stops(), fake.session_count()), (vec![id], 0));
    let inside = runtime.clone();
    let panicked = std::thread::spawn(move || {
        let _session = inside.start(&session_config()).unwrap();
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    assert!(panicked.join().is_err());
    assert_eq!((fake.stops().len(), fake.session_count()), (2, 0));
}

#[test]
fn a_stop_that_is_never_answered_ends_at_the_deadline_with_the_stream_whole() {
    let (fake, runtime) = fake(streaming(1000));
    fake.set_fault(Some(Fault::always(FaultKind::StopNeverAnswers)));
    // This is time enough for the fake runtime to end the stream.
    let stop = Duration::from_secs(4);
    let runtime = runtime.deadlines(patient().stop(stop));
    let mut session = runtime.start(&session_config()).unwrap();
    let error = session.stop().unwrap_err();
    assert!(
        matches!(error, Error::Deadline { step: Step::Stop, after } if after == stop),
        "{error:?}"
    );
    let mut bytes = Vec::new();
    session.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, whole(1000));
}

#[test]
fn a_stop_that_is_ignored_cuts_the_stream_at_the_deadline() {
    let (fake, runtime) = fake(streaming(1000));
    fake.set_fault(Some(Fault::always(FaultKind::StopIgnored)));
    let runtime = runtime.deadlines(patient().stop(SHORT_DEADLINE));
    let mut session = runtime.start(&session_config()).unwrap();
    eventually("all bytes have come", || session.received_bytes() == 1000);
    assert!(
        matches!(session.stop(), Err(Error::Deadline { after, .. }) if after == SHORT_DEADLINE)
    );
    let mut bytes = Vec::new();
    session.read_to_end(&mut bytes).unwrap();
    assert_eq!((bytes, session.ending()), (pattern(1000), Some(Ending::Cut)));
}

#[test]
fn a_session_that_is_cut_keeps_what_has_come_and_nobody_waiting() {
    let (fake, runtime) = fake(streaming(1000));
    fake.set_fault(Some(Fault::always(FaultKind::StopIgnored)));
    let mut session = runtime.start(&session_config()).unwrap();
    eventually("all bytes have come", || session.received_bytes() == 1000);
    session.stop_handle().stop_soon().unwrap();
    eventually("the stop", || fake.requests().len() == 2);
    session.cut();
    let mut bytes = Vec::new();
    session.read_to_end(&mut bytes).unwrap();
    assert_eq!((bytes, session.ending()), (pattern(1000), Some(Ending::Cut)));
    // Without the cut, dropping the session would wait for the answer.
    drop(session);
}

#[test]
fn a_stream_pauses_where_it_is_asked_to_until_it_may_go_on() {
    let (fake, runtime) = fake(FakeConfig { holds_at: Some(4096), ..streaming(10_000) });
    let mut session = runtime.start(&session_config()).unwrap();
    let mut bytes = vec![0; 4096];
    session.read_exact(&mut bytes).unwrap();
    assert_eq!(session.received_bytes(), 4096);
    fake.go_on();
    eventually("the rest", || session.received_bytes() == 10_000);
}

#[test]
fn an_answer_for_another_session_is_not_believed() {
    let (fake, runtime) = fake(streaming(10));
    fake.set_fault(Some(Fault::always(FaultKind::StopOtherSession)));
    let session = runtime.start(&session_config()).unwrap();
    let error = session.stop().unwrap_err();
    assert!(matches!(error, Error::Reply { fault: ReplyFault::SessionId { .. }, .. }), "{error:?}");
}

#[test]
fn a_quiet_stream_is_no_error_and_a_read_timeout_says_so() {
    let (_fake, runtime) = fake(streaming(0));
    let mut session = runtime.start(&session_config()).unwrap();
    session.set_read_timeout(Some(Duration::from_millis(50)));
    for _ in 0..3 {
        let error = session.read(&mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    }
    session.stop().unwrap();
    assert_eq!(session.fill_buf().unwrap(), b"rundown and end");
}

#[test]
fn a_suspended_runtime_streams_nothing_before_its_resume_and_that_is_no_error() {
    let (_fake, runtime) = fake(FakeConfig { suspended: true, ..streaming(100) });
    let mut session = runtime.start(&session_config()).unwrap();
    session.set_read_timeout(Some(Duration::from_millis(50)));
    assert_eq!(session.read(&mut [0; 8]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    session.set_read_timeout(Some(MAX_WAIT));
    runtime.resume().unwrap();
    let mut first = [0; 100];
    session.read_exact(&mut first).unwrap();
    assert_eq!(first.as_slice(), pattern(100));
}

#[test]
fn a_start_steps_down_and_says_what_it_lost() {
    let provider = Provider::new("P").unwrap().filter(EventFilter::only([1]));
    let config = SessionConfig::new(Providers::new([provider]).unwrap())
        .rundown(Rundown::Keyword(1))
        .stacks(false)
        .when_full(WhenFull::Block);
    let filter = Lost::EventFilter { provider: "P".to_owned() };
    let keyword = Lost::RundownKeyword { asked: 1, used: Rundown::DEFAULT_KEYWORD };
    let cases = [
        (11, CollectCommand::V6, vec![]),
        (10, CollectCommand::V5, vec![Lost::Blocking]),
        (9, CollectCommand::V4, vec![Lost::Blocking, filter.clone()]),
        (8, CollectCommand::V2, vec![Lost::Blocking, filter, keyword, Lost::StacksOff]),
    ];
    for (major, command, lost) in cases {
        let (fake, runtime) = fake(FakeConfig::new(major, "x"));
        let session = runtime.start(&config).unwrap();
        assert_eq!((session.command(), session.lost()), (command, lost.as_slice()), "{major}");
        assert_eq!(fake.death(), None);
    }
}

#[test]
fn each_collect_tracing_starts_a_session() {
    let (fake, runtime) = fake(FakeConfig { major: 11, ..streaming(100) });
    for command in CollectCommand::ALL {
        let mut session = runtime.start_by(&session_config(), command).unwrap();
        session.stop().unwrap();
        let mut bytes = Vec::new();
        session.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, whole(100), "{command:?}");
    }
    assert_eq!(fake.death(), None);
}

#[test]
fn the_65th_session_is_refused_and_the_others_go_on() {
    let (fake, runtime) = fake(streaming(10));
    let sessions: Vec<_> = (0..64).map(|_| runtime.start(&session_config()).unwrap()).collect();
    assert_eq!(runtime.start(&session_config()).unwrap_err().code(), Some(HResult::FAIL));
    for session in sessions {
        assert_eq!(session.stop().unwrap(), Ending::Stopped);
    }
    assert_eq!(fake.session_count(), 0);
}

#[cfg(unix)]
#[test]
fn a_user_events_session_passes_its_descriptor_after_the_request() {
    use nettrace_ipc::{Tracepoints, UserEventsConfig};
    use std::os::fd::AsFd;
    let (fake, runtime) = fake(FakeConfig::default());
    let provider = Provider::new("P").unwrap();
    let config =
        UserEventsConfig::new([(provider, Tracepoints::all_to("MyTracepoint").unwrap())]).unwrap();
    let file = std::fs::File::open("/dev/null").unwrap();
    let session = runtime.start_user_events(&config, file.as_fd()).unwrap();
    assert_eq!(fake.descriptor_count(), 1);
    session.stop().unwrap();
    let id = session.id().number();
    drop(session);
    assert_eq!((fake.stops(), fake.death()), (vec![id], None));
}

#[test]
fn a_stopped_target_gets_no_silent_connection() {
    // Every request that the fake runtime received came whole, on a connection of its own.
    let (fake, runtime) = fake(streaming(10));
    runtime.info().unwrap();
    runtime.start(&session_config()).unwrap().stop().unwrap();
    for request in fake.requests() {
        assert_eq!(request.len(), usize::from(u16::from_le_bytes([request[14], request[15]])));
    }
    assert_eq!(ids(&fake), [(4, 8), (2, 3), (2, 1)]);
}
