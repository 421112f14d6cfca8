//! Tests that a program is told how far reading is.

use nettrace_parser::{Buffered, Progress, Reader, Source, Watched, Whole};
use nettrace_testdata::synth;
use std::cell::RefCell;
use std::rc::Rc;

#[derive(Default)]
struct Reached(RefCell<Vec<(u64, Option<u64>)>>);

impl Progress for Reached {
    fn reached(&self, done: u64, whole: Option<u64>) {
        self.0.borrow_mut().push((done, whole));
    }
}

fn reached(source: impl Source) -> Vec<(u64, Option<u64>)> {
    let progress = Rc::new(Reached::default());
    let mut reader = Reader::new(Watched::new(source, Rc::clone(&progress)));
    reader.for_each(|_| {}).unwrap();
    assert!(reader.is_complete());
    drop(reader);
    Rc::into_inner(progress).unwrap().0.into_inner()
}

#[test]
fn progress_rises_to_the_whole_if_that_is_known() {
    let bytes = synth::tiny_v4().bytes;
    let length = bytes.len() as u64;
    let of_whole = reached(Whole::new(&bytes));
    assert!(of_whole.is_sorted() && of_whole.last() == Some(&(length, Some(length))));
    let of_pipe = reached(Buffered::new(&bytes[..]));
    assert!(of_pipe.is_sorted() && of_pipe.last() == Some(&(length, None)));
}
