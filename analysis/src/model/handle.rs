//! Handles refer to things that the model knows. They are as small as a number, and each
//! kind has its own type.

/// Defines handle types; each is an index into one table of the model.
macro_rules! handles {
    ($($(#[$doc:meta])* $visibility:vis $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(pub(crate) u32);

        impl $name {
            /// Returns the index in the table: 0, 1, 2 … in the order in which the things were
            /// first seen.
            $visibility fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the handles of a table with `count` rows.
            #[allow(dead_code, reason = "not every table is walked")]
            pub(crate) fn all(len: usize) -> impl Iterator<Item = $name> {
                (0..u32::try_from(len).unwrap_or(u32::MAX)).map($name)
            }

            /// Returns the handle for a table's next row. If the table is full, its last handle.
            pub(crate) fn next(len: usize) -> $name {
                $name(u32::try_from(len).unwrap_or(u32::MAX))
            }
        }
    )*};
}

handles! {
    /// A process.
    pub ProcessHandle;
    /// A thread of a process.
    pub ThreadHandle;
    /// A distinct stack; see [`Model::addresses`](super::Model::addresses).
    pub StackHandle;
    /// A text, such as the name of an allocated type.
    pub TextHandle;
    /// A frame as it is shown; see [`Resolved`](super::Resolved).
    pub FrameHandle;
    /// A method's code.
    pub(crate) MethodHandle;
}
