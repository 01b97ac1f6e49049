//! Diagnostics with the source line they are about, a caret, and the help line.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level as Kind, Origin, Renderer, Snippet};
use hookrail::sources::Location;
use hookrail::{Code, Diagnostic, Level};
use hookrail_app::path_display::PathDisplay;
use hookrail_app::text::{limited, one_line};

use super::excerpt::Excerpt;
use super::width;

/// The size of the largest file from which an excerpt is shown.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The highest number of diagnostics shown for one file, so that a project cannot hide the diagnostics of another file
/// among thousands of its own.
const MAX_PER_FILE: usize = 100;

/// Renders all diagnostics, each followed by an empty line.
pub(crate) fn all(diagnostics: &[Diagnostic], places: &PathDisplay) -> String {
    let mut sources = SourceTexts::default();
    let mut shown: HashMap<Option<&Arc<Path>>, usize> = HashMap::new();
    let mut out = String::new();
    for diagnostic in diagnostics {
        let count = shown.entry(diagnostic.location.as_ref().map(|place| &place.file)).or_default();
        *count += 1;
        if *count <= MAX_PER_FILE {
            let _ = write!(out, "{}\n\n", one(diagnostic, places, &mut sources));
        }
    }
    let mut left_off: Vec<_> = shown.into_iter().filter(|(_, count)| *count > MAX_PER_FILE).collect();
    left_off.sort_unstable();
    for (file, count) in left_off {
        let file = file.map_or_else(|| "no file".to_owned(), |file| places.path(file));
        let _ = write!(out, "… {} more in {file}; `--json` prints all\n\n", count - MAX_PER_FILE);
    }
    out
}

/// Renders an excerpt of a text that is no file, such as an option's value.
pub(crate) fn excerpt_of(name: &str, text: &str, offset: usize) -> String {
    let Some(excerpt) = Excerpt::from_span(text, &(offset..offset)) else { return String::new() };
    renderer().render(&[Group::with_level(Kind::ERROR).element(snippet(name.to_owned(), excerpt))])
}

/// The renderer for the width of the terminal; source lines that do not fit are cut around the mark.
fn renderer() -> Renderer {
    match width::of_stdout() {
        Some(columns) => Renderer::styled().term_width(columns),
        None => Renderer::styled(),
    }
}

fn one(diagnostic: &Diagnostic, places: &PathDisplay, sources: &mut SourceTexts) -> String {
    let kind = match diagnostic.level {
        Level::Error => Kind::ERROR,
        Level::Warning => Kind::WARNING,
        Level::Note => Kind::NOTE,
    };
    let title = kind.primary_title(limited(&places.sentence(&diagnostic.message))).id(diagnostic.code.name());
    let mut group = Group::with_title(title);
    if let Some(place) = diagnostic.location.as_ref().filter(|place| !place.file.as_os_str().is_empty()) {
        let path = places.path(&place.file);
        group = match excerpt(diagnostic.code, place, places, sources) {
            Some(excerpt) => group.element(snippet(path, excerpt)),
            None => group.element(origin(path, place)),
        };
    }
    if let Some(hint) = &diagnostic.hint {
        group = group.element(Kind::HELP.message(one_line(hint)));
    }
    renderer().render(&[group])
}

fn snippet(path: String, excerpt: Excerpt) -> Snippet<'static, annotate_snippets::Annotation<'static>> {
    // A marked part is shown whole, however long it is, so on a terminal only its beginning is marked.
    let longest = width::of_stdout().map_or(usize::MAX, |columns| columns / 2);
    let marked = excerpt.text.get(excerpt.span.clone()).unwrap_or_default();
    let end = excerpt.span.start + marked.floor_char_boundary(longest);
    let mark = AnnotationKind::Primary.span(excerpt.span.start..end);
    Snippet::source(excerpt.text).path(path).line_start(excerpt.line).annotation(mark)
}

/// Returns a place without its text. A diagnostic about a whole file has no line.
fn origin(path: String, place: &Location) -> Origin<'static> {
    let origin = Origin::path(path);
    let line = usize::try_from(place.line).unwrap_or(usize::MAX);
    let column = usize::try_from(place.column).unwrap_or(usize::MAX);
    if is_whole_file(place) { origin } else { origin.line(line).char_column(column) }
}

fn is_whole_file(place: &Location) -> bool {
    place.span == (0..0) && (place.line, place.column) == (1, 1)
}

fn excerpt(code: Code, place: &Location, places: &PathDisplay, sources: &mut SourceTexts) -> Option<Excerpt> {
    if is_whole_file(place) && code != Code::FileSyntax {
        return None;
    }
    // A project could link to a secret file of the user, whose lines would then be printed, for example into a CI log.
    if places.leads_outside(&place.file) {
        return None;
    }
    let found = Excerpt::from_span(sources.text(&place.file)?, &place.span)?;
    // The file may have changed since it was checked; then the excerpt would show an unrelated line.
    (u32::try_from(found.line) == Ok(place.line)).then_some(found)
}

/// The texts of files from which excerpts are shown. Each file is read once.
#[derive(Default)]
struct SourceTexts(HashMap<Arc<Path>, Option<String>>);

impl SourceTexts {
    fn text(&mut self, file: &Arc<Path>) -> Option<&str> {
        self.0.entry(Arc::clone(file)).or_insert_with(|| read_text(file)).as_deref()
    }
}

/// Reads a regular file, without a byte order mark, because offsets do not include it.
fn read_text(file: &Path) -> Option<String> {
    if !std::fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(file).ok()?.take(MAX_FILE_BYTES).read_to_string(&mut text).ok()?;
    Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
