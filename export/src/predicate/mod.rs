//! Conditions on events: a common language for `events --where`, `watch --where` and
//! `collect --until`.
//!
//! | file | purpose |
//! |---|---|
//! | `parse` | parses text to a [`Predicate`] |
//! | `print` | prints a predicate as text |
//! | `literal` | numbers, durations and sizes |
//! | `quantity` | amounts in the units of counters |
//! | `counter` | counters, and their values in events |
//! | `hold` | how long, or how often, a predicate must be true |
//! | `compiled` | evaluates a predicate for events |
//! | `answers` | evaluates a predicate for several events together |
//! | `trigger` | waits for the first event that satisfies a predicate |

mod answers;
mod compiled;
mod counter;
mod error;
mod hold;
mod literal;
mod parse;
mod print;
mod quantity;
#[cfg(test)]
mod round_trip;
mod trigger;

pub use answers::{Answers, Fact};
pub(crate) use compiled::Conditions;
pub use counter::CounterName;
pub use error::PredicateError;
pub use quantity::{Quantity, QuantityError};
pub use trigger::Trigger;

use counter::CounterComparison;
use hold::Hold;
use std::str::FromStr;

/// Help text about counters, which `--until` and rules also accept. It follows
/// [`GRAMMAR`].
pub const COUNTER_GRAMMAR: &str = "\
Counters:
  PROVIDER/NAME > NUMBER     of an EventCounter, or of an instrument of
                             System.Diagnostics.Metrics as Meter/Instrument
  … for TIME                 the comparison held for every value during TIME
  CONDITION 5 times in TIME  at least 5 matching events within TIME
A counter that only grows (exception-count) is compared by its growth per second. Counters joined by 'and' must hold at \
the same time; next to an event, a counter means its latest value. Examples:
  'System.Runtime/cpu-usage > 80 for 10s'
  'System.Runtime/gc-heap-size > 500MB'
  'Shop.Orders/order.duration{kind=book} p99 > 0.5'
  'Microsoft-Windows-DotNETRuntime/GC/Start where Depth = 2 5 times in 1min'";

/// Help text about the language, wherever it is used. Lines that begin with spaces fit
/// into a terminal of 80 columns as they are.
pub const GRAMMAR: &str = "\
Conditions:
  FIELD = VALUE     also == != < <= > >=
  FIELD ~ REGEX     the expression matches part of the value; !~: it does not
  FIELD *= TEXT     contains it; !*= does not
  Provider/Event    the event's name or id, with * and ?
  and, or, not, ( ) combine them: not binds closest, then and
'Provider/Event where CONDITION' means the same as 'Provider/Event and CONDITION'. \
Numbers are compared as numbers, also hexadecimal ones (0x1f), sizes (100KB, 1.5MiB: powers of 1,024 have an i) and, where a \
field's unit is known, durations (10ms, 1.5s); values of enumerations are also their names; fields of objects are \
Object.Field. A value ends at the end of the text, or before 'and' or 'or' followed by a condition; quote it \
('…' or \"…\", a quote inside doubled) if it contains such words. An event without the field fulfils no comparison, \
not even != or !~.";

/// A condition on events: comparisons of fields and names of events, combined with `and`,
/// `or`, `not` and parentheses.
///
/// ```
/// use nettrace_export::Predicate;
///
/// let predicate: Predicate = "GC/Start and (Depth >= 2 or Reason = Induced)".parse()?;
/// assert_eq!(predicate.to_string(), "GC/Start and (Depth >= 2 or Reason = Induced)");
/// let error = "GC/Start and Reason".parse::<Predicate>().unwrap_err();
/// assert_eq!((error.column(), error.to_string().contains("an operator after")), (14, true));
/// # Ok::<(), nettrace_export::PredicateError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predicate {
    /// The predicate as the user wrote it.
    text: String,
    root: Expr,
    /// For how long, or how often, the condition must be true.
    hold: Option<Hold>,
}

/// A parsed predicate, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expr {
    /// Name of an event, with a slash, as in an [`EventPattern`](crate::EventPattern).
    Event(String),
    Compare(Comparison),
    Counter(CounterComparison),
    Not(Box<Expr>),
    /// At least two parts, all of which must be true.
    And(Vec<Expr>),
    /// At least two parts, one of which must be true.
    Or(Vec<Expr>),
}

/// A comparison of a field's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub(crate) field: String,
    pub(crate) operator: Operator,
    pub(crate) value: String,
    /// Whether the value is quoted, so that it is a text even if it looks like a number.
    pub(crate) is_quoted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Fits,
    FitsNot,
    Contains,
    ContainsNot,
}

/// Signs of the operators. Longer signs come first, so that `>=` is not parsed as `>`.
const SIGNS: [(&str, Operator); 11] = [
    ("!*=", Operator::ContainsNot),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("!~", Operator::FitsNot),
    ("*=", Operator::Contains),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("~", Operator::Fits),
];

impl Operator {
    fn sign(self) -> &'static str {
        match self {
            Operator::Equal => "=",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Fits => "~",
            Operator::FitsNot => "!~",
            Operator::Contains => "*=",
            Operator::ContainsNot => "!*=",
        }
    }

    fn is_of_order(self) -> bool {
        matches!(
            self,
            Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual
        )
    }
}

