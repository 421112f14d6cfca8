//! Comparison with TraceEvent on the mutants of `lies`: which reader delivers more of the original
//! events, and which delivers wrong ones.
//!
//! `NETTRACE_PEERS=$(.ci/peers) cargo test --release -p nettrace-parser --test mutation --
//! --ignored
//! --nocapture differential` prints the table of `parser/fuzz/differential.txt`. `MUTANTS=20` sets the
//! number of mutants for each class and trace; TraceEvent takes a second for each.

use crate::lies::{CLASSES, Sound};
use crate::random::Random;
use nettrace_parser::Reader;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TRACES: [&str; 6] = [
    "net3.1-linux-x64/all.netperf",
    "net3.1-linux-x64/all.nettrace",
    "net8-linux-x64/all.nettrace",
    "net10-linux-x64/all.nettrace",
    "net10-linux-x64/waits.nettrace",
    "one-collect-v6/cpu-and-switches.nettrace",
];

/// Number of events with the same time, provider, id and payload size.
type Events = HashMap<(u64, String, u32, usize), u32>;

/// Result of reading a mutant: the events, and whether a fault was reported.
struct Read {
    events: Events,
    says_so: bool,
}

fn ours(bytes: &[u8]) -> Read {
    let mut events = Events::new();
    let mut reader = Reader::from_slice(bytes);
    let result = reader.for_each(|event| {
        // TraceEvent does not deliver definitions, which in versions 4 and 5 are events.
        let provider = event.provider().to_owned();
        let key = (event.timestamp_ticks(), provider, event.id(), event.payload().len());
        *events.entry(key).or_default() += 1;
    });
    let says_so = result.is_err() || reader.damage().is_damaged() || !reader.is_complete();
    Read { events, says_so }
}

/// Program that prints the events that TraceEvent finds, in the form of the goldens.
struct Dumper {
    peers: PathBuf,
    folder: PathBuf,
}

