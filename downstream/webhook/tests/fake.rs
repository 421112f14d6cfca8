use nettrace_ipc::Runtime;
use nettrace_ipc::fake::{FakeConfig, FakeRuntime};
use nettrace_writer::{EventType, FieldType, Session, SessionThread, Step, Value, Version};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread;

/// Returns the stream of a runtime in which these messages are thrown.
fn stream(messages: &[&str]) -> Vec<u8> {
    let runtime = "Microsoft-Windows-DotNETRuntime";
    let thrown =
        EventType { keywords: 0x8000, level: 2, version: 1, ..EventType::new(runtime, 80, "") }
            .field("ExceptionType", FieldType::Text)
            .field("ExceptionMessage", FieldType::Text)
            .field("ExceptionEIP", FieldType::UInt64)
            .field("ExceptionHRESULT", FieldType::UInt32)
            .field("ExceptionFlags", FieldType::UInt16)
            .field("ClrInstanceID", FieldType::UInt16);
    let event = |message: &&str| {
        let texts = ["Shop.SoldOut", *message].map(|text| Value::Text(text.into()));
        let numbers = [Value::U64(1), Value::U32(0x8013_1500), Value::U16(0), Value::U16(9)];
        Step::event(0, 0, 10, texts.into_iter().chain(numbers))
    };
    let session = Session {
        types: vec![thrown],
        threads: vec![SessionThread::new(11)],
        steps: messages.iter().map(event).collect(),
        ..Session::new(Version::V5)
    };
    session.record().stream.into_bytes()
}

/// Answers `count` requests with a status, and returns their bodies.
fn answer(
    listener: TcpListener,
    count: usize,
    status: &'static str,
) -> thread::JoinHandle<Vec<String>> {
    thread::spawn(move || {
        let bodies = listener.incoming().take(count).map(|connection| {
            let mut request = BufReader::new(connection.unwrap());
            let (mut length, mut line) = (0, String::new());
            while request.read_line(&mut line).unwrap() > 2 {
                if let Some(value) = line.strip_prefix("Content-Length: ") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            request.read_exact(&mut body).unwrap();
            write!(request.get_mut(), "HTTP/1.1 {status}\r\n\r\n").unwrap();
            String::from_utf8(body).unwrap()
        });
        bodies.collect()
    })
}

fn post(messages: &[&str], status: &'static str) -> (Result<u64, String>, Vec<String>) {
    let stream = stream(messages);
    let fake = FakeRuntime::start(FakeConfig { stream, ..FakeConfig::default() }).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let count = if status.starts_with('2') { messages.len() } else { 1 };
    let bodies = answer(listener, count, status);
    let webhook = webhook::Webhook { host: &host, path: "/exceptions" };
    let posted = webhook::post_exceptions(&Runtime::new(fake.endpoint()), &webhook);
    (posted.map_err(|error| error.to_string()), bodies.join().unwrap())
}

#[test]
fn each_exception_is_posted_with_its_message_as_json() {
    let (posted, bodies) = post(&["no \"bread\"", "line\nfeed"], "204 No Content");
    assert_eq!(posted, Ok(2));
    assert_eq!(
        bodies,
        [
            r#"{"type":"Shop.SoldOut","message":"no \"bread\""}"#,
            r#"{"type":"Shop.SoldOut","message":"line\u000afeed"}"#
        ]
    );
}

#[test]
fn a_webhook_that_refuses_ends_the_session() {
    let (posted, _) = post(&["bread", "butter"], "500 Internal Server Error");
    assert!(posted.unwrap_err().contains("500"));
}