impl Predicate {
    /// Parses a condition to wait for. In addition to [`str::parse`], a single name means an event,
    /// counters can be compared, and the condition may end with how long or how often it must be
    /// true: see [`COUNTER_GRAMMAR`].
    ///
    /// # Errors
    /// If the text is not a valid condition.
    ///
    /// ```
    /// use nettrace_export::Predicate;
    ///
    /// assert_eq!(Predicate::parse_event("GCStart where Depth > 1")?.to_string(), "*/GCStart and Depth > 1");
    /// # Ok::<(), nettrace_export::PredicateError>(())
    /// ```
    pub fn parse_event(text: &str) -> Result<Predicate, PredicateError> {
        let whole = || parse::parse(text, true).map(|root| Predicate::new(text, root, None));
        let Some((before, hold)) = hold::split(text) else { return whole() };
        let held = match parse::parse(before, true) {
            Ok(root) => Predicate::new(text, root, Some(hold)),
            // The error of the whole text is clearer than the error of its beginning.
            Err(_) => return whole(),
        };
        let (mut events, mut counters) = (Vec::new(), Vec::new());
        held.root.names(&mut events, &mut counters);
        let column = before.chars().count().saturating_add(2);
        let wrong = |text: &str| Err(PredicateError::new(column, text));
        match hold {
            Hold::Times(..) if counters.is_empty() => Ok(held),
            Hold::Times(..) => {
                wrong("counters are no events that could be counted; write for TIME")
            }
            Hold::For(_) if !held.root.is_of_counters() && !counters.is_empty() => {
                wrong("an event lasts no time: only counters are so for a time")
            }
            Hold::For(_) if !counters.is_empty() => Ok(held),
            // A value may end in such words; a name does not.
            Hold::For(_) if held.root.ends_in_value() => whole(),
            Hold::For(_) => wrong("an event lasts no time; write how often, as in 5 times in 10s"),
        }
    }

    /// Makes a condition from dotnet-trace's options: a provider, an optional event, and an
    /// optional filter `FIELD:VALUE,…`. All fields of the filter must be equal to their values as
    /// text.
    ///
    /// # Errors
    /// If a part of the filter is not a pair of a field and a value.
    pub fn from_stopping_event(
        provider: &str,
        event: Option<&str>,
        filter: Option<&str>,
    ) -> Result<Predicate, PredicateError> {
        let name = format!("{provider}/{}", event.unwrap_or("*"));
        let mut parts = vec![Expr::Event(name.clone())];
        let mut column = 1_usize;
        for pair in filter.into_iter().flat_map(|text| text.split(',')) {
            let (field, value) = pair.split_once(':').ok_or_else(|| {
                let message = format!("\"{pair}\" is no FIELD:VALUE");
                PredicateError::new(column, message)
            })?;
            column = column.saturating_add(pair.chars().count()).saturating_add(1);
            parts.push(Expr::Compare(Comparison {
                field: field.trim().to_owned(),
                operator: Operator::Equal,
                value: value.trim().to_owned(),
                is_quoted: true,
            }));
        }
        Ok(Predicate::new(&name, print::joined(parts, Expr::And), None))
    }

    /// Returns the text as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the names of events in the condition as the user wrote them, such as
    /// `Provider/Event`.
    pub fn events(&self) -> Vec<&str> {
        let (mut events, mut counters) = (Vec::new(), Vec::new());
        self.root.names(&mut events, &mut counters);
        events
    }

    /// Returns the counters that the condition compares.
    pub fn counters(&self) -> Vec<&CounterName> {
        let (mut events, mut counters) = (Vec::new(), Vec::new());
        self.root.names(&mut events, &mut counters);
        counters
    }

    fn new(text: &str, root: Expr, hold: Option<Hold>) -> Predicate {
        Predicate { text: text.to_owned(), root, hold }
    }
}

impl Expr {
    fn names<'e>(&'e self, events: &mut Vec<&'e str>, counters: &mut Vec<&'e CounterName>) {
        match self {
            Expr::Event(name) => events.push(name),
            Expr::Compare(_) => {}
            Expr::Counter(comparison) => counters.push(&comparison.counter),
            Expr::Not(inner) => inner.names(events, counters),
            Expr::And(parts) | Expr::Or(parts) => {
                parts.iter().for_each(|part| part.names(events, counters));
            }
        }
    }

    /// Returns whether the expression only depends on counters.
    fn is_of_counters(&self) -> bool {
        match self {
            Expr::Event(_) | Expr::Compare(_) => false,
            Expr::Counter(_) => true,
            Expr::Not(inner) => inner.is_of_counters(),
            Expr::And(parts) | Expr::Or(parts) => parts.iter().all(Expr::is_of_counters),
        }
    }

    /// Returns whether the text of the expression ends with a field's value.
    fn ends_in_value(&self) -> bool {
        match self {
            Expr::Event(_) | Expr::Counter(_) => false,
            Expr::Compare(_) => true,
            Expr::Not(inner) => inner.ends_in_value(),
            Expr::And(parts) | Expr::Or(parts) => parts.last().is_some_and(Expr::ends_in_value),
        }
    }
}

impl FromStr for Predicate {
    type Err = PredicateError;

    fn from_str(text: &str) -> Result<Predicate, PredicateError> {
        Ok(Predicate::new(text, parse::parse(text, false)?, None))
    }
}
