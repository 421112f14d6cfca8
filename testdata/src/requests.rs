//! Metrics of ASP.NET Core, in the form in which System.Diagnostics.Metrics publishes them. The
//! trace is synthetic, because the runtimes for tests have no ASP.NET Core.

use crate::synth::{EventType, Field, FieldType, Session, SessionThread, Step, Value, Version};

/// Returns a trace with the metrics of ASP.NET Core, published every five seconds, for 600 requests
/// to `/buy`. The slowest percent of the requests takes 750 ms.
pub fn requests() -> Vec<u8> {
    let text = |name: &str| Field::new(name, FieldType::Text);
    let event_type = |event_id, name: &str, fields: Vec<Field>| EventType {
        provider: "System.Diagnostics.Metrics".into(),
        event_id,
        name: name.into(),
        fields,
        ..EventType::default()
    };
    let start = vec![
        text("sessionId"),
        Field::new("intervalStartTime", FieldType::DateTime),
        Field::new("intervalEndTime", FieldType::DateTime),
    ];
    let of_series = ["sessionId", "meterName", "meterVersion", "instrumentName", "unit", "tags"];
    let of_series = |more: &str| of_series.into_iter().chain([more]).map(text).collect();
    let types = vec![
        event_type(2, "CollectionStart", start),
        event_type(6, "HistogramValuePublished", of_series("quantiles")),
        event_type(4, "CounterRateValuePublished", of_series("rate")),
    ];
    let texts =
        |all: &[&str]| all.iter().map(|text| Value::Text((*text).to_owned())).collect::<Vec<_>>();
    const SECOND: u64 = 10_000_000;
    let steps = (1..=8_u64).flat_map(|round| {
        let end = 133_000_000_000_000_000 + round * 5 * SECOND;
        let [from, to] = [end - 5 * SECOND, end].map(Value::FileTime);
        let started = vec![Value::Text("SHARED".to_owned()), from, to];
        let hosting = ["SHARED", "Microsoft.AspNetCore.Hosting", ""];
        let duration = [
            "http.server.request.duration",
            "s",
            "http.request.method=GET,http.response.status_code=200,http.route=/buy",
            "0.5=0.1;0.95=0.4;0.99=0.75",
        ];
        let count = ["http.server.requests", "{request}", "", "600"];
        [
            Step::event(0, 0, 50_000_000, started),
            Step::event(1, 0, 0, texts(&[&hosting[..], &duration].concat())),
            Step::event(2, 0, 0, texts(&[&hosting[..], &count].concat())),
        ]
    });
    let session = Session {
        types,
        threads: vec![SessionThread::new(11)],
        steps: steps.collect(),
        ..Session::new(Version::V4)
    };
    session.record().stream.into_bytes()
}
