//! Command lines that mean the same with and without a shell: a program and its words, and nothing a shell would do.
//!
//! This code is pure. A line that shells could read in different ways is not plain, and is given to the shell.

use crate::hook::variables::is_word_of;

/// Longer lines are given to the shell.
const LONGEST: usize = 4096;

/// What a shell understands itself at the beginning of a command.
const RESERVED: &str = "
    case coproc do done elif else esac fi for function if in select then time until while
";

/// What bash or dash execute without starting a program.
const BUILTINS: &str = "
    . : [ alias bg bind break builtin caller cd chdir command compgen complete compopt continue declare dirs
    disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout
    mapfile newgrp popd print printf pushd pwd read readarray readonly return set shift shopt sleep source suspend
    test times trap true type typeset ulimit umask unalias unset wait whence
";

/// A plain command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlainCommand {
    /// The program as it is written: a path, or a name to be looked for.
    pub(super) program: String,
    /// The words after it.
    pub(super) arguments: Vec<String>,
}

impl PlainCommand {
    /// Whether the program is looked for on the search path.
    pub(super) fn is_bare_name(&self) -> bool {
        !self.program.contains('/')
    }
}

/// Parses a command line, if nothing in it needs a shell.
///
/// In double quotes, references to `variables` are replaced: they are part of the environment, so a shell would find
/// the same values there, and in quotes it does not look at them again.
pub(super) fn plain(line: &str, variables: &[(String, String)]) -> Option<PlainCommand> {
    if line.len() > LONGEST {
        return None;
    }
    let mut words = Words { rest: line, variables }.collect::<Option<Vec<String>>>()?.into_iter();
    let program = words.next()?;
    // An assignment, a job, an option of the shell, a comment: none of them is the name of a program.
    let starts_well = program.starts_with(|first: char| first.is_ascii_alphanumeric() || "./_".contains(first));
    let is_the_shells = is_word_of(RESERVED, &program) || is_word_of(BUILTINS, &program);
    if !starts_well || program.contains('=') || is_the_shells {
        return None;
    }
    Some(PlainCommand { program, arguments: words.collect() })
}

/// The words of a line; `None` in place of a word means that the line is not plain.
struct Words<'l> {
    rest: &'l str,
    variables: &'l [(String, String)],
}

impl Iterator for Words<'_> {
    type Item = Option<String>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        if self.rest.is_empty() { None } else { Some(self.word()) }
    }
}

impl Words<'_> {
    /// One word: plain and quoted pieces without a blank between them.
    fn word(&mut self) -> Option<String> {
        let mut word = String::new();
        while let Some(first) = self.rest.chars().next() {
            match first {
                ' ' | '\t' => break,
                quote @ ('\'' | '"') => {
                    let (text, rest) = self.rest.get(1..)?.split_once(quote)?;
                    // Some shells use these characters as internal markers, and not all of them escape them correctly.
                    if !text.chars().all(|character| matches!(character, ' '..='~')) {
                        return None;
                    }
                    match quote {
                        '"' => self.expand(text, &mut word)?,
                        _ => word.push_str(text),
                    }
                    self.rest = rest;
                }
                plain if is_plain(plain) => {
                    word.push(plain);
                    self.rest = self.rest.get(1..)?;
                }
                _ => return None,
            }
        }
        Some(word)
    }

    /// Adds a text in double quotes, with the values of the variables that are known.
    fn expand(&self, mut text: &str, word: &mut String) -> Option<()> {
        if text.contains(['`', '\\', '!']) {
            return None;
        }
        while let Some((before, reference)) = text.split_once('$') {
            word.push_str(before);
            let (name, after) = match reference.strip_prefix('{') {
                Some(braced) => braced.split_once('}')?,
                None => {
                    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
                    let end = reference.find(|character| !is_name(character)).unwrap_or(reference.len());
                    reference.split_at_checked(end)?
                }
            };
            let (_, value) = self.variables.iter().find(|(known, _)| known == name)?;
            if !value.chars().all(|character| matches!(character, ' '..='~')) {
                return None;
            }
            word.push_str(value);
            text = after;
        }
        word.push_str(text);
        Some(())
    }
}

/// Characters that no shell gives a meaning to, wherever they stand in a word.
fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_@%+:,./-=".contains(character)
}

#[cfg(test)]
mod tests {
    use super::plain;

    fn words(line: &str) -> Option<Vec<String>> {
        let variables = [("DIR".to_owned(), "/a b/$x".to_owned()), ("ODD".to_owned(), "\u{e9}".to_owned())];
        plain(line, &variables).map(|plain| std::iter::once(plain.program).chain(plain.arguments).collect())
    }

    #[test]
    fn a_program_and_its_words_are_plain() {
        for (line, expected) in [
            ("./guard.sh", vec!["./guard.sh"]),
            ("  python3 \t guard.py --level=2 ", vec!["python3", "guard.py", "--level=2"]),
            ("x 'a  b' '' \"c d\"", vec!["x", "a  b", "", "c d"]),
            ("x --name='a b'\"c\" %1 @ a:b", vec!["x", "--name=a bc", "%1", "@", "a:b"]),
            ("x '$HOME' '`ls`' '*' '\\' '~' '!' '#'", vec!["x", "$HOME", "`ls`", "*", "\\", "~", "!", "#"]),
            ("sh \"$DIR/x.sh\" \"${DIR}y\"", vec!["sh", "/a b/$x/x.sh", "/a b/$xy"]),
            ("'./a b.sh'", vec!["./a b.sh"]),
        ] {
            assert_eq!(words(line).unwrap(), expected, "{line}");
        }
    }

    #[test]
    fn whatever_a_shell_would_do_is_left_to_it() {
        let lines = [
            "",
            " ",
            "''",
            "a|b",
            "a&b",
            "a;b",
            "a<b",
            "a>b",
            "(a)",
            "$a",
            "a $b",
            "`a`",
            "a \\b",
            "a *",
            "a ?",
            "a [b]",
            "a {b,c}",
            "!a",
            "a !",
            "a ^b",
            "a\nb",
            "a\n",
            "a\r",
            "# a",
            "a # b",
            "~/a",
            "a ~/b",
            "A=1",
            "A=1 b",
            "A+=1 b",
            "'A'=1 b",
            "'A=1' b",
            "a 'b",
            "a \"b",
            "a \"$HOME\"",
            "a \"${DIR:-x}\"",
            "a \"$DIRx\"",
            "a \"`b`\"",
            "a \"\\b\"",
            "a \"!b\"",
            "a \"$\"",
            "a \"$(b)\"",
            "a $DIR",
            "a \"$ODD\"",
            "a \u{e9}",
            "a '\u{e9}'",
            "a '\u{7f}'",
            "a '\t'",
            "time a",
            "'time' a",
            "if",
            "echo a",
            "exec a",
            ". a",
            "[ a",
            "-a",
            "+a",
            "%a",
            "@a",
            ",a",
            ":",
            "=a",
            "\u{b}a",
            "a\u{a0}b",
            "a '\n'",
        ];
        for line in lines {
            assert_eq!(words(line), None, "{line:?}");
        }
        assert_eq!(words(&format!("a {}", "b".repeat(5000))), None);
    }
}
