//! Evaluates predicates. Fields are looked up once per shape, and names once per type.

use super::answers::Fact;
use super::counter::{CounterTest, Sample};
use super::hold::Held;
use super::literal::{Amount, Number};
use super::{Comparison, Expr, Operator, Predicate};
use crate::event_types::{EventTypes, TypeIndex};
use crate::expression::Expression;
use crate::nearest::{nearest, suggestion};
use crate::pattern::EventPattern;
use crate::payload::PayloadWriter;
use crate::plain::plain;
use crate::shape::{Name, Names, Path};
use nettrace_parser::{Event, FieldValue, Unit, Value};
use std::borrow::Cow;
use std::cmp::Ordering;

/// Maximum number of existing fields listed in a message about a missing one.
const MAX_NAMED_FIELDS: usize = 12;

impl Operator {
    pub(super) fn holds(self, ordering: Option<Ordering>) -> bool {
        match self {
            Operator::Equal => ordering == Some(Ordering::Equal),
            // NaN is not equal to any number.
            Operator::NotEqual => ordering != Some(Ordering::Equal),
            Operator::Less => ordering == Some(Ordering::Less),
            Operator::LessOrEqual => ordering.is_some_and(Ordering::is_le),
            Operator::Greater => ordering == Some(Ordering::Greater),
            Operator::GreaterOrEqual => ordering.is_some_and(Ordering::is_ge),
            Operator::Fits | Operator::FitsNot | Operator::Contains | Operator::ContainsNot => {
                false
            }
        }
    }
}

/// A reusable buffer for the text of a value.
#[derive(Debug, Default)]
struct Scratch {
    bytes: Vec<u8>,
    json: PayloadWriter,
}

impl Scratch {
    fn text(&mut self, field: &FieldValue<'_>, name: &Name) -> &str {
        self.bytes.clear();
        plain(&mut self.bytes, field, name, &mut self.json);
        std::str::from_utf8(&self.bytes).unwrap_or_default()
    }
}

/// A comparison that is ready to be evaluated.
#[derive(Debug)]
struct Test {
    comparison: Comparison,
    literal: Option<Amount>,
    expression: Option<Expression>,
    /// Whether the comparison was ever true.
    has_held: bool,
    /// Whether a field was ever of a type that cannot be compared.
    has_wrong_kind: bool,
    /// Whether an operation ever had a fact with the field's name.
    has_fact: bool,
}

impl Test {
    fn new(comparison: &Comparison) -> Test {
        let is_expression = matches!(comparison.operator, Operator::Fits | Operator::FitsNot);
        // The parser has checked that the expression is valid.
        let expression = is_expression.then(|| Expression::new(&comparison.value).ok()).flatten();
        let literal =
            (!comparison.is_quoted).then(|| Amount::parse(comparison.value.trim())).flatten();
        Test {
            comparison: comparison.clone(),
            literal,
            expression,
            has_held: false,
            has_wrong_kind: false,
            has_fact: false,
        }
    }

    /// Returns whether the comparison is true for a fact that is not a field of an event.
    fn holds_for(&mut self, fact: &Fact<'_>) -> bool {
        self.has_fact = true;
        let operator = self.comparison.operator;
        let number = match fact {
            Fact::Text(_) => None,
            Fact::Number(number) => Some((Number::Fraction(*number), None)),
            Fact::Nanos(nanos) => {
                Some((Number::Whole(i128::from(*nanos)), Some(Unit::Nanoseconds)))
            }
            Fact::Bytes(bytes) => Some((Number::Whole(i128::from(*bytes)), Some(Unit::Bytes))),
        };
        let text = match fact {
            Fact::Text(text) => Cow::Borrowed(text.as_ref()),
            Fact::Number(number) => Cow::Owned(number.to_string()),
            Fact::Nanos(number) | Fact::Bytes(number) => Cow::Owned(number.to_string()),
        };
        let wanted = self.comparison.value.as_str();
        let holds = match (operator, number) {
            (Operator::Fits | Operator::FitsNot, _) => {
                let expression = self.expression.as_ref();
                let is_match = expression.map(|expression| expression.is_match(&text));
                is_match == Some(operator == Operator::Fits)
            }
            (Operator::Contains | Operator::ContainsNot, _) => {
                text.contains(wanted) == (operator == Operator::Contains)
            }
            (_, Some((number, unit))) => {
                let wanted = self.literal.and_then(|literal| literal.in_unit(unit));
                self.has_wrong_kind |= wanted.is_none();
                wanted.is_some_and(|wanted| operator.holds(number.compare(wanted)))
            }
            // A word cannot be greater or less than a number.
            _ if operator.is_of_order() && self.literal.is_some() => false,
            _ if text.eq_ignore_ascii_case(wanted) => operator.holds(Some(Ordering::Equal)),
            _ => operator.holds(Some(text.as_ref().cmp(wanted))),
        };
        self.has_held |= holds;
        holds
    }

