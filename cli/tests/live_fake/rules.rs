//! `nettrace collect --rules`: conditions, recordings, and limits of files.

use super::common::Json;
use super::{
    Folder, address, common::command, ids, metrics, ran, signal, trace, up_to_the_end_mark,
    wait_until,
};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime};
use nettrace_testdata::requests::requests;
use std::process::{Child, Stdio};
use std::time::Duration;

/// Condition of a rule. [`metrics`] has two values, a second apart, of which the smaller is 10.4.
const HOLDS: &str = "when = \"System.Runtime/gc-heap-size > 10 for 2s\"\n";

/// Starts a run with these rules that writes its messages to the file `messages`.
fn watching(fake: &FakeRuntime, folder: &Folder, rules: &str, words: &[&str]) -> Child {
    std::fs::write(folder.0.join("rules.toml"), rules).unwrap();
    let messages = std::fs::File::create(folder.0.join("messages")).unwrap();
    let port = address(fake);
    let words = [&["collect", "--port", &port, "--rules", "rules.toml"], words].concat();
    // A rule is silent after ten intervals without a value, however short they are.
    let mut command = command(&words);
    command
        .env("NETTRACE_DELAYS", "silent-rule=0")
        .current_dir(&folder.0)
        .stdin(Stdio::null())
        .stderr(messages)
        .spawn()
        .unwrap()
}

fn messages(folder: &Folder) -> String {
    std::fs::read_to_string(folder.0.join("messages")).unwrap()
}

/// Returns the JSON messages.
fn objects(folder: &Folder) -> Vec<serde_json::Value> {
    let messages = messages(folder);
    messages
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Waits for `count` JSON messages of this event, then ends the run.
fn ended_after(
    mut child: Child,
    folder: &Folder,
    event: &str,
    count: usize,
) -> Vec<serde_json::Value> {
    let of = || objects(folder).into_iter().filter(|object| object["event"] == event).count();
    wait_until(event, || of() >= count || child.try_wait().unwrap().is_some());
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(0), "{}", messages(folder));
    objects(folder)
}

fn recordings(folder: &Folder) -> Vec<String> {
    folder.names().into_iter().filter(|name| name.contains(".nettrace")).collect()
}

#[cfg(unix)]
#[test]
fn a_rule_records_when_its_condition_has_held_for_its_time_and_says_so() {
    let (folder, bytes) = (Folder::new(), metrics());
    let fake = FakeRuntime::start(up_to_the_end_mark(&bytes)).unwrap();
    let rules = format!(
        "[[rule]]\nname = \"heap\"\n{HOLDS}duration = \"200ms\"\nproviders = \"Mine:1:5\"\n"
    );
    let objects = ended_after(watching(&fake, &folder, &rules, &[]), &folder, "rule-recorded", 1);
    assert_eq!(objects.len(), 2, "{objects:?}");
    let [fired, recorded] = &objects[..] else { panic!() };
    assert_eq!(
        (&fired["event"], &fired["rule"], &fired["action"]),
        (&"rule-fired".into(), &"heap".into(), &"start".into())
    );
    assert_eq!(fired["condition"], "System.Runtime/gc-heap-size > 10 for 2s");
    assert!(fired["values"]["System.Runtime/gc-heap-size"].as_f64().unwrap() > 10.0);
    let pid = fired["process_id"].int();
    let files = recordings(&folder);
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(
        files[0].starts_with(&format!("fake_{pid}_20")) && files[0].ends_with("_heap.nettrace"),
        "{files:?}"
    );
    assert_eq!(
        (&fired["files"][0], &recorded["files"][0]),
        (&files[0].as_str().into(), &files[0].as_str().into())
    );
    assert!(std::fs::read(folder.0.join(&files[0])).unwrap() == bytes);
    assert_eq!(recorded["bytes"], bytes.len());
    // One session watches and one records; both are stopped.
    assert_eq!((fake.stops().len(), fake.session_count(), fake.death()), (2, 0, None));
    let starts: Vec<String> =
        fake.requests().iter().filter(|r| r[16] == 2 && r[17] != 1).map(|r| utf16(r)).collect();
    assert!(
        starts[0].contains("System.Runtime") && starts[0].contains("EventCounterIntervalSec=1"),
        "{starts:?}"
    );
    assert!(
        starts[1].contains("Mine") && !starts[1].contains("EventCounterIntervalSec"),
        "{starts:?}"
    );
}

