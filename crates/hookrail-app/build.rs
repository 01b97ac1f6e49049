//! Puts the pages of the documentation into the program: those that `docs/SUMMARY.md` lists, but for the parts that only readers
//! of the repository need. Pages that the program makes from its own tables have no text here.

use std::fmt::Write as _;
use std::path::Path;

/// Parts of the list whose pages are not in the program.
const LEFT_OUT: [&str; 2] = ["Evidence", "For implementers"];

/// A line of the pages that `hookrail reference` prints.
const PRINTED_FROM_TABLES: &str = "<!-- Made by `hookrail reference`";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let docs = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("docs");
    let summary = docs.join("SUMMARY.md");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", summary.display());
    let mut part = "";
    let mut pages = String::from("&[\n");
    let list = std::fs::read_to_string(&summary)?;
    for line in list.lines() {
        if let Some(name) = line.strip_prefix("# ") {
            part = name;
        }
        let link = line.trim_start().strip_prefix("- [").and_then(|rest| rest.strip_suffix(".md)")?.split_once("]("));
        let Some((title, topic)) = link.filter(|_| !LEFT_OUT.contains(&part)) else { continue };
        let file = docs.join(topic).with_extension("md");
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let text = if text.contains(PRINTED_FROM_TABLES) {
            "None".to_owned()
        } else {
            format!("Some(include_str!({file:?}))")
        };
        writeln!(pages, "Page {{ part: {part:?}, topic: {topic:?}, title: {title:?}, text: {text} }},")?;
    }
    pages.push(']');
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("pages.rs"), pages)?;
    Ok(())
}
