//! Short forms of SQL statements for sentences.

/// Maximum number of characters of a whole statement, and of the condition of a longer one.
const MAX_STATEMENT_CHARS: usize = 80;

/// Shortens a long statement to its first word and its condition: `SELECT … WHERE "o"."CustomerId"
/// = @id`.
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
