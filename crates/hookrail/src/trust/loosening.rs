//! Recognises command lines that loosen guards: calls of hookrail that change what is granted or installed or that speak for
//! the agent, and the variable that switches hooks off.
//!
//! A line is judged by its words, as a shell joins them. This is for models that mean well: a program that is written to get
//! around it is not recognised.

use hookrail_shell::{Comments, LooseWord, loose_words};

/// How a command line would loosen guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loosening {
    /// It calls hookrail with this command.
    Command(&'static str),
    /// It tells hookrail of an event in the agent's place, such as the end of a call about which a person was asked.
    Event,
    /// It sets the variable that switches hooks off.
    Variable,
}

/// The variable that switches hooks off.
const VARIABLE: &str = "HOOKRAIL_DISABLE";

/// Commands of hookrail that loosen guards.
const COMMANDS: &[(&str, Counts)] = &[
    ("trust", Counts::With(&["grant", "revoke"])),
    (SPEAKS, Counts::Always),
    ("enable", Counts::Always),
    ("disable", Counts::Always),
    ("uninstall", Counts::Always),
    ("plugin", Counts::Without(&["list", "doctor", "help"])),
    ("reload", Counts::Always),
    ("add", Counts::Without(&["help"])),
    ("rules", Counts::Without(&["check", "list", "show", "test", "explain", "help"])),
];

/// The command of hookrail that an agent tells its events.
const SPEAKS: &str = "bridge";

/// When a command of hookrail counts.
#[derive(Clone, Copy)]
enum Counts {
    Always,
    /// With one of these words after it.
    With(&'static [&'static str]),
    /// With a word after it, but none of these.
    Without(&'static [&'static str]),
}

/// The names of the program.
const PROGRAM: &[&str] = &["hookrail", "hookrail.exe"];

/// What says where a program is.
const SEARCHES: &[&str] = &["command", "which", "type", "whereis"];

/// Programs and words of the shell that run the command in their arguments. What stands between is not interpreted: every
/// later word may begin it.
const WRAPPERS: &[&str] = &[
    "env", "sudo", "doas", "nohup", "nice", "ionice", "time", "timeout", "exec", "command", "builtin", "setsid",
    "stdbuf", "xargs", "chrt", "taskset", "flock", "strace", "unshare", "chroot", "runuser", "npx", "bunx", "uvx",
    "mise", "busybox", "find", "fd", "entr", "coproc", "function", "if", "then", "elif", "else", "while", "until",
    "do", "!", "{",
];

/// Programs that read a whole line from one of their arguments or from their input.
const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "eval", "su", "ssh", "script", "watch", "parallel",
    "trap",
];

/// Programs that set variables by their arguments.
const SETTERS: &[&str] =
    &["export", "declare", "typeset", "local", "readonly", "set", "setenv", "read", "printf", "launchctl"];

/// Lines inside of lines are read to this depth.
const DEEPEST: usize = 8;

/// The most words of a call of hookrail that are read.
const MOST_WORDS: usize = 64;

/// How a line for a shell would loosen guards.
pub(crate) fn line_loosens(line: &str) -> Option<Loosening> {
    let names_it = |text: &str| text.contains("hookrail") || text.contains(VARIABLE);
    // Most lines name neither. A name may be quoted in parts.
    let is_quoted = |character: char| matches!(character, '\\' | '\'' | '"');
    let is_named = names_it(line) || (line.contains(is_quoted) && names_it(&line.replace(is_quoted, "")));
    if is_named { loosening_in(line, DEEPEST) } else { None }
}

/// How a program with its arguments would loosen guards.
pub(crate) fn words_loosen(words: &[String]) -> Option<Loosening> {
    command_loosens(words, DEEPEST)
}

fn loosening_in(line: &str, depth: usize) -> Option<Loosening> {
    let depth = depth.checked_sub(1)?;
    let commands = simple_commands(line);
    // `echo 'hookrail …' | sh` and `sh <<< '…'` give a shell its line as input.
    let is_fed = commands.iter().any(|command| reads_input(&command.words));
    // `$(which hookrail) trust grant`
    let found = commands.iter().zip(commands.iter().skip(1)).find_map(|(search, command)| {
        let is_search = search.words.first().is_some_and(|program| is_one_of(program, SEARCHES));
        let finds_it = search.words.last().is_some_and(|word| is_one_of(word, PROGRAM));
        if is_search && finds_it { call_loosens(&command.words) } else { None }
    });
    if found.is_some() {
        return found;
    }
    commands.iter().find_map(|command| {
        let fed = command.words.iter().chain(&command.operands).filter(|word| is_fed && is_line(word));
        command_loosens(&command.words, depth).or_else(|| fed.into_iter().find_map(|line| loosening_in(line, depth)))
    })
}

