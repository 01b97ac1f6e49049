//! Reading a command far enough to know which files of the project it runs, and whether these are all.
//!
//! Two questions are answered in two ways. *Which files does it name?* is answered generously: every word that leads to
//! a file is one, because covering a file too many is harmless. *Are these all?* is answered strictly: a command is
//! closed only if it is understood completely, and everything else is open-ended. A list of what makes a command
//! open-ended would always miss something: of 35 ways to run a file that is not named, such a list missed 19.

use std::cell::{LazyCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use hookrail_shell::{Comments, Piece, PieceKind, Quotes, loose_words, words};
use hookrail_spawn::real_path;

use super::interpreter::{Interpreter, Isolation, leads_through};
use super::node_imports::load_from_elsewhere;
use super::program_file::ProgramFile;
use super::siblings::importable_files;
use super::sourced::reads_in_others;
use crate::config::without_dots;
use crate::dialect_id::DialectId;
use crate::hook::CommandText;
use crate::hook::search_path::{DEFAULT_SEARCH_PATH, ProjectFolders};
use crate::text::invisible_chars::is_hidden;

/// Variables that mean the directory in which a command runs.
const WORKING_DIRECTORY: [&str; 2] = ["PWD", "cwd"];

/// A command, with the variables and the search path that its words are resolved with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) text: CommandText,
    /// Variables whose values are folders.
    pub(crate) folders: Arc<[(String, PathBuf)]>,
    /// Where programs are looked for.
    pub(crate) search_path: Option<OsString>,
    /// The user's home directory.
    pub(crate) home: Option<PathBuf>,
}

/// Why the files that a command names may not be all that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum UncoveredReason {
    /// Only a shell can say what the line does: it has operators, expansions, assignments or escapes.
    #[error("only a shell can tell what it runs")]
    NeedsShell,
    /// It contains an invisible character, or one that looks like a space and is none.
    #[error("it contains a character that cannot be seen")]
    HiddenCharacter,
    /// Its program is neither a file of the project nor a known interpreter with a script.
    #[error("its program can run files that it does not name")]
    UnknownProgram,
    /// Its program cannot be found, or lies in the project without being named.
    #[error("its program is not found, or lies in the project and is not named")]
    ProgramNotCovered,
    /// The interpreter has an option that can make it run something else.
    #[error("an option of its interpreter can make it run something else")]
    InterpreterOption,
    /// The interpreter is given no script, or one that is no file of the project.
    #[error("its interpreter is given no script of the project")]
    NoScript,
    /// The first line of its program names an interpreter that is not known, or one of the project that is not covered.
    #[error("the first line of its program names an interpreter that is not known")]
    UnknownShebang,
    /// Its interpreter also runs files beside the script, and the script lies in no folder for hooks.
    #[error("its interpreter imports files beside the script, which lies in no hook folder")]
    ImportsFromProject,
    /// Its script loads packages or files that lie in the project and not in the script's folder.
    #[error("its script loads packages or files from outside of its folder")]
    ImportsFromElsewhere,
    /// Its shell script reads in another one.
    #[error("its script reads in other scripts with `.` or `source`")]
    ReadsInScripts,
    /// Its interpreter is reached through a link of the project, as in a virtual environment, and loads files from there.
    #[error("its interpreter is reached through the project, and can load files from there")]
    InterpreterOfProject,
    /// Its program is one of the project that loads libraries, which can lie in the project too.
    #[error("its program loads libraries when it starts")]
    LoadsLibraries,
}

/// A file that a command names or, for some interpreters, can import.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ResolvedFile {
    /// The path as the command means it.
    pub(crate) path: PathBuf,
    /// Where that leads.
    pub(crate) real: PathBuf,
}

/// The files of a command.
#[derive(Debug)]
pub(crate) struct CommandFiles {
    /// Every file, sorted.
    pub(crate) found: Vec<ResolvedFile>,
    /// Files outside of the project that the command names, sorted.
    pub(crate) outside: Vec<ResolvedFile>,
    /// Whether none was left out because there are too many.
    pub(crate) complete: bool,
    /// Why the command may run others, as far as its words and its program tell.
    pub(crate) open_end: Option<UncoveredReason>,
}

