//! Requests and files of `nettrace collect`.

use super::common::Json;
use super::common::command;
use super::{
    Folder, address, ended, ids, metrics, on, ran, signal, signal_taken, start, starts, streaming,
    trace, wait_until,
};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime, Fault, FaultKind};
use nettrace_ipc::{CommandId, HResult};

#[test]
fn collect_writes_the_exact_bytes_and_counts_events_and_losses() {
    let bytes = trace("net3.1-linux-x64/lossy.nettrace.gz");
    // The stream is too small to have filled the default buffer.
    for (buffer, advice) in [("16", "--buffersize 64 or fewer"), ("256", "whatever the buffer")] {
        let folder = Folder::new();
        let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
        let args = ["collect", "--duration", "500ms", "-o", "x.nettrace", "--buffersize", buffer];
        let run = on(&fake, &folder, &args);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(std::fs::read(folder.0.join("x.nettrace")).unwrap() == bytes);
        let info = ran(&["info", "x.nettrace", "--json"], &folder).json();
        assert!(info["lost"].int() > 0);
        let lost = run.stderr.lines().find(|line| line.contains("warning: x.nettrace:")).unwrap();
        let digits: String =
            lost.split(" event").next().unwrap().chars().filter(char::is_ascii_digit).collect();
        assert_eq!(digits, info["lost"].to_string());
        assert!(lost.contains(advice), "{lost}");
        assert_eq!((fake.stops().len(), fake.session_count(), fake.death()), (1, 0, None));
    }
}

#[test]
fn collect_sends_what_dry_run_shows() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
    let options =
        ["--providers", "A:0x7:5:k=v,B", "--events", "A=3,1", "--no-stacks", "--buffersize", "9"];
    let mut args = vec!["collect", "--duration", "100ms", "-o", "x.nettrace"];
    args.extend(options);
    assert_eq!(on(&fake, &folder, &args).code, Some(0));
    let sent = fake.requests().into_iter().find(|request| request[16] == 2).unwrap();
    args.push("--dry-run");
    let shown = ran(&args, &folder);
    assert_eq!(shown.code, Some(0));
    let mut hex = String::new();
    for line in shown.text().lines().filter(|line| line.starts_with("  0")) {
        hex.extend(line[8..55].chars().filter(|c| !c.is_whitespace()));
    }
    assert_eq!(hex, sent.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    assert!(
        shown.text().starts_with("CollectTracing5 (02 06), from .NET 10 on\n"),
        "{}",
        shown.text()
    );
    assert!(shown.text().contains(
        "A  keywords 0xf00000000007  level 5 Verbose  arguments \"k=v\"  only events 1,3"
    ));
}

