//! The runner of module hooks with two sets of limits: one for the user's modules, a lower one for the project's.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hookrail::ModuleRunner;
use hookrail::host::HostFuture;
use hookrail::module::{
    Capabilities, CutOffProcess, ModuleCall, ModuleCommand, ModuleContext, ModuleInspection, ModuleRender,
    ModuleReturn, ModulesOwner,
};
use hookrail::trust::NamedFile;
use hookrail_js::{Modules, RuntimeLimits, SharedProcesses};

use super::kibibytes;
use super::read::ConfigFile;
use super::table::Setting;

/// What one module may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModuleLimits {
    runtime: RuntimeLimits,
    /// The time for all handlers of one event. The event's timeout applies if it is shorter.
    event_time: Duration,
}

impl ModuleLimits {
    /// Returns these limits with the values of a file where it sets any.
    pub(super) fn overridden_by(self, file: &ConfigFile) -> Self {
        let mut runtime = self.runtime;
        let time = |setting, current| file.number(setting).map_or(current, Duration::from_millis);
        runtime.memory = file.number(Setting::Memory).map_or(runtime.memory, kibibytes);
        runtime.stack = file.number(Setting::Stack).map_or(runtime.stack, kibibytes);
        runtime.cpu = time(Setting::Cpu, runtime.cpu);
        runtime.load = time(Setting::Load, runtime.load);
        Self { runtime, event_time: time(Setting::Wall, self.event_time) }
    }

    /// Returns the lower value of each limit.
    pub(super) fn lower_of(mut self, other: Self) -> Self {
        let (mine, others) = (&mut self.runtime, other.runtime);
        mine.memory = mine.memory.min(others.memory);
        mine.stack = mine.stack.min(others.stack);
        mine.cpu = mine.cpu.min(others.cpu);
        mine.load = mine.load.min(others.load);
        self.event_time = self.event_time.min(other.event_time);
        self
    }
}

impl Default for ModuleLimits {
    fn default() -> Self {
        Self { runtime: RuntimeLimits::default(), event_time: Duration::MAX }
    }
}

/// Returns the names of capabilities for a message.
pub(super) fn capability_list(capabilities: &Capabilities) -> String {
    let names: Vec<String> = capabilities.described().iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// A runner of modules and the time that it allows for one event.
#[derive(Debug)]
struct LimitedModules {
    modules: Modules,
    event_time: Duration,
}

/// Runs the user's modules and the project's, each with their own limits.
#[derive(Debug)]
pub(super) struct TwoTierModuleRunner {
    user: LimitedModules,
    project: LimitedModules,
}

impl TwoTierModuleRunner {
    /// Makes a runner whose modules together run at most this many processes.
    pub(super) fn new(user: ModuleLimits, project: ModuleLimits, processes: usize) -> Self {
        let shared = SharedProcesses::new(processes);
        let limited = |limits: ModuleLimits| LimitedModules {
            modules: Modules::with_limits(limits.runtime).sharing_processes(&shared),
            event_time: limits.event_time,
        };
        Self { user: limited(user), project: limited(project) }
    }

    fn modules_for(&self, world: &ModuleContext) -> &LimitedModules {
        if world.owner == ModulesOwner::User { &self.user } else { &self.project }
    }
}

impl ModuleRunner for TwoTierModuleRunner {
    fn call<'a>(&'a self, mut call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
        let limited = self.modules_for(&call.world);
        call.timeout = call.timeout.min(limited.event_time);
        limited.modules.call(call)
    }

    fn call_here<'a>(&'a self, mut call: ModuleCall<'a>) -> HostFuture<'a, ModuleReturn> {
        let limited = self.modules_for(&call.world);
        call.timeout = call.timeout.min(limited.event_time);
        limited.modules.call_here(call)
    }

    fn inspect(&self, module: &Path, world: &ModuleContext) -> ModuleInspection {
        self.modules_for(world).modules.inspect(module, world)
    }

    fn inspected_files(&self, module: &Path, world: &ModuleContext) -> Vec<NamedFile> {
        self.modules_for(world).modules.inspected_files(module, world)
    }

    fn tell_of_late_handlers(&self, told: Arc<dyn Fn() + Send + Sync>) {
        for limited in [&self.user, &self.project] {
            limited.modules.tell_of_late_handlers(Arc::clone(&told));
        }
    }

    fn forget(&self, module: &Path) {
        for limited in [&self.user, &self.project] {
            limited.modules.forget(module);
        }
    }

    fn command<'a>(&'a self, command: ModuleCommand<'a>) -> HostFuture<'a, ModuleReturn> {
        self.modules_for(&command.world).modules.command(command)
    }

    fn render<'a>(&'a self, render: ModuleRender<'a>) -> HostFuture<'a, Option<Vec<String>>> {
        self.modules_for(&render.world).modules.render(render)
    }

    fn shutdown(&self) -> HostFuture<'_, Vec<CutOffProcess>> {
        Box::pin(async {
            // At the same time, because each waits for the processes that its modules have started.
            let (user, project) = tokio::join!(self.user.modules.shutdown(), self.project.modules.shutdown());
            user.into_iter().chain(project).collect()
        })
    }
}
