//! Selects cases by what the user writes behind `--filter`.

use crate::failure::{Failure, Result};
use hookrail::matcher::{Language, MatchScope, Matcher, OnInvalid};

use super::case::LocatedCase;

/// What a case must be like to be run.
#[derive(Debug, Default)]
pub(super) struct CaseFilter {
    wanted: Vec<Term>,
    unwanted: Vec<Term>,
}

/// A pattern for a part of a case.
#[derive(Debug)]
struct Term {
    field: Field,
    matcher: Matcher,
}

/// What a pattern is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// The file and the name.
    Title,
    Name,
    File,
    Event,
    Hook,
}

const FIELDS: [(&str, Field); 4] =
    [("name:", Field::Name), ("file:", Field::File), ("event:", Field::Event), ("hook:", Field::Hook)];

impl CaseFilter {
    /// Reads filters: a text, a glob or a regular expression, behind `name:`, `file:`, `event:` or `hook:` for that part
    /// alone, and behind `!` for cases that are left out.
    pub(super) fn parse(filters: &[String]) -> Result<Self> {
        let mut parsed = Self::default();
        for filter in filters {
            let (terms, text) = match filter.strip_prefix('!') {
                Some(text) => (&mut parsed.unwanted, text),
                None => (&mut parsed.wanted, filter.as_str()),
            };
            let prefixed = FIELDS.iter().find_map(|(prefix, field)| Some((*field, text.strip_prefix(prefix)?)));
            let (field, pattern) = prefixed.unwrap_or((Field::Title, text));
            let compiled = Matcher::compile(pattern, Language::GlobOrRegex, MatchScope::Anywhere, OnInvalid::Literal);
            if compiled.problem.is_some() || pattern.is_empty() {
                return Err(Failure::new(format!("`{filter}` is not a filter: `{pattern}` is no pattern"))
                    .hint("write a part of a name, a glob such as `*secret*`, or a regular expression"));
            }
            terms.push(Term { field, matcher: compiled.matcher });
        }
        Ok(parsed)
    }

    /// Whether a case is to be run.
    pub(super) fn selects(&self, case: &LocatedCase) -> bool {
        let fits = |term: &Term| {
            let subject = match term.field {
                Field::Title => case.title(),
                Field::Name => case.case.name.clone(),
                Field::File => case.shown_file.to_string(),
                Field::Event => case.case.event.clone(),
                Field::Hook => case.case.hook.clone().unwrap_or_default(),
            };
            term.matcher.test(&subject).is_match()
        };
        (self.wanted.is_empty() || self.wanted.iter().any(fits)) && !self.unwanted.iter().any(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use super::*;
    use std::path::Path;
    use std::sync::Arc;

    fn selects(filters: &[&str]) -> bool {
        let case = Case { name: "a token in a file".into(), event: "BeforeTool".into(), ..Case::default() };
        let located = LocatedCase {
            file: Path::new("/p/scan.hooktest.toml").into(),
            project: Path::new("/p").into(),
            shown_file: "scan.hooktest.toml".into(),
            case: Arc::new(case),
        };
        let filters: Vec<String> = filters.iter().map(|filter| (*filter).to_owned()).collect();
        CaseFilter::parse(&filters).unwrap().selects(&located)
    }

    #[test]
    fn parts_globs_and_expressions_select() {
        for filters in [
            &[][..],
            &["token"],
            &["scan"],
            &["*token*"],
            &["name:^a .* file$"],
            &["file:scan"],
            &["event:BeforeTool"],
            &["elephant", "token"],
            &["!elephant"],
        ] {
            assert!(selects(filters), "{filters:?}");
        }
        for filters in [&["elephant"][..], &["name:scan"], &["event:AfterTool"], &["token", "!file:scan"], &["hook:x"]]
        {
            assert!(!selects(filters), "{filters:?}");
        }
        assert!(CaseFilter::parse(&["(".to_owned()]).is_err());
        assert!(CaseFilter::parse(&["name:".to_owned()]).is_err());
    }
}
