//! The heap graph of dotnet-gcdump: one binary document.
//!
//! | | |
//! |---|---|
//! | opened by | PerfView, Visual Studio, dotnet-gcdump |
//! | nodes | the kinds of roots and the static variables in square brackets, then the objects, by type and module |
//! | names | those of dotnet-gcdump, but with the outer types of nested types where they are known |
//! | dependent handles | references from keys to values, as in files of PerfView; dotnet-gcdump makes roots of the values |
//! | generations | segments of the heap, as PerfView writes them |
//! | lacking | times, pauses and losses; an object above 2 GiB has the size 2^31 − 1 |
//! | dump | the dump that [`ConvertOptions::dump`] chooses |

use super::{Convert, ConvertError, ConvertOptions, Output, dominator_paths};
use crate::heap::HeapReader;
use crate::model::{Model, Profile, Resolved, ThreadHandle};
use nettrace_parser::Event;
use std::io::Write;

#[derive(Debug)]
pub(crate) struct GcDump<'o> {
    out: Output<'o>,
    heap: HeapReader,
    dump: Option<usize>,
}

impl<'o> GcDump<'o> {
    pub(crate) fn new(out: Box<dyn Write + Send + 'o>, options: &ConvertOptions) -> GcDump<'o> {
        let out = Output::new(out, options.is_gzip);
        GcDump { out, heap: HeapReader::default(), dump: options.dump }
    }
}

impl Convert for GcDump<'_> {
    fn wants_samples(&self) -> bool {
        false
    }

    fn wants_events(&self) -> bool {
        true
    }

    fn event(&mut self, event: &Event<'_>, _: ThreadHandle, _: &Model) -> Result<(), ConvertError> {
        self.heap.event(event);
        Ok(())
    }

    fn finish(self: Box<Self>, _: &Resolved<'_>, _: &Profile) -> Result<(), ConvertError> {
        let GcDump { mut out, heap, dump } = *self;
        let dump = dominator_paths::chosen(heap.finish(), dump)?;
        dump.write_gcdump(&mut out)?;
        Ok(out.finish()?)
    }
}
