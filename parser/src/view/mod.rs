//! Typed views of the events that converters and reports use most.
//!
//! Each view names the events and versions that it covers. Fields that only later versions have
//! are `Option`.
//!
//! ```
//! use nettrace_parser::Reader;
//! use nettrace_parser::view::{Method, View};
//! # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
//! let mut reader = Reader::from_slice(&bytes);
//! while let Some(event) = reader.next_event()? {
//!     if let Some(method) = Method::from_event(&event) {
//!         println!("{:#x} {}.{}", method.start, method.namespace, method.name);
//!     }
//! }
//! # Ok::<(), nettrace_parser::Error>(())
//! ```
//!
//! Events of your own have a view, too:
//!
//! ```
//! use nettrace_parser::{Event, Utf16, view::View};
//!
//! struct Order<'r> {
//!     number: u32,
//!     city: Utf16<'r>,
//! }
//!
//! impl<'r> View<'r> for Order<'r> {
//!     fn from_event(event: &Event<'r>) -> Option<Order<'r>> {
//!         let is_order = event.provider() == "Shop" && event.name() == "Order";
//!         let number = is_order.then(|| event.get("number").ok())??;
//!         Some(Order { number, city: event.get("city").ok()? })
//!     }
//! }
//! ```

mod activity;
mod adaptation;
mod allocation;
mod async_profiler;
mod contention;
mod counter;
mod exception;
mod gc;
mod heap;
mod logger;
mod message;
mod method;
mod metric;
mod module;
mod process;
mod sample;

pub use crate::catalog::known::KnownProvider;
pub use activity::{Activity, ActivityEdge};
pub use adaptation::{GcAdaptation, GcAdaptationDecision, GcAdaptationSample};
pub use allocation::Allocation;
pub use async_profiler::{
    AsyncBuffer, AsyncDetail, AsyncEvent, AsyncEvents, AsyncFrame, AsyncFrames, AsyncManifest,
    AsyncStack,
};
pub use contention::{ContentionStart, ContentionStop};
pub use counter::{Counter, CounterValue};
pub use exception::Exception;
pub use gc::{
    GcEnd, GcGenerationHistory, GcGlobalHistory, GcHeapHistory, GcHeapStats, GcStart, Suspension,
};
pub use heap::{
    HeapComObject, HeapDependent, HeapObject, HeapRange, HeapReference, HeapRoot, HeapRows,
    HeapStatic, HeapType, Rows as HeapRowsOf,
};
pub use logger::LogMessage;
pub use message::Message;
pub use method::{Method, MethodChange, MethodJitting, MethodRange, Tier};
pub use metric::{Metric, MetricKind};
pub use module::{Module, ModuleChange};
pub use process::{ProcessInfo, RuntimeInformation};
pub use sample::{Sample, SampleState};

use crate::event::Event;
use crate::payload::{Fields, Utf16, Value};

/// Typed view of events, such as all events that report a method.
pub trait View<'r>: Sized {
    /// Returns the view of an event, from which it borrows. `None` if the view does not cover the
    /// event, or if the payload lacks required fields because of damage.
    fn from_event(event: &Event<'r>) -> Option<Self>;
}

/// Returns the value of the next field with this name. Views request fields in payload order,
/// because the search begins after the previous field.
#[inline(never)]
fn value<'r>(fields: &mut Fields<'r>, name: &str) -> Option<Value<'r>> {
    fields.find(name)?.value.ok()
}

/// Returns the number in the next field with this name. It is inlined, so that the name, a constant
/// of each view, is compared in a few instructions.
#[inline(always)]
fn number(fields: &mut Fields<'_>, name: &str) -> Option<u64> {
    fields.next_number_named(name).or_else(|| value(fields, name)?.as_u64())
}

#[inline(always)]
fn number32(fields: &mut Fields<'_>, name: &str) -> Option<u32> {
    u32::try_from(number(fields, name)?).ok()
}

/// Returns the text of the next field with this name; empty if the writer omitted it.
#[inline(always)]
fn text<'r>(fields: &mut Fields<'r>, name: &str) -> Option<Utf16<'r>> {
    if let Some(text) = fields.next_text_named(name) {
        return Some(text);
    }
    match value(fields, name)? {
        Value::Utf16(text) => Some(text),
        Value::Absent => Some(Utf16::default()),
        _ => None,
    }
}
