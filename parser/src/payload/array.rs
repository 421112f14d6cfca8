//! Gives access to the elements of an array.

use super::extent::{Budget, Payload, Registers};
use super::object::Object;
use super::value::Value;
use crate::schema::FieldType;
use std::fmt;

/// Elements of one type, decoded when they are accessed.
///
/// ```
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = Reader::from_slice(&bytes);
/// while let Some(event) = reader.next_event()? {
///     if let Some(array) = event.field("a").and_then(|value| value.as_array()) {
///         let numbers: Vec<u64> = array.iter().filter_map(|value| value.as_u64()).collect();
///         assert_eq!(numbers, [256, 7]);
///     }
/// }
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Array<'r> {
    pub(super) payload: Payload<'r>,
    element: &'r FieldType,
    count: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl<'r> Array<'r> {
    pub(super) fn new(
        payload: Payload<'r>,
        element: &'r FieldType,
        count: u32,
        start: usize,
        end: usize,
    ) -> Array<'r> {
        let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Array { payload, element, count, start: position(start), end: position(end) }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the type of the elements.
    pub fn element(&self) -> &'r FieldType {
        self.element
    }

    /// Returns the bytes of all elements.
    pub fn bytes(&self) -> &'r [u8] {
        self.payload.bytes.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// Returns the elements. They are known to be complete, except for elements to which a field of
    /// an object refers (`RelLoc`, `DataLoc`).
    pub fn iter(&self) -> Elements<'r> {
        let Array { payload, element, count, start, .. } = *self;
        let stride = payload.stride(element);
        Elements { payload, element, left: count, at: start as usize, stride, budget: Budget::FULL }
    }
}

/// Compares element by element.
impl PartialEq for Array<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<'r> IntoIterator for Array<'r> {
    type Item = Value<'r>;
    type IntoIter = Elements<'r>;

    fn into_iter(self) -> Elements<'r> {
        self.iter()
    }
}

impl<'r> IntoIterator for &Array<'r> {
    type Item = Value<'r>;
    type IntoIter = Elements<'r>;

    fn into_iter(self) -> Elements<'r> {
        self.iter()
    }
}

/// Iterator over the elements of an [`Array`].
#[derive(Debug, Clone)]
pub struct Elements<'r> {
    payload: Payload<'r>,
    element: &'r FieldType,
    left: u32,
    at: usize,
    /// Size in bytes of an element, if elements are objects of constant size.
    stride: Option<usize>,
    budget: Budget,
}

impl<'r> Iterator for Elements<'r> {
    type Item = Value<'r>;

    #[inline]
    fn next(&mut self) -> Option<Value<'r>> {
        self.left = self.left.checked_sub(1)?;
        if let (FieldType::Object(fields), Some(stride)) = (self.element, self.stride) {
            let at = self.at;
            self.at = self.at.saturating_add(stride);
            return Some(Value::Object(Object::new(self.payload, fields, at, self.at)));
        }
        self.next_walked()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl<'r> Elements<'r> {
    /// Returns the next element, whose end must be found by decoding it.
    #[inline(always)]
    fn next_walked(&mut self) -> Option<Value<'r>> {
        let value =
            self.payload.value(self.element, self.at, &Registers::default(), &mut self.budget);
        match value {
            Ok((value, size)) => {
                self.at = self.at.saturating_add(size);
                Some(value)
            }
            Err(_) => {
                self.left = 0;
                None
            }
        }
    }
}

impl ExactSizeIterator for Elements<'_> {}

impl std::iter::FusedIterator for Elements<'_> {}

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        list.entries(self.iter().take(16));
        if self.len() > 16 { list.finish_non_exhaustive() } else { list.finish() }
    }
}

impl fmt::Display for Array<'_> {
    /// Writes the elements as `[1, 2, 3]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, value) in self.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            fmt::Display::fmt(&value, f)?;
        }
        f.write_str("]")
    }
}
