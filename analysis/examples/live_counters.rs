//! Shows the counters of a running process, refreshed in place: `live_counters PID`.
//!
//! One thread feeds the session into the live state, and another shows the state now and then, as
//! `nettrace counters` does.

use nettrace_analysis::live::{Live, LiveCounters};
use nettrace_ipc::{Arguments, Level, Provider, Providers, Search, SessionConfig};
use nettrace_parser::Reader;
use std::sync::Mutex;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pid = std::env::args().nth(1).ok_or("usage: live_counters PID")?.parse()?;
    let found = Search::new().process(pid).ok_or("no .NET process of that id")?;
    let runtime = found.runtime()?;

    let every_second = Arguments::pairs([("EventCounterIntervalSec", "1")])?;
    let counters = Provider::new("System.Runtime")?.keywords(0).level(Level::Critical);
    let config = SessionConfig::new(Providers::new([counters.arguments(every_second)])?);
    let mut session = runtime.start(&config)?;
    // Values come in bursts. When none come, events that wait for their place in time order are
    // released.
    session.set_read_timeout(Some(Duration::from_millis(50)));

    let live = Mutex::new(Live::new(LiveCounters::default().interval(1.0)));
    std::thread::scope(|scope| {
        let feeding = scope.spawn(|| feed(session, &live));
        while !feeding.is_finished() {
            std::thread::sleep(Duration::from_secs(1));
            show(&live);
        }
    });
    Ok(())
}

fn feed(session: nettrace_ipc::Session, live: &Mutex<Live<LiveCounters>>) {
    let mut events = Reader::from_read(session).time_ordered();
    loop {
        match events.next_event() {
            Ok(Some(event)) => drop(live.lock().map(|mut live| live.event(&event))),
            Err(error) if error.is_would_block() => events.release(),
            // The process has ended, or its stream cannot be read.
            Ok(None) | Err(_) => return,
        }
    }
}

fn show(live: &Mutex<Live<LiveCounters>>) {
    let Ok(snapshot) = live.lock().map(|live| live.snapshot()) else { return };
    print!("\x1b[2J\x1b[H");
    for live in &snapshot.series {
        let (name, unit) = (&live.series.name, &live.series.unit);
        let over = if live.is_stopped { " (stopped)" } else { "" };
        println!("{:>16.3} {unit:10} {name} {}{over}", live.shown(), live.series.tags_text(" "));
    }
}
