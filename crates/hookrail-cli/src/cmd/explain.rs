//! `hookrail explain`: which hooks would run for an event and why others are skipped. Starts no process.

use std::collections::BTreeMap;

use hookrail::document::explain_document;
use hookrail::plan::{PartPlan, Plan, PlannedHook};
use hookrail::{Json, JsonObject};
use hookrail_app::as_agent;
use hookrail_app::event_draft::{EventDraft, make_event};
use hookrail_app::failure::Result;
use hookrail_app::foreign_hooks;
use hookrail_app::project::{Project, host_of};
use hookrail_bridge::{Agent, Loss};
use serde_json::json;

use super::fire;
use crate::args::EventCommand;
use crate::cmd::exit::Exit;
use crate::render::plan::PlannedLoss;
use crate::{output, render};

pub(crate) fn run(args: &EventCommand) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let agent = args.event.agent;
    let EventDraft { event, agent: sender, fields } = make_event(&args.event.fields()?, project.root())?;
    let builder = as_agent::sent_by(fire::narrow(project.builder(&args.project)?, &args.event), sender);
    let system = host_of(builder, project.root(), agent).build();
    if !args.event.no_hooks {
        Project::require_modules(&system)?;
    }
    let mut plan = Plan::clone(&system.explain(&event));
    plan.diagnostics.splice(0..0, system.snapshot().diagnostics().iter().cloned());
    plan.diagnostics.extend(system.own_finding(&event));
    show_notes(&mut plan);
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
        // Of no hook at all there is nothing to say.
        if let Some((agent, losses)) = losses
            && !(losses.is_empty() && hooks_of_all_calls(&plan).is_empty())
        {
            text.push_str(&render::plan::losses(agent.title(), &losses));
        }
        text.push_str(&render::foreign_hooks::closing_lines(&foreign));
        output::text(&text)?;
    }
    Ok(Exit::Fine)
}

/// Makes what is noted about a plan and about the calls that it carries a part of what is reported.
fn show_notes(plan: &mut Plan) {
    plan.diagnostics.append(&mut plan.notes);
    plan.calls.iter_mut().for_each(|call| show_notes(&mut call.plan));
}

/// The hooks that are asked about the event, and about the calls that it carries.
fn hooks_of_all_calls(plan: &Plan) -> Vec<(&PartPlan, &PlannedHook)> {
    plan.hooks().chain(plan.calls.iter().flat_map(|call| hooks_of_all_calls(&call.plan))).collect()
}

fn losses(agent: Agent, plan: &Plan) -> Vec<PlannedLoss> {
    let hooks = || hooks_of_all_calls(plan).into_iter().filter(|(_, planned)| !planned.is_changed());
    let label = |planned: &PlannedHook| planned.hook.label.to_string();
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
            let label = label(planned);
            if !hooks.contains(&label) {
                hooks.push(label);
            }
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