    fn holds(&mut self, field: &FieldValue<'_>, name: &Name, scratch: &mut Scratch) -> bool {
        let Ok(value) = &field.value else { return false };
        if matches!(value, Value::Absent) {
            return false;
        }
        let operator = self.comparison.operator;
        let is_of_text = matches!(
            operator,
            Operator::Fits | Operator::FitsNot | Operator::Contains | Operator::ContainsNot
        );
        if !is_of_text && let Some(number) = Number::from_value(value) {
            if let Some(wanted) = self.literal.and_then(|literal| literal.in_unit(name.unit)) {
                return operator.holds(number.compare(wanted));
            }
            if operator.is_of_order() {
                // A number cannot be greater or less than a word.
                self.has_wrong_kind = true;
                return false;
            }
        }
        let known = field.value_name().map(|known| known.to_string());
        let text = scratch.text(field, name);
        let wanted = self.comparison.value.as_str();
        match operator {
            Operator::Fits | Operator::FitsNot => {
                let Some(expression) = &self.expression else { return false };
                let fits = expression.is_match(text)
                    || known.is_some_and(|known| expression.is_match(&known));
                fits == (operator == Operator::Fits)
            }
            Operator::Contains | Operator::ContainsNot => {
                let contains =
                    text.contains(wanted) || known.is_some_and(|known| known.contains(wanted));
                contains == (operator == Operator::Contains)
            }
            _ => {
                let is_equal_by_case =
                    matches!(value, Value::Guid(_) | Value::Bool(_) | Value::Pointer(_));
                let ordering = match known {
                    Some(known) if known.eq_ignore_ascii_case(wanted) => Ordering::Equal,
                    _ if is_equal_by_case && text.eq_ignore_ascii_case(wanted) => Ordering::Equal,
                    _ => text.cmp(wanted),
                };
                operator.holds(Some(ordering))
            }
        }
    }
}

/// A leaf of the tree: a comparison, a name or a counter.
#[derive(Debug)]
enum Leaf {
    Event { pattern: EventPattern, has_held: bool },
    Test(Box<Test>),
    Counter(Box<CounterTest>),
}

/// A node of the tree. It refers to a leaf by its index.
#[derive(Debug)]
enum Node {
    Leaf(usize),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
}

impl Node {
    fn new(expr: &Expr, leaves: &mut Vec<Leaf>) -> Node {
        let mut all = |parts: &[Expr]| parts.iter().map(|part| Node::new(part, leaves)).collect();
        match expr {
            Expr::And(parts) => Node::And(all(parts)),
            Expr::Or(parts) => Node::Or(all(parts)),
            Expr::Not(inner) => Node::Not(Box::new(Node::new(inner, leaves))),
            Expr::Event(name) => {
                leaves.push(Leaf::Event { pattern: EventPattern::new(name), has_held: false });
                Node::Leaf(leaves.len().saturating_sub(1))
            }
            Expr::Counter(comparison) => {
                leaves.push(Leaf::Counter(Box::new(CounterTest::new(comparison))));
                Node::Leaf(leaves.len().saturating_sub(1))
            }
            Expr::Compare(comparison) => {
                leaves.push(Leaf::Test(Box::new(Test::new(comparison))));
                Node::Leaf(leaves.len().saturating_sub(1))
            }
        }
    }

    fn holds(&self, answers: &dyn Fn(usize) -> bool) -> bool {
        self.known(&|at| Some(answers(at))) == Some(true)
    }

    /// Returns whether the tree is true, if the known answers of the leaves decide that. Returns
    /// `None` if it depends on unknown answers.
    fn known(&self, answers: &dyn Fn(usize) -> Option<bool>) -> Option<bool> {
        let any = |parts: &[Node], wanted: bool| {
            let mut is_known = true;
            for part in parts {
                match part.known(answers) {
                    Some(holds) if holds == wanted => return Some(wanted),
                    holds => is_known &= holds.is_some(),
                }
            }
            is_known.then_some(!wanted)
        };
        match self {
            Node::Leaf(at) => answers(*at),
            Node::Not(inner) => Some(!inner.known(answers)?),
            Node::And(parts) => any(parts, false),
            Node::Or(parts) => any(parts, true),
        }
    }

