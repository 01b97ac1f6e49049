//! The built-in modules: those of Node, and the packages of the agent.

/// The source of a built-in module.
pub(super) fn module(name: &str) -> Option<&'static str> {
    Some(match name {
        "node:path" | "node:path/posix" => include_str!("../prelude/node_path.js"),
        "node:fs" => include_str!("../prelude/node_fs.js"),
        "node:fs/promises" => include_str!("../prelude/node_fs_promises.js"),
        "node:os" => include_str!("../prelude/node_os.js"),
        "node:child_process" => include_str!("../prelude/node_child_process.js"),
        "node:crypto" => include_str!("../prelude/node_crypto.js"),
        "node:events" => include_str!("../prelude/node_events.js"),
        "node:util" => include_str!("../prelude/node_util.js"),
        "node:url" => include_str!("../prelude/node_url.js"),
        "node:timers/promises" => include_str!("../prelude/node_timers_promises.js"),
        "node:timers" => include_str!("../prelude/node_timers.js"),
        "node:perf_hooks" => include_str!("../prelude/node_perf_hooks.js"),
        "node:assert" | "node:assert/strict" => include_str!("../prelude/node_assert.js"),
        "node:module" => include_str!("../prelude/node_module.js"),
        "node:process" => include_str!("../prelude/node_process.js"),
        "node:buffer" => include_str!("../prelude/node_buffer.js"),
        "hookrail:agent" => include_str!("../prelude/agent.js"),
        "hookrail:ai" => include_str!("../prelude/pi_ai.js"),
        "hookrail:tui" => include_str!("../prelude/pi_tui.js"),
        "hookrail:typebox" => include_str!("../prelude/pi_typebox.js"),
        "hookrail:bun" => include_str!("../prelude/bun_module.js"),
        _ => return None,
    })
}

/// The source of a part of the prelude, by its name.
pub(crate) fn script(name: &str) -> Option<&'static str> {
    Some(match name {
        "base.js" => include_str!("../prelude/base.js"),
        "api.js" => include_str!("../prelude/api.js"),
        "actions.js" => include_str!("../prelude/actions.js"),
        "decorators.js" => include_str!("../prelude/decorators.js"),
        "hook_classes.js" => include_str!("../prelude/hook_classes.js"),
        "events.js" => include_str!("../prelude/events.js"),
        "context.js" => include_str!("../prelude/context.js"),
        "commonjs.js" => include_str!("../prelude/commonjs.js"),
        "console.js" => include_str!("../prelude/console.js"),
        "timers.js" => include_str!("../prelude/timers.js"),
        "numbers.js" => include_str!("../prelude/numbers.js"),
        "abort.js" => include_str!("../prelude/abort.js"),
        "web.js" => include_str!("../prelude/web.js"),
        "node.js" => include_str!("../prelude/node.js"),
        "bun.js" => include_str!("../prelude/bun.js"),
        "fetch.js" => include_str!("../prelude/fetch.js"),
        "theme.js" => include_str!("../prelude/theme.js"),
        "typebox.js" => include_str!("../prelude/typebox.js"),
        "agent_parts.js" => include_str!("../prelude/agent_parts.js"),
        "tui_keys.js" => include_str!("../prelude/tui_keys.js"),
        "tui_text.js" => include_str!("../prelude/tui_text.js"),
        "tui_components.js" => include_str!("../prelude/tui_components.js"),
        _ => return None,
    })
}

/// The built-in module with a name.
pub(super) fn builtin_named(specifier: &str) -> Option<String> {
    let with_prefix = if specifier.starts_with("node:") { specifier.to_owned() } else { format!("node:{specifier}") };
    if module(&with_prefix).is_some() {
        return Some(with_prefix);
    }
    match specifier {
        "bun" => Some("hookrail:bun".to_owned()),
        "typebox" => Some("hookrail:typebox".to_owned()),
        _ => agent_package(specifier).map(str::to_owned),
    }
}

/// The agent's packages have many scopes, one for each project that descends from the same one. All have the same
/// content here.
fn agent_package(specifier: &str) -> Option<&'static str> {
    let (scope, name) = specifier.strip_prefix('@')?.split_once('/')?;
    match name.split('/').next()? {
        "xcsh" | "pi-coding-agent" => Some("hookrail:agent"),
        "pi-ai" => Some("hookrail:ai"),
        "pi-tui" => Some("hookrail:tui"),
        "typebox" if scope == "sinclair" && name == "typebox" => Some("hookrail:typebox"),
        _ => None,
    }
}

/// Every file of the prelude.
#[cfg(test)]
pub(crate) fn prelude_sources() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/prelude");
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect()
}
