//! The TypeScript declarations have what the runtime has: a module lists the members of everything it can reach, and each of
//! them has a declaration.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::common::{Project, Scripted, block_on};
use hookrail::Host;
use hookrail_js::{module_declarations, world_declarations};

/// Lists members: `exact` for what must have the declared members and no others, `least` for what must have at least
/// declarations for these.
const PROBE: &str = r#"
import { writeFileSync } from "node:fs";
import * as agent from "@scope/xcsh/hooks";
import * as ai from "@scope/pi-ai";
import * as tui from "@scope/pi-tui";
import * as typebox from "@sinclair/typebox";
import * as bun from "bun";
import * as path from "node:path";
import * as fs from "node:fs";
import * as fsPromises from "node:fs/promises";
import * as os from "node:os";
import * as childProcess from "node:child_process";
import * as crypto_ from "node:crypto";
import * as events from "node:events";
import * as util from "node:util";
import * as module_ from "node:module";
import * as url from "node:url";
import * as timersPromises from "node:timers/promises";
import * as timers from "node:timers";
import * as perfHooks from "node:perf_hooks";
import * as assert from "node:assert";
import * as process_ from "node:process";
import * as buffer from "node:buffer";

const own = (value) => Object.getOwnPropertyNames(value).filter((name) => name !== "constructor");
export default function (pi) {
	pi.registerCommand("probe", {
		handler: async (_args, ctx) => {
			const inCommands = ["waitForIdle", "newSession", "branch", "navigateTree"];
			const exact = {
				HookAPI: Object.keys(pi),
				HookContext: own(ctx).filter((name) => !inCommands.includes(name)),
				HookCommandContext: own(ctx).filter((name) => inCommands.includes(name)),
				HookUI: own(ctx.ui),
				SessionManager: own(Object.getPrototypeOf(ctx.sessionManager)),
				ModelRegistry: own(Object.getPrototypeOf(ctx.modelRegistry)),
				Theme: Object.keys(ctx.ui.theme),
				Logger: Object.keys(pi.logger),
				TypeBuilder: Object.keys(pi.typebox.Type),
				Console: Object.keys(console),
				Process: Object.keys(process),
				"bun": Object.keys(Bun),
				"hookrail:agent": Object.keys(agent), "hookrail:ai": Object.keys(ai), "hookrail:tui": Object.keys(tui), "hookrail:typebox": Object.keys(typebox),
				"node:path": Object.keys(path), "node:fs": Object.keys(fs), "node:fs/promises": Object.keys(fsPromises), "node:os": Object.keys(os),
				"node:child_process": Object.keys(childProcess), "node:crypto": Object.keys(crypto_), "node:events": Object.keys(events), "node:util": Object.keys(util), "node:module": Object.keys(module_),
				"node:url": Object.keys(url), "node:timers/promises": Object.keys(timersPromises), "node:timers": Object.keys(timers),
				"node:perf_hooks": Object.keys(perfHooks), "node:assert": Object.keys(assert), "node:process": Object.keys(process_), "node:buffer": Object.keys(buffer),
			};
			await ctx.newSession({ setup: (manager) => void (exact.WritableSessionManager = own(Object.getPrototypeOf(manager))) });
			const least = { globals: Object.getOwnPropertyNames(globalThis), BunFile: Object.keys(Bun.file("x")), BunShellCommand: own(Object.getPrototypeOf(Bun.$`true`)) };
			for (const name of ["URL", "URLSearchParams", "TextEncoder", "TextDecoder", "Blob", "AbortController", "AbortSignal", "Event", "EventTarget", "CustomEvent", "DOMException", "Headers", "Request", "Response"]) least[name] = own(globalThis[name].prototype);
			least.Buffer = own(Buffer.prototype);
			least.BufferConstructor = own(Buffer).filter((name) => !["length", "name", "prototype"].includes(name));
			least.EventEmitter = own(events.EventEmitter.prototype);
			for (const [name, value] of [...Object.entries(tui), ...Object.entries(agent)]) {
				if (/^[A-Z]/.test(name) && typeof value === "function" && Object.hasOwn(value, "prototype") && own(value.prototype).includes("render")) least[name] = own(value.prototype);
			}
			writeFileSync("members.json", JSON.stringify({ exact, least }));
		},
	});
}
"#;

