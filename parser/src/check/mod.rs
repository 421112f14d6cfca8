//! Checks whether a stream conforms to the format, for authors of writers and for anybody who
//! wants to know what is wrong with a trace.
//!
//! A [`Reader`] reports only the parts that it could not read ([`Damage`]). A check also
//! verifies rules that a reader does not depend on: times and sequence points rise as
//! promised, payloads match their fields, no event is missing. Every breach is a
//! [`Violation`] that cites the section of `FORMAT.md` with the rule.

mod order;
mod rule;

use crate::damage::{Class, Damage, Finding};
use crate::error::Error;
use crate::event::Event;
use crate::reader::{Item, Reader};
use crate::source::Source;
use crate::{BlockKind, Fault};
use order::TimeRules;
use std::collections::BTreeMap;
use std::fmt;

/// Maximum number of violations of one kind that are kept in full; further ones are only
/// counted.
const MAX_KEPT_PER_KIND: u64 = 64;

/// Severity of a [`Violation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// Something could not be read.
    Damage,
    /// Everything could be read, but a rule of the format is broken or events are
    /// missing.
    Note,
}

impl Severity {
    /// Returns the name of the severity: `damage` or `note`.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Damage => "damage",
            Severity::Note => "note",
        }
    }
}

/// One place where a stream does not conform to the format.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Machine-readable name of the rule, such as `row_size`.
    pub kind: &'static str,
    /// Severity, which tells whether something could not be read.
    pub severity: Severity,
    /// Stream offset of the first byte concerned.
    pub offset: u64,
    /// Kind of the block with the violation; `None` between blocks, and if the whole stream is
    /// concerned.
    pub block: Option<BlockKind>,
    /// Section of `FORMAT.md` with the rule, such as `6.3`.
    pub section: &'static str,
    /// English description of the violation, such as `row: size 99 (10 bytes lost)`.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:#x}: {}: {} (section {})",
            self.offset,
            self.severity.as_str(),
            self.message,
            self.section
        )
    }
}

/// Result of a check.
///
/// ```
/// use nettrace_parser::check::Findings;
/// use nettrace_parser::Reader;
///
/// # let mut bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let findings = Findings::read(&mut Reader::from_slice(&bytes))?;
/// // The example in the format's description lacks one event, and says so.
/// assert_eq!(findings.counts().collect::<Vec<_>>(), [("events_lost", 1)]);
///
/// bytes.truncate(500);
/// let findings = Findings::read(&mut Reader::from_slice(&bytes))?;
/// assert!(findings.is_damaged());
/// assert!(findings.counts().any(|(kind, _)| kind == "truncated"));
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Findings {
    violations: Vec<Violation>,
    counts: BTreeMap<&'static str, u64>,
    is_damaged: bool,
    events: u64,
}

impl Findings {
    /// Reads a stream to its end and checks it, including bytes after the end mark, up to
    /// [`Limits::tail_bytes`](crate::Limits::tail_bytes).
    ///
    /// # Errors
    /// The errors of [`Reader::next_event`]. After [`Error::Io`], start again with a reader at
    /// the stream's beginning.
    pub fn read<S: Source>(reader: &mut Reader<S>) -> Result<Findings, Error> {
        let mut findings = Findings::default();
        reader.wait_for_tail();
        reader.trace()?;
        let mut order = TimeRules::new(reader.version().map_or(0, |version| version.major()));
        loop {
            let step = reader.item_step()?;
            // The reader has reported the contradiction. Later times in the block prove
            // nothing.
            let is_contradicted = reader.state().cursor.is_contradicted;
            match reader.item(step) {
                Some(Item::Block(block)) => order.check_block(&block, &mut findings),
                Some(Item::Event(event)) => {
                    findings.events = findings.events.saturating_add(1);
                    if !is_contradicted {
                        order.check_event(&event, &mut findings);
                    }
                    findings.check_payload(&event);
                }
                None => break,
            }
        }
        findings.take_damage(reader);
        findings.take_losses(reader);
        findings.violations.sort_by_key(|violation| violation.offset);
        Ok(findings)
    }

    /// Adds the violations of a [second stream](crate::following) that begins at `start` in the
    /// file. Its events are not counted.
    pub fn add_following(&mut self, start: u64, second: Findings) {
        self.is_damaged |= second.is_damaged;
        for (kind, more) in second.counts {
            let count = self.counts.entry(kind).or_insert(0);
            *count = count.saturating_add(more);
        }
        self.violations.extend(second.violations.into_iter().map(|violation| {
            let offset = start.saturating_add(violation.offset);
            Violation { offset, ..violation }
        }));
    }

