//! The runner of module hooks with two sets of limits: one for the user's modules, a lower one for the project's.

use std::path::Path;
use std::time::Duration;

use hookrail::ModuleRunner;
use hookrail::host::HostFuture;
use hookrail::module::{
    Capabilities, CutOffProcess, ModuleCall, ModuleCommand, ModuleInspection, ModuleRender, ModuleReturn, ModuleWorld,
    ModulesOwner,
};
use hookrail::trust::NamedFile;
use hookrail_js::{Modules, RuntimeLimits, SharedProcesses};

use super::kibibytes;
use super::read::ConfigFile;
use super::table::Setting;

/// What one module may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModuleLimits {
    limits: RuntimeLimits,
    /// The time for all handlers of an event, if that is less than the event's timeout.
    wall: Duration,
}

impl ModuleLimits {
    /// Returns these limits with the values of a file where it sets any.
    pub(crate) fn overridden_by(self, file: &ConfigFile) -> Self {
        let mut limits = self.limits;
        let time = |setting, now| file.number(setting).map_or(now, Duration::from_millis);
        limits.memory = file.number(Setting::Memory).map_or(limits.memory, kibibytes);
        limits.stack = file.number(Setting::Stack).map_or(limits.stack, kibibytes);
        limits.cpu = time(Setting::Cpu, limits.cpu);
        limits.load = time(Setting::Load, limits.load);
        Self { limits, wall: time(Setting::Wall, self.wall) }
    }

    /// Returns the lower value of each limit.
    pub(crate) fn lower_of(mut self, other: Self) -> Self {
        let (mine, others) = (&mut self.limits, other.limits);
        mine.memory = mine.memory.min(others.memory);
        mine.stack = mine.stack.min(others.stack);
        mine.cpu = mine.cpu.min(others.cpu);
        mine.load = mine.load.min(others.load);
        self.wall = self.wall.min(other.wall);
        self
    }
}

impl Default for ModuleLimits {
    fn default() -> Self {
        Self { limits: RuntimeLimits::default(), wall: Duration::MAX }
    }
}

/// Returns the names of capabilities for a message.
pub(crate) fn capability_list(capabilities: &Capabilities) -> String {
    let names: Vec<String> = capabilities.described().iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// Runs the user's modules and the project's, each with their own limits.
#[derive(Debug)]
pub(crate) struct TwoTierModuleRunner {
    users: (Modules, Duration),
    projects: (Modules, Duration),
}

impl TwoTierModuleRunner {
    /// Makes a runner whose modules together run at most this many processes.
    pub(crate) fn new(users: ModuleLimits, projects: ModuleLimits, processes: usize) -> Self {
        let shared = SharedProcesses::new(processes);
        let modules =
            |limits: ModuleLimits| (Modules::with_limits(limits.limits).sharing_processes(&shared), limits.wall);
        Self { users: modules(users), projects: modules(projects) }
    }

    fn modules_for(&self, world: &ModuleWorld) -> &(Modules, Duration) {
        if world.owner == ModulesOwner::User { &self.users } else { &self.projects }
    }
}

impl ModuleRunner for TwoTierModuleRunner {
    fn call<'a>(&'a self, mut call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
        let (modules, wall) = self.modules_for(&call.world);
        call.timeout = call.timeout.min(*wall);
        modules.call(call)
    }

    fn call_here<'a>(&'a self, mut call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
        let (modules, wall) = self.modules_for(&call.world);
        call.timeout = call.timeout.min(*wall);
        modules.call_here(call)
    }

    fn inspect(&self, module: &Path, world: &ModuleWorld) -> ModuleInspection {
        self.modules_for(world).0.inspect(module, world)
    }

    fn inspected_files(&self, module: &Path, world: &ModuleWorld) -> Vec<NamedFile> {
        self.modules_for(world).0.inspected_files(module, world)
    }

    fn forget(&self, module: &Path) {
        for (modules, _) in [&self.users, &self.projects] {
            modules.forget(module);
        }
    }

    fn command<'a>(&'a self, command: ModuleCommand<'a>) -> HostFuture<'a, ModuleReturn> {
        self.modules_for(&command.world).0.command(command)
    }

    fn render<'a>(&'a self, render: ModuleRender<'a>) -> HostFuture<'a, Option<Vec<String>>> {
        self.modules_for(&render.world).0.render(render)
    }

    fn shutdown(&self) -> HostFuture<'_, Vec<CutOffProcess>> {
        Box::pin(async {
            // Side by side, because each waits for processes that its modules have started.
            let (users, projects) = tokio::join!(self.users.0.shutdown(), self.projects.0.shutdown());
            users.into_iter().chain(projects).collect()
        })
    }
}
