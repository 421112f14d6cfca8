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

use super::heap_dump::of_heap_dump;
use super::{Convert, ConvertOptions, Output};
use std::io::Write;

pub(super) fn converter<'o>(
    out: Box<dyn Write + Send + 'o>,
    options: &ConvertOptions,
) -> Box<dyn Convert + 'o> {
    let mut out = Output::new(out, options.is_gzip);
    of_heap_dump(options, move |dump, _| {
        dump.write_gcdump(&mut out)?;
        Ok(out.finish()?)
    })
}
