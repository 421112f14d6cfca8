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
        assert_eq!(document["header"]["is_untold"], peer.major == 9, "{context}");
        subject.assert_unharmed();
    });
}
