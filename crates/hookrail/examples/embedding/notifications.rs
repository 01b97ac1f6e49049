//! What happens to hooks, as it happens; new settings; and hooks that are cancelled.

use std::error::Error;
use std::fs;
use std::time::{Duration, Instant};

use hookrail::host::Notification;
use hookrail::{Code, EndKind, Environment, EventKind, HookSystem};

fn settings(command: &str) -> String {
    let hook = format!(r#"{{ "type": "command", "name": "sample", "command": "{command}" }}"#);
    format!(r#"{{ "hooksConfig": {{ "enabled": true }}, "hooks": {{ "BeforeAgent": [{{ "hooks": [{hook}] }}] }} }}"#)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (project, home) = (tempfile::tempdir()?, tempfile::tempdir()?);
    // The user's own settings need no grant, also not when they change.
    let file = home.path().join(".llxprt/settings.json");
    fs::create_dir(home.path().join(".llxprt"))?;
    fs::write(&file, settings("true"))?;
    let environment: Environment = std::env::vars_os().collect();
    let environment = environment.with("HOME", home.path());
    let hooks = HookSystem::builder(project.path()).environment(environment).build();

    // region: subscribe
    let mut notifications = hooks.subscribe();
    let prompt = hooks.event(EventKind::Prompt).with_text("prompt", "hello");
    let outcome = hooks.fire_blocking(prompt.clone());
    let mut told = Vec::new();
    while let Some(notification) = notifications.try_next() {
        told.push(match notification {
            Notification::Planned { hooks, .. } => format!("{} to run", hooks.len()),
            Notification::Started { hook, .. } => format!("{hook} started"),
            Notification::Ended { hook, how, .. } => format!("{hook} ended: {how:?}"),
            Notification::Folded { decision, .. } => format!("decided: {decision:?}"),
            _ => continue,
        });
    }
    assert_eq!(told, ["1 to run", "sample started", "sample ended: Exited(0)", "decided: None"]);
    assert_eq!(notifications.lost(), 0);
    // endregion
    assert_eq!(outcome.runs.first().map(|run| run.end), Some(EndKind::Silent));

    // region: reload
    fs::write(&file, settings("echo hello"))?;
    let diagnostics = hooks.reload();
    assert!(diagnostics.is_empty());
    let outcome = hooks.fire_blocking(prompt.clone());
    assert_eq!(outcome.effects.system_message.as_deref(), Some("hello"));
    // endregion

    // region: broken
    fs::write(&file, "{ oops")?;
    let diagnostics = hooks.reload();
    assert!(diagnostics.iter().any(|diagnostic| diagnostic.code == Code::KeptLastGood));
    let outcome = hooks.fire_blocking(prompt.clone());
    assert_eq!(outcome.effects.system_message.as_deref(), Some("hello"));
    // endregion

    fs::write(&file, settings("sleep 60"))?;
    hooks.reload();
    let began = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    // region: cancel
    let outcome = runtime.block_on(async {
        let fire = hooks.fire(prompt.clone());
        tokio::time::sleep(Duration::from_millis(50)).await;
        fire.cancel();
        fire.await
    });
    assert_eq!(outcome.runs.first().map(|run| run.end), Some(EndKind::Cancelled));
    // Dropping the future cancels too; then there is no outcome.
    drop(hooks.fire(prompt));
    // endregion
    assert!(began.elapsed() < Duration::from_secs(30));

    // region: shutdown
    runtime.block_on(hooks.shutdown());
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
