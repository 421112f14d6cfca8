//! Why a `.gcdump` cannot be read.

use std::fmt;

/// Reason why a `.gcdump` cannot be read, and where in the file it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcDumpError {
    /// Offset in the file, in bytes. For a fault of a node, the offset of the node's record, or
    /// the end of all records.
    pub offset: u64,
    /// What was being read.
    pub context: &'static str,
    /// What is wrong there.
    pub fault: GcDumpFault,
}

/// What is wrong with a `.gcdump`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GcDumpFault {
    /// The file does not begin as a `.gcdump`.
    NotGcDump,
    /// The file ends here.
    CutOff,
    /// An object has a version that is not known: the version, and the least version that a reader
    /// must know.
    Version(u32, u32),
    /// An object has this type, which does not belong here.
    ObjectType(String),
    /// A byte is no tag that can stand here.
    Tag(u8),
    /// A number of items or bytes is negative, or larger than the rest of the file.
    Count(i32),
    /// A reference leads to an offset at which no such object has been read.
    Reference(u64),
    /// A reference to a later place has no such number in the table, or leads elsewhere.
    Forward(u32),
    /// Objects are nested too deeply.
    Nesting,
    /// An object lacks a part that all readers need.
    Missing,
    /// The number of addresses is not the number of nodes.
    Addresses(u32),
    /// A number has more than 32 bits.
    NumberTooLong,
    /// A node has a type that is not in the list of types.
    TypeIndex(i32),
    /// A node has a negative number of children, or more than there are bytes.
    Children(i32),
    /// Records of nodes overlap, so that the nodes have more children than there are bytes.
    Overlap,
}

impl GcDumpError {
    pub(super) fn new(offset: usize, context: &'static str, fault: GcDumpFault) -> GcDumpError {
        GcDumpError { offset: offset as u64, context, fault }
    }
}

impl fmt::Display for GcDumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offset {:#x}, {}: {}", self.offset, self.context, self.fault)
    }
}

impl fmt::Display for GcDumpFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GcDumpFault::NotGcDump => f.write_str("it is no .gcdump"),
            GcDumpFault::CutOff => f.write_str("the file ends in it"),
            GcDumpFault::Version(version, minimum) => {
                write!(f, "version {version}, for readers of version {minimum} and later")
            }
            GcDumpFault::ObjectType(name) => write!(f, "an object of type {name:?}"),
            GcDumpFault::Tag(tag) => write!(f, "tag {tag} is not possible here"),
            GcDumpFault::Count(count) => {
                write!(f, "a count of {count}, which the rest of the file cannot hold")
            }
            GcDumpFault::Reference(label) => {
                write!(f, "a reference to offset {label:#x}, where there is no such object")
            }
            GcDumpFault::Forward(index) => write!(f, "forward reference {index} leads elsewhere"),
            GcDumpFault::Nesting => f.write_str("objects are nested too deeply"),
            GcDumpFault::Missing => f.write_str("it is missing"),
            GcDumpFault::Addresses(count) => {
                write!(f, "there are {count} of them, which is not the number of nodes")
            }
            GcDumpFault::NumberTooLong => f.write_str("a number of more than 32 bits"),
            GcDumpFault::TypeIndex(index) => write!(f, "type {index} is not in the list"),
            GcDumpFault::Children(count) => write!(f, "{count} children"),
            GcDumpFault::Overlap => f.write_str("records overlap"),
        }
    }
}

impl std::error::Error for GcDumpError {}
