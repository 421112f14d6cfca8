use nettrace_parser::Guid;
use nettrace_writer::{EventType, FieldType, Session, SessionThread, Step, Value, Version};
use std::time::Duration;
use typed_events::{Paid, ShopEvent, Sold};

fn session(version: Version, pieces: i32) -> Vec<u8> {
    let session = Session {
        types: vec![
            EventType::new("Shop", 1, "Sold")
                .field("article", FieldType::Text)
                .field("pieces", FieldType::Int32)
                .field("customer", FieldType::Guid),
            EventType::new("Shop", 2, "Paid")
                .field("seconds", FieldType::Double)
                .field("byCard", FieldType::Boolean32),
            EventType::new("Shop", 2, "Paid").field("seconds", FieldType::Double),
            EventType::new("Other", 1, "Sold"),
        ],
        threads: vec![SessionThread::new(11)],
        steps: vec![
            Step::event(
                0,
                0,
                10,
                [Value::Text("bread".into()), Value::I32(pieces), Value::Guid([7; 16])],
            ),
            Step::event(3, 0, 10, []),
            Step::event(1, 0, 10, [Value::F64(1.5), Value::Boolean32(true)]),
            Step::event(2, 0, 10, [Value::F64(0.25)]),
        ],
        ..Session::new(version)
    };
    session.record().stream.into_bytes()
}

#[test]
fn events_of_the_shop_are_structs_in_every_version_of_the_format() {
    for version in [Version::V4, Version::V5, Version::V6] {
        let read = typed_events::read(&session(version, 3)).unwrap();
        let events: Vec<_> = read.into_iter().map(|(_, event)| event).collect();
        let customer = Guid::from_bytes([7; 16]);
        let paid = |millis, by_card| {
            ShopEvent::Paid(Paid { took: Duration::from_millis(millis), by_card })
        };
        assert_eq!(
            events,
            [
                ShopEvent::Sold(Sold { article: "bread".into(), pieces: 3, customer }),
                paid(1500, true),
                paid(250, false),
            ]
        );
    }
}

#[test]
fn a_number_that_does_not_fit_is_an_error_that_names_the_field() {
    let error = typed_events::read(&session(Version::V4, -1)).unwrap_err();
    assert!(error.to_string().contains("pieces"), "{error}");
}
