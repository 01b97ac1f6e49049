//! `docs/reference/modules.md` is true: its sample blocks, and its names are those of the declarations, which `types` compares with
//! what the runtime offers.

use std::fmt::Write as _;
use std::path::Path;

use hookrail_js::{module_declarations, world_declarations};

use super::common::{Project, reason, tool_call};

const GUIDE: &str = include_str!("../../../../docs/reference/modules.md");
const BEGIN: &str =
    "<!-- Made from the declarations: run `HOOKRAIL_BLESS=1 cargo test -p hookrail-js --test it documented`. -->\n";
const END: &str = "<!-- End of what was made. -->";

fn evaluates(imports: &str, expression: &str) -> String {
    let project = Project::new();
    let source = format!(
        "{imports}\nexport default (pi) => {{ pi.on('tool_call', async (event, ctx) => ({{ block: true, reason: String({expression}) }})); }};"
    );
    let system = project.module(&source);
    reason(&system.fire_blocking(tool_call(&system)))
}

#[test]
fn the_sample_blocks() {
    let sample = GUIDE.split("```ts\n").nth(1).unwrap().split("```").next().unwrap();
    let project = Project::new();
    let system = project.module(sample);
    let event = tool_call(&system).with("tool_input", super::common::json(r#"{"command":"rm -rf /"}"#));
    assert_eq!(reason(&system.fire_blocking(event)), "blocked by policy");
}

/// The lines of a block, without those of the blocks in it, as far as they stand at this depth.
fn block<'a>(declarations: &'a str, head: &str, depth: usize) -> Vec<&'a str> {
    let (_, rest) = declarations.split_once(head).unwrap_or_else(|| panic!("there is no `{head}`"));
    let end = format!("\n{}}}", "\t".repeat(depth));
    let body = rest.split_once(&end).map_or(rest, |(body, _)| body);
    let indent = "\t".repeat(depth + 1);
    let lines = body.lines().filter_map(|line| line.strip_prefix(&indent));
    lines.filter(|line| line.starts_with(char::is_alphabetic)).collect()
}

/// The name at the begin of a text.
fn name(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | '$')).unwrap_or(text.len());
    &text[..end]
}

/// Each name once, in its order.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !name.is_empty() && !found.contains(&name) {
            found.push(name);
        }
    }
    assert!(!found.is_empty());
    found
}

/// The members of an interface.
fn members<'a>(declarations: &'a str, interface: &str) -> Vec<&'a str> {
    let head = format!("\texport interface {interface} ");
    let lines = block(declarations, &head, 1);
    listed(lines.into_iter().map(|line| name(line.strip_prefix("readonly ").unwrap_or(line))))
}

/// What a module exports that is there at run time.
fn exports<'a>(declarations: &'a str, module: &str) -> Vec<&'a str> {
    let lines = block(declarations, &format!("declare module \"{module}\" {{"), 0);
    listed(lines.into_iter().filter_map(|line| {
        let rest = line.strip_prefix("export ")?;
        ["function ", "const ", "class ", "{ "].iter().find_map(|kind| rest.strip_prefix(kind)).map(name)
    }))
}

/// The names that stand outside of all modules.
fn globals(declarations: &str) -> Vec<&str> {
    listed(declarations.lines().filter_map(|line| {
        let rest = line.strip_prefix("declare ")?;
        ["function ", "var ", "const ", "class "].iter().find_map(|kind| rest.strip_prefix(kind)).map(name)
    }))
}

fn modules_of_node(declarations: &str) -> Vec<&str> {
    listed(declarations.lines().filter_map(|line| line.strip_prefix("declare module \"node:")?.strip_suffix("\" {")))
}

/// The members of `pi`, with what their comments say.
fn api() -> String {
    let declarations = module_declarations();
    let (_, body) = declarations.split_once("\texport interface HookAPI {\n").unwrap();
    let (body, _) = body.split_once("\n\t}").unwrap();
    let mut table = "| member | what it does |\n|---|---|\n".to_owned();
    let mut about = "";
    for line in body.lines().map(str::trim) {
        match line.strip_prefix("/** ").and_then(|line| line.strip_suffix(" */")) {
            Some(comment) => about = comment,
            None => {
                let member = name(line.strip_prefix("readonly ").unwrap_or(line));
                let _ = writeln!(table, "| `{member}` | {about} |");
            }
        }
    }
    table
}

fn table() -> String {
    let (pi, world) = (module_declarations(), world_declarations());
    let rows = [
        ("`ctx`", members(&pi, "HookContext")),
        ("`ctx` of a command, besides", members(&pi, "HookCommandContext")),
        ("`ctx.ui`", members(&pi, "HookUI")),
        ("`ctx.ui.theme`", members(&pi, "Theme")),
        ("`ctx.sessionManager`", members(&pi, "SessionManager")),
        ("the manager that `setup` gets, besides", members(&pi, "WritableSessionManager")),
        ("`ctx.modelRegistry`", members(&pi, "ModelRegistry")),
        ("packages `xcsh`, `pi-coding-agent`", exports(&pi, "hookrail:agent")),
        ("package `pi-ai`", exports(&pi, "hookrail:ai")),
        ("package `pi-tui`", exports(&pi, "hookrail:tui")),
        ("package `typebox`", exports(&pi, "hookrail:typebox")),
        ("package `bun`, and `Bun`", exports(&world, "bun")),
        ("modules of Node", modules_of_node(&world)),
        ("globals", globals(&world)),
    ];
    let mut table = "| where | names |\n|---|---|\n".to_owned();
    for (place, names) in rows {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(table, "| {place} | {} |", names.join(", "));
    }
    table
}

#[test]
fn the_names_are_those_of_the_declarations() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/modules.md");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut pieces = text.split(BEGIN);
    let mut current = pieces.next().unwrap().to_owned();
    let rests: Vec<&str> = pieces.collect();
    assert_eq!(rests.len(), 2, "the page has other parts than those that are made");
    for (rest, part) in rests.iter().zip([api(), table()]) {
        let (_, tail) = rest.split_once(END).unwrap();
        current = format!("{current}{BEGIN}\n{part}\n{END}{tail}");
    }
    if std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1") {
        std::fs::write(&file, &current).unwrap();
        return;
    }
    assert!(text == current, "docs/reference/modules.md is not current: run the command that it names");
}

#[test]
fn every_module_of_node_exists() {
    let world = world_declarations();
    let modules = modules_of_node(&world);
    assert!(modules.len() > 10, "{modules:?}");
    for module in modules {
        for name in [module.to_owned(), format!("node:{module}")] {
            assert_eq!(evaluates(&format!("import it from '{name}';"), "typeof it !== 'undefined'"), "true", "{name}");
        }
    }
}
