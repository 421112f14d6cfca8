//! `nettrace replay`: answers requests from a transcript, in place of the process.

use crate::args::ReplayArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::failure::with_causes;
use crate::live::end_rule::SIGNAL_CHECK;
use crate::live::signals::Signals;
use nettrace_ipc::{Error, Pace, PortAddress, Replay, Transcript};
use std::fs::File;
use std::io::{BufReader, Write};

pub(super) fn run(args: &ReplayArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let name = args.transcript.display().to_string();
    let file = File::open(&args.transcript)
        .map_err(|error| Failure::open(&name, &args.transcript, &error))?;
    let failed = |error: Error| Failure::input(name.clone(), with_causes(&error));
    let transcript = Transcript::read(BufReader::new(file)).map_err(failed)?;
    if transcript.connection_count() == 0 {
        let message = "the transcript has no connection with a request".to_owned();
        return Err(Failure::input(name, message));
    }
    let pace = if args.at_once { Pace::AtOnce } else { Pace::AsRecorded };
    let signals = Signals::notice(&context.delays)?;
    let address = |text: &str| PortAddress::parse(text);
    let replay = match (&args.connect, &args.listen) {
        (Some(port), _) => Replay::connect_to(transcript, &address(port)?.endpoint(), pace),
        (None, Some(listen)) => Replay::listen(transcript, &address(listen)?, pace),
        (None, None) => {
            let path = std::env::temp_dir().join(format!("nettrace-replay-{}", std::process::id()));
            Replay::listen(transcript, &address(&path.to_string_lossy())?, pace)
        }
    };
    let replay = replay.map_err(|error| Failure::input(name.clone(), with_causes(&error)))?;
    if args.connect.is_none() {
        // Scripts wait for this line, after which the port accepts connections.
        writeln!(context.out, "{},connect", replay.endpoint())?;
        context.out.finish()?;
    }
    while signals.seen().is_none() && !(args.once && replay.is_finished()) {
        std::thread::sleep(SIGNAL_CHECK);
    }
    Ok(Exit::Fine)
}
