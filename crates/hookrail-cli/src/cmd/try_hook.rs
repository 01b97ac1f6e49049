//! `hookrail try`: runs one script or module once, with a sample event and without any settings.
//!
//! The user names the file on the command line, so it needs no grant, as a module that is named with `--hook` needs none. No
//! other hook runs, and nothing is recorded.

use hookrail::{DialectId, EventKind, HookSystem};
use hookrail_app::as_agent::{self, ToldAgent};
use hookrail_app::event_draft::{EventDraft, EventFields, find_kind, make_event};
use hookrail_app::failure::{Failure, Result};
use hookrail_app::fired_event::FiredEvent;
use hookrail_app::project::{Project, host_of};
use hookrail_app::sample;
use hookrail_app::script::{script_hook, usual_dialect, with_project};

use super::firing::{self, Detail};
use crate::args::{ProjectArgs, TryArgs};
use crate::cmd::exit::Exit;
use crate::{output, render};

pub(crate) fn run(args: &TryArgs) -> Result<Exit> {
    let file = args.script.canonicalize().map_err(|error| {
        Failure::new(format!("`{}` cannot be read: {error}", args.script.display()))
            .hint("give the path of a script or a module; a hook of the settings is run by `hookrail dev HOOK`")
    })?;
    if !file.is_file() {
        return Err(Failure::new(format!("`{}` is not a file", args.script.display()))
            .hint("give the script or the module itself, not its folder"));
    }
    let dialect = args.dialect.unwrap_or_else(|| usual_dialect(&file));
    let of_agent = args.agent.and_then(|agent| agent.find_event(&args.event));
    let kind = of_agent.map_or_else(|| find_kind(&args.event), |event| Ok(event.kind))?;
    if kind.spec().column(dialect).is_none() {
        let others = DialectId::CONFIGURED.into_iter().filter_map(|other| {
            let column = kind.spec().column(other)?;
            Some(format!("`{}` with `--dialect {other}`", column.name))
        });
        let others: Vec<String> = others.collect();
        return Err(Failure::new(format!("hooks of {dialect} have no event {kind}"))
            .hint(format!("it is {}; `hookrail reference events` lists all", others.join(", or "))));
    }
    let options = ProjectArgs {
        project: args.project.clone(),
        trust_project: false,
        modules: if dialect == DialectId::Xcsh { vec![file.clone()] } else { Vec::new() },
        no_plugins: true,
    };
    let project = Project::open(&options)?;
    let mut described = EventFields { name: kind.name().to_owned(), ..args.sample.fields()? };
    if described.payload.is_none() {
        let fields = sample::fields(kind, described.tool.as_deref());
        described.payload = Some(sample::in_words_of(args.agent, fields));
    }
    let EventDraft { event, agent: sender, fields } = make_event(&described, project.root())?;
    let asked = args.agent.map(|agent| as_agent::request_of(agent, &event)).transpose()?;
    let mut builder = project.builder(&options)?.only_named_hooks().lend_runtime();
    builder = host_of(as_agent::sent_by(builder, sender), project.root(), args.agent);
    if dialect != DialectId::Xcsh {
        builder = builder.hook(script_hook(kind, dialect, &args.script, &file)?);
    }
    let system = builder.build();
    Project::require_modules(&system)?;
    let runtime = hookrail_app::runtime::runtime()?;
    let exit = runtime.block_on(async {
        let mut interrupts = firing::listen()?;
        let mut fired = match asked {
            Some(mut asked) => {
                asked.events = asked.events.into_iter().map(|event| with_project(event, project.root())).collect();
                firing::fire_as_agent(&system, &asked, &mut interrupts, Detail::Everything).await
            }
            None => {
                let event = with_project(event, project.root());
                firing::fire(&system, event, &mut interrupts, Detail::Everything).await
            }
        };
        fired.event.explain(&system, fields);
        fired.event.advise(&system);
        let report = format!("{}{}", fired.report(&system, &project.places), unasked(&fired.event, &system, dialect));
        let report = report + &fired.told.as_ref().map(ToldAgent::report).unwrap_or_default();
        let printed = output::text(&report);
        let findings = system.shutdown().await;
        output::warnings(&render::diagnostic::all(&findings, &project.places));
        printed?;
        Ok(fired.exit())
    });
    std::mem::forget((system, runtime));
    exit
}

/// Says for which events a module has handlers if it has none for this one.
fn unasked(fired: &FiredEvent, system: &HookSystem, dialect: DialectId) -> String {
    let outcome = &fired.outcome;
    if !outcome.runs.is_empty() || !outcome.shadow.is_empty() {
        return String::new();
    }
    let snapshot = system.snapshot();
    let name = |kind: EventKind| kind.spec().column(dialect).map_or(kind.name(), |column| column.name);
    let mut handled: Vec<String> =
        snapshot.hooks().iter().filter_map(|hook| hook.known_event()).map(|kind| format!("`{}`", name(kind))).collect();
    handled.dedup();
    let asked = name(outcome.event);
    render::hooks::hint(&match handled.is_empty() {
        true => format!("it has no handler: register one with `pi.on(\"{asked}\", …)`"),
        false => format!("it has no handler for `{asked}`, only for {}; choose one with `--event`", handled.join(", ")),
    })
}