/// Members that fail by name when they are used, so they have no declaration.
const NOT_THERE: &[(&str, &[&str])] = &[
    (
        "HookAPI",
        &[
            "zod",
            "arktype",
            "send",
            "events",
            "registerTool",
            "registerFlag",
            "getFlag",
            "registerShortcut",
            "registerProvider",
            "setLabel",
            "sendUserMessage",
            "setActiveTools",
            "setModel",
            "getThinkingLevel",
            "setThinkingLevel",
            "getSessionName",
            "setSessionName",
            "getActiveTools",
            "getAllTools",
            "getCommands",
        ],
    ),
    (
        "HookUI",
        &[
            "setWidget",
            "setTitle",
            "setFooter",
            "setHeader",
            "setWorkingMessage",
            "pasteToEditor",
            "setEditorComponent",
        ],
    ),
    ("SessionManager", &["allocateArtifactPath", "putBlob"]),
    ("Process", &["exit", "abort", "chdir"]),
    (
        "hookrail:agent",
        &[
            "createAgentSession",
            "discoverHooks",
            "AgentSession",
            "main",
            "SessionManager",
            "ModelRegistry",
            "SettingsManager",
            "messageTransformer",
        ],
    ),
    ("hookrail:ai", &["stream", "streamSimple"]),
    ("hookrail:tui", &["Editor", "SettingsList", "Image", "TUI", "ProcessTerminal", "CombinedAutocompleteProvider"]),
    ("Blob", &["stream"]),
    ("globals", &["Intl", "WebSocket", "XMLHttpRequest", "Worker", "babelHelpers", "__hookrail"]),
    // A promise's own methods.
    ("BunShellCommand", &["then", "catch", "finally"]),
    ("DOMException", &["name"]),
];

/// What the language itself has; the libraries of the compiler declare it.
const LANGUAGE: &[&str] = &[
    "AggregateError",
    "Array",
    "ArrayBuffer",
    "AsyncDisposableStack",
    "Atomics",
    "BigInt",
    "BigInt64Array",
    "BigUint64Array",
    "Boolean",
    "DataView",
    "Date",
    "DisposableStack",
    "Error",
    "EvalError",
    "FinalizationRegistry",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "Function",
    "Infinity",
    "Int16Array",
    "Int32Array",
    "Int8Array",
    "InternalError",
    "Iterator",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Promise",
    "Proxy",
    "RangeError",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "Set",
    "SharedArrayBuffer",
    "String",
    "SuppressedError",
    "Symbol",
    "SyntaxError",
    "TypeError",
    "URIError",
    "Uint16Array",
    "Uint32Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "WeakMap",
    "WeakRef",
    "WeakSet",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "eval",
    "globalThis",
    "isFinite",
    "isNaN",
    "parseFloat",
    "parseInt",
    "undefined",
    "unescape",
];

/// The declared members, by interface, class or module, and `globals`.
#[derive(Default)]
struct Declared {
    members: BTreeMap<String, BTreeSet<String>>,
    parents: BTreeMap<String, String>,
}

