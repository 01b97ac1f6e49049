//! TOML as a tree of values with their places, so that settings are read alike in both formats.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::positions::{Document, Key, Node, Shape};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::Location;

impl Document {
    /// Parses TOML.
    pub(crate) fn parse_toml(file: &Path, text: String) -> Result<Self, Diagnostic> {
        let end = text.len();
        let root = match DeTable::parse(&text) {
            Ok(table) => Node { span: 0..end, shape: table_shape(table.get_ref()) },
            Err(error) => {
                let place = error.span().unwrap_or(end..end);
                let why = error.message().lines().next().unwrap_or_default();
                let finding = Diagnostic::new(Code::FileSyntax, format!("not valid TOML: {why}"));
                return Err(finding.at(Location::in_text(file, &text, place)));
            }
        };
        Ok(Self::of_tree(file, text, root))
    }
}

fn table_shape(table: &DeTable<'_>) -> Shape {
    let mut members: Vec<(Key, Node)> = table
        .iter()
        .map(|(key, value)| (Key { name: key.get_ref().to_string(), span: key.span() }, node(value)))
        .collect();
    // The parser sorts tables by name; hooks run and findings come in the order of the file.
    members.sort_by_key(|(key, _)| key.span.start);
    Shape::Object(members)
}

fn node(value: &Spanned<DeValue<'_>>) -> Node {
    let shape = match value.get_ref() {
        DeValue::String(text) => Shape::Text(text.to_string()),
        DeValue::Boolean(flag) => Shape::Flag(*flag),
        DeValue::Array(list) => Shape::Array(list.iter().map(node).collect()),
        DeValue::Table(table) => table_shape(table),
        DeValue::Integer(number) => Shape::Number(number.as_str().to_owned()),
        DeValue::Float(number) => Shape::Number(number.as_str().to_owned()),
        DeValue::Datetime(date) => Shape::Text(date.to_string()),
    };
    Node { span: value.span(), shape }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_has_the_places_of_the_file_and_its_order() {
        let text = "[z]\nb = 1\na = [\"x\", true]\n[[a.list]]\nk = 2.5\n".to_owned();
        let document = Document::parse_toml(Path::new("config.toml"), text).unwrap();
        let root = document.root().unwrap();
        let names: Vec<&str> = root.members().unwrap().iter().map(|(key, _)| key.name.as_str()).collect();
        assert_eq!(names, ["z", "a"]);
        assert_eq!(root.to_json().text(), r#"{"z":{"b":1,"a":["x",true]},"a":{"list":[{"k":2.5}]}}"#);
        let (key, _) = root.get("z").unwrap().member("a").unwrap();
        let place = document.location(&key.span);
        assert_eq!((place.line, place.column), (3, 1));
        let broken = Document::parse_toml(Path::new("config.toml"), "a = [".to_owned()).unwrap_err();
        assert_eq!(broken.code, Code::FileSyntax);
    }
}
