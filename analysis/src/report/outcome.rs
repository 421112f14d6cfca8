//! Outcome of reading, as part of documents.

use nettrace_parser::{BlockKind, Finding, Outcome};

/// Outcome of reading a trace: the member `outcome` of every document.
///
/// ```
/// use nettrace_analysis::report::OutcomeReport;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = nettrace_parser::Reader::from_slice(&bytes);
/// while reader.next_event()?.is_some() {}
/// let outcome = OutcomeReport::from_outcome(&reader.outcome());
/// // The writer of this trace dropped one event.
/// assert_eq!((outcome.complete, outcome.lost, outcome.damage_count), (true, 1, 0));
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OutcomeReport {
    /// Whether the stream's end mark was read; otherwise the end of the trace is missing.
    pub complete: bool,
    /// Position at which the stream ended, in bytes after decompression.
    pub end_offset: u64,
    /// Number of bytes that are missing from the block in which the stream ends; `None` if the
    /// stream does not end inside a block. Blocks after it may be missing, too.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub missing_bytes: Option<u64>,
    /// Number of lost events, according to sequence numbers.
    pub lost: u64,
    /// Whether `lost` is known: false for version 3, whose events have no sequence numbers.
    pub losses_known: bool,
    /// Number of threads that lost events.
    pub lost_threads: u64,
    /// Number of findings of damage, including those not listed in `damage`.
    pub damage_count: u64,
    /// Number of bytes that were not read because of damage.
    pub damage_bytes: u64,
    /// Findings of damage, at most 64 of each kind.
    pub damage: Vec<DamageRow>,
}

/// Finding of damage.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DamageRow {
    /// Stream offset of the first affected byte.
    pub offset: u64,
    /// Kind of the damaged block; `None` between blocks.
    pub block: Option<&'static str>,
    /// Part of the format that was read.
    pub context: &'static str,
    /// Description of the fault.
    pub fault: String,
    /// Class of the loss, such as `rest of block lost`.
    pub class: &'static str,
    /// Number of bytes that were not read because of the fault.
    pub lost_bytes: u64,
}

impl OutcomeReport {
    /// Converts an outcome to its document.
    pub fn from_outcome(outcome: &Outcome) -> OutcomeReport {
        let (losses, damage) = (&outcome.losses, &outcome.damage);
        OutcomeReport {
            complete: outcome.is_complete,
            end_offset: outcome.end_offset,
            missing_bytes: Some(outcome.missing_bytes).filter(|bytes| *bytes > 0),
            lost: losses.total(),
            losses_known: outcome.losses_known(),
            lost_threads: losses.by_thread().len() as u64,
            damage_count: damage.loss_count(),
            damage_bytes: damage.lost_bytes(),
            damage: damage.losses().map(DamageRow::from_finding).collect(),
        }
    }

    /// Inserts a fault of the file that contains the stream, such as a wrong checksum of a
    /// compressed file, before all others. `offset`: position in that file, in bytes.
    pub fn add_file_fault(&mut self, offset: u64, context: &'static str, fault: String) {
        self.damage.insert(0, DamageRow::of_file(offset, context, fault));
        self.damage_count = self.damage_count.saturating_add(1);
    }
}

impl DamageRow {
    /// Creates the row for a fault of the file that contains the stream.
    pub(crate) fn of_file(offset: u64, context: &'static str, fault: String) -> DamageRow {
        let class = nettrace_parser::Class::Incomplete.as_str();
        DamageRow { offset, block: None, context, fault, class, lost_bytes: 0 }
    }

    fn from_finding(finding: &Finding) -> DamageRow {
        DamageRow {
            offset: finding.offset,
            block: finding.block.map(BlockKind::as_str),
            context: finding.context,
            fault: finding.fault.to_string(),
            class: finding.class.as_str(),
            lost_bytes: finding.lost_bytes,
        }
    }
}
