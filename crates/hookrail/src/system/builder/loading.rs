//! Loads the hooks of a described system, and judges the store of grants.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail_spawn::{UserFolders, real_path};

use super::missing::MissingSearch;
use super::{Builder, ProjectTrust, Rehearsal, Settings, UserNeed};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::{Location, SourceKind};
use crate::config::{KeptReason, KeptSource, LoadMode, SourceId, SourceReport, is_absence, kept_finding};
use crate::dialect::snapshot::{Snapshot, SourceRefusal, Switch};
use crate::dialect::{ConfiguredHooks, Inspector, Loader, Sources, path_in};
use crate::hook::sandbox::{SandboxProfile, SandboxRequirement};
use crate::hook::{Action, Authority, Enablement, Hook, OnFailure};
use crate::outcome::Refusal;
use crate::rules::{Links, LoadedException, ProgramLayers, RuleScene, RuleSettings};
use crate::run::Environment;
use crate::system::engine::EngineRuntime;
use crate::text::log::log;
use crate::trust::KnownSurroundings;
use crate::trust::places::{KnownPlaces, ProtectedPlaces};
use crate::trust::protect::Protection;
use crate::trust::{FilePlaces, FileTrustStore, Fingerprint, Grants, ModuleMemory, TrustError, TrustStore};

impl Settings {
    /// The runtime that the engine is started on.
    pub(in crate::system) fn engine_runtime(&self) -> EngineRuntime {
        self.described.engine_runtime
    }

