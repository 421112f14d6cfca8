//! Normalised text of a statement, which commands with different values share.

/// Maximum length of a statement, in characters.
const MAX_CHARACTERS: usize = 2000;

/// Returns a statement on one line, without comments, with `?` for numbers and texts, and with only
/// the first of a list of values or parameters.
pub(super) fn normalised(sql: &str) -> String {
    let mut text = Statement::default();
    let mut rest = sql.chars().peekable();
    while let Some(next) = rest.next() {
        if text.count >= MAX_CHARACTERS {
            text.out.push('…');
            break;
        }
        match next {
            '-' if rest.peek() == Some(&'-') => {
                rest.find(|it| *it == '\n');
                text.blank();
            }
            '/' if rest.peek() == Some(&'*') => {
                rest.next();
                let mut before = ' ';
                for it in rest.by_ref() {
                    if before == '*' && it == '/' {
                        break;
                    }
                    before = it;
                }
                text.blank();
            }
            '\'' => {
                // A doubled quote is part of the text.
                while let Some(it) = rest.next() {
                    if it == '\'' && rest.next_if_eq(&'\'').is_none() {
                        break;
                    }
                }
                text.drop_prefix();
                text.value("?");
            }
            // Names in quotes may contain anything.
            '"' | '`' | '[' => {
                let end = if next == '[' { ']' } else { next };
                text.push(next);
                for it in rest.by_ref() {
                    text.push(if it.is_control() { ' ' } else { it });
                    if it == end || text.count >= MAX_CHARACTERS {
                        break;
                    }
                }
            }
            '@' | ':' | '$' if rest.peek().is_some_and(|it| is_word(*it)) => {
                let mut name = String::from(next);
                while let Some(it) = rest.next_if(|it| is_word(*it)) {
                    name.push(it);
                    if name.len() > MAX_CHARACTERS {
                        break;
                    }
                }
                text.value(&name);
            }
            '0'..='9' if !text.is_in_word() => {
                let is_number = |it: &char| it.is_ascii_alphanumeric() || *it == '.';
                while rest.next_if(is_number).is_some() {}
                text.value("?");
            }
            it if it.is_whitespace() || it.is_control() => text.blank(),
            it => text.push(it),
        }
    }
    text.out.truncate(text.out.trim_end().len());
    text.out
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Normalised text so far.
#[derive(Debug, Default)]
struct Statement {
    out: String,
    count: usize,
    has_blank: bool,
    /// Number of values since the last opening parenthesis; `None` if it holds anything else.
    list: Option<usize>,
    /// Number of lists in a row: `(?), (?)`.
    lists: usize,
    /// Length of the text to which it is cut when a further list of the row ends.
    end_of_list: usize,
}

impl Statement {
    fn blank(&mut self) {
        self.has_blank = !self.out.is_empty();
    }

    fn is_in_word(&self) -> bool {
        !self.has_blank && self.out.chars().next_back().is_some_and(|it| is_word(it) || it == '#')
    }

    /// Drops the `N` of `N'text'`.
    fn drop_prefix(&mut self) {
        let before = self.out.strip_suffix(['N', 'n']);
        if !self.has_blank
            && let Some(before) = before
            && !before.ends_with(is_word)
        {
            let before = before.trim_end();
            let len = before.len();
            self.has_blank = len < self.out.len().saturating_sub(1);
            self.out.truncate(len);
        }
    }

    fn write(&mut self, text: &str) {
        if std::mem::take(&mut self.has_blank) && !self.out.ends_with('(') && text != ")" {
            self.out.push(' ');
            self.count = self.count.saturating_add(1);
        }
        self.out.push_str(text);
        self.count = self.count.saturating_add(text.chars().count());
    }

    fn push(&mut self, character: char) {
        match (character, self.list) {
            ('(', _) => {
                let follows_list = self.lists > 0 && self.out.ends_with(',');
                if !follows_list {
                    self.lists = 0;
                    self.end_of_list = 0;
                }
                self.write("(");
                self.list = Some(0);
                return;
            }
            // Commas between values are written with the second value.
            (',', Some(values)) if values > 0 => {
                self.has_blank = false;
                return;
            }
            (')', Some(values)) if values > 0 => {
                if values > 1 {
                    self.out.push_str(", …");
                }
                self.has_blank = false;
                self.out.push(')');
                self.lists = self.lists.saturating_add(1);
                if self.lists == 1 {
                    self.end_of_list = self.out.len();
                } else {
                    // A further row of values.
                    self.out.truncate(self.end_of_list);
                    if self.lists == 2 {
                        self.out.push_str(", …");
                        self.end_of_list = self.out.len();
                    }
                }
                self.count = self.out.chars().count();
                self.list = None;
                return;
            }
            (',', None) => {}
            _ => self.lists = 0,
        }
        if let Some(values) = self.list.take()
            && values > 1
        {
            // The parenthesis holds no list of values, as in `(@a, @b + 1)`.
            self.out.push_str(", …");
        }
        let mut buffer = [0; 4];
        self.write(character.encode_utf8(&mut buffer));
    }

    /// Writes a literal or a parameter.
    fn value(&mut self, value: &str) {
        match &mut self.list {
            Some(values) => {
                *values = values.saturating_add(1);
                if *values == 1 {
                    self.write(value);
                }
            }
            None => {
                self.lists = 0;
                self.write(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_differ_in_values_are_one() {
        for (sql, expected) in [
            (
                "SELECT \"c\".\"Id\"\nFROM  \"Customers\" AS \"c\"\r\n",
                "SELECT \"c\".\"Id\" FROM \"Customers\" AS \"c\"",
            ),
            (
                "SELECT * FROM t1 WHERE a = 12 AND b = 1.5e3",
                "SELECT * FROM t1 WHERE a = ? AND b = ?",
            ),
            ("WHERE n = 'it''s' AND m = N'x'", "WHERE n = ? AND m = ?"),
            ("WHERE id IN (1, 2, 3)", "WHERE id IN (?, …)"),
            ("WHERE id IN (@p0,@p1 , @p2)", "WHERE id IN (@p0, …)"),
            ("WHERE id IN (7)", "WHERE id IN (?)"),
            (
                "INSERT INTO t (a, b) VALUES (@p0, @p1), (@p2, @p3),\n(@p4, @p5);",
                "INSERT INTO t (a, b) VALUES (@p0, …), …;",
            ),
            ("-- a tag\nSELECT 1 /* why */ FROM x", "SELECT ? FROM x"),
            ("WHERE \"o\".\"CustomerId\" = @c_Id", "WHERE \"o\".\"CustomerId\" = @c_Id"),
            (
                "SELECT [a 1], `b 2`, \"c 3\" WHERE x = $1",
                "SELECT [a 1], `b 2`, \"c 3\" WHERE x = $1",
            ),
            ("SELECT COUNT(*), max(a, 2)", "SELECT COUNT(*), max(a, ?)"),
            ("EXEC p 0xFF", "EXEC p ?"),
            ("SELECT a::text", "SELECT a::text"),
            ("'never ends", "?"),
            ("/* never ends", ""),
            ("", ""),
        ] {
            assert_eq!(normalised(sql), expected, "{sql}");
        }
    }

    #[test]
    fn a_long_statement_is_cut() {
        for long in [
            "x ".repeat(100_000),
            "é".repeat(100_000),
            "(1),".repeat(100_000),
            format!("\"{}", "y".repeat(100_000)),
        ] {
            let length = normalised(&long).chars().count();
            assert!(length <= MAX_CHARACTERS + 2, "{length}");
        }
    }
}
