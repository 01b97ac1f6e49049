//! A host that asks its user in its own way which of a project's hooks may run.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use hookrail::hook::Trust;
use hookrail::plan::SkipReason;
use hookrail::trust::{Grants, TrustError, TrustStore};
use hookrail::{EventKind, HookSystem};

const SETTINGS: &str = r#"{
  "hooksConfig": { "enabled": true },
  "hooks": { "BeforeAgent": [{ "hooks": [{ "type": "command", "name": "greet", "command": "sh ./greet.sh" }] }] }
}"#;

// region: store
/// Grants of one project, kept in memory. `FileTrustStore` keeps them in the user's state directory.
#[derive(Clone, Default)]
struct Session(Arc<Mutex<Grants>>);

impl TrustStore for Session {
    fn grants(&self, _project: &Path) -> Result<Grants, TrustError> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}
// endregion

// region: grant
/// Shows every hook that is not trusted, and grants those the user agrees to.
fn ask(hooks: &HookSystem, store: &Session, agrees: impl Fn(&str, &[&Path]) -> bool) {
    let mut grants = store.0.lock().unwrap_or_else(PoisonError::into_inner);
    // Trusting the project covers its switches, and none of its hooks.
    grants.project = true;
    for hook in hooks.snapshot().hooks() {
        let (Trust::Never(fingerprint) | Trust::Changed(fingerprint)) = &hook.trust else { continue };
        let files: Vec<&Path> = fingerprint.files().iter().map(|file| file.path.as_path()).collect();
        if agrees(&hook.label, &files) {
            grants.grant(hook, fingerprint);
        }
    }
    drop(grants);
    hooks.reload();
}
// endregion

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (project, home) = (tempfile::tempdir()?, tempfile::tempdir()?);
    fs::create_dir(project.path().join(".llxprt"))?;
    fs::write(project.path().join(".llxprt/settings.json"), SETTINGS)?;
    fs::write(project.path().join("greet.sh"), "echo hello")?;
    let environment: hookrail::Environment = std::env::vars_os().collect();
    let store = Session::default();
    let hooks = HookSystem::builder(project.path())
        .environment(environment.with("HOME", home.path()))
        .trust_store(store.clone())
        .build();
    let prompt = hooks.event(EventKind::Prompt).with_text("prompt", "hi");

    // region: untrusted
    let outcome = hooks.fire_blocking(prompt.clone());
    assert!(outcome.runs.is_empty());
    let plan = hooks.explain(&prompt);
    assert_eq!(plan.skipped.iter().next().map(|skipped| skipped.why), Some(SkipReason::Untrusted));
    // endregion

    ask(&hooks, &store, |name, files| name == "greet" && files.iter().all(|file| file.ends_with("greet.sh")));
    let outcome = hooks.fire_blocking(prompt.clone());
    assert_eq!(outcome.effects.system_message.as_deref(), Some("hello"));

    // region: changed
    // The file is not what was granted any more, so the hook does not run, with or without a reload.
    fs::write(project.path().join("greet.sh"), "echo something else")?;
    let outcome = hooks.fire_blocking(prompt);
    assert_eq!(outcome.effects.system_message, None);
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
