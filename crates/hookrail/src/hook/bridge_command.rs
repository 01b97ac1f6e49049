//! Recognises commands that call `hookrail bridge`.
//!
//! An agent calls the bridge as its hook, and the bridge fires events. If a settings file that hookrail reads holds such a
//! command, running it would ask the same hooks a second time, so the engine skips the entry. Only a command that does
//! nothing but call the bridge is recognised: skipping any other one could skip a guard.

use hookrail_shell::{Piece, PieceKind, Quotes, command_words};

/// What a shell runs around a call so that its failure denies: agents take status 2 for a denial, and any other failure for a
/// permission. Between the two parts is a sentence for standard error, which a call that denied itself does not print.
const FALLBACK_BEGIN: &str = r#""$@" || { [ $? -eq 2 ] || echo "#;
const FALLBACK_END: &str = " >&2; exit 2; }";

/// What follows in the agent's own shell, which may be any: the shell above may not start.
const LAST_RESORT: &str = " || exit 2";

/// Returns the command line that runs a call of the bridge and ends with status 2 whenever the call fails. If the call did not deny
/// itself, the sentence is printed on standard error. Characters of it that mean something to a shell are left out.
///
/// ```
/// use hookrail::hook::{bridge_program, denying_on_failure};
///
/// let line = denying_on_failure("/opt/hookrail bridge claude", "it failed");
/// assert!(line.ends_with("hookrail /opt/hookrail bridge claude || exit 2"));
/// assert_eq!(bridge_program(&line).as_deref(), Some("/opt/hookrail"));
/// ```
#[must_use]
pub fn denying_on_failure(call: &str, sentence: &str) -> String {
    let sentence: String = sentence.chars().filter(|character| is_plain(*character)).collect();
    // The call is given as arguments, so that its quotes are those of one shell.
    format!("/bin/sh -c '{FALLBACK_BEGIN}{sentence}{FALLBACK_END}' hookrail {call}{LAST_RESORT}")
}

/// Returns whether a command line ends with status 2 whenever its call of the bridge fails.
#[must_use]
pub fn denies_on_failure(line: &str) -> bool {
    line.trim_end().ends_with(LAST_RESORT)
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || " .,:-".contains(character)
}

/// Returns the words of a command line that may be a call of the bridge: as [`plain_words`] does, without what is around a call
/// that denies on failure.
#[must_use]
pub fn bridge_words(line: &str) -> Option<Vec<String>> {
    let line = line.trim_end();
    let mut words = plain_words(line.strip_suffix(LAST_RESORT).unwrap_or(line))?;
    let is_fallback = |script: &str| {
        let sentence = script.strip_prefix(FALLBACK_BEGIN).and_then(|rest| rest.strip_suffix(FALLBACK_END));
        sentence.is_some_and(|sentence| sentence.chars().all(is_plain))
    };
    if let [shell, option, script, _, ..] = words.as_slice()
        && shell == "/bin/sh"
        && option == "-c"
        && is_fallback(script)
    {
        words.drain(..4);
    }
    Some(words)
}

/// Returns the program of a command line that calls the bridge and does nothing else.
///
/// ```
/// use hookrail::hook::bridge_program;
///
/// assert_eq!(bridge_program("'/opt/my tools/hookrail' bridge claude").as_deref(), Some("/opt/my tools/hookrail"));
/// assert_eq!(bridge_program("hookrail bridge claude; ./guard.sh"), None);
/// ```
#[must_use]
pub fn bridge_program(line: &str) -> Option<String> {
    let words = bridge_words(line)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    program_of(&words).map(str::to_owned)
}

/// Returns the program and the arguments of a command line that starts one program and does nothing else: what a shell makes
/// of the line by taking quotes away. References to variables stay as they are written.
///
/// ```
/// use hookrail::hook::plain_words;
///
/// assert_eq!(plain_words("LANG=C exec 'my guard' --all").unwrap_or_default(), ["my guard", "--all"]);
/// assert_eq!(plain_words("one | two"), None);
/// ```
#[must_use]
pub fn plain_words(line: &str) -> Option<Vec<String>> {
    let words = shell_words(line)?.into_iter();
    Some(words.skip_while(|word| is_prefix(word)).collect())
}

/// Returns the program of a list of words that calls the bridge.
pub(crate) fn program_of<'w>(words: &[&'w str]) -> Option<&'w str> {
    let (program, rest) = words.split_first()?;
    let (command, arguments) = rest.split_first()?;
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_own = matches!(name, "hookrail" | "hookrail.exe") && *command == "bridge";
    (is_own && arguments.first().is_some_and(|agent| !agent.is_empty())).then_some(program)
}

