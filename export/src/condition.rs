//! `--where`: what a field's value has to be.
//!
//! | operator | holds when |
//! |---|---|
//! | `=` `!=` | the value is, or is not, the one given |
//! | `<` `<=` `>` `>=` | it is less, or more |
//! | `~` `!~` | a regular expression fits somewhere in it, or nowhere |
//!
//! Numbers are compared as numbers when the value given is one, in decimal or hexadecimal (`0x1f`). Values of
//! enumerations are also their names: `Reason=AllocSmall`. All else is compared as text, in the form in which
//! NDJSON shows it. An event without the field, or whose value is absent or bad, fulfils nothing, `!=` and `!~`
//! included.

use crate::event_types::Place;
use crate::expression::Expression;
use crate::nearest::{nearest, suggestion};
use crate::payload::PayloadWriter;
use crate::plain::plain;
use crate::shape::{Name, Names, Path};
use nettrace_parser::{Event, FieldValue, Value};
use std::cmp::Ordering;
use std::str::FromStr;

/// What a field's value has to be.
#[derive(Debug, Clone)]
pub struct Condition {
    /// As it was typed.
    text: String,
    field: String,
    test: Test,
}

#[derive(Debug, Clone)]
enum Test {
    Compare { operator: Operator, wanted: String, number: Option<Number> },
    Fits { regex: Expression, is_wanted: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operator {
    fn is_of_order(self) -> bool {
        !matches!(self, Operator::Equal | Operator::NotEqual)
    }

    fn holds(self, ordering: Option<Ordering>) -> bool {
        match self {
            Operator::Equal => ordering == Some(Ordering::Equal),
            // NaN is no number's equal.
            Operator::NotEqual => ordering != Some(Ordering::Equal),
            Operator::Less => ordering == Some(Ordering::Less),
            Operator::LessOrEqual => ordering.is_some_and(Ordering::is_le),
            Operator::Greater => ordering == Some(Ordering::Greater),
            Operator::GreaterOrEqual => ordering.is_some_and(Ordering::is_ge),
        }
    }
}

/// Whole numbers are compared exactly.
#[derive(Debug, Clone, Copy)]
enum Number {
    Whole(i128),
    Fraction(f64),
}

impl Number {
    fn parse(text: &str) -> Option<Number> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            let hex = Some(hex).filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
            return i128::from_str_radix(hex, 16).ok().map(|number| Number::Whole(sign * number));
        }
        if let Ok(number) = text.parse() {
            return Some(Number::Whole(number));
        }
        text.parse().ok().map(Number::Fraction)
    }

    fn of(value: &Value<'_>) -> Option<Number> {
        Some(match value {
            Value::Bool(_) | Value::Char(_) => return None,
            Value::F32(number) => Number::Fraction(f64::from(*number)),
            Value::F64(number) => Number::Fraction(*number),
            Value::Decimal(number) => Number::Fraction(number.to_f64()),
            value => match (value.as_i64(), value.as_u64()) {
                (Some(number), _) => Number::Whole(i128::from(number)),
                (None, Some(number)) => Number::Whole(i128::from(number)),
                (None, None) => return None,
            },
        })
    }

    fn to_f64(self) -> f64 {
        match self {
            Number::Whole(number) => number as f64,
            Number::Fraction(number) => number,
        }
    }

    fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Whole(a), Number::Whole(b)) => Some(a.cmp(&b)),
            (a, b) => a.to_f64().partial_cmp(&b.to_f64()),
        }
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "FIELD=VALUE, FIELD!=VALUE, FIELD<VALUE, FIELD>VALUE, FIELD~REGEX";
        let at =
            text.find(['=', '!', '<', '>', '~']).ok_or_else(|| format!("no operator; expected {form}"))?;
        let (field, rest) = text.split_at(at);
        let operators = ["!=", "!~", "<=", ">=", "==", "=", "<", ">", "~"];
        let found = operators.into_iter().find_map(|operator| Some((operator, rest.strip_prefix(operator)?)));
        let (operator, wanted) = found.ok_or_else(|| format!("no operator; expected {form}"))?;
        let field = field.trim();
        if field.is_empty() {
            return Err(format!("no field in front of {operator}; expected {form}"));
        }
        if matches!(operator, "<" | "<=" | ">" | ">=") && wanted.trim().is_empty() {
            return Err(format!("no value behind {operator}; expected {form}"));
        }
        let compare = |operator| Test::Compare {
            operator,
            wanted: wanted.to_owned(),
            number: Number::parse(wanted.trim()),
        };
        let test = match operator {
            "~" | "!~" => Test::Fits { regex: Expression::new(wanted)?, is_wanted: operator == "~" },
            "!=" => compare(Operator::NotEqual),
            "<" => compare(Operator::Less),
            "<=" => compare(Operator::LessOrEqual),
            ">" => compare(Operator::Greater),
            ">=" => compare(Operator::GreaterOrEqual),
            _ => compare(Operator::Equal),
        };
        Ok(Condition { text: text.to_owned(), field: field.to_owned(), test })
    }
}

