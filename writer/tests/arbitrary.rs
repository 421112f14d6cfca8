//! Tests that bytes of a fuzzer become sessions that can be written.

use std::collections::HashSet;

use arbitrary::{Arbitrary, Unstructured};
use nettrace_writer::{Damage, FieldForm, Session, Step, Value, Version};

/// Returns pseudo-random bytes. Their values and their number depend on `seed`.
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..seed * 37 % 4000)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect()
}

fn session(seed: u64) -> Session {
    Session::arbitrary(&mut Unstructured::new(&bytes(seed))).unwrap()
}

/// Returns whether the values agree with the types of the fields.
fn agrees(fields: &[nettrace_writer::Field], values: &[Value]) -> bool {
    use nettrace_writer::FieldType as T;
    fields.len() == values.len()
        && fields.iter().zip(values).all(|(field, value)| match (&field.field_type, value) {
            (T::Object(fields), Value::Object(values)) => agrees(fields, values),
            (T::Array(element), Value::Array(values))
            | (T::RelLoc(element), Value::RelLoc(values))
            | (T::DataLoc(element), Value::DataLoc(values))
            | (T::FixedLengthArray(element, _), Value::FixedLengthArray(values)) => {
                let field = nettrace_writer::Field::new("", (**element).clone());
                values
                    .iter()
                    .all(|value| agrees(std::slice::from_ref(&field), std::slice::from_ref(value)))
            }
            (T::Text, Value::Text(text)) => !text.contains('\0'),
            (field_type, value) => {
                std::mem::discriminant(value)
                    == std::mem::discriminant(&Value::sample(field_type, 1))
            }
        })
}

#[test]
fn any_bytes_are_a_session_that_can_be_written_and_whose_payloads_agree_with_their_types() {
    let (mut events, mut versions) = (0, HashSet::new());
    for seed in 0..400 {
        let session = session(seed);
        versions.insert(session.version);
        let forms = [FieldForm::V1, FieldForm::V2, FieldForm::V6];
        for event_type in &session.types {
            let allowed = |form: &FieldForm| {
                event_type.fields.iter().all(|field| field.field_type.is_allowed_in(*form))
            };
            assert!(forms.iter().any(allowed), "{event_type:?}");
        }
        let recording = session.record();
        events += recording.events.len();
        // No version leaves an event out.
        let event_steps =
            session.steps.iter().filter(|step| matches!(step, Step::Event(_))).count();
        assert_eq!(recording.events.len(), event_steps);
        for step in &session.steps {
            if let Step::Event(event) = step {
                assert!(
                    agrees(&session.types[event.event_type].fields, &event.values),
                    "{event:?}"
                );
            }
        }
    }
    assert_eq!(versions.len(), Version::ALL.len());
    assert!(events > 5_000, "{events} events are few");
}

#[test]
fn no_bytes_at_all_are_a_session_in_which_nothing_happens() {
    let session = Session::arbitrary(&mut Unstructured::new(&[])).unwrap();
    assert_eq!(session.steps, []);
    assert_eq!(session.record().events, []);
}

#[test]
fn the_bytes_decide_the_session() {
    let mut changed = 0;
    for seed in 0..100 {
        assert_eq!(session(seed), session(seed));
        let mut bytes = bytes(seed + 50);
        let before = Session::arbitrary(&mut Unstructured::new(&bytes)).unwrap();
        let Some(byte) = bytes.get_mut(0) else { continue };
        *byte ^= 1;
        let after = Session::arbitrary(&mut Unstructured::new(&bytes)).unwrap();
        changed += usize::from(before != after);
    }
    assert!(changed > 80, "only {changed} of 100 sessions differ if the first byte does");
}

#[test]
fn damage_puts_in_at_most_255_bytes_and_reaches_all_kinds() {
    let mut kinds = HashSet::new();
    for seed in 1..400 {
        let bytes = bytes(seed);
        let damage = Damage::arbitrary_of(1000, &mut Unstructured::new(&bytes)).unwrap();
        kinds.insert(std::mem::discriminant(&damage));
        assert!(damage.applied(&[7; 1000]).len() < 1256, "{damage:?}");
    }
    assert_eq!(kinds.len(), 7);
}
