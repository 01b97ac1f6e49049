//! The structure of lines.

use hookrail_shell::{Connector, FaultKind, Node, ShellScript, SimpleCommand, parse};

fn programs(script: &ShellScript) -> Vec<String> {
    let name =
        |command: &&SimpleCommand| command.words.first().and_then(|word| word.literal().map(|text| text.into_owned()));
    let mut programs: Vec<String> = script.commands().iter().filter_map(name).collect();
    programs.sort();
    programs
}

#[test]
fn commands_are_found_at_every_depth() {
    let lines = [
        ("a; b & c && d || e | f", "a b c d e f"),
        ("if a; then b; elif c; then d; else e; fi", "a b c d e"),
        ("while a; do b; done; until c; do d; done", "a b c d"),
        ("for x in 1 $(a); do b; done", "a b"),
        ("for ((i=0;i<$(a);i++)); do b; done", "a b"),
        ("case $(a) in x|y) b;; (*) c;; esac", "a b c"),
        ("f() { a; }; function g { b; }; f", "a b f"),
        ("(a; { b; }); ! c; time d; coproc e", "a b c d e"),
        ("[[ $(a) == b ]] && (( $(c) )) && d", "a c d"),
        ("a \"$(b `c`)\" ${x:-$(d)} <(e) > $(f)", "a b c d e f"),
        ("a <<X | b\n$(c)\nX\nd", "a b c d"),
        ("a <<'X'; b\n$(c)\nX\nd", "a b d"),
        ("a <<X <<Y; b\n1\nX\n2\nY\nc", "a b c"),
        ("x=$(a) y=(1 $(b)) c", "a b c"),
        ("a $(case x in x) b;; esac)", "a b"),
        ("a && b > f | c", "a b c"),
        ("{ a; } > f; ( b ) < g; while c; do d; done <<< x", "a b c d"),
        ("for x in $(a) 'b c'; { d; }; e", "a d e"),
        ("if a; then { b; } fi; while c; do { d; } done", "a b c d"),
        ("! { a; }; ! if b; then c; fi; time -p -- d", "a b c d"),
    ];
    for (line, expected) in lines {
        let script = parse(line);
        assert_eq!(script.faults(), [], "{line}");
        assert_eq!(programs(&script).join(" "), expected, "{line}");
    }
}

#[test]
fn a_pipe_binds_closer_than_a_list() {
    let script = parse("a && b | c || d");
    let Node::Chain(_, rest) = &script.root else { panic!("{:?}", script.root) };
    assert_eq!(rest.iter().map(|(connector, _)| *connector).collect::<Vec<_>>(), [Connector::And, Connector::Or]);
    assert!(matches!(&rest[0].1, Node::Pipeline(members) if members.len() == 2));
}

#[test]
fn what_is_not_understood_is_named() {
    let kinds = |line: &str| parse(line).faults().iter().map(|fault| fault.kind).collect::<Vec<_>>();
    assert_eq!(kinds("a 'b"), [FaultKind::Unclosed]);
    assert_eq!(kinds("a \"$(b"), [FaultKind::Unclosed]);
    assert_eq!(kinds("a \u{1}"), [FaultKind::ControlCharacter]);
    assert_eq!(kinds("a <<X\nb"), [FaultKind::OpenHereDocument]);
    assert_eq!(kinds(&"a".repeat(200_000)), [FaultKind::TooLong]);
    for line in ["a )", "} a", "then a", "a; fi", "a | | b"] {
        assert!(kinds(line).contains(&FaultKind::Syntax), "{line}: {:?}", kinds(line));
    }
    for line in ["a &&", "a |", "( a", "if a; then b", "while a; do b", "{ a", "case x in", "((", "if (a) { b }"] {
        let kinds = kinds(line);
        assert!(kinds.contains(&FaultKind::Unclosed) && !kinds.contains(&FaultKind::Syntax), "{line}: {kinds:?}");
    }
    assert_eq!(kinds("a && b"), []);
}

#[test]
fn commands_before_an_error_are_a_lower_bound() {
    let script = parse("a; b; ( c");
    assert!(!script.faults().is_empty());
    assert!(programs(&script).contains(&"a".to_owned()), "{:?}", programs(&script));
    // A shell runs the lines before one that does not end, and takes control characters for letters.
    assert_eq!(programs(&parse("a; b\nc 'd")), ["a", "b"]);
    assert_eq!(programs(&parse("a; b \u{1b}[0m; \u{fdd0}c")), ["a", "b", "\u{fffd}c"]);
}
