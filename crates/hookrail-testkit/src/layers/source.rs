//! Reads what the modules of a program or library declare, import and name. What is compiled for tests only is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::LayersError;
use super::tokens::{Token, TokenKind, tokens};

/// The names of a module from the root of its crate, such as `["run", "process"]`. The root has none.
pub(super) type ModulePath = Vec<String>;

/// One module, whether it has a file of its own or stands in braces.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) imports: Vec<Import>,
    /// Paths of at least two names outside of imports.
    pub(super) paths: Vec<NamedPath>,
    /// The items that it declares.
    pub(super) declared: BTreeSet<String>,
    /// Every word outside of imports.
    pub(super) words: BTreeSet<String>,
}

/// One name that a `use` brings.
#[derive(Debug)]
pub(super) struct Import {
    pub(super) named: NamedPath,
    /// The name that it has here; `*` for all names of a module.
    pub(super) name: String,
    /// Whether it has a visibility of its own, as in `pub use`.
    pub(super) is_passed_on: bool,
}

/// A path as it is written, and where.
#[derive(Clone, Debug)]
pub(super) struct NamedPath {
    pub(super) names: Vec<String>,
    pub(super) file: PathBuf,
    pub(super) line: usize,
}

/// The modules below one root file.
#[derive(Debug, Default)]
pub(super) struct ModuleTree {
    pub(super) modules: BTreeMap<ModulePath, Module>,
}

/// A `mod name;` whose file has to be found.
struct ModuleFile {
    module: ModulePath,
    /// What `#[path]` says.
    path: Option<String>,
}

impl ModuleTree {
    /// Reads the modules below a root file, whose modules have their files in `folder`.
    pub(super) fn read(root: &Path, folder: &Path) -> Result<Self, LayersError> {
        let mut tree = Self::default();
        tree.modules.insert(ModulePath::new(), Module::default());
        tree.read_file(root, &ModulePath::new(), folder)?;
        Ok(tree)
    }

    fn read_file(&mut self, file: &Path, module: &ModulePath, folder: &Path) -> Result<(), LayersError> {
        let source = fs::read_to_string(file).map_err(|error| LayersError::Unreadable(file.to_owned(), error))?;
        let tokens = tokens(&source);
        let mut reader = FileReader { file, tokens: &tokens, at: 0, tree: self, files: Vec::new() };
        reader.read(module);
        for child in reader.files {
            let own_folder =
                child.module.iter().skip(module.len()).fold(folder.to_owned(), |path, name| path.join(name));
            let candidates = match &child.path {
                Some(path) => vec![file.with_file_name(path)],
                None => vec![own_folder.with_extension("rs"), own_folder.join("mod.rs")],
            };
            let Some(found) = candidates.iter().find(|candidate| candidate.is_file()) else {
                return Err(LayersError::NoFile { file: file.to_owned(), module: child.module.join("::") });
            };
            self.read_file(found, &child.module, &own_folder)?;
        }
        Ok(())
    }
}

struct FileReader<'r> {
    file: &'r Path,
    tokens: &'r [Token],
    at: usize,
    tree: &'r mut ModuleTree,
    files: Vec<ModuleFile>,
}

/// Words that are followed by the name of an item.
const ITEM_WORDS: [&str; 9] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "mod"];

/// Items that end with a semicolon and never with a brace.
const STATEMENT_WORDS: [&str; 5] = ["use", "const", "static", "type", "let"];

/// Other words that an item can begin with.
const OTHER_ITEM_WORDS: [&str; 5] = ["impl", "unsafe", "async", "extern", "macro_rules"];

