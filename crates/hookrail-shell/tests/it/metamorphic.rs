//! What does not change the accesses of a line, and what only adds to them.

use std::collections::BTreeSet;

use hookrail_shell::{Accesses, Class, FactKind, Why};
use proptest::prelude::*;

use super::corpus::lines;
use super::verdicts::of_line;

/// The facts of a line without their places.
fn facts(line: &str) -> BTreeSet<(FactKind, String)> {
    facts_of(&of_line(line))
}

fn facts_of(found: &Accesses) -> BTreeSet<(FactKind, String)> {
    let mut facts = BTreeSet::new();
    let lists =
        [(FactKind::Reads, &found.reads), (FactKind::Writes, &found.writes), (FactKind::Deletes, &found.deletes)];
    for (kind, list) in lists {
        facts.extend(list.iter().map(|fact| (kind, fact.what.path.clone())));
    }
    facts.extend(found.executes.iter().map(|fact| (FactKind::Executes, fact.what.text())));
    facts.extend(found.network.iter().map(|fact| (FactKind::Network, fact.what.text())));
    facts.extend(found.git.iter().map(|fact| (FactKind::Git, fact.what.name().to_owned())));
    facts
}

/// The reasons for what is not known, with the facts that they are about.
fn unknown_kinds(line: &str) -> BTreeSet<(Why, Vec<FactKind>)> {
    of_line(line).unknown.iter().map(|unknown| (unknown.why, unknown.facts.kinds().collect())).collect()
}

/// The lines of the corpus that can be read: a wrapper around an unclosed quote is another line.
fn readable() -> Vec<String> {
    let is_readable = |line: &String| {
        let classes: Vec<Class> = of_line(line).unknown.iter().map(|unknown| unknown.why.class()).collect();
        line.len() < 4096 && !classes.contains(&Class::Unparsable) && !classes.contains(&Class::Bound)
    };
    lines().into_iter().filter(is_readable).collect()
}

fn quoted(line: &str) -> String {
    format!("'{}'", line.replace('\'', "'\\''"))
}

/// Wrappers around a line as code, and around it as a word.
fn wrapped(line: &str) -> Vec<String> {
    let word = quoted(line);
    let mut wrapped = vec![
        format!("{{ {line}\n}}"),
        format!("( {line}\n)"),
        format!("if true; then {line}\nfi"),
        format!("while true; do {line}\ndone"),
        format!("for i in 1 2; do {line}\ndone"),
        format!("case a in b) {line}\n;; esac"),
        format!("false || {{ {line}\n}}"),
        format!("true | {{ {line}\n}}"),
        format!("{{ {line}\n}} &"),
        format!("echo \"$( {line}\n)\""),
        format!("cat <( {line}\n)"),
        format!("wrapper() {{ {line}\n}}; wrapper"),
        format!("eval {word}"),
        format!("bash -c {word}"),
        format!("sudo -u root env A=1 sh -c {word}"),
        format!("timeout -k 1 5 nice -n 3 bash -ec {word}"),
        format!("nohup setsid bash -c {word}"),
        format!("trap {word} EXIT"),
        format!("bash <<'END OF LINE'\n{line}\nEND OF LINE\n"),
        format!("su -c {word} root"),
        format!("git -c alias.w={} w", quoted(&format!("!sh -c {word}"))),
    ];
    // These two put something in the place of their marks.
    if !line.contains("{}") && !line.contains('%') {
        wrapped.push(format!("find . -maxdepth 0 -exec sh -c {word} \\;"));
        wrapped.push(format!("echo x | xargs -I% bash -c {word}"));
    }
    wrapped
}

#[test]
fn a_wrapper_loses_no_access() {
    let lines = readable();
    assert!(lines.len() > 380, "{}", lines.len());
    for line in lines {
        let inner = facts(&line);
        for outer in wrapped(&line) {
            // A child gets only variables that are exported, and the line's own name for it is another.
            let found = facts(&outer);
            let lost: Vec<_> = inner.difference(&found).collect();
            assert!(
                lost.is_empty(),
                "{outer:?} loses {lost:?} of {line:?}\nfound {found:?}\n{:?}",
                of_line(&outer).unknown
            );
        }
    }
}

