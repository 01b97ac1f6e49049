//! What the line itself makes of files: texts that it writes, and further names of paths.

use super::evaluate::{After, Evaluator, Input};
use super::options::{Arg, Divided, values};
use super::record::Use;
use crate::facts::{Executed, FactSet, Why};
use crate::resolve::{Value, World, base_name, is_pattern, join, parent, shown};
use crate::syntax::Span;

/// The most texts and names that are remembered, and the most paths that a name leads to.
const MOST: usize = 64;

/// What the line has made of files so far.
#[derive(Debug, Default)]
pub(crate) struct LineFiles {
    texts: Vec<WrittenText>,
    names: Vec<OtherName>,
    /// It wrote further files, or copied them.
    has_forgotten_texts: bool,
    /// It made further links, or moved further files.
    has_forgotten_names: bool,
}

/// What the line writes to a file; none if it does not say it.
#[derive(Debug)]
struct WrittenText {
    path: String,
    text: Option<Value>,
}

/// A path by which the line makes another one known.
#[derive(Debug)]
struct OtherName {
    path: String,
    of: Result<String, Why>,
    kind: NameKind,
}

/// How a path got another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameKind {
    SymbolicLink,
    HardLink,
    Moved,
    Copied,
}

impl NameKind {
    /// Whether who uses the new name so uses what the old one names.
    fn passes_on(self, how: Use, is_below: bool) -> bool {
        match (self, how) {
            (Self::SymbolicLink, Use::Read | Use::Write) => true,
            // Of a link itself only the link is removed.
            (Self::SymbolicLink, Use::Delete) => is_below,
            (Self::HardLink, Use::Read | Use::Write) => !is_below,
            (Self::Moved, Use::Read) => true,
            (Self::HardLink, Use::Delete) | (Self::Moved, Use::Write | Use::Delete) | (Self::Copied, _) => false,
        }
    }
}

/// The paths that are used too if a path is.
#[derive(Debug, Default)]
pub(crate) struct Behind {
    pub(crate) paths: Vec<String>,
    /// Why there may be further ones.
    pub(crate) unknown: Vec<Why>,
    /// How much was compared.
    pub(crate) steps: usize,
}

impl LineFiles {
    /// Whether paths have other names.
    pub(crate) fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// The paths that are used too if a path is.
    pub(crate) fn behind(&self, path: &str, how: Use) -> Behind {
        let mut behind = self.reached(path, |kind, is_below| kind.passes_on(how, is_below));
        if self.has_forgotten_names {
            behind.unknown.push(Why::TooManyFiles);
        }
        behind
    }

    fn reached(&self, path: &str, passes_on: impl Fn(NameKind, bool) -> bool) -> Behind {
        let mut behind = Behind::default();
        let mut next = vec![path.to_owned()];
        while let Some(path) = next.pop() {
            behind.steps += self.names.len() + path.len() / 8;
            for name in &self.names {
                let Some(rest) = path.strip_prefix(name.path.as_str()) else { continue };
                let is_below = rest.starts_with('/');
                if !(rest.is_empty() || is_below) || !passes_on(name.kind, is_below) {
                    continue;
                }
                let other = match &name.of {
                    Ok(of) => format!("{of}{rest}"),
                    Err(why) => {
                        behind.unknown.push(*why);
                        continue;
                    }
                };
                if behind.paths.contains(&other) {
                    continue;
                }
                if behind.paths.len() >= MOST {
                    behind.unknown.push(Why::TooManyFiles);
                    return behind;
                }
                behind.paths.push(other.clone());
                next.push(other);
            }
        }
        behind
    }

    /// Remembers what is written to a file. What stood there before may stay.
    pub(crate) fn write(&mut self, path: &str, text: Option<&Value>, appends: bool) {
        let written = [text.cloned()].into_iter().chain(appends.then_some(None));
        for text in written {
            if self.texts.len() >= MOST {
                self.has_forgotten_texts = true;
                return;
            }
            self.texts.push(WrittenText { path: path.to_owned(), text });
        }
    }

    fn add_name(&mut self, path: &str, of: Result<&str, Why>, kind: NameKind) {
        if of != Ok(path) && self.has_room(kind) {
            self.names.push(OtherName { path: shown(path), of: of.map(shown), kind });
        }
    }

    /// Whether a further name is remembered.
    fn has_room(&mut self, kind: NameKind) -> bool {
        let has_room = self.names.len() < MOST;
        if !has_room {
            self.has_forgotten_texts = true;
            self.has_forgotten_names |= kind != NameKind::Copied;
        }
        has_room
    }