impl FileReader<'_> {
    fn token(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead)
    }

    fn word(&self, ahead: usize) -> Option<&str> {
        self.token(ahead).and_then(Token::word)
    }

    fn is_mark(&self, ahead: usize, mark: char) -> bool {
        self.token(ahead).is_some_and(|token| token.is_mark(mark))
    }

    fn is_separator(&self, ahead: usize) -> bool {
        self.token(ahead).is_some_and(|token| token.kind == TokenKind::Separator)
    }

    /// Reads the whole file as the content of a module.
    fn read(&mut self, module: &ModulePath) {
        // The module that the tokens belong to, and how many open braces there were when it began.
        let mut scopes: Vec<(ModulePath, usize)> = vec![(module.clone(), 0)];
        let mut depth = 0_usize;
        let mut file_of_next_module = None;
        while let (Some(token), Some((scope, scope_depth))) = (self.token(0), scopes.last().cloned()) {
            match &token.kind {
                TokenKind::Mark('#') => match self.attribute(&scope) {
                    AttributeKind::TestFile => return,
                    AttributeKind::TestItem => self.skip_item(),
                    AttributeKind::FileOfModule(path) => file_of_next_module = Some(path),
                    AttributeKind::Other => {}
                },
                TokenKind::Mark('{') => {
                    depth += 1;
                    self.at += 1;
                }
                TokenKind::Mark('}') => {
                    depth = depth.saturating_sub(1);
                    if depth == scope_depth && scopes.len() > 1 {
                        scopes.pop();
                    }
                    self.at += 1;
                }
                TokenKind::Word(word) if word == "use" && !self.is_mark(1, '<') => self.import(&scope),
                TokenKind::Word(word) if word == "mod" && self.word(1).is_some() => {
                    let child: ModulePath = scope.iter().cloned().chain(self.word(1).map(str::to_owned)).collect();
                    let path = file_of_next_module.take();
                    let (is_file, is_inline) = (self.is_mark(2, ';'), self.is_mark(2, '{'));
                    self.at += 2;
                    if is_file || is_inline {
                        self.tree.modules.entry(child.clone()).or_default();
                    }
                    if is_file {
                        self.files.push(ModuleFile { module: child, path });
                    } else if is_inline {
                        scopes.push((child, depth));
                    }
                }
                TokenKind::Word(_) => self.words(&scope, depth == scope_depth),
                TokenKind::Separator | TokenKind::Text(_) | TokenKind::Other | TokenKind::Mark(_) => self.at += 1,
            }
        }
    }

    /// Records a word, the item that it declares, or the path that begins with it.
    fn words(&mut self, scope: &ModulePath, is_item: bool) {
        let line = self.token(0).map_or(0, |token| token.line);
        // `::name` and what follows a type in angle brackets lead out of the crate or into a type.
        let continues = self.at.checked_sub(1).and_then(|before| self.tokens.get(before));
        let continues = continues.is_some_and(|token| token.kind == TokenKind::Separator);
        let mut names: Vec<String> = self.word(0).map(str::to_owned).into_iter().collect();
        self.at += 1;
        while self.is_separator(0) {
            let Some(name) = self.word(1) else { break };
            names.push(name.to_owned());
            self.at += 2;
        }
        let declared = match names.as_slice() {
            [word] if word == "macro_rules" => self.word(1).map(str::to_owned),
            [word] if ITEM_WORDS.contains(&word.as_str()) => self.word(0).map(str::to_owned),
            _ => None,
        };
        let module = self.tree.modules.entry(scope.clone()).or_default();
        module.declared.extend(declared.filter(|_| is_item));
        module.words.extend(names.iter().cloned());
        if names.len() > 1 && !continues {
            module.paths.push(NamedPath { names, file: self.file.to_owned(), line });
        }
    }

    /// Reads `use …;`, with braces in braces.
    fn import(&mut self, scope: &ModulePath) {
        let before = self.tokens.get(..self.at).unwrap_or_default();
        let is_passed_on = match before.iter().rposition(|token| token.word() == Some("pub")) {
            // `pub`, or `pub` with a place in parentheses, and nothing else.
            Some(at) => match before.get(at + 1..).unwrap_or_default() {
                [] => true,
                [open, inside @ .., close] => {
                    open.is_mark('(') && close.is_mark(')') && !inside.iter().any(|token| token.is_mark(')'))
                }
                [_] => false,
            },
            None => false,
        };
        self.at += 1;
        let mut found = Vec::new();
        self.import_tree(&[], &mut found);
        let module = self.tree.modules.entry(scope.clone()).or_default();
        module.imports.extend(found.into_iter().map(|(named, name)| Import { named, name, is_passed_on }));
    }

    /// Reads one part of a list in braces, or the whole import, up to the `,`, `}` or `;` after it.
    fn import_tree(&mut self, before: &[String], found: &mut Vec<(NamedPath, String)>) {
        let mut names = before.to_vec();
        let mut renamed = None;
        let mut line = self.token(0).map_or(0, |token| token.line);
        if self.is_separator(0) && before.is_empty() {
            // `::name` is another crate's. No module has an empty name.
            names.push(String::new());
        }
        while let Some(token) = self.token(0) {
            match &token.kind {
                TokenKind::Mark('{') => {
                    self.at += 1;
                    while !self.is_mark(0, '}') && self.token(0).is_some() {
                        self.import_tree(&names, found);
                        if self.is_mark(0, ',') {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                TokenKind::Mark(',' | '}' | ';') => break,
                TokenKind::Mark('*') => names.push("*".to_owned()),
                TokenKind::Word(word) if word == "as" => {
                    renamed = self.word(1).map(str::to_owned);
                    self.at += 1;
                }
                TokenKind::Word(word) => {
                    line = token.line;
                    names.push(word.clone());
                }
                TokenKind::Separator | TokenKind::Text(_) | TokenKind::Other | TokenKind::Mark(_) => {}
            }
            self.at += 1;
        }
        if names.len() > 1 && names.last().is_some_and(|name| name == "self") {
            names.pop();
        }
        if let Some(last) = names.last() {
            let name = renamed.unwrap_or_else(|| last.clone());
            found.push((NamedPath { names, file: self.file.to_owned(), line }, name));
        }
    }

    /// Reads an attribute, and the functions that it names in texts, as Serde's do. The next token is the first of the item
    /// if that is for tests, else the first inside the attribute, whose paths are read as any others.
    fn attribute(&mut self, scope: &ModulePath) -> AttributeKind {
        let is_inner = self.is_mark(1, '!');
        self.at += if is_inner { 2 } else { 1 };
        let begin = self.at;
        self.skip_group();
        let inside = self.tokens.get(begin..self.at).unwrap_or_default();
        for token in inside {
            let TokenKind::Text(text) = &token.kind else { continue };
            let names: Vec<String> = text.split("::").map(str::to_owned).collect();
            let is_path = matches!(names.first().map(String::as_str), Some("crate" | "super" | "self"));
            if is_path && names.len() > 1 {
                let module = self.tree.modules.entry(scope.clone()).or_default();
                module.paths.push(NamedPath { names, file: self.file.to_owned(), line: token.line });
            }
        }
        let words: Vec<&str> = inside.iter().filter_map(Token::word).collect();
        let is_for_tests = match words.as_slice() {
            ["cfg", "test"] | ["cfg", "all", "test", ..] => true,
            ["cfg", "all", conditions @ ..] => {
                conditions.contains(&"test") && !conditions.iter().any(|word| ["not", "any"].contains(word))
            }
            _ => false,
        };
        if is_for_tests {
            return if is_inner { AttributeKind::TestFile } else { AttributeKind::TestItem };
        }
        self.at = begin;
        match (words.as_slice(), inside) {
            (["path"], [.., Token { kind: TokenKind::Text(path), .. }, _]) => AttributeKind::FileOfModule(path.clone()),
            _ => AttributeKind::Other,
        }
    }

    /// Skips what is in parentheses, brackets or braces that begin here.
    fn skip_group(&mut self) {
        let mut depth = 0_usize;
        while let Some(token) = self.token(0) {
            match token.kind {
                TokenKind::Mark('(' | '[' | '{') => depth += 1,
                TokenKind::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
                TokenKind::Mark(_)
                | TokenKind::Word(_)
                | TokenKind::Separator
                | TokenKind::Text(_)
                | TokenKind::Other => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Skips the item, field, variant or arm that begins here, with its other attributes.
    fn skip_item(&mut self) {
        while self.is_mark(0, '#') {
            self.at += 1;
            self.skip_group();
        }
        if self.word(0) == Some("pub") {
            self.at += 1;
            if self.is_mark(0, '(') {
                self.skip_group();
            }
        }
        // `const fn` is a function.
        let is_statement =
            self.word(0).is_some_and(|word| STATEMENT_WORDS.contains(&word)) && self.word(1) != Some("fn");
        let is_item = self.word(0).is_some_and(|word| ITEM_WORDS.contains(&word) || OTHER_ITEM_WORDS.contains(&word));
        while let Some(token) = self.token(0) {
            match token.kind {
                TokenKind::Mark(';') => {
                    self.at += 1;
                    return;
                }
                TokenKind::Mark(',') if !is_item && !is_statement => {
                    self.at += 1;
                    return;
                }
                TokenKind::Mark('{') => {
                    self.skip_group();
                    if !is_statement {
                        return;
                    }
                }
                TokenKind::Mark('(' | '[') => self.skip_group(),
                // The end of what encloses the item.
                TokenKind::Mark(')' | ']' | '}') => return,
                TokenKind::Mark(_)
                | TokenKind::Word(_)
                | TokenKind::Separator
                | TokenKind::Text(_)
                | TokenKind::Other => self.at += 1,
            }
        }
    }
}

/// What an attribute means for the dependencies of its module.
enum AttributeKind {
    /// The whole file is for tests.
    TestFile,
    /// The item that follows is for tests.
    TestItem,
    /// The module that follows is in this file.
    FileOfModule(String),
    Other,
}
