//! Many short sessions on each real runtime, with nothing left behind: `soak [MINUTES SESSIONS]`.
//!
//! The script `ipc/soak` runs it. Of our own process it counts descriptors and threads. That no session is left in a
//! runtime shows in that all 64 it has can be had again, and no 65th; that no connection is left, in its sockets.
#![allow(clippy::restriction, clippy::pedantic)]

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("it counts in /proc, which is there on Linux only");
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    soak::run()
}

#[cfg(target_os = "linux")]
mod soak {
    use std::io::{self, Read};
    use std::num::NonZeroU32;
    use std::time::{Duration, Instant};

    use nettrace_ipc::{
        Ending, EventFilter, HResult, Level, Provider, Providers, Recorder, Rundown, Runtime, Search,
        Session, SessionConfig,
    };
    use nettrace_testdata::peers::{self, Folder, Target};

    type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

    /// Sessions that a runtime has room for.
    const SLOTS: usize = 64;
    /// Pipes and files that a runtime may open beside, for threads of its own that come and go.
    const BESIDE: usize = 12;
    /// Rounds between two looks at everything.
    const BETWEEN_LOOKS: u32 = 25;

    struct Subject {
        target: Target,
        runtime: Runtime,
        before: Descriptors,
        bytes: u64,
    }

    pub(super) fn run() -> Result<()> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let (minutes, sessions) = match arguments.as_slice() {
            [] => (20.0, 200),
            [minutes, sessions] => (minutes.parse()?, sessions.parse::<u32>()?),
            _ => return Err("soak [MINUTES SESSIONS]".into()),
        };
        let folder = Folder::new();
        let mut subjects = Vec::new();
        for peer in peers::all() {
            let target = peer.start(&folder, "custom", 0);
            let found = Search::new().directory(folder.path()).process(target.pid());
            let runtime = found.and_then(|found| found.runtime()).ok_or("it is not found")?;
            subjects.push(Subject { target, runtime, before: Descriptors::default(), bytes: 0 });
        }
        if subjects.is_empty() {
            return Err("there is no runtime; NETTRACE_PEERS=$(.ci/peers)".into());
        }
        // What is made once and kept is made now: each kind of session has been had.
        for subject in &mut subjects {
            for kind in (0..KINDS).cycle().take(2 * KINDS as usize) {
                short(subject, kind)?;
            }
            all_slots(subject)?;
            subject.before = Descriptors::of(&subject.target);
        }
        let own = (peers::descriptor_count(std::process::id()), peers::thread_count(std::process::id()));
        println!("{sessions} sessions on each of {} runtimes in {minutes} minutes", subjects.len());
        println!("before: ours {} descriptors, {} threads", own.0, own.1);
        let start = Instant::now();
        let pace = Duration::from_secs_f64(minutes * 60.0 / f64::from(sessions.max(1)));
        for round in 0..sessions {
            for subject in &mut subjects {
                short(subject, round % KINDS)?;
            }
            if (round + 1).is_multiple_of(BETWEEN_LOOKS) || round + 1 == sessions {
                look(round + 1, start, own, &mut subjects)?;
            }
            let next = start + pace * (round + 1);
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        let bytes: u64 = subjects.iter().map(|subject| subject.bytes).sum();
        let count = sessions as usize * subjects.len();
        let seconds = start.elapsed().as_secs();
        println!("PASSED: {count} sessions and {bytes} bytes in {seconds} s; nothing is left behind");
        Ok(())
    }

    /// Ways in which sessions are used.
    const KINDS: u32 = 6;

    fn short(subject: &mut Subject, kind: u32) -> Result<()> {
        let provider = Provider::new("Nettrace-Workload")?.keywords(7).level(Level::Verbose);
        let provider = if kind == 3 { provider.filter(EventFilter::only([1, 4])) } else { provider };
        let rundown = if kind == 2 { Rundown::Default } else { Rundown::Off };
        let config = SessionConfig::new(Providers::new([provider])?).rundown(rundown).stacks(kind != 4);
        let runtime = match kind {
            5 => subject.runtime.clone().recorder(Recorder::new(io::sink())),
            _ => subject.runtime.clone(),
        };
        let mut session = runtime.start(&config)?;
        std::thread::sleep(Duration::from_millis(150));
        if kind == 1 {
            // Somebody lost interest in the middle of it.
            subject.bytes += session.received_bytes();
            return Ok(());
        }
        let bytes = if kind == 0 {
            let stop = session.stop_handle();
            let stopper = std::thread::spawn(move || stop.stop());
            let bytes = read(&mut session)?;
            stopper.join().map_err(|_| "the stopping thread panicked")??;
            bytes
        } else {
            if session.stop()? != Ending::Stopped {
                return Err("the session ended by itself".into());
            }
            read(&mut session)?
        };
        if !bytes.starts_with(b"Nettrace") || !bytes.ends_with(&[6, 1]) {
            return Err(format!(".NET {}: a stream is not whole", subject.target.major).into());
        }
        subject.bytes += bytes.len() as u64;
        Ok(())
    }

    fn read(session: &mut Session) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        session.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Takes all sessions that a runtime has, and is refused one more.
    fn all_slots(subject: &Subject) -> Result<()> {
        let provider = Provider::new("Nettrace-Soak")?;
        let config = SessionConfig::new(Providers::new([provider])?)
            .rundown(Rundown::Off)
            .buffer_megabytes(NonZeroU32::MIN);
        let mut sessions = Vec::new();
        for taken in 0..SLOTS {
            let session = subject.runtime.start(&config);
            sessions.push(session.map_err(|error| format!("only {taken} sessions are free: {error}"))?);
        }
        match subject.runtime.start(&config) {
            Err(error) if error.code() == Some(HResult::FAIL) => Ok(()),
            Err(error) => Err(error.into()),
            Ok(_) => Err("there are more sessions than this knows of".into()),
        }
    }

    #[derive(Clone, Copy, Default)]
    struct Descriptors {
        count: usize,
        sockets: usize,
    }

    impl Descriptors {
        /// Of a runtime, when it has closed what it closes a moment late.
        fn of(target: &Target) -> Descriptors {
            let now = || {
                let all = peers::descriptors(target.pid());
                let sockets = all.iter().filter(|name| name.starts_with("socket:")).count();
                Descriptors { count: all.len(), sockets }
            };
            let mut last = now();
            for _ in 0..10 {
                std::thread::sleep(Duration::from_millis(100));
                let next = now();
                if next.sockets == last.sockets {
                    break;
                }
                last = next;
            }
            last
        }
    }

    fn look(round: u32, start: Instant, own: (usize, usize), subjects: &mut [Subject]) -> Result<()> {
        let mut line = format!("{round:>4} sessions, {:>5} s:", start.elapsed().as_secs());
        for subject in subjects.iter_mut() {
            all_slots(subject)?;
            let (before, pid) = (subject.before, subject.target.pid());
            let now = Descriptors::of(&subject.target);
            if now.sockets > before.sockets || now.count > before.count + BESIDE {
                let names = peers::descriptors(pid);
                return Err(format!(".NET {}: {names:#?}", subject.target.major).into());
            }
            let descriptors = now.count;
            let threads = peers::thread_count(pid);
            line += &format!("  .NET {} {descriptors} fd {threads} thr,", subject.target.major);
        }
        let now = (peers::descriptor_count(std::process::id()), peers::thread_count(std::process::id()));
        println!("{line}  ours {} fd {} thr", now.0, now.1);
        if now.0 > own.0 || now.1 > own.1 {
            return Err(format!("left behind: {now:?} descriptors and threads, {own:?} before").into());
        }
        Ok(())
    }
}
