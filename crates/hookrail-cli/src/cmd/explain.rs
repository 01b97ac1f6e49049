//! `hookrail explain`: which hooks would run for an event and why others are skipped. Starts no process.

use std::collections::BTreeMap;

use hookrail::document::explain_document;
use hookrail::plan::Plan;
use hookrail::{Json, JsonObject};
use hookrail_bridge::{Agent, Loss};
use serde_json::json;

use super::{as_agent, fire};
use crate::args::EventCommand;
use crate::errors::{Exit, Result};
use crate::project::Project;
use crate::request::RequestedEvent;
use crate::{foreign_hooks, output, render, request};

pub(crate) fn run(args: &EventCommand) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let (agent, named) = (args.event.agent, as_agent::in_neutral_words(&args.event));
    let RequestedEvent { event, fields } = request::build_event(&named, project.root())?;
    let system = as_agent::host(fire::narrow(project.builder(&args.project)?, &args.event), agent).build();
    if !args.event.no_hooks {
        Project::require_modules(&system)?;
    }
    let mut plan = Plan::clone(&system.explain(&event));
    plan.diagnostics.splice(0..0, system.snapshot().diagnostics().iter().cloned());
    plan.diagnostics.extend(system.own_finding(&event));
    let notes = std::mem::take(&mut plan.notes);
    plan.diagnostics.extend(notes);
    let findings = fields.into_findings(plan.skipped.iter().map(|skipped| skipped.why));
    plan.diagnostics.extend(findings);
    let losses = agent.map(|agent| (agent, losses(agent, &plan)));
    let foreign = foreign_hooks::diagnostics(project.root());
    if args.event.json {
        plan.diagnostics.extend(foreign);
        output::json(&document(&plan, losses))?;
    } else {
        let subject = render::outcome::subject(&event);
        let mut text = render::plan::report(&plan, &subject, &project.places);
        if let Some((agent, losses)) = losses {
            text.push_str(&render::plan::losses(agent.title(), &losses));
        }
        text.push_str(&foreign_hooks::closing_lines(&foreign));
        output::text(&text)?;
    }
    Ok(Exit::Fine)
}

/// Something that hooks can ask for and an agent does not do as they mean it.
pub(crate) struct PlannedLoss {
    /// The stable name.
    pub(crate) what: String,
    /// What happens instead.
    pub(crate) detail: String,
    /// The hooks that can ask for it.
    pub(crate) hooks: Vec<String>,
}

fn losses(agent: Agent, plan: &Plan) -> Vec<PlannedLoss> {
    let hooks = || plan.hooks().filter(|(_, planned)| !planned.is_changed());
    let label = |planned: &hookrail::plan::PlannedHook| planned.hook.label.to_string();
    if !agent.fires(plan.event) || agent.is_filtered(plan.event) {
        let hooks: Vec<String> = hooks().map(|(_, planned)| label(planned)).collect();
        let (title, event) = (agent.title(), plan.event);
        let detail = if agent.is_filtered(event) {
            format!("{title} fires {event} before every model call; hooks run there only if installed with `--noisy`")
        } else {
            format!("{title} does not fire {event}; no hook of this event runs there")
        };
        return if hooks.is_empty() {
            Vec::new()
        } else {
            vec![PlannedLoss { what: "loss.event".to_owned(), detail, hooks }]
        };
    }
    let mut by_loss: BTreeMap<_, (Loss, Vec<String>)> = BTreeMap::new();
    for (part, planned) in hooks() {
        for loss in agent.possible_losses(part.dialect, plan.event) {
            let (_, hooks) = by_loss.entry(loss.effect).or_insert_with(|| (loss, Vec::new()));
            hooks.push(label(planned));
        }
    }
    let planned = |(loss, hooks): (Loss, Vec<String>)| PlannedLoss {
        what: loss.name(),
        detail: loss.handling.described().to_owned(),
        hooks,
    };
    by_loss.into_values().map(planned).collect()
}

fn document(plan: &Plan, losses: Option<(Agent, Vec<PlannedLoss>)>) -> Json {
    let document = explain_document(plan);
    let Some((agent, losses)) = losses else { return document };
    let mut members: JsonObject = document.as_object().unwrap_or_default();
    let losses: Vec<serde_json::Value> =
        losses.iter().map(|loss| json!({ "what": loss.what, "detail": loss.detail, "hooks": loss.hooks })).collect();
    members.set("agent", Json::string(agent.name()));
    members.set("losses", Json::from(json!(losses)));
    members.to_json()
}