impl Condition {
    fn holds(&self, field: &FieldValue<'_>, name: &Name, scratch: &mut Scratch) -> bool {
        let Ok(value) = &field.value else { return false };
        if matches!(value, Value::Absent) {
            return false;
        }
        if let Test::Compare { operator, number: Some(number), .. } = self.test
            && let Some(value) = Number::of(value)
        {
            return operator.holds(value.compare(number));
        }
        if let Test::Compare { operator, number: None, .. } = self.test
            && operator.is_of_order()
            && Number::of(value).is_some()
        {
            // No number is more or less than a word.
            return false;
        }
        let known = field.map().and_then(|_| field.value_name());
        let text = scratch.text(field, name);
        match &self.test {
            Test::Compare { operator, wanted, .. } => {
                let is_equal_by_case = matches!(value, Value::Guid(_) | Value::Bool(_) | Value::Pointer(_));
                let ordering = match known {
                    Some(known) if known.eq_ignore_ascii_case(wanted) => Ordering::Equal,
                    _ if is_equal_by_case && text.eq_ignore_ascii_case(wanted) => Ordering::Equal,
                    _ => text.cmp(wanted.as_str()),
                };
                operator.holds(Some(ordering))
            }
            Test::Fits { regex, is_wanted } => {
                let fits = regex.is_match(text) || known.is_some_and(|known| regex.is_match(&known));
                fits == *is_wanted
            }
        }
    }
}

/// A value's text, in memory that is used again.
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

/// All conditions of a command line: each has to hold.
#[derive(Debug)]
pub(crate) struct Conditions {
    all: Vec<Condition>,
    /// Where each one's field is, by the shape's number.
    places: Vec<Vec<Option<(Path, Name)>>>,
    /// Which were fulfilled by an event that passed the other filters.
    met: Vec<bool>,
    scratch: Scratch,
}

impl Conditions {
    pub(crate) fn new(all: &[Condition]) -> Conditions {
        let met = vec![false; all.len()];
        Conditions { all: all.to_vec(), places: Vec::new(), met, scratch: Scratch::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether the event fulfils all. All are tried, so that each knows whether it has ever held.
    pub(crate) fn hold(&mut self, event: &Event<'_>, place: Place, names: &Names) -> bool {
        if place.shape >= self.places.len() {
            self.places.resize(place.shape + 1, Vec::new());
        }
        let Some(places) = self.places.get_mut(place.shape) else { return false };
        if places.is_empty() {
            let find = |condition: &Condition| {
                let path = names.find(&condition.field)?;
                let name = names.at(&path)?.clone();
                Some((path, name))
            };
            *places = self.all.iter().map(find).collect();
        }
        let mut hold = true;
        for ((condition, place), met) in self.all.iter().zip(&*places).zip(&mut self.met) {
            let holds = place.as_ref().is_some_and(|(path, name)| {
                path.field(event).is_some_and(|field| condition.holds(&field, name, &mut self.scratch))
            });
            *met |= holds;
            hold &= holds;
        }
        hold
    }

    /// Conditions that nothing fulfilled, each with what may have been meant. `known` are the names of the
    /// fields of events that passed the other filters.
    pub(crate) fn unmatched(&self, known: &[String], among: &str) -> Vec<String> {
        let mut messages = Vec::new();
        for (at, condition) in self.all.iter().enumerate() {
            if self.met.get(at).copied().unwrap_or(true) {
                continue;
            }
            let has_field = self.places.iter().any(|places| matches!(places.get(at), Some(Some(_))));
            messages.push(match has_field {
                true => format!("no event fulfils {}{among}", condition.text),
                false => {
                    let names = nearest(&condition.field, known.iter().map(String::as_str));
                    format!("no event has a field {}{among}{}", condition.field, suggestion(&names))
                }
            });
        }
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_decimal_and_hexadecimal() {
        let number = |text: &str| Number::parse(text).map(Number::to_f64);
        assert_eq!(number("17"), Some(17.0));
        assert_eq!(number("-0x1F"), Some(-31.0));
        assert_eq!(number("2.5e1"), Some(25.0));
        assert_eq!((number("x"), number(""), number("0x"), number("0x-1")), (None, None, None, None));
        let large = Number::parse("18446744073709551615").unwrap();
        let next = Number::of(&Value::U64(u64::MAX - 1)).unwrap();
        assert_eq!(next.compare(large), Some(Ordering::Less));
    }

    #[test]
    fn what_is_no_condition_is_refused_with_a_reason() {
        for (text, reason) in [
            ("Count", "no operator"),
            ("=3", "no field"),
            ("Count!3", "no operator"),
            ("Name~(", "no regular expression: unclosed group"),
        ] {
            let error = text.parse::<Condition>().unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        for text in ["a=", "a==1", "a!=b", "a<=3", "a >= 4", "a!~x", "a=b=c"] {
            assert!(text.parse::<Condition>().is_ok(), "{text}");
        }
    }
}
