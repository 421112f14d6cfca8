//! Makes text from outside safe for a terminal.

use std::io::{self, Write};

/// Replaces characters that could move the cursor or reorder text. Names come from traces
/// and file systems and may contain anything.
pub(crate) fn printable(text: &str) -> String {
    nettrace_export::hidden::printable(text).into_owned()
}

/// Applies [`printable`] to each line of a document: tag values of OpenMetrics hold anything, too.
pub(crate) fn printable_lines(document: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(document);
    text.lines().flat_map(|line| (printable(line) + "\n").into_bytes()).collect()
}

/// Minimum number of waiting bytes of a line that is shown before its end.
const LONG_LINE_BYTES: usize = 64 * 1024;

/// Applies [`printable`] to text that a converter writes to a terminal piece by piece.
pub(crate) struct PrintableText<W: Write> {
    inner: W,
    waiting: Vec<u8>,
}

impl<W: Write> PrintableText<W> {
    pub(crate) fn new(inner: W) -> PrintableText<W> {
        PrintableText { inner, waiting: Vec::new() }
    }

    /// Writes the first `count` waiting bytes.
    fn show(&mut self, count: usize) -> io::Result<()> {
        let rest = self.waiting.split_off(count);
        let text = std::mem::replace(&mut self.waiting, rest);
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let (line, end): (&[u8], &[u8]) = match line {
                [line @ .., b'\n'] => (line, b"\n"),
                line => (line, b""),
            };
            self.inner.write_all(printable(&String::from_utf8_lossy(line)).as_bytes())?;
            self.inner.write_all(end)?;
        }
        Ok(())
    }
}

impl<W: Write> Write for PrintableText<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let before = self.waiting.len();
        self.waiting.extend_from_slice(bytes);
        // The bytes that waited so far contain no end of a line.
        if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
            self.show(before + end + 1)?;
        } else if self.waiting.len() >= LONG_LINE_BYTES {
            // A line is not split within a character.
            let begins = |byte: &u8| *byte & 0xc0 != 0x80;
            let end = self.waiting.iter().rposition(begins).unwrap_or(0);
            self.show(if end == 0 { self.waiting.len() } else { end })?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.show(self.waiting.len())?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_text_comes_no_control_character_reaches_the_terminal() {
        let text = format!("\u{1b}[31mred\u{9b}\nnext{}\u{202e}end", "é".repeat(LONG_LINE_BYTES));
        for size in [1, 2, 3, 7, 4096, text.len()] {
            let mut shown = Vec::new();
            let mut out = PrintableText::new(&mut shown);
            text.as_bytes().chunks(size).for_each(|piece| out.write_all(piece).unwrap());
            out.flush().unwrap();
            let expected: Vec<String> = text.split('\n').map(printable).collect();
            assert_eq!(String::from_utf8(shown).unwrap(), expected.join("\n"), "{size}");
        }
    }
}
