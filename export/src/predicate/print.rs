//! Prints a predicate as text with the same meaning.

use super::counter::CounterComparison;
use super::parse::is_keyword;
use super::{Comparison, Expr, Predicate};
use std::fmt;

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(f)?;
        self.hold.map_or(Ok(()), |hold| hold.fmt(f))
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Event(name) => f.write_str(name),
            Expr::Compare(comparison) => comparison.fmt(f),
            Expr::Counter(CounterComparison { counter, operator, value }) => {
                write!(f, "{counter} {} {value}", operator.sign())
            }
            Expr::Not(inner) => write!(f, "not {}", Inner(inner, Binding::Not)),
            Expr::And(parts) => list(f, parts, " and ", Binding::And),
            Expr::Or(parts) => list(f, parts, " or ", Binding::Or),
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |c: char| c.is_alphanumeric() || "_.-+%:".contains(c);
        let is_bare =
            |text: &str| !text.is_empty() && text.chars().all(is_plain) && !is_keyword(text);
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        match is_bare(&self.field) {
            true => f.write_str(&self.field)?,
            false => f.write_str(&quoted(&self.field))?,
        }
        write!(f, " {} ", self.operator.sign())?;
        match is_bare(&self.value) && !self.is_quoted {
            true => f.write_str(&self.value),
            false => f.write_str(&quoted(&self.value)),
        }
    }
}

/// Precedence of operators, highest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    And,
    Not,
}

/// Shows a part of an expression, in parentheses if necessary.
struct Inner<'e>(&'e Expr, Binding);

impl fmt::Display for Inner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let needs_parentheses = match self.0 {
            Expr::Or(_) => true,
            Expr::And(_) => self.1 >= Binding::And,
            _ => false,
        };
        if needs_parentheses { write!(f, "({})", self.0) } else { self.0.fmt(f) }
    }
}

fn list(f: &mut fmt::Formatter<'_>, parts: &[Expr], word: &str, binding: Binding) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            f.write_str(word)?;
        }
        write!(f, "{}", Inner(part, binding))?;
    }
    Ok(())
}

/// Returns the part itself if there is only one; otherwise joins the parts.
pub(super) fn joined(mut parts: Vec<Expr>, join: impl FnOnce(Vec<Expr>) -> Expr) -> Expr {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, Some(last)) => {
            parts.push(last);
            join(parts)
        }
        (_, None) => join(parts),
    }
}
