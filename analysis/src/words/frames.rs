//! Names of methods in sentences.

use crate::fact::Place;
use crate::model::Frame;

/// Returns the name of a method without its arguments: `app!Program.Main` for
/// `app!Program.Main(string[])`. A method that the compiler made for an endpoint is named as its
/// handler.
pub(crate) fn place_name(frame: &Frame) -> String {
    let call = frame.call_text();
    match frame.is_handler {
        true => format!("an endpoint's handler ({}{call})", frame.qualified_name()),
        false => format!("{}{call}", frame.without_arguments()),
    }
}

/// Returns the name of a method, or of the endpoint that it serves, without the native call that
/// the frame may stand for.
pub(super) fn caller(place: &Place) -> String {
    let Place { frame, endpoint } = place;
    let is_compiled = frame.is_handler;
    // The module of such a method is generated, and means nothing to a reader.
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

/// Returns `words` followed by the name of a method: `, by app!Program.Main`. Returns nothing
/// without a method.
pub(super) fn after(words: &str, place: Option<&Place>) -> String {
    place.map_or_else(String::new, |place| format!("{words}{}", name(place)))
}