#[test]
fn providers_that_sent_nothing_are_named_at_the_end_and_when_the_trace_is_shown() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&trace("../known/own-provider.nettrace.gz"))).unwrap();
    let ids = "System.Threading.Tasks.TplEventSource:0x80:4";
    let asked = format!("Shop-Orders,Shop-Ordesr,{ids}");
    let args = ["collect", "--duration", "100ms", "-o", "x.nettrace", "--providers", &asked];
    let run = on(&fake, &folder, &args);
    assert_eq!(run.code, Some(0));
    let silent = "nothing came from Shop-Ordesr, which the recording asked for";
    assert!(run.stderr.contains(&format!("warning: x.nettrace: {silent}: ")), "{}", run.stderr);
    assert_eq!(folder.names(), ["x.nettrace"]);
    let strict = ran(&["check", "x.nettrace"], &folder);
    assert_eq!(strict.code, Some(0), "{}", strict.text());
    let shown = ran(&["x.nettrace", "--json"], &folder).json();
    assert!(shown["findings"][0]["text"].text().starts_with(silent), "{shown}");
    // A recording of which all providers sent events leaves nothing beside its trace, as does one
    // of a profile, of whose providers a process has only some.
    for what in [["--providers", "Shop-Orders"], ["--profile", "web"]] {
        let args = ["collect", "--duration", "100ms", "-o", "x.nettrace", "--force"];
        let run = on(&fake, &folder, &[&args[..], &what].concat());
        assert!(!run.stderr.contains("nothing came from"), "{}", run.stderr);
        assert_eq!(folder.names(), ["x.nettrace"]);
        let bytes = std::fs::read(folder.0.join("x.nettrace")).unwrap();
        assert!(!bytes.ends_with(b"nt-clock"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_with_another_clock_or_at_tcp_has_no_times_of_threads_and_that_is_said_once() {
    let bytes = trace("net10-linux-x64/all.nettrace.gz");
    let fakes = [
        (FakeRuntime::start(streaming(&bytes)), "its clock is not the one of this system"),
        (FakeRuntime::start_tcp(streaming(&bytes)), "the system does not tell which process it is"),
    ];
    for (fake, reason) in fakes {
        let (fake, folder) = (&fake.unwrap(), Folder::new());
        let args = ["collect", "--duration", "100ms", "-o", "x.nettrace"];
        let run = on(fake, &folder, &args);
        let text = format!("no times of threads: {reason}");
        assert_eq!(run.stderr.matches(&text).count(), 1, "{}", run.stderr);
        assert_eq!(run.stderr.matches("no times of threads").count(), 1, "{}", run.stderr);
        assert!(!run.stderr.contains("times of threads: read"), "{}", run.stderr);
        assert!(std::fs::read(folder.0.join("x.nettrace")).unwrap() == bytes);
        assert_eq!(folder.names(), ["x.nettrace"]);
        let run = on(fake, &folder, &[&args[..], &["--force", "--thread-times", "off"]].concat());
        assert!(!run.stderr.contains("times of threads"), "{}", run.stderr);
        for wrong in ["0", "0.5ms", "2h", "never"] {
            let run = on(fake, &folder, &[&args[..], &["--thread-times", wrong]].concat());
            assert_eq!(run.code, Some(2), "{wrong}: {}", run.stderr);
        }
    }
}

#[test]
fn collect_warns_of_an_event_source_that_reports_its_own_fault() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&trace("../known/faulty-source.nettrace.gz"))).unwrap();
    let args = ["collect", "--duration", "100ms", "-o", "x.nettrace", "--providers", "Bugs-Broken"];
    let run = on(&fake, &folder, &args);
    assert_eq!(run.code, Some(0));
    let fault = "warning: EventSource Bugs-Broken is faulty, so events of it are missing: Event One \
                 was assigned event ID 1 but 2 was passed to WriteEvent.\n";
    assert_eq!(run.stderr.matches(fault).count(), 1, "{}", run.stderr);
    assert!(!run.stderr.contains("nothing came from"), "{}", run.stderr);
}

#[test]
fn requests_without_ids_are_told_before_the_recording() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
    let warns = |providers: &str| {
        let args = ["collect", "--duration", "100ms", "-o", "x.nettrace", "--force"];
        let run = on(&fake, &folder, &[&args[..], &["--providers", providers]].concat());
        run.stderr.contains("requests get no ids, so what belongs to which is a guess: add System.")
    };
    assert!(warns("Microsoft.AspNetCore.Hosting"));
    assert!(!warns("Microsoft.AspNetCore.Hosting,System.Threading.Tasks.TplEventSource:0x80:4"));
    assert!(!warns("Shop-Orders"));
}

#[test]
fn collect_writes_over_nothing_unless_forced() {
    let folder = Folder::new();
    std::fs::write(folder.0.join("x.nettrace"), "precious").unwrap();
    let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
    let args = ["collect", "--duration", "100ms", "-o", "x.nettrace"];
    let run = on(&fake, &folder, &args);
    assert_eq!(run.code, Some(1));
    run.assert_message("x.nettrace: already exists; use --force to overwrite");
    assert_eq!(std::fs::read(folder.0.join("x.nettrace")).unwrap(), b"precious");
    assert!(fake.requests().is_empty());
    let forced = [&args[..], &["--force"]].concat();
    assert_eq!(on(&fake, &folder, &forced).code, Some(0));
    assert!(std::fs::read(folder.0.join("x.nettrace")).unwrap() == metrics());
}