/// Returns the texts of a request.
fn utf16(request: &[u8]) -> String {
    request.iter().filter(|byte| byte.is_ascii_graphic()).map(|byte| char::from(*byte)).collect()
}

#[test]
fn a_rule_whose_condition_does_not_hold_for_so_long_records_nothing() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(up_to_the_end_mark(&metrics())).unwrap();
    let rules = "[[rule]]\nname = \"heap\"\nwhen = \"System.Runtime/gc-heap-size > 10 for 3s\"\n\
                 [[rule]]\nname = \"typo\"\nwhen = \"System.Runtime/gc-heap-szie > 10\"\n\
                 [[rule]]\nname = \"none\"\nwhen = \"Nobody/nothing > 10\"\n";
    let mut child = watching(&fake, &folder, rules, &["--duration", "1s"]);
    assert_eq!(child.wait().unwrap().code(), Some(0), "{}", messages(&folder));
    assert_eq!((recordings(&folder).len(), objects(&folder).len(), fake.stops().len()), (0, 0, 2));
    let messages = messages(&folder);
    assert!(
        messages.contains("rule typo cannot fire: System.Runtime has no counter gc-heap-szie"),
        "{messages}"
    );
    assert!(
        messages.contains("rule none never fired: no value of Nobody/nothing came"),
        "{messages}"
    );
    assert!(!messages.contains("rule heap"), "{messages}");
}

#[cfg(unix)]
#[test]
fn a_rule_of_events_counts_them() {
    let folder = Folder::new();
    let bytes = trace("net10-linux-x64/all.nettrace.gz");
    let fake = FakeRuntime::start(up_to_the_end_mark(&bytes)).unwrap();
    let rules = "[[rule]]\nname = \"gc\"\nwhen = \"GC/Start where Depth >= 0 3 times in 1min\"\nduration = \"100ms\"\n";
    let objects = ended_after(watching(&fake, &folder, rules, &[]), &folder, "rule-recorded", 1);
    assert_eq!(objects[0]["rule"], "gc");
    // The events of the condition are requested, and nothing else.
    let start = fake.requests().into_iter().find(|r| r[16] == 2).unwrap();
    let texts = utf16(&start);
    assert!(
        texts.contains("Microsoft-Windows-DotNETRuntime") && !texts.contains("SampleProfiler"),
        "{texts}"
    );
}

#[cfg(unix)]
#[test]
fn a_rule_keeps_what_the_rotation_has() {
    let (folder, bytes) = (Folder::new(), metrics());
    let fake = FakeRuntime::start(up_to_the_end_mark(&bytes)).unwrap();
    let rules =
        format!("[[rule]]\nname = \"heap\"\n{HOLDS}action = \"keep\"\nkeep-after = \"300ms\"\n");
    let words = ["--rotate", "3x100MB", "-o", "box.nettrace"];
    let objects =
        ended_after(watching(&fake, &folder, &rules, &words), &folder, "rule-recorded", 1);
    assert_eq!(objects[0]["action"], "keep");
    let files = recordings(&folder);
    let (kept, others): (Vec<&String>, Vec<&String>) =
        files.iter().partition(|name| name.contains("_heap_"));
    assert!(
        kept.len() == 1 && kept[0].starts_with("box_") && kept[0].ends_with("_heap_0001.nettrace"),
        "{files:?}"
    );
    assert!(std::fs::read(folder.0.join(kept[0])).unwrap() == bytes);
    // The rotation has gone on.
    assert_eq!(others, ["box_0002.nettrace"]);
    assert_eq!((fake.stops().len(), fake.session_count()), (3, 0));
}

