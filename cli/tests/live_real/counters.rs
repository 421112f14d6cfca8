//! `nettrace counters` and `nettrace discover` on real runtimes.

use super::common::Json;
use super::{Subject, finished, launching, patient, ran};
use nettrace_testdata::peers::{self, Folder};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

/// First major version whose workload has instruments; .NET has `System.Diagnostics.Metrics` from 6
/// on.
const HAS_METRICS: u32 = 6;

/// Sends SIGINT and waits for the command's end.
fn interrupt(child: &mut Child) {
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn event_counters_and_instruments_come_without_being_named() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "all");
        let run = subject.run(&["counters", "--duration", "4s", "--format", "ndjson"]);
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        let lines = run.lines();
        let of = |provider: &str| -> Vec<&Value> {
            lines.iter().filter(|line| line["provider"] == provider).collect()
        };
        assert!(of("System.Runtime").len() > 20, ".NET {}: {lines:?}", peer.major);
        // The provider was found in the program's assembly.
        assert!(!of("Nettrace-Workload-Counters").is_empty(), ".NET {}", peer.major);
        assert_eq!(!of("Nettrace.Workload").is_empty(), peer.major >= HAS_METRICS);
        // From .NET 9 on, the meter System.Runtime replaces the EventCounters of that name.
        let is_meter =
            of("System.Runtime").iter().any(|line| line["kind"] == "observable_up_down_counter");
        assert_eq!(is_meter, peer.major >= 9);
        assert!(!is_meter || of("System.Runtime").iter().all(|line| line["kind"] != "mean"));
        // Not for EventCounters, whose first interval may be short.
        for line in lines.iter().filter(|line| line["kind"] == "counter") {
            let (rate, value) = (line["rate_per_second"].as_f64().unwrap(), line["value"].as_f64());
            let value = value.unwrap();
            // An interval takes a second, or longer on a busy machine.
            let (rate, value) = (rate.abs(), value.abs());
            assert!(rate <= value * 1.3 + 0.1 && rate >= value * 0.1, "{line}");
        }
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_starved_thread_pool_is_seen_without_being_asked_for() {
    let peers = peers::modern().into_iter().filter(|peer| peer.major >= 8).collect();
    peers::each(peers, |peer| {
        let mut subject = Subject::starved(peer);
        // A hundred items a second come, and few are done, so that the queue is long after a
        // second.
        let top = subject.run(&["top", "--once", "--json", "--window", "3s"]);
        let header = &top.json()["header"];
        assert!(header["threadpool_queue"].as_f64() > Some(5.0), ".NET {}: {header}", peer.major);
        assert!(header["threadpool_threads"].as_f64() > Some(1.0), ".NET {}: {header}", peer.major);
        let screen = String::from_utf8(subject.run(&["top", "--once", "--window", "3s"]).stdout);
        let screen = screen.unwrap();
        assert!(screen.contains("pool queue") && screen.contains("pool threads"), "{screen}");
        let words = ["counters", "--duration", "4s", "--format", "json"];
        let run = subject.run(&words);
        let document = run.json();
        let series: Vec<&Value> = document["series"].list().iter().collect();
        let last = |names: [&str; 2]| {
            let one = series.iter().find(|one| names.contains(&one["name"].text()));
            let one = one.unwrap_or_else(|| panic!(".NET {}: {names:?}", peer.major));
            // An instrument that is published as changes has the level as its total.
            let level = if one["kind"] == "counter" { "total" } else { "value" };
            one["points"].list().last().and_then(|point| point[level].as_f64()).unwrap()
        };
        let queue = last(["threadpool-queue-length", "dotnet.thread_pool.queue.length"]);
        let threads = last(["threadpool-thread-count", "dotnet.thread_pool.thread.count"]);
        assert!(queue > 5.0 && threads > 1.0, ".NET {}: {document:#}", peer.major);
        // On .NET 8, which would take stacks of these events, they are not requested.
        if peer.major >= 9 {
            let added = header["threadpool_starvations"].as_u64();
            assert!(added > Some(0), ".NET {}: {header}", peer.major);
            let name = "threadpool-starvation-adjustments";
            assert!(series.iter().any(|one| one["name"] == name), "{document:#}");
        }
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn two_views_share_the_metrics_of_a_process_and_one_with_other_settings_gets_a_notice() {
    peers::each(peers::modern().into_iter().filter(|peer| peer.major >= 8).collect(), |peer| {
        let mut subject = Subject::start(peer, "metrics");
        let words = ["counters", "--counters", "Nettrace.Workload", "--format", "ndjson"];
        let mut first = subject.spawn(&[&words[..], &["--duration", "20s"]].concat());
        let mut lines = BufReader::new(first.stdout.take().unwrap()).lines();
        lines.next().unwrap().unwrap();
        // First, because .NET forgets the settings when one of several sessions ends.
        let other = ["--maxHistograms", "3", "--duration", "3s"];
        let third = subject.run(&[&words[..], &other].concat());
        third.assert_message("--maxHistograms 10");
        let second = subject.run(&[&words[..], &["--duration", "4s"]].concat());
        assert_eq!(second.code, Some(0), "{}", second.stderr);
        assert!(second.lines().iter().any(|line| line["name"] == "orders"), "{}", second.stderr);
        let after = lines.next().unwrap().unwrap();
        assert!(after.contains("Nettrace.Workload"), "{after}");
        interrupt(&mut first);
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn metrics_are_served_on_this_machine() {
    peers::each(peers::modern().into_iter().filter(|peer| peer.major >= 9).collect(), |peer| {
        let mut subject = Subject::start(peer, "metrics");
        let words = ["counters", "--openmetrics-listen", "127.0.0.1:0", "--duration", "30s"];
        let words = [&words[..], &["--format", "ndjson"]].concat();
        let mut child = subject.spawn(&words);
        let mut messages = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        messages.read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        // A value is published after the first interval.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.next().unwrap().unwrap();
        std::thread::sleep(std::time::Duration::from_secs(2));
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        assert!(text.contains("orders_total{provider=\"Nettrace.Workload\""), "{text}");
        assert!(text.ends_with("# EOF\n"));
        interrupt(&mut child);
        subject.assert_unharmed();
    });
}

/// Two programs with a name that no other program of this machine has.
struct SameNamed(Vec<Child>);

impl SameNamed {
    fn start(peer: &peers::Peer, name: &str, folder: &Folder) -> SameNamed {
        let start = |_| {
            let mut command = peer.command(folder.path(), "counters", 0);
            command.arg0(name);
            let mut child = command.spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert!(line.starts_with("ready"), ".NET {}: {line:?}", peer.major);
            child
        };
        SameNamed((0..2).map(start).collect())
    }
}

impl Drop for SameNamed {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn processes_of_one_name_are_in_one_table() {
    peers::each(peers::all(), |peer| {
        let folder = Folder::new();
        let name = format!("twin{}-{}", peer.major, std::process::id());
        let twins = SameNamed::start(peer, &name, &folder);
        let words = ["counters", "-n", &name, "--duration", "4s", "--format", "ndjson"];
        let run = ran(&patient(&words), &folder);
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        for provider in ["System.Runtime", "Nettrace-Workload-Counters"] {
            let lines = run.lines();
            let lines = lines.iter().filter(|line| line["provider"] == provider);
            let seen: BTreeSet<u64> = lines.map(|line| line["process_id"].int()).collect();
            let started: BTreeSet<u64> = twins.0.iter().map(|child| child.id().into()).collect();
            assert_eq!(seen, started, ".NET {} {provider}", peer.major);
        }
        // Commands for one process get an error that lists them.
        let run = ran(&patient(&["watch", "-n", &name, "--duration", "1s"]), &folder);
        assert_ne!(run.code, Some(0), ".NET {}", peer.major);
        run.assert_message(&name);
    });
}

/// Maximum number of recordings within which each steady event has to come.
const MAX_RECORDINGS: u32 = 10;

/// Splits an option in the output of `discover` into two arguments.
fn options(record: &str) -> [&str; 2] {
    let (option, value) = record.split_once(' ').unwrap();
    [option, value.trim_matches('\'')]
}

/// Maximum number of looks at a program for events that come again and again.
const MAX_LOOKS: usize = 8;

fn look(subject: &Subject) -> Value {
    let run = subject.run(&["discover", "--duration", "4s", "--json"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run.json()
}

/// Returns the events, by provider, that came at least half as often in a second look.
fn steady_events(first: &Value, second: &Value) -> Vec<(String, Vec<Value>)> {
    let rows = |list: &Value| list.list().to_vec();
    let count = |document: &Value, name: &str, id: &Value| -> u64 {
        let provider = rows(&document["providers"]).into_iter().find(|row| row["name"] == name);
        let events = provider.map(|row| rows(&row["events"])).unwrap_or_default();
        let counts = events.iter().filter(|row| row["id"] == *id);
        counts.map(|row| row["count"].int()).sum()
    };
    let providers = rows(&second["providers"]).into_iter().map(|provider| {
        let name = provider["name"].text().to_owned();
        let mut events = rows(&provider["events"]);
        events.retain(|event| {
            let [before, after] =
                [first, second].map(|document| count(document, &name, &event["id"]));
            after >= 40 && after * 2 >= before && before > 0
        });
        (name, events)
    });
    providers.filter(|(_, events)| !events.is_empty()).collect()
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn what_discover_says_records_an_event_records_it() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "all");
        let rows = |list: &Value| list.list().to_vec();
        let mut document = look(&subject);
        for key in ["process_before_percent", "process_percent", "own_percent"] {
            assert!(document["cost"][key].is_number(), "{key}: {}", document["cost"]);
        }
        // A program loads and compiles less and less, and on a busy machine does less of all.
        let mut steady = Vec::new();
        for _ in 0..MAX_LOOKS {
            let before = std::mem::replace(&mut document, look(&subject));
            steady = steady_events(&before, &document);
            if steady.len() >= 3 {
                break;
            }
        }
        assert!(steady.len() >= 3, ".NET {}: {document:#}", peer.major);
        let types = |words: &[&str], until: &[&str]| {
            let words = [words, until, &["-o", "of.nettrace"]].concat();
            let run = subject.collect(&words);
            assert_eq!(run.code, Some(0), ".NET {} {words:?}: {}", peer.major, run.stderr);
            rows(&ran(&["stats", "of.nettrace", "--json"], &subject.folder).json()["types"])
        };
        let has = |types: &[Value], name: &str, event: &Value| {
            types.iter().any(|row| row["provider"] == name && row["id"] == event["id"])
        };
        // All options in one recording, because some events are about events of other providers.
        // Repeated until all have come, because that depends on the machine.
        let providers = document["providers"].list().iter();
        let words: Vec<&str> = providers.flat_map(|row| options(row["record"].text())).collect();
        let mut missing: Vec<(&str, &Value)> = steady
            .iter()
            .flat_map(|(name, events)| events.iter().map(move |event| (&**name, event)))
            .collect();
        for _ in 0..MAX_RECORDINGS {
            let all = types(&words, &["--duration", "2s"]);
            missing.retain(|(name, event)| !has(&all, name, event));
            if missing.is_empty() {
                break;
            }
        }
        assert!(missing.is_empty(), ".NET {} {words:?}: no {missing:?}", peer.major);
        // Then each provider alone, until its event comes. Providers of tasks and buffers are left
        // out, because their events are about others.
        for (name, events) in &steady {
            if name.starts_with("System.") && name != "System.Runtime" {
                continue;
            }
            let event = &events[0];
            let words = options(event["record"].text());
            let until = format!("{name}/{}", event["id"]);
            let types = types(&words, &["--until", &until, "--duration", "60s"]);
            assert!(has(&types, name, event), ".NET {} {words:?}: no {event}", peer.major);
        }
        // An instrument is recorded, too.
        let instrument =
            rows(&document["instruments"]).into_iter().find(|row| row["name"] == "orders");
        if let Some(instrument) = instrument {
            let words = options(instrument["record"].text());
            let words = [&words[..], &["--duration", "3s", "-o", "of.nettrace"]].concat();
            let run = subject.collect(&words);
            assert_eq!(run.code, Some(0), "{}", run.stderr);
            let words = ["report", "counters", "of.nettrace", "--json"];
            let series = rows(&ran(&words, &subject.folder).json()["series"]);
            assert!(series.iter().any(|row| row["name"] == "orders"), ".NET {}", peer.major);
        }
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn providers_events_counters_and_instruments_are_discovered() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "all");
        let run = subject.run(&["discover", "--duration", "4s", "--json"]);
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        let document = run.json();
        let providers = document["providers"].list();
        let find = |name: &str| providers.iter().find(|one| one["name"] == name);
        let runtime = find("Microsoft-Windows-DotNETRuntime").unwrap();
        let ids: Vec<u64> =
            runtime["events"].list().iter().map(|event| event["id"].int()).collect();
        // Events of a collection and, at the highest level, of an allocation.
        assert!(ids.contains(&10) && ids.contains(&1), ".NET {}: {ids:?}", peer.major);
        // A provider that only the session for all providers has.
        assert!(find("System.Threading.Tasks.TplEventSource").is_some(), "{document}");
        // The program's own providers, which the other session requests for their counters.
        for name in ["Nettrace-Workload", "Nettrace-Workload-Dynamic"] {
            let events = find(name).map_or(0, |one| one["count"].as_u64().unwrap_or(0));
            assert!(events > 10, ".NET {}: {name}: {events} events", peer.major);
        }
        let counters = find("System.Runtime").unwrap()["counters"].list();
        assert!(counters.iter().any(|counter| counter["name"] == "cpu-usage"));
        let instruments = document["instruments"].list();
        let has_orders = instruments.iter().any(|one| one["name"] == "orders");
        assert_eq!(has_orders, peer.major >= HAS_METRICS, "{instruments:?}");
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_program_that_is_started_shows_its_own_counters_without_their_being_named() {
    peers::each(peers::modern(), |peer| {
        let folder = Folder::new();
        let options = ["counters", "--patience", "120s", "--format", "ndjson"];
        let run = finished(launching(peer, &options, ("all", 6), &folder).output().unwrap());
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        let lines = run.lines();
        for provider in ["System.Runtime", "Nettrace-Workload-Counters", "Nettrace.Workload"] {
            let has = lines.iter().any(|line| line["provider"] == provider);
            assert!(has, ".NET {}: {provider}: {}", peer.major, run.stderr);
        }
    });
}
