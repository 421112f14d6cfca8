//! `nettrace top` on real runtimes.

use super::Subject;
use super::common::Json;
use nettrace_testdata::peers;

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn one_look_names_the_hot_methods_and_what_is_allocated_and_thrown() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "all");
        let words = ["top", "--once", "--json", "--window", "5s", "-N", "100"];
        let run = subject.run(&words);
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        let document = run.json();
        let context = format!(".NET {}: {document:#}", peer.major);
        let has = |list: &str, key: &str, part: &str| {
            let rows = document[list].list();
            rows.iter().any(|row| row[key].text().contains(part))
        };
        assert!(has("methods", "name", "workload!Workload.Program."), "{context}");
        assert!(has("exceptions", "type", "Workload.WidgetException"), "{context}");
        assert!(has("allocations", "type", "System.Byte[]"), "{context}");
        assert!(document["header"]["allocated_bytes_per_s"].as_f64().unwrap() > 0.0, "{context}");
        assert!(document["header"]["exceptions_per_s"].as_f64().unwrap() > 0.0, "{context}");
        assert!(document["header"]["threadpool_queue"].is_number(), "{context}");
        assert!(document["cost"]["own_percent"].is_number(), "{context}");
        // Code without a name is named by the file or region that it lies in.
        assert!(!has("methods", "name", "0x"), "{context}");
        let alike = document["methods"].list().iter();
        let names: Vec<_> = alike.map(|row| row["name"].text()).collect();
        assert!(names.iter().all(|name| !name.contains("+0x")), "{context}");
        // Polls count for the methods of the program, and calls for the methods that make them.
        assert!(!has("methods", "name", "PollGC"), "{context}");
        // A precompiled method that the runtime has not named yet may still be a caller.
        let nameless = document["methods"]
            .list()
            .iter()
            .find(|row| row["name"].text() == "System.Private.CoreLib!(no name)");
        let percent = nameless.and_then(|row| row["self_percent"].as_f64()).unwrap_or_default();
        assert!(percent < 1.0, "{context}");
        // .NET 9 does not tell managed from native code, but the times of threads tell what ran.
        let has_times = cfg!(target_os = "linux");
        assert_eq!(document["header"]["is_by_processor_time"], has_times, "{context}");
        assert_eq!(document["header"]["is_untold"], peer.major == 9 && !has_times, "{context}");
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn the_processor_time_of_the_window_is_that_of_the_process() {
    peers::each(peers::modern(), |peer| {
        let mut subject = Subject::start(peer, "cpu");
        let words = ["top", "--once", "--json", "--window", "3s"];
        let run = subject.run(&words);
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        let document = run.json();
        let context = format!(".NET {}: {document:#}", peer.major);
        let time = &document["processor_time"];
        let of = |name: &str| time[name].int();
        let all = of("measured_ns") + of("estimated_ns") + of("recording_ns");
        let process = of("process_ns");
        // The program computes on one thread. The system counts the process in ticks.
        assert!(process > 100_000_000, "{context}");
        assert!(all.abs_diff(process) <= process / 50 + 50_000_000, "{all}: {context}");
        let main = u64::from(subject.target.pid());
        let threads = document["threads"].list();
        let main = threads.iter().find(|row| row["thread_id"] == main).unwrap();
        let of_program = process - of("recording_ns");
        assert!(main["ran_ns"].int() * 2 > of_program, "{context}");
        let run = subject.run(&[&words[..], &["--thread-times", "off"]].concat());
        let document = run.json();
        assert!(document.get("processor_time").is_none(), "{document:#}");
        assert_eq!(document["header"]["is_by_processor_time"], false);
        subject.assert_unharmed();
    });
}