    /// Returns whether the tree can be true for events of a type, for some values of their fields.
    fn may_hold(&self, is_named: &dyn Fn(usize) -> Option<bool>) -> bool {
        match self {
            Node::Leaf(at) => is_named(*at).unwrap_or(true),
            Node::Not(inner) => match &**inner {
                Node::Leaf(at) => !is_named(*at).unwrap_or(false),
                _ => true,
            },
            Node::And(parts) => parts.iter().all(|part| part.may_hold(is_named)),
            Node::Or(parts) => parts.iter().any(|part| part.may_hold(is_named)),
        }
    }
}

/// What a leaf means for events of one shape, such as the place of the compared field.
#[derive(Debug, Clone)]
enum Known {
    /// Whether the type has the name that the leaf requests.
    Named(bool),
    At(Path, Name),
    NoField,
    /// The leaf does not depend on events.
    Counter,
}

/// A predicate that can be evaluated for events.
#[derive(Debug)]
pub(crate) struct Compiled {
    predicate: Predicate,
    root: Node,
    leaves: Vec<Leaf>,
    /// Meaning of each leaf, by [`TypeIndex::shape`] and the leaf's index.
    known: Vec<Vec<Known>>,
    answers: Vec<bool>,
    has_held: bool,
    scratch: Scratch,
    is_of_counters: bool,
    held: Held,
    round: Option<Round>,
}

/// Period in which each counter of a predicate is published once.
#[derive(Debug, Clone, Copy)]
struct Round {
    start_nanos: i64,
    interval_nanos: i64,
}

impl Round {
    /// Returns whether a value belongs to a later round. All values of one publication interval
    /// come close together, so a round is over after half an interval.
    fn is_over_before(self, sample: &Sample) -> bool {
        sample.nanos().saturating_sub(self.start_nanos) > self.interval_nanos / 2
    }
}

impl Compiled {
    pub(crate) fn new(predicate: &Predicate) -> Compiled {
        let mut leaves = Vec::new();
        let root = Node::new(&predicate.root, &mut leaves);
        Compiled {
            predicate: predicate.clone(),
            root,
            answers: vec![false; leaves.len()],
            leaves,
            known: Vec::new(),
            has_held: false,
            scratch: Scratch::default(),
            is_of_counters: predicate.root.is_of_counters(),
            held: Held::default(),
            round: None,
        }
    }

    pub(crate) fn predicate(&self) -> &Predicate {
        &self.predicate
    }

    pub(crate) fn has_held(&self) -> bool {
        self.has_held
    }

    /// Returns whether an event satisfies the predicate. All leaves are evaluated, so that each
    /// leaf knows whether it was ever true.
    pub(crate) fn holds(
        &mut self,
        event: &Event<'_>,
        place: TypeIndex,
        types: &EventTypes,
    ) -> bool {
        self.answer(event, place, types);
        let holds = self.root.holds(&|at| self.answers.get(at).copied().unwrap_or(false));
        self.has_held |= holds;
        holds
    }

    /// Evaluates each leaf for an event.
    pub(crate) fn answer(
        &mut self,
        event: &Event<'_>,
        place: TypeIndex,
        types: &EventTypes,
    ) -> &[bool] {
        if self.known.get(place.shape).is_none_or(Vec::is_empty) {
            self.look_up(place, types);
        }
        let Some(known) = self.known.get(place.shape) else { return &[] };
        for ((leaf, known), answer) in self.leaves.iter_mut().zip(known).zip(&mut self.answers) {
            *answer = match (leaf, known) {
                (Leaf::Event { has_held, .. }, Known::Named(is_named)) => {
                    *has_held |= *is_named;
                    *is_named
                }
                (Leaf::Test(test), Known::At(path, name)) => {
                    let holds = path
                        .field(event)
                        .is_some_and(|field| test.holds(&field, name, &mut self.scratch));
                    test.has_held |= holds;
                    holds
                }
                (Leaf::Counter(counter), _) => counter.holds(),
                _ => false,
            };
        }
        &self.answers
    }

