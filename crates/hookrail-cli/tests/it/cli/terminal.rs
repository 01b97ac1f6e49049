//! Colours, and texts that try to reach the terminal.

use crate::cli::sandbox::{ProgramOutput, Sandbox};

const FIRE: [&str; 3] = ["fire", "BeforeTool", "--trust-project"];

#[test]
fn colours_only_where_they_are_wanted() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    for args in [&FIRE[..], &["list"], &["check"], &["explain", "BeforeTool"], &["trust"], &["--help"], &["demo"]] {
        let has_colour = |variables: &[(&str, &str)]| {
            ProgramOutput::capture(sandbox.command(args).envs(variables.iter().copied())).stdout.contains('\u{1b}')
        };
        assert!(!has_colour(&[]), "{args:?}");
        assert!(has_colour(&[("CLICOLOR_FORCE", "1")]), "{args:?}");
        assert!(!has_colour(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), "{args:?}");
    }
}

#[test]
fn errors_are_coloured_in_the_same_way() {
    let sandbox = Sandbox::new();
    let stderr = |variables: &[(&str, &str)]| {
        ProgramOutput::capture(sandbox.command(&["fire", "nonsense"]).envs(variables.iter().copied()))
            .ends_with(1)
            .stderr
    };
    assert!(!stderr(&[]).contains('\u{1b}'));
    assert!(stderr(&[("CLICOLOR_FORCE", "1")]).contains('\u{1b}'));
    assert!(!stderr(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
}

/// Moves the cursor, changes the title, hides text, reorders text.
const EVIL: &str = "\\033[2J\\033]0;t\\007\\302\\233m\\342\\200\\256";

#[test]
fn what_hooks_say_is_written_out() {
    for command in [
        format!("printf 'x{EVIL}y' >&2; exit 2"),
        format!("printf 'x{EVIL}y' >&2; exit 7"),
        format!("printf 'x{EVIL}y'"),
        r#"printf '{"decision":"deny","reason":"x\\u001b[2Jy","systemMessage":"\\u009b"}'"#.to_owned(),
    ] {
        let sandbox = Sandbox::with_hook("BeforeTool", &command);
        // Forced colours, because taking all sequences out would hide the fault.
        let of = |args: &[&str]| ProgramOutput::capture(sandbox.command(args).env("CLICOLOR_FORCE", "1")).stdout;
        let input = r#"{"path":"\u001b[2J\u009b\u202e"}"#;
        let detailed = [&FIRE[..], &["--tool", "x", "--tool-input", input, "-v"]].concat();
        let shown = [of(&FIRE), of(&detailed), of(&["dev", "--once", "--trust-project"])].concat();
        for evil in ["\u{1b}[2J", "\u{1b}]0", "\u{7}", "\u{9b}", "\u{202e}"] {
            assert!(!shown.contains(evil), "{command}: {shown:?}");
        }
        let piped = sandbox.run(&FIRE);
        assert!(piped.stdout.contains(r"x\x1b[2J"), "{command}: {}", piped.stdout);
        assert!(!piped.stdout.contains('\u{1b}'));
    }
}

#[test]
fn names_and_arguments_are_written_out() {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"matcher": "a\u001b[2Jb", "hooks": [{"type": "command", "name": "n\u001b[2Jm", "command": "c\u001b[2J"}]}]"#,
    );
    for args in [
        &["list"][..],
        &["list", "-v"],
        &["dev", "--once"],
        &["dev", "--once", "--trust-project", "--tool", "a\u{1b}[2Jb"],
        &["fire", "before-tool"],
        &["explain", "before-tool", "--tool", "\u{1b}[2J"],
        &["trust"],
        &["trust", "grant", "--yes"],
        &["fire", "\u{1b}[2J"],
    ] {
        let ran = ProgramOutput::capture(sandbox.command(args).env("CLICOLOR_FORCE", "1"));
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("\u{1b}[2J"), "{args:?}: {:?}", ran.stdout);
    }
}

#[test]
fn long_texts_are_cut_and_say_so() {
    let sandbox = Sandbox::with_hook("BeforeTool", "head -c 100000 /dev/zero | tr '\\0' x >&2; exit 2");
    let ran = sandbox.run(&FIRE).ends_with(2);
    assert!(ran.stdout.len() < 10_000, "{}", ran.stdout.len());
    assert!(ran.stdout.contains("more characters"), "{}", ran.stdout);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let sandbox = Sandbox::with_hook("BeforeTool", "sleep 0.3; exit 2");
    let mut child = sandbox.command(&FIRE).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(2));
}
