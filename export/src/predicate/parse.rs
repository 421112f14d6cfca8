//! Parses text to a predicate.
//!
//! ```text
//! or         = and ("or" and)*
//! and        = not ("and" not)*
//! not        = "not" not | "(" or ")" | comparison | event ["where" or]
//! comparison = FIELD sign VALUE | counter sign NUMBER
//! counter    = PROVIDER "/" NAME ["{" TAG "=" VALUE, … "}"] ["p" PERCENTILE]
//! ```
//!
//! Fields and values are written with or without quotes; a quote inside is doubled, and
//! nothing else is escaped, so that regular expressions can be written unchanged. A bare
//! value may contain spaces: it ends before a closing parenthesis that it did not open,
//! and before `and` or `or` if a condition seems to follow.

use super::counter::CounterComparison;
use super::error::PredicateError;
use super::print::joined;
use super::{Comparison, Expr, Operator, SIGNS};
use crate::expression::Expression;

/// Maximum nesting of parentheses and `not`.
const MAX_NESTING: usize = 64;
const FORM: &str = "write FIELD=VALUE (= != < <= > >= ~ !~ *= !*=) or Provider/Event";

/// Parses a predicate. `is_event` says that the predicate is a condition to wait for, in which a
/// single name means an event and counters can be compared.
pub(super) fn parse(text: &str, is_event: bool) -> Result<Expr, PredicateError> {
    let mut parser = Parser { text, at: 0, depth: 0, groups: 0, is_event };
    let root = parser.or()?;
    match parser.rest().trim_start() {
        "" => Ok(root),
        rest => {
            let message =
                format!("\"{rest}\" is too much; join conditions by and or or, and quote values");
            Err(parser.error_at(text.len().saturating_sub(rest.len()), message))
        }
    }
}

pub(super) fn is_keyword(word: &str) -> bool {
    ["and", "or", "not", "where"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

struct Parser<'t> {
    text: &'t str,
    /// Offset of the next character to parse, in bytes.
    at: usize,
    depth: usize,
    /// Number of open parentheses.
    groups: usize,
    is_event: bool,
}

/// Returns the text after a keyword, if the text begins with that keyword.
fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(word.len())?;
    let is_end = rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || c == '(');
    (start.eq_ignore_ascii_case(word) && is_end).then_some(rest)
}

/// Returns the operator that a text begins with, and the text after it.
fn sign(text: &str) -> Option<(Operator, &'static str, &str)> {
    SIGNS.iter().find_map(|(sign, operator)| Some((*operator, *sign, text.strip_prefix(sign)?)))
}

/// Returns the offset of the brace that closes the one at the beginning of the text. Tags may
/// contain braces, too, such as the route `/orders/{id}`.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    text.char_indices().find_map(|(at, letter)| {
        match letter {
            '{' => open = open.saturating_add(1),
            '}' => open = open.saturating_sub(1),
            _ => {}
        }
        (open == 0).then_some(at)
    })
}

