//! A parsed file: a tree of values with their places.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::json_hints::{SyntaxCause, explain_open, explain_syntax, explain_word, find_cause};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::{LineIndex, Location};
use crate::json::{Json, JsonObject, without_lone_surrogates};

/// A file with its text and its tree: the one reader of JSON and TOML in which values have places.
#[derive(Debug)]
pub struct Document {
    file: Arc<Path>,
    lines: LineIndex,
    root: Option<PlacedValue>,
}

/// A value and its place in the file.
#[derive(Clone, Debug)]
pub struct PlacedValue {
    /// The bytes of the file that it is written in.
    pub span: Range<usize>,
    /// What it is.
    pub shape: ValueShape,
}

/// The kinds of value.
#[derive(Clone, Debug)]
pub enum ValueShape {
    /// An object of JSON or a table of TOML, with its members in the order of the file.
    Object(Vec<(PlacedKey, PlacedValue)>),
    /// A list.
    Array(Vec<PlacedValue>),
    /// A text.
    Text(String),
    /// A number, as JSON writes it.
    Number(String),
    /// True or false.
    Flag(bool),
    /// A date of TOML. No key takes one, and it is no text.
    Date(String),
    /// Null.
    Null,
}

/// A key and its place in the file.
#[derive(Clone, Debug)]
pub struct PlacedKey {
    /// The key.
    pub name: String,
    /// The bytes of the file that it is written in.
    pub span: Range<usize>,
}

/// Why a text is not what its format demands.
#[derive(Clone, Debug)]
pub struct SyntaxFault {
    /// What is wrong.
    pub why: String,
    /// What mends it, if that is known.
    pub hint: Option<String>,
    /// Where it was noticed, or its cause.
    pub location: Location,
}

impl SyntaxFault {
    /// The finding about it, which begins with what the text is not.
    #[must_use]
    pub fn finding(self, what: &str) -> Diagnostic {
        let finding = Diagnostic::new(Code::FileSyntax, format!("{what}: {}", self.why)).at(self.location);
        match self.hint {
            Some(hint) => finding.hint(hint),
            None => finding,
        }
    }
}

impl Document {
    /// Parses the JSON of a settings file.
    pub(crate) fn parse(file: &Path, text: String) -> Result<Self, Diagnostic> {
        Self::of_json(file, text).map_err(|fault| fault.finding("not valid JSON"))
    }

    /// Parses JSON with comments and trailing commas, and nothing looser than that.
    ///
    /// # Errors
    ///
    /// It is not that.
    pub fn of_json(file: &Path, text: String) -> Result<Self, SyntaxFault> {
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let file: Arc<Path> = file.into();
        // Half of a surrogate pair is no reason to lose the guards of a file, which agents written in JavaScript read.
        let repaired = match without_lone_surrogates(&text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(repaired) => Some(repaired),
        };
        let text = repaired.unwrap_or(text);
        let root = match parse_to_ast(&text, &CollectOptions::default(), &options) {
            Ok(parsed) => parsed.value.map(|value| node(&value)),
            Err(error) => {
                let noticed = error.range().start..error.range().end;
                let is_unterminated =
                    matches!(error.kind(), ParseErrorKind::UnterminatedObject | ParseErrorKind::UnterminatedArray);
                let mut why = lower_first(&error.kind().to_string());
                let (place, hint) = match (find_cause(&text, &noticed, is_unterminated), error.kind()) {
                    (Some(SyntaxCause::OpenString(place)), _) => {
                        why = "a string is not closed on its line".to_owned();
                        (place, Some("add `\"` at the end of the string".to_owned()))
                    }
                    (Some(SyntaxCause::OpenBracket(place)), _) => (place, explain_open(&text)),
                    (None, ParseErrorKind::ExpectedComma) => {
                        (noticed, Some("add a comma behind this value".to_owned()))
                    }
                    (None, ParseErrorKind::ExpectedColonAfterObjectKey) => {
                        (noticed, Some("write `:` between the key and its value".to_owned()))
                    }
                    (None, ParseErrorKind::UnterminatedCommentBlock) => {
                        (noticed, Some("close the comment with `*/`".to_owned()))
                    }
                    (None, _) => (
                        noticed.clone(),
                        explain_word(&text, &noticed).or_else(|| explain_syntax(&text, noticed.start)),
                    ),
                };
                let location = LineIndex::new(text).location(&file, place);
                return Err(SyntaxFault { why, hint, location });
            }
        };
        Ok(Self { file, lines: LineIndex::new(text), root })
    }

    /// A file that was read as this tree.
    pub(super) fn of_tree(file: &Path, text: String, root: PlacedValue) -> Self {
        Self { file: file.into(), lines: LineIndex::new(text), root: Some(root) }
    }

