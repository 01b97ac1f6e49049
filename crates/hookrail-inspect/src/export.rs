//! One file that shows records without a server.
//!
//! The scripts are joined into one, and the content security policy names its digest, so that a record cannot bring code of
//! its own. Joining is simple because every import stands on one line.

use std::fmt::Write as _;

use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::row::row_of;
use crate::{JournalLines, PageTitle, assets};

/// Writes the last records of a journal as one HTML document.
#[must_use]
pub fn export(lines: JournalLines, last: usize, title: &PageTitle) -> String {
    let mut kept = std::collections::VecDeque::new();
    for line in lines {
        if kept.len() == last {
            kept.pop_front();
        }
        kept.push_back(line);
    }
    let mut rows = String::from("[");
    let mut records = String::from("[");
    for (number, line) in (0_u64..).zip(&kept) {
        if number > 0 {
            rows.push(',');
            records.push(',');
        }
        rows.push_str(&row_of(number, line));
        // A line that is no JSON would break the whole document.
        let whole = line.as_deref().ok().filter(|line| serde_json::from_str::<&RawValue>(line).is_ok());
        records.push_str(whole.unwrap_or("null"));
    }
    rows.push(']');
    records.push(']');
    let about =
        serde_json::json!({ "version": title.version, "project": title.project, "events": [], "tester": "none" });
    let data = [("about", about.to_string()), ("rows", rows), ("records", records)];
    document(&data)
}

fn document(data: &[(&str, String)]) -> String {
    let script = joined_modules();
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; \
         form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        digest(&script),
        digest(assets::STYLE)
    );
    let mut blocks = String::new();
    for (name, json) in data {
        // A `<` inside of JSON stands in a string, where it can be written like this; then nothing ends the block early.
        let json = json.replace('<', "\\u003c");
        let _ = writeln!(blocks, "<script type=\"application/json\" id=\"data-{name}\">{json}</script>");
    }
    let head =
        format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<style>{}</style>", assets::STYLE);
    let end = format!("{blocks}<script type=\"module\">{script}</script>");
    assets::INDEX
        .replace("<link rel=\"stylesheet\" href=\"/style.css\">", &head)
        .replace("<script type=\"module\" src=\"/app.js\"></script>", &end)
}

/// All modules as one script: each one is a function that returns what it exports.
fn joined_modules() -> String {
    let mut script = String::from("\n");
    for (path, text) in assets::MODULES {
        let mut exported = Vec::new();
        let _ = writeln!(script, "const {} = (() => {{", variable(path));
        for line in text.lines() {
            if let Some((names, from)) = line.strip_prefix("import ").and_then(|import| import.split_once(" from ")) {
                let _ = writeln!(script, "const {names} = {};", variable(from));
                continue;
            }
            let definition = line.strip_prefix("export ");
            exported.extend(definition.and_then(defined_name));
            let _ = writeln!(script, "{}", definition.unwrap_or(line));
        }
        let _ = writeln!(script, "return {{ {} }};\n}})();", exported.join(", "));
    }
    script
}

/// The variable that holds what a module exports.
fn variable(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    format!("module_{}", name.split('.').next().unwrap_or_default())
}

/// The name in `async function name(`, `function name(` or `const name =`.
fn defined_name(definition: &str) -> Option<&str> {
    let rest = definition.strip_prefix("async ").unwrap_or(definition);
    let rest = rest.strip_prefix("function ").or_else(|| rest.strip_prefix("const "))?;
    rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

fn digest(text: &str) -> String {
    base64(&Sha256::digest(text.as_bytes()))
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS.get((bits >> (18 - 6 * at) & 63) as usize).copied().unwrap_or_default();
            text.push(if at <= group.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        let encoded = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes()));
        assert_eq!(encoded, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
    }

    #[test]
    fn a_record_cannot_end_its_block_and_a_broken_one_breaks_nothing() {
        let lines = [
            Ok(r#"{"seq":1,"kind":"fired","tool":"</script><script>alert(1)</script><!--"}"#.to_owned()),
            Ok("not json </script>".to_owned()),
            Err("line 3 </script>".to_owned()),
        ];
        let html = export(Box::new(lines.into_iter()), 10, &PageTitle::default());
        assert_eq!(html.matches("</script>").count(), 4, "three blocks of data and one script");
        let rows = html.split("id=\"data-rows\">").nth(1).unwrap().split("</script>").next().unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(rows).unwrap().as_array().unwrap().len(), 3);
    }

    #[test]
    fn only_the_last_records_are_exported() {
        let lines = (0..50).map(|seq| Ok(format!(r#"{{"seq":{seq},"kind":"fired"}}"#)));
        let html = export(Box::new(lines), 5, &PageTitle::default());
        assert!(html.contains(r#""seq":45"#) && !html.contains(r#""seq":44"#));
    }
}