/// Returns the contents of the quoted text at the beginning, and the text after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut inner = String::new();
    let mut rest = text.strip_prefix(quote)?;
    loop {
        let (before, after) = rest.split_once(quote)?;
        inner.push_str(before);
        match after.strip_prefix(quote) {
            Some(more) => {
                inner.push(quote);
                rest = more;
            }
            None => return Some((inner, after)),
        }
    }
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Continues at `rest`, which is a suffix of the text.
    fn go_to(&mut self, rest: &str) {
        self.at = self.text.len().saturating_sub(rest.len());
    }

    fn skip_space(&mut self) {
        let rest = self.rest().trim_start();
        self.go_to(rest);
    }

    fn error_at(&self, at: usize, message: impl Into<String>) -> PredicateError {
        let column = self.text.get(..at).map_or(0, |before| before.chars().count());
        PredicateError::new(column.saturating_add(1), message)
    }

    fn word(&mut self, word: &str) -> bool {
        self.skip_space();
        match after_word(self.rest(), word) {
            Some(rest) => {
                self.go_to(rest);
                true
            }
            None => false,
        }
    }

    fn or(&mut self) -> Result<Expr, PredicateError> {
        let mut parts = vec![self.and()?];
        while self.word("or") {
            parts.push(self.and()?);
        }
        Ok(joined(parts, Expr::Or))
    }

    fn and(&mut self) -> Result<Expr, PredicateError> {
        let mut parts = vec![self.not()?];
        while self.word("and") {
            parts.push(self.not()?);
        }
        Ok(joined(parts, Expr::And))
    }

    fn nested(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<Expr, PredicateError>,
    ) -> Result<Expr, PredicateError> {
        if self.depth >= MAX_NESTING {
            return Err(self
                .error_at(self.at, format!("more than {MAX_NESTING} parentheses in each other")));
        }
        self.depth = self.depth.saturating_add(1);
        let parsed = inner(self)?;
        self.depth = self.depth.saturating_sub(1);
        Ok(parsed)
    }

    fn not(&mut self) -> Result<Expr, PredicateError> {
        if self.word("not") {
            return Ok(Expr::Not(Box::new(self.nested(Parser::not)?)));
        }
        self.skip_space();
        let begin = self.at;
        let Some(inner) = self.rest().strip_prefix('(') else { return self.term() };
        self.go_to(inner);
        self.groups = self.groups.saturating_add(1);
        let parsed = self.nested(Parser::or)?;
        self.skip_space();
        let Some(after) = self.rest().strip_prefix(')') else {
            return Err(self.error_at(begin, "this parenthesis is not closed"));
        };
        self.groups = self.groups.saturating_sub(1);
        self.go_to(after);
        Ok(parsed)
    }

    fn term(&mut self) -> Result<Expr, PredicateError> {
        let begin = self.at;
        let (name, is_quoted) = self.name();
        let operator_at = self.at;
        if let Some((operator, sign, after)) = sign(self.rest()) {
            if name.is_empty() {
                let message = format!("no field in front of {sign}; {FORM}");
                return Err(self.error_at(operator_at, message));
            }
            self.go_to(after);
            if name.contains('/') && !is_quoted {
                return self.counter(begin, &name, operator);
            }
            return self.comparison(name, operator, sign);
        }
        if name.is_empty() {
            return Err(self.error_at(begin, format!("expected a condition; {FORM}")));
        }
        let is_condition = self.word("where");
        if !(name.contains('/') || is_condition || self.is_event && begin == 0) {
            return Err(
                self.error_at(begin, format!("expected an operator after \"{name}\"; {FORM}"))
            );
        }
        let name = if name.contains('/') { name } else { format!("*/{name}") };
        let name = if name.ends_with('/') { format!("{name}*") } else { name };
        if !is_condition {
            return Ok(Expr::Event(name));
        }
        let mut parts = vec![Expr::Event(name)];
        match self.nested(Parser::or)? {
            Expr::And(conditions) => parts.extend(conditions),
            condition => parts.push(condition),
        }
        Ok(Expr::And(parts))
    }

    /// Reads the name of a field or an event, up to an operator, a keyword, a closing parenthesis
    /// or the end. The second value tells whether the name was quoted.
    fn name(&mut self) -> (String, bool) {
        if let Some((name, after)) = quoted(self.rest())
            && sign(after.trim_start()).is_some()
        {
            self.go_to(after.trim_start());
            return (name, true);
        }
        let text = self.rest();
        let end = self.end_of_name(text);
        let (name, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        self.go_to(rest);
        (name.trim().to_owned(), false)
    }

    fn counter(
        &mut self,
        begin: usize,
        name: &str,
        operator: Operator,
    ) -> Result<Expr, PredicateError> {
        if !self.is_event {
            let text = "a name with a slash is a counter's, and only --until and --rules wait for counters; a field's name \
                        that has one stands in quotes";
            return Err(self.error_at(begin, text));
        }
        self.skip_space();
        let after = self.at;
        let value = self.bare_value();
        let comparison = CounterComparison::parse(name, operator, &value);
        comparison
            .map(Expr::Counter)
            .map_err(|(is_after, error)| self.error_at(if is_after { after } else { begin }, error))
    }

    fn end_of_name(&self, text: &str) -> usize {
        let mut is_start = true;
        // A counter's tags contain operators.
        let mut braces_until = 0;
        for (at, letter) in text.char_indices() {
            if at < braces_until {
                continue;
            }
            let rest = text.get(at..).unwrap_or_default();
            if letter == '{' && text.get(..at).is_some_and(|before| before.contains('/')) {
                braces_until = closing(rest).map_or(0, |end| at.saturating_add(end));
            }
            let is_word = is_start
                && ["and", "or", "where"].iter().any(|word| after_word(rest, word).is_some());
            if is_word || sign(rest).is_some() || letter == ')' && self.groups > 0 {
                return at;
            }
            is_start = letter.is_whitespace();
        }
        text.len()
    }

    fn comparison(
        &mut self,
        field: String,
        operator: Operator,
        sign: &str,
    ) -> Result<Expr, PredicateError> {
        self.skip_space();
        let begin = self.at;
        let (value, is_quoted) =
            match quoted(self.rest()).filter(|(_, after)| self.ends_value(after)) {
                Some((value, after)) => {
                    self.go_to(after);
                    (value, true)
                }
                None => (self.bare_value(), false),
            };
        // No condition follows such a word, so the value would contain it.
        let last = value.rsplit_once(char::is_whitespace).map(|(_, last)| last);
        if !is_quoted
            && let Some(word) =
                last.filter(|word| after_word(word, "and").or(after_word(word, "or")).is_some())
        {
            let message = format!(
                "expected a condition after {word}; {FORM}; quote a value that ends in this word"
            );
            return Err(self.error_at(self.at, message));
        }
        if operator.is_of_order() && value.is_empty() {
            return Err(self.error_at(begin, format!("expected a value after {sign}; {FORM}")));
        }
        if matches!(operator, Operator::Fits | Operator::FitsNot) {
            Expression::new(&value).map_err(|error| self.error_at(begin, error))?;
        }
        Ok(Expr::Compare(Comparison { field, operator, value, is_quoted }))
    }

    /// Returns whether an unquoted value is complete when `text` follows it.
    fn ends_value(&self, text: &str) -> bool {
        let rest = text.trim_start();
        rest.is_empty()
            || rest.starts_with(')') && self.groups > 0
            || rest.len() < text.len() && self.begins_condition(rest)
    }

    /// Returns whether a text begins with `and` or `or`, followed by what looks like a condition.
    fn begins_condition(&self, text: &str) -> bool {
        let Some(mut rest) = ["and", "or"].iter().find_map(|word| after_word(text, word)) else {
            return false;
        };
        loop {
            rest = rest.trim_start();
            match (rest.strip_prefix('('), after_word(rest, "not")) {
                (Some(inner), _) | (None, Some(inner)) => rest = inner,
                (None, None) => break,
            }
        }
        if quoted(rest).is_some_and(|(_, after)| sign(after.trim_start()).is_some()) {
            return true;
        }
        let (name, after) = rest.split_at_checked(self.end_of_name(rest)).unwrap_or((rest, ""));
        let name = name.trim();
        match sign(after) {
            Some(_) => !name.is_empty(),
            None => name.contains('/') && !name.contains(char::is_whitespace),
        }
    }

    fn bare_value(&mut self) -> String {
        let text = self.rest();
        let mut open = 0_usize;
        let mut end = text.len();
        let mut is_start = false;
        for (at, letter) in text.char_indices() {
            let rest = text.get(at..).unwrap_or_default();
            if letter == ')' && open == 0 && self.groups > 0
                || is_start && self.begins_condition(rest)
            {
                end = at;
                break;
            }
            match letter {
                '(' => open = open.saturating_add(1),
                ')' => open = open.saturating_sub(1),
                _ => {}
            }
            is_start = letter.is_whitespace();
        }
        let (value, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        self.go_to(rest);
        value.trim_end().to_owned()
    }
}
