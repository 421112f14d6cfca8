//! Names of types and modules. If a trace does not have a name, a text is in its place.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The name of a type or a module. The value dereferences to its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeapName {
    text: Arc<str>,
    is_known: bool,
}

impl HeapName {
    /// Makes a name that the trace contains.
    pub(super) fn known(text: impl Into<Arc<str>>) -> HeapName {
        HeapName { text: text.into(), is_known: true }
    }

    /// Makes a text in place of a name that the trace does not contain.
    pub(super) fn unknown(text: impl Into<Arc<str>>) -> HeapName {
        HeapName { text: text.into(), is_known: false }
    }

    /// Returns whether the trace has the name. If not, the text is made of a number, such as `type
    /// 0x7f5f115239b8`.
    pub fn is_known(&self) -> bool {
        self.is_known
    }
}

impl Deref for HeapName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl PartialEq<&str> for HeapName {
    fn eq(&self, text: &&str) -> bool {
        *self.text == **text
    }
}

impl fmt::Display for HeapName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for HeapName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