#[cfg(unix)]
#[test]
fn what_is_to_be_kept_is_kept_when_the_run_ends_before() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(up_to_the_end_mark(&metrics())).unwrap();
    let rules =
        format!("[[rule]]\nname = \"heap\"\n{HOLDS}action = \"keep\"\nkeep-after = \"1h\"\n");
    let child = watching(&fake, &folder, &rules, &["--rotate", "3x100MB"]);
    let objects = ended_after(child, &folder, "rule-fired", 1);
    assert_eq!(objects.last().unwrap()["event"], "rule-recorded", "{objects:?}");
    let files = recordings(&folder);
    assert!(files.len() == 1 && files[0].ends_with("_heap_0001.nettrace"), "{files:?}");
}

#[cfg(unix)]
#[test]
fn a_rule_has_so_many_files_and_those_of_runs_before_are_its_too() {
    let old = |rule: &str| format!("shop_1_20200101_000000_{rule}.nettrace");
    for (limit, removes) in
        [("max-files = 1", true), ("max-disk = \"100KB\"", true), ("max-files = 2", false)]
    {
        let folder = Folder::new();
        let fake = FakeRuntime::start(up_to_the_end_mark(&metrics())).unwrap();
        for name in [old("heap"), old("heap-2"), old("other"), "mine_heap.nettrace".to_owned()] {
            std::fs::write(folder.0.join(name), vec![0; 90 << 10]).unwrap();
        }
        std::fs::remove_file(folder.0.join(old("heap-2"))).unwrap();
        let rules = format!("[[rule]]\nname = \"heap\"\n{HOLDS}duration = \"200ms\"\n{limit}\n");
        ended_after(watching(&fake, &folder, &rules, &[]), &folder, "rule-recorded", 1);
        let files = recordings(&folder);
        assert_eq!(files.contains(&old("heap")), !removes, "{limit}: {files:?}");
        assert!(
            files.contains(&old("other")) && files.contains(&"mine_heap.nettrace".to_owned()),
            "{files:?}"
        );
        assert_eq!(
            messages(&folder).contains("is removed: newer ones take its place"),
            removes,
            "{}",
            messages(&folder)
        );
    }
}

#[cfg(unix)]
#[test]
fn a_rule_that_may_not_remove_anything_records_no_more() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(up_to_the_end_mark(&metrics())).unwrap();
    std::fs::write(folder.0.join("shop_1_20200101_000000_heap.nettrace"), "old").unwrap();
    let rules = format!("when-full = \"stop\"\nmax-files = 1\n[[rule]]\nname = \"heap\"\n{HOLDS}");
    let mut child = watching(&fake, &folder, &rules, &[]);
    wait_until("the end of it", || messages(&folder).contains("it records nothing more"));
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!((recordings(&folder).len(), objects(&folder).len()), (1, 0));
}

#[cfg(unix)]
#[test]
fn a_recording_of_a_rule_ends_at_its_size_too() {
    let folder = Folder::new();
    let bytes = metrics();
    let slow = FakeConfig {
        piece_bytes: 16 << 10,
        piece_pause: Duration::from_millis(2),
        ..up_to_the_end_mark(&bytes)
    };
    let fake = FakeRuntime::start(slow).unwrap();
    let rules =
        format!("[[rule]]\nname = \"heap\"\n{HOLDS}duration = \"1h\"\nmax-size = \"64KB\"\n");
    ended_after(watching(&fake, &folder, &rules, &[]), &folder, "rule-recorded", 1);
    assert_eq!(recordings(&folder).len(), 1);
}

