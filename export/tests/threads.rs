//! Checks the types that are `Send` and `Sync`.

use nettrace_export::*;

#[test]
fn all_public_types_may_go_to_another_thread_and_be_read_by_several() {
    nettrace_testdata::assert_threads! {
        Send: [EventPart, EventWriter, Trigger],
        Sync: [
            CounterName,
            Detail,
            EventPattern,
            EventType,
            EventForm,
            EventPart,
            EventParts,
            EventTypes,
            EventWriter,
            Answers,
            Fact<'static>,
            Filter,
            FilterOptions,
            Glob,
            Name,
            Names,
            Page,
            Paint,
            PayloadJson,
            Path,
            TypeIndex,
            Predicate,
            PredicateError,
            ProviderPattern,
            Quantity,
            QuantityError,
            Shape,
            TextOptions,
            TextValues,
            TimeRange,
            TimeRangeError,
            Trigger,
            WriteOptions,
        ],
    }
}
