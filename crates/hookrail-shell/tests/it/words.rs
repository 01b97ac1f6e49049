//! Tokens and plain words.

use hookrail_shell::{NotPlain, PieceKind, Quotes, TokenKind, rewrite, tokens, words};
use proptest::prelude::*;

fn texts(line: &str) -> Vec<String> {
    let resolve = |name: &str| (name == "x").then(|| "value".to_owned());
    words(line).unwrap().words.iter().map(|word| word.resolve(&resolve).unwrap()).collect()
}

#[test]
fn quotes_escapes_and_parameters_are_read() {
    assert_eq!(texts(r#"a 'b c' "d\"e" f\ g"#), ["a", "b c", "d\"e", "f g"]);
    assert_eq!(texts(r#"$x "${x}y" '$x' \$x"#), ["value", "valuey", "$x", "$x"]);
    assert_eq!(texts(r"$'\x41\n' a\b ''"), ["A\n", "ab", ""]);
}

#[test]
fn what_is_more_than_words_is_named() {
    let reason = |line: &str| words(line).unwrap_err();
    assert!(matches!(reason("a; b"), NotPlain::Operator(_)));
    assert!(matches!(reason("a > b"), NotPlain::Operator(_)));
    assert!(matches!(reason("a\nb"), NotPlain::Newline(_)));
    assert!(matches!(reason("a # b"), NotPlain::Comment(_)));
    assert!(matches!(reason("a $(b)"), NotPlain::Substitution(_)));
    assert!(matches!(reason("a `b`"), NotPlain::Substitution(_)));
    assert!(matches!(reason("a ${b%c}"), NotPlain::Substitution(_)));
    assert!(matches!(reason("a *.txt"), NotPlain::Expansion(_)));
    assert!(matches!(reason("~/a"), NotPlain::Expansion(_)));
    assert!(matches!(reason("a {b,c}"), NotPlain::Expansion(_)));
    assert!(matches!(reason("a 'b"), NotPlain::Unreadable(_)));
    for line in ["a \\\n b", "a\\\nb", "a\rb", "a $\"b\"", "a\r", "a \\", "a \\b\\"] {
        assert!(matches!(reason(line), NotPlain::Ambiguous(_)), "{line:?}");
    }
    // Controls: the same characters as text.
    assert_eq!(texts("a';' \"#\" \\* '$(b)' {} x#y"), ["a;", "#", "*", "$(b)", "{}", "x#y"]);
}

#[test]
fn tokens_have_their_kinds() {
    let kinds: Vec<TokenKind> = tokens("a && 'b c' # d\n").map(|token| token.kind).collect();
    use TokenKind::{Blank, Comment, Newline, Operator, Word};
    assert_eq!(kinds, [Word, Blank, Operator, Blank, Word, Blank, Comment, Newline]);
    let unclosed: Vec<TokenKind> = tokens("a 'b").map(|token| token.kind).collect();
    assert_eq!(unclosed, [Word, Blank, TokenKind::Unclosed]);
}

proptest! {
    #[test]
    fn the_spans_of_tokens_joined_are_the_text(text in any_text()) {
        let mut end = 0;
        for token in tokens(&text) {
            prop_assert_eq!(token.span.start, end);
            prop_assert!(token.span.end > token.span.start);
            end = token.span.end;
        }
        prop_assert_eq!(end as usize, text.len());
    }

    #[test]
    fn a_quoted_text_is_one_word(text in "[ -~]{0,20}") {
        let quoted = format!("'{}'", text.replace('\'', "'\\''"));
        prop_assert_eq!(texts(&format!("a {quoted}")), vec!["a".to_owned(), text]);
    }
}

/// Texts of the characters that mean something, and others.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[ab '\"\\\\$(){}<>|&;#\n`*?\\[\\]~=!x]{0,40}", ".{0,30}"]
}

#[test]
fn parts_of_words_are_changed_wherever_a_shell_reads_them() {
    let named = |line: &str| {
        let changed = rewrite(line, &mut |piece| match &piece.kind {
            PieceKind::Parameter(parameter) if parameter.is_plain() && piece.quotes == Quotes::None => {
                Some("@".to_owned())
            }
            _ => None,
        });
        changed.unwrap_or_else(|| line.to_owned())
    };
    for (line, expected) in [
        ("a $x ${x}y", "a @ @y"),
        ("\"$x\" '$x' \\$x # $x", "\"$x\" '$x' \\$x # $x"),
        ("a \"$(b $x)\" `c $x` <(d $x)", "a \"$(b @)\" `c @` <(d @)"),
        ("${y:-$x} \"${y:-$x}\" ${y#$x} \"${y#$x}\"", "${y:-@} \"${y:-$x}\" ${y#@} \"${y#$x}\""),
        ("cat <<E $x\n$x it's\nE\n$x", "cat <<E @\n$x it's\nE\n@"),
        ("{a,$x}/b a=($x)", "{a,@}/b a=(@)"),
        ("$x 'open $x", "@ 'open $x"),
    ] {
        assert_eq!(named(line), expected, "{line}");
    }
    assert_eq!(rewrite("a b", &mut |_| None), None);
}