impl CommandFiles {
    /// These files and no others.
    pub(crate) fn new(found: Vec<ResolvedFile>, complete: bool) -> Self {
        Self { found, outside: Vec::new(), complete, open_end: None }
    }
}

impl ResolvedFile {
    /// Whether it lies in the project, by its path or behind a link.
    fn is_inside(&self, root: &Path) -> bool {
        without_dots(&self.path).starts_with(root) || self.real.starts_with(root)
    }

    /// What a file outside of the project is known by: where it leads. Links such as `python3` lead elsewhere after every
    /// update of the system, so an interpreter is known by its name.
    pub(crate) fn known_by(&self) -> &OsStr {
        Interpreter::of_both_names(self).map_or(self.real.as_os_str(), |interpreter| interpreter.name().as_ref())
    }
}

impl Command {
    /// The length of its text in bytes.
    pub(crate) fn length(&self) -> usize {
        match &self.text {
            CommandText::Line(line) => line.len(),
            CommandText::Words(words) => words.iter().map(String::len).sum(),
        }
    }

    /// The files that the command names when it is started in `cwd`: those inside the project, by their path or behind a
    /// link, with what its interpreter can import, and those outside.
    pub(crate) fn files(&self, root: &Path, cwd: &Path) -> CommandFiles {
        let words = self.possible_words();
        let lookup = FileLookup::new(self, cwd);
        let named: BTreeSet<ResolvedFile> = words.iter().filter_map(|word| lookup.file(word)).collect();
        let (mut found, outside): (BTreeSet<_>, BTreeSet<_>) = named.into_iter().partition(|file| file.is_inside(root));
        let mut complete = true;
        let closed = self.closed(root, &lookup);
        if let Ok(Some((interpreter, folder))) = &closed {
            let siblings = importable_files(folder, *interpreter);
            complete = siblings.complete;
            found.extend(siblings.paths.into_iter().filter_map(file_at));
        }
        let (found, outside) = (found.into_iter().collect(), outside.into_iter().collect());
        CommandFiles { found, outside, complete, open_end: closed.err() }
    }

    /// Every regular file that the command names, inside of a project or not.
    pub(crate) fn files_anywhere(&self, cwd: &Path) -> Vec<PathBuf> {
        let lookup = FileLookup::new(self, cwd);
        let meant = |word: &String| Some(lookup.file(word)?.path);
        let found: BTreeSet<PathBuf> = self.possible_words().iter().filter_map(meant).collect();
        found.into_iter().collect()
    }

    /// Why the command may run more of the project than it names; nothing if it is closed.
    pub(crate) fn open_end(&self, root: &Path) -> Option<UncoveredReason> {
        match self.closed(root, &FileLookup::new(self, root)) {
            Err(why) => Some(why),
            Ok(Some((interpreter, folder))) => {
                let files = self.files(root, root).found;
                // A compiled library names the folders of further libraries itself.
                let leads_out = files.iter().any(|file| is_library(&file.path))
                    || interpreter == Interpreter::Node && load_from_elsewhere(root, &folder, &files);
                leads_out.then_some(UncoveredReason::ImportsFromElsewhere)
            }
            Ok(None) => {
                let files = self.files(root, root).found;
                files.iter().any(|file| reads_in_others(root, &file.real)).then_some(UncoveredReason::ReadsInScripts)
            }
        }
    }

    /// The path of its program, if the command names one by its path.
    pub(crate) fn program_path(&self, cwd: &Path) -> Option<PathBuf> {
        let program = match &self.text {
            CommandText::Line(line) => plain_words(line, &self.folders).ok()?.into_iter().next()?,
            CommandText::Words(words) => words.first()?.clone(),
        };
        program.contains('/').then(|| self.meant_path(cwd, &program))
    }

    /// The path that a word means, as it is written.
    fn meant_path(&self, cwd: &Path, word: &str) -> PathBuf {
        if !word.contains(['$', '~']) {
            return cwd.join(word);
        }
        let mut text = word.to_owned();
        // `~` is a folder only where a shell expands it, which the caller says by naming it.
        if let Some((rest, (_, home))) = word.strip_prefix("~/").zip(self.folders.iter().find(|(name, _)| name == "~"))
        {
            return home.join(rest);
        }
        for (name, folder) in self.folders.iter() {
            // The project's variables always mean the project; these two mean the directory in which the hook runs.
            let folder = if WORKING_DIRECTORY.contains(&name.as_str()) { cwd } else { folder };
            for reference in [format!("${{{name}}}"), format!("${name}")] {
                if let Some(rest) = text.strip_prefix(&reference) {
                    text = format!("{}{rest}", folder.display());
                }
            }
        }
        cwd.join(text.replace("${sep}", std::path::MAIN_SEPARATOR_STR))
    }

