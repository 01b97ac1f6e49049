//! What `docs/reference/modules.md` lists is there.

use super::common::{Project, reason, tool_call};

const GUIDE: &str = include_str!("../../../../docs/reference/modules.md");

/// The names in backticks of one part of the guide.
fn names(heading: &str, from: &str, to: &str) -> Vec<String> {
    let section = GUIDE.split(&format!("\n## {heading}\n")).nth(1).unwrap().split("\n## ").next().unwrap();
    let part = section.split(from).nth(1).unwrap().split(to).next().unwrap();
    part.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

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

#[test]
fn every_import_of_the_agents_packages_exists() {
    let packages = [
        ("xcsh", "`pi-coding-agent`: ", "* `pi-ai`"),
        ("pi-ai", "* `pi-ai`: ", ";"),
        ("pi-tui", "* `pi-tui`: ", "\n*"),
    ];
    for (package, from, to) in packages {
        let names = names("Imports", from, to);
        assert!(names.len() > 3, "{names:?}");
        let list = names.join(", ");
        let all = evaluates(
            &format!("import {{ {list} }} from '@f5xc-salesdemos/{package}';"),
            &format!("[{list}].every((value) => value !== undefined)"),
        );
        assert_eq!(all, "true", "{package}: {list}");
    }
}

#[test]
fn every_module_of_node_exists() {
    let modules = names("Imports", "with or without `node:`: ", ", each");
    assert!(modules.len() > 10, "{modules:?}");
    for module in modules {
        for name in [module.clone(), format!("node:{module}")] {
            assert_eq!(evaluates(&format!("import it from '{name}';"), "typeof it !== 'undefined'"), "true", "{name}");
        }
    }
}

#[test]
fn every_global_exists() {
    let globals = names("The world around a module", "`console`", "What a module prints");
    let globals: Vec<_> = globals.iter().filter(|name| !name.contains('(')).collect();
    assert!(globals.len() > 15, "{globals:?}");
    for name in ["URL", "Bun.file", "crypto.randomUUID", "structuredClone", "performance.now", "fetch", "AbortSignal"] {
        assert_eq!(evaluates("", &format!("typeof {name}")), "function", "{name}");
    }
}

#[test]
fn every_member_of_pi_and_ctx_exists() {
    let pi = ["on", "sendMessage", "appendEntry", "registerCommand", "registerMessageRenderer", "exec"];
    for name in pi {
        assert!(GUIDE.contains(&format!("| `{name}(")), "{name}");
        assert_eq!(evaluates("", &format!("typeof pi.{name}")), "function");
    }
    for (heading, object) in [
        ("* `ui`: ", "ctx.ui"),
        ("* `sessionManager`: ", "ctx.sessionManager"),
        ("* `modelRegistry`: ", "ctx.modelRegistry"),
    ] {
        for name in names("ctx", heading, if object == "ctx.ui" { "(" } else { "." }) {
            assert_ne!(evaluates("", &format!("typeof {object}.{name}")), "undefined", "{object}.{name}");
        }
    }
}