    /// Loads everything once.
    pub(in crate::system) fn load(&self, loader: &mut Loader, native: Vec<Hook>, mode: LoadMode) -> Snapshot {
        let mut diagnostics = self.described.findings.clone();
        let mut kept = Vec::new();
        let grants = self.grants(loader, mode, &mut kept, &mut diagnostics);
        let store = self.described.trust.as_ref();
        let sources = Sources {
            project: self.described.project.clone(),
            environment: Arc::clone(&self.parts.world.environment),
            project_share: Arc::clone(&self.parts.world.project_share),
            grants: grants.grants.clone(),
            trust_all: self.described.project_trust == ProjectTrust::ForThisRun,
            plugins: self.described.plugins,
            bundles: self.described.bundles,
            configured: self.described.configured,
            enabled: self.described.enabled_dialects.clone(),
            modules: self.described.module_files.clone(),
            inspector: self.inspector(),
            disabled_rules: self.described.disabled_rules.clone(),
            module_memory: store.and_then(|store| ModuleMemory::beside(&**store, &self.described.project)),
        };
        let mut loaded = loader.load(&sources, mode, |reading, found| {
            for problem in &self.described.user_problems {
                let path = Path::new(problem.variable);
                reading.unusable(SourceId { path, kind: SourceKind::User, dialect: None }, problem.to_string());
                found.push(Diagnostic::new(Code::UserUnusable, problem.to_string()).hint(problem.repair()));
            }
            for source in &self.described.own_sources {
                let place = SourceId { path: &source.file, kind: source.kind, dialect: None };
                let mut problems = Vec::new();
                reading.read(place, &mut problems, |text| (source.check)(text).into());
                // Problems of the time when the description was made are among its findings.
                if mode != LoadMode::First {
                    found.extend(problems);
                }
            }
        });
        loaded.sources.looked_at.extend(self.described.files.iter().cloned());
        loaded.sources.kept.extend(kept);
        loaded.sources.try_again |= grants.try_again;
        self.parts.debug_log.append(&loaded.breadcrumbs);
        log!(debug, target: "hookrail::registry", hooks = loaded.hooks.len(), findings = loaded.diagnostics.len(), "loaded");
        diagnostics.extend(loaded.diagnostics);
        let mut hooks = loaded.hooks;
        if self.described.configured == ConfiguredHooks::LeftOut {
            hooks.retain(|hook| hook.origin.kind == SourceKind::Option);
        }
        let mut trusted = sources.grants.clone();
        trusted.hooks.extend(loader.guards_for_this_run(&sources.grants));
        trusted.recognise_guards(&mut hooks);
        let mut standing = Vec::new();
        if self.described.configured == ConfiguredHooks::Loaded {
            let mut search = MissingSearch { settings: self, sources: &sources, loader };
            let said = search.fill_in(&mut hooks, &loaded.sources, &loaded.off_by_user);
            diagnostics.extend(said.loading.into_iter().chain(said.standing.iter().cloned()));
            standing = said.standing;
        }
        hooks.extend(self.described.hooks.iter().cloned());
        hooks.extend(native);
        let redacted = loaded.common.redacted.as_ref();
        self.prepare_for_hooks(&mut hooks, redacted);
        let environment = Arc::clone(redacted.unwrap_or(&self.parts.world.environment));
        self.disabled.apply(&mut hooks);
        self.leave_to_agent(&mut hooks, &mut loaded.sources);
        diagnostics.extend(self.withhold_http(&mut hooks));
        diagnostics.extend(self.parts.remote.report_missing_client(&hooks));
        let mut policy = loaded.common.policy;
        let (exceptions, programs) = (loaded.common.rule_exceptions, loaded.common.programs);
        policy.sandbox_floors.user.extend(self.described.sandbox_floors.iter().cloned());
        for hook in &mut hooks {
            hook.sandbox_floors = policy.sandbox_floors.floors_for(hook.authority());
            if self.described.rehearsal == Rehearsal::Yes && hook.action.command().is_some() {
                let guard = Arc::new(SandboxProfile::guard());
                hook.sandbox_floors = hook.sandbox_floors.iter().cloned().chain([guard]).collect();
                hook.sandbox_requirement = SandboxRequirement::Required;
            }
        }
        let mut snapshot = Snapshot::new(hooks, diagnostics).with_policy(policy);
        let places = self.known_places(&sources, &loaded.sources.looked_at);
        let places = Arc::new(ProtectedPlaces::new(places, &self.parts.world.environment, snapshot.hooks()));
        self.parts.world.module_environment.replace(environment, Arc::clone(&places));
        snapshot.switch = self.described.switch.clone();
        snapshot.dialects.clone_from(&self.described.dialects);
        snapshot.modules = loaded.modules;
        snapshot.standing = standing;
        snapshot.refusals = loaded.enrolment.refusals;
        if let Some(problem) =
            self.described.user_problems.first().filter(|_| self.described.user_need == UserNeed::Required)
        {
            let reason = format!("{problem}; {}", problem.repair());
            let refusal = SourceRefusal { refusal: Refusal::UserUnusable, reason: reason.into() };
            snapshot.refusals.push((SourceKind::User, refusal));
        }
        // With `trust_project` too: whether a granted guard is missing is known from the store alone.
        if let Some(refusal) = grants.refusal.filter(|_| snapshot.has_project_hooks()) {
            snapshot.refusals.push((SourceKind::Project, refusal));
        }
        snapshot.changes_at = loaded.enrolment.changes_at;
        let protection = self.protection(places);
        snapshot.rule_settings = Some(rule_settings(&sources, &protection, exceptions, programs));
        snapshot
            .with_protection(protection)
            .with_places(FilePlaces::new(
                &self.described.project,
                path_in(&self.parts.world.environment, "HOME").as_deref(),
            ))
            .with_tools(self.described.tools.iter().cloned())
            .with_tool_table(self.described.tool_table.clone())
            .with_sources(loaded.sources, self.described.on_load_failure)
    }

    /// Takes out the hooks that the agent runs itself, and sources whose hooks it would run.
    fn leave_to_agent(&self, hooks: &mut [Hook], report: &mut SourceReport) {
        let places = &self.described.run_by_agent;
        if places.is_empty() {
            return;
        }
        let is_agents = |file: &Path| places.iter().any(|place| file.starts_with(place));
        // The files of a package may be anywhere; its data is beside the agent's list of packages.
        let is_package = |hook: &Hook| {
            let data = hook.owner.as_ref().and_then(|owner| owner.data_dir.as_deref());
            data.is_some_and(is_agents)
        };
        let of_agent =
            |hook: &&mut Hook| hook.is_enabled() && (is_agents(&hook.origin.location.file) || is_package(hook));
        for hook in hooks.iter_mut().filter(of_agent) {
            hook.enablement = Enablement::RunByAgent;
        }
        report.unusable.retain(|source| !is_agents(&source.path));
    }

