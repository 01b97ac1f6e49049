//! The program of the tutorial for hosts: one tool, guarded by the hooks of a project.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;

use hookrail::guard::{Guard, ToolCall, ToolEnd, ToolFailure, ToolOutput};
use hookrail::{Environment, HookSystem, Json};

// region: settings
/// A hook that keeps `.env` files from being written.
const SETTINGS: &str = r#"{
  "hooksConfig": { "enabled": true },
  "hooks": {
    "BeforeTool": [{
      "matcher": "^write_file$",
      "hooks": [{ "type": "command", "command": "if grep -q '\\.env'; then echo 'no secrets' >&2; exit 2; fi" }]
    }]
  }
}"#;

fn make_project(folder: &Path) -> std::io::Result<()> {
    fs::create_dir(folder.join(".llxprt"))?;
    fs::write(folder.join(".llxprt/settings.json"), SETTINGS)
}
// endregion

// region: build
fn build_hooks(project: &Path, home: &Path) -> HookSystem {
    let environment: Environment = std::env::vars_os().collect();
    HookSystem::builder(project)
        .environment(environment.with("HOME", home))
        // The project is this program's own. A host of other people's projects leaves this line out, and its user
        // grants hooks with `hookrail trust grant`.
        .trust_project()
        .build()
}
// endregion

// region: tool
/// The tool: writes the file that its input names.
fn run_tool(project: &Path, input: &Json) -> Result<ToolOutput, ToolFailure> {
    let fields: BTreeMap<String, String> = input.decode().unwrap_or_default();
    let (Some(path), Some(content)) = (fields.get("path"), fields.get("content")) else {
        return Err(ToolFailure("the tool needs `path` and `content`".into()));
    };
    fs::write(project.join(path), content).map_err(|error| ToolFailure(error.to_string()))?;
    Ok(ToolOutput::text("written"))
}
// endregion

// region: call
/// Runs the tool if no hook denies it, and returns what the model is told.
async fn call_tool(guard: &Guard, project: &Path, input: Json) -> String {
    let call = ToolCall::new("call-1", "write_file", input);
    let result = guard.tool_call(call, |permit| async move { run_tool(project, permit.input()) }).await;
    let told = result.content.as_str().unwrap_or_default();
    match result.end {
        ToolEnd::Ran => told,
        ToolEnd::Failed => format!("failed: {told}"),
        ToolEnd::Denied => format!("denied: {told}"),
    }
}
// endregion

// region: run
fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let (project, home) = (tempfile::tempdir()?, tempfile::tempdir()?);
    make_project(project.path())?;
    let hooks = build_hooks(project.path(), home.path());
    // What is wrong with the configuration concerns the user: a hook that cannot be loaded protects nothing.
    for diagnostic in hooks.snapshot().diagnostics() {
        writeln!(out, "{diagnostic}")?;
    }
    let guard = Guard::new(hooks.clone(), "session-1");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    for input in [r#"{"path":"notes.md","content":"hello"}"#, r#"{"path":".env","content":"KEY=1"}"#] {
        let told = runtime.block_on(call_tool(&guard, project.path(), Json::parse(input)?));
        writeln!(out, "{input}: {told}")?;
    }
    hooks.shutdown_blocking();
    Ok(())
}
// endregion

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout())
}

/// What the program prints, for the test that compares it with the page.
#[cfg(test)]
pub(crate) fn printed() -> String {
    let mut out = Vec::new();
    run(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    // region: test
    #[test]
    fn a_denied_tool_does_not_run() {
        let (project, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        make_project(project.path()).unwrap();
        let guard = Guard::new(build_hooks(project.path(), home.path()), "session-1");
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let input = Json::parse(r#"{"path":".env","content":"KEY=1"}"#).unwrap();
        assert_eq!(runtime.block_on(call_tool(&guard, project.path(), input)), "denied: no secrets");
        assert!(!project.path().join(".env").exists());
    }
    // endregion

    #[test]
    fn it_runs() {
        main().unwrap();
    }
}