    /// Every part of the command that could be a path.
    fn possible_words(&self) -> BTreeSet<String> {
        match &self.text {
            CommandText::Line(line) => possible_words(&with_project_root(line)),
            // An argument may be an option with a path in it.
            CommandText::Words(words) => {
                let parts = words.iter().flat_map(|word| word.split('=').map(str::to_owned).chain([word.clone()]));
                parts.filter(|part| !part.is_empty()).collect()
            }
        }
    }

    /// What the command runs beside the files that it names, if it is understood completely.
    fn closed(&self, root: &Path, lookup: &FileLookup<'_>) -> Result<ImportsFrom, UncoveredReason> {
        let words = match &self.text {
            CommandText::Line(line) => plain_words(line, &self.folders)?,
            CommandText::Words(words) => words.to_vec(),
        };
        if words.iter().any(|word| word.chars().any(is_hidden)) {
            return Err(UncoveredReason::HiddenCharacter);
        }
        let (program, arguments) = words.split_first().ok_or(UncoveredReason::UnknownProgram)?;
        let path = self.program(root, lookup, program).ok_or(UncoveredReason::ProgramNotCovered)?;
        if path.real.starts_with(root) {
            // Nothing covers a program that is found by its name alone.
            return if names_path(program) {
                self.own_program(root, lookup, &path)
            } else {
                Err(UncoveredReason::ProgramNotCovered)
            };
        }
        let interpreter = interpreter_outside(root, &path, UncoveredReason::UnknownProgram)?;
        let (isolation, rest) = interpreter.skip_options(arguments)?;
        let script = rest.first().ok_or(UncoveredReason::NoScript)?;
        let script = lookup.file(script).filter(|found| found.is_inside(root)).ok_or(UncoveredReason::NoScript)?;
        imports_of(root, interpreter, isolation, &script)
    }

    /// A program that is a file of the project.
    fn own_program(
        &self,
        root: &Path,
        lookup: &FileLookup<'_>,
        path: &ResolvedFile,
    ) -> Result<ImportsFrom, UncoveredReason> {
        let line = match ProgramFile::read(&path.real) {
            ProgramFile::Script(line) => line,
            ProgramFile::LoadsLibraries => return Err(UncoveredReason::LoadsLibraries),
            ProgramFile::Other => return Ok(None),
        };
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (program, option) = match *words.as_slice() {
            ["/usr/bin/env" | "/bin/env", name] if !name.starts_with('-') => (name, None),
            [program] => (program, None),
            [program, option] => (program, Some(option.to_owned())),
            _ => return Err(UncoveredReason::UnknownShebang),
        };
        let program = self.program(root, lookup, program).ok_or(UncoveredReason::UnknownShebang)?;
        if program.real.starts_with(root) {
            return Err(UncoveredReason::UnknownShebang);
        }
        let interpreter = interpreter_outside(root, &program, UncoveredReason::UnknownShebang)?;
        let (isolation, rest) = interpreter.skip_options(option.as_slice())?;
        if rest.is_empty() {
            imports_of(root, interpreter, isolation, path)
        } else {
            Err(UncoveredReason::UnknownShebang)
        }
    }

    /// The file that a program's name leads to. A bare name is looked for in the absolute parts of the search path that
    /// lie outside of the project: hooks search the others after these, and nothing covers what is found there.
    fn program(&self, root: &Path, lookup: &FileLookup<'_>, program: &str) -> Option<ResolvedFile> {
        if names_path(program) {
            return lookup.file(program);
        }
        let search_path = self.search_path.as_deref().unwrap_or(OsStr::new(DEFAULT_SEARCH_PATH));
        let mut folders = std::env::split_paths(search_path).filter(|folder| folder.is_absolute());
        let project = LazyCell::new(|| ProjectFolders::new(root, self.home.as_deref()));
        folders.find_map(|folder| file_at(folder.join(program)).filter(|_| !project.contain(&folder)))
    }
}

