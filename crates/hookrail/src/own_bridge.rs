//! Recognises commands that call `hookrail bridge`.
//!
//! An agent calls the bridge as its hook, and the bridge fires events. If a settings file that hookrail reads holds such a
//! command, running it would ask the same hooks a second time, so the engine skips the entry. Only a command that does
//! nothing but call the bridge is recognised: skipping any other one could skip a guard.

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
    let words = plain_words(line)?;
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
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.trim().chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '\'' => break,
                        quoted => word.push(quoted),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '"' => break,
                        '\\' => word.push(characters.next()?),
                        '`' => return None,
                        quoted => word.push(quoted),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(characters.next().filter(|escaped| *escaped != '\n')?),
            ';' | '&' | '|' | '<' | '>' | '(' | ')' | '`' | '\n' | '\r' | '#' | '*' | '?' | '[' | '!' => return None,
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    // `$(…)` runs a program, inside of double quotes too.
    (!line.contains("$(")).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::bridge_program;

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
        ] {
            assert_eq!(bridge_program(line).as_deref(), Some(program), "{line}");
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
        ] {
            assert_eq!(bridge_program(line), None, "{line}");
        }
    }
}