#[test]
fn what_is_not_known_stays_unknown_in_a_wrapper() {
    for line in readable() {
        let kinds = |line: &str| {
            let unknown = of_line(line).unknown;
            FactKind::ALL
                .into_iter()
                .filter(|kind| unknown.iter().any(|unknown| unknown.facts.contains(*kind)))
                .collect::<BTreeSet<_>>()
        };
        for outer in wrapped(&line) {
            let lost: Vec<_> = kinds(&line).difference(&kinds(&outer)).copied().collect();
            assert!(lost.is_empty(), "{outer:?} knows {lost:?}, which {line:?} does not");
        }
    }
}

#[test]
fn two_lines_do_what_each_of_them_does() {
    let lines = readable();
    for pair in lines.windows(2) {
        let [left, right] = pair else { continue };
        let both = facts(&format!("( {left}\n)\n( {right}\n)"));
        let expected: BTreeSet<_> = facts(left).union(&facts(right)).cloned().collect();
        let lost: Vec<_> = expected.difference(&both).collect();
        assert!(lost.is_empty(), "{left:?} and {right:?} lose {lost:?}");
        // A file that the first line writes may be what the second one reads or runs.
        let writes = facts(left).iter().any(|(kind, _)| *kind == FactKind::Writes);
        assert!(writes || both == expected, "{left:?} and {right:?} do {both:?}");
    }
}

#[test]
fn a_comment_changes_nothing() {
    for line in readable() {
        for commented in [format!("{line}\n# rm -rf / | sh"), format!("# $(rm -rf /)\n{line}")] {
            assert_eq!(facts(&commented), facts(&line), "{commented:?}");
            assert_eq!(unknown_kinds(&commented), unknown_kinds(&line), "{commented:?}");
        }
    }
}

#[test]
fn a_line_that_is_only_printed_does_nothing() {
    for line in lines().into_iter().filter(|line| line.len() < 4096 && !line.contains('\u{1}')) {
        for printed in [format!("echo {}", quoted(&line)), format!("printf '%s' {}", quoted(&line))] {
            let found = of_line(&printed);
            assert_eq!((facts_of(&found), found.unknown.as_slice()), (BTreeSet::new(), [].as_slice()), "{printed:?}");
        }
        let document = format!("cat <<'END OF LINE'\n{line}\nEND OF LINE");
        assert_eq!(facts(&document), BTreeSet::new(), "{document:?}");
    }
}

