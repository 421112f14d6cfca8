//! Tests of every command, with real runtimes.

use super::{assert_whole, config, first_bytes, names, read_rest, read_until, start, workload};
use nettrace_ipc::{
    AttachProfiler, CollectCommand, Dump, DumpCommand, DumpType, Ending, Error, EventFilter, Guid,
    HResult, PerfMapType, ProcessInfoCommand, Providers, Rundown, SessionConfig,
    SetEnvironmentVariable, Startup, StartupProfiler,
};
use nettrace_testdata::peers::{self};
use std::path::PathBuf;

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn each_command_is_answered_and_harms_nothing() {
    peers::each(peers::modern(), |peer| {
        let major = peer.major;
        let mut target = start(peer, "sleep", 0);
        let runtime = target.runtime();
        runtime.info().unwrap();
        let before = target.descriptor_count();
        for command in [ProcessInfoCommand::V1, ProcessInfoCommand::V2, ProcessInfoCommand::V3] {
            let info = runtime.info_by(command).unwrap();
            assert_eq!(info.pid, u64::from(target.pid()));
            assert!(info.command_line.ends_with("sleep 0"), "{}", info.command_line);
        }
        assert_eq!(runtime.info().unwrap().version().map(|version| version.major), Some(major));
        assert_eq!(runtime.startup().unwrap(), Startup::Running);
        runtime.resume().unwrap();
        let environment = runtime.environment().unwrap();
        let home = environment.iter().find(|variable| variable.name == "HOME").unwrap();
        assert_eq!(home.value.as_deref(), target.folder.path().to_str());
        runtime
            .set_environment_variable(&SetEnvironmentVariable::set("NETTRACE_TEST", "a=b").unwrap())
            .unwrap();
        runtime
            .set_environment_variable(&SetEnvironmentVariable::unset("NETTRACE_TEST").unwrap())
            .unwrap();
        let missing = runtime
            .set_environment_variable(&SetEnvironmentVariable::unset("NETTRACE_NOPE").unwrap());
        assert_eq!(missing.unwrap_err().code(), Some(HResult::VARIABLE_NOT_FOUND));
        runtime.enable_perf_map(PerfMapType::PerfMap).unwrap();
        runtime.disable_perf_map().unwrap();
        let map = PathBuf::from(format!("/tmp/perf-{}.map", target.pid()));
        assert!(map.exists());
        std::fs::remove_file(map).unwrap();
        let _ = std::fs::remove_file(format!("/tmp/perfinfo-{}.map", target.pid()));
        let class = Guid::from_bytes([7; 16]);
        let attach = runtime.attach_profiler(&AttachProfiler::new(class, "/none.so").unwrap());
        assert_eq!(attach.unwrap_err().code(), Some(HResult::MODULE_NOT_FOUND));
        runtime.startup_profiler(&StartupProfiler::new(class, "/none.so").unwrap()).unwrap();
        for command in [DumpCommand::V1, DumpCommand::V2, DumpCommand::V3] {
            let path = target.folder.path().join(format!("{command:?}.dmp"));
            let dump = Dump::new(path.to_str().unwrap(), DumpType::Normal).unwrap();
            again(|| runtime.write_dump_by(&dump, command)).unwrap();
            assert!(std::fs::metadata(&path).unwrap().len() > 1_000_000);
            std::fs::remove_file(path).unwrap();
        }
        let nowhere = Dump::new("/nonexistent/d", DumpType::Normal).unwrap();
        let refused = again(|| match runtime.write_dump(&nowhere).unwrap_err() {
            Error::Refused { code, message: Some(message), .. }
                if message.contains("/nonexistent/d") =>
            {
                Ok(code)
            }
            error => Err(error),
        });
        assert_eq!(refused.unwrap(), HResult::FAIL);
        target.assert_unharmed(before + 2); // the perf map keeps its files open on some versions
        assert!(target.finish().success());
    });
}

/// Repeats a request until it succeeds, because createdump fails if a thread of the process ends
/// meanwhile.
fn again<T>(mut ask: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let mut result = ask();
    for _ in 0..20 {
        if !matches!(result, Err(Error::Refused { .. })) {
            break;
        }
        result = ask();
    }
    result
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn net_core_3_knows_sessions_and_dumps_only() {
    peers::each(peers::all().into_iter().filter(|peer| peer.major == 3).collect(), |peer| {
        let mut target = start(peer, "custom", 0);
        let runtime = target.runtime();
        let before = target.descriptor_count();
        assert!(runtime.info().unwrap_err().is_unknown_command());
        runtime.resume().unwrap();
        let provider = workload().filter(EventFilter::only([1]));
        let config = SessionConfig::new(Providers::new([provider]).unwrap()).stacks(false);
        let mut session = runtime.start(&config).unwrap();
        assert_eq!((session.command(), session.lost().len()), (CollectCommand::V2, 2));
        let first = first_bytes(&mut session);
        assert_eq!(session.stop().unwrap(), Ending::Stopped);
        assert_whole(&read_rest(first, &mut session), "3.1");
        drop(session);
        let path = target.folder.path().join("d.dmp");
        let dump = Dump::new(path.to_str().unwrap(), DumpType::Normal).unwrap();
        match again(|| runtime.write_dump(&dump)) {
            Ok(command) => assert_eq!(command, DumpCommand::V1),
            // A runtime from a plain archive has a createdump that cannot be run, so a dump would
            // harm it.
            Err(error) => assert!(matches!(error, Error::Harmful { .. }), "{error}"),
        }
        target.assert_unharmed(before);
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn each_collect_tracing_streams_to_its_end_mark() {
    peers::each(peers::all(), |peer| {
        let mut target = start(peer, "custom", 0);
        let runtime = target.runtime();
        runtime.start(&config()).unwrap().stop().unwrap();
        let before = target.descriptor_count();
        for command in CollectCommand::ALL {
            let context = format!(".NET {} {command:?}", peer.major);
            let known = command.id().since().unwrap() <= peer.major;
            match runtime.start_by(&config(), command) {
                Ok(mut session) => {
                    assert!(known, "{context}");
                    let named = |bytes: &[u8]| names(bytes, "Nettrace-Workload");
                    let first = read_until(&mut session, named);
                    assert_eq!(session.stop().unwrap(), Ending::Stopped, "{context}");
                    let bytes = read_rest(first, &mut session);
                    assert_whole(&bytes, &context);
                    assert!(names(&bytes, "Nettrace-Workload"), "{context}");
                }
                Err(error) => assert!(!known && error.is_unknown_command(), "{context}: {error}"),
            }
        }
        target.assert_unharmed(before);
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn the_start_takes_the_lowest_command_and_says_what_is_lost() {
    peers::each(peers::modern(), |peer| {
        let target = start(peer, "custom", 0);
        let runtime = target.runtime();
        let filtered = Providers::new([workload().filter(EventFilter::only([4]))]).unwrap();
        let config = SessionConfig::new(filtered).rundown(Rundown::Off);
        let session = runtime.start(&config).unwrap();
        let expected = match peer.major {
            10 => (CollectCommand::V5, 0),
            9 => (CollectCommand::V4, 1),
            _ => (CollectCommand::V2, 1),
        };
        assert_eq!((session.command(), session.lost().len()), expected);
        session.stop().unwrap();
    });
}
