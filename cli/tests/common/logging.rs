//! Creates sessions of Microsoft.Extensions.Logging.

use super::event_type;
use nettrace_testdata::synth::{
    EventType, Field, FieldType, Session, SessionThread, Step, Value, Version,
};

/// Creates a session of thread 4711 whose types are FormattedMessage, MessageJson,
/// ActivityJsonStart and ActivityJsonStop.
pub(crate) fn session(steps: Vec<Step>) -> Session {
    let event_type = |event_id, name, names: &[&str]| {
        let field = |name: &&str| {
            let is_number = matches!(*name, "Level" | "FactoryID" | "ID");
            Field::new(name, if is_number { FieldType::Int32 } else { FieldType::Text })
        };
        let fields = names.iter().map(field).collect();
        EventType { level: 4, ..event_type("Microsoft-Extensions-Logging", event_id, name, fields) }
    };
    let log = ["Level", "FactoryID", "LoggerName", "EventId", "EventName"];
    let scope = ["ID", "FactoryID", "LoggerName"];
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = vec![
        event_type(1, "FormattedMessage", &[&log[..], &["FormattedMessage"]].concat()),
        event_type(5, "MessageJson", &[&log[..], &["ExceptionJson", "ArgumentsJson"]].concat()),
        event_type(6, "ActivityJsonStart", &[&scope[..], &["ArgumentsJson"]].concat()),
        event_type(7, "ActivityJsonStop", &scope),
    ];
    session.threads = vec![SessionThread::new(4711)];
    session.steps = steps;
    session
}

fn step(event_type: usize, ticks: u32, numbers: [i32; 2], texts: &[&[&str]]) -> Step {
    let texts = texts.concat().into_iter().map(|text| Value::Text(text.to_owned()));
    let values = numbers.map(Value::I32).into_iter().chain(texts);
    Step::event(event_type, 0, ticks, values)
}

/// Creates a message: `event_type` is 0 for FormattedMessage and 1 for MessageJson.
pub(crate) fn message(event_type: usize, ticks: u32, level: i32, last: &[&str]) -> Step {
    step(event_type, ticks, [level, 1], &[&["App.Shop", "12", ""], last])
}

/// Creates an end of a scope: `event_type` is 2 for its start and 3 for its stop.
pub(crate) fn scope(event_type: usize, ticks: u32, id: i32, last: &[&str]) -> Step {
    step(event_type, ticks, [id, 1], &[&["App.Shop"], last])
}