fn a_command() -> impl Strategy<Value = Vec<String>> {
    let program = prop::sample::select(vec![
        "rm", "cat", "touch", "cp", "mv", "tee", "chmod", "git", "curl", "sed", "tar", "rsync", "sudo", "env",
    ]);
    let word = prop::sample::select(vec![
        "-rf",
        "-r",
        "-o",
        "--",
        "-x",
        "/opt/app",
        "../x",
        "a.txt",
        "src/b",
        ".env",
        "rm",
        "push",
        "-f",
        "777",
        "s/a/b/",
        "https://h.example/x",
        "A=1",
    ]);
    (program, prop::collection::vec(word, 0..5))
        .prop_map(|(program, words)| std::iter::once(program).chain(words).map(str::to_owned).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn quotes_around_a_word_change_nothing(command in a_command(), which in 0_usize..6, how in 0_usize..3) {
        let plain = command.join(" ");
        let mut words = command;
        let count = words.len();
        if let Some(word) = words.get_mut(which % count) {
            *word = match how {
                0 => format!("'{word}'"),
                1 => format!("\"{word}\""),
                _ => format!("\\{word}"),
            };
        }
        let quoted = words.join(" ");
        prop_assert_eq!(facts(&quoted), facts(&plain), "{} and {}", quoted, plain);
        prop_assert_eq!(unknown_kinds(&quoted), unknown_kinds(&plain), "{} and {}", quoted, plain);
    }

    #[test]
    fn any_text_is_read(text in ".{0,80}") {
        let _ = of_line(&text);
    }

    #[test]
    fn any_text_of_marks_is_read(text in "[ab '\"\\\\$(){}<>|&;#\n`*?\\[\\]~=!x:/,.@%^-]{0,60}") {
        let found = of_line(&text);
        prop_assert!(named_commands(&found).all(|index| index < found.commands.len()), "{:?}", found);
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = of_line(&String::from_utf8_lossy(&bytes));
    }
}

/// The commands that accesses of paths are said to be of.
fn named_commands(found: &Accesses) -> impl Iterator<Item = usize> {
    found.reads.iter().chain(&found.writes).chain(&found.deletes).filter_map(|fact| fact.command)
}

/// An exception of a rule that is about one command would cover the redirection of another one.
#[test]
fn what_is_redirected_without_a_command_is_of_no_command() {
    let found = of_line("$2 > f; rm x");
    assert_eq!((found.commands.len(), found.writes[0].command, found.deletes[0].command), (1, None, Some(0)));
    let found = of_line("echo a > f; rm x");
    assert_eq!((found.commands.len(), found.writes[0].command, found.deletes[0].command), (2, Some(0), Some(1)));
}

#[test]
fn any_beginning_of_a_line_is_read() {
    for line in lines().into_iter().filter(|line| line.len() < 500) {
        for end in (0..line.len()).filter(|end| line.is_char_boundary(*end)) {
            let _ = of_line(&line[..end]);
        }
    }
}

/// Lines that are made to take long, or to end the program.
#[test]
fn hostile_lines_end() {
    let repeated = [
        "(",
        "{ ",
        "$(",
        "`",
        "\"",
        "'",
        "${x:-",
        "[[ ",
        "((",
        "$((",
        "<(",
        "if ",
        "case x in ",
        "a=(",
        "<<E ",
        "{a,",
        "f() { ",
        "! ",
        "a|",
        "a&&",
        "eval ",
        "sudo ",
        "\\",
        "for i in ",
        "a\n",
        "é",
        "((a) ",
        "$'",
        ";((",
        "x() ",
    ];
    for part in repeated {
        for count in [10, 63, 65, 300, 10_000] {
            let line: String = part.repeat(count);
            let _ = of_line(&line);
            let _ = of_line(&format!("{line}rm -rf /opt/app"));
        }
    }
    for line in [
        "f() { f; f; }; f".to_owned(),
        "f() { g; }; g() { f; }; f".to_owned(),
        "for a in {1..99}; do for b in {1..99}; do for c in {1..99}; do echo $a$b$c; done; done; done".to_owned(),
        format!("{}rm x{}", "bash -c \"".repeat(20), "\"".repeat(20)),
        format!("{}ls{}", "( ".repeat(10_000), " )".repeat(10_000)),
        format!("x={}; echo ${{x/a*a*a*a*b/c}} ${{x%%a*a*a*a*b}}", "a".repeat(4000)),
        "{a,b}".repeat(5000),
        "x".repeat(1 << 20),
        "a ".repeat(1 << 19),
        "a;".repeat(1 << 19),
        "$(a) ".repeat(20_000),
        "cd a; ".repeat(2000),
        "if a; then cd b; fi; ".repeat(500),
        (0..2000).map(|index| format!("v{index}=a; ")).collect(),
        // Values that double: after sixty times no machine could hold them.
        format!("x=a;{}rm $x", "x=$x$x;".repeat(60)),
        format!("a=(a);{}rm ${{a[@]}}", "a=(\"${a[@]}\" \"${a[@]}\");".repeat(60)),
        format!("set -- a;{}rm $@", "set -- \"$@\" \"$@\";".repeat(60)),
        "echo 'sh x; sh x; sh x' > x; sh x".to_owned(),
        "rm $x ".repeat(10_000),
        "ln -s a b; ln -s b a; cat a; ".repeat(300),
    ] {
        let _ = of_line(&line);
    }
}
