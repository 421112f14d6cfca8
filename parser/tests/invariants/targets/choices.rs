//! Decisions taken from the bytes of an input. When the bytes are used up, every decision is 0.

pub(crate) struct Choices<'d> {
    rest: &'d [u8],
}

impl<'d> Choices<'d> {
    pub(crate) fn new(bytes: &'d [u8]) -> Choices<'d> {
        Choices { rest: bytes }
    }

    pub(crate) fn u8(&mut self) -> u8 {
        match self.rest.split_first() {
            Some((byte, rest)) => {
                self.rest = rest;
                *byte
            }
            None => 0,
        }
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.u8(), self.u8()])
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from(self.u16()) | u32::from(self.u16()) << 16
    }

    /// Draws a number below `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        if count <= 1 { 0 } else { self.u32() as usize % count }
    }

    pub(crate) fn bytes(&mut self, count: usize) -> &'d [u8] {
        let (bytes, rest) = self.rest.split_at(count.min(self.rest.len()));
        self.rest = rest;
        bytes
    }

    pub(crate) fn rest(&self) -> &'d [u8] {
        self.rest
    }
}
