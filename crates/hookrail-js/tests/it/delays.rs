//! However long modules and commands take, and whichever of them ends first, the same event comes to the same outcome.

use std::path::Path;

use super::common::{Project, limits, tool_call};
use hookrail::document::outcome_document;
use hookrail::hook::Action;
use hookrail::sources::{Origin, SourceKind};
use hookrail::{DialectId, EventKind, Hook};
use hookrail_js::Modules;
use serde_json::Value;

/// A module that waits as long as its file says, and then does something.
fn module(name: &str, then: &str) -> String {
    format!(
        "import {{ readFileSync }} from 'node:fs';\nexport default (pi) => {{ pi.on('tool_call', async (event) => {{\n  \
         await new Promise((go) => setTimeout(go, Number(readFileSync('{name}.delay', 'utf8'))));\n  {then}\n}}); }};"
    )
}

/// A command that does the same. The file is outside of the project, so that the command is always the same hook.
fn command(waits: &Path, name: &str, says: &str) -> Hook {
    let line = format!("sleep $(cat {}/{name}.delay | awk '{{print $1/1000}}'); echo '{says}'", waits.display());
    let origin = Origin::without_file(SourceKind::User);
    Hook::new(EventKind::BeforeTool, DialectId::Llxprt, name, Action::Shell(line.as_str().into()), origin)
}

#[test]
fn delays_of_modules_and_commands_change_nothing() {
    let project = Project::new();
    project.write("a.ts", module("a", "console.log(JSON.stringify(event.input)); return undefined;"));
    project.write("b.ts", module("b", "throw new Error('guard');"));
    project.write("c.ts", module("c", "return { block: true, reason: 'never asked' };"));
    let names = ["a", "b", "c", "d", "e"];
    let outside = tempfile::tempdir().unwrap();
    let waits = outside.path();
    let rewrites = [command(waits, "d", r#"{"hookSpecificOutput":{"tool_input":{"command":"d"}}}"#)];
    let asks = [command(waits, "e", r#"{"decision":"ask","reason":"e","systemMessage":"e"}"#)];
    let builder = project.builder(&["a.ts", "b.ts", "c.ts"]).runner(Modules::with_limits(limits()));
    let system = rewrites.into_iter().chain(asks).fold(builder, |builder, hook| builder.hook(hook)).build();
    let mut seen: Vec<Value> = Vec::new();
    for turn in 0..5 {
        for (at, name) in names.iter().enumerate() {
            let (file, delay) = (format!("{name}.delay"), ((at + turn) % names.len() * 15).to_string());
            std::fs::write(waits.join(&file), &delay).unwrap();
            project.write(&file, delay);
        }
        let mut document = outcome_document(&system.fire_blocking(tool_call(&system))).to_value();
        document["aggregated"]["totalDuration"] = Value::Null;
        for run in document["runs"].as_array_mut().unwrap() {
            (run["durationMs"], run["startedMs"]) = (Value::Null, Value::Null);
        }
        seen.push(document);
    }
    assert_eq!(seen[0]["decision"], "deny");
    assert_eq!(seen[0]["runs"][2]["stdout"], "{\"command\":\"d\"}\n", "a module judges what would really run");
    assert_eq!(seen[0]["skipped"][0]["why"], "chain-ended");
    for other in &seen[1..] {
        assert_eq!(other, &seen[0]);
    }
}
