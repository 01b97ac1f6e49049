//! Translated commands in real shells.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::process::Command;

use proptest::prelude::*;

use super::code_words::UnsafeUse;
use super::quotes::Value;
use super::shell::{Meaning, translate};

/// A value that is everything at once that could go wrong.
const HOSTILE: &str = "/a b/$(touch no)/`x`/\"q\"/'s'/\\/*\n;x";

fn translated(command: &str) -> String {
    with_value(command, HOSTILE).0
}

/// The command with a value for `${known}`, and why the value is refused.
fn with_value(command: &str, value: &str) -> (String, Option<UnsafeUse>) {
    let found = translate(command, &mut |content| match content {
        "known" => Meaning::Known(Value { variable: "VALUE".to_owned(), text: value.to_owned() }),
        "empty" => Meaning::Known(Value { variable: "EMPTY".to_owned(), text: String::new() }),
        "plugindir" | "a:b" => Meaning::Verbatim,
        _ => Meaning::Shell,
    });
    (found.text, found.unsafe_use)
}

/// What the program sees: every argument of `show` between angle brackets.
fn seen(shell: &str, command: &str) -> String {
    let exported = if shell == "bash" { "export -f show; " } else { "" };
    let text = format!("show() {{ printf '<%s>' \"$@\"; }}; {exported}{}", translated(command));
    let mut shell = Command::new(shell);
    let output = shell.arg("-c").arg(&text).env("VALUE", HOSTILE).current_dir("/").output().unwrap();
    assert!(output.stderr.is_empty(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_hostile_value_is_one_word_in_every_kind_of_quotes() {
    let expected = format!("<x={HOSTILE}/y>");
    for shell in ["bash", "sh"] {
        for command in [
            "show x=${known}/y",
            "show \"x=${known}/y\"",
            "show 'x='${known}'/y'",
            "show 'x=${known}/y'",
            "show x=\"${known}\"/y",
            "show \"$(printf '%s' \"x=${known}/y\")\"",
            "show \"$(printf %s x=${known}/y)\"",
            "show \"`printf %s x=${known}/y`\"",
            "v=x=${known}/y; show \"$v\"",
            "show \"${unset:-x=${known}/y}\"",
            "if true; then show x=${known}/y; fi # don't",
            "(show x=${known}/y)",
            "true && show x=${known}/y || show no",
        ] {
            assert_eq!(seen(shell, command), expected, "{shell}: {command}");
        }
    }
    assert_eq!(seen("bash", "show $'x=${known}/y'"), expected);
}

#[test]
fn a_program_for_another_shell_resolves_the_value_itself() {
    let expected = format!("<x={HOSTILE}/y>");
    for command in [
        "bash -c 'show x=${known}/y'",
        "bash -c \"show x=${known}/y\"",
        "bash -ec 'show \"x=${known}/y\"'",
        "bash -c \"show \\\"x=${known}/y\\\"\"",
        "bash -c \"show 'x='${known}/y\"",
        "env A=1 /bin/bash -c 'show x=${known}/y'",
        "eval 'show x=${known}/y'",
    ] {
        assert_eq!(seen("bash", command), expected, "{command}");
    }
}

#[test]
fn here_documents_are_text() {
    let expected = format!("it's {HOSTILE} $HOME\n");
    for command in [
        "cat <<'END'\nit's ${known} $HOME\nEND",
        "cat <<END\nit's ${known} \\$HOME\nEND\n",
        "cat <<-\"END\"\n\tit's ${known} $HOME\n\tEND",
    ] {
        assert_eq!(seen("bash", command), expected, "{command}");
    }
}

#[test]
fn an_unknown_name_reaches_the_program_as_it_is_written() {
    for shell in ["bash", "sh"] {
        for command in [
            "show x=${plugindir}/y",
            "show \"x=${plugindir}/y\"",
            "show 'x=${plugindir}/y'",
            "sh -c 'printf \"<%s>\" x=${plugindir}/y'",
            "show \"${unset:-x=${plugindir}/y}\"",
        ] {
            assert_eq!(seen(shell, command), "<x=${plugindir}/y>", "{shell}: {command}");
        }
        assert_eq!(seen(shell, "show ${a:b}"), "<${a:b}>");
    }
}

#[test]
fn everything_else_is_the_shells_own() {
    for (command, expected) in [
        ("x=1; show ${x}", "<1>"),
        ("set -- a b; show ${1}${2}", "<ab>"),
        ("show ${x:-y z}", "<y><z>"),
        ("show '$(x)' \"$((1 + 2))\"", "<$(x)><3>"),
        ("case a in a) show ${known#*b};; esac", "<>"),
    ] {
        let found = translated(command);
        let text = format!("show() {{ printf '<%s>' \"$@\"; }}; {found}");
        let output = Command::new("bash").arg("-c").arg(&text).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{command} → {found}");
    }
}

#[test]
fn what_is_nested_without_end_is_left_to_the_shell() {
    for piece in ["$(", "\"$(", "${a:-", "`\"", "((", "${", "<<E\n", "'\""] {
        let command = piece.repeat(20_000);
        let translated = translate(&command, &mut |_| Meaning::Shell).text;
        assert!(translated.starts_with(piece.get(..2).unwrap()), "{piece}");
    }
    let long = format!("ls {} ${{known}}", "x ".repeat(60_000));
    assert!(with_value(&long, HOSTILE).1.is_some());
    let deep = format!("{}${{known}}{}", "$(".repeat(50), ")".repeat(50));
    let translated = translated(&deep);
    assert!(translated.contains("${VALUE}"), "{translated}");
    // Code inside of code is read again at each level.
    let code = format!("{}${{known}}", "sh -c 'sh -c \"".repeat(2_000));
    assert!(with_value(&code, "plain").0.contains("plain"));
}

/// Places that a value can be handed to, and places where it could run as code.
const SAFE: [&str; 31] = [
    "ls ${known} >/dev/null",
    "ls \"${known}\" >/dev/null",
    "ls '${known}' >/dev/null",
    "bash -c \"ls ${known} >/dev/null\"",
    "bash -c 'ls ${known} >/dev/null'",
    "env bash -c \"ls ${known} >/dev/null\"",
    "timeout 5 bash -c \"ls ${known} >/dev/null\"",
    "bash -ec \"ls ${known} >/dev/null\"",
    "bash --norc -c \"ls ${known} >/dev/null\"",
    "bash -o pipefail -c \"ls ${known} >/dev/null\"",
    "eval \"ls ${known} >/dev/null\"",
    "trap \"ls ${known} >/dev/null\" EXIT",
    "find . -maxdepth 0 -exec sh -c \"ls ${known} >/dev/null\" \\;",
    "echo x | xargs sh -c \"ls ${known} >/dev/null\"",
    "nohup bash -c \"ls ${known}\" >/dev/null",
    "exec bash -c \"ls ${known} >/dev/null\"",
    "command bash -c \"ls ${known} >/dev/null\"",
    "X=1 bash -c \"ls ${known} >/dev/null\"",
    "/usr/bin/env bash -c \"ls ${known} >/dev/null\"",
    "nice -n 5 bash -c \"ls ${known} >/dev/null\"",
    "dash -c \"ls ${known} >/dev/null\"",
    "sh -xc \"ls ${known} >/dev/null\" 2>/dev/null",
    "sh -c -- \"ls ${known} >/dev/null\"",
    "sh -cx \"ls ${known} >/dev/null\" 2>/dev/null",
    "sh +x -c \"ls ${known} >/dev/null\"",
    "if bash -c \"ls ${known} >/dev/null\"; then :; fi",
    "! bash -c \"ls ${known} >/dev/null\"",
    "{ bash -c \"ls ${known} >/dev/null\"; }",
    "\"bash\" -c \"ls ${known} >/dev/null\"",
    "b\\ash -c \"ls ${known} >/dev/null\"",
    "bash\t-c\t\"ls ${known} >/dev/null\"",
];

const UNSAFE: [&str; 64] = [
    "eval ls ${known}",
    "sh <<EOF\nls ${known} >/dev/null\nEOF",
    "sh -s <<'EOF'\nls ${known} >/dev/null\nEOF",
    "sh <<< \"ls ${known} >/dev/null\"",
    "echo \"ls ${known}\" | sh >/dev/null",
    "printf 'ls %s' ${known} | bash -s",
    "D=\"${known}\"; bash -c \"ls $D >/dev/null\"",
    "bash -c \"ls \"${known}\" >/dev/null\"",
    "bash -c $\"ls ${known} >/dev/null\"",
    "bash -c $'ls ${known} >/dev/null'",
    "bash -c ${known}",
    "bash -c $(echo ${known})",
    "source <(echo \"ls ${known} >/dev/null\")",
    ". <(echo \"ls ${known} >/dev/null\")",
    "let \"x=${known}\" 2>/dev/null",
    "[[ -v ${known} ]]",
    "printf -v \"${known}\" x 2>/dev/null",
    "[[ ${known} -eq 1 ]] 2>/dev/null",
    "echo $(( ${known} )) 2>/dev/null",
    "python3 -c \"print('${known}')\" >/dev/null",
    "node -e \"console.log('${known}')\"",
    "python3 - <<EOF\nprint('${known}')\nEOF",
    "ssh host \"ls ${known}\"",
    "trap \"ls \"${known} EXIT",
    "${known} -c \"ls ${known}\"; $SHELL -c \"ls ${known}\"",
    "bash -c \"node -e \\\"x('${known}')\\\"\"",
    "bash -c 'python3 -c \"print(1, \\\"${known}\\\")\"'",
    "bash -c \"echo ${known} | sh\"",
    "bash -c \"eval ls ${known}\"",
    "node -e \"x('$(echo ${known})')\"",
    "node -e \"x('`echo ${known}`')\"",
    "node --eval=\"x('${known}')\"",
    "python3 -c\"print('${known}')\"",
    "perl -ne\"print '${known}'\" x",
    "ruby -e\"puts '${known}'\"",
    "awk \"BEGIN { print \\\"${known}\\\" }\"",
    "awk -F: -v a=b '{ print \"${known}\" }' x",
    "sed 's|${known}||'",
    "sed -n -e 's|${known}||' x",
    "sed --expression='s|${known}||' x",
    "env -S \"ls ${known}\"",
    "set -- ${known}; bash -c \"ls $1\"",
    "for f in ${known}; do bash -c \"ls $f\"; done",
    "for f in ${known}; do node -e \"x('$f')\"; done",
    "cd ${known} && bash -c \"ls $PWD\"",
    "echo ${known} | while read f; do bash -c \"ls $f\"; done",
    "run() { bash -c \"ls $1\"; }; run ${known}",
    "find ${known} -exec sh -c 'ls {}' \\;",
    "D=${known} sh -c 'ls $D'",
    "D=$(dirname ${known}); bash -c \"ls $D\"",
    "PS4='${known}' bash -x script",
    "GIT_SSH_COMMAND=\"ssh -i ${known}\" git fetch",
    "bash <(echo \"ls ${known}\")",
    ". /dev/stdin <<EOF\nls ${known}\nEOF",
    "a[${known}]=1",
    "echo \"${a[${known}]}\"",
    "echo \"${a:${known}}\"",
    "unset \"${known}\"",
    "declare -i x=${known}",
    "[[ a && ${known} -eq 1 ]]",
    "[ ${known} -eq 1 ]",
    "bash -c \"`echo ${known}`\"",
    "bash -c \"$(printf %s \\\"${known}\\\")\"",
    "fish -c \"ls ${known}\"",
];

/// Values that try to run something, each in the syntax of another place.
const ATTACKS: [&str; 8] = [
    "x$(touch ran)",
    "x;touch ran;",
    "a[$(touch ran)]",
    "`touch ran`",
    "' ; touch ran ; '",
    "\";touch ran;\"",
    "x\ntouch ran\n",
    "'+require('child_process').execSync('touch ran')+'",
];

/// Whether a command runs a part of the value in this shell.
fn runs_the_value(shell: &str, text: &str, value: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let mut shell = Command::new(shell);
    shell.arg("-c").arg(text).env("VALUE", value).env("EMPTY", "").current_dir(folder.path());
    shell.stdin(std::process::Stdio::null()).output().unwrap();
    folder.path().join("ran").exists()
}

#[test]
fn no_value_ever_runs_as_code() {
    for command in SAFE {
        assert_eq!(with_value(command, HOSTILE).1, None, "{command}");
        // What is not refused is tried: nothing of the value may run, whatever it looks like.
        for value in ATTACKS {
            let text = with_value(command, value).0;
            assert!(!runs_the_value("bash", &text, value), "`{command}` → `{text}` ran a part of {value:?}");
        }
    }
    for command in UNSAFE {
        for value in ATTACKS {
            assert!(with_value(command, value).1.is_some(), "`{command}` is not refused with {value:?}");
        }
    }
}

/// What a command prints and how it ends, with `show` as a function of it.
fn run(shell: &str, text: &str) -> (String, Option<i32>) {
    let text = format!("show() {{ printf '<%s>' \"$@\"; }}; bar=expanded; {text}");
    let mut shell = Command::new(shell);
    shell.arg("-c").arg(&text).env("EMPTY", "").current_dir("/").stdin(std::process::Stdio::null());
    let output = shell.output().unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

/// The command as the original hands it to the shell: every value is put in the place of its variable.
fn pasted(command: &str, value: &str) -> String {
    command.replace("${known}", value).replace("${empty}", "")
}

#[test]
fn a_plain_value_means_what_it_means_in_the_original() {
    for value in ["/plugins/cache/m/p/1.0.0", "bar", "a@b%c+d=e:f,g./-h", "5", ""] {
        for command in [
            "show ${known} ${empty} x",
            "show a${empty}b \"${empty}\" '${empty}'",
            "${empty} show ${known}",
            "test -n ${empty} && show yes",
            "show \"$${known}\" $${known}x '$${known}' \"$$\"\"${known}\" | sed 's/[0-9]//g'",
            "show \"$${empty}bar\"",
            "show \"\\${known}\" \\${known} '\\${known}'",
            "show \"x\\${empty}y\" \\${empty}z",
            "sh <<END\nprintf '[%s]' x${known}y\nEND",
            "cat <<END\n${known} \\${known} $${known}x\nEND",
            "cat <<'END'\n${known} \\${known} $${known}x\nEND",
            "D=${known} sh -c 'printf \"[%s]\" \"$D\"'",
            "D=${known}; sh -c 'printf \"[%s]\" '$D'x'",
            "sh -c \"printf '[%s]' x${known}y\"",
            "sh -c \"printf '[%s]' \\${known}x\"",
            "sh -c 'printf \"[%s]\" ${empty} ${known} x'",
            "sh -c printf\\ x${known}",
            "eval show x${known}y",
            "eval 'show x${known}y'",
            "echo 'printf %s x${known}y' | sh",
            "awk 'BEGIN { print \"${known}\" }'",
            "echo /${known}/x | sed 's|${known}|y|'",
            "show \"${unset:-${known}}\" ${unset:-${known}}",
            "show `echo ${known}` $(echo \"${known}\")",
            "case x${known} in x${known}) show same;; *) show other;; esac",
            "[ \"${known}\" = \"${known}\" ] && show same",
            "PATH=${known}:$PATH; show ok",
            "# it's ${known}\nshow ok",
        ] {
            let (text, refused) = with_value(command, value);
            assert_eq!(refused, None, "{command}");
            // Only there is text between two values a name, which the original takes for the shell's.
            assert_eq!(run("sh", &text), run("sh", &pasted(command, value)), "`{command}` → `{text}` with {value:?}");
        }
    }
}

#[test]
fn blanks_alone_are_no_word_outside_of_quotes() {
    for value in [" ", "  ", "\t"] {
        for command in [
            "show ${known} x",
            "${known} show x",
            "show x ${known}",
            "show ${known};show y",
            "test -n ${known} && show yes",
            "show \"${known}\" '${known}'",
        ] {
            let ran = |text: &str| {
                let text = format!("VALUE='{value}'; show() {{ printf '<%s>' \"$@\"; }}; {text}");
                let output = Command::new("sh").arg("-c").arg(&text).output().unwrap();
                (String::from_utf8(output.stdout).unwrap(), output.status.code())
            };
            let (text, refused) = with_value(command, value);
            assert_eq!(refused, None, "{command}");
            assert_eq!(ran(&text), ran(&pasted(command, value)), "`{command}` → `{text}` with {value:?}");
        }
    }
    // As a part of a word it stays one: this would be `/` alone.
    assert_eq!(with_value("show ${known}/", " ").0, "show \"${VALUE}\"/");
}

#[test]
fn a_plain_value_is_never_syntax() {
    for (command, value) in [
        ("${known} show", "A=b"),
        ("${known} show", "if"),
        ("show ${known}>&2", "2"),
        ("show $(( ${known} ))", "bar"),
        ("[[ ${known} -eq 1 ]]", "bar"),
    ] {
        let (text, refused) = with_value(command, value);
        let ran = run("bash", &text);
        assert!(
            refused.is_some() || ran.0.is_empty() || ran.0 == format!("<{value}>"),
            "`{command}` → `{text}`: {ran:?}"
        );
    }
    assert_eq!(run("sh", &with_value("show $(( ${known} + 1 )) $(( ${empty} + 1 ))", "41").0).0, "<42><1>");
    assert_eq!(run("sh", &with_value("[ ${known} -gt 3 ] && show yes", "4").0).0, "<yes>");
}

/// Pieces of shell commands, with values between them.
fn pieces() -> impl Strategy<Value = String> {
    const PIECES: [&str; 26] = [
        "${known}",
        "${known}",
        "${known}",
        "${empty}",
        " ",
        " ",
        " ",
        "show",
        "x",
        "\"",
        "'",
        "\\",
        "$",
        "$(",
        ")",
        "`",
        "; ",
        " | ",
        "bash -c ",
        "sh -c ",
        "eval ",
        "cat <<E\n",
        "\nE\n",
        "A=",
        "node -e ",
        "#",
    ];
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), 1..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(192) })]

    #[test]
    fn no_command_runs_a_value(command in pieces(), value in prop::sample::select(ATTACKS.to_vec())) {
        let (text, refused) = with_value(&command, value);
        if refused.is_none() {
            for shell in ["bash", "sh"] {
                prop_assert!(!runs_the_value(shell, &text, value), "{shell}: `{command}` → `{text}`");
            }
        }
    }

    #[test]
    fn every_command_with_plain_values_does_what_it_does_in_the_original(command in pieces()) {
        // The number of a process differs from run to run, and an expansion of what a value names is refused in code.
        prop_assume!(!command.contains("$$"));
        let (text, refused) = with_value(&command, "/a/b-c");
        prop_assert_eq!(refused, None);
        prop_assert_eq!(run("sh", &text), run("sh", &pasted(&command, "/a/b-c")), "`{}` → `{}`", command, text);
    }
}

