//! Findings in the forms of other programs: workflow commands of GitHub and SARIF.

use std::path::Path;

use hookrail::{Code, Diagnostic, Json, Level};
use serde_json::{Value, json};

/// Returns one workflow command per diagnostic, which GitHub shows beside the changed line.
pub fn github(diagnostics: &[Diagnostic], root: &Path) -> String {
    diagnostics.iter().map(|diagnostic| command(diagnostic, root)).collect()
}

fn command(diagnostic: &Diagnostic, root: &Path) -> String {
    let level = match diagnostic.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    let place = diagnostic.location.as_ref().map(|place| (path_in(root, &place.file), place.line, place.column));
    let place = place.as_ref().map(|(file, line, column)| (file.as_str(), *line, *column));
    let hint = diagnostic.hint.as_ref().map_or_else(String::new, |hint| format!("\nhelp: {hint}"));
    annotation(level, place, diagnostic.code.name(), &format!("{}{hint}", diagnostic.message))
}

/// Returns a workflow command about a place: a file, a line and a column.
pub fn annotation(level: &str, place: Option<(&str, u32, u32)>, title: &str, text: &str) -> String {
    let place = place
        .map_or_else(String::new, |(file, line, column)| format!("file={},line={line},col={column},", property(file)));
    format!("::{level} {place}title={}::{}\n", property(title), data(text))
}

/// Escapes the text of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

fn path_in(root: &Path, file: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).to_string_lossy().into_owned()
}

/// Returns a log in the format SARIF 2.1.0.
pub fn sarif(diagnostics: &[Diagnostic], root: &Path) -> Json {
    let mut codes: Vec<Code> = Vec::new();
    for diagnostic in diagnostics {
        if !codes.contains(&diagnostic.code) {
            codes.push(diagnostic.code);
        }
    }
    let rules: Vec<Value> =
        codes.iter().map(|code| json!({"id": code.name(), "shortDescription": {"text": code.meaning()}})).collect();
    let results: Vec<Value> = diagnostics.iter().map(|diagnostic| result(diagnostic, root)).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "hookrail", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    Json::of(&log).unwrap_or_else(|_| Json::null())
}

fn result(diagnostic: &Diagnostic, root: &Path) -> Value {
    let hint = diagnostic.hint.as_ref().map_or_else(String::new, |hint| format!(". Help: {hint}"));
    let place = diagnostic.location.as_ref().filter(|place| !place.file.as_os_str().is_empty());
    let locations = place.map(|place| {
        let region = json!({"startLine": place.line, "startColumn": place.column});
        let uri = path_in(root, &place.file).replace('%', "%25").replace(' ', "%20");
        let physical = json!({"artifactLocation": {"uri": uri}, "region": region});
        json!({"physicalLocation": physical})
    });
    json!({
        "ruleId": diagnostic.code.name(),
        "level": diagnostic.level.name(),
        "message": {"text": format!("{}{hint}", diagnostic.message)},
        "locations": Vec::from_iter(locations),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookrail::sources::Location;

    #[test]
    fn a_message_cannot_add_a_command() {
        let place = Location::in_text(Path::new("/p/a,b:c.json"), "x", 0..1);
        let diagnostic = Diagnostic::new(Code::UnknownKey, "100%\n::error::x").at(place).hint("do it");
        let text = github(&[diagnostic], Path::new("/p"));
        assert_eq!(
            text,
            "::warning file=a%2Cb%3Ac.json,line=1,col=1,title=unknown-key::100%25%0A::error::x%0Ahelp: do it\n"
        );
    }
}
