//! Reads the formats of counters with Python's `csv` and `json`, and with the parser of OpenMetrics
//! in Prometheus' client for Python.
//!
//! `cli/tests/prometheus-client` installs the client below `target`, where this test looks for it.

use crate::common;

use common::nettrace;
use std::io::Write;
use std::process::{Command, Stdio};

const TRACES: [&str; 4] = [
    "testdata/traces/net10-linux-x64/metrics-with-csv.nettrace.gz",
    "testdata/traces/net10-linux-x64/counters-with-csv.nettrace.gz",
    "testdata/traces/net10-linux-x64/all.nettrace.gz",
    "testdata/traces/net3.1-linux-x64/all.nettrace.gz",
];

/// Runs a Python program and returns its output.
fn python(program: &str, input: &[u8]) -> String {
    let client = common::top().join("target/prometheus-client");
    let mut child = Command::new("python3")
        .args(["-c", program])
        .env("PYTHONPATH", client)
        .env("PYTHONIOENCODING", "utf-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("there is a python3");
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "Python failed: its message is above");
    String::from_utf8(output.stdout).unwrap().trim().replace("\r\n", "\n")
}

/// Returns the counters of a trace in a format.
fn in_format(trace: &str, format: &str) -> Vec<u8> {
    let ran = nettrace(&["report", "counters", trace, "--format", format]);
    assert_eq!(ran.code, Some(0), "{trace} {format}");
    ran.stdout
}

const JSON: &str = "
import json, sys, math
report = json.load(sys.stdin)
assert report['schema'] == 1
points = [p for s in report['series'] for p in s['points']]
assert all(isinstance(s['tags'], dict) for s in report['series'])
print(len(report['series']), len(points), repr(math.fsum(p['value'] for p in points)))
";

const NDJSON: &str = "
import json, sys, math
points = [json.loads(line) for line in sys.stdin]
assert [p['ts_ns'] for p in points] == sorted(p['ts_ns'] for p in points)
series = {(p['provider'], p['name'], p['kind'], json.dumps(p['tags'])) for p in points}
print(len(series), len(points), repr(math.fsum(p['value'] for p in points)))
";

const CSV: &str = "
import csv, sys, math
rows = list(csv.reader(sys.stdin))
assert rows[0] == ['Timestamp', 'Provider', 'Counter Name', 'Counter Type', 'Mean/Increment'], rows[0]
assert all(len(row) == 5 for row in rows)
assert all(row[3] in ('Rate', 'Metric') for row in rows[1:])
series = {tuple(row[1:4]) for row in rows[1:]}
print(len(series), len(rows) - 1, repr(math.fsum(float(row[4]) for row in rows[1:])))
";

/// Program that asserts that counters and sums grow, and prints the number of samples of gauges and
/// counters. Samples of summaries are not counted, because the client drops most of them as
/// repetitions.
const OPENMETRICS: &str = "
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
count = 0
for family in text_string_to_metric_families(sys.stdin.read()):
    last = {}
    assert family.samples, family.name
    assert family.type in ('gauge', 'counter', 'summary'), family.type
    for sample in family.samples:
        assert sample.timestamp is not None and 'provider' in sample.labels
        if sample.name.endswith(('_total', '_count', '_sum')) and family.type != 'gauge':
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert sample.value >= last.get(key, 0), sample
            last[key] = sample.value
        count += family.type != 'summary'
    if family.type == 'summary':
        first = [s for s in family.samples if s.timestamp == family.samples[0].timestamp]
        assert {'0.5', '0.95', '0.99'} <= {s.labels.get('quantile') for s in first}, first
print(count)
";

mod with_prometheus {
    use super::*;

    #[test]
    #[ignore = "needs prometheus_client"]
    fn the_openmetrics_text_is_accepted_by_the_prometheus_client() {
        for trace in TRACES {
            let text = in_format(trace, "openmetrics");
            let read = python(OPENMETRICS, &text);
            let ndjson = in_format(trace, "ndjson");
            let lines = ndjson.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            let is_counted =
                |line: &&[u8]| !String::from_utf8_lossy(line).contains("\"kind\":\"histogram\"");
            let points = lines.filter(is_counted).count();
            assert_eq!(read, points.to_string(), "{trace}");
        }
    }
}

mod with_python {
    use super::*;

    #[test]
    #[ignore = "needs python3"]
    fn python_reads_the_same_values_from_json_ndjson_and_csv() {
        for trace in TRACES {
            let [json, ndjson, csv] = [("json", JSON), ("ndjson", NDJSON), ("csv", CSV)]
                .map(|(format, program)| python(program, &in_format(trace, format)));
            assert!(!json.starts_with("0 "), "{trace}");
            assert_eq!(json, ndjson, "{trace}");
            assert_eq!(json, csv, "{trace}");
        }
    }
}