#[test]
fn collect_makes_no_file_if_the_session_is_refused() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(FakeConfig::default()).unwrap();
    fake.set_fault(Some(Fault::on(CommandId::COLLECT_TRACING_2, FaultKind::Refuse(HResult::FAIL))));
    let run = on(&fake, &folder, &["collect", "-o", "x.nettrace"]);
    assert_eq!(run.code, Some(1));
    run.assert_message("0x80004005");
    assert!(folder.names().is_empty());
}

#[test]
fn collect_reports_what_an_older_runtime_cannot_do() {
    let folder = Folder::new();
    let config = FakeConfig { major: 8, ..streaming(&metrics()) };
    let fake = FakeRuntime::start(config).unwrap();
    let run =
        on(&fake, &folder, &["collect", "--no-stacks", "--duration", "100ms", "-o", "x.nettrace"]);
    assert_eq!(run.code, Some(0));
    run.assert_message("stacks are recorded; they cannot be disabled");
    let collects: Vec<_> = ids(&fake).into_iter().filter(|id| id.0 == 2 && id.1 > 1).collect();
    assert_eq!(collects, [(2, 4), (2, 3)]);
}

#[test]
fn collect_resumes_a_waiting_process_unless_disabled() {
    for (args, resumes) in [(&[][..], 1), (&["--resume-runtime", "false"], 0)] {
        let folder = Folder::new();
        let fake =
            FakeRuntime::start(FakeConfig { suspended: true, ..streaming(&metrics()) }).unwrap();
        let words = [&["collect", "--duration", "200ms", "-o", "x.nettrace"], args].concat();
        on(&fake, &folder, &words);
        assert_eq!(fake.resume_count(), resumes);
    }
}

#[cfg(unix)]
#[test]
fn counters_of_a_process_that_waits_at_its_start_begin_once_its_metrics_have_come() {
    let both = "System.Diagnostics.Metrics:3:4,Shop:0:4:EventCounterIntervalSec=1";
    for (providers, parts) in [
        (both.to_owned(), &["x.counters.nettrace", "x.nettrace"][..]),
        (format!("{both},Other"), &["x.counters.nettrace", "x.metrics.nettrace", "x.nettrace"]),
    ] {
        let folder = Folder::new();
        let mut config = FakeConfig { suspended: true, ..streaming(&metrics()) };
        config.environment.push("DOTNET_DefaultDiagnosticPortSuspend=1".to_owned());
        let fake = FakeRuntime::start(config).unwrap();
        let port = address(&fake);
        let words = ["collect", "--port", &port, "--patience", "120s", "-o", "x.nettrace"];
        let child = start(
            command(&[&words[..], &["--providers", &providers]].concat()).current_dir(&folder.0),
        );
        wait_until("all sessions", || starts(&fake).len() == parts.len());
        signal(&child, "INT");
        let run = ended(child);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let (started, all) = (starts(&fake), ids(&fake));
        assert!(started[0].contains("Diagnostics.Metrics"), "{started:?}");
        let last = started.last().unwrap();
        assert!(last.contains("Shop") && !last.contains("Other"), "{started:?}");
        // The last session begins after the resume.
        let resumed = all.iter().position(|id| *id == (4, 1)).unwrap();
        let before = all[..resumed].iter().filter(|(set, id)| *set == 2 && *id > 1).count();
        assert_eq!(before, parts.len() - 1, "{all:?}");
        assert_eq!(folder.names(), parts);
        assert_eq!(fake.session_count(), 0);
    }
}

/// Starts a recording that waits this long for first values, and sends it a signal.
fn collecting_first_values(
    fake: &FakeRuntime,
    folder: &Folder,
    delay: &str,
) -> std::process::Child {
    let both = "System.Diagnostics.Metrics:3:4,Shop:0:4:EventCounterIntervalSec=1,Other";
    let port = address(fake);
    let words = ["collect", "--port", &port, "--patience", "120s", "-o", "x.nettrace"];
    let mut command = command(&[&words[..], &["--providers", both]].concat());
    let child = start(command.env("NETTRACE_DELAYS", delay).current_dir(&folder.0));
    wait_until("metrics, and what may begin with them", || fake.session_count() == 2);
    signal_taken(&child, "INT");
    child
}

