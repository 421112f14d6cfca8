//! Handles of threads, stacks, frames and other rows of the model. A handle is an index whose type
//! says which table it belongs to.

/// Defines types of handles, each an index into one table of the model.
macro_rules! handles {
    ($($(#[$doc:meta])* $visibility:vis $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(pub(crate) u32);

        impl $name {
            /// Returns the index in the table: 0, 1, 2 … in the order of first appearance.
            $visibility fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the handles of all rows of a table with `len` rows.
            #[allow(dead_code, reason = "not every table is walked")]
            pub(crate) fn all(len: usize) -> impl Iterator<Item = $name> {
                (0..u32::try_from(len).unwrap_or(u32::MAX)).map($name)
            }

            /// Returns the handle for the next row of a table with `len` rows; the last handle if
            /// the table is full.
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
    /// A distinct stack, whose addresses [`Model::addresses`](super::Model::addresses) returns.
    pub StackHandle;
    /// A text, such as the name of an allocated type.
    pub TextHandle;
    /// A frame with its name, which [`Resolved`](super::Resolved) returns.
    pub FrameHandle;
    /// A request that came in, which [`EndpointSpans`](super::EndpointSpans) has.
    pub RequestHandle;
    /// A piece of a method's code.
    pub(crate) MethodHandle;
}