    /// Takes the work from hooks that would send events where nothing may be sent, and reports them. What guards fails instead.
    fn withhold_http(&self, hooks: &mut [Hook]) -> Vec<Diagnostic> {
        let why = match (self.described.rehearsal, &self.parts.world.http_program) {
            (Rehearsal::Yes, _) => "no event is sent while hooks are only tried out",
            (Rehearsal::No, None) => "this program has none that sends events to a web server",
            (Rehearsal::No, Some(_)) => return Vec::new(),
        };
        let mut found = Vec::new();
        for hook in hooks.iter_mut().filter(|hook| matches!(hook.action, Action::Http(_))) {
            // A guard of the system layer that was not asked denies.
            if hook.authority() == Authority::System {
                hook.on_failure = OnFailure::Block;
            }
            hook.action = match hook.policy_in_force() {
                OnFailure::Allow => Action::NotExecutable(why.into()),
                OnFailure::Ask | OnFailure::Block => Action::Unusable(why.into()),
            };
            let message = format!("hook `{hook}` of type `http` cannot be executed: {why}");
            found.push(Diagnostic::new(Code::NotExecutable, message).at(hook.origin.location.clone()));
        }
        found
    }

    /// Withholds secrets from every hook, and says what modules may do.
    fn prepare_for_hooks(&self, hooks: &mut [Hook], redacted: Option<&Arc<Environment>>) {
        if let Some(redacted) = redacted {
            for hook in hooks.iter_mut() {
                hook.environment.get_or_insert_with(|| Arc::clone(redacted));
            }
            if let Some(withholding) = &self.described.on_redaction {
                withholding();
            }
        }
        for module in hooks.iter_mut().filter(|hook| matches!(hook.action, Action::Module(_))) {
            let allowed = self.parts.world.limits.for_trust(&module.trust).capabilities;
            let granted = module.trust.fingerprint().and_then(Fingerprint::capabilities);
            module.capabilities =
                Some(granted.map_or_else(|| allowed.clone(), |granted| allowed.intersection(granted)));
        }
    }

    fn protection(&self, places: Arc<ProtectedPlaces>) -> Protection {
        let Builder { protect, host_tools, .. } = &self.described;
        Protection {
            mode: *protect,
            host_tools: *host_tools,
            facts: self.described.session_facts(),
            places,
            is_guarded: false,
        }
    }

    /// What is known about the places that decide which hooks run, apart from those of agents.
    fn known_places(&self, sources: &Sources, looked_at: &[PathBuf]) -> KnownPlaces {
        let store = self.trust_files();
        let store_folders: Vec<PathBuf> = store.iter().filter_map(|file| file.parent()).map(Path::to_owned).collect();
        let named = looked_at.iter().cloned().chain(store).chain(store_folders).chain(sources.named_folders());
        let named = named.chain(self.described.protected.iter().cloned());
        KnownPlaces { project: self.described.project.clone(), home: sources.home(), named: named.collect() }
    }

    /// Refuses to load modules while hooks are off, even to learn what they register.
    fn inspector(&self) -> Inspector {
        match (&self.parts.modules, &self.described.switch) {
            (Some(runner), Switch::On) => Inspector::Runner(Arc::clone(runner)),
            (Some(_), _) => Inspector::HeldBack,
            (None, _) => Inspector::Missing,
        }
    }

    /// The files behind the store of grants.
    pub(in crate::system) fn trust_files(&self) -> Vec<PathBuf> {
        self.described.trust.as_ref().map(|store| store.files()).unwrap_or_default()
    }

