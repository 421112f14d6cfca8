//! The method that a fact is about.

use crate::model::Frame;
use std::sync::Arc;

/// A method that a fact is about, with the endpoint that it serves.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Place {
    /// Frame of the method.
    pub frame: Arc<Frame>,
    /// Endpoint of a web application that the method serves, such as `GET /cart`; `None` if none or
    /// several are known.
    pub endpoint: Option<Box<str>>,
}

impl Place {
    /// Makes the place of a method, with the endpoint that it alone serves.
    pub(crate) fn from_frame(frame: &Arc<Frame>) -> Place {
        let endpoint = frame.endpoint.as_deref().map(Into::into);
        Place { frame: Arc::clone(frame), endpoint }
    }

    /// Makes the place of a method that serves no known endpoint.
    pub fn new(frame: Arc<Frame>) -> Place {
        Place { frame, endpoint: None }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Place {
    /// Writes the frame's text, and the endpoint if there is one.
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("method", &self.frame.text)?;
        if let Some(endpoint) = &self.endpoint {
            map.serialize_entry("endpoint", endpoint)?;
        }
        map.end()
    }
}
