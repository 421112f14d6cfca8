//! SQL statements in sentences.

/// Maximum number of characters of a statement, and of its condition.
const MAX_STATEMENT_CHARS: usize = 80;

/// Writes how a long statement begins, and its condition: `SELECT … WHERE "o"."CustomerId" = @id`.
pub(super) fn shortened(statement: &str) -> String {
    if statement.chars().count() <= MAX_STATEMENT_CHARS {
        return statement.to_owned();
    }
    let verb = statement.split(' ').next().unwrap_or(statement);
    let condition = statement.rfind(" WHERE ").and_then(|at| statement.get(at..));
    let rest = condition.unwrap_or_else(|| statement.get(verb.len()..).unwrap_or_default());
    let mut letters = rest.chars();
    let cut: String = letters.by_ref().take(MAX_STATEMENT_CHARS).collect();
    let end = if letters.next().is_some() { "…" } else { "" };
    format!("{verb} …{cut}{end}")
}
