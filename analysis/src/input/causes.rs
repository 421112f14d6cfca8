//! Errors of the crates in one line: each says its own layer, and its source the next.

use std::error::Error;

/// Returns the text of an error, followed by those of its causes.
#[must_use]
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.for_each(|cause| text.push_str(&format!(": {cause}")));
    text
}

#[cfg(test)]
mod tests {
    use super::with_causes;
    use crate::AnalysisError;
    use crate::convert::ConvertError;
    use nettrace_ipc::{CommandId, ReplyFault, RequestError, Step};
    use std::error::Error;
    use std::io;

    #[test]
    fn an_error_is_one_line_with_each_cause_once() {
        let io = || io::Error::other("the disk is gone");
        let command = CommandId::PROCESS_INFO;
        let reply = nettrace_ipc::Error::Reply { command, fault: ReplyFault::Size(3) };
        let read = nettrace_parser::Error::Io(io());
        let cases: [(Box<dyn Error>, &str); 6] = [
            (Box::new(nettrace_parser::Error::Io(io())), "reading failed: the disk is gone"),
            (Box::new(AnalysisError::Read(read)), "reading failed: the disk is gone"),
            (Box::new(ConvertError::Write(io())), "cannot write: the disk is gone"),
            (
                Box::new(nettrace_ipc::Error::Request(RequestError::NoProviders)),
                "request not sent: no provider given",
            ),
            (
                Box::new(nettrace_ipc::Error::Io { step: Step::Connect, source: io() }),
                "connecting: the disk is gone",
            ),
            (Box::new(reply), "invalid reply to ProcessInfo: impossible message size 3"),
        ];
        for (error, expected) in cases {
            assert_eq!(with_causes(&*error), expected);
        }
    }
}
