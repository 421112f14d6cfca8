//! Bytes that wait for their place in a file: in memory, or in a temporary file.

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Take, Write};
use std::sync::Arc;

/// Makes a temporary file that nobody else sees.
pub type MakeSpill = Arc<dyn Fn() -> io::Result<File> + Send + Sync>;

/// Some bytes that wait.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Memory(Bytes),
    File { at: u64, len: u64 },
}

impl Piece {
    /// Bytes in memory; `None` if there are none.
    pub(crate) fn of(bytes: Vec<u8>) -> Option<Piece> {
        (!bytes.is_empty()).then(|| Piece::Memory(Bytes::from(bytes)))
    }

    fn len(&self) -> u64 {
        match self {
            Piece::Memory(bytes) => bytes.len() as u64,
            Piece::File { len, .. } => *len,
        }
    }
}

/// The temporary file of a table, which is made when it is needed.
pub(crate) struct Spill {
    make: MakeSpill,
    file: Option<File>,
    end: u64,
}

impl Spill {
    pub(crate) fn new(make: MakeSpill) -> Spill {
        Spill { make, file: None, end: 0 }
    }

    /// Writes bytes to the file. `None` if there are none.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> io::Result<Option<Piece>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        if self.file.is_none() {
            self.file = Some((self.make)()?);
        }
        let Some(file) = &mut self.file else { return Ok(None) };
        file.seek(SeekFrom::Start(self.end))?;
        file.write_all(bytes)?;
        let (at, len) = (self.end, bytes.len() as u64);
        self.end = at.saturating_add(len);
        Ok(Some(Piece::File { at, len }))
    }

    /// Moves pieces that are in memory to the file.
    pub(crate) fn put_all(&mut self, pieces: &mut [Piece]) -> io::Result<()> {
        for piece in pieces {
            if let Piece::Memory(bytes) = piece
                && let Some(there) = self.put(&bytes.clone())?
            {
                *piece = there;
            }
        }
        Ok(())
    }

    /// What the pieces hold, one after the other.
    pub(crate) fn chunk(&self, pieces: Vec<Piece>) -> io::Result<Pieces> {
        let file = self.file.as_ref().map(File::try_clone).transpose()?;
        Ok(Pieces { file, pieces })
    }
}

/// A chunk of a file that lies in pieces.
pub(crate) struct Pieces {
    file: Option<File>,
    pieces: Vec<Piece>,
}

impl Pieces {
    /// All of it at once.
    pub(crate) fn fetch(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.get_read(0)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Length for Pieces {
    fn len(&self) -> u64 {
        self.pieces.iter().map(Piece::len).fold(0, u64::saturating_add)
    }
}

impl ChunkReader for Pieces {
    type T = PieceReader;

    fn get_read(&self, start: u64) -> Result<PieceReader> {
        let file = self.file.as_ref().map(File::try_clone).transpose()?;
        let mut reader =
            PieceReader { file, pieces: self.pieces.clone().into_iter(), at: At::Nothing };
        io::copy(&mut (&mut reader).take(start), &mut io::sink())?;
        Ok(reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut bytes = Vec::new();
        self.get_read(start)?.take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() == length {
            Ok(Bytes::from(bytes))
        } else {
            Err(ParquetError::EOF("a chunk is shorter than it was".to_owned()))
        }
    }
}

/// Reads pieces one after the other.
pub(crate) struct PieceReader {
    file: Option<File>,
    pieces: std::vec::IntoIter<Piece>,
    at: At,
}

enum At {
    Nothing,
    Memory(Cursor<Bytes>),
    File(Take<File>),
}

impl PieceReader {
    fn open(&self, piece: Piece) -> io::Result<At> {
        match (piece, &self.file) {
            (Piece::Memory(bytes), _) => Ok(At::Memory(Cursor::new(bytes))),
            (Piece::File { at, len }, Some(file)) => {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(at))?;
                Ok(At::File(file.take(len)))
            }
            _ => Err(io::Error::other("the temporary file of a table is missing")),
        }
    }
}

impl Read for PieceReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = match &mut self.at {
                At::Nothing => 0,
                At::Memory(bytes) => bytes.read(out)?,
                At::File(file) => file.read(out)?,
            };
            if count > 0 || out.is_empty() {
                return Ok(count);
            }
            match self.pieces.next() {
                Some(piece) => self.at = self.open(piece)?,
                None => return Ok(0),
            }
        }
    }
}