impl Declared {
    fn read(&mut self, text: &str) {
        let mut module = String::new();
        let mut container = String::new();
        for line in text.lines() {
            let code = line.trim();
            let depth = line.len() - line.trim_start_matches('\t').len();
            if let Some(name) = code.strip_prefix("declare module \"") {
                module = name.split('"').next().unwrap().to_owned();
                self.members.entry(module.clone()).or_default();
                continue;
            }
            if line == "}" && container.is_empty() {
                module.clear();
                continue;
            }
            if code == "}" && depth <= usize::from(!module.is_empty()) {
                container.clear();
                continue;
            }
            let words = code.strip_prefix("export ").or_else(|| code.strip_prefix("declare ")).unwrap_or(code);
            let is_shared = words != code;
            let named = |kind: &str| words.strip_prefix(kind).map(|rest| leading_name(rest).to_owned());
            if let Some(name) = named("interface ").or_else(|| named("class ")) {
                if is_shared && words.starts_with("class ") {
                    self.add_to_scope(&module, &name);
                }
                if let Some(parent) = code.split(" extends ").nth(1) {
                    self.parents.insert(name.clone(), leading_name(parent).to_owned());
                }
                self.members.entry(name.clone()).or_default();
                if !code.ends_with("{}") {
                    container = name;
                }
            } else if !container.is_empty() {
                let mut words = code;
                for prefix in ["readonly ", "static ", "export "] {
                    words = words.strip_prefix(prefix).unwrap_or(words);
                }
                let name = leading_name(words);
                let rest = &words[name.len()..];
                let is_member = rest.starts_with(['(', ':', '<', '?']);
                if !name.is_empty() && name != "constructor" && is_member {
                    self.members.get_mut(&container).unwrap().insert(name.to_owned());
                }
            } else if let Some(list) = words.strip_prefix("{ ").filter(|_| is_shared) {
                for name in list.split(" }").next().unwrap().split(", ").filter(|name| !name.contains(' ')) {
                    self.add_to_scope(&module, name);
                }
            } else if code.starts_with("export default") {
                self.add_to_scope(&module, "default");
            } else if let Some(name) =
                ["function ", "const ", "var "].iter().find_map(|kind| named(kind)).filter(|_| is_shared)
            {
                self.add_to_scope(&module, &name);
            }
        }
    }

    fn add_to_scope(&mut self, module: &str, name: &str) {
        let scope = if module.is_empty() { "globals" } else { module };
        self.members.entry(scope.to_owned()).or_default().insert(name.to_owned());
    }

    /// The members of something, with those of what it extends.
    fn of(&self, name: &str) -> BTreeSet<String> {
        let mut found = self.members.get(name).unwrap_or_else(|| panic!("`{name}` is not declared")).clone();
        if let Some(parent) = self.parents.get(name).filter(|parent| self.members.contains_key(*parent)) {
            found.extend(self.of(parent));
        }
        found
    }
}

fn leading_name(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(text.len());
    &text[..end]
}

#[test]
fn everything_a_module_can_use_has_a_type() {
    let project = Project::new();
    let system = project.module(PROBE);
    let host = Scripted::new(&[]) as Arc<dyn Host>;
    let returned = block_on(system.run_command("probe", "", host)).unwrap();
    let found = project.read("members.json");
    let found: serde_json::Value = serde_json::from_str(&found).unwrap_or_else(|error| panic!("{error}: {returned:?}"));
    let mut declared = Declared::default();
    declared.read(&module_declarations());
    declared.read(&world_declarations());
    let mut problems = Vec::new();
    for (kind, containers) in found.as_object().unwrap() {
        for (container, names) in containers.as_object().unwrap() {
            let ignored = NOT_THERE.iter().find(|(name, _)| name == container).map_or(&[][..], |(_, names)| names);
            let names: BTreeSet<String> =
                names.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
            let types = match container.as_str() {
                // What these inherit is listed on its own.
                "HookCommandContext" | "WritableSessionManager" => declared.members[container].clone(),
                _ => declared.of(container),
            };
            for name in &names {
                let is_language = container == "globals" && LANGUAGE.contains(&name.as_str());
                if !types.contains(name) && !ignored.contains(&name.as_str()) && !is_language {
                    problems.push(format!("`{name}` of {container} has no type"));
                }
            }
            for name in types.iter().filter(|name| kind == "exact" && !names.contains(*name)) {
                problems.push(format!("`{name}` of {container} has a type and does not exist"));
            }
        }
    }
    assert!(problems.is_empty(), "complete types/*.d.ts:\n{}", problems.join("\n"));
}