    /// Returns the violations in order of their offsets; at most 64 of each kind and stream.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Returns the kinds of violations, sorted, with their total number, which includes
    /// violations beyond the first 64.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.counts.iter().map(|(kind, count)| (*kind, *count))
    }

    /// Returns whether anything could not be read.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// Returns the number of events that were read.
    pub fn events(&self) -> u64 {
        self.events
    }

    fn note(
        &mut self,
        kind: &'static str,
        section: &'static str,
        offset: u64,
        message: impl FnOnce() -> String,
    ) {
        self.add(kind, Severity::Note, section, offset, Some(BlockKind::Event), message);
    }

    fn add(
        &mut self,
        kind: &'static str,
        severity: Severity,
        section: &'static str,
        offset: u64,
        block: Option<BlockKind>,
        message: impl FnOnce() -> String,
    ) {
        self.is_damaged |= severity == Severity::Damage;
        let count = self.counts.entry(kind).or_insert(0);
        *count = count.saturating_add(1);
        if *count <= MAX_KEPT_PER_KIND {
            self.violations.push(Violation {
                kind,
                severity,
                offset,
                block,
                section,
                message: message(),
            });
        }
    }

    /// Compares a payload with its fields (section 8). Payloads that the catalog
    /// describes may be longer, because later runtimes append fields.
    fn check_payload(&mut self, event: &Event<'_>) {
        let is_described = event
            .schema()
            .is_some_and(|schema| !schema.fields.is_empty() && schema.opaque.is_none());
        let mut fields = event.fields();
        let mut is_whole = true;
        for field in fields.by_ref() {
            let Err(fault) = field.value else { continue };
            is_whole = false;
            let offset = event.payload_offset().saturating_add(fault.offset as u64);
            self.note("payload_field", "8", offset, || {
                let (provider, id) = (event.provider(), event.id());
                format!("{provider}/{id}: field {}: {}", field.name(), fault.fault)
            });
        }
        let surplus = fields.rest().len();
        if is_described && event.catalog().is_none() && is_whole && surplus > 0 {
            let offset = event.payload_offset().saturating_add(fields.rest_offset() as u64);
            self.note("payload_surplus", "8", offset, || {
                format!("{}/{}: {surplus} bytes after the last field", event.provider(), event.id())
            });
        }
    }

    /// Converts the reader's findings to violations.
    fn take_damage<S: Source>(&mut self, reader: &Reader<S>) {
        let major = reader.version().map_or(0, |version| version.major());
        let damage = reader.damage();
        for finding in damage.findings() {
            let severity =
                if finding.class == Class::Note { Severity::Note } else { Severity::Damage };
            let kind = rule::kind(finding.fault);
            let section = rule::section(finding.fault, finding.block, major);
            self.add(kind, severity, section, finding.offset, finding.block, || {
                let lost = match finding.lost_bytes {
                    0 => String::new(),
                    1 => " (1 byte lost)".to_owned(),
                    bytes => format!(" ({bytes} bytes lost)"),
                };
                format!("{}: {}{lost}", finding.context, finding.fault)
            });
        }
        self.count_unkept(damage);
        let is_told = damage.count(Class::Incomplete) > 0;
        if !reader.is_complete() && !is_told {
            let end = reader.end_offset().unwrap_or_else(|| reader.position());
            let kind = rule::kind(Fault::Truncated);
            self.add(kind, Severity::Damage, "13.3", end, None, || {
                "the stream ends without its end mark".to_owned()
            });
        }
    }

    /// Counts findings that the reader counted but did not keep.
    fn count_unkept(&mut self, damage: &Damage) {
        let is_like = |a: &Finding, b: &Finding| {
            let of = std::mem::discriminant::<Fault>;
            (a.class, a.context, of(&a.fault)) == (b.class, b.context, of(&b.fault))
        };
        let findings = damage.findings();
        for (at, finding) in findings.iter().enumerate() {
            let is_first = !findings.iter().take(at).any(|other| is_like(other, finding));
            let kept = findings.iter().filter(|other| is_like(other, finding)).count() as u64;
            let unkept = damage.count_like(finding).saturating_sub(kept);
            if is_first && unkept > 0 {
                let count = self.counts.entry(rule::kind(finding.fault)).or_insert(0);
                *count = count.saturating_add(unkept);
            }
        }
    }

    /// Adds a violation for each capture thread whose events have gaps in their sequence numbers
    /// (section 12).
    fn take_losses<S: Source>(&mut self, reader: &Reader<S>) {
        let mut threads: Vec<(u64, u64)> = reader.losses().by_thread().collect();
        threads.sort_unstable();
        let end = reader.end_offset().unwrap_or_else(|| reader.position());
        for (thread, lost) in threads {
            self.add("events_lost", Severity::Note, "12", end, None, || {
                format!("capture thread {thread}: {lost} numbers without their event")
            });
        }
    }
}