/// Whether a word stands before a program without changing which one is run.
fn is_prefix(word: &str) -> bool {
    let is_name = |name: &str| {
        let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        starts_well && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    matches!(word, "exec" | "env" | "command") || word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// The words of a line in which a shell does nothing but take quotes away and fill variables in. References to variables
/// stay as they are written.
fn shell_words(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    let words = command_words(line).ok()?;
    words.iter().map(|word| word.pieces.iter().map(|piece| without_quotes(piece, line)).collect()).collect()
}

fn without_quotes<'l>(piece: &'l Piece, line: &'l str) -> Option<&'l str> {
    let written = line.get(piece.span.range())?;
    match &piece.kind {
        // Not every shell decodes `$'…'`.
        PieceKind::Text(_) if piece.quotes == Quotes::AnsiC => None,
        PieceKind::Text(_) if piece.quotes == Quotes::None && written.contains(['#', '[', '!']) => None,
        PieceKind::Text(text) => Some(text),
        PieceKind::Parameter(parameter) if parameter.is_plain() => Some(written),
        PieceKind::Tilde(_) | PieceKind::Brace(_) | PieceKind::Sequence(_) => Some(written),
        PieceKind::Parameter(_)
        | PieceKind::Command(_)
        | PieceKind::Process { .. }
        | PieceKind::Arithmetic(_)
        | PieceKind::Glob(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{bridge_program, denies_on_failure, denying_on_failure};

    #[test]
    fn a_call_of_the_bridge_is_recognised_however_it_is_quoted() {
        for (line, program) in [
            ("hookrail bridge claude", "hookrail"),
            ("/a/hookrail bridge claude --event Stop --deadline 48000", "/a/hookrail"),
            ("  '/a b/hookrail' bridge pi ", "/a b/hookrail"),
            ("'/it'\\''s/hookrail' bridge pi", "/it's/hookrail"),
            ("\"/a b/hookrail\" bridge pi", "/a b/hookrail"),
            ("\"$HOME/.cargo/bin/hookrail\" bridge pi", "$HOME/.cargo/bin/hookrail"),
            ("~/bin/hookrail bridge codex", "~/bin/hookrail"),
            ("/home/k\u{e4}the/hookrail bridge codex", "/home/k\u{e4}the/hookrail"),
            ("LANG=C exec hookrail bridge gemini", "hookrail"),
            ("C:/tools/hookrail.exe bridge qwen", "C:/tools/hookrail.exe"),
            ("/bin/hookrail bridge pi || exit 2", "/bin/hookrail"),
        ] {
            assert_eq!(bridge_program(line).as_deref(), Some(program), "{line}");
            // Arguments of a shell begin with the program.
            if line.starts_with("LANG") {
                continue;
            }
            let denying = denying_on_failure(line.trim_end_matches(" || exit 2"), "it's `bad`: hookrail uninstall pi");
            assert_eq!(bridge_program(&denying).as_deref(), Some(program), "{denying}");
            assert!(denies_on_failure(&denying) && denying.contains("echo its bad: hookrail uninstall pi >&2"));
        }
    }

    #[test]
    fn a_command_that_does_anything_else_is_not() {
        for line in [
            "",
            "hookrail",
            "hookrail bridge",
            "hookrail bridge ''",
            "hookrail fire bridge",
            "hookrails bridge x",
            "echo hookrail bridge x",
            "hookrail bridge x; ./guard.sh",
            "./guard.sh && hookrail bridge x",
            "./guard.sh;/bin/hookrail bridge x",
            "hookrail bridge x | tee log",
            "hookrail bridge $(./guard.sh)",
            "hookrail bridge \"$(./guard.sh)\"",
            "hookrail bridge `./guard.sh`",
            "hookrail bridge x\n./guard.sh",
            "hookrail bridge 'x",
            "sh -c 'hookrail bridge x'",
            "hookrail bridge x || ./guard.sh || exit 2",
            "./guard.sh || hookrail bridge x || exit 2",
            "hookrail bridge x || exit 2; ./guard.sh",
            "/bin/sh -c './guard.sh' hookrail hookrail bridge x || exit 2",
            r#"/bin/sh -c '"$@" || { [ $? -eq 2 ] || echo $(./guard.sh) >&2; exit 2; }' hookrail hookrail bridge x || exit 2"#,
            r#"/bin/sh -c '"$@" || { [ $? -eq 2 ] || echo x; ./guard.sh >&2; exit 2; }' hookrail hookrail bridge x"#,
        ] {
            assert_eq!(bridge_program(line), None, "{line}");
        }
    }
}
