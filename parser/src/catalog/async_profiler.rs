//! The event of .NET 11's async profiler, `System.Runtime.CompilerServices.AsyncProfilerEventSource`,
//! which runtimes write without a description of its fields.

use super::event::{CatalogEvent, event, sent_by_others};
use super::provider::{CatalogProvider, Key, Use};
use super::row::{FieldRow, u8, u32};
use crate::schema::Content;

pub(super) const NAME: &str = "System.Runtime.CompilerServices.AsyncProfilerEventSource";
const KEYWORDS: u64 = 0x3_ffff;

pub(super) static PROVIDER: CatalogProvider = CatalogProvider {
    name: NAME,
    guid: None,
    keywords: &[
        (0x1, "CreateRuntimeAsyncContext"),
        (0x2, "ResumeRuntimeAsyncContext"),
        (0x4, "SuspendRuntimeAsyncContext"),
        (0x8, "CompleteRuntimeAsyncContext"),
        (0x10, "UnwindRuntimeAsyncException"),
        (0x20, "CreateRuntimeAsyncCallstack"),
        (0x40, "ResumeRuntimeAsyncCallstack"),
        (0x80, "SuspendRuntimeAsyncCallstack"),
        (0x100, "ResumeRuntimeAsyncMethod"),
        (0x200, "CompleteRuntimeAsyncMethod"),
        (0x400, "CreateStateMachineAsyncContext"),
        (0x800, "ResumeStateMachineAsyncContext"),
        (0x1000, "SuspendStateMachineAsyncContext"),
        (0x2000, "CompleteStateMachineAsyncContext"),
        (0x4000, "UnwindStateMachineAsyncException"),
        (0x8000, "ResumeStateMachineAsyncCallstack"),
        (0x1_0000, "ResumeStateMachineAsyncMethod"),
        (0x2_0000, "CompleteStateMachineAsyncMethod"),
    ],
    key: Key::Id,
    used: Use::WithoutFields,
    groups: &[&EVENTS],
    others: None,
};

const FIELDS: &[FieldRow] =
    &[u32("Length").bytes().kept(0), u8("Buffer").times(0).holding(Content::AsyncEvents)];

static EVENTS: [CatalogEvent; 1] =
    [event(NAME, 1, 1, "AsyncEvents", "AsyncEvents", sent_by_others(0, 4, KEYWORDS), FIELDS)];