    /// Evaluates each leaf for facts that are not fields of events.
    pub(crate) fn answer_facts(&mut self, facts: &[(&str, Fact<'_>)]) -> &[bool] {
        for (leaf, answer) in self.leaves.iter_mut().zip(&mut self.answers) {
            *answer = false;
            let Leaf::Test(test) = leaf else { continue };
            for (name, fact) in facts {
                if *name == test.comparison.field {
                    *answer |= test.holds_for(fact);
                }
            }
        }
        &self.answers
    }

    pub(crate) fn leaf_count(&self) -> usize {
        self.leaves.len()
    }

    /// Returns whether the predicate is true if its leaves have these answers.
    pub(crate) fn holds_with(&mut self, answers: &dyn Fn(usize) -> bool) -> bool {
        let holds = self.root.holds(answers);
        self.has_held |= holds;
        holds
    }

    /// Returns whether an event satisfies the predicate, and events have done so often enough.
    pub(super) fn fires(
        &mut self,
        event: &Event<'_>,
        place: TypeIndex,
        types: &EventTypes,
    ) -> bool {
        !self.is_of_counters
            && self.holds(event, place, types)
            && self.held.take_event(self.predicate.hold, event.nanos().unwrap_or(0))
    }

    /// Takes a counter's value. Returns whether the predicate is true and has been for long enough.
    /// That is decided when each counter has a value for one interval, or when a later value shows
    /// that the other counters have none. A counter that nobody publishes does not matter if the
    /// others decide.
    pub(super) fn fires_with(&mut self, sample: &Sample) -> bool {
        let over = self.round.filter(|round| round.is_over_before(sample));
        let fires_without_others = over.is_some_and(|round| self.end_round(round));
        let mut is_taken = false;
        let mut is_complete = self.is_of_counters;
        for leaf in &mut self.leaves {
            if let Leaf::Counter(counter) = leaf {
                is_taken |= counter.take(sample);
                is_complete &= counter.is_fresh;
            }
        }
        if !is_taken || !self.is_of_counters {
            return fires_without_others;
        }
        let round = *self.round.get_or_insert(Round {
            start_nanos: sample.nanos(),
            interval_nanos: sample.interval_nanos(),
        });
        (is_complete && self.end_round(round)) || fires_without_others
    }

    /// Ends a round. Returns whether the predicate has been true for long enough.
    fn end_round(&mut self, round: Round) -> bool {
        self.round = None;
        let fresh = |at: usize| match self.leaves.get(at) {
            Some(Leaf::Counter(counter)) if counter.is_fresh => Some(counter.holds()),
            _ => None,
        };
        let holds = self.root.known(&fresh);
        for leaf in &mut self.leaves {
            if let Leaf::Counter(counter) = leaf {
                counter.is_fresh = false;
            }
        }
        let fires = holds.is_some_and(|holds| {
            let Round { start_nanos, interval_nanos } = round;
            self.held.take_counters(self.predicate.hold, holds, start_nanos, interval_nanos)
        });
        self.has_held |= fires;
        fires
    }

    /// Returns the names of the counters that have values, each with a value that satisfies its
    /// comparison or else its newest value.
    pub(super) fn values(&self) -> Vec<(String, f64)> {
        let counters = self
            .counters()
            .filter_map(|counter| Some((counter.comparison.counter.to_string(), counter.value()?)));
        counters.collect()
    }

    pub(super) fn counters(&self) -> impl Iterator<Item = &CounterTest> {
        self.leaves.iter().filter_map(|leaf| match leaf {
            Leaf::Counter(counter) => Some(&**counter),
            _ => None,
        })
    }

    #[cold]
    fn look_up(&mut self, place: TypeIndex, types: &EventTypes) {
        if place.shape >= self.known.len() {
            self.known.resize(place.shape.saturating_add(1), Vec::new());
        }
        let row = types.row(place);
        let names = types.names(place);
        let find = |leaf: &Leaf| match leaf {
            Leaf::Event { pattern, .. } => {
                Known::Named(row.is_some_and(|row| pattern.accepts(row)))
            }
            Leaf::Test(test) => names
                .and_then(|names| {
                    let path = names.find(&test.comparison.field)?;
                    let name = names.at(&path)?.clone();
                    Some(Known::At(path, name))
                })
                .unwrap_or(Known::NoField),
            Leaf::Counter(_) => Known::Counter,
        };
        if let Some(known) = self.known.get_mut(place.shape) {
            *known = self.leaves.iter().map(find).collect();
        }
    }

    /// Returns the reason why events of a shape cannot satisfy a comparison although the predicate
    /// names them: a missing field, or a text compared with a number.
    pub(crate) fn trouble(&self, place: TypeIndex, types: &EventTypes) -> Option<String> {
        let known = self.known.get(place.shape)?;
        let is_named = |at: usize| match known.get(at) {
            Some(Known::Named(is_named)) => Some(*is_named),
            _ => None,
        };
        if !self.leaves.iter().any(|leaf| matches!(leaf, Leaf::Event { .. }))
            || !self.root.may_hold(&is_named)
        {
            return None;
        }
        let path = types.row(place)?.path();
        self.leaves.iter().zip(known).find_map(|(leaf, known)| match (leaf, known) {
            (Leaf::Test(test), Known::NoField) => {
                Some(no_field(&path, &test.comparison.field, types.names(place)?))
            }
            (Leaf::Test(test), Known::At(_, name)) if test.has_wrong_kind => Some(format!(
                "{} of {path} is a number{}, but {} is none that it could be compared with",
                name.text,
                name.unit.map_or_else(String::new, |unit| format!(" of {}", unit.symbol())),
                test.comparison.value,
            )),
            _ => None,
        })
    }

    /// Returns a list of the requested names that no event had, each with suggestions of existing
    /// names.
    pub(crate) fn unseen(&self, types: &EventTypes) -> Option<String> {
        self.leaves.iter().find_map(|leaf| match leaf {
            Leaf::Event { pattern, has_held: false, .. } => pattern.unmatched(types.rows()),
            _ => None,
        })
    }
}

fn no_field(path: &str, field: &str, names: &Names) -> String {
    let all = names.all();
    let found = nearest(field, all.iter().map(String::as_str));
    let hint = match (suggestion(&found), all.len()) {
        (hint, _) if !hint.is_empty() => hint,
        (_, 0) => ": it has none".to_owned(),
        (_, 1..=MAX_NAMED_FIELDS) => format!("; it has {}", all.join(", ")),
        (_, count) => {
            let some: Vec<&str> = all.iter().take(MAX_NAMED_FIELDS).map(String::as_str).collect();
            format!(
                "; it has {} and {} more",
                some.join(", "),
                count.saturating_sub(MAX_NAMED_FIELDS)
            )
        }
    };
    format!("{path} has no field {field}{hint}")
}

/// Predicates of a filter, all of which must be true.
#[derive(Debug)]
pub(crate) struct Conditions(Vec<Compiled>);

impl Conditions {
    pub(crate) fn new(all: &[Predicate]) -> Conditions {
        Conditions(all.iter().map(Compiled::new).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether an event satisfies all predicates. All are evaluated, so that each predicate
    /// knows whether it was ever true.
    pub(crate) fn hold(&mut self, event: &Event<'_>, place: TypeIndex, types: &EventTypes) -> bool {
        let mut hold = true;
        for compiled in &mut self.0 {
            hold &= compiled.holds(event, place, types);
        }
        hold
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Compiled> {
        self.0.iter_mut()
    }

    /// Lists the conditions that no event satisfied, each with suggestions of existing names.
    /// `known` are the names of the fields of events that passed the other filters.
    pub(crate) fn unmatched(
        &self,
        known: &[String],
        types: &EventTypes,
        among: &str,
    ) -> Vec<String> {
        self.0
            .iter()
            .filter(|compiled| !compiled.has_held)
            .map(|compiled| compiled.why_not(known, types, among))
            .collect()
    }
}

impl Compiled {
    fn why_not(&self, known: &[String], types: &EventTypes, among: &str) -> String {
        let missing = self.leaves.iter().enumerate().find_map(|(at, leaf)| match leaf {
            Leaf::Test(test) => {
                let is_there = |known: &Vec<Known>| matches!(known.get(at), Some(Known::At(..)));
                (!test.has_fact && !self.known.iter().any(is_there))
                    .then_some(&test.comparison.field)
            }
            Leaf::Event { .. } | Leaf::Counter(_) => None,
        });
        if let Some(field) = missing {
            let names = nearest(field, known.iter().map(String::as_str));
            return format!("no event has a field {field}{among}{}", suggestion(&names));
        }
        if let Some(unseen) = self.unseen(types) {
            return unseen;
        }
        let wrong = self.leaves.iter().find_map(|leaf| match leaf {
            Leaf::Test(test) if test.has_wrong_kind && !test.has_held => Some(&test.comparison),
            _ => None,
        });
        let reason = wrong.map_or_else(String::new, |wrong| {
            format!(": {} is a number that {} cannot be compared with", wrong.field, wrong.value)
        });
        format!("no event fulfils {}{among}{reason}", self.predicate.text)
    }
}
