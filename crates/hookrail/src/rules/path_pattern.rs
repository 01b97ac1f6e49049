//! Patterns of paths, compared with what an access names: a path, a pattern of a shell, everything below a folder, or a path
//! of which a part is not known.

use hookrail_shell::PathUse;

use super::scene::RuleScene;

/// A pattern: `*` is any text of one part of a path, `?` one character, `**` any number of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathPattern {
    pub(crate) text: String,
    base: Base,
    parts: Vec<String>,
    /// The last part, if it is a name and no pattern: most paths are told apart by it.
    name: Option<String>,
}

/// What a pattern begins at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Project,
    Home,
    Root,
}

/// Whether an access is of a kind that reaches what lies below its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Only the path itself.
    Itself,
    /// A deletion takes everything below along.
    Below,
}

/// Whether a path fits a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    Yes,
    No,
    /// The part that is not known decides.
    Possible,
}

/// Folders and files that tools make. A search for one means no hidden folder of another tool.
const GENERATED: [&str; 10] = [
    "node_modules",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".DS_Store",
    ".next",
    ".nuxt",
    ".turbo",
];

/// A longer comparison of two patterns is not made; they may have a common path.
const MOST_STEPS: usize = 200_000;

impl PathPattern {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let (base, rest) = match text {
            "~" => (Base::Home, ""),
            _ => match (text.strip_prefix("~/"), text.strip_prefix('/')) {
                (Some(rest), _) => (Base::Home, rest),
                (None, Some(rest)) => (Base::Root, rest),
                (None, None) => (Base::Project, text.strip_prefix("./").unwrap_or(text)),
            },
        };
        if text.is_empty() {
            return Err("a path is empty".to_owned());
        }
        let parts: Vec<String> =
            rest.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect();
        if parts.iter().any(|part| part == "..") {
            return Err(format!("`{text}` has `..`; a path is relative to the project, begins with `/` or with `~/`"));
        }
        let name = parts.last().filter(|part| !is_shell_pattern(part)).cloned();
        Ok(Self { text: text.to_owned(), base, parts, name })
    }

    /// The folder at which the pattern begins; none if it is not known.
    fn base<'s>(&self, scene: &'s RuleScene) -> Option<&'s str> {
        match self.base {
            Base::Project => Some(&scene.project),
            Base::Home => scene.home.as_deref(),
            Base::Root => Some(""),
        }
    }

    /// Whether the pattern fits a path that is used.
    pub(crate) fn fits(&self, used: &PathUse, reach: Reach, scene: &RuleScene) -> Fit {
        let Some(base) = self.base(scene) else { return Fit::No };
        if used.is_partly_unknown {
            return self.fits_unknown(&used.path, base);
        }
        if self.fits_known(&used.path, used.covers_hidden, reach, base) { Fit::Yes } else { Fit::No }
    }

    fn fits_known(&self, path: &str, covers_hidden: bool, reach: Reach, base: &str) -> bool {
        // Most paths are no patterns, and most patterns end in another name.
        if !is_shell_pattern(path) {
            return self.may_end(path)
                && below(path, base).is_some_and(|inside| fit_parts(&self.parts, &split(inside)))
                || reach == Reach::Below && self.is_reached_below(path, true, base);
        }
        if let Some(folder) = path.strip_suffix("/**") {
            return self.is_reached_below(folder, covers_hidden, base) || self.fits_below(folder, base);
        }
        if below(path, base).is_some_and(|inside| fit_parts(&self.parts, &split(inside))) {
            return true;
        }
        // A search that begins above the folder of the pattern comes through it.
        path.split_once("/**/").is_some_and(|(above, found)| {
            let parts: Vec<&str> = ["**"].into_iter().chain(split(found)).collect();
            below(path, base).is_none() && below(base, above).is_some() && fit_parts(&self.parts, &parts)
        })
    }

    /// Whether the pattern surely fits all that is used. A pattern of a shell may mean any file of the folder that it looks in, so
    /// the whole folder has to be meant.
    pub(crate) fn covers(&self, used: &PathUse, scene: &RuleScene) -> bool {
        if !is_shell_pattern(&used.path) {
            return self.fits(used, Reach::Itself, scene) == Fit::Yes;
        }
        let parts = split(&used.path);
        let fixed = parts.iter().take_while(|part| !is_shell_pattern(part)).count();
        let (folder, found) = parts.split_at_checked(fixed).unwrap_or((&parts, &[]));
        // Some shells find `..` for a pattern that begins with a dot.
        !used.is_partly_unknown
            && !found.iter().any(|part| part.starts_with('.'))
            && self.base(scene).is_some_and(|base| self.fits_below(&format!("/{}", folder.join("/")), base))
    }

    /// Whether a path that is no pattern can end as this pattern does.
    fn may_end(&self, path: &str) -> bool {
        self.name.as_ref().is_none_or(|name| path.ends_with(name.as_str()) || path.ends_with('/'))
    }

    /// Whether everything below a folder includes what the pattern names at its shortest.
    fn is_reached_below(&self, folder: &str, covers_hidden: bool, base: &str) -> bool {
        let named: Vec<&str> = self.parts.iter().map(String::as_str).filter(|part| *part != "**").collect();
        let plain = named.iter().take_while(|part| !is_shell_pattern(part)).count();
        let fixed = match plain == named.len() {
            true => named,
            // Behind a pattern nothing is fixed; the folder before it is.
            false => named.into_iter().take(plain).collect(),
        };
        let place = fixed.iter().fold(base.to_owned(), |place, part| format!("{place}/{part}"));
        let Some(inside) = below(&place, folder) else { return false };
        let is_hidden = |part: &str| part.starts_with('.');
        covers_hidden || !split(inside).into_iter().chain(self.parts.iter().map(String::as_str)).any(is_hidden)
    }

    /// Whether the pattern covers a folder with what is below it.
    fn fits_below(&self, folder: &str, base: &str) -> bool {
        let ends_below = self.parts.last().is_some_and(|last| last == "**");
        ends_below && below(folder, base).is_some_and(|inside| fit_parts(&self.parts, &split(inside)))
    }

    fn fits_unknown(&self, path: &str, base: &str) -> Fit {
        // An unknown part stands for something that no pattern names.
        let surely = path.replace('?', "\u{1}");
        let surely = if surely.starts_with('/') { surely } else { format!("/{surely}") };
        if self.fits_known(&surely, true, Reach::Itself, base) {
            return Fit::Yes;
        }
        let own = self.parts.iter().fold(base.to_owned(), |own, part| format!("{own}/{part}"));
        if may_meet(path, &own) { Fit::Possible } else { Fit::No }
    }

    /// Whether a path is this folder or lies below it.
    pub(crate) fn holds(&self, path: &str, scene: &RuleScene) -> bool {
        let Some(base) = self.base(scene) else { return false };
        let root = self.parts.iter().fold(base.to_owned(), |root, part| format!("{root}/{part}"));
        below(path, &root).is_some()
    }
}

