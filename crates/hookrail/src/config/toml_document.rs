//! TOML as a tree of values with their places, so that settings are read alike in both formats.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::positions::{Document, PlacedKey, PlacedValue, SyntaxFault, ValueShape};
use crate::config::diagnostic::Diagnostic;
use crate::config::source::Location;

impl Document {
    /// Parses the TOML of a settings file.
    pub(crate) fn parse_toml(file: &Path, text: String) -> Result<Self, Diagnostic> {
        Self::of_toml(file, text).map_err(|fault| fault.finding("not valid TOML"))
    }

    /// Parses TOML.
    ///
    /// # Errors
    ///
    /// It is not that.
    pub fn of_toml(file: &Path, text: String) -> Result<Self, SyntaxFault> {
        let end = text.len();
        let root = match DeTable::parse(&text) {
            Ok(table) => PlacedValue { span: 0..end, shape: table_shape(table.get_ref()) },
            Err(error) => {
                let place = error.span().unwrap_or(end..end);
                let why = error.message().lines().next().unwrap_or_default().to_owned();
                return Err(SyntaxFault { why, hint: None, location: Location::in_text(file, &text, place) });
            }
        };
        Ok(Self::of_tree(file, text, root))
    }
}

fn table_shape(table: &DeTable<'_>) -> ValueShape {
    let member = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        (PlacedKey { name: key.get_ref().to_string(), span: key.span() }, node(value))
    };
    let mut members: Vec<(PlacedKey, PlacedValue)> = table.iter().map(member).collect();
    // The parser sorts tables by name; hooks run and findings come in the order of the file.
    members.sort_by_key(|(key, _)| key.span.start);
    ValueShape::Object(members)
}

fn node(value: &Spanned<DeValue<'_>>) -> PlacedValue {
    let shape = match value.get_ref() {
        DeValue::String(text) => ValueShape::Text(text.to_string()),
        DeValue::Boolean(flag) => ValueShape::Flag(*flag),
        DeValue::Array(list) => ValueShape::Array(list.iter().map(node).collect()),
        DeValue::Table(table) => table_shape(table),
        DeValue::Integer(number) => ValueShape::Number(whole(number)),
        DeValue::Float(number) => ValueShape::Number(decimal(number.as_str())),
        DeValue::Datetime(date) => ValueShape::Date(date.to_string()),
    };
    PlacedValue { span: value.span(), shape }
}

/// A whole number as JSON writes it. One of another base that is too large is the largest of all, which no reader takes.
fn whole(number: &DeInteger<'_>) -> String {
    match number.radix() {
        10 => decimal(number.as_str()),
        radix => i128::from_str_radix(&number.as_str().replace('_', ""), radix).unwrap_or(i128::MAX).to_string(),
    }
}

fn decimal(written: &str) -> String {
    let digits = written.replace('_', "");
    digits.strip_prefix('+').unwrap_or(&digits).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::diagnostic::Code;

    #[test]
    fn a_number_is_as_json_writes_it_and_a_date_is_no_text() {
        let text = "n = [1_000, +5, -0, 0xff, 0o17, 0b11, 1_0.5, +1e3]\nd = 2027-01-31\n".to_owned();
        let document = Document::of_toml(Path::new("config.toml"), text).unwrap();
        let root = document.root().unwrap();
        assert_eq!(root.to_json().text(), r#"{"n":[1000,5,-0,255,15,3,10.5,1e3],"d":null}"#);
        let counts: Vec<_> = root.get("n").unwrap().elements().unwrap().iter().map(PlacedValue::count).collect();
        assert_eq!(counts, [Some(1000), Some(5), None, Some(255), Some(15), Some(3), None, None]);
        let large = Document::of_toml(Path::new("config.toml"), format!("n = 0x{}", "f".repeat(40))).unwrap();
        let large = large.root().unwrap().get("n").unwrap();
        assert_eq!((large.is_whole(), large.count()), (true, None));
        let date = root.get("d").unwrap();
        assert_eq!((date.text(), date.described()), (None, "a date"));
    }

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
        assert!(broken.message.starts_with("not valid TOML: "), "{}", broken.message);
    }
}
