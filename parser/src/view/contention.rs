//! Views of waits for locks.

use super::{KnownProvider, View, number, number32, value};
use crate::event::Event;

/// Start of a thread's wait for a lock: runtime event 81, versions 1 and 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentionStart {
    /// Kind of lock: 0 managed, 1 native.
    pub flags: u32,
    /// Id of the lock; `None` before version 2.
    pub lock_id: Option<u64>,
    /// Address of the locked object; `None` before version 2.
    pub object_id: Option<u64>,
    /// OS id of the thread that holds the lock; `None` before version 2.
    pub owner_thread_id: Option<u64>,
}

impl View<'_> for ContentionStart {
    fn from_event(event: &Event<'_>) -> Option<ContentionStart> {
        if event.known_provider() != KnownProvider::Runtime
            || event.id() != 81
            || event.version() < 1
        {
            return None;
        }
        let has_lock = event.version() >= 2;
        let fields = &mut event.fields();
        let flags = number32(fields, "ContentionFlags")?;
        let mut optional = |name| if has_lock { number(fields, name) } else { None };
        Some(ContentionStart {
            flags,
            lock_id: optional("LockID"),
            object_id: optional("AssociatedObjectID"),
            owner_thread_id: optional("LockOwnerThreadID"),
        })
    }
}

/// End of a thread's wait for a lock, which it now holds: runtime event 91, versions 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ContentionStop {
    /// Kind of lock: 0 managed, 1 native.
    pub flags: u32,
    /// Duration of the wait in nanoseconds; `None` before version 1.
    pub duration_nanos: Option<f64>,
}

impl View<'_> for ContentionStop {
    fn from_event(event: &Event<'_>) -> Option<ContentionStop> {
        if event.known_provider() != KnownProvider::Runtime || event.id() != 91 {
            return None;
        }
        let fields = &mut event.fields();
        Some(ContentionStop {
            flags: number32(fields, "ContentionFlags")?,
            duration_nanos: if event.version() >= 1 {
                value(fields, "DurationNs")?.as_f64()
            } else {
                None
            },
        })
    }
}