/// The files that words of a command lead to in a directory. Each is looked at once, so that one answer about the command never
/// means two files by the same word.
struct FileLookup<'c> {
    command: &'c Command,
    cwd: &'c Path,
    /// By the text of the path: `script/` and `script` are equal as paths, and only one of them is a file.
    seen: RefCell<BTreeMap<OsString, Option<ResolvedFile>>>,
}

impl<'c> FileLookup<'c> {
    fn new(command: &'c Command, cwd: &'c Path) -> Self {
        Self { command, cwd, seen: RefCell::default() }
    }

    fn file(&self, word: &str) -> Option<ResolvedFile> {
        let path = self.command.meant_path(self.cwd, word);
        let mut seen = self.seen.borrow_mut();
        seen.entry(path.clone().into_os_string()).or_insert_with(|| file_at(path)).clone()
    }
}

/// Whether an interpreter loads a file of that name as a compiled library.
fn is_library(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ["so", "node", "pyd", "bundle"].iter().any(|known| ending == *known))
}

/// Whether a word names a program by its path.
fn names_path(program: &str) -> bool {
    program.contains('/') || program.starts_with('$')
}

/// The interpreter that a program outside of the project is. A shell that is reached through a link of the project loads
/// nothing from there.
fn interpreter_outside(
    root: &Path,
    program: &ResolvedFile,
    unknown: UncoveredReason,
) -> Result<Interpreter, UncoveredReason> {
    let interpreter = Interpreter::of_program(program).ok_or(unknown)?;
    match interpreter {
        Interpreter::Shell => Ok(interpreter),
        Interpreter::Python | Interpreter::Node | Interpreter::Ruby | Interpreter::Perl => {
            if leads_through(root, &program.path) {
                Err(UncoveredReason::InterpreterOfProject)
            } else {
                Ok(interpreter)
            }
        }
    }
}

/// An interpreter that also imports files, and the folder from which it does.
type ImportsFrom = Option<(Interpreter, PathBuf)>;

fn imports_of(
    root: &Path,
    interpreter: Interpreter,
    isolation: Isolation,
    script: &ResolvedFile,
) -> Result<ImportsFrom, UncoveredReason> {
    if !interpreter.imports_siblings() || isolation == Isolation::Isolated {
        return Ok(None);
    }
    // An interpreter looks beside the target of a link, not beside the link.
    let folder = script.real.parent().ok_or(UncoveredReason::NoScript)?.to_owned();
    if is_hook_folder(root, &folder) {
        Ok(Some((interpreter, folder)))
    } else {
        Err(UncoveredReason::ImportsFromProject)
    }
}

/// Folders in which agents keep hooks: those of the dialects, and hookrail's own.
pub(crate) fn agent_folders() -> impl Iterator<Item = &'static str> {
    DialectId::FOLDERS.iter().copied().chain([".hookrail"])
}

/// Whether the folder lies inside one of the folders that agents keep hooks in.
fn is_hook_folder(root: &Path, folder: &Path) -> bool {
    let Ok(inside) = folder.strip_prefix(root) else { return false };
    let mut parts = inside.components().map(Component::as_os_str);
    let is_agents = |part: &OsStr| agent_folders().any(|known| part == known);
    parts.by_ref().any(is_agents) && parts.next().is_some()
}

/// The path and its target, if that is a regular file. The kernel resolves it: a `..` after a link leads elsewhere than
/// the text says.
fn file_at(path: PathBuf) -> Option<ResolvedFile> {
    let real = real_path(&path).ok()?;
    let is_written_straight = !path.components().any(|part| part == Component::ParentDir);
    let lexical = without_dots(&path);
    // A `..` that changes nothing is removed from the path that users read.
    let path = if is_written_straight || real_path(&lexical).is_ok_and(|other| other == real) { lexical } else { path };
    real.is_file().then_some(ResolvedFile { path, real })
}