#[cfg(unix)]
#[test]
fn a_file_goes_where_the_rules_or_the_command_line_say() {
    for (folder_of_rules, output, place) in
        [("folder = \"kept\"\n", None, "kept/fake_"), ("", Some("kept/x.nettrace.gz"), "kept/x_")]
    {
        let folder = Folder::new();
        std::fs::create_dir(folder.0.join("kept")).unwrap();
        let fake = FakeRuntime::start(up_to_the_end_mark(&metrics())).unwrap();
        let rules =
            format!("{folder_of_rules}[[rule]]\nname = \"heap\"\n{HOLDS}duration = \"100ms\"\n");
        let words: Vec<&str> = output.into_iter().flat_map(|output| ["-o", output]).collect();
        let objects =
            ended_after(watching(&fake, &folder, &rules, &words), &folder, "rule-recorded", 1);
        let file = objects[1]["files"][0].text();
        assert!(file.starts_with(place) && file.contains("_heap.nettrace"), "{file}");
        assert_eq!(file.ends_with(".gz"), output.is_some());
        assert!(ran(&["info", file], &folder).code == Some(0));
    }
}

#[test]
fn errors_in_a_file_of_rules_have_their_place_and_a_hint() {
    let folder = Folder::new();
    let rule = |more: &str| format!("[[rule]]\nname = \"a\"\nwhen = \"P/c > 1\"\n{more}\n");
    for (rules, place, reason) in [
        (String::new(), "1:1", "there is no rule; write [[rule]]"),
        (
            "[[rule]]\nname = 'a'".to_owned(),
            "1:1",
            "this rule has no when; write when = \"System.Runtime/cpu-usage",
        ),
        ("[[rule]\n".to_owned(), "1:", "docs/rules.md has an example"),
        ("[rule]\nname = 'a'".to_owned(), "1:1", "begins with [[rule]], in two brackets"),
        (rule("cooldwon = '1s'"), "4:1", "a rule has no key cooldwon; did you mean cooldown?"),
        (rule("cooldown = 1"), "4:12", "cooldown is a text; put it into quotes"),
        (rule("cooldown = \"soon\""), "4:12", "is no time"),
        (rule("max-files = 0"), "4:13", "a whole number from 1 on"),
        (rule("max-disk = \"much\""), "4:12", "is no size"),
        (rule("profile = \"gc-colect\""), "4:11", "did you mean gc-collect?"),
        (rule("profile = [\"gc-collect\", 1]"), "4:26", "a list of texts"),
        (rule("clrevents = \"gc+exceptoin\""), "4:13", "did you mean exception?"),
        (rule("action = \"keep\"\nduration = \"1s\""), "5:12", "\"keep\" has no duration"),
        (rule("keep-after = \"1s\""), "4:14", "only action = \"keep\" has it"),
        (rule("when-full = \"stop\""), "4:13", "write max-files = 5"),
        (format!("{}{}", rule(""), rule("")), "6:8", "is called \"a\", too"),
        ("[[rule]]\nname = \"a b\"\nwhen = \"\"".to_owned(), "2:8", "is no name of a rule"),
        ("[[rule]]\nname = \"ä\"\nwhen = \"\"".to_owned(), "2:8", "is no name of a rule"),
        (
            "[[rule]]\nname = \"a\"\nwhen = \"P/ä > 1 and P/d > x\"".to_owned(),
            "3:27",
            "\"x\" is no number",
        ),
        (
            "[[rule]]\nname = \"a\"\nwhen = \"P/\\u0063 > x\"".to_owned(),
            "3:8",
            "column 7: \"x\" is no number",
        ),
        (
            "folder = \"nowhere\"\n[[rule]]\nname = \"a\"\nwhen = \"P/c > 1\"".to_owned(),
            "1:10",
            "there is no folder nowhere",
        ),
        (
            "interval = \"1ms\"\n[[rule]]\nname = \"a\"\nwhen = \"P/c > 1\"".to_owned(),
            "1:12",
            "every 100ms at most",
        ),
    ] {
        std::fs::write(folder.0.join("r.toml"), &rules).unwrap();
        let run = ran(&["collect", "-p", "1", "--rules", "r.toml", "--dry-run"], &folder);
        assert_eq!(run.code, Some(1), "{rules}");
        assert!(
            run.stderr.starts_with(&format!("nettrace: error: r.toml:{place}")),
            "{rules}\n{}",
            run.stderr
        );
        assert!(run.stderr.contains(reason), "{rules}\n{}", run.stderr);
    }
    let keeps = rule("action = \"keep\"");
    std::fs::write(folder.0.join("r.toml"), keeps).unwrap();
    let run = ran(&["collect", "-p", "1", "--rules", "r.toml"], &folder);
    assert!(
        run.code == Some(1) && run.stderr.contains("give --rotate 5x100MB, too"),
        "{}",
        run.stderr
    );
    let run = ran(&["collect", "-p", "1", "--rules", "none.toml"], &folder);
    assert!(
        run.code == Some(1) && run.stderr.contains("none.toml: no such file"),
        "{}",
        run.stderr
    );
    let run = ran(&["collect", "-p", "1", "--rules", "r.toml", "-o", "-"], &folder);
    assert!(
        run.code == Some(2) && run.stderr.contains("recordings of rules are files"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_example_of_the_page_on_rules_is_understood() {
    let folder = Folder::new();
    let page = std::fs::read_to_string(super::common::top().join("docs/rules.md")).unwrap();
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let example = example.replace("folder = \"/var/traces\"", "folder = \".\"");
    std::fs::write(folder.0.join("rules.toml"), example).unwrap();
    let words =
        ["collect", "-n", "shop", "--rules", "rules.toml", "--rotate", "5x100MB", "--dry-run"];
    let run = ran(&words, &folder);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for part in [
        "Rule busy, when System.Runtime/cpu-usage",
        "keep the rotation and",
        "then wait",
        "All rules; at most",
    ] {
        assert!(run.text().contains(part), "{part}: {}", run.text());
    }
}

#[cfg(unix)]
#[test]
fn a_process_that_waits_at_startup_is_let_go_once_it_is_watched() {
    let folder = Folder::new();
    for words in [&[][..], &["--rotate", "3x100MB"]] {
        let fake =
            FakeRuntime::start(FakeConfig { suspended: true, ..up_to_the_end_mark(&metrics()) })
                .unwrap();
        let rules = format!("[[rule]]\nname = \"heap\"\n{HOLDS}duration = \"100ms\"\n");
        let words = [words, &["-o", "x.nettrace", "--force"]].concat();
        ended_after(watching(&fake, &folder, &rules, &words), &folder, "rule-recorded", 1);
        assert!(ids(&fake).contains(&(4, 1)), "{:?}", ids(&fake));
    }
}

#[cfg(unix)]
#[test]
fn a_rule_whose_counters_fall_silent_says_so_once_and_when_they_are_back() {
    let folder = Folder::new();
    let bytes = metrics();
    // The heap's second value comes only after it was reported missing.
    let config = FakeConfig { holds_at: Some(bytes.len() / 2), ..up_to_the_end_mark(&bytes) };
    let fake = FakeRuntime::start(config).unwrap();
    let rules = "interval = \"100ms\"\n\
                 [[rule]]\nname = \"heap\"\nwhen = \"System.Runtime/gc-heap-size > 1TB\"\n\
                 [[rule]]\nname = \"none\"\nwhen = \"Nobody/nothing > 10\"\n\
                 [[rule]]\nname = \"event\"\nwhen = \"Nobody/Happens\"\n";
    let mut child = watching(&fake, &folder, rules, &["--rundown"]);
    let said = |what: &str| messages(&folder).matches(what).count();
    let silent_heap = "no value of System.Runtime/gc-heap-size for 1 s; until one comes";
    // A counter that has never had a value is reported sooner. On a busy machine, that may be the
    // heap's, too.
    let silent_name = "rule none: fake";
    wait_until("the silence", || said(silent_heap) == 1 && said(silent_name) == 1);
    let back_before = said("has values again");
    fake.go_on();
    wait_until("the values", || said("has values again") > back_before);
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(0), "{}", messages(&folder));
    let messages = messages(&folder);
    let count = |what: &str| messages.matches(what).count();
    assert_eq!(count(silent_heap), 1, "{messages}");
    assert_eq!(count(silent_name), 1, "{messages}");
    assert!(count("no value of Nobody/nothing for 0.2 s; until one comes") == 1, "{messages}");
    let missed = count("no value of System.Runtime/gc-heap-size for ");
    assert_eq!(count("rule heap: fake"), 2 * missed, "{messages}");
    assert_eq!(count("has values again"), missed, "{messages}");
    assert!(!messages.contains("rule event: "), "{messages}");
}

#[cfg(unix)]
#[test]
fn a_runtime_that_is_too_old_is_reported_once_and_not_by_each_rule() {
    let folder = Folder::new();
    let config = FakeConfig { major: 8, ..up_to_the_end_mark(&metrics()) };
    let fake = FakeRuntime::start(config).unwrap();
    let rule = |name: &str| {
        format!("[[rule]]\nname = \"{name}\"\n{HOLDS}duration = \"100ms\"\nno-stacks = true\n")
    };
    let rules = format!("{}{}", rule("one"), rule("two"));
    ended_after(watching(&fake, &folder, &rules, &[]), &folder, "rule-recorded", 2);
    let messages = messages(&folder);
    assert_eq!(messages.matches("this runtime is too old").count(), 1, "{messages}");
}

#[cfg(unix)]
#[test]
fn slow_requests_of_one_route_are_recorded() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(up_to_the_end_mark(&requests())).unwrap();
    let rules = "interval = \"5s\"\n[[rule]]\nname = \"slow\"\n\
                 when = \"Microsoft.AspNetCore.Hosting/http.server.request.duration{http.route=/buy} p99 > 500ms for 10s\"\n\
                 duration = \"100ms\"\ncooldown = \"1h\"\n";
    let objects = ended_after(watching(&fake, &folder, rules, &[]), &folder, "rule-recorded", 1);
    let value = objects[0]["values"].as_object().unwrap().values().next().unwrap();
    assert_eq!(value.as_f64(), Some(0.75));
    let texts = utf16(&fake.requests().into_iter().find(|r| r[16] == 2).unwrap());
    for part in [
        "System.Diagnostics.Metrics",
        "Microsoft.AspNetCore.Hosting\\http.server.request.duration",
        "RefreshInterval=5",
    ] {
        assert!(texts.contains(part), "{part}: {texts}");
    }
}

#[cfg(unix)]
#[test]
fn a_recording_of_a_rule_that_fails_is_an_error_at_once_and_the_old_ones_stay() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(up_to_the_end_mark(&metrics())).unwrap();
    let rules = format!(
        "[[rule]]\nname = \"heap\"\n{HOLDS}duration = \"1s\"\nproviders = \"Mine:1:5\"\nmax-files = 1\n"
    );
    std::fs::write(folder.0.join("rules.toml"), rules).unwrap();
    let old = "fake_1_20261120_143746_heap.nettrace";
    std::fs::write(folder.0.join(old), "old").unwrap();
    // Files are limited to a few kilobytes, as on a full disk.
    let mut child = std::process::Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"",
            env!("CARGO_BIN_EXE_nettrace"),
        ])
        .args(["collect", "--port", &address(&fake), "--rules", "rules.toml"])
        .current_dir(&folder.0)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let messages = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut lines = std::io::BufRead::lines(messages).map(Result::unwrap);
    let error = lines.find(|line| line.contains("error: ")).unwrap();
    assert!(error.contains("recording failed: "), "{error}");
    let failed = lines.find(|line| line.starts_with('{')).unwrap();
    let failed: serde_json::Value = serde_json::from_str(&failed).unwrap();
    assert_eq!((&failed["event"], &failed["rule"]), (&"rule-failed".into(), &"heap".into()));
    assert!(failed["error"].text().contains("recording failed"), "{failed}");
    assert_eq!(std::fs::read(folder.0.join(old)).unwrap(), b"old");
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
