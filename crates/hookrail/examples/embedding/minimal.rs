//! The least a host does: build a hook system, fire an event, obey the outcome.

use std::error::Error;
use std::fs;
use std::path::Path;

use hookrail::{Decision, Environment, Event, EventKind, HookSystem, Json};

/// A guard that keeps `.env` files from being written.
const SETTINGS: &str = r#"{
  "hooksConfig": { "enabled": true },
  "hooks": {
    "BeforeTool": [{
      "matcher": "^write_file$",
      "hooks": [{ "type": "command", "command": "if grep -q '\\.env'; then echo 'no secrets' >&2; exit 2; fi" }]
    }]
  }
}"#;

// region: build
fn build(project: &Path, home: &Path) -> HookSystem {
    // By default the environment is that of this process, taken once.
    let environment: Environment = std::env::vars_os().collect();
    HookSystem::builder(project)
        .environment(environment.with("HOME", home))
        // Trusts whatever the project contains. A real host leaves this out, and lets its user grant trust.
        .trust_project()
        .build()
}
// endregion

// region: fire
async fn may_write(hooks: &HookSystem, path: &str) -> Result<bool, Box<dyn Error>> {
    let input = Json::of(&[("path", path)].into_iter().collect::<std::collections::BTreeMap<_, _>>())?;
    let outcome = hooks.fire_before_tool("write_file", input).await;
    if let Some(reason) = &outcome.effects.reason {
        println!("{path}: {reason}");
    }
    Ok(outcome.effects.decision != Some(Decision::Deny))
}
// endregion

// region: event
fn any_event(hooks: &HookSystem) -> Event {
    hooks
        .event(EventKind::BeforeTool)
        .session("session-1")
        .transcript("/tmp/session-1.jsonl")
        .with_text("tool_name", "write_file")
        .with("tool_input", Json::empty_object())
}
// endregion

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (project, home) = (tempfile::tempdir()?, tempfile::tempdir()?);
    fs::create_dir(project.path().join(".llxprt"))?;
    fs::write(project.path().join(".llxprt/settings.json"), SETTINGS)?;
    let hooks = build(project.path(), home.path());

    // region: diagnostics
    for diagnostic in hooks.snapshot().diagnostics() {
        eprintln!("{diagnostic}");
    }
    // endregion
    assert!(hooks.snapshot().diagnostics().is_empty());

    // region: wants
    assert!(hooks.has_hooks_for(EventKind::BeforeTool));
    assert!(!hooks.has_hooks_for(EventKind::AfterModel));
    // endregion

    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    assert!(!runtime.block_on(may_write(&hooks, "config/.env"))?);
    assert!(runtime.block_on(may_write(&hooks, "notes.md"))?);

    // region: blocking
    let outcome = hooks.fire_blocking(any_event(&hooks));
    assert_eq!(outcome.effects.decision, None, "no hook objects, and none asks");
    // endregion
    assert_eq!(outcome.runs.len(), 1);

    // region: explain
    let plan = hooks.explain(&any_event(&hooks));
    for (part, planned) in plan.hooks() {
        println!("{} {} {:?}", part.dialect.name(), planned.hook, planned.timeout);
    }
    for skipped in &plan.skipped {
        println!("{} does not run: {}", skipped.hook, skipped.detail);
    }
    // endregion
    assert_eq!(plan.hooks().count(), 1);

    // region: shutdown
    for diagnostic in hooks.shutdown_blocking() {
        eprintln!("{diagnostic}");
    }
    // endregion
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main().unwrap();
    }
}