impl Dumper {
    fn new() -> Dumper {
        let peers = std::env::var_os("NETTRACE_PEERS").expect("NETTRACE_PEERS=$(.ci/peers)");
        let name = format!("nettrace-differential-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Dumper { peers: PathBuf::from(peers), folder }
    }

    fn read(&self, name: &str, bytes: &[u8]) -> Read {
        let extension = Path::new(name).extension().unwrap();
        let (file, out) =
            (self.folder.join("mutant").with_extension(extension), self.folder.join("out"));
        std::fs::write(&file, bytes).unwrap();
        // Removes the output for the previous mutant.
        let _ = std::fs::remove_file(&out);
        let ended = Command::new("timeout")
            .args(["-k", "5", "60"])
            .arg(self.peers.join("net10/dotnet"))
            .arg(self.peers.join("tools/traceevent/dump.dll"))
            .arg("events")
            .args([&file, &out])
            .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let text = std::fs::read_to_string(&out).unwrap_or_default();
        let mut events = Events::new();
        let mut has_error = !ended.success() || text.is_empty();
        for line in text.lines() {
            if line.starts_with('#') {
                has_error |= line.starts_with("#error");
                continue;
            }
            let cells: Vec<&str> = line.split('\t').collect();
            let number = |at: usize| cells.get(at).and_then(|cell| cell.parse::<u64>().ok());
            let (Some(ticks), Some(id), Some(size)) = (number(0), number(5), number(12)) else {
                continue;
            };
            let key = (ticks, cells[4].to_owned(), id as u32, size as usize);
            *events.entry(key).or_default() += 1;
        }
        Read { events, says_so: has_error }
    }
}

/// Returns the number of original events that were found, and the number of other events.
fn recovered(found: &Events, sound: &Events) -> (u32, u32) {
    let right = |(key, count): (&_, &u32)| (*count).min(sound.get(key).copied().unwrap_or(0));
    let right: u32 = found.iter().map(right).sum();
    (right, found.values().sum::<u32>() - right)
}

#[derive(Default, Clone, Copy)]
struct Sum {
    mutants: u32,
    events: u64,
    ours: u64,
    theirs: u64,
    our_others: u64,
    their_others: u64,
    we_more: u32,
    they_more: u32,
    /// Number of mutants with more than 1 % of wrong or missing events for which we reported no
    /// fault.
    we_silent: u32,
    they_silent: u32,
}

#[test]
#[ignore = "takes a second a mutant, prints figures, holds nothing"]
fn differential() {
    let dumper = Dumper::new();
    let count: usize =
        std::env::var("MUTANTS").ok().and_then(|count| count.parse().ok()).unwrap_or(8);
    let mut random = Random(7);
    let mut sums = [Sum::default(); CLASSES.len()];
    let mut worst = Vec::new();
    for sound in TRACES.map(Sound::from_trace) {
        let (our_sound, their_sound) =
            (ours(&sound.bytes).events, dumper.read(&sound.name, &sound.bytes).events);
        let (all, their_all) = (our_sound.values().sum::<u32>(), their_sound.values().sum::<u32>());
        println!("{}: {all} events, TraceEvent {their_all}", sound.name);
        for (class, sum) in CLASSES.iter().zip(&mut sums) {
            for _ in 0..count {
                let (bytes, touched) = sound.mutant(class, &mut random);
                if bytes == sound.bytes {
                    continue;
                }
                let (us, them) = (ours(&bytes), dumper.read(&sound.name, &bytes));
                let (our_right, our_others) = recovered(&us.events, &our_sound);
                let (their_right, their_others) = recovered(&them.events, &their_sound);
                // Shares are compared, because TraceEvent does not deliver all events.
                let part = |right: u32, all: u32| f64::from(right) / f64::from(all.max(1));
                let (our_part, their_part) = (part(our_right, all), part(their_right, their_all));
                sum.mutants += 1;
                sum.events += u64::from(all);
                sum.ours += u64::from(our_right);
                sum.theirs += (their_part * f64::from(all)).round() as u64;
                sum.our_others += u64::from(our_others);
                sum.their_others += u64::from(their_others);
                sum.we_more += u32::from(our_part > their_part + 0.001);
                sum.they_more += u32::from(their_part > our_part + 0.001);
                let is_wrong = |part: f64, others: u32| {
                    part < 0.99 || f64::from(others) > 0.01 * f64::from(all)
                };
                sum.we_silent += u32::from(!us.says_so && is_wrong(our_part, our_others));
                sum.they_silent += u32::from(!them.says_so && is_wrong(their_part, their_others));
                let name = format!("{}, {class} at {touched:?}", sound.name);
                worst.push((their_part - our_part, our_part, their_part, our_others, name));
            }
        }
    }
    println!();
    println!(
        "| class | mutants | recovered | TraceEvent | events that were not there | TraceEvent | we recover more | TraceEvent more | wrong without a word | TraceEvent |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (class, sum) in CLASSES.iter().zip(&sums) {
        let percent = |right: u64| 100.0 * right as f64 / sum.events.max(1) as f64;
        println!(
            "| {class} | {} | {:.1} % | {:.1} % | {} | {} | {} | {} | {} | {} |",
            sum.mutants,
            percent(sum.ours),
            percent(sum.theirs),
            sum.our_others,
            sum.their_others,
            sum.we_more,
            sum.they_more,
            sum.we_silent,
            sum.they_silent
        );
    }
    println!(
        "\nMutants of which TraceEvent recovers more, those with the largest difference first:\n"
    );
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (more, our_part, their_part, others, name) in
        worst.iter().filter(|of| of.0 > 0.001).take(40)
    {
        println!(
            "{name}: {:.1} % more ({:.1} % against {:.1} %; {others} that were not there)",
            100.0 * more,
            100.0 * their_part,
            100.0 * our_part
        );
    }
    let _ = std::fs::remove_dir_all(&dumper.folder);
}
