//! The bytes of a session on their way into the parser. There is one type of them, so
//! that the parser is compiled once for all commands that read a running process.

use nettrace_parser::Buffered;
use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;

/// What the parser reads.
pub(crate) type Stream<'s> = Buffered<Box<dyn Read + 's>>;

/// What `bytes` come from is the parser's alone.
pub(crate) fn stream<'s>(bytes: impl Read + 's) -> Stream<'s> {
    Buffered::new(Box::new(bytes))
}

/// What `bytes` come from can be asked while the parser reads it, between two of its
/// events.
pub(crate) fn shared<R: Read + 'static>(bytes: R) -> (Rc<RefCell<R>>, Stream<'static>) {
    let shared = Rc::new(RefCell::new(bytes));
    let stream = stream(Shared(Rc::clone(&shared)));
    (shared, stream)
}

struct Shared<R>(Rc<RefCell<R>>);

impl<R: Read> Read for Shared<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(buffer)
    }
}
