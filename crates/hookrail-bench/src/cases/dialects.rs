//! Dialects of other agents: what a hook of theirs costs, and what their files cost while the dialect is off.

use std::path::{Path, PathBuf};

use hookrail::{DialectId, HookSystem};
use serde_json::{Value, json};

use super::BenchCase;
use super::one::SCRIPT;
use super::support::{blocking, installed};
use crate::BenchResult;
use crate::floor::BareCommand;
use crate::harness::{PreparedCase, Variant};
use crate::lab::{Lab, Shell, line, tool_input};

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![
        BenchCase { name: "dialect-hook", title: "one hook, `sh -c`, in the settings of two dialects", prepare: hook },
        BenchCase {
            name: "dialect-off-load",
            title: "loading a project, with files of dialects that are off",
            prepare: load,
        },
        BenchCase {
            name: "dialect-off-bridge",
            title: "one call of an agent, with files of dialects that are off",
            prepare: bridge,
        },
    ]
}

/// How many hooks each file of a dialect that is off has.
const UNREAD: usize = 20;

/// What the hook of the bridge answers with. Only an answer that holds it is a measurement.
const REASON: &str = "not in this project";

/// Files with the hooks of three agents.
fn write_files(project: &Path, hooks: &[Value]) -> BenchResult<()> {
    for (name, event) in [
        (".claude/settings.json", "PreToolUse"),
        (".gemini/settings.json", "BeforeTool"),
        (".codex/hooks.json", "PreToolUse"),
    ] {
        let file = project.join(name);
        std::fs::create_dir_all(file.parent().ok_or("a file has a folder")?)?;
        std::fs::write(file, json!({"hooks": {event: [{"hooks": hooks}]}}).to_string())?;
    }
    Ok(())
}

fn hook(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let input = tool_input(1024)?;
    let usual = lab.with_hooks(vec![line(SCRIPT)], Shell::Sh)?;
    case.add(blocking(("hookrail", "blocking, `.llxprt/settings.json`"), 5, &usual, &input, 1));
    let project = lab.new_path("project");
    write_files(&project, &[line(SCRIPT)])?;
    let builder = HookSystem::builder(&project).environment(lab.environment(Shell::Sh)).trust_project();
    let claude = builder.enable_dialect(DialectId::Claude).build();
    case.add(blocking(("hookrail-claude", "blocking, `.claude/settings.json`"), 5, &claude, &input, 1));
    Ok(case)
}

/// Two projects with the same hook, the second one with files of dialects that are off.
fn projects(lab: &Lab) -> BenchResult<[(&'static str, &'static str, PathBuf); 2]> {
    let denies = line(&format!("cat >/dev/null; echo '{REASON}' >&2; exit 2"));
    let groups = json!([{"hooks": [denies]}]);
    let (without, with) = (lab.project(&groups)?, lab.project(&groups)?);
    write_files(&with, &vec![line("true"); UNREAD])?;
    Ok([("hookrail", "without such files", without), ("hookrail-off", "with 60 hooks in them", with)])
}

fn load(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    for (name, what, project) in projects(lab)? {
        let environment = lab.environment(Shell::Sh);
        case.add(Variant::timed(name, what, 20, move || {
            let builder = HookSystem::builder(&project).environment(environment.clone()).trust_project();
            match builder.build().snapshot().hooks().len() {
                1 => Ok(()),
                count => Err(format!("{count} hooks were loaded, not 1").into()),
            }
        }));
    }
    Ok(case)
}

fn bridge(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let hookrail = installed(lab)?;
    for (name, what, project) in projects(lab)? {
        let folder = project.to_str().ok_or("the folder's name is not text")?;
        let environment = lab.environment(Shell::Sh).with("GEMINI_PROJECT_DIR", &project);
        BareCommand::new(&hookrail, &["trust", "grant", "--yes", "--project", folder], &environment)?
            .round_trip(b"")?;
        let payload = json!({
            "session_id": "benchmark", "transcript_path": "/t", "cwd": folder, "hook_event_name": "BeforeTool",
            "timestamp": "2026-01-01T00:00:00Z", "tool_name": "write_file", "tool_input": {"file_path": "a", "content": ""},
        });
        let payload = payload.to_string().into_bytes();
        let asked = ["bridge", "gemini", "--event", "BeforeTool", "--alone"];
        let mut command = BareCommand::new(&hookrail, &asked, &environment)?;
        case.add(Variant::timed(name, what, 3, move || {
            let said = command.round_trip(&payload)?;
            if said.windows(REASON.len()).any(|part| part == REASON.as_bytes()) {
                return Ok(());
            }
            Err(format!("the hook should have denied: {}", String::from_utf8_lossy(said)).into())
        }));
    }
    Ok(case)
}
