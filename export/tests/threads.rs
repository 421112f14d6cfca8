//! What may go to another thread, and be read by several.

use nettrace_export::*;

#[test]
fn all_public_types_may_go_to_another_thread_and_be_read_by_several() {
    nettrace_testdata::assert_threads! {
        Send: [EventWriter, Trigger],
        Sync: [
            Chosen,
            CounterName,
            Csv,
            Detail,
            EventPattern,
            EventType,
            EventTypes,
            EventWriter,
            Answers,
            Fact<'static>,
            Filter,
            FilterOptions,
            Glob,
            Name,
            Names,
            Ndjson,
            Page,
            PayloadJson,
            Path,
            TypeIndex,
            Predicate,
            PredicateError,
            ProviderPattern,
            Quantity,
            QuantityError,
            Selection,
            Shape,
            TextValues,
            TimeRange,
            Trigger,
        ],
    }
}