#[test]
fn code_that_is_an_interpreter_reads_its_program_from_standard_input() {
    for command in ["bash -c bash -c cat <<E\n${known}\nE", "sh -ec sh <<E\n${known}\nE"] {
        assert_eq!(with_value(command, HOSTILE).1, Some(UnsafeUse::StandardInput), "{command}");
    }
    for command in ["bash -c cat <<E\n${known}\nE", "bash -c 'cat \"$1\"' bash ${known}"] {
        assert_eq!(with_value(command, HOSTILE).1, None, "{command}");
    }
}

#[test]
fn a_comment_in_backticks_ends_with_them() {
    assert_eq!(run("sh", &with_value("show `#`${known}", "/a/b-c").0).0, "</a/b-c>");
    assert_eq!(run("sh", &with_value("show x #`${known}", "/a/b-c").0).0, "<x>");
}

#[test]
fn long_words_are_read_in_proportion_to_their_length() {
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for piece in ["${known}", "`", "$x", "\"${known}\"", "a ${known} ", "a=${known}"] {
            let (text, _) = with_value(&piece.repeat(20_000), HOSTILE);
            assert!(text.len() >= 20_000, "{piece}");
        }
        done.send(()).unwrap();
    });
    // In proportion to the square of the length it would take many minutes.
    ended.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
}

#[test]
fn a_long_option_takes_no_value() {
    let option = |length: usize| format!("python3 -{}${{known}}", "u".repeat(length));
    assert_eq!(with_value(&option(300), HOSTILE).1, Some(UnsafeUse::ForeignCode));
    assert_eq!(with_value(&option(100), HOSTILE).1, None);
}