    /// The text of the whole file, in which half a surrogate pair of JSON is replaced.
    #[must_use]
    pub fn text(&self) -> &str {
        self.lines.text()
    }

    /// The value of the whole file; none for a file without any.
    #[must_use]
    pub fn root(&self) -> Option<&PlacedValue> {
        self.root.as_ref()
    }

    /// The place of a span.
    #[must_use]
    pub fn location(&self, span: &Range<usize>) -> Location {
        self.lines.location(&self.file, span.clone())
    }

    /// A finding about a span.
    #[must_use]
    pub fn finding(&self, code: Code, span: &Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, message).at(self.location(span))
    }

    /// A finding about a value that is of another kind than the message says it must be.
    pub(crate) fn mismatch(&self, code: Code, node: &PlacedValue, message: impl std::fmt::Display) -> Diagnostic {
        self.finding(code, &node.span, format!("{message}, not {}", node.described()))
    }

    /// Reports keys of an object that are not known.
    pub(crate) fn unknown_keys(
        &self,
        members: &[(PlacedKey, PlacedValue)],
        known: &[&str],
        of: &str,
        found: &mut Vec<Diagnostic>,
    ) {
        for (key, _) in members.iter().filter(|(key, _)| !known.contains(&key.name.as_str())) {
            let message = format!("`{}` is not a key of {of} and has no effect", key.name);
            found.push(self.finding(Code::UnknownKey, &key.span, message).suggest(&key.name, known.iter().copied()));
        }
    }

    /// Reports keys that an object anywhere below a node has more than once. The last value is used.
    pub(crate) fn duplicate_keys(&self, node: &PlacedValue, found: &mut Vec<Diagnostic>) {
        let of_key = |key: &PlacedKey| {
            let message = format!("duplicate key `{}`; the last value is used", key.name);
            self.finding(Code::DuplicateKey, &key.span, message)
        };
        found.extend(node.repeated_keys().into_iter().map(of_key));
    }
}

impl PlacedValue {
    /// The keys that an object anywhere below has already had.
    #[must_use]
    pub fn repeated_keys(&self) -> Vec<&PlacedKey> {
        let mut repeated = Vec::new();
        let mut waiting = vec![self];
        while let Some(value) = waiting.pop() {
            let mut seen = std::collections::HashSet::new();
            for (key, value) in value.members().unwrap_or_default() {
                if !seen.insert(key.name.as_str()) {
                    repeated.push(key);
                }
                waiting.push(value);
            }
            waiting.extend(value.elements().unwrap_or_default());
        }
        repeated.sort_by_key(|key| key.span.start);
        repeated
    }

