//! One event in which every dialect takes part: a settings file, a plugin, a module and a closure.

use hookrail::hook::Action;
use hookrail::sources::{Origin, SourceKind};
use hookrail::{DialectId, Effects, EventKind, Hook, HookSystem, NativeHook};
use serde_json::json;

use super::BenchCase;
use super::support::{blocking, from_task};
use crate::BenchResult;
use crate::floor::BareCommand;
use crate::harness::{PreparedCase, Variant};
use crate::lab::{Lab, Shell, program, tool_input};
use crate::peers::script;

/// What the plugin's hook does.
const PLUGIN: &str = r#"cat >/dev/null; echo '{"decision":"allow"}'"#;

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![BenchCase { name: "mixed", title: "one event with hooks of all dialects", prepare: mixed }]
}

fn mixed(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let project = lab.project(&json!([{"hooks": [program(&lab.tiny(), &[])]}]))?;
    let plugin = project.join(".x-code/plugins/bench");
    std::fs::create_dir_all(&plugin)?;
    let manifest = json!({"name": "bench", "version": "1.0.0", "hooks": {"PreToolUse": [{"command": PLUGIN}]}});
    std::fs::write(plugin.join("plugin.json"), manifest.to_string())?;
    let closure = Action::Native(NativeHook::new(|_call| Effects::none()));
    let origin = Origin::without_file(SourceKind::Native);
    let system = HookSystem::builder(&project)
        .environment(lab.environment(Shell::Sh))
        .trust_project()
        .runner(hookrail_js::modules())
        .module(script("guard.ts"))
        .hook(Hook::new(EventKind::BeforeTool, DialectId::Native, "closure", closure, origin))
        .build();
    let input = tool_input(1024)?;
    case.add(processes(lab)?);
    case.add(blocking(("hookrail", "blocking"), 5, &system, &input, 4));
    case.add(from_task(("hookrail-tokio", "from a task of a multi-threaded runtime"), 5, &system, &input, 4)?);
    Ok(case)
}

/// The two processes of such an event without an engine.
fn processes(lab: &Lab) -> BenchResult<Variant> {
    let environment = lab.environment(Shell::Sh);
    let mut direct = BareCommand::new(&lab.tiny(), &[], &environment)?;
    let mut shell = BareCommand::new("/bin/sh".as_ref(), &["-c", PLUGIN], &environment)?;
    let input = vec![b'x'; 1200];
    Ok(Variant::timed("floor", "raw spawns of the program and of the shell", 5, move || {
        direct.round_trip(&input)?;
        shell.round_trip(&input).map(drop)
    }))
}