/// Creates a process that is suspended at startup, and sends values only when it is released.
fn collecting() -> FakeRuntime {
    let held = FakeConfig { suspended: true, holds_at: Some(0), ..streaming(&metrics()) };
    let mut config = held;
    config.environment.push("DOTNET_DefaultDiagnosticPortSuspend=1".to_owned());
    FakeRuntime::start(config).unwrap()
}

#[cfg(unix)]
#[test]
fn no_session_of_a_process_is_stopped_and_no_counters_begin_before_the_first_values_of_its_metrics()
{
    let (folder, fake) = (Folder::new(), collecting());
    let child = collecting_first_values(&fake, &folder, "first-values=3600000");
    assert!(fake.stops().is_empty());
    fake.go_on();
    let run = ended(child);
    assert_eq!((run.code, fake.stops().len()), (Some(0), 2), "{}", run.stderr);
    run.assert_message(
        "EventCounters were not recorded: they begin after the first values of its metrics",
    );
    assert_eq!(folder.names(), ["x.metrics.nettrace", "x.nettrace"]);
}

#[cfg(unix)]
#[test]
fn first_values_that_do_not_come_are_not_waited_for_for_ever() {
    let (folder, fake) = (Folder::new(), collecting());
    let run = ended(collecting_first_values(&fake, &folder, "first-values=0"));
    assert_eq!((run.code, fake.stops().len()), (Some(0), 2), "{}", run.stderr);
}

#[test]
fn what_is_no_trace_is_recorded_all_the_same() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..100_000u32).map(|at| (at % 251) as u8).collect();
    let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
    let run = on(&fake, &folder, &["collect", "--duration", "300ms", "-o", "x.nettrace"]);
    assert_eq!(run.code, Some(3));
    assert!(std::fs::read(folder.0.join("x.nettrace")).unwrap() == bytes);
}

#[test]
fn a_trace_can_go_to_standard_output() {
    let (folder, bytes) = (Folder::new(), metrics());
    let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
    let run = on(&fake, &folder, &["collect", "--duration", "300ms", "-o", "-"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout == bytes);
    assert!(folder.names().is_empty());
}

#[test]
fn options_that_make_no_sense_are_wrong_usage() {
    let folder = Folder::new();
    for args in [
        &["collect"][..],
        &["collect", "-p", "1", "-n", "x"],
        &["collect", "-p", "1", "--", "x"],
        &["collect", "--all", "-o", "-"],
        &["collect", "-p", "1", "--keep-after", "1s"],
        &["collect", "-p", "1", "--rotate", "0x1MB"],
        &["collect", "-p", "1", "--max-size", "1MB", "--rotate", "2x1MB"],
        &["collect", "-p", "1", "--children"],
        &["collect", "-p", "1", "--providers", "A:xyz"],
        &["collect", "-p", "1", "--until", "A/B where"],
        &["collect", "-p", "1", "--profile", "gc"],
        &["process", "send", "-p", "1", "04", "00"],
        &["process", "setenv", "-p", "1", "--unset", "A=b"],
    ] {
        // `setenv` looks up the process first, and finds none.
        let code = ran(args, &folder).code;
        assert!(code == Some(2) || (args[1] == "setenv" && code == Some(1)), "{args:?}: {code:?}");
    }
    let run = ran(&["collect", "-p", "4194304"], &folder);
    assert_eq!(run.code, Some(1));
    run.assert_message("nettrace ps lists");
}

/// Returns the request that starts a session.
fn start_of(fake: &FakeRuntime) -> Vec<u8> {
    fake.requests().into_iter().find(|request| request[16] == 2).unwrap()
}

#[test]
fn clrevents_ask_for_their_keywords_at_their_level() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
    let args = ["--clrevents", "gc+exception", "--clreventlevel", "verbose", "--rundown", "false"];
    let args = [&["collect", "--duration", "100ms", "-o", "x.nettrace"][..], &args].concat();
    assert_eq!(on(&fake, &folder, &args).code, Some(0));
    let request = start_of(&fake);
    // Fields of CollectTracing3: buffer, format, rundown, stacks, count, keywords, level.
    assert_eq!((request[17], request[28]), (3, 0));
    assert_eq!(request[33..41], 0xf000_0000_8001_u64.to_le_bytes());
    assert_eq!(request[41..45], 5_u32.to_le_bytes());
}

