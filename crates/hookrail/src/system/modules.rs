//! Commands and message renderers of modules.

use std::path::Path;
use std::sync::Arc;

use super::HookSystem;
use crate::dialect::snapshot::{LoadedModule, Snapshot};
use crate::hook::host::Host;
use crate::hook::{Authority, Trust};
use crate::json::Json;
use crate::run::{ModuleCommand, ModuleContext, ModuleRender, ModuleReturn, ModuleRunner, RawEnd, SpawnFailure};
use crate::trust::Fingerprint;

/// A command that a module offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOffer {
    /// Its name, without a slash.
    pub name: String,
    /// What it says about itself.
    pub description: Option<String>,
    /// The module.
    pub module: Arc<Path>,
}

impl HookSystem {
    /// Every command of every module, in load order. If two have the same name, the first one is run.
    #[must_use]
    pub fn commands(&self) -> Vec<CommandOffer> {
        let snapshot = self.snapshot();
        let offers = snapshot.modules.iter().flat_map(|module| {
            module.commands.iter().map(|command| CommandOffer {
                name: command.name.clone(),
                description: command.description.clone(),
                module: Arc::clone(&module.path),
            })
        });
        offers.collect()
    }

    /// Runs a command; none when no module has one of that name. `arguments` is what the user typed behind the name.
    pub async fn run_command(&self, name: &str, arguments: &str, host: Arc<dyn Host>) -> Option<ModuleReturn> {
        let snapshot = self.snapshot();
        let has_it = |module: &&LoadedModule| module.commands.iter().any(|command| command.name == name);
        let module = snapshot.modules.iter().find(has_it)?;
        let runner = self.parts().modules.clone()?;
        if !still_trusted(module) {
            return Some(ModuleReturn::new(RawEnd::ContentChanged));
        }
        let world = match self.module_world(&snapshot, module) {
            Ok(world) => world,
            Err(why) => return Some(ModuleReturn::new(RawEnd::SpawnFailed(why))),
        };
        Some(runner.command(ModuleCommand { module: &module.path, name, arguments, world, host }).await)
    }

    /// Whether a module wants to draw messages of this type.
    #[must_use]
    pub fn draws_message(&self, custom_type: &str) -> bool {
        self.snapshot().modules.iter().any(|module| module.renderers.iter().any(|known| known == custom_type))
    }

    /// Lets a module render a message with a `customType`; `None` means that the default rendering is to be used.
    pub async fn render_message(
        &self,
        message: &Json,
        expanded: bool,
        width: usize,
        host: Arc<dyn Host>,
    ) -> Option<Vec<String>> {
        let kind = message.as_object()?.get("customType")?.as_str()?;
        let snapshot = self.snapshot();
        let module = snapshot.modules.iter().find(|module| module.renderers.contains(&kind))?;
        let runner: Arc<dyn ModuleRunner> = self.parts().modules.clone()?;
        if !still_trusted(module) {
            return None;
        }
        let world = self.module_world(&snapshot, module).ok()?;
        runner.render(ModuleRender { module: &module.path, message, expanded, width, world, host }).await
    }

    fn module_world(&self, snapshot: &Snapshot, module: &LoadedModule) -> Result<ModuleContext, SpawnFailure> {
        let world = &self.parts().world;
        let authority = if module.trust == Trust::NotNeeded { Authority::User } else { Authority::Project };
        let floors = snapshot.policy.sandbox_floors.floors_for(authority);
        let sandbox = world.sandboxes.with(authority, floors.iter(), world.sandbox_place())?;
        let module_world = world.module_world(self.project(), authority);
        Ok(module_world
            .with_capabilities(world.limits.for_trust(&module.trust).capabilities)
            .covering(&module.trust)
            .in_sandbox(sandbox))
    }
}

/// Verifies immediately before a module runs that it is what was trusted.
fn still_trusted(module: &LoadedModule) -> bool {
    // A module's path is absolute, so the directory does not change which files it means.
    module.trust.still_holds(module.trust.any_fingerprint().map_or(Path::new("/"), Fingerprint::root))
}
