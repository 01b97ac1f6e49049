//! The runner of module hooks with two allowances: one for everybody's modules, a smaller one for the project's.

use std::path::Path;
use std::time::Duration;

use hookrail::ModuleRunner;
use hookrail::host::HostFuture;
use hookrail::module::{
    Capabilities, ModuleCall, ModuleCommand, ModuleInspection, ModuleRender, ModuleReturn, ModuleWorld, ModulesOwner,
};
use hookrail::trust::NamedFile;
use hookrail_js::{Limits, Modules, SharedProcesses};

use super::kibibytes;
use super::read::Said;
use super::table::Setting;

/// What one module may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    limits: Limits,
    /// The time of an event's handlers, where that is less than the event's own.
    wall: Duration,
}

impl Allowance {
    /// The allowance with what a file says instead.
    pub(crate) fn with(self, said: &Said) -> Self {
        let mut limits = self.limits;
        let time = |setting, now| said.number(setting).map_or(now, Duration::from_millis);
        limits.memory = said.number(Setting::Memory).map_or(limits.memory, kibibytes);
        limits.stack = said.number(Setting::Stack).map_or(limits.stack, kibibytes);
        limits.cpu = time(Setting::Cpu, limits.cpu);
        limits.load = time(Setting::Load, limits.load);
        Self { limits, wall: time(Setting::Wall, self.wall) }
    }

    /// The lower of both.
    pub(crate) fn and(mut self, other: Self) -> Self {
        let (mine, others) = (&mut self.limits, other.limits);
        mine.memory = mine.memory.min(others.memory);
        mine.stack = mine.stack.min(others.stack);
        mine.cpu = mine.cpu.min(others.cpu);
        mine.load = mine.load.min(others.load);
        self.wall = self.wall.min(other.wall);
        self
    }
}

impl Default for Allowance {
    fn default() -> Self {
        Self { limits: Limits::default(), wall: Duration::MAX }
    }
}

/// Capabilities in words.
pub(crate) fn listed(capabilities: &Capabilities) -> String {
    let names: Vec<String> = capabilities.described().iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// Runs everybody's modules and the project's, each with their own allowance.
#[derive(Debug)]
pub(crate) struct Runner {
    users: (Modules, Duration),
    projects: (Modules, Duration),
}

impl Runner {
    /// With so many processes of all modules together.
    pub(crate) fn new(users: Allowance, projects: Allowance, processes: usize) -> Self {
        let shared = SharedProcesses::new(processes);
        let modules =
            |allowance: Allowance| (Modules::with_limits(allowance.limits).sharing_processes(&shared), allowance.wall);
        Self { users: modules(users), projects: modules(projects) }
    }

    fn of(&self, world: &ModuleWorld) -> &(Modules, Duration) {
        if world.owner == ModulesOwner::User { &self.users } else { &self.projects }
    }
}

impl ModuleRunner for Runner {
    fn call<'a>(&'a self, mut call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
        let (modules, wall) = self.of(&call.world);
        call.timeout = call.timeout.min(*wall);
        modules.call(call)
    }

    fn call_here<'a>(&'a self, mut call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
        let (modules, wall) = self.of(&call.world);
        call.timeout = call.timeout.min(*wall);
        modules.call_here(call)
    }

    fn inspect(&self, module: &Path, world: &ModuleWorld) -> ModuleInspection {
        self.of(world).0.inspect(module, world)
    }

    fn inspected_files(&self, module: &Path, world: &ModuleWorld) -> Vec<NamedFile> {
        self.of(world).0.inspected_files(module, world)
    }

    fn forget(&self, module: &Path) {
        for (modules, _) in [&self.users, &self.projects] {
            modules.forget(module);
        }
    }

    fn command<'a>(&'a self, command: ModuleCommand<'a>) -> HostFuture<'a, ModuleReturn> {
        self.of(&command.world).0.command(command)
    }

    fn render<'a>(&'a self, render: ModuleRender<'a>) -> HostFuture<'a, Option<Vec<String>>> {
        self.of(&render.world).0.render(render)
    }

    fn shutdown(&self) -> HostFuture<'_, ()> {
        Box::pin(async {
            // Side by side, because each waits for processes that its modules have started.
            tokio::join!(self.users.0.shutdown(), self.projects.0.shutdown());
        })
    }
}
