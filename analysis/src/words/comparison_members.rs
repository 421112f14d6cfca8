//! Members of the documents of comparisons: facts, and beside them the sentence that `words` makes
//! of them.

use crate::fact::comparison::{
    DiffKey, DiffNote, DiffVerdict, Doubt, NotCompared, PerReason, Undecided,
};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::fmt;

/// Declares functions that write two members of a JSON document: a sentence, and its facts.
macro_rules! sentence_beside_facts {
    ($($function:ident: $facts:ty, $sentence:literal, $fact:literal, $words:expr;)*) => {$(
        pub(crate) fn $function<S: Serializer>(facts: &$facts, to: S) -> Result<S::Ok, S::Error> {
            let words: fn(&$facts) -> _ = $words;
            let mut members = to.serialize_map(Some(2))?;
            members.serialize_entry($sentence, &words(facts))?;
            members.serialize_entry($fact, facts)?;
            members.end()
        }
    )*};
}

sentence_beside_facts! {
    verdict: DiffVerdict, "verdict", "verdict_facts", DiffVerdict::to_string;
    per_reason: PerReason, "per_reason", "per_reason_kind", PerReason::to_string;
    not_compared: [NotCompared], "not_compared", "not_compared_facts", |all| texts(all);
    notes: [DiffNote], "notes", "notes_facts", |all| texts(all);
    doubt: Option<Doubt>, "doubt", "doubt_facts", |doubt| text(doubt);
    undecided: Option<Undecided>, "undecided", "undecided_facts", |reason| text(reason);
}

fn text(fact: &Option<impl fmt::Display>) -> Option<String> {
    fact.as_ref().map(ToString::to_string)
}

fn texts(facts: &[impl fmt::Display]) -> Vec<String> {
    facts.iter().map(ToString::to_string).collect()
}

/// Writes the key's members, and its text as `what`.
impl Serialize for DiffKey {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(4))?;
        map.serialize_entry("subject", &self.subject)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("measure", &self.measure)?;
        map.serialize_entry("what", &self.to_string())?;
        map.end()
    }
}