/// Splits a line into words, and more finely than a shell: everything that can end a word ends one, and quotes are
/// removed. A blank at which no shell splits is part of a word, because it is part of a file's name.
///
/// A file that appears only after `>` is written by the command and not run by it, so it is left out: otherwise a hook
/// that keeps a log in its project would change its own fingerprint by running.
fn possible_words(line: &str) -> BTreeSet<String> {
    let line = &without_output_files(line);
    let split = |character: char| " \t\n;|&<>()`=,:".contains(character);
    let loose = line.split(split).map(|word| word.replace(['"', '\'', '\\'], ""));
    // A quoted path may contain blanks, so the text between quotes is a word too.
    let quoted = line.split(['"', '\'', '\n']).map(str::to_owned);
    let joined = loose_words(line, " \t\n;|&<>()`=", Comments::Read).into_iter().filter_map(|word| word.text);
    loose.chain(quoted).chain(joined).filter(|word| !word.is_empty()).collect()
}

/// The line with a variable of the project in the place of a question for the root of the repository. A file below it is then one
/// that the line names; the line stays open-ended.
fn with_project_root(line: &str) -> String {
    const QUESTION: &str = "git rev-parse --show-toplevel";
    let Some(variable) = DialectId::project_variables().next().filter(|_| line.contains(QUESTION)) else {
        return line.to_owned();
    };
    let reference = format!("${{{variable}}}");
    [("$(", ')'), ("`", '`')].into_iter().fold(line.to_owned(), |line, (begin, end)| {
        let question = format!("{begin}{QUESTION}");
        let mut parts = line.split(&question);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |line, part| {
            let after = part.split_once(end).map_or("", |(_, after)| after);
            line + &reference + after
        })
    })
}

/// The line without `>`, `>>` and the word after each.
fn without_output_files(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('>') {
        out.push_str(before);
        out.push(' ');
        let operand = behind.trim_start_matches(['>', '|', '&', ' ', '\t']);
        rest = match operand.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                operand.get(1..).and_then(|text| text.split_once(quote)).map_or("", |(_, rest)| rest)
            }
            // A substitution may produce anything, also a word that is run.
            Some('$' | '`' | '(') | None => operand,
            Some(_) => {
                let end = operand.find(|next: char| " \t\n;|&<>()`'\"".contains(next)).unwrap_or(operand.len());
                operand.get(end..).unwrap_or_default()
            }
        };
    }
    out.push_str(rest);
    out
}

/// The words of a line that every shell splits in the same way and that needs no expansion. References to known variables
/// stay as they are written.
fn plain_words(line: &str, folders: &[(String, PathBuf)]) -> Result<Vec<String>, UncoveredReason> {
    let line = line.trim_matches([' ', '\t', '\n']);
    if line.chars().any(|character| is_hidden(character) && !matches!(character, '\t' | '\n')) {
        return Err(UncoveredReason::HiddenCharacter);
    }
    let command = words(line).map_err(|_| UncoveredReason::NeedsShell)?;
    let plain = command.words.iter().map(|word| {
        let parts = word.pieces.iter().map(|piece| plain_part(piece, line, folders));
        parts.collect::<Option<String>>().ok_or(UncoveredReason::NeedsShell)
    });
    let plain = plain.collect::<Result<Vec<String>, UncoveredReason>>()?;
    // `NAME=value program` sets a variable, and a variable can change which program is run.
    if plain.first().is_none_or(|program| program.contains('=')) { Err(UncoveredReason::NeedsShell) } else { Ok(plain) }
}

/// A piece of a word without its quotes, if every shell reads it in the same way.
fn plain_part<'l>(piece: &'l Piece, line: &'l str, folders: &[(String, PathBuf)]) -> Option<&'l str> {
    let written = line.get(piece.span.range())?;
    match (&piece.kind, piece.quotes) {
        (PieceKind::Text(text), Quotes::None) => {
            text.chars().all(|next| next.is_alphanumeric() || "_@%+:,./-=".contains(next)).then_some(text)
        }
        // In single quotes a reference is plain text, which the caller could take for a folder.
        (PieceKind::Text(text), Quotes::Single) => (!text.contains('$')).then_some(text),
        (PieceKind::Text(text), Quotes::Double) => (!written.contains(['`', '\\', '!', '$'])).then_some(text),
        // Only the known variables have a known value. The engine puts quotes around a reference that has none, so its
        // value is not split into words.
        (PieceKind::Parameter(parameter), Quotes::None | Quotes::Double) => {
            let mut known = folders.iter().map(|(name, _)| name.as_str()).chain(["sep"]);
            known.any(|name| name == parameter.name).then_some(written)
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
