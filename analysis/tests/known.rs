//! Traces of programs whose results are known by construction.

use nettrace_analysis::convert::{ConvertOptions, Format};
use nettrace_analysis::findings::{Finding, Summary};
use nettrace_analysis::model::NamesRemedy;
use nettrace_analysis::report::TopNOptions;
use nettrace_analysis::report::{
    Contention, ContentionReport, Counters, ReportPass, Tasks, TopN, Waits,
};
use nettrace_analysis::{Analysis, AnalysisOptions, CutStacks, Kind, NameStyle};
use nettrace_parser::Reader;
use nettrace_testdata::corpus::{self, TraceFile};

pub(crate) fn top(trace: &TraceFile) -> TopN {
    top_with(trace, AnalysisOptions::default())
}

pub(crate) fn top_with(trace: &TraceFile, mut options: AnalysisOptions) -> TopN {
    options.names.style = NameStyle::Short;
    let mut rows = TopNOptions::default();
    rows.count = usize::MAX;
    let mut pass = ReportPass::with_options(rows, options);
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

pub(crate) fn findings(trace: &TraceFile) -> Vec<Finding> {
    let mut pass = ReportPass::new(Summary::default());
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output.findings
}

/// Returns self and total milliseconds of all rows with a name.
pub(crate) fn millis(top: &TopN, name: &str) -> (f64, f64) {
    let rows = top.methods.iter().filter(|row| row.name == name);
    rows.fold((0.0, 0.0), |(own, total), row| {
        (own + row.self_ns as f64 / 1e6, total + row.total_ns as f64 / 1e6)
    })
}

#[test]
fn blocked_threads_do_not_run() {
    let trace = corpus::known("blocked/Block");
    let top = top(&trace);
    assert!(
        top.counted.total_ns < 100_000_000,
        "{} of {}",
        top.counted.total_ns,
        top.counted.waiting_ns
    );
    assert!(top.counted.waiting_ns > 28 * 2_500_000_000, "{}", top.counted.waiting_ns);
    let hot = findings(&trace).into_iter().find(|finding| finding.about() == "hottest_method");
    assert_eq!(hot, None);
}

#[test]
fn an_idle_process_has_no_hottest_method() {
    let trace = corpus::known("processexited10");
    assert_eq!(top(&trace).counted.samples, 0);
    assert!(findings(&trace).iter().all(|finding| finding.about() != "hottest_method"));
}

#[test]
fn native_calls_that_compute_run_and_those_that_wait_do_not() {
    let trace = corpus::known("native/native10");
    let top = top(&trace);
    let close = |name: &str, expected: f64| {
        let (own, _) = millis(&top, name);
        assert!((own - expected).abs() < expected * 0.05, "{name}: {own}");
    };
    close("Deflater.Deflate → native call", 989.0);
    close("Interop.Crypto.EvpDigestUpdate", 447.0);
    close("Program.Managed", 409.0);
    assert!(top.methods.iter().all(|row| !row.name.contains("Sys.Read") && row.addresses == 0));
    assert!(
        top.counted.running.computing > 1_200 && top.counted.running.native_calls < 100,
        "{:?}",
        top.counted.running
    );
    // The program reads a pipe and sleeps.
    assert!(top.counted.waiting_ns > 1_300_000_000, "{}", top.counted.waiting_ns);
}

#[test]
fn the_time_of_late_samples_goes_to_what_ran() {
    let trace = corpus::known("async/shop-full");
    let top = top(&trace);
    for (method, expected) in [
        ("Cpu.BurnA", 400.0),
        ("Cpu.BurnB", 300.0),
        ("Cpu.BurnC", 300.0),
        ("Cpu.BurnD", 300.0),
        ("Cpu.BurnE", 600.0),
        ("Cpu.BurnF", 300.0),
        ("Cpu.BurnG", 300.0),
        ("Cpu.BurnH", 300.0),
        ("Cpu.BurnI", 400.0),
    ] {
        let (_, total) = millis(&top, method);
        assert!((total - expected).abs() < expected * 0.05, "{method}: {total}");
    }
}

#[test]
fn threads_have_more_time_than_processors_can_have_run() {
    let trace = corpus::known("parallel/parallel10");
    let top = top(&trace);
    let limit = top.counted.processor_limit.expect("eight threads, two processors");
    assert_eq!(limit.processors, 2);
    assert!((2_500_000_000..2_800_000_000).contains(&limit.most_ns), "{limit:?}");
    assert!(top.counted.total_ns > 9_000_000_000, "{}", top.counted.total_ns);
}

#[test]
fn a_busy_servers_samples_are_told_apart() {
    let trace = corpus::known("webload/server10");
    let top = top(&trace);
    let near = |count: u64, expected: u64| count.abs_diff(expected) * 20 <= expected;
    assert!(near(top.counted.running.taking_lock, 525), "{:?}", top.counted.running);
    assert!(top.counted.running.native_calls.abs_diff(1_233) < 100, "{:?}", top.counted.running);
    assert!(top.methods.iter().all(|row| row.addresses == 0), "no row without a name");
    let hottest = &top.methods[0].name;
    assert_eq!(hottest, "SocketPal.TryCompleteSendTo → native call");
    for finding in findings(&trace) {
        assert!(!finding.text().contains("native call"), "{}", finding.text());
    }
}

fn contention(trace: &TraceFile) -> ContentionReport {
    let mut pass = ReportPass::new(Contention::default());
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

/// Threads of a circle, and threads that wait for the circle.
type Circle = (Vec<u64>, Vec<u64>);

/// Returns all circles, and the first finding.
fn deadlocks(trace: &TraceFile) -> (Vec<Circle>, String) {
    let circles = contention(trace).deadlocks.into_iter();
    let first = findings(trace).first().map_or_else(String::new, |first| first.text());
    (circles.map(|circle| (circle.thread_ids, circle.victim_ids)).collect(), first)
}

#[test]
fn who_waits_for_whom_in_a_circle_is_a_deadlock_and_comes_first() {
    for (name, circle, victims, place) in [
        ("two", &[21670, 21671][..], &[][..], "Bank.Program.LockSecond"),
        ("ring", &[22455, 22456, 22457], &[], "Bank.Program.LockSecond"),
        ("newlock", &[23233, 23234], &[], "Bank.Program.Take"),
        ("mix", &[24222, 24223], &[24224], "Bank.Program.LockSecond"),
    ] {
        let trace = corpus::known(&format!("deadlock/Dead-{name}"));
        let (circles, first) = deadlocks(&trace);
        assert_eq!(circles, [(circle.to_vec(), victims.to_vec())], "{name}");
        assert!(first.starts_with("deadlock: ") && first.contains(place), "{first}");
    }
}

#[test]
fn in_converted_files_a_wait_that_never_ends_counts_until_the_end_in_a_frame_of_its_own() {
    let trace = corpus::known("deadlock/Dead-mix");
    let at_least: u64 = contention(&trace).locks.iter().map(|lock| lock.open_ns).sum();
    for name in ["folded", "speedscope", "svg"] {
        let format = Format::by_name(name).unwrap();
        let (mut convert, mut options) = (ConvertOptions::default(), AnalysisOptions::default());
        convert.kinds = vec![Kind::Contention];
        options.kinds = vec![Kind::Contention];
        let mut out = Vec::new();
        let mut analysis = Analysis::new(options);
        analysis.add_format(format, &mut out, &convert);
        let bytes = trace.bytes();
        let outcome = analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
        assert!(outcome.is_complete);
        analysis.finish().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("(still waiting)") && !text.contains("new (still"), "{name}");
        if name == "folded" {
            let open = text.lines().filter_map(|line| line.split_once(";(still waiting) "));
            let sum: u64 = open.map(|(_, nanos)| nanos.parse::<u64>().unwrap()).sum();
            assert_eq!(sum, at_least);
            assert!(sum > 8_000_000_000, "{sum}");
        }
    }
}

#[test]
fn a_wait_that_never_ends_counts_until_the_end_and_comes_first() {
    let trace = corpus::known("waits-that-never-end");
    let report = contention(&trace);
    let open: Vec<_> = report
        .open
        .iter()
        .map(|row| {
            let millis = row.wait.at_least_ns / 1_000_000;
            let lock = row.lock_id.as_deref().unwrap();
            (row.wait.thread_id.unwrap(), lock, row.owner_thread_id.unwrap(), millis)
        })
        .collect();
    assert_eq!(open, [(21, "0xb000", 22, 2_900), (22, "0xa000", 21, 2_899)]);
    let locks: Vec<_> = report.locks.iter().map(|lock| lock.lock_id.as_deref().unwrap()).collect();
    assert_eq!(locks, ["0xb000", "0xa000", "0xc000"]);
    assert_eq!(deadlocks(&trace).0, [(vec![21, 22], vec![])]);
    let mut pass = ReportPass::new(Waits::default());
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let waits = pass.finish().output;
    let [wait] = &*waits.open else { panic!("{:?}", waits.open) };
    assert_eq!((wait.thread_id, wait.at_least_ns / 1_000_000), (Some(24), 2_880));
    assert!(wait.frames[0].text.contains("App.Startup.WaitForReply"));
}

#[test]
fn series_have_the_tags_of_their_meters_and_values_with_commas_are_one_tag() {
    let trace = corpus::known("meter-tags");
    let mut pass = ReportPass::new(Counters::default());
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let series = pass.finish().output.series;
    let of = |name: &str| series.iter().filter(|series| series.name == name).collect::<Vec<_>>();
    let peers: Vec<_> =
        of("received").iter().map(|series| (series.tags.clone(), series.last)).collect();
    let bind = |value: &str| vec![("bind".to_owned(), value.to_owned())];
    assert_eq!(peers, [(bind("0.0.0.0"), 97.0), (bind("::"), 970.0)]);
    let url = ("url".to_owned(), "/api/items?filter=red,blue&sort=name".to_owned());
    assert!(of("hits").iter().any(|series| series.tags.contains(&url)));
    assert_eq!(of("inf")[0].mean, f64::INFINITY);
}

#[test]
fn awaits_of_each_others_semaphore_are_waits_without_end() {
    let trace = corpus::known("deadlock/Dead-sem");
    let mut pass = ReportPass::new(Tasks::default());
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let open = pass.finish().output.open;
    let [second, first] = &*open else { panic!("{open:?}") };
    assert!(second.wait.frames[0].text.contains("Bank.Program.Second"), "{second:?}");
    assert!(first.wait.frames[0].text.contains("Bank.Program.First"), "{first:?}");
    for wait in [first, second] {
        assert!(!wait.is_blocking && wait.wait.at_least_ns > 3_200_000_000, "{wait:?}");
    }
    let finding = &findings(&trace)[0];
    assert_eq!((finding.about(), finding.command()), ("endless_wait", "report tasks"));
    assert!(
        finding.text().contains("Program.First, Dead!Bank.Program.Second"),
        "{}",
        finding.text()
    );
}

#[test]
fn a_pool_whose_workers_all_wait_for_tasks_is_starved_and_the_method_is_named() {
    let trace = corpus::known("deadlock/Dead-starve");
    let finding = &findings(&trace)[0];
    let headline = finding.headline();
    assert_eq!(
        (finding.about(), headline.whole(), headline.unit.name()),
        ("starvation", 4, "threads")
    );
    assert!(finding.text().ends_with("most in Dead!Bank.Program.Blocking"), "{}", finding.text());
    let mut pass = ReportPass::new(Waits::default());
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let waits = pass.finish().output;
    assert_eq!((waits.open.len(), waits.idle), (4, 2));
    assert!(waits.open.iter().all(|wait| wait.is_pool_worker));
    // Idle waits come after all others.
    let is_idle: Vec<bool> = waits.places.iter().map(|place| place.is_idle).collect();
    assert!(is_idle.is_sorted() && is_idle.contains(&false) && is_idle.contains(&true));
}

#[test]
fn of_locks_that_are_older_than_the_session_the_stacks_tell() {
    let trace = corpus::known("blocked/Block");
    let report = contention(&trace);
    assert!(report.locks.is_empty() && report.open.is_empty());
    assert_eq!(report.stuck.len(), 3);
    for thread in &report.stuck {
        assert!(thread.is_from_start && thread.at_least_ns > 2_000_000_000, "{thread:?}");
    }
}

#[test]
fn stacks_that_have_lost_their_callers_are_counted_and_marked() {
    let trace = corpus::known("deep-stacks");
    let cut = "(callers cut off at 100 frames)";
    for (how, expected) in [(CutStacks::Repair, 873), (CutStacks::Mark, 873), (CutStacks::Keep, 0)]
    {
        let mut options = AnalysisOptions::default();
        options.cut_stacks = how;
        let top = top_with(&trace, options);
        let marked = top.methods.iter().find(|row| row.name == cut).map(|row| row.total_samples);
        // A recursive method looks the same at each depth, so nothing can be repaired.
        assert_eq!((top.counted.cut_off_samples, top.counted.repaired_samples), (expected, 0));
        assert_eq!(marked.unwrap_or(0), expected);
    }
}

#[test]
fn names_are_those_of_the_source() {
    let trace = corpus::known("names/Names");
    let mut options = AnalysisOptions::default();
    options.names.style = NameStyle::Signature;
    let mut rows = TopNOptions::default();
    rows.count = usize::MAX;
    let mut pass = ReportPass::with_options(rows, options);
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let methods = pass.finish().output.methods;
    for (name, least) in [
        ("Names!Nm.Impl.Gen<T>(T)", 150.0),
        ("Names!Nm.Sub.V<T>()", 120.0),
        ("Names!Nm.Outer<int>.Mid<__Canon>.F<T>(int,__Canon,T,int&,long&,string[])", 45.0),
        ("Names!Nm.Un.Ptr(int*,void**,delegate*<int,void>,nint,nuint,int&,Span<char>)", 45.0),
        ("Names!Nm.Hidden.Go()", 45.0),
        ("Names!Nm.Program.Lambdas.Gen<T>()", 40.0),
    ] {
        let row = methods.iter().find(|row| row.name == name);
        let millis = row.map(|row| row.total_ns as f64 / 1e6);
        assert!(millis.is_some_and(|millis| millis > least), "{name}: {millis:?}");
    }
    assert!(methods.iter().all(|row| !row.name.contains("!!") && !row.name.contains("fnptr")));
}

#[test]
fn code_compiled_ahead_of_time_is_its_module_and_an_offset_until_symbols_name_it() {
    let trace = corpus::known("nativeaot/Aot");
    let bytes = trace.bytes();
    let mut pass = ReportPass::new(nettrace_analysis::report::TreeOptions::default());
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let reported = pass.finish();
    assert!(reported.output.nodes.iter().all(|node| node.name.starts_with("Aot+0x")));
    assert_eq!(reported.coverage.advice(true).unwrap().remedy, Some(NamesRemedy::Symbols));
    assert_eq!(reported.output.counted.processor_limit, None);
}

#[test]
fn a_threads_main_method_is_one_span_though_stacks_below_it_have_lost_it() {
    use nettrace_analysis::convert::{ConvertOptions, Format};
    let trace = corpus::known("deep-stacks");
    let (bytes, mut out) = (trace.bytes(), Vec::new());
    let mut analysis = nettrace_analysis::Analysis::new(AnalysisOptions::default());
    let format = Format::by_name("chromium").unwrap();
    analysis.add_format(format, &mut out, &ConvertOptions::default());
    assert!(analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    drop(analysis.finish().unwrap());
    let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let events = document["traceEvents"].as_array().unwrap();
    let begun = |name: &str| {
        let is_it = |event: &&serde_json::Value| event["ph"] == "B" && event["name"] == name;
        events.iter().filter(is_it).count()
    };
    assert_eq!((begun("r!P.Main(string[])"), begun("(callers cut off at 100 frames)")), (1, 4));
}

/// A recording, the method that the first or second finding names, its share of the running time if
/// it is known, and further words of the findings.
type Habit = (&'static str, &'static str, Option<f64>, &'static [&'static str]);

#[test]
fn the_first_sentences_name_the_programs_own_method_and_what_it_does_wrong() {
    let habits: [Habit; 17] = [
        ("badhash", "Index.Fill", Some(95.0), &["Dictionary"]),
        (
            "blockingpool",
            "Sync.Wait",
            None,
            &["starved", "grew from 4 to 26", "blocked 58.3", "in Task.Wait under"],
        ),
        (
            "compile",
            "Rules.Build",
            Some(85.0),
            &["86 % in Expression<__Canon>.Compile", "3,012 dynamic methods"],
        ),
        ("concat", "Report.Print", Some(96.0), &["String.Concat", "most begin in hab!Report"]),
        ("contains", "Basket.Fill", Some(98.0), &["List<__Canon>.Contains"]),
        ("convoy", "Ledger.Post", None, &["6 threads waited 3.7", "for a lock", "sleeps"]),
        ("finalizers", "Handle.Finalize", Some(45.0), &["on the finalizer's thread"]),
        ("gc-growth", "Journal.Append", None, &["the heap only grew"]),
        ("gc-loh", "Image.Decode", None, &["all of generation 2", "large objects"]),
        ("gc-midlife", "Queue.Round", None, &["of them copied", "is promoted"]),
        ("gc-pinned", "Buffers.Pin", None, &["pinned objects"]),
        ("induced", "Cache.Trim", Some(96.0), &["all were induced", "GC.Collect"]),
        ("reflect", "Mapper.Get", Some(83.0), &["Type.GetProperty"]),
        ("regex", "Filter.Match", Some(93.0), &["94 % in Regex.IsMatch"]),
        ("sort", "Ranking.Insert", Some(94.0), &["List<__Canon>.Sort"]),
        ("threads", "Pump.Start", None, &["1,505 threads, 1,500 of them started", "about 1."]),
        ("timers", "Ticks.Tick", Some(71.0), &["in which idle workers spun", "called by timers"]),
    ];
    habits.into_iter().for_each(assert_habit_is_named);
}

fn assert_habit_is_named((name, method, share, causes): Habit) {
    let trace = corpus::known(&format!("habits/{name}"));
    let findings = findings(&trace);
    let first: Vec<String> = findings.iter().take(2).map(|finding| finding.text()).collect();
    let all = first.join("; ");
    assert!(all.contains(method), "{name}: {all}");
    assert!(causes.iter().all(|cause| all.contains(cause)), "{name}: {all}");
    let said = first.iter().find(|text| text.contains("of the running time"));
    let said = said.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    if let Some(share) = share {
        assert!(said.is_some_and(|said| (said - share).abs() <= 3.0), "{name}: {all}");
    }
}

#[test]
fn what_a_recording_does_in_the_process_is_one_row_and_no_finding() {
    let trace = corpus::known("habits/convoy");
    let mut options = AnalysisOptions::default();
    options.folding.is_recording = Some(true);
    let top = top_with(&trace, options);
    let first = &top.methods[0];
    assert_eq!((&*first.name, first.self_ns), ("(recording)", first.total_ns));
    assert!((first.self_percent - 77.0).abs() < 1.0, "{first:?}");
    assert!(top.methods.iter().all(|row| !row.name.contains("SearchValues")));
    assert!(findings(&trace).iter().all(|finding| !finding.text().contains("recording")));
}

#[test]
fn what_a_launched_process_allocated_before_its_first_collection_counts() {
    let trace = corpus::known("habits/gc-growth");
    let mut pass = ReportPass::new(nettrace_analysis::report::Gc::default());
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let report = pass.finish().output;
    assert!(report.collections[0].allocated_bytes.is_some());
    assert_eq!(report.totals.allocated_bytes >> 20, 363);
}

#[test]
fn a_process_that_died_is_said_to_first_and_where_it_was() {
    use nettrace_analysis::fact::ProcessEnd;
    use nettrace_analysis::findings::Summary;
    for (name, second) in [
        ("crash/throw-names", Some("of the running time (804 samples) in die!Program.Busy")),
        ("crash/throw-default", None),
    ] {
        let trace = corpus::known(name);
        let mut pass = ReportPass::new(Summary::default());
        let bytes = trace.bytes();
        let outcome = pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
        assert!(!outcome.is_complete);
        let mut summary = pass.finish().output;
        summary.set_process_end(ProcessEnd::from_exit_code(134));
        let first = &summary.findings[0].text();
        assert!(first.starts_with("the recording ends in the middle, after 1."), "{first}");
        assert!(first.contains("exit status 134 (SIGABRT)"), "{first}");
        if let Some(second) = second {
            assert!(first.ends_with("last seen in die!Program.Busy"), "{first}");
            assert!(summary.findings[1].text().contains(second), "{:?}", summary.findings);
        }
        // Missing names come last, because they are no fact about the program.
        let last = summary.findings.last().unwrap();
        assert_eq!(last.about(), "missing_names");
    }
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn symbols_name_code_compiled_ahead_of_time() {
        let trace = corpus::known("nativeaot/Aot");
        let symbols = corpus::known_file("nativeaot/Aot.dbg.gz");
        let symbols = nettrace_analysis::SymbolFile::from_bytes(&symbols).unwrap();
        let bytes = trace.bytes();
        let mut options = AnalysisOptions::default();
        options.names.style = NameStyle::Short;
        let mut rows = TopNOptions::default();
        rows.count = usize::MAX;
        let mut pass = ReportPass::with_options(rows, options);
        assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
        pass.model_mut().add_symbol_file("bin/Aot/Aot", symbols).unwrap();
        let top = pass.finish().output;
        for (method, expected) in [
            ("Program.Alpha", 600.5),
            ("Program.Beta", 299.7),
            ("Box<int>.Grind", 200.3),
            ("Box<__Canon>.Grind", 199.4),
            ("Program.Main.lambda_5_0", 203.0),
        ] {
            let (_, total) = millis(&top, method);
            assert!((total - expected).abs() < expected * 0.02, "{method}: {total}");
        }
        // 200 ms on the thread pool, and the part before the first await.
        let (_, later) = millis(&top, "Program.Later");
        assert!((200.0..220.0).contains(&later), "{later}");
        // Waits in managed code are recognised by names.
        assert!(top.counted.waiting_ns > 18_000_000_000, "{}", top.counted.waiting_ns);
        assert!(top.counted.running.managed > 1_000, "{:?}", top.counted.running);
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn methods_that_the_runtime_suspends_are_told_as_such() {
        use nettrace_analysis::diff::{self, DiffReport, Per, Subject};
        use nettrace_analysis::report::{AsyncPart, Exceptions, Jit};
        let (classic, new) = (
            corpus::trace("net11-linux-x64/classic-async.nettrace"),
            corpus::trace("net11-linux-x64/runtime-async.nettrace"),
        );
        let facts = [&classic, &new].map(|trace| {
            let bytes = trace.bytes();
            let mut pass = diff::pass(AnalysisOptions::default());
            assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
            pass.finish().output
        });
        let [old_facts, new_facts] = &facts;
        let report = DiffReport::new(
            std::slice::from_ref(old_facts),
            std::slice::from_ref(new_facts),
            Per::Second,
        );
        for subject in [Subject::MethodTotal, Subject::Contention] {
            let mut rows = report.rows.iter().filter(|row| row.key.subject == subject);
            let row = rows.find(|row| row.key.name == "AsyncChain!Chain.Program.B(int)");
            assert!(row.is_some_and(|row| row.old > 0.0 && row.new > 0.0), "{subject:?} {row:?}");
        }
        assert!(
            report.rows.iter().all(|row| !row.key.name.starts_with("AsyncChain!Chain.Program.B()"))
        );
        let boxes = |row: &&diff::DiffRow| {
            row.key.subject == Subject::Type && row.key.name.contains("Box<")
        };
        assert_eq!(report.rows.iter().find(boxes), None);
        let mut types = report.rows.iter().filter(|row| row.key.subject == Subject::Type);
        let states = types.find(|row| row.key.name == "(state of suspended async methods)");
        assert!(states.is_some_and(|row| row.old > 0.0 && row.new > 0.0), "{states:?}");
        let bytes = new.bytes();
        let mut pass = ReportPass::new((Jit::default(), Tasks::default(), Exceptions::default()));
        assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
        let (jit, tasks, exceptions) = pass.finish().output;
        let parts: Vec<_> = jit
            .methods
            .iter()
            .filter(|row| row.name.starts_with("Chain.Program.Worker("))
            .filter_map(|row| row.async_part)
            .collect();
        assert!(parts.contains(&AsyncPart::Thunk) && parts.contains(&AsyncPart::Body), "{parts:?}");
        assert!(
            jit.methods.iter().all(|row| !row.name.contains(".Burn(") || row.async_part.is_none())
        );
        assert!(tasks.has_runtime_async);
        for row in &exceptions.types {
            assert_eq!(row.caught_in[0].method, "(carried to the awaiting method)");
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn the_first_sentences_name_what_throws_for_each_wrong_number() {
        let causes = &["100,000 exc", "thrown by Int32.Parse in"];
        assert_habit_is_named(("parse", "Input.Read", Some(96.0), causes));
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn the_first_sentences_of_a_heap_are_what_holds_it() {
        use nettrace_analysis::heap::{HeapDump, HeapReader, HeapReport, Retained};
        let trace = corpus::known("leak/leak10");
        let (bytes, mut reader) = (trace.bytes(), HeapReader::default());
        assert!(reader.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
        let dumps = reader.finish();
        let dump = &dumps[HeapDump::usual(&dumps).unwrap()];
        let report = HeapReport::new(&dumps, dump, &Retained::from_dump(dump));
        let sentences: Vec<String> = report.sentences();
        assert_eq!(
            sentences,
            [
                "15.7 MiB of 22.1 MiB (71 %) are held by static ByKey: a Dictionary<string, Order> of \
             20,000 entries",
                "6.1 MiB of 22.1 MiB (28 %) are held by static Changed: an event with 3,000 \
             subscribers, all View (5.9 MiB)",
                "of your types 20,000 Order keep 13.9 MiB alive, 3,000 View 5.9 MiB",
            ]
        );
        // The pause for the dump is no finding.
        assert!(findings(&trace).iter().all(|finding| finding.about() != "gc"));
        let same = nettrace_analysis::heap::HeapDiff::new(&report, &report);
        assert!(same.holders.is_empty() && same.sentences().is_empty());
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn what_is_wrong_with_a_web_application_is_among_the_first_sentences() {
        let planted: [(&str, &[&str]); 5] = [
            ("dt-locks", &["starved", "in Task.Wait under", "waits for locks", "ReserveUnderLock"]),
            ("dt-gcverbose", &["large objects", "29.3 MiB in 100 allocations", "System.Byte[] in"]),
            ("dt-database", &["10 in each of 10", "(N+1)", "CustomerId"]),
            (
                "dt-noinline",
                &["Task.Result under shop!Shop.SyncOverAsync.GetSlow", "ReserveUnderLock"],
            ),
            ("dt-default", &["starved", "to 17", "in Task.Wait under", "exceptions ("]),
        ];
        for (name, words) in planted {
            let trace = corpus::web(name);
            let all: Vec<String> =
                findings(&trace).into_iter().map(|finding| finding.text()).collect();
            let all = all.join("; ");
            assert!(words.iter().all(|word| all.contains(word)), "{name}: {all}");
        }
        let good = corpus::web("dt-good");
        let about: Vec<&str> = findings(&good).into_iter().map(|finding| finding.about()).collect();
        for planted in ["starvation", "contention", "lock_waits", "repeated_query", "gc"] {
            assert!(!about.contains(&planted), "{about:?}");
        }
    }
}
