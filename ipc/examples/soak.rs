//! Runs many short sessions on each real runtime, and checks that nothing leaks: `soak [MINUTES
//! SESSIONS]`.
//!
//! The script `ipc/soak` runs this program, which counts the descriptors and threads of its own
//! process. No session is left in a runtime if exactly 64 can be started again, and no connection
//! if the runtime has no more sockets than before.
//!
//! With `NETTRACE_COMMAND`, the command is tested, too: recordings and `watch` that a signal ends
//! at some moment, half of them with a reader that does not read, and one `collect --port --all`
//! for the whole time, to which short programs connect that wait for it at startup. Its descriptors
//! and threads are counted, and every program must have been resumed.
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
    use nettrace_ipc::{
        Ending, EventFilter, HResult, Level, Provider, Providers, Recorder, Rundown, Runtime,
        Search, Session, SessionConfig,
    };
    use nettrace_testdata::peers::{self, Folder, Peer, Target};
    use std::io::{self, Read};
    use std::num::NonZeroU32;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

    /// Maximum number of sessions that a runtime allows at the same time.
    const MAX_SESSIONS: usize = 64;
    /// Maximum number of further pipes and files that a runtime may open for its own threads, which
    /// come and go.
    const MAX_OTHER_DESCRIPTORS: usize = 12;
    /// Number of rounds after which descriptors and threads are counted again.
    const ROUNDS_BETWEEN_LOOKS: u32 = 25;

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
            let runtime = found.ok_or("it is not found")?.runtime()?;
            subjects.push(Subject { target, runtime, before: Descriptors::default(), bytes: 0 });
        }
        if subjects.is_empty() {
            return Err("there is no runtime; NETTRACE_PEERS=$(.ci/peers)".into());
        }
        // Each kind of session has been used once, so everything exists now that a runtime creates
        // once and keeps.
        for subject in &mut subjects {
            for kind in (0..KINDS).cycle().take(2 * KINDS as usize) {
                short(subject, kind)?;
            }
            all_slots(subject)?;
            subject.before = Descriptors::settled(&subject.target);
        }
        let own =
            (peers::descriptor_count(std::process::id()), peers::thread_count(std::process::id()));
        println!("{sessions} sessions on each of {} runtimes in {minutes} minutes", subjects.len());
        println!("before: ours {} descriptors, {} threads", own.0, own.1);
        let mut commands = Commands::new(&folder)?;
        for round in 0..4 {
            commands.arrive(round)?;
        }
        commands.look()?;
        let start = Instant::now();
        let pace = Duration::from_secs_f64(minutes * 60.0 / f64::from(sessions.max(1)));
        for round in 0..sessions {
            for subject in &mut subjects {
                short(subject, round % KINDS)?;
                commands.one(subject.target.pid(), round)?;
            }
            commands.arrive(round)?;
            if (round + 1).is_multiple_of(ROUNDS_BETWEEN_LOOKS) || round + 1 == sessions {
                look(round + 1, start, own, &mut subjects)?;
                commands.look()?;
            }
            let next = start + pace * (round + 1);
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        commands.end()?;
        let bytes: u64 = subjects.iter().map(|subject| subject.bytes).sum();
        let count = sessions as usize * subjects.len();
        let seconds = start.elapsed().as_secs();
        println!(
            "PASSED: {count} sessions and {bytes} bytes in {seconds} s; nothing is left behind"
        );
        Ok(())
    }

    /// Maximum time for a command to end, and for a program to be resumed, on a busy machine.
    const MAX_STOP_TIME: Duration = Duration::from_secs(60);

    /// Runs the `nettrace` command, and ends it with signals, as people do.
    struct Commands {
        path: Option<String>,
        folder: std::path::PathBuf,
        peers: Vec<Peer>,
        listener: Option<Child>,
        /// Numbers of descriptors and threads of the listener when the first programs had ended.
        before: Option<(usize, usize)>,
        state: u64,
        ended: u32,
        arrived: u32,
    }

    impl Commands {
        fn new(folder: &Folder) -> Result<Commands> {
            let path = std::env::var("NETTRACE_COMMAND").ok();
            let place = folder.path().to_owned();
            let mut commands = Commands {
                path,
                folder: place,
                peers: peers::all().into_iter().filter(|peer| peer.major > 3).collect(),
                listener: None,
                before: None,
                state: 0x9E37_79B9_7F4A_7C15,
                ended: 0,
                arrived: 0,
            };
            let words = [
                "collect",
                "--port",
                "port",
                "--all",
                "--rotate",
                "2x64KB",
                "-o",
                "arrived.nettrace",
            ];
            if let Some(mut command) = commands.command(&words) {
                commands.listener = Some(command.stdout(Stdio::null()).spawn()?);
                let start = Instant::now();
                while !commands.folder.join("port").exists() && start.elapsed() < MAX_STOP_TIME {
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
            Ok(commands)
        }

        fn command(&self, words: &[&str]) -> Option<Command> {
            let mut command = Command::new(self.path.as_ref()?);
            command.args(words).current_dir(&self.folder).env("TMPDIR", &self.folder);
            command.stdin(Stdio::null()).stderr(Stdio::null());
            Some(command)
        }

        /// Returns a pseudo-random number below `below`; the sequence is equal in every run.
        fn random(&mut self, below: u64) -> u64 {
            self.state ^= self.state << 13;
            self.state ^= self.state >> 7;
            self.state ^= self.state << 17;
            self.state % below
        }

        /// Runs one recording, or one `watch`, and ends it with a signal at some moment.
        fn one(&mut self, pid: u32, round: u32) -> Result<()> {
            let pid = pid.to_string();
            let words: &[&str] = match round % 3 {
                0 => &["collect", "-o", "soak.nettrace", "--force", "-p", &pid],
                1 => &["collect", "-o", "-", "-p", &pid],
                _ => &["watch", "--format", "ndjson", "-p", &pid],
            };
            let Some(mut command) = self.command(words) else { return Ok(()) };
            // The pipe is not read; every other time its reader is closed.
            let (reader, writer) = io::pipe()?;
            let mut child = command.stdout(writer).spawn()?;
            drop(command);
            std::thread::sleep(Duration::from_millis(self.random(400)));
            let reader = if self.random(2) == 0 { None } else { Some(reader) };
            // Under nohup the command ignores a hangup, as it should.
            let signals: &[&str] = match is_hangup_ignored() {
                true => &["INT", "TERM"],
                false => &["INT", "TERM", "HUP"],
            };
            let signal = signals[self.random(signals.len() as u64) as usize];
            peers::signal(child.id(), signal);
            end_of(&mut child, &format!("{words:?} after SIG{signal}"))?;
            drop(reader);
            self.ended += 1;
            Ok(())
        }

        /// Starts a program that waits at startup until the listener resumes it.
        fn arrive(&mut self, round: u32) -> Result<()> {
            if self.path.is_none() || self.peers.is_empty() {
                return Ok(());
            }
            let peer = &self.peers[round as usize % self.peers.len()];
            let mut command = peer.command(&self.folder, "sleep", 1);
            command.env("DOTNET_DiagnosticPorts", self.folder.join("port")).stdout(Stdio::null());
            let mut child = command.spawn()?;
            if self.random(4) == 0 {
                // The program is killed in the middle of its start.
                std::thread::sleep(Duration::from_millis(self.random(500)));
                peers::signal(child.id(), "KILL");
            }
            end_of(&mut child, "a program that came to the port: it is still suspended")?;
            self.arrived += 1;
            Ok(())
        }

        /// Counts descriptors and threads of the listener, and fails if it has more than after the
        /// first programs.
        fn look(&mut self) -> Result<()> {
            let Some(listener) = &mut self.listener else { return Ok(()) };
            if let Some(status) = listener.try_wait()? {
                return Err(format!("the listener has ended: {status}").into());
            }
            // The listener closes some descriptors a moment late, so this waits.
            let count =
                || (peers::descriptor_count(listener.id()), peers::thread_count(listener.id()));
            let before = *self.before.get_or_insert_with(|| {
                std::thread::sleep(Duration::from_secs(3));
                count()
            });
            let start = Instant::now();
            let mut now = count();
            while (now.0 > before.0 || now.1 > before.1) && start.elapsed() < MAX_STOP_TIME {
                std::thread::sleep(Duration::from_millis(100));
                now = count();
            }
            println!(
                "      {} commands ended by signals, {} programs came to a port; the listener has {} fd {} thr",
                self.ended, self.arrived, now.0, now.1
            );
            if now.0 > before.0 || now.1 > before.1 {
                let names = peers::descriptors(listener.id());
                return Err(
                    format!("the listener keeps {now:?}, {before:?} before: {names:#?}").into()
                );
            }
            Ok(())
        }

        fn end(&mut self) -> Result<()> {
            let Some(mut listener) = self.listener.take() else { return Ok(()) };
            peers::signal(listener.id(), "INT");
            end_of(&mut listener, "the listener after SIGINT")
        }
    }

    impl Drop for Commands {
        fn drop(&mut self) {
            if let Some(mut listener) = self.listener.take() {
                let _ = listener.kill();
                let _ = listener.wait();
            }
        }
    }

    /// Returns whether hangup signals were ignored when this program started; programs that it
    /// starts inherit that.
    fn is_hangup_ignored() -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0) & 1 == 1
    }

    fn end_of(child: &mut Child, what: &str) -> Result<()> {
        let start = Instant::now();
        while child.try_wait()?.is_none() {
            if start.elapsed() > MAX_STOP_TIME {
                let _ = child.kill();
                return Err(format!("{what}: no end in {MAX_STOP_TIME:?}").into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Number of ways in which [`short`] uses a session.
    const KINDS: u32 = 6;

    fn short(subject: &mut Subject, kind: u32) -> Result<()> {
        let provider = Provider::new("Nettrace-Workload")?.keywords(7).level(Level::Verbose);
        let provider =
            if kind == 3 { provider.filter(EventFilter::only([1, 4])) } else { provider };
        let rundown = if kind == 2 { Rundown::Default } else { Rundown::Off };
        let config =
            SessionConfig::new(Providers::new([provider])?).rundown(rundown).stacks(kind != 4);
        let runtime = match kind {
            5 => subject.runtime.clone().recorder(Recorder::new(io::sink())),
            _ => subject.runtime.clone(),
        };
        let mut session = runtime.start(&config)?;
        std::thread::sleep(Duration::from_millis(150));
        if kind == 1 {
            // The client disconnects in the middle of the stream.
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
                return Err("the session ended without a stop".into());
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

    /// Starts as many sessions as a runtime allows, and checks that the runtime refuses one more.
    fn all_slots(subject: &Subject) -> Result<()> {
        let provider = Provider::new("Nettrace-Soak")?;
        let config = SessionConfig::new(Providers::new([provider])?)
            .rundown(Rundown::Off)
            .buffer_megabytes(NonZeroU32::MIN);
        let mut sessions = Vec::new();
        for taken in 0..MAX_SESSIONS {
            let session = subject.runtime.start(&config);
            sessions
                .push(session.map_err(|error| format!("only {taken} sessions are free: {error}"))?);
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
        /// Counts a runtime's descriptors, after it has had time to close those of the last
        /// sessions.
        fn settled(target: &Target) -> Descriptors {
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

    fn look(
        round: u32,
        start: Instant,
        own: (usize, usize),
        subjects: &mut [Subject],
    ) -> Result<()> {
        let mut line = format!("{round:>4} sessions, {:>5} s:", start.elapsed().as_secs());
        for subject in subjects.iter_mut() {
            all_slots(subject)?;
            let (before, pid) = (subject.before, subject.target.pid());
            let now = Descriptors::settled(&subject.target);
            if now.sockets > before.sockets || now.count > before.count + MAX_OTHER_DESCRIPTORS {
                let names = peers::descriptors(pid);
                return Err(format!(".NET {}: {names:#?}", subject.target.major).into());
            }
            let descriptors = now.count;
            let threads = peers::thread_count(pid);
            line += &format!("  .NET {} {descriptors} fd {threads} thr,", subject.target.major);
        }
        let now =
            (peers::descriptor_count(std::process::id()), peers::thread_count(std::process::id()));
        println!("{line}  ours {} fd {} thr", now.0, now.1);
        if now.0 > own.0 || now.1 > own.1 {
            return Err(
                format!("left behind: {now:?} descriptors and threads, {own:?} before").into()
            );
        }
        Ok(())
    }
}