#[test]
fn who_awaits_whom_is_recorded_beside_what_else_is_asked_for() {
    let (folder, fake) = (Folder::new(), FakeRuntime::start(streaming(&metrics())).unwrap());
    let args = ["collect", "--duration", "100ms", "-o", "x.nettrace", "--async", "--dry-run"];
    let shown = ran(&args, &folder);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let tasks = "System.Threading.Tasks.TplEventSource  keywords 0xf000000001ff  level 5 Verbose";
    let profiler = "System.Runtime.CompilerServices.AsyncProfilerEventSource  keywords 0xf0000003ffff  level 4";
    for provider in [tasks, profiler] {
        assert!(shown.text().contains(provider), "{}", shown.text());
    }
    assert!(shown.text().contains("Microsoft-DotNETCore-SampleProfiler"), "{}", shown.text());
    let run = on(&fake, &folder, &args[..6]);
    assert_eq!(run.code, Some(0));
    for source in ["TplEventSource", "AsyncProfilerEventSource"] {
        let row = run.stderr.lines().find(|line| line.contains(source));
        assert!(row.is_some_and(|row| row.ends_with("  --async")), "{}", run.stderr);
    }
    let name: Vec<u8> = "TplEventSource".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(start_of(&fake).windows(name.len()).any(|bytes| bytes == name));
}

#[test]
fn a_finished_trace_is_converted_to_every_format_asked_for() {
    let (folder, bytes) = (Folder::new(), trace("net10-linux-x64/all.nettrace.gz"));
    let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
    let args = [
        "collect",
        "--duration",
        "300ms",
        "-o",
        "x.nettrace",
        "--format",
        "NetTrace,Speedscope",
        "--format",
        "folded",
    ];
    let run = on(&fake, &folder, &args);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let file = |name: &str| std::fs::read(folder.0.join(name)).unwrap();
    assert!(file("x.nettrace") == bytes);
    let formats = ["x.speedscope.json", "x.folded"];
    for (format, name) in ["speedscope", "folded"].into_iter().zip(formats) {
        let run = ran(&["convert", "x.nettrace", "--format", format, "-o", "-"], &folder);
        assert!(file(name) == run.stdout, "{name} is what convert writes");
    }
    // An existing file is found before anything is recorded.
    std::fs::remove_file(folder.0.join("x.nettrace")).unwrap();
    let before = fake.requests().len();
    let run = on(&fake, &folder, &args);
    assert_eq!(run.code, Some(1));
    run.assert_message("x.speedscope.json: already exists");
    assert_eq!(fake.requests().len(), before);
    let run = on(&fake, &folder, &["collect", "--format", "speedscop", "-o", "y.nettrace"]);
    assert_eq!(run.code, Some(2));
    run.assert_message("speedscope");
}

#[test]
fn a_rotation_whose_process_ends_keeps_its_files_and_says_so() {
    let (folder, bytes) = (Folder::new(), trace("net10-linux-x64/all.nettrace.gz"));
    let config =
        FakeConfig { stream: bytes.clone(), holds_at: Some(4096), ..FakeConfig::default() };
    let fake = FakeRuntime::start(config).unwrap();
    let port = address(&fake);
    let words = ["collect", "--port", &port, "--rotate", "2x64KB", "-o", "x.nettrace"];
    let child = start(command(&words).current_dir(&folder.0));
    wait_until("the session", || fake.session_count() == 1);
    // A runtime that is about to end refuses new sessions.
    let refusal = FaultKind::Refuse(HResult::FAIL);
    fake.set_fault(Some(Fault::always(refusal)));
    fake.go_on();
    wait_until("the second request", || starts(&fake).len() >= 2);
    let part = folder.0.join("x_0001.nettrace.part");
    let length = || std::fs::metadata(&part).map_or(0, |data| data.len());
    wait_until("all bytes", || length() == bytes.len() as u64);
    fake.kill();
    let run = ended(child);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run.assert_message("the process has ended");
    assert_eq!(folder.names(), ["x_0001.nettrace"]);
    assert!(std::fs::read(folder.0.join("x_0001.nettrace")).unwrap() == bytes);
}