/// What a path is below a folder.
pub(crate) fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder.trim_end_matches('/'))?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}

fn split(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

/// Whether a shell would look for files with a text.
pub(crate) fn is_shell_pattern(text: &str) -> bool {
    memchr::memchr3(b'*', b'?', b'[', text.as_bytes()).is_some()
}

/// Whether the parts of a pattern fit those of a path.
fn fit_parts(pattern: &[String], path: &[&str]) -> bool {
    fit_parts_behind(pattern, path, false)
}

/// The same, for parts that may stand anywhere: behind a `**` of the pattern.
fn fit_parts_behind(pattern: &[String], path: &[&str], is_anywhere: bool) -> bool {
    // What is found below a folder may have any parts there.
    if let Some(("**", behind)) = path.split_first().map(|(part, behind)| (*part, behind)) {
        let is_ending = behind.last().is_some_and(|last| is_ending(last) || GENERATED.contains(last));
        let fits_behind = |at: usize| {
            let (found, rest) = pattern.split_at_checked(at)?;
            // A search does not mean a hidden folder that may be anywhere, and one for an ending means no hidden folder.
            let has_hidden = found.iter().any(|part| part.starts_with('.') && !is_shell_pattern(part));
            let is_anywhere = is_anywhere || found.first().is_some_and(|first| first == "**");
            let is_search = is_ending || is_anywhere && !behind.is_empty();
            let is_meant = !(has_hidden && is_search);
            Some(is_meant && fit_parts_behind(rest, behind, is_anywhere))
        };
        return (0..=pattern.len()).any(|at| fits_behind(at).unwrap_or_default());
    }
    let Some((first, rest)) = pattern.split_first() else { return path.is_empty() };
    if first == "**" {
        return (0..=path.len()).any(|at| path.get(at..).is_some_and(|path| fit_parts_behind(rest, path, true)));
    }
    path.split_first().is_some_and(|(part, path)| fit_part(first, part) && fit_parts_behind(rest, path, is_anywhere))
}

/// Whether a pattern of a shell is any name with an ending: `*.pyc`.
fn is_ending(part: &str) -> bool {
    part.strip_prefix("*.").is_some_and(|ending| !ending.is_empty() && !is_shell_pattern(ending))
}

/// Whether one part of a pattern fits one part of a path, which may be a pattern of a shell.
fn fit_part(pattern: &str, part: &str) -> bool {
    if !is_shell_pattern(part) {
        return fits_text(pattern, part);
    }
    let fixed: String = part.chars().filter(|letter| !matches!(letter, '*' | '?' | '[' | ']')).collect();
    // `*` means the visible files of a folder, and none of them in particular.
    if fixed.is_empty() {
        return pattern == "*";
    }
    // A pattern of a shell includes hidden files only if it says so.
    if pattern.starts_with('.') && !part.starts_with('.') {
        return false;
    }
    may_meet(part, pattern)
}

/// Whether a pattern with `*` and `?` covers a text as a whole. Both are compared byte by byte, and `?` takes all bytes of a character.
pub(crate) fn fits_text(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let width = |here: usize| match text.get(here) {
        Some(0xf0..) => 4,
        Some(0xe0..) => 3,
        Some(0xc0..) => 2,
        _ => 1,
    };
    let (mut at, mut here) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while here < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, here));
                at += 1;
            }
            Some(b'?') => {
                at += 1;
                here += width(here);
            }
            Some(byte) if Some(byte) == text.get(here) => {
                at += 1;
                here += 1;
            }
            _ => match star {
                Some((star_at, from)) => {
                    here = from + width(from);
                    star = Some((star_at, here));
                    at = star_at + 1;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(|byte| *byte == b'*')
}

/// Whether there may be a text that both patterns cover. A `*` and a `?` stand for any text, and brackets for any character.
fn may_meet(one: &str, other: &str) -> bool {
    let (one, other) = (wild(one), wild(other));
    if one.len().saturating_mul(other.len()) > MOST_STEPS {
        return true;
    }
    // One row after the other: which beginnings of `other` a beginning of `one` can meet.
    let mut row: Vec<bool> = vec![false; other.len() + 1];
    for (at, place) in row.iter_mut().enumerate() {
        *place = other.iter().take(at).all(Option::is_none);
    }
    for letter in &one {
        let mut next = vec![false; other.len() + 1];
        for at in 0..=other.len() {
            let above = row.get(at).copied().unwrap_or_default();
            let left = at.checked_sub(1).and_then(|left| next.get(left)).copied().unwrap_or_default();
            let diagonal = at.checked_sub(1).and_then(|left| row.get(left)).copied().unwrap_or_default();
            let theirs = at.checked_sub(1).and_then(|index| other.get(index));
            let meets = match (letter, theirs) {
                (None, Some(None)) => above || left || diagonal,
                (None, _) => above || left,
                (Some(_), Some(None)) => above || left,
                (Some(mine), Some(Some(theirs))) => diagonal && mine == theirs,
                (Some(_), None) => false,
            };
            if let Some(place) = next.get_mut(at) {
                *place = meets;
            }
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

/// The characters of a pattern; none where any text may stand.
fn wild(text: &str) -> Vec<Option<char>> {
    let mut found: Vec<Option<char>> = Vec::new();
    let mut is_in_brackets = false;
    for letter in text.chars() {
        let letter = match letter {
            ']' if is_in_brackets => {
                is_in_brackets = false;
                continue;
            }
            _ if is_in_brackets => continue,
            '[' => {
                is_in_brackets = true;
                None
            }
            '*' | '?' => None,
            other => Some(other),
        };
        if letter.is_some() || found.last() != Some(&None) {
            found.push(letter);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::AddedPrograms;
    use super::*;

    fn fit(pattern: &str, path: &str, reach: Reach) -> Fit {
        let scene = RuleScene::of_examples(AddedPrograms::default());
        let used = PathUse { path: path.to_owned(), is_partly_unknown: false, covers_hidden: true };
        PathPattern::read(pattern).unwrap().fits(&used, reach, &scene)
    }

    fn unknown(pattern: &str, path: &str) -> Fit {
        let scene = RuleScene::of_examples(AddedPrograms::default());
        let used = PathUse { path: path.to_owned(), is_partly_unknown: true, covers_hidden: true };
        PathPattern::read(pattern).unwrap().fits(&used, Reach::Itself, &scene)
    }

    #[test]
    fn a_path_fits_or_does_not() {
        for (pattern, path, expected) in [
            (".env", "/w/project/.env", Fit::Yes),
            (".env", "/w/project/sub/.env", Fit::No),
            ("**/.env", "/w/project/sub/.env", Fit::Yes),
            ("**/.env", "/w/project/.env", Fit::Yes),
            ("**/.env", "/w/.env", Fit::No),
            ("/**/.env", "/w/.env", Fit::Yes),
            ("~/.ssh/**", "/home/u/.ssh/id_rsa", Fit::Yes),
            ("~/.ssh/**", "/home/u/.sshx", Fit::No),
            ("src/*.rs", "/w/project/src/a.rs", Fit::Yes),
            ("src/*.rs", "/w/project/src/a/b.rs", Fit::No),
            ("**/*.pem", "/w/project/*", Fit::No),
            ("**/*.pem", "/w/project/*.pem", Fit::Yes),
            ("**/*.pem", "/w/project/*.txt", Fit::No),
            (".env", "/w/project/.e*", Fit::Yes),
            (".env", "/w/project/*env", Fit::No),
            ("**/.env", "/w/project/**", Fit::Yes),
            ("**/.env", "/w/project/src/**", Fit::No),
            ("~/.ssh/**", "/home/**", Fit::Yes),
            ("sub/.env", "/w/project/**/.env", Fit::Yes),
            ("sub/.env", "/w/project/**/*.rs", Fit::No),
            ("**/.ssh/**", "/w/project/**/*.pyc", Fit::No),
            ("**/.ssh/**", "/w/project/.ssh/**/*.pem", Fit::Yes),
            ("**/.ssh/**", "/w/project/**/config", Fit::No),
            (".ssh/**", "/w/project/**/config", Fit::Yes),
            ("~/.aws/**", "/**/credentials", Fit::Yes),
            ("**/*.pem", "/w/project/**/*.pem", Fit::Yes),
            ("src/**", "/w/project/**/*.rs", Fit::Yes),
        ] {
            assert_eq!(fit(pattern, path, Reach::Itself), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn a_question_mark_is_one_character_and_a_star_any_text() {
        for (pattern, text, expected) in [
            ("?", "é", true),
            ("??", "é", false),
            ("a?c", "a✎c", true),
            ("*é", "caféé", true),
            ("*?é", "é", false),
            ("f*o*", "foo", true),
            ("*.pem", "a.pem.txt", false),
            ("", "", true),
            ("*", "", true),
            ("?", "", false),
        ] {
            assert_eq!(fits_text(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_deletion_reaches_what_is_below() {
        assert_eq!(fit(".git/**", "/w/project/.git", Reach::Below), Fit::Yes);
        assert_eq!(fit(".git/**", "/w/project", Reach::Below), Fit::Yes);
        assert_eq!(fit("**/.env", "/w/project/build", Reach::Below), Fit::No);
        assert_eq!(fit("src/*.rs", "/w/project/src", Reach::Below), Fit::Yes);
        assert_eq!(fit("src/*.rs", "/w/project/doc", Reach::Below), Fit::No);
    }

    #[test]
    fn a_pattern_of_a_shell_is_covered_with_its_whole_folder() {
        let scene = RuleScene::of_examples(AddedPrograms::default());
        for (pattern, path, expected) in [
            ("a.txt", "/w/project/a.txt", true),
            ("a.txt", "/w/project/[ab].txt", false),
            ("a.txt", "/w/project/?.txt", false),
            ("*.txt", "/w/project/*.txt", false),
            ("build/**", "/w/project/build/*.o", true),
            ("build/**", "/w/project/build/**", true),
            ("build/**", "/w/project/build/a/[ab]/c", true),
            ("build/*", "/w/project/build/*.o", false),
            ("build/**", "/w/project/*/a", false),
            ("build/**", "/w/project/[b]uild/a", false),
            ("build/**", "/w/project/build/*/.*/x", false),
            ("app/**", "/w/project/app/[id]/page.tsx", true),
            ("app/[id]/page.tsx", "/w/project/app/[id]/page.tsx", false),
            ("/**", "/opt/*", true),
        ] {
            let used = PathUse { path: path.to_owned(), is_partly_unknown: false, covers_hidden: true };
            let pattern = PathPattern::read(pattern).unwrap();
            assert_eq!(pattern.covers(&used, &scene), expected, "{pattern:?} {path}");
            let unknown = PathUse { is_partly_unknown: true, ..used };
            assert!(!is_shell_pattern(path) || !pattern.covers(&unknown, &scene), "{pattern:?} {path}");
        }
    }

    #[test]
    fn what_is_not_known_decides_only_where_it_can() {
        assert_eq!(unknown("**/.env", "/w/project/?/.env"), Fit::Yes);
        assert_eq!(unknown("**/.env", "/w/project/src/?"), Fit::Possible);
        assert_eq!(unknown("**/.env", "/w/project/src/?.ts"), Fit::No);
        assert_eq!(unknown("~/.ssh/**", "?/x"), Fit::Possible);
    }

    #[test]
    fn a_long_comparison_ends() {
        let long = format!("/w/project/{}", "*a".repeat(5_000));
        assert_eq!(fit(&"*b".repeat(5_000), &long, Reach::Itself), Fit::Yes);
    }
}
