//! Hooks that are closures of the embedding program.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hookrail::hook::Action;
use hookrail::sources::{Origin, SourceKind};
use hookrail::{Decision, DialectId, Effects, Environment, EventKind, Hook, HookSystem, Json, NativeHook, OnFailure};

// region: hook
/// A hook of the program itself. It needs no trust, no settings and no process.
fn native(event: EventKind, name: &str, hook: NativeHook) -> Hook {
    Hook::new(event, DialectId::Native, name, Action::Native(hook), Origin::without_file(SourceKind::Native))
}
// endregion

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (project, home) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let environment: Environment = [("HOME", home.path())].into_iter().collect();

    // region: now
    let guard = NativeHook::new(|call| {
        let input = call.event.field("tool_input").and_then(Json::as_object).unwrap_or_default();
        match input.get("path").and_then(Json::as_str) {
            Some(path) if path.ends_with(".env") => Effects::deny("no secrets in files"),
            _ => Effects::none(),
        }
    });
    // endregion
    let hooks = HookSystem::builder(project.path())
        .environment(environment)
        .hook(native(EventKind::BeforeTool, "no-secrets", guard))
        .build();

    let input = |path: &str| Json::parse(&format!(r#"{{"path":"{path}"}}"#));
    let outcome = hooks.fire_blocking(before_tool(&hooks, input(".env")?));
    assert_eq!(outcome.effects.decision, Some(Decision::Deny));
    assert_eq!(outcome.effects.reason.as_deref(), Some("no secrets in files"));

    // region: register
    let seen = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&seen);
    // A hook that waits gives a future. It finds the runtime in which the event is driven.
    let counting = NativeHook::waiting(move |_call| {
        let counter = Arc::clone(&counter);
        async move {
            counter.fetch_add(1, Ordering::Relaxed);
            Effects::none().with_context("counted")
        }
    });
    hooks.register(native(EventKind::SessionStart, "counter", counting));
    // endregion
    let outcome = hooks.fire_blocking(hooks.event(EventKind::SessionStart).with_text("source", "startup"));
    assert_eq!(outcome.effects.additional_context.as_deref(), Some("counted"));
    assert_eq!(seen.load(Ordering::Relaxed), 1);

    // region: failure
    // A closure that does not answer in time, also because it blocks, or panics, is a hook that failed.
    let mut slow = native(EventKind::BeforeModel, "slow", NativeHook::waiting(|_call| std::future::pending()));
    slow.timeout = Duration::from_millis(20);
    slow.on_failure = OnFailure::Block;
    hooks.register(slow);
    // endregion
    let outcome = hooks.fire_blocking(hooks.event(EventKind::BeforeModel).with("llm_request", Json::empty_object()));
    assert!(outcome.is_denied());
    Ok(())
}

fn before_tool(hooks: &HookSystem, input: Json) -> hookrail::Event {
    hooks.event(EventKind::BeforeTool).with_text("tool_name", "write_file").with("tool_input", input)
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main().unwrap();
    }
}