/// One command of a line.
#[derive(Default)]
struct SimpleCommand {
    words: Vec<String>,
    /// What stands after redirections.
    operands: Vec<String>,
}

fn simple_commands(line: &str) -> Vec<SimpleCommand> {
    let mut commands = Vec::new();
    let mut command = SimpleCommand::default();
    let mut redirects = false;
    for LooseWord { text: word, separator: end } in loose_words(line, " \t\n;|&()`<>", Comments::Skipped) {
        if let Some(word) = word {
            let place = if std::mem::take(&mut redirects) { &mut command.operands } else { &mut command.words };
            place.push(word);
        }
        match end {
            Some('<' | '>') => redirects = true,
            Some(';' | '|' | '&' | '(' | ')' | '`' | '\n') => {
                redirects = false;
                commands.push(std::mem::take(&mut command));
            }
            // A blank ends a word only. No other character is among the separators.
            Some(_) | None => {}
        }
    }
    commands.push(command);
    commands
}

/// Whether a command is a shell without a script.
fn reads_input(words: &[String]) -> bool {
    let mut rest = words.iter().skip_while(|word| is_assignment(word) || is_one_of(word, WRAPPERS));
    rest.next().is_some_and(|program| is_one_of(program, SHELLS)) && rest.all(|word| word.starts_with('-'))
}

/// Whether a word may itself be a line.
fn is_line(word: &str) -> bool {
    word.contains([' ', '\t', '\n', ';', '&', '|'])
}

fn sets_variable(word: &str) -> bool {
    word.strip_prefix(VARIABLE).is_some_and(|rest| rest.starts_with(['=', '+']))
}

/// How one command would loosen guards.
fn command_loosens(words: &[String], depth: usize) -> Option<Loosening> {
    // A substitution inside of a word runs a command too.
    let inside = words.iter().filter_map(|word| word.split_once("$(").or_else(|| word.split_once('`')));
    if let Some(found) = inside.into_iter().find_map(|(_, inner)| loosening_in(inner, depth)) {
        return Some(found);
    }
    let mut begins_command = true;
    for (at, word) in words.iter().enumerate() {
        let arguments = words.get(at + 1..).unwrap_or_default();
        if sets_variable(word) {
            return Some(Loosening::Variable);
        }
        // The line names it, so what a variable holds may be it.
        if is_one_of(word, PROGRAM) || (begins_command && word.starts_with('$')) {
            if let Some(found) = call_loosens(arguments) {
                return Some(found);
            }
        } else if is_one_of(word, SHELLS) {
            let as_line = arguments.iter().filter(|word| is_line(word)).find_map(|line| loosening_in(line, depth));
            let call = || arguments.iter().position(|word| is_one_of(word, PROGRAM));
            return as_line.or_else(|| call_loosens(arguments.get(call()? + 1..)?));
        } else if is_one_of(word, SETTERS) {
            let names = |word: &String| word == VARIABLE || sets_variable(word);
            return arguments.iter().any(names).then_some(Loosening::Variable);
        } else if is_one_of(word, WRAPPERS) {
            begins_command = false;
        } else if begins_command && !is_assignment(word) {
            // Any other program gets its words as data.
            return None;
        } else if is_line(word)
            && let Some(found) = loosening_in(word, depth)
        {
            // `env -S 'hookrail …'`
            return Some(found);
        }
    }
    None
}

