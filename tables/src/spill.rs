//! Keeps encoded pages, and the keys of deferred values, until the file of their table can be
//! written. The newest bytes are in memory, older ones in a temporary file.

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Function that makes a temporary file which no other process sees.
pub type MakeSpill = Arc<dyn Fn() -> io::Result<File> + Send + Sync>;

/// Maximum number of bytes that a table keeps in memory before it moves them to its
/// temporary file.
const MAX_MEMORY_BYTES: usize = 4 << 20;

/// Bytes of one table that wait until the table's file is written. Clones share them, because the
/// writer of each column adds to them.
#[derive(Clone)]
pub(crate) struct Spill(Arc<Mutex<Waiting>>);

struct Waiting {
    make: MakeSpill,
    file: Option<File>,
    /// Number of bytes in the temporary file. The bytes in memory come after them.
    in_file: u64,
    memory: Vec<u8>,
    /// Ranges of the bytes that belong to the current chunk of each column.
    columns: Vec<Vec<Range<u64>>>,
}

impl Spill {
    pub(crate) fn new(make: MakeSpill, columns: usize) -> Spill {
        let columns = vec![Vec::new(); columns];
        let memory = Vec::new();
        Spill(Arc::new(Mutex::new(Waiting { make, file: None, in_file: 0, memory, columns })))
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of bytes that were stored for all columns since the table began.
    pub(crate) fn len(&self) -> u64 {
        self.lock().end()
    }

    /// Appends the output of `write` to the chunk of a column.
    pub(crate) fn append<R>(
        &self,
        column: usize,
        write: impl FnOnce(&mut Vec<u8>) -> Result<R>,
    ) -> Result<R> {
        let mut waiting = self.lock();
        let start = waiting.end();
        let result = write(&mut waiting.memory)?;
        waiting.end_piece(column, start)?;
        Ok(result)
    }

    /// Ends the current chunk of a column and returns it.
    pub(crate) fn take_chunk(&self, column: usize) -> Chunk {
        let pieces = self.lock().columns.get_mut(column).map(std::mem::take).unwrap_or_default();
        Chunk { spill: self.clone(), pieces }
    }
}

impl Waiting {
    fn end(&self) -> u64 {
        self.in_file.saturating_add(self.memory.len() as u64)
    }

    /// Adds all bytes from `start` on to the current chunk of a column.
    fn end_piece(&mut self, column: usize, start: u64) -> io::Result<()> {
        let end = self.end();
        if let Some(pieces) = self.columns.get_mut(column) {
            match pieces.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => pieces.push(start..end),
            }
        }
        if self.memory.len() >= MAX_MEMORY_BYTES {
            self.move_to_file()?;
        }
        Ok(())
    }

    fn move_to_file(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some((self.make)()?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        file.seek(SeekFrom::Start(self.in_file))?;
        file.write_all(&self.memory)?;
        self.in_file = self.end();
        self.memory.clear();
        Ok(())
    }

    fn read(&mut self, start: u64, out: &mut [u8]) -> io::Result<usize> {
        match (start.checked_sub(self.in_file), &mut self.file) {
            (Some(at), _) => {
                let at = usize::try_from(at).unwrap_or(usize::MAX);
                self.memory.get(at..).unwrap_or_default().read(out)
            }
            (None, Some(file)) => {
                file.seek(SeekFrom::Start(start))?;
                file.read(out)
            }
            (None, None) => Ok(0),
        }
    }
}

/// The bytes of one column in one row group.
pub(crate) struct Chunk {
    spill: Spill,
    pieces: Vec<Range<u64>>,
}

impl Chunk {
    pub(crate) fn bytes(&self) -> ChunkBytes {
        let pieces = self.pieces.clone().into_iter();
        ChunkBytes { spill: self.spill.clone(), pieces, piece: 0..0 }
    }
}

impl Length for Chunk {
    fn len(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.end.saturating_sub(piece.start)).sum()
    }
}

impl ChunkReader for Chunk {
    type T = ChunkBytes;

    fn get_read(&self, start: u64) -> Result<ChunkBytes> {
        let mut bytes = self.bytes();
        io::copy(&mut (&mut bytes).take(start), &mut io::sink())?;
        Ok(bytes)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut bytes = vec![0; length];
        self.get_read(start)?.read_exact(&mut bytes)?;
        Ok(Bytes::from(bytes))
    }
}

/// Reads the bytes of a chunk, which may be in several pieces.
pub(crate) struct ChunkBytes {
    spill: Spill,
    pieces: std::vec::IntoIter<Range<u64>>,
    piece: Range<u64>,
}

impl Read for ChunkBytes {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            let Some(next) = self.pieces.next() else { return Ok(0) };
            self.piece = next;
        }
        let left = self.piece.end.saturating_sub(self.piece.start);
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(out.len());
        let part = out.get_mut(..most).unwrap_or_default();
        let count = self.spill.lock().read(self.piece.start, part)?;
        self.piece.start = self.piece.start.saturating_add(count as u64);
        Ok(count)
    }
}
