use super::print::joined;
use super::{Comparison, Expr, Operator, Predicate, SIGNS, parse};
use proptest::prelude::*;

fn comparison() -> impl Strategy<Value = Expr> {
    let field = "[A-Za-z_ .'\"()~=<and]{1,12}";
    let value = prop_oneof![
        "[0-9]{1,4}(ms|KB)?",
        "[a-z '\"()=~!<>*/]{0,16}",
        "[a-z]{1,4} (and|or) [a-z]=[a-z]"
    ];
    (field, 0..SIGNS.len(), value, any::<bool>()).prop_map(|(field, sign, value, is_quoted)| {
        let operator = SIGNS[sign].1;
        let is_expression = matches!(operator, Operator::Fits | Operator::FitsNot);
        let value = if is_expression { value.replace(['(', ')', '*'], "x") } else { value };
        let value = if value.is_empty() && operator.is_of_order() { "1".to_owned() } else { value };
        Expr::Compare(Comparison { field, operator, value, is_quoted })
    })
}

fn expr() -> impl Strategy<Value = Expr> {
    let event = "[A-Z*][a-z.*?]{0,6}/[A-Z][A-Za-z/]{0,5}[a-z]".prop_map(Expr::Event);
    prop_oneof![comparison(), event].prop_recursive(4, 24, 4, |inner| {
        let several = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            several().prop_map(|parts| joined(parts, Expr::And)),
            several().prop_map(|parts| joined(parts, Expr::Or)),
            inner.clone().prop_map(|inner| Expr::Not(Box::new(inner))),
        ]
    })
}

/// Marks the values that are printed in quotes as quoted, as the parser will mark them.
fn quoted(expr: Expr) -> Expr {
    match expr {
        Expr::Compare(comparison) => {
            let is_quoted = comparison.to_string().ends_with('"');
            Expr::Compare(Comparison { is_quoted, ..comparison })
        }
        Expr::Event(_) | Expr::Counter(_) => expr,
        Expr::Not(inner) => Expr::Not(Box::new(quoted(*inner))),
        Expr::And(parts) => Expr::And(parts.into_iter().map(quoted).collect()),
        Expr::Or(parts) => Expr::Or(parts.into_iter().map(quoted).collect()),
    }
}

proptest! {
    #[test]
    fn what_is_printed_is_read_as_the_same(expr in expr()) {
        let text = expr.to_string();
        let again = parse::parse(&text, false);
        prop_assert_eq!(again.as_ref(), Ok(&quoted(expr)), "{}", text);
        prop_assert_eq!(again.unwrap().to_string(), text);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[ a-z=<>!~*()'\"/]{0,40}|(and|or|not|where|\\(|\\)|a=b| ){0,80}") {
        let _ = parse::parse(&text, true);
    }
}

#[test]
fn values_go_on_until_what_looks_like_a_condition() {
    for (text, meant) in [
        ("Message=this and that", "Message = \"this and that\""),
        ("Message=this and that=x", "Message = this and that = x"),
        ("(a=f(x) or b~(y|z))", "a = \"f(x)\" or b ~ \"(y|z)\""),
        ("a=b=c", "a = \"b=c\""),
        ("a=", "a = \"\""),
        ("a = 'it''s' AND not b>=2", "a = \"it's\" and not b >= 2"),
        ("a!*=x or b*='and'", "a !*= x or b *= \"and\""),
        ("not (a=1 and b=2) or c=3", "not (a = 1 and b = 2) or c = 3"),
        ("GC/Start where Depth>1 or Count=2", "GC/Start and (Depth > 1 or Count = 2)"),
        ("Depth>=2 and */GC/Start", "Depth >= 2 and */GC/Start"),
        ("it's=5", "\"it's\" = 5"),
        ("a=\"unclosed", "a = \"\"\"unclosed\""),
    ] {
        assert_eq!(text.parse::<Predicate>().unwrap().to_string(), meant, "{text}");
    }
}

#[test]
fn what_is_no_condition_is_refused_with_a_reason_and_its_place() {
    for (text, column, reason) in [
        ("Count", 1, "expected an operator after"),
        ("=3", 1, "no field"),
        ("Count!3", 1, "expected an operator after"),
        ("Name~(", 6, "no regular expression: unclosed group"),
        ("a=1 or (b=2", 8, "not closed"),
        ("(a=1) or not", 13, "expected a condition"),
        ("a >", 4, "expected a value after"),
        ("Count>3 and", 12, "expected a condition after and"),
        ("Name=a b OR", 12, "expected a condition after OR"),
        ("", 1, "expected a condition"),
        ("(a=1) b=2", 7, "too much"),
    ] {
        let error = text.parse::<Predicate>().unwrap_err();
        assert!(error.to_string().contains(reason) && error.column() == column, "{text}: {error}");
    }
    let deep = "(".repeat(5000) + "a=1";
    assert!(deep.parse::<Predicate>().unwrap_err().to_string().contains("more than 64"));
    for wrong in
        ["", " where a=1", "A/B where", "A/B where a", "A/B where =1", "A/B where a=1 and b ="]
    {
        let is_value = wrong.ends_with("b =");
        assert_eq!(Predicate::parse_event(wrong).is_ok(), is_value, "{wrong}");
    }
    assert!(Predicate::from_stopping_event("P", Some("E"), Some("a")).is_err());
}