    /// What kind of value this is, for messages.
    #[must_use]
    pub fn described(&self) -> &'static str {
        match &self.shape {
            ValueShape::Object(_) => "an object",
            ValueShape::Array(_) => "a list",
            ValueShape::Text(_) => "a string",
            ValueShape::Number(_) => "a number",
            ValueShape::Flag(_) => "a boolean",
            ValueShape::Date(_) => "a date",
            ValueShape::Null => "null",
        }
    }

    /// The same in words of TOML.
    #[must_use]
    pub fn described_plainly(&self) -> &'static str {
        match &self.shape {
            ValueShape::Object(_) => "a table",
            ValueShape::Text(_) => "text",
            ValueShape::Number(_) if self.is_whole() => "a whole number",
            ValueShape::Number(_) => "a number with a fraction",
            ValueShape::Flag(_) => "true or false",
            ValueShape::Array(_) | ValueShape::Date(_) | ValueShape::Null => self.described(),
        }
    }

    /// The member of that name; the last one if there are several.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&PlacedValue> {
        self.member(name).map(|(_, value)| value)
    }

    /// The member of that name with its key.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&(PlacedKey, PlacedValue)> {
        self.members()?.iter().rev().find(|(key, _)| key.name == name)
    }

    /// The members, when this is an object.
    #[must_use]
    pub fn members(&self) -> Option<&[(PlacedKey, PlacedValue)]> {
        match &self.shape {
            ValueShape::Object(members) => Some(members),
            ValueShape::Array(_)
            | ValueShape::Text(_)
            | ValueShape::Number(_)
            | ValueShape::Flag(_)
            | ValueShape::Date(_)
            | ValueShape::Null => None,
        }
    }

    /// The elements, when this is a list.
    #[must_use]
    pub fn elements(&self) -> Option<&[PlacedValue]> {
        match &self.shape {
            ValueShape::Array(elements) => Some(elements),
            ValueShape::Object(_)
            | ValueShape::Text(_)
            | ValueShape::Number(_)
            | ValueShape::Flag(_)
            | ValueShape::Date(_)
            | ValueShape::Null => None,
        }
    }

    /// The elements of a list, or the value itself.
    pub(crate) fn each(&self) -> &[PlacedValue] {
        self.elements().unwrap_or(std::slice::from_ref(self))
    }

    /// The value as grants cover it: members in the order of their names, and only flags are no texts.
    pub(crate) fn to_covered_json(&self) -> serde_json::Value {
        match &self.shape {
            ValueShape::Object(members) => {
                let members = members.iter().map(|(key, value)| (key.name.clone(), value.to_covered_json()));
                members.collect::<BTreeMap<_, _>>().into_iter().collect()
            }
            ValueShape::Array(elements) => elements.iter().map(Self::to_covered_json).collect(),
            ValueShape::Text(text) | ValueShape::Number(text) | ValueShape::Date(text) => text.as_str().into(),
            ValueShape::Flag(flag) => (*flag).into(),
            ValueShape::Null => "null".into(),
        }
    }

    /// The value without its place.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let json = match &self.shape {
            ValueShape::Object(members) => {
                let members = members.iter().map(|(key, value)| (key.name.clone(), value.to_json()));
                return members.collect::<JsonObject>().to_json();
            }
            ValueShape::Array(elements) => Json::of(&elements.iter().map(Self::to_json).collect::<Vec<_>>()),
            ValueShape::Number(number) => Json::parse(number),
            ValueShape::Text(text) => Json::of(text),
            ValueShape::Flag(flag) => Json::of(flag),
            // JSON has no dates, and as a text one could pass for a name or a path.
            ValueShape::Date(_) | ValueShape::Null => Ok(Json::null()),
        };
        json.unwrap_or_else(|_| Json::null())
    }

    /// The text, when this is a string.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        if let ValueShape::Text(text) = &self.shape { Some(text) } else { None }
    }

    /// Whether this is a number without a fraction.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        matches!(&self.shape, ValueShape::Number(number) if number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
    }

    /// The whole number, when this is one that is not negative.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        if let ValueShape::Number(number) = &self.shape { number.parse().ok() } else { None }
    }

    /// The flag, when this is one.
    #[must_use]
    pub fn flag(&self) -> Option<bool> {
        if let ValueShape::Flag(flag) = self.shape { Some(flag) } else { None }
    }
}

fn node(value: &ast::Value<'_>) -> PlacedValue {
    let range = value.range();
    let shape = match value {
        ast::Value::StringLit(text) => ValueShape::Text(text.value.clone().into_owned()),
        ast::Value::NumberLit(number) => ValueShape::Number(number.value.to_owned()),
        ast::Value::BooleanLit(flag) => ValueShape::Flag(flag.value),
        ast::Value::NullKeyword(_) => ValueShape::Null,
        ast::Value::Array(list) => ValueShape::Array(list.elements.iter().map(node).collect()),
        ast::Value::Object(object) => ValueShape::Object(object.properties.iter().map(member).collect()),
    };
    PlacedValue { span: range.start..range.end, shape }
}

fn member(property: &ast::ObjectProp<'_>) -> (PlacedKey, PlacedValue) {
    let range = match &property.name {
        ast::ObjectPropName::String(text) => text.range,
        ast::ObjectPropName::Word(word) => word.range,
    };
    let key = PlacedKey { name: property.name.as_str().to_owned(), span: range.start..range.end };
    (key, node(&property.value))
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Document, Diagnostic> {
        Document::parse(Path::new("f.json"), text.to_owned())
    }

    #[test]
    fn comments_and_trailing_commas_are_fine_and_positions_are_kept() {
        let document = parse("// c\n{\n  \"a\": [1, /* x */ 2,],\n}\n").unwrap();
        let a = document.root().unwrap().get("a").unwrap();
        let place = document.location(&a.span);
        assert_eq!((place.line, place.column), (3, 8));
        assert_eq!(a.elements().unwrap().len(), 2);
    }

    #[test]
    fn anything_looser_is_an_error_with_a_place() {
        for text in ["{a:1}", "{'a':1}", "{\"a\":1 \"b\":2}", "{\"a\":0x1}", "{\"a\":", "{} {}"] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.code, Code::FileSyntax, "{text}");
            assert_eq!(error.location.unwrap().line, 1, "{text}");
        }
    }

    #[test]
    fn a_repeated_key_is_reported_and_the_last_one_counts() {
        let document = parse("{\"a\":1,\n\"a\":2}").unwrap();
        let mut found = Vec::new();
        document.duplicate_keys(document.root().unwrap(), &mut found);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].location.as_ref().unwrap().line, 2);
        assert!(matches!(&document.root().unwrap().get("a").unwrap().shape, ValueShape::Number(n) if n == "2"));
    }
}