/// How a call of hookrail with these arguments would loosen guards.
fn call_loosens(arguments: &[String]) -> Option<Loosening> {
    let mut words = arguments.iter().take(MOST_WORDS).map(String::as_str);
    let command = loop {
        match words.next()? {
            // The only option before a command that takes a value.
            "--color" => drop(words.next()),
            option if option.starts_with('-') => {}
            command => break command,
        }
    };
    let mut words = words.filter(|word| !word.starts_with('-'));
    let (name, counts) = COMMANDS.iter().find(|(name, _)| *name == command)?;
    let counts = match counts {
        Counts::Always => true,
        Counts::With(known) => words.any(|word| known.contains(&word)),
        Counts::Without(shows) => words.next().is_some_and(|word| !shows.contains(&word)),
    };
    counts.then_some(if *name == SPEAKS { Loosening::Event } else { Loosening::Command(name) })
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        let name = name.trim_end_matches('+');
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Whether a word is the name or the path of one of these programs.
fn is_one_of(word: &str, names: &[&str]) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
    names.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_loosen_a_guard_are_recognised() {
        for line in [
            "hookrail trust grant",
            "hookrail trust grant --yes",
            "hookrail --color never -v trust --project . grant --yes",
            "/usr/local/bin/hookrail trust revoke guard",
            "./target/debug/hookrail uninstall claude",
            "'hookrail' \"trust\" gr\\ant",
            "h\"ook\"rail trust grant",
            "hookrail disable guard",
            "hookrail enable guard",
            "hookrail plugin install ./evil",
            "hookrail reload",
            "hookrail bridge claude --event PostToolUse < made-up.json",
            "hookrail add no-force-push",
            "hookrail rules disable x",
            "cd /p && hookrail trust grant",
            "true; hookrail trust grant",
            "false || hookrail trust grant",
            "yes | hookrail trust grant",
            "hookrail trust grant </dev/tty >/dev/null 2>&1 &",
            "< /dev/null hookrail trust grant",
            "(hookrail trust grant)",
            "{ hookrail trust grant; }",
            "if true; then hookrail trust grant; fi",
            "echo $(hookrail trust grant)",
            "echo \"$(hookrail trust grant --yes)\"",
            "echo `hookrail trust grant`",
            "env hookrail trust grant",
            "env -i PATH=/bin hookrail trust grant",
            "sudo -u me hookrail trust grant",
            "nohup timeout 5 hookrail uninstall claude",
            "sh -c 'hookrail trust grant'",
            "bash -lc \"cd x && hookrail trust grant\"",
            "sudo sh -c 'env A=1 hookrail trust grant'",
            "eval 'hookrail trust grant'",
            "echo 'hookrail trust grant' | sh",
            "bash <<< 'hookrail trust grant'",
            "env -S 'hookrail trust grant'",
            "LANG=C hookrail trust grant",
            "xargs hookrail trust grant < names",
            "h=/usr/bin/hookrail; $h trust grant",
            "\"$(command -v hookrail)\" trust grant",
            "$(which hookrail) trust grant",
            "`command -v hookrail` trust grant --yes",
            "find . -exec hookrail trust grant ;",
            "watch -n 1 hookrail trust grant",
            "parallel hookrail trust grant ::: a",
            "HOOKRAIL_DISABLE=1 claude -p x",
            "A=1 HOOKRAIL_DISABLE=1 true",
            "HOOKRAIL_DISABLE=1",
            "export HOOKRAIL_DISABLE=1",
            "export A=1 HOOKRAIL_DISABLE",
            "declare -x HOOKRAIL_DISABLE=1",
            "env HOOKRAIL_DISABLE=1 claude",
            "sudo HOOKRAIL_DISABLE=1 claude",
            "sh -c 'HOOKRAIL_DISABLE=1 claude'",
            "HOOKRAIL_\"DISABLE\"=1 claude",
            "set -gx HOOKRAIL_DISABLE 1",
        ] {
            assert!(line_loosens(line).is_some(), "{line}");
        }
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert!(words_loosen(&words(&["bash", "-lc", "hookrail trust grant"])).is_some());
        assert!(words_loosen(&words(&["hookrail", "trust", "status"])).is_none());
    }

    #[test]
    fn other_lines_are_not() {
        for line in [
            "",
            "ls",
            "hookrail",
            "hookrail trust",
            "hookrail trust status --json",
            "hookrail trust diff",
            "hookrail list",
            "hookrail check",
            "hookrail fire BeforeTool --tool disable --tool-input '{}'",
            "hookrail test uninstall",
            "hookrail explain BeforeTool --tool enable",
            "hookrail plugin list",
            "hookrail add",
            "hookrail rules check",
            "hookrail install claude",
            "echo hookrail trust grant",
            "echo 'hookrail trust grant'",
            "git commit -m 'hookrail trust grant asks now'; bash build.sh",
            "grep -rn 'HOOKRAIL_DISABLE=1' docs",
            "grep HOOKRAIL_DISABLE src",
            "unset HOOKRAIL_DISABLE",
            "h=hookrail; $h trust status",
            "which hookrail; trust list",
            "command -v hookrail && make enable-all",
            "find . -name hookrail",
            "watch hookrail stats",
            "$EDITOR hookrail.toml",
            "env -u HOOKRAIL_DISABLE true",
            "cat hookrail.txt # hookrail trust grant",
            "cargo test -p hookrail reload",
            "npm run enable",
            "systemctl enable x",
            "ls trust grant hookrail",
        ] {
            assert_eq!(line_loosens(line), None, "{line}");
        }
    }

    #[test]
    fn lines_of_any_depth_and_length_are_read_in_bounds() {
        let nested = (0..3)
            .fold("hookrail trust grant".to_owned(), |line, _| format!("sh -c '{}'", line.replace('\'', "'\\''")));
        assert!(line_loosens(&nested).is_some(), "{nested}");
        for word in ["env ", "sh ", "hookrail ", "$(", "hookrail trust ", "export ", "'a b' "] {
            let _ = line_loosens(&format!("{} hookrail", word.repeat(20_000)));
        }
    }
}
