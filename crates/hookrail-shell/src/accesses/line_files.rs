//! What the line itself makes of files: texts that it writes, and further names of paths.

use super::evaluate::{After, Evaluator, Input};
use super::options::{Arg, Divided};
use super::record::Use;
use crate::facts::Executed;
use crate::resolve::{Value, World, base_name, is_pattern, join, parent, shown};
use crate::syntax::Span;

/// The most texts and names that are remembered, and how often a name leads to another one.
const MOST: usize = 64;
const MOST_STEPS: usize = 8;

/// What the line has made of files so far.
#[derive(Debug, Default)]
pub(crate) struct LineFiles {
    texts: Vec<WrittenText>,
    names: Vec<OtherName>,
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
    of: String,
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

impl LineFiles {
    /// The paths that are used too if a path is.
    pub(crate) fn behind(&self, path: &str, how: Use) -> Vec<String> {
        self.reached(path, |kind, is_below| kind.passes_on(how, is_below))
    }

    fn reached(&self, path: &str, passes_on: impl Fn(NameKind, bool) -> bool) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        if self.names.is_empty() {
            return found;
        }
        let mut next = vec![path.to_owned()];
        while let Some(path) = next.pop().filter(|_| found.len() < MOST_STEPS) {
            for name in &self.names {
                let Some(rest) = path.strip_prefix(name.path.as_str()) else { continue };
                let is_below = rest.starts_with('/');
                let other = format!("{}{rest}", name.of);
                if (rest.is_empty() || is_below) && passes_on(name.kind, is_below) && !found.contains(&other) {
                    found.push(other.clone());
                    next.push(other);
                }
            }
        }
        found
    }

    /// Remembers what is written to a file. What stood there before may stay.
    pub(crate) fn write(&mut self, path: &str, text: Option<&Value>, appends: bool) {
        if self.texts.len() + 1 < MOST {
            self.texts.push(WrittenText { path: path.to_owned(), text: text.cloned() });
            if appends {
                self.texts.push(WrittenText { path: path.to_owned(), text: None });
            }
        }
    }

    /// What the line has written to a file.
    fn texts_of(&self, path: &str) -> Vec<Option<Value>> {
        let mut paths = self.reached(path, |_, _| true);
        paths.push(path.to_owned());
        let of_path = self.texts.iter().filter(|written| paths.contains(&written.path));
        of_path.map(|written| written.text.clone()).collect()
    }
}

impl Evaluator<'_> {
    /// Runs a file that the line has written, as code of a shell. None if it has not.
    pub(crate) fn run_written(&mut self, file: &Value, args: &[Arg], span: Span, mut world: World) -> Option<After> {
        let place = self.place_of(file, &world);
        let texts = self.line_files.texts_of(&shown(&place.path));
        if place.why.is_some() || texts.iter().all(Option::is_none) || texts.iter().flatten().any(is_of_other_language)
        {
            return None;
        }
        if texts.iter().any(Option::is_none) || texts.iter().flatten().any(Value::has_hole) {
            self.run_script(file, span, &world);
        }
        self.executes(Executed::Path(shown(&place.path)), span);
        if !args.is_empty() {
            world.positional = args.iter().map(|arg| arg.value.clone()).collect();
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
        for source in sources {
            let name = base_name(source.text());
            let inside = join(&folder.path, name);
            let is_folder = is_folder || self.scene.surroundings.is_folder(&folder.path);
            for path in [inside.as_str(), folder.path.as_str()].into_iter().take(if is_folder { 1 } else { 2 }) {
                let is_relative_to_link = kind == NameKind::SymbolicLink && !divided.has_any(&["r", "relative"]);
                let of = match is_relative_to_link {
                    true => join(parent(path), source.text()),
                    false => self.place_of(&source.value, world).path,
                };
                let is_known = folder.why.is_none() && !source.value.has_hole() && !is_pattern(source.text());
                if is_known && path != of && self.line_files.names.len() < MOST {
                    self.line_files.names.push(OtherName { path: shown(path), of: shown(&of), kind });
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
