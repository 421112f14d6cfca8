//! The filter string of a provider: `key=value` pairs joined by `;`.
//!
//! A runtime splits the string at each `;` and `=` that is not between double quotes, then drops
//! the quotes. A double quote cannot be escaped, so no key or value can contain one. If the closing
//! quote is missing, everything after the opening quote is one value.

use crate::error::RequestError;
use crate::message::without_nul;

/// The arguments of one provider.
///
/// ```
/// use nettrace_ipc::Arguments;
/// let arguments = Arguments::pairs([("EventCounterIntervalSec", "1"), ("Filter", "a;b")])?;
/// assert_eq!(arguments.wire().as_deref(), Some("EventCounterIntervalSec=1;Filter=\"a;b\""));
/// # Ok::<(), nettrace_ipc::RequestError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Arguments(Form);

#[derive(Clone, Debug, PartialEq, Eq, Default)]
enum Form {
    #[default]
    None,
    Pairs(Vec<(String, String)>),
    Raw(String),
}

impl Arguments {
    /// Returns the absence of arguments, which is sent as the null string.
    pub fn none() -> Self {
        Arguments(Form::None)
    }

    /// Makes arguments from keys and values. A key or value with `;` or `=` is put
    /// between quotes.
    ///
    /// # Errors
    /// A key is empty, or a key or value contains a NUL or a double quote.
    pub fn pairs<K: Into<String>, V: Into<String>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, RequestError> {
        let mut checked: Vec<(String, String)> = Vec::new();
        for (key, value) in pairs {
            let (key, value) = (key.into(), value.into());
            if key.is_empty() {
                return Err(RequestError::Empty("argument's key"));
            }
            for (text, what) in [(&key, "argument's key"), (&value, "argument's value")] {
                without_nul(text, what)?;
                if text.contains('"') {
                    return Err(RequestError::Character { what, character: '"' });
                }
            }
            checked.push((key, value));
        }
        Ok(Arguments(if checked.is_empty() { Form::None } else { Form::Pairs(checked) }))
    }

    /// Makes arguments from a complete filter string, for tools whose users write it themselves.
    ///
    /// # Errors
    /// The text contains a NUL, or an odd number of double quotes, because the runtime would treat
    /// everything after the last quote as one value.
    pub fn raw(text: &str) -> Result<Self, RequestError> {
        let text = without_nul(text, "provider's arguments")?;
        if text.matches('"').count() % 2 == 1 {
            return Err(RequestError::Character { what: "provider's arguments", character: '"' });
        }
        Ok(Arguments(if text.is_empty() { Form::None } else { Form::Raw(text) }))
    }

    /// Returns the string that is sent, or `None` for the null string.
    pub fn wire(&self) -> Option<String> {
        let quoted = |text: &str| {
            if text.contains([';', '=']) { format!("\"{text}\"") } else { text.to_owned() }
        };
        match &self.0 {
            Form::None => None,
            Form::Raw(text) => Some(text.clone()),
            Form::Pairs(pairs) => {
                let pairs: Vec<String> = pairs
                    .iter()
                    .map(|(key, value)| format!("{}={}", quoted(key), quoted(value)))
                    .collect();
                Some(pairs.join(";"))
            }
        }
    }

    /// Returns whether there is an argument with this key. For [`Arguments::raw`], returns whether
    /// the string contains the key anywhere.
    pub fn has(&self, key: &str) -> bool {
        match &self.0 {
            Form::None => false,
            Form::Pairs(pairs) => pairs.iter().any(|(known, _)| known == key),
            Form::Raw(text) => text.contains(key),
        }
    }

    /// Combines two sets of arguments for one provider. Pairs are joined if no key gets two values.
    /// Strings of [`Arguments::raw`] must be equal.
    pub(crate) fn merge(self, other: Arguments, provider: &str) -> Result<Arguments, RequestError> {
        let conflict = |key: &str| RequestError::ConflictingArguments {
            provider: provider.to_owned(),
            key: key.to_owned(),
        };
        match (self.0, other.0) {
            (Form::None, kind) | (kind, Form::None) => Ok(Arguments(kind)),
            (Form::Pairs(mut pairs), Form::Pairs(more)) => {
                for (key, value) in more {
                    match pairs.iter().find(|(known, _)| *known == key) {
                        None => pairs.push((key, value)),
                        Some((_, known)) if *known == value => {}
                        Some(_) => return Err(conflict(&key)),
                    }
                }
                Ok(Arguments(Form::Pairs(pairs)))
            }
            (left, right) => {
                let (left, right) = (Arguments(left), Arguments(right));
                if left.wire() == right.wire() { Ok(left) } else { Err(conflict("")) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Arguments {
        Arguments::pairs(pairs.iter().copied()).unwrap()
    }

    #[test]
    fn no_argument_is_the_null_string() {
        assert_eq!(Arguments::none().wire(), None);
        assert_eq!(pairs(&[]).wire(), None);
        assert_eq!(Arguments::raw("").unwrap().wire(), None);
    }

    #[test]
    fn separators_are_quoted() {
        assert_eq!(
            pairs(&[("X", "a;b=c"), ("k=", "1")]).wire().as_deref(),
            Some("X=\"a;b=c\";\"k=\"=1")
        );
    }

    #[test]
    fn a_double_quote_cannot_be_carried() {
        assert!(matches!(Arguments::pairs([("X", "a\"b")]), Err(RequestError::Character { .. })));
        assert!(matches!(Arguments::raw("X=a\"b;Y=1"), Err(RequestError::Character { .. })));
        assert!(Arguments::raw("X=\"a\";Y=1").is_ok());
        assert!(matches!(Arguments::pairs([("", "1")]), Err(RequestError::Empty(_))));
        assert!(matches!(Arguments::raw("a\0"), Err(RequestError::Nul(_))));
    }

    #[test]
    fn pairs_of_both_are_joined() {
        let merged = pairs(&[("A", "1")]).merge(pairs(&[("B", "2"), ("A", "1")]), "P").unwrap();
        assert_eq!(merged.wire().as_deref(), Some("A=1;B=2"));
        let merged = Arguments::none().merge(pairs(&[("B", "2")]), "P").unwrap();
        assert_eq!(merged.wire().as_deref(), Some("B=2"));
    }

    #[test]
    fn a_key_with_two_values_is_a_conflict() {
        let error = pairs(&[("A", "1")]).merge(pairs(&[("A", "2")]), "P");
        assert_eq!(
            error,
            Err(RequestError::ConflictingArguments {
                provider: "P".to_owned(),
                key: "A".to_owned()
            })
        );
        let raw = |text: &str| Arguments::raw(text).unwrap();
        assert!(raw("A=1").merge(raw("A=2"), "P").is_err());
        assert_eq!(raw("A=1").merge(pairs(&[("A", "1")]), "P"), Ok(raw("A=1")));
    }
}
