//! How a sentence calls a method.

use crate::fact::Place;
use crate::model::{Frame, is_compiled_handler};

/// Returns the name of a method without its arguments: `app!Program.Main` for
/// `app!Program.Main(string[])`. A method that was compiled around a handler says what it is.
pub(crate) fn place_name(frame: &Frame) -> String {
    let call = frame.call_text();
    match is_compiled_handler(frame) {
        true => format!("an endpoint's handler ({}{call})", frame.qualified_name()),
        false => format!("{}{call}", frame.without_arguments()),
    }
}

/// Returns the name of a method without what it has called, or of the endpoint that it serves.
pub(super) fn caller(place: &Place) -> String {
    let Place { frame, endpoint } = place;
    let is_compiled = is_compiled_handler(frame);
    // The module of a compiled method says nothing.
    let name = if is_compiled { frame.qualified_name() } else { frame.without_arguments() };
    match endpoint {
        Some(endpoint) => format!("{endpoint} ({name})"),
        None if is_compiled => format!("an endpoint's handler ({name})"),
        None => name.to_owned(),
    }
}

/// Returns the name of a method, or of the endpoint that it serves: `GET /cart
/// (shop!Shop.Program.Main.lambda_0_8)`.
pub(super) fn name(place: &Place) -> String {
    match place.endpoint {
        Some(_) => format!("{}{}", caller(place), place.frame.call_text()),
        None => place_name(&place.frame),
    }
}

/// Returns `, by app!Program.Main`, with these words before the name; empty without a method.
pub(super) fn after(words: &str, place: Option<&Place>) -> String {
    place.map_or_else(String::new, |place| format!("{words}{}", name(place)))
}
