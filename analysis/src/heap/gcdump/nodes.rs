//! The nodes of a `.gcdump`: what each is, and to which others it refers.

use super::super::links::{Links, NONE};
use super::error::{GcDumpError, GcDumpFault as Fault};
use super::file::GcDumpFile;
use super::groups;
use super::record::{RecordHead, take_head, take_number};
use nettrace_parser::unstable::{first, numbers};

/// Name of the first type, which nodes that were not dumped have.
pub(super) const UNDEFINED: &str = "UNDEFINED";

/// Kind of a node. Objects have numbers of their own, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    /// An object, by its number.
    Object(u32),
    Group,
    /// Others refer to the node, but it was not dumped.
    Undumped,
    /// The node that stands for references to nothing.
    Null,
}

const GROUP: u32 = NONE - 1;
const UNDUMPED: u32 = NONE - 2;
const NULL: u32 = NONE - 3;

/// An object as its node describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StoredObject {
    pub(super) address: u64,
    pub(super) bytes: i32,
    pub(super) type_index: usize,
}

/// The nodes of a file.
pub(super) struct Nodes<'f> {
    file: &'f GcDumpFile<'f>,
    kinds: Links,
    /// Number of nodes.
    pub(super) count: u32,
}

impl<'f> Nodes<'f> {
    /// Looks at all nodes, and calls `object` for each object, in order.
    pub(super) fn new(
        file: &'f GcDumpFile<'f>,
        mut object: impl FnMut(StoredObject),
    ) -> Result<Nodes<'f>, GcDumpError> {
        let offsets = numbers::<u32>(file.records);
        let count = u32::try_from(offsets.len()).unwrap_or(NULL).min(NULL);
        let mut nodes = Nodes { file, kinds: Links::filled(offsets.len(), NULL), count };
        let (mut objects, mut children) = (0u32, 0usize);
        for ((at, offset), address) in (0..count).zip(offsets).zip(numbers(file.addresses)) {
            let (head, _) = nodes.record(offset)?;
            children = children.saturating_add(head.children);
            // Records that overlap could have any number of children.
            if children > file.blob.len() {
                return Err(nodes.fault(offset, Fault::Overlap));
            }
            let Some(of) = file.types.get(head.type_index) else {
                let index = i32::try_from(head.type_index).unwrap_or(i32::MAX);
                return Err(nodes.fault(offset, Fault::TypeIndex(index)));
            };
            // A type that no node had when it was written has the size −1.
            let bytes = head.bytes.unwrap_or(if of.bytes == -1 { 0 } else { of.bytes });
            let is_undumped = offset == 0 && head.type_index == 0 && of.name == UNDEFINED;
            let kind = match is_undumped {
                true if address == 0 => NULL,
                true => UNDUMPED,
                false if groups::is_group(&of.name, bytes, address) => GROUP,
                false => {
                    object(StoredObject { address, bytes, type_index: head.type_index });
                    let number = objects;
                    objects = objects.saturating_add(1);
                    number
                }
            };
            nodes.kinds.set(at, kind);
        }
        Ok(nodes)
    }

    /// Returns what a node is; `None` if there is no such node.
    pub(super) fn kind(&self, node: u32) -> Option<Node> {
        if node >= self.count {
            return None;
        }
        Some(match self.kinds.get(node) {
            GROUP => Node::Group,
            UNDUMPED => Node::Undumped,
            NULL | NONE => Node::Null,
            object => Node::Object(object),
        })
    }

    /// Returns the name of a node's type.
    pub(super) fn type_name(&self, node: u32) -> Result<&'f str, GcDumpError> {
        let (head, _) = self.record(self.offset(node))?;
        Ok(self.file.types.get(head.type_index).map_or("", |of| &*of.name))
    }

    /// Calls `child` for each child of a node, in order; with `None` for one that is no node.
    pub(super) fn children(
        &self,
        node: u32,
        mut child: impl FnMut(Option<(u32, Node)>),
    ) -> Result<(), GcDumpError> {
        let offset = self.offset(node);
        let (head, mut rest) = self.record(offset)?;
        for _ in 0..head.children {
            let apart = take_number(&mut rest).map_err(|fault| self.fault(offset, fault))?;
            let number = u32::try_from(i64::from(node).saturating_add(i64::from(apart))).ok();
            child(number.and_then(|number| Some((number, self.kind(number)?))));
        }
        Ok(())
    }

    fn offset(&self, node: u32) -> u32 {
        let at = (node as usize).saturating_mul(size_of::<u32>());
        self.file.records.get(at..).and_then(first).unwrap_or(0)
    }

    /// Returns the head of a record, and the bytes from its children on.
    fn record(&self, offset: u32) -> Result<(RecordHead, &'f [u8]), GcDumpError> {
        let mut rest = self.file.blob.get(offset as usize..).unwrap_or_default();
        let head = take_head(&mut rest).map_err(|fault| self.fault(offset, fault))?;
        Ok((head, rest))
    }

    fn fault(&self, offset: u32, fault: Fault) -> GcDumpError {
        let offset = self.file.blob_at.saturating_add((offset as usize).min(self.file.blob.len()));
        GcDumpError::new(offset, "record of a node", fault)
    }
}