    /// The grants for the project. A store that cannot be read grants nothing to a process that starts; a running
    /// process keeps the grants that it knows.
    fn grants(
        &self,
        loader: &mut Loader,
        mode: LoadMode,
        kept: &mut Vec<KeptSource>,
        found: &mut Vec<Diagnostic>,
    ) -> KnownGrants {
        let Some(store) = &self.described.trust else { return KnownGrants::default() };
        let project = real_path(&self.described.project).unwrap_or_else(|_| self.described.project.clone());
        let files = store.files();
        let is_gone = |file: &PathBuf| file.symlink_metadata().is_err_and(|error| is_absence(&error));
        let gone = !files.is_empty() && files.iter().all(is_gone);
        let known = loader.grants.take();
        let mut keep = |reason, known: Grants, found: &mut Vec<Diagnostic>| {
            for path in &files {
                found.push(kept_finding(path, reason));
                kept.push(KeptSource { path: path.clone(), reason });
            }
            KnownGrants { grants: known, try_again: reason == KeptReason::OutOfResources, refusal: None }
        };
        let known = match (store.grants(&project), known) {
            (Ok(grants), Some(known)) if gone && mode == LoadMode::Refresh && known != Grants::default() => {
                debug_assert_eq!(grants, Grants::default(), "there is nothing to read grants from");
                keep(KeptReason::Removed, known, found)
            }
            (Ok(grants), _) => KnownGrants { grants, ..KnownGrants::default() },
            (Err(error), known) => {
                let starved = error.is_want_of_resources();
                found.push(store_finding(&error));
                let reason = if starved { KeptReason::OutOfResources } else { KeptReason::Unusable };
                match known {
                    Some(known) => keep(reason, known, found),
                    None => {
                        // A process that starts has no grants to keep, and must not remember their absence as
                        // knowledge.
                        let refusal = store_refusal(&error);
                        return KnownGrants { try_again: starved, refusal, ..KnownGrants::default() };
                    }
                }
            }
        };
        loader.grants = Some(known.grants.clone());
        known
    }
}

/// Where the rules of a project are, and what they except.
fn rule_settings(
    sources: &Sources,
    protection: &Protection,
    exceptions: Vec<LoadedException>,
    programs: ProgramLayers,
) -> RuleSettings {
    let text = |path: PathBuf| real_path(&path).unwrap_or(path).to_str().map(str::to_owned);
    let surroundings = KnownSurroundings { places: Arc::clone(&protection.places), facts: protection.facts.clone() };
    let scene = RuleScene {
        project: text(sources.project.clone()).unwrap_or_default(),
        home: sources.home().and_then(text),
        surroundings: Arc::new(surroundings),
        links: Links::Followed,
        programs: programs.all.clone(),
    };
    RuleSettings { scene, exceptions, programs }
}

/// The known grants for the project.
#[derive(Default)]
struct KnownGrants {
    grants: Grants,
    /// Whether the store could not be read for lack of resources.
    try_again: bool,
    /// The decision about a project with hooks while it is not known what was granted.
    refusal: Option<SourceRefusal>,
}

/// The decision because of a store that exists and cannot be used: one of the project's hooks may be a granted guard.
fn store_refusal(error: &TrustError) -> Option<SourceRefusal> {
    match error {
        // It is not the user's store. The folder that leads there is reported, and a bridge denies because of it.
        TrustError::InProject { .. } => return None,
        TrustError::Io { .. }
        | TrustError::Damaged { .. }
        | TrustError::Version { .. }
        | TrustError::Exposed { .. }
        | TrustError::Foreign { .. }
        | TrustError::Link { .. } => {}
    }
    let reason = format!("{error}, so it is not known which hooks of this project guard it; {}", error.repair());
    Some(SourceRefusal { refusal: Refusal::StoreUnusable, reason: reason.into() })
}

/// The problem of the store, its place in the file, and the advice.
fn store_finding(error: &TrustError) -> Diagnostic {
    let finding = Diagnostic::new(Code::TrustStore, error.to_string());
    match error {
        TrustError::Damaged { path, source } => {
            let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).max(1);
            let place =
                Location { line: number(source.line()), column: number(source.column()), ..Location::whole_file(path) };
            finding.at(place).hint(error.repair())
        }
        _ => finding.hint(error.repair()),
    }
}

pub(super) fn default_store(environment: &Environment) -> Option<Arc<dyn TrustStore>> {
    let home = path_in(environment, "HOME");
    let UserFolders { state, .. } = UserFolders::of(environment);
    Some(Arc::new(FileTrustStore::of_user(home.as_deref(), state.as_deref())?))
}
