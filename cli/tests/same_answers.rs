//! Asserts that whoever asks the library with default options is told what the command says, by
//! every report and in every format.

use crate::common;

use common::nettrace;
use nettrace_analysis::convert::{ConvertError, ConvertOptions, FORMATS, Format};
use nettrace_analysis::findings::Summary;
use nettrace_analysis::report::{
    Activities, Alloc, Contention, Counters, Exceptions, Gc, Http, Jit, Loader, Logs, Modules,
    Report, ReportPass, Sql, Startup, Tasks, ThreadPool, Threads, TopNOptions, TreeOptions, Types,
    Waits,
};
use nettrace_analysis::{Analysis, AnalysisOptions};
use nettrace_parser::{Reader, TimeOrdered, Whole};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Traces with samples and requests, with waits, and a cut one.
const TRACES: [&str; 3] = [
    "testdata/web/dt-diag.nettrace.gz",
    "testdata/traces/net10-linux-x64/waits.nettrace.gz",
    "testdata/traces/net10-linux-x64/killed-1.nettrace.gz",
];

/// Names of reports, each with its document by the library about a trace.
macro_rules! documents {
    ($bytes:expr; $($report:ty),+ $(,)?) => {
        [$((<$report>::NAME, document::<$report>($bytes))),+]
    };
}

fn events(bytes: &[u8]) -> TimeOrdered<Whole<&[u8]>> {
    Reader::from_slice(bytes).time_ordered()
}

fn document<R: Report + Default>(bytes: &[u8]) -> Value
where
    R::Output: serde::Serialize,
{
    let mut pass = ReportPass::new(R::default());
    let _outcome = pass.read(&mut events(bytes)).unwrap();
    let text = serde_json::to_string(&pass.finish()).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn unpacked(path: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(common::top().join(path)).unwrap();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(file), &mut bytes).unwrap();
    bytes
}

/// Returns the names of the reports that help lists, but for the one that writes a page.
fn reports_in_help() -> Vec<String> {
    let help = nettrace(&["report", "--help"]);
    let list = help.text().split_once("Reports:\n").unwrap().1.split_once("\n\n").unwrap().0;
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "html").map(str::to_owned).collect()
}

#[test]
fn every_report_of_the_library_is_the_document_of_the_command() {
    for path in TRACES {
        let bytes = unpacked(path);
        let documents = documents!(&bytes; Summary, TopNOptions, TreeOptions, Threads, Modules, Gc,
            Alloc, Types, Jit, Startup, Loader, ThreadPool, Exceptions, Contention, Waits, Tasks,
            Activities, Http, Sql, Logs, Counters);
        assert_eq!(documents.each_ref().map(|(name, _)| *name).to_vec(), reports_in_help());
        for (name, ours) in documents {
            let theirs = nettrace(&["report", name, path, "--json"]).json();
            let differs = first_difference(&ours, &theirs, name.to_owned());
            assert_eq!(differs, None, "{path}: library and command");
        }
    }
}

/// Returns where two documents differ, with both values.
fn first_difference(ours: &Value, theirs: &Value, at: String) -> Option<String> {
    match (ours, theirs) {
        _ if ours == theirs => None,
        (Value::Object(one), Value::Object(other)) => {
            let names = one.keys().chain(other.keys());
            let differing = names.filter(|name| one.get(*name) != other.get(*name));
            let null = Value::Null;
            differing.into_iter().find_map(|name| {
                let [one, other] = [one, other].map(|of| of.get(name).unwrap_or(&null));
                first_difference(one, other, format!("{at}.{name}"))
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let mut rows = one.iter().zip(other).enumerate();
            rows.find_map(|(at_row, (one, other))| {
                first_difference(one, other, format!("{at}[{at_row}]"))
            })
        }
        (Value::Array(one), Value::Array(other)) => {
            Some(format!("{at}: {} and {} rows", one.len(), other.len()))
        }
        _ => Some(format!("{at}: {ours} and {theirs}")),
    }
}

/// Output of a converter that is kept.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Converts a trace with the library's defaults; the title is the file's name.
fn converted(path: &str, bytes: &[u8], format: &Format) -> Result<Vec<u8>, ConvertError> {
    let mut analysis = Analysis::new(AnalysisOptions::default());
    let mut wanted = ConvertOptions::default();
    wanted.title = Path::new(path).file_name().unwrap().to_str().unwrap().to_owned();
    let out = Kept::default();
    analysis.add_format(format, out.clone(), &wanted);
    let _outcome = analysis.read(&mut events(bytes)).unwrap();
    analysis.finish()?;
    let written = out.0.lock().unwrap().clone();
    Ok(written)
}

#[test]
fn every_format_of_the_library_is_the_file_of_the_command() {
    for path in TRACES {
        let bytes = unpacked(path);
        for format in FORMATS {
            let theirs = nettrace(&["convert", path, "--format", format.name, "-o", "-"]);
            let name = format.name;
            match converted(path, &bytes, format) {
                Ok(ours) => assert!(ours == theirs.stdout, "{path}: {name} differs"),
                Err(error) => theirs.assert_message(&error.to_string()),
            }
        }
    }
}

#[test]
fn a_finished_analysis_computes_a_report_as_a_pass_does() {
    for path in TRACES {
        let bytes = unpacked(path);
        let mut analysis = Analysis::new(AnalysisOptions::default());
        let _outcome = analysis.read(&mut events(&bytes)).unwrap();
        let finished = analysis.finish().unwrap();
        let mut pass = ReportPass::new((TopNOptions::default(), TreeOptions::default()));
        let _outcome = pass.read(&mut events(&bytes)).unwrap();
        let (top, tree) = pass.finish().output;
        // Rows of a pass have the names of endpoints, too, which only events tell.
        let shares = |top: &nettrace_analysis::report::TopN| -> Vec<(String, u64)> {
            top.methods.iter().map(|row| (row.name.clone(), row.self_ns)).collect()
        };
        let ours = finished.report(TopNOptions::default());
        assert_eq!(
            (&ours.counted.state, shares(&ours)),
            (&top.counted.state, shares(&top)),
            "{path}"
        );
        let nodes = finished.report(TreeOptions::default()).nodes.len();
        assert_eq!(nodes, tree.nodes.len(), "{path}");
    }
}
