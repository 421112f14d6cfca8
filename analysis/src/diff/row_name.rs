//! Names of methods in rows of a comparison.

use crate::model::Frame;
use std::borrow::Cow;

/// Returns the name by which a method is the same in other traces. The own name of a handler that
/// was compiled while the program ran is a number of the runtime, so its name is the endpoint.
pub(super) fn row_name(frame: &Frame) -> Cow<'_, str> {
    if !frame.is_compiled() {
        return Cow::Borrowed(&frame.text);
    }
    match (frame.endpoint.as_deref(), frame.call_text()) {
        (Some(endpoint), "") => Cow::Borrowed(endpoint),
        (Some(endpoint), call) => Cow::Owned(format!("{endpoint}{call}")),
        (None, _) => frame.handler_name().map_or(Cow::Borrowed(&frame.text), Cow::Owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FrameCall;

    #[test]
    fn compiled_handlers_are_named_after_their_endpoints_and_other_methods_after_themselves() {
        let compiled = Frame::from_names("Anonymous", "dynamicClass", "lambda_method7", "void ()");
        assert_eq!(row_name(&compiled), compiled.text);
        let handler = Frame { is_handler: true, ..compiled.clone() };
        assert_eq!(row_name(&handler), "an endpoint's handler (dynamicClass.lambda_method7)");
        let served = Frame { endpoint: Some("GET /sync".into()), ..handler };
        assert_eq!(row_name(&served), "GET /sync");
        assert_eq!(row_name(&served.calling(FrameCall::Native)), "GET /sync → native call");
        let own = Frame::from_names("shop", "Shop.P+<>c", "<Main>b__0_8", "void ()");
        let own = Frame { endpoint: Some("GET /sync".into()), ..own };
        assert_eq!(row_name(&own), own.text);
    }
}
