//! Splits Rust source into the words and marks that imports are made of. Comments and literals are left out.

/// A word or mark of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// The line that it is on, from one.
    pub(super) line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// An identifier or keyword.
    Word(String),
    /// `::`
    Separator,
    /// The content of a string literal. An attribute can name a file or a function in one.
    Text(String),
    /// A number, a character or a lifetime.
    Other,
    /// Any other character.
    Mark(char),
}

impl Token {
    pub(super) fn word(&self) -> Option<&str> {
        match &self.kind {
            TokenKind::Word(word) => Some(word),
            TokenKind::Separator | TokenKind::Text(_) | TokenKind::Other | TokenKind::Mark(_) => None,
        }
    }

    pub(super) fn is_mark(&self, mark: char) -> bool {
        self.kind == TokenKind::Mark(mark)
    }
}

/// The tokens of a source file.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    let mut scanner = Scanner { rest: source, line: 1 };
    let mut found = Vec::new();
    loop {
        scanner.skip_blanks_and_comments();
        let line = scanner.line;
        match scanner.next_token() {
            Some(kind) => found.push(Token { kind, line }),
            None => return found,
        }
    }
}

struct Scanner<'s> {
    rest: &'s str,
    line: usize,
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

impl<'s> Scanner<'s> {
    /// Takes this many bytes, which end at the boundary of a character.
    fn take(&mut self, length: usize) -> &'s str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'s str {
        self.take(self.rest.find(|character| !fits(character)).unwrap_or(self.rest.len()))
    }

    fn skip_blanks_and_comments(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest.starts_with("//") {
                self.take_while(|character| character != '\n');
            } else if self.rest.starts_with("/*") {
                self.skip_block_comment();
            } else {
                return;
            }
        }
    }

    /// Block comments nest.
    fn skip_block_comment(&mut self) {
        self.take(2);
        let mut depth = 1_usize;
        while depth > 0 && !self.rest.is_empty() {
            if self.rest.starts_with("/*") {
                self.take(2);
                depth += 1;
            } else if self.rest.starts_with("*/") {
                self.take(2);
                depth -= 1;
            } else {
                self.take_character();
            }
        }
    }

    fn take_character(&mut self) -> Option<char> {
        let character = self.rest.chars().next()?;
        self.take(character.len_utf8());
        Some(character)
    }

    fn next_token(&mut self) -> Option<TokenKind> {
        let first = self.rest.chars().next()?;
        if first.is_ascii_digit() {
            self.take_while(is_word_character);
            return Some(TokenKind::Other);
        }
        if is_word_character(first) {
            return Some(self.word_or_prefixed_literal());
        }
        if self.rest.starts_with("::") {
            self.take(2);
            return Some(TokenKind::Separator);
        }
        self.take_character();
        Some(match first {
            '"' => TokenKind::Text(self.string_content()),
            '\'' => self.character_or_lifetime(),
            mark => TokenKind::Mark(mark),
        })
    }

    /// A word, or the literal whose prefix it is: `b"…"`, `r#"…"#`, `b'…'`. `r#name` is the word `name`.
    fn word_or_prefixed_literal(&mut self) -> TokenKind {
        let word = self.take_while(is_word_character);
        let hashes = self.rest.chars().take_while(|character| *character == '#').count();
        let after_hashes = self.rest.get(hashes..).and_then(|rest| rest.chars().next());
        match (word, after_hashes) {
            ("r" | "br" | "cr", Some('"')) => {
                self.take(hashes + 1);
                TokenKind::Text(self.raw_string_content(hashes))
            }
            ("b" | "c", Some('"')) if hashes == 0 => {
                self.take(1);
                TokenKind::Text(self.string_content())
            }
            ("b", Some('\'')) if hashes == 0 => {
                self.take(1);
                self.character_or_lifetime()
            }
            ("r", Some(next)) if hashes == 1 && is_word_character(next) => {
                self.take(1);
                TokenKind::Word(self.take_while(is_word_character).to_owned())
            }
            (word, _) => TokenKind::Word(word.to_owned()),
        }
    }

    /// The rest of a string after its opening quote. Escapes stay as they are written.
    fn string_content(&mut self) -> String {
        let mut content = String::new();
        while let Some(character) = self.take_character() {
            match character {
                '"' => break,
                '\\' => {
                    content.push(character);
                    content.extend(self.take_character());
                }
                _ => content.push(character),
            }
        }
        content
    }

    fn raw_string_content(&mut self, hashes: usize) -> String {
        let end = format!("\"{}", "#".repeat(hashes));
        let length = self.rest.find(&end).unwrap_or(self.rest.len());
        let content = self.take(length).to_owned();
        self.take(end.len());
        content
    }

    /// What follows a single quote: the rest of a character, or the name of a lifetime.
    fn character_or_lifetime(&mut self) -> TokenKind {
        let mut next = self.rest.chars();
        match (next.next(), next.next()) {
            (Some('\\'), _) => {
                self.take(1);
                self.take_character();
                self.take_while(|character| character != '\'');
                self.take(1);
            }
            (Some(character), Some('\'')) => {
                self.take(character.len_utf8() + 1);
            }
            _ => {
                self.take_while(is_word_character);
            }
        }
        TokenKind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<String> {
        tokens(source).iter().filter_map(Token::word).map(str::to_owned).collect()
    }

    #[test]
    fn comments_strings_and_characters_hold_no_words() {
        let source = r##"
            // crate::a
            /* crate::b /* nested */ crate::c */ real /// doc
            "crate::d \" still" r"e\" r#"f " g"# b"h" br#"i"# 'j' '\'' '\u{6b}' b'l' after
        "##;
        assert_eq!(words(source), ["real", "after"]);
    }

    #[test]
    fn lifetimes_raw_words_and_numbers_do_not_swallow_what_follows() {
        assert_eq!(words("fn f<'a>(x: &'a r#type, y: [u8; 0x1f]) {}"), ["fn", "f", "x", "type", "y", "u8"]);
        assert_eq!(words("'outer: loop { break 'outer; } r"), ["loop", "break", "r"]);
    }

    #[test]
    fn a_token_knows_its_line() {
        let source = "a\n/* \n */ \"\n\" b";
        let lines: Vec<usize> = tokens(source).iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 3, 4]);
    }
}