    /// What the line has written to a file.
    fn texts_of(&self, path: &str) -> Vec<Option<Value>> {
        let mut paths = self.reached(path, |_, _| true).paths;
        paths.push(path.to_owned());
        let of_path = self.texts.iter().filter(|written| paths.contains(&written.path));
        of_path.map(|written| written.text.clone()).collect()
    }
}

/// Who reads a file that is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScriptReader {
    /// The program that its first line names, or a shell.
    FirstLine,
    /// A shell, whatever its first line says.
    Shell,
}

impl Evaluator<'_> {
    /// Runs a file that the line has written, as code of a shell. None if it has not.
    pub(crate) fn run_written(
        &mut self,
        file: &Value,
        reader: ScriptReader,
        args: &[Arg],
        span: Span,
        mut world: World,
    ) -> Option<After> {
        if self.line_files.has_forgotten_texts {
            self.unknown(Why::TooManyFiles, FactSet::EVERYTHING, span);
        }
        let place = self.place_of(file, &world);
        let texts = self.line_files.texts_of(&shown(&place.path));
        let is_foreign = |text: &Value| reader == ScriptReader::FirstLine && is_of_other_language(text);
        if place.why.is_some() || texts.iter().all(Option::is_none) || texts.iter().flatten().any(is_foreign) {
            return None;
        }
        if texts.iter().any(Option::is_none) || texts.iter().flatten().any(Value::has_hole) {
            self.run_script(file, span, &world);
        }
        self.executes(Executed::Path(shown(&place.path)), span);
        if !args.is_empty() {
            world.positional = values(args);
            world.knows_positional = true;
        }
        let mut after = After::default();
        for text in texts.iter().flatten() {
            let ran =
                self.shown_code(text, span, &shown(base_name(&file.text)), vec![world.clone()], &Input::default());
            after = self.either(after, ran);
        }
        Some(after)
    }

    /// Notes the names that a program gives to files.
    pub(crate) fn note_names(&mut self, program: &str, divided: &Divided, into: Option<&Arg>, world: &World) {
        let kind = match program {
            "ln" | "gln" if divided.has_any(&["s", "symbolic"]) => NameKind::SymbolicLink,
            "ln" | "gln" => NameKind::HardLink,
            "mv" | "gmv" => NameKind::Moved,
            "cp" | "gcp" if divided.has_any(&["s", "symbolic-link"]) => NameKind::SymbolicLink,
            "cp" | "gcp" if divided.has_any(&["l", "link"]) => NameKind::HardLink,
            "cp" | "gcp" => NameKind::Copied,
            _ => return,
        };
        let (target, sources) = match (into, divided.operands.as_slice()) {
            (Some(into), sources) => (Some(into), sources),
            (None, [only]) => (None, std::slice::from_ref(only)),
            (None, [sources @ .., target]) => (Some(target), sources),
            (None, []) => return,
        };
        let here = Value::known(".");
        let is_folder = into.is_some()
            || sources.len() > 1
            || target.is_none_or(|target| target.text().ends_with('/') || matches!(target.text(), "." | ".."));
        let target = target.map_or(&here, |target| &target.value);
        let folder = self.place_of(target, world);
        if folder.why.is_some() {
            return;
        }
        for source in sources {
            if !self.line_files.has_room(kind) || !self.affords(folder.path.len() / 8) {
                break;
            }
            let name = base_name(source.text());
            let inside = join(&folder.path, name);
            let is_folder = is_folder || self.scene.surroundings.is_folder(&folder.path);
            for path in [inside.as_str(), folder.path.as_str()].into_iter().take(if is_folder { 1 } else { 2 }) {
                let is_relative_to_link = kind == NameKind::SymbolicLink && !divided.has_any(&["r", "relative"]);
                let of = match is_relative_to_link {
                    true => join(parent(path), source.text()),
                    false => self.place_of(&source.value, world).path,
                };
                match source.value.hole {
                    _ if is_pattern(source.text()) => {}
                    None => self.line_files.add_name(path, Ok(&of), kind),
                    Some(hole) if kind == NameKind::SymbolicLink => {
                        self.line_files.add_name(path, Err(hole.why), kind);
                    }
                    Some(_) => {}
                }
            }
        }
    }
}

/// Whether a text says that another program than a shell reads it.
fn is_of_other_language(text: &Value) -> bool {
    let head = text.text.strip_prefix("#!").map(|rest| rest.lines().next().unwrap_or_default());
    head.is_some_and(|program| !program.split([' ', '/']).any(|word| word.ends_with("sh")))
}
