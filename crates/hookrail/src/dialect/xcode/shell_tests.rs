//! Translated commands in real shells.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::process::Command;

use super::shell::{Meaning, translate};

/// A value that is everything at once that could go wrong.
const HOSTILE: &str = "/a b/$(touch no)/`x`/\"q\"/'s'/\\/*\n;x";

fn translated(command: &str) -> String {
    translate(command, &mut |content| match content {
        "known" => Meaning::Known("VALUE".to_owned()),
        "plugindir" | "a:b" => Meaning::Verbatim,
        _ => Meaning::Shell,
    })
    .text
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
        ("show \\${known}", "<${known}>"),
        ("show '$(x)' \"$((1 + 2))\"", "<$(x)><3>"),
        ("case a in a) show ${known#*b};; esac", "<>"),
    ] {
        let found = translate(command, &mut |content| match content {
            "known" => Meaning::Known("VALUE".to_owned()),
            _ => Meaning::Shell,
        })
        .text;
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
    let long = format!("ls {} ${{a}}", "x ".repeat(60_000));
    assert!(translate(&long, &mut |_| Meaning::Known("A".to_owned())).unsafe_use.is_some());
    let deep = format!("{}${{a}}{}", "$(".repeat(50), ")".repeat(50));
    let translated = translate(&deep, &mut |_| Meaning::Known("A".to_owned())).text;
    assert!(translated.contains("${A}"), "{translated}");
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

const UNSAFE: [&str; 24] = [
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
];

#[test]
fn no_value_ever_runs_as_code() {
    let known = |content: &str| match content {
        "known" => Meaning::Known("VALUE".to_owned()),
        _ => Meaning::Shell,
    };
    for command in SAFE {
        assert_eq!(translate(command, &mut |content| known(content)).unsafe_use, None, "{command}");
    }
    for command in UNSAFE {
        assert!(translate(command, &mut |content| known(content)).unsafe_use.is_some(), "`{command}` is not refused");
    }
    // What is not refused is tried: nothing of the value may run, whatever it looks like.
    for command in SAFE {
        let text = translate(command, &mut |content| known(content)).text;
        for value in
            ["x$(touch ran)", "x;touch ran;", "a[$(touch ran)]", "`touch ran`", "' ; touch ran ; '", "\";touch ran;\""]
        {
            let folder = tempfile::tempdir().unwrap();
            let mut shell = Command::new("bash");
            shell.arg("-c").arg(&text).env("VALUE", value).current_dir(folder.path()).output().unwrap();
            assert!(!folder.path().join("ran").exists(), "`{command}` → `{text}` ran a part of {value:?}");
        }
    }
}
